"""`wildtool show --group "A × B"`: a matrix of each run."""

from collections.abc import Sequence
from dataclasses import replace

from wildtool.cli.command import report_error, worst_status
from wildtool.engine.compare.leaderboard import marked_labels
from wildtool.engine.score.matrix import run_matrix
from wildtool.engine.score.results import ScoreResult
from wildtool.errors import WildtoolError
from wildtool.stats.matrix import Matrix
from wildtool.table import matrix_cells
from wildtool.terminal import print_wrapped, tables


def show_matrices(
    results: Sequence[ScoreResult], pair: tuple[str, str], *, as_json: bool, as_csv: bool
) -> int:
    """Prints the matrix of each run by two groups; gives the exit status for runs that have none."""
    crossed: list[tuple[ScoreResult, Matrix]] = []
    # What no run has is said once.
    errors: dict[str, WildtoolError] = {}
    for result in results:
        try:
            _, matrix = run_matrix(result.folder, *pair, result.profile)
        except WildtoolError as error:
            errors.setdefault(str(error), error)
        else:
            crossed.append((replace(result, metrics=matrix.metrics), matrix))
    statuses = [report_error(error) for error in errors.values()]
    its_results = [result for result, _ in crossed]
    if as_json:
        tables.print_results_json(its_results)
    elif as_csv:
        tables.print_results_csv(its_results)
    else:
        for label, (result, matrix) in zip(marked_labels(its_results), crossed, strict=True):
            _print(label, result, matrix)
        tables.print_caveats(its_results)
    return worst_status(statuses)


def _print(label: str, result: ScoreResult, matrix: Matrix) -> None:
    where = f"{result.benchmark}, {result.profile_label}"
    heads = [f"{matrix.rows} \\ {matrix.columns}", *matrix.column_names]
    tables.print_grid(f"{matrix.title} of {label} ({where})", heads, matrix_cells(matrix))
    if matrix.small:
        print_wrapped(matrix.small)
