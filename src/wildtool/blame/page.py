"""One page to read a blame: the tables, and of each unit the record beside a play that ends right."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from wildtool.alter.base import UNDER_TEST
from wildtool.blame.blaming import Blamed, BlamedUnit
from wildtool.blame.report import BlameReport, FailedUnitRow, remarks
from wildtool.blame.trials import trial_words
from wildtool.engine.record.reader import ItemLog, transcripts
from wildtool.engine.score.formatting import format_range, format_share
from wildtool.episode import written_text
from wildtool.json_codec import as_list, as_object, dumps
from wildtool.report.site.site import Site
from wildtool.sanitize import ellipsize
from wildtool.temporary import temporary_folder
from wildtool.trace import TraceStep
from wildtool.types import Message, Transcript

MOST_UNITS = 200
"""Units that are shown; JSON has all."""
LONGEST_MESSAGE = 1_500
"""Of one message."""


@dataclass(frozen=True, slots=True)
class Line:
    """One message of a trajectory."""

    speaker: str
    text: str
    mark: str = ""
    """What a reader should look at here; empty for nothing."""


@dataclass(frozen=True, slots=True)
class ShownPlay:
    """One trajectory of a unit."""

    title: str
    lines: Sequence[Line]


@dataclass(frozen=True, slots=True)
class ShownUnit:
    """One unit on the page."""

    name: str
    row: FailedUnitRow
    plays: Sequence[ShownPlay]


def write_page(report: BlameReport, blamed: Blamed, file: Path) -> Path:
    """Writes the page; its path. Everything in it is in the one file, and what models said stays text."""
    pairs = list(zip(blamed.tried, report.units, strict=True))[:MOST_UNITS]
    with temporary_folder() as parts:
        site = Site(parts, title=f"Whose fault: {report.run}", single=True)
        site.add(
            "blame",
            f"Whose fault was it? {report.run}",
            "blame.html",
            report=report,
            remarks=list(remarks(report)),
            units=[_unit_on_page(blamed, unit, row) for unit, row in pairs],
            left_out=len(report.units) - len(pairs),
            share=format_share,
            span=format_range,
        )
        return site.finish(file)


def _unit_on_page(blamed: Blamed, unit: BlamedUnit, row: FailedUnitRow) -> ShownUnit:
    plays = [ShownPlay("As it was recorded", list(_lines(blamed, unit, unit.failed.log, row)))]
    by = unit.cause.mended_by
    if by is not None and (log := unit.mended_log()):
        title = "Asked again" if not by else f"With the {trial_words(by)}"
        plays.append(ShownPlay(title, list(_lines(blamed, unit, log, None))))
    return ShownUnit(unit.failed.name, row, plays)


def _lines(blamed: Blamed, unit: BlamedUnit, log: ItemLog, row: FailedUnitRow | None) -> Iterator[Line]:
    """The messages of a unit, new ones before each reply. Args: row: of the record, whose turn is marked."""
    failed, setting = unit.failed, blamed.trials.setting
    by = unit.cause.mended_by or frozenset()
    variant = setting.variant if row is not None else setting.without(by)
    its = transcripts(log)
    profile = blamed.trials.job.run_info.profile
    item = variant.settled(failed.item, its, profile)
    trace = variant.trace(item, failed.unit, its.get(failed.unit, Transcript(())), profile)
    for number, step in enumerate(trace.steps):
        yield from _lines_of(step, _mark(number, row))


def _mark(step: int, row: FailedUnitRow | None) -> str:
    if row is None or row.turned is None:
        return ""
    return (
        "here it turned" if step == row.turned else "said before it turned" if step == row.said_before else ""
    )


def _lines_of(step: TraceStep, mark: str) -> Iterator[Line]:
    role = "model" if step.role == UNDER_TEST else step.role
    for message in step.seen:
        yield Line(f"{role} sees {message.get('role', 'a message')}", _text(message))
    yield Line(f"{role} says", _text(step.reply) or "(nothing)", mark)


def _text(message: Message) -> str:
    calls = [as_object(as_object(call).get("function")) for call in as_list(message.get("tool_calls"))]
    call_texts = [f"{call.get('name')}({_arguments(call.get('arguments'))})" for call in calls]
    return ellipsize("\n".join(filter(None, [written_text(message), *call_texts])), LONGEST_MESSAGE)


def _arguments(value: object) -> str:
    return value if isinstance(value, str) else dumps(value).decode("utf-8", "replace")
