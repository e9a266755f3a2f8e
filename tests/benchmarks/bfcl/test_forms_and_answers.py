"""What is read of replies in the forms of format sensitivity, and which replies hold an answer of the agentic part."""

from typing import Any

import pytest

from benchmarks.bfcl.test_memory import load
from wildtool.benchmark import Check
from wildtool.benchmarks.bfcl import BFCL_BENCHMARK
from wildtool.benchmarks.bfcl.agentic import (
    answer_message,
    check_answer,
    has_answer,
    other_numbers,
)
from wildtool.benchmarks.bfcl.decode import DecodeError
from wildtool.benchmarks.bfcl.prompt_forms import (
    PROMPT_FORMS,
    PromptForm,
    documents_text,
    with_system,
)
from wildtool.toolcall.call_syntax import MAX_CALL_CHARACTERS

JSON, VERBOSE, CONCISE = (PromptForm(calls) for calls in ("json", "verbose_xml", "concise_xml"))


def outcome(call: Any, *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except DecodeError as error:
        return f"! {error}"


# Forms -----------------------------------------------------------------------------------------------


def xml(*parameters: str, name: str = ' name="f"') -> str:
    return f"<functions><function{name}>{''.join(parameters)}</function></functions>"


def test_tagged_calls_in_python_need_their_brackets() -> None:
    form = PromptForm(tagged=True)
    assert form.decode("x <TOOLCALL> '[f(a=1)]' </TOOLCALL> y") == [{"f": {"a": 1}}]
    assert outcome(form.decode, "<TOOLCALL>f(a=1), g()</TOOLCALL>") == [{"f": {"a": 1}}, {"g": {}}]
    for text in ("f()", "<TOOLCALL>f()", "</TOOLCALL>f()<TOOLCALL>"):
        assert outcome(form.decode, text) == "! no <TOOLCALL> around the calls"
    assert (
        outcome(JSON.decode, "x" * (MAX_CALL_CHARACTERS + 1))
        == f"! longer than {MAX_CALL_CHARACTERS} characters"
    )
    assert outcome(JSON.decode, "x" * MAX_CALL_CHARACTERS) == []


def test_forms_have_their_names_and_parts() -> None:
    assert list(PROMPT_FORMS) == [
        *(
            f"{calls}/{tag}/{documents}/plaintext/classic"
            for calls in ("python", "json", "verbose_xml", "concise_xml")
            for tag in ("tag", "no-tag")
            for documents in ("python", "xml", "json")
        ),
        "python/no-tag/json/markdown/classic",
        "python/no-tag/json/plaintext/experimental",
    ]
    assert PromptForm("json", True, "xml", "markdown", "experimental").parts() == {
        "ret_fmt": "json",
        "tool_call_tag": "True",
        "func_doc_fmt": "xml",
        "prompt_fmt": "markdown",
        "style": "experimental",
    }


def test_calls_are_written_in_each_form() -> None:
    calls = [("a.b", {"x": "<\n>", "n": 1, "l": [1]}), ("c", {})]
    assert JSON.message(calls)["content"] == (
        '[{"function": "a.b", "parameters": {"x": "<\\n>", "n": 1, "l": [1]}}, {"function": "c", "parameters": {}}]'
    )
    assert VERBOSE.message(calls)["content"] == (
        '<functions><function name="a.b"><params><param name="x" value="&lt;&#10;&gt;" type="string"/>'
        '<param name="n" value="1" type="integer"/><param name="l" value="[1]" type="array"/></params></function>'
        '<function name="c"><params></params></function></functions>'
    )
    assert CONCISE.message(calls)["content"] == (
        '<functions><function name="a.b"><param name="x" type="string">&lt;\n&gt;</param>'
        '<param name="n" type="integer">1</param><param name="l" type="array">[1]</param></function>'
        '<function name="c"></function></functions>'
    )
    none = {"role": "assistant", "content": "None of the functions can be used for this request."}
    assert JSON.message([]) == PromptForm(tagged=True).message([]) == none
    assert PromptForm(tagged=True).message(calls[1:]) == {
        "role": "assistant",
        "content": "<TOOLCALL>[c()]</TOOLCALL>",
    }


def test_a_text_comes_before_the_system_message() -> None:
    user, system = {"role": "user", "content": "u"}, {"role": "system", "content": "s", "x": 1}
    assert with_system([user], "t") == [{"role": "system", "content": "t"}, user]
    assert with_system([system, user], "t") == [{"role": "system", "content": "t\n\ns", "x": 1}, user]
    assert with_system([user, system], "t") == [{"role": "system", "content": "t"}, user, system]
    assert with_system([], "t") == [{"role": "system", "content": "t"}]


def test_types_are_documented_as_the_original_does() -> None:
    words = {
        "a": {"type": "list", "items": {"type": "number"}}, "b": {"type": "array"}, "c": {"items": {"type": "boolean"}},
        "d": {"type": "object", "additionalProperties": {"type": "integer"}},
        "e": {"type": "dict", "additionalProperties": True},
        "f": {"type": "odd", "default": 5}, "g": {"enum": [1]},
        "h": {"type": "object", "properties": {"i": {}}, "required": []},
    }  # fmt: skip
    document = {"name": "f", "parameters": {"properties": words, "required": ["a"]}}
    lines = documents_text([document], "python").splitlines()
    assert lines[5:-4] == [
        "        a (list[float]): ",
        "        b (array): ",
        "        c (str): ",
        "        d (dict[str, int]): ",
        "        e (dict): ",
        "        f (odd, default=5): ",
        "        g (str):  Enum values: [1].",
        "        h (dict): ",
        "            i (str): ",
    ]
    tags = [line.strip() for line in documents_text([document], "xml").splitlines() if "<param " in line]
    assert tags == [
        '<param name="a" type="list[number]" required="true">',
        '<param name="b" type="array" required="false">',
        '<param name="c" type="string[boolean]" required="false">',
        '<param name="d" type="object[integer]" required="false">',
        '<param name="e" type="dict" required="false">',
        '<param name="f" type="odd" required="false" default="5">',
        '<param name="g" type="string" required="false">',
        '<param name="h" type="object" required="false">',
        '<param name="i" type="string" required="false">',
    ]
    empty = documents_text([{"name": "f", "parameters": {}}], "python")
    assert empty == '# Function: f\n    """\n    \n\n    """\n\n\n\n'


# Answers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "numbers"),
    [
        ("38", [("other sign", "-38"), ("other decimals", "38.5")]),
        ("-1.5", [("other sign", "1.5"), ("other decimals", "-1.55"), ("point left out", "-15")]),
        ("Ann", []),
    ],
)
def test_wrong_numbers_look_like_the_right_one(answer: str, numbers: list[tuple[str, str]]) -> None:
    assert list(other_numbers(answer)) == numbers


def test_a_decision_about_an_answer_has_its_reason() -> None:
    def decide(final: Any) -> Check:
        return check_answer(final, ("Ann", "Bo"), has_answer, 3)

    calls = {"decoded_calls": 3}
    assert decide({"content": "It is Bo."}) == Check(
        True, reason="the last reply has an accepted answer", fields=calls
    )
    assert decide({"content": "Cy"}) == Check(
        False, "agentic:answer_not_found", "expected 'Ann or Bo', found 'Cy'", fields=calls
    )
    for final in (None, {}, {"content": ""}, {"content": None}):
        assert decide(final) == Check(
            False, "agentic:no_last_message", "there is no last reply without calls", fields=calls
        )
    native = {"content": "Ann", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}
    assert decide(native).reason == "expected 'Ann or Bo', found [{'f': '{}'}]"


def test_mistakes_in_answers_come_after_the_conversations(tmp_path: Any) -> None:
    item = load(tmp_path, "memory_kv")
    rules = BFCL_BENCHMARK.rules("fixed")
    first, second = item.units
    noted = answer_message("Noted.")
    unknown = "I do not know"
    assert [(m.unit, m.kind, m.replies, m.note, rules.explain(item, m)) for m in rules.mutants(item)] == [
        (first, "another answer", (*[noted] * 3, answer_message("38")), "38 for Ann", ""),
        (first, "no answer", (*[noted] * 3, answer_message(unknown)), f"{unknown} for Ann", ""),
        (
            first,
            "answer in the context alone",
            (*[noted] * 3, answer_message(unknown, "Ann")),
            f"{unknown} for Ann",
            "A1",
        ),
        (second, "another answer", (answer_message("Ann"),), "Ann for 38", ""),
        (second, "no answer", (answer_message(unknown),), f"{unknown} for 38", ""),
        (second, "answer in the context alone", (answer_message(unknown, "38"),), f"{unknown} for 38", "A1"),
        (second, "other sign", (answer_message("-38"),), "-38 for 38", "A2"),
        (second, "other decimals", (answer_message("38.5"),), "38.5 for 38", ""),
    ]
    assert answer_message("a") == {
        "role": "assistant",
        "content": "{'answer': 'a', 'context': 'It was said.'}",
    }
    assert answer_message("a", "b") == {"role": "assistant", "content": "{'answer': 'a', 'context': 'b'}"}
