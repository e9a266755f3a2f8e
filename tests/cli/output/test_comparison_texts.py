"""What is said of one comparison: the verdict in a sentence, units that flipped, attempts without a verdict."""

from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.cli.output import comparison
from wildtool.engine.compare.comparison import Accuracy, AidEffect


def pair(finding: str, *, left_out: int = 0, **total: Any) -> Any:
    whole = {"missing": 0, "units": 8, "items": 4, "least": 0.125, "most": 0.125, "difference": 0.125}
    return SimpleNamespace(
        model="m\nnew",
        baseline="old",
        finding=finding,
        detectable=0.25,
        left_out=left_out,
        whole=SimpleNamespace(**{**whole, **total}),
    )


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            pair("no finding", missing=2),
            "no finding: 2 of 8 units without a verdict. Run the same commands again to complete them, or compare what"
            " both have with --only-played.",
        ),
        (
            pair("not distinguishable"),
            "m new and old are not distinguishable on these 4 items; a difference of 25.0 points would be found four"
            " times out of five.",
        ),
        (
            pair("not distinguishable", items=1, left_out=1),
            "m new and old are not distinguishable on this 1 item; a difference of 25.0 points would be found four times"
            " out of five. Left out: 1 unit.",
        ),
        (pair("better"), "m new is better than old by 12.5 points."),
        (
            pair("worse", least=-0.25, most=-0.055, missing=3, left_out=2),
            "m new is worse than old by 5.5 to 25.0 points, whatever the 3 units without a verdict would be. Left out: 2"
            " units.",
        ),
    ],
)
def test_a_verdict_is_a_sentence(found: Any, sentence: str) -> None:
    assert comparison._verdict_sentence(found) == sentence


@pytest.mark.parametrize(
    ("right", "tries", "error", "text"),
    [
        (1, 1, None, "correct"),
        (0, 1, None, "wrong"),
        (0, 1, "late\nreply", "late reply"),
        (2, 2, None, "2/2 correct"),
        (1, 2, "late", "1/2 late"),
        (0, 1, "x" * 61, "x" * 59 + "…"),
    ],
)
def test_the_outcome_of_a_unit_has_its_samples_where_there_are_several(
    right: int, tries: int, error: str | None, text: str
) -> None:
    assert comparison._outcome(right, tries, error) == text


@pytest.mark.parametrize(
    ("missing", "only_played", "text"),
    [
        ([0, 0], False, ""),
        ([0, 1], True, "Attempts without a verdict are left out.\n"),
        (
            [0, 1],
            False,
            "Attempts without a verdict count as not right; differences, intervals and p allow for all that they could"
            " turn out to be. --only-played leaves them out.\n",
        ),
    ],
)
def test_how_attempts_without_a_verdict_count_is_said_where_there_are_any(
    missing: list[int],
    only_played: bool,
    text: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    runs = [SimpleNamespace(without_verdict=count) for count in missing]
    report: Any = SimpleNamespace(runs=runs, only_played=only_played)
    comparison.print_missing_note(report)
    assert capsys.readouterr().out == text


def test_a_difference_with_missing_units_is_what_they_leave_open() -> None:
    whole: Any = pair("better", least=-0.1, most=0.2).whole
    assert comparison.format_difference(whole) == "+12.5"
    whole.missing = 1
    assert comparison.format_difference(whole) == "-10.0 to +20.0"
    assert comparison._score(None) == ("–", "")


def test_what_aid_corrected_and_broke_is_shown_for_each_pair(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")

    def effect(model: str, name: str, left_out: int) -> AidEffect:
        half = Accuracy(0.5, 0.25, 0.75)
        return AidEffect("plain", model, name, 4, 2, half, 9, 0, None, left_out)

    comparison._print_aid_effects(
        [effect("a\nb", "all", 2), effect("c", "all", 0), effect("a\nb", "tool", 3)]
    )
    assert (
        capsys.readouterr().out
        == """\
corrected and broken: a b against plain

      corrected                  95 %  broken     95 %
──────────────────────────────────────────────────────
all      2 of 4  50.0 %  [25.0, 75.0]  0 of 9  –
tool     2 of 4  50.0 %  [25.0, 75.0]  0 of 9  –

Left out here: 3 units without a verdict.

corrected and broken: c against plain

     corrected                  95 %  broken     95 %
─────────────────────────────────────────────────────
all     2 of 4  50.0 %  [25.0, 75.0]  0 of 9  –

"""
    )
