"""Opens a review of many sessions, and saves edits with all rules: medians, on SQLite.

Usage: python bench/review.py [SESSIONS]   (default: 10000; at most 1 s to open and 200 ms to save are allowed)
"""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from sessions import write_sessions
from wildtool.review.pointers import Change, value_at
from wildtool.review.project import ReviewProject
from wildtool.review.sets import open_review, open_store, start_review

SAVES = 50
OPENINGS = 5
_OPEN = "import sys; from wildtool.review.sets import open_review; print(len(open_review(sys.argv[1]).state.items))"


def _timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _save(review: ReviewProject, item: str, text: str) -> None:
    """An edit as a page makes it: read, change, run all rules, write to the disk."""
    content, seen = review.item(item).seen_by("me")
    field = next(part.field for part in review.format.parts(content) if part.kind == "user text")
    review.edit("me", item, seen, [Change(field, value_at(content, field), text)])


def main(sessions: int) -> None:
    """Prints a line for each thing measured."""
    with TemporaryDirectory() as folder:
        data = write_sessions(Path(folder) / "made.jsonl", sessions)
        seconds = _timed(lambda: start_review(str(data))[0].close())
        print(f"add {sessions:,} sessions: {seconds:.1f} s ({data.stat().st_size / 1e6:.0f} MB)")
        words = [sys.executable, "-c", _OPEN, str(data)]
        whole = [
            _timed(lambda: subprocess.run(words, check=True, stdout=subprocess.DEVNULL))
            for _ in range(OPENINGS)
        ]
        opened = [_timed(lambda: open_review(str(data)).store.close()) for _ in range(OPENINGS)]
        print(f"open them: {median(opened):.2f} s; with the start of Python {median(whole):.2f} s")
        again = _timed(lambda: start_review(str(data))[0].store.close())
        print(f"open them by the name of the unchanged set: {again:.2f} s")
        review = open_review(str(data))
        saves = [_timed(lambda k=k: _save(review, f"bench_{k % 32}", f"Text {k}?")) for k in range(SAVES)]
        print(
            f"save one edit with all rules: {1000 * median(saves):.0f} ms (at most {1000 * max(saves):.0f})"
        )
        listed = _timed(lambda: review.state.queue("warnings"))
        print(f"a queue over all of them: {1000 * listed:.1f} ms")
        store = open_store(str(Path(folder) / "made.review.sqlite"))
        verified = _timed(lambda: sum(1 for _ in store.lines()))
        print(f"read the whole log: {verified:.1f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
