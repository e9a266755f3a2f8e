"""The one loop of every benchmark: walks played through an `Ask`, and replayed from transcripts."""

import asyncio
from typing import Any

import pytest

from wildtool.episode import (
    COOPERATIVE,
    MAX_GOLD_REPLIES,
    SingleReply,
    gold_replies,
    incomplete_outcome,
    play_episodes,
    provider_fields,
    replay,
    until_decided,
    written_reasoning,
    written_text,
)
from wildtool.errors import InfraError
from wildtool.reply_ends import End
from wildtool.types import Message, Reply, Request, Transcript


class CountingEpisode:
    """Takes `length` replies."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.told: list[Message] = []

    @property
    def done(self) -> bool:
        return len(self.told) >= self.length

    def request(self) -> Request | None:
        return Request(tuple(self.told)) if len(self.told) < self.length else None

    def advance(self, reply: Message) -> None:
        self.told.append(reply)


def says(*texts: str) -> tuple[Reply, ...]:
    return tuple(Reply({"content": text}) for text in texts)


class Script:
    """Answers with the unit's name and step; notes who asked; fails for one unit if told to."""

    def __init__(self, failing: str | None = None, error: Exception | None = None) -> None:
        self.asked: list[str] = []
        self._failing, self._error = failing, error

    async def __call__(self, unit: str, request: Request) -> Reply:
        self.asked.append(f"{unit}{len(request.messages)}")
        await asyncio.sleep(0)  # lets the other units go on
        if unit == self._failing and self._error is not None:
            raise self._error
        return Reply({"content": self.asked[-1]})


async def test_each_unit_is_asked_until_its_walk_is_over() -> None:
    episodes = {"a": CountingEpisode(2), "b": CountingEpisode(0), "c": CountingEpisode(1)}
    ask = Script()
    await play_episodes(episodes, ask)
    assert sorted(ask.asked) == ["a0", "a1", "c0"]
    assert [len(episode.told) for episode in episodes.values()] == [2, 0, 1]


async def test_units_are_played_side_by_side() -> None:
    ask = Script()
    await play_episodes({"a": CountingEpisode(2), "b": CountingEpisode(2)}, ask)
    assert ask.asked == ["a0", "b0", "a1", "b1"]


async def test_in_order_one_unit_follows_another() -> None:
    ask = Script()
    await play_episodes({"a": CountingEpisode(2), "b": CountingEpisode(2)}, ask, in_order=True)
    assert ask.asked == ["a0", "a1", "b0", "b1"]


@pytest.mark.parametrize("in_order", [True, False])
async def test_a_call_that_fails_for_good_ends_its_unit_only(in_order: bool) -> None:
    episodes = {"a": CountingEpisode(2), "b": CountingEpisode(2)}
    ask = Script("a", InfraError("timeout", "no answer"))
    await play_episodes(episodes, ask, in_order=in_order)
    assert [len(episode.told) for episode in episodes.values()] == [0, 2]


async def test_any_other_error_is_not_swallowed() -> None:
    with pytest.raises(ExceptionGroup) as raised:
        await play_episodes({"a": CountingEpisode(1)}, Script("a", ValueError("fault of ours")))
    assert raised.group_contains(ValueError, match="fault of ours")


def test_replay_tells_the_recorded_replies_in_order() -> None:
    episode = CountingEpisode(2)
    assert replay(episode, Transcript(says("x", "y")))
    assert [message["content"] for message in episode.told] == ["x", "y"]


def test_replies_past_the_end_of_a_walk_are_not_told() -> None:
    episode = CountingEpisode(1)
    assert replay(episode, Transcript(says("x", "y")))
    assert len(episode.told) == 1


def test_a_record_that_stops_early_leaves_the_walk_open() -> None:
    assert not replay(CountingEpisode(2), Transcript(says("x")))


def test_without_a_transcript_a_walk_stays_open() -> None:
    assert not replay(CountingEpisode(1), None)


def test_a_walk_that_is_over_at_once_needs_no_transcript() -> None:
    assert replay(CountingEpisode(0), None)


def test_a_script_is_silent_past_its_end() -> None:
    episode = CountingEpisode(3)
    assert replay(episode, Transcript(says("x"), scripted=True))
    assert episode.told[1:] == [{"content": "", "tool_calls": None}] * 2


@pytest.mark.parametrize(
    ("reply", "fields"),
    [
        ({"content": "a"}, {}),
        ({"provider_content": None}, {}),
        ({"provider_content": [], "content": "a"}, {"provider_content": []}),
    ],
)
def test_a_repeated_reply_carries_along_what_its_provider_wants(reply: Message, fields: Message) -> None:
    assert provider_fields(reply) == fields


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a", "a"),
        ("", ""),
        (None, None),
        (5, None),
        ([{"text": "a"}, "b", {"text": 1}, {"other": "c"}, {"text": "d"}], "ad"),
        ([], ""),
    ],
)
def test_the_text_of_a_reply_is_its_text_parts_together(content: Any, text: str | None) -> None:
    assert written_text({"content": content}) == text
    assert written_text({}) is None


def test_a_record_counts_up_to_the_reply_whose_end_decides() -> None:
    first, second, third = says("a", "b", "c")
    refused = Reply({"refusal": "no"})
    filtered = Reply({"content": "d"}, finish_reason="content_filter")
    whole = Transcript((first, second, third), infra_error="timeout")
    assert until_decided(whole) == (whole, None)
    assert until_decided(Transcript((first, filtered, refused, third), "timeout", scripted=True)) == (
        Transcript((first,)),
        End.FILTERED,
    )
    assert until_decided(Transcript((refused,))) == (Transcript(()), End.REFUSED)


@pytest.mark.parametrize(
    ("transcript", "end", "outcome"),
    [
        (Transcript((), "timeout"), End.REFUSED, ("wrong", "the model or its provider refused to answer")),
        (Transcript((), "timeout"), None, ("infra_error", "timeout")),
        (Transcript(()), None, ("unplayed", "the record ends before this profile's episode does")),
        (None, None, ("unplayed", "the record ends before this profile's episode does")),
    ],
)
def test_a_record_that_is_not_complete_has_an_outcome(
    transcript: Transcript | None, end: End | None, outcome: tuple[str, str]
) -> None:
    assert incomplete_outcome(transcript, end) == outcome


class Conversation(CountingEpisode):
    """Asks the agent and a user in turns, with gold answers that name their style."""

    def request(self) -> Request | None:
        role = "user" if len(self.told) % 2 else "agent"
        gold = (lambda style: {"content": style}) if self.length != 3 or len(self.told) < 2 else None
        return None if self.done else Request((), role=role, gold=gold)


def test_gold_replies_are_of_the_style_that_is_asked_for() -> None:
    contents = [reply["content"] for reply in gold_replies(Conversation(4), "serial") or []]
    assert contents == ["serial", COOPERATIVE, "serial", "cooperative 0"]
    assert gold_replies(Conversation(1)) == [{"content": "parallel"}]
    assert gold_replies(Conversation(0)) == []
    assert gold_replies(Conversation(3)) is None


def test_gold_replies_of_an_episode_without_end_are_cut() -> None:
    assert len(gold_replies(Conversation(2_000)) or []) == MAX_GOLD_REPLIES == 1_000


def test_an_episode_of_one_reply_takes_the_first() -> None:
    request = Request(({"role": "user", "content": "a"},))
    episode = SingleReply(lambda: request)
    assert (episode.done, episode.request(), episode.reply) == (False, request, None)
    episode.advance({})
    episode.advance({"content": "b"})
    assert (episode.done, episode.request(), episode.reply) == (True, None, {})


@pytest.mark.parametrize(
    ("reply", "reasoning"),
    [
        ({}, None),
        ({"reasoning_content": "", "thinking": "Hm."}, "Hm."),
        ({"reasoning": "Hm.", "reasoning_details": [{"text": "Hm, signed."}]}, "Hm."),
        ({"reasoning_details": [{"text": "a"}, {"data": "x"}, {"summary": "b"}]}, "a\nb"),
        ({"reasoning_details": [{"data": "x"}]}, None),
    ],
)
def test_the_reasoning_of_a_reply_is_its_text_or_that_of_its_parts(reply: Message, reasoning: str | None):
    assert written_reasoning(reply) == reasoning
