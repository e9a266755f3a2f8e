"""What a parameter is for decides how its texts are read; pairs by role stand in labelled_pairs and on the page."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wildtool.toolcall.text.equivalence import differing_rule

USES = [
    "v: Ticker symbol of the stock",
    "v: ISIN",
    "v: Currency code",
    "v: Amount with currency",
    "v: Number of views",
    "v: Interest rate",
    "v: Interval between candles",
    "v: Fiscal period",
    "v: Order type",
    "v: Time zone",
    "v: Month",
    "v: Unit of length",
    "v: Commit hash",
    "v: Version",
    "v: US state",
    "v: 排名",
    "v: Ledger account",
    "author: Name of the author",
    "body: Message text",
    "query: Search query",
    "price: 价格",
    "body",
    "",
]
PIECES = st.lists(
    st.sampled_from(
        [
            *"0123456789.,-+()%$€¥£/:'#@ TZP百万亿千十一两半年月周点元米第名",
            *(
                "k",
                "M",
                "bn",
                "USD",
                "百分之",
                "零下",
                "每小时",
                "FY",
                "Q",
                "H",
                "UTC",
                "https://a.b/",
                "%2",
                "\ud800",
                "٠",
            ),
            *(
                "Polish",
                "polish",
                "rosé",
                "Ann's",
                "tomorrow",
                "that",
                "'d",
                "two",
                "thousand",
                "bps",
                "Smith,",
                "Dr. ",
            ),
        ]
    ),
    max_size=9,
).map("".join)


@example("2Smith,M4Ann's半", ". ", "v")
@example("%2日@万 TTM年6米", "(名百分之٠tomorrow先生Dr. ", "v: Currency code")
@given(PIECES, PIECES, st.sampled_from(USES))
def test_no_text_of_any_role_raises_an_error(gold: str, predicted: str, use: str) -> None:
    assert isinstance(differing_rule(gold, predicted, use), str | None)
    assert differing_rule(gold, gold, use) is None


@pytest.mark.parametrize("use", USES)
def test_no_role_makes_other_texts_equal(use: str) -> None:
    for gold, predicted in (
        ("red", "blue"),
        ("12", "13"),
        ("A1", "A2"),
        ("去", "来"),
        ("Ann Lee", "Eva Lee"),
    ):
        assert differing_rule(gold, predicted, use) is not None


@pytest.mark.parametrize(
    "use",
    [
        "symbol: Chemical symbol",
        "order_number: Order number",
        "state: State of the machine",
        "tip: Tip of the day",
    ],
)
def test_a_word_that_only_sounds_like_a_role_asks_for_none(use: str) -> None:
    for gold, predicted in (("BRK.B", "BRK-B"), ("1e3", "1000"), ("OR", "Oregon"), ("25 bps", "0.25%")):
        assert differing_rule(gold, predicted, use) is not None


def test_the_name_of_a_parameter_counts_as_its_description_does() -> None:
    for name in ("emailBody", "message_text", "sms-content"):
        assert differing_rule("Please call me tonight", "Call me tonight", f"{name}: ") is not None
    for name in ("searchQuery", "query", "key_words: keywords"):
        assert differing_rule("please find cheap hotels here", "find cheap hotels here", f"{name}: ") is None
