"""Equality with BFCL's evaluator on values, texts of calls, turns, XML and totals; profile `fixed` by its rules."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from parity.cases import oracle_folder, present, rows
from parity.test_bfcl import as_reply, assert_table
from parity.test_bfcl_multi_turn import records as dialogues
from wildtool.benchmarks.bfcl import BFCL_BENCHMARK
from wildtool.benchmarks.bfcl.agentic import has_answer, has_answer_strictly
from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES
from wildtool.benchmarks.bfcl.data import read_category_file
from wildtool.benchmarks.bfcl.decode import DecodeError, call_texts, decode_python, native_call_texts
from wildtool.benchmarks.bfcl.languages.java import convert_java
from wildtool.benchmarks.bfcl.languages.javascript import convert_javascript
from wildtool.benchmarks.bfcl.prompt_forms import PROMPT_FORMS
from wildtool.types import Item

CONVERTERS = {"java": convert_java, "js": convert_javascript}


@pytest.fixture(scope="module")
def folder() -> Path:
    return present(oracle_folder("found") / "bfcl_3")


@cache
def items(oracle: Path, category: str) -> Mapping[str, Item]:
    data = present(oracle.parent / "data" / "bfcl")
    return {item.id: item for item in read_category_file(data, BFCL_CATEGORIES[category], "v4")}


def cases(folder: Path, name: str, kind: str | None = None) -> Iterator[dict[str, Any]]:
    """The cases of a file, of one kind; at least one."""
    chosen = [case for case in rows(folder / name) if kind is None or case["kind"] == kind]
    assert chosen, f"{name} has no case of kind {kind}"
    return iter(chosen)


def verdict(folder: Path, case: Mapping[str, Any], profile: str, reply: Any, unit: str = "0") -> Any:
    """What a profile decides about one recorded reply."""
    item = items(folder.parents[1], case["category"])[case["entry"]]
    rules = BFCL_BENCHMARK.in_mode(case["mode"]).rules(profile)
    episode = rules.episode(item, unit)
    episode.advance(as_reply(reply))
    return rules.verdict(episode, item, unit)


def test_every_value_is_converted_alike(folder: Path) -> None:
    for case in cases(folder, "values.jsonl", "convert"):
        values = case["input"], case["type"], case["nested"]
        if "raises" in case:
            with pytest.raises((NotImplementedError, ValueError)) as raised:
                CONVERTERS[case["lang"]](*values)
            assert raised.type.__name__ == case["raises"], case
        else:
            assert repr(CONVERTERS[case["lang"]](*values)) == repr(case["value"]), case


@pytest.mark.parametrize("kind", ["single", "letters"])
def test_every_reply_in_java_and_javascript_is_judged_alike(folder: Path, kind: str) -> None:
    for case in cases(folder, "values.jsonl", kind):
        found = verdict(folder, case, "official", case["result"])
        if case["valid"] is None:
            assert found.fields["reference_error"], case
        else:
            assert (found.correct, found.error) == (case["valid"], case["error_type"]), case


def test_letters_of_code_count_and_those_of_texts_do_not(folder: Path) -> None:
    for case in cases(folder, "values.jsonl", "letters"):
        assert verdict(folder, case, "fixed", case["result"]).correct == case["fixed_should"], case


def test_every_reply_is_executed_as_the_same_calls(folder: Path) -> None:
    for case in cases(folder, "values.jsonl", "decode_execute"):
        try:
            found: Any = (
                native_call_texts(case["reply"])
                if case["mode"] == "fc"
                else call_texts(decode_python(case["reply"]))
            )
        except DecodeError:
            found = None
        assert found == case.get("value"), case


def test_comments_in_xml_are_skipped(folder: Path) -> None:
    for case in cases(folder, "values.jsonl", "xml_comment"):
        form = next(form for form in PROMPT_FORMS.values() if form.parts() == case["form"])
        category = max((name for name in BFCL_CATEGORIES if case["entry"].startswith(f"{name}_")), key=len)
        found = verdict(
            folder, {**case, "category": category, "mode": "prompt"}, "official", case["reply"], form.name
        )
        assert (found.correct, found.error) == (case["valid"], case["error_type"]), case


@pytest.mark.usefixtures("bfcl_package")
def test_every_dialogue_is_played_alike(folder: Path) -> None:
    for case in cases(folder, "values.jsonl", "multi"):
        record = dialogues(folder.parents[1] / "bfcl")[case["entry"]]
        item = Item(case["entry"], ("0",), record, case["category"])
        rules = BFCL_BENCHMARK.in_mode(case["mode"]).rules("official")
        episode: Any = rules.episode(item, "0")
        for reply in case["replies"]:
            episode.advance(as_reply(reply))
        found = rules.verdict(episode, item, "0")
        calls = [call for turn in episode.turns for step in turn for call in step]
        texts = record.instances().execute(calls)
        played = [{"call": call, "result": text} for call, text in zip(calls, texts, strict=True)]
        assert played == case["results"], case
        assert (found.correct, found.error) == (case["valid"], case["error_type"]), case


def test_every_table_of_scores_is_rounded_alike(folder: Path) -> None:
    for case in cases(folder, "values.jsonl", "aggregate"):
        assert_table(case)


def test_every_answer_is_looked_for_alike(folder: Path) -> None:
    for case in cases(folder, "agentic.jsonl"):
        assert has_answer(case["reply"], case["answers"]) == case["valid"], case


def test_answers_are_found_where_they_are_asked_for_and_numbers_as_numbers(folder: Path) -> None:
    for case in cases(folder, "agentic.jsonl"):
        if case["class"] == "decimal, point elsewhere" and f"'{case['answers'][0]}'" in case["reply"]:
            continue  # its point is where it was, so that the reply is the answer (see the card)
        assert has_answer_strictly(case["reply"], case["answers"]) == case["fixed_should"], case


def test_a_reply_that_makes_a_call_is_wrong_where_no_function_fits(folder: Path) -> None:
    for case in cases(folder, "irrelevance.jsonl"):
        found = verdict(folder, case, "official", case["reply"])
        assert (found.correct, found.error) == (case["valid"], case["error_type"]), case
        assert verdict(folder, case, "fixed", case["reply"]).correct == case["fixed_should"], case
