"""Scripts as they run: which calls go together, how a script ends, and what a hostile one costs."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from alter.expose.code.scripts import answered, ran, with_sandbox
from wildtool.alter.expose.code.protocol import ScriptCall

with_sandbox()

FORMS = {
    "straight": "a=f(x=1)\nb=g(x=2)\nprint(a,b)",
    "loop over values": "for c in ['a','b','c']:\n  print(f(x=c))",
    "comprehension": "rs=[f(x=c) for c in 'abc']\nprint(rs)",
    "chain": "a=f(x=1)\nb=g(x=a['id'])",
    "whole result": "a=f(x=1)\nb=g(x=a)",
    "f-string": "a=f(x=1)\nb=g(x=f'id {a}')",
    "str": "a=f(x=1)\nb=g(x=str(a))",
    "if": "a=f(x=1)\nif a:\n  g(x=2)\nelse:\n  h(x=3)",
    "if not": "a=f(x=1)\nif not a:\n  g(x=2)",
    "if ==": "a=f(x=1)\nif a=='ok':\n  g(x=2)\nelse:\n  h(x=3)",
    "is None": "a=f(x=1)\nif a is None:\n  h(x=1)\ng(x=2)",
    "isinstance": "a=f(x=1)\nif isinstance(a,dict):\n  g(x=2)\nelse:\n  h(x=2)",
    "in": "a=f(x=1)\nif 'id' in a:\n  g(x=2)",
    "json": "import json\na=json.loads(f(x=1))\ng(x=2)",
    "try": "a=f(x=1)\ntry:\n  i=a['id']\nexcept Exception:\n  i=0\ng(x=i)",
    "bare try": "try:\n  i=f(x=1)['id']\nexcept:\n  h(x=0)\nelse:\n  g(x=i)",
    "own function": "def go(c):\n  return f(x=c)\nx=go(1)\ny=go(2)\nprint(x,y)",
    "own function that compares": "def go(c):\n  return f(x=c)\nx=go(1)\nif x == 'ok':\n  g(x=2)",
    "break": "for c in 'abc':\n  r=f(x=c)\n  if r['ok']:\n    break",
    "while": "n=0\nwhile n<3:\n  r=f(x=n)\n  n+=1",
    "print": "a=f(x=1)\nprint(a['id'])\ng(x=2)",
    "max": "rs=[f(x=c) for c in 'ab']\nbest=max(rs,key=lambda r:r['id'])\ng(x=best['id'])",
    "len": "a=f(x=1)\nif len(a)>0:\n  g(x=2)",
    "or": "a=f(x=1) or {}\ng(x=2)",
    "gather": "import asyncio\na,b=await asyncio.gather(f(x=1),g(x=2))\nh(x=a)",
    "gather of a list": "import asyncio\nrs=await asyncio.gather(*[f(x=i) for i in range(3)])\nprint(len(rs))",
    "tasks": "import asyncio\ntasks=[]\nfor i in range(2):\n  tasks.append(f(x=i))\nrs=await asyncio.gather(*tasks)",
    "begun, then awaited": "p=f(x=1)\nq=g(x=2)\nprint(await p, await q)",
    "awaits one by one": "a=await f(x=1)\nb=await g(x=2)\nprint(a,b)",
    "main": "import asyncio\nasync def main():\n  a=await f(x=1)\n  b,c=await asyncio.gather(g(x=2),h(x=3))\n"
    "  print(a,b,c)\nasyncio.run(main())",
    "both ways": "a=f(x=1)\nb=await g(x=2)\nprint(a,b)",
}
RESULTS: dict[str, Any] = {
    "object": {"id": 7, "ok": True},
    "error": "Error: no",
    "ok": "ok",
    "none": None,
    "empty": {},
}


def one_by_one(script: str, result: Any) -> list[ScriptCall]:
    """The calls of a script whose each call is answered before the next is looked at, so that nothing is taken for
    certain beforehand."""
    from alter.expose.code.scripts import FUNCTIONS
    from wildtool.alter.expose.code.protocol import (
        read_answer,
        results_message,
        script_message,
        setup_message,
    )
    from wildtool.alter.expose.code.sandbox import shared_sandbox

    begin = [setup_message(FUNCTIONS, "", FUNCTIONS), script_message(script, is_fresh=True)]
    calls: list[ScriptCall] = []
    while True:
        known = [results_message([result] * len(calls))] if calls else []
        got = read_answer(shared_sandbox().answer([*begin, *known]))
        if got.end is not None:
            return calls
        calls.append(got.calls[0])


def bare(call: ScriptCall) -> tuple[str, Any, Any]:
    return call.name, call.args, call.kwargs


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
def test_calls_that_go_together_are_made_whatever_they_return(form: str):
    for result in RESULTS.values():
        batches, _ = ran(FORMS[form], tools=lambda call, result=result: result)
        together = [bare(call) for batch in batches for call in batch]
        assert together == [bare(call) for call in one_by_one(FORMS[form], result)]


@pytest.mark.parametrize(
    ("form", "sizes"),
    [
        ("straight", [2]),
        ("loop over values", [3]),
        ("own function", [2]),
        ("chain", [1, 1]),
        ("gather", [2, 1]),
        ("gather of a list", [3]),
        ("tasks", [2]),
        ("begun, then awaited", [2]),
    ],
)
def test_calls_without_need_of_results_go_together(form: str, sizes: list[int]):
    batches, (end,) = ran(FORMS[form])
    assert ([len(batch) for batch in batches], end.kind) == (sizes, "done")


def test_an_argument_that_follows_from_a_result_is_marked_and_one_that_is_written_out_is_not():
    batches, _ = ran("a=f(x=1)\ng(x=a['id'], y=3)\nh(a['id'])", tools=lambda call: {"id": 7})
    assert [call.computed for batch in batches for call in batch] == [(), ("x",), ("1",)]


def test_an_argument_may_follow_from_a_result_of_an_earlier_script():
    batches, _ = ran("a=f(x=1)", "g(x=a['id'])")
    assert [call.computed for batch in batches for call in batch] == [(), ("x",)]


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ("f(x=1)", "done"),
        ("raise SystemExit", "done"),
        ("1/0", "script error"),
        ("x = (1,", "script error"),
        ("a=f(x=1)\na['zz']", "result misused"),
        ("a={}\na['zz']", "script error"),
        ("import statistics", "sandbox refused"),
        ("import pandas", "script error"),
        ("class A(dict): pass", "sandbox refused"),
        ("x=[1]\ndel x[0]", "sandbox refused"),
        ("list(map(f,[1]))", "sandbox refused"),
        ("open('/etc/passwd')", "sandbox refused"),
        ("input('x')", "sandbox refused"),
        ("undefined", "script error"),
        ("undefined(x=1)", "script error"),
        ("dir()", "sandbox refused"),
        ("'a'.nothing", "script error"),
        ("f(1,2)", "script error"),
        ("f(1,x=2)", "script error"),
    ],
)
def test_how_a_script_ends(script: str, kind: str):
    _, (end,) = ran(script)
    assert end.kind == kind, end.output


@pytest.mark.parametrize(
    "value",
    [
        "float('nan')",
        "1e999",
        "{1,2}",
        "b'a'",
        "__import__",
        "10**400",
        "object()",
        "g",
        "[{'a': g}]",
        "{g: 1}",
        "print",
        "lambda: 1",
        "int",
        "iter([1])",
    ],
)
def test_an_argument_that_json_cannot_hold_is_an_error_in_the_script(value: str):
    batches, (end,) = ran(f"f(x={value})")
    assert (batches, end.kind in ("script error", "sandbox refused")) == ([], True)


@pytest.mark.parametrize(
    "script",
    [
        "import math\nf(x=math)",
        "import datetime\nf(x=datetime.date(2020,1,1))",
        "def own(): pass\nf(x=own)",
        "class Own: pass\nf(x=Own)",
        "async def own(): pass\nf(x=own())",
    ],
)
def test_an_object_that_json_cannot_hold_is_an_error_in_the_script(script: str):
    batches, (end,) = ran(script)
    assert (batches, end.kind) == ([], "script error")


def test_a_tool_under_another_name_is_called_and_its_name_as_a_text_is_an_argument():
    ((call,),), (end,) = ran("own = {'a': g}\nown['a'](x='g')")
    assert ((call.name, call.kwargs), end.kind) == (("g", {"x": "g"}), "done")


def test_arguments_leave_as_json_holds_them():
    ((call,),), _ = ran("f(x=(1,[2]), y={1:'a'}, z='\\ud800')")
    assert call.kwargs == {"x": [1, [2]], "y": {"1": "a"}, "z": "\ufffd"}


HOSTILE = {
    "endless": "while True: pass",
    "endless in try": "while True:\n  try:\n    while True: pass\n  except BaseException: pass",
    "list": "[0]*10**9",
    "power": "10**10**8",
    "width": "'{:>999999999}'.format(1)",
    "filled memory": "x=[]\nwhile True: x.append('a'*1000)",
    "printing": "while True: print('x'*10000)",
    "long": "x=1\n" * 1_000_000,
    "chains": ("f" + ".a" * 2_400 + "\n") * 12,
    "nested": "(" * 5000 + "1" + ")" * 5000,
    "recursion": "def r(n): return r(n+1)\nr(0)",
    "imports": "import os, sys, subprocess",
    "process": "__import__('os').system('id')",
    "own tool": "f = 5",
    "own name": "def run_code(x): return x\nrun_code(1)",
}
DEAR = ("chains", "printing")
"""They take half a second until they are stopped, the others less than a tenth."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.long if name in DEAR else ()) for name in HOSTILE],
)
def test_a_hostile_script_costs_itself_and_the_next_one_runs(name: str):
    batches, ends = ran(HOSTILE[name], "1+1")
    assert (batches, ends[1].kind, ends[1].output) == ([], "done", "2")


@pytest.mark.long
def test_a_script_that_calls_without_end_is_ended_at_a_number_of_calls():
    batches, (end,) = ran("try:\n  while True: f(x=1)\nexcept BaseException: pass")
    assert (sum(map(len, batches)), end.kind) == (1_000, "limit")


@pytest.mark.long
def test_a_script_that_makes_other_calls_without_end_is_ended_at_a_number_of_calls():
    batches, (end,) = ran("for i in range(100000): f(x=i)")
    assert (sum(map(len, batches)), end.kind) == (1_000, "limit")


def test_a_session_that_was_lost_is_made_again_from_its_scripts_and_results():
    from wildtool.alter.expose.code.sandbox import ScriptSandbox

    scripts = [
        "import random\na=f(x=random.random())\nn=[1]",
        "n.append(g(x=a['id']))",
        "print(n, {'b','a','c'}, hash('a'))",
    ]
    results = Counter[str]()

    def tools(call: ScriptCall) -> Any:
        results[call.name] += 1
        return {"id": results[call.name]}

    first = ScriptSandbox()

    def forgetful(messages: Any) -> Any:
        other = ScriptSandbox()
        try:
            return other.answer(messages)
        finally:
            other.close()

    try:
        kept = answered(first.answer, scripts, tools)
    finally:
        first.close()
    results.clear()
    assert answered(forgetful, scripts, tools) == kept


def test_a_hundred_sessions_hold_no_more_processes_than_the_machine_has_for_them():
    with ThreadPoolExecutor(100) as pool:
        played = list(pool.map(lambda n: ran(f"a=f(x={n})\nb=g(x=a['id'])\nprint(b)"), range(100)))
    assert all(
        [len(batch) for batch in batches] == [1, 1] and end.kind == "done" for batches, (end,) in played
    )


def test_calls_without_answers_come_at_once_until_one_needs_a_result():
    batches, (end,) = ran("a=f(x=1)\nb=g(x=2)\nprint(a)\nh(x=b)\nf(x=3)", is_answered=False)
    assert [[call.name for call in batch] for batch in batches] == [["f", "g"]]
    assert end.kind == "done"
