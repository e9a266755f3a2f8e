"""Judging gold answers of all T-Eval records at hand, with the lexical encoder: the whole command `wildtool score RUN`.

Needs data as `wildtool data pull teval` brings them; WILDTOOL_DATA_DIR says where they lie.
"""

import os
import sys
import tempfile
from pathlib import Path

from measure import Line, main, run_child, scoring
from wildtool.benchmarks.teval import TEVAL

TARGET_S = 2.0
READ = (
    "import json, pathlib, sys; "
    "[json.loads(path.read_text('utf-8')) for path in pathlib.Path(sys.argv[1]).rglob('*.json')]; "
    "[json.loads(line) for path in pathlib.Path(sys.argv[2]).rglob('record*') for line in path.open(encoding='utf-8')]"
)
"""Starts Python and reads the files that judging reads; no more."""


def measure(repeats: int) -> list[Line]:
    os.environ["WILDTOOL_ENCODER"] = "lexical"
    wildtool = Path(sys.executable).with_name("wildtool")
    source = TEVAL.data.locate(None)
    records = sum(1 for _ in TEVAL.load(source))
    lines: list[Line] = []
    with tempfile.TemporaryDirectory() as place:
        run = Path(place) / "run"
        run_child([wildtool, "run", "teval", "--model", "baseline/gold", "--quiet", "--out", run])
        for profile in TEVAL.profiles:
            what = f"T-Eval, {records:,} records"
            lines += scoring(what, run, [READ, source.path, run], repeats, TARGET_S, profile)
    return lines


if __name__ == "__main__":
    main(measure)
