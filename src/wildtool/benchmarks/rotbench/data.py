"""RoTBench's files: where they come from, and their records as items.

A clean record and its noisy variants are one item with a unit each, so that statistics pair them.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, cast

from wildtool.benchmark import Benchmark
from wildtool.data.data_set import DataSet, deferred
from wildtool.data.files import read_record_list
from wildtool.errors import DataError
from wildtool.findings import Finding, fault
from wildtool.json_codec import as_list, as_object, json_type, required_field
from wildtool.stats.describe import count_metrics, measure_metrics
from wildtool.types import FieldValue, Item, Message, Metric, Source

ENVIRONMENTS = ("clean", "slight", "medium", "heavy", "union")
SCENARIOS = ("TG", "RS", "DU", "PL", "AM", "IR", "FT")
"""Text generation, real-time search, data understanding, personal life, application manipulation, information retrieval,
financial transactions."""
FIRST, THIRD = "first", "third"
"""Turns: the first call of a dialogue, or the third after two with their results."""
_FOLDERS: Mapping[str, str] = {FIRST: "First_Turn", THIRD: "Third_Turn"}
NO_MATTER = "None"
"""Value of an accepted answer whose parameter may have any value."""
_END_OF_TOOLS = "\n\nLet's Begin!"
_MARKS = "Action:", "Action Input:"


@dataclass(frozen=True, slots=True)
class Answer:
    """One accepted answer."""

    text: str
    """As in the data: thought, action and action input."""
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RotRecord:
    """One record of a file."""

    environment: str
    noise: str
    """What carries noise: `none`, `tools`, `parameters` or `both`."""
    turn: str
    scenario: str
    turns: tuple[tuple[str, str], ...]
    """Role and text of each turn before the answer; the roles are system, user, assistant, function."""
    tools: tuple[Mapping[str, Any], ...]
    """The last one ends the task and the last but one asks the user, whatever noise has called them."""
    answers: tuple[Answer, ...]
    position: int = 0
    """Place in its file, from 0: result files of the original name no ids."""

    @property
    def finish(self) -> str:
        """Name of the tool that ends the task."""
        return self.tools[-1]["name"]

    @property
    def ask(self) -> str:
        """Name of the tool that asks the user."""
        return self.tools[-2]["name"]

    def tool(self, name: str, keys: Mapping[str, Any]) -> Mapping[str, Any]:
        """The schema of the parameters of a tool; of several of one name that which has all the keys."""
        schemas = [as_object(tool.get("parameters")) for tool in self.tools if tool["name"] == name]
        fitting = (schema for schema in schemas if keys.keys() <= as_object(schema.get("properties")).keys())
        return next(fitting, schemas[0] if schemas else {})

    def best_answer(self) -> Answer:
        """The first accepted answer with parameters, as the published rules refuse others (Q1); else the first."""
        return next((answer for answer in self.answers if answer.arguments), self.answers[0])

    def messages(self) -> list[Message]:
        """The dialogue as chat messages; results of tools, which no native call asked for, come from the user."""
        return [
            {"role": "user" if role == "function" else role, "content": text} for role, text in self.turns
        ]

    def prompt(self) -> str:
        """The dialogue as one text to be continued: nothing stands between its turns."""
        return "".join(text for _, text in self.turns)


# Records ---------------------------------------------------------------------------------------------


def load(
    benchmark: Benchmark, source: Source, *, split: str | None = None, lang: str | None = None
) -> Iterator[Item]:
    """Each clean record with its noisy variants, in the order of the clean ones. Raises DataError."""
    groups: dict[tuple[str, str], dict[str, RotRecord]] = {}
    for file, path in DATA.files_of(source.path, split).items():
        environment = PurePosixPath(file).stem
        counts: dict[str, int] = {}
        for position, (where, record) in enumerate(read_record_list(path)):
            name = required_field(record, "id", str, where)
            count = counts[name] = counts.get(name, 0) + 1
            parsed = parse_record(record, environment, count, f"{where} (id {name[:60]!r})")
            units = groups.setdefault((parsed.turn, name), {})
            unit = environment if environment in ("clean", "union") else f"{environment}-{parsed.noise}"
            units[unit if unit not in units else f"{unit}-{count}"] = replace(parsed, position=position)
    numbers: dict[str, int] = {}
    for (turn, _), units in groups.items():
        number = numbers[turn] = numbers.get(turn, -1) + 1
        item = Item(f"{turn}-{number:03}", tuple(units), units, split=turn)
        if lang in (None, item.lang):
            yield item


def parse_record(record: dict[str, Any], environment: str, count: int, where: str) -> RotRecord:
    """One record. Raises DataError naming place and field.

    Args:
        count: how often its id has occurred in its file, this time included: the first carries noise on tools.
    """
    turns = as_list(required_field(record, "conversations", list, where))
    texts: list[tuple[str, str]] = []
    for number, turn in enumerate(turns[:-1]):
        place = f"{where}: conversations[{number}]"
        entry = as_object(turn)
        texts.append((required_field(entry, "from", str, place), required_field(entry, "value", str, place)))
    if len(texts) < 2 or texts[0][0] != "system":
        raise DataError(f"{where}: conversations: expected a system turn, the user's and the answers")
    answers = as_list(required_field(as_object(turns[-1]), "value", list, where))
    if not answers:
        raise DataError(f"{where}: the last turn has no accepted answer")
    return RotRecord(
        environment=environment,
        noise={"clean": "none", "union": "both"}.get(environment)
        or ("tools" if count == 1 else "parameters"),
        turn=FIRST if len(texts) == 2 else THIRD,
        scenario=required_field(record, "scenario", str, where),
        turns=tuple(texts),
        tools=_tools(texts[0][1], where),
        answers=tuple(parse_answer(text, f"{where}: answer {number}") for number, text in enumerate(answers)),
    )


def _tools(system: str, where: str) -> tuple[Mapping[str, Any], ...]:
    start, end = system.find("["), system.rfind(_END_OF_TOOLS)
    try:
        tools = as_list(json.loads(system[start : end if end >= 0 else None]) if start >= 0 else None)
    except ValueError as error:
        raise DataError(f"{where}: the tools in the system turn are not JSON ({error})") from error
    if len(tools) < 2:
        raise DataError(f"{where}: expected a list of at least two tools in the system turn")
    for number, tool in enumerate(tools):
        required_field(as_object(tool), "name", str, f"{where}: tool {number}")
    return tuple(tools)


def parse_answer(text: Any, where: str = "answer") -> Answer:
    """One accepted answer. Raises DataError naming the place."""
    if not isinstance(text, str):
        raise DataError(f"{where}: expected a text, found {json_type(text)}")
    action, input_at = (text.find(mark) for mark in _MARKS)
    try:
        arguments = json.loads(text[input_at + len(_MARKS[1]) :])
    except ValueError as error:
        raise DataError(f"{where}: the action input is not JSON ({error})") from error
    if not 0 <= action < input_at or not isinstance(arguments, dict):
        raise DataError(f"{where}: expected `Action: NAME` and `Action Input: OBJECT`")
    return Answer(text, text[action + 8 : input_at].removesuffix("\n"), cast(dict[str, Any], arguments))


# What a benchmark declares ---------------------------------------------------------------------------


def fields(benchmark: Benchmark, item: Item, unit: str) -> Mapping[str, FieldValue]:
    """Turn, environment, noise and scenario of a record."""
    return {name: getattr(item.data[unit], name) for name in ("turn", "environment", "noise", "scenario")}


def _user_texts(item: Item) -> Sequence[str]:
    return [
        text.removesuffix("\nBegin!\n")
        for record in item.data.values()
        for role, text in record.turns
        if role == "user"
    ]


def _faults(record: RotRecord) -> Iterator[Finding]:
    """What a model that follows the tool list cannot answer as the data want it."""
    names = [tool["name"] for tool in record.tools]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        yield fault("repeated tool", f"two tools are called {name!r}; rename one")
    for number, answer in enumerate(record.answers):
        declared = as_object(record.tool(answer.name, answer.arguments).get("properties"))
        if answer.name not in names:
            yield fault("unknown tool", f"answer {number} calls {answer.name!r}, which is not offered")
        for key in [key for key in answer.arguments if key not in declared]:
            parameters = ", ".join(declared) or "none"
            message = f"answer {number} gives {key!r}; {answer.name!r} declares {parameters}"
            yield fault("unknown parameter", message)
    if not any(answer.arguments for answer in record.answers):
        message = "every accepted answer has an empty input, which toleap and original refuse (Q1)"
        yield fault("empty input", message)


def _stats(source: Source, items: Iterable[Item]) -> Iterator[Metric]:
    """Records, tools and accepted answers by environment, and records by scenario."""
    records = [record for item in items for record in cast(Mapping[str, RotRecord], item.data).values()]
    yield from measure_metrics(
        records,
        lambda record: f"{record.turn}, {record.environment}",
        {
            "records": lambda record: 1,
            "tools offered": lambda record: len(record.tools),
            "accepted answers": lambda record: len(record.answers),
            "no accepted answer with parameters": lambda record: not record.best_answer().arguments,
        },
    )
    yield from count_metrics("scenario", Counter(record.scenario for record in records), SCENARIOS)


def _files(turn: str, environments: Sequence[str] = ENVIRONMENTS) -> list[str]:
    return [f"{_FOLDERS[turn]}/{environment}.json" for environment in environments]


RULES_OF_DATA = (_faults,)
DATA = DataSet(
    name="rotbench",
    repository="Junjie-Ye/RoTBench",
    commit="637e43ae9a978036774c92bb2ab11a83609e304b",
    home="Data",
    files={
        "First_Turn/clean.json": "a367dc165c0bb09f4002c89ab9a6884ef2383547d8e6d21511c7c0153e7ff1cd",
        "First_Turn/slight.json": "a47aee08eec1d6b9519c227829a076ce05e2737455e0d7589921460f8cbe9825",
        "First_Turn/medium.json": "ad73ad3cad2ecd76bd2f0a2c7fb6e8dd3f599d20b6177b07ab5ad5fe6330e4be",
        "First_Turn/heavy.json": "061ffc421a9fa8b51abacfeab6880d42b86661d529e048f0cb09f2bee527533b",
        "First_Turn/union.json": "61ffacb834ebaac9aa317eb45e1e8b8c3f2c659696139b9dd3b7272491cff911",
        "Third_Turn/clean.json": "dee124e3df46b47cb31afb95454131030c09aaf8bc0296b7e9d15266092c125b",
        "Third_Turn/slight.json": "9eb3d65ef1322ae1d1281c508e81c716a8c6531678e8e23ac033e1703488327b",
        "Third_Turn/medium.json": "9119d71cc2371a5fb6f502a7d0298d70a1ae21908437fdd6e0c0365dbd8e3293",
        "Third_Turn/heavy.json": "75928e4bc969d95418883f335125da4368d67df57a1e34c94c0230b3c2ceda3d",
        "Third_Turn/union.json": "89427db39c7fc0db183494cc8d08746b77c57d3e720d937167635f9adc11c00d",
    },
    licence="Apache-2.0, as its LICENSE says",
    splits={
        "": _files(FIRST),
        FIRST: _files(FIRST),
        THIRD: _files(THIRD),
        **{name: _files(FIRST, [name]) for name in ENVIRONMENTS},
        **{f"{THIRD}-{name}": _files(THIRD, [name]) for name in ENVIRONMENTS},
    },
    parts=(FIRST, THIRD),
    suffixes=(".json",),  # JSON Lines are other benchmarks' data
    takes="a folder like RoTBench's Data, or one of its files",
    copies="a checkout of Junjie-Ye/RoTBench or a folder with First_Turn and Third_Turn",
    user_texts=_user_texts,
    read_results=deferred("wildtool.benchmarks.rotbench.results:read_results"),
    stats=_stats,
)
