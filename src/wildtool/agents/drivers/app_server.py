"""Codex's `app-server`: JSON-RPC, a thread for a conversation."""

from typing import Any

from wildtool import __version__
from wildtool.agents.agent import TurnEnd
from wildtool.agents.drivers.base import Driver, Start, ended
from wildtool.agents.drivers.json_rpc import JsonRpc, RpcError
from wildtool.agents.drivers.process import AgentProcess
from wildtool.json_codec import as_object

_LIMITS = frozenset({"contextWindowExceeded", "sessionBudgetExceeded", "tooManyDenials"})
"""Kinds of errors with which it meets a limit of its own."""
_OWN = frozenset(
    {"other", "sandboxError", "threadRollbackFailed", "activeTurnNotSteerable", "inferenceHookDenied"}
)
"""Kinds that say nothing of its model's endpoint; all others do."""


class AppServer(Driver):
    """A conversation."""

    def __init__(self, start: Start, process: AgentProcess) -> None:
        super().__init__(start, process)
        self._rpc = JsonRpc(process, self._notice, _refuse)
        self._thread = ""
        self._text = ""
        self._end: TurnEnd | None = None

    async def ready(self) -> None:
        try:
            await self._rpc.call(
                "initialize",
                {"clientInfo": {"name": "wildtool", "title": "wildtool", "version": __version__}},
            )
            await self._rpc.notify("initialized")
            # Fails where a tool server that is `required` is not there.
            self._thread = await self._rpc.call_for_id("thread/start", dict(self.start.more), "thread", "id")
        except RpcError as error:
            raise await self.process.failure(f"no conversation could be started: {error}") from error

    async def turn(self, text: str) -> TurnEnd:
        self._text, self._end = "", None
        try:
            await self._rpc.call(
                "turn/start", {"threadId": self._thread, "input": [{"type": "text", "text": text}]}
            )
        except RpcError as error:
            return TurnEnd("failed", detail=str(error))
        while self._end is None:
            await self._rpc.hear()
        return self._end

    def _notice(self, method: str, params: dict[str, Any]) -> None:
        if method == "item/completed":
            item = as_object(params.get("item"))
            if item.get("type") == "agentMessage":
                self._text = str(item.get("text") or "")
        elif method == "turn/completed":
            self._end = _turn_end(as_object(params.get("turn")), self._text)


def _refuse(method: str, params: dict[str, Any]) -> None:
    """Nothing is offered to it: its tools need no approval, and its own are off."""


def _turn_end(turn: dict[str, Any], text: str) -> TurnEnd:
    if turn.get("status") == "completed":
        return ended(text)
    error = as_object(turn.get("error"))
    detail = str(error.get("message") or turn.get("status"))
    info = error.get("codexErrorInfo")
    # A kind with details is an object whose only key is the kind.
    kind = info if isinstance(info, str) else next(iter(as_object(info)), "other")
    if kind in _LIMITS:
        return TurnEnd("limit", text, detail)
    return TurnEnd("failed" if kind in _OWN else "endpoint", detail=detail)
