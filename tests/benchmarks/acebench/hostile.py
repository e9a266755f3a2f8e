"""Replies that nobody should write, and the records that they are judged against: for tests and measurements."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from benchmarks.acebench.reply_build import item, normal, special, tool
from benchmarks.acebench.sandbox_build import PHONE, edition, record
from wildtool.types import Item, Message

LONG = 1_000_000
"""Characters of the longest texts: a megabyte."""

_VALUES: Mapping[str, str] = {
    "import": "__import__('os').system('touch evaluated')",
    "open": "open('evaluated', 'w')",
    "eval": "eval('1+1')",
    "attribute walk": "().__class__.__bases__[0].__subclasses__()",
    "lambda": "(lambda: __import__('os'))()",
    "comprehension": "[x for x in range(10**9)]",
    "f-string": "f'{().__class__}'",
    "walrus": "(x := 9)",
    "power": "9**9**9",
    "tower of powers": "2**(2**(2**(2**(2**2))))",
    "shift": "1 << 10**10",
    "repeated text": "'a'*10**10",
    "repeated list": "[0]*10**10",
    "repeated again and again": "'a'" + "*9" * 2000,
    "formatting": "'%99999999999d' % 1",
    "product": "*".join(["9" * 300] * 50),
    "long number": "9" * 15_000,
    "complex": "1j**1e308",
    "infinite": "1e999 - 1e999",
    "division by zero": "1/0",
    "bytes": "b'\\xff'",
    "ellipsis": "...",
    "deep list": "[" * 90 + "]" * 90,
    "too deep list": "[" * 5000 + "]" * 5000,
    "deep object": "{1:" * 90 + "1" + "}" * 90,
    "deep calls": "g(" * 90 + ")" * 90,
    "deep signs": "-" * 5000 + "1",
    "deep sum": "+".join("1" * 4000),
    "deep attribute": "a" + ".a" * 4000,
    "deep subscript": "a" + "[0]" * 4000,
    "wide list": "[" + "1," * 7000 + "]",
    "wide object": "{" + ",".join(f"{n}:{n}" for n in range(2000)) + "}",
    "unhashable key": "{[]: 1}",
    "unpacked": "{**{}}",
    "starred": "[*[1]]",
    "not closed": "[[[",
    "odd escape": "'\\d\\ '",
    "broken escape": "'\\N{nothing}'",
    "text of brackets": "'" + "[]" * 5000 + "'",
    "text of quotes": '"' + "'" * 9000 + '"',
    "text of blanks": "'" + " " * 14_000 + "'",
    "text of words": "'" + "a 1 " * 3500 + "'",
    "text of dates": "'" + "2024-01-01 " * 1200 + "'",
    "text of numbers": "'" + "1,000.0 " * 1800 + "'",
    "text of Chinese": "'" + "一二三北京市" * 2500 + "'",
}
TEXTS: Mapping[str, str] = {
    **{f"value: {name}": f"[f(a={value})]" for name, value in _VALUES.items()},
    **{f"bare: {name}": value for name, value in _VALUES.items()},
    **{f"tool: {name}": f"[send_message(sender_name={value})]" for name, value in _VALUES.items()},
    "empty": "",
    "blank": " ",
    "one bracket": "[",
    "no call": "[]",
    "NUL": "[f(a='\0')]",
    "NUL between": "[f(a=1)\0, f(a=2)]",
    "lone surrogate": "[f(a='\ud800')]",
    "lone surrogate name": "[\ud800(a=1)]",
    "text of surrogates": "\udfff" * 9000,
    "controls": "".join(map(chr, range(32))),
    "right to left": "\u202e[f(a=1)]",
    "wide letters": "[ｇ(ａ=1)]",
    "many calls": "[" + ",".join(["f(a=1)"] * 1800) + "]",
    "many names": "[" + ",".join(f"f{n}(a=1)" for n in range(1300)) + "]",
    "many tools": "[" + ",".join(["turn_on_wifi()"] * 1000) + "]",
    "many arguments": "[f(" + ",".join(f"a{n}=1" for n in range(1800)) + ")]",
    "many unpackings": "[f(" + ",".join(["**{}"] * 2500) + ")]",
    "many lines": "[f(a=1)]\n" * 1700,
    "many parentheses": "(" * 190 + "1" + ")" * 190,
    "many decorations": "`" * 9000 + "[f(a=1)]",
    "many thoughts": "</think>" * 1900 + "[f(a=1)]",
    "many calls in prose": "send_message( " * 1100,
    "many phrases": "Missing necessary parameters (a) for the api (f) " * 300,
    "many values": "There is incorrect value (x) for the parameters (a) in the conversation history. " * 190,
    "many end marks": "finish conversation\n" * 800,
    "a megabyte of text": "a" * LONG,
    "a megabyte of brackets": "[" * LONG,
    "a megabyte of closing brackets": "]" * LONG,
    "a megabyte of parentheses": "f(" * (LONG // 2),
    "a megabyte of quotes": "'" * LONG,
    "a megabyte of blanks": " " * LONG,
    "a megabyte of lines": "[]\n" * (LONG // 3),
    "a megabyte of thoughts": "</think>" * (LONG // 8),
    "a megabyte of backslashes": "\\" * LONG,
    "a megabyte of Chinese": "北京一二三" * (LONG // 5),
    "a megabyte of phrases": "Missing necessary parameters (a) for the api (f)" * (LONG // 48),
    "a megabyte of wrong values": "There is incorrect value (x) for the parameters (a)" * (LONG // 51),
    "a megabyte of end marks": "finish conversation " * (LONG // 20),
    "a megabyte of surrogates": "\ud800" * LONG,
    "a megabyte in a call": f"[f(a='{'x' * LONG}')]",
}


def calling(arguments: Any, name: Any = "f", **more: Any) -> Message:
    """A message with one native call."""
    function = {"name": name, "arguments": arguments}
    return {"content": None, "tool_calls": [{"id": "1", "type": "function", "function": function}], **more}


MESSAGES: Mapping[str, Message] = {
    **{f"text, {name}": {"role": "assistant", "content": text} for name, text in TEXTS.items()},
    "nothing": {},
    "content null": {"content": None},
    "content number": {"content": 7},
    "content list": {"content": ["[f(a=1)]", None, {"type": "text"}, {"type": "text", "text": 5}]},
    "content deep": {"content": json.loads("[" * 500 + "]" * 500)},
    "content nan": {"content": float("nan")},
    "calls number": {"tool_calls": 5},
    "calls object": {"tool_calls": {"0": {}}},
    "calls of anything": {"tool_calls": [None, 1, "x", [], {}, {"function": None}, {"function": {}}]},
    "name missing": calling("{}", None),
    "name list": calling("{}", ["f"]),
    "name long": calling("{}", "f" * LONG),
    "arguments null": calling(None),
    "arguments number": calling(7),
    "arguments list": calling("[1]"),
    "arguments object": calling({"a": 1}),
    "arguments odd object": calling({"a": {"b": [float("inf"), 10**400, "\ud800", None]}}),
    "arguments not JSON": calling("{a: 1"),
    "arguments twice": calling('{"a": 1, "a": 2}'),
    "arguments nan": calling('{"a": NaN}'),
    "arguments huge number": calling('{"a": 1e999, "b": ' + "9" * 9000 + "}"),
    "arguments deep": calling('{"a": ' + "[" * 5000 + "]" * 5000 + "}"),
    "arguments wide": calling(json.dumps({f"a{n}": n for n in range(20_000)})),
    "arguments surrogate": calling('{"a": "\\ud800"}'),
    "arguments long": calling(json.dumps({"a": "x " * (LONG // 2)})),
    "arguments long Chinese": calling(json.dumps({"a": "北京一二三" * (LONG // 5)}, ensure_ascii=False)),
    "arguments words": calling(json.dumps({"a": "a 1 " * 1200})),
    "a thousand calls": {"tool_calls": calling("{}", "turn_on_wifi")["tool_calls"] * 1000},
}


def items() -> dict[str, Item]:
    """One record of each kind: calls of one and several types, the three special requests, both episodes."""
    typed = tool(
        a={"type": "string"},
        b={"type": "object", "properties": {"c": {"type": "array", "items": {"type": "string"}}}},
    )
    wifi_off = ({"BaseApi": {"wifi": False, "logged_in": True}},)
    step = replace(record("[turn_on_wifi()]", classes=(*PHONE, "Travel")), end_state=wifi_off)
    turn = replace(step, category="agent_multi_turn", id="agent_multi_turn_0")
    gold = {"f": {"a": "the red car in the big garage", "b": {"c": ["x", "y"]}}}
    return {
        "number": item(normal(functions=(tool(a={"type": "integer"}),))),
        "words": item(normal(gold, functions=(typed,))),
        "incomplete": item(special("special_incomplete", f=["a"])),
        "error_param": item(special("special_error_param", a=["x"])),
        "irrelevant": item(special("special_irrelevant")),
        "multi_step": item(step, edition=edition()),
        "multi_turn": item(turn, edition=edition("zh")),
    }
