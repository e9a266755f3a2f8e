"""The commands `review export` and `review stats`: the release of a review, and its figures."""

import json
from dataclasses import asdict
from pathlib import Path

from wildtool.cli.command import opt
from wildtool.cli.options import shared as options
from wildtool.errors import UsageError
from wildtool.terminal import print_out
from wildtool_review.commands.bad_cases import is_run, print_bad_case_stats, refuse_options
from wildtool_review.commands.options import SET_ARGUMENT, STORE_OPTION


def export(
    set_name: str = SET_ARGUMENT,
    out: Path | None = opt("-o FOLDER", "Folder to write."),
    store: str | None = STORE_OPTION,
    allow_findings: bool = opt("Export although rules find something in approved items; the card names it."),
    force: bool = options.FORCE_OPTION,
) -> None:
    """Write a release: the approved items, with provenance, a card and preference pairs.

    \b
    Examples:
      wildtool review export sessions.jsonl -o release
      wildtool run wildtoolbench --data release/sessions.jsonl -m baseline/gold

    Approved items in which rules still find something are refused; --allow-findings exports them, too.
    People appear as person 1, person 2, …; their remarks are left out. The same log gives the same bytes.
    """
    from wildtool_review.release import write_release
    from wildtool_review.sets import open_review

    if out is None:
        raise UsageError("give the folder to write: --out release")
    with open_review(set_name, store) as project:
        manifest = write_release(project, out, force=force, allow_findings=allow_findings)
        command = project.format.use(out / manifest["data"])
    print_out(f"{out}: {manifest['items']} approved items of {len(project.state.items)}")
    print_out(command)


def stats(
    set_name: str = SET_ARGUMENT,
    store: str | None = STORE_OPTION,
    max_error: float | None = opt(
        "X", "Largest error rate that the last round's 95 % interval may include.", min=0, max=1
    ),
    as_json: bool = options.JSON_OPTION,
) -> None:
    """Show quality by round, the stop rule, agreement, and the precision of each rule's warnings.

    \b
    Examples:
      wildtool review stats sessions.jsonl
      wildtool review stats sessions.jsonl --max-error 0.05 --json
      wildtool review stats runs/wild-mini

    Of a run whose failures people read, it shows the shares of the labels, the agreement of the readers, and how often
    they kept what a rule proposed.
    """
    if is_run(Path(set_name)):
        refuse_options({"store": store, "max-error": max_error})
        print_bad_case_stats(Path(set_name), as_json=as_json)
        return
    from wildtool.terminal.tables import print_metrics
    from wildtool_review.figures import review_figures
    from wildtool_review.sets import open_review

    with open_review(set_name, store) as project:
        metrics = review_figures(project, max_error)
    if as_json:
        print(json.dumps([asdict(metric) for metric in metrics], indent=1))
    else:
        print_metrics(metrics)
