"""What the readers of exact texts and the reader of words give, whole."""

from wildtool.toolcall.text.tokens import tokens


def test_a_contraction_is_cut_where_its_words_meet():
    assert [token.raw for token in tokens("it's what we've said, isn't it")] == [
        "it",
        "s",
        "what",
        "we",
        "ve",
        "said",
        "isn't",
        "isn't",
        "it",
    ]
