"""Numbers of a run by two groups at once."""

from pathlib import Path
from typing import Any

from wildtool.benchmark import Benchmark
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.registry import played_benchmark
from wildtool.engine.score.results import ScoreResult, open_results
from wildtool.engine.score.verdict_table import relation
from wildtool.errors import UsageError, match_name
from wildtool.stats.matrix import Matrix, matrix_of
from wildtool.stats.metrics import Rate, default_rates
from wildtool.stats.tables import declared_rates


def run_matrix(
    folder: Path, rows: str, columns: str, profile: str | None = None
) -> tuple[ScoreResult, Matrix]:
    """The numbers of a run and their matrix by two groups. Raises UsageError as `matrix_of`, and as `open_results`.

    Args:
        profile: rules to judge by; None for those it was played under.
    """
    with open_results(folder, profile) as (result, table):
        owner = played_benchmark(folder, read_run(folder), result.benchmark)
        verdicts = relation([table])
        rates = rates_of_run(owner, verdicts, result.profile)
        groups = dict.fromkeys(rate.group for rate in rates)
        known = dict.fromkeys([*groups, *(metric.group for metric in result.metrics)])
        for name in (rows, columns):
            group = match_name("group", name, known)
            if group not in groups:
                raise UsageError(
                    f"{group} cannot be crossed with another group; those that can: {', '.join(groups)}"
                )
        return result, matrix_of(verdicts, rates, rows, columns)


def rates_of_run(owner: Benchmark, verdicts: Any, profile: str) -> list[Rate]:
    """The rates of a run that its benchmark declares, or that every benchmark has by its groups."""
    if not owner.tables:
        return default_rates(verdicts, owner.groups)
    return declared_rates(owner.tables, verdicts, profile)
