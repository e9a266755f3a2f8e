"""Scripted models that now and then spoil a right reply in one of many ways; how follows from the request alone."""

import json
from collections import Counter
from collections.abc import Iterable
from random import Random
from typing import Any

from generate.golden import digest
from generate.scripted import Scripted, Spoil
from wildtool.types import Metric, Reply, Request
from wildtool_data.make.core.roles import RoleCoroutine

_WORDS = [
    "",
    " ",
    "...",
    "unknown",
    "<room id>",
    "17",
    "2025-13-41",
    "Lyon",
    "x" * 70,
    "a\x07b",
    "预订一个很大很漂亮的海景房间吧",
    "Der Hund und die Katze sind nicht für mich das ist es",
    "I'm sorry, but I can't assist with that.",
    "As an AI I cannot.",
    "Agent: yes",
    "one by one, one after another",
    "the checker",
    "call findBook now",
    "It costs 4711.",
    "todo",
]
_VALUES = [None, True, False, 0, 1, -1, 3, 99, 1.5, [], {}, [""], {"a": 1}, ["Lyon", "Lyon"]]
_WHOLE = [
    "",
    "null",
    "[]",
    "{}",
    "no JSON here",
    "<think>hm</think>{text}",
    "Here:\n```json\n{text}\n```",
    "So {text} it is",
    "{text}{text}",
    "<think>hm",
]


def careless(share: float) -> Spoil:
    """Args: share: of the replies that are spoiled."""

    def spoil(role: str, text: str, request: Request) -> str:
        messages = list(request.messages)
        draw = Random(f"{role}/{len(messages)}/{messages[-1]['content']}")
        if draw.random() >= share:
            return text
        try:
            value = json.loads(text)
        except ValueError:
            return draw.choice(
                [text + " " + draw.choice(_WORDS), draw.choice(_WORDS), text * 9, " ".join([text] * 400)]
            )
        flags = (
            [key for key, child in value.items() if isinstance(child, bool)]
            if isinstance(value, dict)
            else []
        )
        if flags and draw.random() < 0.4:
            return json.dumps(
                {**value, flags[0]: not value[flags[0]], "reason": draw.choice(("it is not so", ""))}
            )
        if draw.random() < 0.15:
            return draw.choice(_WHOLE).replace("{text}", text)
        for _ in range(draw.choice((1, 1, 2))):
            value = _changed(value, draw)
        return json.dumps(value, ensure_ascii=False)

    return spoil


def _changed(value: Any, draw: Random) -> Any:
    """A JSON value with a change somewhere inside of it."""
    if isinstance(value, dict) and value and draw.random() < 0.8:
        deep = [key for key, child in value.items() if isinstance(child, dict | list)]
        key = draw.choice(deep if deep and draw.random() < 0.6 else list(value))
        match draw.randrange(8):
            case 0:
                return {name: child for name, child in value.items() if name != key}
            case 1:
                return {
                    **value,
                    draw.choice(("extra", f"{key}_", key.upper(), "derived")): draw.choice(
                        [*_WORDS, value[key], {key: "so it was meant"}]
                    ),
                }
            case 2:
                return {(f"{key}s" if name == key else name): child for name, child in value.items()}
            case _:
                return {**value, key: _changed(value[key], draw)}
    if isinstance(value, list) and value and draw.random() < 0.8:
        k = draw.randrange(len(value))
        match draw.randrange(6):
            case 0:
                return [*value[:k], *value[k + 1 :]]
            case 1:
                return [*value, value[k]]
            case 2:
                return value[::-1] if len(value) > 1 else value * 8
            case _:
                return [*value[:k], _changed(value[k], draw), *value[k + 1 :]]
    if isinstance(value, str) and draw.random() < 0.5:
        return draw.choice(
            [
                value.upper(),
                f"{value} {draw.choice(_WORDS)}",
                value[: len(value) // 2],
                value * 2,
                f"{value}1",
                value.replace("_", ""),
            ]
        )
    if isinstance(value, int | float) and not isinstance(value, bool) and draw.random() < 0.6:
        return draw.choice([value + 1, -value, value * 1000, str(value), float(value) + 0.5])
    return draw.choice([*_WORDS, *_VALUES])


def outcome_of(script: RoleCoroutine[Any], players: Scripted) -> tuple[Any, str]:
    """What a script returns, and a summary of all that was asked and said: how often each role, and a digest."""
    asked: list[Any] = []
    try:
        request = next(script)
        while True:
            text = players.said(request.role, list(request.messages), request)
            asked.append([request.role, list(request.messages), text])
            request = script.send(Reply({"content": text}))
    except StopIteration as stop:
        counts = Counter(role for role, _, _ in asked)
        return stop.value, f"{' '.join(f'{role} {count}' for role, count in counts.items())} {digest(asked)}"


def rows_of(metrics: Iterable[Metric]) -> list[str]:
    """Numbers of a table, a text each."""
    rows: list[str] = []
    for m in metrics:
        value = m.value if m.value is None else round(m.value, 9)
        rows.append(f"{m.group}: {m.name}: {round(m.numerator, 9)}/{m.denominator} {value} {m.kind}")
    return rows
