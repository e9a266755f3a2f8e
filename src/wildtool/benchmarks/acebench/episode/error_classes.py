"""Why an episode ended in a wrong state: an error class and a reason, decided by rule from its calls and its dialogue.

The paper names the classes but not how they follow; here the first of these that holds decides.
1. Call Error: a call could not be read, named no tool, or raised; or a tool that the gold run uses said no for another
   reason than 2b. Only if it was never made right: no later call of that tool ran (of any tool, where none was named),
   nor had the same call run before.
2. Rule Violation: (a) calls stood beside prose, so they were not made, then or later; (b) a tool said no for want of a
   login, of the wifi or of room, and never ran after that; (c) in a dialogue one message called different tools, and not
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
from wildtool.benchmarks.acebench.episode.fixed import Outcome, Ran, SoundWalk, offered_tools, tells_failure
from wildtool.benchmarks.acebench.episode.fixed_end_state import calls_of, same_call
from wildtool.benchmarks.acebench.episode.messages import Spoken
from wildtool.benchmarks.acebench.episode.official import MAX_MESSAGES, EpisodeWalk, StepWalk
from wildtool.benchmarks.acebench.episode.official_end_state import EndState
from wildtool.benchmarks.acebench.episode.official_execute import calls_to_run, decode_message
from wildtool.benchmarks.acebench.error_classes import CALL_ERROR, INFORMATION, RULE_VIOLATION, UNFINISHED
from wildtool.benchmarks.acebench.fixed.parse import read_calls
from wildtool.benchmarks.acebench.sandbox.edition import Edition
from wildtool.toolcall.call_syntax import Call, CallSyntaxError

Found = tuple[str, str]
"""Error class and reason."""
MAX_CALLS = 300
"""Calls of one episode that are looked at."""
MAX_TEXT = 4_000
"""Characters of one message that are looked at."""
_LOOKUPS = ("get_", "view_", "search_", "find_", "check_", "list_", "query_")
_UNMET = frozenset({"not_logged_in", "wifi_off", "full"})
"""Last parts of the cases in which a tool wants another step first."""
_CALL_IN_PROSE = re.compile(r"\b(\w{1,64})\(")


@dataclass(frozen=True, slots=True)
class _Case:
    """What the rules look at."""

    walk: EpisodeWalk | SoundWalk
    calls: Sequence[Ran]
    gold: Sequence[Call]
    """Calls of the milestone list of which most were made."""
    left_out: Sequence[int]
    """Positions of gold calls that were not made; no lookups."""
    extra: Sequence[Ran]
    """Calls that ran without being gold; no lookups."""


def classify(walk: EpisodeWalk | SoundWalk, end_state: EndState) -> Found:
    """The error class and the reason of an episode that is over and whose end state is wrong."""
    case = _case(walk)
    for rule in (_broken_call, _mixed, _unmet, _several_tools, _other_values, _asked_again, _left_out):
        found = rule(case)
        if found is not None:
            return found
    if case.left_out:
        return UNFINISHED, _never_made(case)
    if case.extra:
        return RULE_VIOLATION, f"{case.extra[0].name} ran although all was done without it"
    first = end_state.errors[0][0] if end_state.errors and end_state.errors[0] else end_state.error_type
    return RULE_VIOLATION, f"all expected calls were made, but the state differs: {first[:200]}"


def executed_calls(walk: EpisodeWalk | SoundWalk) -> list[Ran]:
    """All calls of an episode in order, each with what became of it; of official walks read from the dialogue."""
    if isinstance(walk, SoundWalk):
        return walk.executed[:MAX_CALLS]
    calls = chain.from_iterable(
        _ran_officially(walk, str(asked.message), answered, position)
        for position, (asked, answered) in enumerate(pairwise(walk.dialogue))
        if asked.sender == "agent" and answered.sender == "execution"
    )
    return list(islice(calls, MAX_CALLS))


def _ran_officially(walk: EpisodeWalk, text: str, answered: Spoken, position: int) -> Iterator[Ran]:
    calls = decode_message(text) if isinstance(walk, StepWalk) else calls_to_run(text)
    answers = answered.message
    if calls is None:
        if "[" in text:
            yield Ran("", {}, "unreadable", answers, position)
        return
    lost = not isinstance(walk, StepWalk) and len(answers) != len(calls)
    for number, written in enumerate(calls):
        call = _parsed(written)
        answer = answers if lost or isinstance(answers, str) else answers[number]
        outcome = "raised" if lost else _outcome(walk.edition, answer)
        if not walk.sandbox.tools(call.name):
            outcome = "unknown tool"
        yield Ran(call.name, cast(Mapping[str, Any], call.arguments), outcome, answer, position)


def _parsed(written: str) -> Call:
    try:
        return read_calls(f"[{written}]")[0]
    except (CallSyntaxError, IndexError):
        return Call(written.partition("(")[0], {})


def _outcome(edition: Edition, answer: Any) -> Outcome:
    prefix = str(edition.texts["Execution.multi_step.exception"]).partition("{")[0]
    if isinstance(answer, str) and prefix and answer.startswith(prefix):
        return "raised"
    return "failed" if tells_failure(edition, answer) else "ok"


def _case(walk: EpisodeWalk | SoundWalk) -> _Case:
    calls = executed_calls(walk)
    ran = [call for call in calls if call.outcome == "ok"]
    milestones = corrected(walk.record).milestones
    lists = milestones if milestones and isinstance(milestones[0], tuple) else (milestones,)
    ways = [_matched(calls_of(cast(Sequence[str], texts)), ran) for texts in lists]
    gold, left_out, extra = min(ways, key=lambda way: len(way[1]) / (len(way[0]) or 1))
    return _Case(walk, calls, gold, left_out, extra)


def _matched(gold: list[Call], ran: Sequence[Ran]) -> tuple[list[Call], list[int], list[Ran]]:
    """A gold list with the positions that were not made, and the calls that are not of it."""
    left = list(ran)
    left_out: list[int] = []
    for position, expected in enumerate(gold):
        at = next((at for at, call in enumerate(left) if same_call(expected, _as_call(call))), None)
        if at is not None:
            del left[at]
        elif not expected.name.startswith(_LOOKUPS):
            left_out.append(position)
    return gold, left_out, [call for call in left if not call.name.startswith(_LOOKUPS)]


def _as_call(ran: Ran) -> Call:
    return Call(ran.name, {**ran.arguments})


# Rules, in order -------------------------------------------------------------------------------------


def _broken_call(case: _Case) -> Found | None:
    gold_tools = {call.name for call in case.gold}
    for position, call in enumerate(case.calls):
        if call.outcome == "ok" or _mended(case, position):
            continue
        if call.outcome != "failed":
            return CALL_ERROR, f"{call.name or 'a message'}: {call.outcome}, and never made right"
        if call.name in gold_tools and not _is_unmet(case.walk.edition, call):
            return CALL_ERROR, f"{call.name} failed and never ran after that: {_told(call)}"
    return None


def _mixed(case: _Case) -> Found | None:
    offered = set(offered_tools(case.walk.record))
    ran_at = [(call.name, call.message) for call in case.calls if call.outcome == "ok"]
    for position, spoken in enumerate(case.walk.dialogue):
        if spoken.sender == "agent" and spoken.recipient == "user" and isinstance(spoken.message, str):
            for name in _CALL_IN_PROSE.findall(spoken.message[:MAX_TEXT]):
                if name in offered and not any(n == name and at > position for n, at in ran_at):
                    return RULE_VIOLATION, f"a call of {name} stood beside prose and was never made"
    return None


def _unmet(case: _Case) -> Found | None:
    for position, call in enumerate(case.calls):
        if _is_unmet(case.walk.edition, call) and not _mended(case, position):
            return RULE_VIOLATION, f"{call.name} needs a step that was left out: {_told(call)}"
    return None


def _several_tools(case: _Case) -> Found | None:
    if case.walk.record.category.endswith("multi_step"):
        return None
    together: dict[int, list[Ran]] = {}
    for call in case.calls:
        together.setdefault(call.message, []).append(call)
    for calls in together.values():
        names = {call.name for call in calls}
        if len(names) > 1 and not all(call.outcome == "ok" and _is_gold(case, call) for call in calls):
            return RULE_VIOLATION, f"one message called different tools: {', '.join(sorted(names)[:5])}"
    return None


def _other_values(case: _Case) -> Found | None:
    for position in case.left_out:
        expected = case.gold[position]
        for call in case.extra:
            if call.name == expected.name:
                return INFORMATION, f"{call.name} ran with other values: {_difference(expected, call)}"
    return None


def _asked_again(case: _Case) -> Found | None:
    asked: set[str] = set()
    for spoken in case.walk.dialogue:
        if spoken.sender == "agent" and spoken.recipient == "user" and isinstance(spoken.message, str):
            text = " ".join(spoken.message[:MAX_TEXT].casefold().split())
            if text in asked:
                return INFORMATION, f"asked twice: {text[:100]}"
            if "?" in text or "？" in text:
                asked.add(text)
    return None


def _left_out(case: _Case) -> Found | None:
    made = [
        position
        for position, call in enumerate(case.gold)
        if position not in case.left_out and not call.name.startswith(_LOOKUPS)
    ]
    skipped = [position for position in case.left_out if made and position < made[-1]]
    if not skipped:
        return None
    return RULE_VIOLATION, f"{case.gold[skipped[0]].name} was left out"


# What the rules ask ----------------------------------------------------------------------------------


def _mended(case: _Case, position: int) -> bool:
    """Whether a later call of the same tool ran (of any tool, where the call named none that is there), or the same call
    had run before.
    """
    call = case.calls[position]
    nameless = call.name not in offered_tools(case.walk.record)
    earlier = (other for other in case.calls[:position] if other.outcome == "ok")
    later = (other for other in case.calls[position + 1 :] if other.outcome == "ok")
    return any(nameless or other.name == call.name for other in later) or any(
        other.name == call.name and other.arguments == call.arguments for other in earlier
    )


def _is_unmet(edition: Edition, call: Ran) -> bool:
    """Whether a tool said no for want of a step that the scenario's rules ask for first."""
    if call.outcome != "failed":
        return False
    said = _message(call.answer)
    cases = (case for case in edition.texts if case.rpartition(".")[2] in _UNMET and f".{call.name}." in case)
    return any(_fits(str(edition.texts[case]), str(said)) for case in cases)


def _fits(sentence: str, said: str) -> bool:
    """Whether a text is this sentence with its blanks filled."""
    pattern = ".*".join(re.escape(part) for part in re.split(r"\{\w*\}", sentence))
    return re.fullmatch(pattern, said[:MAX_TEXT], re.DOTALL) is not None


def _is_gold(case: _Case, call: Ran) -> bool:
    return any(same_call(expected, _as_call(call)) for expected in case.gold)


def _difference(expected: Call, call: Ran) -> str:
    for key, value in expected.arguments.items():
        found = call.arguments.get(str(key), "nothing")
        if not same_call(Call("", {key: value}), Call("", {key: found})):
            return f"{key} is {str(found)[:80]!r}, expected {str(value)[:80]!r}"
    return "more arguments than expected"


def _never_made(case: _Case) -> str:
    spent = len(case.walk.dialogue) > MAX_MESSAGES
    how = "the messages were used up" if spent else "the episode ended"
    return f"{how} before {case.gold[case.left_out[0]].name} ran"


def _told(call: Ran) -> str:
    return str(_message(call.answer))[:200]


def _message(answer: Any) -> Any:
    return cast(dict[str, Any], answer).get("message", "") if isinstance(answer, dict) else answer
