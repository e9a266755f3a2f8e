"""The Agent Client Protocol: JSON-RPC, a session for a conversation."""

import re
from collections.abc import Mapping
from pathlib import Path
from shutil import copyfile
from typing import Any

from wildtool import __version__
from wildtool.agents.agent import TurnEnd
from wildtool.agents.drivers.base import Driver, Start, ended
from wildtool.agents.drivers.json_rpc import JsonRpc, RpcError
from wildtool.agents.drivers.process import AgentProcess
from wildtool.agents.mcp_stdio import DOOR_VARIABLE
from wildtool.children import python_words
from wildtool.json_codec import as_object, as_objects

MCP_STDIO = Path(__file__).parents[1] / "mcp_stdio.py"
_CLIENT: Mapping[str, Any] = {
    "protocolVersion": 1,
    "clientCapabilities": {
        "fs": {"readTextFile": False, "writeTextFile": False},
        "terminal": False,
        # Warnings come apart from the text.
        "session": {"notices": {}},
    },
    "clientInfo": {"name": "wildtool", "title": "wildtool", "version": __version__},
}
"""What we are, and what we offer an agent."""
_KINDS_OF_ITS_OWN = frozenset({"execute", "edit", "delete", "move", "fetch"})
"""Kinds of calls that are none to a tool server."""
_LIMITS = {"max_tokens": "its limit of tokens", "max_turn_requests": "its limit of requests in a turn"}


class Acp(Driver):
    """A conversation."""

    def __init__(self, start: Start, process: AgentProcess) -> None:
        super().__init__(start, process)
        self._rpc = JsonRpc(process, self._notice, self._question)
        self._session = ""
        self._text: list[str] = []
        self._notices: list[str] = []

    async def ready(self) -> None:
        try:
            known = await self._rpc.call("initialize", dict(_CLIENT))
            version = known.get("protocolVersion")
            if version != _CLIENT["protocolVersion"]:
                raise await self.process.failure(f"it speaks version {version} of ACP, and not 1")
            self._session = await self._rpc.call_for_id("session/new", self._new_session(known), "sessionId")
            if "mode" in self.start.more:
                mode = {"sessionId": self._session, "modeId": self.start.more["mode"]}
                await self._rpc.call("session/set_mode", mode)
        except RpcError as error:
            raise await self.process.failure(f"no session could be started: {error}") from error

    async def turn(self, text: str) -> TurnEnd:
        self._text, self._notices = [], []
        prompt = {"sessionId": self._session, "prompt": [{"type": "text", "text": text}]}
        try:
            result = await self._rpc.call("session/prompt", prompt)
        except RpcError as error:
            return TurnEnd("endpoint" if _is_status(error.code) else "failed", detail=str(error))
        return self._turn_end(str(result.get("stopReason")))

    def _new_session(self, known: dict[str, Any]) -> dict[str, Any]:
        """The parameters of a new session. Args: known: what the agent says that it can do."""
        servers = [] if self.start.more.get("own_server") else [self._server(known)]
        meta = {"_meta": self.start.more["meta"]} if "meta" in self.start.more else {}
        return {"cwd": str(self.start.command.folder), "mcpServers": servers, **meta}

    def _server(self, known: dict[str, Any]) -> dict[str, Any]:
        """Our tool server, over HTTP where the agent can. All agents can start one, as the protocol says."""
        place = self.start.place
        if as_object(as_object(known.get("agentCapabilities")).get("mcpCapabilities")).get("http"):
            return {"type": "http", "name": "wt", "url": place.mcp_url, "headers": []}
        program = place.folder.absolute() / "home" / MCP_STDIO.name
        copyfile(MCP_STDIO, program)
        interpreter = str(Path(python_words()[0]).resolve())
        door = {"name": DOOR_VARIABLE, "value": place.mcp_url}
        return {"name": "wt", "command": interpreter, "args": ["-I", "-S", str(program)], "env": [door]}

    def _notice(self, method: str, params: dict[str, Any]) -> None:
        update = as_object(params.get("update"))
        kind = update.get("sessionUpdate")
        if kind == "agent_message_chunk":
            has_text = "messageId" in update or not self.start.more.get("message_ids")
            said = self._text if has_text else self._notices
            said.append(str(as_object(update.get("content")).get("text") or ""))
        elif kind in ("tool_call", "tool_call_update"):
            # What it said before it went on is not its last text.
            self._text.clear()

    def _question(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        """Its permissions are for the tools of the conversation only."""
        if method != "session/request_permission":
            return None
        call = as_object(params.get("toolCall"))
        wanted = "allow" if self._is_of_the_conversation(call) else "reject"
        options = as_objects(params.get("options"))
        chosen = [option for option in options if str(option.get("kind")).startswith(wanted)]
        if not chosen:
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": chosen[0].get("optionId")}}

    def _is_of_the_conversation(self, call: dict[str, Any]) -> bool:
        names = [re.escape(tool["function"]["name"]) for tool in self.start.place.tools]
        # Prefixes of servers end with `_`, `.`, `:` or a blank.
        is_named = any(re.search(rf"(?<![^\W_]){name}(?!\w)", str(call.get("title"))) for name in names)
        return is_named and call.get("kind") not in _KINDS_OF_ITS_OWN

    def _turn_end(self, reason: str) -> TurnEnd:
        text = "".join(self._text)
        for beginning in self.start.more.get("error_texts", ()):
            if text.startswith(beginning):
                return TurnEnd("endpoint", detail=text)
        if self._notices:
            return TurnEnd("failed", text, "".join(self._notices).strip())
        if reason in _LIMITS:
            return TurnEnd("limit", text, _LIMITS[reason])
        return ended(text) if reason == "end_turn" else TurnEnd("failed", text, reason)


def _is_status(code: Any) -> bool:
    """Whether an error's code is that of HTTP, which an agent passes on from its model's endpoint."""
    return isinstance(code, int) and 400 <= code < 600
