"""Draws docs/images/demo.svg: the table that `make demo` prints, as a terminal shows it. Run it after `make demo`."""

import io
import os
import pty
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

WIDTH = 112


def terminal_output(command: list[str]) -> str:
    """What a command prints on a terminal of WIDTH columns."""
    os.environ.update(COLUMNS=str(WIDTH), TERM="xterm-256color")
    shown = bytearray()

    def keep(descriptor: int) -> bytes:
        data = os.read(descriptor, 65536)
        shown.extend(data)
        return data

    pty.spawn(command, keep)
    return shown.decode().replace("\r", "")


def main(runs: str) -> None:
    wildtool = str(Path(sys.executable).with_name("wildtool"))
    shown = terminal_output([wildtool, "show", runs])
    table = shown.split("More tables:")[0].rstrip()
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(table))
    drawing = console.export_svg(title="make demo")
    # The fonts would be loaded from elsewhere; any monospace font will do.
    drawing = re.sub(r"@font-face \{.*?\}", "", drawing, flags=re.DOTALL).replace("Fira Code, ", "")
    target = Path(__file__).parent / "images" / "demo.svg"
    target.write_text(re.sub(r"[ \t]+\n", "\n", drawing), encoding="utf-8")


main(sys.argv[1] if len(sys.argv) > 1 else "runs/demo")
