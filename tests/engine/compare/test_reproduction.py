"""Runs beside what papers say of their models."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.compare.test_published import SCORE, paper, run
from wildtool.alter.noise.noise import Noise
from wildtool.engine.compare.reproduction import Reproduction, is_reproduced, reproduction
from wildtool.errors import UsageError
from wildtool.evidence import Evidence
from wildtool.types import Metric

IDENTITY: dict[str, Any] = {"models": {"agent": {"name": "m", "settings": {"temperature": 0}}}}


def beside(published: float, value: float | None, **options: Any) -> Reproduction:
    figures = [paper("Big-Model", score=published, error=0.5)]
    ours = run(value, model="provider/big_model", data="official")
    ours = replace(ours, metrics=(Metric(*SCORE, value, 1, 2, 0.35, 0.45),))
    return reproduction(Path("runs"), ours, IDENTITY, figures, **options)


@pytest.mark.parametrize(
    ("published", "value", "band", "within"),
    [
        (0.40, 0.40, "blue", True),
        (0.40, 0.419, "blue", True),
        (0.40, 0.43, "yellow", True),
        (0.40, 0.45, "red", True),
        (0.50, 0.40, "red", False),
        (0.40, None, "grey", True),
        (0.0, 0.04, "blue", False),
        (0.0, 0.05, "yellow", False),
        (0.0, 0.1, "yellow", False),
        (0.0, 0.2, "red", False),
    ],
)
def test_the_band_goes_by_the_share_of_the_published_number(
    published: float, value: float | None, band: str, within: bool
):
    number, missing = beside(published, value).numbers
    assert (number.band, number.within_interval) == (band, within)
    assert missing.band == "grey"


def test_bands_by_points():
    assert beside(0.10, 0.14).numbers[0].band == "red"
    assert beside(0.10, 0.14, absolute=True).numbers[0].band == "blue"


def test_a_model_is_found_whatever_its_case_and_prefix_or_by_name():
    assert beside(0.4, 0.4).model == "Big-Model"
    assert beside(0.4, 0.4, model="big model").model == "Big-Model"
    with pytest.raises(UsageError, match="unknown published model 'other'"):
        beside(0.4, 0.4, model="other")


def test_what_is_not_published_is_told():
    with pytest.raises(UsageError, match="--published-model"):
        reproduction(Path(), run(), IDENTITY, [paper("another", score=0.1)])
    with pytest.raises(UsageError, match="nothing is published"):
        reproduction(Path(), run(), IDENTITY, [])
    with pytest.raises(UsageError, match="--profile paper"):
        reproduction(Path(), run(profile="fixed"), IDENTITY, [paper("ours", score=0.1)])


def test_causes_are_what_the_run_knows_of_itself():
    figures = [paper("ours", score=0.9)]
    warm: dict[str, Any] = {"models": {"agent": {"name": "m", "settings": {"temperature": 0.7}}}}
    noisy = run(items=1, planned_items=2, alterations=(Noise.parse("names:heavy"),), mode="fc")
    version = "the endpoint may serve another version of the model than the paper's"
    assert reproduction(Path(), noisy, warm, figures).causes == (
        "played in mode fc, the published figures in the benchmark's first",
        "played with noise names:heavy, which the models of the published figures were not given",
        "only 1 of 2 items were run",
        "sampled at temperature 0.7",
        version,
    )
    unknown: dict[str, Any] = {"models": {"agent": {"name": "m"}}}
    split = run(items=1, split="s", played="fixed")
    assert reproduction(Path(), split, unknown, figures).causes == (
        "only split s was run",
        "run under profile fixed, scored by paper",
        "sampled at the endpoint's own temperature",
        version,
    )
    assert reproduction(Path(), run(played=None), IDENTITY, figures).causes == (version,)


def test_two_models_that_are_blue_throughout_reproduce_a_benchmark():
    def of(model: str, value: float) -> Reproduction:
        return reproduction(Path(), run(value, model=model), IDENTITY, [paper(model, score=0.5)])

    assert is_reproduced([of("a", 0.5), of("b", 0.51)])
    assert not is_reproduced([of("a", 0.5), of("b", 0.6)])
    assert not is_reproduced([of("a", 0.5), of("a", 0.5)])


def test_a_number_that_units_are_missing_from_has_no_colour():
    ours = run(evidence=Evidence(8, failed=1))
    found = reproduction(
        Path(), replace(ours, metrics=(Metric(*SCORE, 0.4, 4, 10),)), IDENTITY, [paper("ours", score=0.4)]
    )
    assert (found.numbers[0].band, found.is_blue) == ("grey", False)
