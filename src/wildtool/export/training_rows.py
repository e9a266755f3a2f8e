"""The solved units of runs as rows of training data, in OpenAI's shape."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wildtool.engine.record.run_folder import read_run
from wildtool.engine.score.results import run_folders
from wildtool.errors import UsageError
from wildtool.export import ExportRequest
from wildtool.export.conversations import conversation_rows
from wildtool.export.files import portable_value
from wildtool.json_codec import as_object
from wildtool.training.files import FileRow, RawRow, raw_rows
from wildtool.types import PROVIDER_CONTENT, Message

_OFFICIAL = "official"
"""Name of a benchmark's published data."""


def training_rows(path: Path) -> Iterator[RawRow]:
    """The rows of a file of training data; of a run folder, or one above several, the conversations that are correct.

    Raises:
        UsageError: a run was made on a benchmark's official data, which are for measuring alone.
        Others: those of `raw_rows` and `score_run`.
    """
    return run_rows(path) if path.is_dir() else raw_rows(path)


def run_rows(path: Path) -> Iterator[FileRow]:
    """The correct conversations of runs. Raises as `training_rows`."""
    number = 0
    for folder in run_folders(path):
        if as_object(read_run(folder).get("data")).get("name") == _OFFICIAL:
            raise UsageError(
                f"{folder}: was run on a benchmark's official data; a model trained on them can no longer be measured by"
                " them: make sessions (`wildtool generate`) and run those"
            )
        for about, talk in conversation_rows(ExportRequest(folder=folder, only="correct")):
            number += 1
            row = {
                "id": f"{about['item']}/{about['unit']}",
                "messages": [_message(message) for message in talk.messages],
                "tools": list(talk.tools),
            }
            yield FileRow(number, portable_value(row))


def _message(message: Message) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key != PROVIDER_CONTENT}
