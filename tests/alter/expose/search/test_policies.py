"""Gold answers and policies of known recall behind a search, over wild-mini."""

import json
import math
from itertools import pairwise

import pytest

from alter.altered_play import judged, played, said
from alter.expose.search.search_play import PROFILE, items, searched, verdict_of
from wildtool.alter.distractors.distractors import tools_called
from wildtool.alter.expose.outcomes import ExposedUnit
from wildtool.alter.variant import Variant

RECALL = 0.7
DRAWS = 200
FINDS = ["", "regex", "own", "static", "fused", "perfect", "anthropic-bm25", "anthropic-regex", "openai"]


@pytest.mark.long
@pytest.mark.parametrize("size", [0, 10, 50, 200])
@pytest.mark.parametrize(
    "text", [*FINDS, "calls=call_tool,shown=names", "history=hidden,shown=descriptions", "fields=name,k=20"]
)
def test_gold_answers_behind_a_search_are_judged_as_without(text: str, size: int):
    altered, (_, whole) = searched(text, size), items()
    for item in whole[::4]:
        for unit in item.units:
            verdict = verdict_of(altered, item, unit)
            assert (verdict.outcome, verdict.fields["optimal"]) == ("correct", True), (item.id, unit)
            outcome = ExposedUnit.read(verdict.fields)
            assert not outcome.faults
            assert verdict.fields["exposure_needed_found"] == verdict.fields["exposure_needed"]


def test_the_tools_of_a_unit_only_grow_at_their_end():
    altered, (_, whole) = searched("", 50), items()
    for unit in whole[0].units:
        shown = [request.tools for request, _ in played(altered, whole[0], unit, PROFILE) if request.tools]
        for before, after in pairwise(shown):
            assert after[: len(before)] == before


def test_a_searcher_finds_all_or_nothing_at_the_ends():
    altered, (_, whole) = searched("k=1"), items()
    for unit in whole[0].units:
        assert verdict_of(altered, whole[0], unit, "searcher 1.0 3").outcome == "correct"
        nothing = verdict_of(altered, whole[0], unit, "searcher 0.0 3")
        needs = nothing.fields["exposure_needed"]
        assert (nothing.outcome == "correct") == (needs == 0)
        assert nothing.fields["exposure_needed_found"] == 0


def test_a_searcher_is_the_gold_baseline_where_nothing_is_searched():
    benchmark, whole = items()
    for unit in whole[0].units:
        assert verdict_of(searched(), whole[0], unit).outcome == "correct"
        episode = benchmark.rules(PROFILE).episode(whole[0], unit)
        request = episode.request()
        assert request is not None and request.gold is not None
        assert request.gold("searcher 0.5 0") == request.gold("parallel")


@pytest.mark.long
def test_known_recall_lies_in_its_interval():
    altered, (_, whole) = searched("k=1"), items()
    inside = 0
    for seed in range(DRAWS):
        found = needed = 0
        for item in whole:
            for unit in item.units:
                cells = verdict_of(altered, item, unit, f"searcher {RECALL} {seed}").fields
                found += int(cells["exposure_needed_found"] or 0)
                needed += int(cells["exposure_needed"] or 0)
        inside += _lies_in_wilson(RECALL, found, needed)
    assert inside >= 0.95 * DRAWS - 2.6 * math.sqrt(DRAWS * 0.95 * 0.05)


def _lies_in_wilson(share: float, found: int, of: int) -> bool:
    z, rate = 1.96, found / of
    middle = (rate + z * z / 2 / of) / (1 + z * z / of)
    half = z * math.sqrt(rate * (1 - rate) / of + z * z / 4 / of**2) / (1 + z * z / of)
    return middle - half <= share <= middle + half


@pytest.mark.long
def test_the_first_found_is_called_and_right_where_it_is_the_one_that_is_needed():
    altered, (benchmark, whole) = searched("", 50), items()
    seen = set[bool]()
    for item in whole:
        for unit in item.units:
            steps = played(altered, item, unit, PROFILE, "first-found")
            if not steps[0][1].get("tool_calls"):
                continue
            answer, (_, reply) = json.loads(steps[1][0].messages[-1]["content"]), steps[1]
            assert tools_called(reply) == [each["name"] for each in answer[:1]]
            gold = [tools_called(each) for each in said(Variant(benchmark), item, unit, PROFILE)]
            calls = [names for names in gold if names]
            if len(calls) == 1 and len(calls[0]) == 1:
                replies = [reply for _, reply in steps]
                is_right = judged(altered, item, unit, replies, PROFILE).outcome == "correct"
                assert is_right == (tools_called(reply) == calls[0])
                seen.add(is_right)
    assert seen == {True, False}
