"""Making sessions as something the engine plays: each is an item, each call to a role a recorded step of it.

So whatever holds for runs holds here: nothing is asked twice, limits and prices count, a killed run goes on, and the
sessions follow from the record alone.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from wildtool import __version__
from wildtool.benchmarks.wildtoolbench.data import read_items
from wildtool.benchmarks.wildtoolbench.near_duplicates import plain
from wildtool.generate import prompts
from wildtool.generate.checks import RULES
from wildtool.generate.plan import Lang, plans
from wildtool.generate.scripts import (
    file_digests,
    play_script,
    replay_script,
    transcript_of,
    verdict_of,
)
from wildtool.generate.session_script import Loss, Made, script
from wildtool.generate.task_script import Job
from wildtool.generate.tool_sets import ToolSet, built_in, read_tool_sets, result_schemas
from wildtool.generate.yields import yield_table
from wildtool.types import Ask, Benchmark, Item, Metric, Role, Source, Transcript, Verdict

UNIT = "session"
PROFILE = "made"


@dataclass(frozen=True, slots=True)
class Order:
    """What sessions are to be made."""

    sessions: int
    tasks: int = 4
    seed: str = "1"
    langs: tuple[Lang, ...] = ("en",)
    tools: Path | None = None
    """File with tools; None for the built-in ones."""
    against: tuple[Path, ...] = ()
    """Session files whose user texts no task may be near to."""


class SessionMaker:
    """The part of a benchmark that playing a run takes; an item is a planned session."""

    name = "sessions"
    title = "Sessions made by models"
    profiles: Mapping[str, str] = {PROFILE: "kept if it breaks no rule"}
    modes: Mapping[str, str] = {"roles": "a model for each role"}
    mode = "roles"
    roles: Mapping[str, Role] = {
        name: Role(about, "") for name, about in prompts.ROLES.items() if name != "agent"
    }
    gold_styles: Sequence[str] = ()
    columns: Mapping[str, str] = {}

    def __init__(self, order: Order) -> None:
        self.order = order

    def as_benchmark(self) -> Benchmark:
        """As the engine's plan takes it, which never calls what is not here: gold, audit, data files, results."""
        return cast(Benchmark, self)

    def source(self) -> Source:
        """Names everything the requests of a session follow from, so that a run goes on only where it is the same.

        Raises DataError for a file that cannot be read.
        """
        order = self.order
        files = file_digests([file for file in (order.tools, *order.against) if file])
        digest = hashlib.sha256(
            json.dumps(
                [
                    *(order.tasks, order.seed, order.langs, __version__, prompts.digest()),
                    *files,
                ]
            ).encode()
        )
        name = str(order.tools) if order.tools else "built-in tools"
        return Source(name, order.tools or Path(), digest.hexdigest())

    @cached_property
    def _sets(self) -> Mapping[Lang, tuple[ToolSet, ...]]:
        tools = self.order.tools
        return {
            lang: read_tool_sets(tools, lang, lambda text: None) if tools else built_in(lang)
            for lang in self.order.langs
        }

    @cached_property
    def _against(self) -> Sequence[str]:
        sessions = (item.data for file in self.order.against for item in read_items(file))
        return [plain(task.text) for session in sessions for task in session.tasks]

    @cached_property
    def _returns(self) -> Mapping[str, Mapping[str, Any]]:
        return result_schemas(self.order.tools) if self.order.tools else {}

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        """The planned sessions."""
        order = self.order
        for plan in plans(order.sessions, order.tasks, seed=order.seed, langs=order.langs):
            job = Job(plan, self._sets[plan.lang], self._returns, self._against)
            yield Item(str(plan.index), (UNIT,), job, "", plan.lang, tuple(self.roles))

    async def play(self, item: Item, ask: Ask, profile: str, *, in_order: bool = False) -> None:
        """Makes one session."""
        await play_script(script(item.data), UNIT, ask)

    def judge(self, item: Item, transcripts: Mapping[str, Transcript], profile: str) -> list[Verdict]:
        """Whether a session came of what is recorded, and why not."""
        transcript = transcript_of(transcripts, UNIT)
        result = assemble(item, transcript)
        lost = (result.reason, result.detail) if isinstance(result, Loss) else None
        return [verdict_of(item, UNIT, transcript, lost, over=result is not None)]


def assemble(item: Item, transcript: Transcript) -> Made | Loss | None:
    """What came of a planned session, from its recorded replies alone; None where they end before it does."""
    return replay_script(script(item.data), transcript)


@dataclass(frozen=True, slots=True)
class Harvest:
    """What came of all planned sessions."""

    sessions: tuple[dict[str, Any], ...]
    """In order of their plans, with provenance."""
    losses: tuple[dict[str, Any], ...]
    """Index, reason and detail of each session that was not kept."""
    unfinished: int
    tally: Mapping[str, int]
    """How often what happened in all of them."""

    def yields(self) -> list[Metric]:
        """Where attempts are lost."""
        reasons = (str(loss["reason"]) for loss in self.losses)
        kept = len(self.sessions)
        table = yield_table("sessions", kept, reasons, self.unfinished, self.tally, prompts.ROLES)
        others = [
            Metric("tasks", what, None, count, 0, kind="count")
            for what, count in sorted(self.tally.items())
            if what.startswith(("task lost", "relabelled"))
        ]
        return [*table, *others]


def harvest(
    order: Order, made: Iterator[tuple[Item, Made | Loss | None]], models: Mapping[str, str]
) -> Harvest:
    """Puts the sessions of a set together: provenance, and near duplicates of earlier ones dropped.

    Args:
        models: name of the model in each role.
    """
    from wildtool.generate.freshness import Freshness

    fresh = Freshness()
    sessions: list[dict[str, Any]] = []
    losses: list[dict[str, Any]] = []
    tally: Counter[str] = Counter()
    unfinished = 0
    for item, result in made:
        if result is None:
            unfinished += 1
            continue
        tally.update(result.tally)
        if isinstance(result, Loss):
            losses.append({"session": item.id, "reason": result.reason, "detail": result.detail})
            continue
        texts = next(value for key, value in result.record.items() if key.endswith("_tasks"))
        like = [text for text in texts if not fresh.admits(item.data.plan.lang, text)]
        if like:
            detail = f"{like[0]!r} is nearly a text of an earlier session"
            losses.append({"session": item.id, "reason": "near duplicate", "detail": detail})
            continue
        about = {
            "models": dict(models),
            "version": __version__,
            "prompts": prompts.digest(),
            "seed": order.seed,
            "session": int(item.id),
            "checks": ["P1", "P3", "P13", *RULES, *_TEXT_RULES, "lint", "gold official", "gold fixed"],
            "calls": result.seen,
            "reviewed": False,
        }
        sessions.append({**result.record, "made_by": {**about, **result.record["made_by"]}})
    return Harvest(tuple(sessions), tuple(losses), unfinished, dict(tally))


_TEXT_RULES = (
    *(f"T{k}" for k in range(1, 10)),
    *(f"A{k}" for k in range(1, 7)),
    *(f"C{k}" for k in range(1, 4)),
)
