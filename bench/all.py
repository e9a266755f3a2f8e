"""Measures everything and prints one table in Markdown."""

import importlib
import sys

from measure import Line, main

SCRIPTS = (
    "episodes",
    "calls",
    "limits",
    "random_429",
    "latency",
    "memory",
    "judge",
    "acebench",
    "text_calls",
    "taskbench",
    "teval",
    "bfcl",
    "convert",
    "near_duplicates",
    "hostile",
    "start",
    "report",
)


def measure(repeats: int) -> list[Line]:
    lines: list[Line] = []
    for name in SCRIPTS:
        print(f"{name}.py …", file=sys.stderr, flush=True)
        lines += importlib.import_module(name).measure(repeats)
    return lines


if __name__ == "__main__":
    main(measure)
