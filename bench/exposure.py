"""No speed: gold under each exposure, set by set, beside gold whose tools are shown; the table of docs/exposure.md.

    python bench/exposure.py                              # wild-mini and the ledger
    python bench/exposure.py --bfcl --acebench FOLDER     # those too: BFCL as pulled, ACEBench's data

Gold need not be right (ACEBench's own fails in places), but its verdicts must be the same under each exposure. Calls that
are made together stay together: OP counts the tasks that are right in the fewest steps.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import wildtool

EXPOSURES = ("direct", "code", "code:search=perfect", "search:perfect", "search:perfect,calls=call_tool")


@dataclass(frozen=True)
class GoldSet:
    """A set that gold plays."""

    name: str
    benchmark: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Of `wildtool.run`."""


def sets(bfcl: bool, acebench: str | None) -> Iterator[GoldSet]:
    """The sets of the table."""
    yield GoldSet("wild-mini, fixed", "wild-mini", {"profile": "fixed"})
    yield GoldSet("wild-mini, official", "wild-mini", {"profile": "official"})
    yield GoldSet("ledger", "ledger")
    for split in ("multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param") if bfcl else ():
        yield GoldSet(f"BFCL {split}", "bfcl", {"split": split})
    for split in ("parallel", "parallel_multiple") if bfcl else ():
        yield GoldSet(f"BFCL {split}", "bfcl", {"split": split})
    for split in ("agent", "normal") if acebench else ():
        options = {"mode": "fc", "data": acebench, "split": split, "lang": "en"}
        yield GoldSet(f"ACEBench {split}", "acebench", options)


def verdicts(gold: GoldSet, exposure: str, out: Path) -> dict[tuple[str, str], Mapping[str, Any]]:
    """By item and unit the verdict of gold."""
    alterations = wildtool.Alterations(expose=exposure)
    run = wildtool.run(
        gold.benchmark, model="baseline/gold", alterations=alterations, out=out, **gold.options
    )
    return {(row["item"], row["unit"]): row for row in run.verdicts().rows()}


def cell(own: Mapping[Any, Mapping[str, Any]], direct: Mapping[Any, Mapping[str, Any]]) -> str:
    """What the table says of one set under one exposure."""
    right = sum(bool(row["correct"]) for row in own.values())
    words = f"{right} of {len(own)}"
    optimal = [row["optimal"] for row in own.values() if row.get("optimal") is not None]
    words += f", OP {sum(optimal)}" if optimal else ""
    same = sum(row["outcome"] == direct[key]["outcome"] for key, row in own.items())
    return words if own is direct else f"{words}; same verdict {same}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bfcl", action="store_true", help="BFCL too; needs `wildtool data pull bfcl`")
    parser.add_argument("--acebench", metavar="FOLDER", help="ACEBench too, from the folder of its data")
    given = parser.parse_args()
    differing = 0
    print("| gold |", " | ".join(EXPOSURES), "|")
    print("|---" * (len(EXPOSURES) + 1) + "|")
    with tempfile.TemporaryDirectory() as scratch:
        for number, gold in enumerate(sets(given.bfcl, given.acebench)):
            cells: list[str] = []
            direct: dict[tuple[str, str], Mapping[str, Any]] = {}
            for place, exposure in enumerate(EXPOSURES):
                own = verdicts(gold, exposure, Path(scratch) / f"{number}-{place}")
                direct = direct or own
                cells.append(cell(own, direct))
                differing += sum(row["outcome"] != direct[key]["outcome"] for key, row in own.items())
            print(f"| {gold.name} | {' | '.join(cells)} |", flush=True)
    print(f"\n{differing} verdicts differ from those with shown tools")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
