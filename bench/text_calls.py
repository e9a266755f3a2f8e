"""Judging gold answers of all of RoTBench, Seal-Tools, API-Bank and InjecAgent: the whole command `wildtool score RUN`.

Needs the official data (`wildtool data pull rotbench`, `… sealtools`, `… apibank`, `… injecagent`); WILDTOOL_DATA_DIR
names their folder.
"""

import sys
import tempfile
from pathlib import Path

from measure import Line, main, run_child, scoring
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark

RUNS = {"rotbench": 840, "sealtools": 2054, "apibank": 1012, "injecagent": 1054}
"""Records of each benchmark, samples of API-Bank."""
TARGET_S = 2.0
READ = (
    "import json, pathlib, sys; data, run = map(pathlib.Path, sys.argv[1:]); "
    "[json.loads(path.read_text('utf-8')) for path in data.rglob('*.json')]; "
    "lines = [*data.rglob('*.jsonl'), *run.rglob('record*')]; "
    "[json.loads(line) for path in lines for line in path.open(encoding='utf-8')]"
)
"""Starts Python and reads the files that judging reads; no more."""


def measure(repeats: int) -> list[Line]:
    wildtool = Path(sys.executable).with_name("wildtool")
    lines: list[Line] = []
    for name, records in RUNS.items():
        benchmark = load_benchmark(name)
        data = data_of(benchmark).locate(None).path
        with tempfile.TemporaryDirectory() as place:
            run = Path(place) / "run"
            run_child([wildtool, "run", name, "--model", "baseline/gold", "--quiet", "--out", run])
            for profile in benchmark.profiles:
                what = f"{name}, {records:,} records"
                lines += scoring(what, run, [READ, data, run], repeats, TARGET_S, profile)
    return lines


if __name__ == "__main__":
    main(measure)
