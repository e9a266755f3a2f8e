"""Checks BFCL's entries for what no reply can satisfy, and describes them in numbers."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from wildtool.benchmark import Finding
from wildtool.benchmarks.bfcl.agentic import has_answer
from wildtool.benchmarks.bfcl.categories import SPLIT_NAMES, split_categories
from wildtool.benchmarks.bfcl.data import REPEATED, has_entries, read_category_file, version_of
from wildtool.benchmarks.bfcl.multi_turn import multi_turn_faults
from wildtool.benchmarks.bfcl.records import BfclEntry, MemoryRecord, MultiTurnRecord, SearchRecord
from wildtool.errors import DataError
from wildtool.json_codec import as_list, as_object
from wildtool.stats.describe import count_metrics
from wildtool.types import Item, Metric, Source


def lint_entries(source: Source) -> Iterator[Finding]:
    """Findings of a folder, category by category; a file that cannot be read is one finding."""
    folder = source.path
    try:
        version = version_of(folder)
    except DataError as error:
        yield Finding(str(folder), "unreadable", str(error))
        return
    ids: set[str] = set()
    for category in split_categories("all"):
        if not has_entries(folder, category, version):
            continue
        try:
            for item in read_category_file(folder, category, version):
                id_, repeated, _ = item.id.partition(REPEATED)
                where = f"{folder}: {id_}"
                if repeated or id_ in ids:
                    yield Finding(where, "repeated id", "an earlier entry has it too")
                ids.add(id_)
                faults = _FAULTS.get(category.kind, _faults)
                yield from (Finding(where, rule, message) for rule, message in faults(item.data))
        except DataError as error:
            yield Finding(str(folder), "unreadable", str(error))


def _faults(record: BfclEntry) -> Iterator[tuple[str, str]]:
    documents = {document["name"]: as_object(document["parameters"]) for document in record.functions}
    if len(documents) < len(record.functions):
        yield "repeated function", "two functions have one name; the rules read the first"
    for answer in record.answers:
        ((name, accepted),) = answer.items()
        # The rules take the only function of these entries, whatever the answer calls it.
        parameters = documents.get(name) or as_object(record.functions[0]["parameters"])
        if name not in documents:
            yield "unknown function", f"the answer calls {name}; offered: {', '.join(documents)}"
        properties, required = as_object(parameters.get("properties")), as_list(parameters.get("required"))
        for parameter in required:
            subject = f"{name}: {parameter!r} is required"
            if parameter not in accepted:
                yield "required without answer", f"{subject}, and no value is accepted"
            elif not as_list(accepted[parameter]) and not isinstance(accepted[parameter], str):
                yield "no accepted value", f"{subject}, and its list of values is empty"
        for parameter, values in accepted.items():
            subject = f"{name}: {parameter!r}"
            if parameter not in properties and "" not in values:
                yield "unknown parameter", f"{subject} is expected, and the document has no such one"
            if not isinstance(values, list):
                yield "accepted values", f"{subject} has a {type(values).__name__}, expected a list"


def _answer_faults(record: MemoryRecord | SearchRecord) -> Iterator[tuple[str, str]]:
    for unit, question in record.questions.items():
        if not any(has_answer(answer, [answer]) for answer in question.answers):
            yield "answer never found", f"{unit}: {question.answers[0]!r} is not found in itself"


_FAULTS: Mapping[str, Callable[[Any], Iterator[tuple[str, str]]]] = {
    "multi_turn": multi_turn_faults,
    "memory": _answer_faults,
    "web_search": _answer_faults,
}
"""By kind of category; for the others `_faults`."""


def stats(source: Source, items: Iterable[Item]) -> Iterator[Metric]:
    """Entries, functions and expected calls by category. Raises DataError."""
    entries: Counter[str] = Counter()
    functions: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    for item in items:
        record: BfclEntry | MultiTurnRecord | MemoryRecord | SearchRecord = item.data
        entries[item.split] += len(item.units)
        functions[item.split] += len(record.functions)
        if isinstance(record, BfclEntry | MultiTurnRecord):
            calls[item.split] += len(record.answers)
    names = [name for name in SPLIT_NAMES if name in entries]
    yield from count_metrics("entries", entries, names)
    yield from count_metrics("functions", functions, names)
    yield from count_metrics("expected calls", calls, [name for name in names if calls[name]])
