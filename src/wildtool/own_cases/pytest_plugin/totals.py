"""The totals of all cases of a session, and the shares of right units that are asked of them.

They are made of what reports bring, not of the session's tests: under xdist only these come from the workers. Everybody
who has wildtool installed loads this module with pytest, so it imports nothing else until a case was run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wildtool.gating.floors import Floor

TAG, RIGHT, JUDGED, OPEN = "wildtool_tag", "wildtool_right", "wildtool_judged", "wildtool_without_verdict"
"""Properties of a report: each tag of its case, and how many turns and tries are right, have a verdict, and have none."""
_OPTION, _SETTING = "--wildtool-at-least", "wildtool_at_least"


@dataclass(frozen=True, slots=True)
class TriedCase:
    """What became of one case."""

    file: str
    tags: tuple[str, ...]
    right: int
    judged: int
    """Turns and tries that have a verdict."""
    open: int
    """Turns and tries that have none."""


class Totals:
    """Counts the cases of a session, whichever worker ran them, and fails it where a share is not reached."""

    def __init__(self, config: pytest.Config) -> None:
        """Raises UsageError for a share that is none."""
        self._cases: dict[str, TriedCase] = {}
        """By node; a case that another plugin runs again counts as it ended last."""
        asked = config.getoption(_OPTION)
        self._option = _OPTION if asked else _SETTING
        self._asked: list[str] = asked or config.getini(_SETTING)
        self._is_selection = bool(
            config.getoption("keyword")
            or config.getoption("markexpr")
            or any("::" in place for place in config.args)
        )
        """Whether the command names some of the tests."""
        if self._asked:
            self._check()

    def _check(self) -> None:
        from wildtool.errors import UsageError
        from wildtool.gating.floors import tag_and_share  # slow to load, and few sessions ask for a share

        try:
            for text in self._asked:
                tag_and_share(text, self._option)
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        found = dict(report.user_properties)
        if report.when == "teardown" and JUDGED in found:
            tags = tuple(str(value) for name, value in report.user_properties if name == TAG)
            numbers = [int(str(found[name])) for name in (RIGHT, JUDGED, OPEN)]
            self._cases[report.nodeid] = TriedCase(report.nodeid.partition("::")[0], tags, *numbers)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) and any(
            self._failures()
        ):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        failures = list(self._failures())
        if self._cases or failures:
            terminalreporter.section("wildtool")
        for line in self._rows():
            terminalreporter.write_line(line)
        for line in failures:
            terminalreporter.write_line(line, red=True)

    def _rows(self) -> Iterator[str]:
        """A line for all cases, for each file where there are several, and for each tag."""
        from wildtool.engine.score.formatting import counted
        from wildtool.sanitize import single_line

        every = list(self._cases.values())
        files = sorted({case.file for case in every})
        tags = sorted({tag for case in every for tag in case.tags})
        rows = [("overall", every)] if every else []
        if len(files) > 1:
            rows += [(file, [case for case in every if case.file == file]) for file in files]
        rows += [(tag, [case for case in every if tag in case.tags]) for tag in tags]
        width = max((len(name) for name, _ in rows), default=0)
        for name, cases in rows:
            yield f"{single_line(name):{width}}  {_share_text(cases)}"
        if lacking := sum(case.open for case in every):
            yield f"Left out, and not counted as wrong: {counted(lacking, 'try', 'tries')} without a verdict."

    def _failures(self) -> Iterator[str]:
        """Which of the shares are not reached."""
        is_setting = self._option == _SETTING
        if not self._cases:
            # Settings hold for sessions with other tests alone, too.
            if not is_setting:
                yield from (f"{_OPTION} {text}: no case was run" for text in self._asked)
            return
        for text in self._asked:
            if is_setting and self._is_selection and not self._is_of_any(text):
                continue  # nor are the tags of cases asked that were not selected
            floor = self._floor(text)
            if floor is None or not floor.holds:
                yield f"{self._option} {text}: {floor.text if floor else self._without_verdict(text)}"

    def _is_of_any(self, text: str) -> bool:
        """Whether a share is about any of the cases."""
        from wildtool.gating.floors import tag_and_share

        tag, _ = tag_and_share(text, self._option)
        return not tag or any(tag in case.tags for case in self._cases.values())

    def _floor(self, text: str) -> Floor | None:
        """What a share asks of the cases; None where none that it is about has a verdict."""
        from wildtool.gating.floors import Floor, tag_and_share

        tag, asked = tag_and_share(text, self._option)
        found = [case for case in self._cases.values() if case.judged and (not tag or tag in case.tags)]
        judged = sum(case.judged for case in found)
        right = sum(case.right for case in found)
        return Floor("", "", tag, asked, right / judged, judged) if judged else None

    def _without_verdict(self, text: str) -> str:
        from wildtool.errors import unknown_name
        from wildtool.gating.floors import tag_and_share

        if not self._is_of_any(text):
            tag, _ = tag_and_share(text, self._option)
            tags = {each for case in self._cases.values() for each in case.tags}
            return f"{unknown_name('tag', tag, sorted(tags))} among the cases that were run"
        return "no verdict, so nothing is known of it"


def _share_text(cases: Sequence[TriedCase]) -> str:
    """The share of right units with its interval, clustered by case."""
    from wildtool.engine.score.formatting import format_range, format_share
    from wildtool.stats.intervals import clustered_rate

    found = clustered_rate([(case.right, case.judged) for case in cases])
    if found is None:
        return "no verdict"
    share, low, high = found
    counts = f"{sum(case.right for case in cases)}/{sum(case.judged for case in cases)}"
    return f"{format_share(share)} right {format_range(low, high)}, {counts}"
