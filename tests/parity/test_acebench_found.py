"""Equality with the published evaluator of ACEBench on the odd inputs that differential tests found."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from parity.cases import oracle_folder, present
from wildtool.benchmarks.acebench.data import AGENT, CATEGORIES, AgentRecord, NormalRecord, read_category
from wildtool.benchmarks.acebench.episode.base import END_MARK
from wildtool.benchmarks.acebench.episode.end_state import compare_end_state, process_accuracy
from wildtool.benchmarks.acebench.episode.official import OfficialMultiStepEpisode, OfficialMultiTurnEpisode
from wildtool.benchmarks.acebench.official import check_normal, decode
from wildtool.benchmarks.acebench.sandbox.edition import read_edition

Case = dict[str, Any]
MODULE_NAME = "module 'json' has no attribute"
"""Deviation 3 of the card: the text of this exception names an instance after the model and the record."""


@pytest.fixture(scope="session")
def found() -> Path:
    return present(oracle_folder("found") / "acebench")


def read(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text(encoding="utf-8"))


@cache
def records(official: Path, lang: str, category: str) -> dict[str, Any]:
    return {record.id: record for record in read_category(official, lang, category)}


def episode_of(
    official: Path, case: Case
) -> tuple[OfficialMultiStepEpisode | OfficialMultiTurnEpisode, AgentRecord]:
    """A case's episode after all its replies; where they end both sides say the end mark."""
    category = case["id"].rpartition("_")[0]
    assert category in AGENT
    record = records(official, case["lang"], category)[case["id"]]
    episode = (OfficialMultiStepEpisode if category == "agent_multi_step" else OfficialMultiTurnEpisode)(
        record, read_edition(official, case["lang"])
    )
    for text in (*case["replies"], *[END_MARK] * 41):
        if episode.done:
            break
        episode.advance({"content": text})
    return episode, record


def answers(episode: OfficialMultiStepEpisode | OfficialMultiTurnEpisode) -> list[Any]:
    return [spoken.message for spoken in episode.dialogue if spoken.sender == "execution"]


@pytest.mark.parametrize(
    "name",
    [
        "01_modify_flight_free_bag.json",
        "03_nested_builtin_call.json",
        "04_non_ascii_callee.json",
        "06_float_bags.json",
        "07_bytes_complex.json",
    ],
)
def test_an_odd_episode_is_that_of_the_original(found: Path, official: Path, name: str) -> None:
    case = read(found, name)
    episode, record = episode_of(official, case)
    expected = case["reference"]
    assert answers(episode)[: len(expected["sandbox"])] == expected["sandbox"]
    assert episode.raised() == expected["raised"]
    if expected["raised"] is None:
        end = compare_end_state(record.end_state, episode.result())
        process = process_accuracy(record.milestones, episode.process, end_to_end=end.correct)
        assert (end.correct, end.error_type, process) == (
            expected["valid"],
            expected["error_type"],
            expected["process"],
        )


def test_the_smallest_episode_of_each_class_is_that_of_the_original(found: Path, official: Path) -> None:
    for name, case in read(found, "agent_smallest_of_each_class.json").items():
        episode, _ = episode_of(official, case)
        for problem, *about in case["problems"]:
            if problem == "ref raised":
                assert episode.raised() == about[0], name
            elif MODULE_NAME not in json.dumps(about):
                step, _, expected, _ = about
                assert answers(episode)[step] == expected, name


def test_items_without_a_type_are_those_of_the_original(found: Path) -> None:
    case = read(found, "02_items_without_type.json")
    checked = check_normal(case["reply"], case["function"], [case["gold"]])
    assert [checked.valid, checked.error, checked.reference_error] == case["reference"]


def test_code_inside_sums_has_the_value_of_the_original(found: Path) -> None:
    for text, expected, _ in read(found, "08_code_inside_sums.json")["cases"]:
        (call,) = decode(f"[f(a={text})]")
        # One expected value is cut after sixty characters.
        assert repr(call.arguments["a"])[:60] == expected, text


def test_replies_with_sums_have_the_verdicts_of_the_original(found: Path, official: Path) -> None:
    for _, lang, id_, text, expected, _ in read(found, "arith_200_of_644.json"):
        category = next(name for name in CATEGORIES if id_.startswith(f"{name}_"))
        record = records(official, lang, category)[id_]
        assert isinstance(record, NormalRecord)
        checked = check_normal(text, record.functions, record.candidates)
        assert [checked.valid, checked.error, checked.reference_error] == expected, text
