"""Agents in Python without a framework: each asks its model over HTTP and executes what it calls, in another way."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.request import Request, urlopen

import aiohttp

from wildtool import AgentSession

Execute = Callable[[dict[str, Any]], Awaitable[str]]
"""Gives the result of a call."""


async def question(session: AgentSession, messages: list[dict[str, Any]]) -> dict[str, Any]:
    """What the model says."""
    body = {"model": session.model, "messages": messages, "tools": session.tools("openai")}
    async with (
        aiohttp.ClientSession() as client,
        client.post(session.base_url("chat") + "/chat/completions", json=body) as answer,
    ):
        answer.raise_for_status()
        return (await answer.json())["choices"][0]["message"]


async def played(session: AgentSession, execute: Execute) -> None:
    """Plays a conversation, the calls of a reply at the same time."""
    messages: list[dict[str, Any]] = []
    if session.instructions:
        messages.append({"role": "system", "content": session.instructions})
    async for text in session.turns():
        messages.append({"role": "user", "content": text})
        reply = await question(session, messages)
        while calls := reply.get("tool_calls"):
            results = await asyncio.gather(*map(execute, calls))
            messages.append(reply)
            messages += [
                {"role": "tool", "tool_call_id": call["id"], "content": result}
                for call, result in zip(calls, results, strict=True)
            ]
            reply = await question(session, messages)
        messages.append(reply)
        await session.answer(reply["content"] or "")


async def by_call(session: AgentSession) -> None:
    """Hands on each call as the model wrote it."""

    async def execute(call: dict[str, Any]) -> str:
        function = call["function"]
        return (await session.call(function["name"], function["arguments"], call["id"])).text

    await played(session, execute)


async def by_functions(session: AgentSession) -> None:
    """Calls functions by keyword, as frameworks do."""
    functions = {function.__name__: function for function in session.tools("callables")}

    async def execute(call: dict[str, Any]) -> str:
        function = call["function"]
        if function["name"] not in functions:
            return "no such tool"
        return await functions[function["name"]](**json.loads(function["arguments"]))

    await played(session, execute)


async def in_a_thread(session: AgentSession) -> None:
    """A framework that blocks, so that it has a thread."""
    address, tools = session.base_url("chat") + "/chat/completions", session.tools("openai")
    messages: list[dict[str, Any]] = []

    def ask() -> dict[str, Any]:
        body = {"model": session.model, "messages": messages, "tools": tools}
        request = Request(address, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urlopen(request) as answer:
            return json.load(answer)["choices"][0]["message"]

    def turn(text: str) -> str:
        assert threading.current_thread() is not threading.main_thread()
        messages.append({"role": "user", "content": text})
        messages.append(ask())
        while calls := messages[-1].get("tool_calls"):
            for call in calls:
                function = call["function"]
                result = session.call_from_thread(function["name"], json.loads(function["arguments"]))
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result.text})
            messages.append(ask())
        return messages[-1]["content"]

    async for text in session.turns():
        await session.answer(await session.in_thread(turn, text))


async def in_its_own_loop(session: AgentSession) -> None:
    """A framework whose loop is another one, in a thread."""
    functions = {function.__name__: function for function in session.tools("callables")}
    texts: list[dict[str, Any]] = []

    async def turn(text: str) -> str:
        texts.append({"role": "user", "content": text})
        texts.append(await question(session, texts))
        while calls := texts[-1].get("tool_calls"):
            for call in calls:
                arguments = json.loads(call["function"]["arguments"])
                result = await functions[call["function"]["name"]](**arguments)
                texts.append({"role": "tool", "tool_call_id": call["id"], "content": result})
            texts.append(await question(session, texts))
        return texts[-1]["content"]

    async for text in session.turns():
        await session.answer(await session.in_thread(lambda said=text: asyncio.run(turn(said))))


async def by_an_answer_tool(session: AgentSession) -> None:
    """Ends a turn by a tool of its own, and asks again after a text."""
    session.answers_by("final_answer", "answer")
    own = {
        "name": "final_answer",
        "parameters": {"type": "object", "properties": {"answer": {"type": "string"}}},
    }
    tools = [*session.tools("openai"), {"type": "function", "function": own}]
    messages: list[dict[str, Any]] = []

    async def said() -> dict[str, Any]:
        body = {"model": session.model, "messages": messages, "tools": tools}
        async with (
            aiohttp.ClientSession() as client,
            client.post(session.base_url("chat") + "/chat/completions", json=body) as answer,
        ):
            return (await answer.json())["choices"][0]["message"]

    async for text in session.turns():
        messages.append({"role": "user", "content": text})
        ended = False
        while not ended:
            reply = await said()
            messages.append(reply)
            for call in reply.get("tool_calls") or ():
                name, arguments = call["function"]["name"], call["function"]["arguments"]
                if name == "final_answer":
                    result, ended = "", True
                    await session.answer(json.loads(arguments)["answer"])
                else:
                    result = (await session.call(name, arguments, call["id"])).text
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
