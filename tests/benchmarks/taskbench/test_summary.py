"""TaskBench's numbers from verdict rows: means for two profiles, micro averages for the authors' own."""

from collections.abc import Iterable
from typing import Any

import pytest

from held_rows import held_rows
from wildtool.benchmark import VERDICT_COLUMNS
from wildtool.benchmarks.taskbench import TASKBENCH
from wildtool.types import Metric

Row = dict[str, Any]
PARTS = ("node", "edge", "name", "value")
SCORES = ("ROUGE-1", "ROUGE-2", "Node F1", "Edge F1", "Parameter Name F1", "Parameter Name & Value F1")
ORDER = "tool order (1 - edit distance)"
DOMAINS = ("huggingface", "multimedia", "dailylifeapis")


def row(
    domain: str,
    shape: str,
    rouge: float | None,
    hits: int,
    sizes: int,
    *,
    steps: bool = True,
    nodes: bool = True,
) -> Row:
    f1 = None if rouge is None else 2 * hits / sizes
    columns: Row = {"rouge_1": rouge, "rouge_2": rouge and rouge / 2}
    for shift, part in enumerate(PARTS):
        columns |= {f"{part}_f1": f1, f"{part}_hits": hits, f"{part}_sizes": sizes + shift}
    counted = {"counts_steps": steps, "counts_arguments": nodes, "counts_nodes": nodes}
    usual = {"item": f"{domain}/{shape}", "repeat": 0, "unit": "0", "outcome": "wrong", "correct": False}
    return {
        **usual,
        "split": domain,
        "score": 0.0,
        "steps": 1,
        "structure": shape,
        "similarity": rouge,
        **columns,
        **counted,
    }


ROWS = [
    row("dailylifeapis", "chain", 1.0, 1, 2),
    row("huggingface", "single", 0.5, 1, 4),
    row("huggingface", "single", 1.0, 2, 4, nodes=False),
    row("huggingface", "dag", None, 0, 2, steps=False, nodes=False),
]


def summary(rows: Iterable[Row], profile: str) -> list[Metric]:
    types = {**VERDICT_COLUMNS, **TASKBENCH.columns}
    table = held_rows(types, [list((dict.fromkeys(types) | entry).values()) for entry in rows])
    return TASKBENCH.summarize(table, profile)


def numbers(metrics: Iterable[Metric], group: str) -> dict[str, Any]:
    return {m.name: None if m.value is None else round(m.value, 4) for m in metrics if m.group == group}


@pytest.mark.parametrize("profile", ["toleap", "fixed"])
def test_scores_are_means_over_all_samples_of_a_domain(profile: str) -> None:
    metrics = summary(ROWS, profile)
    parts = dict.fromkeys(SCORES[2:], 0.5)
    assert numbers(metrics, "huggingface") == {"ROUGE-1": 0.5, "ROUGE-2": 0.25, **parts}
    assert numbers(metrics, "dailylifeapis") == {
        "ROUGE-1": 1.0,
        "ROUGE-2": 0.5,
        **dict.fromkeys(SCORES[2:], 1.0),
    }
    assert numbers(metrics, "mean of domains") == {
        "ROUGE-1": 0.75,
        "ROUGE-2": 0.375,
        **dict.fromkeys(SCORES[2:], 0.75),
    }
    assert numbers(metrics, "huggingface (single)")["Node F1"] == 0.75
    assert numbers(metrics, "accuracy") == {"plan": 0.0}
    groups = list(dict.fromkeys(m.group for m in metrics))
    assert groups[:7] == [
        "mean of domains",
        "accuracy",
        "huggingface",
        "dailylifeapis",
        "huggingface (single)",
        "huggingface (dag)",
        "dailylifeapis (chain)",
    ]
    assert {(m.group, m.name) for m in metrics if m.headline} == {
        ("mean of domains", name) for name in SCORES
    }
    assert not [m for m in metrics if m.name.startswith("left out")]


def test_scores_of_the_authors_are_micro_averages_of_what_they_count() -> None:
    metrics = summary(ROWS, "original")
    own = {"ROUGE-1": 0.75, "ROUGE-2": 0.375}
    parts = {name: round(2 / (4 + shift), 4) for shift, name in enumerate(SCORES[2:])}
    assert numbers(metrics, "huggingface") == {**own, **parts, ORDER: 0.5}
    ends = {name: round(2 / (2 + shift), 4) for shift, name in enumerate(SCORES[2:])}
    assert numbers(metrics, "dailylifeapis") == {"ROUGE-1": 1.0, "ROUGE-2": 0.5, **ends, ORDER: 1.0}
    means = numbers(metrics, "mean of domains")
    assert list(means) == [*SCORES, ORDER]
    assert (means["ROUGE-1"], means["Node F1"], means[ORDER]) == (0.875, 0.75, 0.75)
    assert {m.name for m in metrics if m.headline} == set(SCORES)
    left_out = [m for m in metrics if m.name.startswith("left out")]
    assert [(m.group, m.name, m.value, m.numerator, m.denominator, m.kind) for m in left_out] == [
        ("coverage", "left out of steps", None, 1, 4, "count"),
        ("coverage", "left out of nodes and links", None, 2, 4, "count"),
    ]
    # A structure without a sample that counts has no number.
    assert [m.name for m in metrics if m.group == "huggingface (dag)"] == []


def test_no_rows_have_no_mean() -> None:
    assert [m for m in summary([], "fixed") if m.group == "mean of domains"] == []


def test_pages_have_the_domains_and_the_structures_of_each() -> None:
    shapes = tuple(f"{domain} ({shape})" for domain in DOMAINS for shape in ("single", "chain", "dag"))
    assert [(page.title, page.slug, page.groups) for page in TASKBENCH.tables if page.title] == [
        ("Scores", "", ("mean of domains", *DOMAINS)),
        ("Single, chain, DAG", "structures", shapes),
        ("Errors", "", ("errors",)),
        ("Cost", "", ("cost",)),
    ]
    errors = ["unreadable plan", "wrong tools", "wrong links", "wrong argument names", "wrong values"]
    assert list(numbers(summary(ROWS, "fixed"), "errors")) == errors
