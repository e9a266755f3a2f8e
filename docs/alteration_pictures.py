"""Draws docs/images/{history,failures,catalogue-size-real,ledger}.svg: the small real model beside two scripted policies.

    python docs/alteration_pictures.py RUNS

RUNS holds the runs below, of which `docs/real-model.md` says how the model is served. POLICY is each of the two policies:

    wildtool run wild-mini --limit 5 --profile fixed --out RUNS/recorded-POLICY       (gold, lexical)
    wildtool run wild-mini --limit 5 --profile fixed --history own --out RUNS/own-POLICY
    wildtool run wild-mini --limit 4 --failures first-call --out RUNS/failures-POLICY (always-retries, never-retries)
    wildtool run wild-mini --limit 4 --among 8,16,32 --among-kinds near,random --out RUNS/sizes-POLICY
                                                                                      (lexical, first-tool)
    wildtool run ledger --limit 3 --out RUNS/ledger-POLICY                            (gold, chat)

docs/images/catalogue.png is a page of `wildtool tools try` on docs/harbour, seen in Chromium.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from wildtool.engine.score.formatting import format_counts, format_value
from wildtool.engine.score.results import load_result, run_folders
from wildtool.report.charts.data import ChartData, ChartPoint
from wildtool.report.charts.render import render_chart

IMAGES = Path(__file__).parent / "images"
REAL = "real"
Bar = tuple[str, str, str]
"""Name of a bar, and group and name of its number."""


def points(folder: Path, model: str, bars: Sequence[Bar]) -> list[ChartPoint]:
    """The numbers of one run; what it has not put to the test has no point."""
    metrics = {(metric.group, metric.name): metric for metric in load_result(folder).metrics}
    found: list[ChartPoint] = []
    for name, *key in bars:
        metric = metrics.get((key[0], key[1]))
        if metric is not None and metric.value is not None:
            text = f"{format_value(metric)} ({format_counts(metric)})"
            found.append(ChartPoint(model, name, metric.value, metric.low, metric.high, text))
    return found


def draw(file: str, title: str, drawn: Sequence[ChartPoint], axis: str, *, lines: bool = False) -> None:
    """Writes one picture."""
    about = "; ".join(f"{point.model}, {point.name}: {point.text}" for point in drawn)
    models = tuple(dict.fromkeys(point.model for point in drawn))
    names = tuple(dict.fromkeys(point.name for point in drawn))
    kind = "lines" if lines else "bars"
    chart = ChartData(title, about, tuple(drawn), models, names, kind, True, axis, "%")
    (IMAGES / file).write_bytes(render_chart(chart).svg)


def main(runs: Path) -> None:
    def of(stem: str, policies: Sequence[str], bars: Sequence[Bar]) -> list[ChartPoint]:
        names = {REAL: "SmolLM2", **{name: name for name in policies}}
        place = {REAL: f"{REAL}-{stem}", **{name: f"{stem}-{name}" for name in policies}}
        return [point for name, model in names.items() for point in points(runs / place[name], model, bars)]

    history = ("gold", "lexical")
    draw(
        "history.svg",
        "20 tasks with gold history and with own history",
        of("recorded", history, [("gold history", "accuracy", "task")])
        + of("own", history, [("own history", "accuracy", "task")]),
        "",
    )
    handling = ("handled", "tried again where it helps", "tried again where it cannot help", "wrote twice")
    bars = [(name, "failures", name) for name in handling]
    draw(
        "failures.svg",
        "16 tasks whose first call fails",
        of("failures", ("always-retries", "never-retries"), bars),
        "",
    )
    kinds = ("compositional", "correction", "question", "missing", "refused", "reference")
    draw(
        "ledger.svg",
        "12 turns of the ledger",
        of("ledger", ("gold", "chat"), [(k, "kind of turn", k) for k in kinds]),
        "",
    )
    sizes: list[ChartPoint] = []
    for stem, model in (
        (f"{REAL}-sizes", "SmolLM2"),
        ("sizes-lexical", "lexical"),
        ("sizes-first-tool", "first-tool"),
    ):
        for folder in sorted(
            run_folders(runs / stem), key=lambda each: int(each.parent.name.partition("-")[2])
        ):
            size = folder.parent.name.partition("-")[2]
            sizes += points(folder, model, [(size, "catalogue", "called a distractor")])
    draw(
        "catalogue-size-real.svg",
        "Tasks in which a distractor was called",
        sizes,
        "tools in the catalogue",
        lines=True,
    )


main(Path(sys.argv[1]))
