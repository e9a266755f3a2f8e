"""`wildtool report`: runs as pages that open from disk, as Markdown, or as LaTeX tables."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from wildtool.cli.command import opt, worst_status
from wildtool.cli.options import shared as options
from wildtool.errors import UsageError
from wildtool.terminal import print_err, print_out

if TYPE_CHECKING:
    from wildtool.report.model import ReportRun


def report(
    runs: list[Path] | None = options.RUNS_ARGUMENT,
    out: Path | None = opt(
        "-o PATH", "Folder for the pages; with --single-file or --format md or latex, a file."
    ),
    profile: str | None = options.PROFILE_OPTION,
    single_file: bool = opt("Write one self-contained HTML file."),
    audit: bool = opt("Also score the gold answers and show the gold ceiling."),
    better_mode: bool = opt(
        "On the page of several benchmarks, show of a model's runs in several modes the better one, as ToLeaP takes the "
        "better of chat and streaming."
    ),
    format: Literal["html", "md", "latex"] = opt(
        "-f", "Pages, Markdown for a pull request, or LaTeX tables.", default="html"
    ),
    sort: str = options.SORT_OPTION,
    force: bool = options.FORCE_OPTION,
) -> int:
    """Make a web report of runs, or Markdown or LaTeX tables.

    \b
    Examples:
      wildtool report runs/wild-mini -o report
      wildtool report runs/wild-mini --single-file -o report.html
      wildtool report runs/wild-mini --format md
      wildtool report runs/toleap --better-mode

    The pages need no server and load nothing from the network. Runs of different data or profiles get separate tables.
    """
    if not runs:
        raise UsageError("nothing to report: give run folders, such as `wildtool report runs -o report`")
    if format != "html" and (single_file or audit or better_mode):
        raise UsageError(
            "--single-file, --audit and --better-mode are for pages; leave them out with --format"
        )
    if format == "html":
        from wildtool.report import check_libraries

        check_libraries()
    from wildtool import outputs
    from wildtool.cli.output.results import print_run_notes
    from wildtool.engine.score.results import run_folders
    from wildtool.report.model import read_runs

    to = out or Path("report.html" if single_file else "report")
    if format == "html" and not single_file:
        outputs.check_folder(to, outputs.is_site, force=force)
    elif out is not None or single_file:
        outputs.check_file(to, force=force)
    folders = [folder for path in runs for folder in run_folders(path)]
    report_runs = read_runs(folders, profile)
    for run in report_runs:
        print_run_notes(run.folder, run.result)
    if better_mode and len({run.result.benchmark for run in report_runs}) < 2:
        raise UsageError("--better-mode is for the page of several benchmarks; these runs are of one")
    if format == "html":
        from wildtool.report.build import build

        page = build(report_runs, to, single=single_file, audited=audit, better_mode=better_mode, sort=sort)
        print_out(f"Report: {page}")
    else:
        _print_tables(report_runs, format, out, sort)
    return worst_status([run.result.exit_status for run in report_runs])


def _print_tables(runs: "Sequence[ReportRun]", format: str, out: Path | None, sort: str) -> None:
    from wildtool.outputs import atomic_replace
    from wildtool.report.texts import latex, markdown

    text = (markdown if format == "md" else latex)(runs, sort)
    if out is None:
        print_out(text)
        return
    with atomic_replace(out) as new:
        new.write_text(text, encoding="utf-8")
    print_err(f"Written: {out}")
