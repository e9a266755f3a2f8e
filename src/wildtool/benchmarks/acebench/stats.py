"""Statistics of data in ACEBench's format: records, dialogues, functions, gold calls, types, milestones."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from wildtool.benchmarks.acebench.data import (
    AgentRecord,
    NormalRecord,
    Record,
    categories_in,
    folder_languages,
    read_category,
)
from wildtool.benchmarks.acebench.lint.rules import properties_of
from wildtool.json_codec import as_object
from wildtool.stats.describe import count_metrics, histogram
from wildtool.types import Metric


def stats(folder: Path) -> list[Metric]:
    """The numbers of a folder of ACEBench files, by language and category.

    Raises:
        DataError: naming the file, line, id and field that cannot be read.
    """
    metrics: list[Metric] = []
    for lang in folder_languages(folder):
        records = {
            category: read_category(folder, lang, category) for category in categories_in(folder, lang)
        }
        metrics += _describe(lang, records)
    return metrics


def _describe(lang: str, by_category: Mapping[str, Sequence[Record]]) -> Iterator[Metric]:
    every = [record for records in by_category.values() for record in records]
    names = {function["name"] for record in every for function in record.functions}
    size = {
        "records": len(every),
        "dialogues": sum(map(_dialogues, by_category.values())),
        **{name: sum(map(measure, every)) for name, measure in RECORD_MEASURES.items()},
        "distinct function names": len(names),
    }
    for name, n in size.items():
        yield from count_metrics(f"size ({lang})", {name: n})
    yield from count_metrics(f"records ({lang})", {c: len(records) for c, records in by_category.items()})
    yield from count_metrics(
        f"dialogues ({lang})", {c: _dialogues(records) for c, records in by_category.items()}
    )
    for group, measure in RECORD_MEASURES.items():
        counts = {category: sum(map(measure, records)) for category, records in by_category.items()}
        yield from count_metrics(f"{group} ({lang})", {category: n for category, n in counts.items() if n})
    yield from count_metrics(f"user turns of a dialogue ({lang})", histogram(_turns(every)))
    yield from count_metrics(f"arguments of a gold call ({lang})", histogram(_arguments(every)))
    types = Counter(name for record in every for name in _types(record))
    yield from count_metrics(f"parameter type ({lang})", dict(types.most_common()))


def _dialogues(records: Sequence[Record]) -> int:
    """Records, the turns of a dialogue counted once."""
    return len({record.dialogue for record in records})


RECORD_MEASURES: Mapping[str, Callable[[Record], int]] = {
    "functions offered": lambda record: len(record.functions),
    "gold calls": lambda record: len(record.candidates[0]) if isinstance(record, NormalRecord) else 0,
    "milestones": lambda record: len(record.milestone_lists[0]) if isinstance(record, AgentRecord) else 0,
}
"""What is summed over the records of a category."""


def _turns(records: Sequence[Record]) -> list[int]:
    """What the user says in each dialogue, which its longest record has; episodes in the sandbox, whose user answers the
    agent, are left out."""
    turns: dict[tuple[str, int], int] = {}
    for record in records:
        if not isinstance(record, AgentRecord):
            dialogue = record.category, record.dialogue
            turns[dialogue] = max(turns.get(dialogue, 0), len(record.user_texts))
    return list(turns.values())


def _arguments(records: Sequence[Record]) -> Iterator[int]:
    """Arguments of each call of the first gold answer; episodes, whose milestones are texts, are left out."""
    for record in records:
        if isinstance(record, NormalRecord):
            yield from map(len, record.candidates[0].values())


def _types(record: Record) -> Iterator[str]:
    """Declared types of the parameters of all offered functions, nested ones left out."""
    for function in record.functions:
        for schema in properties_of(function).values():
            declared = as_object(schema).get("type")
            yield declared if isinstance(declared, str) else "none declared"
