"""Replies from elsewhere: a replies file or result files of other tools become run folders, which can be scored and
shown, or are played again.

A replies file has one JSON object per line:

    {"item": "s1", "model": "m", "tasks": [[reply, …], …]}        reply lists in the order of the item's units
    {"item": "s1", "model": "m", "units": {"0": [reply, …], …}}   or by name

`session` may replace `item`; `model` may be left out; `repeat` (from 0) tells several samples of an item
apart. A reply is an assistant message, in any shape that `wildtool.shapes` reads. Past the end of its list a model counts
as answering nothing. A benchmark can also know the result files of its original tool (`DataSet.read_results`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from wildtool.benchmark import Benchmark
from wildtool.data.data_set import data_of
from wildtool.data.files import files_under
from wildtool.engine.benchmark_file import file_of
from wildtool.engine.plan import SelectedItems, Selection
from wildtool.engine.record.format import request_hashes
from wildtool.engine.record.reader import LoggedReply, LogReader, transcripts
from wildtool.engine.record.run_folder import RunFolder, read_run
from wildtool.engine.record.writer import LogWriter, PendingRow
from wildtool.engine.versions import check_continues, names_of, names_today, other_version
from wildtool.episode import EMPTY_REPLY
from wildtool.errors import DataError, UsageError
from wildtool.json_codec import checked, numbered_json_lines
from wildtool.models.replay import LoggedReplies
from wildtool.models.resolve import folder_name
from wildtool.outputs import check_folder, is_run
from wildtool.shapes import Reading, received_answer
from wildtool.types import Address, Item, Reply, Request, Source, Transcript

_BLOCK_BYTES = 1 << 20


def replay_source(benchmark: Benchmark, source: Source) -> Callable[[Path, str | None], LoggedReplies]:
    """Gives the function that opens recorded replies for a run of this benchmark over these data.

    It raises UsageError where the wanted model is not recorded, where one of several must be chosen, or where a run
    was played in another mode or on another version of the data.
    """

    def open_replies(path: Path, model: str | None) -> LoggedReplies:
        if path.is_dir():
            return _from_run(benchmark, source, path, model)
        return _from_file(Selection(benchmark=benchmark, source=source), path, model)

    return open_replies


def _from_run(benchmark: Benchmark, source: Source, folder: Path, model: str | None) -> LoggedReplies:
    run_json = read_run(folder)
    identity = run_json["identity"]
    problem = other_version(benchmark, run_json, source) if identity["benchmark"] == benchmark.name else ""
    if problem:
        raise UsageError(f"{folder}: {problem}")
    if identity["mode"] not in (None, benchmark.mode):
        raise UsageError(
            f"{folder} was played in mode {identity['mode']}, and answers of one mode make no sense in another; "
            f"add --mode {identity['mode']}"
        )
    _choose([identity["models"]["agent"]["name"]], model, folder)
    silent_after: bool = identity.get("silent_after", False)
    reader = LogReader(folder)

    # Every step of an item asks for its transcripts, and many items are played at once.
    @lru_cache(maxsize=256)
    def transcripts_of(item: str, repeat: int) -> dict[str, Transcript]:
        return transcripts(reader.log(item, repeat), scripted=silent_after)

    return transcripts_of


def _from_file(selection: Selection, path: Path, model: str | None) -> LoggedReplies:
    rows = read_replies(selection, path)
    agent = _choose((row.model for row in rows), model, path)
    transcripts = {(row.item.id, row.repeat): row.transcripts for row in rows if row.model == agent}
    return lambda item, repeat: transcripts.get((item, repeat))


def _choose(models: Iterable[str], name: str | None, where: Path) -> str:
    names = list(dict.fromkeys(models))
    if name in names:
        return name
    if name is None and len(names) == 1:
        return names[0]
    problem = "holds several models" if name is None else f"holds no model {name!r}"
    raise UsageError(
        f"{where} {problem}; choose one by replay:{where}#MODEL. It has: {', '.join(names) or 'none'}"
    )


@dataclass(frozen=True, slots=True)
class ItemReplies:
    """What a file says that one model answered in one item."""

    model: str
    item: Item
    repeat: int
    transcripts: dict[str, Transcript]
    requests: Mapping[str, Sequence[Request]] = field(default_factory=dict[str, Sequence[Request]])
    """By unit what each reply answered; empty where that is not known."""


def read_replies(
    selection: Selection, path: Path, report: Callable[[str], None] = lambda note: None
) -> list[ItemReplies]:
    """What a replies file, or the benchmark's original result files, have of each item.

    Args:
        report: takes a note about each result file that is left out.

    Raises DataError naming the place.
    """
    items = {item.id: item for item in selection.items()}
    if not path.exists():
        raise DataError(f"{path}: there is no such file; give a replies file or a result file")
    by_item: dict[tuple[str, str, int], ItemReplies] = {}
    for where, model, name, repeat, answers in _rows(selection, path, items, report):
        item = items.get(name)
        if item is None:
            raise DataError(
                f"{where}: there is no item {name!r} in {selection.source.name}; name the data, and the split, that the"
                " replies were made from with --data and --split"
            )
        transcripts = _by_order(item, answers, where) if isinstance(answers, list) else answers
        unknown = [unit for unit in transcripts if unit not in item.units]
        if unknown:
            raise DataError(
                f"{where}: {name!r} has no unit {unknown[0]!r}; its units are {', '.join(item.units)}"
            )
        present = by_item.get((model, name, repeat))
        if present is None:
            by_item[model, name, repeat] = ItemReplies(model, item, repeat, dict(transcripts))
        elif not transcripts or transcripts.keys() & present.transcripts.keys():
            raise DataError(
                f"{where}: {name!r} of {model!r} occurs twice; keep one, or tell samples apart by `repeat`"
            )
        else:
            present.transcripts.update(transcripts)
    if not by_item:
        raise DataError(f"{path}: contains no items; expected one JSON object per line")
    return list(by_item.values())


_Row = tuple[str, str, str, int, Mapping[str, Transcript] | list[Transcript]]
"""Place in the file, model, item id, repeat, and the answers by unit name or in order."""


def _rows(
    selection: Selection, path: Path, items: Mapping[str, Item], report: Callable[[str], None]
) -> Iterator[_Row]:
    results = data_of(selection.benchmark).read_results(path, items, selection.benchmark.mode)
    if results is None and path.is_dir():
        raise DataError(
            f"{path}: a folder without result files of {selection.benchmark.name}'s original tool"
        )
    if results is None:
        for number, row in numbered_json_lines(path):
            yield _row(row, f"{path}:{number}")
    else:
        for note in results.left_out:
            report(note)
        for row in results.rows:
            yield row.where, row.model, row.item, 0, row.units


def _row(fields: dict[str, Any], where: str) -> _Row:
    id_ = fields.get("item", fields.get("session"))
    name = checked(id_, str, f"{where}: field `item` (or `session`)", "the id of an item")
    model = checked(fields.get("model", "unnamed"), str, f"{where}: field `model`")
    repeat = fields.get("repeat", 0)
    if not isinstance(repeat, int) or repeat < 0:
        raise DataError(f"{where}: field `repeat` must be a number from 0")
    units, tasks = fields.get("units"), fields.get("tasks")
    if isinstance(units, dict):
        by_name = cast(dict[str, Any], units)
        return where, model, name, repeat, {
            unit: _transcript(replies, f"{where}: field `units.{unit}`") for unit, replies in by_name.items()
        }  # fmt: skip
    if not isinstance(tasks, list):
        raise DataError(
            f"{where}: expected a field `tasks`, a list of reply lists, or `units`, an object of them"
        )
    in_order = cast(list[Any], tasks)
    return where, model, name, repeat, [
        _transcript(replies, f"{where}: field `tasks[{index}]`") for index, replies in enumerate(in_order)
    ]  # fmt: skip


def _transcript(replies: Any, where: str) -> Transcript:
    messages = enumerate(checked(replies, list, where, "a list of replies"))
    checks = (checked(each, dict, f"{where}[{n}]", "an assistant message, an object") for n, each in messages)
    read = (received_answer(message, Reading(f"{where}[{n}]")) for n, message in enumerate(checks))
    return Transcript(tuple(map(Reply, read)), scripted=True)


def _by_order(item: Item, answers: list[Transcript], where: str) -> dict[str, Transcript]:
    if len(answers) > len(item.units):
        raise DataError(f"{where}: {len(answers)} reply lists for the {len(item.units)} units of {item.id!r}")
    return dict(zip(item.units, answers, strict=False))


def import_replies(
    benchmark: Benchmark,
    source: Source,
    replies: Path,
    out: Path,
    *,
    split: str | None = None,
    lang: str | None = None,
    items: SelectedItems | None = None,
    command: Sequence[str] = (),
    force: bool = False,
    report: Callable[[str], None] = lambda note: None,
) -> list[Path]:
    """Writes a replies file as run folders, one for each of its models, and returns them; doing it again
    changes nothing.

    Args:
        replies: a replies file (see above), or result files of the benchmark's original tool.
        out: the folder for the run folders.
        items: all items of the split and language, if they are read already.
        force: whether to write into folders that wildtool did not make.
        report: takes a note about each result file that is left out.

    Raises DataError where the file is wrong, UsageError where a folder may not be written to.
    """
    selection = Selection(benchmark=benchmark, source=source, split=split, lang=lang, all_items=items)
    by_model: dict[str, list[ItemReplies]] = {}
    for row in read_replies(selection, replies, report):
        by_model.setdefault(row.model, []).append(row)
    settings = {"replies": replies.name, "sha256": digest_of_files(replies)}
    folders: list[Path] = []
    for model, rows in by_model.items():
        agent = {"name": model, "settings": settings}
        folders.append(out / folder_name(model))
        check_folder(folders[-1], is_run, force=force)
        write_imported(selection, agent, rows, folders[-1], command)
    return folders


def digest_of_files(*places: Path) -> str:
    """SHA-256 of the bytes of files in this order; of a folder of all its files' bytes, by name."""
    digest = sha256()
    for path in (path for place in places for path in files_under(place)):
        if path.is_file():
            with path.open("rb") as file:
                while block := file.read(_BLOCK_BYTES):
                    digest.update(block)
    return digest.hexdigest()


def write_imported(
    selection: Selection,
    agent: Mapping[str, Any],
    rows: Sequence[ItemReplies],
    out: Path,
    command: Sequence[str],
    tries: Mapping[str, int] | None = None,
) -> None:
    """Writes what one model answered as a run folder; doing it again changes nothing.

    Args:
        agent: its name and settings, as `run.json` has them.
        tries: how often each item was tried, where that differs; None where all were tried alike.
    """
    benchmark, names = selection.benchmark, names_today(selection.benchmark)
    check_continues(benchmark, out, selection.source)
    if (out / "run.json").is_file():
        names = names_of(benchmark, read_run(out)["identity"])
    identity = {
        "benchmark": benchmark.name,
        "data_sha256": selection.source.sha256,
        "split": selection.split,
        "lang": selection.lang,
        "mode": selection.benchmark.mode,
        # Nothing says which rules the replies were made under.
        "profile": None,
        "seed": None,
        "models": {"agent": dict(agent)},
        "silent_after": any(t.scripted for row in rows for t in row.transcripts.values()),
        **names.identity,
    }
    scope = {
        "limit": None,
        "ids": list(dict.fromkeys(row.item.id for row in rows)),
        "repeats": max(row.repeat for row in rows) + 1,
        **({"tries": dict(tries)} if tries else {}),
    }
    with (
        RunFolder(
            out,
            kind="imported",
            identity=identity,
            scope=scope,
            source=names.source(selection.source),
            command=command,
            benchmark_file=file_of(benchmark),
        ) as folder,
        LogReader(out) as reader,
        LogWriter(out) as writer,
    ):
        for row in rows:
            _write_item(row, reader, writer)
        writer.sync()
        folder.finish("done")


def _write_item(row: ItemReplies, reader: LogReader, writer: LogWriter) -> None:
    log = reader.log(row.item.id, row.repeat)
    recorded: set[str] = set()
    for unit, transcript in row.transcripts.items():
        present = log.get(unit, {})
        replies = transcript.replies
        if not replies and transcript.scripted:
            # Without a row the unit would look unplayed; but it was run, and the model said nothing.
            replies = (Reply(EMPTY_REPLY),)
        for step, reply in enumerate(replies):
            if not isinstance(present.get(step), LoggedReply):
                address = Address(row.item.id, row.repeat, unit, step)
                asked = row.requests[unit][step] if unit in row.requests else None
                _write_reply(address, reply, writer, asked, recorded)
        last = len(replies)
        if transcript.infra_error is not None and last not in present:
            writer.imported(Address(row.item.id, row.repeat, unit, last), transcript.infra_error)


def _write_reply(
    address: Address, reply: Reply, writer: LogWriter, asked: Request | None, recorded: set[str]
) -> None:
    try:
        if asked is None:
            writer.imported(address, reply)
        else:
            writer.step(PendingRow(address, asked, request_hashes(asked), recorded), reply)
    except ValueError as error:
        raise DataError(
            f"item {address.item}, unit {address.unit}, reply {address.step}: cannot be recorded ({error})"
        ) from error
