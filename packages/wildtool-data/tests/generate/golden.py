"""Outcomes that follow from settings and replies alone: a run that goes on, a part that another process makes and a
record that is replayed all rest on it. They are kept in `tests/golden/generate`."""

import hashlib
import json
from typing import Any

from golden_files import same_as_golden


def digest(value: Any) -> str:
    """Of the JSON of a value, keys in their order."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:12]


def check(name: str, outcome: Any) -> None:
    """Compares an outcome with the file of that name, or writes the file."""
    same_as_golden(f"generate/{name}.json", json.dumps(outcome, ensure_ascii=False, indent=1) + "\n")
