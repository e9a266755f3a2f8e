"""The messages that a user's role proposes for a task: what is asked for, and which of them keep the rules."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rapidfuzz import fuzz

from wildtool.findings import Finding, fault
from wildtool.json_codec import as_list
from wildtool.sanitize import escape_text, single_line, truncate_words
from wildtool.toolcall.schema import as_schema, member_schemas
from wildtool_data.make.core.dedup import NEAR_DUPLICATE_SCORE
from wildtool_data.make.core.diversity import DIFFICULTIES, PROPOSED, TaskBackground
from wildtool_data.make.core.parsing import RefusedReplyError, read_object, reply_text
from wildtool_data.make.core.plan import DEMANDING_GROUPS, Lang, TaskPlan
from wildtool_data.make.sessions.rules.context import Schemas, required
from wildtool_data.make.sessions.rules.texts import MAX_USER_TEXT_CHARACTERS

_KINDS = {"Single-Tool": "single", "Clarify": "clarify", "Chat": "chat"}
_SOME_MISSING = "clarify some"
"""Block of a Clarify task whose message may give required values."""


@dataclass(frozen=True, slots=True)
class ProposalRequest:
    """What the user's role is asked to propose for one task."""

    plan: TaskPlan
    t: int
    """Position of the task, from 0."""
    lang: Lang
    backgrounds: Sequence[TaskBackground]
    """Of each message of a first task."""
    writer: TaskBackground | None
    """Who wrote the first message, and so writes the later ones; None if nobody is planned."""
    scenarios: Sequence[str]

    @property
    def kind(self) -> str:
        """What calls the task takes, in a word."""
        return _KINDS.get(self.plan.group) or self.plan.topology

    @property
    def blocks(self) -> list[str]:
        """The parts of the role's instruction."""
        kind = _SOME_MISSING if self.plan.missing == "some" else self.kind
        return ["task", kind, *(["later", self.plan.subtype] if self.t else [])]

    def wanted(self, tool: str, schemas: Schemas) -> dict[str, Any]:
        """What the role is shown of it. Args: tool: that the task is about; empty if it is about none or several."""
        plan = self.plan
        wanted: dict[str, Any] = {
            "kind": self.kind,
            "candidates": [self._entry(number) for number in range(len(plan.styles))],
            "difficulty": plan.difficulty,
        }
        if self.writer is not None and self.t:
            wanted["writer"] = self.writer.shown(self.lang, self.scenarios)
        if tool:
            wanted["tool"] = tool
        if tool and plan.missing == "all":
            names = required(schemas[tool])
            wanted["leave_out"] = list(names)
            wanted["may_give"] = [name for name in member_schemas(schemas[tool]) if name not in names]
        return {**wanted, "subtype": plan.subtype, "strategy": plan.strategy} if self.t else wanted

    def _entry(self, number: int) -> dict[str, str]:
        style = self.plan.styles[number]
        entry = {"form": style.form, "tone": style.tone, "length": style.length}
        if background := self.background(number):
            entry |= background.shown(self.lang, self.scenarios)
        return entry

    def background(self, number: int) -> TaskBackground | None:
        """Who writes a message of a first task; None for later ones, and where nobody is planned."""
        return None if self.t or number >= len(self.backgrounds) else self.backgrounds[number]

    def planned(self, number: int) -> dict[str, Any]:
        """What is planned of a message, as provenance has it; nothing of one too many."""
        if number >= len(self.plan.styles):
            return {}
        style = self.plan.styles[number]
        background = self.background(number)
        return {
            "form": style.form,
            "tone": style.tone,
            "length": style.length,
            **(background.named if background else {}),
        }


@dataclass(frozen=True, slots=True)
class Proposals:
    """The messages of one reply."""

    accepted: Sequence[str]
    """Those that keep the rules."""
    rows: Sequence[dict[str, Any]]
    """All of them, as provenance keeps them."""
    places: Mapping[str, int]
    """By accepted message its place in the reply."""
    faults: Sequence[Finding]
    """What is wrong with the others."""

    def picked(self, text: str) -> list[dict[str, Any]]:
        """All of them, where one is marked as the one that was picked."""
        return [
            {**row, "picked": True} if row["text"] == text and "rules" not in row else row
            for row in self.rows
        ]


def read_proposals(
    text: str, request: ProposalRequest, check: Callable[[str], Sequence[Finding]]
) -> Proposals:
    """The messages in a reply. Args: check: what is wrong with a message itself.

    Raises RefusedReplyError where none keeps the rules.
    """
    rows = as_list(read_object(text, "C1").get("candidates"))
    places: dict[str, int] = {}
    faults: list[Finding] = []
    kept: list[dict[str, Any]] = []
    for number, row in enumerate(rows[: 2 * PROPOSED]):
        message = reply_text({"content": as_schema(row).get("text", row)})
        wrong = list(check(message)) or _faults_among(message, as_schema(row), request, places)
        if not wrong:
            places[message] = number
        faults += wrong
        kept += [_kept(message, as_schema(row), request.planned(number), wrong)] if message else []
    if not rows:
        faults = [fault("C1", "`candidates` must be a list of objects with a `text`.")]
    if not places:
        raise RefusedReplyError(*faults)
    accepted = list(places)
    planned = len(request.plan.styles)
    if len(rows) < planned:
        faults.append(fault("C5", f"{len(rows)} of {planned} messages are proposed.", level="warning"))
    if len(accepted) > 1 and len(accepted[-1]) <= len(accepted[0]):
        faults.append(fault("C5", "The messages do not go from short to long.", level="warning"))
    # One good message is enough; what is wrong with the others is only counted.
    return Proposals(accepted, kept, places, [replace(finding, level="warning") for finding in faults])


def _faults_among(
    message: str, row: Mapping[str, Any], request: ProposalRequest, before: Mapping[str, int]
) -> list[Finding]:
    """What is wrong with a message beside those before it, or by what its maker says of it."""
    excerpt = repr(truncate_words(message, 80))
    if any(fuzz.ratio(message, other) > NEAR_DUPLICATE_SCORE for other in before):
        return [fault("C3", f"{excerpt} is proposed twice.", level="warning")]
    if request.plan.group in DEMANDING_GROUPS and row.get("difficulty") == DIFFICULTIES[0]:
        return [fault("C4", f"{excerpt} is easy; this task must be of medium difficulty or above.")]
    return []


def _kept(
    text: str, row: Mapping[str, Any], planned: Mapping[str, Any], broken: Sequence[Finding]
) -> dict[str, Any]:
    """A message as provenance keeps it: with plan and difficulty as its maker says, what was planned of it, and the
    rules it breaks."""
    origin = {name: single_line(row[name], 500) for name in ("plan", "difficulty") if row.get(name)}
    if not broken:
        return {"text": text, **origin, **planned}
    rules = single_line("; ".join(f"{finding.rule}: {finding.message}" for finding in broken), 500)
    cut = escape_text(truncate_words(text, MAX_USER_TEXT_CHARACTERS))
    return {"text": cut, **origin, **planned, "rules": rules}
