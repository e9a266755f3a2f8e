"""The record of what rules find, and rules of users."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from wildtool import findings
from wildtool.errors import UsageError
from wildtool.findings import (
    Breach,
    Finding,
    RuleSet,
    custom_findings,
    custom_rules,
    fault,
    rule,
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
