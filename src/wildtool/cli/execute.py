"""Plays the plans of `wildtool run` and tells what came of them."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wildtool.cli.exit_status import report_error, worst_status
from wildtool.cli.terminal import escape_text, format_duration, print_err, print_out
from wildtool.errors import WildtoolError

if TYPE_CHECKING:
    from wildtool.engine.call.budget import SpendingLimits
    from wildtool.engine.plan import Plan
    from wildtool.engine.run.client import Invocation
    from wildtool.engine.run.estimate import RoleEstimate, RunTotals, Span
    from wildtool.engine.run.runner import RunResult


def execute_plans(
    plans: "dict[str, Plan]", folders: dict[str, Path], invocation: "Invocation", quiet: bool
) -> int:
    """Plays all models; one that fails does not stop the others. Gives the exit status."""
    from wildtool.cli.output.progress import ProgressDisplay, ProgressObserver
    from wildtool.engine.observer import Observer
    from wildtool.engine.run.runner import RunJob, RunResult, run_plans

    drawn = [] if quiet else [ProgressObserver(name) for name in plans]
    watchers: Sequence[Observer] = drawn or [Observer() for _ in plans]
    jobs = [
        RunJob(plan, folders[name], seen) for (name, plan), seen in zip(plans.items(), watchers, strict=True)
    ]
    with ProgressDisplay(drawn):
        outcomes = run_plans(jobs, command=["wildtool", *sys.argv[1:]], invocation=invocation)
    statuses: list[int] = []
    judged: list[Path] = []
    for (name, plan), outcome in zip(plans.items(), outcomes, strict=True):
        if isinstance(outcome, RunResult):
            _print_notes(outcome)
            if not quiet:
                _print_spend(outcome, plan)
            statuses.append(outcome.exit_status)
            # A model that never answered has no numbers.
            answered = outcome.counts.correct + outcome.counts.wrong
            judged += [outcome.folder] if answered and not outcome.interrupted else []
        elif outcome is not None:
            if len(plans) > 1 and isinstance(outcome, WildtoolError):
                print_err(f"{name} did not finish:")
            statuses.append(report_error(outcome))
    if judged:
        _print_overview(judged, next(iter(plans.values())).profile, quiet)
    return worst_status(statuses)


def _print_notes(result: "RunResult") -> None:
    """What the user must know about a run besides its numbers, also when they asked for quiet."""
    for text in result.remarks:
        print_err(text)
    if result.interrupted:
        print_err(
            f"Interrupted. All replies are saved in {result.folder}; run the same command again to continue."
        )
    for batch in result.pending:
        print_err(
            f"Batch {batch.id} ({batch.requests:,} requests, {batch.status}) is still running. To wait for it "
            f"(nothing is paid twice): {_this_command()}\nTo cancel it and pay only for what is done: POST "
            f"{batch.cancel_url} with your key (docs/batch.md)."
        )
    if result.limit is not None:
        how = "later" if result.limit_of_endpoint else "with a higher limit"
        print_err(
            f"{result.folder}: stopped: {result.limit}. All replies are recorded; {result.counts.unplayed} of "
            f"{result.counts.units} units are unfinished. Run the same command {how} to continue."
        )
    if result.counts.infra_error and result.verdicts:
        _print_failures(result, result.verdicts)
    if result.faults:
        print_err(
            f"{result.folder}: internal error: scoring failed {len(result.faults)} times. {result.faults[0]}"
        )


def _print_failures(result: "RunResult", verdicts: Path) -> None:
    """Why units have no result; prompts that the endpoint blocked apart from all that has another cause."""
    from wildtool.cli.output.results import describe_failures
    from wildtool.engine.call.retry import NOT_RECORDED
    from wildtool.engine.score.results import failures_in
    from wildtool.models.http.failures import BLOCKED_PROMPT

    found = failures_in(verdicts)
    blocked = [each for each in found if each.kind == BLOCKED_PROMPT]
    failed = [each for each in found if each.kind != BLOCKED_PROMPT]
    of_units = f"of {result.counts.units} units"
    if blocked:
        print_err(
            f"{result.folder}: {sum(each.units for each in blocked)} {of_units} have no result because calls ended with "
            f"{describe_failures(blocked)}"
        )
        print_err(
            "The provider refuses these prompts themselves; trying again will hardly help (docs/models.md)."
        )
    if not failed:
        return
    print_err(
        f"{result.folder}: {result.counts.infra_error - sum(each.units for each in blocked)} {of_units} were not "
        f"finished because calls failed with {describe_failures(failed)}"
    )
    if all(each.kind == NOT_RECORDED for each in failed):
        print_err("The record that answers does not hold these calls; retrying will not help.")
    else:
        print_err(f"{result.folder}: run the same command to retry only those.")


def _this_command() -> str:
    from wildtool.engine.record.run_folder import strip_credentials

    return shlex.join(strip_credentials(["wildtool", *sys.argv[1:]]))


def _print_spend(result: "RunResult", plan: "Plan") -> None:
    """What the calls of this command took, where anything did."""
    spent = result.spent
    if not spent.tokens and not result.cached:
        return
    kept = f", {result.cached:,} replies from the cache" if result.cached else ""
    tokens = f"{spent.prompt_tokens:,} prompt and {spent.completion_tokens:,} reply tokens"
    if spent.unpriced:
        cost = ", cost unknown; add --prices"
    else:
        origins = dict.fromkeys(price.origin for price in plan.prices.values() if price.output or price.input)
        cost = f", {spent.cost:.4f} USD by {', '.join(origins)}" if origins else ""
        cost += "".join(f"; {remark}" for remark in _missing_batch_prices(plan))
    print_err(f"{result.folder}: spent {tokens} on {result.calls:,} calls{cost}{kept}")


def _missing_batch_prices(plan: "Plan") -> list[str]:
    """Which prices do not say what a batch costs, so that the whole is counted."""
    silent = [
        plan.models[role].name
        for role in sorted(plan.batched)
        if (price := plan.prices.get(role)) and price.batch is None and (price.input or price.output)
    ]
    return [f"no batch price is known for {name}; the full price is assumed" for name in silent]


def _print_overview(folders: list[Path], profile: str, quiet: bool) -> None:
    from wildtool.cli.output.results import find_results
    from wildtool.cli.output.tables import print_overview

    print_overview(find_results(folders, profile)[0])
    if not quiet:
        paths = " ".join(shlex.quote(escape_text(folder)) for folder in folders)
        print_err(f"More tables: wildtool show {paths} --all")


def print_estimate(plans: "dict[str, Plan]", limits: "SpendingLimits") -> None:
    """What the runs would take, told from the data alone."""
    from wildtool.engine.call.pricing import TOKEN_ESTIMATE_ERROR, TOKEN_ESTIMATE_METHOD
    from wildtool.engine.run.estimate import estimate_run, run_totals

    print_out(f"Nothing is sent or written. Tokens are {TOKEN_ESTIMATE_METHOD} ({TOKEN_ESTIMATE_ERROR}).")
    print_out("Assumes gold answers; reasoning and other text cost extra.")
    demands: list[RunTotals] = []
    for name, plan in plans.items():
        roles = estimate_run(plan)
        for role, seen in roles.items():
            print_out(f"{name}, {role} ({plan.models[role].name})" if role != "agent" else name)
            print_usage(plan, role, seen)
        for remark in _missing_batch_prices(plan):
            print_out(remark)
        demands.append(run_totals(plan, roles))
        _print_time(demands[-1], plan)
    print_limits(demands, limits)


def print_usage(plan: "Plan", role: str, seen: "RoleEstimate") -> None:
    """What one role would take."""
    from wildtool.engine.run.estimate import usages_of

    price = plan.prices.get(role)
    batched = role in plan.batched
    low, high = usages_of(plan, role, seen)
    print_out(f"  calls          {_range(seen.low.calls, seen.high.calls)}")
    print_out(f"  prompt tokens  {_range(low['prompt_tokens'], high['prompt_tokens'])}")
    print_out(f"  reply tokens   {_range(low['completion_tokens'], high['completion_tokens'])}")
    if price is None:
        print_out("  cost           unknown; add --prices FILE or a price in wildtool.toml")
    else:
        by = ", batch price" if batched else ""
        costs = [price.cost(usage, batched=batched) for usage in (low, high)]
        print_out(f"  cost           {costs[0]:.4f} – {costs[1]:.4f} USD ({price.origin}{by})")
    if batched:
        print_out(
            f"  rounds         {_range(seen.low.longest_unit_calls, seen.high.longest_unit_calls)}, each up to a day"
        )


def print_limits(demands: "Sequence[RunTotals]", limits: "SpendingLimits") -> None:
    """Whether all runs of a command together would reach a limit that the user gave."""
    from wildtool.engine.run.estimate import seconds_of

    tokens = sum(demand.tokens[0] for demand in demands), sum(demand.tokens[1] for demand in demands)
    costs = [demand.cost for demand in demands if demand.cost is not None]
    cost = sum(low for low, _ in costs), sum(high for _, high in costs)
    if limits.max_cost is not None:
        known = cost if len(costs) == len(demands) else None
        _print_limit(f"--max-cost {limits.max_cost:g}", limits.max_cost, known, "{:.4f} – {:.4f} USD")
    if limits.max_tokens_total is not None:
        most = limits.max_tokens_total
        _print_limit(f"--max-tokens-total {most:,}", most, tokens, "{:,.0f} – {:,.0f} tokens")
    if limits.deadline_s is not None:
        most = limits.deadline_s
        _print_limit(f"--deadline {most:g}", most, seconds_of(demands), "{:,.0f} – {:,.0f} s")


def _print_limit(limit: str, most: float, taken: "Span | None", unit: str) -> None:
    if taken is None:
        print_out(f"{limit}: cannot tell in advance whether it would be reached")
        return
    low, high = taken
    would = "would not" if high <= most else "would" if low > most else "may"
    print_out(f"{limit}: {would} be reached (in all {unit.format(low, high)})")


def _print_time(demand: "RunTotals", plan: "Plan") -> None:
    from wildtool.engine.run.estimate import ASSUMED_CALL_S

    if demand.seconds is None or not demand.seconds[1]:
        return
    low, high = map(format_duration, demand.seconds)
    about = low if low == high else f"{low} – {high}"
    rates = plan.rates.get("agent")
    bounds = {"--concurrency": plan.concurrency, "--rpm": rates and rates.rpm, "--tpm": rates and rates.tpm}
    by = ", ".join(f"{option} {value:g}" for option, value in bounds.items() if value)
    print_out(f"  time           {about}, if a call takes {ASSUMED_CALL_S:g} s ({by})")


def _range(low: float, high: float) -> str:
    one, other = sorted((round(low), round(high)))
    return f"{one:,}" if one == other else f"{one:,} – {other:,}"
