"""From fifty traces of three libraries to a file of cases, a run and a gate: the seconds of each command.

The traces are those of the oracle (`found/traces`): each of the fifty has other ids, places and dates, so that no
two hold the same conversation. Nothing is edited by hand between the commands.
"""

import argparse
import os
import re
import sys
from hashlib import sha256
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from measure import machine, number, run_child

LIBRARIES = {"oi": "OpenInference", "pai": "pydantic-ai", "traceloop": "OpenLLMetry"}
"""Folders of the oracle with what each library's spans were written by."""
TRACES = 50
REPEATS = 3
_ORACLE = Path(__file__).parents[2] / "shared" / "oracle"
_ID = re.compile(r"\b(?:[0-9a-f]{32}|[0-9a-f]{16}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b")
"""Ids of traces, spans and conversations."""
_PLACES = ("Oslo", "Lima", "Cairo", "Quito", "Osaka", "Perth", "Turin", "Porto", "Kyoto", "Dakar")
_TOLD = re.compile(r": \d+ cases,|^passed|^cases that pass")
"""The lines that say what a command made."""
_GATE = "0.9"
"""The share of cases that must be right."""


def write_traces(folder: Path) -> list[Path]:
    """Writes the traces, a file for each library as its collector wrote it."""
    traces = Path(os.environ.get("WILDTOOL_ORACLE", _ORACLE)) / "found" / "traces"
    texts: dict[str, list[str]] = {library: [] for library in LIBRARIES}
    for trace in range(TRACES):
        library = list(LIBRARIES)[trace % len(LIBRARIES)]
        text = (traces / library / "collector.jsonl").read_text("utf-8")
        texts[library].append(_varied(text, trace))
    paths: list[Path] = []
    for library, found in texts.items():
        paths.append(folder / f"{library}.jsonl")
        paths[-1].write_text("".join(found), encoding="utf-8")
    return paths


def _varied(text: str, trace: int) -> str:
    """A trace with other ids, places and dates."""
    text = _ID.sub(lambda match: _other_id(match[0], trace), text)
    first, second = _PLACES[trace % 10], _PLACES[(trace + 1 + trace // 10) % 10]
    day = f"2025-{1 + trace % 12:02}-{1 + trace % 28:02}"
    return text.replace("Paris", first).replace("Lyon", second).replace("2025-03-04", day)


def _other_id(text: str, trace: int) -> str:
    digits = iter(sha256(f"{trace} {text}".encode()).hexdigest())
    return "".join(character if character == "-" else next(digits) for character in text)


def steps(folder: Path) -> list[tuple[str, list[str]]]:
    """The commands by what each makes."""
    sources = [str(path) for path in write_traces(folder)]
    cases, run, baseline = (str(folder / name) for name in ("cases.yaml", "run", "shop.json"))
    return [
        ("a set", ["review", "import", *sources, "-o", cases]),
        ("a run", ["run", cases, "--model", "baseline/gold", "--out", run]),
        ("a gate", ["gate", run, "--against", baseline, "--at-least", _GATE, "--update-baseline"]),
    ]


def measured() -> tuple[dict[str, float], str]:
    """The seconds of each step, and what the commands printed last."""
    seconds: dict[str, float] = {}
    said: list[str] = []
    with TemporaryDirectory() as place:
        for what, words in steps(Path(place)):
            ended = run_child([Path(sys.executable).with_name("wildtool"), *words])
            seconds[what] = ended.wall_s
            said += [line for line in ended.output.splitlines() if _TOLD.search(line)]
    return seconds, "\n".join(said)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    repeats = parser.parse_args().repeats
    print(f"# {machine()}")
    tries = [measured() for _ in range(repeats)]
    print(tries[-1][1])
    for what in tries[-1][0]:
        values = [seconds[what] for seconds, _ in tries]
        print(f"{what}: {number(median(values))} s ({number(min(values))}–{number(max(values))})")
    whole = [sum(seconds.values()) for seconds, _ in tries]
    print(f"together: {number(median(whole))} s")
