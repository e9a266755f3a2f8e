"""A program that is started for each turn: its output is its answer, and its folder and home are all that it keeps."""

from collections.abc import Mapping
from dataclasses import replace

from wildtool.agents.agent import TurnEnd
from wildtool.agents.drivers.base import ended
from wildtool.agents.drivers.process import AgentProcess, Command
from wildtool.agents.templates import filled_words


class Once:
    """A conversation."""

    def __init__(self, command: Command, values: Mapping[str, str]) -> None:
        """Args: values: of all slots in the words of the command, but those of a turn."""
        self._command, self._values = command, values
        self._process: AgentProcess | None = None
        self._turns = 0

    async def turn(self, text: str) -> TurnEnd:
        self._turns += 1
        words = filled_words(self._command.words, {**self._values, "prompt": text, "turn": str(self._turns)})
        self._process = await AgentProcess.start(replace(self._command, words=words), with_input=False)
        output = await self._process.all_output()
        await self._process.close()
        return ended(output.decode("utf-8", "replace").removesuffix("\n"))

    async def close(self) -> None:
        if self._process is not None:
            await self._process.close()
