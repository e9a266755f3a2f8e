"""The score of repeated trainings: hand-computed parts, and coverage in simulated trainings."""

import math
import random

import pytest
from scipy import stats

from wildtool.stats.intervals import clustered_rate, t_probability, t_quantile
from wildtool.stats.learning_curve import trained_score


def counts(*right: float) -> dict[str, tuple[float, float]]:
    return {str(item): (x, 1.0) for item, x in enumerate(right)}


def test_one_training_has_the_interval_of_every_other_table():
    items = {"a": (1.0, 4.0), "b": (3.0, 4.0), "c": (4.0, 4.0), "d": (2.0, 4.0)}
    score = trained_score([items])
    assert score is not None
    assert score[:3] == pytest.approx(clustered_rate(list(items.values())))
    assert score.seed_error is None


def test_the_parts_of_items_and_trainings_are_those_computed_by_hand():
    score = trained_score([counts(1, 1, 0, 0), counts(1, 1, 1, 0), counts(1, 1, 1, 1)])
    assert score is not None
    # Means of the items over trainings: 1, 1, 2/3, 1/3, so 3/4; squared distances 1/16, 1/16, 1/144, 25/144.
    assert score.value == pytest.approx(3 / 4)
    items = (1 / 16 + 1 / 16 + 1 / 144 + 25 / 144) * 4 / 3 / 16
    assert score.item_error == pytest.approx(math.sqrt(items))
    # Scores of the trainings: 1/2, 3/4, 1.
    trainings = (1 / 16 + 0 + 1 / 16) / 2 / 3
    assert score.seed_error == pytest.approx(math.sqrt(trainings))
    # Items cause more of the variance, so Student's t has their degrees of freedom.
    half = t_quantile(0.975, 3) * math.sqrt(items + trainings)
    assert (score.low, score.high) == pytest.approx((3 / 4 - half, 1.0))


@pytest.mark.parametrize("right", [0, 1])
def test_trainings_that_are_all_right_or_all_wrong_have_no_narrower_interval_than_one(right: int):
    one, three = (trained_score([counts(*[right] * 20)] * seeds) for seeds in (1, 3))
    assert one is not None
    assert three is not None
    assert three[:3] == one[:3]
    assert three.high - three.low > 0.1
    assert three.seed_error == 0


def test_where_trainings_differ_most_their_number_decides():
    score = trained_score([counts(*[0] * 99, 1), counts(*[1] * 99, 0), counts(*[1, 0] * 50)])
    assert score is not None
    assert score.seed_error is not None
    assert score.seed_error > score.item_error
    assert (score.low, score.high) == (0.0, 1.0)


def test_without_units_there_is_no_score():
    assert trained_score([{}, {}]) is None
    assert trained_score([counts(1), {"other": (1.0, 1.0)}]) is None


@pytest.mark.parametrize("spread", [0.05, 0.1])
def test_the_interval_covers_the_score_of_the_recipe(spread: float):
    """Items and trainings are both drawn; the interval may be wide, since the trainings' scores differ by chance too."""
    draw = random.Random(5)
    covered = 0
    for _ in range(400):
        hard = [draw.gauss(0, 0.15) for _ in range(100)]
        shifts = [draw.gauss(0, spread) for _ in range(3)]
        score = trained_score([counts(*(draw.random() < 0.5 + h + shift for h in hard)) for shift in shifts])
        assert score is not None
        covered += score.low <= 0.5 <= score.high
    assert 0.92 <= covered / 400 <= 0.99


@pytest.mark.parametrize("freedom", [1, 2, 3, 10, 99, 6_000])
@pytest.mark.parametrize("value", [0.0, 0.3, -2.1, 9.0])
def test_the_probability_of_students_t_is_scipys(value: float, freedom: int):
    assert t_probability(value, freedom) == pytest.approx(
        2 * stats.t.sf(abs(value), freedom), rel=5e-3, abs=1e-9
    )
