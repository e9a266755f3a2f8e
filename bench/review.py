"""Opens a review of many sessions, in the browser and without, and saves edits with all rules: medians, on SQLite.

Usage: python bench/review.py [SESSIONS]   (default: 10000; at most 1 s to open and 200 ms to save are allowed)
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from urllib.request import urlopen

from sessions import write_sessions
from wildtool_data.pointers import Change, value_at
from wildtool_review.project import ReviewProject
from wildtool_review.sets import open_review, open_store, start_review

SAVES = 50
OPENINGS = 5
_OPEN = "import sys; from wildtool_review.sets import open_review; print(len(open_review(sys.argv[1]).state.items))"


def _timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _save(review: ReviewProject, item: str, text: str) -> None:
    """An edit as a page makes it: read, change, run all rules, write to the disk."""
    content, seen = review.item(item).seen_by("me")
    field = next(part.field for part in review.format.parts(content) if part.kind == "user text")
    review.edit("me", item, seen, [Change(field, value_at(content, field), text)])


FIRST_PAGE = ("", "review.js", "api/sign-in", "api/review", "api/queue?queue=all")
"""What a browser asks for until it shows the queue, without the other files."""


@contextmanager
def _served(data: Path) -> Iterator[str]:
    """The address of `wildtool review` of a set."""
    words = [sys.executable, "-m", "wildtool", "review", str(data), "--port", "0", "--no-token"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().split()[-1]
        server.terminate()


def _get(address: str) -> bytes:
    with urlopen(address) as answer:
        return answer.read()


def _pages(data: Path) -> None:
    """Opens a set in whose review no rules have run, and reads items while they do."""
    start = time.perf_counter()
    with _served(data) as address:
        started = time.perf_counter() - start
        for path in FIRST_PAGE:
            _get(address + path)
        opened = time.perf_counter() - start
        print(
            f"`wildtool review` shows the queue, no item checked: {opened:.2f} s (address: {started:.2f} s)"
        )
        reads = [_timed(lambda k=k: _get(f"{address}api/item?id=bench_{500 + k}")) for k in range(SAVES)]
        print(
            f"read an item while rules run: {1000 * median(reads):.0f} ms (at most {1000 * max(reads):.0f})"
        )
        first = json.loads(_get(address + "api/checks"))["checked"], time.perf_counter()
        time.sleep(5)
        then = json.loads(_get(address + "api/checks"))["checked"], time.perf_counter()
        print(f"rules: {(then[0] - first[0]) / (then[1] - first[1]):.0f} items a second")


def main(sessions: int) -> None:
    """Prints a line for each thing measured."""
    with TemporaryDirectory() as folder:
        data = write_sessions(Path(folder) / "made.jsonl", sessions)
        seconds = _timed(lambda: start_review(str(data))[0].close())
        print(f"add {sessions:,} sessions: {seconds:.1f} s ({data.stat().st_size / 1e6:.0f} MB)")
        _pages(data)
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
