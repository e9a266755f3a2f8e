"""The lint finds what is wrong with a set or a file of sessions."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from benchmarks.lint_build import WEATHER, answer, findings, found, session, weather, with_task
from long import a_fiftieth_of
from wildtool.benchmark import Finding
from wildtool.benchmarks.wildtoolbench.lint import expected_transitions, lint_file
from wildtool.cli import app


def rules_of_set(*records: dict[str, Any], **options: Any) -> set[str]:
    return {f.where.split(" set ")[1] for f in findings(*records, **options) if f.rule == "balance"}


def test_only_a_file_whose_sessions_name_their_domain_must_be_balanced():
    assert rules_of_set(session()) == set()
    assert rules_of_set(session() | {"domain": "weather"}) != set()
    assert rules_of_set(session(), balanced=True) != set()


def test_an_unreadable_record_defers_the_balance():
    assert rules_of_set(session(), {"id": "s_1"}, balanced=True) == set()


def test_four_sessions_that_rotate_their_types_are_even_at_each_position():
    groups = [["Single-Tool", "Mixed Multi-Tool", "Clarify", "Chat"][k:] for k in range(4)]
    order = ["Single-Tool", "Mixed Multi-Tool", "Clarify", "Chat"]
    records = [session() | {"english_task_types": groups[k] + order[:k]} for k in range(4)]
    assert not [what for what in rules_of_set(*records, balanced=True) if what.startswith("task type")]
    uneven = rules_of_set(records[0], *records[:3], balanced=True)
    assert "task type at position 1: Chat" in uneven


def test_the_expected_transitions_are_those_of_all_sequences():
    assert expected_transitions(256) == {0: 4, 1: 36, 2: 108, 3: 108}
    assert sum(expected_transitions(32).values()) == 32


def test_transitions_far_from_all_sequences_are_found():
    same = session() | {"english_task_types": ["Chat"] * 4}
    assert {"transitions 0", "transitions 3"} <= rules_of_set(*[same] * 8, balanced=True)


def test_intents_that_are_not_even_are_found():
    record = session() | {"english_turn_subtypes": ["Partial Information"] * 3}
    assert "turn subtype: Long-Range Dependency" in rules_of_set(record, balanced=True)
    assert not [what for what in rules_of_set(session(), balanced=True) if what.startswith("turn subtype")]


def test_shapes_that_are_missing_from_a_set_are_found():
    missing = rules_of_set(session(), balanced=True)
    assert {
        "a diamond of calls",
        "a chain of five calls",
        "a question asked twice",
        "Mixed Multi-Tool",
    } <= missing
    assert not {"same-name calls", "a question asked once", "Parallel Multi-Tool"} & missing


def test_a_diamond_and_a_chain_of_five_are_seen():
    nodes = [weather("Rome"), weather("Bonn", 0), weather("Lima", 0), weather("Oslo", 1, 2)]
    chain = [weather("Rome", *([k - 1] if k else [])) for k in range(5)]
    records = [
        with_task(*nodes, answer(3), text="Rome Bonn Lima Oslo", type_="Mixed Multi-Tool"),
        with_task(*chain, answer(4), text="Rome", type_="Sequential Multi-Tool"),
    ]
    assert not {"a diamond of calls", "a chain of five calls"} & rules_of_set(*records, balanced=True)


def test_a_session_without_distractor_is_found():
    record = session()
    record["english_tools"] = [copy.deepcopy(WEATHER)]
    assert "s_0 tools" in rules_of_set(record, balanced=True)


def test_a_parameter_kind_that_no_gold_call_uses_is_found():
    kinds = rules_of_set(session(), balanced=True)
    assert "parameter kind nested object" in kinds
    assert "parameter kind string" not in kinds


def written(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_file_of_lines_and_a_file_of_one_session_are_read(tmp_path: Path):
    lines = written(tmp_path, "a.jsonl", json.dumps(session()) + "\n\n")
    single = written(tmp_path, "a.json", json.dumps(session() | {"domain": "weather"}, indent=1))
    assert [*lint_file(lines), *lint_file(single)] == []


@pytest.mark.parametrize("line", ["{", "[]", "null", b"\xff{}", "[" * 100_000, '{"id": ' + "9" * 5000 + "}"])
def test_a_broken_line_is_one_finding_and_the_others_are_still_checked(tmp_path: Path, line: str | bytes):
    text = line if isinstance(line, bytes) else line.encode()
    bad = json.dumps(session() | {"english_env_info": "never"}).encode()
    result = list(lint_file(written(tmp_path, "a.jsonl", text + b"\n" + bad)))
    assert {(Path(f.where).name, f.rule) for f in result} == {
        ("a.jsonl:1 ? line", "json"),
        ("a.jsonl:2 s_0 english_env_info", "schema"),
    }


def test_a_key_that_stands_twice_is_found(tmp_path: Path):
    line = json.dumps(session())[:-1] + ', "id": "s_0"}'
    (finding,) = lint_file(written(tmp_path, "a.jsonl", line))
    assert (Path(finding.where).name, finding.rule) == ("a.jsonl:1 s_0 id", "json")


def test_a_file_that_is_not_there_is_a_finding(tmp_path: Path):
    assert [finding.rule for finding in lint_file(tmp_path / "none.jsonl")] == ["json"]


def test_a_set_in_a_file_is_balanced_on_demand(tmp_path: Path):
    path = written(tmp_path, "a.jsonl", json.dumps(session()))
    assert list(lint_file(path)) == []
    assert {finding.rule for finding in lint_file(path, balanced=True)} == {"balance"}


def test_the_command_prints_one_line_a_finding_and_ends_with_1(tmp_path: Path):
    path = written(
        tmp_path, "a.jsonl", json.dumps(session() | {"id": "two\nlines", "english_env_info": "\ud800"})
    )
    ended = CliRunner().invoke(app, ["data", "lint", str(path), "--benchmark", "wildtoolbench"])
    assert (ended.exit_code, len(ended.stdout.splitlines())) == (1, 1)


@pytest.mark.parametrize("value", [float("nan"), 10**400, {1: 2}, {"a": object()}])
def test_values_that_json_does_not_have_are_found(value: Any):
    assert found(session() | {"extra": value}) == [("record", "schema")]


def test_nesting_without_end_is_found():
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert found(session() | {"extra": deep}) == [("record", "schema")]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["object", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, child in pairs for place in places(child, (*path, key)))]


@settings(max_examples=a_fiftieth_of(1_000), deadline=None)
@given(place=st.sampled_from(places(session())[1:]), value=JSON)
def test_no_value_anywhere_makes_the_lint_fail(place: tuple[Any, ...], value: Any):
    record = session()
    target: Any = record
    for key in place[:-1]:
        target = target[key]
    target[place[-1]] = value
    assert all(isinstance(finding, Finding) for finding in findings(record, balanced=True, strict=True))
