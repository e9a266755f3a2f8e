"""What was changed on the way to a model and back: calls mended as they were read from text, and forced changes."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any, cast

from wildtool.types import Metric

FORMAT, REPAIR = "format:", "repair:"
"""What the names of changes begin with where a model was asked in a format, and where a reply of it was mended."""
READ, ON_THE_WAY = "calls read from text", "changed on the way"


def changes(verdicts: Any) -> list[Metric]:
    """How often each change was made; none for a run without any.

    Args:
        verdicts: DuckDB relation of verdict rows; `changes` is JSON, names with how often each was made.
    """
    told = verdicts.filter("changes IS NOT NULL").project("changes").fetchall()
    made: Counter[str] = Counter()
    for (text,) in told:
        made.update(_counts(text))
    if not made:
        return []
    totals = "COALESCE(SUM(steps), 0), COALESCE(SUM(calls), 0), COALESCE(SUM(mended_replies), 0)"
    steps, calls, mended = map(float, verdicts.aggregate(totals).fetchall()[0])
    return [*_read_from_text(made, steps, calls, mended), *_on_the_way(made, steps)]


def _counts(text: str) -> Mapping[str, int]:
    told = cast(Mapping[str, Any], json.loads(text))
    # A cell that was too long says so instead of counting.
    return {name: count for name, count in told.items() if isinstance(count, int)}


def _read_from_text(made: Counter[str], steps: float, calls: float, mended: float) -> list[Metric]:
    asked = {name: count for name, count in made.items() if name.startswith(FORMAT)}
    if not asked:
        return []
    repairs = sorted((name, count) for name, count in made.items() if name.startswith(REPAIR))
    return [
        *(
            _count(READ, f"replies in the format {name.removeprefix(FORMAT)}", n, steps)
            for name, n in asked.items()
        ),
        _count(READ, "replies that were mended", mended, sum(asked.values())),
        _count(READ, "calls", calls, 0),
        *(_count(READ, f"repair: {name.removeprefix(REPAIR)}", count, calls) for name, count in repairs),
    ]


def _on_the_way(made: Counter[str], steps: float) -> list[Metric]:
    others = sorted(item for item in made.items() if not item[0].startswith((FORMAT, REPAIR)))
    return [_count(ON_THE_WAY, name, count, steps) for name, count in others]


def _count(group: str, name: str, count: float, of: float) -> Metric:
    return Metric(group, name, None, count, of, kind="count")
