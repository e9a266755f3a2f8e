"""Replies to verdicts, under each profile; pure.

What counts as the text of a reply: under `official` its content as it stands, where that is a text, since the original's
adapters hand on nothing else; under `fixed` also the text parts of a content list, and nothing up to `</think>`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from wildtool.benchmarks.acebench import error_classes
from wildtool.benchmarks.acebench.check import NO_VERDICT, CheckResult
from wildtool.benchmarks.acebench.data import AgentRecord, ItemData, NormalRecord, Record, SpecialRecord
from wildtool.benchmarks.acebench.episode.official_end_state import (
    EndState,
    compare_end_state,
    process_accuracy,
)
from wildtool.benchmarks.acebench.official.special import (
    DETECTION,
    check_error_param,
    check_incomplete,
    check_irrelevant,
)
from wildtool.benchmarks.acebench.play import SingleReply, new_episode, profile_record
from wildtool.benchmarks.acebench.scores import section_of
from wildtool.episode import incomplete_outcome, replay
from wildtool.toolcall.call_syntax import CallExpression, CallSyntaxError
from wildtool.types import Item, Message, Outcome, Transcript, Verdict

if TYPE_CHECKING:
    from wildtool.benchmarks.acebench.episode.fixed import FixedAgentEpisode
    from wildtool.benchmarks.acebench.episode.official import OfficialAgentEpisode

    AgentEpisode = OfficialAgentEpisode | FixedAgentEpisode

FieldValue = bool | int | float | str | None

UNREADABLE_ERROR = "wrong_output_format"
"""The evaluator's error type of a reply from which no calls can be read."""


@dataclass(frozen=True, slots=True)
class UnitJudgement:
    """What a profile decides about one unit."""

    outcome: Outcome
    score: float
    reason: str
    error: str | None = None
    fields: Mapping[str, FieldValue] = field(default_factory=dict[str, FieldValue])
    detail: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class AceBenchRules:
    """A named set of judging rules."""

    name: str
    text: Callable[[Message], Any]
    """What of a reply is read as its text; None where it has none, under `official` whatever stands there."""
    normal: Callable[[Any, NormalRecord], CheckResult]
    calls: Callable[[Sequence[CallExpression], NormalRecord], CheckResult]
    special: Callable[[Any, SpecialRecord], CheckResult]
    end_state: Callable[[AgentRecord, "AgentEpisode"], EndState]
    process: Callable[..., float]
    """Share of milestones that the messages to the sandbox reach."""
    raised: Callable[["AgentEpisode"], str | None] = lambda _: None
    """The exception that the published evaluator ends with in an episode."""


def judge_item(item: Item, transcripts: Mapping[str, Transcript], profile: str, mode: str) -> list[Verdict]:
    """One verdict for each turn of a dialogue, in order, or the one of any other record."""
    rules = _PROFILES[profile]()
    return [
        _judge_unit(item, position, transcripts.get(unit), rules, mode)
        for position, unit in enumerate(item.units)
    ]


def _judge_unit(
    item: Item, position: int, transcript: Transcript | None, profile: AceBenchRules, mode: str
) -> Verdict:
    record = profile_record(cast(ItemData, item.data), position, profile.name)
    played = new_episode(item, position, profile.name, mode, recorded=transcript)
    ended = replay(played, transcript)
    if not ended:
        judged = UnitJudgement(*_unfinished(transcript))
    elif isinstance(record, AgentRecord):
        judged = _judge_episode(cast("AgentEpisode", played), record, profile)
    else:
        reply = cast(SingleReply, played).reply or {}
        judged = _judge_reply(reply, record, profile, native=mode == "fc")
    return Verdict(
        item=item.id,
        unit=item.units[position],
        outcome=judged.outcome,
        score=judged.score,
        error=judged.error,
        reason=judged.reason,
        steps=_agent_replies(played),
        fields={**unit_fields(record), **judged.fields},
        detail=judged.detail,
    )


def _unfinished(transcript: Transcript | None) -> tuple[Outcome, float, str]:
    outcome, reason = incomplete_outcome(transcript)
    return outcome, 0.0, reason


def _agent_replies(played: object) -> int:
    """Replies of the model under test, without those of the simulated user."""
    if isinstance(played, SingleReply):
        return int(played.done)
    return sum(spoken.sender == "agent" for spoken in cast("AgentEpisode", played).dialogue)


def unit_fields(record: Record) -> dict[str, FieldValue]:
    """What is known of a unit before any reply."""
    return {"section": section_of(record.category), "dialogue": record.dialogue, "turn": record.turn}


# One reply -------------------------------------------------------------------------------------------


def _judge_reply(reply: Message, record: Record, profile: AceBenchRules, *, native: bool) -> UnitJudgement:
    """A Normal or Special reply, as text or with native calls."""
    if isinstance(record, NormalRecord):
        checked = (
            _check_native(reply, record, profile) if native else profile.normal(profile.text(reply), record)
        )
    elif native and reply.get("tool_calls"):
        checked = CheckResult(False, DETECTION, "the reply calls a function instead of reporting the problem")
    else:
        checked = profile.special(profile.text(reply), cast(SpecialRecord, record))
    columns: dict[str, FieldValue] = {
        "error_label": checked.error or None,
        "stray_error": checked.stray_error or None,
        "reference_error": checked.reference_error,
    }
    if checked.valid:
        return UnitJudgement("correct", 1.0, checked.reason or "as expected", None, columns)
    return UnitJudgement("wrong", 0.0, checked.reason, error_classes.class_of(checked.error), columns)


def _check_native(reply: Message, record: NormalRecord, profile: AceBenchRules) -> CheckResult:
    from wildtool.benchmarks.acebench.native import read_native_calls  # only mode `fc` needs it

    try:
        calls = read_native_calls(reply, record)
    except CallSyntaxError as error:
        return CheckResult(False, UNREADABLE_ERROR, str(error))
    return profile.calls(calls, record)


# Episodes --------------------------------------------------------------------------------------------


def _judge_episode(episode: "AgentEpisode", record: AgentRecord, profile: AceBenchRules) -> UnitJudgement:
    """End-to-end by the state of the sandbox; the score is the share of milestones reached in order."""
    end = profile.end_state(record, episode)
    process = profile.process(record.milestones, episode.process, end_to_end=end.correct)
    columns: dict[str, FieldValue] = {
        "process": process,
        "error_label": end.error_type or None,
    }
    raised = profile.raised(episode)
    if raised is not None:
        # The original ends before anything of the episode is scored.
        columns |= {"process": 0.0, "error_label": NO_VERDICT, "reference_error": raised}
        reason = f"the published evaluator raises {raised}"
        return UnitJudgement("wrong", 0.0, reason, error_classes.CALL_ERROR, columns)
    if end.correct:
        return UnitJudgement("correct", process, "the end state is the expected one", None, columns)
    from wildtool.benchmarks.acebench.episode.error_classes import classify  # only wrong episodes need it

    error, reason = classify(episode, end)
    return UnitJudgement("wrong", process, reason, error, columns, {"end_state": end.errors})


# Profiles --------------------------------------------------------------------------------------------


def _official_special(text: Any, record: SpecialRecord) -> CheckResult:
    if record.category == "special_irrelevant":
        return check_irrelevant(text)
    rule = check_incomplete if record.category == "special_incomplete" else check_error_param
    return rule(text, record.faults)


def _raised(episode: "AgentEpisode") -> str | None:
    from wildtool.benchmarks.acebench.episode.official import OfficialAgentEpisode

    # An episode with native calls follows rules of its own, which the original does not have.
    return episode.raised() if isinstance(episode, OfficialAgentEpisode) else None


def _official() -> AceBenchRules:
    from wildtool.benchmarks.acebench.official import calls as official_normal

    return AceBenchRules(
        "official",
        lambda reply: reply.get("content"),
        lambda text, record: official_normal.check_normal(text, record.functions, record.candidates),
        lambda calls, record: official_normal.check_official_calls(
            calls, record.functions, record.candidates
        ),
        _official_special,
        lambda record, episode: compare_end_state(record.end_state, episode.result()),
        process_accuracy,
        _raised,
    )


def _fixed() -> AceBenchRules:
    from wildtool.benchmarks.acebench.episode import fixed_end_state
    from wildtool.benchmarks.acebench.episode.fixed_messages import message_text
    from wildtool.benchmarks.acebench.fixed import calls as fixed_normal
    from wildtool.benchmarks.acebench.fixed.parse import parse_reply_calls
    from wildtool.benchmarks.acebench.fixed.special import check_special

    def normal(text: str | None, record: NormalRecord) -> CheckResult:
        try:
            calls = parse_reply_calls(text or "")
        except CallSyntaxError as error:
            return CheckResult(False, UNREADABLE_ERROR, str(error))
        return fixed_normal.check_fixed_calls(calls, record.functions, record.candidates)

    return AceBenchRules(
        "fixed",
        message_text,
        normal,
        lambda calls, record: fixed_normal.check_fixed_calls(calls, record.functions, record.candidates),
        check_special,
        fixed_end_state.fixed_end_state,
        fixed_end_state.fixed_process_accuracy,
    )


_PROFILES = {"official": cache(_official), "fixed": cache(_fixed)}
"""Built when first used: the rules of one profile need not wait for the modules of the other."""
