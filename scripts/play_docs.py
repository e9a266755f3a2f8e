"""Plays pages of the docs in a fresh folder, as a reader types them, and compares what is printed.

python scripts/play_docs.py                       # with the wildtool on the PATH
python scripts/play_docs.py --bin venv/bin        # with that of an environment
python scripts/play_docs.py --write docs/faq.md   # writes what is printed into the page

A block without a language is commands. A `text` block has what the block above it prints. A command with the remark
`# not run here` or `# your server`, or one that begins with `make`, needs more than the packages: it is named, not run.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "docs/tutorial.md", "docs/faq.md", "docs/own-domain.md")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
COLUMNS = "100"

Run = Callable[[str, Path], str]
"""Runs commands in a folder and gives what they print; raises RuntimeError where one fails."""


@dataclass
class Played:
    """What became of a page."""

    text: str = ""
    """The page with what its commands print."""
    run: list[str] = field(default_factory=list[str])
    left_out: list[str] = field(default_factory=list[str])


def is_left_out(line: str) -> bool:
    return line.startswith("make ") or re.search(r"  # (not run here|your server)", line) is not None


def play(page: str, place: Path, run: Run) -> Played:
    """Types the commands of a page in a folder.

    Args:
        page: its text.
    """
    played, printed = Played(), ""

    def filled(block: re.Match[str]) -> str:
        nonlocal printed
        kind, lines = block.groups()
        if kind == "text":
            return f"```text\n{printed}\n```"
        if kind == "python" and "wt.run(" in lines:
            (place / "example.py").write_text(lines, encoding="utf-8")
            run("python3 example.py", place)
            played.run.append("python3 example.py")
        if kind == "":
            left_out = [line for line in lines.splitlines() if is_left_out(line)]
            typed = "\n".join(line for line in lines.splitlines() if not is_left_out(line))
            played.left_out += left_out
            if typed.strip():
                printed = run(typed, place).strip("\n")
                played.run.append(typed)
        return block[0]

    played.text = BLOCK.sub(filled, page)
    return played


def shell(beside: Path | None) -> Run:
    """Runs by bash, with the programs of a folder before others."""
    path = os.pathsep.join([*([str(beside.resolve())] if beside else []), os.environ["PATH"]])

    def run(commands: str, place: Path) -> str:
        own = {"XDG_CONFIG_HOME": str(place / ".config"), "WILDTOOL_DATA_DIR": str(place / ".data")}
        done = subprocess.run(
            ["bash", "-e", "-c", commands],
            cwd=place,
            env={**os.environ, **own, "PATH": path, "COLUMNS": COLUMNS},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(
                f"{commands}\nended with status {done.returncode}:\n{done.stdout}{done.stderr}"
            )
        return done.stdout

    return run


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pages", nargs="*", default=PAGES)
    parser.add_argument("--bin", type=Path, help="folder of an environment's programs")
    parser.add_argument("--write", action="store_true", help="write what is printed into the pages")
    options = parser.parse_args()
    differ = False
    for name in options.pages:
        page = (ROOT / name).read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as place:
            played = play(page, Path(place), shell(options.bin))
        if options.write:
            (ROOT / name).write_text(played.text, encoding="utf-8")
        same = played.text == page
        differ = differ or not (same or options.write)
        print(f"{name}: {len(played.run)} blocks run, {'as printed' if same else 'DIFFERENT'}; not run here:")
        for line in played.left_out:
            print(f"    {line}")
    return int(differ)


if __name__ == "__main__":
    sys.exit(main())
