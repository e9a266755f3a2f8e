"""Recorded runs of made models beside small sets, for tests."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.benchmarks.wildtoolbench.data import read_session
from wildtool.engine.replies import import_replies
from wildtool.engine.score.audit import gold_transcript
from wildtool.types import Item, Message

Answers = dict[str, list[Message]]
"""Replies by unit."""


def gold_answers(record: Mapping[str, Any], profile: str = "official", style: str = "parallel") -> Answers:
    """What a perfect model replies in each task of a session."""
    session = read_session(record, "session")
    item = Item(session.id, tuple(str(t) for t in range(len(session.tasks))), session)
    return {
        unit: [reply.message for reply in gold_transcript(WILDTOOLBENCH, item, unit, profile, style).replies]
        for unit in item.units
    }


def write_set(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def import_runs(
    data: Path, rows: list[tuple[str, str, Answers]], out: Path, repeats: Callable[[int], int] = lambda _: 0
) -> list[Path]:
    """Run folders of replies: (model, item, answers) each."""
    lines = [
        {"item": item, "model": model, "units": answers, "repeat": repeats(n)}
        for n, (model, item, answers) in enumerate(rows)
    ]
    file = out.parent / f"{out.name}.replies.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return import_replies(WILDTOOLBENCH, WILDTOOLBENCH.data.locate(str(data)), file, out)


def with_argument(message: Message, name: str, value: Any) -> Message:
    """A reply with an argument of its first call replaced."""
    call = message["tool_calls"][0]
    arguments = {**json.loads(call["function"]["arguments"]), name: value}
    made = {**call, "function": {**call["function"], "arguments": json.dumps(arguments)}}
    return {**message, "tool_calls": [made, *message["tool_calls"][1:]]}
