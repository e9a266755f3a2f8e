"""A wrong unit is lost at the first place that fits, whatever its benchmark; for an exposure by what it kept of it."""

import copy
import json
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import product

import pytest

from source_files import ROOT
from wildtool.alter.expose.lost import lost_unit
from wildtool.alter.expose.outcomes import FAULT_KINDS, ComputedCall, ExposedUnit, ExposureFault
from wildtool.alter.expose.places import LOSS_PLACES, LostUnit, loss_place
from wildtool.alter.variant import Variant
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark
from wildtool.shapes import tool_name
from wildtool.types import Reply, Transcript


@cache
def items(name):
    benchmark = load_benchmark(name)
    return Variant(benchmark), list(benchmark.load(data_of(benchmark).locate(None)))


def calls(*named):
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": f"own-{at}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for at, (name, arguments) in enumerate(named)
        ],
    }


def text_instead(gold, request):
    return {"role": "assistant", "content": "I cannot do that."}


def another_tool(gold, request):
    used = {tool_name(call) for call in gold["tool_calls"]}
    return calls(next((name, "{}") for name in map(tool_name, request.tools) if name not in used))


def one_argument_more(gold, request):
    message = copy.deepcopy(gold)
    function = message["tool_calls"][-1]["function"]
    function["arguments"] = json.dumps({**json.loads(function["arguments"]), "not_a_parameter": 1})
    return message


def unreadable_arguments(gold, request):
    message = copy.deepcopy(gold)
    message["tool_calls"][0]["function"]["arguments"] = '{"city": '
    return message


def unknown_name(gold, request):
    return calls(("no_such_tool", "{}"))


def places(name, profile, fault, count):
    """The places of the units that are wrong if the first gold reply with calls has a fault."""
    variant, whole = items(name)
    found = Counter()
    for item in whole[:count]:
        for unit in item.units:
            episode, said, is_faulty = variant.episode(item, unit, profile), [], False
            while (request := episode.request()) is not None:
                gold = request.gold("parallel")
                if gold.get("tool_calls") and not is_faulty:
                    gold, is_faulty = fault(gold, request), True
                said.append(Reply(gold))
                episode.advance(gold)
            transcript = Transcript(tuple(said))
            if variant.judge_unit(item, unit, transcript, profile).outcome == "wrong":
                found[loss_place(lost_unit(variant, item, unit, transcript, profile), None)] += 1
    return found


FAULTS = {
    text_instead: "text instead of a call",
    another_tool: "another tool",
    one_argument_more: "wrong argument",
    unreadable_arguments: "unread or unknown call",
    unknown_name: "unread or unknown call",
}


@pytest.mark.parametrize("profile", ["fixed", "official"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_a_session_is_found_at_its_place(fault, profile):
    found = places("wild-mini", profile, fault, 6)
    assert set(found) == {FAULTS[fault]}
    assert found.total() > 10


@pytest.mark.long
@pytest.mark.parametrize("fault", [text_instead, another_tool, unknown_name])
def test_a_fault_of_a_book_is_found_at_its_place(fault):
    assert set(places("ledger", "ledger", fault, 10)) == {FAULTS[fault]}


@pytest.mark.parametrize(("name", "profile"), [("ledger", "ledger")])
def test_a_model_that_repeats_a_call_until_a_limit_is_cut_off(name, profile):
    variant, whole = items(name)
    for item in whole[:3]:
        for unit in item.units:
            episode, said = variant.episode(item, unit, profile), []
            while (request := episode.request()) is not None:
                said.append(Reply(calls((tool_name(request.tools[0]), "{}"))))
                episode.advance(said[-1].message)
            lost = lost_unit(variant, item, unit, Transcript(tuple(said)), profile)
            assert loss_place(lost, None) == "cut off"


NEEDED = LostUnit(needed="weather", since=1, until=2)
TWO_DUE = replace(NEEDED, due=("weather", "news"))
TRIED = LostUnit(needed="weather", since=1, until=2, stray=((2, "weather"),))
ELSEWHERE = LostUnit(needed="weather", since=1, until=2, stray=((1, "news"),))


def faulty(*kinds, request=1, **more):
    return ExposedUnit(faults=tuple(ExposureFault(request, kind) for kind in kinds), **more)


@pytest.mark.parametrize(
    ("lost", "exposed", "place"),
    [
        (NEEDED, ExposedUnit(searches=0, found=()), "not searched"),
        (NEEDED, ExposedUnit(searches=2, found=("news",)), "searched, not found"),
        (NEEDED, faulty("search failed", searches=1, found=()), "search failed"),
        (NEEDED, faulty("guessed", searches=0, found=()), "tool guessed"),
        (NEEDED, faulty("unread", searches=0, found=()), "unread or unknown call"),
        (NEEDED, ExposedUnit(searches=1, found=("weather",)), "text instead of a call"),
        (TWO_DUE, ExposedUnit(searches=2, found=("weather",)), "searched, not found"),
        (
            replace(TWO_DUE, stray=((2, "weather"),)),
            ExposedUnit(searches=2, found=("weather",)),
            "wrong argument",
        ),
        (ELSEWHERE, ExposedUnit(searches=1, found=("weather", "news")), "another tool"),
        (NEEDED, ExposedUnit(scripts=0), "text instead of code"),
        (NEEDED, faulty("sandbox refused", scripts=1), "sandbox refused"),
        (NEEDED, faulty("result misused", scripts=1), "result misused in the script"),
        (NEEDED, faulty("script error", scripts=1), "script error"),
        (NEEDED, ExposedUnit(scripts=20, cut="20 scripts"), "cut off"),
        (TRIED, faulty("script error", scripts=2), "wrong argument"),
        (TRIED, faulty("script error", request=0, scripts=2), "wrong argument"),
        (TRIED, ExposedUnit(scripts=1, computed=(ComputedCall(2, "weather"),)), "wrong argument, computed"),
        (TRIED, ExposedUnit(scripts=1, computed=(ComputedCall(2, "news"),)), "wrong argument"),
        (LostUnit(stray=((0, "news"),)), None, "one call too many"),
        (LostUnit(), None, "calls right, answer wrong"),
        (LostUnit(unwanted=True, stray=((0, "news"),)), ExposedUnit(scripts=1), "no call wanted"),
        (LostUnit(declined=True), None, "declined"),
    ],
)
def test_a_unit_is_lost_at_the_first_place_that_fits(lost, exposed, place):
    assert loss_place(lost, exposed) == place


def with_fault(lost, exposed, more):
    if more in FAULT_KINDS:
        return lost, replace(exposed, faults=(*exposed.faults, ExposureFault(2, more)))
    return replace(lost, **{more: True}), exposed


def test_one_more_thing_that_went_wrong_never_moves_a_unit_to_a_later_place():
    faults = ["declined", "cut", "unwanted", "unread", *FAULT_KINDS]
    losts = [NEEDED, TWO_DUE, TRIED, ELSEWHERE, LostUnit(), LostUnit(stray=((0, "news"),))]
    founds = [None, (), ("news",), ("weather",)]
    for lost, found, searches, scripts in product(losts, founds, [None, 0, 1], [None, 0, 1]):
        exposed = ExposedUnit(searches=searches, found=found, scripts=scripts)
        for first, second in product(faults, faults):
            one = with_fault(lost, exposed, first)
            both = with_fault(*one, second)
            assert LOSS_PLACES.index(loss_place(*both)) <= LOSS_PLACES.index(loss_place(*one)), both


def test_the_docs_explain_each_place_in_order():
    text = (ROOT.parents[1] / "docs" / "exposure.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    named = [place for row in rows for place in row.strip(" `").split("`, `")]
    assert [place for place in named if place in LOSS_PLACES] == list(LOSS_PLACES)


@pytest.mark.parametrize(
    ("exposed", "place"),
    [
        (ExposedUnit(searches=0, found=(), scripts=0), "text instead of code"),
        (ExposedUnit(searches=0, found=(), scripts=1), "not searched"),
        (
            ExposedUnit(searches=0, found=(), scripts=1, faults=(ExposureFault(0, "sandbox refused"),)),
            "sandbox refused",
        ),
        (
            ExposedUnit(searches=1, found=(), scripts=2, faults=(ExposureFault(0, "script error"),)),
            "searched, not found",
        ),
    ],
)
def test_a_script_that_was_stopped_comes_before_its_search(exposed: ExposedUnit, place: str):
    assert loss_place(LostUnit(needed="book"), exposed) == place
