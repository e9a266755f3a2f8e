"""The solved units of runs as rows of training data, in OpenAI's shape."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wildtool.engine.score.results import run_folders
from wildtool.errors import DataError
from wildtool.export import ExportRequest
from wildtool.export.conversations import conversation_rows
from wildtool.export.files import portable_value
from wildtool.export.trajectory import RecordedRun
from wildtool.training.files import FileRow, RawRow, raw_rows
from wildtool.training.procedures.official import official_owner
from wildtool.types import PROVIDER_CONTENT, Message


def training_rows(path: Path) -> Iterator[RawRow]:
    """The rows of a file of training data; of a run folder, or one above several, the conversations that are correct.

    Raises as `raw_rows` and `score_run`.
    """
    return run_rows(path) if path.is_dir() else raw_rows(path)


def run_rows(path: Path) -> Iterator[FileRow]:
    """The correct conversations of runs."""
    number = 0
    for folder in run_folders(path):
        for about, talk in conversation_rows(ExportRequest(folder=folder, only="correct")):
            number += 1
            row = {
                "id": f"{about['item']}/{about['unit']}",
                "messages": [_message(message) for message in talk.messages],
                "tools": list(talk.tools),
            }
            yield FileRow(number, portable_value(row))


def benchmark_owners(path: Path) -> Iterator[str]:
    """The benchmarks whose own data a file is, or runs were made on."""
    if path.is_dir():
        for folder in run_folders(path):
            if (owner := data_owner(RecordedRun(ExportRequest(folder=folder)))) is not None:
                yield owner
    elif (owner := official_owner(path)) is not None:
        yield owner


def data_owner(run: RecordedRun) -> str | None:
    """The benchmark whose own data a run's are; None for data of the user's own."""
    benchmark, source = run.run.selection.benchmark, run.run.selection.source
    try:
        if benchmark.locate(None).sha256 == source.sha256:
            return benchmark.name
    except DataError:
        pass  # nothing is at hand that they could be
    return official_owner(source.path)


def _message(message: Message) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key != PROVIDER_CONTENT}
