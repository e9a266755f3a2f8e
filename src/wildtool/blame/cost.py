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
    return TrialCost(
        "all",
        max((each.units for each in costs), default=0),
        sum(each.calls for each in costs),
        sum(each.prompt_tokens for each in costs),
        sum(each.reply_tokens for each in costs),
        _sum_of_known([each.cost for each in costs]),
    )


def _sum_of_known(costs: Sequence[float | None]) -> float | None:
    """The sum; None where any is not known."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def _cost(name: str, units: Sequence[FailedUnit], rounds: Sequence[Round]) -> TrialCost:
    tokens = defaultdict[str, list[StepTokens]](list)
    prices: dict[str, Price | None] = {}
    for each in rounds:
        prices |= {role: model.price for role, model in each.models.items()}
        for role, step_tokens in _remaining_steps(each):
            tokens[role].append(step_tokens)
    every = [step_tokens for its in tokens.values() for step_tokens in its]
    return TrialCost(
        name,
        len(units),
        len(every),
        sum(prompt for prompt, _ in every),
        sum(reply for _, reply in every),
        _sum_of_known([_cost_of_role(prices[role], its) for role, its in tokens.items()]),
    )


def _cost_of_role(price: Price | None, steps: Sequence[StepTokens]) -> float | None:
    """USD; None where it is not known. An endpoint that told no tokens is known to cost nothing only if it is free."""
    if price is None or (price.cost(_ANY_USAGE) and not all(prompt for prompt, _ in steps)):
        return None
    return price.cost(
        {
            "prompt_tokens": round(sum(prompt for prompt, _ in steps)),
            "completion_tokens": round(sum(reply for _, reply in steps)),
        }
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
