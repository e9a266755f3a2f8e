"""What happened in a run, unit by unit: each request, its result, and the verdict.

Requests come from the record, exactly as they were sent. A run imported from a result file has none; its units are
replayed with the recorded replies to find them.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from wildtool.alter.variant import Variant
from wildtool.engine.record.format import find_segments, open_segment
from wildtool.engine.record.reader import (
    ItemLog,
    LoggedFailure,
    LoggedReply,
    LoggedRequest,
    LogReader,
    transcripts,
)
from wildtool.engine.score.score import JudgingJob, prepare_judging
from wildtool.engine.versions import played_profile
from wildtool.errors import InfraError
from wildtool.export import ExportRequest
from wildtool.types import Item, Message, Reply, Request, Tool, Verdict

_BEGINNING = 4096
"""Bytes of a record that identify it: replies contain times and latencies."""


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """One model call with its result."""

    role: str
    messages: Sequence[Message]
    tools: Sequence[Tool]
    result: LoggedReply | LoggedFailure
    time: float
    """When it was recorded, in seconds since 1970; 0 if unknown."""


@dataclass(frozen=True, slots=True)
class RecordedUnit:
    """A unit with all its steps, including those of other roles."""

    item: Item
    repeat: int
    steps: tuple[RecordedStep, ...]
    verdict: Verdict


class RecordedRun:
    """A run to be exported; its files are open only while units are read."""

    def __init__(self, request: ExportRequest) -> None:
        """Arguments and errors as of `score_run`."""
        self.run: JudgingJob = prepare_judging(request.folder, profile=request.profile, data=request.data)
        self._folder: Path = request.folder

    @cached_property
    def name(self) -> str:
        """A name that no other run and profile has, derived from `run.json` and the record."""
        player, run_json = self.run.run_info, self.run.run_json
        beginning = b""
        for segment in find_segments(self._folder)[:1]:
            with open_segment(segment) as record:
                beginning = record.read(_BEGINNING)
        profile = player.profile_in_run
        identity = f"{player.run}\n{profile}\n{run_json['identity']}\n{run_json['sittings'][:1]}\n"
        return sha256(identity.encode(errors="replace") + beginning).hexdigest()[:22]

    def units(self) -> Iterator[RecordedUnit]:
        """Every unit, in the order of the data; one without a record has no steps."""
        played = played_profile(self.run.variant.benchmark, self.run.run_json["identity"])
        profile = played or self.run.run_info.profile
        with LogReader(self._folder) as reader:
            for judged in self.run.items(reader):
                item, repeat = judged.item, judged.repeat
                requests: Mapping[tuple[str, int], LoggedRequest] = reader.requests(item.id, repeat)
                if any((unit, n) not in requests for unit, steps in judged.log.items() for n in steps):
                    requests = replayed_requests(self.run.variant, item, judged.log, profile) | dict(requests)
                if self.run.variant.in_order:
                    item = self.run.variant.settled(item, transcripts(judged.log), profile)
                for verdict in judged.verdicts:
                    steps = _steps(verdict.unit, judged.log, requests)
                    yield RecordedUnit(item, repeat, tuple(steps), verdict)


def _steps(
    unit: str, log: ItemLog, requests: Mapping[tuple[str, int], LoggedRequest]
) -> Iterator[RecordedStep]:
    for number, came in sorted(log.get(unit, {}).items()):
        request = requests.get((unit, number))
        # A reply without a request is past the end of the episode under these rules.
        if request is not None:
            yield RecordedStep(came.role, request.messages, request.tools, came, request.time)


def replayed_requests(
    variant: Variant, item: Item, log: ItemLog, profile: str
) -> dict[tuple[str, int], LoggedRequest]:
    """The requests of an item, found by replaying it with the recorded replies."""
    requests: dict[tuple[str, int], LoggedRequest] = {}
    counts: dict[str, int] = {}

    async def ask(unit: str, request: Request) -> Reply:
        number = counts.get(unit, 0)
        counts[unit] = number + 1
        requests[unit, number] = LoggedRequest(list(request.messages), list(request.tools), 0.0)
        came = log.get(unit, {}).get(number)
        if not isinstance(came, LoggedReply):
            raise InfraError("end", "the record ends here")
        return came.reply

    asyncio.run(variant.play(item, ask, profile, in_order=True))
    return requests
