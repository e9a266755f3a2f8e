"""The pytest plugin: files named `*.cases.yaml`, `.jsonl`, `.json` or `.csv` are collected, a test for each case.

Everybody who has wildtool installed loads this module with pytest, so it imports nothing until such a file is found.
PYTEST_DONT_REWRITE
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from wildtool.own_cases.pytest_plugin.totals import Totals

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from wildtool.types import Model

_ENDINGS = (".cases.yaml", ".cases.yml", ".cases.jsonl", ".cases.ndjson", ".cases.json", ".cases.csv")


class CaseCollector(pytest.File):
    """A file of cases."""

    def collect(self) -> Iterable[pytest.Item]:
        """A test for each case."""
        from wildtool.own_cases.pytest_plugin.case_tests import (
            case_tests,  # slow to load, and not every file is read
        )

        return case_tests(self)


class WildtoolHooks:
    """What a `conftest.py` may define."""

    @pytest.hookspec(firstresult=True)
    def pytest_wildtool_model(self, config: pytest.Config) -> str | Model | object:
        """The model that cases are run on: a name, or a function of (messages, tools), as `wildtool.run` takes it."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(WildtoolHooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("wildtool", "own cases (wildtool)")
    group.addoption(
        "--wildtool-live",
        action="store_true",
        help="run own cases on their model; without it they are skipped",
    )
    group.addoption(
        "--wildtool-model", metavar="NAME", help="model that own cases are run on; implies --wildtool-live"
    )
    group.addoption(
        "--wildtool-at-least",
        action="append",
        metavar="[TAG:]SHARE",
        help="share of right units of own cases that is asked, from 0 to 1; repeatable. Else the session fails",
    )
    parser.addini("wildtool_model", "model that own cases are run on with --wildtool-live", default="")
    parser.addini(
        "wildtool_at_least", "shares as of --wildtool-at-least, asked where cases are run", "linelist"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "wildtool: a case of a file of wildtool; its tags are marks, too")
    if config.getoption("--wildtool-at-least") and not calls_models(config):
        raise pytest.UsageError(
            "--wildtool-at-least needs --wildtool-live or --wildtool-model NAME: no case is run"
        )
    # A worker of xdist has a part of the cases only, so it has no totals.
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Totals(config), "wildtool-totals")


def calls_models(config: pytest.Config) -> bool:
    """Whether cases are run, and not skipped."""
    return bool(config.getoption("--wildtool-live") or config.getoption("--wildtool-model"))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if not file_path.name.casefold().endswith(_ENDINGS):
        return None
    make: Any = CaseCollector
    return make.from_parent(parent, path=file_path)
