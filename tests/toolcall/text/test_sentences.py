"""What sentences do with the same words: ask or state, and in which voice."""

import pytest

from wildtool.toolcall.text.sentences import asks_otherwise, exchanges_roles
from wildtool.toolcall.text.tokens import tokens


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ("is it open", "it is open", True),
        ("is it open?", "is it open", False),
        ("it is open?", "it is open", True),
        ("open?", "open", False),
        ("open?", "open.", True),
        ("open?", "open!", True),
        ("is not open", "not open", False),
        ("will he", "he will", True),
        ("won't he go", "he goes", True),
        ("who goes", "he goes", True),
        ("may x", "x", False),
        ("may he", "x", True),
        ("开门吗", "开门", True),
        ("开了?", "开了", True),
        ("门?", "门", False),
        ("门?", "门.", True),
        ("什么", "哪", False),
        ("好呢?", "好", True),
        ("是不是", "是", True),
    ],
)
def test_one_text_asks_and_the_other_does_not(one: str, other: str, differ: bool) -> None:
    assert (asks_otherwise(one, other), asks_otherwise(other, one)) == (differ, differ)


@pytest.mark.parametrize(
    ("passive", "active", "exchanged"),
    [
        ("he was sued by Bob", "he sued Bob", True),
        ("it was sued", "it sued", True),
        ("the firm was sued", "so Ann sued", True),
        ("the firm was sued", "the firm sued", False),
        ("the firm was sued", "sued", False),
        ("the firm was sued", "firm sued the city", True),
        ("was sued", "sued 5", True),
        ("was sued", "sued one", True),
        ("was sued", "sued on Monday", False),
        ("it was very often sued", "it sued him", True),
        ("it was very very often sued", "it sued him", False),
        ("it got sued", "it sued him", True),
        ("it was put", "it put him", True),
        ("it was gone", "it gone him", False),
        ("it was sued", "it was sued him", False),
        ("it was sued", "the sued firm sued him", True),
    ],
)
def test_a_verb_is_passive_in_one_text_and_active_in_the_other(
    passive: str, active: str, exchanged: bool
) -> None:
    words = tokens(passive), tokens(active)
    assert (exchanges_roles(*words), exchanges_roles(*reversed(words))) == (exchanged, exchanged)
