"""What the lint says of a set out of balance, and how a file of sessions is read for it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.lint_build import findings, session
from benchmarks.wildtoolbench.test_all_stats import other_record
from benchmarks.wildtoolbench.test_stats import record
from wildtool.benchmarks.wildtoolbench.data import Session, read_session
from wildtool.benchmarks.wildtoolbench.lint import (
    balance,
    check_domains,
    check_positions,
    check_session_tools,
    check_transitions,
    expected_transitions,
    lint_file,
)

NONE_TASK, NONE_CALL = (
    "expected in at least one task, found in none",
    "expected in at least one gold call, found in none",
)


def read(own: dict[str, Any]) -> Session:
    return read_session(own, "here")


def test_what_a_set_lacks_is_named() -> None:
    assert list(balance([read(record()), read(other_record())])) == [
        ("turn subtype: Coreferential Reference", "expected 2 times, found 1"),
        ("turn subtype: Partial Information", "expected 2 times, found 3"),
        ("a chain of five calls", NONE_TASK),
        *((f"parameter kind {kind}", NONE_CALL) for kind in ("string", "boolean", "array")),
    ]
    kinds = ("integer", "float", "boolean", "enum", "array", "object", "nested object")
    assert list(balance([read(session())])) == [
        ("Sequential Multi-Tool", NONE_TASK),
        ("Mixed Multi-Tool", NONE_TASK),
        ("a diamond of calls", NONE_TASK),
        ("a chain of five calls", NONE_TASK),
        ("a question asked twice", NONE_TASK),
        *((f"parameter kind {kind}", NONE_CALL) for kind in kinds),
        ("s_0 tools", "expected 3 to 8 tools, found 2"),
    ]


def test_changes_of_type_are_expected_as_over_all_sequences() -> None:
    assert {count: list(expected_transitions(count).values()) for count in (0, 1, 2, 5, 16, 256)} == {
        0: [0, 0, 0, 0],
        1: [0, 0, 1, 0],
        2: [0, 0, 1, 1],
        5: [0, 1, 2, 2],
        16: [0, 2, 7, 7],
        256: [4, 36, 108, 108],
    }
    assert list(check_transitions([read(record())] * 2)) == []
    assert list(check_transitions([read(record())] * 5)) == [
        ("transitions 2", "expected about 2 sessions, found 0"),
        ("transitions 3", "expected about 2 sessions, found 5"),
    ]


def test_each_type_is_as_frequent_at_each_position() -> None:
    own = read(session())
    assert list(check_positions([own])) == []
    assert list(check_positions([own] * 2))[:2] == [
        ("task type at position 1: Single-Tool", "expected 0 or 1 times, found 2"),
        ("task type at position 2: Multi-Tool", "expected 0 or 1 times, found 2"),
    ]
    assert list(check_positions([own] * 4))[:4] == [
        ("task type at position 1: Single-Tool", "expected 1 times, found 4"),
        ("task type at position 1: Multi-Tool", "expected 1 times, found 0"),
        ("task type at position 1: Clarify", "expected 1 times, found 0"),
        ("task type at position 1: Chat", "expected 1 times, found 0"),
    ]


@pytest.mark.parametrize(
    ("count", "domains", "subdomains", "faults"),
    [
        (31, 1, 1, []),
        (32, 7, 32, [("domain", "expected at least 8 domains, found 7")]),
        (32, 8, 23, [("subdomain", "expected at least 24 subdomains, found 23")]),
        (32, 8, 24, []),
    ],
)
def test_a_large_set_has_many_domains(count: int, domains: int, subdomains: int, faults: list[Any]) -> None:
    own = read(session())
    # The domain follows from the subdomain, so that pairs are as many as these.
    many = [
        replace(own, domain=f"d{number % subdomains % domains}", subdomain=f"s{number % subdomains}")
        for number in range(count)
    ]
    assert list(check_domains(many)) == faults


@pytest.mark.parametrize(("tools", "fits"), [(2, False), (3, True), (8, True), (9, False)])
def test_a_session_has_three_to_eight_tools_and_one_to_spare(tools: int, fits: bool) -> None:
    own = read(session())
    extra = [{"function": {"name": f"f{number}"}} for number in range(tools - 1)]
    faults = [] if fits else [("s_0 tools", f"expected 3 to 8 tools, found {tools}")]
    assert list(check_session_tools([replace(own, tools=(own.tools[0], *extra))])) == faults
    assert list(check_session_tools([replace(own, tools=own.tools[:1] * tools)])) == [
        *faults,
        ("s_0 tools", "every tool is used; add a near-miss that no gold call uses"),
    ]


def test_a_set_is_checked_for_balance_where_each_session_names_a_domain() -> None:
    plain, named = session(), {**session(), "domain": "travel"}
    assert findings(plain) == []
    (first, *_) = findings(named)
    assert (first.where, first.rule, first.message) == (
        "x.jsonl set Sequential Multi-Tool",
        "balance",
        NONE_TASK,
    )
    assert findings(named, balanced=False) == []
    chinese = {key.replace("english", "chinese"): value for key, value in named.items()}
    balances = [
        [(finding.where, finding.message) for finding in findings(record) if finding.rule == "balance"]
        for record in (named, named | chinese)
    ]
    assert balances[0] == balances[1]
    assert len(findings(plain, balanced=True)) == 13
    other = {**plain, "id": "t", "english_tasks": ["go to Rome", "then Bonn and Lima", "my home then", "bye"]}
    assert [finding.rule for finding in findings(named, other) if finding.rule == "balance"] == []
    assert [finding.rule for finding in findings({**named, "english_tools": 5})] == ["schema"]
    assert findings() == []


def test_a_file_names_its_broken_lines_after_the_others(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    sound = json.dumps({**session(), "domain": "travel"})
    twice = json.dumps({**session(), "id": "t"}).replace(
        '"id": "t"', '"id": "s", "id": "t", "note": {"a": 1, "a": 2}'
    )
    path.write_text(f"\ufeff{sound}\n\n[]\n{{\n{twice}\n", "utf-8")
    found = [
        (finding.where.removeprefix(f"{path}"), finding.rule, finding.message)
        for finding in lint_file(path)
        if finding.rule == "json"
    ]
    assert found[0] == (":3 ? line", "json", "expected a JSON object, one session a line")
    assert found[1][:2] == (":4 ? line", "json") and found[1][2].startswith("not a JSON object: ")
    assert found[2:] == [(f":5 t {key}", "json", "the key occurs twice in an object") for key in ("a", "id")]
    single = tmp_path / "x.json"
    single.write_text(json.dumps({**session(), "domain": "travel"}, indent=1), "utf-8")
    assert list(lint_file(single)) == []
    assert len(list(lint_file(single, balanced=True))) == 13
    (missing,) = lint_file(tmp_path / "no.jsonl")
    assert (missing.where, missing.rule, missing.message) == (
        f"{tmp_path / 'no.jsonl'}:0 ? file",
        "json",
        "cannot be read: No such file or directory",
    )
