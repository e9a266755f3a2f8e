"""Mixes training files: validate, remove what benchmarks have too, remove duplicates, split, draw, shuffle."""

import csv
import heapq
import json
from array import array
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from itertools import cycle, islice
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

import orjson

from wildtool import __version__
from wildtool.data.files import file_sha256
from wildtool.engine.score.formatting import counted
from wildtool.errors import DataError, RecordError, UsageError
from wildtool.json_codec import as_object, dumps
from wildtool.outputs import (
    atomic_replace,
    check_file,
    check_folder,
    check_not_input,
    contents_of,
    make_folder,
)
from wildtool.steps import with_steps
from wildtool.temporary import temporary_folder
from wildtool.training.record import RejectedRow
from wildtool_data.prepare.check.rows import RowForm, checked_rows, sound_record
from wildtool_data.prepare.keys import drawn_number, split_of
from wildtool_data.prepare.mix.duplicates import SIMILAR, Clusters
from wildtool_data.prepare.mix.origins import MIX_FILE, origins_file
from wildtool_data.prepare.mix.store import Dedupe, GroupBy, MixStore, Removed, drawing_order
from wildtool_data.prepare.overlap.search import REMOVED_FLAGS, OverlapSearch


def apportion(weights: Sequence[float], limits: Sequence[int], total: int) -> list[int]:
    """Divides `total` rows by weights (Sainte-Laguë); a set gives at most its limit, the others share what is left.

    With a larger total no set gives fewer, so that a smaller mixture is part of a larger one; with largest remainders one
    could. Ties go to the earlier set.
    """
    total_weight = sum(weights)
    counts = [
        min(limit, max(0, int((total - len(weights)) * weight / total_weight))) if total_weight else 0
        for weight, limit in zip(weights, limits, strict=True)
    ]
    most = sum(limit for limit, weight in zip(limits, weights, strict=True) if weight > 0)
    heap = [
        ((count + 0.5) / weight, place)
        for place, (count, weight, limit) in enumerate(zip(counts, weights, limits, strict=True))
        if weight > 0 and count < limit
    ]
    heapq.heapify(heap)
    for _ in range(min(total, most) - sum(counts)):
        _, place = heapq.heappop(heap)
        counts[place] += 1
        if counts[place] < limits[place]:
            heapq.heappush(heap, ((counts[place] + 0.5) / weights[place], place))
    return counts


REJECTS_FILE = "rejects.jsonl"
_WORK = ".mix-"
"""How the names of folders for temporary files begin."""
MAX_COPIES = 4
"""How often a record may occur in a mixture, at most."""
Scheme = Literal["size", "sqrt", "temperature", "weights"]


@dataclass(frozen=True, slots=True)
class MixSet:
    """One set of a mixture."""

    name: str
    path: Path
    weight: float = 1.0
    cap: int | None = None
    """Rows that it gives at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MixPlan:
    """How sets are mixed."""

    sets: tuple[MixSet, ...]
    total: int | None = None
    """Rows of all splits together; None for all that there are."""
    by: Scheme = "size"
    temperature: float = 1.0
    """The share of a set is its size to the power of 1 / temperature."""
    dedupe: Dedupe | None = None
    similar: float = SIMILAR
    splits: Sequence[tuple[str, float]] = (("train", 1.0),)
    """Name and share of each split; the shares add up to 1."""
    group_by: GroupBy = "near"
    seed: str = "1"
    repeat: bool = False
    """Whether a set may be repeated whole where it has too few rows."""

    def weight(self, number: int, rows: int) -> float:
        """The weight of a set that has `rows` rows left."""
        if self.by == "weights":
            return self.sets[number].weight if rows else 0.0
        return rows ** (1 / self.temperature)


@dataclass(slots=True)
class SetCounts:
    """What became of the rows of one set."""

    rows: int = 0
    with_calls: int = 0
    rejected: Counter[str] = field(default_factory=Counter[str])
    """By rule or reason."""
    overlap: Counter[str] = field(default_factory=Counter[str])
    """By flag."""
    duplicates: Counter[str] = field(default_factory=Counter[str])
    """By level."""
    available: int = 0
    wanted: int = 0
    """Rows that its weight asks for."""
    drawn: int = 0
    repeats: int = 0
    """Times that it is repeated beyond the first."""

    def as_json(self) -> dict[str, Any]:
        """All counts by name."""
        # asdict would count the entries of a Counter again.
        fields: dict[str, Any] = {name: getattr(self, name) for name in SetCounts.__slots__}
        return {**fields, **{name: dict(fields[name]) for name in ("rejected", "overlap", "duplicates")}}


@dataclass(frozen=True, slots=True)
class MixResult:
    """A mixture that was written."""

    counts: Mapping[str, SetCounts]
    files: Mapping[str, int]
    """Rows of each file written."""
    form: RowForm
    notes: Sequence[str]
    """What a user should know, in sentences."""


def check_plan(plan: MixPlan) -> None:
    """Raises UsageError for what no mixture can be."""
    if len({source.name for source in plan.sets}) < len(plan.sets):
        raise UsageError("two sets have the same name; write NAME=FILE with a name for each")
    if plan.total is None and plan.by != "size":
        raise UsageError(f"--by {plan.by} needs the number of rows: --total N")
    if not plan.temperature > 0:
        raise UsageError("the temperature must be above 0, such as --by temperature=2")
    if abs(sum(share for _, share in plan.splits) - 1) > 1e-9 or any(share <= 0 for _, share in plan.splits):
        raise UsageError("the shares of --split must be above 0 and add up to 1, such as train=0.95,val=0.05")
    if len({name for name, _ in plan.splits}) < len(plan.splits):
        raise UsageError("--split names a split twice")
    if plan.by == "weights" and any(source.weight <= 0 for source in plan.sets):
        raise UsageError("weights must be above 0, such as NAME=FILE:2")


def write_mix(
    plan: MixPlan,
    folder: Path,
    *,
    search: OverlapSearch | None,
    audit: Path | None = None,
    force: bool = False,
) -> MixResult:
    """Writes a mixture into a folder: a file per split, `mix.json`, and the rows that were rejected.

    Args:
        search: benchmarks whose texts must not be in the mixture; None does not look.
        audit: file that gets a line for each duplicate left out.

    Raises:
        DataError: a file cannot be read, or holds no row.
        UsageError: the plan is impossible, a set would be overwritten, or the folder holds other things.
    """
    check_plan(plan)
    check_folder(folder, is_mix, force=force)
    names = [*(f"{name}.jsonl" for name, _ in plan.splits), MIX_FILE, REJECTS_FILE]
    for path in (*(folder / name for name in names), *([audit] if audit else [])):
        check_not_input(path, [source.path for source in plan.sets])
    if audit is not None:
        check_file(audit, force=force)
    make_folder(folder)
    with ExitStack() as stack:
        stack.enter_context(_locked(folder))
        work = stack.enter_context(temporary_folder(folder))
        groups_near = len(plan.splits) > 1 and plan.group_by == "near"
        store = MixStore(
            work,
            prompts=plan.dedupe == "prompt",
            near=plan.dedupe == "near" or groups_near,
            tools=len(plan.splits) > 1 and plan.group_by == "tools",
        )
        counts, form, digests = _read_sets(plan, store, search, folder)
        store.number_equals()
        records, groups = _deduplicate(plan, store, counts, groups_near, audit)
        order = drawing_order(store, plan.seed, records)
        drawn = _draw(plan, counts, order)
        splits: dict[str, list[int]] = {name: [] for name, _ in plan.splits}
        for record in drawn:
            name = split_of(plan.seed, groups(record), plan.splits) if groups else plan.splits[0][0]
            splits[name].append(record)
        if not (folder / MIX_FILE).exists():
            # A later mixture recognises the folder by this file, even if this process is killed.
            _write_json(folder / MIX_FILE, {"mix": "unfinished"})
        files = {
            f"{name}.jsonl": _write_split(plan, store, drawn_records, folder / f"{name}.jsonl")
            for name, drawn_records in splits.items()
        }
        notes = _notes(plan, counts, files)
        _write_manifest(plan, folder, counts, digests, files, search, form)
        return MixResult(counts, {name: entry["rows"] for name, entry in files.items()}, form, notes)


def is_mix(folder: Path) -> bool:
    """Whether a folder holds a mixture, or what a mixture that was stopped left."""
    if set(contents_of(folder)) <= {"lock", REJECTS_FILE}:
        return True
    try:
        return "mix" in as_object(json.loads((folder / MIX_FILE).read_bytes()))
    except (OSError, ValueError, RecursionError):
        return False


@contextmanager
def _locked(folder: Path) -> Generator[None]:
    """Keeps other processes from writing a mixture into the folder. Raises RecordError if one does."""
    import fcntl

    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RecordError(
                f"{folder}: another wildtool is writing a mixture there; wait for it, or use another --out"
            ) from None
        yield


def _read_sets(
    plan: MixPlan,
    store: MixStore,
    search: OverlapSearch | None,
    folder: Path,
) -> tuple[dict[str, SetCounts], RowForm, dict[str, str]]:
    counts: dict[str, SetCounts] = {}
    digests: dict[str, str] = {}
    forms: dict[RowForm, str] = {}
    kinds: dict[str, str] = {}
    with atomic_replace(folder / REJECTS_FILE) as new, new.open("wb") as rejects:
        for number, source in enumerate(plan.sets):
            count = counts[source.name] = SetCounts()
            form, rows = checked_rows(source.path)
            forms.setdefault(form, source.name)
            for row in with_steps(f"reading {source.name}", rows, attrgetter("number")):
                count.rows += 1
                record = sound_record(row, form)
                if isinstance(record, RejectedRow):
                    count.rejected[record.reason] += 1
                    position = {"set": source.name, "file": str(source.path), "row": row.number}
                    reject = {**position, "reason": record.reason, "detail": record.detail[:300]}
                    rejects.write(dumps(reject) + b"\n")
                    continue
                kinds.setdefault(record.kind, f"{source.path}:{row.number}")
                flag = search.look(record) if search else "clean"
                if flag in REMOVED_FLAGS:
                    count.overlap[flag] += 1
                    continue
                count.with_calls += bool(record.calls)
                store.add(dumps(row.value), record, number, row.number)
            digests[source.name] = file_sha256(source.path)
    if len(forms) > 1:
        names = ", ".join(f"{name} ({form})" for form, name in forms.items())
        raise DataError(f"sets of two forms cannot be in one file: {names}; convert them to one form first")
    if len(kinds) > 1:
        places = "; ".join(f"{kind}: {place}" for kind, place in kinds.items())
        raise DataError(
            f"conversations and preference pairs cannot be in one file ({places}); mix them apart"
        )
    if not len(store):
        raise DataError("no record is left to mix; see " + str(folder / REJECTS_FILE))
    return counts, next(iter(forms)), digests


def _deduplicate(
    plan: MixPlan, store: MixStore, counts: Mapping[str, SetCounts], groups_near: bool, audit: Path | None
) -> tuple[list[int], Callable[[int], str] | None]:
    """The records that stay, and what names the group of each; None without splits."""
    clusters = Clusters(len(store))
    records = list(range(len(store)))
    if plan.dedupe:
        removed = list(store.duplicates(clusters, plan.dedupe, plan.similar))
        gone = {record for record, _, _ in removed}
        records = [record for record in records if record not in gone]
        for record, _, pair in removed:
            counts[plan.sets[store.sets[record]].name].duplicates[pair.rule] += 1
        if audit is not None:
            _write_audit(audit, plan, store, removed)
    if groups_near and plan.dedupe != "near":
        for _ in store.duplicates(clusters, "near", plan.similar):
            pass
    if len(plan.splits) == 1:
        return records, None
    return records, store.groups(clusters, plan.group_by)


def _write_audit(
    audit: Path, plan: MixPlan, store: MixStore, removed: Sequence[tuple[int, int, Removed]]
) -> None:
    def place(record: int) -> str:
        return f"{plan.sets[store.sets[record]].name}:{store.rows[record]}"

    with atomic_replace(audit) as new, new.open("wb") as file:
        for record, first, pair in removed:
            other = pair.kept if pair.removed == record else pair.removed
            entry = {"kept": place(first), "removed": place(record), "rule": pair.rule}
            file.write(dumps({**entry, "index": round(pair.similarity, 6), "like": place(other)}) + b"\n")


def _draw(plan: MixPlan, counts: Mapping[str, SetCounts], order: Mapping[int, list[int]]) -> list[int]:
    """The records of the mixture; one that is repeated comes again."""
    have = [len(order.get(number, ())) for number in range(len(plan.sets))]
    times = MAX_COPIES if plan.repeat else 1
    limits = [
        rows * times if source.cap is None else min(rows * times, source.cap)
        for rows, source in zip(have, plan.sets, strict=True)
    ]
    total = sum(map(min, limits, have)) if plan.total is None else plan.total
    weights = [plan.weight(number, rows) for number, rows in enumerate(have)]
    shares = apportion(weights, [total] * len(weights), total)
    drawn: list[int] = []
    for number, (source, count) in enumerate(zip(plan.sets, apportion(weights, limits, total), strict=True)):
        of_set = counts[source.name]
        of_set.available, of_set.wanted, of_set.drawn = have[number], shares[number], count
        of_set.repeats = (count - 1) // have[number] if count else 0
        drawn += islice(cycle(order.get(number, ())), count)
    return drawn


def _write_split(plan: MixPlan, store: MixStore, records: Sequence[int], target: Path) -> dict[str, Any]:
    """Writes the records of a split, shuffled, and where each is from; one that comes again has its own place each
    time."""
    times: Counter[int] = Counter()
    numbers = array("Q")
    for record in records:
        times[record] += 1
        numbers.append(drawn_number(plan.seed, f"order{store.key(record)}/{times[record]}"))
    by_set: Counter[int] = Counter()
    with atomic_replace(target) as new, atomic_replace(origins_file(target)) as origins_path:
        with new.open("wb") as file, origins_path.open("w", encoding="utf-8", newline="") as table:
            origins = csv.writer(table, lineterminator="\n")
            origins.writerow(("set", "row"))
            for place in sorted(range(len(records)), key=numbers.__getitem__):
                record = records[place]
                by_set[store.sets[record]] += 1
                file.write(store.line(record) + b"\n")
                origins.writerow((plan.sets[store.sets[record]].name, store.rows[record]))
        digest = file_sha256(new)
    sets = {source.name: by_set[number] for number, source in enumerate(plan.sets)}
    return {"rows": len(records), "sha256": digest, "sets": sets}


def _write_manifest(
    plan: MixPlan,
    folder: Path,
    counts: Mapping[str, SetCounts],
    digests: Mapping[str, str],
    files: Mapping[str, Any],
    search: OverlapSearch | None,
    form: RowForm,
) -> None:
    sets = {
        source.name: {
            "file": str(source.path),
            "sha256": digests[source.name],
            "weight": source.weight,
            "cap": source.cap,
            **counts[source.name].as_json(),
        }
        for source in plan.sets
    }
    settings = {key: value for key, value in asdict(plan).items() if key != "sets"}
    manifest = {
        "wildtool": __version__,
        "mix": 1,
        "form": form,
        "settings": settings,
        "benchmarks": None if search is None else [result.benchmark for result in search.results],
        "sets": sets,
        "files": files,
    }
    _write_json(folder / MIX_FILE, manifest)


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    with atomic_replace(path) as new:
        new.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n")


def _notes(plan: MixPlan, counts: Mapping[str, SetCounts], files: Mapping[str, Any]) -> list[str]:
    notes: list[str] = []
    for name, count in counts.items():
        if not count.with_calls and count.available:
            notes.append(f"{name}: no tool calls in this set")
        if count.drawn < count.wanted:
            notes.append(
                f"{name}: {counted(count.drawn, 'row')} instead of {count.wanted:,}: it has no more, or its --cap is "
                "reached"
            )
        if count.repeats:
            notes.append(f"{name}: repeated {counted(count.repeats, 'time')}")
    drawn = sum(of_set.drawn for of_set in counts.values())
    if plan.total is not None and drawn < plan.total:
        notes.append(f"{counted(drawn, 'row')} instead of the {plan.total:,} of --total: there are no more")
    notes += [f"{name}: no record fell into this split" for name, entry in files.items() if not entry["rows"]]
    return notes
