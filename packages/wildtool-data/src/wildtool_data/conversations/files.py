"""The conversations of files, whatever each holds: spans of traces, logs of Inspect, or records of any shape."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from wildtool.json_codec import as_object
from wildtool.shapes import Reading, is_record
from wildtool.shapes.record_files import log_reader
from wildtool.traces import read_traces
from wildtool.traces.forms import values_of_file
from wildtool.traces.spans import holds_spans
from wildtool.types import Message, Tool
from wildtool_data.conversations.reading import Refusal, is_archive, read_conversations

TRACES, RECORDS, INSPECT = "otel", "openai", "inspect"
_KEYS_OF_EXPORTS = ("traceId", "run_type")
"""Keys of steps in exports of Langfuse and LangSmith, which may look like requests with their answers."""


def conversations_in(
    paths: Sequence[Path],
    source: str | None,
    lost: Counter[str],
    refuse: Refusal,
    account: Callable[[Sequence[str]], None],
) -> Iterator[tuple[list[Message], list[Tool]]]:
    """Messages and tools of each conversation; those of traces come first.

    Args:
        source: what the files hold; None to tell it by each.
        lost: counts by name what is left out, since OpenAI's shape has no place for it.
        refuse: gets each conversation that has no known shape; may raise.
        account: gets the lines that say what became of the spans of traces.

    Raises DataError for files that cannot be read.
    """
    sources = {path: source or source_of(path) for path in paths}
    traced = [path for path in paths if sources[path] == TRACES]
    if traced:
        reading = read_traces(traced)
        account(reading.lines())
        lost += reading.lost
        yield from ((each.messages, each.tools) for each in reading.conversations)
    for path in paths:
        if sources[path] != TRACES:
            for found in read_conversations(path, sources[path], lost, refuse):
                yield found.messages, found.tools


def source_of(path: Path) -> str:
    """What a file holds: spans, logs of Inspect, or conversations."""
    if is_archive(path):
        return INSPECT
    for _, value in values_of_file(path, Reading()):
        if "Inspect" in log_reader(value):
            return INSPECT
        row = as_object(value)
        is_conversation = is_record(row) and row.keys().isdisjoint(_KEYS_OF_EXPORTS)
        return TRACES if holds_spans(value) and not is_conversation else RECORDS
    return RECORDS
