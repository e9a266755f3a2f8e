"""The Python of README and docs, run as it is written: each page and the notebook in a process of its own."""

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from e2e.command import wildtool

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "python.md"
NOTEBOOK = ROOT / "docs" / "python.ipynb"
END = "--- end of a block ---"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
NOTEBOOK_SHELL = """
import ast, asyncio, html, json, sys, types

class Kernel:
    kernel = object()

class Handle:
    def update(self, page): print("DISPLAY", page)

shell, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
shell.get_ipython, display.HTML, display.display = Kernel, str, lambda page, display_id: Handle()
sys.modules |= {"IPython": shell, "IPython.display": display}

async def run_cells():
    space = {"__name__": "__main__"}
    for number, cell in enumerate(json.load(sys.stdin)):
        tree = ast.parse(cell)
        if isinstance(tree.body[-1], ast.Expr):
            tree.body[-1] = ast.Assign([ast.Name("_", ast.Store())], tree.body[-1].value)
            ast.fix_missing_locations(tree)
        space["_"] = None
        code = compile(tree, f"cell {number}", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        result = eval(code, space)
        if asyncio.iscoroutine(result):
            await result
        shown = space["_"]
        print("OUT", number, shown._repr_html_() if hasattr(shown, "_repr_html_") else repr(shown))

asyncio.run(run_cells())
"""
"""Runs cells as a kernel does, inside a running event loop, and shows the last expression of each."""


def python(script: str, place: Path, given: str = "") -> str:
    """What a script prints that must succeed. It lies in a file, since models are told apart by a function's text."""
    (place / "script.py").write_text(script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=place,
        input=given,
        env=os.environ | {"COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
@pytest.mark.parametrize(
    "page", [PAGE, ROOT / "README.md", ROOT / "README_ZH.md"], ids=lambda page: page.name
)
def test_the_python_of_a_page_prints_what_stands_below_it(page: Path, tmp_path: Path) -> None:
    """A `text` block is what the Python above it prints; WILDTOOL_WRITE_GOLDEN=1 writes all of them again."""
    text = page.read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    for kind, lines in blocks if page == PAGE else ():
        for line in lines.splitlines() if kind == "sh" else ():
            done = asyncio.run(wildtool(*line.split()[1:], cwd=tmp_path))
            assert done.status == 0, done.err
    snippets = [lines for kind, lines in blocks if kind == "python"]
    assert snippets
    printed = iter(python(f"print({END!r})\n".join([*snippets, ""]), tmp_path).split(f"{END}\n"))
    latest = ""

    def filled(block: re.Match[str]) -> str:
        nonlocal latest
        if block[1] == "python":
            latest = next(printed)
        return f"```text\n{latest}```" if block[1] == "text" and latest else block[0]

    now = BLOCK.sub(filled, text)
    if os.environ.get("WILDTOOL_WRITE_GOLDEN"):
        page.write_text(now, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == now


def test_the_notebook_runs(tmp_path: Path) -> None:
    document: Any = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in document["cells"] if cell["cell_type"] == "code"]
    printed = python(NOTEBOOK_SHELL, tmp_path, json.dumps(cells))
    assert printed.count("\nOUT") + printed.startswith("OUT") == len(cells)
    assert "<td>accuracy: task</td>" in printed
    assert "baseline/lexical against function/first_tool" in printed
    assert '<progress max="32" value="32">' in printed


def test_the_notebook_is_kept_without_outputs() -> None:
    document: Any = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    code = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
    assert [cell for cell in code if cell["outputs"] or cell["execution_count"] is not None] == []
