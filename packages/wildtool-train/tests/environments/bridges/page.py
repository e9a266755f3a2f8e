"""The code blocks of a section of the page on environments."""

import re
from pathlib import Path

from source_files import REPOSITORY

DOCS = REPOSITORY / "docs"
PAGE = DOCS / "environments.md"


def blocks(section: str, page: Path = PAGE) -> list[str]:
    """The Python blocks below a heading, down to the next of its level or above, in order."""
    text = page.read_text(encoding="utf-8")
    heading = re.search(rf"^(#+) {re.escape(section)}\n", text, re.MULTILINE)
    assert heading is not None, f"{page.name} has no section {section!r}"
    section_text = re.split(
        rf"^#{{2,{len(heading[1])}}} ", text[heading.end() :], maxsplit=1, flags=re.MULTILINE
    )[0]
    return re.findall(r"^```python\n(.*?)^```", section_text, re.DOTALL | re.MULTILINE)
