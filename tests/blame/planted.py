"""A world in which it is known who failed: scripted parties of ACEBench's finance episodes, each with a planted fault.

The model believes its user: a number or an account that the user says wrongly goes into its calls. A fault of the user,
of the model or of the gold answers stays whenever the unit is played; one of the endpoint is of the first play alone.
Tools fail by `--failures`, and a model with the fault `tool` does not try again.
"""

import copy
import hashlib
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wildtool.alter.failures.failures import Failures
from wildtool.alter.failures.schedule import FailureSchedule
from wildtool.benchmark import Benchmark
from wildtool.blame.of_run import BlameSettings
from wildtool.blame.report import BlameReport
from wildtool.blame.run_blame import blame_run
from wildtool.data.data_set import data_of
from wildtool.engine.plan import Plan
from wildtool.engine.record.reader import LogReader
from wildtool.engine.registry import load_benchmark
from wildtool.engine.run.runner import run_plan
from wildtool.engine.score.score import prepare_judging
from wildtool.types import Item, Message, Reply, Request

SPLIT = "agent_finance_multi_turn"
PROFILE = "fixed"
ALTERATIONS = (Failures(FailureSchedule.parse("first-call,timeout")),)
USER, MODEL, TOOL, ENDPOINT, GOLD = "user", "model", "tool", "endpoint", "gold"
PARTIES = (GOLD, ENDPOINT, TOOL, USER, MODEL)
_NUMBER = re.compile(r"\d[\d,.]*\d|\d")


def finance() -> Benchmark:
    return load_benchmark("acebench", "fc")


@dataclass(frozen=True)
class World:
    """Faults by item, and how often the model errs by itself."""

    faults: Mapping[str, frozenset[str]]
    seed: int = 0
    error_rate: float = 0.0
    """Share of the model's plays with a wrong argument that nobody planted."""

    def draw(self, *parts: object) -> float:
        digest = hashlib.sha256(repr((self.seed, *parts)).encode()).digest()
        return int.from_bytes(digest[:8]) / 2**64

    def has(self, party: str, item: str) -> bool:
        return party in self.faults.get(item, ())


class PlantedUser:
    """Says what the script says, with other digits where it is at fault."""

    name = "planted-user"

    def __init__(self, world: World) -> None:
        self._world = world

    def settings(self) -> Mapping[str, Any]:
        return {"world": repr(sorted((item, sorted(its)) for item, its in self._world.faults.items()))}

    async def complete(self, request: Request) -> Reply:
        assert request.address is not None
        assert request.gold is not None
        message = request.gold("cooperative 0")
        if self._world.has(USER, request.address.item):
            message = {**message, "content": wrong_digits(str(message["content"]))}
        return Reply(message, finish_reason="stop")

    async def close(self) -> None:
        """Nothing is open."""


class PlantedModel:
    """Gives the gold answers in its user's words, with a wrong argument where it is at fault."""

    name = "planted-model"

    def __init__(self, world: World, right_texts: Mapping[str, str]) -> None:
        """Args: right_texts: what a right user says first in each item."""
        self._world, self._right_texts = world, right_texts

    def settings(self) -> Mapping[str, Any]:
        faults = repr(sorted((item, sorted(its)) for item, its in self._world.faults.items()))
        return {"world": faults, "seed": self._world.seed, "error_rate": self._world.error_rate}

    async def complete(self, request: Request) -> Reply:
        place, world = request.address, self._world
        assert place is not None
        assert request.gold is not None
        message = request.gold("never-retries" if world.has(TOOL, place.item) else "parallel")
        message = self._as_heard(message, request, place.item)
        errs = world.draw("errs", place.item, place.repeat) < world.error_rate
        if world.has(MODEL, place.item) or errs:
            message = wrong_arguments(message)
        if world.has(ENDPOINT, place.item) and place.repeat == 0 and message.get("tool_calls"):
            return Reply({"role": "assistant", "content": "I am going to"}, finish_reason="length")
        return Reply(message, finish_reason="tool_calls" if message.get("tool_calls") else "stop")

    def _as_heard(self, message: Message, request: Request, item: str) -> Message:
        """The answer with every number that the user said wrongly as it was said."""
        said = {
            number
            for each in request.messages
            if each["role"] == "user"
            for number in _NUMBER.findall(str(each["content"]))
        }
        missing = [number for number in _NUMBER.findall(self._right_texts[item]) if number not in said]
        wrong = {number: wrong_digits(number) for number in missing if wrong_digits(number) in said}
        return with_arguments(
            message, lambda text: _NUMBER.sub(lambda found: wrong.get(found[0], found[0]), text)
        )

    async def close(self) -> None:
        """Nothing is open."""


def wrong_digits(text: str) -> str:
    """Every digit but the first of a number is one larger, so that the number stays one."""
    return _NUMBER.sub(
        lambda found: found[0][0] + re.sub(r"\d", lambda d: str((int(d[0]) + 1) % 10), found[0][1:]), text
    )


def wrong_arguments(message: Message) -> Message:
    return with_arguments(message, wrong_digits)


def with_arguments(message: Message, change: Any) -> Message:
    if not message.get("tool_calls"):
        return message
    changed = copy.deepcopy(message)
    for call in changed["tool_calls"]:
        call["function"]["arguments"] = change(call["function"]["arguments"])
    return changed


def right_texts(benchmark: Benchmark, items: Sequence[Item]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for item in items:
        request = benchmark.rules(PROFILE).episode(item, item.units[0]).request()
        assert request is not None
        assert request.gold is not None
        texts[item.id] = str(request.gold("cooperative 0")["content"])
    return texts


def write_wrong_gold(folder: Path, wrong: frozenset[str]) -> Path:
    """The episodes with another end state in the gold of some."""
    from wildtool.benchmarks.acebench.source import PACKAGED

    shutil.copytree(PACKAGED, folder)
    for file in folder.glob(f"*/possible_answer/data_{SPLIT}.json"):
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        lang = file.parts[-3]
        for row in rows:
            if f"{lang}/{row['id']}" in wrong:
                balances = row["ground_truth"][0]["Finance"]["balances"]
                balances[next(iter(balances))] += 1.0
        file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return folder


def run_world(world: World, out: Path, data: Path | str = "finance", alterations: Any = ALTERATIONS) -> Path:
    """Plays all items of a world once; the run's folder."""
    benchmark = finance()
    source = data_of(benchmark).locate(str(data), SPLIT)
    items = list(benchmark.load(source, split=SPLIT))
    models = models_of(world, benchmark, items)
    plan = Plan(
        benchmark=benchmark,
        source=source,
        models=models,
        profile=PROFILE,
        alterations=alterations,
        split=SPLIT,
    )
    run_plan(plan, out, command=["test"])
    return out


def models_of(world: World, benchmark: Benchmark, items: Sequence[Item]) -> dict[str, Any]:
    return {"agent": PlantedModel(world, right_texts(benchmark, items)), "user": PlantedUser(world)}


@dataclass(frozen=True)
class Blamed:
    """What was said of the units of a world."""

    failed: frozenset[str]
    """Items that failed in the run."""
    causes: Mapping[str, str]
    """By item the cause."""
    report: BlameReport


def blame_world(world: World, folder: Path, plays: int = 1) -> Blamed:
    """Plays a world, and asks whose fault its failures were."""
    wrong = frozenset(item for item, its in world.faults.items() if GOLD in its)
    run = run_world(world, folder / "run", write_wrong_gold(folder / "data", wrong))
    settings = BlameSettings(out=folder / "blame", plays=plays, reviewed="finance")
    report = blame_run(run, models_of(world, finance(), finance_items()), settings)
    causes = {row.item: row.cause for row in report.units}
    return Blamed(frozenset(causes), causes, report)


def finance_items() -> list[Item]:
    benchmark = finance()
    return list(benchmark.load(data_of(benchmark).locate("finance", SPLIT), split=SPLIT))


def right_items(run: Path) -> frozenset[str]:
    """Items of a run that are right."""
    with LogReader(run) as reader:
        judged = list(prepare_judging(run).items(reader))
    return frozenset(each.item.id for each in judged if each.verdicts[0].outcome == "correct")


def in_turn(parties: Sequence[frozenset[str]], start: int) -> dict[str, frozenset[str]]:
    """A fault of each of these for every item of the episodes, in turn."""
    return {item.id: parties[(start + place) % len(parties)] for place, item in enumerate(finance_items())}


def mended_by(world: World, folder: Path, party: str) -> frozenset[str]:
    """Items that are right where this party makes no fault and all others do: the truth about a world."""
    rest = replace(world, faults={item: its - {party} for item, its in world.faults.items()})
    wrong = frozenset(item for item, its in rest.faults.items() if GOLD in its)
    return right_items(run_world(rest, folder / "run", write_wrong_gold(folder / "data", wrong)))
