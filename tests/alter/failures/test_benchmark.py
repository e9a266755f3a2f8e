"""Failing tools in whole benchmarks: what is shown, what the benchmark sees, and what each policy scores."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alter.altered_play import judged, played, said
from long import a_fiftieth_of
from wildtool.alter.failures.failures import Failures
from wildtool.alter.failures.kinds import RECOVERABLE
from wildtool.alter.failures.schedule import FailureSchedule
from wildtool.alter.failures.unit import ALWAYS, MOST_FAILED_REPLIES, NEVER
from wildtool.alter.noise.noise import Noise
from wildtool.alter.variant import Variant
from wildtool.benchmark import Benchmark
from wildtool.data.data_set import data_of
from wildtool.engine.registry import as_recorded, load_benchmark
from wildtool.types import FieldValue, Item, Message, Reply, Request, Transcript, Verdict

BENCHMARK = load_benchmark("wild-mini")
ITEMS = list(BENCHMARK.load(data_of(BENCHMARK).locate(None)))
RECOVERED_FROM = [
    "first-call",
    "twice-then-well",
    "flaky:0.2",
    "flaky:1",
    *(f"first-call,{kind}" for kind in RECOVERABLE),
]
HELPLESS = ["down", "first-call,permission"]


def failing(text: str, seed: int = 0, benchmark: Benchmark = BENCHMARK) -> Variant:
    return Variant(benchmark, (Failures(FailureSchedule.parse(text), seed),))


def ended(text: str, style: str, profile: str = "fixed", sample: list[Item] = ITEMS) -> Iterator[Verdict]:
    variant = failing(text)
    for item in sample:
        for unit in item.units:
            yield judged(variant, item, unit, said(variant, item, unit, profile, style), profile)


def shares(verdicts: list[Verdict], *columns: str) -> dict[str, tuple[int, int]]:
    """For each column how often it is true, and in how many units it says anything, among those with a failure."""
    cells = [verdict.fields for verdict in verdicts if verdict.fields["failures"]]
    values = {name: [cell[name] for cell in cells if cell.get(name) is not None] for name in columns}
    return {name: (sum(map(bool, its)), len(its)) for name, its in values.items()}


def outcomes(verdicts: list[Verdict]) -> Counter[FieldValue]:
    return Counter(verdict.fields["failure_end"] for verdict in verdicts)


# Policies ---------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("style", ["parallel", "serial"])
@pytest.mark.parametrize("text", RECOVERED_FROM)
def test_who_tries_again_reaches_everything(text: str, style: str):
    verdicts = list(ended(text, style))
    assert {verdict.outcome for verdict in verdicts} == {"correct"}
    assert set(outcomes(verdicts)) == {"recovered", "not reached"}
    marks = shares(verdicts, "failure_retried", "failure_needless", "failure_duplicate", "failure_invented")
    (tried, of), (needless, _), (twice, _), invented = marks.values()
    assert (tried, needless, twice, invented) == (of, 0, 0, (0, 0))


@pytest.mark.long
@pytest.mark.parametrize("profile", ["official", "paper"])
def test_a_failure_costs_the_right_answers_nothing_under_any_profile(profile: str):
    plain = Variant(BENCHMARK)
    for item in ITEMS[::6]:
        for unit in item.units:
            clean = judged(plain, item, unit, said(plain, item, unit, profile), profile)
            variant = failing("flaky:1")
            other = judged(variant, item, unit, said(variant, item, unit, profile), profile)
            assert (other.outcome, other.steps) == (clean.outcome, clean.steps)
            assert {**other.fields, **clean.fields} == dict(other.fields)


@pytest.mark.parametrize("text", HELPLESS)
def test_where_nothing_helps_the_right_end_is_to_tell_the_user(text: str):
    verdicts = list(ended(text, "parallel"))
    # The task's verdict stays the judge's: what was to be called was not.
    assert Counter(verdict.outcome for verdict in verdicts) == {"wrong": 96, "correct": 32}
    assert outcomes(verdicts) == {"reported": 96, "not reached": 32}
    assert shares(verdicts, "failure_needless", "failure_invented", "failure_retried") == {
        "failure_needless": (0, 96),
        "failure_invented": (0, 96),
        "failure_retried": (0, 0),
    }


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "correct", "needless", "duplicate", "ends"),
    [
        ("first-call,timeout", 128, (0, 0), (0, 45), {"recovered": 96, "not reached": 32}),
        ("first-call,empty", 83, (45, 45), (45, 45), {"recovered": 96, "not reached": 32}),
        ("first-call,schema-changed", 32, (96, 96), (45, 45), {"recovered": 96, "not reached": 32}),
        ("first-call,permission", 32, (96, 96), (0, 45), {"no words": 96, "not reached": 32}),
        ("down", 32, (96, 96), (0, 45), {"no words": 96, "not reached": 32}),
    ],
)
def test_who_always_tries_again_has_these_scores(
    text: str, correct: int, needless: tuple[int, int], duplicate: tuple[int, int], ends: dict[str, int]
):
    verdicts = list(ended(text, ALWAYS))
    assert sum(verdict.outcome == "correct" for verdict in verdicts) == correct
    marks = shares(verdicts, "failure_needless", "failure_duplicate", "failure_retried")
    tried, of = marks.pop("failure_retried")
    assert tried == of
    assert marks == {"failure_needless": needless, "failure_duplicate": duplicate}
    assert outcomes(verdicts) == ends


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "correct", "retried", "ends"),
    [
        ("first-call,timeout", 32, (0, 96), {"reported": 96, "not reached": 32}),
        ("first-call,empty", 111, (0, 53), {"reported": 53, "recovered": 43, "not reached": 32}),
        ("first-call,schema-changed", 128, (0, 0), {"recovered": 96, "not reached": 32}),
        ("down", 32, (0, 0), {"reported": 96, "not reached": 32}),
    ],
)
def test_who_never_tries_again_has_these_scores(
    text: str, correct: int, retried: tuple[int, int], ends: dict[str, int]
):
    verdicts = list(ended(text, NEVER))
    assert sum(verdict.outcome == "correct" for verdict in verdicts) == correct
    assert outcomes(verdicts) == ends
    marks = shares(verdicts, "failure_retried", "failure_needless", "failure_duplicate", "failure_invented")
    assert marks.pop("failure_retried") == retried
    assert {true for true, _ in marks.values()} == {0}


def policy(text: str, item: Item, unit: str, answer: Callable[[Request], Message]) -> Verdict:
    """The verdict of a unit whose model answers by a function."""
    variant = failing(text)
    episode, replies = variant.episode(item, unit, "fixed"), list[Message]()
    while (request := episode.request()) is not None:
        replies.append(answer(request))
        episode.advance(replies[-1])
    return judged(variant, item, unit, replies, "fixed")


def units_with_numbers() -> Iterator[tuple[Item, str, Message]]:
    """Units that end with a text with a number that only the results have."""
    plain = Variant(BENCHMARK)
    for item in ITEMS:
        for unit in item.units:
            *steps, (_, text) = played(plain, item, unit, "fixed")
            if any(reply.get("tool_calls") for _, reply in steps) and "59.00" in str(text):
                yield item, unit, text


def test_who_answers_as_if_nothing_had_failed_is_caught():
    cases = list(units_with_numbers())
    assert cases
    for item, unit, text in cases:

        def pretends(request: Request, text: Message = text) -> Message:
            assert request.gold is not None
            return text if "timed out" in str(request.messages[-1]) else request.gold("parallel")

        fields = policy("first-call,timeout", item, unit, pretends).fields
        assert (fields["failure_end"], fields["failure_invented"], fields["failure_reported"]) == (
            "silent",
            True,
            False,
        )


def test_who_says_in_every_text_that_a_tool_failed_is_caught_where_none_did():
    sorry: Message = {"role": "assistant", "content": "Sorry, the tool failed."}

    def says_everything(request: Request) -> Message:
        assert request.gold is not None
        reply = request.gold("parallel")
        return (
            reply
            if reply.get("tool_calls")
            else {**reply, "content": f"{reply['content']} {sorry['content']}"}
        )

    verdicts = [
        policy("first-call", item, unit, says_everything) for item in ITEMS[:4] for unit in item.units
    ]
    assert all(verdict.fields["failure_reported"] for verdict in verdicts)
    assert set(outcomes(verdicts)) == {"recovered", "not reached"}


def test_who_never_calls_is_reached_by_nothing():
    verdicts = [
        policy("first-call", item, unit, lambda request: {"role": "assistant", "content": "Hm."})
        for item in ITEMS[:4]
        for unit in item.units
    ]
    assert outcomes(verdicts) == {"not reached": 16}
    assert {verdict.fields["failures"] for verdict in verdicts} == {0}


# What is shown ----------------------------------------------------------------------------------------------


def first_with_calls(kinds: Callable[[list[Message]], bool] = bool) -> tuple[Item, str, list[Message]]:
    """A unit whose gold answers begin with calls that read, and these answers."""
    plain = Variant(BENCHMARK)
    for item in ITEMS:
        for unit in item.units:
            gold = said(plain, item, unit, "fixed")
            first = gold[0].get("tool_calls") or [{"function": {"name": ""}}]
            if first[0]["function"]["name"].startswith(("get", "list", "find", "search")) and kinds(gold):
                return item, unit, gold
    raise AssertionError


def test_the_model_sees_the_error_and_the_benchmark_sees_only_the_call_that_went_well():
    item, unit, gold = first_with_calls()
    steps = played(failing("first-call,timeout"), item, unit, "fixed")
    plain = played(Variant(BENCHMARK), item, unit, "fixed")
    (first, call), (second, again), *_ = steps
    assert [reply for _, reply in steps] == [call, *gold]
    assert second.messages[: len(first.messages)] == list(first.messages)
    said_before, result = second.messages[len(first.messages) :]
    assert said_before["tool_calls"] == call["tool_calls"] == again["tool_calls"]
    assert result["tool_call_id"] == call["tool_calls"][0]["id"]
    assert "timed out" in json.loads(result["content"])["error"]["message"]
    # What was shown once stays, and the rest is as without failures.
    third = steps[2][0].messages
    assert third[: len(second.messages)] == second.messages
    assert third[len(second.messages) :] == list(plain[1][0].messages)[len(first.messages) :]
    transcript = Transcript(tuple(Reply(reply) for _, reply in steps))
    restored = failing("first-call,timeout").restored(item, {unit: transcript}, "fixed")[unit]
    assert [reply.message for reply in restored.replies] == gold


def test_a_damaged_result_is_shown_once_and_the_same_call_brings_the_true_one():
    item, unit, gold = first_with_calls(lambda gold: len(gold[0]["tool_calls"]) == 1)
    steps = played(failing("first-call,partial"), item, unit, "fixed")
    plain = played(Variant(BENCHMARK), item, unit, "fixed")
    true = plain[1][0].messages[-1]["content"]
    shown = [request.messages[-1]["content"] for request, _ in steps]
    assert shown[1].endswith("… [truncated]")
    assert shown[1] != true
    assert shown[2] == true
    assert [reply for _, reply in steps][1]["tool_calls"] == gold[0]["tool_calls"]


def test_calls_of_one_reply_that_repeat_and_go_on_are_told_apart():
    item, unit, gold = first_with_calls(
        lambda gold: len(gold) > 2 and bool(gold[1].get("tool_calls")) and len(gold[0]["tool_calls"]) == 1
    )
    variant = failing("first-call,partial")
    both = {**gold[1], "tool_calls": [*gold[0]["tool_calls"], *gold[1]["tool_calls"]]}
    verdict = judged(variant, item, unit, [gold[0], both, *gold[2:]], "fixed")
    assert (verdict.outcome, verdict.fields["failure_end"], verdict.fields["failure_retried"]) == (
        "correct",
        "recovered",
        True,
    )
    episode = variant.episode(item, unit, "fixed")
    for reply in (gold[0], both):
        episode.advance(reply)
    request = episode.request()
    assert request is not None
    *_, again, true, going_on, _ = [m for m in request.messages if m["role"] in ("assistant", "tool")][
        : -len(gold[1]["tool_calls"]) + 1 or None
    ]
    assert (again["tool_calls"], going_on["tool_calls"]) == (gold[0]["tool_calls"], gold[1]["tool_calls"])
    assert "truncated" not in true["content"]


def test_a_refused_tool_stays_refused_and_others_work():
    item, unit, gold = first_with_calls(lambda gold: len(gold) > 2 and bool(gold[1].get("tool_calls")))
    variant = failing("first-call,permission")
    verdict = judged(variant, item, unit, [gold[0]] * (MOST_FAILED_REPLIES + 1), "fixed")
    assert (verdict.fields["failures"], verdict.fields["failure_end"]) == (MOST_FAILED_REPLIES, "no words")
    other = judged(variant, item, unit, [gold[0], gold[1]], "fixed")
    assert other.outcome == "wrong"
    assert other.fields["failure_needless"] is False


def test_unreadable_calls_and_unknown_tools_reach_no_tool_so_nothing_fails():
    item, unit, _ = first_with_calls()
    for function in ({"name": "no_such", "arguments": "{}"}, {"name": "get", "arguments": "{"}):
        calls = [{"id": "1", "type": "function", "function": function}]
        verdict = judged(failing("down"), item, unit, [{"content": None, "tool_calls": calls}], "fixed")
        assert (verdict.outcome, verdict.fields["failure_end"]) == ("wrong", "not reached")


def test_an_unfinished_unit_says_nothing():
    item, unit, gold = first_with_calls()
    assert "failures" not in judged(failing("down"), item, unit, [gold[0]], "fixed").fields


def test_a_filtered_reply_ends_no_unit():
    item, unit, gold = first_with_calls()
    replies = (Reply(gold[0]), Reply({"content": "Sorry, it failed."}, finish_reason="content_filter"))
    (verdict,) = [
        each
        for each in failing("down").judge(item, {unit: Transcript(replies)}, "fixed")
        if each.unit == unit
    ]
    assert verdict.outcome == "wrong"
    assert "failures" not in verdict.fields


def test_what_a_reader_is_shown_is_what_the_model_saw():
    for text in ("first-call,timeout", "twice-then-well,partial", "down"):
        variant = failing(text)
        for item in ITEMS[:4]:
            for unit in item.units:
                steps = played(variant, item, unit, "fixed")
                transcript = Transcript(tuple(Reply(reply) for _, reply in steps))
                trace = variant.trace(item, unit, transcript, "fixed")
                seen = [m["content"] for step in trace.steps for m in step.seen if m["role"] == "tool"]
                last = [m["content"] for m in steps[-1][0].messages if m["role"] == "tool"]
                assert seen == last
                assert [step.reply.get("tool_calls") for step in trace.steps] == [
                    reply.get("tool_calls") for _, reply in steps
                ]


def test_noise_lies_around_failures():
    noise = Noise.parse("names:heavy,params:medium")
    both = Variant(BENCHMARK, (Failures(FailureSchedule.parse("flaky:1")), noise))
    for item in ITEMS[::8]:
        for unit in item.units:
            verdict = judged(both, item, unit, said(both, item, unit, "fixed"), "fixed")
            assert (verdict.outcome, verdict.fields["failure_end"]) in {
                ("correct", "recovered"),
                ("correct", "not reached"),
            }


def test_failures_are_of_the_rules_that_the_run_was_under():
    item, unit, _ = first_with_calls()
    identity = {**Failures(FailureSchedule.parse("down")).identity(), "profile": "official"}
    recorded = as_recorded(BENCHMARK, identity)
    replies = said(recorded, item, unit, "official")
    cells = [judged(recorded, item, unit, replies, profile).fields for profile in BENCHMARK.profiles]
    assert [cell["failure_end"] for cell in cells] == ["reported"] * len(BENCHMARK.profiles)


OTHERS = {"acebench": ("fc", "agent_finance")}
"""Other benchmarks that answer native calls with results, with mode and split."""


@pytest.mark.parametrize("name", OTHERS)
def test_other_benchmarks_recover_too(name: str):
    mode, split = OTHERS[name]
    benchmark = load_benchmark(name, mode)
    items = list(benchmark.load(data_of(benchmark).locate(None, split), split=split))[::5]
    plain, variant = Variant(benchmark), failing("flaky:1", benchmark=benchmark)
    ends: Counter[FieldValue] = Counter()
    for item in items:
        for unit in item.units:
            clean = judged(plain, item, unit, said(plain, item, unit, "fixed"), "fixed")
            verdict = judged(variant, item, unit, said(variant, item, unit, "fixed"), "fixed")
            assert (verdict.outcome, verdict.score) == (clean.outcome, clean.score)
            ends[verdict.fields["failure_end"]] += 1
    assert set(ends) <= {"recovered", "not reached"}
    assert ends["recovered"]


def test_live_classes_recover_too(bfcl_package: Path):
    benchmark = load_benchmark("bfcl", "fc")
    source = data_of(benchmark).locate(None, "multi_turn_base")
    items = list(benchmark.load(source, split="multi_turn_base"))[::60]
    variant = failing("flaky:1", benchmark=benchmark)
    profile = next(iter(benchmark.profiles))
    for item in items:
        for unit in item.units:
            clean = judged(
                Variant(benchmark), item, unit, said(Variant(benchmark), item, unit, profile), profile
            )
            verdict = judged(variant, item, unit, said(variant, item, unit, profile), profile)
            assert verdict.outcome == clean.outcome
            assert verdict.fields["failure_end"] == "recovered"


# Anything ---------------------------------------------------------------------------------------------------

NAMES = [tool["function"]["name"] for tool in ITEMS[0].data.sent_tools]
ODD = st.one_of(st.none(), st.text(max_size=5), st.integers(), st.lists(st.none(), max_size=2))
CALLS = st.lists(
    st.one_of(
        ODD,
        st.fixed_dictionaries(
            {
                "id": st.one_of(ODD, st.sampled_from(["a", "b"])),
                "function": st.one_of(
                    ODD,
                    st.fixed_dictionaries(
                        {
                            "name": st.one_of(ODD, st.sampled_from(NAMES)),
                            "arguments": st.one_of(ODD, st.sampled_from(["{}", '{"a": 1}', "[", "\ud800"])),
                        }
                    ),
                ),
            }
        ),
    ),
    max_size=3,
)
REPLIES = st.lists(
    st.fixed_dictionaries(
        {}, optional={"content": ODD, "tool_calls": st.one_of(ODD, CALLS), "reasoning_content": ODD}
    ),
    max_size=8,
)


@settings(max_examples=a_fiftieth_of(1_000), deadline=None)
@given(
    REPLIES,
    st.lists(st.integers(0, 9), max_size=8),
    st.sampled_from([*RECOVERED_FROM, *HELPLESS]),
    st.sampled_from(list(BENCHMARK.profiles)),
)
def test_no_reply_raises(odd: list[Message], places: list[int], text: str, profile: str):
    variant, item = failing(text), ITEMS[0]
    unit = item.units[1]
    gold: list[Any] = said(variant, item, unit, profile)
    for reply, place in zip(odd, places, strict=False):
        gold.insert(min(place, len(gold)), reply)
    transcript = Transcript(tuple(map(Reply, gold)), scripted=True)
    verdict = variant.judge(item, {unit: transcript}, profile)[1]
    assert verdict.fields["failures"] is not None
    variant.trace(item, unit, transcript, profile)


@settings(max_examples=a_fiftieth_of(500), deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([*RECOVERED_FROM, *HELPLESS]))
def test_any_habit_comes_to_an_end(seed: int, text: str):
    draw, variant, item = Random(seed), failing(text, seed), ITEMS[seed % len(ITEMS)]
    for unit in item.units:
        episode, steps = variant.episode(item, unit, "fixed"), 0
        while (request := episode.request()) is not None:
            steps += 1
            assert steps < 200
            assert request.gold is not None
            episode.advance(request.gold(draw.choice(["parallel", "serial", ALWAYS, ALWAYS, NEVER])))


@settings(max_examples=a_fiftieth_of(500), deadline=None)
@given(st.integers(0, 99), st.integers(0, 99))
def test_the_same_seed_shows_the_same_failures_whatever_the_order(seed: int, order: int):
    def shown(places: list[tuple[Item, str]]) -> dict[tuple[str, str], list[object]]:
        variant = failing("flaky:0.5", seed)
        return {
            (item.id, unit): [request.messages for request, _ in played(variant, item, unit, "fixed")]
            for item, unit in places
        }

    places = [(item, unit) for item in ITEMS[:3] for unit in item.units]
    shuffled = list(places)
    Random(order).shuffle(shuffled)
    assert shown(places) == shown(shuffled)
