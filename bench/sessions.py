"""Sessions to play, as many as wanted: the embedded set again and again under new ids, with its gold answers."""

import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from loopback import ROOT
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.benchmarks.wildtoolbench.data import WILD_MINI_FILE
from wildtool.types import Message, Request

sys.path.append(str(ROOT / "tests" / "faults"))
from server import request_digest


def write_sessions(path: Path, count: int) -> Path:
    """Writes so many sessions; ids differ, and with them the call ids in their histories."""
    records = [json.loads(line) for line in WILD_MINI_FILE.read_text("utf-8").splitlines()]
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            record = records[number % len(records)] | {"id": f"bench_{number}"}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    return path


def gold_runs(sessions: Path, profile: str = "official") -> Iterator[tuple[Request, Message]]:
    """Each request of a perfect model's run, with its answer."""
    for item in WILDTOOLBENCH.load(WILDTOOLBENCH.data.locate(str(sessions))):
        for unit in item.units:
            episode = WILDTOOLBENCH.rules(profile).episode(item, unit)
            while (request := episode.request()) is not None:
                assert request.gold is not None
                answer = request.gold("parallel")
                yield request, answer
                episode.advance(answer)


def write_gold(sessions: Path, path: Path) -> int:
    """Writes what the server's behaviour `gold:FILE` reads; gives the number of calls of the run."""
    answers: dict[str, Message] = {}
    calls = 0
    for request, answer in gold_runs(sessions):
        answers[request_digest(request.messages)] = answer
        calls += 1
    path.write_text(json.dumps(answers), "utf-8")
    return calls


def write_requests(sessions: Path, path: Path, count: int) -> list[dict[str, Any]]:
    """Writes the first request bodies of a gold run, for the baseline."""
    requests = (request for request, _ in islice(gold_runs(sessions), count))
    bodies = [{"messages": list(request.messages), "tools": list(request.tools)} for request in requests]
    path.write_text("".join(json.dumps(body, ensure_ascii=False) + "\n" for body in bodies), "utf-8")
    return bodies
