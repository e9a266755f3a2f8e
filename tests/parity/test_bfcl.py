"""Equality with BFCL's evaluator: every decoded reply, every converted value, every verdict, every table of scores."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from parity.cases import oracle_folder, present, rows
from wildtool.benchmarks.bfcl.agentic import has_answer
from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES
from wildtool.benchmarks.bfcl.checker import check_calls, standardise
from wildtool.benchmarks.bfcl.data import read_category_file
from wildtool.benchmarks.bfcl.decode import (
    DecodeError,
    call_texts,
    decode_python,
)
from wildtool.benchmarks.bfcl.languages.java import convert_java, decode_java
from wildtool.benchmarks.bfcl.languages.javascript import convert_javascript, decode_javascript
from wildtool.benchmarks.bfcl.originals import openai_tools
from wildtool.benchmarks.bfcl.prompt_forms import decode_form
from wildtool.benchmarks.bfcl.records import BfclEntry
from wildtool.benchmarks.bfcl.rules import NativeCalls, SingleTurnRules, WrittenCalls
from wildtool.benchmarks.bfcl.summary import LEADERBOARDS, Formula, of, sizes_of

DECODERS = {
    "python_ast": decode_python,
    "python_execute": lambda text: call_texts(decode_python(text)),
    "java_ast": decode_java,
    "javascript_ast": decode_javascript,
}
CONVERTERS = {"java": convert_java, "javascript": convert_javascript}


@pytest.fixture(scope="module")
def folder() -> Path:
    return present(oracle_folder("bfcl"))


@cache
def records(folder: Path, category: str) -> Mapping[str, BfclEntry]:
    data = present(folder.parents[1] / "data" / "bfcl")
    return {item.id: item.data for item in read_category_file(data, BFCL_CATEGORIES[category], "v4")}


def as_oracle(value: Any) -> Any:
    """A value as the oracle writes it."""
    if isinstance(value, dict):
        return {"null" if key is None else key: as_oracle(part) for key, part in value.items()}
    if isinstance(value, list):
        return [as_oracle(part) for part in value]
    if isinstance(value, tuple):
        return {"__tuple__": [as_oracle(part) for part in value]}
    return {"__repr__": repr(value)} if isinstance(value, bytes) else value


def from_oracle(value: Any) -> Any:
    if isinstance(value, dict):
        if "__tuple__" in value:
            return tuple(from_oracle(part) for part in value["__tuple__"])
        return {key: from_oracle(part) for key, part in value.items()}
    return [from_oracle(part) for part in value] if isinstance(value, list) else value


def decode(case: dict[str, Any]) -> Any:
    name = case["decoder"]
    if name in DECODERS:
        return DECODERS[name](case["raw_output"])
    return decode_form(name.removeprefix("format_"), case["raw_output"], tagged=case["has_tool_call_tag"])


def test_every_reply_is_decoded_alike(folder: Path) -> None:
    cases = list(rows(folder / "decode.jsonl"))
    assert len(cases) > 100
    for case in cases:
        try:
            found = {"ok": True, "value": as_oracle(decode(case))}
        except DecodeError:
            found = {"ok": False}
        assert found == {key: case["result"][key] for key in found}, case


def test_every_value_of_java_and_javascript_is_converted_alike(folder: Path) -> None:
    for case in rows(folder / "type_converters.jsonl"):
        convert = CONVERTERS[case["lang"]]
        if "raises" in case:
            with pytest.raises((NotImplementedError, ValueError)) as raised:
                convert(case["input"], case["type"], case["nested"])
            assert raised.type.__name__ == case["raises"]
            continue
        found = convert(case["input"], case["type"], case["nested"])
        assert (found, type(found)) == (case["value"], type(case["value"])), case


def test_every_single_check_is_equal(folder: Path) -> None:
    for case in rows(folder / "checker_units.jsonl"):
        if case["fn"] == "standardize_string":
            assert standardise(case["input"]) == case["output"]
            continue
        functions, answers, calls = (
            value if isinstance(value, list) else [value]
            for value in (case["function"], case["possible_answer"], from_oracle(case["decoded"]))
        )
        category = BFCL_CATEGORIES[case["category"]]
        fault = check_calls(category, functions, answers, calls, underscores=case["underscore_to_dot"])
        assert (None if fault is None else fault.error) == case["verdict"].get("error_type"), case


FORMS = {"fc": NativeCalls(), "prompt": WrittenCalls()}


def as_reply(raw: Any) -> dict[str, Any]:
    """What the original recorded of a reply, as the reply of an endpoint."""
    if not isinstance(raw, list):
        return {"role": "assistant", "content": raw}
    calls = [
        {"id": "1", "type": "function", "function": {"name": name, "arguments": arguments}}
        for call in raw
        for name, arguments in call.items()
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


@pytest.mark.parametrize("name", ["ast_cases.jsonl.gz", "relevance.jsonl"])
def test_every_verdict_is_equal(folder: Path, name: str) -> None:
    seen = 0
    for case in rows(folder / name):
        record = records(folder, case["category"])[case["test_id"]]
        found = SingleTurnRules(FORMS[case["mode"]]).check(record, as_reply(case["raw_output"]))
        assert (found.correct, found.error) == (
            case["verdict"]["valid"],
            case["verdict"].get("error_type"),
        ), case
        seen += 1
    assert seen > 400


def test_every_answer_is_looked_for_alike(folder: Path) -> None:
    cases = list(rows(folder / "agentic_checker.jsonl"))
    assert len(cases) == 7
    for case in cases:
        assert has_answer(case["model_response"], case["possible_answers"]) == case["valid"], case


def test_native_tools_are_those_of_the_original(folder: Path) -> None:
    for case in rows(folder / "tool_schema.jsonl"):
        record = records(folder, case["category"])[case["test_id"]]
        assert openai_tools(record.functions) == case["tools"], case["test_id"]


V3_NAMES = {one.v3_name: name for name, one in BFCL_CATEGORIES.items() if one.v3_name}
COLUMNS = {
    "data_overall.csv": {
        "Overall Acc": "overall",
        "Non-Live AST Acc": "non-live AST",
        "Non-Live Simple AST": "non-live simple",
        "Multi Turn Acc": "multi-turn",
        "Live Acc": "live",
        "Web Search Acc": "web search",
        "Memory Acc": "memory",
        "Relevance Detection": "relevance",
        "Irrelevance Detection": "irrelevance",
    },
    "data_live.csv": {"Live Overall Acc": "live", "AST Summary": "live AST"},
    "data_non_live.csv": {
        "Non-Live Overall Acc": "non-live",
        "Non_Live Overall Acc": "non-live",
        "AST Summary": "non-live AST",
        "Simple AST": "non-live simple",
    },
    "data_multi_turn.csv": {"Multi Turn Overall Acc": "multi-turn"},
    "data_agentic.csv": {
        "Agentic Overall Acc": "agentic",
        "Web Search Summary": "web search",
        "Memory Summary": "memory",
    },
}
AST = ("Simple", "Multiple", "Parallel", "Parallel Multiple")
TURNS = {"Base": "base", "Long Context": "long_context", "Miss Func": "miss_func", "Miss Param": "miss_param"}
AGENTIC = {
    "Memory KV": "memory_kv",
    "Memory Recursive Summarization": "memory_rec_sum",
    "Memory Vector": "memory_vector",
    "Web Search Base": "web_search_base",
    "Web Search No Snippet": "web_search_no_snippet",
}
LIVE = {f"{{}} {name} AST": f"live_{name.lower().replace(' ', '_')}" for name in AST}
NON_LIVE = {f"{name} AST": name.lower().replace(" ", "_") for name in AST[1:]}
CATEGORY_COLUMNS = {
    "data_overall.csv": {
        **{column.format("Live"): name for column, name in LIVE.items()},
        **{f"Non-Live {column}": name for column, name in NON_LIVE.items()},
        **{f"Multi Turn {column}": f"multi_turn_{name}" for column, name in TURNS.items()},
        **AGENTIC,
    },
    "data_live.csv": {
        **{column.format("Python"): name for column, name in LIVE.items()},
        "Irrelevance Detection": "live_irrelevance",
        "Relevance Detection": "live_relevance",
    },
    "data_non_live.csv": {
        **NON_LIVE,
        **{f"{name} Simple AST": f"simple_{name.lower()}" for name in ("Python", "Java", "JavaScript")},
        "Irrelevance Detection": "irrelevance",
    },
    "data_multi_turn.csv": {column: f"multi_turn_{name}" for column, name in TURNS.items()},
    "data_agentic.csv": AGENTIC,
}
"""Columns with the accuracy of one category."""
ALWAYS = {"Overall Acc", "Live Acc", "Multi Turn Acc"}
"""Columns that have a number even where categories were not run, as have all that end in `Overall Acc`."""


def score(formula: Formula, correct: Any, totals: Any, version: str) -> tuple[float, bool]:
    """The value of a score, 0 to 1, and whether all its categories were run; what was not run counts 0."""
    rates = {name: correct[name] / total for name, total in totals.items() if total}
    return formula.value(rates, sizes_of(version, totals)), all(totals.get(name) for name in formula.names)


def assert_table(case: Mapping[str, Any]) -> None:
    """Every cell of the original's tables is ours, to the last digit."""
    version = case["version"]
    board = LEADERBOARDS[version]
    formulas = {name: part for name, (_, part) in board.overall.items()} | dict(board.scores)
    formulas["overall"] = board.formula()
    correct, totals = (
        {V3_NAMES.get(name, name) if version == "v3" else name: count for name, count in case[side].items()}
        for side in ("correct_counts", "total_counts")
    )
    for table, columns in COLUMNS.items():
        for column, text in case["csv"].get(table, {}).items():
            ours = columns.get(column)
            formula = formulas[ours] if ours else of(CATEGORY_COLUMNS[table][column])
            value, complete = score(formula, correct, totals, version)
            always = column in ALWAYS or column.endswith("Overall Acc")
            assert (f"{value:.2%}" if complete or always else "N/A") == text, (case, table, column)


def test_every_score_of_the_leaderboard_is_equal(folder: Path) -> None:
    for case in rows(folder / "aggregates.jsonl"):
        assert_table(case)
