"""How long `wildtool --help` takes, beside starting Python and importing what a command line needs at least."""

import sys
from pathlib import Path
from statistics import median

from measure import Line, in_turns, main, run_child

TIMES_TYPER = 1.8
"""How many times as long as the baseline the command may take."""


def measure(repeats: int) -> list[Line]:
    command = [Path(sys.executable).with_name("wildtool"), "--help"]
    bare = [sys.executable, "-c", "import typer"]
    ours, baseline = in_turns(lambda: run_child(command), lambda: run_child(bare), 3 * repeats)
    return [
        Line(
            what=f"`wildtool --help`, {what}",
            unit="s",
            ours=[getattr(ended, clock) for ended in ours],
            versus="`python -c 'import typer'`",
            baseline=[getattr(ended, clock) for ended in baseline],
            target=TIMES_TYPER * median(getattr(ended, clock) for ended in baseline),
        )
        for clock, what in (("wall_s", "wall clock"), ("cpu_s", "processor time"))
    ]


if __name__ == "__main__":
    main(measure)
