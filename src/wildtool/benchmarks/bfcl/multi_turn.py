"""Multi-turn entries: what one holds, and the checks of state and results after every turn."""

import ast
import inspect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from wildtool.benchmark import Check
from wildtool.benchmarks.bfcl.categories import Category
from wildtool.benchmarks.bfcl.simulated import EXECUTION_ERROR, SIMULATED_CLASSES, SimulatedApis, classes_of
from wildtool.benchmarks.bfcl.simulated.base import FILLER_FILE, TABLES_FILE, SimulatedTables
from wildtool.data.files import find_packed
from wildtool.data.pinned import official_folder
from wildtool.errors import DataError
from wildtool.json_codec import checked, read_json_lines, required_field
from wildtool.toolcall.call_syntax import dotted_name, parse_expression
from wildtool.types import Message

LONG_CONTEXT = "multi_turn_long_context"
DOCUMENT_FOLDER = "multi_turn_func_doc"
FORCE_TERMINATED = "multi_turn:force_terminated"
EMPTY_TURN = "multi_turn:empty_turn_model_response"
STATE_MISMATCH = "multi_turn:instance_state_mismatch"
RESPONSE_MISMATCH = "multi_turn:execution_response_mismatch"

TurnCalls = Sequence[Sequence[str]]
"""The calls of one turn, step by step, each as Python text."""


@dataclass(frozen=True, slots=True, eq=False)
class MultiTurnRecord:
    """One multi-turn entry."""

    category: Category
    turns: tuple[tuple[Message, ...], ...]
    """What the user says in each turn; nothing in the turn in which withheld functions are supplied."""
    classes: tuple[str, ...]
    config: Mapping[str, Mapping[str, Any]]
    """Class to its initial state."""
    functions: tuple[dict[str, Any], ...]
    """Documents of all tools of the classes, withheld ones too."""
    ground_truth: tuple[tuple[str, ...], ...]
    """The expected calls of each turn; none where nothing can be done yet."""
    tables: SimulatedTables = field(repr=False)
    withheld: Mapping[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])
    """Turn to the names of the functions that are first supplied in it."""
    version: str = "v4"

    @property
    def long_context(self) -> bool:
        """Whether state and results are inflated."""
        return self.category.name == LONG_CONTEXT

    @property
    def answers(self) -> tuple[str, ...]:
        """The expected calls of all turns."""
        return tuple(call for calls in self.ground_truth for call in calls)

    def instances(self, *, steady: bool = False) -> SimulatedApis:
        """Fresh instances of its classes. Raises DataError.

        Args:
            steady: whether a reading leaves the random numbers of later calls as they are.
        """
        return SimulatedApis(
            self.tables,
            self.classes,
            self.config,
            long_context=self.long_context,
            owners=classes_of(self.version),
            steady=steady,
        )


# Reading ----------------------------------------------------------------------------------------------


def read_documents(folder: Path) -> dict[str, tuple[dict[str, Any], ...]]:
    """By class the documents of its tools, from the data folder. Raises DataError."""
    return {name: read_tool_documents(folder, owner.DOCUMENTS) for name, owner in SIMULATED_CLASSES.items()}


def read_tool_documents(folder: Path, name: str) -> tuple[dict[str, Any], ...]:
    """The documents of the tools of one class. Raises DataError. Args: name: of their file, without ending."""
    entries: list[dict[str, Any]] = []
    for where, document in read_json_lines(document_file(folder, name), "document"):
        required_field(document, "name", str, where)
        required_field(document, "parameters", dict, where)
        entries.append(document)
    return tuple(entries)


def document_file(folder: Path, name: str) -> Path:
    """The file that documents the tools of a class."""
    return folder / DOCUMENT_FOLDER / f"{name}.json"


def tables_folder(folder: Path) -> Path:
    """Where the tables of the simulated classes are: with the data, or else, as for version 3, with those pulled."""
    return folder if find_packed(folder, TABLES_FILE) else official_folder("bfcl")


def simulated_files(folder: Path) -> Iterator[Path]:
    """The files beside questions and answers that multi-turn entries need, as far as they are there."""
    places = [document_file(folder, owner.DOCUMENTS) for owner in SIMULATED_CLASSES.values()]
    found = [find_packed(tables_folder(folder), name) for name in (TABLES_FILE, FILLER_FILE)]
    yield from (path for path in (*places, *found) if path is not None and path.is_file())


def parse_multi_turn(
    entry: Mapping[str, Any],
    answer: Mapping[str, Any],
    category: Category,
    documents: Mapping[str, Sequence[dict[str, Any]]],
    tables: SimulatedTables,
    where: str,
    version: str = "v4",
) -> MultiTurnRecord:
    """One entry with its ground truth.

    Args:
        documents: as `read_documents` gives them.
        where: file, line and id, with which errors begin.

    Raises:
        DataError: a field is missing or of another type, or the initial state cannot be loaded.
    """
    record = dict(entry)
    classes = tuple(_texts(record.get("involved_classes"), where, "involved_classes"))
    for name in classes:
        if name not in documents:
            raise DataError(f"{where}: involved class {name!r}: expected one of {', '.join(documents)}")
    config: dict[str, dict[str, Any]] = checked(
        record.get("initial_config"), dict, f"{where}: field initial_config"
    )
    for name, scenario in config.items():
        checked(scenario, dict, f"{where}: initial_config.{name}")
    question: list[Any] = checked(record.get("question"), list, f"{where}: field question")
    answers: list[Any] = checked(answer.get("ground_truth"), list, f"{where}: field ground_truth")
    turns = [tuple(read_turn(turn, f"{where}: question[{place}]")) for place, turn in enumerate(question)]
    truth = [tuple(_texts(calls, where, f"ground_truth[{place}]")) for place, calls in enumerate(answers)]
    if len(turns) != len(truth):
        raise DataError(f"{where}: {len(turns)} turns, but the answers are for {len(truth)}")
    found = MultiTurnRecord(
        category,
        tuple(turns),
        classes,
        config,
        tuple(document for name in classes for document in documents[name]),
        tuple(truth),
        tables,
        dict(_withheld(record, len(turns), where)),
        version,
    )
    try:
        found.instances()
    except DataError as error:
        raise DataError(f"{where}: {error}") from error
    return found


def read_turn(turn: Any, where: str) -> Iterator[Message]:
    """The messages of one turn. Raises DataError."""
    for number, message in enumerate(checked(turn, list, where)):
        place = f"{where}[{number}]"
        required_field(checked(message, dict, place), "role", str, place)
        required_field(message, "content", str, place)
        yield message


def _withheld(record: dict[str, Any], turns: int, where: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    for turn, names in checked(record.get("missed_function", {}), dict, f"{where}: missed_function").items():
        if not turn.isdecimal() or int(turn) >= turns:
            raise DataError(f"{where}: missed_function: {turn!r} is no turn from 0 to {turns - 1}")
        yield int(turn), tuple(_texts(names, where, f"missed_function.{turn}"))


def _texts(values: Any, where: str, name: str) -> Iterator[str]:
    for value in checked(values, list, f"{where}: {name}"):
        yield checked(value, str, f"{where}: {name}")


# Checking ---------------------------------------------------------------------------------------------


def check_turns(record: MultiTurnRecord, turns: Sequence[TurnCalls], *, strict: bool = False) -> Check:
    """Plays the model's calls and the expected ones on separate instances, and compares them after each turn.

    Source: sections 7.2 and 7.3 of the specification. Pure, and never raises.

    Args:
        turns: the decoded calls of each turn; steps without calls are left out.
        strict: as under `fixed`: forces are compared too, also after turns without expected calls (M1, M2), and a
            reading leaves later ids as they are (M4).
    """
    if len(turns) != len(record.ground_truth):
        reason = f"stopped: {len(turns)} turns, expected {len(record.ground_truth)}"
        return Check(False, FORCE_TERMINATED, reason)
    model, truth = record.instances(steady=strict), record.instances(steady=strict)
    results: Counter[str] = Counter()
    for number, (steps, expected) in enumerate(zip(turns, record.ground_truth, strict=True)):
        made = [model.execute(call) for step in steps for call in step]
        results.update(made)
        wanted = Counter(truth.execute(call) for call in expected)
        if not expected and not strict:
            continue  # what was called without a need counts by its effects, after the next turn
        place = {"turn": number}
        if expected and not made:
            return Check(False, EMPTY_TURN, f"turn {number}: no call; expected {expected[0]}", detail=place)
        for name, differing in _differing(model, truth, strict):
            reason = f"turn {number}: other state of {name}: {', '.join(differing)}"
            return Check(
                False, STATE_MISMATCH, reason, detail={**place, "class": name, "attributes": differing}
            )
        missing = list((wanted - results).elements())
        if missing:
            reason = f"turn {number}: {len(missing)} expected results are missing, such as {missing[0][:200]}"
            return Check(False, RESPONSE_MISMATCH, reason, detail={**place, "missing": missing})
    return Check(True, reason="the state is right after every turn, and all expected results were seen")


def _differing(model: SimulatedApis, truth: SimulatedApis, strict: bool) -> Iterator[tuple[str, list[str]]]:
    """Class and names of the attributes that are not equal."""
    pairs = [(model.states(), truth.states())]
    if strict:
        pairs.append((model.hidden_states(), truth.hidden_states()))
    for found, wanted in pairs:
        for name, state in wanted.items():
            names = [key for key, value in state.items() if not _equal(found[name].get(key), value)]
            if names:
                yield name, names


def _equal(model: Any, truth: Any) -> bool:
    try:
        return bool(model == truth)
    except RecursionError:
        return False  # something holds itself, which nothing expected does


def multi_turn_faults(record: MultiTurnRecord) -> Iterator[tuple[str, str]]:
    """For a check of the data: rule and message of each expected call that no model can make, or that fails."""
    supplied = {document["name"] for document in record.functions}
    for turn, names in record.withheld.items():
        for name in set(names) - supplied:
            yield "unknown function", f"turn {turn} supplies {name!r}, which no involved class has"
    instances = record.instances()
    for call in record.answers:
        result = instances.execute(call)
        if result.startswith((EXECUTION_ERROR, '{"error": ')):
            yield "expected call fails", f"{call}: {result}"


# Gold -------------------------------------------------------------------------------------------------


def plain_call(
    call: str, parameters: Mapping[str, Sequence[str]] | None = None
) -> tuple[str, dict[str, Any]]:
    """An expected call as name and arguments by name: models cannot give arguments by position. Raises ValueError.

    Args:
        parameters: tool to the names of its parameters; None for those of the simulated classes.
    """
    node = parse_expression(call)
    if not isinstance(node, ast.Call):
        raise ValueError(f"expected a call, found {call!r}")
    name = dotted_name(node.func)
    names = _parameters() if parameters is None else parameters
    by_place = zip(names.get(name, ()), map(ast.literal_eval, node.args), strict=False)
    by_name = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
    return name, {**dict(by_place), **by_name}


@cache
def _parameters() -> Mapping[str, Sequence[str]]:
    """Tool to the names of its parameters."""
    tools = {
        name: tool
        for version in ("v4", "v3")  # what only version 3 has comes last
        for owner in classes_of(version).values()
        for name, tool in inspect.getmembers(owner, inspect.isfunction)
    }
    return {name: tuple(inspect.signature(tool).parameters)[1:] for name, tool in tools.items()}
