"""How much code there is to know. Lines of code are counted without blank lines, comments and docstrings; each part has
a budget that may only fall: who makes a part lighter lowers its line here.

The core is what one must know to change how wildtool measures. Benchmarks and the making, preparing and reviewing of sets
are built on it: nothing of the core imports them (`test_layers.py`).
"""

import ast
import io
import tokenize
from pathlib import Path

import wildtool

ROOT = Path(wildtool.__file__).parent
BUDGETS = {
    "": 1662,
    "alter": 1413,
    "benchmarks": 20,
    "benchmarks/acebench": 5927,
    "benchmarks/apibank": 1666,
    "benchmarks/bfcl": 3898,
    "benchmarks/glaive": 423,
    "benchmarks/injecagent": 1039,
    "benchmarks/rotbench": 578,
    "benchmarks/sealtools": 789,
    "benchmarks/taskbench": 1304,
    "benchmarks/teval": 981,
    "benchmarks/wildtoolbench": 3370,
    "cli": 6561,
    "data": 843,
    "engine": 6914,
    "export": 1270,
    "generate": 10127,
    "models": 4616,
    "published": 114,
    "report": 2381,
    "review": 5946,
    "stats": 593,
    "table": 322,
    "tool_formats": 2252,
    "toolcall": 4008,
    "training": 6084,
}
"""Lines of code below each folder of the package; those of its own modules under the empty name."""
NOT_TOKENS = frozenset(
    [tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER]
)


def lines_of_code(text: str) -> int:
    docstrings = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in NOT_TOKENS
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(lines - docstrings)


def part(path: Path) -> str:
    parts = path.relative_to(ROOT).parent.parts
    return "/".join(parts[: 2 if parts[:1] == ("benchmarks",) else 1])


def weights() -> dict[str, int]:
    counted = dict.fromkeys(BUDGETS, 0)
    for path in ROOT.rglob("*.py"):
        counted[part(path)] = counted.get(part(path), 0) + lines_of_code(path.read_text(encoding="utf-8"))
    return counted


def test_what_is_counted():
    text = '"""A\ndocstring."""\n\n# Why.\nx = """two\nlines"""  # here\n\n\ndef f(\n    y,\n):\n    "D"\n    return y\n'
    assert lines_of_code(text) == 6


def test_a_part_that_became_lighter_stays_so():
    under = {
        name: (lines, BUDGETS[name]) for name, lines in weights().items() if lines < 0.97 * BUDGETS[name]
    }
    assert not under, "lines of code and budget; lower the budget"


def test_each_part_keeps_its_budget():
    over = {
        name: (lines, BUDGETS.get(name)) for name, lines in weights().items() if lines > BUDGETS.get(name, 0)
    }
    assert not over, (
        "lines of code and budget; make something lighter, or say in docs/decisions why the part must grow"
    )
