"""JSON-RPC with an agent over its input and output: one call at a time; notices and questions are heard meanwhile."""

from collections.abc import Callable
from typing import Any

from wildtool.agents.drivers.process import AgentProcess
from wildtool.json_codec import as_object
from wildtool.tools.sources.server_words import words_of_error

AgentNotice = Callable[[str, dict[str, Any]], None]
"""Hears what the agent tells: its method and parameters."""
AgentQuestion = Callable[[str, dict[str, Any]], dict[str, Any] | None]
"""Answers what the agent asks; None where it is not offered."""
_METHOD_NOT_FOUND = -32601


class RpcError(Exception):
    """The agent answered a call with an error."""

    def __init__(self, error: Any) -> None:
        super().__init__(words_of_error(error))
        self.code = as_object(error).get("code")


class JsonRpc:
    """The client's end."""

    def __init__(self, process: AgentProcess, notice: AgentNotice, question: AgentQuestion) -> None:
        self._process = process
        self._notice = notice
        self._question = question
        self._calls = 0

    async def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of a call. Raises RpcError, or AgentFailedError where the agent ends."""
        self._calls += 1
        call = self._calls
        await self._process.send({"jsonrpc": "2.0", "id": call, "method": method, "params": params})
        while True:
            message = await self.hear()
            if message.get("id") == call and "method" not in message:
                if "error" in message:
                    raise RpcError(message["error"])
                return as_object(message.get("result"))

    async def call_for_id(self, method: str, params: dict[str, Any], *path: str) -> str:
        """The id in the result of a call, at a path. Raises as `call`, and AgentFailedError where there is none."""
        place: Any = await self.call(method, params)
        for key in path:
            place = as_object(place).get(key)
        if not isinstance(place, str):
            raise await self._process.failure(f"its answer to {method} has no {'.'.join(path)}")
        return place

    async def notify(self, method: str) -> None:
        await self._process.send({"jsonrpc": "2.0", "method": method})

    async def hear(self) -> dict[str, Any]:
        """The next message, of which the notice or the question is taken care of. Raises AgentFailedError."""
        message = await self._process.receive()
        method, params = message.get("method"), as_object(message.get("params"))
        if not isinstance(method, str):
            return message
        if "id" not in message:
            self._notice(method, params)
            return message
        result = self._question(method, params)
        answer = {"result": result}
        if result is None:
            answer = {"error": {"code": _METHOD_NOT_FOUND, "message": f"{method} is not offered here"}}
        await self._process.send({"jsonrpc": "2.0", "id": message["id"], **answer})
        return message
