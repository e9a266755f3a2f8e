"""Rules for single probes: what was requested beside what came, streamed beside whole, and a probe beside its control."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wildtool.check.answers import MARKUP, Answers, RawAnswer
from wildtool.check.defects import DefectKind
from wildtool.check.history_rules import (
    NO_GROWTH,
    check_history,
    check_prompts,
    check_results,
    growth_of,
    prompts_are_counted,
)
from wildtool.check.ledger import Ledger
from wildtool.check.probe import RequestedCall
from wildtool.check.probes import (
    CUT_TOKENS,
    FIRST,
    FOREIGN,
    HALL,
    KITCHEN,
    PINGED,
    SCHEMAS,
    UNUSUAL_NAMES,
    probes,
)
from wildtool.json_codec import as_object
from wildtool.toolcall.text.normal_form import normal_form

TWO_CALLS_SHARE = 1.6
"""Tokens of two calls as a multiple of those of one, at least."""
ALMOST_ALL = 0.9
"""Share of the characters of a long argument."""
LOSE_CALLS = (
    DefectKind.EMPTY_CALL_DROPPED,
    DefectKind.ARGUMENTS_DROPPED_AFTER_EMPTY_CALL,
    DefectKind.SECOND_CALL_BROKEN,
    DefectKind.SAME_INDEX,
    DefectKind.FINISH_REASON_WITHOUT_CALL,
    DefectKind.ARGUMENTS_NO_JSON_TEXT,
    DefectKind.BRACES_UNBALANCED,
    DefectKind.TYPES_CHANGE,
    DefectKind.ARGUMENTS_EMPTY,
    DefectKind.CALLS_SWALLOWED,
    DefectKind.OPTIONAL_INTEGERS_MALFORMED,
    DefectKind.PARALLEL_CALLS_LOST,
    DefectKind.TOOL_CHOICE_IGNORED,
    DefectKind.CALLS_AS_TEXT,
    DefectKind.REASONING_LEAKS,
    DefectKind.TEXT_NOT_ASCII_BROKEN,
    DefectKind.LONG_ARGUMENTS_CUT,
    DefectKind.ARGUMENTS_ENCODED_TWICE,
    DefectKind.SAME_CALL_TWICE,
    DefectKind.NAME_OR_ARGUMENTS_REPEATED,
)
"""Defects after which streamed and whole calls may differ."""


def check_probes(answers: Answers, ledger: Ledger) -> None:
    """Applies the rules for single probes."""
    for rule in (
        _empty_in_stream,
        _call_without_arguments,
        _second_call,
        _swallowed_calls,
        _lost_parallel_calls,
        _repeated_calls,
        _text_beside_call,
        _types,
        _optional_integers,
        _other_scripts,
        _reasoning,
        _tool_choice,
        _cut,
        check_prompts,
        _schemas,
        _names,
        check_history,
        check_results,
        _long,
        _same_again,
        _load,
    ):
        rule(answers, ledger)
    _differing_forms(answers, ledger)


def _form(answers: Sequence[RawAnswer], *, streamed: bool) -> list[RawAnswer]:
    """The complete replies of one form."""
    return [answer for answer in answers if answer.complete and answer.streamed == streamed]


def _forms(answers: Answers, probe: str) -> tuple[list[RawAnswer], list[RawAnswer]]:
    """Complete replies to a probe: whole, streamed."""
    every = answers.get(probe, ())
    return _form(every, streamed=False), _form(every, streamed=True)


def _right(answer: RawAnswer, *calls: RequestedCall) -> bool:
    return [(call.name, call.values) for call in answer.calls] == [(name, dict(v)) for name, v in calls]


def _called_names(answer: RawAnswer) -> list[str]:
    return [call.name for call in answer.calls]


def _empty_in_stream(answers: Answers, ledger: Ledger) -> None:
    unstreamed, streamed = _forms(answers, FIRST.name)
    if any(_right(answer, KITCHEN) for answer in unstreamed):
        bad = [
            answer
            for answer in streamed
            if any(not call.values and call.values is not None for call in answer.calls)
        ]
        good = [answer for answer in streamed if _right(answer, KITCHEN)]
        ledger.judge(DefectKind.ARGUMENTS_EMPTY, "the stream has the call without its arguments", bad, good)


def _call_without_arguments(answers: Answers, ledger: Ledger) -> None:
    if not any(answer.calls for answer in _forms(answers, FIRST.name)[1]):
        return  # the stream drops every call
    unstreamed, streamed = _forms(answers, "no arguments")
    if any(_called_names(answer) == ["ping"] for answer in unstreamed):
        bad = [answer for answer in streamed if not answer.calls and not MARKUP.search(answer.text)]
        good = [answer for answer in streamed if answer.calls]
        ledger.judge(
            DefectKind.EMPTY_CALL_DROPPED, "the whole reply has the call, the stream has none", bad, good
        )


def _second_call(answers: Answers, ledger: Ledger) -> None:
    """Two calls with arguments in the stream, and those after a call without."""
    if ledger.has(DefectKind.ARGUMENTS_EMPTY):
        return  # no call of a stream has arguments
    unstreamed, streamed = _forms(answers, "two calls")
    if any(_right(answer, KITCHEN, HALL) for answer in unstreamed):
        bad = [answer for answer in streamed if _right(answer, KITCHEN) or _empty_from(answer, 1)]
        good = [answer for answer in streamed if _right(answer, KITCHEN, HALL)]
        ledger.judge(
            DefectKind.SECOND_CALL_BROKEN,
            "the whole reply has two calls, the stream only the first with its arguments",
            bad,
            good,
        )
    unstreamed, streamed = _forms(answers, "call without arguments first")
    every = (PINGED, KITCHEN, HALL)
    if any(_right(answer, *every) for answer in unstreamed):
        bad = [
            answer for answer in streamed if _called_names(answer)[:1] == ["ping"] and _empty_from(answer, 1)
        ]
        good = [answer for answer in streamed if _right(answer, *every)]
        ledger.judge(
            DefectKind.ARGUMENTS_DROPPED_AFTER_EMPTY_CALL,
            "calls after one without arguments have none in the stream",
            bad,
            good,
        )


def _empty_from(answer: RawAnswer, place: int) -> bool:
    """Whether there are calls from a place on, and those have no arguments."""
    later = answer.calls[place:]
    return bool(later) and all(call.arguments in (None, "", "{}") for call in later)


def _swallowed_calls(answers: Answers, ledger: Ledger) -> None:
    """Only the call without arguments comes where it is first, and all calls where it is last."""
    for form, first, last in zip(
        ("whole", "streamed"),
        _forms(answers, "call without arguments first"),
        _forms(answers, "call without arguments last"),
        strict=True,
    ):
        control = any(len(answer.calls) == 3 for answer in last)
        alone = [answer for answer in first if _called_names(answer) == ["ping"]]
        if first and control and len(alone) == len(first):
            ledger.add(
                DefectKind.CALLS_SWALLOWED,
                f"{form}: only the call without arguments comes; in another order all three do",
                *alone,
            )
        elif any(len(answer.calls) == 3 for answer in first):
            ledger.passed(DefectKind.CALLS_SWALLOWED)


def _lost_parallel_calls(answers: Answers, ledger: Ledger) -> None:
    allowed, default = (
        [*unstreamed, *streamed]
        for unstreamed, streamed in (
            _forms(answers, name) for name in ("two calls", "two calls, default setting")
        )
    )
    several = [answer for answer in allowed if len(answer.calls) > 1]
    single = [answer for answer in (*allowed, *default) if len(answer.calls) == 1]
    if several:
        ledger.passed(DefectKind.PARALLEL_CALLS_LOST)
        wholes = [answer for answer in single if not answer.streamed]
        if all(answer.streamed for answer in several) and wholes:
            ledger.add(
                DefectKind.PARALLEL_CALLS_LOST, "the stream has two calls, the whole reply one", *wholes
            )
        elif default and all(len(answer.calls) == 1 for answer in default):
            ledger.add(
                DefectKind.PARALLEL_CALLS_LOST,
                "one call, unless the request sets parallel_tool_calls to true",
                *default,
            )
        return
    counts = [answer.tokens("completion_tokens") or 0 for answer in answers[FIRST.name] if answer.calls]
    usual = min([count for count in counts if count], default=0)
    costly = [
        answer
        for answer in single
        if usual
        and not answer.text
        and not answer.reasoning
        and (answer.tokens("completion_tokens") or 0) >= TWO_CALLS_SHARE * usual
    ]
    if costly:
        ledger.add(DefectKind.PARALLEL_CALLS_LOST, "one call, and the completion tokens of two", *costly)


def _repeated_calls(answers: Answers, ledger: Ledger) -> None:
    """Calls that come more often than they were requested."""
    requested = {
        probe.name: Counter(name for name, _ in probe.calls)
        for probe in (FIRST, *probes(quick=False, load=0))
        if probe.calls
    }
    for streamed in (False, True):
        doubled: dict[str, list[RawAnswer]] = {}
        single = False
        for name, counts in requested.items():
            replies = [answer for answer in _form(answers.get(name, ()), streamed=streamed) if answer.calls]
            twice = [answer for answer in replies if _comes_twice(answer, counts)]
            if replies and len(twice) == len(replies):
                doubled[name] = twice
            single = single or bool(replies and not twice)
        in_one_form = [
            name
            for name in doubled
            if any(
                not _comes_twice(other, requested[name])
                for other in _form(answers[name], streamed=not streamed)
            )
        ]
        if len(doubled) > 1 or in_one_form:
            every = [answer for group in doubled.values() for answer in group]
            ledger.add(DefectKind.SAME_CALL_TWICE, "a call that was requested once comes twice", *every)
        elif again := _all_again(answers, requested, streamed=streamed):
            ledger.add(DefectKind.SAME_CALL_TWICE, "every call comes twice", *again)
        elif single:
            ledger.passed(DefectKind.SAME_CALL_TWICE)


def _all_again(answers: Answers, requested: Mapping[str, Any], *, streamed: bool) -> list[RawAnswer]:
    """The replies to requests that spell out no call, where each call of each of them comes again; empty otherwise."""
    others = [group for name, group in answers.items() if name not in requested]
    replies = [answer for group in others for answer in _form(group, streamed=streamed) if answer.calls]
    if len(replies) > 1 and all(min(Counter(answer.keys).values()) > 1 for answer in replies):
        return replies
    return []


def _comes_twice(answer: RawAnswer, requested: Counter[str]) -> bool:
    """Whether equal calls come, and more calls of this tool than were requested."""
    names = Counter(_called_names(answer))
    return any(
        count > 1 and names[name] > requested[name]
        for (name, _), count in Counter(zip(_called_names(answer), answer.keys, strict=True)).items()
    )


def _text_beside_call(answers: Answers, ledger: Ledger) -> None:
    forms = [[answer for answer in form if answer.calls] for form in _forms(answers, "text and call")]
    if not all(forms):
        return
    texts = [[bool(answer.text.strip()) for answer in form] for form in forms]
    for own, other, form in ((0, 1, "whole"), (1, 0, "streamed")):
        if all(texts[other]) and not any(texts[own]):
            ledger.add(
                DefectKind.TEXT_BESIDE_CALL_DROPPED,
                f"the text beside the call is missing in {form} replies",
                *forms[own],
            )
    if any(texts[0]) and any(texts[1]):
        ledger.passed(DefectKind.TEXT_BESIDE_CALL_DROPPED)


def _types(answers: Answers, ledger: Ledger) -> None:
    unstreamed, streamed = _forms(answers, "types")
    values = {"count": 7, "ratio": 0.25, "exact": True}
    texts = {name: json.dumps(value) for name, value in values.items()}
    if not any(_right(answer, ("measure", values)) for answer in unstreamed):
        return
    good = [answer for answer in streamed if _right(answer, ("measure", values))]
    bad = [
        answer
        for answer in streamed
        for call in answer.calls[:1]
        if any(
            str(as_object(call.values).get(name)).lower() == text
            for name, text in texts.items()
            if isinstance(as_object(call.values).get(name), str)
        )
    ]
    ledger.judge(DefectKind.TYPES_CHANGE, "the whole reply has numbers, the stream texts", bad, good)


def _optional_integers(answers: Answers, ledger: Ledger) -> None:
    if any(answer.calls and answer.calls[0].values for answer in answers["optional integers"]):
        ledger.passed(DefectKind.OPTIONAL_INTEGERS_MALFORMED)


def _other_scripts(answers: Answers, ledger: Ledger) -> None:
    expected = normal_form("NFC", FOREIGN)
    for answer in answers["other scripts"]:
        values = as_object(answer.calls[0].values) if answer.complete and answer.calls else {}
        text = values.get("text")
        raw = str(answer.calls[0].arguments) if answer.calls else ""
        if not isinstance(text, str):
            if "\ufffd" in raw:
                ledger.add(DefectKind.TEXT_NOT_ASCII_BROKEN, "the argument holds U+FFFD", answer)
            continue
        if "\ufffd" in text:
            ledger.add(DefectKind.TEXT_NOT_ASCII_BROKEN, "the argument holds U+FFFD", answer)
        elif "\\u" in text or "\\x" in text:
            ledger.add(
                DefectKind.TEXT_NOT_ASCII_BROKEN, "the argument holds escapes instead of characters", answer
            )
        elif any(part in text for part in _misread(expected)):
            ledger.add(DefectKind.TEXT_NOT_ASCII_BROKEN, "the argument is UTF-8 read as Latin-1", answer)
        elif normal_form("NFC", text) == expected:
            ledger.passed(DefectKind.TEXT_NOT_ASCII_BROKEN)


def _misread(text: str) -> Iterator[str]:
    for word in text.split():
        if not word.isascii():
            yield word.encode().decode("latin-1")


def _reasoning(answers: Answers, ledger: Ledger) -> None:
    for answer in answers["reasoning"]:
        if answer.complete and answer.calls and MARKUP.search(answer.reasoning):
            ledger.add(DefectKind.REASONING_LEAKS, "a call that the reasoning only considers is made", answer)
        elif answer.complete and not answer.calls:
            # Whatever the model thinks of it, nothing of that leaked.
            ledger.passed(DefectKind.REASONING_LEAKS)


def _tool_choice(answers: Answers, ledger: Ledger) -> None:
    for name, problem in (
        ("choice none", "`none`, and a call"),
        ("choice required", "`required`, and no call"),
        ("choice named", "a named tool, and another call or none"),
    ):
        for answer in answers[name]:
            if _refused(answer, answers):
                ledger.add(DefectKind.TOOL_CHOICE_IGNORED, f"{problem.partition(',')[0]} is refused", answer)
            elif answer.complete and (answer.calls or answer.finish != "tool_calls"):
                ignored = {
                    "choice none": bool(answer.calls),
                    "choice required": not answer.calls,
                    "choice named": set(_called_names(answer)) != {"write_note"},
                }[name]
                ledger.judge(DefectKind.TOOL_CHOICE_IGNORED, problem, [answer] if ignored else [], [answer])


def _cut(answers: Answers, ledger: Ledger) -> None:
    for answer in answers["cut"]:
        if answer.failure or not (answer.calls or answer.finish == "length"):
            continue
        spent = answer.tokens("completion_tokens")
        # A whole call is longer than the limit, so an endpoint that says otherwise hides the cut.
        ledger.judge(
            DefectKind.CUT_REPLY_PASSES,
            f"a reply of {spent or 'unknown'} tokens at a limit of {CUT_TOKENS} ends with {answer.finish!r}",
            [answer] if answer.finish != "length" else [],
            [answer],
        )


def _refused(answer: RawAnswer, answers: Answers) -> bool:
    """Whether a request is refused, and the simplest one of the same form is not."""
    return answer.refused and any(
        not first.failure for first in answers[FIRST.name] if first.streamed == answer.streamed
    )


def _schemas(answers: Answers, ledger: Ledger) -> None:
    for feature in (*SCHEMAS, "no properties"):
        for answer in (*answers[f"schema {feature}"], *answers.get(f"long schema {feature}", ())):
            ledger.judge(
                DefectKind.SCHEMA_PARTS_DROPPED,
                f"{feature}: refused",
                [answer] if _refused(answer, answers) else [],
                [answer] if answer.complete else [],
            )
    if ledger.has(DefectKind.SCHEMA_PARTS_DROPPED) or not prompts_are_counted(answers):
        return  # also where no tool is in the prompt
    for feature in SCHEMAS:
        short, long = answers[f"schema {feature}"], answers[f"long schema {feature}"]
        growth = growth_of(short, long)
        if growth is not None and growth < NO_GROWTH:
            ledger.add(
                DefectKind.SCHEMA_PARTS_DROPPED,
                f"{feature}: dropped, a longer one adds {growth} prompt tokens",
                *long,
            )


def _names(answers: Answers, ledger: Ledger) -> None:
    for name in UNUSUAL_NAMES:
        for answer in answers[f"name {name}"]:
            shape = f"{len(name)} characters" if len(name) > 60 else name
            if _refused(answer, answers):
                ledger.add(DefectKind.NAMES_CHANGED, f"{shape}: refused", answer)
            elif answer.complete and answer.calls:
                other = answer.calls[0].name
                is_changed = other != name and (name.startswith(other) or _plain(other) == _plain(name))
                ledger.judge(
                    DefectKind.NAMES_CHANGED,
                    f"{shape}: comes back as {other}",
                    [answer] if is_changed else [],
                    [answer],
                )


def _plain(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())


def _long(answers: Answers, ledger: Ledger) -> None:
    expected = {probe.name: probe.calls for probe in probes(quick=False, load=0) if probe.group == "long"}
    for name, calls in expected.items():
        length = len(json.dumps(calls[0][1]))
        unstreamed, streamed = _forms(answers, name)
        right = [answer for answer in (*unstreamed, *streamed) if _right(answer, *calls)]
        for answer in answers.get(name, ()):
            if _refused(answer, answers):
                ledger.add(DefectKind.LONG_ARGUMENTS_CUT, f"{name}: refused", answer)
            elif answer in right:
                ledger.passed(DefectKind.LONG_ARGUMENTS_CUT)
            elif answer.complete and answer.calls and answer.calls[0].arguments:
                text = str(answer.calls[0].arguments)
                if len(text) >= ALMOST_ALL * length:
                    continue  # in another way wrong
                # At most six characters a token: more tokens were written than came.
                is_cut = (answer.tokens("completion_tokens") or 0) > len(text) and len(text) < length / 2
                if answer.calls[0].values is None or is_cut:
                    ledger.add(
                        DefectKind.LONG_ARGUMENTS_CUT,
                        f"{name}: {len(text):,} characters of {length:,} came",
                        answer,
                    )
                elif right:
                    ledger.add(
                        DefectKind.LONG_ARGUMENTS_CUT,
                        f"{name}: cut in one form only, after {len(text):,} characters",
                        answer,
                    )


def _same_again(answers: Answers, ledger: Ledger) -> None:
    every = [answer for answer in answers["same again"] if answer.complete and answer.calls]
    kinds = {answer.keys for answer in every}
    if len(kinds) > 1 and "temperature" in every[0].sent:
        ledger.add(
            DefectKind.REPLIES_DEPEND_ON_OTHERS,
            f"{len(kinds)} different calls on one request at temperature 0",
            *every,
        )


def _load(answers: Answers, ledger: Ledger) -> None:
    """Calls that carry the values of another request."""
    loaded = [answer for name, group in answers.items() if name.startswith("load ") for answer in group]
    rooms = {_room_of(answer): answer for answer in loaded}
    right = 0
    for answer in loaded:
        for call in answer.calls:
            room = as_object(call.values).get("room")
            if room == _room_of(answer):
                right += 1
            elif isinstance(room, str) and room in rooms:
                ledger.add(
                    DefectKind.REPLIES_DEPEND_ON_OTHERS,
                    f"under load, the call of another request: {room} for {_room_of(answer)}",
                    answer,
                )
    if loaded and right * 2 >= len(loaded):
        ledger.passed(DefectKind.REPLIES_DEPEND_ON_OTHERS)
    if failed := sum(bool(answer.failure) for answer in loaded):
        ledger.remark(
            f"{failed} of {len(loaded)} requests sent at once failed: {next(a.failure for a in loaded if a.failure)}"
        )


def _room_of(answer: RawAnswer) -> str:
    """The room that a request of the load probes names."""
    text: str = answer.sent["messages"][0]["content"]
    arguments: Any = json.JSONDecoder().raw_decode(text[text.index("{") :])[0]
    return arguments["room"]


def _differing_forms(answers: Answers, ledger: Ledger) -> None:
    """Forms that agree with themselves and not with each other, where no other rule says why."""
    explained = any(map(ledger.has, LOSE_CALLS))
    for name in answers:
        unstreamed, streamed = _forms(answers, name)
        if len(unstreamed) < 2 or len(streamed) < 2 or explained:
            continue
        kinds = [{answer.keys for answer in form} for form in (unstreamed, streamed)]
        if all(len(kind) == 1 for kind in kinds):
            bad = [unstreamed[0], streamed[0]] if kinds[0] != kinds[1] else []
            ledger.judge(
                DefectKind.STREAMED_AND_WHOLE_DIFFER,
                f"{name}: {len(unstreamed[0].calls)} calls whole, {len(streamed[0].calls)} streamed, or other values",
                bad,
                [unstreamed[0]] if unstreamed[0].calls else [],
            )
