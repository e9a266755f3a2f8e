"""What a run would take, told from the data alone: the gold answers are played, and nothing is asked or written."""

import asyncio
from collections import Counter
from dataclasses import dataclass, replace

from wildtool.engine.plan import Plan
from wildtool.engine.tokens import estimate, tokens_of
from wildtool.models.prompted import PromptedModel, plain_messages
from wildtool.types import Item, Reply, Request
from wildtool.walking import SILENCE


@dataclass(frozen=True, slots=True)
class Taken:
    """Calls and tokens of one role."""

    calls: int = 0
    prompt_tokens: float = 0.0
    reply_tokens: float = 0.0
    rounds: int = 0
    """Calls of the unit that has most, since each waits for the one before."""

    def plus(self, prompt: float, reply: float, of_unit: int) -> "Taken":
        """Args: of_unit: calls of this unit so far, this one included."""
        return Taken(
            self.calls + 1,
            self.prompt_tokens + prompt,
            self.reply_tokens + reply,
            max(self.rounds, of_unit),
        )


@dataclass(frozen=True, slots=True)
class Outlook:
    """What one role would take, if its answers were the gold ones."""

    low: Taken
    high: Taken
    """Where gold answers can be given in several ways, the dearest of them."""


def outlook(plan: Plan) -> dict[str, Outlook]:
    """Calls and tokens of each role. Raises UsageError or DataError where the plan cannot work."""
    plan.check()
    by_style = [asyncio.run(_play(plan, style)) for style in plan.benchmark.gold_styles]
    found: dict[str, Outlook] = {}
    for role in dict.fromkeys(role for taken in by_style for role in taken):
        ways = sorted((taken.get(role, Taken()) for taken in by_style), key=lambda taken: taken.prompt_tokens)
        found[role] = Outlook(_times(ways[0], plan.repeats), _times(ways[-1], plan.repeats))
    return found


def _times(taken: Taken, repeats: int) -> Taken:
    prompt, reply = taken.prompt_tokens * repeats, taken.reply_tokens * repeats
    return Taken(taken.calls * repeats, prompt, reply, taken.rounds)


async def _play(plan: Plan, style: str) -> dict[str, Taken]:
    totals: dict[str, Taken] = {}
    of_units: Counter[tuple[str, str]] = Counter()

    async def ask(unit: str, request: Request) -> Reply:
        role = request.role
        message = request.gold(style if role == "agent" else "cooperative 0") if request.gold else SILENCE
        sent = _as_sent(plan, request)
        of_units[role, unit] += 1
        totals[role] = totals.get(role, Taken()).plus(
            estimate(sent), tokens_of(message), of_units[role, unit]
        )
        return Reply(message)

    item: Item
    for item in plan.selection.items():
        of_units.clear()
        await plan.benchmark.play(item, ask, plan.profile, in_order=True)
    return totals


def _as_sent(plan: Plan, request: Request) -> Request:
    model = plan.models.get(request.role)
    if not isinstance(model, PromptedModel) or not request.tools:
        return request
    return replace(request, messages=plain_messages(request, model.format)[0], tools=())
