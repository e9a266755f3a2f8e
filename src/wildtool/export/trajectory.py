"""What happened in a run, unit by unit: what each model was sent, what came of it, and the verdict.

Requests come from the record, exactly as they were sent. A run imported from a result file holds none; its units are
played again with the replies in it, by the same code that would have asked a model.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from wildtool.engine.record.reader import Asked, Failure, Log, RecordReader, Step
from wildtool.engine.record.segments import find_segments, open_segment
from wildtool.engine.score.score import Judging, judging
from wildtool.errors import InfraError
from wildtool.export import Wanted
from wildtool.types import Benchmark, Item, Message, Reply, Request, Tool, Verdict

_BEGINNING = 4096
"""Bytes of a record that tell it from others: replies have times and latencies."""


@dataclass(frozen=True, slots=True)
class PlayedStep:
    """One model call as it was."""

    role: str
    messages: Sequence[Message]
    tools: Sequence[Tool]
    came: Step | Failure
    time: float
    """When it was recorded, in seconds since 1970; 0 where nobody knows."""


@dataclass(frozen=True, slots=True)
class PlayedUnit:
    """A unit with all its steps, those of other roles too."""

    item: Item
    repeat: int
    steps: tuple[PlayedStep, ...]
    verdict: Verdict


class PlayedRun:
    """A run opened for export. A context manager is not needed: files are open only while units are read."""

    def __init__(self, wanted: Wanted) -> None:
        """Arguments and errors as of `score_run`."""
        self.run: Judging = judging(wanted.folder, profile=wanted.profile, data=wanted.data)
        self._folder: Path = wanted.folder

    @cached_property
    def name(self) -> str:
        """What no other run under any profile is called: it follows from what `run.json` says and from the record."""
        player, about = self.run.player, self.run.about
        beginning = b""
        for segment in find_segments(self._folder)[:1]:
            with open_segment(segment) as record:
                beginning = record.read(_BEGINNING)
        told = f"{player.run}\n{player.profile}\n{about['identity']}\n{about['sittings'][:1]}\n"
        return sha256(told.encode(errors="replace") + beginning).hexdigest()[:22]

    def units(self) -> Iterator[PlayedUnit]:
        """Every unit, in the order of the data; one of which nothing is recorded has no steps."""
        played: str = self.run.about["identity"]["profile"] or self.run.player.profile
        with RecordReader(self._folder) as reader:
            for judged in self.run.items(reader):
                item, repeat = judged.item, judged.repeat
                asked: Mapping[tuple[str, int], Asked] = reader.asked(item.id, repeat)
                if any((unit, n) not in asked for unit, steps in judged.log.items() for n in steps):
                    asked = asked_again(self.run.selection.benchmark, item, judged.log, played) | dict(asked)
                for verdict in judged.verdicts:
                    steps = _steps(verdict.unit, judged.log, asked)
                    yield PlayedUnit(item, repeat, tuple(steps), verdict)


def _steps(unit: str, log: Log, asked: Mapping[tuple[str, int], Asked]) -> Iterator[PlayedStep]:
    for number, came in sorted(log.get(unit, {}).items()):
        request = asked.get((unit, number))
        # A reply that was never asked for: past the end of what its rules would have played.
        if request is not None:
            yield PlayedStep(came.role, request.messages, request.tools, came, request.time)


def asked_again(benchmark: Benchmark, item: Item, log: Log, profile: str) -> dict[tuple[str, int], Asked]:
    """What the steps of an item would have been asked, found by playing it with the replies recorded."""
    asked: dict[tuple[str, int], Asked] = {}
    counts: dict[str, int] = {}

    async def ask(unit: str, request: Request) -> Reply:
        number = counts.get(unit, 0)
        counts[unit] = number + 1
        asked[unit, number] = Asked(list(request.messages), list(request.tools), 0.0)
        came = log.get(unit, {}).get(number)
        if not isinstance(came, Step):
            raise InfraError("end", "the record ends here")
        return came.reply

    asyncio.run(benchmark.play(item, ask, profile, in_order=True))
    return asked
