"""No page and no message uses a phrase that readers stumbled over."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from source_files import read, source_files, source_name

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "wildtool"
PAGES = [
    page
    for place in ("*.md", "packages/*/*.md", "docs/*.md", "changelog.d/*.md", "src/*/benchmarks/*/card.md")
    for page in ROOT.glob(place)
]
BETTER = {
    "told(?! apart)": "sent, shown, distinguished",
    "stands?|stood": "is, occurs, appears",
    "(lies?|lay) (in|at|beside|below|under|there|outside)": "is in",
    "whoever": "anyone who, the caller",
    "anew": "again",
    "so (many|often)": "n",
    "(of|from) (ours|yours|theirs)": "we wrote, your",
    "wish(es|ed)?": "request",
    "sittings?": "invocation",
    "thereby|therein|thereof|wherein|hitherto|beforehand": "nothing, before",
    "besides": "also, in addition",
    "go on|goes on|going on|went on": "continue, resume",
    "begun": "started",
    "of (its|their|your|our|one's) own": "its own",
    "work(s|ed)? out": "compute",
    "for want of": "for lack of",
    "(all|nothing|none) but": "except, only",
    r"mend(s|ed|ing)?(?!\.md)": "fix, correct",
    "heard": "received",
    "(calls|tokens|requests|tools|items) an? (second|minute|session|user|task)": "per",
    "(was|were|is|are) due": "was expected",
    "ticked": "selected",
    "to (its|their) end": "completely",
}
"""What to write instead of each phrase."""
PHRASE = re.compile(rf"\b(?:{'|'.join(BETTER)})\b", re.IGNORECASE)
PINNED = (
    "/prompts/",
    "prompt",
    "tool_formats/",
    "wildtool_data/make/",
    "tools/",
    "commands/generate/",
    "acebench/episode/base.py",
    "acebench/audit/episode_mutants.py",
    "judges/tiers.py",
    "wildtoolbench/error_classes.py",
    "engine/batch/rounds.py",
    "stats/metrics.py",
)
"""Modules with texts that are sent to models or kept in runs, verdicts and metric names, which cannot change."""


def messages() -> Iterator[tuple[str, str]]:
    """File and text of every sentence in the code that is no docstring, and those of the help."""
    for path in source_files():
        name = source_name(path)
        if any(part in name for part in PINNED):
            continue
        for text in read(path).texts:
            yield name, text if " " in text.strip() else ""
        if "/commands/" in name:
            functions = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            for node in functions:
                help_text = (isinstance(node, ast.FunctionDef) and ast.get_docstring(node)) or ""
                yield name, help_text if "Examples:" in help_text else ""


def hits(texts: Iterator[tuple[str, str]]) -> dict[str, int]:
    """How often each phrase occurs, by file."""
    return Counter(f"{name}: {found[0]}" for name, text in texts for found in PHRASE.finditer(text))


def test_pages_avoid_phrases_that_are_hard_to_read() -> None:
    pages = ((page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8")) for page in PAGES)
    assert hits(pages) == {}


def test_messages_and_help_avoid_phrases_that_are_hard_to_read() -> None:
    assert hits(messages()) == {}


def test_a_phrase_is_found_as_whole_words_in_any_case() -> None:
    found = hits(iter([("a", "It Stands here, anew. Standard wishful thinking.")]))
    assert found == {"a: Stands": 1, "a: anew": 1}
