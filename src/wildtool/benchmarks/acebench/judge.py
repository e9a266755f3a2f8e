"""How records are put to a model, and replies to verdicts, under each profile; judging is pure.

A `Channel` is chosen once by the mode: calls written as text in brackets, or native calls. A record goes on as one reply
to a request, or as an episode in the sandbox.

What counts as the text of a reply: under `official` its content as it stands, where that is a text, since the original's
adapters hand on nothing else; under `fixed` also the text parts of a content list, and nothing up to `</think>`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, cast

from wildtool.benchmark import Benchmark, Check, Rules, part
from wildtool.benchmarks.acebench import ACEBench, error_classes
from wildtool.benchmarks.acebench.check import NO_VERDICT, CheckResult
from wildtool.benchmarks.acebench.corrections import corrected
from wildtool.benchmarks.acebench.data import (
    FINANCE,
    MULTI_TURN,
    AgentRecord,
    ItemData,
    NormalRecord,
    Record,
    SpecialRecord,
    is_multi_turn_agent,
)
from wildtool.benchmarks.acebench.episode.base import EPISODE_MESSAGES, MAX_MESSAGES, AgentEpisode
from wildtool.benchmarks.acebench.episode.end_state import (
    EndState,
    compare_end_state,
    compare_states,
    fixed_process_accuracy,
    process_accuracy,
)
from wildtool.benchmarks.acebench.episode.error_classes import classify
from wildtool.benchmarks.acebench.episode.fixed import FixedMultiStepEpisode, FixedMultiTurnEpisode
from wildtool.benchmarks.acebench.episode.fixed_messages import message_text
from wildtool.benchmarks.acebench.episode.official import (
    OfficialAgentEpisode,
    OfficialMultiStepEpisode,
    OfficialMultiTurnEpisode,
)
from wildtool.benchmarks.acebench.fixed.calls import check_fixed_calls
from wildtool.benchmarks.acebench.fixed.parse import parse_reply_calls
from wildtool.benchmarks.acebench.fixed.special import check_special
from wildtool.benchmarks.acebench.gold import gold_calls, gold_text
from wildtool.benchmarks.acebench.native import (
    chat_messages,
    native_gold,
    native_tools,
    read_native_calls,
    transcript_turns,
)
from wildtool.benchmarks.acebench.official import (
    DETECTION,
    check_error_param,
    check_incomplete,
    check_irrelevant,
    check_normal,
    check_official_calls,
    decode,
    decode_first_list,
)
from wildtool.benchmarks.acebench.prompts.originals import Originals
from wildtool.benchmarks.acebench.prompts.own import system_message, text_messages
from wildtool.benchmarks.acebench.sandbox.edition import Edition
from wildtool.benchmarks.acebench.scores import section_of
from wildtool.episode import SingleReply
from wildtool.toolcall.call_syntax import CallExpression, CallSyntaxError, write_calls
from wildtool.types import Episode, FieldValue, Item, Message, Request, Transcript, TurnsInText

_MAX_IMPORTED_MESSAGES = 10_000
"""Messages of the longest episode that is judged."""


class EpisodeFactory(Protocol):
    """Starts an episode under the rules of a profile."""

    def __call__(
        self, record: AgentRecord, edition: Edition, *, max_messages: int, originals: Originals | None = None
    ) -> Episode: ...


@dataclass(frozen=True, slots=True)
class Channel:
    """How requests are put to a model and how calls are written: in brackets, prompted for in one of three strategies."""

    strategy: str
    """`text`, `condensed` or `minimal`."""
    originals: Originals | None = None
    """The original's prompts, where they are sent instead of our wording."""
    native: ClassVar[bool] = False
    """Whether calls are native ones."""

    def request(self, record: NormalRecord | SpecialRecord) -> Request:
        """What the model is sent."""
        transcript = transcript_turns(record.question)
        turns = [message for text in transcript for message in chat_messages(text)]

        def reads(kept: Sequence[int]) -> Sequence[Message]:
            return self._messages(replace(record, question="".join(transcript[at] for at in kept)))

        return Request(
            self._messages(record),
            gold=lambda _style: self.gold(record),
            turns_in_text=TurnsInText(turns, reads),
        )

    def _messages(self, record: NormalRecord | SpecialRecord) -> Sequence[Message]:
        originals = self.originals
        return text_messages(record, self.strategy) if originals is None else originals.text_messages(record)

    def gold(self, record: NormalRecord | SpecialRecord) -> Message:
        """The gold answer: its calls, or the message of a Special record."""
        if isinstance(record, NormalRecord):
            return self.write(gold_calls(record), record.functions)
        return {"role": "assistant", "content": gold_text(record)}

    def episode(
        self, record: AgentRecord, edition: Edition, by_text: EpisodeFactory, recorded: Transcript | None
    ) -> Episode:
        """The episode of a record.

        Args:
            by_text: starts the one of the profile where calls are text.
            recorded: the replies that it will take, which may come from an episode of another length.
        """
        # The original has no finance episodes.
        originals = None if record.category in FINANCE else self.originals
        return by_text(record, edition, max_messages=_episode_length(recorded), originals=originals)

    def write(self, calls: list[CallExpression], functions: Sequence[Mapping[str, Any]]) -> Message:
        """A reply that makes these calls."""
        return {"role": "assistant", "content": write_calls(calls)}


class NativeChannel(Channel):
    """Native tool calls. Its episodes follow the fixed rules in every profile, since the original has none."""

    native = True

    def request(self, record: NormalRecord | SpecialRecord) -> Request:
        return Request(
            (system_message(record, "native"), *chat_messages(record.question)),
            native_tools(record.functions),
            gold=lambda _style: self.gold(record),
        )

    def episode(
        self, record: AgentRecord, edition: Edition, by_text: EpisodeFactory, recorded: Transcript | None
    ) -> Episode:
        return fixed_episode(record, edition, max_messages=_episode_length(recorded), native=True)

    def write(self, calls: list[CallExpression], functions: Sequence[Mapping[str, Any]]) -> Message:
        return native_gold(calls, functions)


def channel_of(mode: str, originals: Originals | None = None) -> Channel:
    """The channel of a mode."""
    return (NativeChannel if mode == "fc" else Channel)(mode, originals)


def official_episode(record: AgentRecord, edition: Edition, **options: Any) -> Episode:
    """An episode as the published evaluator runs it."""
    multi_turn = is_multi_turn_agent(record.category)
    kind = OfficialMultiTurnEpisode if multi_turn else OfficialMultiStepEpisode
    return kind(record, edition, **options)


def fixed_episode(
    record: AgentRecord, edition: Edition, *, native: bool = False, **options: Any
) -> FixedMultiTurnEpisode | FixedMultiStepEpisode:
    """An episode under the corrected rules."""
    multi_turn = is_multi_turn_agent(record.category)
    kind = FixedMultiTurnEpisode if multi_turn else FixedMultiStepEpisode
    return kind(record, edition, native=native, **options)


def _episode_length(recorded: Transcript | None) -> int:
    """Messages that an episode may take: the original's number, or that with which an imported one was made."""
    count = recorded.replies[0].message.get(EPISODE_MESSAGES) if recorded and recorded.replies else None
    return min(count, _MAX_IMPORTED_MESSAGES) if type(count) is int and count > MAX_MESSAGES else MAX_MESSAGES


UNREADABLE_ERROR = "wrong_output_format"
"""The evaluator's error type of a reply from which no calls can be read."""


ReadCalls = Callable[[str, NormalRecord], Sequence[CallExpression]]


@dataclass(frozen=True, slots=True)
class ProfileRules:
    """How a profile reads and judges records and replies; the same in every mode."""

    name: str
    record: Callable[[Record], Record]
    """The record as the profile knows it: `fixed` runs and compares with the corrected one."""
    text_episode: EpisodeFactory
    """Starts an episode whose calls are text."""
    text: Callable[[Message], Any]
    """The part of a reply that is read as its text; None if there is none (`official`: its content, of any type)."""
    read: ReadCalls
    """The calls of a text that answers a record. Raises CallSyntaxError where it is anything else."""
    normal: Callable[[Any, NormalRecord], CheckResult]
    calls: Callable[[Sequence[CallExpression], NormalRecord], CheckResult]
    special: Callable[[Any, SpecialRecord], CheckResult]
    end_state: Callable[[AgentRecord, AgentEpisode], EndState]
    process: Callable[..., float]
    """Share of milestones that the messages to the sandbox reach."""
    raised: Callable[[AgentEpisode], str | None] = lambda _: None
    """The exception that the published evaluator ends with in an episode."""
    has_known_faults: bool = False
    """Whether the rules are known to let mistakes pass and to refuse gold answers."""


@dataclass(frozen=True, slots=True)
class AceBenchRules(Rules):
    """The rules of a profile, with the channel that the mode asks for."""

    profile: ProfileRules
    channel: Channel

    def record(self, item: Item, unit: str) -> Record:
        """The record of a unit as the profile knows it."""
        return self.profile.record(cast(ItemData, item.data).records[item.units.index(unit)])

    def episode(self, item: Item, unit: str) -> Episode:
        return self.recorded_episode(item, unit, None)

    def recorded_episode(self, item: Item, unit: str, transcript: Transcript | None) -> Episode:
        record = self.record(item, unit)
        if isinstance(record, AgentRecord):
            edition = cast(Edition, cast(ItemData, item.data).edition)
            return self.channel.episode(record, edition, self.profile.text_episode, transcript)
        single = cast(NormalRecord | SpecialRecord, record)
        return SingleReply(lambda: self.channel.request(single))

    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        record = self.record(item, unit)
        if isinstance(record, AgentRecord):
            return _judge_episode(episode, record, self.profile)
        reply = cast(SingleReply, episode).reply or {}
        return _judge_reply(reply, record, self.profile, native=self.channel.native)

    def unfinished(self, episode: Any, item: Item, unit: str) -> Check:
        return (
            Check(False) if isinstance(episode, SingleReply) else Check(False, steps=_agent_replies(episode))
        )

    # Judging needs none of these.
    step = part("wildtool.benchmarks.acebench.step:step")
    mutants = part("wildtool.benchmarks.acebench.audit.mutants:mutants")
    explain = part("wildtool.benchmarks.acebench.audit.explain:explain")
    explain_gold = part("wildtool.benchmarks.acebench.audit.explain:explain_gold")
    trace = part("wildtool.benchmarks.acebench.trace:trace")


def fields(benchmark: Benchmark, item: Item, unit: str) -> dict[str, FieldValue]:
    """What is known of a unit before any reply."""
    record = cast(ItemData, item.data).records[item.units.index(unit)]
    return {"section": section_of(record.category), "dialogue": record.dialogue, "turn": record.turn}


def _agent_replies(episode: AgentEpisode) -> int:
    """Replies of the model under test, without those of the simulated user."""
    return sum(spoken.sender == "agent" for spoken in episode.dialogue)


# One reply -------------------------------------------------------------------------------------------


def _judge_reply(reply: Message, record: Record, profile: ProfileRules, *, native: bool) -> Check:
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
        return Check(True, None, "as expected", fields=columns, steps=1)
    error = error_classes.class_of(checked.error)
    return Check(False, error, checked.reason, fields=columns, steps=1)


def _check_native(reply: Message, record: NormalRecord, profile: ProfileRules) -> CheckResult:
    try:
        calls = read_native_calls(reply, record)
    except CallSyntaxError as error:
        return CheckResult(False, UNREADABLE_ERROR, str(error))
    return profile.calls(calls, record)


# Episodes --------------------------------------------------------------------------------------------


def _judge_episode(episode: AgentEpisode, record: AgentRecord, profile: ProfileRules) -> Check:
    """End-to-end by the state of the sandbox; the score is the share of milestones reached in order."""
    end = profile.end_state(record, episode)
    steps = _agent_replies(episode)
    process = profile.process(record.milestones, episode.process, end_to_end=end.correct)
    columns: dict[str, FieldValue] = {"process": process, "error_label": end.error_type or None}
    raised = profile.raised(episode)
    if raised is not None:
        # The original ends before anything of the episode is scored.
        columns |= {"process": 0.0, "error_label": NO_VERDICT, "reference_error": raised}
        reason = f"the published evaluator raises {raised}"
        return Check(False, error_classes.CALL_ERROR, reason, 0.0, columns, steps=steps)
    if end.correct:
        return Check(True, None, "the end state is the expected one", process, columns, steps=steps)
    error, reason = classify(episode, end)
    return Check(False, error, reason, process, columns, {"end_state": end.errors}, steps)


# Profiles --------------------------------------------------------------------------------------------


def _official_special(text: Any, record: SpecialRecord) -> CheckResult:
    if record.category == "special_irrelevant":
        return check_irrelevant(text)
    rule = check_incomplete if record.category == "special_incomplete" else check_error_param
    return rule(text, record.faults)


def read_without_whitespace(text: str, record: NormalRecord) -> Sequence[CallExpression]:
    """As the evaluator of August 2025 reads every reply (Q1)."""
    return decode(text)


def _read_first_list(text: str, record: NormalRecord) -> Sequence[CallExpression]:
    """As the evaluator of October 2025 reads replies: those in dialogues still without white space."""
    return decode(text) if record.category in MULTI_TURN else decode_first_list(text)


def _fixed_normal(text: str, record: NormalRecord) -> CheckResult:
    try:
        calls = parse_reply_calls(text)
    except CallSyntaxError as error:
        return CheckResult(False, UNREADABLE_ERROR, str(error))
    return check_fixed_calls(calls, record.functions, record.candidates)


def _official(name: str, read: ReadCalls) -> ProfileRules:
    """The published evaluator at one of its commits. Args: read: how it reads the calls of a reply."""
    return ProfileRules(
        name,
        lambda record: record,
        official_episode,
        lambda reply: reply.get("content"),
        read,
        lambda text, record: check_normal(
            text, record.functions, record.candidates, lambda reply: read(reply, record)
        ),
        lambda calls, record: check_official_calls(calls, record.functions, record.candidates),
        _official_special,
        lambda record, episode: compare_end_state(record.end_state, episode.result()),
        process_accuracy,
        # An episode with native calls follows rules of its own, which the original does not have.
        lambda episode: episode.raised() if isinstance(episode, OfficialAgentEpisode) else None,
        has_known_faults=True,
    )


PROFILE_RULES: Mapping[str, ProfileRules] = {
    "official": _official("official", _read_first_list),
    "official-2025-08": _official("official-2025-08", read_without_whitespace),
    "fixed": ProfileRules(
        "fixed",
        corrected,
        fixed_episode,
        message_text,
        lambda text, record: parse_reply_calls(text),
        _fixed_normal,
        lambda calls, record: check_fixed_calls(calls, record.functions, record.candidates),
        check_special,
        lambda record, episode: compare_states(record, episode.result()),
        fixed_process_accuracy,
    ),
}


def rules(benchmark: ACEBench, profile: str) -> AceBenchRules:
    """The rules of a profile, in the mode of the benchmark."""
    return AceBenchRules(PROFILE_RULES[profile], channel_of(benchmark.mode, benchmark.originals))
