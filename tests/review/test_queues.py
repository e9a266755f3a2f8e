"""Queues, filters, roles and names of a review, and the order of what models agree on: from small states."""

from dataclasses import replace
from typing import Any

import pytest

from wildtool.errors import UsageError
from wildtool.sets.review.formats.sessions import SESSIONS
from wildtool.sets.review.log import GENESIS, Draft, chained
from wildtool.sets.review.people import COMMAND_LINE, Person, check_name, people_in, pseudonyms
from wildtool.sets.review.pointers import Change
from wildtool.sets.review.replies.proposals import Proposal, sorted_queue
from wildtool.sets.review.state import QUEUES, Filter, ItemSummary, PassSummary, State

PLAIN = ItemSummary(
    id="plain",
    last=7,
    version=1,
    digest="d",
    stage="generated",
    strata=(("Chat", "Long"), ("Clarify", "Short")),
    domain="travel",
    lang="en",
    confidence=0.85,
    warnings=(),
    errors=0,
    stale=(),
    conflicts=(),
    passes=(),
)
OPEN = PassSummary(1, ("ann", "bob"), ("bob",), False, None, False)
ENDED = replace(OPEN, ended=True, decided=("ann", "bob"), error=False)
ITEMS = [
    PLAIN,
    replace(PLAIN, id="assigned", passes=(ENDED, OPEN), stage="in review"),
    replace(PLAIN, id="ended", passes=(replace(ENDED, round=2),)),
    replace(PLAIN, id="by anybody", passes=(replace(OPEN, round=0, people=(), decided=()),)),
    replace(PLAIN, id="conflict", conflicts=("content",), passes=(OPEN,)),
    replace(PLAIN, id="stale", stale=(1,)),
    replace(PLAIN, id="warned", warnings=("text", "graph"), confidence=1.0),
    replace(PLAIN, id="unsure", warnings=None, confidence=0.8499),
    replace(PLAIN, id="approved", stage="approved", domain="", strata=()),
]


def state_of(*items: ItemSummary, **fields: Any) -> State:
    return State(SESSIONS, items={item.id: item for item in items}, **fields)


def ids(queue: Any, person: str = "", **fields: Any) -> list[str]:
    return [item.id for item in state_of(*ITEMS).queue(queue, person, Filter(**fields) if fields else None)]


def test_each_queue_has_what_its_name_says():
    names = [item.id for item in ITEMS]
    assert {queue: ids(queue, "ann") for queue in QUEUES} == {
        "all": names,
        "mine": ["assigned", "conflict"],
        "open": ["assigned", "by anybody", "conflict"],
        "conflicts": ["conflict"],
        "stale": ["stale"],
        "warnings": ["warned"],
        "graph": ["warned", "unsure"],
        "unchecked": ["unsure"],
        "audit": ["assigned", "ended", "conflict"],
        "approved": ["approved"],
    }
    assert ids("mine", "bob") == ids("mine", "judge") == []


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        ({"type": "Chat", "subtype": "Long"}, "all but approved"),
        ({"type": "Chat", "subtype": "Short"}, ""),
        ({"subtype": "Short"}, "all but approved"),
        ({"type": "Other"}, ""),
        ({"domain": "travel"}, "all but approved"),
        ({"rule": "graph"}, "warned"),
        ({"rule": "x"}, ""),
        ({"stage": "in review"}, "assigned"),
        ({"assignee": "bob"}, "assigned,ended,conflict"),
        ({"assignee": "judge"}, ""),
        ({"round": 1}, "assigned,conflict"),
        ({"round": 2}, "ended"),
        ({"max_confidence": 0.85}, "all but warned"),
        ({"max_confidence": 0.8499}, "unsure"),
    ],
)
def test_a_filter_keeps_what_fits_all_its_fields(fields: dict[str, Any], kept: str):
    left_out = kept.removeprefix("all but ")
    whole = [item.id for item in ITEMS if item.id != left_out]
    assert ids("all", **fields) == (
        whole if kept.startswith("all") else [name for name in kept.split(",") if name]
    )


def test_twins_are_the_same_item_in_other_languages():
    items = [
        replace(PLAIN, id=name, twin=twin) for name, twin in (("a", "t"), ("b", "t"), ("c", ""), ("d", ""))
    ]
    state = state_of(*items)
    assert [state.twins_of(name) for name in "abcd"] == [["b"], ["a"], [], []]
    assert [state.last_of(name) for name in ("a", "x", "")] == [7, 0, 0]
    assert replace(state, general=5).last_of("") == 5


def test_each_role_may_what_those_below_it_may():
    members = (
        Person("ann", "reviewer"),
        Person("judge", "adjudicator"),
        Person("boss", "owner"),
        Person("gone", "owner", False),
    )
    people = {person.name: person for person in members}
    state = state_of(people=people)
    roles = ("reviewer", "adjudicator", "owner")
    rights = {name: [state.may(name, role) for role in roles] for name in (*people, COMMAND_LINE, "stranger")}
    assert rights == {
        "ann": [True, False, False],
        "judge": [True, True, False],
        "boss": [True, True, True],
        "gone": [False, False, False],
        COMMAND_LINE: [True, True, True],
        "stranger": [False, False, False],
    }
    assert [state.role(name) for name in ("ann", "gone", "stranger")] == ["reviewer", "", ""]
    assert state_of().role("anybody") == "owner"


@pytest.mark.parametrize("name", ["a", "7", "É2", "ann.b@x-y z_", "a" * 64])
def test_a_name_is_taken_without_blanks_around_it(name: str):
    assert check_name(f" {name}\n") == name


@pytest.mark.parametrize("name", ["", "_a", ".a", "-a", "a/b", "a" * 65, "a\nb"])
def test_what_cannot_be_a_name_is_refused(name: str):
    with pytest.raises(UsageError) as caught:
        check_name(name)
    assert str(caught.value) == (
        f"{name!r} cannot be a name here; take letters, digits, blanks and . _ @ -, at most 64"
    )


def test_the_name_of_the_command_line_is_taken():
    with pytest.raises(UsageError) as caught:
        check_name(f" {COMMAND_LINE} ")
    assert str(caught.value) == "'owner' is the name of the command line here; take another one"


def test_people_of_a_log_have_names_that_say_nothing():
    drafts = [
        Draft("import", "import", "s"),
        Draft("check", "rules", "s"),
        Draft("assign", "owner", "s", after=["bob", "ann"]),
        Draft("edit", "ann", "s", "bob"),
        Draft("person", "boss", field="zoe"),
        Draft("note", "ann", "s", after=["not a person"], field="nor this"),
    ]
    entries = chained(drafts, 0, GENESIS)
    assert [people_in(entry) for entry in entries] == [
        [],
        [],
        ["bob", "ann", "owner"],
        ["bob", "ann"],
        ["zoe", "boss"],
        ["ann"],
    ]
    names = ["bob", "ann", "owner", "zoe", "boss"]
    assert pseudonyms(entries) == {name: f"person {number}" for number, name in enumerate(names, 1)}


# What models agree on ---------------------------------------------------------------------------------

PROPOSAL = Proposal("i", "0", "value", "/a/city", "Rome", "Paris", ("m", "n"), 4, 1)


def test_what_most_models_do_comes_first():
    proposals = {
        "three": replace(PROPOSAL, models=("m", "n", "o"), answered=9),
        "of three": replace(PROPOSAL, answered=3, item="z"),
        "gained": replace(PROPOSAL, gained=2, item="y"),
        "item": PROPOSAL,
        "unit": replace(PROPOSAL, unit="1", field="/a"),
        "field": replace(PROPOSAL, unit="1", field="/b"),
        "later": replace(PROPOSAL, item="j", unit="0"),
    }
    for order in (list(proposals.values()), list(proposals.values())[::-1]):
        assert sorted_queue(order) == list(proposals.values())


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, 'give "Paris" for city; gold has "Rome"'),
        ({"found": None}, 'give nothing for city; gold has "Rome"'),
        ({"kind": "call"}, 'call "Paris"; gold has "Rome"'),
        ({"kind": "order", "gold": [1, 2]}, "call it without waiting for node 1, 2"),
        ({"kind": "several"}, 'have "Paris"; gold has "Rome"'),
        ({"kind": "alternative"}, 'answer "Paris"; gold has "Rome"'),
        ({"kind": "calls"}, 'make the same calls, which are refused: "Paris"'),
        ({"kind": "extra call"}, 'also call "Paris", for which gold has nothing'),
        ({"kind": "text"}, "make no call where gold has one"),
        (
            {"changes": (Change("/a", 1, 2),), "gained": 2, "lost": 1},
            'give "Paris" for city; gold has "Rome"; accepted, 2 are no longer wrong, 1 become wrong',
        ),
    ],
)
def test_a_proposal_says_in_a_line_what_models_do(fields: dict[str, Any], sentence: str):
    assert replace(PROPOSAL, **fields).sentence == f"2 of 4 models {sentence}"


def test_long_values_are_shortened():
    line = replace(PROPOSAL, kind="calls", found="x" * 300).sentence
    assert len(line.partition("refused: ")[2]) == 200
