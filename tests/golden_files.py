"""Texts and values that the program must give exactly, kept as files below `golden`.

A change that is meant is written down again, and its difference read before it is committed:

    WILDTOOL_WRITE_GOLDEN=1 pytest packages/wildtool-review/tests/review/test_story.py
"""

import difflib
import json
import os
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent / "golden"
_MOST_LINES = 60
"""Of a difference that is shown."""


def same_as_golden(name: str, value: Any) -> None:
    """Compares a text, or any other value as JSON, with the file of that name, or writes the file."""
    file = FOLDER / name
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1) + "\n"
    # Half a pair of surrogates cannot be written.
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if os.environ.get("WILDTOOL_WRITE_GOLDEN"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8", newline="")
    golden = file.read_bytes().decode("utf-8")
    if text != golden:
        lines = golden.splitlines(), text.splitlines()
        difference = islice(difflib.unified_diff(*lines, "golden", "now", lineterm="", n=1), _MOST_LINES)
        pytest.fail(f"{file} is no longer what the program gives:\n" + "\n".join(difference), pytrace=False)
