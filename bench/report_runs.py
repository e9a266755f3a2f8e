"""Runs of made-up models, for measuring the report: each answers right or wrong by its own skill."""

import random
from pathlib import Path

from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.engine.plan import Plan
from wildtool.engine.run.runner import run_plan
from wildtool.types import Message, Reply, Request

ANSWERS = ("I cannot do that.", "Which one do you mean?")


class Synthetic:
    """A model that gives the gold answer as often as its skill says, else a text or the gold call with a wrong value."""

    def __init__(self, number: int, skill: float) -> None:
        self.name = f"synthetic-{number:02d}"
        self._skill = skill

    async def complete(self, request: Request) -> Reply:
        draw = random.Random(f"{self.name} {request.address}")
        assert request.gold is not None
        gold = request.gold("parallel")
        if draw.random() < self._skill:
            return Reply(gold)
        return Reply(_wrong(gold, draw), usage={"prompt_tokens": 1000, "completion_tokens": 20})

    async def close(self) -> None: ...

    def settings(self) -> dict[str, object]:
        return {"skill": self._skill}


def write_runs(sessions: Path, folder: Path, models: int) -> None:
    """Plays the sessions with so many models, the best of them first."""
    source = WILDTOOLBENCH.data.locate(str(sessions))
    for number in range(models):
        model = Synthetic(number, 0.97 - 0.6 * number / models)
        plan = Plan(benchmark=WILDTOOLBENCH, source=source, models={"agent": model}, profile="official")
        run_plan(plan, folder / model.name, command=["bench"])


def _wrong(gold: Message, draw: random.Random) -> Message:
    calls = gold.get("tool_calls")
    if calls and draw.random() < 0.6:
        first = calls[0]["function"]
        arguments = first["arguments"].replace("a", "e", 1) if draw.random() < 0.7 else "{}"
        return gold | {"tool_calls": [calls[0] | {"function": first | {"arguments": arguments}}, *calls[1:]]}
    return {"role": "assistant", "content": draw.choice(ANSWERS)}
