"""T-Eval's rules: what is sent, what a verdict says, planted mistakes, and why a profile misses or refuses them."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from benchmarks.teval.teval_build import INSTRUCT, KEYS, LAYOUT, NAMES, PROMPT, STEP, Initials, plan
from wildtool.benchmark import Check
from wildtool.benchmarks.teval.data import SETS, TevalRecord
from wildtool.benchmarks.teval.rules import TevalRules, right_answer
from wildtool.benchmarks.teval.scores import EVALUATORS
from wildtool.types import Item, Request

PROFILES = ("toleap", "original", "fixed")


def rules(profile: str) -> TevalRules:
    return TevalRules(EVALUATORS[profile](Initials(alike=0.5, unlike=0.0)))


def item(
    name: str, gold: Any, form: str = "", template: dict[str, str] | None = None, names: Sequence[str] = NAMES
) -> Item:
    record = TevalRecord(name, tuple(PROMPT), gold, form or SETS[name].form, template or {}, tuple(names))
    return Item(f"{name}/one", ("0",), record, name)


def message(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def steps(*named: tuple[str, Any], ids: Sequence[int] = range(9)) -> str:
    """A plan in JSON as an answer: arguments are Python text."""
    entries = [
        {"id": number, "name": name, "args": str(args)}
        for number, (name, args) in zip(ids, named, strict=False)
    ]
    return json.dumps(entries, ensure_ascii=False)


GOLD_STEPS = (("Tide.get", {}), ("Boat.book", {"time": "ü", "day": 1}), ("Boat.cancel", {"all": True}))
END: tuple[str, Any] = ("FinishAction", {})
KEYED = item("instruct", INSTRUCT, "json", KEYS)
LAID_OUT = item("instruct", INSTRUCT, "string", LAYOUT)
PLAN_JSON = item("plan_json", plan(*GOLD_STEPS))
PLAN_STR = item("plan_str", plan(("Tide.get", {"a": "x. y\nz"}), ("Boat.book", {})))
REASON, RETRIEVE = item("reason_str", STEP), item("retrieve_str", json.dumps(STEP))
UNDERSTAND, RRU = item("understand_str", {**STEP, "args": "9:00"}), item("rru_json", STEP)
REVIEW = item("review_str", {"answer": "D"})
CALLED = "This is the call that was asked for."


def keyed(action: str, args: dict[str, Any]) -> str:
    return json.dumps({"why": CALLED, "api": action, "with": args}, ensure_ascii=False)


def laid_out(action: str, args: dict[str, Any]) -> str:
    return f"Why (short): {CALLED}\nAPI: {action}\nWith: {args}"


def step(**changes: Any) -> str:
    return json.dumps({**STEP, **changes}, ensure_ascii=False)


# What is sent and planted ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("of", "answer"),
    [
        (KEYED, keyed("Tide.get", INSTRUCT["args"])),
        (item("instruct", {"action": "ä", "args": {}}, "json", KEYS), keyed("ä", {})),
        (LAID_OUT, laid_out("Tide.get", INSTRUCT["args"])),
        (PLAN_JSON, steps(*GOLD_STEPS, END)),
        (PLAN_STR, "Tide.get {'a': 'x.y\\nz'}\nBoat.book {}\nFinishAction {}"),
        (REASON, "Find the tide first."),
        (RETRIEVE, "Tide.get"),
        (UNDERSTAND, "9:00"),
        (RRU, json.dumps(STEP)),
        (item("rru_json", {"name": "ä"}), '{"thought": "", "name": "ä", "args": ""}'),
        (item("reason_str", "none"), ""),
        (item("retrieve_str", STEP, "json"), json.dumps(STEP)),
        (item("rru_json", STEP, "str"), json.dumps(STEP)),
        (REVIEW, "Answer: D"),
    ],
)
def test_a_request_has_the_prompt_and_a_right_answer(of: Item, answer: str) -> None:
    request = rules("fixed").episode(of, "0").request()
    assert isinstance(request, Request) and request.gold is not None
    assert (request.messages, request.tools) == (tuple(PROMPT), ())
    assert request.gold("any") == message(answer) == message(right_answer(of.data))


def test_a_right_answer_that_a_profile_refuses_has_no_mistakes() -> None:
    assert [list(rules(profile).mutants(LAID_OUT)) == [] for profile in PROFILES] == [True, True, False]


# Verdicts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("of", "profile", "reply", "expected"),
    [
        (
            KEYED,
            "toleap",
            keyed("Tide.set", INSTRUCT["args"]),
            Check(
                False,
                "wrong action or arguments",
                "format 1, arguments 0.667",
                (1 + 2 / 3) / 2,
                {"format": 1.0, "arguments": 2 / 3, "parsed": True, "encoder": None},
            ),
        ),
        (
            KEYED,
            "toleap",
            "x",
            Check(
                False,
                "not parsed",
                "not in the form that was asked for; format 0, arguments 0",
                0.0,
                {"format": 0.0, "arguments": 0.0, "parsed": False, "encoder": None},
            ),
        ),
        (
            PLAN_JSON,
            "toleap",
            steps(*GOLD_STEPS, END),
            Check(
                True,
                None,
                "f1 1",
                1.0,
                {"precision": 1.0, "recall": 1.0, "f1": 1.0, "parsed": True, "encoder": "initials"},
            ),
        ),
        (
            PLAN_JSON,
            "fixed",
            steps(GOLD_STEPS[0], END),
            Check(
                False,
                "wrong plan",
                "f1 0.5",
                0.5,
                {"precision": 1.0, "recall": 1 / 3, "f1": 0.5, "parsed": True, "encoder": None},
            ),
        ),
        (
            PLAN_JSON,
            "original",
            steps(END),
            Check(
                False,
                "wrong plan",
                "the published evaluator raises ValueError",
                0.0,
                {
                    "precision": 0.0,
                    "recall": 0.0,
                    "f1": 0.0,
                    "parsed": True,
                    "encoder": "initials",
                    "reference_error": "ValueError",
                },
            ),
        ),
        (
            # Alike by half is enough for a thought, and not for a name.
            RRU,
            "original",
            step(thought="Fish."),
            Check(
                True,
                None,
                "thought 0.5, name 1, args 1",
                (1.5 + 2 / (2 + 1e-5)) / 3,
                {"thought": 0.5, "name": 1.0, "args": 2 / (2 + 1e-5), "parsed": True, "encoder": "initials"},
            ),
        ),
        (
            RRU,
            "toleap",
            step(thought="Go.", name="x"),
            Check(
                False,
                "other thought",
                "thought 0, name 0, args 1",
                1 / 3,
                {"thought": 0.0, "name": 0.0, "args": 1.0, "parsed": True, "encoder": "initials"},
            ),
        ),
        (
            RRU,
            "fixed",
            step(name="x"),
            Check(
                False,
                "wrong API",
                "thought 1, name 0, args 1",
                2 / 3,
                {"thought": 1.0, "name": 0.0, "args": 1.0, "parsed": True, "encoder": "initials"},
            ),
        ),
        (
            UNDERSTAND,
            "original",
            None,
            Check(
                False,
                "not parsed",
                "the published evaluator raises AttributeError",
                0.0,
                {"parsed": False, "encoder": None, "reference_error": "AttributeError"},
            ),
        ),
        (
            REVIEW,
            "toleap",
            "Answer: C",
            Check(False, "wrong letter", "quality 0", 0.0, {"quality": 0.0, "parsed": True, "encoder": None}),
        ),
        (
            item("review_str", {"answer": "B"}),
            "toleap",
            "Answer: B",
            Check(True, None, "quality 1", 1.0, {"quality": 1.0, "parsed": True, "encoder": None}),
        ),
    ],
)
def test_a_verdict_has_the_scores_and_the_first_that_is_too_low(
    of: Item, profile: str, reply: str | None, expected: Check
) -> None:
    episode = rules(profile).episode(of, "0")
    episode.advance({"role": "assistant", "content": reply})
    assert rules(profile).verdict(episode, of, "0") == expected


def test_an_unfinished_record_names_the_encoder_that_it_depends_on() -> None:
    encoders = [
        rules(profile).unfinished(None, of, "0") for profile in PROFILES for of in (PLAN_JSON, RRU, REVIEW)
    ]
    named, none = Check(False, fields={"encoder": "initials"}), Check(False, fields={"encoder": None})
    assert encoders == [named, named, none, named, named, none, none, named, none]
