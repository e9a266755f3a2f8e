"""Finds the tool format in which the calls of recorded replies are written: `score --tool-format auto`."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from wildtool.engine.plan import SelectedItems
from wildtool.engine.record.reader import LoggedReply, LogReader
from wildtool.engine.score.formatting import counted
from wildtool.engine.score.reading import text_as_received
from wildtool.engine.score.reply_signs import first_tools
from wildtool.engine.score.score import JudgingJob, prepare_judging
from wildtool.errors import UsageError
from wildtool.tool_formats import CALL_FORMATS, CallFormat, ToolCall
from wildtool.tool_formats.any_format import calls_in_text, strangeness
from wildtool.types import Item, Tool

MOST_REPLIES = 200
"""Replies with calls in their text that are read in every format, which takes some milliseconds each."""


@dataclass(frozen=True, slots=True)
class ProbedFormat:
    """The format that reads most calls of a record."""

    format: CallFormat
    calls: int
    """Calls that it reads."""
    of: int
    """Calls that the probed replies make in their texts."""


@dataclass(slots=True)
class _Reads:
    """What one format reads of all replies that were probed."""

    calls: Counter[str] = field(default_factory=Counter[str])
    """Calls by reply, name and arguments."""
    strangeness: list[int] = field(default_factory=lambda: [0, 0])

    @property
    def total(self) -> int:
        return self.calls.total()


def probe_format(
    folder: Path,
    *,
    profile: str | None = None,
    data: str | SelectedItems | None = None,
    label: str | None = None,
) -> ProbedFormat:
    """The format that reads the calls which the recorded replies of a run make in their texts.

    Of formats that read the same calls it is the one whose marks the texts lack least.

    Args:
        label: what errors call the run; None for its folder. The others are as of `score_run`.

    Raises UsageError where no text holds a call, where no format reads one, and where two formats read as many calls, but
    not the same.
    """
    job = prepare_judging(folder, profile=profile, data=data)
    reads: dict[str, _Reads] = defaultdict(_Reads)
    made, place_of_run = 0, label or str(folder)
    with LogReader(folder) as reader:
        texts = islice(_texts_with_calls(job, reader), MOST_REPLIES)
        for place, (text, tools, calls) in enumerate(texts):
            made += len(calls)
            for name in CALL_FORMATS:
                _add(reads[name], place, text, tools, calls, CALL_FORMATS[name])
    if not made and not any(_tools(job, item) for _, (item, _) in job.jobs()):
        raise UsageError(
            f"{place_of_run}: no reply was offered tools, so the benchmark itself reads calls from its texts, and "
            "--tool-format has nothing to read again"
        )
    if not made:
        raise UsageError(
            f"{place_of_run}: no reply has a call in its text, so --tool-format auto finds no format, and nothing is to "
            "be read again (native calls stay as they are)"
        )
    return _best(place_of_run, reads, made)


def _best(run: str, reads: dict[str, _Reads], made: int) -> ProbedFormat:
    most = max(read.total for read in reads.values())
    if not most:
        raise UsageError(
            f"{run}: {counted(made, 'call')} in texts, in none of the formats: {', '.join(CALL_FORMATS)}"
        )
    first = {name: read for name, read in reads.items() if read.total == most}
    name = min(first, key=lambda name: first[name].strangeness)
    others = [other for other, read in first.items() if read.calls != first[name].calls]
    if others:
        raise UsageError(
            f"{run}: {' and '.join([name, *others])} read {counted(most, 'call')} each, but not the same ones; name "
            "one with --tool-format"
        )
    return ProbedFormat(CALL_FORMATS[name], most, made)


def _add(
    reads: _Reads,
    place: int,
    text: str,
    tools: Sequence[Tool],
    calls: Sequence[ToolCall],
    format: CallFormat,
) -> None:
    """Adds what a format reads of a text, as far as it is a call that the reply makes."""
    read = format.read(text, tools)
    made = Counter(map(repr, calls))
    found = made & Counter(map(repr, read.calls))
    reads.calls.update({f"{place} {call}": count for call, count in found.items()})
    if found:
        reads.strangeness = [a + b for a, b in zip(reads.strangeness, strangeness(read), strict=True)]


def _texts_with_calls(
    job: JudgingJob, reader: LogReader
) -> Iterator[tuple[str, Sequence[Tool], Sequence[ToolCall]]]:
    """The texts of replies in which calls are made, with what was offered."""
    for _, (item, repeat) in job.jobs():
        tools = _tools(job, item)
        if not tools:
            continue
        for steps in reader.log(item.id, repeat).values():
            for entry in steps.values():
                if not isinstance(entry, LoggedReply) or entry.role != "agent":
                    continue
                text = text_as_received(entry.reply)
                if text is not None and (calls := calls_in_text(text, tools)):
                    yield text, tools, [ToolCall(call.name, call.arguments) for call in calls]


def _tools(job: JudgingJob, item: Item) -> Sequence[Tool]:
    return first_tools(job.variant, job.run_info.profile, item)
