"""An agent in the test's process that uses both doors over HTTP as programs do, with the habits and faults that real ones
have."""

import asyncio
import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from long import a_fiftieth_of
from wildtool.agents.agent import AgentFailedError, Place, Traits, TurnEnd

PREFIX = "mcp__wt__"
TODO = {"type": "function", "function": {"name": "todo", "description": "Keep a list.", "parameters": {}}}


@dataclass
class Habits:
    """What an agent does otherwise than a plain loop."""

    prefix: str = PREFIX
    alters: bool = False
    """Turns the numbers of arguments into texts before it executes them."""
    answers_itself: frozenset[str] = frozenset()
    """Tools that it never executes, and answers by words of its own."""
    skips: frozenset[str] = frozenset()
    """Tools that it neither executes nor answers."""
    drops: frozenset[str] = frozenset()
    """Tools that it does not offer."""
    wraps: bool = False
    """Puts results between marks."""
    has_todo: bool = False
    """Offers a tool that it brought."""
    asks_title: bool = False
    """Asks its model for a title before each turn."""
    asks_again: bool = False
    """Throws each last text away once and asks again."""
    retries: bool = False
    """Sends each question twice, the second as a retry of the first, whose answer it lost."""
    hangs_up: bool = False
    """Goes away from each question once before it is answered, and asks it again."""
    garbles: bool = False
    """Asks its model what no wire has."""
    says: str = ""
    """Its last text, in place of the model's."""
    ends: str = "answer"
    crashes_at: str = ""
    """A word of the user at which it dies."""
    hangs_at: str = ""
    """A word of the user at which it never does anything again."""
    calls_twice: bool = False
    """Executes each call twice."""
    floods_at: str = ""
    """A word of the user at which it executes calls that nobody asked for, many of them at once."""
    invents: bool = False
    """Executes a call that nobody asked for in each turn."""


def is_json(text: str) -> bool:
    """Whether a text is JSON."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


FLOOD = a_fiftieth_of(10_000)
"""Calls that nobody asked for, in one turn."""


class DoorsAgent:
    """See the module."""

    traits = Traits()
    live: "type[LiveDoorsAgent] | None" = None
    """What plays; None for the plain one."""

    def __init__(self, habits: Habits | None = None, name: str = "doors") -> None:
        self.name = name
        self.habits = habits or Habits()
        self.found = ""
        """What an intruder saw."""
        self.places: list[Place] = []
        self.alive = 0
        self.most_alive = 0

    def settings(self) -> Mapping[str, Any]:
        return {"version": "1"}

    async def start(self, place: Place) -> "LiveDoorsAgent":
        self.places.append(place)
        self.alive += 1
        self.most_alive = max(self.alive, self.most_alive)
        live = (self.live or LiveDoorsAgent)(self, place)
        await live.connect()
        return live


@dataclass
class LiveDoorsAgent:
    agent: DoorsAgent
    place: Place
    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    tools: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    closed: bool = False

    def __post_init__(self) -> None:
        self.http = aiohttp.ClientSession()
        self.messages = [{"role": "system", "content": f"You are an agent. {self.place.instructions}"}]

    async def connect(self) -> None:
        await self.rpc("initialize", {"protocolVersion": "2025-06-18"})
        habits = self.agent.habits
        offered = (await self.rpc("tools/list"))["tools"]
        self.tools = [self._offer(tool) for tool in offered if tool["name"] not in habits.drops]
        self.tools += [TODO] if habits.has_todo else []

    async def turn(self, text: str) -> TurnEnd:
        habits = self.agent.habits
        if habits.crashes_at and habits.crashes_at in text:
            raise AgentFailedError("doors died: out of ideas")
        if habits.hangs_at and habits.hangs_at in text:
            await asyncio.Event().wait()
        self.messages.append({"role": "user", "content": text})
        if habits.asks_title:
            await self.ask(messages=[{"role": "user", "content": f"A title for: {text}"}], tools=[])
        if habits.floods_at and habits.floods_at in text:
            call = {"name": self.tools[0]["function"]["name"], "arguments": '{"x": 1}'}
            await asyncio.gather(*(self.execute({"function": call}) for _ in range(FLOOD)))
        if habits.invents:
            await self.execute(
                {"function": {"name": self.tools[0]["function"]["name"], "arguments": '{"x": 1}'}}
            )
        threw_away = False
        while True:
            message = await self.ask(messages=self.messages, tools=self.tools)
            calls = message.get("tool_calls")
            if calls:
                self.messages.append(message)
                self.messages += await asyncio.gather(*map(self.result, calls))
            elif habits.asks_again and not threw_away:
                threw_away = True
            else:
                self.messages.append(message)
                return TurnEnd(habits.ends, habits.says or message["content"] or "", detail="as it is")  # type: ignore[arg-type]

    async def ask(self, **body: Any) -> dict[str, Any]:
        url = f"{self.place.model_url('chat')}/chat/completions"
        sent = {"model": self.place.model, "temperature": 0.3, **body}
        if self.agent.habits.garbles:
            sent["messages"] = "all of them"
        if self.agent.habits.hangs_up:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.02):
                    return await self._post(url, sent, {})
        if self.agent.habits.retries:
            await self._post(url, sent, {"x-stainless-retry-count": "0"})
            return await self._post(url, sent, {"x-stainless-retry-count": "1"})
        return await self._post(url, sent, {})

    async def _post(self, url: str, body: Any, headers: Mapping[str, str]) -> dict[str, Any]:
        async with self.http.post(url, json=body, headers=headers) as answer:
            if answer.status != 200:
                raise AgentFailedError(f"doors: the model answered {answer.status}")
            return (await answer.json())["choices"][0]["message"]

    async def result(self, call: dict[str, Any]) -> dict[str, Any]:
        name = call["function"]["name"].removeprefix(self.agent.habits.prefix)
        habits = self.agent.habits
        if name in habits.answers_itself or name == "todo" or not is_json(call["function"]["arguments"]):
            text = "your arguments are wrong"
        elif name in habits.skips:
            return {"role": "user", "content": "(nothing)"}
        else:
            text = await self.execute(call)
            if habits.calls_twice:
                text = await self.execute(call)
        text = f"<untrusted>{text}</untrusted>" if habits.wraps else text
        return {"role": "tool", "tool_call_id": call["id"], "content": text}

    async def execute(self, call: dict[str, Any]) -> str:
        arguments = json.loads(call["function"]["arguments"])
        if self.agent.habits.alters:
            arguments = {
                name: str(value) if isinstance(value, int | float) else value
                for name, value in arguments.items()
            }
        name = call["function"]["name"].removeprefix(self.agent.habits.prefix)
        found = await self.rpc("tools/call", {"name": name, "arguments": arguments})
        return found["content"][0]["text"]

    async def rpc(self, method: str, params: Any = None) -> dict[str, Any]:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        async with self.http.post(self.place.mcp_url, json=body) as answer:
            return (await answer.json())["result"]

    async def close(self) -> None:
        if not self.closed:
            self.closed = True
            self.agent.alive -= 1
            await self.http.close()

    def _offer(self, tool: dict[str, Any]) -> dict[str, Any]:
        function = {
            "name": self.agent.habits.prefix + tool["name"],
            "description": tool["description"],
            "parameters": tool["inputSchema"],
        }
        return {"type": "function", "function": function}


class Intruder(LiveDoorsAgent):
    """A hostile agent: it looks for answers and for other conversations wherever it is let in."""

    async def turn(self, text: str) -> TurnEnd:
        doors, token = self.place.base_url.rsplit("/", 1)
        places = [self.place.base_url, f"{doors}/{token[::-1]}", doors]
        paths = ["", "/mcp", "/v1/models", "/../", "/gold", "/v1/chat/completions"]
        seen = [await self._get(place + path) for place in places for path in paths]
        seen.append(json.dumps(await self.rpc("tools/list")))
        for number in range(FLOOD):
            call = {"name": self.tools[0]["function"]["name"], "arguments": json.dumps({"n": number})}
            seen.append(await self.execute({"function": call}))
        self.agent.found += "".join(seen)
        return TurnEnd("answer", "done")

    async def _get(self, url: str) -> str:
        async with self.http.get(url) as answer:
            return await answer.text()


class IntrudingAgent(DoorsAgent):
    """Starts intruders."""

    live = Intruder
