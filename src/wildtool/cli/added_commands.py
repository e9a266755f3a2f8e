"""Commands that other packages add by entry points."""

import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINT_OF_COMMANDS = "wildtool.commands"
"""Entry points of packages that add commands: `NAME = module:function`, and `GROUP.NAME` for a command of a group."""


@cache
def _any_entries() -> bool:
    """Whether a package may have such an entry point. To import what reads them takes a fifth of `wildtool --help`, and
    hardly anybody has any."""
    files = (file for folder in sys.path for file in Path(folder).glob("*-info/entry_points.txt"))
    try:
        return any(f"[{ENTRY_POINT_OF_COMMANDS}]" in file.read_text("utf-8", "replace") for file in files)
    except OSError:
        return True


@cache
def added_commands(group: str) -> "Mapping[str, tuple[EntryPoint, ...]]":
    """What other packages add to a group of commands, or to the verbs; several of a name where packages compete."""
    if not _any_entries():
        return {}
    from importlib.metadata import entry_points

    entries: dict[str, tuple[EntryPoint, ...]] = {}
    for entry in dict.fromkeys(entry_points(group=ENTRY_POINT_OF_COMMANDS)):
        place, _, name = entry.name.rpartition(".")
        if place == group:
            entries[name] = (*entries.get(name, ()), entry)
    return entries


def package_of(entry: "EntryPoint") -> str:
    return entry.dist.name if entry.dist else entry.module


def load_entry(name: str, entries: "Sequence[EntryPoint]") -> Any:
    """What an entry point names. Raises UsageError, which names the package."""
    packages = list(map(package_of, entries))
    if len(packages) > 1:
        raise UsageError(f"{' and '.join(packages)} both add the command {name!r}; uninstall one of them")
    try:
        target: Any = entries[0].load()
    except (Exception, SystemExit) as error:
        fault = f"its entry point {entries[0].value} fails: {type(error).__name__}: {error}"
        raise UsageError(f"command {name!r} of package {packages[0]} cannot be used: {fault}") from error
    if not callable(target):
        raise UsageError(f"command {name!r} of package {packages[0]} cannot be used: it is no function")
    return target
