"""From what a user calls an agent to the model that it plays with."""

import os
from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

from wildtool.agents.agent import Agent, LiveAgent, Place, Traits
from wildtool.agents.model import AGENT_PATIENCE_S, AgentModel
from wildtool.errors import UsageError
from wildtool.types import Model

AGENTS_AT_ONCE = 16
"""Agents that run at the same time, where the user sets no number; each is a program of 150 to 500 MB."""


@runtime_checkable
class _IsAgent(Protocol):
    """`Agent`, for a look at run time."""

    @property
    def name(self) -> str: ...

    @property
    def traits(self) -> Traits: ...

    def settings(self) -> Mapping[str, Any]: ...

    async def start(self, place: Place) -> LiveAgent: ...


def agent_of(setting: str | Callable[..., Any] | Agent) -> Agent:
    """The agent of a setting: a name, a command, a Python function, or an object that is one. Raises UsageError."""
    if isinstance(setting, str):
        from wildtool.agents.command_agent import agent_named  # not for functions

        return agent_named(setting)
    if isinstance(setting, _IsAgent):
        return setting
    from wildtool.agents.python_agent import PythonAgent  # not for programs

    if not callable(setting):
        raise UsageError(f"agent={setting!r} is no agent; give a name, a command, a function or an `Agent`")
    return PythonAgent(setting)


def agents_at_once() -> int:
    """How many agents run at the same time, where the user sets no number."""
    return min(AGENTS_AT_ONCE, 2 * (os.cpu_count() or 1))


def played_by(model: Model, agent: Agent, timeout_s: float) -> AgentModel:
    """A model with an agent around it. Args: timeout_s: for one call of the engine."""
    return AgentModel(model, agent, min(AGENT_PATIENCE_S, timeout_s))
