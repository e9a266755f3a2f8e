"""Format sensitivity: the 26 forms of prompts, and how calls are written and read in them."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bfcl.bfcl_build import BOOK, STAY, write_data
from wildtool.benchmark import accepts
from wildtool.benchmarks.bfcl import BFCL_BENCHMARK
from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES
from wildtool.benchmarks.bfcl.decode import DecodeError
from wildtool.benchmarks.bfcl.originals import original_texts
from wildtool.benchmarks.bfcl.prompt_forms import (
    DEFAULT_FORM,
    PROMPT_FORMS,
    PromptForm,
    decode_json_fully,
    documents_text,
)
from wildtool.benchmarks.bfcl.records import BfclEntry
from wildtool.data.data_set import data_of
from wildtool.episode import gold_replies
from wildtool.errors import DataError, UsageError
from wildtool.types import Item

CALLS = [("a.b", {"text": 'x < "y" & z\n', "number": -1.5, "list": [1, [None]], "flag": False, "none": None})]


def folder_with_forms(folder: Path, ids: Any) -> Path:
    path = write_data(folder) / "BFCL_v4_format_sensitivity.json"
    path.write_text(json.dumps(ids), "utf-8")
    return folder


def test_there_are_the_26_forms_with_the_default_among_them() -> None:
    assert len(PROMPT_FORMS) == 26
    assert DEFAULT_FORM in PROMPT_FORMS.values()
    assert len({original_texts().system_prompt([BOOK], form) for form in PROMPT_FORMS.values()}) == 26


@pytest.mark.parametrize("form", PROMPT_FORMS.values(), ids=list(PROMPT_FORMS))
def test_calls_are_read_back_as_they_were_written(form: PromptForm) -> None:
    text = form.message(CALLS)["content"]
    wanted = (
        {**CALLS[0][1], "text": CALLS[0][1]["text"].strip()} if form.calls == "concise_xml" else CALLS[0][1]
    )
    assert form.decode(text) == [{"a.b": wanted}]
    assert ("<TOOLCALL>" in text) == form.tagged
    if form.tagged:
        with pytest.raises(DecodeError, match="TOOLCALL"):
            form.decode(text.replace("TOOLCALL", "CALL"))


def test_json_in_a_tag_is_a_list() -> None:
    with pytest.raises(DecodeError, match=r"^no list of calls$"):
        PromptForm("json", tagged=True).decode("<TOOLCALL>5</TOOLCALL>")


@pytest.mark.parametrize(
    ("inside", "calls"),
    [
        ('{"function": "f", "parameters": {}}', []),  # the original looks for calls among its keys
        ('"f"', []),
        ('[{"function": 7, "parameters": {}}]', [{7: {}}]),
        ('[{"function": null, "parameters": {}}]', [{None: {}}]),
    ],
)
def test_json_that_is_no_list_of_named_calls_is_read_as_published(inside: str, calls: list[Any]) -> None:
    assert PromptForm("json", tagged=True).decode(f"<TOOLCALL>{inside}</TOOLCALL>") == calls


def test_a_list_is_no_name_of_a_function() -> None:
    with pytest.raises(DecodeError, match="name of a function"):
        PromptForm("json").decode('[{"function": ["f"], "parameters": {}}]')


def test_brackets_around_calls_in_a_tag_are_not_made_up_for() -> None:
    tagged, bare = (PromptForm(tagged=tagged) for tagged in (True, False))
    assert tagged.decode("<TOOLCALL> '[f(a=1)]'\n</TOOLCALL>") == bare.decode("`f(a=1)`") == [{"f": {"a": 1}}]
    with pytest.raises(DecodeError, match=r"^no list of calls$"):
        tagged.decode("<TOOLCALL>f</TOOLCALL>")
    with pytest.raises(DecodeError, match=r"^expected a call, found Name$"):
        bare.decode("f")


def test_a_list_of_objects_in_an_argument_ends_the_calls_as_published_but_not_under_fixed() -> None:
    text = PROMPT_FORMS["json/tag/json/plaintext/classic"].message([("f", {"a": [{"b": 1}]})])["content"]
    assert PROMPT_FORMS["json/tag/json/plaintext/classic"].decode(text) == []
    assert decode_json_fully(text) == [{"f": {"a": [{"b": 1}]}}]


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('```json\n[{"function": "f", "parameters": {}}]\n```', [{"f": {}}]),
        ('{"function": "f", "parameters": {}}', [{"f": {}}]),
        ('[{"function": "f", "parameters": {}}] and more', [{"f": {}}]),
        ("no calls", []),
        ('[{"function": "f", "parameters": {}', []),
        ("[]", []),
        ("[1]", []),
    ],
)
def test_json_calls_are_found_in_a_reply(text: str, calls: Any) -> None:
    assert PROMPT_FORMS["json/no-tag/json/plaintext/classic"].decode(text) == calls
    assert decode_json_fully(text) == calls


def test_functions_are_documented_in_python_and_xml() -> None:
    schema = {
        "type": "dict",
        "required": ["a"],
        "properties": {
            "a": {"type": "array", "items": {"type": "integer"}, "description": "List.", "default": [1, 2]},
            "b": {"type": "dict", "properties": {"c": {"type": "string", "enum": ["x"]}}},
        },
    }
    document = {"name": "f", "description": "Does it.", "parameters": schema}
    assert documents_text([document], "python") == (
        '# Function: f\n    """\n    Does it.\n\n    Args:\n'
        "        a (list[int], default=[1, 2]): List.\n        b (dict): \n"
        '            c (str):  Enum values: [\'x\'].\n    """\n\n\n\n'
    )
    assert documents_text([document], "xml") == (
        '<function name="f">\n  <desc>Does it.</desc>\n  <params>\n'
        '    <param name="a" type="array[integer]" required="true" default="[1 2]">\n      <desc>List.</desc>\n'
        '    </param>\n    <param name="b" type="dict" required="false">\n      <desc></desc>\n      <params>\n'
        '        <param name="c" type="string" required="true">\n'
        "          <desc> Enum values: ['x'].</desc>\n        </param>\n      </params>\n    </param>\n"
        "  </params>\n</function>\n"
    )


def test_each_form_is_a_unit_whose_gold_is_right_and_whose_mistakes_are_caught(tmp_path: Path) -> None:
    folder = folder_with_forms(tmp_path / "data", {"parallel": ["parallel_0"]})
    benchmark = BFCL_BENCHMARK.in_mode("prompt")
    (item,) = benchmark.load(
        data_of(benchmark).locate(str(folder), "format_sensitivity"), split="format_sensitivity"
    )
    assert (item.id, item.units) == ("format_sensitivity:parallel_0", tuple(PROMPT_FORMS))
    for profile in ("official", "fixed"):
        rules = benchmark.rules(profile)
        for unit in item.units:
            gold = gold_replies(rules.episode(item, unit))
            assert gold is not None and accepts(rules, item, unit, gold)
    mutants = list(rules.mutants(item))
    assert {mutant.unit for mutant in mutants} == set(item.units)
    assert not [mutant for mutant in mutants if accepts(rules, item, mutant.unit, mutant.replies)]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ({"parallel": ["parallel_9"]}, "no entry 'parallel_9'"),
        ({"irrelevance": []}, "'irrelevance': expected"),
    ],
)
def test_broken_lists_of_ids_are_named(tmp_path: Path, ids: Any, message: str) -> None:
    folder = folder_with_forms(tmp_path / "data", ids)
    benchmark = BFCL_BENCHMARK.in_mode("prompt")
    with pytest.raises(DataError, match=message):
        list(benchmark.load(data_of(benchmark).locate(str(folder)), split="format_sensitivity"))


def test_native_calls_have_no_form(tmp_path: Path) -> None:
    folder = folder_with_forms(tmp_path / "data", {"parallel": ["parallel_0"]})
    with pytest.raises(UsageError, match="--mode prompt"):
        data_of(BFCL_BENCHMARK).locate(str(folder), "format_sensitivity")


WRITTEN = st.text(max_size=40) | st.text(alphabet="[]{}()<>/=,\"'`: \nfunctioparmsev1\x00", max_size=80)
PARTS = st.lists(
    WRITTEN
    | st.sampled_from(['<functions><function name="f">', '<param name="a">', "</functions>", "<TOOLCALL>"]),
    max_size=5,
)


@given(PARTS.map("".join), st.sampled_from(list(PROMPT_FORMS)), st.sampled_from(["official", "fixed"]))
def test_no_reply_makes_the_rules_raise(text: str, form: str, profile: str) -> None:
    record = BfclEntry(BFCL_CATEGORIES["simple_python"], (), (BOOK,), (STAY,))
    item = Item("format_sensitivity:x", (form,), record, split="format_sensitivity")
    rules = BFCL_BENCHMARK.in_mode("prompt").rules(profile)
    assert not accepts(rules, item, form, [{"role": "assistant", "content": text}])
