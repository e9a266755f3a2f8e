"""pi's `--mode rpc`: commands in, events out."""

from typing import Any

from wildtool.agents.agent import TurnEnd
from wildtool.agents.drivers.base import Driver, ended
from wildtool.json_codec import as_object, as_objects


class Rpc(Driver):
    """A conversation."""

    async def ready(self) -> None:
        """It answers once its extensions are loaded, one of which has asked the tool server for its tools."""
        refusal = await self._accepted({"id": "ready", "type": "get_state"})
        if refusal is not None:
            raise await self.process.failure(f"no conversation could be started: {refusal}")

    async def turn(self, text: str) -> TurnEnd:
        refusal = await self._accepted({"id": "turn", "type": "prompt", "message": text})
        if refusal is not None:
            return TurnEnd("failed", detail=refusal)
        last: dict[str, Any] | None = None
        while True:
            event = await self.process.receive()
            message = as_object(event.get("message"))
            if event.get("type") == "message_end" and message.get("role") == "assistant":
                last = message
            elif event.get("type") == "agent_end":
                return ended("") if last is None else _turn_end(last)

    async def _accepted(self, command: dict[str, Any]) -> str | None:
        """Why it refuses a command; None where it does not."""
        await self.process.send(command)
        while True:
            event = await self.process.receive()
            if event.get("type") == "response" and event.get("id") == command["id"]:
                return None if event.get("success") else str(event.get("error") or f"refused: {event}"[:400])


def _turn_end(message: dict[str, Any]) -> TurnEnd:
    blocks = as_objects(message.get("content"))
    text = "".join(str(block.get("text") or "") for block in blocks if block.get("type") == "text")
    reason, detail = message.get("stopReason"), str(message.get("errorMessage") or "")
    match reason:
        case "error":
            return TurnEnd("endpoint", detail=detail or text)
        case "length":
            return TurnEnd("limit", text, "the reply was cut at its limit of tokens")
        case "stop":
            return ended(text)
        case _:
            return TurnEnd("failed", text, detail or f"it stopped by {reason!r}")
