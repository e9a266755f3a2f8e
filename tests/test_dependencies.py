"""What the code takes from the packages it needs is there in the versions that are installed."""

import ast
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from source_files import read

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


FOR_DEVELOPERS = {"dev", "docs"}
"""Extras that no user has."""


def package_names(extras: Iterable[str]) -> set[str]:
    """The packages that the core or one of some extras names."""
    lines = [*PROJECT["dependencies"], *(w for e in extras for w in PROJECT["optional-dependencies"][e])]
    return {canonicalize_name(Requirement(line).name) for line in lines} - {"wildtool"}


@cache
def needed() -> dict[str, str]:
    """By top module the package that the core or an extra names, of those that are installed."""
    names = package_names(PROJECT["optional-dependencies"])
    return {
        module: canonicalize_name(packages[0])
        for module, packages in packages_distributions().items()
        if canonicalize_name(packages[0]) in names
    }


def is_there(dotted: str) -> bool:
    """Whether a dotted name is a module or a chain of attributes of one."""
    top, *rest = dotted.split(".")
    found: object = import_module(top)
    path = top
    for name in rest:
        path = f"{path}.{name}"
        if not hasattr(found, name):
            if not isinstance(found, ModuleType) or not hasattr(found, "__path__") or find_spec(path) is None:
                return False
            import_module(path)
        found = getattr(found, name)
        if not isinstance(found, ModuleType):
            return True
    return True


def dotted(node: ast.AST) -> str:
    """`a.b.c` of an expression that is one; empty for any other."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (stem := dotted(node.value)):
        return f"{stem}.{node.attr}"
    return ""


def names_taken(code: str) -> Iterator[str]:
    """The names of needed packages that a file imports, and the attributes of them that it reads."""
    tree = ast.parse(code)
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
                modules[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
    for node in ast.walk(tree):
        stem, _, rest = dotted(node).partition(".")
        if rest and stem in modules:
            yield f"{modules[stem]}.{rest}"


def of_packages(code: str) -> set[str]:
    return {name for name in names_taken(code) if name.partition(".")[0] in needed()}


def missing(names: set[str]) -> list[str]:
    return sorted(name for name in names if not is_there(name))


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import typer\ntyper.Typer()\ntyper.main.get_command", []),
        ("import typer\ntyper.NoSuchName", ["typer.NoSuchName"]),
        ("import typer as t\nt.main.no_such_name(1)", ["typer.main.no_such_name"]),
        ("from typer.main import get_command, no_such_name", ["typer.main.no_such_name"]),
        ("import rich.no_such_module", ["rich.no_such_module"]),
        ("import json\njson.no_such_name", []),
    ],
)
def test_a_name_that_a_package_lacks_is_found(code: str, absent: list[str]) -> None:
    assert missing(of_packages(code)) == absent


def test_every_name_that_the_code_takes_from_a_package_is_there() -> None:
    files = sorted((ROOT / "src").rglob("*.py"))
    taken = {
        str(path.relative_to(ROOT)): of_packages(path.read_text(encoding="utf-8"))
        for path in files
        if any(name.partition(".")[0] in needed() for name in read(path).imported)
    }
    found = {path: missing(names) for path, names in taken.items()}
    assert {path: names for path, names in found.items() if names} == {}
    packages = {name.partition(".")[0] for names in taken.values() for name in names}
    assert packages >= {"aiohttp", "duckdb", "orjson", "rich", "typer"}


def imported_at_once(code: str) -> set[str]:
    """The top modules that a file imports as soon as it is imported itself, whatever happens then."""
    body = ast.parse(code).body
    imports = (node for node in body if isinstance(node, ast.Import | ast.ImportFrom))
    names = (
        alias.name if isinstance(node, ast.Import) else node.module or ""
        for node in imports
        for alias in node.names
        if isinstance(node, ast.Import) or not node.level
    )
    return {name.partition(".")[0] for name in names}


def test_no_module_needs_what_only_developers_have() -> None:
    extras = PROJECT["optional-dependencies"].keys()
    only_theirs = package_names(FOR_DEVELOPERS) - package_names(extras - FOR_DEVELOPERS)
    files = [
        path
        for path in (ROOT / "src").rglob("*.py")
        if "pytest_plugin" not in path.parts
        and any(needed().get(name.partition(".")[0]) in only_theirs for name in read(path).imported)
    ]  # pytest loads it
    found = {
        str(path.relative_to(ROOT)): modules
        for path in sorted(files)
        if (
            modules := {
                module
                for module in imported_at_once(path.read_text(encoding="utf-8"))
                if needed().get(module) in only_theirs
            }
        )
    }
    assert found == {}
