"""Equality of BFCL's multi-turn checks with the reference: every replayed result, and all 800 ground truths."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from parity.cases import oracle_folder, present, rows
from parity.test_bfcl_simulated import CATEGORIES, entries, lines
from wildtool.benchmark import Check
from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES
from wildtool.benchmarks.bfcl.data import parse_multi_turn, read_documents
from wildtool.benchmarks.bfcl.decode import DecodeError, call_texts, decode_python, native_call_texts
from wildtool.benchmarks.bfcl.multi_turn import check_turns
from wildtool.benchmarks.bfcl.records import MultiTurnRecord
from wildtool.benchmarks.bfcl.simulated import SimulatedApis

pytestmark = pytest.mark.usefixtures("bfcl_package")


@pytest.fixture(scope="module")
def folder() -> Path:
    return present(oracle_folder("bfcl"))


@cache
def records(folder: Path) -> dict[str, MultiTurnRecord]:
    data = present(folder.parents[1] / "data" / "bfcl")
    documents = read_documents(data)
    return {
        name: parse_multi_turn(
            question,
            {"ground_truth": truth},
            BFCL_CATEGORIES[name.rpartition("_")[0]],
            documents,
            name,
        )
        for name, (question, truth) in entries(folder).items()
    }


DECODERS = {"prompt": lambda text: call_texts(decode_python(text)), "fc": native_call_texts}


def decoded(turn: list[Any], mode: str) -> Iterator[list[str]]:
    """The calls of each step of a recorded turn; steps without calls are left out."""
    for step in turn:
        try:
            calls = DECODERS[mode](step)
        except DecodeError:
            continue
        if calls and calls != [""]:
            yield calls


def checked(record: MultiTurnRecord, result: Any, mode: str) -> Check:
    if not isinstance(result, list):
        return Check(False, "multi_turn:inference_error")
    return check_turns(record, [list(decoded(turn, mode)) for turn in result])


def shortened(texts: list[str]) -> list[str]:
    """The oracle keeps the beginnings of missing results."""
    return sorted(text[:120] for text in texts)


def test_each_replayed_result_has_the_references_verdict(folder: Path) -> None:
    wrong, compared = [], 0
    for case in rows(folder / "multi_turn_cases.jsonl.gz"):
        verdict: dict[str, Any] = case["verdict"]
        found = checked(records(folder)[case["test_id"]], case["model_result"], case["mode"])
        compared += 1
        same = found.correct == verdict["valid"] and found.error == verdict.get("error_type")
        for key, ours in (("different_attributes", "attributes"), ("missing_items", "missing")):
            if key in verdict:
                same = same and shortened(found.detail.get(ours, ())) == shortened(verdict[key])
        if not same:
            wrong.append(
                f"{case['test_id']} {case['mutation']}: {found.error} {found.reason}, {verdict}"[:700]
            )
    assert compared > 800
    assert not wrong, f"{len(wrong)} of {compared} differ\n" + "\n".join(wrong[:20])


def test_every_ground_truth_of_version_3_runs_without_an_error(folder: Path) -> None:
    data = present(folder.parents[1] / "data" / "bfcl")
    old, names = data / "v3_2025-04-26", set[str]()
    for category in CATEGORIES:
        files = (
            lines(old / part, f"BFCL_v3_multi_turn_{category}") for part in ("question", "possible_answer")
        )
        for question, answer in zip(*files, strict=True):
            apis = SimulatedApis(
                question["involved_classes"],
                question["initial_config"],
                long_context=category == "long_context",
                version="v3",
            )
            made = [call for calls in answer["ground_truth"] for call in calls]
            for call, text in zip(made, apis.execute(made), strict=True):
                assert not text.startswith(("Error during execution", '{"error"')), (
                    question["id"],
                    call,
                    text,
                )
            names.add(question["id"])
    assert len(names) == 800


def test_every_ground_truth_is_right(folder: Path) -> None:
    assert len(records(folder)) == 200 * len(CATEGORIES)
    for name, record in records(folder).items():
        found = check_turns(record, [[calls] if calls else [] for calls in record.ground_truth])
        assert found.correct, (name, found.reason)
