"""Limits of what is read, shown and played: the last that counts, and the first that does not."""

from wildtool.benchmarks.acebench.prompts.originals import ORIGINAL_SAMPLING


def test_the_originals_replies_are_drawn_as_the_original_draws_them() -> None:
    assert ORIGINAL_SAMPLING == {"temperature": 0.001, "max_tokens": 1000, "top_p": 1, "attempts": 6}
