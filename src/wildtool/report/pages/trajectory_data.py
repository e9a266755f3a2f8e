"""Data of the trajectories page: indexes of units, items once, and each run's replies, as texts and small numbers.

Output of a model may have any shape, so it is converted to text here and never used as a key.
"""

from base64 import b64encode
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

from wildtool import json_codec
from wildtool.alter.variant import Variant
from wildtool.engine.record.case_labels import CaseKey, CaseReading, labels_of_run
from wildtool.engine.record.reader import ItemLog, LogReader, transcripts
from wildtool.engine.score.judge import safe_judge
from wildtool.engine.score.kept_verdicts import KeptVerdicts
from wildtool.engine.score.label_metrics import LABELS_GROUP, NO_LABEL, labels_by_case
from wildtool.engine.score.number_units import UnitAddress, UnitsOfNumbers
from wildtool.engine.score.score import JudgingJob, prepare_judging
from wildtool.errors import WildtoolError
from wildtool.report.pages.trajectory_calls import links_of_first, recorded_texts, step_numbers
from wildtool.sanitize import strip_folders
from wildtool.trace import Aside, Trace
from wildtool.types import Item, Message, Transcript, Verdict

MAX_REASON_CHARACTERS = 300
"""Characters of a reason kept in the index; the unit itself has the whole text."""
MAX_FILTER_VALUES = 40
"""A column with more distinct values is not offered as a group."""


@dataclass(frozen=True, slots=True)
class UnitRow:
    """One unit of a run."""

    place: int
    """Index of its item."""
    repeat: int
    unit: str
    verdict: Verdict
    """Under the report's profile."""
    verdicts: Mapping[str, Verdict]
    """Under each profile."""
    called: tuple[str, ...]
    """Names of the tools that were called."""
    labels: str = ""
    """Labels that readers gave it; empty where nobody read it."""


def index_of(rows: Sequence[UnitRow], profile: str, own: Mapping[str, str]) -> dict[str, Any]:
    """The columns that lists are filtered by and drawn from. Args: own: the run's own columns with their types."""
    return {
        "place": [row.place for row in rows],
        "repeat": [row.repeat for row in rows],
        "unit": _coded(row.unit for row in rows),
        "outcome": _coded(row.verdict.outcome for row in rows),
        "error": _coded(row.verdict.error or "" for row in rows),
        "score": [round(row.verdict.score, 3) for row in rows],
        "steps": [row.verdict.steps for row in rows],
        "reason": _coded(row.verdict.reason[:MAX_REASON_CHARACTERS] for row in rows),
        "called": _coded(row.called for row in rows),
        "others": [
            [rules, _coded(row.verdicts[rules].outcome for row in rows)]
            for rules in (rows[0].verdicts if rows else ())
            if rules != profile
        ],
        "columns": _columns(rows, own),
    }


def _columns(rows: Sequence[UnitRow], own: Mapping[str, str]) -> list[Any]:
    """The benchmark's own columns that group the units."""
    columns: list[tuple[str, list[Any]]] = [
        (name, [_as_kept(row.verdict.fields.get(name), kind) for row in rows]) for name, kind in own.items()
    ]
    columns.append((LABELS_GROUP, [row.labels or None for row in rows]))
    return [
        [name, _coded("" if value is None else str(value) for value in values)]
        for name, values in columns
        if 1 < len(set(values)) <= MAX_FILTER_VALUES
    ]


def _as_kept(value: Any, kind: str) -> Any:
    """A value as the table of verdicts keeps it. Args: kind: the DuckDB type of its column."""
    return float(value) if kind == "DOUBLE" and value is not None else value


def _coded(values: Iterable[Hashable]) -> dict[str, Any]:
    """A column as its distinct values, and an index into them per row."""
    numbers: dict[Hashable, int] = {}
    coded = [numbers.setdefault(value, len(numbers)) for value in values]
    return {"values": list(numbers), "at": coded}


def numbers_of_rows(found: UnitsOfNumbers, rows: Sequence[UnitAddress]) -> dict[str, Any]:
    """The numbers of a run and which rows of its index are behind each.

    A set of rows is a text in base 64, whose bit n is set if row n is in it. Each is kept once, since many numbers are of
    the same units.

    Args:
        rows: the unit of each row.
    """
    places = {address: place for place, address in enumerate(found.units)}
    order = [places.get(row, len(places)) for row in rows]
    sets: dict[int, int] = {}
    numbers = [
        [number.name, number.formula, number.by_unit, number.lost_first]
        + [sets.setdefault(its, len(sets)) for its in (number.counted, number.adding, number.losing)]
        for number in found.numbers
    ]
    return {"numbers": numbers, "sets": [_base64(its, order) for its in sets]}


def _base64(members: int, order: Sequence[int]) -> str:
    """A set of units as one of rows. Args: order: the unit of each row by its number in the set."""
    bits = f"{members:b}"[::-1]
    bits += "0" * (max(order, default=0) + 1 - len(bits))
    rows = "".join([bits[place] for place in order])
    return b64encode(int(rows[::-1] or "0", 2).to_bytes((len(order) + 7) // 8, "little")).decode()


T = TypeVar("T")
Shard = tuple[str, Any]
"""Its name and its data."""
ITEMS_PER_SHARD = 8
"""Items per shard."""
PROBLEM = "problem"
"""In the index of a run that cannot be shown: why."""
MAX_EXCERPT_CHARACTERS = 200
"""Characters of the last user message kept in the index."""


def set_shards(number: int, folder: Path, profile: str) -> Iterator[Shard]:
    """Writes the items of a run; none if the data are no longer available.

    Args:
        number: of the set of items in the report.
        profile: rules that they are shown under.
    """
    try:
        yield from _set_shards(number, folder, profile)
    except WildtoolError:
        # The runs on them say why.
        yield f"ts-{number}", {"items": [], "size": ITEMS_PER_SHARD}


def _set_shards(number: int, folder: Path, profile: str) -> Iterator[Shard]:
    items = _items(folder, profile)
    index: list[Any] = []
    for at, some in enumerate(_batched(items.all, ITEMS_PER_SHARD)):
        shard: list[Any] = []
        for item in some:
            units = [items.before(item, unit) for unit in item.units]
            shard.append([unit.shown() for unit in units])
            requests = [[_excerpt(unit), [call.name for call in unit.trace.gold]] for unit in units]
            index.append([item.id, item.split, item.lang, list(item.units), requests])
        yield f"ti-{number}-{at}", shard
    yield f"ts-{number}", {"items": index, "size": ITEMS_PER_SHARD}


def run_shards(
    number: int, folder: Path, profile: str, first: Path, numbers: UnitsOfNumbers
) -> Iterator[Shard]:
    """Writes replies and verdicts of a run, its index, and the units behind its numbers; without them, the reason.

    Args:
        number: of the run in the report.
        profile: rules that it is shown under; the verdicts of other profiles are listed too.
        first: a run on the same items; these are read once for all such runs.
        numbers: the units behind its numbers.
    """
    try:
        yield from _run_shards(number, folder, profile, first, numbers)
    except WildtoolError as error:
        yield f"tn-{number}", numbers_of_rows(UnitsOfNumbers(), ())
        yield (
            f"tx-{number}",
            {"starts": [], PROBLEM: strip_folders(str(error)), **index_of((), profile, {})},
        )


def _run_shards(
    number: int, folder: Path, profile: str, first: Path, numbers: UnitsOfNumbers
) -> Iterator[Shard]:
    run, items = prepare_judging(folder, profile=profile), _items(first, profile)
    tables = {rules: KeptVerdicts(folder, run, rules) for rules in run.variant.benchmark.profiles}
    rows: list[UnitRow] = []
    starts: list[int] = []
    labelled = labels_of_run(folder)
    if labelled is not None and labelled.profile != profile:
        labelled = None
    readings = labelled.by_case if labelled is not None else {}
    labels = labels_by_case(labelled) if labelled is not None else {}
    jobs = (
        (place, repeat)
        for repeat in range(run.selection.repeats)
        for place, item in enumerate(items.all)
        if repeat < run.selection.tries_of(item)
    )
    is_first = folder == first
    alone = is_first and run.selection.repeats == 1
    shared_links: Mapping[str, frozenset[str]] = {} if alone else links_of_first(first)
    with LogReader(folder) as reader:
        for at, some in enumerate(_batched(list(jobs), ITEMS_PER_SHARD)):
            starts.append(len(rows))
            shard: list[Any] = []
            recorded: list[Any] = []
            for place, repeat in some:
                item = items.all[place]
                log, chains = reader.log_and_chains(item.id, repeat)
                own = is_first and not repeat
                known = frozenset[str]() if own else shared_links.get(item.id, frozenset[str]())
                texts = recorded_texts(log, chains, item.units, known)
                recorded.append({"place": place, "repeat": repeat, **texts})
                for row, happened in _judged_units(run, tables, log, items, place, repeat):
                    case = CaseKey(items.all[place].id, repeat, row.unit)
                    said = readings.get(case, {})
                    rows.append(replace(row, labels=labels.get(case, "")))
                    shard.append({**happened, "labels": _said(said.values())} if said else happened)
            yield f"tr-{number}-{at}", shard
            yield f"tw-{number}-{at}", recorded
    addresses = [(items.all[row.place].id, row.repeat, row.unit) for row in rows]
    yield f"tn-{number}", numbers_of_rows(numbers, addresses)
    yield f"tx-{number}", {"starts": starts, **index_of(rows, profile, run.variant.columns)}


def _said(readings: Iterable[CaseReading]) -> list[Any]:
    return [[reading.reader, ", ".join(reading.labels) or NO_LABEL, reading.note] for reading in readings]


def _batched(all_: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (all_[at : at + size] for at in range(0, len(all_), size))


# One unit --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Before:
    """A unit before any reply."""

    role: str
    """The role that is asked first."""
    seen: Sequence[Message]
    trace: Trace

    def shown(self) -> dict[str, Any]:
        return {
            "seen": [message_view(message) for message in self.seen],
            "gold": _gold(self.trace),
            "tools": tool_texts(self.trace),
        }


class _Items:
    """The items of a run in order, with the results of each unit."""

    def __init__(self, variant: Variant, items: list[Item], profile: str) -> None:
        self.all = items
        self._variant = variant
        self._profile = profile
        self._known: dict[tuple[str, str], _Before] = {}

    def before(self, item: Item, unit: str) -> _Before:
        unit_start = self._known.get((item.id, unit))
        if unit_start is None:
            request = self._variant.episode(item, unit, self._profile).request()
            trace = self._variant.trace(item, unit, Transcript(()), self._profile)
            unit_start = _Before(
                request.role if request else "agent", request.messages if request else (), trace
            )
            self._known[item.id, unit] = unit_start
        return unit_start


@lru_cache(maxsize=2)
def _items(folder: Path, profile: str) -> _Items:
    run = prepare_judging(folder, profile=profile)
    return _Items(run.variant, [item for item, repeat in run.selection.jobs() if not repeat], profile)


def _judged_units(
    run: JudgingJob,
    tables: Mapping[str, KeptVerdicts],
    log: ItemLog,
    items: _Items,
    place: int,
    repeat: int,
) -> Iterator[tuple[UnitRow, dict[str, Any]]]:
    variant, profile, item = run.variant, run.run_info.profile, items.all[place]
    silent_after: bool = run.run_json["identity"].get("silent_after", False)
    answers = transcripts(log, scripted=silent_after)
    judged: dict[str, list[Verdict]] = {}
    for rules, table in tables.items():
        verdicts = table.of(item, repeat)
        if verdicts is None:
            verdicts = safe_judge(variant, item, answers, rules)[0]
        judged[rules] = [_without_local_paths(verdict) for verdict in verdicts]
    item = variant.settled(item, answers, profile)
    for at, unit in enumerate(item.units):
        verdicts = {rules: each[at] for rules, each in judged.items()}
        ended = verdicts[profile].outcome in ("correct", "wrong")
        trace = variant.trace(item, unit, answers.get(unit, Transcript(())), profile, ended=ended)
        names = dict.fromkeys(name for step in trace.steps for name in called_names(step.reply))
        row = UnitRow(place, repeat, unit, verdicts[profile], verdicts, tuple(names))
        before = items.before(item, unit)
        view = trace_view(trace, verdicts, before.trace, before.seen)
        yield row, {**view, "calls": step_numbers(log.get(unit, {}))}


def _without_local_paths(verdict: Verdict) -> Verdict:
    """A verdict whose reason, if it is the message of a failed call, names no folder of this machine."""
    if verdict.outcome != "infra_error":
        return verdict
    return replace(verdict, reason=strip_folders(verdict.reason))


def trace_view(
    trace: Trace,
    verdicts: Mapping[str, Verdict],
    before: Trace | None = None,
    seen: Sequence[Message] | None = None,
) -> dict[str, Any]:
    """What happened in a unit, as pages show it.

    Args:
        verdicts: by profile.
        before: the unit without replies, where pages have its gold; None gives gold as part of what happened.
        seen: what the first step saw, where pages have that; None gives it as part of what happened.
    """
    steps: list[Any] = []
    for number, step in enumerate(trace.steps):
        first = number == 0 and seen is not None and list(step.seen) == list(seen)
        messages = None if first else [message_view(message) for message in step.seen]
        asides = [_aside_view(aside) for aside in step.asides]
        shown = [step.role, messages, message_view(step.reply), list(step.fulfilled), step.note]
        steps.append([*shown, asides] if asides else shown)
    return {
        "steps": steps,
        "status": [call.status for call in trace.gold],
        "gold": None if before is not None and _same_gold(trace, before) else _gold(trace),
        "differences": [
            [d.where, part_text(d.expected), part_text(d.found), d.rule] for d in trace.differences
        ],
        "verdicts": [
            [rules, verdict.outcome, verdict.error or "", verdict.score, verdict.reason]
            for rules, verdict in verdicts.items()
        ],
    }


def _aside_view(aside: Aside) -> list[Any]:
    return [aside.title[:MAX_REASON_CHARACTERS], aside.text, aside.call, aside.after]


def tool_texts(trace: Trace) -> list[str]:
    """The tools of a unit, as pages show them."""
    return [part_text(tool.get("function", tool)) for tool in trace.tools]


def _gold(trace: Trace) -> list[Any]:
    return [[call.name, _arguments(call.arguments), list(call.deps)] for call in trace.gold]


def _same_gold(trace: Trace, before: Trace) -> bool:
    """Whether pages show the same gold calls of two traces of a unit; mostly these are the very same objects."""
    pairs = list(zip(trace.gold, before.gold, strict=False))
    same = len(trace.gold) == len(before.gold) and all(
        mine.name == its.name and mine.arguments is its.arguments and mine.deps == its.deps
        for mine, its in pairs
    )
    return same or _gold(trace) == _gold(before)


def _arguments(value: Any) -> str | list[list[str]]:
    """The arguments of a gold call one by one, name and value; what is no object as one text."""
    if not isinstance(value, Mapping):
        return part_text(value)
    return [[part_text(name), _value_text(its)] for name, its in cast(Mapping[Any, Any], value).items()]


def _value_text(value: Any) -> str:
    """A value as text; a text that reads like another value has its quotes, such as `"42"`."""
    if not isinstance(value, str):
        return part_text(value) or "null"
    return json_codec.dumps(value).decode() if _reads_otherwise(value) else value


def _reads_otherwise(text: str) -> bool:
    try:
        json_codec.loads(text)
    except (ValueError, RecursionError):
        return not text
    return True


def _excerpt(unit: _Before) -> str:
    """The start of the last user message; if a simulated user speaks first, of its instruction."""
    role = "user" if unit.role == "agent" else "system"
    contents = (message.get("content") for message in reversed(unit.seen) if message.get("role") == role)
    text = next((text for text in contents if isinstance(text, str)), "")
    # Prompts that contain a whole dialogue end with the last message.
    return " ".join(
        (
            text[:MAX_EXCERPT_CHARACTERS]
            if len(text) <= 4 * MAX_EXCERPT_CHARACTERS
            else text[-MAX_EXCERPT_CHARACTERS:]
        ).split()
    )


# Messages and values as text: whatever shape a model gave them, a page can show them, and nothing is lost ---------------

_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")
"""Parts of a message that people read; all except the first are folded."""
_PLAIN = frozenset({"role", "tool_calls", "tool_call_id", "name", "type", *_TEXTS})


def message_view(message: Message) -> list[Any]:
    """Role, text, calls (name, argument text, id), and other parts by name."""
    calls = message.get("tool_calls")
    call_list = cast(list[Any], calls) if isinstance(calls, list) else [] if calls is None else [calls]
    parts = [[key, part_text(message[key])] for key in _TEXTS[1:] if message.get(key) not in (None, "")]
    parts += [
        [key, part_text(value)] for key, value in message.items() if key not in _PLAIN and value is not None
    ]
    role = message.get("role")
    # Lists by position are half as long as objects.
    return [
        role if isinstance(role, str) else "",
        part_text(message.get("content")),
        [_call_view(call) for call in call_list],
        [[part_text(key), text] for key, text in parts],
    ]


def called_names(message: Message) -> Iterator[str]:
    """Names of the calls of a message, where they are texts."""
    calls = message.get("tool_calls")
    for call in cast(list[Any], calls) if isinstance(calls, list) else ():
        name = _function(call).get("name")
        if isinstance(name, str):
            yield name[:200]


def part_text(value: Any) -> str:
    """Text unchanged, None as empty text, anything else as JSON; what JSON cannot express, in Python's
    notation."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        return json_codec.dumps(value).decode()
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        return repr(value)
    except RecursionError:
        return "(nested too deep to be shown)"


def _call_view(call: Any) -> list[str]:
    function = _function(call)
    if "name" not in function and "arguments" not in function:
        return ["", part_text(call), ""]
    return [part_text(function.get("name")), part_text(function.get("arguments")), part_text(call.get("id"))]


def _function(call: Any) -> dict[str, Any]:
    function = cast(dict[str, Any], call).get("function") if isinstance(call, dict) else None
    return cast(dict[str, Any], function) if isinstance(function, dict) else {}
