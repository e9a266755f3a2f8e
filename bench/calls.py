"""Calls a second against a server that answers at once, and processor time, with everything recorded and judged."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from loopback import baseline_python, ceiling, serving
from measure import Line, main, number, report
from sessions import write_gold, write_requests, write_sessions

HERE = Path(__file__).parent
SESSIONS = 1000
AT_ONCE = 100
BASELINE_CALLS = 2000


def measure(repeats: int) -> list[Line]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        played = write_sessions(folder / "sessions.jsonl", SESSIONS)
        calls = write_gold(played, folder / "gold.json")
        bodies = write_requests(played, folder / "requests.jsonl", BASELINE_CALLS)
        with serving(f"gold:{folder / 'gold.json'}") as url:
            limit = ceiling(url, json.dumps(bodies[0]).encode())
            print(f"the server's own ceiling: {number(limit)} calls/s; {calls} calls for {SESSIONS} sessions")
            in_turn = [
                (
                    play_ours(played, url, AT_ONCE),
                    play_openai(folder, url, AT_ONCE),
                    play_transport(folder, url, AT_ONCE),
                )
                for _ in range(repeats)
            ]
    ours, baseline, transport = zip(*in_turn, strict=True)
    return [
        Line(
            what=f"calls a second, server at 0 ms (its own ceiling: {number(limit)})",
            unit="/s",
            ours=[figures["calls"] / figures["wall_s"] for figures in ours],
            versus="openai SDK, nothing recorded",
            baseline=[figures["calls"] / figures["wall_s"] for figures in baseline],
            target=2000,
            more_is_better=True,
        ),
        Line(
            what="the same, of what its transport alone makes",
            unit="/s",
            ours=[figures["calls"] / figures["wall_s"] for figures in ours],
            versus="aiohttp, nothing parsed",
            baseline=[figures["calls"] / figures["wall_s"] for figures in transport],
            target=2000,
            more_is_better=True,
        ),
        Line(
            what="processor time for 1,000 sessions of 8 calls, played, recorded and judged, whole process",
            unit="s",
            ours=[_of_8000_calls(figures) for figures in ours],
            versus="openai SDK, calls alone",
            baseline=[_of_8000_calls(figures) for figures in baseline],
            target=6,
        ),
        Line(
            what="the same, beside what its transport alone takes",
            unit="s",
            ours=[_of_8000_calls(figures) for figures in ours],
            versus="aiohttp, nothing parsed",
            baseline=[_of_8000_calls(figures) for figures in transport],
            target=6,
        ),
    ]


def _of_8000_calls(figures: dict[str, Any]) -> float:
    """Processor time of 1,000 sessions of 8 calls, in seconds."""
    return 8000 * figures["cpu_s"] / figures["calls"]


def play_ours(
    sessions: Path, url: str, at_once: int, out: Path | None = None, limited: str = ""
) -> dict[str, Any]:
    """Plays sessions into a run folder; into one that is thrown away where none is named."""
    with tempfile.TemporaryDirectory() as name:
        out = out or Path(name, "run")
        figures = report([sys.executable, HERE / "play_ours.py", sessions, url, str(at_once), out, limited])
    assert figures["correct"] == figures["units"], "the gold answers must all be right"
    return figures


def play_openai(folder: Path, url: str, at_once: int) -> dict[str, Any]:
    return _play_requests([baseline_python(), HERE / "play_openai.py"], folder, url, at_once)


def play_transport(folder: Path, url: str, at_once: int) -> dict[str, Any]:
    return _play_requests([sys.executable, HERE / "play_transport.py"], folder, url, at_once)


def _play_requests(script: list[str | Path], folder: Path, url: str, at_once: int) -> dict[str, Any]:
    """Sends the requests that lie in a folder."""
    return report([*script, folder / "requests.jsonl", url, str(at_once), str(BASELINE_CALLS)])


if __name__ == "__main__":
    main(measure)
