"""Multi-turn entries: what one holds, and the checks of state and results after every turn."""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wildtool.benchmark import Check
from wildtool.benchmarks.bfcl.categories import Category
from wildtool.benchmarks.bfcl.simulated import CLASS_MODULES, EXECUTION_ERROR, SimulatedApis
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
UNREAD_CALL = "multi_turn:unread_call"
"""Of profile `fixed` alone (M7)."""

ToolDocument = dict[str, Any]
"""What describes a tool: `name`, `description`, `parameters`."""
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
    functions: tuple[ToolDocument, ...]
    """Documents of the tools that the model has from the first turn on."""
    ground_truth: tuple[tuple[str, ...], ...]
    """The expected calls of each turn; none where nothing can be done yet."""
    withheld: Mapping[int, tuple[ToolDocument, ...]] = field(
        default_factory=dict[int, tuple[ToolDocument, ...]]
    )
    """Turn to the documents of the tools that are first supplied in it."""
    version: str = "v4"

    @property
    def long_context(self) -> bool:
        """Whether state and results are inflated."""
        return self.category.name == LONG_CONTEXT

    @property
    def documents(self) -> tuple[ToolDocument, ...]:
        """Documents of all tools of the classes."""
        return (*self.functions, *(document for added in self.withheld.values() for document in added))

    @property
    def parameters(self) -> Mapping[str, Sequence[str]]:
        """Tool to the names of its parameters, in order."""
        return {one["name"]: tuple(one["parameters"].get("properties", ())) for one in self.documents}

    @property
    def answers(self) -> tuple[str, ...]:
        """The expected calls of all turns."""
        return tuple(call for calls in self.ground_truth for call in calls)

    def instances(self, *, steady: bool = False) -> SimulatedApis:
        """Fresh instances of its classes.

        Args:
            steady: whether a reading leaves the random numbers of later calls as they are.
        """
        return SimulatedApis(
            self.classes,
            self.config,
            version=self.version,
            long_context=self.long_context,
            steady=steady,
        )


# Reading ----------------------------------------------------------------------------------------------


def read_documents(folder: Path) -> dict[str, tuple[ToolDocument, ...]]:
    """By class the documents of its tools, from the data folder. Raises DataError."""
    return {owner: read_tool_documents(folder, name) for owner, name in CLASS_MODULES.items()}


def read_tool_documents(folder: Path, name: str) -> tuple[ToolDocument, ...]:
    """The documents of the tools of one class. Raises DataError. Args: name: of their file, without ending."""
    entries: list[ToolDocument] = []
    for where, document in read_json_lines(document_file(folder, name), "document"):
        required_field(document, "name", str, where)
        required_field(document, "parameters", dict, where)
        entries.append(document)
    return tuple(entries)


def document_file(folder: Path, name: str) -> Path:
    """The file that documents the tools of a class."""
    return folder / DOCUMENT_FOLDER / f"{name}.json"


def parse_multi_turn(
    entry: Mapping[str, Any],
    answer: Mapping[str, Any],
    category: Category,
    documents: Mapping[str, Sequence[ToolDocument]],
    where: str,
    version: str = "v4",
) -> MultiTurnRecord:
    """One entry with its ground truth.

    Args:
        documents: as `read_documents` gives them.
        where: file, line and id, with which errors begin.

    Raises:
        DataError: a field is missing or of another type.
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
    functions = [document for name in classes for document in documents[name]]
    withheld = dict(_withheld(record, functions, len(turns), where))
    return MultiTurnRecord(
        category, tuple(turns), classes, config, tuple(functions), tuple(truth), withheld, version
    )


def read_turn(turn: Any, where: str) -> Iterator[Message]:
    """The messages of one turn. Raises DataError."""
    for number, message in enumerate(checked(turn, list, where)):
        place = f"{where}[{number}]"
        required_field(checked(message, dict, place), "role", str, place)
        required_field(message, "content", str, place)
        yield message


def _withheld(
    record: dict[str, Any], functions: list[ToolDocument], turns: int, where: str
) -> Iterator[tuple[int, tuple[ToolDocument, ...]]]:
    """Turn and documents of the functions that are first supplied in it; they are taken out of `functions`."""
    for turn, names in checked(record.get("missed_function", {}), dict, f"{where}: missed_function").items():
        if not turn.isdecimal() or int(turn) >= turns:
            raise DataError(f"{where}: missed_function: {turn!r} is no turn from 0 to {turns - 1}")
        added: list[ToolDocument] = []
        for name in _texts(names, where, f"missed_function.{turn}"):
            place = next((place for place, one in enumerate(functions) if one["name"] == name), None)
            if place is None:
                raise DataError(f"{where}: missed_function: {name!r} is no tool of the involved classes")
            added.append(functions.pop(place))
        yield int(turn), tuple(added)


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
    pairs = [
        ([call for step in steps for call in step], expected)
        for steps, expected in zip(turns, record.ground_truth, strict=True)
    ]
    for number, (made, wanted, differing) in enumerate(model.beside(truth, pairs, hidden=strict)):
        expected = record.ground_truth[number]
        results.update(made)
        if not expected and not strict:
            continue  # what was called without a need counts by its effects, after the next turn
        place = {"turn": number}
        if expected and not made:
            return Check(False, EMPTY_TURN, f"turn {number}: no call; expected {expected[0]}", detail=place)
        for name, attributes in differing:
            reason = f"turn {number}: other state of {name}: {', '.join(attributes)}"
            return Check(
                False, STATE_MISMATCH, reason, detail={**place, "class": name, "attributes": attributes}
            )
        missing = list((Counter(wanted) - results).elements())
        if missing:
            reason = f"turn {number}: {len(missing)} expected results are missing, such as {missing[0][:200]}"
            return Check(False, RESPONSE_MISMATCH, reason, detail={**place, "missing": missing})
    return Check(True, reason="the state is right after every turn, and all expected results were seen")


def multi_turn_faults(record: MultiTurnRecord) -> Iterator[tuple[str, str]]:
    """For a check of the data: rule and message of each expected call that fails."""
    for call, result in zip(record.answers, record.instances().execute(record.answers), strict=True):
        if result.startswith((EXECUTION_ERROR, '{"error": ')):
            yield "expected call fails", f"{call}: {result}"


# Gold -------------------------------------------------------------------------------------------------


def plain_call(call: str, parameters: Mapping[str, Sequence[str]]) -> tuple[str, dict[str, Any]]:
    """An expected call as name and arguments by name: models cannot give arguments by position. Raises ValueError.

    Args:
        parameters: tool to the names of its parameters.
    """
    node = parse_expression(call)
    if not isinstance(node, ast.Call):
        raise ValueError(f"expected a call, found {call!r}")
    name = dotted_name(node.func)
    by_place = zip(parameters.get(name, ()), map(ast.literal_eval, node.args), strict=False)
    by_name = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
    return name, {**dict(by_place), **by_name}
