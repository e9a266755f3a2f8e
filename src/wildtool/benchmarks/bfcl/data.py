"""BFCL's files: questions with their function documents, and the answers beside them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from wildtool.benchmark import Benchmark
from wildtool.benchmarks.bfcl.categories import AST_KINDS, BFCL_CATEGORIES, Category, Kind, split_categories
from wildtool.benchmarks.bfcl.prompt_forms import PROMPT_FORMS
from wildtool.benchmarks.bfcl.records import (
    WEB,
    AcceptedCall,
    BfclEntry,
    MemoryRecord,
    MultiTurnRecord,
    Question,
    SearchRecord,
    ToolDocument,
)
from wildtool.benchmarks.bfcl.simulated import CLASS_MODULES
from wildtool.data.files import find_packed, read_json, read_packed_lines
from wildtool.errors import DataError
from wildtool.json_codec import checked, read_json_lines, required_field
from wildtool.types import FieldValue, Item, Message, Source

VERSIONS = ("v4", "v3")
_QUESTIONS, _ANSWERS = ("question", "", "data"), ("possible_answer",)
"""Folders in which the files may lie; the original keeps questions at the top."""
EARLIER_FOLDER = "memory_prereq_conversation"
WEB_SEARCH_DOCUMENTS = "web_search"

DOCUMENT_FOLDER = "multi_turn_func_doc"


def version_of(folder: Path) -> str:
    """`v4` or `v3`, by the names of the files in a folder. Raises DataError where there are none."""
    for version in VERSIONS:
        for place in (*_QUESTIONS, *_ANSWERS):
            if (folder / place).is_dir() and any((folder / place).glob(f"BFCL_{version}_*.json*")):
                return version
    raise DataError(f"{folder}: holds no BFCL_v4_*.json and no BFCL_v3_*.json (nor .json.gz)")


def question_file(folder: Path, category: Category, version: str) -> Path | None:
    """The file of a category's questions; None where it is not there."""
    return _find(folder, _QUESTIONS, category.file_name(version))


def has_entries(folder: Path, category: Category, version: str) -> bool:
    """Whether a category's questions are there and can be run."""
    return category.runs_in(version) and question_file(folder, category, version) is not None


def answer_file(folder: Path, category: Category, version: str) -> Path | None:
    """The file of a category's answers; None where it is not there or the category has none."""
    return _find(folder, _ANSWERS, category.file_name(version)) if category.has_answers else None


def _find(folder: Path, places: tuple[str, ...], name: str) -> Path | None:
    return next((path for place in places if (path := find_packed(folder / place, name))), None)


def load(
    benchmark: Benchmark, source: Source, *, split: str | None = None, lang: str | None = None
) -> Iterator[Item]:
    """The entries of a split, of all that are there for None. Raises DataError."""
    return (item for item in read_items(source.path, split) if lang in (None, item.lang))


def fields(benchmark: Benchmark, item: Item, unit: str) -> Mapping[str, FieldValue]:
    """The version of the data."""
    return {"version": item.data.version}


def read_items(folder: Path, split: str | None) -> Iterator[Item]:
    """The entries of a split, category by category; of all that are there for None. Raises DataError."""
    version = version_of(folder)
    for category in split_categories(split):
        if split is None and not has_entries(folder, category, version):
            continue
        yield from read_category_file(folder, category, version)


def read_category_file(folder: Path, category: Category, version: str) -> Iterator[Item]:
    """The entries of one category. Raises DataError naming file, line, id and field."""
    questions = question_file(folder, category, version)
    if questions is None:
        raise DataError(
            f"{folder}: {category.file_name(version)} is missing; choose what is there with --split, or get the data"
            " with `wildtool data pull bfcl`"
        )
    read = _READERS.get(category.kind, _single_turn_items)
    yield from read(folder, category, version, questions)


def _single_turn_items(folder: Path, category: Category, version: str, questions: Path) -> Iterator[Item]:
    name_of = RepeatedIds()
    for where, entry, answers in _with_answers(folder, category, version, questions, read_answers):
        record = read_entry(entry, category, where, answers or (), version)
        yield Item(name_of(entry["id"]), ("0",), record, split=category.name)


REPEATED = "#"
"""Stands between the id of an entry that has the id of an earlier one, and its number among them."""


class RepeatedIds:
    """Tells entries of one id apart: two of version 3 are `live_relevance_3-3-0`, and its evaluator counts both."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def __call__(self, id_: str) -> str:
        """The name of the next entry with this id: the id, then `ID#2` and so on."""
        self._seen[id_] += 1
        count = self._seen[id_]
        return id_ if count == 1 else f"{id_}{REPEATED}{count}"


def _multi_turn_items(folder: Path, category: Category, version: str, questions: Path) -> Iterator[Item]:
    documents = read_documents(folder)
    for where, entry, answer in _with_answers(folder, category, version, questions):
        record = parse_multi_turn(entry, answer, category, documents, where, version)
        yield Item(entry["id"], ("0",), record, split=category.name)


def _memory_items(folder: Path, category: Category, version: str, questions: Path) -> Iterator[Item]:
    """An item for each scenario; each of its questions is a unit."""
    functions = read_tool_documents(folder, category.name)
    by_scenario: dict[str, dict[str, Question]] = {}
    for where, entry, answer in _with_answers(folder, category, version, questions):
        question = _read_question(entry, answer, where)
        unit = str(entry["id"]).replace("memory", category.name)
        by_scenario.setdefault(required_field(entry, "scenario", str, where), {})[unit] = question
    for scenario, units in by_scenario.items():
        earlier = [
            tuple(
                tuple(read_turn(turn, f"{where}: question[{place}]"))
                for place, turn in enumerate(cast(list[Any], required_field(entry, "question", list, where)))
            )
            for where, entry in read_packed_lines(earlier_file(folder, scenario), "entry")
        ]
        record = MemoryRecord(category, scenario, tuple(filter(None, earlier)), units, functions)
        yield Item(f"{category.name}:{scenario}", tuple(units), record, split=category.name)


def _search_items(folder: Path, category: Category, version: str, questions: Path) -> Iterator[Item]:
    functions = read_tool_documents(folder, WEB_SEARCH_DOCUMENTS)
    for where, entry, answer in _with_answers(folder, category, version, questions):
        record = SearchRecord(category, _read_question(entry, answer, where), functions)
        name = str(entry["id"]).replace("web_search", category.name)
        yield Item(name, ("0",), record, split=category.name, roles=(WEB,))


def _read_question(entry: dict[str, Any], answer: dict[str, Any], where: str) -> Question:
    """The question of an agentic entry. Raises DataError."""
    turns = cast(list[Any], required_field(entry, "question", list, where))
    messages = tuple(read_turn(turns[0] if turns else None, f"{where}: question[0]"))
    accepted = cast(list[Any], required_field(answer, "ground_truth", list, where))
    if not accepted or not all(isinstance(text, str) for text in accepted):
        raise DataError(f"{where}: field ground_truth: expected texts, at least one")
    return Question(messages, tuple(accepted))


def earlier_file(folder: Path, scenario: str) -> Path:
    """The file of the conversations before a scenario's questions. Raises DataError."""
    if not scenario.isidentifier():
        raise DataError(f"{folder}: scenario {scenario!r}: expected one word")
    path = find_packed(folder / EARLIER_FOLDER, f"memory_{scenario}.json")
    if path is None:
        raise DataError(f"{folder}: {EARLIER_FOLDER}/memory_{scenario}.json is missing")
    return path


def _with_answers(
    folder: Path,
    category: Category,
    version: str,
    questions: Path,
    read: Callable[[dict[str, Any], str], Any] = lambda answer, where: answer,
) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Place, question and answer of each entry, the answer None where the category has none.

    Args:
        read: checks an answer, given its place; answers belong to questions by their places.
    """
    answers: list[Any] | None = None
    if category.has_answers:
        path = answer_file(folder, category, version)
        if path is None:
            raise DataError(f"{folder}: possible_answer/{category.file_name(version)} is missing")
        answers = [read(answer, where) for where, answer in read_packed_lines(path, "entry")]
    for place, (where, entry) in enumerate(read_packed_lines(questions, "entry")):
        where = f"{where} (id {required_field(entry, 'id', str, where)!r})"
        if answers is not None and place >= len(answers):
            raise DataError(f"{where}: the file of answers has only {len(answers)}")
        yield where, entry, None if answers is None else answers[place]


def _form_items(folder: Path, category: Category, version: str, questions: Path) -> Iterator[Item]:
    """Entries of other categories; each form of the prompt is a unit."""
    for base, names in form_entries(questions).items():
        items = {item.id: item for item in read_category_file(folder, base, version)}
        for name in names:
            if name not in items:
                raise DataError(f"{questions}: {base.name} has no entry {name!r}")
            yield Item(f"{category.name}:{name}", tuple(PROMPT_FORMS), items[name].data, split=category.name)


def form_entries(path: Path) -> Mapping[Category, Sequence[str]]:
    """The ids of the entries of format sensitivity by category. Raises DataError."""
    forms: dict[Category, Sequence[str]] = {}
    for name, ids in checked(read_json(path), dict, str(path)).items():
        if name not in BFCL_CATEGORIES or BFCL_CATEGORIES[name].kind not in AST_KINDS:
            raise DataError(f"{path}: {name!r}: expected a category with expected calls")
        forms[BFCL_CATEGORIES[name]] = [
            checked(id_, str, f"{path}: {name}") for id_ in checked(ids, list, str(path))
        ]
    return forms


_READERS: Mapping[Kind, Callable[[Path, Category, str, Path], Iterator[Item]]] = {
    "multi_turn": _multi_turn_items,
    "memory": _memory_items,
    "web_search": _search_items,
    "forms": _form_items,
}
"""By kind of category, given folder, category, version and file of questions; for the others `_single_turn_items`."""


def read_answers(entry: dict[str, Any], where: str) -> tuple[AcceptedCall, ...]:
    """The expected calls of one line. Raises DataError."""
    calls: list[AcceptedCall] = []
    for number, call in enumerate(cast(list[Any], required_field(entry, "ground_truth", list, where))):
        place = f"{where}: ground_truth[{number}]"
        parts = checked(call, dict, place)
        if len(parts) != 1:
            raise DataError(f"{place}: expected one function, found {len(parts)}")
        for name, parameters in parts.items():
            checked(parameters, dict, f"{place}.{name}")
        calls.append(parts)
    return tuple(calls)


def read_entry(
    entry: dict[str, Any],
    category: Category,
    where: str,
    answers: tuple[AcceptedCall, ...] = (),
    version: str = "v4",
) -> BfclEntry:
    """One question with its functions. Raises DataError."""
    turns = cast(list[Any], required_field(entry, "question", list, where))
    if len(turns) != 1 or not isinstance(turns[0], list):
        raise DataError(f"{where}: field question: expected one turn, a list of messages")
    messages = cast(list[Any], turns[0])
    for number, message in enumerate(messages):
        _check_message(message, where, number)
    functions = cast(list[Any], required_field(entry, "function", list, where))
    for number, function in enumerate(functions):
        _check_function(function, where, number)
    if not functions and category.kind not in ("irrelevance", "relevance"):
        raise DataError(f"{where}: field function: expected at least one")
    return BfclEntry(category, tuple(messages), tuple(functions), answers, version)


# The places of what is right are never written: they are a third of the time of reading.


def _check_message(message: Any, where: str, number: int) -> None:
    match message:
        case {"role": str(), "content": str()}:
            return
        case _:
            place = f"{where}: question[0][{number}]"
            required_field(checked(message, dict, place), "role", str, place)
            required_field(message, "content", str, place)


def _check_function(function: Any, where: str, number: int) -> None:
    match function:
        case {"name": str(), "parameters": {"properties": {}}}:
            return
        case _:
            place = f"{where}: function[{number}]"
            required_field(checked(function, dict, place), "name", str, place)
            parameters: Any = function.get("parameters")
            checked(parameters, dict, f"{place}: field parameters")
            checked(parameters.get("properties", {}), dict, f"{place}.parameters: field properties")


# Entries of several turns -----------------------------------------------------------------------------


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
            place = next((place for place, each in enumerate(functions) if each["name"] == name), None)
            if place is None:
                raise DataError(f"{where}: missed_function: {name!r} is no tool of the involved classes")
            added.append(functions.pop(place))
        yield int(turn), tuple(added)


def _texts(values: Any, where: str, name: str) -> Iterator[str]:
    for value in checked(values, list, f"{where}: {name}"):
        yield checked(value, str, f"{where}: {name}")
