"""What is read in a judge's words: a table of outputs as models write them, and what no output may do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.judges.reading import (
    Expected,
    Scale,
    TurnJudgement,
    read_choice,
    read_judgement,
    read_rubric,
    read_typed,
)
from work import growth

PASS, FAIL, NOTHING = TurnJudgement(True), TurnJudgement(False), None


def said(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


@pytest.mark.parametrize(
    ("text", "judgement"),
    [
        ('{"pass": true, "why": "fits"}', PASS),
        ('{"pass": false}', FAIL),
        ('```json\n{"pass": false, "why": "no"}\n```', FAIL),
        ('My judgement:\n{"pass": true}', PASS),
        ('{"right": true}', PASS),
        ('{"verdict": "FAIL", "why": "the value would pass elsewhere"}', FAIL),
        ('{"pass": "yes"}', PASS),
        ('{"pass": "perhaps"}', NOTHING),
        ('{"pass": true} or rather {"pass": false}', NOTHING),
        ('{"pass": true, "correct": false}', NOTHING),
        ('{"pass": true} {"pass": true, "why": "again"}', PASS),
        ('<think>{"pass": false} at first</think>{"pass": true}', PASS),
        ("<think>It should fail</think>\nPASS", PASS),
        ('<think>I would say {"pass": true}', NOTHING),
        ("it may pass</think>FAIL", FAIL),
        ("<think>a<think>b</think>c</think>Pass.", PASS),
        ("PASS", PASS),
        ("**Fail**", FAIL),
        ("pass.", PASS),
        ("Verdict: pass", PASS),
        ("**Verdict:** FAIL", FAIL),
        ("Final verdict: not pass", FAIL),
        ("The verdict is: fail", FAIL),
        ("My judgment is correct", PASS),
        ("Decision: **rejected**", FAIL),
        ("Answer: no", FAIL),
        ("Verdict: pass\n\nOn reflection, verdict: fail", NOTHING),
        ("The call has the wrong value, which a test would not let pass.\n\nFail", FAIL),
        ("Pass\n\nThe value follows from the second message.", PASS),
        ("Pass\nNo wait.\nFail", NOTHING),
        ("The turn would pass if the date were right.", NOTHING),
        ("It is right that the user asks, but the call is wrong.", NOTHING),
        ("判定：通过", PASS),
        ("结论：不通过", FAIL),
        ("不正确", FAIL),
        ("是。", PASS),
        ("评分很难", NOTHING),
        ("", NOTHING),
        ("I cannot judge this.", NOTHING),
    ],
)
def test_a_verdict_is_read_where_there_is_one(text: str, judgement: TurnJudgement | None):
    assert read_judgement(said(text), "verdict", Scale()) == judgement


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("[[8]]", 8),
        ("Rating: [[7.5]]", 7.5),
        ("Score: 3", 3),
        ("**Score:** 9 of a good kind", 9),
        ("My score is 6.", 6),
        ("8/10", 8),
        ("I give it 9 out of 10.", 9),
        ("得分：6分", 6),
        ("8分", 8),
        ("7", 7),
        ('{"score": 4, "why": "10/10 for style"}', 4),
        ('{"score": "5"}', 5),
        ('{"rating": 10}', 10),
        ("Score: 11", None),
        ("11/10", None),
        ("4/5", None),
        ("0/10", None),
        ("-3", None),
        ('{"score": 0}', None),
        ('{"score": null}', None),
        ("[[3]] or [[8]]", None),
        ("Score: 3, then Score: 8", None),
        ("Score: 85 %", None),
        ("3 of the 10 arguments are wrong", None),
        ("<think>8/10", None),
        ("good", None),
    ],
)
def test_a_score_is_read_where_it_lies_on_the_scale(text: str, score: float | None):
    judgement = read_judgement(said(text), "score", Scale())
    assert judgement == (None if score is None else TurnJudgement(score >= 7, score))


def test_a_prompt_of_ones_own_may_ask_for_either():
    assert read_judgement(said('{"pass": false, "score": 9}'), "either", Scale()) == FAIL
    assert read_judgement(said("4/5"), "either", Scale(1, 5, 4)) == TurnJudgement(True, 4)
    assert read_judgement(said("Verdict: pass, score: 2"), "either", Scale()) == PASS


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ('{"better": "A"}', "A"),
        ('{"better": "b"}', "B"),
        ('{"better": "tie"}', "tie"),
        ("[[B]]", "B"),
        ("Winner: Turn A", "A"),
        ("A", "A"),
        ("B.\nIts value follows.", "B"),
        ("Neither", "tie"),
        ('{"better": "A"} {"better": "B"}', None),
        ("A is good, and so is B", None),
        ("Better: A\nBetter: B", None),
        ("<think>A", None),
        ("", None),
    ],
)
def test_a_choice_is_read_where_there_is_one(text: str, choice: str | None):
    assert read_choice(said(text)) == choice


def test_a_rubric_passes_where_each_criterion_has_one_answer_and_all_are_met():
    criteria = ("tools", "values")
    assert read_rubric(said('{"tools": true, "values": true}'), criteria) == PASS
    assert read_rubric(said('{"tools": true, "values": false}'), criteria) == FAIL
    assert read_rubric(said('{"tools": true}'), criteria) is None
    assert (
        read_rubric(said('{"tools": true, "values": true} {"tools": false, "values": true}'), criteria)
        is None
    )


@pytest.mark.parametrize(
    "answer",
    [None, "pass", {}, {"pass": "yes"}, {"pass": True, "score": 3}, {"score": True}, {"score": "7"}, [True]],
)
def test_a_function_or_an_endpoint_gives_one_typed_judgement(answer: object):
    assert read_typed(answer) is None


@pytest.mark.parametrize("answer", [True, {"pass": True}, 8, 8.0, {"score": 8}])
def test_what_a_function_gives_is_read_as_what_a_model_says(answer: object):
    message = read_typed(answer)
    assert message is not None
    judgement = read_judgement(message, "either", Scale())
    assert judgement is not None and judgement.passed


PIECES = (
    "<think>",
    "</think>",
    '{"pass": ',
    "true}",
    "[[",
    "]]",
    "7/10",
    "Verdict: ",
    "pass",
    "\n",
    "分",
    "{",
    "A",
)


@given(
    st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=12).map("".join),
    st.sampled_from(Expected.__args__),
)
def test_reading_never_fails(text: str, expected: Expected):
    for message in (said(text), {"content": [{"type": "text", "text": text}]}, {"content": None}, {}):
        read_judgement(message, expected, Scale())
        read_choice(message)
        read_rubric(message, ("tools",))


@pytest.mark.parametrize("piece", ["<think>", "[", "pass*", "verdict ", '{"pass":', "7 ", "1/", "得分"])
def test_the_work_of_reading_grows_with_the_text(piece: str):
    def reading(size: int):
        message = said(piece * size)
        return lambda: read_judgement(message, "either", Scale())

    assert growth(reading, 400) < 3
