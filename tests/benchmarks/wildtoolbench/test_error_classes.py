"""The class of each reply that does not fit, by what was done and what is left."""

import pytest

from wildtool.benchmarks.wildtoolbench.judge import class_of_check


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
