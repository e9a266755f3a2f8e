"""Turns runs into pages, tables for pull requests, and LaTeX. What needs the extra `[report]` is imported where used."""

from importlib.util import find_spec

from wildtool.errors import UsageError

_LIBRARIES = ("altair", "jinja2", "vl_convert")


def check_libraries() -> None:
    """Raises UsageError naming what to install where the pages' libraries are missing."""
    missing = missing_libraries()
    if missing:
        raise UsageError(
            f"pages need {', '.join(missing)}: pip install 'wildtool[report]'"
            " (tables do not: `wildtool report --format md`)"
        )


def missing_libraries() -> list[str]:
    """The libraries of pages and charts that are not installed."""
    return [name for name in _LIBRARIES if find_spec(name) is None]
