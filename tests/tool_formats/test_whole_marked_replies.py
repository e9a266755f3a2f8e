"""Whole replies with text, several calls, damage and reasoning: what is read of each in formats of tags and marks."""

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
    "deepseek": [
        (
            (
                'Hi<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": 1}<｜tool▁call▁end｜><｜tool▁ca'
                'll▁begin｜>function<｜tool▁sep｜>g\n```json\n{"b": 2}\n```<｜tool▁call▁end｜><｜tool▁calls▁end'
                "｜><｜end▁of▁sentence｜>"
            ),
            "Hi",
            [("f", {"a": 1}), ("g", {"b": 2})],
            [],
            None,
        ),
        (
            "<｜tool▁call▁begin｜>f<｜tool▁sep｜>oops<｜tool▁call▁end｜>",
            "",
            [("f", "oops")],
            ["unreadable-arguments", "missing-open-tag", "missing-close-tag"],
            None,
        ),
        (
            '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": 1}',
            "",
            [("f", {"a": 1})],
            ["missing-close-tag"],
            None,
        ),
        (
            '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>{"a": 1}<｜tool▁call▁end｜>',
            "",
            [("function", {"a": 1})],
            ["missing-close-tag"],
            None,
        ),
        (
            "x<｜tool▁call▁begin｜>f<｜tool▁call▁end｜>y",
            "x<｜tool▁call▁begin｜>f<｜tool▁call▁end｜>y",
            [],
            ["unreadable-call"],
            None,
        ),
    ],
    "kimi": [
        (
            (
                "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>"
                '{"a": 1}<|tool_call_end|><|tool_call_begin|>g<|tool_call_argument_begin|>```json\n{}\n``'
                "`<|tool_call_end|><|tool_calls_section_end|><|im_end|>"
            ),
            "",
            [("f", {"a": 1}), ("g", {})],
            ["code-fence"],
            None,
        ),
        (
            "<|tool_call_begin|><|tool_call_argument_begin|>{}<|tool_call_end|>",
            "<|tool_call_begin|><|tool_call_argument_begin|>{}<|tool_call_end|>",
            [],
            ["unreadable-call"],
            None,
        ),
        (
            (
                "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:12<|tool_call_argument_begin|"
                '>{"a": 1}}<|tool_call_end|>rest'
            ),
            "rest",
            [("f", {"a": 1})],
            ["extra-bracket", "missing-close-tag"],
            None,
        ),
    ],
    "glm": [
        (
            (
                "Hi<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>5</arg_value>\n<arg_key>da"
                "ys</arg_key>\n<arg_value>5</arg_value>\n</tool_call>bye"
            ),
            "Hibye",
            [("get_weather", {"city": "5", "days": 5})],
            [],
            None,
        ),
        (
            "<tool_call>get_weather\n<arg_key>days<arg_value>True</arg_value></tool_call>",
            "",
            [("get_weather", {"days": True})],
            ["missing-close-tag", "python-literal"],
            None,
        ),
        (
            "<tool_call>two\nlines</tool_call>x",
            "<tool_call>two\nlines</tool_call>x",
            [],
            ["unreadable-call"],
            None,
        ),
        ("<tool_call></tool_call>", "<tool_call></tool_call>", [], ["unreadable-call"], None),
        (
            '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}',
            "",
            [("get_weather", {"city": "Oslo"})],
            ["json-in-tag", "missing-close-tag"],
            None,
        ),
        ("<tool_call>{oops}</tool_call> x", "<tool_call>{oops}</tool_call> x", [], ["unreadable-call"], None),
        ('get_weather\n{"city": "Oslo"} x', 'get_weather\n{"city": "Oslo"} x', [], [], None),
        ('get_weather\n{"city": true,}', "", [("get_weather", {"city": True})], ["trailing-comma"], None),
        (
            "<tool_call>f\n<arg_key>a</arg_key>\n<tool_call>g</tool_call>",
            "<tool_call>f\n<arg_key>a</arg_key>",
            [("g", {})],
            ["unreadable-call"],
            None,
        ),
        (
            "<tool_call>f<arg_key>a</arg_key><arg_value>Os",
            "<tool_call>f<arg_key>a</arg_key><arg_value>Os",
            [],
            ["unreadable-call"],
            None,
        ),
        (
            "<tool_call>f<arg_key>a</arg_key><arg_value>x</arg_value>",
            "",
            [("f", {"a": "x"})],
            ["missing-close-tag"],
            None,
        ),
        ("<tool_call>f</tool_call><|observation|>", "", [("f", {})], [], None),
    ],
    "react": [
        ('Thought: a\nAction: f\nAction Input: {"a": 1}\nEnd Action', "a", [("f", {"a": 1})], [], None),
        ("Thought: a\nThought: b\nFinal Answer: done", "done", [], [], "a\nThought: b"),
        ("Action: f", "", [("f", {})], ["missing-arguments"], None),
        (
            "Action: f\nAction Input: oops\nThought: x\nAction: g\nAction Input: {}",
            "x",
            [("f", "oops"), ("g", {})],
            ["unreadable-arguments"],
            None,
        ),
        ('Action: Finish\nAction Input: {"final_answer": "ok"}', "ok", [], [], None),
        (
            'Thought: t\nAction: Finish\nAction Input: {"return_type": "x"}',
            "t",
            [("Finish", {"return_type": "x"})],
            [],
            None,
        ),
        (
            'Action: f\nAction Input: {"a": 1}\nObservation: o\nAction: g\nAction Input: {}',
            "Observation: o\nAction: g\nAction Input: {}",
            [("f", {"a": 1})],
            ["own-observation"],
            None,
        ),
        ("Observation: o", "Observation: o", [], ["own-observation"], None),
        ("Final Answer: yes\nAction: f\nAction Input: {}", "yes", [("f", {})], [], None),
        ("just text", "just text", [], [], None),
        ("Thought: only", "Thought: only", [], [], None),
    ],
    "qwen3-coder": [
        (
            (
                "Hi\n<tool_call>\n<function=get_weather>\n<parameter=city>\n5\n</parameter>\n<parameter=d"
                "ays>\n5\n</parameter>\n<parameter=x>\nTrue\n</parameter>\n</function>\n</tool_call>\n"
                "bye"
            ),
            "Hi\n\nbye",
            [("get_weather", {"city": "5", "days": 5, "x": "True"})],
            [],
            None,
        ),
        (
            "<function=f>\n<parameter=a>\n  x \n</parameter>\n</function>",
            "",
            [("f", {"a": "  x "})],
            ["missing-open-tag", "missing-close-tag"],
            None,
        ),
        ("<tool_call><function=f></tool_call>", "", [("f", {})], ["missing-close-tag"], None),
        (
            "<tool_call><function=f><parameter=a>1<parameter=b>2</parameter></function></tool_call>",
            "",
            [("f", {"a": 1, "b": 2})],
            ["missing-close-tag"],
            None,
        ),
        (
            "<tool_call><function=f><parameter=a>1</parameter> junk</function></tool_call> z",
            "<tool_call><function=f><parameter=a>1</parameter> junk</function></tool_call> z",
            [],
            ["unreadable-call"],
            None,
        ),
        (
            "<tool_call>nothing</tool_call> y",
            "<tool_call>nothing</tool_call> y",
            [],
            ["unreadable-call"],
            None,
        ),
        (
            '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>',
            "",
            [("get_weather", {"city": "Oslo"})],
            ["json-in-tag"],
            None,
        ),
        (
            (
                "<tool_call><function=get_weather><parameter=days>True</parameter><parameter=list>[1,</pa"
                "rameter></function>"
            ),
            "",
            [("get_weather", {"days": True, "list": [1]})],
            ["missing-bracket", "missing-close-tag"],
            None,
        ),
        (
            "<tool_call><function=f><parameter=a>x",
            "<tool_call><function=f><parameter=a>x",
            [],
            ["unreadable-call"],
            None,
        ),
    ],
    "minimax": [
        (
            (
                '<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Oslo</parameter'
                ">\n</invoke>\n<invoke name='g'></invoke>\n</minimax:tool_call>"
            ),
            "",
            [("get_weather", {"city": "Oslo"}), ("g", {})],
            [],
            None,
        ),
        (
            (
                '<invoke name="get_weather"><parameter name=list>[1, 2,]</parameter><parameter name=days>'
                "None</parameter></invoke>"
            ),
            "",
            [("get_weather", {"list": [1, 2], "days": None})],
            ["trailing-comma", "python-literal", "missing-open-tag", "missing-close-tag"],
            None,
        ),
    ],
    "dsml": [
        (
            (
                '<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n<｜DSML｜parameter name="a" string="true"'
                '> 5 </｜DSML｜parameter>\n<｜DSML｜parameter name="b" string="false">5</｜DSML｜parameter>\n<｜'
                'DSML｜parameter name="c">True</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>'
                "<｜end▁of▁sentence｜>"
            ),
            "",
            [("f", {"a": " 5 ", "b": 5, "c": "True"})],
            [],
            None,
        ),
    ],
    "harmony": [
        (
            (
                "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes"
                ".<|return|>"
            ),
            "Yes.",
            [],
            [],
            "Hm.",
        ),
        (
            (
                "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>analysis<|message|>b<"
                "|end|><|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|"
                '>{"a": 1}<|call|><|start|>assistant<|channel|>commentary<|message|>mid<|end|><|start|>as'
                "sistant to=g<|channel|>commentary<|message|>oops<|call|>"
            ),
            "mid",
            [("f", {"a": 1}), ("g", "oops")],
            ["unreadable-arguments"],
            "a\nb",
        ),
        (
            "<|channel|>commentary to=functions.f<|message|><|call|>",
            "",
            [("f", {})],
            ["missing-arguments"],
            None,
        ),
        (
            "<|channel|>commentary to=functions.f<|mess",
            "<|channel|>commentary to=functions.f<|mess",
            [],
            ["unreadable-call"],
            None,
        ),
        ("plain", "plain", [], [], None),
        (
            '<|channel|>commentary to=functions.f<|message|>{"a": 1}<|end|>x',
            "x",
            [("f", {"a": 1})],
            ["missing-close-tag"],
            None,
        ),
        (
            'assistant to=functions.f<|channel|>commentary json<|message|>{"a": 1}',
            "",
            [("f", {"a": 1})],
            [],
            None,
        ),
    ],
    "minimax-m3": [
        (
            (
                ']<]minimax[>[<tool_call>]<]minimax[>[<invoke name="get_weather">]<]minimax[>[<city>5]<]m'
                "inimax[>[</city>]<]minimax[>[<days>5]<]minimax[>[</days>]<]minimax[>[<l>]<]minimax[>[<it"
                "em>1]<]minimax[>[</item>]<]minimax[>[<item>2]<]minimax[>[</item>]<]minimax[>[</l>]<]mini"
                "max[>[<o>]<]minimax[>[<item>1]<]minimax[>[</item>]<]minimax[>[<k>x]<]minimax[>[</k>]<]mi"
                "nimax[>[</o>]<]minimax[>[</invoke>]<]minimax[>[</tool_call> t"
            ),
            "t",
            [("get_weather", {"city": "5", "days": 5, "l": [1, 2], "o": {"item": 1, "k": "x"}})],
            [],
            None,
        ),
        (
            (
                '<mm:think>why</mm:think>]<]minimax[>[<invoke name="f">]<]minimax[>[<parameter name="a b"'
                ">x</parameter>]<]minimax[>[</invoke>"
            ),
            "",
            [("f", {"a b": "x"})],
            ["missing-open-tag", "missing-close-tag"],
            "why",
        ),
        (
            "]<]minimax[>[<tool_call>none]<]minimax[>[</tool_call> x",
            "]<]minimax[>[<tool_call>none]<]minimax[>[</tool_call> x",
            [],
            ["unreadable-call"],
            None,
        ),
        ("<mm:think>why", "", [], ["unclosed-reasoning"], "why"),
        (
            (
                ']<]minimax[>[<tool_call>]<]minimax[>[<invoke name="f">]<]minimax[>[<a>x]<]minimax[>[<b>y'
                "]<]minimax[>[</b>]<]minimax[>[</invoke>"
            ),
            "",
            [("f", {"a": "x", "b": "y"})],
            ["missing-close-tag", "missing-close-tag"],
            None,
        ),
    ],
    "gemma": [
        (
            (
                '<|channel>thought\nhm<channel|>Hi<|tool_call>call:f{a:<|"|>x, {y}<|"|>,b:[1,true],c d:nu'
                "ll}<tool_call|>"
            ),
            "Hi",
            [("f", {"a": "x, {y}", "b": [1, True], "c d": None})],
            [],
            "hm",
        ),
        ("<|tool_call>call:f{a:1}", "", [("f", {"a": 1})], ["missing-close-tag"], None),
        ("<|tool_call>call:f{a:", "<|tool_call>call:f{a:", [], ["unreadable-call"], None),
        (
            "<|tool_call>call:f{a:1}} \n",
            "",
            [("f", "{a:1}}")],
            ["unreadable-arguments", "missing-close-tag"],
            None,
        ),
        ("<|tool_call>call:f{a:1} x", "<|tool_call>call:f{a:1} x", [], ["unreadable-call"], None),
        ("<|tool_call>call:f{a:1} x<tool_call|>", "", [("f", "{a:1} x")], ["unreadable-arguments"], None),
        (
            "<start_function_call>call:f{a:1}<|tool_call>call:g{}<start_function_call>call:h{}<end_function_call>",
            "",
            [("f", {"a": 1}), ("g", {}), ("h", {})],
            ["missing-close-tag", "missing-close-tag"],
            None,
        ),
        ("<|tool_call>nope<tool_call|>x", "<|tool_call>nope<tool_call|>x", [], ["unreadable-call"], None),
        (
            '<|tool_call>call:f{a:<|"|>x}<tool_call|>',
            "",
            [("f", '{a:<|"|>x}')],
            ["unreadable-arguments"],
            None,
        ),
        (
            "<start_function_call>call:f{a:<escape>1<escape>}<end_function_call>",
            "",
            [("f", {"a": "1"})],
            [],
            None,
        ),
        ("<|tool_call>call:f{} x<tool_call|>", "", [("f", "{} x")], ["unreadable-arguments"], None),
        ("<|channel>never", "", [], ["unclosed-reasoning"], "never"),
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
