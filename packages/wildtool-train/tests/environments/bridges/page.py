"""The code blocks of a section of a page of the docs."""

import re
from pathlib import Path

from source_files import REPOSITORY

DOCS = REPOSITORY / "docs"
PAGE = DOCS / "training-frameworks.md"


def blocks(section: str, page: Path = PAGE) -> list[str]:
    """The Python blocks below a heading, in order."""
    text = page.read_text(encoding="utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
