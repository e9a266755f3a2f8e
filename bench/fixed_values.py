"""How `fixed` compares values: pairs that people labelled, recorded replies, and its time beside an older commit's.

python bench/fixed_values.py                    # the figures of docs/fixed-values.md
python bench/fixed_values.py --against COMMIT   # which recorded replies moved since, and the time of both, in turns

The cases are those of the oracle (CONTRIBUTING, "Parity cases") and of tests/toolcall/labelled_pairs.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests"))

PASSES = 4
"""Over all pairs and replies, in each process."""

Pair = tuple[str, bool, dict[str, Any], dict[str, Any], dict[str, Any]]
"""Part, label, arguments of gold, arguments of the reply, schema."""


def labelled_pairs() -> Iterator[Pair]:
    """The pairs of the oracle's collections, and those of this repository."""
    from parity.cases import oracle_folder, rows
    from parity.labelled_values import arguments_of, is_policy
    from toolcall.labelled import pairs

    found = oracle_folder("found")
    for collection in ("fixed_values_3/pairs", "fixed_values_4/pairs", "fixed_values_4/finance"):
        for row in rows(found / f"{collection}.jsonl"):
            gold, reply, schema = arguments_of(row)
            policy = ", policy" if row["same"] and is_policy(row) else ""
            yield f"{collection}: {row['set']}{policy}", row["same"], gold, reply, schema
    for pair in pairs():
        yield f"labelled_pairs: {pair.part}", pair.same, *pair.arguments


def recorded_verdicts() -> Iterator[tuple[str, Callable[[], object]]]:
    """Each recorded reply with its benchmark, and what judges it by `fixed`."""
    from parity import recorded_replies

    for name, replies in recorded_replies.BENCHMARKS.items():
        for judge in replies("fixed"):
            yield name, judge


def own_figures() -> dict[str, Any]:
    """What the code on the path says of all pairs and replies, and the processor seconds of both."""
    from wildtool.toolcall.compare import compare_arguments

    pairs = list(labelled_pairs())
    replies = list(recorded_verdicts())
    seconds: dict[str, list[float]] = {"labelled pairs": [], "recorded replies": []}
    for _ in range(PASSES):
        start = time.process_time()
        accepted = [not compare_arguments(gold, reply, schema) for _, _, gold, reply, schema in pairs]
        seconds["labelled pairs"].append(time.process_time() - start)
        start = time.process_time()
        verdicts = [[name, repr(judge())] for name, judge in replies]
        seconds["recorded replies"].append(time.process_time() - start)
    # The first pass imports modules and loads dictionaries; other work on the machine only adds.
    results: dict[str, Any] = {"seconds": {what: min(passes[1:]) for what, passes in seconds.items()}}
    results["pairs"] = [
        [part, same, is_accepted] for (part, same, *_), is_accepted in zip(pairs, accepted, strict=True)
    ]
    results["verdicts"] = verdicts
    return results


def of_copy(source: Path) -> dict[str, Any]:
    """The figures by the code below a folder, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, __file__, "--own"]
    ended = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(ended.stdout.splitlines()[-1])


def print_pairs(results: dict[str, Any]) -> None:
    counts = Counter(map(tuple, results["pairs"]))
    print("| pairs | differs, but accepted | means the same, but refused |\n|---|---|---|")
    for part in dict.fromkeys(part for part, _, _ in results["pairs"]):
        cells = []
        for same in (False, True):
            wrong, right = counts[part, same, not same], counts[part, same, same]
            cells.append(f"{wrong} of {wrong + right}" if wrong + right else "")
        print(f"| {part} | {cells[0]} | {cells[1]} |")


def print_moves(before: dict[str, Any], after: dict[str, Any]) -> None:
    replies = Counter(name for name, _ in after["verdicts"])
    pairs = zip(before["verdicts"], after["verdicts"], strict=True)
    moves = [(name, old, new) for (name, old), (_, new) in pairs if old != new]
    print("\n| recorded replies | of | verdicts moved |\n|---|---|---|")
    for name, count in replies.items():
        print(f"| {name} | {count} | {sum(name == moved for moved, _, _ in moves)} |")
    for name, old, new in moves[:20]:
        print(f"\n{name}: {old[:400]}\n-> {new[:400]}")


def print_times(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> None:
    print("\n| time | before | after | ratio, after to before |\n|---|---|---|---|")
    for what in after[0]["seconds"]:
        old, new = ([one["seconds"][what] for one in side] for side in (before, after))
        ratio = median(b / a for a, b in zip(old, new, strict=True))
        print(f"| {what} | {median(old):.3f} s | {median(new):.3f} s | {ratio:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--against", metavar="COMMIT", help="an older commit")
    parser.add_argument("--repeats", type=int, default=5, help="pairs of measurements")
    parser.add_argument("--own", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.own:
        print(json.dumps(own_figures()))
        return
    if options.against is None:
        print_pairs(of_copy(ROOT / "src"))
        return
    from versions import checkout

    older = checkout(options.against) / "src"
    turns = [(of_copy(older), of_copy(ROOT / "src")) for _ in range(options.repeats)]
    before, after = ([turn[side] for turn in turns] for side in (0, 1))
    print_pairs(after[0])
    print_moves(before[0], after[0])
    print_times(before, after)


if __name__ == "__main__":
    main()
