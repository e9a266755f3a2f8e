"""Plays the plans of `wildtool run` and tells what came of them."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wildtool.cli.status import report, worst
from wildtool.cli.terminal import note, plain, say
from wildtool.errors import WildtoolError

if TYPE_CHECKING:
    from wildtool.engine.outlook import Outlook
    from wildtool.engine.plan import Plan
    from wildtool.engine.prices import Price
    from wildtool.engine.run import RunResult
    from wildtool.engine.sitting import Sitting


def play_plans(plans: "dict[str, Plan]", folders: dict[str, Path], sitting: "Sitting", quiet: bool) -> int:
    """Plays all models; one that fails does not stop the others. Gives the exit status."""
    from wildtool.cli.progress import Board, Progress
    from wildtool.engine.observer import Observer
    from wildtool.engine.run import Job, RunResult, run_all

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
            judged += [] if outcome.interrupted else [outcome.folder]
        elif outcome is not None:
            if len(plans) > 1 and isinstance(outcome, WildtoolError):
                note(f"{name} was not played to its end:")
            statuses.append(report(outcome))
    if judged:
        _show(judged, next(iter(plans.values())).profile, quiet)
    return worst(statuses)


def _remark(result: "RunResult") -> None:
    """What the user must know about a run besides its numbers, also when they asked for quiet."""
    from wildtool.cli.results import in_words
    from wildtool.engine.attempts import NOT_RECORDED
    from wildtool.engine.results import failed_in
    from wildtool.models.failures import BLOCKED

    if result.interrupted:
        note(f"Interrupted. {result.folder} keeps all replies; run the same command again to go on.")
    for batch in result.pending:
        note(
            f"Batch {batch.id} ({batch.requests:,} requests, {batch.status}) goes on: the same command waits for it and "
            f"pays for nothing twice: {_this_command()}\nTo cancel it, at the price of what it has done: POST "
            f"{batch.cancel_url} with your key (docs/batch.md)."
        )
    if result.limit is not None:
        note(
            f"{result.folder}: stopped: {result.limit}. All replies are recorded, {result.counts.unplayed} of "
            f"{result.counts.units} units are not played to their end; run the same command with a higher limit to go on."
        )
    if result.counts.infra_error and result.verdicts:
        failed = failed_in(result.verdicts)
        note(
            f"{result.folder}: {result.counts.infra_error} of {result.counts.units} units were not played to "
            f"their end since calls failed by {in_words(failed)}"
        )
        if all(found.kind == NOT_RECORDED for found in failed):
            note("What answers is a record that does not hold these calls; trying again cannot help.")
        elif all(found.kind == BLOCKED for found in failed):
            note(
                "The provider refuses these prompts themselves; trying again will hardly help (docs/models.md)."
            )
        else:
            note(f"{result.folder}: run the same command again to retry just those.")
    if result.faults:
        note(
            f"{result.folder}: a fault of ours: our judge failed {len(result.faults)} times. "
            f"{result.faults[0]}"
        )


def _this_command() -> str:
    from wildtool.engine.rundir import without_logins

    return shlex.join(without_logins(["wildtool", *sys.argv[1:]]))


def _tell_spent(result: "RunResult", plan: "Plan") -> None:
    """What the calls of this command took, where anything did."""
    spent = result.spent
    if not spent.tokens and not result.cached:
        return
    kept = f", {result.cached:,} replies from the cache" if result.cached else ""
    tokens = f"{spent.prompt_tokens:,} prompt and {spent.completion_tokens:,} reply tokens"
    if spent.unpriced:
        cost = ", at a price that is not known"
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
    return [f"the price of {name} names no `batch`, and the whole is counted" for name in silent]


def _show(folders: list[Path], profile: str, quiet: bool) -> None:
    from wildtool.cli.results import find_results
    from wildtool.cli.tables import print_overview

    print_overview(find_results(folders, profile)[0])
    if not quiet:
        paths = " ".join(shlex.quote(plain(folder)) for folder in folders)
        note(f"More tables: wildtool show {paths} --all")


def tell_outlook(plans: "dict[str, Plan]") -> None:
    """What the runs would take, told from the data alone."""
    from wildtool.engine.outlook import outlook
    from wildtool.engine.tokens import ERROR, TOKENIZER

    say(f"Nothing is asked or written. Tokens: {TOKENIZER}, no tokenizer; {ERROR}.")
    say("Taken if every answer were the gold one, in each way of giving it; reasoning and talk come on top.")
    for name, plan in plans.items():
        for role, seen in outlook(plan).items():
            say(f"{name}, {role} ({plan.models[role].name})" if role != "agent" else name)
            tell_taken(plan, role, seen)
        for remark in _full_prices(plan):
            say(remark)


def tell_taken(plan: "Plan", role: str, seen: "Outlook") -> None:
    """What one role would take."""
    price = plan.prices.get(role)
    say(f"  calls          {_range(seen.low.calls, seen.high.calls)}")
    say(f"  prompt tokens  {_range(seen.low.prompt_tokens, seen.high.prompt_tokens)}")
    longest = _longest_reply(plan, role)
    high = max(seen.high.reply_tokens, seen.high.calls * longest)
    say(f"  reply tokens   {_range(seen.low.reply_tokens, high)}")
    batched = role in plan.batched
    low_cost = _cost(price, seen.low.prompt_tokens, seen.low.reply_tokens, batched)
    high_cost = _cost(price, seen.high.prompt_tokens, high, batched)
    if price is None or low_cost is None or high_cost is None:
        say("  cost           no price is known; give one by --prices FILE or in wildtool.toml")
    else:
        by = ", by batches" if batched else ""
        say(f"  cost           {low_cost:.4f} – {high_cost:.4f} USD ({price.origin}{by})")
    if batched:
        say(f"  rounds         {_range(seen.low.rounds, seen.high.rounds)}, each up to a day")


def _longest_reply(plan: "Plan", role: str) -> int:
    """The most tokens of a reply, where the user said so."""
    most = plan.models[role].settings().get("max_tokens")
    return most if isinstance(most, int) else 0


def _cost(price: "Price | None", prompt: float, reply: float, batched: bool) -> float | None:
    usage = {"prompt_tokens": round(prompt), "completion_tokens": round(reply)}
    return None if price is None else price.cost(usage, batched=batched)


def _range(low: float, high: float) -> str:
    one, other = sorted((round(low), round(high)))
    return f"{one:,}" if one == other else f"{one:,} – {other:,}"
