"""The class of each reply that does not fit, by what was done and what is left."""

import pytest

from benchmarks.wildtoolbench.build import item, node
from wildtool.benchmarks.wildtoolbench.data import GoldNode
from wildtool.benchmarks.wildtoolbench.error_classes import classify_call, classify_text
from wildtool.benchmarks.wildtoolbench.judge import class_of_check

ASKS, ENDS = "ask_user_for_required_parameters", "prepare_to_answer"


def gold(*names: str, deps: dict[int, tuple[int, ...]] | None = None) -> list[GoldNode]:
    written = [
        node(name, *(deps or {}).get(place, ())) | ({"user_input": "x"} if name == ASKS else {})
        for place, name in enumerate(names)
    ]
    return list(item(written).data.tasks[0].nodes)


@pytest.mark.parametrize(
    ("names", "fulfilled", "empty", "expected"),
    [
        (("a", "b", ENDS), (), False, ("Refusal", "text although a call was due")),
        (("a", "b", ENDS), (), True, ("Refusal", "an empty reply although a call was due")),
        (("a", "b", ENDS), (0,), False, ("Early Termination", "text while 1 calls were still to be made")),
        (
            ("a", "b", "c", ENDS),
            (1,),
            True,
            ("Early Termination", "an empty reply while 2 calls were still to be made"),
        ),
        ((ASKS, "a", ENDS), (0,), False, ("Refusal", "text although a call was due")),
        (("a", ASKS, ENDS), (0,), True, ("Refusal", "an empty reply where a question to the user was due")),
        (("a", ASKS, ENDS), (0, 1), True, ("Refusal", "an empty reply where an answer was due")),
        ((ENDS,), (), True, ("Refusal", "an empty reply where an answer was due")),
    ],
)
def test_words_that_do_not_fit_have_a_class(
    names: tuple[str, ...], fulfilled: tuple[int, ...], empty: bool, expected: tuple[str, str]
) -> None:
    assert classify_text(gold(*names), fulfilled, empty=empty) == expected


@pytest.mark.parametrize(
    ("names", "deps", "fulfilled", "called", "expected"),
    [
        ((ENDS,), {}, (), "a", ("Wrong Refusal", "called a where no call was due")),
        (("a", ENDS), {}, (), "zz", ("Call Error", "called zz, which is not in the tool list")),
        (
            (ASKS, "a", ENDS),
            {1: (0,)},
            (),
            "a",
            ("Wrong Name / Missing Info", "called a before asking the user for what it needs"),
        ),
        (("a", "b", ENDS), {1: (0,)}, (), "b", ("Call Error", "called b before the calls it depends on")),
        (("a", ENDS), {}, (0,), "b", ("Redundant Call", "called b after every call was made")),
        (("a", "b", ENDS), {}, (0,), "a", ("Redundant Call", "called a once too often")),
        (
            ("a", ASKS, ENDS),
            {},
            (0,),
            "b",
            ("Wrong Name / Missing Info", "called b where the user had to be asked first"),
        ),
        (
            (ASKS, "a", ENDS),
            {},
            (),
            "b",
            ("Wrong Name / Missing Info", "called b where the user had to be asked first"),
        ),
        ((ASKS, "a", "c", ENDS), {}, (1,), "b", ("Call Error", "called b, which the task does not need")),
        (("a", "c", ENDS), {}, (0,), "b", ("Call Error", "called b, which the task does not need")),
        (("a", ASKS, ENDS), {}, (0, 1), "b", ("Redundant Call", "called b after every call was made")),
    ],
)
def test_a_call_that_does_not_fit_has_a_class(
    names: tuple[str, ...],
    deps: dict[int, tuple[int, ...]],
    fulfilled: tuple[int, ...],
    called: str,
    expected: tuple[str, str],
) -> None:
    assert classify_call(gold(*names, deps=deps), fulfilled, called, {"a", "b", "c"}) == expected


@pytest.mark.parametrize(
    ("check", "error"),
    [
        ("error: args invalid json format", "Unreadable Call"),
        ("comparison failed: x", "Unusable Gold"),
        ("nested args type inconsistent", "Param Type Error"),
        ("required args missing", "Param Type Error"),
        ("args not defined", "Param Hallucination"),
        ("mismatch (extra: ['a'])", "Param Hallucination"),
        ("mismatch (missing: ['a'], extra: ['b'])", "Param Hallucination"),
        ("mismatch (missing: ['a'])", "Param Value Error"),
    ],
)
def test_a_check_of_the_original_has_a_class(check: str, error: str) -> None:
    assert class_of_check(check) == error
