"""A script, which yields requests and is sent replies, played through the engine or gone through again by its record."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar, cast

from wildtool.errors import DataError
from wildtool.generate.role_talk import Talk
from wildtool.types import Ask, Item, Transcript, Verdict

Result = TypeVar("Result")


async def play_script(making: Talk[Result], unit: str, ask: Ask) -> None:
    """Plays a script to its end: its requests go to the models of their roles."""
    try:
        request = next(making)
        while True:
            reply = await ask(unit, request)
            request = making.send(reply.message)
    except StopIteration:
        return


def replay_script(making: Talk[Result], transcript: Transcript) -> Result | None:
    """What a script came to by its recorded replies alone; None where they end before it does."""
    try:
        next(making)
        for reply in transcript.replies:
            making.send(reply.message)
    except StopIteration as stop:
        return cast(Result, stop.value)
    return None


def verdict_of(
    item: Item, unit: str, transcript: Transcript, lost: tuple[str, str] | None, *, over: bool
) -> Verdict:
    """Whether something came of a script, as the engine counts it.

    Args:
        lost: reason and detail where nothing did.
        over: whether the recorded replies lead to its end.
    """
    steps = len(transcript.replies)
    if not over:
        outcome = "infra_error" if transcript.infra_error else "unplayed"
        reason = transcript.infra_error or "it is not played to its end"
        return Verdict(item.id, unit, outcome, 0.0, outcome, reason, steps)
    if lost is None:
        return Verdict(item.id, unit, "correct", 1.0, None, "breaks no rule", steps)
    return Verdict(item.id, unit, "wrong", 0.0, lost[0], lost[1], steps)


def file_digests(files: Sequence[Path]) -> list[str]:
    """SHA-256 of each file. Raises DataError where one cannot be read."""
    found: list[str] = []
    for path in files:
        try:
            found.append(hashlib.sha256(path.read_bytes()).hexdigest())
        except OSError as error:
            raise DataError(f"cannot read {path}: {error.strerror}") from error
    return found


def transcript_of(transcripts: Mapping[str, Transcript], unit: str) -> Transcript:
    """What is recorded of the one unit of a script."""
    return transcripts.get(unit, Transcript(()))
