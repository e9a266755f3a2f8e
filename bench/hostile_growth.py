"""How the time of every parser of replies and of tool definitions grows with hostile input: at n, 2n and 4n.

Each format of calls is read where its own marks and parts of calls are repeated, unclosed or closed without an opening;
the readers and checks of tools, where all tools, values or names are alike. Growth that is well above twice as long for
twice as much is marked, and the exit status is then 1.
"""

import inspect
import json
import pkgutil
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import wildtool.toolcall.text
from wildtool.tool_formats import CALL_FORMATS, ToolCall
from wildtool.tool_formats.any_format import calls_in_text
from wildtool.toolcall.schema_check import function_faults
from wildtool.tools.lint import lint_tools
from wildtool.tools.schema.definitions import schema_definition_faults
from wildtool.tools.sources.tool_files import named_tools
from wildtool_data.make.procedural.tool_sets import read_tool_sets

CHARACTERS = 40_000
ITEMS = 500
NOTED_MS = 20
"""A shorter time is noise."""
SUPER_LINEAR = 2.8
"""The least growth per doubling that is marked."""
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "array"}}}
TOOLS: Sequence[Mapping[str, Any]] = [
    {"type": "function", "function": {"name": "look_up", "description": "x", "parameters": PARAMETERS}}
]
CALLS = [ToolCall("look_up", {"city": "Oslo", "days": [1, 2]}), ToolCall("look_up", {"city": "Rome"})]
PARTS = (
    "a",
    "1",
    "一",
    "的",
    " ",
    "\n",
    "-",
    ".",
    "1,",
    "a ",
    "(",
    "[",
    "{",
    "<a",
    "<a>",
    "`",
    '"',
    "\\",
    "a=",
    "$1 ",
)


@dataclass(frozen=True, slots=True)
class Growth:
    """Milliseconds of one parser on one kind of input."""

    parser: str
    of: str
    times: tuple[float, float, float]

    @property
    def ratio(self) -> float:
        """Of the longest time and the one of half as much."""
        return self.times[2] / self.times[1] if self.times[1] else 0.0

    @property
    def marked(self) -> bool:
        return self.times[2] > NOTED_MS and self.ratio > SUPER_LINEAR


def show_growth() -> int:
    """Prints the slowest input of each parser; gives the exit status."""
    marked = 0
    print("parser | slowest input | n, 2n, 4n in ms | 4n : 2n")
    for parser, measured in _by_parser():
        slowest = max(measured, key=lambda each: (each.marked, each.times[2]))
        marked += slowest.marked
        times = ", ".join(f"{each:.0f}" for each in slowest.times)
        sign = " more than linear" if slowest.marked else ""
        print(f"{parser} | {slowest.of!r:.60} | {times} | {slowest.ratio:.1f}{sign}", flush=True)
    return int(marked > 0)


def _by_parser() -> Iterator[tuple[str, list[Growth]]]:
    for name, call_format in CALL_FORMATS.items():
        example = call_format.write("Hi.", CALLS)
        yield (
            f"format {name}",
            list(_of_texts(name, lambda text, its=call_format: its.read(text, TOOLS), _parts(example))),
        )
    marks = [part for each in CALL_FORMATS.values() for part in _marks(each.write("", CALLS))]
    yield "calls_in_text", list(_of_texts("any", partial(calls_in_text, tools=TOOLS), [*marks, *PARTS]))
    for name, function in _text_readers():
        yield name, list(_of_texts(name, function, PARTS))
    with TemporaryDirectory() as folder:
        for name, make in _tool_parsers(Path(folder)).items():
            yield name, [_growth(name, "alike", ITEMS, make)]


def _marks(example: str) -> list[str]:
    return re.findall(r"<[^<>]*>|\[/?\w+\]|<｜[^｜]*｜>", example)


def _parts(example: str) -> list[str]:
    """Each beginning, end and mark of a call."""
    words = re.findall(r"<[^<>]*>|\[/?\w+\]|<｜[^｜]*｜>|\w+|\s+|.", example, re.DOTALL)
    begins = ["".join(words[:k]) for k in range(1, len(words))]
    ends = ["".join(words[k:]) for k in range(1, len(words))]
    return list(dict.fromkeys([*begins, *ends, *words]))


def _text_readers() -> Iterator[tuple[str, Callable[[str], object]]]:
    """The functions of `toolcall.text` that take one text."""
    for module in pkgutil.iter_modules(wildtool.toolcall.text.__path__, "wildtool.toolcall.text."):
        for name, function in vars(import_module(module.name)).items():
            if name.startswith("_") or not inspect.isfunction(function) or function.__module__ != module.name:
                continue
            parameters = inspect.signature(function).parameters.values()
            if [each.annotation for each in parameters if each.default is each.empty] == [str]:
                yield f"{module.name.rpartition('.')[2]}.{name}", function


def _of_texts(name: str, read: Callable[[str], object], parts: Iterable[str]) -> Iterator[Growth]:
    for part in parts:
        # A first look: most inputs take no time at all.
        if _milliseconds(partial(read, _repeated(part, CHARACTERS))) < NOTED_MS / 4:
            yield Growth(name, part, (0.0, 0.0, 0.0))
        else:
            yield _growth(name, part, CHARACTERS, partial(_reading, read, part))


def _repeated(part: str, characters: int) -> str:
    return part * (characters // len(part))


def _reading(read: Callable[[str], object], part: str, characters: int) -> Callable[[], object]:
    return partial(read, _repeated(part, characters))


def _tool_parsers(folder: Path) -> dict[str, Callable[[int], Callable[[], object]]]:
    def tool(k: int, **schema: Any) -> dict[str, Any]:
        parameters = {"type": "object", "properties": {"a": {"type": "string", "description": "x", **schema}}}
        function = {
            "name": f"tool_{k}",
            "description": "Looks up the weather of a city",
            "parameters": parameters,
        }
        return {"type": "function", "function": function}

    def operation(k: int) -> dict[str, Any]:
        return {
            "get": {
                "operationId": "same",
                "summary": "Look it up",
                "parameters": [{"name": "q", "in": "query"}],
            }
        }

    def written(name: str, value: object) -> Path:
        (folder / name).write_text(json.dumps(value))
        return folder / name

    def document(count: int) -> Path:
        return written(
            "api.json", {"openapi": "3.0.0", "paths": {f"/{k}": operation(k) for k in range(count)}}
        )

    def quiet(_: str) -> None:
        pass

    def enum(count: int) -> dict[str, Any]:
        return tool(0, enum=[f"v{k}" for k in range(20 * count)])["function"]

    return {
        "list of tools": lambda n: partial(named_tools, written("a.json", [tool(k) for k in range(n)])),
        "OpenAPI": lambda n: partial(named_tools, document(n)),
        "tools of generate": lambda n: partial(read_tool_sets, document(n), "en", quiet),
        "check of a schema": lambda n: partial(function_faults, enum(n)),
        "check of a definition": lambda n: partial(schema_definition_faults, enum(n)["parameters"]),
        "report of confusion": lambda n: partial(lint_tools, [tool(k) for k in range(4 * n)]),
    }


def _growth(parser: str, of: str, size: int, make: Callable[[int], Callable[[], object]]) -> Growth:
    first, second, third = (min(_milliseconds(make(factor * size)) for _ in range(2)) for factor in (1, 2, 4))
    return Growth(parser, of, (first, second, third))


def _milliseconds(action: Callable[[], object]) -> float:
    began = time.process_time()
    try:
        result = action()
        if isinstance(result, Iterator):
            list(result)
    except (ValueError, KeyError, RecursionError):
        pass  # refusing is an answer, too
    return 1000 * (time.process_time() - began)


if __name__ == "__main__":
    sys.exit(show_growth())
