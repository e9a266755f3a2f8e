"""The decision table: which replacements mend decides whose fault it was, and nothing dearer is asked for before."""

from collections.abc import Mapping
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.blame.causes import JUDGED_AGAIN, NO_PARTY, NOT_DECIDED, Cause, Trial, decide

PARTIES = ("gold", "endpoint", "tool", "history", "user", "model")


def answer_for(parties: str, *mending: str, undecided: str = "") -> tuple[Cause, list[Trial]]:
    """The answer where only these trials mend, and the trials that it took, in order."""
    mends = {frozenset(names.split("+")) if names != "control" else NO_PARTY for names in mending}
    missing = frozenset(undecided.split("+")) if undecided else None
    results: dict[Trial, bool | None] = {JUDGED_AGAIN: frozenset({"gold", "recorded"}) in mends}
    asked: list[Trial] = []
    while not isinstance(answer := decide(frozenset(parties.split()), results), Cause):
        assert not set(answer) & results.keys()
        asked += answer
        results |= {trial: None if trial == missing else trial in mends for trial in answer}
    return answer, asked


ROWS: Mapping[str, tuple[str, tuple[str, ...], str]] = {
    "what is recorded is right by reviewed gold": ("gold user model", ("gold+recorded",), "gold"),
    "asking again mends": ("endpoint user model", ("endpoint",), "endpoint"),
    "most plays of the control mend": ("user model", ("control", "user", "model"), "model, by chance"),
    "fresh plays are right by reviewed gold alone": ("gold user model", ("gold",), "gold"),
    "a right user mends, and a right model does not": ("user model", ("user",), "user"),
    "gold ignores the user": ("user model", ("user", "model"), "user"),
    "gold gets over a failing tool": ("tool model", ("tool", "model"), "tool, recoverable"),
    "gold cannot get over it": ("tool model", ("tool",), "tool"),
    "all others right still fails": ("tool user model", ("model",), "model, others not excluded"),
    "all others right mends": ("tool user model", ("model", "tool+user"), "tool and user"),
    "a pair of three others mends": (
        "gold tool user model",
        ("model", "gold+tool+user", "gold+user"),
        "gold and user",
    ),
    "only all three others mend": (
        "gold tool user model",
        ("model", "gold+tool+user"),
        "gold and tool and user",
    ),
    "nothing alone mends, a pair does": ("tool user model", ("user+model",), "user and model"),
    "nothing mends": ("endpoint tool user model", (), "none found"),
    "either alone mends": ("tool user model", ("tool", "user", "model"), "tool or user"),
    "nothing else can be replaced": ("model", ("model",), "model, others not excluded"),
}


@pytest.mark.parametrize("name", ROWS)
def test_each_row_of_the_table(name: str):
    parties, mending, expected = ROWS[name]
    assert answer_for(parties, *mending)[0].label == expected


def test_the_cheapest_trials_are_asked_for_first():
    assert answer_for("gold endpoint user model", "gold+recorded")[1] == []
    assert answer_for("endpoint user model", "endpoint")[1] == [{"endpoint"}]
    assert answer_for("endpoint user model", "control")[1] == [{"endpoint"}, NO_PARTY]
    assert answer_for("tool user model", "tool", "model")[1] == [NO_PARTY, {"tool"}, {"user"}, {"model"}]


@pytest.mark.parametrize("trial", ["user", "model"])
def test_a_trial_whose_calls_failed_decides_nothing(trial: str):
    assert answer_for("user model", "user", "model", undecided=trial)[0] == NOT_DECIDED


def sets() -> list[Trial]:
    return [frozenset(its) for size in range(4) for its in combinations(PARTIES, size)]


@given(st.sets(st.sampled_from(PARTIES)), st.sets(st.sampled_from([*sets(), JUDGED_AGAIN])))
def test_whatever_mends_there_is_one_answer_and_its_parties_could_be_replaced(
    parties: set[str], mending: set[Trial]
):
    results: dict[Trial, bool | None] = {JUDGED_AGAIN: JUDGED_AGAIN in mending}
    while not isinstance(answer := decide(parties, results), Cause):
        new = [trial for trial in answer if trial not in results]
        assert new
        assert all(trial <= parties for trial in new)
        results |= {trial: trial in mending for trial in new}
    assert set(answer.parties) <= {*parties, "model"}
    assert answer.parties or answer.note == "none found"
