"""The alteration that `--history` makes: each task of a session follows the model's own earlier ones, not the gold ones.

What the user says comes from the record, and so does what a call gets that the record holds. Any other call gets an
error, or what a model in the role `tools` makes up. A model that ends a task by a faulty call goes on until it has
answered in text, so that the next task does not begin in the middle of it; its verdict stands by then.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from wildtool.alter.base import Alteration, AlteredUnit
from wildtool.alter.history.own_history import OwnHistoryUnit
from wildtool.alter.history.settings import Unrecorded
from wildtool.alter.history.summary import CUTS_NOTE, history_cuts, history_metrics
from wildtool.alter.tool_answers import TOOLS_PLAYER, TOOLS_PLAYER_ROLE
from wildtool.benchmark import Benchmark, Rules, SessionRecord, SessionRules
from wildtool.errors import RecordError, UsageError
from wildtool.types import Item, Metric, Role

HISTORY_COLUMNS: Mapping[str, str] = {
    "session_place": "INTEGER",
    "settled": "BOOLEAN",
    "unrecorded_calls": "INTEGER",
    "later_replies": "INTEGER",
}


@dataclass(frozen=True, slots=True)
class OwnHistory(Alteration):
    """The model's own history in the sessions of each item."""

    kind: ClassVar[str] = "history"
    caveat: ClassVar[str] = "history of later tasks"
    without: ClassVar[str] = "gold history"
    cuts_note: ClassVar[str] = CUTS_NOTE
    in_order: ClassVar[bool] = True
    unrecorded: Unrecorded

    @classmethod
    def recorded(cls, identity: Mapping[str, Any]) -> Self:
        try:
            return cls(Unrecorded(identity["history"]["own"]))
        except (TypeError, KeyError, ValueError) as error:
            raise RecordError(
                f"run.json: identity.history is damaged ({error}); restore it from a copy"
            ) from error

    @property
    def columns(self) -> Mapping[str, str]:
        return HISTORY_COLUMNS

    @property
    def label(self) -> str:
        return "own" if self.unrecorded is Unrecorded.refuse else f"own, unrecorded calls {self.unrecorded}d"

    @property
    def folder_parts(self) -> Sequence[str]:
        return ["history-own", *([] if self.unrecorded is Unrecorded.refuse else [self.unrecorded.value])]

    @property
    def played_roles(self) -> Mapping[str, Role]:
        return {TOOLS_PLAYER: TOOLS_PLAYER_ROLE} if self.unrecorded is Unrecorded.simulate else {}

    @property
    def options(self) -> Sequence[str]:
        return ["--history", "own"]

    def identity(self) -> Mapping[str, Any]:
        return {"history": {"own": self.unrecorded.value}}

    def unit(self, item: Item, unit: str) -> AlteredUnit:
        raise UsageError("own history follows from the rules of a benchmark and from earlier units")

    def unit_after(
        self, item: Item, unit: str, rules: Rules, earlier: Mapping[str, AlteredUnit]
    ) -> OwnHistoryUnit:
        record = _session(rules, item)
        assert record is not None, "checked before a run"
        before = {name: each for name, each in earlier.items() if isinstance(each, OwnHistoryUnit)}
        return OwnHistoryUnit(self.unrecorded, record, item, unit, before)

    def check(self, benchmark: Benchmark, items: Iterable[Item], profile: str) -> str:
        rules = benchmark.rules(profile)
        sessions = [(item, record) for item in items if (record := _session(rules, item)) is not None]
        if not sessions:
            raise UsageError(
                f"--history own is for sessions whose tasks continue each other, and {benchmark.name} has "
                "none; leave it out, or run a benchmark of sessions"
            )
        if not any(record.history(unit) for item, record in sessions for unit in item.units):
            raise UsageError(
                "--history own changes nothing: each selected session has one task; select others, or leave it out"
            )
        return ""

    def metrics(self, verdicts: Any) -> Sequence[Metric]:
        return history_metrics(verdicts)

    def cuts(self, verdicts: Any) -> Mapping[str, Any]:
        return history_cuts(verdicts)


def _session(rules: Rules, item: Item) -> SessionRecord | None:
    return rules.session(item) if isinstance(rules, SessionRules) else None
