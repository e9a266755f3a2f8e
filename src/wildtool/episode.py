"""Plays walks through an `Ask` and replays them from transcripts: the one loop that every benchmark shares."""

from collections.abc import Mapping

from wildtool.errors import InfraError
from wildtool.types import KEPT, Ask, Message, Outcome, Transcript, Walk

SILENCE: Message = {"content": "", "tool_calls": None}
"""What a scripted model answers past the end of its script."""


def carried(reply: Message) -> Message:
    """What a message that repeats a reply must carry along for the model's adapter; empty for most replies."""
    return {KEPT: reply[KEPT]} if reply.get(KEPT) is not None else {}


async def play_walks(walks: Mapping[str, Walk], ask: Ask, *, in_order: bool = False) -> None:
    """Plays each unit's walk to its end; a unit whose call fails for good ends there, the others go on.

    Args:
        walks: unit name to walk, in order.
        in_order: one unit after another, for endpoints with prefix caches; else all at once.
    """

    async def play_one(unit: str, walk: Walk) -> None:
        try:
            while (request := walk.request()) is not None:
                reply = await ask(unit, request)
                walk.tell(reply.message)
        except InfraError:
            # Recorded by the engine with the step; the other units of the item are independent of it.
            return

    if in_order:
        for unit, walk in walks.items():
            await play_one(unit, walk)
    else:
        import asyncio  # judging needs none

        async with asyncio.TaskGroup() as group:
            for unit, walk in walks.items():
                group.create_task(play_one(unit, walk))


def replay(walk: Walk, transcript: Transcript | None) -> bool:
    """Feeds recorded replies to a walk; True if the walk came to its end, False if it would have gone on."""
    for reply in transcript.replies if transcript else ():
        if walk.over:
            return True
        walk.tell(reply.message)
    if transcript is not None and transcript.silent_after:
        while not walk.over:
            walk.tell(SILENCE)
    return walk.over


def outcome_without_end(transcript: Transcript | None) -> tuple[Outcome, str]:
    """Outcome and reason of a unit whose record ends before its walk does."""
    if transcript is not None and transcript.infra_error:
        return "infra_error", transcript.infra_error
    return "unplayed", "the record ends before this profile's walk does"
