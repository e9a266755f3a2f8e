"""Whole replies with text, several calls, damage and reasoning: what is read of each in formats of JSON and Python."""

from typing import Any

import pytest

from wildtool.tool_formats import CALL_FORMATS, ParsedReply, ToolCall

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer"},
                "list": {"type": "array"},
            },
        },
    },
}
Row = tuple[str, str, list[tuple[str, Any]], list[str], str | None]
"""Reply; its text, calls, repairs and reasoning."""
REPLIES: dict[str, list[Row]] = {
    "hermes": [
        (
            (
                'Sure.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
                '\nand\n<tool_call>{"name": "get_time", "arguments": {}}</tool_call>\n'
                "Done."
            ),
            "Sure.\n\nand\n\nDone.",
            [("get_weather", {"city": "Oslo"}), ("get_time", {})],
            [],
            None,
        ),
        (
            (
                '<think>Hm.</think>\n\n<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}<'
                "/tool_call>"
            ),
            "",
            [("get_weather", {"city": "Oslo"})],
            [],
            "Hm.",
        ),
        (
            (
                '<think>never ends <tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</too'
                "l_call>"
            ),
            "",
            [],
            ["unclosed-reasoning"],
            'never ends <tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>',
        ),
        (
            (
                'Hm.</think>\n<tool_call>[{"name": "get_weather", "arguments": {"city": "Oslo"}}, {"name"'
                ': "get_time", "arguments": {}}]</tool_call>'
            ),
            "",
            [("get_weather", {"city": "Oslo"}), ("get_time", {})],
            ["unopened-reasoning", "list-of-calls"],
            "Hm.",
        ),
        (
            (
                'a <tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}]} </tool_call> b <to'
                "ol_call>oops</tool_call> c"
            ),
            "a  b <tool_call>oops</tool_call> c",
            [("get_weather", {"city": "Oslo"})],
            ["extra-bracket", "unreadable-call"],
            None,
        ),
        (
            (
                '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}<tool_call>{"name": "ge'
                't_time", "arguments": {}}'
            ),
            "",
            [("get_weather", {"city": "Oslo"}), ("get_time", {})],
            ["missing-close-tag", "missing-close-tag"],
            None,
        ),
        (
            (
                '<tool_call>\n```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n```\n</too'
                "l_call>"
            ),
            "",
            [("get_weather", {"city": "Oslo"})],
            ["code-fence"],
            None,
        ),
        (
            (
                'Text {"name": "get_weather", "arguments": {"city": "Oslo"}} more {"name": "get_time", "a'
                'rguments": {}} end'
            ),
            "Text  more  end",
            [("get_weather", {"city": "Oslo"}), ("get_time", {})],
            ["missing-open-tag"],
            None,
        ),
        (
            '```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n```',
            "",
            [("get_weather", {"city": "Oslo"})],
            ["code-fence", "missing-open-tag"],
            None,
        ),
        (
            (
                '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>\n'
                '<tool_response>\nsunny\n</tool_response>\n<tool_call>{"name": "get_time", "arguments": {'
                "}}</tool_call>"
            ),
            (
                '<tool_response>\nsunny\n</tool_response>\n<tool_call>{"name": "get_time", "arguments": {'
                "}}</tool_call>"
            ),
            [("get_weather", {"city": "Oslo"})],
            ["own-observation"],
            None,
        ),
        (
            (
                '<tool_response>\nsunny\n</tool_response>\n<tool_call>{"name": "get_time", "arguments": {'
                "}}</tool_call> end"
            ),
            "<tool_response>\nsunny\n</tool_response>end",
            [("get_time", {})],
            ["own-observation"],
            None,
        ),
        ("<tool_response>sunny", "<tool_response>sunny", [], ["own-observation"], None),
        (
            '<tool_call>{"function": {"name": "f", "parameters": "{\\"a\\": 1,}"}, "id": "x"}</tool_call>',
            "",
            [("f", {"a": 1})],
            ["nested-function", "arguments-key", "arguments-as-text", "trailing-comma"],
            None,
        ),
        ('<tool_call>{"name": "f", "arguments": "plain"}</tool_call>', "", [("f", "plain")], [], None),
        ('<tool_call>{"name": "f", "arguments": "[1]"}</tool_call>', "", [("f", "[1]")], [], None),
        ('<tool_call>{"name": "f", "arguments": "{} x"}</tool_call>', "", [("f", "{} x")], [], None),
        (
            '<tool_call>{"name": "f", "city": "Oslo"}</tool_call>',
            '<tool_call>{"name": "f", "city": "Oslo"}</tool_call>',
            [],
            ["unreadable-call"],
            None,
        ),
        (
            '<tool_call>{"name": "f", "id": "1", "type": "function"}</tool_call>',
            "",
            [("f", {})],
            ["missing-arguments"],
            None,
        ),
        (
            '<tool_call>{"name": 5, "arguments": {}}</tool_call>',
            '<tool_call>{"name": 5, "arguments": {}}</tool_call>',
            [],
            ["unreadable-call"],
            None,
        ),
        ("<tool_call>[]</tool_call>", "<tool_call>[]</tool_call>", [], ["unreadable-call"], None),
        ("Only text.", "Only text.", [], [], None),
        ("[]", "", [], ["empty-list"], None),
        (
            ' [{"name": "f"}] ',
            "",
            [("f", {})],
            ["missing-arguments", "list-of-calls", "missing-open-tag"],
            None,
        ),
        ('See [{"name": "f"}]', 'See [{"name": "f"}]', [], ["unreadable-call"], None),
    ],
    "granite": [
        (
            (
                'Well <|tool_call|>[{"name": "get_weather", "arguments": {"city": "Oslo"}}, {"name": "get'
                '_time", "arguments": {}}]<|/tool_call|> x'
            ),
            "Well  x",
            [("get_weather", {"city": "Oslo"}), ("get_time", {})],
            [],
            None,
        ),
        (
            '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>',
            "",
            [("get_weather", {"city": "Oslo"})],
            [],
            None,
        ),
        (
            'a <|tool_call|> none <|tool_call|>{"name": "get_weather", "arguments": {"city": "Oslo"}}',
            "a <|tool_call|> none",
            [("get_weather", {"city": "Oslo"})],
            ["unreadable-call"],
            None,
        ),
        (
            'x {"name": "get_weather", "arguments": {"city": "Oslo"}}',
            "x",
            [("get_weather", {"city": "Oslo"})],
            ["missing-open-tag"],
            None,
        ),
        ("<|tool_call|>none of it", "<|tool_call|>none of it", [], ["unreadable-call"], None),
    ],
    "mistral": [
        (
            (
                'Ok [TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Oslo"}}, {"name": "get_t'
                'ime", "arguments": {}}]</s>'
            ),
            "Ok",
            [("get_weather", {"city": "Oslo"}), ("get_time", {})],
            [],
            None,
        ),
        (
            '[TOOL_CALLS]f[CALL_ID]abc1[ARGS]{"a": 1}[TOOL_CALLS]g{}',
            "",
            [("f", {"a": 1}), ("g", {})],
            [],
            None,
        ),
        (
            '[TOOL_CALLS]f[ARGS]{"a": [TOOL_CALLS]g[ARGS]{"b": 2}',
            "",
            [("f", '{"a":'), ("g", {"b": 2})],
            ["unreadable-arguments"],
            None,
        ),
        ("[TOOL_CALLS]nothing here", "[TOOL_CALLS]nothing here", [], ["unreadable-call"], None),
        (
            'plain {"name": "get_weather", "arguments": {"city": "Oslo"}}',
            "plain",
            [("get_weather", {"city": "Oslo"})],
            ["missing-open-tag"],
            None,
        ),
        ("[TOOL_CALLS] []", "[TOOL_CALLS] []", [], ["unreadable-call"], None),
        (
            (
                '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Oslo"}}] then [TOOL_RESULTS]'
                '{}[/TOOL_RESULTS][TOOL_CALLS][{"name": "get_time", "arguments": {}}]'
            ),
            'then\n[TOOL_RESULTS]{}[/TOOL_RESULTS][TOOL_CALLS][{"name": "get_time", "arguments": {}}]',
            [("get_weather", {"city": "Oslo"})],
            ["own-observation"],
            None,
        ),
    ],
    "json-list": [
        (
            (
                '[{"name": "get_weather", "arguments": {"city": "Oslo"}}, {"name": "get_time", "arguments'
                '": {}}]'
            ),
            "",
            [("get_weather", {"city": "Oslo"}), ("get_time", {})],
            [],
            None,
        ),
        (
            'Sure: [{"name": "get_weather", "arguments": {"city": "Oslo"}}] ok',
            "Sure:  ok",
            [("get_weather", {"city": "Oslo"})],
            ["text-around"],
            None,
        ),
        (
            '{"name": "get_weather", "arguments": {"city": "Oslo"}}; {"name": "get_time", "arguments": {}}',
            "",
            [("get_weather", {"city": "Oslo"}), ("get_time", {})],
            [],
            None,
        ),
        ('{"tool_calls": []}', '{"tool_calls": []}', [], ["unreadable-call"], None),
        ("```json\n[]\n```", "", [], ["empty-list"], None),
        ('{"name": "f"}', "", [("f", {})], ["missing-arguments"], None),
        ('x {"name": "f"}', 'x {"name": "f"}', [], ["unreadable-call"], None),
        (
            '[{"name": "f", "arguments": {}}, {"nope": 1}]',
            '[{"name": "f", "arguments": {}}, {"nope": 1}]',
            [],
            ["unreadable-call"],
            None,
        ),
        (
            '[{"name": "get_weather", "arguments": {"city": "Oslo"}}, {"name": "g", "arg',
            '[{"name": "g", "arg',
            [("get_weather", {"city": "Oslo"})],
            ["unreadable-call", "text-around"],
            None,
        ),
        ("a {b} [1]", "a {b} [1]", [], [], None),
        (
            '{"a": 1} {"name": "get_weather", "arguments": {"city": "Oslo"}}',
            '{"a": 1}',
            [("get_weather", {"city": "Oslo"})],
            ["text-around"],
            None,
        ),
        (
            '{"tool_calls": [{"name": "get_weather", "arguments": {"city": "Oslo"}}]} end',
            "end",
            [("get_weather", {"city": "Oslo"})],
            ["text-around"],
            None,
        ),
        ('{"tool_calls": 5}', '{"tool_calls": 5}', [], ["unreadable-call"], None),
    ],
    "hammer": [
        (
            '```\n[{"name": "get_weather", "arguments": {"city": "Oslo"}}]\n```',
            "",
            [("get_weather", {"city": "Oslo"})],
            [],
            None,
        ),
        (
            '```json\n[{"name": "get_weather", "arguments": {"city": "Oslo"}}]\n```\nx',
            "x",
            [("get_weather", {"city": "Oslo"})],
            ["text-around"],
            None,
        ),
        ("```\n[]\n```", "", [], ["empty-list"], None),
        (
            '{"name": "get_weather", "arguments": {"city": "Oslo"}}',
            "",
            [("get_weather", {"city": "Oslo"})],
            [],
            None,
        ),
    ],
    "llama3-json": [
        (
            '{"name": "f", "parameters": {"a": true}}; {"name": "g", "parameters": null}',
            '{"name": "g", "parameters": null}',
            [("f", {"a": True})],
            ["unreadable-call", "text-around"],
            None,
        ),
        (
            '{"name": "get_weather", "arguments": {"city": "Oslo"}}',
            "",
            [("get_weather", {"city": "Oslo"})],
            ["arguments-key"],
            None,
        ),
        ('<|python_tag|>{"name": "f", "parameters": {}}<|eom_id|>', "", [("f", {})], [], None),
        ('[{"name": "f", "parameters": {}}]', "", [("f", {})], ["list-of-calls"], None),
        ('x {"name": "f", "parameters": {}}', "x", [("f", {})], ["text-around"], None),
        ('{"type": "function", "name": "f", "parameters": {}}<|eot_id|>', "", [("f", {})], [], None),
    ],
    "pythonic": [
        (
            """[f(a='<|tool_call_start|>{"name": "g", "arguments": {}}')]""",
            "",
            [("f", {"a": '<|tool_call_start|>{"name": "g", "arguments": {}}'})],
            [],
            None,
        ),
        (
            '[f(a=1)]<|tool_call_start|>{"name": "g", "arguments": {"b": 1}}<|tool_call_end|>',
            '{"name": "g", "arguments": {"b": 1}}',
            [("f", {"a": 1})],
            [],
            None,
        ),
        (
            '<|tool_call_start|>{"name": "g", "arguments": {"b": 1}}<|tool_call_end|>[f(a=1)]',
            "[f(a=1)]",
            [("g", {"b": 1})],
            [],
            None,
        ),
        ("[f(a=1), g.h(b='x')]", "", [("f", {"a": 1}), ("g.h", {"b": "x"})], [], None),
        ("So: [f(a=1)] and [g()] end", "So:  and  end", [("f", {"a": 1}), ("g", {})], ["text-around"], None),
        ("f(a=1); g(b=2)", "", [("f", {"a": 1}), ("g", {"b": 2})], ["missing-open-tag"], None),
        (
            "f(a=1)\ng(b=2) tail",
            "tail",
            [("f", {"a": 1}), ("g", {"b": 2})],
            ["missing-open-tag", "text-around"],
            None,
        ),
        ("```python\n[f(a=1)]\n```", "", [("f", {"a": 1})], ["code-fence"], None),
        (
            "[f(a=true, b=None, c='it', d=\"x\", **{'max price': 5})]",
            "",
            [("f", {"a": True, "b": None, "c": "it", "d": "x", "max price": 5})],
            ["json-literal"],
            None,
        ),
        ("[f(a=1", "[f(a=1", [], ["unreadable-call"], None),
        ("[f(a=1), g(b=2)", "", [("f", {"a": 1}), ("g", {"b": 2})], ["missing-bracket"], None),
        ("[f(a=1) x]", "[f(a=1) x]", [], ["unreadable-call"], None),
        ("[f(a=1,)]", "", [("f", {"a": 1})], [], None),
        ("[Market Trends API(x=1)]", "", [("Market Trends API", {"x": 1})], [], None),
        ("[f(**5)]", "[f(**5)]", [], ["unreadable-call"], None),
        ("[f(a=1 b=2)]", "[f(a=1 b=2)]", [], ["unreadable-call"], None),
        ("<|tool_call_start|>[f(a=true)]<|tool_call_end|>text", "text", [("f", {"a": True})], [], None),
        (
            '<|tool_call_start|>[{"name": "get_weather", "arguments": {"city": "Oslo"}}]<|tool_call_end|>t',
            "t",
            [("get_weather", {"city": "Oslo"})],
            [],
            None,
        ),
        ("[]", "", [], ["empty-list"], None),
        ("f(1)", "f(1)", [], [], None),
        ("[f(a==1)]", "[f(a==1)]", [], ["unreadable-call"], None),
        ("<|python_tag|>[f()]<|eom|>", "", [("f", {})], [], None),
        ("f()", "", [("f", {})], ["missing-open-tag"], None),
    ],
    "gorilla": [
        (
            "<<function>>f(a=1), <<function>>g(b='x') end",
            "end",
            [("f", {"a": 1}), ("g", {"b": "x"})],
            ["text-around"],
            None,
        ),
        ("f(a=1) g(b=2)", "", [("f", {"a": 1}), ("g", {"b": 2})], ["missing-open-tag"], None),
        (
            "x <<function>> none <<function>>f(a=1)",
            "x <<function>> none",
            [("f", {"a": 1})],
            ["unreadable-call", "text-around"],
            None,
        ),
        ("<<function>>f(a=", "<<function>>f(a=", [], ["unreadable-call"], None),
        ("text", "text", [], [], None),
        ("<<function>>[f(a=1)]", "<<function>>[f(a=1)]", [], ["unreadable-call"], None),
    ],
    "command-r": [
        (
            (
                '<|START_THINKING|>p<|END_THINKING|><|START_ACTION|>[{"tool_call_id": "0", "tool_name": "'
                'f", "parameters": {"a": 1}}, {"tool_name": "directly_answer"}]<|END_ACTION|><|END_OF_TUR'
                "N_TOKEN|>"
            ),
            "",
            [("f", {"a": 1})],
            [],
            "p",
        ),
        ("<|START_RESPONSE|>Hi<|END_RESPONSE|>", "Hi", [], [], None),
        (
            "x <|START_ACTION|>oops<|END_ACTION|>",
            "x <|START_ACTION|>oops<|END_ACTION|>",
            [],
            ["unreadable-call"],
            None,
        ),
        (
            'Action: ```json\n[{"tool_name": "f", "parameters": null},]\n```',
            "",
            [("f", {})],
            ["trailing-comma"],
            None,
        ),
        (
            'Hi\nAction: [{"tool_name": "f"}, 5]',
            'Hi\nAction: [{"tool_name": "f"}, 5]',
            [],
            ["unreadable-call"],
            None,
        ),
        ('<|START_ACTION|>{"tool_name": "f"}', "", [("f", {})], ["missing-close-tag"], None),
        ("text", "text", [], [], None),
    ],
}


@pytest.mark.parametrize(
    ("name", "row"),
    [(name, row) for name, rows in REPLIES.items() for row in rows],
    ids=lambda part: str(part[0])[:60],
)
def test_of_a_whole_reply_text_calls_repairs_and_reasoning_are_read(name: str, row: Row) -> None:
    reply, text, calls, repairs, reasoning = row
    assert CALL_FORMATS[name].read(reply, [TOOL]) == ParsedReply(
        text, tuple(ToolCall(*call) for call in calls), tuple(repairs), reasoning
    )
