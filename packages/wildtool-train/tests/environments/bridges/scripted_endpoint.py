"""A chat endpoint whose replies are drawn by chance, mostly right: a policy for frameworks that talk to one."""

import asyncio
import json
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from aiohttp import web

from environments.random_policy import reply
from wildtool.types import Message
from wildtool_train.core import UnitEnvironment
from wildtool_train.sources import ItemUnits


class ScriptedPolicy:
    """Finds the unit by its opening messages, and replays what was said since to know the gold reply."""

    def __init__(self, units: ItemUnits, *, gold: bool = False) -> None:
        self._units, self._gold, self._numbers = units, gold, count()
        self._openings: dict[str, str] = {}
        environment = UnitEnvironment(units)
        for name in units.names:
            self._openings[json.dumps(plain(environment.open(name).messages))] = name
        assert len(self._openings) == len(units.names)

    def message(self, messages: list[Message]) -> Message:
        environment = UnitEnvironment(self._units)
        seen = plain(messages)
        name, opening = next(
            (self._openings[text], length)
            for length in range(len(seen), 0, -1)
            if (text := json.dumps(seen[:length])) in self._openings
        )
        tools = environment.open(name).tools or []
        for message in messages[opening:]:
            if message["role"] == "assistant":
                environment.step(message)
        gold = environment.gold()
        if self._gold:
            assert gold is not None
            return gold
        draw = random.Random(next(self._numbers))
        return next(message for _ in count() if has_types(message := reply(environment, tools, draw)))


def has_types(message: Message) -> bool:
    """Whether a message has OpenAI's types. Clients of frameworks ask again and again where not."""
    calls = message.get("tool_calls") or []
    texts = [message.get("content") or ""]
    for call in calls if isinstance(calls, list) else [{}]:
        function = call.get("function")
        function = function if isinstance(function, dict) else {}
        texts += [call.get("id"), call.get("type"), function.get("name"), function.get("arguments")]
    return all(isinstance(text, str) for text in texts)


def plain(messages: list[Message]) -> list[Any]:
    """Messages without what frameworks leave out or add."""
    return [[message["role"], message.get("content") or "", calls(message)] for message in messages]


def calls(message: Message) -> list[Any]:
    return [
        [entry["function"]["name"], entry["function"]["arguments"]]
        for entry in message.get("tool_calls") or ()
    ]


@contextmanager
def serving(policy: ScriptedPolicy) -> Iterator[str]:
    """The address of the endpoint, up to `/v1`."""

    async def complete(request: web.Request) -> web.Response:
        body = await request.json()
        choice = {"index": 0, "message": policy.message(body["messages"]), "finish_reason": "stop"}
        return web.json_response(
            {
                "id": "x",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
                "choices": [choice],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
        )

    app = web.Application(client_max_size=2**26)
    app.router.add_post("/v1/chat/completions", complete)
    loop = asyncio.new_event_loop()
    runner = web.AppRunner(app)
    loop.run_until_complete(runner.setup())
    site = web.TCPSite(runner, "127.0.0.1", 0)
    loop.run_until_complete(site.start())
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()
