"""Why an episode ended in a wrong state: an error class and a reason, decided by rule from its calls and its dialogue.

The paper names the classes but not how they follow; here the first of these that holds decides.
1. Call Error: a call could not be read, named no tool, or raised; or a tool of the gold run failed for another reason
   than 2b. Only if it was never corrected: no later call of that tool ran (of any tool, if it named none), and the same
   call had not run before.
2. Rule Violation: (a) calls were mixed with prose, so they were never made; (b) a tool failed because login, wifi or
   room was missing, and never ran after that; (c) in a dialogue one message called different tools, and not
   all of these calls are gold.
3. Information Mismanagement: (a) instead of a gold call the same tool ran with other values; (b) a question was asked
   twice in the same words.
4. Rule Violation again: (a) a gold call was left out though later gold calls were made; (b) all gold calls were made, and
   more than these, or in another order.
5. Unfinished: the end of the gold run was never reached.
Gold is the corrected record's milestone list that fits best. Lookups, which change nothing, do not count as left out.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from typing import Any, cast

from wildtool.benchmarks.acebench.corrections import corrected
from wildtool.benchmarks.acebench.episode.base import MAX_MESSAGES, AgentEpisode, DialogueMessage
from wildtool.benchmarks.acebench.episode.end_state import EndState, parse_calls, same_call
from wildtool.benchmarks.acebench.episode.fixed import (
    CallOutcome,
    ExecutedCall,
    FixedAgentEpisode,
    offered_tool_names,
    reports_failure,
)
from wildtool.benchmarks.acebench.episode.official import (
    OfficialMultiStepEpisode,
    calls_to_run,
    decode_message,
)
from wildtool.benchmarks.acebench.error_classes import CALL_ERROR, INFORMATION, RULE_VIOLATION, UNFINISHED
from wildtool.benchmarks.acebench.fixed.parse import parse_reply_calls
from wildtool.benchmarks.acebench.sandbox.edition import Edition
from wildtool.toolcall.call_syntax import CallExpression, CallSyntaxError

ClassAndReason = tuple[str, str]
"""Error class and reason."""
MAX_EPISODE_CALLS = 300
"""Calls of one episode that are looked at."""
MAX_MESSAGE_CHARACTERS = 4_000
"""Characters of one message that are looked at."""
_LOOKUPS = ("get_", "view_", "search_", "find_", "check_", "list_", "query_")
_UNMET_CONDITIONS = frozenset({"not_logged_in", "wifi_off", "full"})
"""Last parts of the cases in which a tool wants another step first."""
_CALL_IN_PROSE = re.compile(r"\b(\w{1,64})\(")


@dataclass(frozen=True, slots=True)
class _EpisodeFacts:
    """What the rules look at."""

    episode: AgentEpisode
    calls: Sequence[ExecutedCall]
    gold: Sequence[CallExpression]
    """Calls of the milestone list of which most were made."""
    missing: Sequence[int]
    """Positions of gold calls that were not made; no lookups."""
    extra: Sequence[ExecutedCall]
    """Calls that ran without being gold; no lookups."""


def classify(episode: AgentEpisode, end_state: EndState) -> ClassAndReason:
    """The error class and the reason of an episode that is over and whose end state is wrong."""
    case = _facts(episode)
    for rule in (
        _broken_call,
        _call_in_prose,
        _unmet_condition,
        _several_tools,
        _wrong_arguments,
        _repeated_question,
        _skipped_call,
    ):
        verdict = rule(case)
        if verdict is not None:
            return verdict
    if case.missing:
        spent = len(episode.dialogue) > MAX_MESSAGES
        how = "the messages were used up" if spent else "the episode ended"
        return UNFINISHED, f"{how} before {case.gold[case.missing[0]].name} ran"
    if case.extra:
        return RULE_VIOLATION, f"{case.extra[0].name} ran although all was done without it"
    first = end_state.errors[0][0] if end_state.errors else end_state.error_type
    return RULE_VIOLATION, f"all expected calls were made, but the state differs: {first[:200]}"


def executed_calls(episode: AgentEpisode) -> list[ExecutedCall]:
    """All calls of an episode in order, each with what became of it; of official episodes read from the dialogue."""
    if isinstance(episode, FixedAgentEpisode):
        return episode.executed[:MAX_EPISODE_CALLS]
    calls = chain.from_iterable(
        _official_calls(episode, str(question.message), answered, position)
        for position, (question, answered) in enumerate(pairwise(episode.dialogue))
        if question.sender == "agent" and answered.sender == "execution"
    )
    return list(islice(calls, MAX_EPISODE_CALLS))


def _official_calls(
    episode: AgentEpisode, text: str, answered: DialogueMessage, position: int
) -> Iterator[ExecutedCall]:
    calls = decode_message(text) if isinstance(episode, OfficialMultiStepEpisode) else calls_to_run(text)
    answers = answered.message
    if calls is None:
        if "[" in text:
            yield ExecutedCall("", {}, "unreadable", answers, position)
        return
    is_short = not isinstance(episode, OfficialMultiStepEpisode) and len(answers) != len(calls)
    for number, call_text in enumerate(calls):
        call = _parsed(call_text)
        answer = answers if is_short else answers[number]
        outcome = "raised" if is_short else _outcome(episode.edition, answer)
        if not episode.sandbox.tools(call.name):
            outcome = "unknown tool"
        yield ExecutedCall(call.name, cast(Mapping[str, Any], call.arguments), outcome, answer, position)


def _parsed(text: str) -> CallExpression:
    try:
        return parse_reply_calls(f"[{text}]")[0]
    except (CallSyntaxError, IndexError):
        return CallExpression(text.partition("(")[0], {})


def _outcome(edition: Edition, answer: Any) -> CallOutcome:
    prefix = str(edition.texts["Execution.multi_step.exception"]).partition("{")[0]
    if isinstance(answer, str) and prefix and answer.startswith(prefix):
        return "raised"
    return "failed" if reports_failure(edition, answer) else "ok"


def _facts(episode: AgentEpisode) -> _EpisodeFacts:
    calls = executed_calls(episode)
    ran = [call for call in calls if call.outcome == "ok"]
    ways = [_matched(parse_calls(texts), ran) for texts in corrected(episode.record).milestone_lists]
    gold, left_out, extra = min(ways, key=lambda way: len(way[1]) / (len(way[0]) or 1))
    return _EpisodeFacts(episode, calls, gold, left_out, extra)


def _matched(
    gold: list[CallExpression], ran: Sequence[ExecutedCall]
) -> tuple[list[CallExpression], list[int], list[ExecutedCall]]:
    """A gold list with the positions that were not made, and the calls that are not of it."""
    unused = list(ran)
    left_out: list[int] = []
    for position, expected in enumerate(gold):
        at = next((at for at, call in enumerate(unused) if same_call(expected, _as_call(call))), None)
        if at is not None:
            del unused[at]
        elif not expected.name.startswith(_LOOKUPS):
            left_out.append(position)
    return gold, left_out, [call for call in unused if not call.name.startswith(_LOOKUPS)]


def _as_call(ran: ExecutedCall) -> CallExpression:
    return CallExpression(ran.name, {**ran.arguments})


# Rules, in order -------------------------------------------------------------------------------------


def _broken_call(case: _EpisodeFacts) -> ClassAndReason | None:
    gold_tools = {call.name for call in case.gold}
    for position, call in enumerate(case.calls):
        if call.outcome == "ok" or _was_corrected(case, position):
            continue
        if call.outcome != "failed":
            return CALL_ERROR, f"{call.name or 'a message'}: {call.outcome}, and never made right"
        if call.name in gold_tools and not _has_unmet_condition(case.episode.edition, call):
            return CALL_ERROR, f"{call.name} failed and never ran after that: {_answer_text(call)}"
    return None


def _call_in_prose(case: _EpisodeFacts) -> ClassAndReason | None:
    offered = set(offered_tool_names(case.episode.record))
    ran_at = [(call.name, call.message) for call in case.calls if call.outcome == "ok"]
    for position, spoken in enumerate(case.episode.dialogue):
        if spoken.sender == "agent" and spoken.recipient == "user" and isinstance(spoken.message, str):
            for name in _CALL_IN_PROSE.findall(spoken.message[:MAX_MESSAGE_CHARACTERS]):
                if name in offered and not any(n == name and at > position for n, at in ran_at):
                    return RULE_VIOLATION, f"a call of {name} was mixed with prose and never made"
    return None


def _unmet_condition(case: _EpisodeFacts) -> ClassAndReason | None:
    for position, call in enumerate(case.calls):
        if _has_unmet_condition(case.episode.edition, call) and not _was_corrected(case, position):
            return RULE_VIOLATION, f"{call.name} needs a step that was left out: {_answer_text(call)}"
    return None


def _several_tools(case: _EpisodeFacts) -> ClassAndReason | None:
    if case.episode.record.category.endswith("multi_step"):
        return None
    together: dict[int, list[ExecutedCall]] = {}
    for call in case.calls:
        together.setdefault(call.message, []).append(call)
    for calls in together.values():
        names = {call.name for call in calls}
        if len(names) > 1 and not all(
            call.outcome == "ok" and any(same_call(expected, _as_call(call)) for expected in case.gold)
            for call in calls
        ):
            return RULE_VIOLATION, f"one message called different tools: {', '.join(sorted(names)[:5])}"
    return None


def _wrong_arguments(case: _EpisodeFacts) -> ClassAndReason | None:
    for position in case.missing:
        expected = case.gold[position]
        for call in case.extra:
            if call.name == expected.name:
                return INFORMATION, f"{call.name} ran with other values: {_difference(expected, call)}"
    return None


def _repeated_question(case: _EpisodeFacts) -> ClassAndReason | None:
    topics: set[str] = set()
    for spoken in case.episode.dialogue:
        if spoken.sender == "agent" and spoken.recipient == "user" and isinstance(spoken.message, str):
            text = " ".join(spoken.message[:MAX_MESSAGE_CHARACTERS].casefold().split())
            if text in topics:
                return INFORMATION, f"asked twice: {text[:100]}"
            if "?" in text or "？" in text:
                topics.add(text)
    return None


def _skipped_call(case: _EpisodeFacts) -> ClassAndReason | None:
    attempts = [
        position
        for position, call in enumerate(case.gold)
        if position not in case.missing and not call.name.startswith(_LOOKUPS)
    ]
    skipped = [position for position in case.missing if attempts and position < attempts[-1]]
    if not skipped:
        return None
    return RULE_VIOLATION, f"{case.gold[skipped[0]].name} was left out"


# What the rules ask ----------------------------------------------------------------------------------


def _was_corrected(case: _EpisodeFacts, position: int) -> bool:
    """Whether a later call of the same tool ran (of any tool, where the call named none that is there), or the same call
    had run before.
    """
    call = case.calls[position]
    nameless = call.name not in offered_tool_names(case.episode.record)
    earlier = (other for other in case.calls[:position] if other.outcome == "ok")
    later = (other for other in case.calls[position + 1 :] if other.outcome == "ok")
    return any(nameless or other.name == call.name for other in later) or any(
        other.name == call.name and other.arguments == call.arguments for other in earlier
    )


def _has_unmet_condition(edition: Edition, call: ExecutedCall) -> bool:
    """Whether a tool failed because a step that the scenario's rules require first is missing."""
    if call.outcome != "failed":
        return False
    message = _message(call.answer)
    cases = (
        case
        for case in edition.texts
        if case.rpartition(".")[2] in _UNMET_CONDITIONS and f".{call.name}." in case
    )
    return any(_fits(str(edition.texts[case]), str(message)) for case in cases)


def _fits(sentence: str, message: str) -> bool:
    """Whether a text is this sentence with its blanks filled."""
    pattern = ".*".join(re.escape(part) for part in re.split(r"\{\w*\}", sentence))
    return re.fullmatch(pattern, message[:MAX_MESSAGE_CHARACTERS], re.DOTALL) is not None


def _difference(expected: CallExpression, call: ExecutedCall) -> str:
    for key, value in expected.arguments.items():
        actual = call.arguments.get(str(key), "nothing")
        if not same_call(CallExpression("", {key: value}), CallExpression("", {key: actual})):
            return f"{key} is {str(actual)[:80]!r}, expected {str(value)[:80]!r}"
    return "more arguments than expected"


def _answer_text(call: ExecutedCall) -> str:
    return str(_message(call.answer))[:200]


def _message(answer: Any) -> Any:
    return cast(dict[str, Any], answer).get("message", "") if isinstance(answer, dict) else answer
