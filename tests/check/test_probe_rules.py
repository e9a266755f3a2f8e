"""Rules for single probes, on answers that are made by hand: each at the edge of what it says."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from wildtool.check.answers import RawAnswer
from wildtool.check.ledger import Ledger
from wildtool.check.probe_rules import check_probes
from wildtool.check.probes import FIRST, probes

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
    """Findings, what was tested beside them, and remarks. A name has `_` for each space, and no comma.

    Any call that comes once tests 32; that is left out where 32 is not what was found.
    """
    plain = {name.replace(" ", "_").replace(",", ""): name for name in EVERY}
    every: dict[str, Sequence[RawAnswer]] = dict.fromkeys(EVERY, ())
    every |= {plain[name]: group for name, group in answers.items()}
    ledger = Ledger()
    check_probes(every, ledger)
    fit = [number for number, status in ledger.statuses().items() if status == "fit" and number != 32]
    return [(each.kind, each.problem) for each in ledger.findings], fit, ledger.remarks


def test_a_name_that_comes_back_otherwise_is_changed():
    def back(name: str) -> Any:
        return said(**{"name_lamp.set_level": [made((name, {"level": 30}))]})

    assert back("lamp.set_level") == ([], [23], [])
    assert back("lamp") == ([(23, "lamp.set_level: comes back as lamp")], [], [])
    assert back("LampSetLevel") == ([(23, "lamp.set_level: comes back as LampSetLevel")], [], [])
    assert back("other") == ([], [23], [])


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
    for other in (reasoned(LAMP, reasoning="Hm."), reasoned(LAMP, finish="length")):
        assert other == ([], [], [])
    assert reasoned() == ([], [21], [])
    assert said(reasoning=[made(text="ready")]) == ([], [21], []), "a model without reasoning leaks none"
