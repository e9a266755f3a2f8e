"""Prints one table of several models on the same tasks: which cannot be told apart, what each takes and fails at."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from wildtool.engine.compare.pairs import compare_all_pairs
from wildtool.models.token_usage import Price
from wildtool.report.model import Leaderboard, ReportRun, group_leaderboards, read_runs
from wildtool.table import cell_of
from wildtool.terminal import print_wrapped
from wildtool.terminal.tables import print_grid

_MOST_MISTAKES = 2
"""Kinds of mistakes that are named of a model, the most frequent first."""
_MILLION = 1_000_000


def print_choice(
    folders: Sequence[Path], profile: str, prices: Mapping[Path, Price], sort: str = "rank"
) -> None:
    """Prints a table for each group of runs on the same tasks; none for a run alone.

    Args:
        prices: of the model of a run, where it is known.
        sort: the order of models, as of `places_by`.
    """
    for board in group_leaderboards(read_runs(folders, profile), sort):
        if len(board.runs) > 1:
            _print_board(board, prices)


def _print_board(board: Leaderboard, prices: Mapping[Path, Price]) -> None:
    placed = board.placed(board.overview, compare_all_pairs([run.scores for run in board.runs]))
    rows = [
        (row.place, label, *_row(run, prices.get(run.folder)))
        for row, label, run in zip(placed.rows, board.labels, board.runs, strict=True)
    ]
    heads = ("rank", "model", "right", "calls", "tokens", "USD", "s per call", "fails most at")
    print_grid(f"Which model? ({board.title})", heads, rows, sentences=(1, 7), keys=2)
    if any(row.place.startswith("=") for row in placed.rows):
        print_wrapped("Between models of the same rank (=) these tasks show no difference; more tasks may.")
        print()
    if not all(row.place for row in placed.rows):
        print_wrapped("A model without a rank lacks results; run the same command again.")
        print()


def _row(run: ReportRun, price: Price | None) -> tuple[str, ...]:
    headline = next(metric for metric in run.result.metrics if metric.headline)
    cell = cell_of(headline)
    latency = run.metrics.get(("cost", "latency per step"))
    tokens = (run.spent.prompt_tokens or 0) + (run.spent.completion_tokens or 0)
    has_tokens = None not in (run.spent.prompt_tokens, run.spent.completion_tokens)
    return (
        "\n".join(filter(None, (f"{cell.value}  {cell.counts}".rstrip(), cell.bracketed))),
        f"{run.spent.calls:,}",
        f"{tokens:,}" if has_tokens else "–",
        f"{_cost(run, price):.4g}" if price is not None and has_tokens else "–",
        "–" if latency is None or latency.value is None else f"{latency.value:.2f}",
        _mistakes(run),
    )


def _cost(run: ReportRun, price: Price) -> float:
    """What its tokens cost without discounts, in USD."""
    prompt, completion = run.spent.prompt_tokens or 0, run.spent.completion_tokens or 0
    return (prompt * price.input + completion * price.output) / _MILLION


def _mistakes(run: ReportRun) -> str:
    counts = [
        (metric.numerator, metric.name)
        for metric in run.result.metrics
        if metric.group == "errors" and metric.numerator
    ]
    named = [f"{name} ({count:,.0f})" for count, name in sorted(counts, key=lambda each: -each[0])]
    if run.result.counts.infra_error:
        named.insert(0, f"no reply ({run.result.counts.infra_error:,})")
    return ", ".join(named[:_MOST_MISTAKES]) or "nothing"
