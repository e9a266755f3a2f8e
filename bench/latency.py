"""How near to the ideal a run comes where every call takes 200 ms: calls × latency / calls at once / wall time."""

import tempfile
from pathlib import Path
from typing import Any

from calls import AT_ONCE, BASELINE_CALLS, play_openai, play_ours
from loopback import serving
from measure import Line, in_turns, main
from sessions import write_gold, write_requests, write_sessions

DELAY_MS = 200
SIZES = (1000, 256)
"""Sessions. The end of a run, when fewer calls than slots are left to make, weighs on the small one."""


def share(figures: dict[str, Any]) -> float:
    """Percent of the ideal."""
    return 100 * figures["calls"] * DELAY_MS / 1000 / AT_ONCE / figures["wall_s"]


def measure(repeats: int) -> list[Line]:
    return [_line(sessions, repeats) for sessions in SIZES]


def _line(sessions: int, repeats: int) -> Line:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        played = write_sessions(folder / "sessions.jsonl", sessions)
        calls = write_gold(played, folder / "gold.json")
        write_requests(played, folder / "requests.jsonl", BASELINE_CALLS)
        with serving(f"gold:{folder / 'gold.json'}", DELAY_MS) as url:
            ours, baseline = in_turns(
                lambda: play_ours(played, url, AT_ONCE), lambda: play_openai(folder, url, AT_ONCE), repeats
            )
    return Line(
        what=f"share of the ideal at {DELAY_MS} ms, {AT_ONCE} at once: {sessions} sessions, {calls} calls",
        unit="%",
        ours=[share(figures) for figures in ours],
        versus="openai SDK, nothing recorded",
        baseline=[share(figures) for figures in baseline],
        target=90,
        more_is_better=True,
    )


if __name__ == "__main__":
    main(measure)
