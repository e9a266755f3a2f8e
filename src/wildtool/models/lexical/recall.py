"""Values from earlier calls and observations: by key, and by which record the user means."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from wildtool.models.lexical.conversation import Call
from wildtool.models.lexical.reading import is_plain, records
from wildtool.models.lexical.words import stems, words

_ORDINALS: tuple[tuple[str, int], ...] = (
    (r"\b(?:second|2nd)\b|第二|#2\b", 1), (r"\b(?:third|3rd)\b|第三", 2), (r"\b(?:fourth|4th)\b|第四", 3),
    (r"\b(?:first|1st|top)\b|第一", 0), (r"\blast (?:one|of)\b|\bthe last\b|最后一|最后那", -1),
)  # fmt: skip
_MOST: tuple[tuple[str, str, bool], ...] = (
    (r"cheapest|least expensive|lowest price|最便宜", r"price|cost|fare|total|amount|fee|rate", False),
    (r"dearest|priciest|most expensive|最贵", r"price|cost|fare|total|amount|fee|rate", True),
    (r"quickest|fastest|shortest|最快|最短", r"duration|minutes|hours|seconds|time", False),
    (r"longest|最长", r"duration|minutes|hours|length|distance|days", True),
    (r"closest|nearest|最近", r"distance|km|miles|metres|meters|walk", False),
    (r"best|highest[- ]rated|top[- ]rated|评分最高|最好", r"rating|score|stars", True),
    (r"earliest|soonest|最早", r"depart|start|date|time|due", False),
    (r"latest|newest|most recent|last|最晚|最新", r"depart|start|date|time|created|due", True),
    (r"biggest|largest|most|最大|最多", r"count|size|amount|total|capacity|seats|quantity", True),
    (r"smallest|least|最小|最少", r"count|size|amount|total|capacity|seats|quantity", False),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Candidate:
    value: Any
    record: dict[str, Any]
    age: int
    """0 for the newest call."""
    place: int
    """Position among the candidates of the same call."""
    fit: int
    """3: same key; 2: its key is the end of the name; 1: `id` of a record of that kind."""


def from_results(name: str, calls: Sequence[Call], text: str) -> Any:
    """The value of a key that fits a parameter's name in what calls (newest first) returned; else None.

    Where several records have one, the record is taken that the user's text names, else the ordinal or
    superlative, else the one used last, else the first of the newest.
    """
    found = _candidates(name, calls)
    if not found:
        return None
    said = set(words(text))
    overlaps = [_overlap(candidate.record, said) for candidate in found]
    if (most := max(overlaps)) > 0:
        found = [candidate for candidate, overlap in zip(found, overlaps, strict=True) if overlap == most]
    newest = [candidate for candidate in found if candidate.age == found[0].age]
    best_fit = max(candidate.fit for candidate in newest)
    newest = [candidate for candidate in newest if candidate.fit == best_fit]
    if len(newest) == 1:
        return newest[0].value
    if (chosen := _by_superlative(newest, text)) or (chosen := _by_ordinal(newest, text)):
        return chosen.value
    used = {repr(value) for call in calls for value in call.arguments.values() if is_plain(value)}
    return next((c for c in newest if repr(c.value) in used), newest[0]).value


def from_arguments(name: str, calls: Sequence[Call]) -> Any:
    """The newest argument of a call under the same key; None if there is none."""
    for call in calls:
        for key, value in call.arguments.items():
            if stems(key) == stems(name) and value is not None:
                return value
    return None


def _candidates(name: str, calls: Sequence[Call]) -> list[_Candidate]:
    wanted = stems(name)
    found: list[_Candidate] = []
    for age, call in enumerate(calls[:40]):
        place = 0
        for container, record in records(call.result):
            for key, value in record.items():
                fit = _fit(wanted, stems(key), (*stems(container), *stems(call.name)))
                if fit and isinstance(value, str | int | float) and not isinstance(value, bool):
                    found.append(_Candidate(value, record, age, place, fit))
                    place += 1
    return found


def _fit(wanted: Sequence[str], key: Sequence[str], kind: Sequence[str]) -> int:
    if not key or not wanted:
        return 0
    if tuple(key) == tuple(wanted):
        return 3
    if len(key) >= 2 and tuple(wanted[-len(key) :]) == tuple(key):
        return 2
    if key == ("id",) and wanted[-1] == "id" and (len(wanted) == 1 or wanted[-2] in kind):
        return 1
    return 0


def _overlap(record: dict[str, Any], said: set[str]) -> int:
    values = [str(value)[:200] for value in record.values() if isinstance(value, str | int | float)]
    return len({word for value in values for word in words(value)} & said)


def _by_ordinal(candidates: Sequence[_Candidate], text: str) -> _Candidate | None:
    for pattern, position in _ORDINALS:
        if re.search(pattern, text, re.IGNORECASE) and position < len(candidates):
            return candidates[position]
    return None


def _by_superlative(candidates: Sequence[_Candidate], text: str) -> _Candidate | None:
    for pattern, keys, largest in _MOST:
        if not re.search(rf"(?<!\w)(?:{pattern})", text, re.IGNORECASE):
            continue
        for key in candidates[0].record:
            values = [candidate.record.get(key) for candidate in candidates]
            numeric = all(isinstance(v, int | float) for v in values)
            if re.search(keys, key, re.IGNORECASE) and (numeric or all(isinstance(v, str) for v in values)):
                order = sorted(
                    range(len(values)), key=lambda at, row=values: cast(Any, row[at]), reverse=largest
                )
                return candidates[order[0]]
    return None
