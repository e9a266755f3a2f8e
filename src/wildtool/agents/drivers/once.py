"""A program that is started for each turn: its output is its answer, and its folder and home are all that it keeps."""

from dataclasses import replace

from wildtool.agents.agent import TurnEnd
from wildtool.agents.drivers.base import Start, ended
from wildtool.agents.drivers.process import AgentProcess
from wildtool.agents.templates import filled


class Once:
    """A conversation."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self._process: AgentProcess | None = None
        self._turns = 0

    async def turn(self, text: str) -> TurnEnd:
        self._turns += 1
        values = {"prompt": text, "turn": str(self._turns)}
        command = self._start.command
        words = [filled(word, values) for word in command.words]
        self._process = await AgentProcess.start(replace(command, words=words), with_input=False)
        output = await self._process.all_output()
        await self._process.close()
        return ended(output.decode("utf-8", "replace").removesuffix("\n"))

    async def close(self) -> None:
        if self._process is not None:
            await self._process.close()
