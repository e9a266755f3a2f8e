"""What scripted models for roles have in common: they say what is right by the request alone, or spoil it."""

import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from wildtool.types import Reply, Request

Spoil = Callable[[str, str, Request], str]
"""From role, right reply and request to what is said instead."""


class Scripted:
    """Plays all roles of something; what it says follows from the request alone."""

    name = "players"

    def __init__(self, spoil: Spoil | None = None) -> None:
        self.asked: list[Request] = []
        self._spoil = spoil

    def right(self, role: str, instruction: str, seen: dict[str, Any], draw: Random) -> Any:
        """The right reply of a role: a text, or what is put into JSON."""
        raise AssertionError(f"nobody plays {role}")

    async def complete(self, request: Request) -> Reply:
        self.asked.append(request)
        said = self.said(request.role, list(request.messages), request)
        return Reply({"role": "assistant", "content": said})

    def said(self, role: str, messages: list[Any], request: Request) -> str:
        draw = Random(json.dumps(messages, sort_keys=True))
        right = self.right(role, messages[0]["content"], json.loads(messages[1]["content"]), draw)
        text = right if isinstance(right, str) else json.dumps(right, ensure_ascii=False)
        return self._spoil(role, text, request) if self._spoil else text

    async def close(self) -> None:
        """Nothing is open."""

    def settings(self) -> Mapping[str, Any]:
        return {}


def edit(role: str, change: Callable[[dict[str, Any]], Any]) -> Spoil:
    """Changes what a role says in JSON."""

    def spoil(played: str, text: str, request: Request) -> str:
        if played != role:
            return text
        value = json.loads(text)
        return json.dumps(change(value) or value, ensure_ascii=False)

    return spoil


def say(role: str, wrong: str) -> Spoil:
    """Says something else in the place of a role."""
    return lambda played, text, request: wrong if played == role else text
