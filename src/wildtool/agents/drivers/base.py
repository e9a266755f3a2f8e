"""What every driver is given, and what all that keep one process for a conversation have in common."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from wildtool.agents.agent import Place, TurnEnd
from wildtool.agents.drivers.process import AgentProcess, Command


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """An agent that is about to be started for a conversation."""

    command: Command
    place: Place
    more: dict[str, Any]
    """What its template says to its driver."""


class Driver(ABC):
    """A conversation with an agent, in one protocol."""

    def __init__(self, start: Start, process: AgentProcess) -> None:
        self.start = start
        self.process = process

    @abstractmethod
    async def ready(self) -> None:
        """Returns when a turn can be given, with the tool server connected where that can be told.

        Raises AgentFailedError.
        """

    @abstractmethod
    async def turn(self, text: str) -> TurnEnd:
        """Gives it what the user says; ends with its turn. Raises AgentFailedError."""

    async def close(self) -> None:
        await self.process.close()


def ended(text: str) -> TurnEnd:
    """The end of a turn in which nothing failed."""
    return TurnEnd("answer" if text.strip() else "silent", text)
