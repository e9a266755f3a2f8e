"""Judging gold answers of all 2,040 ACEBench records: the whole command `wildtool score RUN`, and its pure rules alone.

Needs the official data, as `wildtool data pull acebench` brings them; WILDTOOL_DATA_DIR says where they lie.
"""

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measure import Ended, Line, in_turns, main, run_child
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.engine.record.reader import RecordReader, transcripts

TARGETS_S = {"official": 0.8, "fixed": 1.2}
QUOTED_S = 0.84
"""What the original's command takes for one language, as it was told to us; not measured here."""
READ = (
    "import json, pathlib, sys; "
    "[json.loads(line) for folder in sys.argv[1:] for path in pathlib.Path(folder).rglob('*.json*') "
    "for line in path.read_text('utf-8').splitlines() if path.name.startswith(('data_', 'record'))]"
)
"""Starts Python and reads the files that judging reads; no more."""


def measure(repeats: int) -> list[Line]:
    data = ACEBENCH.locate(None).path
    wildtool = Path(sys.executable).with_name("wildtool")
    with tempfile.TemporaryDirectory() as place:
        run = Path(place) / "run"
        gold = ["run", "acebench", "--data", data, "--model", "baseline/gold", "--quiet", "--out", run]
        run_child([wildtool, *gold])
        lines: list[Line] = []
        for profile in TARGETS_S:
            ours, baseline = in_turns(
                lambda profile=profile: run_child([wildtool, "score", run, "--profile", profile]),
                lambda: run_child([sys.executable, "-c", READ, data, run]),
                repeats,
            )
            lines += [_line(profile, "wall", ours, baseline), _line(profile, "cpu", ours, baseline)]
            lines.append(_rules(profile, run, data, repeats))
        return lines


def _line(profile: str, clock: str, ours: list[Ended], baseline: list[Ended]) -> Line:
    what = {"wall": "wall clock", "cpu": "processor time"}[clock]
    return Line(
        what=f"`wildtool score RUN`, ACEBench, 2,040 records, {profile}, {what}"
        f" (the original, one language: {QUOTED_S} s, quoted)",
        unit="s",
        ours=[getattr(ended, f"{clock}_s") for ended in ours],
        versus="reading the same files with `json`",
        baseline=[getattr(ended, f"{clock}_s") for ended in baseline],
        target=TARGETS_S[profile],
    )


def _rules(profile: str, run: Path, data: Path, repeats: int) -> Line:
    """The rules alone, with data and record in memory, beside reading both from the disk."""
    items = list(ACEBENCH.load(ACEBENCH.locate(str(data))))

    def read() -> float:
        began = time.process_time()
        with RecordReader(run) as record:
            played[:] = [(item, transcripts(record.log(item.id, 0))) for item in items]
        return time.process_time() - began

    def judge() -> float:
        began = time.process_time()
        for item, replies in played:
            ACEBENCH.judge(item, replies, profile)
        return time.process_time() - began

    played: list[tuple[Any, Any]] = []
    baseline, ours = in_turns(read, judge, repeats)
    return Line(
        what=f"its rules alone, data and record in memory, {profile}, processor time",
        unit="s",
        ours=ours,
        versus="reading the record from disk",
        baseline=baseline,
        target=TARGETS_S[profile] / 2,
    )


if __name__ == "__main__":
    main(measure)
