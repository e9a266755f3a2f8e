"""Saves an edit beside the recorded answers of many models and judges them again: medians of processor time.

Usage: python bench/rejudge.py [MODELS]   (default: 57; at most 200 ms for save, rules and judging are allowed)
"""

import json
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from sessions import write_sessions
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.engine.replies import import_replies
from wildtool.engine.score.audit import gold_transcript
from wildtool_data.pointers import Change, value_at
from wildtool_review.project import ReviewProject
from wildtool_review.replies.page import rows_of
from wildtool_review.replies.proposals import agreement_queue
from wildtool_review.replies.recorded import OpenRuns
from wildtool_review.replies.rejudge import Rejudge
from wildtool_review.sets import start_review

SESSIONS = 32
SAVES = 64
KINDS = ("user text", "argument", "observation", "edges")


def _perturbed(reply: dict[str, Any], draw: Random) -> dict[str, Any]:
    """A reply with one argument changed, as one of two common mistakes; or the reply itself."""
    calls = json.loads(json.dumps(reply.get("tool_calls") or []))
    for call in calls:
        arguments = json.loads(call["function"]["arguments"])
        if arguments and draw.random() < 0.3:
            arguments[draw.choice(sorted(arguments))] = draw.choice(["one thing", "another thing"])
            call["function"]["arguments"] = json.dumps(arguments)
    return {**reply, "tool_calls": calls} if calls else reply


def write_runs(data: Path, models: int, out: Path) -> None:
    """Runs of models that answer as gold does, with mistakes."""
    source, file = WILDTOOLBENCH.data.locate(str(data)), out.with_suffix(".jsonl")
    with file.open("w", encoding="utf-8") as lines:
        for item in WILDTOOLBENCH.load(source):
            gold = {
                unit: gold_transcript(WILDTOOLBENCH, item, unit, "official", "parallel")
                for unit in item.units
            }
            for model in range(models):
                draw = Random(f"{model}/{item.id}")
                units = {
                    unit: [_perturbed(reply.message, draw) for reply in one.replies]
                    for unit, one in gold.items()
                }
                row = {"item": item.id, "model": f"model-{model}", "units": units}
                lines.write(json.dumps(row) + "\n")
    import_replies(WILDTOOLBENCH, source, file, out)


def _save(review: ReviewProject, rejudge: Rejudge, number: int) -> tuple[float, float, Counter[str]]:
    """Processor seconds of an edit with all rules, of it with all that the page shows of the answers, and states of
    the answers."""
    item = list(review.state.items)[number % SESSIONS]
    content, seen = review.item(item).seen_by("me")
    parts = [part for part in review.format.parts(content) if part.kind == KINDS[number % len(KINDS)]]
    field = Random(number).choice(parts).field
    before = value_at(content, field)
    after: Any = [] if isinstance(before, list) else f"Value {number}"
    start = time.process_time()
    review.edit("me", item, seen, [Change(field, before, after)])
    saved = time.process_time() - start
    history = review.item(item)
    rows_of(rejudge)(item, history.versions[0].content, history.content)
    whole = time.process_time() - start
    return saved, whole, Counter(one.after.state for one in rejudge.of_item(history).answers)


def main(models: int) -> None:
    """Prints a line for each thing measured."""
    with TemporaryDirectory() as folder:
        data = write_sessions(Path(folder) / "made.jsonl", SESSIONS)
        write_runs(data, models, Path(folder) / "runs")
        review, _ = start_review(str(data))
        start = time.perf_counter()
        rejudge = Rejudge(OpenRuns.open(review.format, [Path(folder) / "runs"]))
        opened = time.perf_counter() - start
        print(f"open {len(rejudge.runs.runs)} runs of {SESSIONS} sessions: {1000 * opened:.0f} ms")
        start = time.perf_counter()
        queue = list(agreement_queue(review, rejudge))
        print(f"the queue over all items: {time.perf_counter() - start:.1f} s, {len(queue)} places")
        first, again = Rejudge(rejudge.runs), Rejudge(rejudge.runs)
        for name, one in (("an item opened for the first time", first), ("an item that is open", again)):
            if one is again:
                for item in review.state.items:
                    one.of_item(review.item(item))
            times = [_save(review, one, k if one is first else SESSIONS + k) for k in range(SAVES // 2)]
            states = sum((found for _, _, found in times), Counter[str]())
            saves, all_ = [t[0] for t in times], [t[1] for t in times]
            print(
                f"{name}: save with rules {1000 * median(saves):.0f} ms, and {models} models judged again "
                f"{1000 * median(all_):.0f} ms (at most {1000 * max(all_):.0f}); {dict(states)}"
            )
        review.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 57)
