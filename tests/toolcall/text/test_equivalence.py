"""Texts compared by meaning, kind by kind, beyond the examples of the page."""

import pytest

from wildtool.toolcall.text.equivalence import MAX_COMPARED_CHARACTERS, differing_rule

SAME = [
    ("3月5日至15日", "3月5日到3月15日"),
    ("March 5-15, 2024", "2024-03-05 to 2024-03-15"),
    ("12-15 May", "May 12 to May 15"),
    ("12:00 noon", "at noon"),
    ("500块", "500元"),
    ("May 1 to May 7, 2024", "2024-05-01 to 2024-05-07"),
    ("2025-06-03至2025-06-09", "2025年6月3日到6月9日"),
    ("2024年1月至6月", "2024-01 to 2024-06"),
    ("3月5日—3月15日", "3月5日到3月15日"),
    ("2024/03/05-2024/03/15", "2024-03-05 to 2024-03-15"),
    ("10点到12点", "10:00-12:00"),
    ("Monday through Friday", "Mon-Fri"),
    ("明天正午", "明天12点"),
    ("$5M", "$5 million"),
    ("5千米", "5 km"),
    ("8千元", "8000元"),
    ("+33 1 42 68 53 00", "+33142685300"),
    ("twenty-first", "21st"),
    ("milk, eggs and bread", "milk; eggs; bread"),
    ("hip-hop", "hip hop"),
    ("last_7_days", "last 7 days"),
    ("sign the contract on May 5th at 3 PM", "sign the contract on 5 May at 15:00"),
    ("9 am", "09:00"),
    ("下午3点半", "15:30"),
    ("2024-05-05T10:00:00Z", "2024-05-05 10:00 UTC"),
    ("https://example.com:443/a", "https://example.com/a"),
    ("2001:db8::1", "2001:0DB8:0:0:0:0:0:1"),
    ("123E4567-E89B-12D3-A456-426614174000", "123e4567-e89b-12d3-a456-426614174000"),
    ("(415) 555-0100", "415-555-0100"),
    ("DE89 3704 0044 0532 0130 00", "DE89370400440532013000"),
    ("straße", "STRASSE"),
    ("ABC", "ＡＢＣ"),
    ("don't worry", "don’t worry"),
    ("red, green, blue, white", "red green blue white"),
    ("The Great Gatsby", "Great Gatsby"),
    ("hiking trails", "hiking trail"),
    ("Don't forget the key", "do not forget the key"),
    ("buy two hundred sheets of white printer paper", "buy 200 sheets of white printer paper"),
    ("book twenty-one seats in the front row of the hall", "book 21 seats in the front row of the hall"),
    ("book one room near the station for my parents", "book a room near the station for my parents"),
    ("买一张票去上海看演唱会", "买1张票去上海看演唱会"),
    ("星期三下午开会讨论预算", "周三下午开会讨论预算"),
    ("tomorrow the weather in Paris and Lyon", "weather in Paris and Lyon tomorrow"),
    ("请帮我查询明天从北京到上海的高铁车次", "请帮我查询从北京到上海明天的高铁车次"),
    ("一份适合初学者的天文观测入门指南，包含每周练习", "一份适合初学者的天文观测入门指南，含每周练习"),
    ("book one room near the station for my parents", "book 1 room near the station for my parents"),
    ("fly from Rome to Bonn on the first day of the week", "fly Rome to Bonn on the first day of the week"),
    ("Anna, Paul", "Anna and Paul"),
    ("Paris, France", "Paris France"),
    ("milk, eggs", "milk and egg"),
    ("red, blue!", "red and blue"),
    ("Please open the door", "open the door"),
    ("McDonald's", "McDonalds"),
    ("Levi's", "Levis"),
    ("tomato", "tomatoes"),
    ("non-spicy food for all guests", "not spicy food for all guests"),
    ("Müller", "Mueller"),
    ("flight BA117", "BA117"),
    ("last_week", "last  week"),
    ("a quarter past 3", "3:15"),
    ("2 km 500 m", "2.5 km"),
    ("2 h 30 m", "2.5 hours"),
    (
        "send Anna the travel plan by e-mail before the trip",
        "send Anna the travel plan by email before the trip",
    ),
]
DIFFERENT = [
    ("vitamin a", "vitamin"),
    ("Series A funding", "Series funding"),
    ("take the customs form to the new agent", "take the custom form to the new agent"),
    ("a third of the money", "3 of the money"),
    ("30 second timer", "30 second timers and one more"),
    ("one of the rooms in the old hotel", "the rooms in the old hotel"),
    ("bored students sat in the old hall", "boring students sat in the old hall"),
    ("小王把老师打了一顿然后离开了教室", "小王被老师打了一顿然后离开了教室"),
    ("notable", "not able"),
    ("2015-2020", "2015 2020"),
    ("吉林", "吉林市"),
    ("IT department", "it department"),
    ("10:00-12:00", "10:00"),
    ("https://example.com/a", "http://example.com/a"),
    ("https://example.com/A", "https://example.com/a"),
    ("+1 415 555 0100", "1 415 555 0100"),
    ("40.7128 74.0060", "40.7128 -74.0060"),
    ("room 1 25", "room 12 5"),
    ("version .5 now", "version 5 now"),
    ("-5 degrees", "5 degrees"),
    ("$5", "€5"),
    ("c++", "c"),
    ("10%", "10"),
    ("campaignName", "campaignname"),
    ("in stock", "stock"),
    ("that is it", "this was there"),
    ("?", "!"),
    ("", "."),
    ("Williams", "William"),
    ("The Rolling Stones", "Rolling Stone"),
    ("two tickets", "three tickets"),
    ("三张票", "两张票"),
    ("吉林省长春市", "吉林省吉林市"),
    ("कि", "की"),
    ("Bob pays Ann", "Ann pays Bob"),
    ("turn on the light in the kitchen and the hall", "turn off the light in the kitchen and the hall"),
    (
        "send the invitation for the party to Alice and Bob",
        "send the invitation for the party to Alice and Tom",
    ),
    (
        "see https://x.org/a/b for details of the whole plan",
        "see https://x.org/a for details of the whole plan",
    ),
    ("the trail with the best view is open", "the trail with the worst view is open"),
    ("周三下午三点在会议室开会讨论明年的预算", "周四下午三点在会议室开会讨论明年的预算"),
    ("周三下午三点在会议室开会讨论明年的预算", "周三上午三点在会议室开会讨论明年的预算"),
    ("这家餐厅的菜很好吃但是价格有点贵", "这家餐厅的菜很好吃但是价格没有贵"),
    ("He should never be late for the weekly team meeting", "He should be late for the weekly team meeting"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_these_mean_the_same_in_both_directions(one, other):
    assert (differing_rule(one, other), differing_rule(other, one)) == (None, None)


def test_a_code_may_have_its_number_in_words():
    assert differing_rule("BA117", "BA one hundred and seventeen") is None
    assert differing_rule("BA117", "BA one hundred and eighteen") == "code"


@pytest.mark.parametrize(("gold", "predicted"), DIFFERENT)
def test_these_differ(gold, predicted):
    assert differing_rule(gold, predicted) is not None


GOLD = "The kitchen report for Anna was not sent before 5 pm to the office, please check the printed copy"


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("5", "6", "number"),
        ("not ", "", "negation"),
        ("before", "after", "marker word"),
        ("pm", "am", "number"),
        ("Anna", "Emma", "name"),
        ("kitchen report", "report kitchen", "order"),
        ("printed", "handwritten", "other word"),
        (", please check the printed copy", "", "word more or less"),
        ("Anna was", "Anna definitely was", "word more or less"),
        ("for Anna", "by Anna", "small word"),
    ],
)
def test_the_rule_that_refuses_free_text_is_named(old, new, rule):
    assert differing_rule(GOLD, GOLD.replace(old, new)) == f"free text: {rule}"


def test_no_content_word_may_be_another_or_go_or_come_however_long_the_text():
    filler = " ".join(["apple bread cherry dates eggs figs grapes honey ice jam"] * 20)
    gold = f"we need lots of fruit {filler}"
    for said in (
        gold.replace("lots", "plenty"),
        gold.replace("fruit ", "fresh fruit "),
        gold.replace("fruit ", ""),
    ):
        assert differing_rule(gold, said) is not None, said
    assert differing_rule(gold, f"Please, we need lots of the fruit: {filler}.") is None


def test_up_to_the_limit_words_are_compared():
    long = "word " * 999 + "words"
    assert len(long) == MAX_COMPARED_CHARACTERS
    assert differing_rule(long, long.replace("word", "Word", 1)) is None
    assert differing_rule(f"{long}s", f"{long}s".replace("word", "Word", 1)) == "long text"


def test_over_the_limit_only_blanks_may_differ():
    long = "word " * 2_000
    assert differing_rule(long, long.replace(" ", "\n")) is None
    assert differing_rule(long, long.replace("word", "Word", 1)) == "long text"


def test_a_text_that_unfolds_beyond_the_limit_is_not_compared_by_words():
    assert differing_rule("x", "\ufdfa" * 4_000) == "long text"
