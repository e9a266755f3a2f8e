"""Converting 100,000 records like xlam's to ShareGPT's shape: the whole command `wildtool data convert`; memory."""

import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measure import Ended, Line, in_turns, main, run_child

RECORDS = 100_000
ONE_CORE, TWO_CORES = 10_000, 20_000
"""Records per second."""
MEMORY_MB = 400
WORDS = [
    "level",
    "tide",
    "station",
    "port",
    "ferry",
    "lamp",
    "room",
    "desk",
    "court",
    "rain",
    "river",
    "coast",
]
TYPES = ("str", "int", "float", "bool", "List[int]", "str, optional", "Dict[str, Any]", "Tuple[float, float]")
COPY = (
    "import json, sys; out = open(sys.argv[2], 'w'); "
    "[out.write(json.dumps(json.loads(line)) + '\\n') for line in open(sys.argv[1])]"
)
"""Starts Python, reads the same file and writes it again; no more."""
PEAK = (
    "import sys, re; from wildtool.cli import main; sys.argv[0] = 'wildtool'\n"
    "try: main()\n"
    "finally: print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
)
"""Runs the command, and prints the most memory that its process ever held, in kB."""


def records(count: int) -> Iterator[dict[str, Any]]:
    """Rows with one to four tools and one or two calls, about 1.4 kB each."""
    draw = random.Random(1)
    for number in range(count):
        tools = [tool(draw, number * 7 + place) for place in range(draw.randint(1, 4))]
        answers = [
            {
                "name": made["name"],
                "arguments": {name: " ".join(draw.choices(WORDS, k=2)) for name in made["parameters"]},
            }
            for made in tools[: draw.randint(1, 2)]
        ]
        query = " ".join(draw.choices(WORDS, k=20))
        yield {"id": number, "query": query, "answers": json.dumps(answers), "tools": json.dumps(tools)}


def tool(draw: random.Random, number: int) -> dict[str, Any]:
    parameters = {
        f"{draw.choice(WORDS)}{place}": {
            "description": " ".join(draw.choices(WORDS, k=8)),
            "type": draw.choice(TYPES),
            **({"default": ""} if draw.random() < 0.3 else {}),
        }
        for place in range(draw.randint(1, 4))
    }
    about = f"Gives {' '.join(draw.choices(WORDS, k=12))}."
    return {"name": f"{draw.choice(WORDS)}_{number % 997}", "description": about, "parameters": parameters}


def measure(repeats: int) -> list[Line]:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        lines, packed, out = place / "rows.jsonl", place / "rows.json", place / "out.jsonl"
        with lines.open("w") as file:
            file.writelines(json.dumps(row) + "\n" for row in records(RECORDS))
        with packed.open("w") as file:
            # The same rows twice as one list: what does not grow with the file is no larger here.
            file.write("[")
            file.write(",".join([*lines.read_text().splitlines()] * 2))
            file.write("]")
        options = ["data", "convert", "--to", "sharegpt", "-o", out, "--force"]

        def convert(source: Path, processes: int) -> Ended:
            return run_child([sys.executable, "-c", PEAK, *options, source, "--jobs", str(processes)])

        def copy() -> Ended:
            return run_child([sys.executable, "-c", COPY, lines, place / "copy.jsonl"])

        one, copies = in_turns(lambda: convert(lines, 1), copy, repeats)
        two, again = in_turns(lambda: convert(lines, 2), copy, repeats)
        twice = [convert(packed, 1) for _ in range(repeats)]
    what = f"`wildtool data convert`, {RECORDS:,} records"
    versus = "reading and writing the same lines with `json`"
    return [
        Line(
            what=f"{what}, one process, per second of processor time",
            unit="records/s",
            ours=[RECORDS / ended.cpu_s for ended in one],
            versus=versus,
            baseline=[RECORDS / ended.cpu_s for ended in copies],
            target=ONE_CORE,
            more_is_better=True,
        ),
        Line(
            what=f"{what}, two processes, per second",
            unit="records/s",
            ours=[RECORDS / ended.wall_s for ended in two],
            versus=f"{versus}, one process",
            baseline=[RECORDS / ended.wall_s for ended in again],
            target=TWO_CORES,
            more_is_better=True,
        ),
        Line(
            what="most memory while a JSON list of twice as many records is converted",
            unit="MB",
            ours=[peak_mb(ended) for ended in twice],
            versus="the same for half of them as lines",
            baseline=[peak_mb(ended) for ended in one],
            target=MEMORY_MB,
        ),
    ]


def peak_mb(ended: Ended) -> float:
    return int(ended.output.split()[-1]) / 1024


if __name__ == "__main__":
    main(measure)
