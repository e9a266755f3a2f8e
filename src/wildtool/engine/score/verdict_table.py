"""Verdict rows: one tidy table (Parquet), from which every number, plot and comparison is computed.

Rows are streamed to a file of JSON lines while items finish, then written as Parquet in the order of the
data. Texts in the table are for reading: surrogates are replaced and very long texts cut; the record keeps
everything as it came.
"""

import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, cast

import orjson

from wildtool.alter.variant import Variant
from wildtool.benchmark import VERDICT_COLUMNS
from wildtool.engine.record.format import Closing
from wildtool.engine.record.reader import ItemLog, LoggedFailure, LoggedReply
from wildtool.engine.sampling import DrawnItems
from wildtool.engine.score.reply_signs import TOKEN_LIMIT, UNREAD, call_signs, first_tools, unit_signs
from wildtool.engine.score.table_stamp import STAMP_KEY, TableStamp, seal_table, stamp_text
from wildtool.errors import RecordError, StorageError
from wildtool.interrupts import uninterrupted
from wildtool.json_codec import portable, replace_surrogates
from wildtool.models.token_usage import counted_tokens
from wildtool.outputs import remove_keys, sync_folder
from wildtool.stats.metrics import SAMPLE_WEIGHT, sql_name, sql_text
from wildtool.temporary import folder_until_exit, temporary_folder
from wildtool.types import REPAIR_CHANGE, Item, Reply, Tool, Verdict

if TYPE_CHECKING:
    import duckdb

_PATTERN = re.compile("[*?[\\\\\ud800-\udfff]")
"""What makes the database take a path for a pattern of several, or that it cannot take at all."""
_PLACES = ("/tmp", "/var/tmp", "/dev/shm")


def sql_path(path: Path) -> str:
    """A file by a name that the database takes for this one file and nothing else.

    The database takes `*`, `?` and `[` for patterns that match other files too, and has no sound way to escape them;
    nor does it take names that are no UTF-8. Such a file is named by a link to its folder, which goes when the process
    ends.
    """
    place = path.absolute()
    if not _PATTERN.search(str(place)):
        return str(place)
    return str(_linked(place) if _PATTERN.search(place.name) else _linked(place.parent) / place.name)


@cache
def _linked(place: Path) -> Path:
    """A link to a file or folder, by a plain name."""
    link = Path(tempfile.mkdtemp(dir=_links()), "link")
    link.symlink_to(place)
    return link


@cache
def _links() -> Path:
    for place in (tempfile.gettempdir(), *_PLACES):
        if not _PATTERN.search(place) and os.access(place, os.W_OK):
            return folder_until_exit("links", Path(place))
    raise RecordError(
        f"{tempfile.gettempdir()}: files of names with * ? [ or \\ are read through links in a folder of temporary files,"
        " whose own name may have none of these; name another by TMPDIR"
    )


_LONGEST = 100_000
"""Characters kept of a text in the table."""
_PLACE, _PLACE_BITS = "place in the data", 20
"""Column by which rows are sorted: the order of their item and, in this many bits, their own among its rows."""


@dataclass(frozen=True, slots=True)
class OutcomeCounts:
    """How many units came to which outcome."""

    correct: int = 0
    wrong: int = 0
    infra_error: int = 0
    unplayed: int = 0

    @property
    def units(self) -> int:
        return self.correct + self.wrong + self.infra_error + self.unplayed


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """Who played: the columns that all rows of one model in one run share."""

    run: str
    model: str
    benchmark: str
    profile: str
    profile_in_run: str = ""
    """What the run calls the profile, where that is not its name of today (`engine.versions`)."""


@cache
def _run_columns(run_info: RunInfo) -> Mapping[str, str]:
    """The columns that all rows share; made for each row they would take a fifth of its time."""
    columns = asdict(run_info)
    columns["profile"] = columns.pop("profile_in_run") or columns["profile"]
    return columns


def verdicts_path(folder: Path, profile: str) -> Path:
    """The file of the verdicts of a run under a profile. Args: profile: as the run names it (`engine.versions`)."""
    return folder / f"verdicts-{profile}.parquet"


class VerdictTable(Closing):
    """Collects verdict rows on disk and writes them as one Parquet file. A context manager."""

    def __init__(
        self,
        path: Path,
        variant: Variant,
        drawn: DrawnItems | None = None,
        *,
        read_again: bool = False,
        imported: bool = False,
    ) -> None:
        """Args:
        drawn: the sample that the items are; None for none.
        read_again: whether replies were read in another tool format. How a unit begins is then told of those, too, that
            are unplayed since a call was found which nobody answered.
        imported: whether the replies came from elsewhere, without the bodies of answers.
        """
        self.path = path
        self._told_how_begun = ("correct", "wrong", "unplayed") if read_again else ("correct", "wrong")
        self._imported = imported
        self._weights = drawn.weights if drawn is not None and drawn.weighted else None
        weight = {} if self._weights is None else {SAMPLE_WEIGHT: "DOUBLE"}
        self._types = {**VERDICT_COLUMNS, **variant.columns, **weight, "detail": "VARCHAR"}
        self._own = tuple(variant.columns)
        self._variant = variant
        self._offered: tuple[Item | None, Callable[[], Sequence[Tool]]] = None, tuple
        """The last item, and what gives the tools that it offers."""
        self._outcomes: Counter[str] = Counter()
        try:
            # Nameless, since other processes may read the run folder meanwhile.
            self._file = TemporaryFile(dir=path.parent)  # noqa: SIM115 - closed by __exit__
        except OSError as error:
            raise self._storage_error(error) from error

    def add(
        self,
        order: int,
        run_info: RunInfo,
        item: Item,
        repeat: int,
        verdicts: Sequence[Verdict],
        log: ItemLog,
    ) -> None:
        """Adds the verdicts of one item; `order` is its place in the table."""
        rows = self.rows(order, run_info, item, repeat, verdicts, log)
        self.append(rows, Counter([verdict.outcome for verdict in verdicts]))

    def append(self, rows: bytes, outcomes: Mapping[str, int]) -> None:
        """Adds rows that `rows` gave, here or in a copy of this process."""
        self._outcomes.update(outcomes)
        try:
            self._file.write(rows)
        except OSError as error:
            raise self._storage_error(error) from error

    def rows(
        self,
        order: int,
        run_info: RunInfo,
        item: Item,
        repeat: int,
        verdicts: Sequence[Verdict],
        log: ItemLog,
    ) -> bytes:
        """The rows of the verdicts of one item, as JSON lines."""
        lines: list[bytes] = []
        for number, verdict in enumerate(verdicts):
            row = {
                _PLACE: order << _PLACE_BITS | number,
                **_run_columns(run_info),
                "split": item.split,
                "lang": item.lang,
                "item": item.id,
                "repeat": repeat,
                "unit": verdict.unit,
                "outcome": verdict.outcome,
                "correct": verdict.outcome == "correct",
                "score": verdict.score,
                "error": verdict.error,
                "reason": verdict.reason,
                "steps": verdict.steps,
                **self._of_replies(run_info, item, verdict, log),
                **dict(zip(self._own, map(verdict.fields.get, self._own), strict=True)),
                **({} if self._weights is None else {SAMPLE_WEIGHT: self._weights[item.id]}),
                "detail": _detail(verdict.detail),
            }
            lines.append(_plain_json(row) + b"\n")
        return b"".join(lines)

    def _of_replies(
        self, run_info: RunInfo, item: Item, verdict: Verdict, log: ItemLog
    ) -> dict[str, int | float | str | None]:
        """What the model under test used for a unit, what was changed on the way, and what its replies look like; None
        where nothing was reported."""
        mine = [step for step in log.get(verdict.unit, {}).values() if step.role == "agent"]
        replies = [step.reply for step in mine if isinstance(step, LoggedReply)]
        if item is not self._offered[0]:
            self._offered = item, cache(partial(first_tools, self._variant, run_info.profile, item))
        signs = dict(unit_signs(replies, self._offered[1], wrong=verdict.outcome == "wrong"))
        # What was played here and has no body came from no endpoint: baselines need no second look, which in some
        # benchmarks takes as long.
        if replies and (self._imported or replies[0].raw) and verdict.outcome in self._told_how_begun:
            first, correct = replies[0].message, verdict.outcome == "correct"
            started = call_signs(self._variant, run_info.profile, item, verdict.unit, first, correct=correct)
            signs.update(dict.fromkeys(started, 1))
        return {
            **_unit_cost(mine, replies),
            "cut_off": signs.get(TOKEN_LIMIT, 0),
            "unread_calls": sum(count for sign, count in signs.items() if sign.startswith(UNREAD)),
            "signs": _detail(signs),
        }

    def counts(self) -> OutcomeCounts:
        return OutcomeCounts(**self._outcomes)

    def write(self, stamp: TableStamp | None = None) -> Path:
        """Writes the table, with a stamp that says what it was made from. Raises StorageError if it cannot; an older
        table then stays as it was."""
        try:
            self._file.flush()
            # The database finds a file without a name by its number.
            rows = Path(f"/dev/fd/{self._file.fileno()}")
            with temporary_folder(self.path.parent) as place:
                new = place / self.path.name
                write_parquet(rows, new, self._types, stamp, order=_PLACE)
                new.replace(self.path)
            sync_folder(self.path.parent)
        except OSError as error:
            raise self._storage_error(error) from error
        return self.path

    def close(self) -> None:
        # Nothing is lost with rows that never became a table, and an error under way must not be hidden.
        with suppress(OSError):
            self._file.close()

    def _storage_error(self, error: OSError) -> StorageError:
        return StorageError(
            f"{self.path}: the verdicts could not be written ({error.strerror or error}); the record is "
            "intact. Make room, then run the same command again."
        )


@cache
def _database() -> "duckdb.DuckDBPyConnection":
    """The one database of the process, in memory; each query takes a cursor, as each thread must. To open another
    for every question would cost as much as to answer it."""
    with uninterrupted():
        import duckdb

    return duckdb.connect(config={"threads": 1})


def load_database() -> None:
    """Loads the database, which takes a while, before the first query needs it."""
    _database()


def forget_database() -> None:
    """Opens a new database at the next query: after an internal error the old one answers none."""
    _database.cache_clear()


def duckdb_error() -> type[Exception]:
    """What the database raises."""
    with uninterrupted():
        import duckdb

    return duckdb.Error


def write_parquet(
    rows: Path,
    path: Path,
    types: Mapping[str, str],
    stamp: TableStamp | None = None,
    *,
    order: str | None = None,
) -> None:
    """Turns JSON lines into Parquet with exactly these columns and with a stamp. Raises OSError.

    Args:
        order: the column of whole numbers that the lines are sorted by; None to leave them as they are.
    """
    with uninterrupted():
        import duckdb

    held = types if order is None else {order: "BIGINT", **types}
    columns = ", ".join(f"{sql_name(name)}: {sql_text(kind)}" for name, kind in held.items())
    ordered = "" if order is None else f" ORDER BY {sql_name(order)}"
    names = ", ".join(map(sql_name, types))
    stamped = (
        "" if stamp is None else f", KV_METADATA {{{sql_name(STAMP_KEY)}: {sql_text(stamp_text(stamp))}}}"
    )
    # Nothing is removed from a table once it is packed.
    remove_keys(rows)
    with _database().cursor() as connection:
        try:
            connection.execute(
                f"COPY (SELECT {names} FROM read_json({sql_text(sql_path(rows))}, format='newline_delimited', "
                f"compression='none', hive_partitioning=false, columns={{{columns}}}){ordered}) "
                # Small row groups: the writer holds one of them in memory.
                f"TO {sql_text(sql_path(path))} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2048{stamped})"
            )
        except duckdb.IOException as error:
            # After it comes the same as JSON.
            raise OSError(str(error).partition(": {")[0]) from error
    if stamp is not None:
        seal_table(path)


class VerdictRows:
    """Rows as one question to the database, put together step by step as a DuckDB relation is, and asked only when its
    answer is fetched. A relation asks the database after each step which columns it has, which takes as long as the
    answer. What else relations can do, it does as one."""

    def __init__(self, question: str, columns: Sequence[str] | None = None) -> None:
        """Args:
        question: in SQL.
        columns: of its answer; None if nobody asked yet.
        """
        self._question = question
        self._columns = columns

    @property
    def columns(self) -> Sequence[str]:
        if self._columns is None:
            self._columns = self._relation().columns
        return self._columns

    def project(self, *columns: str) -> "VerdictRows":
        return self._then(f"SELECT {', '.join(columns)}")

    def filter(self, condition: str) -> "VerdictRows":
        return self._then("SELECT *", f"WHERE {condition}")

    def aggregate(self, columns: str, groups: str = "") -> "VerdictRows":
        return self._then(f"SELECT {columns}", f"GROUP BY {groups or 'ALL'}")

    def order(self, by: str) -> "VerdictRows":
        return self._then("SELECT *", f"ORDER BY {by}")

    def distinct(self) -> "VerdictRows":
        return self._then("SELECT DISTINCT *")

    def fetchall(self) -> list[tuple[Any, ...]]:
        return _database().cursor().execute(self._question).fetchall()

    def __len__(self) -> int:
        return len(self._relation())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._relation(), name)

    def _then(self, select: str, rest: str = "") -> "VerdictRows":
        return VerdictRows(f"{select}\nFROM (\n{self._question}\n)\n{rest}")

    def _relation(self) -> "duckdb.DuckDBPyRelation":
        return _database().cursor().sql(self._question)


def relation(paths: Iterable[Path]) -> VerdictRows:
    """The verdicts of one or more files, to be asked as a DuckDB relation is; columns that a file lacks are NULL."""
    files = ", ".join(sql_text(sql_path(path)) for path in paths)
    source = f"read_parquet([{files}], union_by_name = true, hive_partitioning = false)"
    columns = VerdictRows(f"FROM {source}").columns
    lacking = [name for name in VERDICT_COLUMNS if name not in columns]
    nothing = [f"CAST(NULL AS {VERDICT_COLUMNS[name]}) AS {name}" for name in lacking]
    return VerdictRows(f"SELECT {', '.join(['*', *nothing])} FROM {source}", [*columns, *lacking])


def unpacked_size(table: Path) -> int:
    """Bytes that a Parquet file says that its columns have when they are unpacked. Raises what the database raises for a
    file that is none."""
    chunks = f"parquet_metadata({sql_text(sql_path(table))})"
    question = f"SELECT coalesce(sum(total_uncompressed_size), 0)::BIGINT FROM {chunks}"
    return _database().cursor().sql(question).fetchall()[0][0]


def _unit_cost(
    mine: Sequence[LoggedReply | LoggedFailure], replies: Sequence[Reply]
) -> dict[str, int | float | str | None]:
    failed = [] if len(replies) == len(mine) else [step for step in mine if isinstance(step, LoggedFailure)]
    tokens = [counted_tokens(reply.usage) for reply in replies]
    return {
        "prompt_tokens": _total([prompt for prompt, _ in tokens]),
        "completion_tokens": _total([completion for _, completion in tokens]),
        "latency_s": sum([reply.latency_s for reply in replies]) if replies else None,
        "attempts": sum([step.attempts for step in (*replies, *failed)]),
        "calls": sum([_calls(reply.message.get("tool_calls")) for reply in replies]),
        **_change_columns([reply.changes for reply in replies if reply.changes]),
    }


def _change_columns(changes: Sequence[Sequence[str]]) -> dict[str, int | str | None]:
    if not changes:
        return {"mended_replies": 0, "changes": None}
    mended = sum(any(name.startswith(REPAIR_CHANGE) for name in names) for names in changes)
    counts = Counter(name for names in changes for name in names)
    return {"mended_replies": mended, "changes": _detail(counts)}


def _calls(calls: object) -> int:
    # A reply may hold anything there.
    return len(cast(list[Any], calls)) if isinstance(calls, list) else 0


def _total(counts: Sequence[int | None]) -> int | None:
    """The sum of the counts of replies; None where that of one is not known, since it would be too small."""
    return None if not counts or None in counts else sum(cast(list[int], counts))


def _detail(detail: Mapping[str, Any]) -> str:
    if not detail:
        return "{}"
    text = _plain_json(detail)
    return text.decode() if len(text) <= _LONGEST else '{"cut":"longer than a table cell may be"}'


def _plain_json(obj: Mapping[str, Any]) -> bytes:
    """JSON that every reader accepts: texts cut and without surrogates, numbers that JSON lacks as null."""
    try:
        data = orjson.dumps(obj)
    except TypeError:
        return orjson.dumps(_plain(obj))
    return data if len(data) <= _LONGEST else orjson.dumps(_plain(obj))


def _plain(value: Mapping[str, Any]) -> Any:
    return portable(
        value,
        text=lambda text: replace_surrogates(text[:_LONGEST]),
        number=lambda number: number if isinstance(number, float) or -(2**63) <= number < 2**63 else None,
        max_depth=100,
    )
