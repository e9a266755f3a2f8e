"""Environments on one core: episodes a second with scripted replies, memory of open ones, verdicts beside the judge's.

python bench/turn_rewards.py                       # a minute
python bench/turn_rewards.py --transcripts 100000     # random transcripts of WildToolBench's format and ACEBench

The baseline of the speed is the walk and verdict without an environment, on the same replies in the same run.
"""

import argparse
import random
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from environments.random_policy import reply  # pyright: ignore[reportMissingImports]
from wildtool.benchmark import judge_unit
from wildtool.episode import gold_replies
from wildtool.types import Message
from wildtool_train.core import UnitEnvironment
from wildtool_train.sources import ItemUnits, benchmark_units

ROUNDS = 5
SETS = (
    ("wild-mini", None, None, ("fixed", "official", "paper")),
    ("acebench", "finance", "fc", ("fixed", "official")),
)


def seconds(play: Callable[[], None]) -> float:
    began = time.process_time()
    play()
    return time.process_time() - began


def speed(units: ItemUnits, profile: str) -> None:
    rules = units.benchmark.rules(profile)
    golds: dict[str, list[Message]] = {}
    for name in units.names:
        golds[name] = [reply for reply in gold_replies(rules.episode(*units.find(name))) or () if reply]
    environment = UnitEnvironment(units, profile)

    def ours() -> None:
        for name, replies in golds.items():
            environment.open(name)
            for message in replies:
                environment.step(message)
            assert environment.is_over

    def plain() -> None:
        for name, replies in golds.items():
            item, unit = units.find(name)
            episode = rules.episode(item, unit)
            for message in replies:
                episode.request()
                episode.advance(message)
            assert rules.verdict(episode, item, unit).correct

    ours()
    plain()
    best = [min(seconds(play) for _ in range(ROUNDS)) for play in (ours, plain)]
    count = len(golds)
    print(
        f"{units.benchmark.name}, {profile}: {count / best[0]:,.0f} episodes/s; walk and verdict alone"
        f" {count / best[1]:,.0f}/s ({best[0] / best[1]:.2f} times the time)"
    )


def memory(units: ItemUnits, opened: int) -> None:
    UnitEnvironment(units).open(units.names[0])
    tracemalloc.start()
    environments: list[UnitEnvironment] = []
    for number in range(opened):
        environments.append(UnitEnvironment(units))
        environments[-1].reset(number)
    at_opening = tracemalloc.get_traced_memory()[0]
    for environment in environments:
        gold = environment.gold()
        assert gold is not None
        environment.step(gold)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    print(
        f"{opened:,} open episodes: {at_opening / 2**20:.0f} MiB, after one message each {after / 2**20:.0f} MiB"
    )


def compare(units: ItemUnits, profile: str, transcripts: int) -> int:
    unequal = 0
    environment = UnitEnvironment(units, profile, on_fault="walk")
    for number in range(transcripts):
        draw = random.Random(number)
        tools = environment.reset(number).tools or []
        components = {}
        while not environment.is_over:
            components = environment.step(reply(environment, tools, draw)).components
        item, unit = units.find(environment.name)
        verdict = judge_unit(units.benchmark, item, unit, environment.transcript(), profile)
        unequal += (verdict.outcome == "correct") != components["verdict"]
    print(f"{units.benchmark.name}, {profile}: {unequal} of {transcripts:,} verdicts differ from the judge's")
    return unequal


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--transcripts", type=int, default=5_000, help="of each benchmark, over its profiles")
    parser.add_argument("--open", type=int, default=10_000, dest="opened")
    arguments = parser.parse_args()
    unequal = 0
    for name, data, mode, profiles in SETS:
        units = benchmark_units(name, data, mode=mode, evaluation=True)
        for profile in profiles:
            speed(units, profile)
        if name == "wild-mini":
            memory(units, arguments.opened)
        for profile in profiles:
            unequal += compare(units, profile, arguments.transcripts // len(profiles))
    return 1 if unequal else 0


if __name__ == "__main__":
    sys.exit(main())
