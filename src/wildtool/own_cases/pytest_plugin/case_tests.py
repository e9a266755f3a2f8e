"""Cases as tests of pytest. Nothing is started when they are collected; replies are fetched in the setup of a test.

Without xdist the first test of a file runs all cases of it that are selected, at once. A worker of xdist does not know
which other tests it will be given, so there each test runs its own case.
"""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, cast

import pytest

from wildtool.errors import DataError, RecordError, UsageError, WildtoolError
from wildtool.own_cases.case_files import MOST_FAULTS, checked_cases, read_case_file
from wildtool.own_cases.pytest_plugin import calls_models
from wildtool.own_cases.pytest_plugin.totals import JUDGED, OPEN, RIGHT, TAG
from wildtool.own_cases.records import Case
from wildtool.temporary import folder_until_exit

_EFFECTIVE_MARKS = frozenset(
    ["filterwarnings", "parametrize", "skip", "skipif", "tryfirst", "trylast", "usefixtures", "xfail"]
)
"""Marks by which pytest does something; a tag of such a name does nothing and is found by `-k` alone."""
CaseRows = list[dict[str, Any]]
"""Verdicts, one for each turn and try of a case."""
_MARK = re.compile(r"[^\W\d_][\w.+-]*")


def case_tests(collector: pytest.File) -> Iterator["CaseTest"]:
    """A test for each case of a file. Raises CollectError, which ends the session, for what is wrong with the file."""
    path, runs = collector.path, FileRuns(collector)
    try:
        case_file = read_case_file(path)
        if not case_file.errors and not case_file.sources:
            checked_cases(path)
    except WildtoolError as error:
        raise collector.CollectError(str(error)) from None
    if errors := case_file.errors:
        more = [f"and {len(errors) - MOST_FAULTS} more"] if len(errors) > MOST_FAULTS else []
        raise collector.CollectError("\n".join([*map(str, errors[:MOST_FAULTS]), *more]))
    make: Any = cast(Any, CaseTest).from_parent
    for case in case_file.cases:
        yield make(collector, name=case.id, case=case, runs=runs)


class FileRuns:
    """The verdicts on the cases of one file, each made once."""

    def __init__(self, collector: pytest.File) -> None:
        self._collector = collector
        self._made: dict[str, CaseRows | WildtoolError] = {}
        """By id of a case the rows of its verdicts, or what kept them from being made."""
        self._is_first = True

    def rows_of(self, test: "CaseTest") -> CaseRows | WildtoolError:
        """The verdicts on a case, which is run where it was not yet; or what its run raised."""
        if self._is_first and "PYTEST_XDIST_WORKER" not in os.environ:
            self._is_first = False
            self._play_selected(test)
        if test.case.id not in self._made:
            self._made |= self._played([test.case.id], _new_folder())
        return self._made[test.case.id]

    def _play_selected(self, test: "CaseTest") -> None:
        """Runs all cases that are selected. Where one stops the run, each of them continues it by itself."""
        tests = [
            each for each in test.session.items if isinstance(each, CaseTest) and each.parent is test.parent
        ]
        ids, folder = [each.case.id for each in tests], _new_folder()
        self._made = self._played(ids, folder)
        error = self._made[test.case.id]
        if isinstance(error, WildtoolError) and not isinstance(error, UsageError | DataError | RecordError):
            for each in ids:
                self._made |= self._played([each], folder)

    def _played(self, ids: Sequence[str], folder: Path) -> dict[str, CaseRows | WildtoolError]:
        """By id the verdicts on cases, or why there are none."""
        from wildtool.api.runs import run  # slow to load, and not needed to collect

        try:
            model = _model(self._collector.config)
            keywords: Any = {"model": model, "ids": list(ids), "out": folder, "quiet": True}
            rows = cast(Any, run)(self._collector.path, **keywords).verdicts().rows()
        except WildtoolError as error:
            return dict.fromkeys(ids, error)
        return {each: [row for row in rows if row["item"] == each] for each in ids}


def _new_folder() -> Path:
    """A place that goes with this process."""
    return Path(mkdtemp(dir=folder_until_exit("pytest"))) / "run"


class CaseTest(pytest.Item):
    """One case."""

    def __init__(self, *, case: Case, runs: FileRuns, **keywords: Any) -> None:
        cast(Any, super()).__init__(**keywords)
        self.case = case
        self._runs = runs
        self._rows: CaseRows = []
        self.add_marker("wildtool")
        for tag in case.tags:
            self.extra_keyword_matches.add(tag)
            if _MARK.fullmatch(tag) and tag not in _EFFECTIVE_MARKS:
                _register(self.config, tag)
                self.add_marker(tag)

    def setup(self) -> None:
        """Fetches the replies: where calls failed there is no verdict, which is an error and no failure of the test."""
        if not calls_models(self.config):
            pytest.skip("needs --wildtool-live or --wildtool-model NAME, since it calls a model")
        found = self._runs.rows_of(self)
        self._rows = [] if isinstance(found, WildtoolError) else found
        failed = [row for row in self._rows if row["outcome"] not in ("correct", "wrong")]
        self._tell(judged=len(self._rows) - len(failed), without_verdict=len(failed) or not self._rows)
        if isinstance(found, WildtoolError):
            pytest.fail(str(found), pytrace=False)
        if failed or not self._rows:
            lines = [f"{row['unit']}: {row['error'] or row['outcome']}: {row['reason']}" for row in failed]
            pytest.fail("\n".join(["no verdict, and so no wrong answer:", *lines]), pytrace=False)

    def runtest(self) -> None:
        """Fails where fewer tries are right than the case asks for."""
        if self._right < self.case.at_least * len(self._rows) - 1e-9:
            pytest.fail("\n".join(_mistakes(self._rows, self._right)), pytrace=False)

    @property
    def _right(self) -> int:
        return sum(row["outcome"] == "correct" for row in self._rows)

    def _tell(self, *, judged: int, without_verdict: int) -> None:
        """Puts into the reports what JUnit's XML and the totals of the session take from there."""
        self.user_properties[:] = [
            ("wildtool_case", self.case.id),
            *((TAG, tag) for tag in self.case.tags),
            (RIGHT, self._right),
            (JUDGED, judged),
            (OPEN, int(without_verdict)),
        ]

    def reportinfo(self) -> tuple[Path, int, str]:
        """The file, the line from 0, and the name."""
        return self.path, self.case.line - 1, self.name


def _mistakes(every: CaseRows, right: int) -> Iterator[str]:
    if len(every) > 1:
        yield f"right in {right} of {len(every)} tries and turns"
    for row in every:
        if row["outcome"] == "wrong":
            where = f"turn {row['unit']}: " if len(every) > 1 else ""
            yield f"{where}{row['error']}: {row['reason']}"


def _register(config: pytest.Config, tag: str) -> None:
    """Makes a tag a mark that `--strict-markers` knows."""
    known = {re.split(r"[:(]", line)[0].strip() for line in config.getini("markers")}
    if tag not in known:
        config.addinivalue_line("markers", f"{tag}: a tag of wildtool's cases")


def _model(config: pytest.Config) -> Any:
    """The model: as the option, a `conftest.py` or the settings name it. Raises UsageError where none does."""
    named = config.getoption("--wildtool-model")
    model = named or config.hook.pytest_wildtool_model(config=config) or config.getini("wildtool_model")
    if not model:
        raise UsageError(
            "no model: give --wildtool-model NAME, set wildtool_model in pytest's settings, or define "
            "pytest_wildtool_model(config) in conftest.py"
        )
    return model
