"""The records of a whole file, whatever kept it: rows, a list of them, or a session of an agent."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from wildtool.json_codec import as_list, as_object
from wildtool.shapes.reading import Reading
from wildtool.shapes.records import is_record
from wildtool.shapes.sessions import session_form
from wildtool.shapes.sessions.gemini_cli import is_chat_head
from wildtool.shapes.sessions.lines import is_codex_line, is_session_line, sessions_in
from wildtool.shapes.sessions.pi import is_session_head


def records_of(values: Iterable[tuple[Reading, Any]], reading: Reading) -> Iterator[tuple[Reading, Any]]:
    """The records in the values of a file, each with its place.

    A value is a record, a list of several, or the session of an agent; the lines of a session file are one conversation
    together.

    Args:
        values: of the file, each with its place.
        reading: the place of the file itself. Observations of Langfuse that hold no call of a model are left out by name.
    """
    entries = [entry for place, value in values for entry in _entries(place, value)]
    rows = [as_object(value) for _, value in entries]
    sessions = sessions_in(rows, reading)
    if sessions is not None:
        yield from ((reading, session) for session in sessions)
        return
    for (place, value), row in zip(entries, rows, strict=True):
        if form := session_form(row):
            yield from ((place, record) for record in form.records(row, place))
        elif _is_other_observation(row):
            reading.lose(f"observation of type {row['type']}")
        else:
            yield place, value


def _entries(place: Reading, value: Any) -> Iterator[tuple[Reading, Any]]:
    """The records of one value: those of a list that is no conversation itself."""
    entries = as_list(value)
    rows = list(map(as_object, entries))
    is_several = any(
        isinstance(entry, list) or is_record(row) or session_form(row) or _is_other_observation(row)
        for entry, row in zip(entries, rows, strict=True)
    )
    if not entries or not (is_several or all(map(is_session_line, rows)) or all(map(is_codex_line, rows))):
        yield place, value
        return
    for number, entry in enumerate(entries, 1):
        yield place.at(f"record {number}"), entry


def _is_other_observation(row: Mapping[str, Any]) -> bool:
    """Whether a row of a Langfuse export is something else than a call of a model, such as a span around it."""
    kind = row.get("type")
    return "traceId" in row and isinstance(kind, str) and kind.isupper() and kind != "GENERATION"


_SPAN_KEYS = frozenset({"resourceSpans", "resourceLogs", "scopeSpans", "spans", "attributes"})


def log_reader(value: Any) -> str:
    """What a value is that holds no record but belongs to a log of another program, and who reads it; empty for all
    else."""
    row = as_object(value[0] if isinstance(value, list) and value else value)
    if row.keys() & _SPAN_KEYS or any(key.startswith("attributes.") for key in row):
        return "these are spans of OpenTelemetry: `wildtool review import` reads them"
    if "samples" in row and "eval" in row:
        return "this is a log of Inspect: `wildtool review import` reads it"
    return session_reader(row)


def session_reader(value: Any) -> str:
    """As `log_reader`, of the sessions that agents keep."""
    row = as_object(value)
    name = ""
    if is_session_line(row):
        name = "a session of Claude Code or Qwen Code"
    elif is_codex_line(row):
        name = "a rollout of Codex"
    elif is_chat_head(row):
        name = "a chat of Gemini CLI"
    elif is_session_head(row):
        name = "a session of pi"
    elif form := session_form(row):
        name = form.name
    return f"this is {name}: `wildtool review import` reads it" if name else ""
