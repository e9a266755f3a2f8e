"""Rules for single probes, on answers that are made by hand: each at the edge of what it says."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from wildtool.check.answers import RawAnswer
from wildtool.check.ledger import Ledger
from wildtool.check.probe_rules import check_probes
from wildtool.check.probes import FIRST, FOREIGN, probes

EVERY = {probe.name: probe for probe in (FIRST, *probes(quick=False, load=3))}
LAMP = ("set_lamp", {"room": "kitchen", "level": 30})


def made(
    *calls: tuple[str, Any],
    streamed: bool = False,
    text: str = "",
    finish: str = "stop",
    prompt: int = 0,
    completion: int = 0,
    probe: str = FIRST.name,
    **more: Any,
) -> RawAnswer:
    functions = [
        {
            "id": "c",
            "function": {
                "name": name,
                "arguments": values if isinstance(values, str) else json.dumps(values),
            },
        }
        for name, values in calls
    ]
    body = EVERY[probe].body(streamed, forced=False)
    usage = {"prompt_tokens": prompt, "completion_tokens": completion}
    message = {"content": text, "tool_calls": functions}
    return RawAnswer(probe=probe, sent=body, message=message, finish=finish, usage=usage, **more)


REFUSED: dict[str, Any] = {"failure": "HTTP 400", "status": 400}


def said(**answers: Sequence[RawAnswer]) -> tuple[list[tuple[int, str]], list[int], list[str]]:
    """Findings, what was tested beside them, and remarks. A name has `_` for each space and comma."""
    plain = {name.replace(" ", "_").replace(",", ""): name for name in EVERY}
    every: dict[str, Sequence[RawAnswer]] = dict.fromkeys(EVERY, ())
    every |= {plain[name]: group for name, group in answers.items()}
    ledger = Ledger()
    check_probes(every, ledger)
    fit = [number for number, status in ledger.statuses().items() if status == "fit"]
    return [(each.number, each.problem) for each in ledger.findings], fit, ledger.remarks


def note(text: Any) -> RawAnswer:
    return made(("write_note", {"text": text}))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (FOREIGN, None),
        ("Gru\u0308\u00dfe aus \u6771\u4eac \U0001f600", None),
        ("Gr\\xfc", "the argument holds escapes instead of characters"),
        ("Gr\\u00fc", "the argument holds escapes instead of characters"),
        ("Gr\ufffd", "the argument holds U+FFFD"),
        ("GrÃ¼Ã\x9fe", "the argument is UTF-8 read as Latin-1"),
    ],
)
def test_texts_that_are_not_ascii(text: str, problem: str | None):
    assert said(other_scripts=[note(text)]) == (
        [(24, problem)] if problem else [],
        [] if problem else [24],
        [],
    )


def test_texts_that_cannot_be_read_show_nothing_or_the_mark():
    assert said(other_scripts=[note(7), made(), note("other")]) == ([], [], [])
    broken = made(("write_note", '{"text": "\ufffd'))
    assert said(other_scripts=[broken]) == ([(24, "the argument holds U+FFFD")], [], [])
    cut = made(("write_note", {"text": "\ufffd"}), finish="length")
    assert said(other_scripts=[cut]) == ([], [], [])


def told(*texts: str) -> list[RawAnswer]:
    return [made(text=text) for text in texts]


def test_results_in_another_order_are_mixed_up_only_where_each_answer_is():
    mixed = (25, "results in another order are read as if in the order of the calls")
    swapped = "history_results_swapped"
    assert said(history=told("4", "4"), **{swapped: told("31", "31")}) == ([mixed], [], [])
    assert said(history=told("4"), **{swapped: told("31", "4")}) == ([], [25], [])
    assert said(history=told("4"), **{swapped: told("4 and 31")}) == ([], [25], [])
    assert said(history=told("4 or 31"), **{swapped: told("31")}) == ([], [], [])
    assert said(history=told("5"), **{swapped: told("31")}) == ([], [], [])
    assert said(history=told("4")) == ([], [], [])
    cut = [made(text="4", finish="length")]
    refused = [made(**REFUSED)]
    assert said(history=cut, history_empty_result=refused) == ([], [], [])
    assert said(history=told("4"), history_empty_result=refused) == (
        [(25, "an empty result is refused")],
        [],
        [],
    )
    assert said(history=told("4"), history_malformed_call=told("x")) == ([], [17], [])


def grown(first: int, second: int, tools: int = 100) -> Any:
    """Findings where the long system prompt adds tokens at each turn, and more tools at the first."""
    return said(
        first_turn_plain=[made(prompt=10)],
        first_turn_long_system_prompt=[made(prompt=10 + first)],
        first_turn_more_tools=[made(prompt=10 + tools)],
        second_turn_plain=[made(prompt=20)],
        second_turn_long_system_prompt=[made(prompt=20 + second)],
    )


def test_what_vanishes_from_the_second_turn_shows_in_its_tokens():
    gone = (26, "the system prompt is not in the prompt of the second turn")
    assert grown(60, 14) == ([gone], [], [])
    assert grown(60, 15) == ([], [26], [])
    assert grown(59, 0) == ([], [], [])
    no_tools = (22, "no tool is in the prompt: four more add 14 tokens (llama.cpp needs --jinja)")
    assert grown(60, 15, 14) == ([no_tools], [26], [])
    assert grown(60, 15, 15) == ([], [26], [])
    assert grown(59, 15, 14) == ([], [], [])


def test_a_schema_that_adds_no_tokens_is_dropped():
    def feature(growth: int) -> Any:
        return said(schema_enum=[made(prompt=10)], long_schema_enum=[made(prompt=10 + growth)])

    value = feature(14), feature(15)
    assert value == (([(22, "enum: dropped, a longer one adds 14 prompt tokens")], [], []), ([], [22], []))
    refused = said(**{FIRST.name.replace(" ", "_"): [made()], "schema_enum": [made(**REFUSED)]})
    assert refused == ([(22, "enum: refused")], [], [])
    alone = said(schema_enum=[made(**REFUSED)])
    assert alone == ([], [], []), "the simplest request was not answered either"


def test_a_name_that_comes_back_otherwise_is_changed():
    def back(name: str) -> Any:
        return said(**{"name_lamp.set_level": [made((name, {"level": 30}))]})

    assert back("lamp.set_level") == ([], [23], [])
    assert back("lamp") == ([(23, "lamp.set_level: comes back as lamp")], [], [])
    assert back("LampSetLevel") == ([(23, "lamp.set_level: comes back as LampSetLevel")], [], [])
    assert back("other") == ([], [23], [])


def test_tool_choice_is_obeyed_or_not():
    first: dict[str, Any] = {"one_call": [made()]}
    assert said(choice_none=[made(LAMP)]) == ([(18, "`none`, and a call")], [], [])
    assert said(choice_none=[made()]) == ([], [18], [])
    assert said(choice_none=[made(finish="tool_calls")]) == ([], [], [])
    assert said(choice_required=[made()]) == ([(18, "`required`, and no call")], [], [])
    assert said(choice_required=[made(LAMP, finish="tool_calls")]) == ([], [18], [])
    assert said(choice_named=[made(("write_note", {}))]) == ([], [18], [])
    assert said(choice_named=[made(("write_note", {}), LAMP)]) == (
        [(18, "a named tool, and another call or none")],
        [],
        [],
    )
    assert said(choice_named=[made(**REFUSED)], **first) == ([(18, "a named tool is refused")], [], [])
    assert said(choice_named=[made(streamed=True, **REFUSED)], **first) == ([], [], [])


def test_a_reply_that_must_be_cut_says_so():
    def cut(finish: Any, completion: int = 16, *calls: Any) -> Any:
        return said(cut=[made(*calls, finish=finish, completion=completion)])

    assert cut("length") == ([], [19], [])
    assert cut("stop") == ([], [], [])
    assert cut("stop", 16, LAMP) == ([(19, "a reply of 16 tokens at a limit of 16 ends with 'stop'")], [], [])
    assert cut("stop", 0, LAMP) == (
        [(19, "a reply of unknown tokens at a limit of 16 ends with 'stop'")],
        [],
        [],
    )
    assert said(cut=[made(LAMP, **REFUSED)]) == ([], [], [])


def test_one_call_of_two_is_lost_where_its_tokens_were_written():
    lost = (16, "one call, and the completion tokens of two")

    def costs(usual: int, tokens: int, **more: Any) -> Any:
        return said(
            one_call=[made(LAMP, completion=usual)], two_calls=[made(LAMP, completion=tokens, **more)]
        )

    assert costs(10, 16) == ([lost], [], [])
    assert costs(10, 15) == ([], [], [])
    assert costs(10, 16, text="So.") == ([], [], [])
    assert costs(0, 16) == ([], [], [])
    without_usage = replace(made(LAMP), usage={})
    assert said(one_call=[made(LAMP, completion=10)], two_calls=[without_usage]) == ([], [], [])
    both = [made(LAMP, LAMP, streamed=True)]
    assert said(two_calls=[*both, made(LAMP)]) == (
        [(16, "the stream has two calls, the whole reply one")],
        [],
        [],
    )
    single = "two_calls_default_setting"
    default = (16, "one call, unless the request sets parallel_tool_calls to true")
    assert said(two_calls=[made(LAMP, LAMP)], **{single: [made(LAMP)]}) == ([default], [], [])
    assert said(two_calls=[made(LAMP, LAMP)], **{single: [made(LAMP), made(LAMP, LAMP)]}) == ([], [16], [])


def test_calls_at_once_keep_their_own_values():
    def load(number: int, room: Any, **more: Any) -> Any:
        return {f"load_{number}": [made(("set_lamp", {"room": room}), probe=f"load {number}", **more)]}

    own = load(0, "room 1000") | load(1, "room 1037")
    assert said(**own) == ([], [28], [])
    other = (28, "under load, the call of another request: room 1000 for room 1037")
    assert said(**load(0, "room 1000"), **load(1, "room 1000")) == ([other], [], [])
    assert said(**load(0, "room 1000"), **load(1, "elsewhere"), **load(2, 7)) == ([], [], [])
    failed = load(0, "room 1000") | {"load_1": [made(probe="load 1", failure="HTTP 500", status=500)]}
    assert said(**failed) == ([], [28], ["1 of 2 requests sent at once failed: HTTP 500"])


def test_one_request_sent_again_gives_one_call():
    calls = [made(("write_note", {"text": text}), probe="same again") for text in "aab"]
    assert said(same_again=calls) == ([(28, "2 different calls on one request at temperature 0")], [], [])
    assert said(same_again=calls[:2]) == ([], [], [])
    assert said(same_again=[*calls[:2], made(probe="same again")]) == ([], [], [])
    assert said(same_again=calls[2:]) == ([], [], [])
    for call in calls:
        del call.sent["temperature"]  # type: ignore[attr-defined]
    assert said(same_again=calls) == ([], [], [])


def numbers(size: int, **more: Any) -> RawAnswer:
    """A call with a list that is so long as JSON, where 905 characters were requested."""
    return made(("store", '{"numbers":"' + "1" * (size - 14) + '"}'), probe="long list", **more)


WHOLE_LIST = made(("store", {"numbers": [*range(1, 201)]}), probe="long list", streamed=True)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([WHOLE_LIST], ([], [30], [])),
        ([numbers(452, completion=453)], ([(30, "long list: 452 characters of 905 came")], [], [])),
        ([numbers(452, completion=452)], ([], [], [])),
        ([numbers(453, completion=454)], ([], [], [])),
        ([replace(numbers(452), usage={})], ([], [], [])),
        (
            [WHOLE_LIST, numbers(453, completion=454)],
            ([(30, "long list: cut in one form only, after 453 characters")], [], []),
        ),
        (
            [WHOLE_LIST, numbers(814)],
            ([(30, "long list: cut in one form only, after 814 characters")], [], []),
        ),
        ([WHOLE_LIST, numbers(815)], ([], [30], [])),
        ([WHOLE_LIST, numbers(453, finish="length")], ([], [30], [])),
        ([WHOLE_LIST, made(("store", ""))], ([], [30], [])),
        ([made(("store", "{"))], ([(30, "long list: 1 characters of 905 came")], [], [])),
    ],
)
def test_long_arguments_are_cut_where_fewer_characters_came_than_were_written(
    answers: list[RawAnswer], expected: Any
):
    assert said(long_list=answers) == expected


def test_long_arguments_are_refused_where_short_ones_are_answered():
    refused = [made(**REFUSED)]
    assert said(one_call=[made()], long_text=refused) == ([(30, "long text: refused")], [], [])
    assert said(long_text=refused) == ([], [], [])


def test_text_beside_a_call_is_missing_where_the_other_form_has_it():
    def beside(whole: Sequence[str], streamed: Sequence[str]) -> Any:
        answers = [made(LAMP, text=text) for text in whole]
        return said(text_and_call=[*answers, *(made(LAMP, text=text, streamed=True) for text in streamed)])

    for form, group in (("whole", ([" "], ["So."])), ("streamed", (["So."], [""]))):
        missing = (9, f"the text beside the call is missing in {form} replies")
        assert beside(*group) == ([missing], [], [])
    for group in ((["", "So."], ["So."]), (["So."], ["", "So."])):
        assert beside(*group) == ([], [9], [])
    for group in (([""], ["So.", ""]), (["So.", ""], [""]), ([""], [""]), (["So."], []), ([], ["So."])):
        assert beside(*group) == ([], [], [])


def test_numbers_that_become_texts_in_the_stream():
    values = {"count": 7, "ratio": 0.25, "exact": True}
    texts = {"count": "7", "ratio": 0.25, "exact": "True"}
    whole, streamed = made(("measure", values)), made(("measure", values), streamed=True)
    wrong = made(("measure", texts), streamed=True)
    assert said(types=[whole, streamed]) == ([], [12], [])
    assert said(types=[whole, wrong]) == ([(12, "the whole reply has numbers, the stream texts")], [], [])
    assert said(types=[made(("measure", texts)), wrong]) == ([], [], [])


def test_forms_that_differ_without_another_reason_are_named():
    group = [made(LAMP)] * 2 + [made(streamed=True)] * 2
    problem = (0, "optional integers: 1 calls whole, 0 streamed, or other values")
    assert said(optional_integers=group) == ([problem], [15], [])
    assert said(optional_integers=group[1:]) == ([], [15], [])
    assert said(optional_integers=[*group[:2], *[made(LAMP, streamed=True)] * 2]) == ([], [0, 15], [])
    other = [made(LAMP), made(("set_lamp", {})), *group[2:]]
    assert said(optional_integers=other) == ([], [15], [])
    # Another rule says why.
    assert said(optional_integers=group, choice_none=[made(LAMP)]) == ([(18, "`none`, and a call")], [15], [])


HALL = ("set_lamp", {"room": "hall", "level": 80})
PING = ("ping", {})
EMPTY = ("set_lamp", {})


@pytest.mark.parametrize(
    ("whole", "streamed", "expected"),
    [
        (LAMP, EMPTY, ([(13, "the stream has the call without its arguments")], [], [])),
        (LAMP, LAMP, ([], [13], [])),
        (LAMP, ("set_lamp", "{"), ([], [], [])),
        (LAMP, HALL, ([], [], [])),
        (HALL, EMPTY, ([], [], [])),
    ],
)
def test_a_call_may_lose_its_arguments_in_the_stream(whole: Any, streamed: Any, expected: Any):
    assert said(one_call=[made(whole), made(streamed, streamed=True)]) == expected


def test_a_call_without_arguments_may_be_lost_in_the_stream():
    lost = (1, "the whole reply has the call, the stream has none")
    first = {"one_call": [made(LAMP, streamed=True)]}
    whole, none = made(PING), made(streamed=True)
    assert said(no_arguments=[whole, none], **first) == ([lost], [], [])
    assert said(no_arguments=[whole, made(PING, streamed=True)], **first) == ([], [1], [])
    assert said(no_arguments=[made(), none], **first) == ([], [], [])
    assert said(no_arguments=[whole, none]) == ([], [], [])
    as_text = made(streamed=True, text="<tool_call>")
    assert said(no_arguments=[whole, as_text], **first) == ([], [], [])


@pytest.mark.parametrize(
    ("calls", "findings", "fit"),
    [
        ([LAMP], [3], [16]),
        ([LAMP, EMPTY], [3], [16]),
        ([LAMP, ("set_lamp", "")], [3], [16]),
        ([EMPTY, EMPTY], [3], [16]),
        ([LAMP, HALL], [], [3, 16]),
        ([HALL], [], [16]),
        ([HALL, LAMP], [], [16]),
    ],
)
def test_the_second_of_two_calls_may_be_broken_in_the_stream(
    calls: list[Any], findings: list[int], fit: list[int]
):
    problem = "the whole reply has two calls, the stream only the first with its arguments"
    whole = made(LAMP, HALL)
    answers = said(two_calls=[whole, made(*calls, streamed=True)])
    assert answers == ([(number, problem) for number in findings], fit, [])
    assert said(two_calls=[made(*calls, streamed=True)])[0] == []


@pytest.mark.parametrize(
    ("calls", "findings", "fit"),
    [
        ([PING, EMPTY], [2], [14]),
        ([PING, EMPTY, EMPTY], [2], [14]),
        ([PING, LAMP, EMPTY], [], [14]),
        ([PING, LAMP, HALL], [], [2, 14]),
        ([LAMP, EMPTY], [], [14]),
        ([PING], [], [14]),
    ],
)
def test_calls_after_one_without_arguments_may_be_broken_in_the_stream(
    calls: list[Any], findings: list[int], fit: list[int]
):
    problem = "calls after one without arguments have none in the stream"
    whole = made(PING, LAMP, HALL)
    answers = said(call_without_arguments_first=[whole, made(*calls, streamed=True)])
    assert answers == ([(number, problem) for number in findings], fit, [])
    # Where no call of a stream has arguments, that is why.
    no_arguments = [made(LAMP), made(EMPTY, streamed=True)]
    assert said(one_call=no_arguments, call_without_arguments_first=[whole, made(*calls, streamed=True)]) == (
        [(13, "the stream has the call without its arguments")],
        [14],
        [],
    )


@pytest.mark.parametrize("streamed", [False, True])
def test_a_call_without_arguments_may_swallow_those_after_it(streamed: bool):
    form = "streamed" if streamed else "whole"
    swallowed = (14, f"{form}: only the call without arguments comes; in another order all three do")

    def first(*groups: Sequence[Any], last: Sequence[Any] = (LAMP, HALL, PING)) -> Any:
        return said(
            call_without_arguments_first=[made(*calls, streamed=streamed) for calls in groups],
            call_without_arguments_last=[made(*last, streamed=streamed)],
        )

    assert first([PING], [PING]) == ([swallowed], [], [])
    assert first([PING], [PING, LAMP]) == ([], [], [])
    assert first([PING], [PING, LAMP, HALL]) == ([], [14], [])
    assert first([PING], last=[LAMP, HALL]) == ([], [], [])
    assert first() == ([], [], [])


def test_a_call_that_the_reasoning_only_considers_is_not_to_be_made():
    considered = (21, "a call that the reasoning only considers is made")

    def reasoned(*calls: Any, reasoning: str = "<tool_call>", **more: Any) -> Any:
        answer = made(*calls, **more)
        return said(reasoning=[replace(answer, message={**answer.message, "reasoning": reasoning})])

    assert reasoned(LAMP) == ([considered], [], [])
    for other in (reasoned(), reasoned(LAMP, reasoning="Hm."), reasoned(LAMP, finish="length")):
        assert other == ([], [], [])
