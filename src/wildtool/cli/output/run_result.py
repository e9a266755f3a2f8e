"""Prints what came of a run: why it stopped, what failed, what it spent."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from wildtool.advice import Advice
from wildtool.api.plans import NamedRun
from wildtool.cli.output.estimate import missing_batch_prices
from wildtool.cli.output.ranked import rank_results
from wildtool.cli.output.results import describe_failures, find_results, print_faults
from wildtool.engine.plan import Plan
from wildtool.engine.record.run_folder import recordable_command
from wildtool.engine.run.runner import RunResult
from wildtool.engine.score.formatting import counted
from wildtool.engine.score.results import failures_in
from wildtool.engine.score.trust import lasting_advice
from wildtool.errors import BLOCKED_PROMPT, NOT_RECORDED, LimitOf
from wildtool.table import table_caveats
from wildtool.terminal import escape_text, print_err
from wildtool.terminal.tables import print_overview, print_shown

_CONTINUING = {
    LimitOf.USER: "with a higher limit",
    LimitOf.ENDPOINT: "later",
    LimitOf.DOWN: "later, at another --base-url if the server has moved,",
}
"""How to run the same command after a limit, by whose it was."""


def print_notes(result: RunResult) -> None:
    """What the user must know about a run apart from its numbers, also with `--quiet`."""
    for text in result.remarks:
        print_err(text)
    if result.interrupted:
        print_err(
            f"Interrupted. All replies are saved in {result.folder}; {Advice.SAME_COMMAND} to continue."
        )
    for batch in result.pending:
        command = shlex.join(recordable_command(["wildtool", *sys.argv[1:]]))
        print_err(
            f"Batch {batch.id} ({batch.requests:,} requests, {batch.status}) is still running. To wait for it "
            f"(nothing is paid twice): {command}\nTo cancel it and pay only for what is done: POST "
            f"{batch.cancel_url} with your key (docs/batch.md)."
        )
    if result.limit is not None and result.limit_of is not None:
        how = _CONTINUING[result.limit_of]
        print_err(
            f"{result.folder}: stopped: {result.limit.rstrip('.')}. All replies are recorded; "
            f"{result.counts.unplayed} of {result.counts.units} units are unfinished. "
            f"Run the same command {how} to continue."
        )
    if result.counts.infra_error and result.verdicts:
        _print_failures(result, result.verdicts)
    print_faults(f"{result.folder}: ", result.faults)


def _print_failures(result: RunResult, verdicts: Path) -> None:
    """Why units have no result; prompts that the endpoint blocked apart from all that has another cause."""
    kinds = failures_in(verdicts)
    blocked = [each for each in kinds if each.kind == BLOCKED_PROMPT]
    failed = [each for each in kinds if each.kind != BLOCKED_PROMPT]
    without_result = sum(each.units for each in blocked)
    of_units = f"of {result.counts.units} units"
    if blocked:
        print_err(
            f"{result.folder}: {without_result} {of_units} have no result because calls ended with "
            f"{describe_failures(blocked)}"
        )
        print_err(
            "The provider refuses these prompts themselves; trying again will hardly help (docs/models.md)."
        )
    if not failed:
        return
    print_err(
        f"{result.folder}: {result.counts.infra_error - without_result} {of_units} were not "
        f"finished because calls failed with {describe_failures(failed)}"
    )
    if all(each.kind == NOT_RECORDED for each in failed):
        print_err("The record that answers does not hold these calls; retrying will not help.")
        return
    final = [each for each in failed if each.is_final]
    if final:
        units = sum(each.units for each in final)
        advice = lasting_advice(final)
        cause = f": {advice}" if advice else ""
        print_err(f"{result.folder}: the same command cannot help {units} of them{cause}.")
    rest = "the others" if final else "those"
    if any(each.overflowed for each in failed):
        retry = f"the same command then retries only {rest}"
        print_err(f"{result.folder}: {Advice.LONGER_CONTEXT}; {retry}. Or {Advice.FEWER_TOKENS}.")
    elif len(final) < len(failed):
        print_err(f"{result.folder}: run the same command to retry only {rest}.")


def print_spend(result: RunResult, plan: Plan) -> None:
    """What the calls of this command took, where anything did."""
    spent = result.spent
    if not (spent.tokens or result.cached or spent.uncounted):
        return
    cached = f", {result.cached:,} replies from the cache" if result.cached else ""
    tokens = f"{spent.prompt_tokens:,} prompt and {spent.completion_tokens:,} reply tokens"
    calls = counted(result.calls, "call")
    if spent.uncounted and not spent.tokens:
        tokens, cost = "tokens that the endpoint did not count", ", cost unknown"
    elif spent.uncounted:
        tokens = f"at least {tokens}"
        calls += f", of which the endpoint counted no tokens, or not all, for {spent.uncounted:,}"
        cost = ", cost unknown"
    elif spent.unpriced:
        cost = ", cost unknown; add --prices"
    else:
        origins = dict.fromkeys(price.origin for price in plan.prices.values() if price.output or price.input)
        cost = f", {spent.cost:.4f} USD by {', '.join(origins)}" if origins else ""
        cost += "".join(f"; {remark}" for remark in missing_batch_prices(plan))
        if spent.reported:
            cost = f", {spent.cost:.4f} USD, of which the endpoint reported {spent.reported:.4f}"
    print_err(f"{result.folder}: spent {tokens} on {calls}{cost}{cached}")


def print_overview_of(runs: Sequence[NamedRun], profile: str, quiet: bool, sort: str = "rank") -> None:
    """The numbers of runs under a profile: the headline, and what their benchmark shows beside it.

    Args: sort: as of `places_by`.
    """
    folders = [run.folder for run in runs]
    results, ranked = rank_results(find_results(folders, profile)[0], sort)
    print_overview(results, ranked)
    shown = list(dict.fromkeys(group for run in runs for group in run.plan.benchmark.shown))
    if shown:
        from wildtool.cli.output.model_choice import print_choice  # it loads what reports need

        if table_caveats(results):
            print()
        prices = {run.folder: run.plan.prices["agent"] for run in runs if "agent" in run.plan.prices}
        print_choice(folders, profile, prices, sort)
        print_shown(results, shown, ranked)
    if not quiet:
        paths = " ".join(shlex.quote(escape_text(folder)) for folder in folders)
        print_err(f"More tables: wildtool show {paths} --all")
