"""Judging 256 recorded sessions: the whole command `wildtool score RUN`, beside only reading the same files."""

import sys
import tempfile
from pathlib import Path

from calls import AT_ONCE, play_ours
from loopback import serving
from measure import Ended, Line, in_turns, main, run_child
from sessions import write_gold, write_sessions

SESSIONS = 256
PROFILES = ("official", "fixed")
READ = (
    "import json, sys; [json.loads(line) for path in sys.argv[1:] for line in open(path, encoding='utf-8')]"
)


def measure(repeats: int) -> list[Line]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        played = write_sessions(folder / "sessions.jsonl", SESSIONS)
        write_gold(played, folder / "gold.json")
        with serving(f"gold:{folder / 'gold.json'}") as url:
            play_ours(played, url, AT_ONCE, folder / "run")
        lines: list[Line] = []
        for profile in PROFILES:
            ours, baseline = in_turns(
                lambda profile=profile: score(folder / "run", profile),
                lambda: run_child([sys.executable, "-c", READ, played, folder / "run" / "record-0001.jsonl"]),
                repeats,
            )
            lines += [_line(profile, "wall", ours, baseline), _line(profile, "cpu", ours, baseline)]
        return lines


def score(run: Path, profile: str) -> Ended:
    return run_child([Path(sys.executable).with_name("wildtool"), "score", run, "--profile", profile])


def _line(profile: str, clock: str, ours: list[Ended], baseline: list[Ended]) -> Line:
    what = {"wall": "wall clock", "cpu": "processor time"}[clock]
    return Line(
        what=f"`wildtool score RUN`, {SESSIONS} sessions, {profile}, {what}",
        unit="s",
        ours=[getattr(ended, f"{clock}_s") for ended in ours],
        versus="reading the same files with `json`",
        baseline=[getattr(ended, f"{clock}_s") for ended in baseline],
        target=1.0,
    )


if __name__ == "__main__":
    main(measure)
