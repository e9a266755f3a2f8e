"""The solved units of runs as rows of training data, in OpenAI's shape."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from wildtool.data.data_set import data_of
from wildtool.engine.score.results import run_folders
from wildtool.errors import DataError
from wildtool.export import ExportRequest
from wildtool.export.conversations import ExportedConversation, conversation_rows
from wildtool.export.files import portable_value
from wildtool.export.repeats import MERGED, OTHER_HISTORY, merged_conversations, sessions_of
from wildtool.export.trajectory import RecordedRun
from wildtool.own_cases.benchmark import CaseBenchmark
from wildtool.own_cases.case_files import case_paths
from wildtool.training.files import FileRow, RawRow, raw_rows
from wildtool.training.procedures.official import official_owner
from wildtool.types import PROVIDER_CONTENT
from wildtool_data.prepare.case_rows import case_rows, cases_of

RUN_NOTES: Mapping[str, str] = {
    MERGED: "were the beginning of a longer conversation, which teaches their replies",
    OTHER_HISTORY: "have other replies in their history than the model gave there: context that is not learned",
}
"""What is counted while runs are read."""


def training_rows(path: Path, notes: Counter[str] | None = None) -> Iterator[RawRow]:
    """The rows of a file of training data; of a run folder, or one above several, those of `run_rows`; of a case file or
    a folder of them those of `case_rows`.

    Raises as `raw_rows`, `score_run`, `cases_of` and `case_rows`.
    """
    counted: Counter[str] = Counter() if notes is None else notes
    if (cases := cases_of(path)) is not None:
        return case_rows(cases, counted)
    return run_rows(path, counted) if path.is_dir() else raw_rows(path)


def run_rows(path: Path, notes: Counter[str]) -> Iterator[FileRow]:
    """The correct conversations of runs, in which each reply of the model is learned once.

    A session's units, and the steps of a benchmark that repeats them, begin with what came before. A conversation that
    another one of the session starts with is left out, and its replies are learned there. Others have weight 0.

    Args:
        notes: gets the counts of `RUN_NOTES`.
    """
    number = 0
    for folder in run_folders(path):
        rows = conversation_rows(ExportRequest(folder=folder, only="correct"), reasoning=True)
        for session in sessions_of(rows):
            for item, talk in merged_conversations(session, notes):
                number += 1
                row = {
                    "id": f"{item['item']}/{item['unit']}",
                    "messages": _weighted(talk),
                    "tools": list(talk.tools),
                }
                yield FileRow(number, portable_value(row))


def learns_all(path: Path) -> bool:
    """Whether the conversations of a run or a case file hold no reply with weight 0."""
    if (cases := cases_of(path)) is not None:
        messages = (message for row in case_rows(cases, Counter()) for message in row.value["messages"])
        return not any("weight" in message for message in messages)
    notes: Counter[str] = Counter()
    return not any(notes[OTHER_HISTORY] for _ in run_rows(path, notes))


def benchmark_owners(path: Path) -> Iterator[str]:
    """The benchmarks whose own data a file is, or runs were made on."""
    if path.is_dir() and cases_of(path) is None:
        for folder in run_folders(path):
            if (owner := data_owner(RecordedRun(ExportRequest(folder=folder)))) is not None:
                yield owner
        return
    for file in case_paths(path) if path.is_dir() else [path]:
        if (owner := official_owner(file)) is not None:
            yield owner


def data_owner(run: RecordedRun) -> str | None:
    """The benchmark whose own data a run's are; None for data of the user's own, such as their cases."""
    benchmark, source = run.run.selection.benchmark, run.run.selection.source
    try:
        if (
            not isinstance(benchmark, CaseBenchmark)
            and data_of(benchmark).locate(None).sha256 == source.sha256
        ):
            return benchmark.name
    except DataError:
        pass  # nothing is at hand that they could be
    return official_owner(source.path)


def _weighted(talk: ExportedConversation) -> list[dict[str, Any]]:
    """The messages of a conversation, with weight 0 for the assistant's that are only context."""
    messages: list[dict[str, Any]] = []
    for place, message in enumerate(talk.messages):
        row = {key: value for key, value in message.items() if key != PROVIDER_CONTENT}
        context = message.get("role") == "assistant" and place not in talk.replies
        messages.append({**row, "weight": 0} if context else row)
    return messages
