"""What installed packages offer to wildtool, by entry points: those of others, and our own."""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Protocol

from wildtool.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


@cache
def installed_entries(group: str) -> "Mapping[str, tuple[EntryPoint, ...]]":
    """The entry points of a group by name; more than one of a name where packages compete for it."""
    # Reading the descriptions of all packages takes as long as a tenth of a judging; our own need none of it.
    from importlib.metadata import entry_points

    entries: dict[str, tuple[EntryPoint, ...]] = {}
    for entry in entry_points(group=group):
        offers = entries.get(entry.name, ())
        if entry.value not in [other.value for other in offers]:
            entries[entry.name] = (*offers, entry)
    return entries


class Offer(Protocol):
    """An entry point, which names what a package offers."""

    @property
    def value(self) -> str:
        """`module:name`."""
        ...

    def load(self) -> Any:
        """What it names."""
        ...


@dataclass(frozen=True, slots=True)
class OwnEntry:
    """An entry point of one of our own packages."""

    value: str

    def load(self) -> Any:
        return resolve_name(self.value)


def is_ours(package: str) -> bool:
    """Whether a package is wildtool or one that an extra of it brings."""
    return package == "wildtool" or package.startswith("wildtool-")


def entry_point_files(pattern: str = "*") -> Iterator[tuple[str, Path]]:
    """The files in which installed packages list their entry points, each with the package's name.

    Args:
        pattern: of the names of folders that are looked at.
    """
    for folder in sys.path:
        for file in Path(folder).glob(f"{pattern}-info/entry_points.txt"):
            yield file.parent.name.partition("-")[0].replace("_", "-"), file


@cache
def own_entries(group: str) -> Mapping[tuple[str, str], OwnEntry]:
    """What our own packages offer, by package and name.

    Every command is found here, so the files are read as they are: `importlib.metadata` takes a tenth of a second.
    """
    entries: dict[tuple[str, str], OwnEntry] = {}
    for package, file in entry_point_files("wildtool*"):
        section = ""
        for line in file.read_text("utf-8").splitlines() if is_ours(package) else ():
            name, is_entry, value = map(str.strip, line.partition("="))
            if line.startswith("["):
                section = line.strip("[] ")
            elif is_entry and section == group:
                entries.setdefault((package, name), OwnEntry(value))
    return entries


def own_entry(group: str, name: str, extra: str = "") -> Offer | None:
    """The entry point of one of our packages; None where the package is not installed.

    Args:
        extra: of wildtool, which brings the package `wildtool-EXTRA`; empty for wildtool itself.
    """
    package = f"wildtool-{extra}" if extra else "wildtool"
    if (found := own_entries(group).get((package, name))) is not None:
        return found
    # Packages may be imported from archives.
    offers = installed_entries(group).get(name, ())
    return next((each for each in offers if package_of(each) == package), None)


def own_offer(group: str, name: str, extra: str, what: str) -> Any:
    """What one of our packages offers.

    Args:
        extra: as of `own_entry`.
        what: what it is for, as a message begins.

    Raises UsageError where the package is missing or cannot be used.
    """
    package = f"wildtool-{extra}" if extra else "wildtool"
    entry = own_entry(group, name, extra)
    if entry is None and extra and not any(owner == package for owner, _ in own_entries(group)):
        raise UsageError(
            f"{what} is in the package {package}, which is not installed: pip install 'wildtool[{extra}]' "
            f"(in a clone: pip install ./packages/{package})"
        )
    if entry is None or _is_gone(entry):
        raise UsageError(
            f"{what} is not where this installation of {package} lists it, since it was made for another version: "
            f"install {package} again (in a clone: pip install -e .{f' -e packages/{package}' if extra else ''})"
        )
    if not extra:
        return entry.load()
    offer, problem = load_entry(entry, lambda offer: None)
    if problem:
        raise UsageError(f"{what} of package {package} cannot be used: {problem}")
    return offer


def _is_gone(entry: Offer) -> bool:
    """Whether there is no such module as an entry point names, any more or yet."""
    module = entry.value.partition(":")[0]
    try:
        return find_spec(module) is None
    except ModuleNotFoundError as error:
        return module.startswith(f"{error.name}.")
    except Exception:  # noqa: BLE001 - a package above it fails, which loading it will say
        return False


def package_of(entry: "EntryPoint") -> str:
    """The package that offers an entry point."""
    return entry.dist.name if entry.dist else entry.module


def load_entry(entry: Offer, fault: Callable[[Any], str | None]) -> tuple[Any, str]:
    """What an entry point gives, and what keeps it from being used; empty for nothing.

    Args:
        fault: what is wrong with it, after "its entry point …"; None for nothing.
    """
    try:
        offered = entry.load()
        problem = fault(offered)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a package may do anything when it is imported
        return None, f"its entry point {entry.value} fails: {type(error).__name__}: {error}"
    return offered, f"its entry point {entry.value} {problem}" if problem else ""
