"""The code blocks of a section of docs/training-frameworks.md."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "training-frameworks.md"


def blocks(section: str) -> list[str]:
    """The Python blocks below a heading, in order."""
    text = PAGE.read_text(encoding="utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
