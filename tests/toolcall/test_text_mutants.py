"""Changes of texts that a careless comparison overlooks: each is made where it fits, and none passes under `fixed`."""

import pytest

from wildtool.toolcall.mutations import overlooked_changes, value_mutants
from wildtool.toolcall.text.equivalence import differing_rule

CHANGES = [
    ("rm -rf build/A", "case of a letter in code", "Rm -rf build/A"),
    ("(a) => B", "case of a letter in code", "(A) => B"),
    ("a walk of 5 km", "other unit of an amount", "a walk of 5 m"),
    ("50 Mbps", "other unit of an amount", "50 MBps"),
    ("open every day", "words of a text joined", "open everyday"),
    ("add a little salt", "a few made few", "add little salt"),
    (
        "The bank was sued by the customer",
        "roles of a sentence exchanged",
        "The bank sued the customer",
    ),
    ("The shop is open on Sunday.", "statement made a question", "The shop is open on Sunday?"),
    ("两三天", "Chinese range read as a number", "23天"),
    ("耕地", "character cut from a Chinese word", "耕"),
    ("Na", "symbol of an element in capitals", "NA"),
    ("at least 5 rooms", "bound of an amount turned", "at most 5 rooms"),
    ("至少5间", "bound of an amount turned", "至多5间"),
    ("Austin, TX", "other state behind a city", "Austin, OH"),
    ("red shoes", "invisible character in a word", "sh\u200boes"),
]


@pytest.mark.parametrize(("text", "kind", "changed"), CHANGES)
def test_a_change_is_made_where_it_fits_and_is_caught(text: str, kind: str, changed: str):
    made = dict(overlooked_changes(text, ""))
    assert changed in made[kind]
    assert all(differing_rule(text, other) is not None for other in made.values())


def test_mutants_of_arguments_have_them():
    schema = {"properties": {"rate": {"type": "string"}}, "required": ["rate"]}
    assert "other unit of an amount" in {kind for kind, _, _ in value_mutants({"rate": "50 Mbps"}, schema)}
