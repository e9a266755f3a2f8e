"""The lines of bench/all.py for an older commit and for this one, in turns: what became slower.

python bench/versions.py COMMIT                        # all scripts that both have
python bench/versions.py COMMIT --repeats 5 judge start

The older commit is checked out below build/versions and run with the packages that are installed here. Each runs its
own scripts; lines are paired by what they are of, and those that only one of them has are named.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from all import SCRIPTS
from measure import machine, number, spread

ROOT = Path(__file__).resolve().parents[1]
TOLERATED = 1.05
"""How many times the older commit's time, or rate, ours may be before it counts as slower."""
MEASURE = """
import importlib, json, sys
sys.path.insert(0, "bench")
lines = importlib.import_module(sys.argv[1]).measure(1)
print(json.dumps([[line.what, line.unit, line.more_is_better, line.ours[0]] for line in lines]))
"""


def checkout(commit: str) -> Path:
    """A copy of a commit, below build/versions."""
    name = _git("rev-parse", "--short", commit)
    folder = ROOT / "build" / "versions" / name
    if not folder.exists():
        _git("worktree", "add", "--detach", "--force", str(folder), name)
    return folder


def measured(folder: Path, script: str) -> list[Any]:
    """What one script of one copy measures: its lines as (what, unit, whether more is better, value)."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    ended = subprocess.run(
        [sys.executable, "-c", MEASURE, script],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(ended.stdout.splitlines()[-1]) if ended.returncode == 0 else []


def rows(before: Path, script: str, repeats: int) -> Iterator[str]:
    """The table's rows for one script."""
    values: dict[tuple[str, str, bool], tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for _ in range(repeats):
        for side, folder in enumerate((before, ROOT)):
            for what, unit, more_is_better, value in measured(folder, script):
                # In parentheses stand figures of this measurement.
                values[re.sub(r" \(.*?\)", "", what), unit, more_is_better][side].append(value)
    if not values:
        yield f"| {script}.py | fails in both | | | |"
    for (what, unit, more_is_better), (old, new) in values.items():
        if not old or not new:
            yield f"| {what} | {'before' if old else 'after'} only: {spread(old or new)} {unit} | | | |"
            continue
        ratio = median(a / b if more_is_better else b / a for a, b in zip(old, new, strict=False))
        verdict = "**slower**" if ratio > TOLERATED else "no"
        yield f"| {what} | {spread(old)} {unit} | {spread(new)} {unit} | {number(ratio)} | {verdict} |"


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("commit", help="the older one")
    parser.add_argument("scripts", nargs="*", default=SCRIPTS, help="of bench/all.py")
    parser.add_argument("--repeats", type=int, default=3, help="pairs of measurements")
    options = parser.parse_intermixed_args()
    before = checkout(options.commit)
    print(machine())
    print(
        "| what | before: median (min-max) | after | time after / before | slower |\n| --- | --- | --- | --- | --- |"
    )
    for script in options.scripts:
        for row in rows(before, script, options.repeats):
            print(row, flush=True)


if __name__ == "__main__":
    main()
