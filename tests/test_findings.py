"""The record of what rules find, and rules of users."""

import hashlib
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from wildtool import findings
from wildtool.errors import UsageError
from wildtool.findings import (
    Breach,
    CustomRule,
    Finding,
    RuleSet,
    any_custom_rules,
    custom_findings,
    custom_refusals,
    custom_rules,
    fault,
    rule,
    rules_identity,
)
from wildtool.installed import installed_entries


@rule("no-slang", benchmark="wildtoolbench", level="warning")
def no_slang(record: Any) -> Iterator[Breach]:
    for k, text in enumerate(record["english_tasks"]):
        if "gonna" in text:
            yield f"/english_tasks/{k}", "say `going to`"


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """Names and values of the entry points that are installed."""
    offered: dict[str, str] = {}

    def offers(group: str) -> list[EntryPoint]:
        return [EntryPoint(name, value, group) for name, value in offered.items()]

    monkeypatch.setattr("importlib.metadata.entry_points", offers)
    caches = findings._installed_rules, installed_entries
    for each in caches:
        each.cache_clear()
    yield offered
    for each in caches:
        each.cache_clear()


def test_rules_run_in_the_order_of_their_declaration():
    rules: RuleSet[[str]] = RuleSet()

    @rules.rule("Z2", "warning")
    def short(text: str) -> Iterator[Breach]:
        if len(text) < 5:
            yield "too short"

    @rules.rule("A1")
    def asked(text: str) -> Iterator[Breach]:
        yield "/0", "no question mark"
        yield fault("Q7", "of a rule that it asks")

    assert [*rules.findings("hm")] == [
        Finding("", "Z2", "too short", "warning"),
        Finding("", "A1", "no question mark", "error", "/0"),
        Finding("", "Q7", "of a rule that it asks"),
    ]
    assert [*rules.findings_of("Z2", "long enough")] == []


def test_an_installed_rule_looks_at_the_items_of_its_benchmark(installed: dict[str, str]):
    installed["no-slang"] = f"{__name__}:no_slang"
    record = {"english_tasks": ["Hello.", "I'm gonna fly."]}
    assert [*custom_findings("wildtoolbench", record)] == [
        Finding("", "no-slang", "say `going to`", "warning", "/english_tasks/1")
    ]
    assert custom_rules("acebench") == []


def test_a_rule_that_fails_on_an_item_is_a_finding(installed: dict[str, str]):
    installed["no-slang"] = f"{__name__}:no_slang"
    assert [*custom_findings("wildtoolbench", {})] == [
        fault("no-slang", "the rule fails on this item (KeyError: 'english_tasks')")
    ]


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("no-slang", "wildtool.nowhere:no_slang", "fails: ModuleNotFoundError"),
        ("slang", f"{__name__}:no_slang", "calls itself 'no-slang'"),
        ("no-slang", f"{__name__}:pytest", "is module; decorate a function"),
    ],
)
def test_a_rule_that_cannot_be_used_is_an_error(
    installed: dict[str, str], name: str, value: str, problem: str
):
    installed[name] = value
    with pytest.raises(UsageError, match=problem):
        custom_rules("wildtoolbench")


@rule("no-shouting")
def no_shouting(record: Any) -> Iterator[Breach]:
    if record["text"].isupper():
        yield "say it quietly"
        yield Finding("line 5", "other", "a finding of its own", "note")


def test_a_declared_rule_is_still_its_function():
    rules: RuleSet[[int]] = RuleSet()

    def odd(number: int) -> list[Breach]:
        return [f"{number} is odd"] if number % 2 else []

    assert rules.rule("P1")(odd) is odd
    assert rules.rules == {"P1": odd}
    assert [*rules.findings(3)] == [fault("P1", "3 is odd")]
    assert fault("P1", "x") == Finding("", "P1", "x", "error", "", "")
    assert fault("P1", "x", "/f", "note") == Finding("", "P1", "x", "note", "/f", "")


def test_rules_of_packages_are_ordered_by_name_and_identified_by_their_code(installed: dict[str, str]):
    assert (any_custom_rules(), custom_rules("wildtoolbench"), rules_identity("x")) == (False, [], [])
    findings._installed_rules.cache_clear()  # pyright: ignore[reportPrivateUsage]
    installed_entries.cache_clear()
    installed |= {"no-slang": f"{__name__}:no_slang", "no-shouting": f"{__name__}:no_shouting"}
    assert any_custom_rules()
    assert custom_rules("wildtoolbench") == [no_shouting, no_slang]
    digest = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]
    assert rules_identity("acebench") == [["no-shouting", digest]]
    assert rules_identity("wildtoolbench") == [["no-shouting", digest], ["no-slang", digest]]
    namespace: dict[str, Any] = {}
    exec("def check(item): return []", namespace)
    own = CustomRule("x", "", "error", namespace["check"])
    assert own.digest == hashlib.sha256(b"").hexdigest()[:12]


def test_only_errors_keep_an_item_out(installed: dict[str, str]):
    installed |= {"no-slang": f"{__name__}:no_slang", "no-shouting": f"{__name__}:no_shouting"}
    record = {"english_tasks": ["gonna"], "text": "LOUD"}
    loud, slang = (
        fault("no-shouting", "say it quietly"),
        fault("no-slang", "say `going to`", "/english_tasks/0", "warning"),
    )
    own = Finding("line 5", "other", "a finding of its own", "note")
    assert [*custom_findings("wildtoolbench", record)] == [loud, own, slang]
    assert custom_refusals("wildtoolbench", record) == [loud]
    assert (no_slang.level, no_slang.benchmark) == ("warning", "wildtoolbench")
    assert (no_shouting.level, no_shouting.benchmark) == ("error", "")
