"""Measures ours and its baseline in turns (A B A B), and shows both with their spread, ratio and target."""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

T = TypeVar("T")
REPEATS = 5
"""Pairs of measurements, where the command line asks for no other number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the table of speeds."""

    what: str
    unit: str
    ours: Sequence[float]
    """One number a repetition."""
    versus: str
    """What the baseline is, in words."""
    baseline: Sequence[float]
    target: float
    more_is_better: bool = False

    @property
    def met(self) -> bool:
        value = median(self.ours)
        return value >= self.target if self.more_is_better else value <= self.target

    @property
    def ratio(self) -> str:
        """Baseline to ours pair by pair, or ours to baseline where more is better: how many times better ours is."""
        pairs = zip(self.ours, self.baseline, strict=True)
        return f"{median(a / b if self.more_is_better else b / a for a, b in pairs):.3g}×"

    def cells(self) -> list[str]:
        sign = "≥" if self.more_is_better else "≤"
        return [
            self.what,
            f"**{spread(self.ours)}** {self.unit}".rstrip(),
            f"{self.versus}: {spread(self.baseline)} {self.unit}".rstrip(),
            self.ratio,
            f"{sign} {number(self.target)} {self.unit}".rstrip(),
            "yes" if self.met else "**no**",
        ]


def number(value: float) -> str:
    """Three digits, thousands marked."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def spread(values: Sequence[float]) -> str:
    """Median, and least and most in parentheses."""
    return f"{number(median(values))} ({number(min(values))}–{number(max(values))})"


def in_turns(ours: Callable[[], T], baseline: Callable[[], T], repeats: int) -> tuple[list[T], list[T]]:
    """Runs both so many times, one after the other, so that a slow moment of the machine hits both."""
    pairs = [(ours(), baseline()) for _ in range(repeats)]
    return [a for a, _ in pairs], [b for _, b in pairs]


def table(lines: Iterable[Line]) -> str:
    """The lines as a table in Markdown."""
    head = ["what", "wildtool: median (min–max)", "baseline in the same run", "times better", "target", "met"]
    rows = [head, ["---"] * len(head), *(line.cells() for line in lines)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def machine() -> str:
    """Where and when this was measured."""
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return (
        f"{when}; {os.cpu_count()} cores ({_processor()}), {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}; load before: {load}"
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "unknown processor")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child process ended."""

    wall_s: float
    cpu_s: float
    """User and system time of the process and of its own children."""
    output: str


def run_child(command: Sequence[str | Path]) -> Ended:
    """Runs a command to its end; its failure ends the measurement, with what it said."""
    # An installed package has its bytecode; without it every command would compile our sources first.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        output = child.stdout.read()
        complaint = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - began
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(
            f"{' '.join(map(str, command))} ended with {child.returncode}:\n{output[-2000:]}\n{complaint[-2000:]}"
        )
    return Ended(wall, usage.ru_utime + usage.ru_stime, output)


def scoring(
    what: str,
    run: Path,
    read: Sequence[str | Path],
    repeats: int,
    target_s: float,
    profile: str | None = None,
) -> list[Line]:
    """The whole command `wildtool score RUN`, beside Python reading the same files: wall clock and processor time.

    Args:
        what: is scored, for the table.
        read: the code that only reads, and its arguments.
        profile: to score under; None for the run's.
    """
    wildtool = Path(sys.executable).with_name("wildtool")
    chosen = [] if profile is None else ["--profile", profile]
    ours, baseline = in_turns(
        lambda: run_child([wildtool, "score", run, *chosen]),
        lambda: run_child([sys.executable, "-c", *read]),
        repeats,
    )
    return [
        Line(
            what=f"`wildtool score RUN`, {what}{f', {profile}' if profile else ''}, {name}",
            unit="s",
            ours=[getattr(ended, clock) for ended in ours],
            versus="reading the same files with `json`",
            baseline=[getattr(ended, clock) for ended in baseline],
            target=target_s,
        )
        for clock, name in (("wall_s", "wall clock"), ("cpu_s", "processor time"))
    ]


def report(command: Sequence[str | Path]) -> dict[str, Any]:
    """Runs one of the players and gives the figures that it prints as its last line."""
    return json.loads(run_child(command).output.splitlines()[-1])


def main(measure: Callable[[int], list[Line]]) -> None:
    """The command line of a bench script: measures, prints one table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=REPEATS, help="pairs of measurements")
    repeats = parser.parse_args().repeats
    print(machine())
    print(table(measure(repeats)))
