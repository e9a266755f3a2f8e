"""Each module is compiled by one process of the tests, where several start together on a fresh clone."""

import sys
from pathlib import Path

import pytest


def import_share(session: pytest.Session) -> None:
    """Imports the test files of which this process compiles the modules; the others find them compiled.

    All processes import all test files, in the same order: each would compile every module beside the others.
    """
    worker = getattr(session.config, "workerinput", None)
    if worker is None:
        return
    files, count = test_files(session.config), worker["workercount"]
    for path in files[int(worker["workerid"].removeprefix("gw")) % count :: count]:
        before = set(sys.modules)
        try:
            _ = pytest.Module.from_parent(session, path=path).obj
        except (Exception, pytest.skip.Exception):  # noqa: BLE001 - whatever it is, collecting meets it again and says it
            for name in set(sys.modules) - before:
                if getattr(sys.modules[name], "__file__", None) == str(path):
                    del sys.modules[name]


def test_files(config: pytest.Config) -> list[Path]:
    """The files with tests that a command names, or that lie below what it names."""
    ignored = [Path(each).resolve() for each in config.getoption("ignore") or ()]
    found: set[Path] = set()
    for name in config.args:
        place = Path(name.partition("::")[0]).resolve()
        found.update(place.rglob("test_*.py") if place.is_dir() else [place])
    return [path for path in sorted(found) if not any(path.is_relative_to(each) for each in ignored)]
