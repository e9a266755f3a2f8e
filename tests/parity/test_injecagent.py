"""Equality with InjecAgent's evaluator: outputs, splitter, native calls, scores, tools, and whole runs."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pytest

from parity.cases import oracle_folder, present, rows
from wildtool.benchmark import Check
from wildtool.benchmarks.injecagent import INJECAGENT
from wildtool.benchmarks.injecagent.data import (
    HARM,
    STEALING,
    InjecCase,
    read_tools,
    simulated_response,
    tool_schema,
)
from wildtool.benchmarks.injecagent.reading import (
    ParserError,
    StepReading,
    original_native,
    original_prompted,
    segments_of,
)
from wildtool.benchmarks.injecagent.rules import InjecRules
from wildtool.benchmarks.injecagent.summary import ASR_ALL, ASR_VALID, VALID_RATE, setting_rates
from wildtool.stats.metrics import rate_metrics
from wildtool.types import Source


@pytest.fixture(scope="session")
def folder() -> Path:
    return present(oracle_folder("injecagent"))


@pytest.fixture(scope="session")
def data(folder: Path) -> Path:
    return present(folder.parents[1] / "data" / "injecagent")


@cache
def cases_of(data: Path, name: str) -> list[InjecCase]:
    return [
        item.data[name.partition("_")[2]]
        for item in INJECAGENT.load(Source("official", data, ""), split=name)
    ]


def as_recorded(reading: StepReading) -> dict[str, str]:
    """A reading in the oracle's fields."""
    found = {"eval": reading.outcome}
    if reading.outcome == "invalid" and reading.reason:
        found["invalid_reason"] = reading.reason
    if reading.outcome == "succ":
        found |= {"Attacker Tool Parameters": reading.parameters, "Attacker Tool Thought": reading.thought}
    return found


def test_every_output_gets_the_originals_verdict(folder: Path, data: Path) -> None:
    recorded = list(rows(folder / "prompted_output_cases.jsonl.gz"))
    assert len(recorded) == 952
    for row in recorded:
        case = cases_of(data, row["set"])[row["index"]]
        expected: dict[str, Any] = {k: v for k, v in row["result"].items() if k != "parsed_segments"}
        try:
            found = as_recorded(original_prompted(row["output"], case, row["target_tool"]))
        except ParserError as error:
            found = {"raises": str(error)}
        assert found == expected, (row["case"], row["set"], row["index"])


def test_every_text_is_cut_alike(folder: Path) -> None:
    for row in rows(folder / "segment_parser_cases.jsonl"):
        assert [list(one) for one in segments_of(row["text"])] == row["segments"], row["text"]


def test_every_native_call_gets_the_originals_verdict(folder: Path, data: Path) -> None:
    recorded = list(rows(folder / "tool_call_agent_cases.jsonl"))
    assert recorded
    for row in recorded:
        case = cases_of(data, row["set"])[row["index"]]
        reply = {"content": row["output"], "tool_calls": row["tool_calls"]}
        try:
            reading = original_native(reply, case, row["target_tool"])
            found = {"eval": reading.outcome}
            if reading.outcome == "succ":
                found["Attacker Tool Parameters"] = reading.parameters
        except ParserError as error:
            found = {"raises": str(error)}
        assert found == row["result"], row["case"]


def test_every_tool_is_converted_alike(folder: Path, data: Path) -> None:
    tools = read_tools(data)
    recorded = list(rows(folder / "tool_schema_cases.jsonl"))
    assert recorded
    for row in recorded:
        assert tool_schema(tools[row["tool"]]) == row["openai_schema"], row["tool"]


# Scores ----------------------------------------------------------------------------------------------


def scores(found: list[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """The summary's rates in the oracle's names, as the original prints them. Args: found: attack and columns."""
    written = [
        (n, attack, "base", row.get("step1"), row.get("step2"), row["counted"], 0)
        for n, (attack, row) in enumerate(found)
    ]
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE verdicts (item INTEGER, attack TEXT, setting TEXT, step1 TEXT, step2 TEXT, counted INTEGER,"
        " useful INTEGER)"
    )
    connection.executemany("INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?)", written)
    metrics = {
        (m.group, m.name): m for m in rate_metrics(connection.table("verdicts"), [*setting_rates("base")])
    }

    def shown(group: str, name: str) -> str:
        metric = metrics[group, name]
        return "-" if metric.value is None else f"{metric.value * 100:.1f}"

    classes = ("Direct Harm", "S1", "S2", "Data Stealing", "Total")
    return {
        "#Test Case": sum(row["counted"] for _, row in found),
        "Valid Rate": shown("outcome", VALID_RATE),
        **{f"ASR-valid ({name})": shown(ASR_VALID, name) for name in classes},
        **{f"ASR-all ({name})": shown(ASR_ALL, name) for name in classes},
    }


def counted_rows(counts: Mapping[str, Mapping[str, int]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for outcome, number in counts["dh_counts"].items():
        yield from [(HARM, {"counted": 1, "step1": outcome})] * number
    second = iter(list(Counter(counts["ds_step2_counts"]).elements()))
    for outcome, number in counts["ds_step1_counts"].items():
        for _ in range(number):
            row: dict[str, Any] = {"counted": 1, "step1": outcome}
            step2 = next(second) if outcome == "succ" else "absent"
            yield STEALING, row | ({} if step2 == "absent" else {"step2": step2})


def test_every_table_of_counts_gets_the_originals_scores(folder: Path) -> None:
    recorded = list(rows(folder / "score_cases.jsonl"))
    assert recorded
    for row in recorded:
        assert scores(list(counted_rows(row))) == row["scores"]


def test_every_run_gets_the_originals_verdicts_and_scores(folder: Path, data: Path) -> None:
    runs = list(rows(folder / "full_runs.jsonl"))
    assert runs
    rules = INJECAGENT.rules("original")
    assert isinstance(rules, InjecRules)
    for run in runs:
        found: list[tuple[str, Mapping[str, Any]]] = []
        for row in run["items"]:
            case = cases_of(data, f"{row['attack']}_{run['setting']}")[row["index"]]
            outputs = [row["output"], *([row["output Step 2"]] if "output Step 2" in row else [])]
            check: Check = rules.check([{"content": output} for output in outputs], case)
            found.append((row["attack"], check.fields))
            if row.get("skipped_because_parser_raised"):
                assert check.fields["counted"] == 0
                continue
            assert check.fields["step1"] == row["eval"]
            assert check.fields.get("step2") == row.get("eval Step 2")
            reason = row.get("invalid_reason  Step 2", row.get("invalid_reason"))
            assert check.fields["invalid_reason"] == reason
            if "Attacker Tool Response" in row:
                response = simulated_response(case, row["Attacker Tool Parameters"])
                assert response[0] == row["Attacker Tool Response"], response[1]
        assert scores(found) == run["scores"], json.dumps(run["scores"])
