"""`wildtool gate`: fails a build where a model got worse at using tools."""

from pathlib import Path

from wildtool.cli.command import arg, opt
from wildtool.cli.options import shared as options
from wildtool.errors import WildtoolError
from wildtool.outputs import check_file


def gate(
    new: Path = arg(
        "NEW",
        "Folder of a run, or with runs of several benchmarks and models; or an address such as s3://bucket/runs.",
        callback=options.local_runs,
    ),
    against: Path | None = opt(
        "OLD", "The baseline: runs, or FILE.json of --update-baseline.", callback=options.local_runs
    ),
    worse_than: float | None = opt(
        "POINTS", "Loss of accuracy that is allowed, as a margin.", min=0, max=100
    ),
    allow_undecided: bool = opt("Pass where the interval does not decide about the margin."),
    at_least: list[str] | None = opt(
        "[TAG:]SHARE", "Share of right units that is asked, from 0 to 1; repeatable."
    ),
    newly_broken: int | None = opt("N", "Newly broken units that are allowed (default: any).", min=0),
    burn_in: int | None = opt("N", "Estimate false alarms by N draws from repeats.", min=1, max=100_000),
    update_baseline: bool = opt("Write the new runs to --against FILE.json if they pass."),
    profile: str | None = options.PROFILE_OPTION,
    only_played: bool = opt("Compare the units that both have a verdict on, instead of refusing."),
    junit: Path | None = opt("FILE", "Write JUnit's XML, a test case for each unit."),
    json: Path | None = opt("FILE", "Write everything as JSON."),
    markdown: Path | None = opt("FILE", "Write a summary for a pull request."),
) -> int:
    """Fail if a model got significantly worse.

    \b
    Examples:
      wildtool gate runs/new --against runs/old
      wildtool gate runs/new --against runs/old --worse-than 2 --junit gate.xml
      wildtool gate runs/new --against baseline.json --at-least refunds:0.9

    Runs are compared as by `wildtool compare`, benchmark by benchmark. Exit status 1 means a significant loss larger than
    --worse-than, a case with `must: true` that fails, a share below --at-least, or more newly broken units than allowed;
    4 that the interval does not tell whether more than --worse-than was lost; 0 a pass; 2 that runs are missing,
    incomplete or not comparable. In GitHub Actions it also annotates the pull request and adds the summary to the job's
    page.
    """
    for file in (junit, json, markdown):
        if file is not None:
            check_file(file)
    from wildtool.cli.output.gate import annotate, print_outcome, write_forms
    from wildtool.errors import UsageError
    from wildtool.gating.answering import run_gate
    from wildtool.gating.outcome import GateSettings

    settings = GateSettings(
        against=against,
        worse_than=worse_than,
        allow_undecided=allow_undecided,
        at_least=tuple(at_least or ()),
        newly_broken=newly_broken,
        burn_in=burn_in,
        profile=profile,
        only_played=only_played,
        update_baseline=update_baseline,
    )
    try:
        outcome = run_gate(new, settings)
    except WildtoolError as error:
        annotate("error", str(error))
        raise
    print_outcome(outcome)
    write_forms(outcome, junit=junit, json=json, markdown=markdown)
    if outcome.problem:
        raise UsageError(outcome.problem)
    return outcome.status
