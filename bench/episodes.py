"""One step of a walk on n independent calls, beside listing all paths as the paper's Algorithm 1 does."""

import json
import math
import time
from collections.abc import Iterator
from typing import Any

from measure import Line, in_turns, main, number
from wildtool.benchmarks.wildtoolbench.data import ANSWER, Session, read_session
from wildtool.benchmarks.wildtoolbench.fixed.episode import FixedEpisode
from wildtool.benchmarks.wildtoolbench.official.episode import OfficialEpisode

LISTED = 8
"""Independent calls whose paths the baseline lists: 545,835 paths; 9 would be 7,087,261."""
SIZES = (5, 10, 20, 40, 80)
TARGET_AT = 20
WALKS = {"official": OfficialEpisode, "fixed": FixedEpisode}
TOOLS = {False: "different tools", True: "one tool"}


def session(calls: int, *, same_tool: bool) -> Session:
    """Two tasks of so many independent calls each; the first is the history of the second."""
    names = ["look_up" if same_tool else f"look_up_{i}" for i in range(calls)]
    parameters = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
    nodes: list[dict[str, Any]] = [
        {
            "action": {"name": name, "arguments": {"number": i}},
            "observation": {"found": i},
            "dependency_list": [],
        }
        for i, name in enumerate(names)
    ]
    answer = {
        "action": {"name": ANSWER, "arguments": {}},
        "observation": "done",
        "dependency_list": [*range(calls)],
    }
    function = [
        {"name": name, "description": "Looks up.", "parameters": parameters} for name in dict.fromkeys(names)
    ]
    record = {
        "id": f"independent_{calls}",
        "english_env_info": "2026-11-20 09:00:00 Friday",
        "english_tools": [{"type": "function", "function": f} for f in function],
        "english_tasks": ["Look all of them up.", "And again."],
        "english_task_types": ["Parallel Multi-Tool"] * 2,
        "english_turn_subtypes": ["Coreferential Reference"],
        "english_answer_list": [[*nodes, answer]] * 2,
    }
    read = read_session(json.loads(json.dumps(record)), "bench")
    assert read is not None
    return read


def step_times_s(walk_of: Any, played: Session, style: str) -> list[float]:
    """Seconds of setting a walk up, then of each of its steps, in a perfect run of the second task."""
    began = time.perf_counter()
    episode = walk_of(played, 1)
    request = episode.request()
    times = [time.perf_counter() - began]
    while request is not None:
        answer = request.gold(style)
        began = time.perf_counter()
        episode.advance(answer)
        request = episode.request()
        times.append(time.perf_counter() - began)
    return times


def slowest_ms(walk_of: Any, calls: int, *, same_tool: bool = False) -> float:
    """The slowest step, setting up included, with all calls at once or one by one."""
    played = session(calls, same_tool=same_tool)
    # The least of a few runs, step by step: what another process takes from this one is not ours to count.
    runs = [[step_times_s(walk_of, played, style) for _ in range(5)] for style in ("parallel", "serial")]
    return 1000 * max(min(times) for run in runs for times in zip(*run, strict=True))


def paths(needs: list[int], done: int = 0) -> Iterator[list[tuple[int, ...]]]:
    """Algorithm 1 of the paper: any non-empty set of the nodes that are ready may be the next step."""
    ready = [i for i, mask in enumerate(needs) if not done >> i & 1 and mask & ~done == 0]
    if not ready:
        yield []
    for chosen in range(1, 1 << len(ready)):
        step = tuple(node for i, node in enumerate(ready) if chosen >> i & 1)
        for rest in paths(needs, done | sum(1 << node for node in step)):
            yield [step, *rest]


def listing_ms(calls: int) -> float:
    """Milliseconds of listing all paths of so many independent calls and an answer after them."""
    began = time.perf_counter()
    count = sum(1 for _ in paths([0] * calls + [(1 << calls) - 1]))
    assert count == path_count(calls), count
    return 1000 * (time.perf_counter() - began)


def path_count(calls: int) -> int:
    """How many paths so many independent calls have (ordered set partitions)."""
    counts = [1]
    for size in range(1, calls + 1):
        counts.append(sum(math.comb(size, first) * counts[size - first] for first in range(1, size + 1)))
    return counts[calls]


def measure(repeats: int) -> list[Line]:
    steps = [_step(name, same_tool, repeats) for name in WALKS for same_tool in (False, True)]
    return steps + [_growth(name, same_tool, repeats) for name in WALKS for same_tool in (False, True)]


def _step(name: str, same_tool: bool, repeats: int) -> Line:
    ours, baseline = in_turns(
        lambda: slowest_ms(WALKS[name], TARGET_AT, same_tool=same_tool), lambda: listing_ms(LISTED), repeats
    )
    return Line(
        what=f"slowest step of a walk, {TARGET_AT} independent calls of {TOOLS[same_tool]}, {name}",
        unit="ms",
        ours=ours,
        versus=f"Algorithm 1 lists the {path_count(LISTED):,} paths of {LISTED} calls",
        baseline=baseline,
        target=1.0,
    )


def _growth(name: str, same_tool: bool, repeats: int) -> Line:
    ours: list[float] = []
    by_size: dict[int, float] = {}
    for _ in range(repeats):
        by_size = {size: slowest_ms(WALKS[name], size, same_tool=same_tool) for size in SIZES}
        ours.append(_exponent(by_size, *SIZES[-2:]))
    shown = ", ".join(f"{number(ms)} ms at {size}" for size, ms in by_size.items())
    listed = {size: listing_ms(size) for size in (6, 7)}
    return Line(
        what=f"its growth as a power of n, {TOOLS[same_tool]}, {name} ({shown})",
        unit="",
        ours=ours,
        versus="Algorithm 1, from 6 to 7 calls",
        baseline=[_exponent(listed, 6, 7)] * repeats,
        target=2.0,
    )


def _exponent(by_size: dict[int, float], small: int, large: int) -> float:
    return math.log(by_size[large] / by_size[small]) / math.log(large / small)


if __name__ == "__main__":
    main(measure)
