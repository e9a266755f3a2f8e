"""What each package may know of the others: dependencies point one way, and names stay where they belong."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import wildtool
from wildtool.engine.registry import benchmark_names
from wildtool.models.presets import PRESETS

ROOT = Path(wildtool.__file__).parent
LAYERS = (
    {"redact", "old_paths"},
    {"types", "errors", "sanitize", "json_codec"},
    {"data", "stats", "episode", "outputs"},
    {"toolcall"},
    {"trace"},
    {"benchmark"},
    {"published"},
    {"models", "benchmarks"},
    {"engine"},
    {"report", "export", "generate"},
    {"cli"},
    {"__main__"},
)
"""Each package and module of the root may use those of the layers above it in this list, and itself."""
FORMAT_OF_OURS = {"generate"}
"""Sessions are generated in WildToolBench's format, so their generator may read it."""
TABLES_OF_PAPERS = {"published"}
"""Tables of papers are named after the benchmark that they are about."""
WORDS = {"together"}
"""Names of providers that are plain words."""


def modules() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def package(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> Iterator[str]:
    """Modules of ours that a module imports, anywhere in it, without the root's name."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name(path)}:{node.lineno} imports relatively"
            whole = node.module == "wildtool"
            names = [f"wildtool.{alias.name}" for alias in node.names] if whole else [node.module or ""]
        else:
            continue
        for found in names:
            if found.startswith("wildtool.") and found != "wildtool.__version__":
                yield found.removeprefix("wildtool.")


def texts(path: Path) -> Iterator[str]:
    """Identifiers and texts of a module, without docstrings, which may give examples."""
    described = {id(node.value) for node in ast.walk(tree(path)) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in described:
            yield node.value
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
    yield from imported(path)


def layer(package: str) -> int:
    return next(number for number, names in enumerate(LAYERS) if package in names)


@pytest.mark.parametrize("path", modules(), ids=name)
def test_a_module_uses_only_what_lies_below_it(path: Path):
    own = package(path)
    used = {found.split(".")[0] for found in imported(path)} - {own}
    above = {other for other in used if layer(other) >= layer(own)}
    assert not above, f"{name(path)} uses {', '.join(sorted(above))}"


def test_no_benchmark_is_named_outside_its_folder():
    folders = {path.name for path in (ROOT / "benchmarks").iterdir() if (path / "__init__.py").exists()}
    known = re.compile("|".join(sorted({*folders, *benchmark_names()})), re.IGNORECASE)
    allowed = {"benchmarks", *FORMAT_OF_OURS, *TABLES_OF_PAPERS}
    found = [
        f"{name(path)}: {text[:80]!r}"
        for path in modules()
        if package(path) not in allowed
        for text in texts(path)
        if known.search(text)
    ]
    assert not found


def test_no_benchmark_knows_another():
    for path in modules():
        folder = path.relative_to(ROOT).parts[:2]
        others = {found.split(".")[1] for found in imported(path) if found.startswith("benchmarks.")}
        assert folder[0] != "benchmarks" or others <= {folder[-1]}, name(path)


def test_no_provider_is_named_outside_models():
    found = [
        f"{name(path)}: {text!r}"
        for path in modules()
        if package(path) != "models"
        for text in texts(path)
        if set(PRESETS) & {text.lower(), *text.lower().split("_")} - WORDS
    ]
    assert not found
