"""Makes many sessions without a model by processes, killed once on the way: time, memory of all, what is repeated.

    python bench/generation_workers.py [--sessions 100000] [--on local:2]

The command is killed when a third of its parts are there, and started again. Prints sessions a second, the most memory
that the command and its workers held together (PSS, so that what they share counts once), and how many parts were made
again. At most 600 MB are allowed; memory does not grow with the number of sessions. Alone, not in `all.py`.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import machine

MOST_MB = 600
LOOK_S = 0.5


def processes(parent: int) -> list[int]:
    """A process and all that it started."""
    found = [parent]
    for process in found:
        with suppress(OSError):
            for task in Path(f"/proc/{process}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
    return found


def memory_mb(process: int) -> float:
    with suppress(OSError):
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
    return 0.0


def parts_of(folder: Path) -> dict[str, int]:
    """When each part that is there was made."""
    return {file.name: file.stat().st_mtime_ns for file in folder.glob("*/part/[!.]*")}


def main(sessions: int, on: str) -> None:
    """Prints a line for each thing measured."""
    print(machine())
    with TemporaryDirectory() as name:
        out, folder = Path(name, "made.jsonl"), Path(name, "made.jsonl.parts")
        command = [sys.executable, "-m", "wildtool", "generate", "--model", "procedural", "--lang", "en,zh"]
        command += ["--sessions", str(sessions), "--on", on, "-o", str(out)]
        began, peak, all_processes = time.monotonic(), 0.0, 0
        before: dict[str, int] = {}
        seen: dict[str, int] = {}
        process = subprocess.Popen(command)
        try:
            while process.poll() is None:
                tree = processes(process.pid)
                peak, all_processes = max(peak, sum(map(memory_mb, tree))), max(all_processes, len(tree))
                with suppress(OSError):
                    seen = parts_of(folder) or seen
                if not before and seen and len(seen) >= parts_in(folder) / 3:
                    before = seen
                    os.kill(process.pid, signal.SIGKILL)
                    process.wait()
                    process = subprocess.Popen(command)
                time.sleep(LOOK_S)
        finally:
            process.kill()
        seconds = time.monotonic() - began
        assert process.returncode == 0, process.returncode
        with out.open("rb") as file:
            assert sum(1 for _ in file) == sessions
        again = sum(seen.get(part) != made_at for part, made_at in before.items())
        print(f"{sessions:,} sessions by {on}: {seconds:.0f} s, {sessions / seconds:.0f} a second")
        print(f"{peak:.0f} MB held by {all_processes} processes together (at most {MOST_MB})")
        print(f"killed once with {len(before)} parts made, of which {again} were made again")
        assert peak <= MOST_MB and not again


def parts_in(folder: Path) -> int:
    """How many parts there are to be."""
    return json.loads((folder / "job.json").read_bytes())["parts"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessions", type=int, default=100_000)
    parser.add_argument("--on", default="local:2")
    options = parser.parse_args()
    main(options.sessions, options.on)
