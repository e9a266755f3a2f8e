"""The alteration that `--agent` makes: a program around the model plays the units, and what it did is recorded.

It lies next to the model. Requests pass through it as they are, since the agent's model side is a model to the engine;
what that recorded beside each reply is taken off here, so that the benchmark reads the reply alone.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, ClassVar, Literal, Self, cast, get_args

from wildtool.alter.agent.summary import (
    HARNESS_CUTS_NOTE,
    harness_cuts,
    harness_facts,
    harness_metrics,
    harness_rates,
    harness_remarks,
    unit_tally,
)
from wildtool.alter.agent.unit import AGENT_COLUMNS, AgentUnit
from wildtool.alter.base import Alteration, AlteredUnit, RunRemark, first_asked, mode_of
from wildtool.benchmark import COMPLETION, Benchmark, Rules
from wildtool.errors import RecordError, UsageError
from wildtool.stats.metrics import Rate
from wildtool.types import Item, Metric, Verdict

Door = Literal["model", "tool"]
"""Where the calls are read that are judged: `model`, where the agent asks its model; `tool`, where it executes tools."""
MODEL_DOOR: Door = "model"
TOOL_DOOR: Door = "tool"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._]+")
_LONGEST = 40
"""Characters of an agent's name in that of a folder."""


@dataclass(frozen=True, slots=True)
class AgentAlteration(Alteration):
    """An agent around the model."""

    kind: ClassVar[str] = "agent"
    caveat: ClassVar[str] = "the agent around the model"
    without: ClassVar[str] = "bare model"
    cuts_note: ClassVar[str] = HARNESS_CUTS_NOTE
    changes_requests: ClassVar[bool] = False
    is_the_question: ClassVar[bool] = True
    added_seconds: ClassVar[str] = "agent_seconds"
    name: str
    settings: Mapping[str, Any]
    """What a reader needs to run it again, such as its version, wire, confinement; `door` where it is not the model's."""

    @classmethod
    def given(cls, name: str, settings: Mapping[str, Any], *, sees_model: bool) -> Self:
        """What a run says. Args: sees_model: whether the agent asks its model at the model door."""
        return cls(name, settings if sees_model else {**settings, "door": TOOL_DOOR})

    @classmethod
    def recorded(cls, identity: Mapping[str, Any]) -> Self:
        try:
            its = identity["agent"]
            name, settings = its["name"], its["settings"]
            if not isinstance(name, str) or not name or not isinstance(settings, dict):
                raise TypeError("it must have a name and settings")
            agent = cls(name, cast(dict[str, Any], settings))
            if agent.door not in get_args(Door):
                raise ValueError(f"its door is {agent.door!r}, expected one of {', '.join(get_args(Door))}")
        except (TypeError, KeyError, ValueError) as error:
            raise RecordError(
                f"run.json: identity.agent is damaged ({error}); restore it from a copy"
            ) from error
        return agent

    @property
    def door(self) -> str:
        """Where the calls are read that are judged."""
        return self.settings.get("door", MODEL_DOOR)

    @property
    def knows_steps(self) -> bool:
        return self.door == MODEL_DOOR

    @property
    def columns(self) -> Mapping[str, str]:
        return AGENT_COLUMNS

    @property
    def label(self) -> str:
        version = self.settings.get("version")
        return f"{self.name} {version}" if version else self.name

    @property
    def described(self) -> str:
        """With the door that is judged."""
        return f"agent {self.label}, {self.door} door"

    @property
    def folder_parts(self) -> Sequence[str]:
        plain = _NOT_IN_NAMES.sub("-", self.name).strip("-")[:_LONGEST]
        digest = sha256(self.name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        return [f"agent-{plain}" if plain == self.name else "-".join(filter(None, ["agent", plain, digest]))]

    @property
    def options(self) -> Sequence[str]:
        return ["--agent", self.name]

    def identity(self) -> Mapping[str, Any]:
        return {"agent": {"name": self.name, "settings": dict(self.settings)}}

    def unit(self, item: Item, unit: str) -> AgentUnit:
        return AgentUnit(sees_model=self.knows_steps)

    def unit_after(
        self, item: Item, unit: str, rules: Rules, earlier: Mapping[str, AlteredUnit]
    ) -> AgentUnit:
        before = [each for each in earlier.values() if isinstance(each, AgentUnit)]
        return AgentUnit(before[-1] if before else None, sees_model=self.knows_steps)

    def check(self, benchmark: Benchmark, items: Iterable[Item], profile: str) -> str:
        if benchmark.mode == COMPLETION:
            raise UsageError(
                f"--agent plays conversations, and {benchmark.name} asks for the rest of one text in mode "
                f"{mode_of(benchmark)}; choose another mode, or leave --agent out"
            )
        rules = benchmark.rules(profile)
        firsts = [first_asked(rules, item, unit) for item in items for unit in item.units]
        asked = [request for request in firsts if request is not None]
        if any(request.in_text is not None for request in asked) or not any(
            request.tools for request in asked
        ):
            raise UsageError(
                f"--agent needs tools that it can call, and {benchmark.name} shows them inside texts in mode "
                f"{mode_of(benchmark)}; choose a mode with native tool calls, or leave --agent out"
            )
        without = sum(not request.tools for request in asked)
        notes = [f"{without} of {len(asked)} units offer no tool; the agent plays them without any"] * bool(
            without
        )
        return ". ".join(filter(None, [*notes, self._exposure]))

    def rates(self, verdicts: Any) -> Sequence[Rate]:
        return list(harness_rates())

    def metrics(self, verdicts: Any) -> Sequence[Metric]:
        return harness_metrics(verdicts)

    def remarks(self, verdicts: Any) -> Sequence[RunRemark]:
        remarks = list(harness_remarks(verdicts))
        if self._exposure:
            units = len(verdicts)
            remarks.append(RunRemark("agent without a sandbox", units, units, self._exposure))
        return remarks

    @property
    def _exposure(self) -> str:
        """What an agent without a sandbox could do beside playing; empty for one that is confined, or is no program."""
        if self.settings.get("sandbox") != "none":
            return ""
        own_tools = self.settings.get("own_tools")
        return (
            f"the agent has no sandbox ({self.settings.get('why')}) and can read the right answers where its own tools "
            f"allow it; its own tools: {own_tools}"
        )

    def tally(self, verdict: Verdict) -> Mapping[str, int]:
        return unit_tally(verdict)

    def facts(self, verdicts: Any) -> Sequence[tuple[str, str]]:
        return list(harness_facts(verdicts))

    def cuts(self, verdicts: Any) -> Mapping[str, Any]:
        return harness_cuts(verdicts)
