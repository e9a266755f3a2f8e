"""What a blame takes at most, known before the first call: from the record and from rehearsals, which ask nobody."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from wildtool.blame.blaming import BlamedUnit, possible_trials
from wildtool.blame.failed_units import FailedUnit
from wildtool.blame.trials import Round, Trials, trial_name
from wildtool.engine.call.budget import token_counts, tokens_of
from wildtool.models.token_usage import Price

StepTokens = tuple[float, float]
"""Tokens of prompts and of replies."""
_ANY_USAGE = {"prompt_tokens": 1_000_000, "completion_tokens": 1_000_000}


@dataclass(frozen=True, slots=True)
class TrialCost:
    """What one trial takes if every unit that may need it does, and plays are as long as the recorded ones."""

    trial: str
    units: int
    calls: int
    prompt_tokens: float
    reply_tokens: float
    cost: float | None
    """USD; None where a price is not known."""


def trial_costs(trials: Trials, tried: Sequence[BlamedUnit]) -> list[TrialCost]:
    """The cost of each trial, in the order in which they are played. Nothing is sent or written."""
    return [
        _cost(trial_name(trial), units, list(trials.rounds(trial, units)))
        for trial, units in possible_trials(tried).items()
    ]


def total_of(costs: Sequence[TrialCost]) -> TrialCost:
    """All of them together."""
    prices = [each.cost for each in costs]
    amounts = [price for price in prices if price is not None]
    return TrialCost(
        "all",
        max((each.units for each in costs), default=0),
        sum(each.calls for each in costs),
        sum(each.prompt_tokens for each in costs),
        sum(each.reply_tokens for each in costs),
        sum(amounts) if len(amounts) == len(prices) else None,
    )


def _cost(name: str, units: Sequence[FailedUnit], rounds: Sequence[Round]) -> TrialCost:
    calls, tokens = Counter[str](), defaultdict[str, list[StepTokens]](list)
    prices: dict[str, Price | None] = {}
    for each in rounds:
        prices |= {role: model.price for role, model in each.models.items()}
        for role, usage in _remaining_steps(each):
            calls[role] += 1
            tokens[role].append(usage)
    cost = 0.0
    for role, its in tokens.items():
        price = prices.get(role)
        usage = {
            "prompt_tokens": round(sum(p for p, _ in its)),
            "completion_tokens": round(sum(r for _, r in its)),
        }
        # Where an endpoint told no tokens, nobody knows what they cost, unless they are free.
        is_known = price is not None and (all(p for p, _ in its) or not price.cost(_ANY_USAGE))
        cost += price.cost(usage) if price is not None and is_known else float("nan")
    every = [usage for its in tokens.values() for usage in its]
    return TrialCost(
        name,
        len(units),
        calls.total(),
        sum(prompt for prompt, _ in every),
        sum(reply for _, reply in every),
        cost if cost == cost else None,
    )


def _remaining_steps(trial_run: Round) -> Iterator[tuple[str, StepTokens]]:
    """The role and the tokens of each recorded step that would be asked again."""
    for rehearsal, item in trial_run.rehearsals():
        asyncio.run(trial_run.rehearse(rehearsal, item))
        for unit in trial_run.tried(item.id):
            if unit.unit in rehearsal.open:
                yield from _steps_after(unit, rehearsal.taken, trial_run)


def _steps_after(
    unit: FailedUnit, reused_replies: Mapping[tuple[str, str], int], trial_run: Round
) -> Iterator[tuple[str, StepTokens]]:
    to_skip = Counter({role: reused_replies.get((unit.unit, role), 0) for role in trial_run.models})
    for step in unit.steps:
        if step.role in trial_run.replacement.right:
            continue
        if to_skip[step.role] > 0:
            to_skip[step.role] -= 1
            continue
        prompt, reply = token_counts(step.reply.usage)
        yield step.role, (prompt, reply or tokens_of(step.reply.message))
