"""Compares wildtool's official verdicts with those of the published package on the same replies.

    python scripts/bfcl_crosscheck.py RUN...                       # the replies of runs of bfcl
    python scripts/bfcl_crosscheck.py --split live --mode prompt --sample 2000   # gold answers and their mistakes
    python scripts/bfcl_crosscheck.py --parts 20000 --seed 1                     # its parts, on random input

Installs `bfcl-eval` without its dependencies into build/bfcl-eval-VERSION at the first start.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from bfcl_variations import Variations

from wildtool.benchmark import Benchmark, Rules
from wildtool.benchmarks.bfcl import BFCL_BENCHMARK
from wildtool.benchmarks.bfcl.agentic import has_answer
from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES
from wildtool.benchmarks.bfcl.decode import (
    DecodeError,
    call_texts,
    decode_python,
    native_call_texts,
    native_result,
)
from wildtool.benchmarks.bfcl.languages.java import convert_java, decode_java
from wildtool.benchmarks.bfcl.languages.javascript import convert_javascript, decode_javascript
from wildtool.benchmarks.bfcl.multi_turn import MultiTurnEpisode
from wildtool.benchmarks.bfcl.prompt_forms import DEFAULT_FORM, PROMPT_FORMS
from wildtool.data.data_set import data_of
from wildtool.engine.record.reader import RecordReader, transcripts
from wildtool.engine.score.score import prepare_judging
from wildtool.episode import gold_replies, written_text
from wildtool.types import Item, Message, Reply, Transcript

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {"v4": "bfcl-eval==2026.3.23", "v3": "bfcl-eval==2025.6.8"}
"""By version of the data: the last releases with them; that for v3 has the data of 26 April 2025."""
NEEDED = (
    "tree_sitter==0.21.3",
    "tree-sitter-java==0.21.0",
    "tree-sitter-javascript==0.21.4",
    "mpmath==1.3.0",
    "tenacity",
    "filelock",
    "overrides",
)


@dataclass(frozen=True, slots=True)
class Case:
    """One unit with the replies that are judged."""

    item: Item
    unit: str
    replies: Sequence[Message]
    note: str
    settled: Item | None = None
    """The item after its leading units."""


def environment(version: str) -> Path:
    """The Python of an environment with the package."""
    folder = ROOT / "build" / f"bfcl-eval-{version}"
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        packages = [PACKAGES[version], *NEEDED]
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", *packages], check=True)
    return python


def cases_of_runs(folders: Sequence[Path]) -> Iterator[tuple[Benchmark, Case]]:
    for folder in folders:
        run = prepare_judging(folder, profile="official")
        benchmark, reader = run.selection.benchmark, RecordReader(folder)
        for item, repeat in run.selection.jobs():
            said = run.variant.restored(item, transcripts(reader.log(item.id, repeat)), "official")
            settled = benchmark.rules("official").settled(item, said)
            for unit in item.units:
                replies = [reply.message for reply in said.get(unit, Transcript(())).replies]
                if replies:
                    yield benchmark, Case(item, unit, replies, folder.name, settled)


def made_cases(
    benchmark: Benchmark, data: str | None, split: str, sample: int
) -> Iterator[tuple[Benchmark, Case]]:
    """The gold answers of a split, and a sample of the mistakes that the audit makes in them."""
    rules, draw = benchmark.rules("official"), Random(0)
    items = list(benchmark.load(data_of(benchmark).locate(data, split), split=split))
    mistakes = [
        Case(item, made.unit, made.replies, made.kind) for item in items for made in rules.mutants(item)
    ]
    draw.shuffle(mistakes)
    for item in items:
        for unit in item.units:
            gold = gold_replies(rules.episode(item, unit))
            if gold is not None:
                yield benchmark, Case(item, unit, gold, "gold")
    for case in mistakes[:sample]:
        yield benchmark, case


def recorded(rules: Rules, case: Case, *, native: bool) -> dict[str, Any] | None:
    """What the original would have recorded of the replies, for the package; None where they do not end the unit."""
    item, record = case.item, case.item.data
    category = BFCL_CATEGORIES[item.split]
    form = PROMPT_FORMS.get(case.unit, DEFAULT_FORM)
    base, name = record.category, item.id.rpartition(":")[2]

    def as_recorded(reply: Message) -> Any:
        return native_result(reply) if native else written_text(reply)

    episode: Any = rules.episode(case.settled or item, case.unit)
    results: list[Any] = []
    for reply in case.replies:
        if episode.done:
            break
        if isinstance(episode, MultiTurnEpisode):
            turn = len(episode.turns)
            results += [[] for _ in range(turn - len(results))]
            results[turn - 1].append(as_recorded(reply))
        episode.advance(reply)
    if not episode.done:
        return None
    result: Any = results
    if category.kind in ("memory", "web_search"):
        # Whatever calls came before, the last reply decides.
        result = [] if episode.final is None else [as_recorded(episode.final)]
        name = (case.unit if category.kind == "memory" else item.id).replace(category.name, category.file, 1)
    elif category.kind != "multi_turn":
        result = as_recorded(case.replies[0])
    elif isinstance(episode, MultiTurnEpisode):
        result += [[] for _ in range(len(episode.turns) - len(result))]
    return {
        "file": base.file_name(record.version),
        "id": name,
        "kind": base.kind,
        "language": base.language,
        "native": native,
        "form": form.calls if base.language == "python" else base.language,
        "tagged": form.tagged,
        "result": result,
    }


def reference(version: str, sent: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The package's verdicts."""
    script = Path(__file__).with_name("bfcl_reference.py")
    lines = "".join(json.dumps(each) + "\n" for each in sent)
    with tempfile.TemporaryDirectory() as place:  # where the package writes its folders
        done = subprocess.run(
            [environment(version), script],
            input=lines,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            cwd=place,
            env={**os.environ, "BFCL_PROJECT_ROOT": place},
        )
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"valid"')]


OURS: Mapping[str, Callable[..., Any]] = {
    "convert": lambda language, *value: (convert_java if language == "java" else convert_javascript)(*value),
    "java": lambda _, text: decode_java(text),
    "javascript": lambda _, text: decode_javascript(text),
    "python": lambda _, text: decode_python(text),
    "execute": lambda text: call_texts(decode_python(text)),
    "execute native": native_call_texts,
    "answer": has_answer,
}
"""By part what takes its place here."""


def parts_differ(count: int, seed: int) -> bool:
    """Compares every part on random input, and prints what is not equal."""
    differences = 0
    for part, ours in OURS.items():
        variations = Variations(seed)
        inputs = [variations.of(part) for _ in range(count)]
        name = "decode" if part in ("java", "javascript", "python") else part
        values = reference("v4", [{"kind": "part", "part": name, "input": given} for given in inputs])
        equal = 0
        for given, theirs in zip(inputs, values, strict=True):
            try:
                value = repr(ours(*given))
            except (DecodeError, ValueError, NotImplementedError) as error:
                value = f"raises {type(error).__name__}"
            raised = value.startswith("raises ") and theirs["value"].startswith("raises ")
            if raised or value == theirs["value"]:
                equal += 1
            elif (differences := differences + 1) <= 40:
                print(f"{part} {given!r}: {value} here, {theirs['value']} there")
        print(f"{part}: {equal:,} of {count:,} results are equal")
    return differences > 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="*", type=Path, metavar="RUN")
    parser.add_argument("--split", help="judge gold answers and mistakes of this split instead of runs")
    parser.add_argument("--mode", default="fc", choices=list(BFCL_BENCHMARK.modes))
    parser.add_argument("--sample", type=int, default=2_000, help="mistakes to judge")
    parser.add_argument("--parts", type=int, metavar="N", help="compare each part on N random inputs instead")
    parser.add_argument("--seed", type=int, default=0, help="of the random inputs")
    parser.add_argument("--data", help="folder of the data (default: the official data)")
    chosen = parser.parse_args()
    if bool(chosen.runs) + bool(chosen.split) + bool(chosen.parts) != 1:
        parser.error("name runs, a --split, or --parts")
    if chosen.parts:
        return int(parts_differ(chosen.parts, chosen.seed))
    if chosen.split:
        made = made_cases(BFCL_BENCHMARK.in_mode(chosen.mode), chosen.data, chosen.split, chosen.sample)
    else:
        made = cases_of_runs(chosen.runs)
    cases: dict[str, list[tuple[Benchmark, Case, dict[str, Any]]]] = {}
    for benchmark, case in made:
        sent = recorded(benchmark.rules("official"), case, native=benchmark.mode == "fc")
        if sent is not None:
            cases.setdefault(case.item.data.version, []).append((benchmark, case, sent))
    judged, equal, differences = Counter[str](), Counter[str](), list[str]()
    for version, found in cases.items():
        for (benchmark, case, _), theirs in zip(
            found, reference(version, [sent for *_, sent in found]), strict=True
        ):
            transcript = Transcript(tuple(map(Reply, case.replies)))
            rules = benchmark.rules("official")
            episode: Any = rules.episode(case.settled or case.item, case.unit)
            for reply in transcript.replies:
                episode.advance(reply.message)
            ours = rules.verdict(episode, case.item, case.unit)
            judged[case.item.split] += 1
            raises = str(theirs["error"]).startswith("raises")
            same = ours.correct == theirs["valid"] and (raises or ours.error == theirs["error"])
            equal[case.item.split] += same
            if not same:
                differences.append(
                    f"{case.item.id} {case.unit} ({case.note}): {ours.error or 'correct'} here,"
                    f" {theirs['error'] or 'correct'} there"
                )
    for name in judged:
        print(f"{name}: {equal[name]:,} of {judged[name]:,} verdicts are equal")
    print("\n".join(differences[:40]))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
