"""Prepares a release, so that a tag is all that is left. It can be run again, for another date or after more changes.

python scripts/release.py 0.3.0
python scripts/release.py 0.3.0 --date 2026-12-01

Sets the version and the date everywhere, dates the notes (`CHANGELOG.md`, "Unreleased"), moves the files of `changelog.d`
to the page that has every change, adds the sentence about scores, and takes today's scores as those of the release.
"""

import argparse
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import score_versions

ROOT = Path(__file__).resolve().parents[1]
CHANGELOG, CITATION = ROOT / "CHANGELOG.md", ROOT / "CITATION.cff"
MOST_LINES = 60
"""Of the notes of a release, which people read."""
NOTHING = "Nothing yet."
START = "<!-- towncrier release notes start -->\n"
LAST = "## The last weeks"
"""Where the page with every change has what came as files of `changelog.d`."""
SCORES = "### Scores that move\n"
MARK = "- **Measured.** "
"""How the line with the sentence about scores begins."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("version")
    parser.add_argument("--date", default=f"{datetime.now(UTC):%Y-%m-%d}")
    options = parser.parse_args()
    version: str = options.version
    if problem := problem_of_notes(CHANGELOG.read_text("utf-8"), version):
        print(f"CHANGELOG.md: {problem}", file=sys.stderr)
        return 1
    table = score_versions.read_table()
    if table["released"]["version"] == version:
        # Prepared before: what is compared with is the release before.
        table = {**table, "released": table["previous"]}
    if unsaid := score_versions.unsaid(score_versions.moves(table), score_versions.texts_of_notes(version)):
        print(f"the notes do not say what moves: {', '.join(map(str, unsaid))}", file=sys.stderr)
        return 1
    set_version(version, options.date)
    measured = score_versions.sentence(version, table)
    command = [sys.executable, score_versions.__file__, "--release", "--version", version]
    subprocess.run(command, cwd=ROOT, check=True)
    move_fragments(version)
    date_notes(version, options.date, measured)
    lines = section(CHANGELOG.read_text("utf-8"), version).count("\n")
    print(f"{version}: {lines} lines of notes; read the difference, then make packages")
    return int(lines > MOST_LINES)


# The version -----------------------------------------------------------------------------------------


def set_version(version: str, date: str) -> None:
    """In the code, where our packages name each other, and in the citation."""
    for path in (*ROOT.glob("src/wildtool/__init__.py"), *ROOT.glob("packages/*/src/*/__init__.py")):
        _replace(path, r'^__version__ = ".*"$', f'__version__ = "{version}"')
    for path in (ROOT / "pyproject.toml", *ROOT.glob("packages/*/pyproject.toml")):
        _replace(path, r'"(wildtool(?:-\w+)?(?:\[\w+\])?)==[^"]+"', rf'"\1=={version}"')
    _replace(CITATION, r"^version: .*$", f"version: {version}")
    _replace(CITATION, r"^date-released: .*$", f'date-released: "{date}"')
    _replace(
        ROOT / "docs" / "gate.md", r"(OWNER/wildtool@v|tool-use@|rev: v)\d+\.\d+\.\d+", rf"\g<1>{version}"
    )


def _replace(path: Path, pattern: str, new: str) -> None:
    text, count = re.subn(pattern, new, path.read_text("utf-8"), flags=re.MULTILINE)
    if not count:
        raise SystemExit(f"{path.relative_to(ROOT)}: nothing fits {pattern}")
    path.write_text(text, "utf-8")


# The notes -------------------------------------------------------------------------------------------


def section(changelog: str, title: str) -> str:
    """What the changelog has under `## TITLE` or `## TITLE - DATE`, without that line; empty if it has none."""
    found = re.search(
        rf"^## {re.escape(title)}(?: - [^\n]*)?\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL
    )
    return found[1].replace(START, "").strip("\n") + "\n" if found else ""


def problem_of_notes(changelog: str, version: str) -> str:
    """Why they cannot become those of a version; empty for nothing."""
    unreleased = section(changelog, "Unreleased").strip()
    if unreleased in ("", NOTHING):
        return "" if section(changelog, version) else f'neither "Unreleased" nor {version} has any notes'
    if section(changelog, version):
        return f'{version} is prepared already; move what "Unreleased" has into its section'
    return "" if SCORES in unreleased else f'"Unreleased" has no part "{SCORES.strip()}"'


def date_notes(version: str, date: str, measured: str) -> None:
    """Makes the section of the version of what is unreleased; where it is there, its date and measured line change."""
    text = CHANGELOG.read_text("utf-8")
    unreleased = section(text, "Unreleased").strip()
    line = f"{MARK}{measured}\n"
    if unreleased in ("", NOTHING):
        _replace(CHANGELOG, rf"^## {re.escape(version)} - .*$", f"## {version} - {date}")
        newest = CHANGELOG.read_text("utf-8")
        old = section(newest, version)
        new = re.sub(rf"^{re.escape(MARK)}.*\n", lambda _: line, old, count=1, flags=re.MULTILINE)
        CHANGELOG.write_text(newest.replace(old, new), "utf-8")
        return
    notes = unreleased.replace(SCORES, f"{SCORES}{line}", 1)
    before, _, rest = text.partition("## Unreleased\n")
    after = rest.partition(START)[2]
    head = f"{before}## Unreleased\n\n{NOTHING}\n\n{START}\n## {version} - {date}\n"
    CHANGELOG.write_text(f"{head}\n{notes}\n{after}", "utf-8")


def move_fragments(version: str) -> None:
    """Adds the files of `changelog.d` to the page with every change, and removes them."""
    fragments = sorted(path for path in (ROOT / "changelog.d").glob("*.md"))
    if not fragments:
        return
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", version]
    draft = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    page = ROOT / "docs" / f"changes-{version.rpartition('.')[0]}.md"
    if not page.exists():
        raise SystemExit(f"{page.relative_to(ROOT)}: write its head first, and its line in docs/README.md")
    text = page.read_text("utf-8").rstrip("\n")
    head = "" if LAST in text else f"\n\n{LAST}"
    page.write_text(f"{text}{head}\n\n{_as_part(draft[draft.index('### ') :])}", "utf-8")
    for path in fragments:
        path.unlink()


def _as_part(draft: str) -> str:
    """The draft with bold lines in place of headings, and links as they are from `docs`."""
    bold = re.sub(r"^### (.+)$", r"**\1**", draft, flags=re.MULTILINE)
    # The page is in `docs`, where links begin that were written for the root.
    plain = re.sub(r"\]\(docs/", "](", re.sub(r"\]\((src/|[A-Z]+\.md)", r"](../\1", bold))
    return re.sub(r"\n{3,}", "\n\n", plain).strip("\n") + "\n"


if __name__ == "__main__":
    sys.exit(main())
