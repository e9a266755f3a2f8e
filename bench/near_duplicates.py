"""Near duplicates of 100,000 conversations: the whole command `wildtool data mix --dedupe near`, which reads, checks,
compares and writes them, beside datasketch's MinHashLSH, which only reads and estimates."""

import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loopback import baseline_python
from measure import Line, in_turns, main, run_child

CONVERSATIONS = 100_000
TARGET_S = 60.0
WORDS = [f"word{number}" for number in range(5_000)]
HERE = Path(__file__).parent


def conversations(count: int) -> Iterator[dict[str, Any]]:
    """Requests of 20 to 90 words; every tenth is one before it with a word changed."""
    draw = random.Random(1)
    said: list[list[str]] = []
    for number in range(count):
        words = draw.choices(WORDS, k=draw.randrange(20, 90))
        if number % 10 == 9:
            words = list(draw.choice(said))
            words[draw.randrange(len(words))] = "changed"
        said.append(words)
        turns = [{"from": "human", "value": " ".join(words)}, {"from": "gpt", "value": "Done."}]
        yield {"conversations": turns, "system": "", "tools": ""}


def measure(repeats: int) -> list[Line]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = folder / "rows.jsonl"
        with rows.open("w") as file:
            file.writelines(json.dumps(row) + "\n" for row in conversations(CONVERSATIONS))
        wildtool = Path(sys.executable).with_name("wildtool")
        mix = [wildtool, "data", "mix", f"rows={rows}", "--dedupe", "near", "--no-overlap-check"]
        ours, baseline = in_turns(
            lambda: run_child([*mix, "-o", folder / "mix"]),
            lambda: run_child([baseline_python(), HERE / "near_datasketch.py", rows]),
            repeats,
        )
        found = json.loads((folder / "mix" / "mix.json").read_text())["sets"]["rows"]["duplicates"]
        print(
            f"ours removed {found}; datasketch found {baseline[-1].output.strip()} candidates",
            file=sys.stderr,
        )
    return [
        Line(
            what=f"near duplicates of {CONVERSATIONS:,} conversations, each pair compared exactly, {clock}",
            unit="s",
            ours=[getattr(ended, field) for ended in ours],
            versus="datasketch's MinHashLSH on the same sequences, estimates only",
            baseline=[getattr(ended, field) for ended in baseline],
            target=TARGET_S,
        )
        for field, clock in (("wall_s", "wall clock"), ("cpu_s", "processor time"))
    ]


if __name__ == "__main__":
    main(measure)
