"""Judging 256 recorded sessions: the whole command `wildtool score RUN`, beside only reading the same files."""

import tempfile
from pathlib import Path

from calls import AT_ONCE, play_ours
from loopback import serving
from measure import Line, main, scoring
from sessions import write_gold, write_sessions

SESSIONS = 256
PROFILES = ("official", "fixed")
TARGET_S = 1.0
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
            read = [READ, played, folder / "run" / "record-0001.jsonl"]
            lines += scoring(f"{SESSIONS} sessions", folder / "run", read, repeats, TARGET_S, profile)
        return lines


if __name__ == "__main__":
    main(measure)
