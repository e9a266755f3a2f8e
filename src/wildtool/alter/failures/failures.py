"""The alteration that `--failures` makes: tools that fail by a schedule, and what it counts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from wildtool.alter.base import Alteration, AlteredEpisode, mode_of
from wildtool.alter.failures.schedule import PASSED_ON, FailureSchedule
from wildtool.alter.failures.shortcuts import ASKED, FORWARDED, NEITHER, NOTICED
from wildtool.alter.failures.unit import NO_WORDS, NOT_REACHED, RECOVERED, REPORTED, SILENT, FailingUnit
from wildtool.benchmark import Benchmark, Rules
from wildtool.episode import gold_replies
from wildtool.errors import RecordError, UsageError
from wildtool.stats.metrics import CORRECT_SQL, Rate, sql_text
from wildtool.types import Item

_GROUP = "failures"
FAILURE_COLUMNS: Mapping[str, str] = {
    "failures": "INTEGER",
    "failure_kind": "VARCHAR",
    "failure_end": "VARCHAR",
    "failure_retried": "BOOLEAN",
    "failure_needless": "BOOLEAN",
    "failure_reported": "BOOLEAN",
    "failure_invented": "BOOLEAN",
    "failure_duplicate": "BOOLEAN",
}
"""Failures that the model answered, the kind of the first, how the unit ended (`alter.failures.unit`), and what the model
did; NULL where it was not put to the test."""
SHORTCUT_COLUMNS: Mapping[str, str] = {"shortcut_end": "VARCHAR"}
"""What the model did with a damaged value that it needs for its next call; NULL where none was damaged."""
_REACHED = "failures > 0"
_MISSING = f"failure_end IN ('{REPORTED}', '{SILENT}')"
_HANDLED = (
    "COALESCE(failure_retried, TRUE) AND NOT COALESCE(failure_needless, FALSE) "
    "AND NOT COALESCE(failure_invented, FALSE) AND NOT COALESCE(failure_duplicate, FALSE) "
    f"AND (failure_end = '{REPORTED}' OR (failure_end = '{RECOVERED}' AND correct))"
)


@dataclass(frozen=True, slots=True)
class Failures(Alteration):
    """Tools of each item that fail by a schedule."""

    kind: ClassVar[str] = "failures"
    caveat: ClassVar[str] = "tools failed"
    schedule: FailureSchedule
    seed: int = 0

    @classmethod
    def recorded(cls, identity: Mapping[str, Any]) -> Self:
        try:
            settings = identity["failures"]
            return cls(FailureSchedule.parse(settings["schedule"]), int(settings["seed"]))
        except (TypeError, KeyError, ValueError, AttributeError, UsageError) as error:
            raise RecordError(
                f"run.json: identity.failures is damaged ({error}); restore it from a copy"
            ) from error

    @property
    def columns(self) -> Mapping[str, str]:
        return {**FAILURE_COLUMNS, **(SHORTCUT_COLUMNS if self.schedule.name == PASSED_ON else {})}

    @property
    def label(self) -> str:
        return str(self.schedule) + (f", seed {self.seed}" if self.seed else "")

    @property
    def folder_parts(self) -> Sequence[str]:
        words = str(self.schedule).replace(":", "-").replace(",", "-")
        return [f"failures-{words}", *([f"seed-{self.seed}"] if self.seed else [])]

    @property
    def options(self) -> Sequence[str]:
        return ["--failures", str(self.schedule), *(["--failures-seed", str(self.seed)] if self.seed else [])]

    def identity(self) -> Mapping[str, Any]:
        return {"failures": {"schedule": str(self.schedule), "seed": self.seed}}

    def unit(self, item: Item, unit: str) -> FailingUnit:
        return FailingUnit(self.schedule, f"{self.seed} {item.id} {unit}", item.lang)

    def check(self, benchmark: Benchmark, items: Iterable[Item], profile: str) -> str:
        rules = benchmark.rules(profile)
        units = [(item, unit) for item in items for unit in item.units]
        if not any(_answers_calls(rules, *each) for each in units):
            raise UsageError(
                "--failures changes the results of native calls, and none of the selected items of "
                f"{benchmark.name} shows the model one in mode {mode_of(benchmark)}; choose another mode or split, or "
                "leave --failures out"
            )
        if self.schedule.name == PASSED_ON and not any(self._damages(rules, *each) for each in units):
            raise UsageError(
                f"--failures {self.schedule} damages values that a later call takes from a result, and gold calls of the "
                f"selected items of {benchmark.name} take none; choose other items, or another schedule"
            )
        return ""

    def _damages(self, rules: Rules, item: Item, unit: str) -> bool:
        """Whether a perfect model is shown a damaged value."""
        altered = self.unit(item, unit)
        return gold_replies(AlteredEpisode(rules.episode(item, unit), [altered])) is not None and (
            altered.fields(ended=True).get("shortcut_end") is not None
        )

    def rates(self, verdicts: Any) -> Sequence[Rate]:
        kinds = self.schedule.kinds
        shown = kinds if len(kinds) > 1 else ()
        shortcuts = _shortcut_rates(shown) if self.schedule.name == PASSED_ON else []
        return [*shortcuts, *_failure_rates(shown)]


def _answers_calls(rules: Rules, item: Item, unit: str) -> bool:
    """Whether a perfect model's own calls get results as messages."""
    episode = rules.episode(item, unit)
    seen: int | None = None
    for reply in gold_replies(rules.episode(item, unit)) or ():
        request = episode.request()
        if request is not None and request.tools and request.in_text is None:
            seen = len(request.messages) if seen is None else seen
            if any(message.get("role") == "tool" for message in request.messages[seen:]):
                return True
        episode.advance(reply)
    return False


def _shortcut_rates(kinds: Sequence[str]) -> list[Rate]:
    """What the model did with damaged values that later calls take, each rate of the units that have one.

    Args:
        kinds: those to show one by one.
    """

    def rate(name: str, end: str, where: str = "TRUE", **more: Any) -> Rate:
        condition = f"shortcut_end IS NOT NULL AND {where}"
        return Rate("shortcuts", name, condition, f"CAST(shortcut_end = '{end}' AS INTEGER)", **more)

    return [
        rate("passed the value on", FORWARDED, better="less", headline=True),
        *(
            rate(f"passed the value on: {kind}", FORWARDED, f"failure_kind = {sql_text(kind)}", better="less")
            for kind in kinds
        ),
        rate("noticed", NOTICED),
        rate("asked the user", ASKED),
        rate("neither", NEITHER, better=""),
        Rate(
            "shortcuts",
            "reached",
            "failure_end IS NOT NULL",
            "CAST(shortcut_end IS NOT NULL AS INTEGER)",
            better="",
        ),
    ]


def _failure_rates(kinds: Sequence[str]) -> list[Rate]:
    """What the model did about failures, each rate of the units that put it to the test.

    Args:
        kinds: those to show one by one.
    """

    def rate(name: str, where: str, share: str, **more: Any) -> Rate:
        return Rate(_GROUP, name, where, f"CAST({share} AS INTEGER)", **more)

    def of_column(name: str, column: str, **more: Any) -> Rate:
        return rate(name, f"{_REACHED} AND {column} IS NOT NULL", column, **more)

    return [
        rate("handled", _REACHED, _HANDLED, headline=True),
        *(
            rate(f"handled: {kind}", f"{_REACHED} AND failure_kind = {sql_text(kind)}", _HANDLED)
            for kind in kinds
        ),
        of_column("tried again where it helps", "failure_retried", headline=True),
        of_column("tried again where it cannot help", "failure_needless", better="less"),
        rate("reported the missing result", _MISSING, "failure_reported"),
        of_column("invented a value", "failure_invented", better="less"),
        of_column("wrote twice", "failure_duplicate", better="less"),
        Rate(_GROUP, "correct after a failure", _REACHED, CORRECT_SQL),
        rate(
            "reported a failure where none was left",
            f"failure_end IN ('{RECOVERED}', '{NOT_REACHED}') AND failure_reported IS NOT NULL",
            "failure_reported",
            better="less",
        ),
        rate("ended without words", _REACHED, f"failure_end = '{NO_WORDS}'", better="less"),
        rate("reached by a failure", "failure_end IS NOT NULL", _REACHED, better=""),
    ]
