"""The command `review start`: a review without its pages."""

from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from wildtool.cli.command import opt
from wildtool.cli.options import shared as options
from wildtool.errors import UsageError
from wildtool.steps import with_steps
from wildtool.terminal import print_err, print_out, single_line
from wildtool_review.commands.bad_cases import is_run, refuse_options, start_bad_cases
from wildtool_review.commands.options import (
    CHECKS_ANNOUNCED,
    NO_CHECK_OPTION,
    RUNS_OPTION,
    SET_ARGUMENT,
    STORE_OPTION,
)
from wildtool_review.commands.replies import open_rejudge

if TYPE_CHECKING:
    from wildtool_review.project import ReviewProject
    from wildtool_review.replies.rejudge import Rejudge
    from wildtool_review.state import Queue

_SHOWN: tuple[tuple["Queue", str], ...] = (
    ("warnings", "with findings of rules"),
    ("conflicts", "in conflict"),
    ("stale", "with stale tasks"),
)
"""Queues of which the first items are named."""


def start(
    set_name: str = SET_ARGUMENT,
    store: str | None = STORE_OPTION,
    benchmark: str | None = options.DATA_BENCHMARK_OPTION,
    no_check: bool = NO_CHECK_OPTION,
    runs: list[Path] | None = RUNS_OPTION,
    failed: bool = opt("SET is a run: draw failures of it, which people read and label."),
    sample: int | None = opt("N", "With --failed: failures to draw at random (default: all).", min=1),
    labels: str | None = opt(
        "NAME|FILE",
        "With --failed: toleap (the default), wildtoolbench, or a file with a line 'NAME: what it means' per label.",
    ),
    seed: str = opt("TEXT", "With --failed: the same seed draws the same failures.", default="1"),
    profile: str | None = options.PROFILE_OPTION,
) -> None:
    """Start the review of a made set, or continue it, without opening it.

    \b
    Examples:
      wildtool review start sessions.jsonl
      wildtool review start sessions.jsonl --store team.review.sqlite
      wildtool review start sessions.jsonl --runs runs
      wildtool review start tools.json
      wildtool review start runs/wild-mini --failed --sample 300

    SET is a folder that `wildtool generate` made, any data that `wildtool data lint` reads, or a file of tools (with
    approve, reject and `merge_into` for each tool, before `generate --tools` makes sessions). It is not changed: all
    edits and decisions go into SET.review.sqlite. New items are added each time. `wildtool review SET` opens it in the
    browser. With --failed, SET is a run or a folder with runs: people read its failures with `wildtool review RUN`
    in the browser, or `wildtool review quick RUN` in the terminal.
    """
    if failed:
        refuse_options({"store": store, "benchmark": benchmark, "no-check": no_check, "runs": runs})
        start_bad_cases(Path(set_name), labels, sample, seed, profile)
        return
    given = [
        name for name, value in (("--sample", sample), ("--labels", labels), ("--profile", profile)) if value
    ]
    if given:
        raise UsageError(f"{given[0]} is about failures of a run: add --failed")
    if is_run(Path(set_name)):
        raise UsageError(f"{set_name} is a run: add --failed to draw failures of it, which people then read")
    from wildtool_review.sets import start_review, store_name
    from wildtool_review.store.address import shown_name

    project, added = start_review(set_name, store, benchmark)
    with project:
        if not no_check:
            _check_new(project)
        _print_overview(project, single_line(shown_name(store_name(set_name, store))), added)
        if rejudge := open_rejudge(project.format, runs):
            with rejudge.runs:
                _print_flips(project, rejudge)


def _print_overview(project: "ReviewProject", name: str, added: int) -> None:
    from collections import Counter

    items = project.state.items.values()
    print_out(f"{name}: {len(items)} items, {added} new")
    if project.state.reviewers == 1:
        print_out("one reviewer per item is enough, as the set says")
    stages = Counter(item.stage for item in items)
    print_out(", ".join(f"{count} {stage}" for stage, count in stages.items()))
    for queue, label in _SHOWN:
        if queued := project.state.queue(queue):
            examples = ", ".join(single_line(item.id) for item in queued[:3])
            print_out(f"{len(queued)} {label}: items {examples}{', …' if len(queued) > 3 else ''}")


def _check_new(project: "ReviewProject") -> None:
    """Runs the rules over items that were not checked yet."""
    new = len(project.state.queue("unchecked"))
    if new >= CHECKS_ANNOUNCED:
        print_err(f"checking {new} items; you can interrupt this and continue later")
    for _ in with_steps("checking", enumerate(project.check_items()), itemgetter(0)):
        pass


def _print_flips(project: "ReviewProject", rejudge: "Rejudge") -> None:
    """Which recorded answers another verdict has since their item was edited."""
    edited = [item.id for item in project.state.items.values() if item.version > 1]
    print_out(f"{len(rejudge.runs.runs)} recorded runs of {len(rejudge.runs.models)} models")
    for item in edited:
        for flip in rejudge.of_item(project.item(item)).flips:
            place = f"{single_line(item)}, unit {single_line(flip.unit)}, {single_line(flip.model)}"
            print_out(
                f"{place}: {flip.before.state} -> {flip.after.state} ({single_line(flip.after.reason)})"
            )
