"""Commands that other packages add by entry points."""

import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.errors import UsageError
from wildtool.installed import installed_entries, load_entry, package_of

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


def added_commands(group: str) -> "Mapping[str, tuple[EntryPoint, ...]]":
    """What other packages add to a group of commands, or to the verbs; several of a name where packages compete."""
    if not _any_entries():
        return {}
    added = installed_entries(ENTRY_POINT_OF_COMMANDS)
    places = {name.rpartition("."): entries for name, entries in added.items()}
    return {name: entries for (place, _, name), entries in places.items() if place == group}


def load_command(name: str, group: str) -> Any:
    """The function or group of a command that a package adds. Raises UsageError, which names the package."""
    first, *others = added_commands(group)[name]
    if others:
        packages = " and ".join(map(package_of, (first, *others)))
        raise UsageError(f"{packages} both add the command {name!r}; uninstall one of them")
    target, fault = load_entry(first, lambda target: None if callable(target) else "is no function")
    if fault:
        raise UsageError(f"command {name!r} of package {package_of(first)} cannot be used: {fault}")
    return target
