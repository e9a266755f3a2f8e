"""Charts as they are handed to what draws them, and what is kept of a drawing."""

import json
from dataclasses import replace
from typing import Any

import pytest

from golden_files import same_as_golden
from wildtool.report.charts.data import ChartData, ChartPoint
from wildtool.report.charts.spec import chart_spec
from wildtool.report.charts.theme import (
    NARROW,
    WIDE,
)


def drawing(kind: Any, models: int, size: int = 2, **fields: Any) -> ChartData:
    labels = tuple(f"model-{k}" for k in range(models))
    numbers = tuple(f"Number {k}" for k in range(size))
    points = tuple(
        ChartPoint(
            label,
            name,
            0.2 * (m + n % 3),
            0.1,
            None if m else 1.04,
            "text",
            (m, n) if n % 2 else None,
            "short",
        )
        for m, label in enumerate(labels)
        for n, name in enumerate(numbers)
    )
    return replace(ChartData("title", "about", points, labels, numbers, kind, percent=True), **fields)


LONG = tuple(f"A model with a name that is much longer than those of others, {k}" for k in range(6))
DRAWINGS = {
    "bars": drawing("bars", 2),
    "bars of one model": drawing("bars", 1, axis="axis", values="values", colours={"model-0": "#123456"}),
    "bars of counts": drawing(
        "bars", 2, percent=False, points=(ChartPoint("model-0", "Number 0", 3, None, None, ""),)
    ),
    "bars of long names": drawing(
        "bars", 1, 1, names=("A name that is much longer than others " * 3,), points=()
    ),
    "panels": drawing("bars", 6, 3, values="values"),
    "many panels": drawing("bars", 31, 1),
    "lines": drawing("lines", 2, 3, axis="axis"),
    "lines of many": drawing("lines", 9, values="values"),
    "stacked": drawing("stacked", 2, 3, values="values"),
    "stacked of many": drawing("stacked", 31, 1),
    "differences": drawing("differences", 2, 1, values="values"),
    "heat": drawing("heat", 2, 3, axis="axis"),
    "heat of many": drawing("heat", 9, 9),
    "differences of many": drawing("differences", 31, 1),
    **{
        f"{name} of long names": replace(drawing(kind, 1, 1), models=models, points=())
        for name, kind, models in (
            ("panels", "bars", LONG),
            ("stacked", "stacked", LONG[:3]),
            ("differences", "differences", LONG[:3]),
        )
    },
}


def short(spec: Any) -> Any:
    """A specification with its values and ranges counted where there are many."""
    if isinstance(spec, dict):
        return {key: short(value) for key, value in spec.items()}
    if isinstance(spec, list) and len(spec) > 8:
        return [*map(short, spec[:2]), f"and {len(spec) - 3}", short(spec[-1])]
    return [*map(short, spec)] if isinstance(spec, list) else spec


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("name", DRAWINGS)
def test_a_chart_is_described_in_these_terms(name: str, width: int):
    spec = chart_spec(DRAWINGS[name], width)
    assert spec.pop("$schema").endswith(".json")
    config = spec.pop("config")
    same_as_golden("report/charts/config.json", config)
    rows = {key: json.dumps(short(value)) for key, value in spec.items()}
    same_as_golden(f"report/charts/{name.replace(' ', '-')}-{width}.json", rows)
