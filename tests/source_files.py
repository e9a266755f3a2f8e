"""The source files of wildtool and of its other packages, for tests that look into all of them."""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[1]
ROOT = REPOSITORY / "src" / "wildtool"
PACKAGES = tuple(sorted(path.parent for path in REPOSITORY.glob("packages/*/src/*/__init__.py")))
"""The folders of the other packages, such as `packages/wildtool-data/src/wildtool_data`."""


def source_files() -> list[Path]:
    """All modules, those of wildtool first."""
    files = [path for root in (ROOT, *PACKAGES) for path in sorted(root.rglob("*.py"))]
    assert len(files) > 500
    return files


def source_name(path: Path) -> str:
    """The name of a module: `engine/plan.py`, or `wildtool_data/pointers.py` in another package."""
    root = next((root for root in PACKAGES if path.is_relative_to(root)), None)
    return path.relative_to(root.parent if root else ROOT).as_posix()


@dataclass(frozen=True, slots=True)
class Source:
    """What tests ask of a module, read once by each process: to parse all modules takes seconds, and to look for garbage
    among their syntax trees takes more."""

    imported: tuple[str, ...]
    """Modules that it imports anywhere with their whole names; of `from wildtool import a` it is `wildtool.a`."""
    texts: tuple[str, ...]
    """Its texts, without docstrings, which may give examples."""
    identifiers: tuple[str, ...]
    """Names and attributes that it uses."""
    defined: tuple[str, ...]
    """Names that it defines at its top level; type variables are its own affair."""
    bound: tuple[str, ...]
    """Names of its functions, classes, parameters, assignments, loops, handlers and patterns, each time."""
    lines: int
    """Its lines of code, as of `lines_of_code`."""


@cache
def read(path: Path) -> Source:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    nodes = _by_kind(tree)
    alone = {id(node.value) for node in nodes[ast.Expr]}
    return Source(
        imported=tuple(_imported(path, nodes)),
        texts=tuple(
            node.value
            for node in nodes[ast.Constant]
            if isinstance(node.value, str) and id(node) not in alone
        ),
        identifiers=tuple(_identifiers(nodes)),
        defined=tuple(_defined(tree)),
        bound=tuple(_bound(nodes)),
        lines=_lines(text, nodes),
    )


def lines_of_code(text: str) -> int:
    """The lines of a file that are neither blank nor comments nor docstrings."""
    return _lines(text, _by_kind(ast.parse(text)))


Nodes = Mapping[type[ast.AST], Sequence[Any]]
"""The nodes of a syntax tree by their class: most questions are about a few of them."""


def _by_kind(tree: ast.AST) -> Nodes:
    nodes: dict[type[ast.AST], list[ast.AST]] = defaultdict(list)
    for node in ast.walk(tree):
        nodes[type(node)].append(node)
    return nodes


def _imported(path: Path, nodes: Nodes) -> Iterator[str]:
    for node in nodes[ast.Import]:
        yield from (alias.name for alias in node.names)
    for node in nodes[ast.ImportFrom]:
        assert not node.level, f"{source_name(path)}:{node.lineno} imports relatively"
        whole = node.module == "wildtool"
        yield from (f"wildtool.{alias.name}" for alias in node.names) if whole else [node.module or ""]


def _identifiers(nodes: Nodes) -> Iterator[str]:
    yield from (node.id for node in nodes[ast.Name])
    yield from (node.attr for node in nodes[ast.Attribute])


def _defined(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            made = node.value.func if isinstance(node.value, ast.Call) else None
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if not (isinstance(made, ast.Name) and made.id in ("TypeVar", "ParamSpec")):
                yield from (target.id for target in targets if isinstance(target, ast.Name))


def _bound(nodes: Nodes) -> Iterator[str]:
    for kind in (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
        yield from (node.name for node in nodes[kind])
    yield from (node.arg for node in nodes[ast.arg])
    yield from (node.id for node in nodes[ast.Name] if isinstance(node.ctx, ast.Store))
    for kind in (ast.ExceptHandler, ast.MatchAs, ast.MatchStar):
        yield from (node.name for node in nodes[kind] if node.name is not None)


def _lines(text: str, nodes: Nodes) -> int:
    written = (line.strip() for line in text.split("\n"))
    code = {number for number, line in enumerate(written, 1) if line and not line.startswith("#")}
    # A blank line or a mark of comments inside a text is no blank line and no comment.
    for node in nodes[ast.Constant]:
        if isinstance(node.value, str) and "\n" in node.value:
            code.update(_lines_of(node))
    alone = (node.value for node in nodes[ast.Expr])
    docstrings = (node for node in alone if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return len(code.difference(line for node in docstrings for line in _lines_of(node)))


def _lines_of(node: ast.expr) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)
