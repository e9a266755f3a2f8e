"""The slowest of many hostile replies: how long judging one takes, beside parsing as much ordinary text.

    python bench/hostile.py            # the table of speeds
    python bench/hostile.py growth     # every parser of replies and of tools at n, 2n and 4n characters or tools

Every reply of `tests/benchmarks/acebench/hostile.py` is judged against a record of every kind, under both profiles,
as text and as native calls. Time is that of the whole verdict less that of the verdict on an empty reply.
"""

import ast
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from benchmarks.acebench.hostile import MESSAGES, items
from measure import Line, main
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.toolcall.call_syntax import MAX_CALL_CHARACTERS
from wildtool.types import Item, Message, Reply, Transcript

TRIES = 3
"""The least of so many times counts: other work of the machine is not the reply's."""
ORDINARY = (
    "["
    + ", ".join(["f(city='Oslo', days=3, detailed=True)"] * 1000)[: MAX_CALL_CHARACTERS - 50].rpartition(",")[
        0
    ]
    + "]"
)


def measure(repeats: int) -> list[Line]:
    lines: list[Line] = []
    for profile in ("official", "fixed"):
        rounds = [sorted(_times(profile), reverse=True) for _ in range(repeats)]
        for slow, what in rounds[0][:5]:
            print(f"{profile}: {slow:.1f} ms for {what}", file=sys.stderr)
        lines.append(
            Line(
                what=f"judging the slowest of {len(rounds[0])} hostile replies, {profile}: {rounds[0][0][1]}",
                unit="ms",
                ours=[each[0][0] for each in rounds],
                versus=f"`ast.parse` of {len(ORDINARY):,} ordinary characters",
                baseline=[_least(lambda: ast.parse(ORDINARY, mode="eval")) for _ in range(repeats)],
                target=50,
            )
        )
    return lines


def _times(profile: str) -> Iterator[tuple[float, str]]:
    """Milliseconds for each hostile reply, and what it was."""
    for kind, item in items().items():
        for mode in ("text", "fc"):
            empty = _least(partial(_judge, item, {}, profile, mode))
            for name, message in MESSAGES.items():
                taken = _least(partial(_judge, item, message, profile, mode))
                yield taken - empty, f"{name} ({kind}, {mode})"


def _judge(item: Item, message: Message, profile: str, mode: str) -> None:
    ACEBENCH.in_mode(mode).judge(item, {"0": Transcript((Reply(message),), scripted=True)}, profile)


def _least(action: Callable[[], object]) -> float:
    """Least processor time of a few tries, in milliseconds."""
    taken: list[float] = []
    for _ in range(TRIES):
        began = time.process_time()
        action()
        taken.append(time.process_time() - began)
    return 1000 * min(taken)


if __name__ == "__main__":
    if "growth" in sys.argv[1:]:
        from hostile_growth import show_growth

        sys.exit(show_growth())
    main(measure)
