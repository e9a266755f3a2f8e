"""What was sent and what came at each step of a unit: numbers for its page, and on demand the texts as recorded."""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from wildtool import json_codec
from wildtool.engine.record.reader import ItemLog, LoggedFailure, LoggedReply, LogReader, RequestChains
from wildtool.models.token_usage import token_usage
from wildtool.report.call_template import call_template
from wildtool.sanitize import strip_folders
from wildtool.types import Reply

RecordedSteps = Mapping[int, LoggedReply | LoggedFailure]


def step_numbers(steps: RecordedSteps) -> list[list[Any]]:
    """For each recorded step its tokens, seconds and attempts, how it ended, and what was changed on its way.

    A step: prompt tokens and tokens of the reply (None where nobody reported them), seconds (0 where nobody measured
    them), attempts, finish reason, changes, the message of a call that failed, else an empty text, and the role.
    """
    return [
        [*(_failed(step) if isinstance(step, LoggedFailure) else (*_numbers(step.reply), "")), step.role]
        for step in _in_order(steps)
    ]


def _in_order(steps: RecordedSteps) -> Iterator[LoggedReply | LoggedFailure]:
    """The steps up to the first that is missing."""
    number = 0
    while number in steps:
        yield steps[number]
        number += 1


def _numbers(reply: Reply) -> list[Any]:
    used = token_usage(reply.usage) if reply.usage else None
    tokens = [None, None] if used is None else [used.prompt, used.completion]
    came = [name for name in ("cached", "batched") if getattr(reply, name)]
    return [
        *tokens,
        round(reply.latency_s, 3),
        reply.attempts,
        reply.finish_reason or "",
        [*reply.changes, *came],
    ]


def _failed(step: LoggedFailure) -> list[Any]:
    what_came = step.reply or Reply({})
    return [*_numbers(what_came)[:3], step.attempts, step.kind, [], strip_folders(step.message)]


def recorded_texts(
    log: ItemLog, chains: RequestChains, units: Iterable[str], elsewhere: Container[str]
) -> dict[str, Any]:
    """The requests and replies of an item as recorded.

    Args:
        elsewhere: hashes of the links that a page finds with the first run on the same items.

    Returns:
        `units`: for each unit and step the hash of its request (None where nobody knows it), the reply, and whether that
        is the body as it came rather than the message that was read from it. `links`: by hash the hash before it and a
        message, or None and the tools; as JSON.
    """
    return {
        "units": [
            [_texts(unit, number, step, chains) for number, step in enumerate(_in_order(log.get(unit, {})))]
            for unit in units
        ],
        "links": {name: _link(link) for name, link in chains.links.items() if name not in elsewhere},
    }


def _texts(unit: str, number: int, step: LoggedReply | LoggedFailure, chains: RequestChains) -> list[Any]:
    reply = step.reply
    raw = "" if reply is None else reply.raw
    message = "" if reply is None else _json(reply.message)
    return [chains.ends.get((unit, number)), raw or message, bool(raw)]


@lru_cache(maxsize=2)
def links_of_first(folder: Path) -> Mapping[str, frozenset[str]]:
    """By item the hashes of the links in the first repeat of a run: tools and first messages, which all runs on the same
    items have in common."""
    with LogReader(folder) as reader:
        return {item: frozenset(reader.chains(item, 0).links) for item, repeat in reader.jobs() if not repeat}


def _link(link: Mapping[str, Any]) -> list[Any]:
    if "tools" in link:
        return [None, _json(link["tools"])]
    return [link["parent"], _json(link["message"])]


def _json(value: Any) -> str:
    return json_codec.dumps(value).decode()


def call_templates(models: Mapping[str, Any]) -> dict[str, Any]:
    """By role how the run called its model, as `asdict(CallTemplate)`. Args: models: of the identity of the run."""
    return {
        role: asdict(call_template(str(model.get("name", "")), model.get("settings") or {}))
        for role, model in models.items()
    }
