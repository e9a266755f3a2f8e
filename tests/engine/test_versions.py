"""What `official` means in a run when the benchmark has several versions, and that every evaluator is named."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.benchmark import Benchmark, evaluators_of
from wildtool.engine.registry import usable_benchmarks
from wildtool.engine.versions import RunNames

VERSIONS = ("2026-03", "2025-10", "2025-08")
NAMES = ["official", "fixed", "finance", "folder/official", *(f"official-{each}" for each in VERSIONS)]
EDITIONS = ["", *VERSIONS]


@pytest.mark.parametrize(
    ("edition", "now"),
    [
        ("", "official-2025-08"),
        ("2025-08", "official-2025-08"),
        ("2025-10", "official-2025-10"),
        ("2026-03", "official"),
    ],
)
def test_official_in_a_run_is_the_version_that_was_the_newest_when_it_began(edition: str, now: str) -> None:
    names = RunNames(VERSIONS, edition)
    assert names.now("official") == now
    assert names.then(now) == "official"


@given(st.sampled_from(NAMES), st.sampled_from(EDITIONS))
def test_a_name_survives_the_way_into_a_run_and_back(name: str, edition: str) -> None:
    names = RunNames(VERSIONS, edition)
    today = RunNames(VERSIONS, VERSIONS[0]).now(name)
    assert names.now(names.then(today)) == today


@given(st.sampled_from(EDITIONS))
def test_no_two_rules_share_a_file_in_a_run(edition: str) -> None:
    names = RunNames(VERSIONS, edition)
    today = ["official", "official-2025-10", "official-2025-08", "fixed"]
    assert len({names.then(name) for name in today}) == len(today)


@given(st.text(), st.sampled_from(EDITIONS))
def test_without_versions_no_name_ever_moves(name: str, edition: str) -> None:
    names = RunNames((), edition)
    assert names.now(name) == names.then(name) == name
    assert names.version_of(name) == ""


FOLLOWING = {"official", "original", "toleap", "paper"}
"""What profiles are called that follow an evaluator of others."""


@pytest.mark.parametrize("benchmark", usable_benchmarks(), ids=lambda benchmark: benchmark.name)
def test_a_profile_that_follows_an_evaluator_names_repository_and_commit(benchmark: Benchmark) -> None:
    following = {name for name in benchmark.profiles if name.partition("-")[0] in FOLLOWING}
    assert following == evaluators_of(benchmark).keys()
    for pin in evaluators_of(benchmark).values():
        assert pin.repository.count("/") == 1
        assert len(pin.commit) == 40


@pytest.mark.parametrize("benchmark", usable_benchmarks(), ids=lambda benchmark: benchmark.name)
def test_the_card_names_the_evaluators_that_profiles_follow(benchmark: Benchmark) -> None:
    card = "" if benchmark.card is None else Path(benchmark.card).read_text("utf-8")
    missing = [
        part
        for pin in evaluators_of(benchmark).values()
        for part in (pin.repository, pin.commit[:7], pin.date)
        if part not in card
    ]
    assert missing == []
