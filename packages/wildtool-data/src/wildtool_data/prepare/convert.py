"""Converts files of training data from one layout into the form of a trainer, a record at a time."""

import hashlib
import resource
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from wildtool.children import safe_paths
from wildtool.errors import UsageError
from wildtool.training.files import FileRow, RawRow, parse_row, raw_rows
from wildtool.training.readers.data_sets import DATA_SETS, PublicSet
from wildtool.training.readers.options import DEFAULT_OPTIONS, ReadOptions
from wildtool.training.reading import DETECT, chosen_set, read_row, sampled_rows
from wildtool.training.record import TOO_DEEP, RejectedRow, RowError, TrainingRecord, up_to_replies
from wildtool.training.writers.openai import EARLIER_REPLIES
from wildtool.training.writers.options import DEFAULT_WRITING, WriteOptions
from wildtool.workers import start_worker, starting_workers
from wildtool_data.prepare.lines import training_line
from wildtool_data.prepare.reach import reach
from wildtool_data.prepare.safe_names import with_safe_names
from wildtool_data.prepare.writers.forms import TrainingForm


def beginnings(records: Iterable[TrainingRecord]) -> set[bytes]:
    """A digest of every proper beginning of each record's turns."""
    digests: set[bytes] = set()
    for record in records:
        *shorter, _ = _digests(record)
        digests.update(shorter)
    return digests


def whole_digest(record: TrainingRecord) -> bytes:
    """The digest of all turns of a record."""
    *_, digest = _digests(record)
    return digest


def _digests(record: TrainingRecord) -> Iterator[bytes]:
    digest = hashlib.blake2b(digest_size=8)
    for turn in record.turns:
        digest.update(repr(turn).encode("utf-8", "surrogatepass"))
        yield digest.digest()


_ALONE = 4000
"""Rows of a file that are converted before others help."""
_SHOWN = 3
"""Records of a guessed layout that are shown."""
_BATCH = 250
"""Rows that a process gets at once."""
_STEPWISE = frozenset({"toolbench"})
"""Sets with a record for every step of a solution, each with all steps before it."""
_UNLISTED = ("prefix", "near")
"""Reasons of rows that are counted and not listed: nothing is wrong with them."""
MAX_SHOWN_TYPES = 20
BY_REPLY = "by-reply"
"""Rows that end with the reply to learn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """What is converted, and how."""

    files: tuple[Path, ...]
    form: TrainingForm
    data_set: str = DETECT
    reading: ReadOptions = DEFAULT_OPTIONS
    writing: WriteOptions = DEFAULT_WRITING
    safe_names: bool = False
    all_prefixes: bool = False
    """Whether step records that another one contains are kept."""
    least_reach: int = 0
    """Turns back from which a record must need a value (`training.reach`); 0 for every record."""
    by_reply: bool = False
    """Whether each reply to learn ends a row, for trainers that learn all replies of a row or the last one alone."""
    rows: Callable[[Path], Iterator[RawRow]] = raw_rows
    """Gives the rows of each of `files`."""
    row_notes: Counter[str] = field(default_factory=Counter[str])
    """What `rows` has to say, counted while they are read."""
    processes: int = 1
    """How many processes convert a large file."""


@dataclass(slots=True)
class ConversionSummary:
    """What became of the rows."""

    rows: int = 0
    written: int = 0
    data_sets: list[str] = field(default_factory=list[str])
    """The set of each file."""
    rejected: Counter[str] = field(default_factory=Counter[str])
    """Rows left out, by reason."""
    repaired: Counter[str] = field(default_factory=Counter[str])
    """Records repaired, by repair."""
    unread: Counter[str] = field(default_factory=Counter[str])
    """What was left out when rows of other shapes were read: in how many records, by name. Also in `lost`."""
    lost: Counter[str] = field(default_factory=Counter[str])
    """Records with something that the form has no place for, by what it is."""
    unknown_types: Counter[str] = field(default_factory=Counter[str])
    """Words for types that no rule knows."""
    calls: Counter[str] = field(default_factory=Counter[str])
    """Records with `0`, `1`, `2` or `more` calls."""
    notes: Counter[str] = field(default_factory=Counter[str])
    """Remarks of the readers, by name."""
    renamed: dict[str, str] = field(default_factory=dict[str, str])
    """Old name of each new one."""
    unlearned: int = 0
    """Assistant messages with weight 0."""
    kind: str = ""
    """The kind of the records written."""
    samples: list[str] = field(default_factory=list[str])
    """The first lines of a set whose layout is partly guessed."""

    def add(self, other: "ConversionSummary") -> None:
        """Adds what became of further rows of the same files."""
        self.rows += other.rows
        self.written += other.written
        self.unlearned += other.unlearned
        self.kind = self.kind or other.kind
        self.renamed |= other.renamed
        for name in ("rejected", "repaired", "unread", "lost", "unknown_types", "calls", "notes"):
            getattr(self, name).update(getattr(other, name))

    @property
    def left_out(self) -> int:
        """Rows that are not in the output."""
        return self.rejected.total()

    @property
    def refused(self) -> int:
        """Rows left out that could not be written; others were not asked for, or are contained in a longer record."""
        return self.left_out - sum(self.rejected[reason] for reason in _UNLISTED)


class Converter:
    """Converts once; `lines` gives the output, and `summary` what became of the rows."""

    def __init__(self, conversion: Conversion, reject: Callable[[RejectedRow], None]) -> None:
        """
        Args:
            reject: gets every row that is left out but was asked for, step records that others contain excepted.
        """
        self._conversion = conversion
        self._reject = reject
        self.summary = ConversionSummary()

    def lines(self) -> Iterator[bytes]:
        """The lines of the output in the order of the input, several at once.

        Raises:
            DataError: a file cannot be read, holds no row, or its set is not recognised.
            UsageError: the form cannot hold the records.
        """
        for path in self._conversion.files:
            data_set, rows = self._open(path)
            self.summary.data_sets.append(data_set.name)
            # A small file is converted before other processes have started.
            yield from self.convert(data_set, str(path), islice(rows, _ALONE))
            together = self._conversion.processes > 1 and not self._drops_prefixes and not _is_limited()
            # Others must know of what kind the first record was.
            if together and self.summary.kind:
                yield from self._convert_together(data_set, str(path), rows)
            else:
                yield from self.convert(data_set, str(path), rows)
        self.summary.notes.update(self._conversion.row_notes)
        if self._conversion.by_reply:
            self.summary.notes[BY_REPLY] = self.summary.written

    def convert(self, data_set: PublicSet, source: str, rows: Iterable[RawRow]) -> Iterator[bytes]:
        """The lines of some rows."""
        for raw in rows:
            self.summary.rows += 1
            row = parse_row(raw)
            read = read_row(row, data_set, source, self._conversion.reading)
            if isinstance(read, RejectedRow):
                self._left_out(read)
                continue
            for record in up_to_replies(read) if self._conversion.by_reply else (read,):
                if (line := self._line(record, row)) is not None:
                    yield line

    def _convert_together(self, data_set: PublicSet, source: str, rows: Iterator[RawRow]) -> Iterator[bytes]:
        """The lines of a file's rows, converted by several processes."""
        workers = self._conversion.processes
        with safe_paths():
            pool = ProcessPoolExecutor(workers, initializer=start_worker)
        with pool:
            running: deque[Future[_Part]] = deque()
            try:
                while True:
                    while len(running) <= 2 * workers and (batch := list(islice(rows, _BATCH))):
                        work = (self._conversion, data_set.name, source, batch, self.summary.kind)
                        with safe_paths(), starting_workers():  # it starts a process where all have work
                            running.append(pool.submit(_convert_batch, *work))
                    if not running:
                        return
                    outcome = running.popleft().result()
                    self.summary.add(outcome.summary)
                    for row in outcome.rejects:
                        self._reject(row)
                    yield outcome.lines
            finally:
                pool.shutdown(cancel_futures=True)

    @property
    def _drops_prefixes(self) -> bool:
        return self.summary.data_sets[-1] in _STEPWISE and not self._conversion.all_prefixes

    @cached_property
    def _contained(self) -> set[bytes]:
        """The beginnings of all step records."""
        reading, files = self._conversion.reading, self._conversion.files
        opened = ((path, *self._open(path)) for path in files)
        records = (
            read_row(parse_row(row), layout, str(path), reading)
            for path, layout, rows in opened
            for row in rows
        )
        return beginnings(record for record in records if isinstance(record, TrainingRecord))

    def _open(self, path: Path) -> tuple[PublicSet, Iterator[RawRow]]:
        sample, rows = sampled_rows(path, self._conversion.rows(path))
        return chosen_set(path, self._conversion.data_set, list(map(parse_row, sample))), rows

    def _left_out(self, row: RejectedRow) -> None:
        self.summary.rejected[row.reason] += 1
        if row.reason not in _UNLISTED:
            self._reject(row)

    def _line(self, record: TrainingRecord, row: FileRow) -> bytes | None:
        conversion, summary = self._conversion, self.summary
        reason = self._refusal(record)
        if reason is None:
            if conversion.safe_names:
                record = with_safe_names(record)
            try:
                line = training_line(conversion.form.write(record, conversion.writing))
            except RowError as error:
                reason = error
            except (RecursionError, ValueError):
                reason = RowError("unreadable-line", TOO_DEEP)
            else:
                self._count(record)
                summary.written += 1
                if len(summary.samples) < _SHOWN and DATA_SETS[summary.data_sets[-1]].is_guessed:
                    summary.samples.append(line.decode())
                return line
        return self._left_out(reason.rejected(record.source, record.row, row.value))

    def _refusal(self, record: TrainingRecord) -> RowError | None:
        """Why a record is left out. Raises UsageError if the form cannot hold any of its kind."""
        form, summary = self._conversion.form, self.summary
        if record.kind not in form.kinds:
            if record.kind == "tools":
                raise UsageError(
                    f"{record.source} holds tools and no conversations: write them with --to tools, and make"
                    " conversations with `wildtool generate --tools FILE`"
                )
            raise UsageError(
                f"{record.source} holds pairs, which this form has no place for; use another --to"
            )
        summary.kind = summary.kind or record.kind
        if record.kind != summary.kind:
            return RowError("other-kind", f"{record.kind} among records of kind {summary.kind}")
        if self._drops_prefixes and whole_digest(record) in self._contained:
            return RowError("prefix", "contained in a longer record")
        if self._conversion.by_reply and not any(reply.learned for reply in record.replies):
            return RowError("nothing-to-learn", "every reply has weight 0")
        if self._conversion.least_reach and reach(record) < self._conversion.least_reach:
            return RowError("near", "")
        return None

    def _count(self, record: TrainingRecord) -> None:
        summary, writing = self.summary, self._conversion.writing
        for counter, names in (
            (summary.repaired, record.repairs),
            (summary.notes, record.notes),
            (summary.unknown_types, record.unknown_types),
        ):
            for name in names:
                counter[name] += 1
        summary.renamed.update(record.renamed)
        count = 0
        for reply in record.replies:
            count += len(reply.calls)
            summary.unlearned += not reply.learned
        summary.calls[str(count) if count < 3 else "more"] += 1
        for name in record.lost:
            summary.unread[name] += 1
            summary.lost[name] += 1
        if not writing.lossless:
            self._count_losses(record)

    def _count_losses(self, record: TrainingRecord) -> None:
        counter = self.summary.lost
        for name in self._conversion.form.lost(record, self._conversion.writing):
            # Of rows that end with the reply to learn, the others are in rows of their own.
            if not (self._conversion.by_reply and name == EARLIER_REPLIES):
                counter[name] += 1
        for name in record.columns:
            counter[f"column {name}"] += 1
        if record.given_tools is not None:
            counter["further keys of tools"] += 1


def _is_limited() -> bool:
    """Whether memory is limited for each process (`ulimit -v`): a pool that gets none for its threads waits for ever."""
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


@dataclass(frozen=True, slots=True)
class _Part:
    """What one process gives for a batch of rows."""

    lines: bytes
    summary: ConversionSummary
    rejects: list[RejectedRow]


def _convert_batch(
    conversion: Conversion, data_set: str, source: str, rows: list[RawRow], kind: str
) -> _Part:
    """Converts some rows of a file; runs in a separate process."""
    rejects: list[RejectedRow] = []
    converter = Converter(conversion, rejects.append)
    converter.summary.kind = kind
    converter.summary.data_sets.append(data_set)
    lines = b"".join(converter.convert(DATA_SETS[data_set], source, rows))
    return _Part(lines, converter.summary, rejects)


def summary_fields(summary: ConversionSummary) -> dict[str, Any]:
    """A summary for programs."""
    return {
        "sets": list(dict.fromkeys(summary.data_sets)),
        "rows": summary.rows,
        "written": summary.written,
        "left_out": summary.left_out,
        "rejected": dict(summary.rejected.most_common()),
        "repaired": dict(summary.repaired.most_common()),
        "not_expressed": dict(summary.lost.most_common()),
        "unknown_types": dict(summary.unknown_types.most_common(MAX_SHOWN_TYPES)),
        "calls": {name: summary.calls[name] for name in ("0", "1", "2", "more")},
        "notes": dict(summary.notes.most_common()),
        "renamed": summary.renamed,
    }
