"""What other installed packages offer to wildtool, by entry points; our own other packages, too."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

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


def own_offer(group: str, name: str, extra: str, what: str) -> Any:
    """What one of our other packages offers.

    Args:
        extra: of wildtool, which brings the package `wildtool-EXTRA`.
        what: what it is for, as a message begins.

    Raises UsageError where the package is missing or cannot be used.
    """
    package = f"wildtool-{extra}"
    entry = next(
        (each for each in installed_entries(group).get(name, ()) if package_of(each) == package), None
    )
    if entry is None:
        raise UsageError(
            f"{what} is in the package {package}, which is not installed: pip install 'wildtool[{extra}]'"
        )
    offer, problem = load_entry(entry, lambda offer: None)
    if problem:
        raise UsageError(f"{what} of package {package} cannot be used: {problem}")
    return offer


def package_of(entry: "EntryPoint") -> str:
    """The package that offers an entry point."""
    return entry.dist.name if entry.dist else entry.module


def load_entry(entry: "EntryPoint", fault: Callable[[Any], str | None]) -> tuple[Any, str]:
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
