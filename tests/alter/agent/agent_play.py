"""Runs of an agent that no process plays: a model whose replies carry the record of what an agent did around it."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wildtool.alter.agent.agent import AgentAlteration
from wildtool.alter.base import Alteration
from wildtool.alter.history.history import OwnHistory
from wildtool.alter.history.settings import Unrecorded
from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.data.data_set import data_of
from wildtool.engine.plan import Plan
from wildtool.engine.run.runner import run_plan
from wildtool.errors import CallError
from wildtool.types import Address, Message, Reply, Request

OWN = OwnHistory(Unrecorded.refuse)
CODEX = AgentAlteration("codex", {"version": "0.171.0", "wire": "responses", "confined": "bubblewrap"})
TOOL_DOOR = AgentAlteration("service", {"door": "tool"})
PLAIN_STEP: Mapping[str, Any] = {
    "seconds": 0.5,
    "own_steps": 0,
    "prompt": {"chars": 17000},
}
Around = Callable[[Address, Message, Sequence[str]], Mapping[str, Any] | None]
"""What is recorded beside a reply, from its place, the reply, and the ids of the calls of the reply before; None for
nothing."""


def as_said(address: Address, reply: Message, before: Sequence[str]) -> Mapping[str, Any]:
    """An agent that changes nothing."""
    calls = [{"id": id_, "name": "f", "fate": "as said"} for id_ in before]
    end = {} if reply.get("tool_calls") else {"end": {"kind": "answer"}}
    return {**PLAIN_STEP, "calls": calls, **end}


@dataclass
class Played:
    """Gives gold answers, as the model inside an agent, or bare; wrong ones where a predicate says so."""

    name: str = "m"
    around: Around | None = as_said
    """None for the bare model."""
    wrong: Callable[[Address], bool] = lambda address: False
    fails: Callable[[Address], str] = lambda address: ""
    """The message of a call that fails for good; empty for none."""
    sampling: Mapping[str, Any] = field(default_factory=dict[str, Any])
    usage: Mapping[str, int] = field(default_factory=lambda: {"prompt_tokens": 100, "completion_tokens": 10})
    _last: dict[tuple[str, int], list[str]] = field(default_factory=dict[tuple[str, int], list[str]])
    """The ids of the last calls of an item and repeat."""

    async def complete(self, request: Request) -> Reply:
        address = request.address
        assert request.gold is not None and address is not None
        if kind := self.fails(address):
            raise CallError(kind, "as scripted", final=True)
        gold = request.gold("parallel")
        reply: Message = {"role": "assistant", "content": "No."} if self.wrong(address) else dict(gold)
        if self.around is not None:
            key = address.item, address.repeat
            record = self.around(address, reply, self._last.get(key, ()))
            self._last[key] = [call["id"] for call in reply.get("tool_calls") or ()]
            if record is not None:
                reply["harness"] = record
        return Reply(reply, usage=self.usage, latency_s=1.0)

    async def close(self) -> None: ...

    def settings(self) -> dict[str, Any]:
        return dict(self.sampling)


def play(
    folder: Path,
    model: Played,
    *alterations: Alteration,
    limit: int = 4,
    profile: str = "fixed",
    in_order: bool = True,
) -> Path:
    """Plays a model on the embedded set with these alterations; its run folder.

    Args:
        in_order: one unit after another, so that a model may remember the calls of its last reply.
    """
    plan = Plan(
        benchmark=WILD_MINI,
        source=data_of(WILD_MINI).locate(None),
        models={"agent": model},
        profile=profile,
        alterations=alterations,
        limit=limit,
        max_attempts=1,
        in_order=in_order,
    )
    items = plan.read()
    plan = replace(plan, items=items)
    with ThreadPoolExecutor(1) as thread:
        thread.submit(
            run_plan, plan, folder, command=["wildtool", "run", "wild-mini", "--model", "m"]
        ).result()
    return folder
