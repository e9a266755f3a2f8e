"""What each profile of T-Eval makes of an answer, with an encoder that compares initials."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from benchmarks.teval.teval_build import INSTRUCT, KEYS, LAYOUT, NAMES, PROMPT, STEP, Initials, plan
from wildtool.benchmarks.teval.data import SETS, TevalRecord
from wildtool.benchmarks.teval.scores import EVALUATORS, AnswerScores

END: tuple[str, Any] = ("FinishAction", {})


INITIALS = Initials(alike=0.2, unlike=-0.5)


def record(
    name: str, gold: Any, form: str = "", template: dict[str, str] | None = None, names: Sequence[str] = ()
) -> TevalRecord:
    return TevalRecord(name, tuple(PROMPT), gold, form or SETS[name].form, template or {}, tuple(names))


def steps(*named: tuple[str, Any]) -> str:
    """A plan in JSON."""
    return json.dumps([{"id": place, "name": name, "args": args} for place, (name, args) in enumerate(named)])


def listing(scores: AnswerScores) -> str:
    values = [f"{name} {round(value, 6):g}" for name, value in scores.values.items()]
    return " ".join(
        [*values, *([] if scores.parsed else ["not parsed"]), *([scores.raised] if scores.raised else [])]
    )


KEYS = record("instruct", INSTRUCT, "json", KEYS)
TEXT = record("instruct", INSTRUCT, "string", LAYOUT)
NONE = record("instruct", {"action": "Tide.get", "args": {}}, "string", LAYOUT | {"thought_start": "Why: "})
PLAN_JSON = record("plan_json", plan(("Tide.get", {"harbour": "Vigo"}), ("Boat.book", {"time": "9:00"})))
PLAN_STR = record(
    "plan_str", plan(("Tide.get", {"harbour": "Vigo"}), ("Boat.book", {"time": "9:00"})), names=NAMES
)
ONLY = record("plan_json", plan())
ONLY_STR = record("plan_str", plan(), names=NAMES)
BROKEN = record("plan_json", [{"id": 0}])
REASON = record("reason_str", STEP)
RETRIEVE = record("retrieve_str", json.dumps(STEP))
UNDERSTAND = record("understand_str", {**STEP, "args": "9:00"})
RRU = record("rru_json", STEP)
RRU_TEXT = record("rru_json", {**STEP, "args": {}})
LOST = record("rru_json", "no step")
RETRIEVE_JSON = record("retrieve_str", STEP, "json")
REVIEW = record("review_str", {"answer": "B"})


@pytest.mark.parametrize(
    ("of", "answer", "toleap", "original", "fixed"),
    [
        (KEYS, None, "format 0 arguments 0 not parsed", "format 0 arguments 0 not parsed", "not parsed"),
        (KEYS, "", "format 0 arguments 0 not parsed", "format 0 arguments 0 not parsed", "not parsed"),
        (
            KEYS,
            json.dumps({"why": "", "api": "Tide.get", "with": {"harbour": "Vigo", "day": 3, "x": 1}}),
            "format 1 arguments 1",
            "format 1 arguments 1",
            "format 1 arguments 1",
        ),
        (
            KEYS,
            json.dumps({"why": "", "api": "Tide.set", "with": {"harbour": "Vigo", "day": "3"}}),
            "format 1 arguments 0.333333",
            "format 1 arguments 0.333333",
            "format 1 arguments 0.666667",
        ),
        (
            KEYS,
            json.dumps({"why": "", "api": "Tide.get", "with": "x"}),
            "format 1 arguments 0.333333",
            "format 1 arguments 0.333333",
            "format 1 arguments 0.333333",
        ),
        (
            KEYS,
            json.dumps({"api": "Tide.get", "with": {}}),
            "format 0 arguments 0 not parsed",
            "format 0 arguments 0 not parsed",
            "format 0 arguments 0 not parsed",
        ),
        (
            KEYS,
            "[1]",
            "format 0 arguments 0 not parsed",
            "format 0 arguments 0 not parsed",
            "format 0 arguments 0 not parsed",
        ),
        (
            KEYS,
            "{'why': 1, 'api': 'Tide.get', 'with': {'harbour': None}}",
            "format 1 arguments 0.333333",
            "format 1 arguments 0.333333",
            "format 1 arguments 0.333333",
        ),
        (
            KEYS,
            "Here: " + json.dumps({"why": "", "api": "Tide.get", "with": {"day": 3}}) + "<|im_end|>",
            "format 0 arguments 0 not parsed",
            "format 0 arguments 0 not parsed",
            "format 1 arguments 0.666667",
        ),
        (
            KEYS,
            "```json\n" + json.dumps({"why": "", "api": "Tide.get", "with": {"day": 3}}) + "\n```",
            "format 1 arguments 0.666667",
            "format 1 arguments 0.666667",
            "format 1 arguments 0.666667",
        ),
        (TEXT, None, "format 0 arguments 0 not parsed", "not parsed TypeError", "not parsed"),
        (
            TEXT,
            "words",
            "format 0 arguments 0 not parsed",
            "format 0 arguments 0 not parsed",
            "format 0 arguments 0 not parsed",
        ),
        (
            TEXT,
            "Why short: \nAPI: Tide.get\nWith: {'harbour': 'Vigo'}",
            "format 1 arguments 0",
            "format 1 arguments 0",
            "format 0 arguments 0 not parsed",
        ),
        (
            TEXT,
            "Why (short): \nAPI:  Tide.get \nWith: {'harbour': 'Vigo', 'day': 3}",
            "format 0 arguments 0 not parsed",
            "format 0 arguments 0 not parsed",
            "format 1 arguments 1",
        ),
        (
            NONE,
            "Why: a\nAPI: b\nWith: {}\nAPI: Tide.get\nWith: x",
            "format 1 arguments 1",
            "format 1 arguments 1",
            "format 1 arguments 0",
        ),
        (
            NONE,
            "Why: a\nAPI: Tide.get\nWith: {}",
            "format 1 arguments 1",
            "format 1 arguments 1",
            "format 1 arguments 1",
        ),
        (
            PLAN_JSON,
            None,
            "precision 0 recall 0 f1 0 not parsed",
            "precision 0 recall 0 f1 0 not parsed",
            "not parsed",
        ),
        (
            PLAN_JSON,
            "x",
            "precision 0 recall 0 f1 0 not parsed",
            "precision 0 recall 0 f1 0 not parsed",
            "precision 0 recall 0 f1 0 not parsed",
        ),
        (
            PLAN_JSON,
            steps(("Tide.get", {"harbour": "Vigo"}), ("Boat.book", {"time": "9:00"}), END),
            "precision 1 recall 1 f1 1",
            "precision 1 recall 1 f1 1",
            "precision 1 recall 1 f1 1",
        ),
        (
            PLAN_JSON,
            steps(("Boat.book", {"time": "9:00"}), ("Tide.get", {"harbour": "Vigo"})),
            "precision 0.5 recall 0.5 f1 0.5",
            "precision 0.5 recall 0.5 f1 0.5",
            "precision 0.5 recall 0.5 f1 0.5",
        ),
        (
            PLAN_JSON,
            steps(("Tide.get", "other"), ("Boat.book", {"time": "9:00"}), ("Boat.cancel", {}), END),
            "precision 0.333333 recall 0.5 f1 0.4",
            "precision 0.333333 recall 0.5 f1 0.4",
            "precision 0.444444 recall 0.666667 f1 0.533333",
        ),
        (
            PLAN_JSON,
            steps(("Tide.get", {}), ("Boat.book", "x")),
            "precision 0.5 recall 0.5 f1 0.5",
            "precision 0.5 recall 0.5 f1 0.5",
            "precision 0.416667 recall 0.416667 f1 0.416667",
        ),
        (
            PLAN_JSON,
            steps(("Other", {})),
            "precision 1 recall 0.5 f1 0.666667",
            "precision 1 recall 0.5 f1 0.666667",
            "precision 0 recall 0 f1 0",
        ),
        (
            PLAN_JSON,
            steps(END),
            "precision 0 recall 0 f1 0 ValueError",
            "precision 0 recall 0 f1 0 ValueError",
            "precision 0 recall 0 f1 0",
        ),
        (
            PLAN_JSON,
            steps(
                ("Tide.get", {"harbour": "Rome", "day": 1}),
                ("Tide.get", {"harbour": "Vigo"}),
                ("Boat.book", {"hour": "9:00"}),
            ),
            "precision 0.333333 recall 0.5 f1 0.4",
            "precision 0.333333 recall 0.5 f1 0.4",
            "precision 0.444444 recall 0.666667 f1 0.533333",
        ),
        (
            PLAN_JSON,
            json.dumps(
                [
                    {"id": 3, "name": "Boat.book", "args": {"time": "9:00"}},
                    {"id": "1", "name": "Tide.get", "args": {"harbour": " vigo"}},
                ]
            ),
            "precision 0.5 recall 0.5 f1 0.5",
            "precision 0.5 recall 0.5 f1 0.5",
            "precision 1 recall 1 f1 1",
        ),
        (
            PLAN_STR,
            None,
            "not parsed AttributeError",
            "not parsed AttributeError",
            "not parsed",
        ),
        (
            PLAN_STR,
            "1. Tide.get {'harbour': 'Vigo'}\n2. Boat.book {'time': '9:00'}\n3. FinishAction",
            "precision 0.5 recall 0.5 f1 0.5",
            "precision 0.5 recall 0.5 f1 0.5",
            "precision 1 recall 1 f1 1",
        ),
        (
            PLAN_STR,
            "First Boat.book. Then Tide.get. Then FinishAction",
            "precision 0.5 recall 0.5 f1 0.5",
            "precision 0.5 recall 0.5 f1 0.5",
            "precision 0.5 recall 0.5 f1 0.5",
        ),
        (
            PLAN_STR,
            "words",
            "precision 0 recall 0 f1 0 not parsed",
            "precision 0 recall 0 f1 0 not parsed",
            "precision 0 recall 0 f1 0 not parsed",
        ),
        (
            PLAN_STR,
            "{'harbour': 'Vigo'} Tide.get\n{'time': '9:00'} Boat.book",
            "precision 0.5 recall 0.5 f1 0.5",
            "precision 0.5 recall 0.5 f1 0.5",
            "precision 1 recall 1 f1 1",
        ),
        (
            ONLY,
            steps(END),
            "precision 0 recall 0 f1 0 ValueError",
            "precision 0 recall 0 f1 0 ValueError",
            "precision 1 recall 1 f1 1",
        ),
        (
            ONLY,
            steps(("Tide.get", {})),
            "precision 0 recall 0 f1 0 ValueError",
            "precision 0 recall 0 f1 0 ValueError",
            "precision 0 recall 0 f1 0",
        ),
        (
            ONLY,
            steps(("Tide.get", {}), END),
            "precision 0 recall 0 f1 0 ValueError",
            "precision 0 recall 0 f1 0 ValueError",
            "precision 0 recall 0 f1 0",
        ),
        (
            ONLY_STR,
            "FinishAction",
            "precision 0 recall 0 f1 0 not parsed",
            "precision 0 recall 0 f1 0 not parsed",
            "precision 1 recall 1 f1 1",
        ),
        (
            ONLY_STR,
            "Tide.get",
            "precision 0 recall 0 f1 0 ValueError",
            "precision 0 recall 0 f1 0 ValueError",
            "precision 0 recall 0 f1 0",
        ),
        (
            BROKEN,
            steps(END),
            "precision 0 recall 0 f1 0 not parsed",
            "precision 0 recall 0 f1 0 not parsed",
            "precision 0 recall 0 f1 0 not parsed",
        ),
        (REASON, None, "thought 0", "not parsed TypeError", "not parsed"),
        (REASON, "Find the tide first.", "thought 1", "thought 1", "thought 1"),
        (REASON, "Find it.", "thought 0.2", "thought 0.2", "thought 0.2"),
        (REASON, "Go.", "thought 0", "thought 0", "thought 0"),
        (REASON, " ", "thought 0", "thought 0", "not parsed"),
        (RETRIEVE, None, "name 0", "not parsed TypeError", "not parsed"),
        (RETRIEVE, "Tide.get", "name 1", "name 1", "name 1"),
        (RETRIEVE, "Use Tide.get!", "name 1", "name 1", "name 1"),
        (RETRIEVE, "Use Tide.get or Boat.book", "name 0", "name 0", "name 0"),
        (RETRIEVE, "Use Tide.get or Car.rent", "name 0", "name 0", "name 1"),
        (RETRIEVE, "Use FinishAction, Tide.get", "name 0", "name 0", "name 1"),
        (RETRIEVE, "tide", "name 0", "name 0", "name 0"),
        (RETRIEVE, "Tide.get.x", "name 1", "name 1", "name 0"),
        (RETRIEVE, "Tide.get.", "name 1", "name 1", "name 1"),
        (RETRIEVE, "x.Tide.get", "name 0", "name 0", "name 0"),
        (UNDERSTAND, None, "args 0", "not parsed AttributeError", "not parsed"),
        (UNDERSTAND, "9:00", "args 1", "args 1", "args 1"),
        (UNDERSTAND, "'9:00'", "args 1", "args 1", "args 1"),
        (UNDERSTAND, '"9:00"', "args 1", "args 1", "args 1"),
        (UNDERSTAND, " 9:00 ", "args 0", "args 0", "args 1"),
        (UNDERSTAND, "9:30", "args 0", "args 0", "args 0"),
        (RRU, None, "not parsed", "not parsed", "not parsed"),
        (
            RRU,
            json.dumps(STEP),
            "thought 1 name 1 args 1",
            "thought 1 name 1 args 0.999995",
            "thought 1 name 1 args 1",
        ),
        (
            RRU,
            json.dumps({**STEP, "thought": "Fish.", "name": "tide.get"}),
            "thought 0.2 name 0 args 1",
            "thought 0.2 name 0 args 0.999995",
            "thought 0.2 name 0 args 1",
        ),
        (
            RRU,
            json.dumps({**STEP, "args": {"harbour": "Vigo", "day": "3", "x": 1}}),
            "thought 1 name 1 args 0.8",
            "thought 1 name 1 args 0.999995",
            "thought 1 name 1 args 0.8",
        ),
        (
            RRU,
            json.dumps({**STEP, "args": "x"}),
            "thought 1 name 1 args 0",
            "thought 1 name 1 args 0",
            "thought 1 name 1 args 0",
        ),
        (
            RRU,
            json.dumps({"name": " `Tide.get` "}),
            "thought 0 name 0 args 0",
            "thought 0 name 0 args 0",
            "thought 0 name 1 args 0",
        ),
        (
            RRU,
            json.dumps({"thought": 3}),
            "thought 0 name 0 args 0",
            "thought 0 name 0 args 0",
            "thought 0 name 0 args 0",
        ),
        (RRU, "x {} " + json.dumps(STEP), "not parsed", "not parsed", "thought 1 name 1 args 1"),
        (RRU, "[1]", "not parsed", "not parsed", "not parsed"),
        (RRU, json.dumps({"a": 1}), "thought 0 name 0 args 0", "thought 0 name 0 args 0", "not parsed"),
        (
            RRU_TEXT,
            json.dumps({**STEP, "args": {}}),
            "thought 1 name 1 args 1",
            "thought 1 name 1 args 1",
            "thought 1 name 1 args 1",
        ),
        (
            RRU_TEXT,
            json.dumps({**STEP, "args": {"a": 1}}),
            "thought 1 name 1 args 0",
            "thought 1 name 1 args 0",
            "thought 1 name 1 args 0",
        ),
        (LOST, json.dumps(STEP), "not parsed", "not parsed", "not parsed"),
        (RETRIEVE_JSON, json.dumps(STEP), "name 1", "name 1", "name 1"),
        (RETRIEVE_JSON, None, "not parsed", "not parsed", "not parsed"),
        (RETRIEVE_JSON, json.dumps({"name": "x", "thought": "y"}), "name 0", "name 0", "name 0"),
        (REVIEW, None, "quality 0 not parsed", "not parsed AttributeError", "not parsed"),
        (REVIEW, "Answer: B", "quality 1", "quality 1", "quality 1"),
        (REVIEW, "B", "quality 1", "quality 1", "quality 1"),
        (REVIEW, "b", "quality 0 not parsed", "quality 0 not parsed", "quality 0 not parsed"),
        (REVIEW, "Answer: (B)", "quality 0 not parsed", "quality 0 not parsed", "quality 1"),
        (REVIEW, "So: C", "quality 0", "quality 0", "quality 0"),
        (REVIEW, "F", "quality 0 not parsed", "quality 0 not parsed", "quality 0 not parsed"),
        (REVIEW, "", "quality 0 not parsed", "quality 0 not parsed", "not parsed"),
        (REVIEW, "Because 1: the answer is B.", "quality 0 not parsed", "quality 0 not parsed", "quality 1"),
    ],
)
def test_what_each_profile_makes_of_an_answer(
    of: TevalRecord, answer: str | None, toleap: str, original: str, fixed: str
) -> None:
    found = [
        listing(EVALUATORS[name](INITIALS).score(answer, of)) for name in ("toleap", "original", "fixed")
    ]
    assert found == [toleap, original, fixed]


def test_a_step_that_is_alike_enough_is_matched_and_one_on_the_border_is_not() -> None:
    gold = record("plan_json", plan(("Tide.get", "abc"), ("Tide.get", "xyz"), ("Boat.book", "k")))
    weights = EVALUATORS["toleap"](INITIALS).weights
    read = EVALUATORS["toleap"](INITIALS).read_steps
    answer = steps(("Tide.get", "abc"), ("Tide.get", "xyw"), ("Boat.book", "q"), ("Boat", "k"))
    gold_steps = read(json.dumps(gold.gold[:-1]), gold)
    assert weights(read(answer, gold), gold_steps) == {(0, 0): 1.0}


def test_a_number_that_python_does_not_write_raises_except_in_fixed() -> None:
    huge = f"{{'name': 'x', 'args': {{'harbour': 0x{'f' * 9000}}}}}"
    scores = [EVALUATORS[name](INITIALS).score(huge, RRU) for name in ("toleap", "original", "fixed")]
    raised = AnswerScores(False, raised="ValueError")
    assert scores == [raised, raised, AnswerScores(True, {"thought": 0.0, "name": 0.0, "args": 0.0})]
