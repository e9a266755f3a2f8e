"""Judging as many TaskBench plans as the official data hold: the whole command `wildtool score RUN`.

The labels are not public, so the files that `--data` names (one for each domain, of synthetic labels for instance) are
repeated until each domain has as many records as the official one. The tools must have been pulled.
"""

import json
import sys
import tempfile
from itertools import cycle, islice
from pathlib import Path

from measure import Line, main, run_child, scoring
from wildtool.benchmarks.taskbench.data import DOMAINS, label_file
from wildtool.data.pinned import official_folder

SIZES = dict(zip(DOMAINS, (7_546, 5_584, 4_320), strict=True))
TARGET_S = 2.0
READ = (
    "import json, pathlib, sys; "
    "[json.loads(line) for folder in sys.argv[1:] for path in pathlib.Path(folder).rglob('*.json*') "
    "for line in path.read_text('utf-8').splitlines() if path.name.startswith(('data.', 'record'))]"
)
"""Starts Python and reads the files that judging reads; no more."""


def write_labels(folder: Path) -> None:
    """The labels that are there, again and again under new ids."""
    for domain, size in SIZES.items():
        known = label_file(official_folder("taskbench"), domain)
        if known is None:
            raise SystemExit(
                f"no labels of {domain}: `wildtool data pull taskbench --from FOLDER` brings them"
            )
        lines = known.read_text("utf-8").splitlines()
        target = folder / f"data_{domain}" / "data.json"
        target.parent.mkdir(parents=True)
        with target.open("w", encoding="utf-8") as file:
            for number, line in enumerate(islice(cycle(lines), size)):
                file.write(json.dumps({**json.loads(line), "id": str(number)}) + "\n")


def measure(repeats: int) -> list[Line]:
    wildtool = Path(sys.executable).with_name("wildtool")
    with tempfile.TemporaryDirectory() as place:
        data, run = Path(place) / "data", Path(place) / "run"
        write_labels(data)
        gold = ["run", "taskbench", "--data", data, "--model", "baseline/gold", "--quiet", "--out", run]
        run_child([wildtool, *gold])
        lines: list[Line] = []
        for profile in ("toleap", "original", "fixed"):
            what = f"TaskBench, {sum(SIZES.values()):,} plans"
            lines += scoring(what, run, [READ, data, run], repeats, TARGET_S, profile)
        return lines


if __name__ == "__main__":
    main(measure)
