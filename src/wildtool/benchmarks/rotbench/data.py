"""RoTBench's files: where they come from, and their records as items.

A clean record and its noisy variants are one item with a unit each, so that statistics pair them.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from wildtool.benchmark import Finding
from wildtool.data.files import find_packed, read_record_list, source_of_files
from wildtool.data.pinned import PinnedFile, data_place, fetch_all, official_folder
from wildtool.errors import DataError, unknown_name
from wildtool.json_codec import as_list, as_object, json_type, required_field
from wildtool.stats.describe import count_metrics
from wildtool.types import Item, Message, Metric, Source

ENVIRONMENTS = ("clean", "slight", "medium", "heavy", "union")
SCENARIOS = ("TG", "RS", "DU", "PL", "AM", "IR", "FT")
"""Text generation, real-time search, data understanding, personal life, application manipulation, information retrieval,
financial transactions."""
FIRST, THIRD = "first", "third"
"""Turns: the first call of a dialogue, or the third after two with their results."""
FOLDERS: Mapping[str, str] = {FIRST: "First_Turn", THIRD: "Third_Turn"}
SPLITS = (FIRST, THIRD, *ENVIRONMENTS, *(f"{THIRD}-{name}" for name in ENVIRONMENTS))
"""A turn in all environments, or one environment (of the first turn unless it says `third-`)."""
NO_MATTER = "None"
"""Value of an accepted answer whose parameter may have any value."""

REPOSITORY = "Junjie-Ye/RoTBench"
COMMIT = "637e43ae9a978036774c92bb2ab11a83609e304b"
DIGESTS: Mapping[tuple[str, str], str] = {
    (FIRST, "clean"): "a367dc165c0bb09f4002c89ab9a6884ef2383547d8e6d21511c7c0153e7ff1cd",
    (FIRST, "slight"): "a47aee08eec1d6b9519c227829a076ce05e2737455e0d7589921460f8cbe9825",
    (FIRST, "medium"): "ad73ad3cad2ecd76bd2f0a2c7fb6e8dd3f599d20b6177b07ab5ad5fe6330e4be",
    (FIRST, "heavy"): "061ffc421a9fa8b51abacfeab6880d42b86661d529e048f0cb09f2bee527533b",
    (FIRST, "union"): "61ffacb834ebaac9aa317eb45e1e8b8c3f2c659696139b9dd3b7272491cff911",
    (THIRD, "clean"): "dee124e3df46b47cb31afb95454131030c09aaf8bc0296b7e9d15266092c125b",
    (THIRD, "slight"): "9eb3d65ef1322ae1d1281c508e81c716a8c6531678e8e23ac033e1703488327b",
    (THIRD, "medium"): "9119d71cc2371a5fb6f502a7d0298d70a1ae21908437fdd6e0c0365dbd8e3293",
    (THIRD, "heavy"): "75928e4bc969d95418883f335125da4368d67df57a1e34c94c0230b3c2ceda3d",
    (THIRD, "union"): "89427db39c7fc0db183494cc8d08746b77c57d3e720d937167635f9adc11c00d",
}
"""SHA-256 of each file."""
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


# Files -----------------------------------------------------------------------------------------------


def pinned_files() -> dict[Path, PinnedFile]:
    """Target to pinned file."""
    return {
        official_folder("rotbench") / FOLDERS[turn] / f"{environment}.json": PinnedFile(
            REPOSITORY,
            COMMIT,
            f"Data/{FOLDERS[turn]}/{environment}.json",
            sha256=digest,
            other_path=f"{FOLDERS[turn]}/{environment}.json",
        )
        for (turn, environment), digest in DIGESTS.items()
    }


def pull(file: Path | None, mirror: str | None, report: Callable[[str], None]) -> Path:
    """Brings the ten files into the cache, verified; `file` is a folder to copy them from."""
    if file is not None and not file.is_dir():
        raise DataError(
            f"{file}: no folder; --from takes a checkout of {REPOSITORY} or a folder with First_Turn and Third_Turn"
        )
    fetch_all(pinned_files(), folder=file, mirror=mirror, report=report)
    report(f"source: {REPOSITORY} at commit {COMMIT}; licence: Apache-2.0, as its LICENSE says")
    return official_folder("rotbench")


def locate(data: str | None, split: str | None) -> Source:
    """The data a user named: None or `official`, a folder, or one file. Raises DataError saying how to get them."""
    place = data_place(data, "rotbench", "a folder like RoTBench's Data, or one of its files")
    # JSON Lines are other benchmarks' data.
    if place.is_file() and place.name.removesuffix(".gz").endswith(".json"):
        return source_of_files(str(place), place, [place])
    if not place.is_dir():
        raise DataError(
            f"{place}: neither a folder nor a .json file; expected RoTBench's Data or one of its files"
        )
    return source_of_files(data or "official", place, files_of(place, split).values())


def files_of(place: Path, split: str | None) -> dict[tuple[str, str], Path]:
    """By turn and environment the files of a split; with one file that alone, whatever the split. Raises DataError."""
    turn, environments = _parts(split)
    if place.is_file():
        return {(turn, place.name.removesuffix(".gz").removesuffix(".json")): place}
    folders = (
        place / "Data" / FOLDERS[turn],
        place / FOLDERS[turn],
        *([place] if turn == FIRST or place.name == FOLDERS[turn] else []),
    )
    for folder in folders:
        found = {(turn, name): find_packed(folder, f"{name}.json") for name in environments}
        if any(found.values()):
            break
    else:
        raise DataError(f"{place}: holds no {FOLDERS[turn]}/{environments[0]}.json (nor .json.gz)")
    missing = [name for (_, name), path in found.items() if path is None]
    if missing:
        raise DataError(
            f"{folder}: {missing[0]}.json is missing; choose what is there with --split: {', '.join(SPLITS)}"
        )
    return {key: path for key, path in found.items() if path is not None}


def _parts(split: str | None) -> tuple[str, tuple[str, ...]]:
    """Turn and environments of a split."""
    if split is not None and split not in SPLITS:
        raise DataError(unknown_name("split", split, SPLITS))
    turn = THIRD if (split or "").startswith(THIRD) else FIRST
    environment = (split or FIRST).removeprefix(f"{THIRD}-")
    return turn, (environment,) if environment in ENVIRONMENTS else ENVIRONMENTS


# Records ---------------------------------------------------------------------------------------------


def read_items(source: Source, split: str | None) -> Iterator[Item]:
    """Each clean record with its noisy variants, in the order of the clean ones. Raises DataError."""
    groups: dict[tuple[str, str], dict[str, RotRecord]] = {}
    for (_, environment), path in files_of(source.path, split).items():
        seen: dict[str, int] = {}
        for where, record in read_record_list(path):
            name = required_field(record, "id", str, where)
            count = seen[name] = seen.get(name, 0) + 1
            parsed = parse_record(record, environment, count, f"{where} (id {name[:60]!r})")
            units = groups.setdefault((parsed.turn, name), {})
            unit = environment if environment in ("clean", "union") else f"{environment}-{parsed.noise}"
            units[unit if unit not in units else f"{unit}-{count}"] = parsed
    numbers: dict[str, int] = {}
    for (turn, _), units in groups.items():
        number = numbers[turn] = numbers.get(turn, -1) + 1
        yield Item(f"{turn}-{number:03}", tuple(units), units, split=turn)


def parse_record(record: dict[str, Any], environment: str, count: int, where: str) -> RotRecord:
    """One record. Raises DataError naming place and field.

    Args:
        count: how often its id has occurred in its file, this time included: the first carries noise on tools.
    """
    turns = as_list(required_field(record, "conversations", list, where))
    texts: list[tuple[str, str]] = []
    for number, turn in enumerate(turns[:-1]):
        place = f"{where}: conversations[{number}]"
        said = as_object(turn)
        texts.append((required_field(said, "from", str, place), required_field(said, "value", str, place)))
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
    action, given = (text.find(mark) for mark in _MARKS)
    try:
        arguments = json.loads(text[given + len(_MARKS[1]) :])
    except ValueError as error:
        raise DataError(f"{where}: the action input is not JSON ({error})") from error
    if not 0 <= action < given or not isinstance(arguments, dict):
        raise DataError(f"{where}: expected `Action: NAME` and `Action Input: OBJECT`")
    return Answer(text, text[action + 8 : given].removesuffix("\n"), cast(dict[str, Any], arguments))


# Description and checks ----------------------------------------------------------------------------------------------


def lint(source: Source) -> Iterator[Finding]:
    """What a model that follows the tool list cannot answer as the data want it."""
    for split in (FIRST, THIRD):
        try:
            items = list(read_items(source, split))
        except DataError as error:
            if split == FIRST:
                yield Finding(str(source.path), "unreadable", str(error))
            continue
        for item in items:
            for unit, record in cast(Mapping[str, RotRecord], item.data).items():
                yield from _lint_record(f"{source.path}: {item.id}, {unit}", record)
        if source.path.is_file():
            return


def _lint_record(where: str, record: RotRecord) -> Iterator[Finding]:
    names = [tool["name"] for tool in record.tools]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        yield Finding(where, "repeated tool", f"two tools are called {name!r}; rename one")
    for number, answer in enumerate(record.answers):
        declared = as_object(record.tool(answer.name, answer.arguments).get("properties"))
        if answer.name not in names:
            yield Finding(
                where, "unknown tool", f"answer {number} calls {answer.name!r}, which is not offered"
            )
        for key in answer.arguments.keys() - declared.keys():
            message = (
                f"answer {number} gives {key!r}; {answer.name!r} declares {', '.join(declared) or 'none'}"
            )
            yield Finding(where, "unknown parameter", message)
    if not any(answer.arguments for answer in record.answers):
        message = "every accepted answer has an empty input, which toleap and original refuse (Q1)"
        yield Finding(where, "empty input", message)


def stats(source: Source) -> Iterator[Metric]:
    """Records, tools and accepted answers by environment, and records by scenario. Raises DataError."""
    turns = (FIRST, THIRD) if source.path.is_dir() else (FIRST,)
    found = [
        record
        for turn in turns
        if source.path.is_file() or _has(source.path, turn)
        for item in read_items(source, turn)
        for record in cast(Mapping[str, RotRecord], item.data).values()
    ]
    measures: Mapping[str, Callable[[RotRecord], int]] = {
        "records": lambda record: 1,
        "tools offered": lambda record: len(record.tools),
        "accepted answers": lambda record: len(record.answers),
        "no accepted answer with parameters": lambda record: not record.best_answer().arguments,
    }
    for name, measure in measures.items():
        counts: Counter[str] = Counter()
        for record in found:
            counts[f"{record.turn}, {record.environment}"] += measure(record)
        yield from count_metrics(name, counts)
    yield from count_metrics("scenario", Counter(record.scenario for record in found), SCENARIOS)


def _has(folder: Path, turn: str) -> bool:
    try:
        return bool(files_of(folder, turn))
    except DataError:
        return False
