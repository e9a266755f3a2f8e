"""Plays episodes through an `Ask` and replays them from transcripts: the one loop that every benchmark shares."""

from collections.abc import Mapping

from wildtool.errors import InfraError
from wildtool.types import PROVIDER_CONTENT, Ask, Episode, Message, Outcome, Transcript

EMPTY_REPLY: Message = {"content": "", "tool_calls": None}
"""What a scripted model answers past the end of its script."""
COOPERATIVE = "cooperative 0"
"""How gold answers of the roles besides the agent are given (`Request.gold`)."""


def provider_fields(reply: Message) -> Message:
    """What a message that repeats a reply must carry along for the model's adapter; empty for most replies."""
    return {PROVIDER_CONTENT: reply[PROVIDER_CONTENT]} if reply.get(PROVIDER_CONTENT) is not None else {}


async def play_episodes(episodes: Mapping[str, Episode], ask: Ask, *, in_order: bool = False) -> None:
    """Plays each unit's episode to its end; a unit whose call fails for good ends there, the others go on.

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

    if in_order:
        for unit, episode in episodes.items():
            await play_one(unit, episode)
    else:
        import asyncio  # judging needs none

        async with asyncio.TaskGroup() as group:
            for unit, episode in episodes.items():
                group.create_task(play_one(unit, episode))


def replay(episode: Episode, transcript: Transcript | None) -> bool:
    """Feeds recorded replies to a episode; True if the episode came to its end, False if it would have gone on."""
    for reply in transcript.replies if transcript else ():
        if episode.done:
            return True
        episode.advance(reply.message)
    if transcript is not None and transcript.scripted:
        while not episode.done:
            episode.advance(EMPTY_REPLY)
    return episode.done


def incomplete_outcome(transcript: Transcript | None) -> tuple[Outcome, str]:
    """Outcome and reason of a unit whose record ends before its episode does."""
    if transcript is not None and transcript.infra_error:
        return "infra_error", transcript.infra_error
    return "unplayed", "the record ends before this profile's episode does"
