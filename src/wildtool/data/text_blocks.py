"""Text files of named blocks: a line `= name` begins each."""

import re
from pathlib import Path

_NAME = re.compile(r"^= (.+)$", re.MULTILINE)


def text_blocks(file: Path) -> dict[str, str]:
    """The blocks of a file by name, without the blank lines around them; the text before the first has an empty name."""
    parts = _NAME.split(file.read_text(encoding="utf-8"))
    return {name: text.strip() for name, text in zip(["", *parts[1::2]], parts[::2], strict=True)}
