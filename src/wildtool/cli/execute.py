"""Plays the plans of `wildtool run` and tells what came of them."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wildtool.cli.exit_status import report, worst
from wildtool.cli.terminal import duration, note, plain, say
from wildtool.errors import WildtoolError

if TYPE_CHECKING:
    from wildtool.engine.call.budget import Limits
    from wildtool.engine.plan import Plan
    from wildtool.engine.run.client import Sitting
    from wildtool.engine.run.estimate import Demand, Outlook, Span
    from wildtool.engine.run.runner import RunResult


def play_plans(plans: "dict[str, Plan]", folders: dict[str, Path], sitting: "Sitting", quiet: bool) -> int:
    """Plays all models; one that fails does not stop the others. Gives the exit status."""
    from wildtool.cli.output.progress import Board, Progress
    from wildtool.engine.observer import Observer
    from wildtool.engine.run.runner import Job, RunResult, run_all

    drawn = [] if quiet else [Progress(name) for name in plans]
    watchers: Sequence[Observer] = drawn or [Observer() for _ in plans]
    jobs = [
        Job(plan, folders[name], seen) for (name, plan), seen in zip(plans.items(), watchers, strict=True)
    ]
    with Board(drawn):
        outcomes = run_all(jobs, command=["wildtool", *sys.argv[1:]], sitting=sitting)
    statuses: list[int] = []
    judged: list[Path] = []
    for (name, plan), outcome in zip(plans.items(), outcomes, strict=True):
        if isinstance(outcome, RunResult):
            _remark(outcome)
            if not quiet:
                _tell_spent(outcome, plan)
            statuses.append(outcome.exit_status)
            # A model that never answered has no numbers.
            answered = outcome.counts.correct + outcome.counts.wrong
            judged += [outcome.folder] if answered and not outcome.interrupted else []
        elif outcome is not None:
            if len(plans) > 1 and isinstance(outcome, WildtoolError):
                note(f"{name} did not finish:")
            statuses.append(report(outcome))
    if judged:
        _show(judged, next(iter(plans.values())).profile, quiet)
    return worst(statuses)


def _remark(result: "RunResult") -> None:
    """What the user must know about a run besides its numbers, also when they asked for quiet."""
    for text in result.remarks:
        note(text)
    if result.interrupted:
        note(
            f"Interrupted. All replies are saved in {result.folder}; run the same command again to continue."
        )
    for batch in result.pending:
        note(
            f"Batch {batch.id} ({batch.requests:,} requests, {batch.status}) is still running. To wait for it "
            f"(nothing is paid twice): {_this_command()}\nTo cancel it and pay only for what is done: POST "
            f"{batch.cancel_url} with your key (docs/batch.md)."
        )
    if result.limit is not None:
        how = "later" if result.limit_of_endpoint else "with a higher limit"
        note(
            f"{result.folder}: stopped: {result.limit}. All replies are recorded; {result.counts.unplayed} of "
            f"{result.counts.units} units are unfinished. Run the same command {how} to continue."
        )
    if result.counts.infra_error and result.verdicts:
        _remark_on_failures(result, result.verdicts)
    if result.faults:
        note(
            f"{result.folder}: internal error: scoring failed {len(result.faults)} times. {result.faults[0]}"
        )


def _remark_on_failures(result: "RunResult", verdicts: Path) -> None:
    """Why units have no result; prompts that the endpoint blocked apart from all that has another cause."""
    from wildtool.cli.output.results import in_words
    from wildtool.engine.call.health import NOT_RECORDED
    from wildtool.engine.score.results import failed_in
    from wildtool.models.http.failures import BLOCKED

    found = failed_in(verdicts)
    blocked = [each for each in found if each.kind == BLOCKED]
    failed = [each for each in found if each.kind != BLOCKED]
    of_units = f"of {result.counts.units} units"
    if blocked:
        note(
            f"{result.folder}: {sum(each.units for each in blocked)} {of_units} have no result because calls ended with "
            f"{in_words(blocked)}"
        )
        note("The provider refuses these prompts themselves; trying again will hardly help (docs/models.md).")
    if not failed:
        return
    note(
        f"{result.folder}: {result.counts.infra_error - sum(each.units for each in blocked)} {of_units} were not "
        f"finished because calls failed with {in_words(failed)}"
    )
    if all(each.kind == NOT_RECORDED for each in failed):
        note("The record that answers does not hold these calls; retrying will not help.")
    else:
        note(f"{result.folder}: run the same command to retry only those.")


def _this_command() -> str:
    from wildtool.engine.record.run_folder import without_logins

    return shlex.join(without_logins(["wildtool", *sys.argv[1:]]))


def _tell_spent(result: "RunResult", plan: "Plan") -> None:
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
        cost += "".join(f"; {remark}" for remark in _full_prices(plan))
    note(f"{result.folder}: spent {tokens} on {result.calls:,} calls{cost}{kept}")


def _full_prices(plan: "Plan") -> list[str]:
    """Which prices do not say what a batch costs, so that the whole is counted."""
    silent = [
        plan.models[role].name
        for role in sorted(plan.batched)
        if (price := plan.prices.get(role)) and price.batch is None and (price.input or price.output)
    ]
    return [f"no batch price is known for {name}; the full price is assumed" for name in silent]


def _show(folders: list[Path], profile: str, quiet: bool) -> None:
    from wildtool.cli.output.results import find_results
    from wildtool.cli.output.tables import print_overview

    print_overview(find_results(folders, profile)[0])
    if not quiet:
        paths = " ".join(shlex.quote(plain(folder)) for folder in folders)
        note(f"More tables: wildtool show {paths} --all")


def tell_outlook(plans: "dict[str, Plan]", limits: "Limits") -> None:
    """What the runs would take, told from the data alone."""
    from wildtool.engine.call.pricing import ERROR, TOKENIZER
    from wildtool.engine.run.estimate import demand_of, outlook

    say(f"Nothing is sent or written. Tokens are {TOKENIZER} ({ERROR}).")
    say("Assumes gold answers; reasoning and other text cost extra.")
    demands: list[Demand] = []
    for name, plan in plans.items():
        roles = outlook(plan)
        for role, seen in roles.items():
            say(f"{name}, {role} ({plan.models[role].name})" if role != "agent" else name)
            tell_taken(plan, role, seen)
        for remark in _full_prices(plan):
            say(remark)
        demands.append(demand_of(plan, roles))
        _tell_time(demands[-1], plan)
    tell_limits(demands, limits)


def tell_taken(plan: "Plan", role: str, seen: "Outlook") -> None:
    """What one role would take."""
    from wildtool.engine.run.estimate import usages_of

    price = plan.prices.get(role)
    batched = role in plan.batched
    low, high = usages_of(plan, role, seen)
    say(f"  calls          {_range(seen.low.calls, seen.high.calls)}")
    say(f"  prompt tokens  {_range(low['prompt_tokens'], high['prompt_tokens'])}")
    say(f"  reply tokens   {_range(low['completion_tokens'], high['completion_tokens'])}")
    if price is None:
        say("  cost           unknown; add --prices FILE or a price in wildtool.toml")
    else:
        by = ", batch price" if batched else ""
        costs = [price.cost(usage, batched=batched) for usage in (low, high)]
        say(f"  cost           {costs[0]:.4f} – {costs[1]:.4f} USD ({price.origin}{by})")
    if batched:
        say(f"  rounds         {_range(seen.low.rounds, seen.high.rounds)}, each up to a day")


def tell_limits(demands: "Sequence[Demand]", limits: "Limits") -> None:
    """Whether all runs of a command together would reach a limit that the user gave."""
    from wildtool.engine.run.estimate import seconds_of

    tokens = sum(demand.tokens[0] for demand in demands), sum(demand.tokens[1] for demand in demands)
    costs = [demand.cost for demand in demands if demand.cost is not None]
    cost = sum(low for low, _ in costs), sum(high for _, high in costs)
    if limits.max_cost is not None:
        known = cost if len(costs) == len(demands) else None
        _tell_limit(f"--max-cost {limits.max_cost:g}", limits.max_cost, known, "{:.4f} – {:.4f} USD")
    if limits.max_tokens_total is not None:
        most = limits.max_tokens_total
        _tell_limit(f"--max-tokens-total {most:,}", most, tokens, "{:,.0f} – {:,.0f} tokens")
    if limits.deadline_s is not None:
        most = limits.deadline_s
        _tell_limit(f"--deadline {most:g}", most, seconds_of(demands), "{:,.0f} – {:,.0f} s")


def _tell_limit(limit: str, most: float, taken: "Span | None", unit: str) -> None:
    if taken is None:
        say(f"{limit}: cannot tell in advance whether it would be reached")
        return
    low, high = taken
    would = "would not" if high <= most else "would" if low > most else "may"
    say(f"{limit}: {would} be reached (in all {unit.format(low, high)})")


def _tell_time(demand: "Demand", plan: "Plan") -> None:
    from wildtool.engine.run.estimate import CALL_S

    if demand.seconds is None or not demand.seconds[1]:
        return
    low, high = map(duration, demand.seconds)
    about = low if low == high else f"{low} – {high}"
    rates = plan.rates.get("agent")
    bounds = {"--concurrency": plan.concurrency, "--rpm": rates and rates.rpm, "--tpm": rates and rates.tpm}
    by = ", ".join(f"{option} {value:g}" for option, value in bounds.items() if value)
    say(f"  time           {about}, if a call takes {CALL_S:g} s ({by})")


def _range(low: float, high: float) -> str:
    one, other = sorted((round(low), round(high)))
    return f"{one:,}" if one == other else f"{one:,} – {other:,}"
