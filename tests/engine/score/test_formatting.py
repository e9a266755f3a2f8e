"""Numbers as texts."""

import pytest

from wildtool.engine.score.formatting import counted


@pytest.mark.parametrize(
    ("number", "words", "text"),
    [
        (0, ("row",), "0 rows"),
        (1, ("row",), "1 row"),
        (2000, ("row",), "2,000 rows"),
        (1, ("retry", "retries"), "1 retry"),
        (2, ("retry", "retries"), "2 retries"),
    ],
)
def test_things_are_counted_in_the_singular_or_the_plural(number: int, words: tuple[str, ...], text: str):
    assert counted(number, *words) == text
