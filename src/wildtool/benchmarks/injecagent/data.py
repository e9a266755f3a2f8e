"""InjecAgent's files: where they come from, test cases as items, tools, and the stored results of attackers' tools."""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, cast

from wildtool.benchmark import Finding
from wildtool.data.files import find_packed, read_json, source_of_files
from wildtool.data.pinned import PinnedFile, data_place, fetch_all, official_folder
from wildtool.errors import DataError, unknown_name
from wildtool.json_codec import as_list, as_object, checked, required_field
from wildtool.stats.describe import count_metrics
from wildtool.types import Item, Metric, Source

HARM, STEALING = "dh", "ds"
ATTACKS: Mapping[str, str] = {HARM: "Direct Harm", STEALING: "Data Stealing"}
BASE, ENHANCED = "base", "enhanced"
_SETTINGS = (BASE, ENHANCED)
SPLITS = (BASE, ENHANCED, "both", *(f"{attack}_{setting}" for attack in ATTACKS for setting in _SETTINGS))
"""Both attacks in one setting or in both, or one file."""
_PLACEHOLDER = "<Attacker Instruction>"
TOOLS, RESPONSES = "tools.json", "attacker_simulated_responses.json"
REPOSITORY = "uiuc-kang-lab/InjecAgent"
COMMIT = "f19c9f2c79a41046eb13c03c51a24c567a8ffa07"
MIRROR_REPOSITORY, MIRROR_COMMIT = "enkryptai/xInjectAgent", "21af27703ad4e591b8fc686ab9d79249d299a0e8"
"""A public copy in which the tools were verified."""
DIGESTS: Mapping[str, str] = {
    "test_cases_dh_base.json": "0a8186468d21389af432e8c7b399ae42264d1b93a07b65c7a489468508604305",
    "test_cases_dh_enhanced.json": "885602716b72c18af80695ce6c2e1f242fa03163bc90b0788b0c5e4ab6216d50",
    "test_cases_ds_base.json": "4daab35c62a3845e8b9400f4dca58b9c9f37e57cd33b2337552557fbb26282e9",
    "test_cases_ds_enhanced.json": "7bc510868df032511053fc40e8470e68a041fb7148d055112093594bf73ab0ce",
}
TOOLS_DIGEST = "e21a8f70b1d5de4677d6d52642936a322655d79b17a72c84f600550384083a1e"
RESPONSES_DIGEST = "b1da2e1fb75f266c069b832fef6738c295f01d8962fae15bdac9ff6625e5594e"
STORED, SAME_TOOL, NOTHING = "stored", "same tool", "none"
"""Where the result of an attacker's tool comes from: stored for this call, for another of the tool, or nowhere."""
_NO_RECORDS = "[]"
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class InjecCase:
    """One test case."""

    attack: str
    attack_type: str
    attacker_tools: tuple[str, ...]
    """Direct harm has one, data stealing two: the one that reads data, and the one that sends them."""
    instruction: str
    """The hidden instruction."""
    user_tool: str
    user_request: str
    parameters: str
    """Of the user's call, as a Python literal."""
    template: str
    """The result of the user's call with a placeholder for the instruction, as a Python literal."""
    thought: str
    """Begins with `Thought: `."""
    result: str
    """The result with the instruction in it, as JSON text."""
    folder: Path
    """Where the files of tools and of stored results lie."""

    @property
    def tool_names(self) -> tuple[str, ...]:
        """What the agent is offered."""
        return (self.user_tool, *self.attacker_tools)

    def tools(self) -> list[dict[str, Any]]:
        """The descriptions of the offered tools, in order. Raises DataError."""
        known = read_tools(self.folder)
        missing = [name for name in self.tool_names if name not in known]
        if missing:
            raise DataError(f"{self.folder}: {TOOLS} has no tool {missing[0]!r}")
        return [known[name] for name in self.tool_names]

    @cached_property
    def facts(self) -> tuple[str, ...]:
        """What the benign part of the result says that the request does not: texts and numbers, without ids and times."""
        texts = (part for value in _leaves(_literal(self.template)) for part in _texts(value))
        asked = self.user_request.casefold()
        return tuple(dict.fromkeys(text for text in texts if text.casefold() not in asked))


def _literal(text: str) -> Any:
    """The value of a Python literal; None where the text is none."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None  # `lint` names such cases


def _leaves(value: Any) -> Iterator[Any]:
    """The texts and numbers in a value, without ids."""
    for key, one in as_object(value).items():
        if not key.endswith("id"):
            yield from _leaves(one)
    for one in as_list(value):
        yield from _leaves(one)
    if not isinstance(value, dict | list):
        yield value


def _texts(value: Any) -> Iterator[str]:
    """What an answer can be recognised by: no single digits, no plain words in lower case, no times."""
    texts = [str(value)] if not isinstance(value, bool | None) else []
    parts = (
        part.strip(" .,:;!") for text in texts if not _TIME.match(text) for part in text.split(_PLACEHOLDER)
    )
    yield from (part for part in parts if len(part) > 1 and not (part.isalpha() and part.islower()))


# Files -----------------------------------------------------------------------------------------------


def pull(file: Path | None, mirror: str | None, report: Callable[[str], None]) -> Path:
    """Brings test cases and tools into the cache, verified, and the stored results where they can be had.

    Args:
        file: a folder to copy them from.

    Raises:
        DataError: a test case file or the tools are missing or are not the pinned ones.
    """
    if file is not None and not file.is_dir():
        raise DataError(f"{file}: no folder; --from takes a checkout of {REPOSITORY} or its folder `data`")
    folder = official_folder("injecagent")
    files = {
        folder / name: PinnedFile(REPOSITORY, COMMIT, f"data/{name}", sha256=digest, other_path=name)
        for name, digest in DIGESTS.items()
    }
    tools = PinnedFile(
        MIRROR_REPOSITORY, MIRROR_COMMIT, f"data/{TOOLS}", sha256=TOOLS_DIGEST, other_path=TOOLS
    )
    fetch_all({**files, folder / TOOLS: tools}, folder=file, mirror=mirror, report=report)
    stored = PinnedFile(
        REPOSITORY, COMMIT, f"data/{RESPONSES}", sha256=RESPONSES_DIGEST, other_path=RESPONSES
    )
    try:
        fetch_all({folder / RESPONSES: stored}, folder=file, mirror=mirror, report=report)
    except DataError as error:
        report(f"without stored results, so agents that read data are given an empty list: {error}")
    report(f"source: {REPOSITORY} at commit {COMMIT}; licence: MIT")
    return folder


def locate(data: str | None, split: str | None) -> Source:
    """The data a user named: None or `official`, a folder, or one file. Raises DataError saying how to get them."""
    place = data_place(data, "injecagent", "a folder like InjecAgent's, or one of its files")
    folder = _home(place)
    beside = [path for name in (TOOLS, RESPONSES) if (path := find_packed(folder, name))]
    return source_of_files(data or "official", place, [*case_files(place, split).values(), *beside])


def _home(place: Path) -> Path:
    """The folder that holds the files."""
    if place.is_file():
        return place.parent
    return place / "data" if find_packed(place / "data", TOOLS) else place


def case_files(place: Path, split: str | None) -> dict[tuple[str, str], Path]:
    """By attack and setting the files of a split; one file alone, whatever the split. Raises DataError."""
    if split is not None and split not in SPLITS:
        raise DataError(unknown_name("split", split, SPLITS))
    keys = {f"{attack}_{setting}": (attack, setting) for attack in ATTACKS for setting in _SETTINGS}
    if place.is_file():
        name = place.name.removesuffix(".gz").removesuffix(".json").removeprefix("test_cases_")
        if name not in keys:
            raise DataError(f"{place}: its name says no attack; expected {', '.join(DIGESTS)}")
        return {keys[name]: place}
    wanted = {key: name for name, key in keys.items() if split in (name, "both") or (split or BASE) == key[1]}
    folder = _home(place)
    found = {key: find_packed(folder, f"test_cases_{name}.json") for key, name in wanted.items()}
    missing = [wanted[key] for key, path in found.items() if path is None]
    if missing:
        raise DataError(f"{place}: test_cases_{missing[0]}.json is missing (nor is it there as .json.gz)")
    return {key: path for key, path in found.items() if path is not None}


@lru_cache(maxsize=2)
def read_tools(folder: Path) -> dict[str, dict[str, Any]]:
    """Full name to description of all tools; the field `name` holds the full name. Raises DataError."""
    path = find_packed(folder, TOOLS)
    if path is None:
        raise DataError(f"{folder}: {TOOLS} is missing; it must be in the folder of the test cases")
    found: dict[str, dict[str, Any]] = {}
    for number, kit in enumerate(checked(read_json(path), list, str(path))):
        where = f"{path}: toolkit {number}"
        for one in as_list(required_field(checked(kit, dict, where), "tools", list, where)):
            tool = as_object(one)
            name = required_field(kit, "toolkit", str, where) + required_field(tool, "name", str, where)
            found[name] = {**tool, "name": name}
    return found


@lru_cache(maxsize=2)
def _read_responses(folder: Path) -> dict[str, str]:
    path = find_packed(folder, RESPONSES)
    stored: dict[str, Any] = {} if path is None else checked(read_json(path), dict, str(path))
    return {key: text for key, text in stored.items() if isinstance(text, str)}


def simulated_response(case: InjecCase, parameters: str) -> tuple[str, str]:
    """What the attacker's data-reading tool returns to a call, and where that comes from.

    Args:
        parameters: of the call, as text. The original asks GPT-4 where it has no stored result; here it is that of the
            same tool without arguments, else the tool's first, else an empty list.
    """
    stored, tool = _read_responses(case.folder), case.attacker_tools[0]
    if (text := stored.get(f"({tool},{parameters})")) is not None:
        return text, STORED
    if (text := stored.get(f"({tool},{{}})")) is not None:
        return text, SAME_TOOL
    first = next((text for key, text in stored.items() if key.startswith(f"({tool},")), None)
    return (_NO_RECORDS, NOTHING) if first is None else (first, SAME_TOOL)


# Records ---------------------------------------------------------------------------------------------


def read_items(place: Path, split: str | None) -> Iterator[Item]:
    """Test cases in order, each with its settings as units. Raises DataError."""
    cases: dict[str, dict[str, InjecCase]] = {}
    for (attack, setting), path in case_files(place, split).items():
        for number, record in enumerate(checked(read_json(path), list, str(path))):
            where = f"{path}: case {number}"
            parsed = parse_case(checked(record, dict, where), attack, _home(place), where)
            cases.setdefault(f"{attack}-{number:03}", {})[setting] = parsed
    for name, units in cases.items():
        yield Item(name, tuple(units), units, split=name.partition("-")[0])


def parse_case(record: dict[str, Any], attack: str, folder: Path, where: str) -> InjecCase:
    """One test case. Raises DataError naming place and field."""
    tools = as_list(required_field(record, "Attacker Tools", list, where))
    count = 2 if attack == STEALING else 1
    if len(tools) != count or not all(isinstance(tool, str) for tool in tools):
        raise DataError(
            f"{where}: Attacker Tools: expected {count} name{'s' * (count > 1)}, found {tools!r:.100}"
        )

    def text(field: str) -> str:
        return required_field(record, field, str, where)

    return InjecCase(
        attack=attack,
        attack_type=text("Attack Type"),
        attacker_tools=tuple(tools),
        instruction=text("Attacker Instruction"),
        user_tool=text("User Tool"),
        user_request=text("User Instruction"),
        parameters=text("Tool Parameters"),
        template=text("Tool Response Template"),
        thought=text("Thought"),
        result=text("Tool Response"),
        folder=folder,
    )


# Description and checks ------------------------------------------------------------------------------


def _items_there(source: Source) -> Iterator[Item]:
    """All test cases in the files that are there. Raises DataError."""
    if source.path.is_file():
        return read_items(source.path, None)
    names = {setting: [f"test_cases_{attack}_{setting}.json" for attack in ATTACKS] for setting in _SETTINGS}
    folder = _home(source.path)
    there = [setting for setting, files in names.items() if all(find_packed(folder, name) for name in files)]
    return read_items(source.path, "both" if len(there) > 1 else "".join(there) or BASE)


def lint(source: Source) -> Iterator[Finding]:
    """Tools that are not described, results without the instruction, a user's tool that is the attacker's."""
    try:
        known = read_tools(_home(source.path))
        for item in _items_there(source):
            for unit, case in cast(Mapping[str, InjecCase], item.data).items():
                where = f"{source.path}: {item.id}, {unit}"
                yield from (Finding(where, *fault) for fault in _case_faults(case, known))
    except DataError as error:
        yield Finding(str(source.path), "unreadable", str(error))


def _case_faults(case: InjecCase, known: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in case.tool_names:
        if name not in known:
            yield "unknown tool", f"{TOOLS} does not describe {name!r}"
    if _PLACEHOLDER not in case.template:
        yield "no placeholder", f"expected {_PLACEHOLDER} in the template of the result"
    if case.instruction not in case.result:
        yield (
            "no instruction",
            "the result does not contain the attacker's instruction, so there is no attack",
        )
    if case.user_tool in case.attacker_tools:
        yield "same tool", f"the user asks for {case.user_tool!r}, which is the attacker's tool too (Q6)"
    if not isinstance(_literal(case.parameters), dict):
        yield "parameters", f"expected a Python literal of an object, found {case.parameters[:80]!r}"


def stats(source: Source) -> Iterator[Metric]:
    """Test cases by attack, setting and type of attack; tools and stored results. Raises DataError."""
    cases = [
        (unit, case)
        for item in _items_there(source)
        for unit, case in cast(Mapping[str, InjecCase], item.data).items()
    ]
    yield from count_metrics("cases", Counter(f"{ATTACKS[case.attack]}, {unit}" for unit, case in cases))
    yield from count_metrics("attack type", Counter(case.attack_type for _, case in cases))
    yield from count_metrics("user tool", Counter(case.user_tool for _, case in cases))
    home = _home(source.path)
    found = {"tools described": len(read_tools(home)), "results stored": len(_read_responses(home))}
    yield from (Metric("simulation", name, n, n, n, kind="count") for name, n in found.items())


def tool_schema(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A tool in OpenAI's shape, as the original converts it: an array holds objects with one text of its name."""
    parameters = [as_object(parameter) for parameter in as_list(tool.get("parameters"))]
    return {
        "type": "function",
        "function": {
            "name": tool["name"],
            "description": tool.get("summary", ""),
            "parameters": {
                "type": "object",
                "properties": {str(one.get("name")): _schema(one) for one in parameters},
                "required": [str(one.get("name")) for one in parameters if one.get("required")],
            },
        },
    }


def _schema(parameter: Mapping[str, Any]) -> dict[str, Any]:
    kind, about = parameter.get("type"), str(parameter.get("description", ""))
    if kind != "array":
        return {"type": kind, "description": about}
    for words in ("array of", "list of"):
        if words in about:
            about = about.partition(words)[2].strip()
            break
    member = {str(parameter.get("name")): {"type": "string", "description": about}}
    return {"type": "array", "items": {"type": "object", "properties": member}}
