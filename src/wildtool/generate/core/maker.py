"""A script, which yields requests and is sent replies, played through the engine or gone through again by its record."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeVar, cast

from wildtool.errors import DataError
from wildtool.generate.core.roles import RoleCoroutine
from wildtool.types import Ask, Benchmark, Item, Source, Transcript, Verdict

RECIPE_VERSION = "0.1.0"
"""Part of what identifies a run in which models generate. Raise it only when the same replies would give other
requests or another result (prompts have their own digest): a run with another version does not resume."""


class RoleBenchmark:
    """The part of a benchmark that is the same whatever is made; an item is a planned attempt."""

    modes: Mapping[str, str] = {"roles": "a model for each role"}
    mode = "roles"
    gold_styles: Sequence[str] = ()
    columns: Mapping[str, str] = {}

    def source(self) -> Source:
        """Names everything that its requests follow from, with a digest of it as it is now."""
        raise NotImplementedError

    def locate(self, data: str | None, split: str | None = None) -> Source:
        """Its data: the files of its order, whatever they are called. A run asks at its end whether they changed."""
        return self.source()

    def as_benchmark(self) -> Benchmark:
        """As the engine's plan takes it, which never calls what is not here: gold, audit, data files, results."""
        return cast(Benchmark, self)


Result = TypeVar("Result")


async def play_script(script: RoleCoroutine[Result], unit: str, ask: Ask) -> None:
    """Plays a script to its end: its requests go to the models of their roles."""
    try:
        request = next(script)
        while True:
            reply = await ask(unit, request)
            request = script.send(reply.message)
    except StopIteration:
        return


def replay_script(script: RoleCoroutine[Result], transcript: Transcript) -> Result | None:
    """What a script came to by its recorded replies alone; None where they end before it does."""
    try:
        next(script)
        for reply in transcript.replies:
            script.send(reply.message)
    except StopIteration as stop:
        return cast(Result, stop.value)
    return None


def verdict_of(
    item: Item, unit: str, transcript: Transcript, lost: tuple[str, str] | None, *, finished: bool
) -> Verdict:
    """Whether something came of a script, as the engine counts it.

    Args:
        lost: reason and detail where nothing did.
        over: whether the recorded replies lead to its end.
    """
    steps = len(transcript.replies)
    if not finished:
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


MAX_REPLACEMENT_ROUNDS = 3
"""How often something lost is planned anew at most; of all of them, as often as there are wanted."""


class Replacements:
    """What is planned anew; it follows from what was lost, and that from the record, so that it is the same each time."""

    def __init__(self, wanted: int) -> None:
        """Args: wanted: how much is to be made."""
        self._wanted = wanted
        self.planned: list[tuple[int, int]] = []
        """Number and turn of each, in order; the first plans have turn 0."""

    def plan_missing(self, missing: Sequence[int], turns: Collection[int]) -> bool:
        """Plans each missing one anew; whether there is anything to be played. Nothing is planned after a round of
        which nothing was kept.

        Args:
            missing: numbers of those of which no plan was kept.
            turns: of the plans that were kept.
        """
        last = max((turn for _, turn in self.planned), default=0)
        if last == MAX_REPLACEMENT_ROUNDS or last not in turns:
            return False
        more = [(index, last + 1) for index in missing[: self._wanted - len(self.planned)]]
        self.planned += more
        return bool(more)
