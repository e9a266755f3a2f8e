"""Requests to a catalogue: your own with the tool that each needs, and those of sessions in a benchmark's format."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wildtool.benchmark import Benchmark
from wildtool.data.data_set import data_of
from wildtool.data.files import read_text
from wildtool.engine.registry import detect_benchmark
from wildtool.episode import GOLD_STYLE
from wildtool.errors import DataError, UsageError, unknown_name
from wildtool.json_codec import as_list, as_object, json_type
from wildtool.shapes import Reading, read_messages, tool_name
from wildtool.shapes.calls import is_openai_call
from wildtool.shapes.messages import is_chat_message
from wildtool.trace import said_calls
from wildtool.types import Message, Tool

EXAMPLE = '{"request": "When is high tide in Harwich?", "tool": "get_tides"}'
"""A line of a file of own requests."""


def choice_text(tools: Sequence[Tool], files: Sequence[Path], note: Callable[[str], None]) -> bytes:
    """The file of data of the benchmark `own-tools`: tools and all requests of some files.

    Args:
        note: is called with what is left out and why.

    Raises DataError naming file, line and field; UsageError where a file is of no known format.
    """
    by_name: dict[str, Tool] = {}
    for tool in tools:
        name = tool_name(tool)
        _check_text(f"tool {name!r}", tool)
        if by_name.setdefault(name, tool) is not tool:
            note(f"left out another tool of the name {name}; the first is put to models")
    rows: list[dict[str, Any]] = []
    places: dict[tuple[str, str], str] = {}
    for path in files:
        for where, row in _requests_of(path, [*by_name], note):
            _check_text(where, row)
            if first := places.get(key := (row["item"], row["unit"])):
                raise DataError(
                    f"{where}: the id {row['item']} is that of {first} too; give each request another `id`"
                )
            places[key] = where
            rows.append(row)
    if not rows:
        raise DataError(
            f"{', '.join(map(str, files))}: no request for a tool of this catalogue; write lines such as {EXAMPLE}"
        )
    data = {"wildtool": "own-tools", "catalogue": 1, "tools": [*by_name.values()], "requests": rows}
    return json.dumps(data, ensure_ascii=False).encode()


def _check_text(where: str, value: Any) -> None:
    """Raises DataError where a value cannot be written as UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{where}: cannot be written as JSON in UTF-8 ({error}); an escape such as \\ud83d alone is half a character"
        ) from error


def _requests_of(
    path: Path, names: Sequence[str], note: Callable[[str], None]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each request after its place."""
    # Not `splitlines`: a text in JSON may hold U+2028.
    lines = read_text(path).split("\n")
    places = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not places or _is_own(places[0][1]):
        for number, line in places:
            where = f"{path}:{number}"
            yield where, _own_request(where, f"{path.stem}-{number}", line, names)
        return
    try:
        benchmark = detect_benchmark(None, str(path))
    except UsageError as error:
        raise UsageError(f"{path}: neither sessions of a benchmark nor lines such as {EXAMPLE}") from error
    left_out = 0
    for row in _made_requests(benchmark, path):
        if unknown := [name for name in row["accepted"] if name not in names]:
            left_out += 1
            if left_out == 1:
                note(f"{path}: left out what needs tools that the catalogue lacks, such as {unknown[0]}")
        else:
            yield f"{path}: item {row['item']}", row


def _is_own(line: str) -> bool:
    """Whether the first line of a file is an own request, be it a broken one."""
    try:
        return not {"request", "messages"}.isdisjoint(as_object(json.loads(line)))
    except (ValueError, RecursionError):
        return '"request"' in line or '"messages"' in line


def _own_request(where: str, name: str, line: str, names: Sequence[str]) -> dict[str, Any]:
    try:
        record = as_object(json.loads(line))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: no JSON object ({error}); write lines such as {EXAMPLE}") from error
    text, messages = record.get("request"), as_list(record.get("messages"))
    if isinstance(text, str) and text.strip():
        messages = [{"role": "user", "content": text}]
    if not messages or not all(isinstance(message, dict) for message in messages):
        kind = "an empty text" if isinstance(text, str) else json_type(text)
        raise DataError(f"{where}: field request: expected a text that is not empty, found {kind}")
    messages = _in_chat_shape(messages, where)
    if all(message.get("role") != "user" for message in messages):
        raise DataError(
            f"{where}: field messages: none is the user's; add one with the role user, which the tool is for"
        )
    if "tool" not in record:
        raise DataError(
            f"{where}: field tool: missing; name the tool, several that are all right, or null for none"
        )
    tool: Any = record["tool"]
    tools: list[Any] = [] if tool is None else [tool] if isinstance(tool, str) else as_list(tool)
    if (tool is not None and not tools) or not all(isinstance(each, str) for each in tools):
        found = "an empty list" if tool == [] else json_type(tool)
        raise DataError(
            f"{where}: field tool: expected a name, a list of names or null for none, found {found}"
        )
    accepted = [each for each in tools if each in names]
    if tools and not accepted:
        none = "; write null where no tool is needed" if tools[0].casefold() in ("none", "null", "") else ""
        raise DataError(f"{where}: field tool: {unknown_name('tool', tools[0], names)}{none}")
    lang = record.get("lang", "en")
    row = {"item": str(record.get("id") or name), "unit": "request", "source": "own", "lang": str(lang)}
    return {**row, "messages": messages, "accepted": accepted}


def _in_chat_shape(messages: list[Any], where: str) -> list[Any]:
    """Messages of any shape as they are sent; those in OpenAI's chat shape stay as they are. Raises ShapeError."""
    calls = [call for message in messages for call in as_list(message.get("tool_calls"))]
    is_chat = all(map(is_chat_message, messages)) and all(map(is_openai_call, calls))
    return messages if is_chat else read_messages(messages, Reading(where))


def _made_requests(benchmark: Benchmark, path: Path) -> Iterator[dict[str, Any]]:
    """The first request of each unit, with the tools that its gold reply calls at once."""
    rules = benchmark.rules(next(iter(benchmark.profiles)))
    for item in benchmark.load(data_of(benchmark).locate(str(path))):
        for unit in item.units:
            request = rules.episode(item, unit).request()
            if request is None or request.gold is None or not request.tools:
                continue
            reply: Mapping[str, Any] = request.gold(GOLD_STYLE)
            calls = said_calls(dict(reply)) if reply.get("tool_calls") else ()
            accepted = list(dict.fromkeys(name for name, _ in calls))
            messages: list[Message] = [*request.messages]
            row = {"item": item.id, "unit": unit, "source": "made", "lang": item.lang}
            yield {**row, "messages": messages, "accepted": accepted}
