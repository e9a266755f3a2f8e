"""Answers and streams of all protocols, and lines of batch results, damaged at random: each must be a reply or a named
failure.

`tests/faults/test_fuzz_streams.py` runs a few; any number from any seed:

    python tests/faults/fuzz_streams.py --seconds 3600 --seed 1
"""

import argparse
import asyncio
import contextlib
import copy
import json
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from models.asking import HELLO, TOOL, call, model
from models.peers import PROTOCOLS, Body
from wildtool.errors import CallError
from wildtool.json_codec import REPLY_LIMITS, dumps, loads_within, normalize
from wildtool.models.batch.protocol import NoResultError
from wildtool.models.providers.base import HttpModel
from wildtool.types import Reply, Request

KINDS = [*PROTOCOLS, "unasked", "batch chat", "batch anthropic"]
"""The four protocols streamed and whole, streams that nobody asked for, and lines of batch results."""
SAID: Body = {
    "role": "assistant",
    "content": "Two of them:",
    "tool_calls": [call("c1", "f", '{"a":1,"城":"里斯本"}'), call("c2", "g", "{}")],
}
VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2**70,
    1.5,
    float("nan"),
    float("inf"),
    "",
    "x",
    "error",
    "null",
    "0",
    "\ud800",
    [],
    {},
    [[]],
    [{}],
    {"a": []},
    [None],
    ["x"],
    {"error": {"code": 429}},
    {"type": "text", "text": 7},
    "a" * 5000,
    {"code": "content_filter"},
    [{"index": 0}],
    {"name": "f", "arguments": 5},
    {"message": {}},
    "[DONE]",
]
PIECES = [
    b"\n",
    b"\n\n",
    b"\r",
    b"data:",
    b"data: ",
    b"event: error\n",
    b"[DONE]",
    b"{",
    b"}",
    b"]",
    b'"',
    b"\\",
    b"\xff",
    b":",
]


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value."""
    yield path
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, member in members:
        yield from paths(member, (*path, key))


def damaged(value: Any, chance: random.Random) -> Any:
    """A JSON value with one of its parts replaced, left out, doubled or renamed."""
    value = copy.deepcopy(value)
    path = chance.choice(list(paths(value)))
    if not path:
        return chance.choice(VALUES)
    holder = value
    for key in path[:-1]:
        holder = holder[key]
    match chance.randrange(5):
        case 0 | 1:
            holder[path[-1]] = chance.choice(VALUES)
        case 2:
            del holder[path[-1]]
        case 3 if isinstance(holder, list):
            holder.insert(path[-1], copy.deepcopy(holder[path[-1]]))
        case 3:
            holder[chance.choice(["error", "type", "index", "id", "choices", "delta", "x"])] = holder.pop(
                path[-1]
            )
        case _:
            holder[path[-1]] = [holder[path[-1]]]
    return value


def shuffled(events: list[Any], chance: random.Random) -> list[Any]:
    """Events with one left out, doubled, moved, damaged, or one of another protocol among them."""
    events = list(events)
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(events)) if events else 0
        match chance.randrange(7):
            case 0 if events:
                del events[at]
            case 1 if events:
                events.insert(chance.randrange(len(events)), events[at])
            case 2:
                other = PROTOCOLS[chance.choice(list(PROTOCOLS))]
                events.insert(at, chance.choice(other.stream(other.write(SAID, "0"))))
            case _ if events:
                events[at] = damaged(events[at], chance)
            case _:
                events.append(chance.choice(VALUES))
    return events


def mangled(body: bytes, chance: random.Random) -> bytes:
    """Bytes with some changed, left out or put in; most stay as they are."""
    for _ in range(chance.choice([0, 0, 0, 1, 3])):
        at = chance.randrange(len(body) + 1)
        match chance.randrange(4):
            case 0:
                body = body[:at]
            case 1:
                body = body[:at] + chance.choice(PIECES) + body[at:]
            case 2:
                body = body[:at] + bytes([chance.randrange(256)]) + body[at + 1 :]
            case _:
                body = body[:at] + body[at + chance.randrange(40) :]
    return body


def written(events: list[Any], closing: str) -> bytes:
    """Events as bytes, whatever they are."""
    blocks: list[str] = []
    for event in events:
        kind = event.get("type") if isinstance(event, dict) else None
        blocks.append((f"event: {kind}\n" if kind is not None else "") + f"data: {json.dumps(event)}\n\n")
    return ("".join(blocks) + closing).encode("utf-8", "replace")


def answer(kind: str, chance: random.Random) -> bytes:
    """A damaged answer of one kind."""
    protocol = kind.removeprefix("batch ") if kind != "unasked" else "chat"
    speaks = PROTOCOLS[protocol]
    whole = speaks.write(SAID, "0")
    if kind.startswith("batch"):
        return mangled(json.dumps(damaged(batch_line(protocol, whole, chance), chance)).encode(), chance)
    if chance.random() < 0.3:
        return mangled(json.dumps(damaged(whole, chance)).encode(), chance)
    return mangled(written(shuffled(speaks.stream(whole), chance), speaks.closing), chance)


def batch_line(protocol: str, whole: Body, chance: random.Random) -> Body:
    """A line of a batch's results, of a reply or a failure."""
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    if protocol == "chat":
        failed = {
            "status_code": 429,
            "body": {"error": {"message": "slow down", "code": "rate_limit_exceeded"}},
        }
        good = {"status_code": 200, "request_id": "r", "body": whole}
        response = chance.choice([good, failed, None])
        return {
            "id": "1",
            "custom_id": "a",
            "response": response,
            "error": None if response else error["error"],
        }
    result = chance.choice([{"type": "succeeded", "message": whole}, {"type": "errored", "error": error}])
    return {"custom_id": "a", "result": result}


class Reader:
    """Reads answers of one kind as a run does: to a reply that is recorded and sent back, or to a named failure."""

    def __init__(self, kind: str) -> None:
        self._batch = kind.startswith("batch ")
        protocol = kind.removeprefix("batch ") if kind != "unasked" else "chat"
        self._model: HttpModel = model(protocol, stream=not self._batch and kind != "unasked")
        self._line: bytes = b""
        self._results = self._model.use_batches(self._send) if self._batch else None
        if not self._batch:
            self._model._send = self._send  # pyright: ignore[reportPrivateUsage]

    async def _send(self, body: bytes, request: Request) -> tuple[bytes, float]:
        if self._results is None:
            return self._line, 0.1
        found = self._results.result(loads_within(self._line, REPLY_LIMITS))
        if found.error is not None:
            raise found.error
        return found.answer, 0.1

    def read(self, line: bytes) -> str:
        """What became of an answer: `reply`, or the kind of the failure."""
        self._line = line
        try:
            reply = asyncio.run(self._model.complete(Request([HELLO], [TOOL])))
        except CallError as error:
            return error.kind
        except (NoResultError, ValueError) as error:
            # The reader of a batch's results counts such a line and goes on.
            if self._results is None:
                raise
            return type(error).__name__
        self._use(reply)
        return "reply"

    def _use(self, reply: Reply) -> None:
        """Records a reply and sends it back, as the next step does."""
        message, _ = normalize([reply.message, reply.raw])
        dumps([message, reply.usage, reply.finish_reason, reply.changes])
        calls = message.get("tool_calls")
        ids = [c.get("id") for c in calls if isinstance(c, dict)] if isinstance(calls, list) else []
        results = [{"role": "tool", "tool_call_id": id_, "content": "done"} for id_ in ids]
        # What cannot be sent is a named failure too (`unsendable request`).
        with contextlib.suppress(ValueError, TypeError):
            self._model.body(Request([HELLO, message, *results], [TOOL]))


def fuzz(kind: str, chance: random.Random, count: int) -> tuple[Counter[str], list[tuple[bytes, str]]]:
    """What became of so many answers, and the answers that raised anything else."""
    reader, outcomes, faults = Reader(kind), Counter[str](), list[tuple[bytes, str]]()
    for _ in range(count):
        line = answer(kind, chance)
        try:
            outcomes[reader.read(line)] += 1
        except Exception:  # noqa: BLE001
            outcomes["exception"] += 1
            faults.append((line, traceback.format_exc()))
    return outcomes, faults


def main() -> int:
    """Goes on for the given time; prints what became of the answers, and each fault."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chance, until, seen = random.Random(options.seed), time.monotonic() + options.seconds, 0
    totals = {kind: Counter[str]() for kind in KINDS}
    while time.monotonic() < until:
        for kind in KINDS:
            outcomes, faults = fuzz(kind, chance, 200)
            totals[kind] += outcomes
            for line, trace in faults:
                seen += 1
                print(f"{kind}: {line[:2000]!r}\n{trace}", flush=True)
    for kind, outcomes in totals.items():
        print(f"{kind}: {outcomes.total():,} answers: {dict(outcomes.most_common())}")
    print(f"{seen} exceptions")
    return 1 if seen else 0


if __name__ == "__main__":
    sys.exit(main())
