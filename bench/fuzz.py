"""Hostile input for as long as you like: judges, streams, records, bundles and API descriptions, each from a seed.

    python bench/fuzz.py --minutes 60                    # an hour of each
    python bench/fuzz.py --minutes 5 --only streams --seed 7

Anything but a verdict, a reply or a named refusal is printed with its input and counted; the exit status is then 1.
The tests run the same generators for a few seconds.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
sys.path.insert(0, str(TESTS))

from faults.fuzz_streams import KINDS, Reader, answer, damaged, mangled  # noqa: E402
from tools.sources.openapi_fuzz import document  # noqa: E402
from wildtool.benchmark import Benchmark  # noqa: E402
from wildtool.benchmarks.acebench import ACEBENCH  # noqa: E402
from wildtool.benchmarks.wildtoolbench import WILD_MINI  # noqa: E402
from wildtool.engine.record.bundle import unpack_bundle  # noqa: E402
from wildtool.engine.score.results import load_result  # noqa: E402
from wildtool.errors import WildtoolError  # noqa: E402
from wildtool.export import ExportRequest  # noqa: E402
from wildtool.export.bundle import export  # noqa: E402
from wildtool.toolcall.call_syntax import MAX_CALL_CHARACTERS  # noqa: E402
from wildtool.types import Item, Message, Reply, Transcript  # noqa: E402
from wildtool_data.make.procedural.tool_sets import read_tool_sets  # noqa: E402

COMMAND = Path(sys.executable).with_name("wildtool")
Outcome = str
Fuzzer = Callable[[random.Random, Path], Iterator[tuple[Outcome, object]]]
"""Tries one input after another: what became of it, and the input for the report of a fault."""


def judges(chance: random.Random, _: Path) -> Iterator[tuple[Outcome, object]]:
    """Damaged gold replies of both benchmarks under every profile and mode."""
    from benchmarks.acebench.hostile import items as hostile_items

    played: list[tuple[Benchmark, Item]] = [
        (WILD_MINI, item) for item in WILD_MINI.load(WILD_MINI.data.locate(None))
    ]
    played += [(ACEBENCH.in_mode(mode), item) for mode in ACEBENCH.modes for item in hostile_items().values()]
    while True:
        benchmark, item = chance.choice(played)
        profile = chance.choice(list(benchmark.profiles))
        unit = chance.choice(item.units)
        replies = [damaged(message, chance) for message in _gold(benchmark, item, unit, profile, chance)]
        messages = [reply if isinstance(reply, dict) else {"content": reply} for reply in replies]
        transcript = Transcript(tuple(Reply(message) for message in messages), scripted=True)
        verdicts = benchmark.judge(item, {unit: transcript}, profile)
        benchmark.rules(profile).trace(item, unit, transcript)
        yield f"{benchmark.name} {verdicts[item.units.index(unit)].outcome}", messages


def _gold(benchmark: Benchmark, item: Item, unit: str, profile: str, chance: random.Random) -> list[Message]:
    """The gold replies of a unit, up to a step, as any style gives them."""
    episode, said = benchmark.rules(profile).episode(item, unit), list[Message]()
    style = chance.choice(list(benchmark.gold_styles))
    while (request := episode.request()) is not None and len(said) < 12 and request.gold is not None:
        role = style if request.role == "agent" else "cooperative 0"
        said.append(request.gold(role))
        episode.advance(said[-1])
    said.append({"role": "assistant", "content": mangled(b"[f(a=1)]" * 3, chance).decode("utf-8", "replace")})
    return said[: chance.randrange(1, len(said) + 1)]


def streams(chance: random.Random, _: Path) -> Iterator[tuple[Outcome, object]]:
    """Damaged answers of every protocol, whole, streamed and in batches."""
    readers = {kind: Reader(kind) for kind in KINDS}
    while True:
        kind = chance.choice(KINDS)
        line = answer(kind, chance)
        yield f"{kind}: {readers[kind].read(line)}", line


def records(chance: random.Random, folder: Path) -> Iterator[tuple[Outcome, object]]:
    """Runs whose record, table or `run.json` has bytes changed, left out or put in."""
    place = _run(folder)
    files = {path: path.read_bytes() for path in place.iterdir() if path.is_file() and path.stat().st_size}
    whole = load_result(place)
    while True:
        path = chance.choice(list(files))
        path.write_bytes(_changed(files[path], chance))
        try:
            result = load_result(place)
            same = result.metrics == whole.metrics
            yield (
                "the same numbers" if same else "other numbers, marked" if result.incomplete else "other",
                path,
            )
        except WildtoolError as error:
            yield type(error).__name__, path
        for each, data in files.items():
            each.write_bytes(data)


def bundles(chance: random.Random, folder: Path) -> Iterator[tuple[Outcome, object]]:
    """Bundles with bytes changed, left out or put in."""
    whole = folder / "run.wildtool.zip"
    export(ExportRequest(folder=_run(folder)), whole)
    data = whole.read_bytes()
    while True:
        broken = folder / "broken.wildtool.zip"
        broken.write_bytes(_changed(data, chance))
        try:
            load_result(unpack_bundle(broken))
            yield "read", broken
        except WildtoolError as error:
            yield type(error).__name__, broken


def _changed(data: bytes, chance: random.Random) -> bytes:
    changed = data
    while changed == data:
        changed = mangled(data, chance)
    return changed


def _run(folder: Path) -> Path:
    """A run of two sessions."""
    place = folder / "run"
    words = [COMMAND, "run", "wild-mini", "--model", "baseline/lexical", "--limit", "2", "--out", place]
    subprocess.run(words, check=True, capture_output=True)
    return place


def descriptions(chance: random.Random, folder: Path) -> Iterator[tuple[Outcome, object]]:
    """OpenAPI documents with odd values in odd places."""
    path = folder / "api.json"
    while True:
        made = document(chance)
        text = json.dumps(made, ensure_ascii=True)
        path.write_bytes(mangled(text.encode(), chance) if chance.random() < 0.3 else text.encode())
        try:
            read_tool_sets(path, "en", lambda _: None)
            yield "read", made
        except WildtoolError as error:
            yield type(error).__name__, made


def call_texts(chance: random.Random, _: Path) -> Iterator[tuple[Outcome, object]]:
    """Calls in words, cut and spliced, read by every format."""
    from wildtool.tool_formats import CALL_FORMATS

    seeds = [
        b'[f(a=1, b="x", c=[1, {"d": None}])]',
        b'<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>',
        b'<|channel|>commentary to=functions.f <|message|>{"a": 1}<|call|>',
        b"Action: f\nAction Input: {'a': 1}\n",
        b'{"name": "f", "parameters": {"a": "\\u00e9"}}',
    ]
    while True:
        name = chance.choice(list(CALL_FORMATS))
        text = mangled(chance.choice(seeds) + chance.choice(seeds), chance) * chance.choice((1, 1, 50))
        read = CALL_FORMATS[name].read(text.decode("utf-8", "replace")[:MAX_CALL_CHARACTERS])
        yield f"{name}: {'calls' if read else 'none'}", text


FUZZERS: dict[str, Fuzzer] = {
    "judges": judges,
    "streams": streams,
    "records": records,
    "bundles": bundles,
    "descriptions": descriptions,
    "formats": call_texts,
}


def fuzz(fuzzer: Fuzzer, seed: int, seconds: float) -> tuple[Counter[Outcome], list[str]]:
    """What became of the inputs of one fuzzer, and a report of each that raised anything else."""
    outcomes, faults = Counter[Outcome](), list[str]()
    until, number = time.monotonic() + seconds, 0
    while time.monotonic() < until and len(faults) < 20:
        with tempfile.TemporaryDirectory() as folder:
            inputs = fuzzer(random.Random(f"{seed} {number}"), Path(folder))
            try:
                for outcome, _ in inputs:
                    outcomes[outcome] += 1
                    if time.monotonic() >= until:
                        break
            except Exception:  # noqa: BLE001 - what is looked for
                faults.append(
                    f"seed {seed} {number}, after {outcomes.total():,} inputs:\n{traceback.format_exc()}"
                )
        number += 1
    return outcomes, faults


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=1.0, help="for each fuzzer")
    parser.add_argument("--only", choices=FUZZERS, help="this fuzzer alone")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found = 0
    for name in [options.only] if options.only else FUZZERS:
        outcomes, faults = fuzz(FUZZERS[name], options.seed, options.minutes * 60)
        found += len(faults) + outcomes["other"]
        print(f"{name}: {outcomes.total():,} inputs: {dict(outcomes.most_common(12))}", flush=True)
        for fault in faults:
            print(fault, flush=True)
    print(f"{found} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
