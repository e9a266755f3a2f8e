"""`wildtool gate`: fails a build where a model got worse at using tools."""

from pathlib import Path

from wildtool.cli.command import arg, opt
from wildtool.cli.options import shared as options
from wildtool.errors import WildtoolError
from wildtool.outputs import check_file
from wildtool.terminal import print_wrapped


def gate(
    new: Path = arg(
        "NEW",
        "Folder of a run, or with runs of several benchmarks and models; or an address such as s3://bucket/runs.",
        callback=options.local_runs,
    ),
    against: Path = opt(
        "OLD", "Runs to compare with, the baseline.", default=..., callback=options.local_runs
    ),
    worse_than: float = opt("POINTS", "Loss of accuracy that is allowed.", min=0, max=100, default=0.0),
    profile: str | None = options.PROFILE_OPTION,
    only_played: bool = opt("Compare the units that both have a verdict on, instead of refusing."),
    markdown: Path | None = opt("FILE", "Write a summary for a pull request."),
) -> int:
    """Fail if a model got significantly worse.

    \b
    Examples:
      wildtool gate runs/new --against runs/old
      wildtool gate runs/new --against runs/old --worse-than 2 --markdown gate.md

    Runs are compared as by `wildtool compare`, benchmark by benchmark. Exit status 1 means that a loss is significant
    after Holm's correction and larger than --worse-than; 0 that none is; 2 that runs are missing, incomplete or not
    comparable. In GitHub Actions it also annotates the pull request and adds the summary to the job's page.
    """
    if markdown is not None:
        check_file(markdown)
    from wildtool.cli.output.gate import annotate, write_summary
    from wildtool.cli.output.results import print_run_notes
    from wildtool.cli.output.suite_comparison import print_suites, suite_report
    from wildtool.engine.compare import gate as gating
    from wildtool.engine.compare.leaderboard import parts_line
    from wildtool.engine.compare.suites import compare_suites, load_suites, omission_lines, suite_pairs

    try:
        places = load_suites([against, new], profile)
        pairs = compare_suites(suite_pairs(places), only_played=only_played)
        report = suite_report(pairs, "unit", only_played=only_played)
        for run in report.runs:
            print_run_notes(run.result.folder, run.result)
        gating.check_evidence(pairs, only_played=only_played)
    except WildtoolError as error:
        annotate("error", str(error))
        raise
    print_suites(pairs, report)
    losses = gating.significant_losses(pairs, worse_than)
    verdict = gating.reason(pairs, losses, worse_than)
    print_wrapped(f"\n{verdict}")
    compared = {side.label for pair in pairs for side in (pair.old, pair.new)}
    alone = [side.label for place in places for side in place if side.label not in compared]
    remarks = [
        *omission_lines(pairs),
        *(f"{label} has no counterpart and is not compared." for label in alone),
    ]
    for loss in losses:
        annotate("error" if loss.excessive else "warning", loss.text)
    for remark in remarks:
        annotate("warning", remark)
    parts = parts_line(run.result for run in report.runs)
    write_summary(markdown, pairs, verdict, [*([parts] if parts else []), *remarks])
    return 1 if any(loss.excessive for loss in losses) else 0
