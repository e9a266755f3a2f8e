"""Makes sessions without a model, checks them, then plays their gold: time, memory, and whether all of it is right.

Usage: python bench/generation.py [SESSIONS]   (default: 10000)
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from wildtool.toolcall.text.similarity import near_duplicates

PROFILES = ("official", "fixed")
_WILDTOOL = [sys.executable, "-m", "wildtool"]


def _seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run([*_WILDTOOL, *command], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def _right(run: Path) -> str:
    shown = subprocess.run(
        [*_WILDTOOL, "show", str(run), "--json"], check=True, capture_output=True, text=True
    )
    counts = json.loads(shown.stdout)["runs"][0]["counts"]
    return f"{counts['correct']} of {sum(counts.values())} tasks right"


def _near_duplicates(made: Path) -> float:
    """Processor time of looking for near duplicates among all user texts of a file."""
    texts = [
        (text, str(number))
        for number, line in enumerate(made.open(encoding="utf-8"))
        for key, value in json.loads(line).items()
        if key.endswith("_tasks")
        for text in value
    ]
    start = time.process_time()
    found = sum(1 for _ in near_duplicates(texts))
    assert not found, f"{found} texts are near to others"
    return time.process_time() - start


def main(sessions: int) -> None:
    """Prints a line for each thing measured."""
    with TemporaryDirectory() as folder:
        made = Path(folder) / "made.jsonl"
        seconds = _seconds(
            [
                "generate",
                "--model",
                "procedural",
                "--sessions",
                str(sessions),
                "--lang",
                "en,zh",
                "-o",
                str(made),
            ]
        )
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        size = made.stat().st_size / 1e6
        print(
            f"made {sessions} sessions: {seconds:.1f} s, {memory:.0f} MB of memory at most, {size:.0f} MB written"
        )
        seconds = _seconds(["data", "lint", str(made)])
        print(
            f"checked by data lint: {seconds:.1f} s, of which {_near_duplicates(made):.1f} s for near duplicates"
        )
        for profile in PROFILES:
            run = Path(folder) / profile
            play = [
                "run",
                "wildtoolbench",
                "--data",
                str(made),
                "--model",
                "baseline/gold",
                "--profile",
                profile,
            ]
            seconds = _seconds([*play, "--out", str(run), "--quiet"])
            print(f"played gold under {profile}: {seconds:.1f} s, {_right(run)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
