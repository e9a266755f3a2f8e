"""Benchmarks as sequences of items, and single replies and calls judged without a run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, overload

from wildtool import json_codec, shapes
from wildtool.alter.variant import Variant
from wildtool.api.door import door, element_at
from wildtool.benchmark import Benchmark
from wildtool.data.data_set import data_of
from wildtool.engine.plan import Selection, check_profile
from wildtool.engine.registry import load_benchmark
from wildtool.engine.score.formatting import counted
from wildtool.engine.score.judge import safe_judge
from wildtool.engine.versions import default_profile
from wildtool.episode import gold_replies
from wildtool.errors import DataError, ToolsNotListedError, UsageError, WildtoolError, unknown_name
from wildtool.json_codec import as_list, as_object
from wildtool.outputs import write_file
from wildtool.shapes import BrokenError, Reading, ShapeError, read_answer, read_entry
from wildtool.shapes.calls import is_call, looks_like_call
from wildtool.shapes.keys import ARGUMENT_KEYS, CALL_WRAPPERS, FUNCTION, ID_KEYS, NAME_KEYS
from wildtool.shapes.reading import of_json
from wildtool.toolcall.arguments import ArgumentsError, read_calls
from wildtool.toolcall.compare import ArgumentDifference, compare_arguments
from wildtool.toolcall.schema_check import SCHEMA_TYPES
from wildtool.types import Item, Message, Reply, Request, Source, Tool, Transcript, Verdict

AnyShape = Mapping[str, Any] | Sequence[Any] | str
"""A tool or a call as `wildtool.shapes` reads it: an object, a list with one, or the JSON text of either."""


@dataclass(frozen=True, eq=False)
class BenchItem:
    """An item of a benchmark: what is run as a whole. It holds one unit or more, and each unit gets a verdict."""

    benchmark: Benchmark
    item: Item
    """As the benchmark reads it; `item.data` is its own record."""
    profile: str = ""
    """The rules by which it is judged where none are named; empty for the benchmark's first."""

    @property
    def rules_by_default(self) -> str:
        """The name of those rules."""
        return self.profile or next(iter(self.benchmark.profiles))

    @property
    def id(self) -> str:
        return self.item.id

    @property
    def units(self) -> tuple[str, ...]:
        """Names of its units, in order."""
        return self.item.units

    @property
    def messages(self) -> list[Message]:
        """The messages of the first request of its first unit."""
        return self.request(0)[0]

    @property
    def tools(self) -> list[Tool]:
        """The tools of the first request of its first unit."""
        return self.request(0)[1]

    @property
    def gold(self) -> dict[str, list[Message]]:
        """By unit the replies of a perfect model; empty for a unit without gold."""
        rules = self.benchmark.rules(self.rules_by_default)
        return {unit: gold_replies(rules.episode(self.item, unit)) or [] for unit in self.units}

    @door
    def request(self, unit: int | str = 0) -> tuple[list[Message], list[Tool]]:
        """Messages and tools that a model sees first in a unit, as copies. Args: unit: its name, or its place from 0."""
        rules = self.benchmark.rules(self.rules_by_default)
        request: Request | None = rules.episode(self.item, self.unit_name(unit)).request()
        if request is None:
            return [], []
        messages, tools = json_codec.loads(json_codec.dumps([list(request.messages), list(request.tools)]))
        return messages, tools

    def unit_name(self, unit: int | str) -> str:
        """The name of a unit. Raises UsageError where the item has none of that name or place."""
        if str(unit) in self.units:
            return str(unit)
        if isinstance(unit, int) and -len(self.units) <= unit < len(self.units):
            return self.units[unit]
        raise UsageError(unknown_name("unit", str(unit), self.units, of=self.id))

    def __repr__(self) -> str:
        return f"<{self.benchmark.name} item {self.id!r}: {len(self.units)} units>"


class Bench(Sequence[BenchItem]):
    """The items of a benchmark, in its order; `bench[0]`, `bench["id"]`, `bench[:10]`."""

    def __init__(
        self, benchmark: Benchmark, source: Source, *, split: str | None = None, lang: str | None = None
    ) -> None:
        self.benchmark, self.source, self.split, self.lang = benchmark, source, split, lang

    @property
    def name(self) -> str:
        return self.benchmark.name

    @property
    def profiles(self) -> list[str]:
        """Names of the rules by which it can be judged; the first is the default."""
        return list(self.benchmark.profiles)

    @cached_property
    def _items(self) -> list[BenchItem]:
        selection = Selection(benchmark=self.benchmark, source=self.source, split=self.split, lang=self.lang)
        profile = default_profile(self.benchmark, self.source.name)
        return [BenchItem(self.benchmark, item, profile) for item in selection.read()]

    @cached_property
    def _by_id(self) -> Mapping[str, BenchItem]:
        return {item.id: item for item in self._items}

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[BenchItem]:
        return iter(self._items)

    @overload
    def __getitem__(self, key: int | str) -> BenchItem: ...
    @overload
    def __getitem__(self, key: slice) -> list[BenchItem]: ...
    def __getitem__(self, key: int | str | slice) -> BenchItem | list[BenchItem]:
        """An item by its place or id, or several by their places. Raises UsageError for an unknown id."""
        if isinstance(key, str):
            if key not in self._by_id:
                raise UsageError(unknown_name("item", key, [*self._by_id][:1000], of=self.name))
            return self._by_id[key]
        return element_at(self._items, key, f"items of {self.name}")

    def __repr__(self) -> str:
        return f"<{self.benchmark.title}: {counted(len(self), 'item')} of {self.source.name}>"


@door
def load(
    name: str | Path,
    *,
    data: str | Path | None = None,
    mode: str | None = None,
    split: str | None = None,
    lang: str | None = None,
) -> Bench:
    """A benchmark by its name, or from a Python file that defines one.

    Args: data, mode, split, lang: as the options of `wildtool run`.

    Raises UsageError for an unknown name, with the nearest one; DataError where its data are not at hand.
    """
    benchmark = load_benchmark(str(name), mode)
    source = data_of(benchmark).locate(None if data is None else str(data), split)
    return Bench(benchmark, source, split=split, lang=lang)


@door
def cases(
    cases: Sequence[Mapping[str, Any]],
    *,
    defaults: Mapping[str, Any] | None = None,
    file: str | Path | None = None,
) -> Bench:
    """A benchmark of own cases, in the form that `docs/own-cases.md` describes.

    They are written to a file, since scores read them again and files that they name lie beside it.

    Args:
        cases: objects with `input`, `expect` and the other keys of a case.
        defaults: keys that hold for all of them, such as `tools`.
        file: where they are written, JSON lines; None for a name in the current folder that follows from their content.

    Raises DataError naming each mistake in them, with the number of the case as its line; then no file is left.
    """
    try:
        head = [{"defaults": defaults}] if defaults else []
        lines = [json_codec.dumps(dict(case)) for case in (*head, *cases)]
    except TypeError as error:
        raise UsageError(f"cases hold what is no JSON: {error}") from None
    content = b"\n".join(lines) + b"\n"
    if not cases:
        raise UsageError("cases= is empty; give a list of objects with 'input' and 'expect'")
    path = Path(file) if file is not None else Path(f"cases-{sha256(content).hexdigest()[:8]}.jsonl")
    if path.suffix != ".jsonl":
        raise UsageError(f"file= is {path}; it is written as JSON lines, so it must end with .jsonl")
    if path.exists() and path.read_bytes() != content and file is not None:
        raise UsageError(f"{path} is there already, with other cases; name another file")
    is_new = not path.exists()
    write_file(path, content)
    bench = load(path)
    try:
        len(bench)  # what is wrong with the cases is said here
    except ToolsNotListedError:
        raise  # the command that lists them reads the file
    except DataError:
        if is_new:
            path.unlink()
        raise
    return bench


@door
def judge(
    *,
    item: BenchItem,
    replies: Sequence[Message | str],
    unit: int | str | None = None,
    profile: str | None = None,
) -> Verdict:
    """The verdict on replies to a unit, as a run with these replies gives it.

    Args:
        item: of a benchmark, as `load` gives it.
        replies: assistant messages in the order of the unit's steps, in any shape that `wildtool.shapes` reads, or texts.
        unit: name of the unit, or its place from 0; None where the item has only one.
        profile: rules to judge by; None for the benchmark's first, or those of the version of its data.

    Raises UsageError for an unknown unit or profile and for what is no message, WildtoolError where the judge fails.
    Where the unit goes on after the last reply, the outcome is `unplayed`.
    """
    rules = profile or item.rules_by_default
    check_profile(item.benchmark, rules)
    if unit is None and len(item.units) > 1:
        raise UsageError(
            f"{item.id} has {len(item.units)} units; name one with unit=: {', '.join(item.units[:20])}"
        )
    try:
        read = tuple(
            Reply(read_answer(reply, Reading(f"reply {number}"))) for number, reply in enumerate(replies, 1)
        )
    except ShapeError as error:
        raise UsageError(f"no assistant message: {error}") from None
    name = item.unit_name(0 if unit is None else unit)
    (verdict,), fault = safe_judge(
        Variant(item.benchmark, (), rules), item.item, {name: Transcript(read)}, rules, only=name
    )
    if fault is not None:
        raise WildtoolError(f"the judge failed on {item.id}: {fault}")
    return verdict


@dataclass(frozen=True, slots=True)
class CallCheck:
    """Whether a call means the same as a gold call; true where it does."""

    correct: bool
    reason: str
    """What differs, a line for each difference; empty for a correct call."""
    differences: tuple[ArgumentDifference, ...] = ()

    def __bool__(self) -> bool:
        return self.correct


@door
def check_call(*, tool: AnyShape, gold: AnyShape, call: AnyShape) -> CallCheck:
    """Compares a call with a gold call by meaning, as the profile `fixed` does.

    Args:
        tool: the tool's definition, in any shape that `wildtool.shapes` reads.
        gold, call: calls in any of these shapes, such as `{"name", "arguments"}`, with arguments as an object or as JSON.

    Raises UsageError where the tool or the gold call cannot be read, where the tool is a call, and for a call whose name
    or arguments are under a key that no shape has; a call whose arguments are no JSON object is wrong.
    """
    try:
        tools = read_entry(tool, Reading())
    except ShapeError as error:
        raise UsageError(f"the tool cannot be read: {error}") from None
    if (tools and _is_call(tool, tools[0].tool)) or is_call(of_json(tool)):
        raise UsageError("tool= is a call with its arguments; give the definition of the tool that is called")
    if len(tools) != 1:
        raise UsageError(f"the tool is {len(tools)} definitions; give the one that is called")
    function = tools[0].tool["function"]
    try:
        gold_name, gold_arguments = _read_call(gold)
    except (ArgumentsError, ShapeError) as error:
        raise UsageError(f"the gold call cannot be read: {error}") from None
    if gold_name != function["name"]:
        raise UsageError(f"the gold call is of {gold_name!r}, the tool is {function['name']!r}")
    _check_name(call)
    try:
        name, arguments = _read_call(call)
    except (ArgumentsError, BrokenError) as error:
        return CallCheck(False, f"the call cannot be read: {error}")
    except ShapeError as error:
        raise UsageError(f"the call has no known shape: {error}") from None
    if name != gold_name:
        return CallCheck(False, f"calls {name}, gold calls {gold_name}")
    differences = compare_arguments(gold_arguments, arguments, as_object(function.get("parameters")))
    return CallCheck(not differences, "\n".join(each.message for each in differences), tuple(differences))


def _is_call(given: AnyShape, tool: Tool) -> bool:
    """Whether what was read as a definition has arguments where one says which parameters there are."""
    if not looks_like_call(given):
        return False
    outer = as_object(next(iter(as_list(of_json(given))), of_json(given)))
    held = as_object(outer.get(FUNCTION)) or outer
    key = next((key for key in ARGUMENT_KEYS if key in held), "")
    properties = as_object(as_object(tool[FUNCTION].get("parameters")).get("properties"))
    words = [word for part in properties.values() for word in [as_object(part).get("type")]]
    if not words:
        return key != "parameters" and not as_object(of_json(held.get(key))).keys() & {"type", "properties"}
    return not all(isinstance(word, list) or word in SCHEMA_TYPES for word in words)


def _check_name(given: AnyShape) -> None:
    """Raises UsageError for a call that has its name under a key that no shape has."""
    call = as_object(of_json(given))
    known = {*NAME_KEYS, *ARGUMENT_KEYS, *ID_KEYS, *CALL_WRAPPERS, "type"}
    others = [key for key, value in call.items() if key not in known and isinstance(value, str)]
    if others and not call.keys() & {*NAME_KEYS, *CALL_WRAPPERS} and call.keys() & ARGUMENT_KEYS.keys():
        raise UsageError(f"the call has no `name`; it has {', '.join(others)}, which no shape has")


def _read_call(call: AnyShape) -> tuple[str, dict[str, Any]]:
    found = shapes.read_calls(call, Reading())
    if len(found) != 1:
        raise BrokenError(f"expected one call, found {len(found)}")
    (read,) = read_calls({"tool_calls": [found[0].message_call(0)]})
    return read
