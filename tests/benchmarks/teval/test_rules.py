"""T-Eval's rules: what is sent, what a verdict says, planted mistakes, and why a profile misses or refuses them."""

from collections.abc import Sequence
from typing import Any

from benchmarks.teval.teval_build import INSTRUCT, LAYOUT, NAMES, PROMPT, STEP, Initials, plan
from wildtool.benchmark import Check
from wildtool.benchmarks.teval.data import SETS, TevalRecord
from wildtool.benchmarks.teval.rules import TevalRules
from wildtool.benchmarks.teval.scores import EVALUATORS
from wildtool.types import Item

PROFILES = ("toleap", "original", "fixed")


def rules(profile: str) -> TevalRules:
    return TevalRules(EVALUATORS[profile](Initials(alike=0.5, unlike=0.0)))


def item(
    name: str, gold: Any, form: str = "", template: dict[str, str] | None = None, names: Sequence[str] = NAMES
) -> Item:
    record = TevalRecord(name, tuple(PROMPT), gold, form or SETS[name].form, template or {}, tuple(names))
    return Item(f"{name}/one", ("0",), record, name)


GOLD_STEPS = (("Tide.get", {}), ("Boat.book", {"time": "ü", "day": 1}), ("Boat.cancel", {"all": True}))
LAID_OUT = item("instruct", INSTRUCT, "string", LAYOUT)
PLAN_JSON = item("plan_json", plan(*GOLD_STEPS))
UNDERSTAND, RRU = item("understand_str", {**STEP, "args": "9:00"}), item("rru_json", STEP)
REVIEW = item("review_str", {"answer": "D"})


# What is sent and planted ----------------------------------------------------------------------------


def test_a_right_answer_that_a_profile_refuses_has_no_mistakes() -> None:
    assert [list(rules(profile).mutants(LAID_OUT)) == [] for profile in PROFILES] == [True, True, False]


# Verdicts --------------------------------------------------------------------------------------------


def test_an_unfinished_record_names_the_encoder_that_it_depends_on() -> None:
    encoders = [
        rules(profile).unfinished(None, of, "0") for profile in PROFILES for of in (PLAN_JSON, RRU, REVIEW)
    ]
    named, none = Check(False, fields={"encoder": "initials"}), Check(False, fields={"encoder": None})
    assert encoders == [named, named, none, named, named, none, none, named, none]
