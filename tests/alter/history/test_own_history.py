"""Own history: what a model is shown of its own earlier tasks, and which tasks it makes impossible."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alter.history.session_play import REFUSE, SIMULATE, gold, judged, own, play, scripted
from benchmarks.wildtoolbench.build import answer, ask, call, calls, item, node, raw_call, says
from wildtool.alter.noise.noise import Noise
from wildtool.alter.variant import Variant
from wildtool.benchmark import Benchmark, SessionRules
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark
from wildtool.episode import gold_replies
from wildtool.errors import InfraError, UsageError
from wildtool.types import Item, Message, Request, Transcript

PROFILES = ("official", "fixed", "paper")
BOOK = [node("a", text="x", observation={"id": "R-7", "status": "booked"}), answer(0)]
"""A task whose result is needed later."""
MOVE = [node("b", text="R-7", observation={"id": "R-7", "status": "moved"}), answer(0)]
"""A task whose argument comes from the result of the first."""
OTHER = [node("c", n=4), answer(0)]
"""A task that needs nothing but what the user says."""
TEXTS = {"english_tasks": ["book x", "move it to the 4th", "show 4"]}


def mini() -> tuple[Benchmark, list[Item]]:
    benchmark = load_benchmark("wild-mini")
    return benchmark, list(benchmark.load(data_of(benchmark).locate(None)))


@pytest.mark.long
@pytest.mark.parametrize("profile", PROFILES)
def test_gold_replies_are_right_in_every_task(profile: str):
    benchmark, items = mini()
    variant = own(benchmark, played=profile)
    for each in items:
        verdicts = judged(variant, each, play(variant, each, gold))
        assert [verdict.outcome for verdict in verdicts] == ["correct"] * 4
        assert all(verdict.fields["settled"] for verdict in verdicts)


def test_own_history_of_gold_replies_is_the_gold_history_to_the_byte():
    benchmark, items = mini()
    for each in items:
        plain = play(Variant(benchmark, (), "fixed"), each, gold)
        altered = play(own(benchmark), each, gold)
        assert asked(altered.asked) == asked(plain.asked)


@pytest.mark.parametrize("profile", ["official", "paper"])
def test_gold_replies_differ_from_the_gold_history_only_where_a_task_has_two_shortest_ways(profile: str):
    benchmark, items = mini()
    rules = benchmark.rules(profile)
    assert isinstance(rules, SessionRules)
    ways: set[tuple[str, str]] = set()
    for each in items:
        record = rules.session(each)
        assert record is not None
        for unit, later in zip(each.units, each.units[1:], strict=False):
            replies = gold_replies(rules.episode(each, unit))
            request = rules.episode(each, later).request()
            assert replies is not None and request is not None
            shown = request.messages[record.history(later)[unit]]
            if steps(shown) == [len(reply.get("tool_calls") or ()) for reply in replies]:
                assert json.dumps(record.own_run(unit, replies)) == json.dumps(shown)
            else:
                ways.add((each.id, unit))
    assert ways == {("wild_mini_11", "1"), ("wild_mini_16", "0")}


def asked(requests: dict[str, list[Request]]) -> str:
    return json.dumps({unit: [list(each.messages) for each in requests[unit]] for unit in requests})


def steps(messages: Any) -> list[int]:
    return [len(message.get("tool_calls", ())) for message in messages if message["role"] == "assistant"]


def test_a_wrong_call_gets_an_error_in_the_tools_form_and_the_task_goes_on_to_an_answer():
    session = item(BOOK, OTHER, **_texts(2))
    record = play(own(), session, scripted(u0=[calls(call("a", text="y")), says("That failed.")]))
    assert record.asked["0"][1].messages[-1]["content"] == json.dumps(
        {"status": "error", "error": "no result for these arguments"}
    )
    shown = record.asked["1"][0].messages[1:-1]
    assert [message["role"] for message in shown] == ["user", "assistant", "tool", "assistant"]
    assert json.loads(shown[1]["tool_calls"][0]["function"]["arguments"]) == {"text": "y"}
    assert shown[-1]["content"] == "That failed."
    wrong, right = judged(own(), session, record)
    assert (wrong.outcome, wrong.fields["unrecorded_calls"], wrong.fields["later_replies"]) == ("wrong", 1, 1)
    assert right.outcome == "correct"


def test_a_call_that_the_record_answers_gets_the_recorded_result_after_the_verdict_too():
    session = item(BOOK, MOVE, **_texts(2))
    replies = [calls(call("a", text="y")), calls(call("a", text="x")), says("Booked at last.")]
    record = play(own(), session, scripted(u0=replies))
    results = [message["content"] for message in record.asked["1"][0].messages if message["role"] == "tool"]
    assert json.loads(results[1]) == {"id": "R-7", "status": "booked"}
    first, second = judged(own(), session, record)
    assert first.outcome == "wrong"
    assert (second.outcome, second.fields["settled"]) == ("correct", True)


def test_a_task_that_goes_on_shows_the_models_reasoning_and_a_later_task_does_not():
    session = item(BOOK, OTHER, **_texts(2))
    wrong = {**calls(call("a", text="y")), "reasoning": "hm"}
    record = play(own(), session, scripted(u0=[wrong, says("That failed.")]))
    assert record.asked["0"][1].messages[-2]["reasoning"] == "hm"
    assert "hm" not in asked({"1": record.asked["1"]})


def test_a_task_whose_argument_comes_from_a_result_that_was_never_got_is_unsettled():
    session = item(BOOK, MOVE, OTHER, **_texts(3))
    record = play(own(), session, scripted(u0=[says("I cannot do that.")]))
    fields = [verdict.fields["settled"] for verdict in judged(own(), session, record)]
    assert fields == [True, False, True]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"english_tasks": ["book x", "move R-7 to the 4th"]}, "the user says it"),
        ({"english_env_info": "R-7"}, "the date line says it"),
    ],
)
def test_a_value_that_is_said_elsewhere_makes_nothing_unsettled(change: dict[str, Any], reason: str):
    session = item(BOOK, MOVE, **{**_texts(2), **change})
    record = play(own(), session, scripted(u0=[says("No.")]))
    assert judged(own(), session, record)[1].fields["settled"], reason


def test_a_value_that_the_task_finds_itself_makes_nothing_unsettled():
    found = [node("d", observation={"ids": ["R-7"]}), node("b", 0, text="R-7"), answer(1)]
    session = item(BOOK, found, **_texts(2))
    record = play(own(), session, scripted(u0=[says("No.")]))
    assert judged(own(), session, record)[1].fields["settled"]


def test_a_result_of_a_call_that_takes_the_value_does_not_settle_it():
    echoing = [node("b", text="R-7", observation={"id": "R-7"}), node("c", 0, text="R-7"), answer(1)]
    session = item(BOOK, echoing, **_texts(2))
    record = play(own(), session, scripted(u0=[says("No.")]))
    assert not judged(own(), session, record)[1].fields["settled"]


def test_what_the_model_says_itself_settles_nothing():
    """A model that makes up results would otherwise settle its own tasks."""
    session = item(BOOK, MOVE, **_texts(2))
    record = play(own(), session, scripted(u0=[says("Booked under R-7.")]))
    assert not judged(own(), session, record)[1].fields["settled"]


def test_an_answer_to_a_question_that_was_not_asked_is_missing():
    asks = [ask(), node("a", 0, text="x"), answer(1)]
    red = [node("b", text="The red one."), answer(0)]
    session = item(asks, red, **_texts(2))
    silent = play(own(), session, scripted(u0=[calls(call("a", text="y")), says("No.")]))
    assert not judged(own(), session, silent)[1].fields["settled"]
    assert judged(own(), session, play(own(), session, gold))[1].fields["settled"]


def test_the_official_rules_give_recorded_results_to_any_arguments():
    session = item(BOOK, MOVE, **_texts(2))
    variant = own(played="official")
    record = play(variant, session, scripted(u0=[calls(call("a", text="y"))]))
    first, second = judged(variant, session, record)
    assert first.outcome == "wrong"
    assert (second.outcome, second.fields["settled"]) == ("correct", True)


@pytest.mark.parametrize("arguments", ["", '{"text": ', "[]", '{"text": "x", "text": "y"}'])
def test_arguments_that_are_no_object_are_shown_as_an_empty_one(arguments: str):
    session = item(BOOK, OTHER, **_texts(2))
    for profile in ("official", "fixed"):
        record = play(own(played=profile), session, scripted(u0=[calls(raw_call("a", arguments))]))
        shown = record.asked["1"][0].messages[2]["tool_calls"]
        assert [each["function"]["arguments"] for each in shown] == ["{}"]


def test_official_results_stand_with_their_own_calls_in_the_history():
    """In a task the original gives the results of several calls in the order of names; its history does not."""
    both = [node("b", observation={"of": "b"}), node("a", observation={"of": "a"}), answer(0, 1)]
    session = item(both, OTHER, **_texts(2))
    record = play(own(played="official"), session, gold)
    shown = record.asked["1"][0].messages[1:-1]
    names = {call["id"]: call["function"]["name"] for call in shown[1]["tool_calls"]}
    results = {names[message["tool_call_id"]]: json.loads(message["content"])["of"] for message in shown[2:4]}
    assert results == {"a": "a", "b": "b"}


def test_a_model_in_the_role_tools_answers_what_the_record_does_not():
    session = item(BOOK, OTHER, **_texts(2))

    def policy(unit: str, request: Request) -> Message:
        if request.role == "tools":
            return says('{"id": "R-8"}')
        return next(replies) if unit == "0" else gold(unit, request)

    replies = iter([calls(call("a", text="y")), says("Booked R-8.")])
    variant = own(alteration=SIMULATE)
    record = play(variant, session, policy)
    assert [request.role for request in record.asked["0"]] == ["agent", "tools", "agent"]
    assert record.asked["0"][2].messages[-1]["content"] == '{"id": "R-8"}'
    first, second = judged(variant, session, record)
    assert (first.outcome, first.fields["later_replies"], second.outcome) == ("wrong", 1, "correct")


def test_a_tool_that_was_not_offered_is_never_played():
    session = item(BOOK, OTHER, **_texts(2))
    variant = own(alteration=SIMULATE)
    record = play(variant, session, scripted(u0=[calls(call("fly", text="y")), says("No.")]))
    assert [request.role for request in record.asked["0"]] == ["agent", "agent"]
    assert "there is no tool fly" in record.asked["0"][1].messages[-1]["content"]


def test_a_model_that_only_calls_is_cut_off_and_its_last_calls_are_answered():
    session = item(BOOK, OTHER, **_texts(2))
    wrong = [calls(call("a", text=str(number))) for number in range(40)]
    record = play(own(), session, scripted(u0=wrong))
    assert len(record.said["0"]) == 1 + 8
    shown = record.asked["1"][0].messages
    assert [message["role"] for message in shown[-3:]] == ["assistant", "tool", "user"]
    ids = [call["id"] for message in shown for call in message.get("tool_calls", ())]
    assert len(set(ids)) == len(ids) == 9


def test_after_a_failed_call_the_later_tasks_are_not_asked_and_fail_for_the_same_reason():
    session = item(BOOK, OTHER, OTHER, **_texts(3))

    def policy(unit: str, request: Request) -> Message:
        if unit == "1":
            raise InfraError("timeout", "timeout: no answer")
        return gold(unit, request)

    record = play(own(), session, policy)
    assert record.asked.keys() == {"0", "1"}
    verdicts = judged(own(), session, record)
    assert [verdict.outcome for verdict in verdicts] == ["correct", "infra_error", "infra_error"]
    assert verdicts[2].reason == "timeout: no answer"
    assert verdicts[2].fields["settled"] is None


def test_a_call_that_fails_after_the_verdict_leaves_the_verdict_and_stops_the_session():
    session = item(BOOK, OTHER, **_texts(2))

    def policy(unit: str, request: Request) -> Message:
        if request.messages[-1]["role"] == "tool":
            raise InfraError("timeout", "timeout: no answer")
        return calls(call("a", text="y"))

    record = play(own(), session, policy)
    outcomes = [verdict.outcome for verdict in judged(own(), session, record)]
    assert outcomes == ["wrong", "infra_error"]


def test_noise_disguises_the_models_own_history_too():
    session = item(BOOK, OTHER, **_texts(2))
    variant = Variant(load_benchmark("wildtoolbench"), (REFUSE, Noise.parse("names:medium")), "fixed")
    record = play(variant, session, gold)
    shown = [c for m in record.asked["1"][0].messages for c in m.get("tool_calls", ())]
    offered = {tool["function"]["name"] for tool in record.asked["1"][0].tools}
    assert {each["function"]["name"] for each in shown} <= offered - {"a"}
    assert [verdict.outcome for verdict in judged(variant, session, record)] == ["correct", "correct"]


def test_a_trace_shows_what_the_model_saw_and_what_it_said_after_the_verdict():
    session = item(BOOK, OTHER, **_texts(2))
    record = play(own(), session, scripted(u0=[calls(call("a", text="y")), says("That failed.")]))
    settled = own().settled(session, record.transcripts, "fixed")
    first = own().trace(settled, "0", record.transcripts["0"], "fixed")
    second = own().trace(settled, "1", record.transcripts["1"], "fixed")
    assert [step.reply.get("content") for step in first.steps] == [None, "That failed."]
    assert first.steps[1].note.startswith("after the verdict")
    assert list(second.steps[0].seen) == list(record.asked["1"][0].messages)


def test_a_benchmark_without_sessions_is_refused():
    benchmark = load_benchmark("acebench")
    with pytest.raises(UsageError, match="acebench has none"):
        REFUSE.check(benchmark, [Item("i", ("0",), None)], "official")


def test_sessions_of_one_task_are_refused():
    with pytest.raises(UsageError, match="each selected session has one task"):
        REFUSE.check(load_benchmark("wildtoolbench"), [item(BOOK)], "fixed")


CALLS = st.one_of(
    st.none(),
    st.text(max_size=3),
    st.lists(
        st.one_of(
            st.none(),
            st.builds(
                raw_call,
                st.sampled_from(["a", "b", "fly", "", "a b", 3, None]),
                st.sampled_from(['{"text": "x"}', '{"text": ', "[]", "", None, {"text": "x"}, 3]),
                st.sampled_from(["id", "", None, 4]),
            ),
        ),
        max_size=3,
    ),
)
REPLIES = st.builds(
    lambda content, made: {"role": "assistant", "content": content, "tool_calls": made},
    st.sampled_from([None, "", "Done.", 3, [{"type": "text", "text": "Done."}]]),
    CALLS,
)


@given(st.lists(REPLIES, max_size=6), st.sampled_from(PROFILES))
def test_any_replies_replay_to_the_requests_that_were_sent(replies: list[Message], profile: str):
    session = item(BOOK, MOVE, OTHER, **_texts(3))
    queue = list(replies)
    variant = own(played=profile)
    record = play(variant, session, lambda unit, request: queue.pop(0) if queue else gold(unit, request))
    settled = variant.settled(session, record.transcripts, profile)
    for unit in session.units:
        first = variant.episode(settled, unit, profile).request()
        assert first is not None
        assert list(first.messages) == list(record.asked[unit][0].messages)
        for message in first.messages:
            for each in message.get("tool_calls", ()):
                assert isinstance(json.loads(each["function"]["arguments"]), dict)
        variant.trace(settled, unit, record.transcripts[unit], profile)
    assert len(judged(variant, session, record)) == 3


def test_without_a_record_later_tasks_are_shown_with_gold_history():
    session = item(BOOK, MOVE, **_texts(2))
    plain = load_benchmark("wildtoolbench").rules("fixed").episode(session, "1").request()
    shown = own().episode(session, "1", "fixed", Transcript(())).request()
    assert plain is not None and shown is not None
    assert list(shown.messages) == list(plain.messages)


def _texts(tasks: int) -> dict[str, Any]:
    return {"english_tasks": TEXTS["english_tasks"][:tasks]}
