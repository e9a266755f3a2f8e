"""The catalogue as an alteration: what models see, what is accepted, and what a run says of it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alter.altered_play import judged, played
from wildtool.alter.distractors.distractors import Distractors, among_sizes
from wildtool.alter.distractors.near import near_copies
from wildtool.alter.distractors.pool import DISTRACTOR_KINDS
from wildtool.alter.variant import Variant
from wildtool.benchmark import Benchmark
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark
from wildtool.errors import RecordError, UsageError
from wildtool.shapes import tool_name
from wildtool.types import Item, Message, Request

ALL_KINDS = ",".join(DISTRACTOR_KINDS)
RETRIEVERS = ("", "bm25", "own", "an-embedding-model")


@cache
def items() -> tuple[Benchmark, list[Item]]:
    benchmark = load_benchmark("wild-mini")
    return benchmark, list(benchmark.load(data_of(benchmark).locate(None)))


@cache
def catalogue(
    size: int, kinds: str = ALL_KINDS, retriever: str = "", top_k: int = 10, seed: int = 0
) -> Distractors:
    benchmark, whole = items()
    parsed = Distractors.parse(str(size), kinds, retriever=retriever, top_k=top_k, seed=seed)
    return parsed.prepared(benchmark, whole, "official")


def variant(*settings: Any) -> Variant:
    return Variant(items()[0], (catalogue(*settings),))


def called(message: Mapping[str, Any]) -> list[str]:
    return [call["function"]["name"] for call in message.get("tool_calls") or ()]


@pytest.mark.long
@pytest.mark.parametrize("size", [8, 10, 50, 200])
@pytest.mark.parametrize("retriever", RETRIEVERS)
def test_gold_answers_are_right_at_every_size_where_what_they_need_is_found(size: int, retriever: str):
    altered = variant(size, ALL_KINDS, retriever)
    benchmark, whole = items()
    for profile in benchmark.profiles:
        for item in whole[::8]:
            for unit in item.units:
                steps = played(altered, item, unit, profile)
                plain = played(Variant(benchmark), item, unit, profile)
                verdict = judged(altered, item, unit, [reply for _, reply in steps], profile)
                clean = judged(Variant(benchmark), item, unit, [reply for _, reply in plain], profile)
                if retriever != "bm25":
                    assert (verdict.outcome, verdict.error) == (clean.outcome, clean.error)
                for request, reply in steps:
                    names = [tool_name(tool) for tool in request.tools]
                    if names:
                        assert len(names) == (10 if retriever and size > 8 else size) or retriever
                        assert len(set(names)) == len(names)
                        assert set(called(reply)) <= set(names)


@pytest.mark.long
@pytest.mark.parametrize("retriever", RETRIEVERS)
def test_each_mistake_has_the_verdict_that_it_has_without_a_catalogue(retriever: str):
    benchmark, whole = items()
    plain, altered = Variant(benchmark), variant(60, ALL_KINDS, retriever, 60)
    for profile in benchmark.profiles:
        for mutant in [*benchmark.rules(profile).mutants(whole[3])][::9]:
            replies = list(as_said_first(altered, whole[3], mutant.unit, profile, mutant.replies))
            clean = judged(plain, whole[3], mutant.unit, mutant.replies, profile)
            verdict = judged(altered, whole[3], mutant.unit, replies, profile)
            assert (verdict.outcome, verdict.score, verdict.error) == (
                clean.outcome,
                clean.score,
                clean.error,
            )


def as_said_first(
    altered: Variant, item: Item, unit: str, profile: str, replies: Sequence[Message]
) -> Iterator[Message]:
    """The replies with those that choose tools in between, all of which are shown."""
    episode, rest = altered.episode(item, unit, profile), iter(replies)
    while (request := episode.request()) is not None:
        if is_search(request):
            assert request.gold is not None
            own = altered.benchmark.rules(profile).episode(item, unit).request()
            assert own is not None
            reply = {"role": "assistant", "content": json.dumps([tool_name(tool) for tool in own.tools])}
        elif (reply := next(rest, None)) is None:
            return
        yield reply
        episode.advance(reply)


def is_search(request: Request) -> bool:
    return request.role == "ranker" or (
        not request.tools and "catalogue of tools" in request.messages[0]["content"]
    )


def test_without_others_nothing_is_changed():
    """An item with eight tools in a catalogue of eight."""
    benchmark, whole = items()
    altered = variant(8)
    for item in whole:
        plain = benchmark.rules("official").episode(item, item.units[0]).request()
        shown = altered.episode(item, item.units[0], "official").request()
        assert plain is not None
        assert shown is not None
        own = [tool for tool in shown.tools if tool in plain.tools]
        assert own == list(plain.tools), "the item's tools keep their order"
        assert len(shown.tools) == 8


@pytest.mark.long
def test_a_near_duplicate_is_never_accepted():
    benchmark, whole = items()
    altered = variant(200)
    tried = 0
    for profile in benchmark.profiles:
        for item in whole[::3]:
            for unit in item.units:
                for step, (request, reply) in enumerate(played(altered, item, unit, profile)):
                    if not called(reply):
                        continue
                    tool = next(each for each in request.tools if tool_name(each) == called(reply)[0])
                    for copy in list(near_copies(tool, item.lang))[:: 7 + step]:
                        said = json.loads(json.dumps(reply))
                        said["tool_calls"][0]["function"]["name"] = tool_name(copy)
                        before = [r for _, r in played(altered, item, unit, profile)][:step]
                        verdict = judged(altered, item, unit, [*before, said], profile)
                        assert verdict.outcome != "correct"
                        tried += 1
                    break
    assert tried > 100


def test_larger_catalogues_hold_the_smaller_ones_for_each_unit_alike():
    item = items()[1][0]
    names = [
        {tool_name(tool) for tool in request.tools}
        for size in (10, 40, 200)
        for unit in item.units
        for request in [variant(size).episode(item, unit, "official").request()]
        if request is not None
    ]
    assert [len(each) for each in names] == [10] * 4 + [40] * 4 + [200] * 4
    assert names[0] < names[4] < names[8]
    assert names[0] == names[1] == names[3]


@pytest.mark.long
def test_a_unit_says_what_it_called_and_what_was_found():
    benchmark, whole = items()
    altered = variant(60, "near", "bm25", 3)
    outcomes: list[Any] = []
    for item in whole[:6]:
        for unit in item.units:
            request = altered.episode(item, unit, "official").request()
            assert request is not None
            replies = [
                {"role": "assistant", "content": "No."},
                *(
                    {
                        "role": "assistant",
                        "tool_calls": [
                            {"id": "1", "type": "function", "function": {"name": name, "arguments": "{}"}}
                        ],
                    }
                    for name in (tool_name(request.tools[0]), "no_such_tool")
                ),
            ]
            outcomes += [
                judged(altered, item, unit, [reply], "official").fields.get("catalogue_called")
                for reply in replies
            ]
    assert {"no call", "near", "unknown"} <= set(outcomes)
    clean = benchmark.rules("official").episode(whole[0], whole[0].units[0]).request()
    assert clean is not None
    hidden = {tool_name(tool) for tool in clean.tools} - {
        tool_name(tool) for tool in request_tools(altered, whole[0])
    }
    call = {"id": "1", "type": "function", "function": {"name": min(map(str, hidden)), "arguments": "{}"}}
    verdict = judged(
        altered, whole[0], whole[0].units[0], [{"role": "assistant", "tool_calls": [call]}], "official"
    )
    assert verdict.fields["catalogue_called"] == "not shown"
    assert verdict.outcome == "wrong"


def request_tools(altered: Variant, item: Item) -> Sequence[Any]:
    request = altered.episode(item, item.units[0], "official").request()
    assert request is not None
    return request.tools


@given(
    message=st.dictionaries(
        st.sampled_from(["content", "tool_calls", "role"]),
        st.recursive(
            st.none() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["function", "name", "arguments", "id"]), inner, max_size=3)
            ),
            max_leaves=8,
        ),
    ),
    retriever=st.sampled_from(RETRIEVERS),
)
def test_a_reply_of_any_shape_is_read(message: dict[str, Any], retriever: str):
    item = items()[1][1]
    verdict = judged(variant(20, "near", retriever), item, item.units[0], [message] * 3, "official")
    assert verdict.outcome in ("correct", "wrong", "unplayed")


@pytest.mark.parametrize("retriever", RETRIEVERS)
@pytest.mark.parametrize("seed", [0, 7])
def test_a_record_holds_all_that_replaying_needs(retriever: str, seed: int):
    whole = catalogue(50, ALL_KINDS, retriever, 10, seed)
    assert Distractors.recorded(json.loads(json.dumps(whole.identity()))) == whole


@pytest.mark.parametrize(
    "damage",
    [
        {"pool": "x"},
        {"size": "many"},
        {"kinds": 3},
        {"kinds": ["x"]},
        {"seed": None},
        {"retriever": {"name": 1}},
    ],
)
def test_a_damaged_record_is_told(damage: dict[str, Any]):
    whole = catalogue(50).identity()["catalogue"]
    with pytest.raises(RecordError, match=r"identity\.catalogue"):
        Distractors.recorded({"catalogue": {**whole, **damage}})


@pytest.mark.parametrize("text", ["", "x", "0", "-5", "10,10", "10,", "1e3", "²", "99999999"])
def test_what_is_no_size_is_told(text: str):
    with pytest.raises(UsageError, match="--among"):
        among_sizes(text)


def test_sizes_are_taken_in_rising_order():
    assert among_sizes("200, 10,50") == [10, 50, 200]


@pytest.mark.long
def test_sizes_that_cannot_be_are_told_with_those_that_can():
    benchmark, whole = items()
    with pytest.raises(UsageError, match="8 tools that item wild_mini_7 has itself; give 8 or more"):
        catalogue(5).check(benchmark, whole, "official")
    with pytest.raises(
        UsageError, match=r"item \w+ has 1\d\d\. Give 1\d\d or fewer, add kinds .* --among-tools"
    ):
        catalogue(1000, "random").check(benchmark, whole, "official")
    with pytest.raises(UsageError, match="with distractors of kind near item"):
        catalogue(1000, "near").check(benchmark, whole, "official")
    assert catalogue(200).check(benchmark, whole, "official") == ""
