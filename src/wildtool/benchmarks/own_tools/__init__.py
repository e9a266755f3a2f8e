"""The benchmark `own-tools`: which tool of a catalogue a model calls for each of some requests."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wildtool.benchmark import Benchmark, Check, Mutant, Rules
from wildtool.data.files import read_json
from wildtool.episode import written_text
from wildtool.errors import DataError
from wildtool.json_codec import as_object, as_objects, required_field
from wildtool.shapes import tool_name
from wildtool.stats.metrics import Rate
from wildtool.stats.tables import Table, error_table, usual_tables
from wildtool.toolcall.call_mutants import calls_message, made_call
from wildtool.trace import said_calls
from wildtool.types import FieldValue, Item, Message, Request, Source, Tool

NO_TOOL, UNKNOWN = "(no tool)", "(not in the catalogue)"
"""Shown for a name where no tool is called, and where the name called is not that of any tool."""
DRAWN, UNRECOGNISED, NO_CALL, NEEDLESS = "drawn away", "not recognised", "no call", "needless call"
ERRORS: Mapping[str, str] = {
    DRAWN: "another tool was called, and the right one once that tool was left out",
    UNRECOGNISED: "another tool was called, and the right one not even once that tool was left out",
    NO_CALL: "no tool was called although one fits",
    NEEDLESS: "a tool was called although none fits",
    "unknown tool": "a name was called that is of no tool",
    "empty reply": "neither a call nor a text",
}
"""Class of a wrong choice to what it means."""
_MISTAKES = frozenset(["call renamed", "text instead of calls", "call instead of text", "empty reply"])


class ChoiceEpisode:
    """A request; and once more without the tools that were called wrongly, to see which description is at fault."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._messages: Sequence[Message] = data["messages"]
        self._tools: Sequence[Tool] = data["tools"]
        self.accepted: Sequence[str] = data["accepted"]
        self.names = list(map(tool_name, self._tools))
        self.choices: list[list[str]] = []
        """Names that each reply calls."""
        self.is_empty = False
        """Whether the first reply has neither call nor text."""

    @property
    def wrong(self) -> list[str]:
        """Names that the first reply calls and that are not accepted."""
        return [name for name in self.choices[0] if name not in self.accepted] if self.choices else []

    @property
    def done(self) -> bool:
        again = self.accepted and any(name in self.names for name in self.wrong)
        return len(self.choices) > bool(again)

    def request(self) -> Request | None:
        """The request with the whole catalogue, or without what was called wrongly."""
        if self.done:
            return None
        tools = [tool for tool in self._tools if tool_name(tool) not in self.wrong]
        return Request(self._messages, tools, gold=self._gold)

    def advance(self, reply: Message) -> None:
        """Takes a reply."""
        if not self.done:
            has_calls = bool(reply.get("tool_calls"))
            self.choices.append([name for name, _ in said_calls(reply)] if has_calls else [])
            self.is_empty |= not has_calls and not (written_text(reply) or "").strip()

    def _gold(self, style: str) -> Message:
        if not self.accepted:
            return {"role": "assistant", "content": "No tool is needed for this."}
        return calls_message([made_call(self.accepted[0], "{}")])


class ChoiceRules(Rules):
    """The first reply is right if all that it calls is accepted; without an accepted tool, if it is a text."""

    def episode(self, item: Item, unit: str) -> ChoiceEpisode:
        return ChoiceEpisode(item.data[unit])

    def answers_calls(self, item: Item, unit: str) -> bool:
        return False

    def verdict(self, episode: ChoiceEpisode, item: Item, unit: str) -> Check:
        first, *later = episode.choices
        pick = (episode.wrong or first or [NO_TOOL])[0]
        if pick not in (*episode.names, NO_TOOL):
            pick = UNKNOWN
        rest = [name for name in (later[0] if later else []) if name in episode.names]
        without = (rest or [NO_TOOL])[0] if later else None
        error = self._error(episode, pick, rest)
        columns: dict[str, FieldValue] = {"called": pick, "called_without_it": without}
        return Check(error is None, error, ERRORS[error] if error else "as the request needs", fields=columns)

    def _error(self, episode: ChoiceEpisode, pick: str, rest: Sequence[str]) -> str | None:
        if not episode.accepted:
            empty = "empty reply" if episode.is_empty else None
            return empty if pick == NO_TOOL else NEEDLESS
        if pick in episode.accepted:
            return None
        if pick == NO_TOOL:
            return "empty reply" if episode.is_empty else NO_CALL
        if pick == UNKNOWN:
            return "unknown tool"
        return DRAWN if rest and set(rest) <= {*episode.accepted} else UNRECOGNISED

    def mutants(self, item: Item) -> Iterable[Mutant]:
        # Arguments are not judged, and a tool called twice is chosen rightly.
        for mutant in super().mutants(item):
            names = [name for name, _ in said_calls(mutant.replies[0])]
            if mutant.kind in _MISTAKES and not {*names} & {*item.data[mutant.unit]["accepted"]}:
                yield mutant


def _numbers(verdicts: Any, profile: str) -> Iterator[Rate]:
    yield Rate("choice", "right", "TRUE", headline=True)
    yield Rate("choice", "right where a tool fits", f"expected <> '{NO_TOOL}'", only_if_any=True)
    yield Rate("choice", "right where none fits", f"expected = '{NO_TOOL}'", only_if_any=True)
    for source in ("own", "made"):
        yield Rate("requests", source, f"source = '{source}'", only_if_any=True)


class ChoiceBenchmark(Benchmark):
    """A catalogue and requests in one file, as `wildtool tools try TOOLS --requests FILE` writes it."""

    name = "own-tools"
    title = "own-tools: which tool of your catalogue a model calls for your requests"
    profiles: Mapping[str, str] = {"choice": "the names that are called; arguments are not judged"}
    modes: Mapping[str, str] = {"fc": "native tool calls"}
    columns: Mapping[str, str] = dict.fromkeys(
        ("expected", "source", "called", "called_without_it"), "VARCHAR"
    )
    groups = ("source",)
    headline: Mapping[str, tuple[str, str]] = {"choice": ("choice", "right")}
    card = Path(__file__).parent / "card.md"
    tables = (
        Table(numbers=_numbers),
        error_table(ERRORS, "The first thing that is wrong, as shares of the wrong requests."),
        *usual_tables(
            "request", "The average per request: tokens as the endpoint reports them, seconds as measured."
        ),
    )

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        tools, rows = read_choices(source.path)
        units: dict[str, dict[str, Any]] = {}
        for row in rows:
            units.setdefault(row["item"], {})[row["unit"]] = {**row, "tools": tools}
        for item, data in units.items():
            its_lang = next(iter(data.values())).get("lang", "en")
            if split in (None, "") and lang in (None, its_lang):
                yield Item(item, tuple(data), data, lang=its_lang)

    def rules(self, profile: str) -> Rules:
        return ChoiceRules()

    def fields(self, item: Item, unit: str) -> Mapping[str, FieldValue]:
        row = item.data[unit]
        return {"expected": (row["accepted"] or [NO_TOOL])[0], "source": row["source"]}


OWN_TOOLS = ChoiceBenchmark()


def read_choices(path: Path) -> tuple[list[Tool], list[dict[str, Any]]]:
    """Tools and requests of a file of data. Raises DataError naming the place."""
    try:
        record = as_object(read_json(path))
    except DataError as error:
        raise DataError(
            f"{path}: no file of `wildtool tools try TOOLS --requests FILE -o FOLDER`: {error}"
        ) from error
    tools: list[Tool] = [*as_objects(required_field(record, "tools", list, str(path)))]
    rows = [*as_objects(required_field(record, "requests", list, str(path)))]
    names = {tool_name(tool) for tool in tools}
    keys = set[tuple[str, str]]()
    for number, row in enumerate(rows, 1):
        where = f"{path}: request {number}"
        key = required_field(row, "item", str, where), required_field(row, "unit", str, where)
        required_field(row, "source", str, where)
        if not required_field(row, "messages", list, where):
            raise DataError(f"{where}: field messages: expected at least one message")
        required_field(row, "accepted", list, where)
        if strange := [each for each in row["accepted"] if not isinstance(each, str) or each not in names]:
            raise DataError(f"{where}: field accepted: {strange[0]!r} is no tool of this file")
        if key in keys:
            raise DataError(f"{where}: item {key[0]} has the unit {key[1]} twice")
        keys.add(key)
    if not rows or "" in names:
        raise DataError(f"{path}: expected requests, and tools with names")
    return tools, rows
