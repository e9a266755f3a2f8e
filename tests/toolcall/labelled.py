"""Reads the labelled pairs of values: a gold value, what a model said, and whether both mean the same.

In `labelled_pairs/` a line `# kind` opens a kind, `= gold || said` is a pair that means the same, `! gold || said` one
that does not; in `json_values.txt` a schema stands before gold, and all are JSON. Pairs of one gold value are in one
half: the rules were tuned on one half, and the other one was not looked at meanwhile. `written_later.txt` was written
when the rules were done, and judged once before they were changed again; `written_against.txt` likewise for the rules
of units, code, sentences and parts of words, to break them. `written_blind.txt` was written before the rules of
`wordings`, `identifiers` and `places`, and `written_blind_once.txt` with it, but judged only when these were done;
`written_against_later.txt` was written to break them. In `by_role.txt`, `by_role_later.txt` and
`by_role_once.txt` the name and description of a parameter stand before gold; each was written when the rules of `roles`
were done, and judged once before these were changed again.
`by_role_varied.txt` was written by a second reader of these, to find rules that fit single cases; `by_role_met.txt` by a
later one, as values of tools, before the rules of bounds by sign, coordinates and numbers of journeys.
"""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from wildtool.toolcall.compare import compare_arguments

FOLDER = Path(__file__).parent / "labelled_pairs"

_PARTS = {
    "written_later": "later",
    "written_against": "against",
    "written_blind": "blind",
    "written_blind_once": "blind once",
    "written_against_later": "against later",
    "by_role": "by role",
    "by_role_later": "by role, later",
    "by_role_once": "by role, once",
    "by_role_varied": "by role, varied",
    "by_role_met": "by role, met",
}


class Pair(NamedTuple):
    kind: str
    gold: Any
    said: Any
    schema: dict[str, Any]
    same: bool
    part: str
    """`tuning`, `unseen`, or what `_PARTS` calls the file."""
    name: str = "v"
    """The parameter."""

    @property
    def arguments(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """The arguments of gold and of the reply, and the schema of the parameters."""
        if self.schema.keys() & {"properties", "default"}:
            return self.gold, self.said, self.schema
        schema = {"properties": {self.name: self.schema}, "required": [self.name]}
        return {self.name: self.gold}, {self.name: self.said}, schema

    @property
    def judged_same(self) -> bool:
        return compare_arguments(*self.arguments) == []


def pairs() -> list[Pair]:
    return [pair for file in sorted(FOLDER.glob("*.txt")) for pair in _of_file(file)]


def _of_file(file: Path) -> Iterator[Pair]:
    kind = ""
    for line in file.read_text(encoding="utf-8").split("\n"):
        if line.startswith("# "):
            kind = line[2:]
        if line[:2] in ("= ", "! "):
            *schema, gold, said = line[2:].split(" || ")
            half = "unseen" if sha256(gold.encode()).digest()[0] % 2 else "tuning"
            part = _PARTS.get(file.stem, half)
            if part.startswith("by role"):
                name, _, description = schema[0].partition(": ")
                parameter = {"type": "string", "description": description}
                yield Pair(kind, gold, said, parameter, line[0] == "=", part, name)
            elif schema:
                yield Pair(
                    kind, json.loads(gold), json.loads(said), json.loads(schema[0]), line[0] == "=", part
                )
            else:
                yield Pair(kind, gold, said, {"type": "string"}, line[0] == "=", part)
