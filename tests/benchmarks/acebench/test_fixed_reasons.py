"""Profile `fixed` word for word: what is read of a reply, and why calls and messages are wrong."""

# ruff: noqa: E501 - each reason stands on one line

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.acebench.reply_build import special, tool
from wildtool.benchmarks.acebench.check import CheckResult
from wildtool.benchmarks.acebench.fixed.calls import check_fixed_calls
from wildtool.benchmarks.acebench.fixed.parse import parse_reply_calls
from wildtool.benchmarks.acebench.fixed.special import check_special
from wildtool.toolcall.call_syntax import CallSyntaxError

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


def reading(text: str) -> Any:
    try:
        return [(call.name, call.arguments) for call in parse_reply_calls(text)]
    except CallSyntaxError as error:
        return str(error)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[f(a=1), g.h(b="x")]', [("f", {"a": 1}), ("g.h", {"b": "x"})]),
        ("f(a=1)", [("f", {"a": 1})]),
        ("f(a=1), g()", [("f", {"a": 1}), ("g", {})]),
        ("{f(a=1), g()}", [("f", {"a": 1}), ("g", {})]),
        ("(f(),)", [("f", {})]),
        ("```python\n[f()]\n```", [("f", {})]),
        ("``` \nf()```", [("f", {})]),
        ("[f(a=true, b=false, c=null, d=word)]", [("f", {"a": True, "b": False, "c": None, "d": "word"})]),
        ("[f(a=+5, b=-(2), c=1 + 2 * 3)]", [("f", {"a": 5, "b": -2, "c": 7})]),
        ("[f(a='x\ny')]", [("f", {"a": "x\ny"})]),
        ("[f(a='x\\\ny', b=1)]", [("f", {"a": "xy", "b": 1})]),
        ("[f(a=dict(b=1, c=dict()))]", [("f", {"a": {"b": 1, "c": {}}})]),
        ('[f(a={"k": [1, (2, 3)]})]', [("f", {"a": {"k": [1, (2, 3)]}})]),
        ("[f(\xa0a=1)]", [("f", {"a": 1})]),
        ("[f(a=1) # note\n]", [("f", {"a": 1})]),
        ("[f(a='it\xa0is')]", [("f", {"a": "it\xa0is"})]),
        ('[f(a="x\r\ny")]', [("f", {"a": "x\r\ny"})]),
        ("[f(a='''x\ny''')]", [("f", {"a": "x\ny"})]),
        ("[f(1)]", "an argument without a name"),
        ("[f(*a)]", "an argument without a name"),
        ("[f(**a)]", "unpacking instead of named arguments"),
        ("[f(a=1, a=2)]", "the argument a is given twice"),
        ("[f(dict(a=1))]", "an argument without a name"),
        ("[f(a=dict(1))]", "an argument without a name"),
        ("[f()()]", "a call of something that is no name"),
        ('["f"()]', "a call of something that is no name"),
        ("[f[0]()]", "a call of something that is no name"),
        ("[f(a=g())]", "no value: Call"),
        ("[f(a=b[0])]", "no value: Subscript"),
        ("[f(a=...)]", "no value: ..."),
        ("5", "not a call but Constant"),
        ("[]", []),
    ],
)
def test_a_reply_is_read_as_calls_or_says_why_not(text: str, expected: Any) -> None:
    assert reading(text) == expected


FUNCTIONS: list[dict[str, Any]] = [
    tool(
        "f",
        a=NUMBER,
        b=TEXT,
        c={"type": "object", "properties": {"x": NUMBER}},
        d={"type": "integer", "default": 5},
    ),
    tool("g") | {"parameters": {"properties": {"a": NUMBER, "e": {"type": "array"}}, "required": ["a", "e"]}},
    tool("h_1"),
]


@pytest.mark.parametrize(
    ("text", "candidates", "expected"),
    [
        ("[f(a=1)]", [{"f": {"a": 1}}], None),
        ("[f(a=2)]", [{"f": {"a": 1}}], ("value_error", "a: 2 is not 1 (number)")),
        ('[f(a="1")]', [{"f": {"a": 1}}], ("type_error", "a: '1' is not 1 (type)")),
        ("[f()]", [{"f": {"a": 1}}], ("lack_args", "a: 1 is missing")),
        ('[f(a=1, b="x")]', [{"f": {"a": 1}}], ("addition_args", "b: 'x' was not asked for")),
        ('[f(a=1, b="", c={}, d=5)]', [{"f": {"a": 1}}], None),
        ("[f(a=1, d=6)]", [{"f": {"a": 1}}], ("addition_args", "d: 6 was not asked for")),
        ("[f(a=1, zz=1)]", [{"f": {"a": 1}}], ("addition_args", "zz: 1 was not asked for")),
        ('[f(a=1, zz="")]', [{"f": {"a": 1}}], ("addition_args", "zz: '' was not asked for")),
        (
            '[f(a=1, c={"x": 1})]',
            [{"f": {"a": 1, "c": {"x": 2}}}],
            ("value_error", "c.x: 1 is not 2 (number)"),
        ),
        ("[f(a=1, c={})]", [{"f": {"a": 1, "c": {"x": 2}}}], ("lack_args", "c: object of 1 is missing")),
        (
            '[f(a=1, c={"x": 2, "y": 3})]',
            [{"f": {"a": 1, "c": {"x": 2}}}],
            ("value_error", "c.y: 3 was not asked for"),
        ),
        (
            '[f(a=1, c={"x": "2"})]',
            [{"f": {"a": 1, "c": {"x": 2}}}],
            ("type_error", "c.x: '2' is not 2 (type)"),
        ),
        ("[g(a=1, e=[])]", [{"g": {"a": 1, "e": []}}], None),
        ("[g(a=1)]", [{"g": {"a": 1, "e": []}}], ("lack_args", "e: array of 0 is missing")),
        ("[g(a=1, e=(1, 2))]", [{"g": {"a": 1, "e": [1, 2]}}], None),
        ("[f(a=2), f(a=1)]", [{"f_1": {"a": 1}, "f_2": {"a": 2}}], None),
        ("[f(a=2), f(a=2)]", [{"f_1": {"a": 1}, "f_2": {"a": 2}}], ("value_error", "a: 2 is not 1 (number)")),
        (
            '[f(a=9, b="y"), f(a=1, b="q")]',
            [{"f_1": {"a": 1, "b": "x"}, "f_2": {"a": 2, "b": "y"}}],
            ("value_error", "b: 'q' does not mean 'x' (short text)"),
        ),
        (
            "[f(a=1), g(a=1, e=[])]",
            [{"f_1": {"a": 1}, "f_2": {"a": 2}}],
            ("function_mismatch", "expected 2 calls of 'f', got 1"),
        ),
        (
            "[g(a=1, e=[]), f(a=3)]",
            [{"f": {"a": 1}, "g": {"a": 2, "e": []}}],
            ("value_error", "a: 3 is not 1 (number)"),
        ),
        (
            "[f(a=1)]",
            [{"f_1": {"a": 1}, "f_2": {"a": 2}}],
            ("wrong functions number", "expected 2 calls, got 1"),
        ),
        ("[h()]", [{"f": {}}], ("function_mismatch", "expected 1 calls of 'f', got 0")),
        ("[h_1()]", [{"h_1": {}}], None),
        ("[h()]", [{"h_1": {}}], ("function_mismatch", "expected 0 calls of 'h', got 1")),
        ("[f(a=2)]", [{"f": {"a": 1}}, {"f": {"a": 2}}], None),
        ("[f(a=3)]", [{"f": {"a": 1, "b": "x"}}, {"f": {"a": 2}}], ("value_error", "a: 3 is not 2 (number)")),
        (
            '[f(d=1, b="x"), f(d=1, b="q")]',
            [{"f_1": {"d": 1, "b": "x"}, "f_2": {"d": 2, "b": "x"}}],
            ("value_error", "d: 1 is not 2 (number)"),
        ),
    ],
)
def test_calls_are_right_or_the_first_fault_is_named(
    text: str, candidates: list[Any], expected: tuple[str, str] | None
) -> None:
    result = CheckResult(True) if expected is None else CheckResult(False, *expected)
    assert check_fixed_calls(parse_reply_calls(text), FUNCTIONS, candidates) == result


LEGS = {
    "name": " f",
    "parameters": {
        "properties": {
            "date": {"type": "string"},
            "legs": {
                "type": "array",
                "items": {
                    "properties": {"city": {"type": "string"}, "zip": {"type": "string"}},
                    "required": ["city"],
                },
            },
            "trip": {"properties": {"date": {"type": "string"}}},
            "x": {"type": "string"},
        }
    },
}
INC = replace(
    special("special_incomplete", **{"f ": ["date", "legs"]}), functions=(LEGS, tool("g")), may_name=("who",)
)
ERR = special("special_error_param", team=["Lions#7"], age=["-5"])
IRR = special("special_irrelevant")
DETECTION, CORRECTION = "error_detection", "error_correction"
LONG = "x" * 100_001


@pytest.mark.parametrize(
    ("record", "text", "expected"),
    [
        (INC, None, (DETECTION, "the reply has no text")),
        (INC, "no", (DETECTION, "the reply does not say 'Missing necessary parameters'")),
        (INC, '["Missing necessary parameters (date, legs) for the api (f)"]', None),
        (INC, '["missing necessary parameters (legs and date) for the api (f)"]', None),
        (INC, "Missing  necessary\nparameters: date, legs for the function f.", None),
        (
            INC,
            '["Missing necessary parameters (date) for the api (f)"]',
            (CORRECTION, "the reply does not name 'legs'"),
        ),
        (
            INC,
            '["Missing necessary parameters (date, legs, x) for the api (f)"]',
            (CORRECTION, "'x' is not missing"),
        ),
        (INC, '["Missing necessary parameters (date, legs, city) for the api (f)"]', None),
        (
            INC,
            '["Missing necessary parameters (date, legs, zip) for the api (f)"]',
            (CORRECTION, "'zip' is not missing"),
        ),
        (INC, '["Missing necessary parameters (trip.date, legs[0].city) for the api (f)"]', None),
        (INC, '["Missing necessary parameters (date, legs, who) for the api (f)"]', None),
        (
            INC,
            '["Missing necessary parameters (date, legs) for the api (g)"]',
            (CORRECTION, "'g' is not the function 'f '"),
        ),
        (
            INC,
            '["Missing necessary parameters (date, legs) for the api (f, g)"]',
            (CORRECTION, "'f, g' is not the function 'f '"),
        ),
        (
            INC,
            '["Missing necessary parameters (date, legs) for the api (f)"] or g',
            (CORRECTION, "the reply also names 'g'"),
        ),
        (
            INC,
            '["Missing necessary parameters (date) for the api (f)"]["Missing necessary parameters (legs) for the api (f)"]',
            None,
        ),
        (
            INC,
            "Missing necessary parameters date",
            (CORRECTION, "the message does not say what is wrong in its two places"),
        ),
        (
            INC,
            '["Missing necessary parameters (date, legs) for the api (f)"]["Due to the limitations of the function, I cannot solve this problem."]',
            (DETECTION, "the reply also says 'the limitations of the function'"),
        ),
        (
            INC,
            '["Missing necessary parameters (date, legs) for the api (f)"] [f()]',
            (DETECTION, "a call was made in addition to the message: '[f()'"),
        ),
        (
            INC,
            '["Missing necessary parameters (date, legs) for the api (f)"] f(a=1)',
            (DETECTION, "a call was made in addition to the message: 'f(a='"),
        ),
        (
            INC,
            '["Missing necessary parameters (date, legs) for the api (f)"] {"name": "f", "arguments": {}}',
            (DETECTION, "a call was made in addition to the message: 'f'"),
        ),
        (
            INC,
            '["Missing necessary parameters (dates, legs) for the api (f)"]',
            (CORRECTION, "the reply does not name 'date'"),
        ),
        (INC, '["Missing necessary parameters （date, legs) for the api （f)"]', None),
        (
            ERR,
            '["There is incorrect value (Lions#7, -5) for the parameters (team, age) in the conversation history."]',
            None,
        ),
        (
            ERR,
            '["There is incorrect value (-5, Lions#7) for the parameters (age, team) in the conversation history."]',
            None,
        ),
        (
            ERR,
            '["There is incorrect value (Lions#7, -5) for the parameters (age, team) in the conversation history."]',
            (CORRECTION, "the reply does not name '-5' as the value of 'age'"),
        ),
        (
            ERR,
            '["There is incorrect value (Lions#7) for the parameters (team) in the conversation history."]',
            (CORRECTION, "the reply does not name '-5' as the value of 'age'"),
        ),
        (
            ERR,
            '["There is incorrect value (Lions#7) for the parameters (team) in the conversation history."]["There is incorrect value (minus five) for the parameters (age) in the conversation history."]',
            None,
        ),
        (
            ERR,
            '["There is incorrect value (Lions#7, 5) for the parameters (team, age) in the conversation history."]',
            (CORRECTION, "'5' is no wrong value"),
        ),
        (
            ERR,
            '["There is incorrect value (Lions#77, -5) for the parameters (team, age) in the conversation history."]',
            (CORRECTION, "'Lions#77' is no wrong value"),
        ),
        (
            ERR,
            '["There is incorrect value (Lions#7, -5 years) for the parameters (team, age) in the conversation history."]',
            None,
        ),
        (
            ERR,
            '["There is incorrect value (Lions#7, -5, x) for the parameters (team, age) in the conversation history."]',
            (CORRECTION, "'x' is no wrong value"),
        ),
        (
            ERR,
            '["There is incorrect value (Lions#7, -5) for the parameters (team) in the conversation history."]',
            (CORRECTION, "the reply does not name '-5' as the value of 'age'"),
        ),
        (
            ERR,
            '["There is incorrect value (Lions#7, -5) for the parameters (team, who) in the conversation history."]',
            (CORRECTION, "the reply does not name '-5' as the value of 'age'"),
        ),
        (
            ERR,
            '["There is incorrect value (Lions#7, -5) for the parameters (user.team, user.age) in the conversation history."]',
            None,
        ),
        (
            ERR,
            '["There is incorrect value (Lions#7, negative five) for the parameters (team, age) in the conversation history."]',
            None,
        ),
        (ERR, "There is incorrect value Lions#7 and -5 for the parameters team and age.", None),
        (
            ERR,
            "There is incorrect value",
            (CORRECTION, "the message does not say what is wrong in its two places"),
        ),
        (ERR, LONG, (DETECTION, "longer than 100,000 characters")),
        (IRR, '["Due to the limitations of the function, I cannot solve this problem."]', None),
        (IRR, "DUE TO THE LIMITATIONS OF THE FUNCTION, I CANNOT SOLVE THIS PROBLEM.", None),
        (IRR, "no", (DETECTION, "the reply does not say 'the limitations of the function'")),
        (
            IRR,
            '["Due to the limitations of the function, I cannot solve this problem."]["Missing necessary parameters (a) for the api (f)"]',
            (DETECTION, "the reply also says 'Missing necessary parameters'"),
        ),
        (
            IRR,
            '["Due to the limitations of the function, I cannot solve this problem."] [f()]',
            (DETECTION, "a call was made in addition to the message: '[f()'"),
        ),
    ],
)
def test_a_message_is_right_or_the_first_fault_is_named(
    record: Any, text: str | None, expected: tuple[str, str] | None
) -> None:
    result = CheckResult(True) if expected is None else CheckResult(False, *expected)
    assert check_special(text, record) == result
