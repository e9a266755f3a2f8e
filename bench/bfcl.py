"""Judging BFCL's entries with expected calls from a record: the whole command `wildtool score RUN`.

The official data must have been pulled.
"""

import sys
import tempfile
from pathlib import Path

from measure import Line, in_turns, main, run_child
from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES, GROUPS
from wildtool.benchmarks.bfcl.source import official_folder

TARGET_S = 0.5
ENTRIES = sum(BFCL_CATEGORIES[name].size for name in GROUPS["ast"])
READ = (
    "import json, pathlib, sys; "
    "[json.loads(line) for place in sys.argv[1:] for path in pathlib.Path(place).rglob('*.json*') "
    "for line in path.read_text('utf-8').splitlines() if path.name.startswith(('BFCL_v4_', 'record')) "
    "and not any(word in path.name for word in ('multi_turn', 'memory', 'web', 'format', 'relevance'))]"
)
"""Starts Python and reads the files that judging reads; no more."""


def measure(repeats: int) -> list[Line]:
    wildtool = Path(sys.executable).with_name("wildtool")
    lines: list[Line] = []
    with tempfile.TemporaryDirectory() as place:
        for mode in ("fc", "prompt"):
            run = Path(place) / mode
            gold = ["--mode", mode, "--model", "baseline/gold", "--quiet", "--out", run]
            run_child([wildtool, "run", "bfcl", "--split", "ast", *gold])
            ours, baseline = in_turns(
                lambda run=run: run_child([wildtool, "score", run]),
                lambda run=run: run_child([sys.executable, "-c", READ, official_folder(), run]),
                repeats,
            )
            lines += [
                Line(
                    what=f"`wildtool score RUN`, BFCL, {ENTRIES:,} entries, {mode}, {what}",
                    unit="s",
                    ours=[getattr(ended, f"{clock}_s") for ended in ours],
                    versus="reading the same files with `json`",
                    baseline=[getattr(ended, f"{clock}_s") for ended in baseline],
                    target=TARGET_S,
                )
                for clock, what in (("wall", "wall clock"), ("cpu", "processor time"))
            ]
    return lines


if __name__ == "__main__":
    main(measure)
