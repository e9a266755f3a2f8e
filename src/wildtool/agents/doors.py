"""The server at which agents ask their models and execute tools: one for all conversations of a run.

Each conversation has an address of its own, which only its agent is told, so that no agent reaches the conversation of
another. The doors know no gold answer.
"""

import asyncio
import json
import secrets
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from aiohttp import web

from wildtool.agents.agent import ToolAnswer, Traits
from wildtool.agents.tool_server import answer_client
from wildtool.agents.wires import WIRE_FORMATS, side_answer, wire_of
from wildtool.agents.wires.base import Asked, WireAnswer
from wildtool.json_codec import REPLY_LIMITS, as_list, as_object, loads_within
from wildtool.types import Tool

MOST_REQUEST_BYTES = 64 * 1024 * 1024
"""Longest request; agents send the whole conversation with each."""
_RETRY_HEADERS = ("x-stainless-retry-count", "x-goog-api-client-retry-count")
"""Headers in which client libraries say that they send a request again."""


class AtTheDoors(Protocol):
    """A conversation as the doors know it."""

    tools: list[Tool]
    traits: Traits
    model: str

    async def ask_model(self, question: Asked, *, is_retry: bool) -> WireAnswer:
        """Answers what the agent asks its model."""
        ...

    async def call_tool(self, name: str, arguments: Any, meta: Mapping[str, Any]) -> ToolAnswer:
        """Answers a call of a tool."""
        ...

    def asked_beside(self) -> None:
        """Counts a request that is no question to the model, such as one for the list of models."""
        ...

    def asked_wrongly(self, problem: str) -> None:
        """Notes a question to the model that could not be read."""
        ...


class Doors:
    """The server. Opened with the first conversation."""

    def __init__(self, socket: Path | None = None) -> None:
        """Args: socket: where it also listens as a Unix socket, for agents without a network."""
        self.socket = socket
        self._conversations: dict[str, AtTheDoors] = {}
        self._runner: web.AppRunner | None = None
        self._port = 0

    async def open(self) -> None:
        """Starts to listen on a free port of this machine alone."""
        app = web.Application(client_max_size=MOST_REQUEST_BYTES)
        app.router.add_route("*", "/c/{token}/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self._port = self._runner.addresses[0][1]
        if self.socket is not None:
            await web.UnixSite(self._runner, str(self.socket)).start()

    def admit(self, conversation: AtTheDoors) -> str:
        """Gives a conversation an address, for as long as it lasts."""
        token = secrets.token_urlsafe(24)
        self._conversations[token] = conversation
        return f"http://127.0.0.1:{self._port}/c/{token}"

    def dismiss(self, address: str) -> None:
        """Ends what an address stands for."""
        self._conversations.pop(address.rpartition("/")[2], None)

    async def close(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        conversation = self._conversations.get(request.match_info["token"])
        if conversation is None:
            return web.json_response({"error": {"message": "no such conversation"}}, status=404)
        path = request.match_info["path"]
        if path == "mcp":
            return await self._tools(request, conversation)
        return await self._model(request, conversation, f"/{path}")

    async def _tools(self, request: web.Request, conversation: AtTheDoors) -> web.Response:
        if request.method != "POST":
            # No stream of the server's own, and no session to end.
            return web.Response(status=405 if request.method == "GET" else 200)
        parsed = await _json(request)
        if not isinstance(parsed, dict | list):
            error = {"code": -32700, "message": "the body is no JSON object, and no list of them"}
            return web.json_response({"jsonrpc": "2.0", "id": None, "error": error}, status=400)
        messages = as_list(parsed) if isinstance(parsed, list) else [as_object(parsed)]

        async def answer(message: Any) -> dict[str, Any] | None:
            return await answer_client(
                as_object(message), conversation.tools, conversation.traits, conversation.call_tool
            )

        answers = [each for each in await asyncio.gather(*map(answer, messages)) if each is not None]
        if not answers:
            return web.Response(status=202)
        body = answers if isinstance(parsed, list) else answers[0]
        return web.Response(text=json.dumps(body, ensure_ascii=False), content_type="application/json")

    async def _model(self, request: web.Request, conversation: AtTheDoors, path: str) -> web.Response:
        wire = wire_of(path) if request.method == "POST" else None
        if wire is None:
            conversation.asked_beside()
            body = as_object(await _json(request)) if request.method == "POST" else {}
            return _response(side_answer(path, request.method, body, conversation.model))
        try:
            question = WIRE_FORMATS[wire].read(as_object(await _json(request)), path)
            question = replace(question, raw=await request.read())
        except ValueError as error:
            conversation.asked_wrongly(str(error))
            return _response(WIRE_FORMATS[wire].error(400, str(error)))
        is_retry = any(request.headers.get(header, "0") not in ("", "0") for header in _RETRY_HEADERS)
        return _response(await conversation.ask_model(question, is_retry=is_retry))


async def _json(request: web.Request) -> Any:
    """The body of a request; None for one that is not JSON."""
    try:
        return loads_within(await request.read(), REPLY_LIMITS)
    except ValueError:
        return None


def _response(answer: WireAnswer | None) -> web.Response:
    if answer is None:
        return web.json_response({"error": {"message": "no such path"}}, status=404)
    return web.Response(body=answer.body, status=answer.status, headers={"Content-Type": answer.content_type})
