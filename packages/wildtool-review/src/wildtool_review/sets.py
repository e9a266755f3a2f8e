"""Which set and which store the name on a command line means."""

import hashlib
import re
from itertools import chain
from operator import itemgetter
from pathlib import Path

from wildtool.errors import DataError, UsageError
from wildtool.secret_places import recordable, register_foreign
from wildtool.steps import with_steps
from wildtool_data.formats import find_reviewed
from wildtool_review.project import ReviewProject
from wildtool_review.store.address import is_address, shown_name
from wildtool_review.store.base import Store
from wildtool_review.store.sqlite import SUFFIX, SqliteStore

_SOURCE_SETTING = "source"
"""What the set was when it was read last, so that a large one is not read again for nothing."""
_CONNECTION = re.compile(
    r"\s*(?:host|hostaddr|port|dbname|user|password|passfile|service|sslmode|options)\s*=", re.IGNORECASE
)
"""How a connection string of libpq begins, which would be taken for the name of a file."""
_SERVERS = ("postgresql://", "postgres://")


def store_name(target: str, store: str | None = None) -> str:
    """The file or address of a set's review. Raises UsageError for a connection string of libpq.

    Args:
        target: the set, or the review itself.
        store: a file or address that the user named; None for the file beside the set.
    """
    for name in (target, store):
        if name is not None:
            register_foreign(name)
            if _CONNECTION.match(name):
                raise UsageError(
                    f"{recordable(name)}: reviews are kept in files, or in a database at an address such as "
                    "postgresql://USER@HOST/DATABASE"
                )
    if store is not None:
        return store
    if is_address(target) or target.endswith(SUFFIX):
        return target
    path = Path(target)
    return str(path.with_name(path.name.removesuffix(".jsonl").removesuffix(".json") + SUFFIX))


def open_store(name: str) -> Store:
    """The store at a `postgresql://` address, or in a SQLite file. Raises UsageError, DataError or StorageError."""
    if name.startswith(_SERVERS):
        from wildtool_review.store.postgres import PostgresStore  # most reviews need none

        return PostgresStore(name)
    if is_address(name):
        raise UsageError(f"{shown_name(name)}: reviews are kept in files, or at postgresql:// addresses")
    return SqliteStore(Path(name))


def open_review(target: str, store: str | None = None) -> ReviewProject:
    """The review of a set that was started before. Raises UsageError if there is none."""
    name = store_name(target, store)
    if not is_address(name) and not Path(name).exists():
        raise UsageError(f"{name}: there is no review yet; start it with `wildtool review start {target}`")
    return ReviewProject.open(open_store(name))


def start_review(
    target: str, store: str | None = None, benchmark: str | None = None
) -> tuple[ReviewProject, int]:
    """The review of a set, started if it is new, and the number of items that were added to it.

    Raises UsageError or DataError if there is no such set, or if items of it were changed since they were added.
    """
    name = store_name(target, store)
    if target == name:
        return open_review(target), 0
    # Whose data these are takes long to tell; most often it is known, and nothing has changed.
    stamp = _stamp(Path(target))
    if stamp and (is_address(name) or Path(name).exists()):
        store_ = open_store(name)
        if store_.setting(_SOURCE_SETTING) == stamp:
            return ReviewProject.open(store_), 0
        store_.close()
    format_, place = find_reviewed(target, benchmark)
    items = iter(format_.read(place))
    first = next(items, None)
    if first is None:
        raise DataError(f"{target}: there is nothing to review in it")
    project = ReviewProject.create(open_store(name), format_)
    items = with_steps(f"reading {place.name}", enumerate(chain([first], items)), itemgetter(0))
    added = project.import_items((item for _, item in items), note=place.name)
    project.keep_reviewers(format_.reviewers(place), place.name)
    project.store.set_setting(_SOURCE_SETTING, stamp)
    return project, added


def _stamp(place: Path) -> str:
    """Changes when a file of a set does; empty if there is none of that name."""
    place = place.resolve()
    if not place.exists():
        return ""
    files = [place] if place.is_file() else sorted(path for path in place.rglob("*") if path.is_file())
    stats = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return hashlib.sha256(repr(stats).encode()).hexdigest()
