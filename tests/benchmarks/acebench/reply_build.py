"""Builds the smallest Normal and Special records that a statement about ACEBench needs; every text is invented."""

from typing import Any

from wildtool.benchmarks.acebench.data import ItemData, NormalRecord, SpecialRecord
from wildtool.types import Item

SINGLE = "normal_single_turn_single_function"


def tool(name: str = "f", **properties: Any) -> dict[str, Any]:
    return {
        "name": name,
        "description": "d",
        "parameters": {"type": "object", "properties": properties, "required": []},
    }


def normal(
    *gold: dict[str, dict[str, Any]], functions: tuple[dict[str, Any], ...] = (), **changed: Any
) -> Any:
    """A Normal record with candidates and functions; `changed` gives any other field."""
    given = {
        "id": f"{SINGLE}_0",
        "category": SINGLE,
        "lang": "en",
        "dialogue": 0,
        "turn": 0,
        "question": "user: Do it.\n",
        "functions": functions or (tool(),),
        "time": "",
        "profile": "",
        "candidates": gold or ({"f": {"a": 1}},),
    }
    return NormalRecord(**{**given, **changed})


def special(category: str = "special_incomplete", lang: str = "en", **faults: list[str]) -> SpecialRecord:
    return SpecialRecord(
        f"{category}_0", category, lang, 0, 0, "user: Do it.", (tool(),), "Today is Monday.", faults
    )


def item(*records: Any, edition: Any = None) -> Item:
    first = records[0]
    units = tuple(str(record.turn) for record in records)
    case = ItemData(tuple(records), edition)
    return Item(f"{first.lang}/{first.category}_0", units, case, first.category, first.lang)
