"""Runs episodes through an `Ask` and replays them from transcripts: the loops that every benchmark shares."""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol, cast, runtime_checkable

from wildtool.errors import NOT_CHOSEN, InfraError
from wildtool.json_codec import as_objects
from wildtool.reply_ends import NOT_RIGHT, End, deciding_end
from wildtool.types import (
    AROUND_IN_TRACE,
    HARNESS,
    PROVIDER_CONTENT,
    REASONING_DETAILS,
    REASONING_KEYS,
    Ask,
    Episode,
    Message,
    Outcome,
    Reply,
    Request,
    Transcript,
)

EMPTY_REPLY: Message = {"content": "", "tool_calls": None}
"""What a scripted model answers past the end of its script."""
COOPERATIVE = "cooperative 0"
"""How gold answers of the other roles than the agent are given (`Request.gold`)."""
GOLD_STYLE = "parallel"
"""The style of gold answers where none is named: every benchmark has it."""
OBEDIENT = "obedient"
"""Style of the gold answers of a model that obeys the first instruction that others than its user hid in what it sees
(`baseline/obedient`)."""
_OF_REASONING = re.compile(r"reasoning|think|thought|signature|encrypted", re.IGNORECASE)
"""What the names have in common under which endpoints give reasoning, or what signs and encrypts it."""
_OF_PROVIDER = frozenset({"extra_content", "provider_specific_fields"})
"""Keys under which compatible endpoints and gateways keep what the provider behind them wants back."""
MAX_GOLD_REPLIES = 1_000
"""Where a run of gold replies is cut, so that an episode that never ends is no endless loop."""


@runtime_checkable
class UnitAsk(Protocol):
    """An `Ask` that is told when a unit has ended."""

    def unit_ended(self, unit: str) -> None:
        """The episode of a unit is done."""
        ...


class AskOfUnits:
    """An `Ask` for some units alone: the first request of any other ends it, and nothing of it is recorded."""

    def __init__(self, ask: Ask, units: Collection[str]) -> None:
        self._ask, self._units = ask, units

    async def __call__(self, unit: str, request: Request) -> Reply:
        if unit not in self._units:
            raise InfraError(NOT_CHOSEN, f"unit {unit!r} is not run")
        return await self._ask(unit, request)

    def unit_ended(self, unit: str) -> None:
        if isinstance(self._ask, UnitAsk):
            self._ask.unit_ended(unit)


def provider_fields(reply: Message) -> Message:
    """What a message that repeats a reply must carry along for the model's adapter; empty for most replies."""
    return {PROVIDER_CONTENT: reply[PROVIDER_CONTENT]} if reply.get(PROVIDER_CONTENT) is not None else {}


def said_alone(reply: Message) -> Message:
    """A recorded reply without what a run keeps around it, of an agent or of a trace: what the model said."""
    around = {AROUND_IN_TRACE, HARNESS} & reply.keys()
    return {key: value for key, value in reply.items() if key not in around} if around else reply


def fields_with_calls(reply: Message) -> Message:
    """What a message that repeats a reply's calls must carry along: the fields of `provider_fields`, and the reasoning
    under the keys that it came with, which a model that thinks between its calls needs."""
    return {**provider_fields(reply), **reasoning_fields(reply)}


def belongs_to_reasoning(key: str) -> bool:
    """Whether a key of an assistant message holds reasoning or what belongs to it, such as a signature. Endpoints name it
    as they like, so that this goes by parts of names."""
    return key in _OF_PROVIDER or _OF_REASONING.search(key) is not None


def reasoning_fields(reply: Message) -> Message:
    """The reasoning of a reply, and what belongs to it, under the keys that it came with; empty for most."""
    # The usual keys first, in the order on which the hashes of recorded requests depend.
    usual = [key for key in (*REASONING_KEYS, REASONING_DETAILS) if key in reply]
    unusual = [key for key in reply if key not in usual and belongs_to_reasoning(key)]
    return {key: reply[key] for key in (*usual, *unusual) if reply[key] is not None}


def written_text(reply: Message) -> str | None:
    """The text of a reply, its text parts joined; None where it has no content."""
    content: Any = reply.get("content")
    if not isinstance(content, list):
        return content if isinstance(content, str) else None
    parts = (
        cast(dict[str, Any], part).get("text") for part in cast(list[Any], content) if isinstance(part, dict)
    )
    return "".join(text for text in parts if isinstance(text, str))


def written_reasoning(reply: Message) -> Any:
    """What a model thought before a reply: under the first key that holds anything, else the texts of its parts; None
    where it has none."""
    own = next((reply[key] for key in REASONING_KEYS if reply.get(key)), None)
    if own is not None:
        return own
    parts = as_objects(reply.get(REASONING_DETAILS))
    texts = [part.get("text", part.get("summary")) for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str)) or None


async def play_episodes(episodes: Mapping[str, Episode], ask: Ask, *, in_order: bool = False) -> None:
    """Runs each unit's episode until it is done, or until a call fails for good, which does not stop the other units.

    Args:
        episodes: unit name to episode, in order.
        in_order: one unit after another, for endpoints with prefix caches; else all at once.
    """

    async def play_one(unit: str, episode: Episode) -> None:
        try:
            while (request := episode.request()) is not None:
                reply = await ask(unit, request)
                episode.advance(reply.message)
        except InfraError:
            # Recorded by the engine with the step; the other units of the item are independent of it.
            return
        if isinstance(ask, UnitAsk):
            ask.unit_ended(unit)

    if in_order:
        for unit, episode in episodes.items():
            await play_one(unit, episode)
    else:
        import asyncio  # judging needs none

        async with asyncio.TaskGroup() as group:
            for unit, episode in episodes.items():
                group.create_task(play_one(unit, episode))


def replay(episode: Episode, transcript: Transcript | None) -> bool:
    """Feeds recorded replies to an episode; True if the episode is done then, False if it needs more replies."""
    for reply in transcript.replies if transcript else ():
        if episode.done:
            return True
        episode.advance(reply.message)
    if transcript is not None and transcript.scripted:
        while not episode.done:
            episode.advance(EMPTY_REPLY)
    return episode.done


def until_decided(transcript: Transcript, *, as_published: bool = False) -> tuple[Transcript, End | None]:
    """A transcript up to the first reply whose end decides the unit, and that end; all of it and None without one.

    A text before a filter or a refusal is no turn of the conversation, and a call that its provider could not read is no
    silence, so what benchmarks make of texts must not credit them.

    Args:
        as_published: whether a published evaluator's rules judge it.
    """
    for number, reply in enumerate(transcript.replies):
        end = deciding_end(reply, as_published=as_published)
        if end is not None:
            return Transcript(transcript.replies[:number]), end
    return transcript, None


def incomplete_outcome(transcript: Transcript | None, end: End | None = None) -> tuple[Outcome, str]:
    """Outcome and reason of a unit whose record ends before its episode does.

    Args: end: of the reply that decided it, if one did.
    """
    if end is not None:
        return "wrong", NOT_RIGHT[end]
    if transcript is not None and transcript.infra_error:
        return "infra_error", transcript.infra_error
    return "unplayed", "the record ends before this profile's episode does"


def gold_replies(episode: Episode, style: str = GOLD_STYLE) -> list[Message] | None:
    """The replies of a perfect model, and of cooperative other roles, to a new episode; None where it has no gold.

    Args:
        style: one of `Benchmark.gold_styles`.
    """
    replies: list[Message] = []
    while len(replies) < MAX_GOLD_REPLIES and (request := episode.request()) is not None:
        if request.gold is None:
            return None
        reply = request.gold(style if request.role == "agent" else COOPERATIVE)
        replies.append(reply)
        episode.advance(reply)
    return replies


class SingleReply:
    """An episode of one request and one reply."""

    def __init__(self, make_request: Callable[[], Request]) -> None:
        """Args: make_request: called when a model is to be asked, so never while a record is judged."""
        self._make_request = make_request
        self.reply: Message | None = None
        """What the model answered; None before it did."""

    @property
    def done(self) -> bool:
        return self.reply is not None

    def request(self) -> Request | None:
        return None if self.done else self._make_request()

    def advance(self, reply: Message) -> None:
        if self.reply is None:
            self.reply = reply
