"""Claude Code's `--input-format stream-json`: messages of the user in, events out."""

import asyncio
from typing import Any

from wildtool.agents.agent import TurnEnd
from wildtool.agents.drivers.base import Driver, ended
from wildtool.json_codec import as_object, as_objects
from wildtool.tools.sources.server_words import words_of_text

_LOOK_S = 0.1
"""How long to wait before asking again whether the tool server is connected."""


class StreamJson(Driver):
    """A conversation."""

    async def ready(self) -> None:
        question = 0
        while True:
            question += 1
            servers = await self._servers(f"servers {question}")
            lost = [
                f"{name}: {state}" for name, state in servers.items() if state not in ("connected", "pending")
            ]
            if lost or not servers:
                raise await self.process.failure(
                    f"it has no tool server ({', '.join(lost) or 'none is named'})"
                )
            if "pending" not in servers.values():
                return
            await asyncio.sleep(_LOOK_S)

    async def turn(self, text: str) -> TurnEnd:
        await self.process.send({"type": "user", "message": {"role": "user", "content": text}})
        while True:
            event = await self._event()
            if event.get("type") == "result":
                return _turn_end(event)

    async def _servers(self, request: str) -> dict[str, Any]:
        """The states of its tool servers by name. Raises AgentFailedError where it does not say them."""
        question = {"type": "control_request", "request_id": request, "request": {"subtype": "mcp_status"}}
        await self.process.send(question)
        while True:
            event = await self._event()
            answer = as_object(event.get("response"))
            if event.get("type") == "control_response" and answer.get("request_id") == request:
                if answer.get("subtype") != "success":
                    words = words_of_text(str(answer.get("error")))
                    raise await self.process.failure(
                        f"it does not say whether it has the tool server: {words}"
                    )
                servers = as_objects(as_object(answer.get("response")).get("mcpServers"))
                return {str(server.get("name")): server.get("status") for server in servers}

    async def _event(self) -> dict[str, Any]:
        """The next event. Questions of the agent, such as for permission, are refused, or it would wait for ever."""
        event = await self.process.receive()
        if event.get("type") == "control_request":
            refusal = {"subtype": "error", "request_id": event.get("request_id"), "error": "not offered here"}
            await self.process.send({"type": "control_response", "response": refusal})
        return event


def _turn_end(event: dict[str, Any]) -> TurnEnd:
    """What a result says. A failed request to the model is a `success` with `is_error`, whose text is the error."""
    text, kind = str(event.get("result") or ""), str(event.get("subtype"))
    if kind.startswith("error_max"):
        return TurnEnd("limit", text, kind)
    if event.get("is_error") and kind == "success":
        return TurnEnd("endpoint", detail=text)
    if event.get("is_error") or kind != "success":
        return TurnEnd("failed", detail=f"{kind} {text}".strip())
    return ended(text)
