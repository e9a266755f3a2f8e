"""RoTBench's numbers from verdict rows: measures by environment and kind, their mean, and the platform's counts."""

from collections.abc import Iterable
from typing import Any

from held_rows import held_rows
from wildtool.benchmark import VERDICT_COLUMNS
from wildtool.benchmarks.rotbench import ROTBENCH
from wildtool.benchmarks.rotbench.summary import MEASURES
from wildtool.types import Metric

Row = dict[str, Any]
NO_OUTPUT, PARSING = "No Output Error", "Parsing Error"
LEVELS = ("Tool Selection Error", "Parameter Identification Error", "Content Filling Error", None)


def row(
    environment: str, level: int | None, error: str | None = "", turn: str = "first", **columns: Any
) -> Row:
    error = LEVELS[level or 0] if error == "" else error
    outcome = "correct" if error is None else "wrong"
    return {
        "item": f"{turn}-000",
        "repeat": 0,
        "unit": environment,
        "outcome": outcome,
        "correct": error is None,
        "score": float(error is None),
        "error": error,
        "steps": 1,
        "turn": turn,
        "environment": environment,
        "noise": "none",
        "scenario": "PL",
        "level": level,
    } | columns


def summary(rows: Iterable[Row]) -> list[Metric]:
    types = {**VERDICT_COLUMNS, **ROTBENCH.columns}
    table = held_rows(types, [list((dict.fromkeys(types) | entry).values()) for entry in rows])
    return ROTBENCH.summarize(table, "toleap")


def numbers(metrics: Iterable[Metric], *groups: str) -> list[tuple[Any, ...]]:
    return [
        (
            m.group,
            m.name,
            None if m.value is None else round(m.value, 4),
            m.numerator,
            m.denominator,
            m.headline,
        )
        for m in metrics
        if m.group in groups
    ]


CF, PI, TS = MEASURES
ROWS = [
    row("union", 3),
    row("union", 0, PARSING),
    row("clean", 3, scenario="TG"),
    row("clean", 2, scenario="TG"),
    row("clean", 1),
    row("clean", 0),
    row("clean", None, NO_OUTPUT),
    row("odd", 2, noise="tools"),
    row("clean", 2, turn="third", noise="parameters"),
]


def test_each_measure_counts_its_level_and_the_mean_weighs_environments_alike() -> None:
    metrics = summary(ROWS)
    assert numbers(metrics, CF, PI, TS) == [
        (CF, "mean of environments", 0.2333, 2, 8, True),
        (CF, "clean", 0.2, 1, 5, True),
        (CF, "union", 0.5, 1, 2, True),
        (CF, "odd", 0.0, 0, 1, True),
        (PI, "mean of environments", 0.6333, 4, 8, True),
        (PI, "clean", 0.4, 2, 5, False),
        (PI, "union", 0.5, 1, 2, False),
        (PI, "odd", 1.0, 1, 1, False),
        (TS, "mean of environments", 0.7, 5, 8, True),
        (TS, "clean", 0.6, 3, 5, False),
        (TS, "union", 0.5, 1, 2, False),
        (TS, "odd", 1.0, 1, 1, False),
    ]
    two = [row(name, 3, turn="third") for name in ("clean", "union")]
    assert numbers(summary(two), f"third turn: {CF}")[0][1:] == ("mean of environments", 1.0, 2, 2, True)
    # A turn with one environment has no mean, and shows all measures.
    third = [f"third turn: {measure}" for measure in MEASURES]
    assert numbers(metrics, *third) == [
        (third[0], "clean", 0.0, 0, 1, True),
        (third[1], "clean", 1.0, 1, 1, True),
        (third[2], "clean", 1.0, 1, 1, True),
    ]


def test_scenarios_and_noise_are_of_one_turn() -> None:
    metrics = summary(ROWS)
    scenarios = {name: (name, 0, 0) for name in ("TG", "RS", "DU", "PL", "AM", "IR", "FT")}
    for measure, (tg, pl, tools, parameters) in zip(
        MEASURES, [(1, 1, 0, 0), (2, 2, 1, 1), (2, 3, 1, 1)], strict=True
    ):
        first = [number[1:2] + number[3:5] for number in numbers(metrics, f"scenario: {measure}")]
        assert first == list((scenarios | {"TG": ("TG", tg, 2), "PL": ("PL", pl, 6)}).values())
        assert numbers(metrics, f"noise on: {measure}") == [
            (f"noise on: {measure}", "tools", float(tools), tools, 1, False),
            (f"noise on: {measure}", "parameters", None, 0, 0, False),
        ]
        (noise,) = numbers(metrics, f"third turn: noise on: {measure}")[1:]
        assert noise[1:] == ("parameters", float(parameters), parameters, 1, False)
    # No row, no turn.
    assert not [m for m in summary(ROWS[:2]) if m.group.startswith("third turn")]


def test_the_platform_counts_a_wrong_tool_in_each_class() -> None:
    group = "errors as ToLeaP counts them"
    rows = [*ROWS, row("clean", 3) | {"outcome": "unplayed"}]
    assert numbers(summary(rows), group) == [
        (group, NO_OUTPUT, None, 1, 10, False),
        (group, PARSING, None, 1, 10, False),
        (group, "Tool Selection Error", None, 1, 10, False),
        (group, "Parameter Identification Error", None, 2, 10, False),
        (group, "Content Filling Error", None, 5, 10, False),
    ]
    assert [(number[1], number[3]) for number in numbers(summary(rows), "errors")] == [
        (NO_OUTPUT, 1),
        (PARSING, 1),
        *zip(LEVELS[:3], (1, 1, 3), strict=True),
    ]


def test_pages_have_the_groups_that_the_numbers_have() -> None:
    pages = [(page.title, page.groups, page.chart, page.axis) for page in ROTBENCH.tables if page.title]
    third = tuple(f"third turn: {measure}" for measure in MEASURES)
    kinds = tuple(f"{kind}: {measure}" for kind in ("scenario", "noise on") for measure in MEASURES)
    assert pages == [
        ("Robustness", (CF, PI, TS), "lines", "noise"),
        ("Third turn", third, "lines", "noise"),
        ("Scenarios", kinds, "bars", ""),
        ("Errors", ("errors",), "stacked", ""),
        ("Cost", ("cost",), "bars", ""),
    ]
