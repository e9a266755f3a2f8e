"""Equality with ACEBench's published evaluator of August 2025, from a recorded reply to the result sheet."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import pytest

from parity.cases import rows
from wildtool.benchmark import VERDICT_COLUMNS
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.data import MULTI_TURN, ItemData, read_items
from wildtool.benchmarks.acebench.episode.base import END_MARK
from wildtool.benchmarks.acebench.scores import COLUMN_CATEGORIES, section_of
from wildtool.types import Item, Reply, Transcript, Verdict

Row = Mapping[str, Any]
TITLES = {
    "Atom": "atom",
    "Single-Turn": "single_turn",
    "Multi-Turn": "multiple_turn",
    "Similar API": "similar_api",
    "Preference": "profile",
    "Normal": "normal_summary",
    "Special": "special_summary",
    "Agent": "agent_summary",
    "Overall": "Summary",
}
"""Our columns to those of the original's sheet."""


@cache
def units(folder: Path) -> dict[tuple[str, str], tuple[Item, str]]:
    """Language and record to the item and unit that it became."""
    return {
        (item.lang, record.id): (item, unit)
        for item in read_items(folder)
        for unit, record in zip(item.units, item.data.records, strict=True)
    }


def said(text: str) -> Transcript:
    return Transcript((Reply({"content": text}),))


def verdict(item: Item, unit: str, transcript: Transcript) -> Verdict:
    judged = ACEBENCH.judge(item, {unit: transcript}, "official-2025-08")
    return judged[item.units.index(unit)]


@pytest.mark.parametrize("name", ["normal_special_cases.jsonl.gz", "perfect_all_records.jsonl.gz"])
def test_a_reply_is_judged_as_the_reference_does(cases: Path, official: Path, name: str) -> None:
    for case in rows(cases / name):
        item, unit = units(official)[case["lang"], case["id"]]
        found = verdict(item, unit, said(case["output_text"]))
        stray = case.get("stray_error", {}).get("error_type")
        where = (case["lang"], case["id"], case["variant"])
        assert (found.outcome == "correct") == case["valid"], where
        assert found.fields["error_label"] == (case["error_type"] or None), where
        assert found.fields["stray_error"] == stray, where
        assert (found.error is None) == case["valid"], where


def test_an_episode_is_judged_as_the_reference_does(cases: Path, official: Path) -> None:
    for case in rows(cases / "agent_episodes.jsonl.gz"):
        if case["max_dialog_turns"] != 40:
            continue
        item, unit = units(official)[case["lang"], case["id"]]
        found = verdict(item, unit, episode_transcript(item, case))
        where = (case["lang"], case["id"], case["variant"])
        assert (found.outcome == "correct") == bool(case["end_to_end"]), where
        assert found.fields["error_label"] == (case["error_type"] or None), where
        assert round(found.score, 3) == case["process_accuracy"], where


def episode_transcript(item: Item, case: Row) -> Transcript:
    """The scripted replies in the order in which the episode asks for them."""
    played = ACEBENCH.rules("official-2025-08").episode(item, item.units[0])
    scripts: dict[str, Iterator[str]] = {
        "agent": iter(case["agent_messages"]),
        "user": iter(case["user_messages"]),
    }
    replies: list[Reply] = []
    while (request := played.request()) is not None:
        replies.append(Reply({"content": next(scripts[request.role], END_MARK)}))
        played.advance(replies[-1].message)
    return Transcript(tuple(replies))


# Numbers ---------------------------------------------------------------------------------------------


def table(verdicts: Iterable[tuple[Item, Verdict]]) -> Any:
    """Verdict rows as the engine writes them."""
    connection, types = duckdb.connect(config={"threads": 1}), {**VERDICT_COLUMNS, **ACEBENCH.columns}
    connection.execute(f"CREATE TABLE rows ({', '.join(f'{name} {type_}' for name, type_ in types.items())})")
    full = [
        {
            **dict.fromkeys(types),
            **found.fields,
            "lang": item.lang,
            "split": item.split,
            "item": item.id,
            "repeat": 0,
            "outcome": found.outcome,
            "correct": found.outcome == "correct",
            "score": found.score,
            "error": found.error,
        }
        for item, found in verdicts
    ]
    connection.begin()
    connection.executemany(
        f"INSERT INTO rows VALUES ({', '.join('?' * len(types))})", [list(row.values()) for row in full]
    )
    connection.commit()
    return connection.table("rows")


@pytest.mark.parametrize("mix", [0, 1])
def test_a_run_has_the_references_scores_of_categories(cases: Path, official: Path, mix: int) -> None:
    aggregates = list(rows(cases / "category_aggregates.jsonl.gz"))[mix::2]
    assert len({(case["lang"], case["category"]) for case in aggregates}) == 30
    verdicts = chain.from_iterable(judged_outputs(official, case) for case in aggregates)
    found = {(m.group, m.name): m for m in ACEBENCH.summarize(table(verdicts), "official-2025-08")}
    for case in aggregates:
        group, category = f"categories ({case['lang']})", case["category"]
        assert found[group, category].value == case["returned_accuracy"], (group, category)
        if category in MULTI_TURN:
            header = case["header"]
            turns = found[group, f"{category} (turns)"]
            assert (turns.numerator, turns.denominator) == (header["correct_count"], header["total_count"])
            assert found[group, f"{category} (process)"].value == header["process_accuracy"]


def judged_outputs(official: Path, case: Row) -> Iterator[tuple[Item, Verdict]]:
    replies: dict[str, tuple[Item, dict[str, Transcript]]] = {}
    for output in case["outputs"]:
        item, unit = units(official)[case["lang"], output["id"]]
        replies.setdefault(item.id, (item, {}))[1][unit] = said(output["output_text"])
    for item, transcripts in replies.values():
        assert isinstance(item.data, ItemData)
        assert set(transcripts) == set(item.units)
        for found in ACEBENCH.judge(item, transcripts, "official-2025-08"):
            yield item, found


def test_a_run_has_the_references_summary_row(cases: Path) -> None:
    """Of each category 1,000 verdicts with the row's accuracy; columns of missing categories do not stand."""
    compared = 0
    for case in rows(cases / "summary_rows.jsonl"):
        relation = verdicts_with(case["category_scores"])
        found = {
            m.name: m.value
            for m in ACEBENCH.summarize(relation, "official-2025-08")
            if m.group == "Table 2 (en)"
        }
        expected = dict(zip(case["columns"], case["values"], strict=True))
        whole = [n for n, parts in COLUMN_CATEGORIES.items() if set(parts) <= set(case["category_scores"])]
        assert found == {name: expected[TITLES[name]] for name in whole}
        compared += "Overall" in whole
    assert compared


def verdicts_with(scores: Mapping[str, Row]) -> Any:
    chosen = ", ".join(
        f"('{category}', '{section_of(category)}', {round(1000 * score['accuracy'])},"
        f" {score.get('process_accuracy') or 0.0})"
        for category, score in scores.items()
    )
    own = ", ".join(f"NULL AS {name}" for name in ("error", "error_label", "reference_error"))
    spent = ", ".join(f"0 AS {name}" for name in ("prompt_tokens", "completion_tokens", "latency_s"))
    return duckdb.connect().sql(
        "SELECT 'en' AS lang, split, section, split || number AS item, 0 AS repeat, number AS dialogue,"
        " number < valid AS correct, IF(number < valid, 'correct', 'wrong') AS outcome,"
        f" process::DOUBLE AS score, 1 AS steps, {own}, {spent}"
        f" FROM (VALUES {chosen}) AS chosen(split, section, valid, process), range(1000) AS r(number)"
    )
