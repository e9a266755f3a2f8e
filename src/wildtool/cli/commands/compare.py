"""`wildtool compare`: whether one run is better than another, by how much, and on which units."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from wildtool.cli.command import opt
from wildtool.cli.curves import CurveAxis, draw_curve
from wildtool.cli.help import OUTPUT
from wildtool.cli.options import shared as options
from wildtool.cli.options.config_file import refuse_others
from wildtool.errors import UsageError, match_name, unknown_name

if TYPE_CHECKING:
    from wildtool.engine.compare.runs import ComparedRun

_GROUP_SIZES = range(2, 21)
"""Values that a column may have to be the one units are grouped by where none is named."""
_BESIDE_PUBLISHED = {"runs", "published", "published_model", "absolute", "profile", "json", "csv"}


def compare(
    context: typer.Context,
    runs: list[Path] | None = options.RUNS_ARGUMENT,
    profile: str | None = options.PROFILE_OPTION,
    metric: str = opt("unit|item", "Count correct units, or items with all units correct.", default="unit"),
    group: str | None = opt("-g NAME", "Break the comparison down, such as by 'task type'."),
    flips: bool = opt("List units that changed between right and wrong."),
    against: str | None = opt(
        "NAME", "Compare with this run instead of the first: its model, run or folder."
    ),
    all_pairs: bool = opt("Compare all pairs of runs, not only each run with the first."),
    only_played: bool = opt("Leave out units without a verdict instead of counting them as wrong."),
    modes: bool = opt(
        "Compare runs in several modes, such as prompts of different length; all else must be the same."
    ),
    anyway: bool = opt("Compare runs even if their data, profile or settings differ."),
    seed: int = opt("N", "Bootstrap seed.", default=0),
    published: bool = opt(
        "Compare each run with published numbers of its model: blue within 5 %, yellow within 10 %, red beyond."
    ),
    published_model: str | None = opt(
        "NAME",
        "With --published: the model's name in the paper, if it differs.",
        needs_together="--published",
    ),
    absolute: bool = opt(
        "With --published: 5 and 10 points instead of percent.", needs_together="--published"
    ),
    judges: bool = opt(
        "Compare audits of judges (runs of `wildtool audit BENCH --judge NAME`) on the same cases, by kind."
    ),
    curve: CurveAxis | None = opt(
        "Draw accuracy by the number of tools (runs of --among) or by the place that units were lost at (runs of "
        "--expose), scores by the size of models (runs, or a benchmark for what its papers say), or of trained models by "
        "their data or by the step (the file of a series)."
    ),
    out: Path | None = opt(
        "-o FOLDER",
        "With --curve: folder for the table and the charts; of a series that of its runs (default: runs/ and the "
        "file's name).",
        panel=OUTPUT,
        needs="--curve",
    ),
    prices: Path | None = opt(
        "FILE", "With --curve tools: price file, as for `run`.", panel=OUTPUT, needs="--curve"
    ),
    sizes: Path | None = opt(
        "FILE",
        "With --curve size: CSV file (model,size in billions) for models whose names state no size.",
        needs="--curve",
    ),
    force: bool = opt(
        "With --curve: overwrite files that wildtool did not make.", panel=OUTPUT, needs="--curve"
    ),
    sort: str = options.SORT_OPTION,
    as_json: bool = options.JSON_OPTION,
    as_csv: bool = options.CSV_OPTION,
) -> int:
    """Test whether runs are better or worse than the first one.

    \b
    Examples:
      wildtool compare runs/demo
      wildtool compare runs/demo --all-pairs --metric item
      wildtool compare runs/demo --group "task type" --flips
      wildtool compare runs/demo --against baseline/chat
      wildtool compare runs/old runs/new
      wildtool compare runs/text runs/condensed runs/minimal --modes
      wildtool compare runs/sizes --curve tools
      wildtool compare runs/direct runs/search --curve losses
      wildtool compare series.toml --curve data
      wildtool compare wildtoolbench --curve size
      wildtool compare runs/judge-audit --judges

    Runs are paired on the same units. Each difference comes with a 95 % interval clustered by item and an exact
    paired test; several comparisons are corrected by Holm's method. Runs of different data, profiles or settings are
    refused, and so are incomplete runs, unless --only-played is given.

    Folders with runs of several benchmarks, such as those of `wildtool run all`, are compared benchmark by benchmark,
    with an overall difference. What cannot be compared is left out and named.
    """
    paths = runs or []
    if judges:
        from wildtool.judges.commands.play import compare_judges

        refuse_others(context, "--judges", {"runs", "judges", "json"})
        return compare_judges(paths, as_json=as_json)
    if curve is not None:
        return draw_curve(curve, paths, profile, prices, sizes, out, context, force=force)
    if published:
        from wildtool.cli.output.reproduction import print_reproductions

        refuse_others(context, "--published", _BESIDE_PUBLISHED)
        return print_reproductions(
            paths, profile, published_model, absolute=absolute, as_json=as_json, as_csv=as_csv
        )
    if modes and anyway:
        raise UsageError("--anyway compares runs whatever differs; leave out --modes")
    if against is not None and all_pairs:
        raise UsageError("--all-pairs has no baseline; leave out --against")
    if metric not in ("unit", "item"):
        raise UsageError(unknown_name("metric", metric, ("unit", "item")))
    from wildtool.cli.output.results import print_run_notes
    from wildtool.engine.compare.suites import (
        compare_suites,
        holds_several_benchmarks,
        load_suites,
        suite_pairs,
    )  # fmt: skip

    if holds_several_benchmarks(paths):
        inside = {"--group": group, "--flips": flips, "--modes": modes, "--against": against}
        inside["--sort"] = sort != "rank"
        for option in (name for name, value in inside.items() if value):
            raise UsageError(f"{option} looks inside one benchmark; give its runs, such as runs/all/BENCH")
        from wildtool.cli.output import suite_comparison as output

        pairs = compare_suites(
            suite_pairs(load_suites(paths, profile, metric), all_pairs=all_pairs),
            only_played=only_played, anyway=anyway, seed=seed,
        )  # fmt: skip
        suite = output.suite_report(pairs, metric, only_played=only_played)
        for side in suite.runs:
            print_run_notes(side.result.folder, side.result)
        printer = output.print_suites_csv if as_csv else output.print_suites
        (output.print_suites_json if as_json else printer)(pairs, suite)
        return 1 if any(side.result.faults for side in suite.runs) else 0
    from wildtool.cli.output import comparison as compared
    from wildtool.cli.output.published import print_published_table
    from wildtool.engine.compare.comparison import compare_all, hint_effects, rank_sides
    from wildtool.engine.compare.load import (
        check_comparable,
        load_compared_runs,
        missing_plain_runs,
        with_baseline,
    )
    from wildtool.engine.compare.runs import caveats, grouping_columns, mode_remarks
    from wildtool.engine.score.results import run_folders
    from wildtool.published import tables_beside

    folders = [folder for path in paths for folder in run_folders(path)]
    sides = load_compared_runs(folders, profile, metric)
    for folder, side in zip(folders, sides, strict=True):
        print_run_notes(folder, side.result)
    if against is not None:
        sides = with_baseline(sides, against)
    differing = check_comparable(
        sides, all_pairs=all_pairs, only_played=only_played, anyway=anyway, modes=modes
    )
    kinds = grouping_columns(sides)
    by = match_name("group", group, kinds) if group is not None else _default_group(sides, kinds)
    comparisons = compare_all(
        sides, all_pairs=all_pairs, only_played=only_played, group=by, columns=kinds, seed=seed
    )
    report = compared.ComparisonReport(
        tuple(sides), tuple(comparisons), metric, only_played, tuple(differing),
        (*(mode_remarks(sides) if modes else ()), *caveats(sides), *missing_plain_runs(sides)), tuple(kinds),
        tuple(hint_effects(sides, all_pairs=all_pairs, only_played=only_played)),
        None if differing else rank_sides(sides, sort, only_played=only_played),
    )  # fmt: skip
    if as_json:
        compared.print_comparison_json(report)
    elif as_csv:
        compared.print_comparison_csv(report)
    else:
        compared.print_comparison(report, flips=flips)
        if modes:
            for table in tables_beside("modes", sides[0].result.benchmark):
                print_published_table(table, every=True)
    return 1 if any(side.result.faults for side in sides) else 0


def _default_group(sides: Sequence["ComparedRun"], kinds: Sequence[str]) -> str | None:
    """The column of the benchmark's main numbers; else the first with a few values, where one comparison is shown: more
    of them would be a wall of tables."""
    from wildtool.engine.compare.runs import headline_column

    if (main := headline_column(sides[0])) in kinds:
        return main
    if len(sides) > 2:
        return None
    for column in kinds:
        if len({cell.kinds.get(column) for side in sides for cell in side.cells.values()}) in _GROUP_SIZES:
            return column
    return None
