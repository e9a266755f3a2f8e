"""Most memory that a run at 100 calls at once ever holds, for so many sessions and for eight times as many."""

import tempfile
from pathlib import Path
from typing import Any

from calls import AT_ONCE, BASELINE_CALLS, play_openai, play_ours
from loopback import serving
from measure import Line, in_turns, main
from sessions import write_gold, write_requests, write_sessions

FEW = 256
TIMES = 8


def measure(repeats: int) -> list[Line]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        few = write_sessions(folder / "few.jsonl", FEW)
        many = write_sessions(folder / "many.jsonl", FEW * TIMES)
        write_gold(many, folder / "gold.json")
        write_requests(few, folder / "requests.jsonl", BASELINE_CALLS)

        def play_both() -> tuple[float, float]:
            return play_ours(few, url, AT_ONCE)["peak_mb"], play_ours(many, url, AT_ONCE)["peak_mb"]

        with serving(f"gold:{folder / 'gold.json'}") as url:
            ours, baseline = in_turns(play_both, lambda: play_openai(folder, url, AT_ONCE), repeats)
    return [
        _line(FEW, [small for small, _ in ours], baseline),
        _line(FEW * TIMES, [large for _, large in ours], baseline),
        Line(
            what=f"memory of {FEW * TIMES} sessions to that of {FEW} (flat is 1)",
            unit="",
            ours=[large / small for small, large in ours],
            versus="one session in memory for each played",
            baseline=[float(TIMES)] * len(ours),
            target=1.05,
        ),
    ]


def _line(sessions: int, ours: list[float], baseline: list[dict[str, Any]]) -> Line:
    return Line(
        what=f"most memory, {AT_ONCE} at once, {sessions} sessions",
        unit="MB",
        ours=ours,
        versus="openai SDK, its requests in memory, nothing recorded",
        baseline=[figures["peak_mb"] for figures in baseline],
        target=120,
    )


if __name__ == "__main__":
    main(measure)
