"""The command `review agree`: where recorded models agree against gold."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from wildtool.cli.command import opt
from wildtool.cli.options import shared as options
from wildtool.errors import UsageError
from wildtool.terminal import print_err, print_out, single_line
from wildtool_review.commands.options import RUNS_OPTION, SET_ARGUMENT, STORE_OPTION

if TYPE_CHECKING:
    from wildtool_data.formats.base import ReviewFormat
    from wildtool_review.replies.rejudge import Rejudge


def open_rejudge(
    format_: "ReviewFormat", runs: list[Path] | None, profile: str | None = None
) -> "Rejudge | None":
    """What judges the recorded replies of runs again; None if none are named."""
    from wildtool_review.replies.recorded import OpenRuns
    from wildtool_review.replies.rejudge import Rejudge

    return Rejudge(OpenRuns.open(format_, runs, profile)) if runs else None


def agree(
    set_name: str = SET_ARGUMENT,
    runs: list[Path] | None = RUNS_OPTION,
    min_models: int = opt("N", "Models that must do the same.", default=2, min=1),
    profile: str | None = options.PROFILE_OPTION,
    store: str | None = STORE_OPTION,
    as_json: bool = options.JSON_OPTION,
) -> None:
    """List what several models do alike although gold has something else: likely errors in gold.

    \b
    Examples:
      wildtool review agree sessions.jsonl --runs runs
      wildtool review agree sessions.jsonl --runs runs --min-models 3 --json

    What most models agree on comes first. The edit that would accept it was tried: the line says how many models it
    makes right and how many wrong. Replies to other content than the item has now are left out.
    """
    from wildtool_review.replies.page import proposal_json
    from wildtool_review.replies.proposals import agreement_queue, sorted_queue
    from wildtool_review.sets import start_review

    if not runs:
        raise UsageError("name the recorded runs: --runs FOLDER")
    project, _ = start_review(set_name, store)
    with project:
        rejudge = open_rejudge(project.format, runs, profile)
        assert rejudge is not None
        with rejudge.runs:
            proposals = sorted_queue(agreement_queue(project, rejudge, least=min_models))
    if as_json:
        print(json.dumps([proposal_json(proposal) for proposal in proposals], indent=1))
        return
    for proposal in proposals:
        print_out(
            f"{single_line(proposal.item)}, unit {single_line(proposal.unit)}: {single_line(proposal.sentence, 500)}"
        )
        if proposal.field:
            print_out(f"    {single_line(proposal.field)}: {single_line(', '.join(proposal.models), 200)}")
    models = len(rejudge.runs.models)
    print_err(f"{len(proposals)} places where at least {min_models} of {models} models agree against gold")
