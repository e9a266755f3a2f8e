"""Why the published rules let a value pass or refuse a gold answer, by the numbers of their quirks."""

from typing import Any

import pytest

from benchmarks.acebench.reply_build import item, normal, special, tool
from wildtool.benchmark import Mutant
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.audit.explain import CAUSES, REASONS, why_gold_fails
from wildtool.benchmarks.acebench.native import native_message
from wildtool.toolcall.call_syntax import CallExpression
from wildtool.types import Message

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
LIST = {"type": "array", "items": TEXT}


def explained(record: Any, reply: str | Message, profile: str = "official") -> str:
    message = {"role": "assistant", "content": reply} if isinstance(reply, str) else reply
    return ACEBENCH.rules(profile).explain(item(record), Mutant("0", "any kind", (message,), ""))


@pytest.mark.parametrize(
    ("schema", "gold", "value", "quirk"),
    [
        (NUMBER, 1, 2, "Q11"),
        (NUMBER, 1, 1, ""),
        (NUMBER, 1, "1", "Q30"),
        (NUMBER, 1.5, 2, "Q12"),
        (NUMBER, "", 2, "Q11"),
        ({"type": "float"}, 1.5, 2.5, "Q11"),
        ({"type": "boolean"}, True, False, "Q11"),
        ({"type": "boolean"}, True, "true", "Q13"),
        ({"type": "boolean"}, True, "false", "Q13"),
        (TEXT, "x", "x y", "Q15"),
        (TEXT, "true", "false", "Q30"),
        (TEXT, "", "y", "Q15"),
        (TEXT, 1, "1", "Q12"),
        (LIST, ["a"], ["b"], "Q30"),
        (LIST, ["a."], ["a"], "Q18"),
        ({"type": "array", "items": {"type": "object"}}, [{"b": "x"}], [{"b": "x y"}], "Q16"),
        (LIST, ["a", {"b": 1}], ["b"], "Q30"),
        ({"type": "object"}, {"a": 1}, {"a": 11}, "Q16"),
        ({"type": "colour"}, "x", "y", "Q30"),
        ({}, "x", "y", "Q30"),
        (TEXT, TEXT, {"type": "text"}, "Q26"),
        (NUMBER, 1, True, ""),
    ],
)
def test_another_value_passes_by_the_rule_of_its_type(schema: Any, gold: Any, value: Any, quirk: str) -> None:
    record = normal({"f": {"a": gold}}, functions=(tool(a=schema),))
    expected = REASONS[quirk] if quirk else ""
    assert explained(record, f"[f(a={value!r})]") == expected
    assert explained(record, f"[f(a={value!r})]", "fixed") == ""


def test_several_reasons_stand_once_each_in_order() -> None:
    functions = (tool(a=NUMBER, b=TEXT),)
    record = normal({"f_1": {"a": 1, "b": "x"}, "f_2": {"a": 2, "b": "y"}}, functions=functions)
    assert explained(record, "[f(b='x z'), f(a=3, b='y z')]") == "; ".join(
        REASONS[name] for name in ("Q11", "Q15", "Q23")
    )
    assert explained(record, "[f(a=True, b='x z'), f(a=2, b='y')]") == f"{REASONS['Q11']}; {REASONS['Q15']}"
    assert explained(record, "[f(a=1, b='x'), f(a=1, b='x')]") == REASONS["Q30"]
    assert explained(record, native_message([CallExpression("f", {"a": 3, "b": "x"})])) == REASONS["Q11"]
    assert explained(record, "words") == ""
    assert explained(special("special_error_param", a=["1"]), "words") == REASONS["Q42"]


@pytest.mark.parametrize(
    ("gold", "function", "cause"),
    [
        ({"f": {"a": "x"}}, tool(a=TEXT), ""),
        ({"f": {"a": ["New York"]}}, tool(a=LIST), ""),
        ({"f": {"a": ["x"]}}, tool(a={"type": "array"}), "other"),
        ({"f": {"a": ["x"], "b": "y"}}, tool(a={"type": "array"}, b=TEXT), "Q20"),
        ({"f": {"a": ["x"], "b": "y"}}, tool(a={"type": "array", "items": {"type": "no"}}, b=TEXT), "other"),
        ({"f": {"a": "x", "b": "y"}}, tool(a={"type": "no"}, b=TEXT), "other"),
        ({"f": {"a": [], "b": "y"}}, tool(a=LIST, b=TEXT), "Q21"),
        ({"f": {"a": {}, "b": "y"}}, tool(a={"type": "object"}, b=TEXT), "Q21"),
        ({"f": {"a": ["New York"], "b": []}}, tool(a=LIST, b=LIST), "Q21"),
        ({"f_1": {}}, tool("f_1"), "Q27"),
        ({"f": {}}, tool("f") | {"parameters": {"properties": {"a": TEXT}, "required": ["a"]}}, "Q22"),
        ({"f": {"a": {"k": "a b"}}}, tool(a={"type": "object"}), ""),
        ({"f": {"a": ["x"], "b": []}}, tool(a={"type": "array"}, b=LIST), "other"),
        ({"f": {"a": ["x y", [1, "z w"], {"k": "v w"}]}}, tool(a=LIST), "Q1"),
    ],
)
def test_a_gold_answer_that_fails_has_the_first_cause_that_explains_it(
    gold: Any, function: dict[str, Any], cause: str
) -> None:
    record = normal(gold, functions=(function,))
    assert why_gold_fails(record) == cause
    reason = f"{cause} {CAUSES[cause]}" if cause else ""
    explained = [
        ACEBENCH.rules(name).explain_gold(item(record), "0") for name in ("official-2025-08", "fixed")
    ]
    assert explained == [reason, ""]
