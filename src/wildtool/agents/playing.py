"""From what a user calls an agent to the model that it plays with."""

import os
from collections.abc import Callable
from typing import Any

from wildtool.agents.agent import Agent
from wildtool.agents.model import AGENT_PATIENCE_S, AgentModel
from wildtool.types import Model

AGENTS_AT_ONCE = 16
"""Agents that run at the same time, where the user sets no number; each is a program of 150 to 530 MB."""


def agent_of(setting: str | Callable[..., Any] | Agent) -> Agent:
    """The agent of a setting: a name, a command, a Python function, or an object that is one. Raises UsageError."""
    if isinstance(setting, str):
        from wildtool.agents.command_agent import agent_named  # not for functions

        return agent_named(setting)
    # A class has all that its objects have, too.
    if isinstance(setting, Agent) and not isinstance(setting, type):
        return setting
    from wildtool.agents.python_agent import PythonAgent  # not for programs

    return PythonAgent(setting)


def agents_at_once() -> int:
    """How many agents run at the same time, where the user sets no number."""
    return min(AGENTS_AT_ONCE, 2 * (os.cpu_count() or 1))


def played_by(model: Model, agent: Agent, timeout_s: float) -> AgentModel:
    """A model with an agent around it. Args: timeout_s: for one call of the engine."""
    return AgentModel(model, agent, min(AGENT_PATIENCE_S, timeout_s))
