"""Judging BFCL's entries with expected calls from a record: the whole command `wildtool score RUN`.

The official data must have been pulled.
"""

import sys
import tempfile
from itertools import product
from pathlib import Path

from measure import Line, main, run_child, scoring
from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES, GROUPS
from wildtool.data.pinned import official_folder

TARGETS_S = {"ast": 0.5, "multi_turn": 10.0}
"""By split the seconds that scoring it may take."""
READ = (
    "import json, pathlib, sys; "
    "names = sys.argv[1].split(','); "
    "[json.loads(line) for place in sys.argv[2:] for path in pathlib.Path(place).rglob('*.json*') "
    "if path.name.startswith('record') or path.name.removesuffix('.json') in names "
    "for line in path.read_text('utf-8').splitlines()]"
)
"""Starts Python and reads the files that judging reads; no more."""


def measure(repeats: int) -> list[Line]:
    wildtool = Path(sys.executable).with_name("wildtool")
    lines: list[Line] = []
    with tempfile.TemporaryDirectory() as place:
        for split, mode in product(TARGETS_S, ("fc", "prompt")):
            run = Path(place) / f"{split}-{mode}"
            gold = ["--mode", mode, "--model", "baseline/gold", "--quiet", "--out", run]
            run_child([wildtool, "run", "bfcl", "--split", split, *gold])
            entries = sum(BFCL_CATEGORIES[name].size for name in GROUPS[split])
            read = ",".join(f"BFCL_v4_{name}" for name in GROUPS[split])
            what = f"BFCL, {entries:,} entries, {split}, {mode}"
            lines += scoring(what, run, [READ, read, official_folder("bfcl"), run], repeats, TARGETS_S[split])
    return lines


if __name__ == "__main__":
    main(measure)
