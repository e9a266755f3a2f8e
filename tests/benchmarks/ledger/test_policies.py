"""What policies reach over all 200 sessions: gold all, mutants nothing, degenerate ones what the docs state."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.ledger.session_play import ITEMS, RULES, Policy, gold, judged, play, right_turns, says, serial
from benchmarks.ledger.test_tools import CALLS
from wildtool.benchmarks.ledger.book import beancount_errors
from wildtool.benchmarks.ledger.episode import LedgerEpisode
from wildtool.benchmarks.ledger.tools import run_tool
from wildtool.types import Item, Message, Request

DOCS = Path(__file__).parents[3] / "docs" / "benchmarks.md"


@pytest.mark.long
@pytest.mark.parametrize(("policy", "items"), [(gold, ITEMS), (serial, ITEMS[::5])])
def test_the_gold_policy_passes_every_session_with_the_least_calls(policy: Policy, items: list[Item]):
    for item in items:
        check = play(item, policy)
        assert check.correct, (item.id, check.reason)
        assert (check.fields["shortest"], check.fields["writes_too_many"]) == (4, 0), item.id
        assert check.fields["tool_calls"] == check.fields["least_calls"]


@pytest.mark.long
def test_every_mutant_is_caught_in_the_turn_of_its_mistake():
    kinds: Counter[str] = Counter()
    for item in ITEMS[::9]:
        for mutant in RULES.mutants(item):
            check = judged(item, mutant.replies)
            place = int(mutant.note.removeprefix("turn ")) - 1
            assert not check.detail["turns"][place]["right"], (item.id, mutant.kind, mutant.note)
            kinds[mutant.kind] += 1
    assert len(kinds) == 16
    assert min(kinds.values()) >= 10, kinds


def test_an_answer_is_what_the_query_tool_sums_up():
    answered = 0
    for item in ITEMS[::5]:
        episode = LedgerEpisode(item.data)
        while (request := episode.request()) is not None:
            question = item.data.turns[len(episode.logs) - 1].question
            if question is not None:
                period: dict[str, Any] = {"end": question.last.isoformat()}
                if question.first is not None:
                    period["start"] = question.first.isoformat()
                arguments = {"accounts": [*question.accounts], **period}
                arguments |= {"payee": question.payee} if question.payee else {}
                answer = json.loads(run_tool(episode.book, item.data.today, "query", arguments).text)
                total = sum(float(sums.get(question.currency, 0)) for sums in answer["totals"].values())
                assert f"{abs(total):.2f}" == f"{question.answer(episode.book.entries.values()):.2f}", item.id
                answered += 1
            episode.advance(gold(request))
    assert answered > 20


# Degenerate policies ---------------------------------------------------------------------------------


def repeats_all_calls(request: Request) -> Message:
    reply = gold(request)
    calls: list[Any] = reply.get("tool_calls") or []
    again = [{**call, "id": f"{call['id']}-again"} for call in calls]
    return {**reply, "tool_calls": [*calls, *again]} if calls else reply


def lists_everything(request: Request) -> Message:
    """Asks for the whole book in every turn, and says every amount in it."""
    last = request.messages[-1]
    if last["role"] != "tool":
        function = {"name": "query", "arguments": "{}"}
        return {"role": "assistant", "tool_calls": [{"id": "q", "type": "function", "function": function}]}
    amounts = re.findall(r"\d+\.\d\d", str(last["content"]))
    return {"role": "assistant", "content": "In the book: " + ", ".join(dict.fromkeys(amounts))}


def writes_again(request: Request) -> Message:
    """The gold policy, but the last addition again before each answer that needs no call."""
    reply = gold(request)
    added = [
        call
        for message in request.messages
        for call in message.get("tool_calls") or ()
        if call["function"]["name"] == "add_transaction"
    ]
    if reply.get("tool_calls") or not added or request.messages[-1]["role"] == "tool":
        return reply
    return {"role": "assistant", "tool_calls": [{**added[-1], "id": "again"}]}


DEGENERATE: dict[str, Policy] = {
    "never calls": says("Done."),
    "always refuses": says("I am sorry, I cannot do that."),
    "makes every call of the gold policy twice": repeats_all_calls,
    "lists the book and says every amount": lists_everything,
    "writes the last addition again where no call is needed": writes_again,
}


@pytest.mark.long
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_policies_score_what_the_docs_state(name: str):
    checks = [play(item, DEGENERATE[name]) for item in ITEMS]
    tasks, sessions = sum(map(right_turns, checks)), sum(check.correct for check in checks)
    row = f"| {name} | {tasks / 8:.1f} % | {sessions / 2:.1f} % |"
    assert row in DOCS.read_text(encoding="utf-8"), row


# Hostile replies -------------------------------------------------------------------------------------

ANY: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def call(name: str, arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": "c", "type": "function", "function": function}


REPLY = st.one_of(
    st.fixed_dictionaries({}, optional={"content": ANY, "tool_calls": ANY, "reasoning_content": ANY}),
    st.builds(
        lambda calls: {"content": None, "tool_calls": [call(*each) for each in calls]},
        st.lists(CALLS, max_size=3),
    ),
    st.builds(lambda text: {"content": text}, st.text(max_size=20)),
)


@settings(deadline=None)
@given(st.sampled_from(ITEMS[:20]), st.lists(REPLY, max_size=8))
def test_no_reply_raises_and_the_book_always_balances(item: Any, replies: list[Message]):
    episode = LedgerEpisode(item.data)
    for reply in replies:
        episode.advance(reply)
    assert beancount_errors(episode.book.text) == ()
    json.dumps(list((episode.request() or Request([])).messages))
    RULES.verdict(episode, item, "session")


def test_a_turn_ends_after_many_replies_and_many_calls():
    episode = LedgerEpisode(ITEMS[0].data)
    for _ in range(15):
        episode.advance({"tool_calls": [call("list_commodities", {})]})
    episode.advance({"tool_calls": [call("list_commodities", {})] * 41})
    assert [log.fault for log in episode.logs[:2]] == ["no answer after 15 replies", "more than 40 calls"]
    assert len(episode.logs) == 3


def test_a_reply_whose_calls_cannot_be_read_ends_the_turn_and_not_the_session():
    episode = LedgerEpisode(ITEMS[0].data)
    episode.advance({"content": "hm", "tool_calls": [{"function": {"arguments": "{}"}}]})
    assert episode.logs[0].fault == "calls that cannot be read"
    request = episode.request()
    assert request is not None
    assert [message["role"] for message in request.messages] == ["system", "user", "assistant", "user"]
