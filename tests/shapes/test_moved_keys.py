"""A key that carries tools, a call, arguments, a result or a schema is renamed, moved or wrapped: a reader reads as much
as before, counts what it leaves out, or refuses with the place; it never reads less in silence."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from long import a_fiftieth_of
from shapes.written import AGE, ANSWERS, CALLS, RECORDS, SESSIONS, TALK, TOOLS
from wildtool.shapes import (
    Reading,
    ShapeError,
    read_answer,
    read_calls,
    read_record,
    read_tools,
)
from wildtool.shapes.record_files import records_of
from wildtool.training.files import FileRow
from wildtool.training.readers.data_sets import DATA_SETS
from wildtool.training.readers.options import DEFAULT_OPTIONS
from wildtool.training.reading import read_row
from wildtool.training.record import RejectedRow
from wildtool.training.writers.openai import openai_row
from wildtool.training.writers.options import DEFAULT_WRITING

Path = tuple[str | int, ...]
DATA = ("properties", *TALK.calls[0].arguments)
"""Keys below which there is data, no shape."""
NAMES = ("required", *(tool.name for tool in TALK.tools))
"""Keys that are names of tools, or say less than a schema."""


@dataclass(frozen=True)
class Amount:
    """How much a reader found."""

    tools: int = 0
    parameters: int = 0
    calls: int = 0
    arguments: int = 0
    results: int = 0

    def is_less_than(self, other: "Amount") -> bool:
        return any(getattr(self, name) < getattr(other, name) for name in vars(self))


def size(value: Any) -> int:
    """Values in arguments or in parameters, also behind keys around them."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return 1
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 1 if parts is None else sum(map(size, parts))


def of_tools(tools: Sequence[Any]) -> Amount:
    schemas = [tool["function"].get("parameters") or {} for tool in tools]
    return Amount(tools=len(tools), parameters=sum(len(schema.get("properties") or {}) for schema in schemas))


def of_messages(messages: Sequence[Any], tools: Sequence[Any] = ()) -> Amount:
    calls = [call["function"] for message in messages for call in message.get("tool_calls") or ()]
    results = [message["content"] for message in messages if message["role"] == "tool"]
    offer = of_tools(tools)
    return Amount(
        offer.tools,
        offer.parameters,
        len(calls),
        sum(size(call["arguments"]) for call in calls),
        sum(map(size, results)),
    )


def by_tools(value: Any, reading: Reading) -> Amount:
    return of_tools([found.tool for found in read_tools(value, reading)])


def by_calls(value: Any, reading: Reading) -> Amount:
    calls = read_calls([value], reading)
    return Amount(calls=len(calls), arguments=sum(size(call.text) for call in calls))


def by_answer(value: Any, reading: Reading) -> Amount:
    return of_messages([read_answer(value, reading)])


def by_record(value: Any, reading: Reading) -> Amount:
    record = read_record(value, reading)
    return of_messages(record.messages, record.tools)


def by_row(value: Any, reading: Reading) -> Amount:
    """As training data are read."""
    record = read_row(FileRow(1, value), DATA_SETS["openai"], "place", DEFAULT_OPTIONS)
    if isinstance(record, RejectedRow):
        raise ShapeError(f"place: {record.detail}")
    reading.lost.update(record.lost)
    row = openai_row(record, DEFAULT_WRITING)
    return of_messages(row["messages"], row.get("tools", ()))


def by_session(values: Sequence[Any], reading: Reading) -> Amount:
    """As `review import` reads the values of a file."""
    records = [
        read_record(record, place) for place, record in records_of([(reading, v) for v in values], reading)
    ]
    messages = [message for record in records for message in record.messages]
    return of_messages(messages, [tool for record in records for tool in record.tools])


DOORS: Mapping[str, tuple[Mapping[str, Any], Callable[[Any, Reading], Amount]]] = {
    "tools": ({name: write([AGE]) for name, write in TOOLS.items()}, by_tools),
    "calls": ({name: write(TALK.calls[0]) for name, write in CALLS.items()}, by_calls),
    "answers": ({name: write("Hi", TALK.calls[:1]) for name, write in ANSWERS.items()}, by_answer),
    "records": ({name: write(TALK) for name, write in RECORDS.items()}, by_record),
    "rows": ({name: write(TALK) for name, write in RECORDS.items()}, by_row),
    "trajectories": ({"atif": SESSIONS["atif"](TALK)}, by_session),
    "sessions": ({name: write(replace(TALK, tools=[])) for name, write in SESSIONS.items()}, by_session),
}


def carriers(value: Any, path: Path = ()) -> Iterator[Path]:
    """The places of keys that carry something."""
    if isinstance(value, list):
        for number, part in enumerate(value):
            yield from carriers(part, (*path, number))
    elif isinstance(value, dict):
        for key, part in value.items():
            if isinstance(part, dict | list) or (isinstance(part, str) and part[:1] in ("{", "[")):
                if key not in NAMES:
                    yield (*path, key)
                if key not in DATA:
                    yield from carriers(part, (*path, key))


RENAMED: Mapping[str, Callable[[str], str]] = {
    "a letter more": lambda key: f"{key}s",
    "a letter less": lambda key: key[:-1],
    "in capitals": str.upper,
    "unknown": lambda _: "stuff",
    "prefixed": lambda key: f"my_{key}",
}
WRAPPED: Mapping[str, Callable[[str], str]] = {
    "wrapped in itself": lambda key: key,
    "wrapped in value": lambda _: "value",
    "wrapped in data": lambda _: "data",
}
CHANGES = (*RENAMED, *WRAPPED, "moved out")


def mutated(sample: Any, path: Path, change: str) -> Any:
    """A sample with one key that is renamed, wrapped, or moved into the next object around its own."""
    copy = deepcopy(sample)
    *steps, key = path
    holder, around = copy, list[dict[str, Any]]()
    for step in steps:
        around += [holder] if isinstance(holder, dict) else []
        holder = holder[step]
    value = holder.pop(key)
    if change in RENAMED:
        holder[RENAMED[change](str(key))] = value
    elif change in WRAPPED:
        holder[key] = {WRAPPED[change](str(key)): value}
    elif around and around[-1].get(str(steps[-1])) is holder and key not in around[-1]:
        around[-1][str(key)] = value
    else:
        holder[key] = value
    return copy


CASES = [
    (door, shape, path, change)
    for door, (samples, _) in DOORS.items()
    for shape, sample in samples.items()
    for path in carriers(sample)
    for change in CHANGES
]


@pytest.mark.parametrize("door", DOORS)
def test_every_sample_is_read_whole(door: str):
    samples, read = DOORS[door]
    amounts = {read(sample, Reading("place")) for sample in samples.values()}
    assert len(amounts) == 1
    assert amounts != {Amount()}


@settings(max_examples=a_fiftieth_of(len(CASES)), deadline=None)
@given(st.sampled_from(CASES))
def test_a_key_in_another_place_is_never_read_as_less_in_silence(case: tuple[str, str, Path, str]):
    door, shape, path, change = case
    samples, read = DOORS[door]
    reading = Reading("place")
    before = read(samples[shape], Reading("place"))
    try:
        after = read(mutated(samples[shape], path, change), reading)
    except ShapeError as error:
        assert str(error).startswith("place: ")
        return
    assert not after.is_less_than(before) or reading.lost
