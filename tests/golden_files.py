"""Texts and values that the program must give exactly, kept as files below `golden`.

A change that is meant is written down again, and its difference read before it is committed:

    WILDTOOL_WRITE_GOLDEN=1 pytest tests/review/test_story.py
"""

import difflib
import json
import os
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "golden"


def same_as_golden(name: str, value: Any) -> None:
    """Compares a text, or any other value as JSON, with the file of that name, or writes the file."""
    file = FOLDER / name
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1) + "\n"
    if os.environ.get("WILDTOOL_WRITE_GOLDEN"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8", newline="")
    golden = file.read_bytes().decode("utf-8")
    difference = difflib.unified_diff(
        golden.splitlines(), text.splitlines(), "golden", "now", lineterm="", n=1
    )
    assert text == golden, f"{file} is no longer what the program gives:\n" + "\n".join(difference)
