"""Outcomes that follow from settings and replies alone, kept in files: a run that goes on, a part that another process
makes and a record that is replayed all rest on it.

A change that is meant is written down again, and its difference read before it is committed:

    WILDTOOL_WRITE_GOLDEN=1 pytest tests/generate
"""

import difflib
import hashlib
import json
import os
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parents[1] / "golden" / "generate"


def digest(value: Any) -> str:
    """Of the JSON of a value, keys in their order."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:12]


def check(name: str, outcome: Any) -> None:
    """Compares an outcome with the file of that name, or writes the file."""
    file = GOLDEN / f"{name}.json"
    text = (
        json.dumps(outcome, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace").decode() + "\n"
    )
    if os.environ.get("WILDTOOL_WRITE_GOLDEN"):
        file.write_text(text, "utf-8")
    diff = difflib.unified_diff(file.read_text("utf-8").splitlines(), text.splitlines(), "kept", "made", n=1)
    assert not (lines := [*diff]), f"{file.name} is no longer what is made:\n" + "\n".join(lines[:60])
