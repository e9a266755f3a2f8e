"""The parts of the lexical agent: conversations, kinds, values, members, days, recall, tools, texts."""

import json
from datetime import date
from typing import Any

import pytest

from models.baselines.test_lexical import (
    BUDGET,
    FARE,
    MONDAY,
    TIMER,
    WEATHER,
    called,
    reply,
    said,
    tool,
    user,
)
from wildtool.models.baselines import lexical
from wildtool.models.baselines.lexical import (
    Conversation,
    answer,
    candidates,
    days,
    kind_of,
    read_conversation,
    wanted_tools,
)
from wildtool.models.baselines.offered import Parameter, offered_tools
from wildtool.types import Request

TODAY = date(2024, 5, 6)


def parameter(name: str = "x", required: bool = True, **schema: Any) -> Parameter:
    return Parameter(name, schema, required)


def test_a_conversation_is_read():
    messages = [
        {"role": "system", "content": "Be kind."},
        MONDAY,
        {"role": "system", "content": "2020-01-01"},
        user("first"),
        said("What city?"),
        user("Oslo"),
        *called("f", {"a": 1}, {"b": 2}),
        said("Which day? "),
        user("second"),
        {"role": "assistant", "tool_calls": [{"function": {"name": "g", "arguments": "{"}}, 5]},
        {"role": "tool", "content": "plain"},
        said("Done?!) "),
        user("third"),
        "x",
    ]
    f = ("f", {"a": 1})
    assert read_conversation(messages[:6]) == Conversation(TODAY, ["first", "Oslo"], True)
    assert read_conversation(messages[:8]) == Conversation(TODAY, ["first", "Oslo"], False, [f], [{"b": 2}])
    assert read_conversation(messages[:10]) == Conversation(TODAY, ["second"], False, [f], [{"b": 2}], 1)
    whole = read_conversation(messages)
    assert whole == Conversation(TODAY, ["third"], False, [f, ("g", {}), ("", {})], [{"b": 2}, "plain"], 3)
    assert read_conversation(messages[:6]).text == "first\nOslo"


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"enum": ["a"], "type": "integer"}, "enum"),
        ({"type": "boolean"}, "boolean"),
        ({"type": ["null", "array"]}, "array"),
        ({"type": "object"}, "object"),
        ({"type": "integer"}, "integer"),
        ({"type": "number"}, "number"),
        ({"type": "string", "format": "date"}, "date"),
        ({"type": "string", "format": "email"}, "email"),
        ({}, "name"),
    ],
)
def test_the_kind_of_a_parameter(schema: Any, kind: str):
    assert kind_of(parameter("thing", **schema)) == kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("startDate", "date"),
        ("start_time", "time"),
        ("URL", "url"),
        ("orderId", "id"),
        ("phone", "id"),
        ("mail", "email"),
        ("emailBody", "email"),
        ("body", "text"),
        ("city", "name"),
        ("ided", "name"),
    ],
)
def test_the_kind_of_a_name(name: str, kind: str):
    assert kind_of(parameter(name, type="string")) == kind


@pytest.mark.parametrize(
    ("kind", "text", "required", "values"),
    [
        ("time", "at 3 pm or 10:30, not 110:30", True, ["15:00", "10:30"]),
        ("email", "ask a.b+c@d.org or x@y", False, ["a.b+c@d.org"]),
        ("url", "see https://a.b/c. or (www.d.e)", False, ["https://a.b/c", "www.d.e"]),
        ("id", "DOC-10, A1, 123, 1234 and word", False, ["DOC-10", "1234"]),
        ("text", "write \"one\" and 'two', don't say it's", False, ["one", "two"]),
        ("name", 'Meet Anna Maria and "x y" in Oslo. There Bob', True, ["x y", "Anna Maria", "Oslo", "Bob"]),
        ("name", "Meet Anna", False, []),
        ("number", 'give 3, 2.5 or 4 of 7a and "8"', True, [3, 2.5, 4]),
        ("integer", "give 3, 2.5 or 4", True, [3, 4]),
        ("number", "give 3", False, []),
        ("boolean", "true", True, []),
        ("date", "on 2024-06-01 or tomorrow", False, ["2024-06-01", "2024-05-07"]),
    ],
)
def test_values_of_a_kind_in_a_text(kind: str, text: str, required: bool, values: list[Any]):
    assert candidates(kind, parameter(required=required), text, TODAY) == values


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("today, tonight, yesterday", ["2024-05-06", "2024-05-06", "2024-05-05"]),
        ("the day after tomorrow", ["2024-05-08"]),
        ("Monday, on Sunday, Wednesday", ["2024-05-06", "2024-05-12", "2024-05-08"]),
        ("2023-02-30 and 2023-02-28", ["2023-02-28"]),
        ("12024-05-061", []),
        ("后天 周日 星期一", ["2024-05-08", "2024-05-12", "2024-05-06"]),
    ],
)
def test_days_in_a_text(text: str, dates: list[str]):
    assert days(text, TODAY) == dates
    with_year = [day for day in dates if day in text]
    assert days(text, None) == with_year


def test_a_day_of_the_week_is_the_next_one():
    later = days("Monday, on Sunday, Wednesday", date(2024, 5, 8))
    assert later == ["2024-05-13", "2024-05-12", "2024-05-08"]


def test_members_of_an_enumeration_are_named_in_order():
    size = parameter(enum=["heart", "heart_rate", "low", 5], description="low（低）, 高=heart")
    assert candidates("enum", size, "Low, 5 and heart rates, then a heart", None) == [
        "low",
        5,
        "heart_rate",
        "heart",
    ]
    assert candidates("enum", size, "要低的", None) == []
    assert candidates("enum", size, "slow 55", None) == []


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("高", ["high"]),
        ("低", ["low"]),
        ("调到中等", ["mid"]),
        ("关闭", ["off"]),
        ("关", []),
        ("high 低", ["high", "low"]),
    ],
)
def test_members_have_the_chinese_words_beside_them(text: str, members: list[str]):
    described = "high（高）或 低=low, mid: 中等; 关闭(off)"
    size = parameter(enum=["high", "low", "mid", "off"], description=described)
    assert candidates("enum", size, text, None) == members


def names(text: str, *tools: Any) -> list[str]:
    return [each.name for each in wanted_tools(offered_tools(tools), text)]


def test_each_clause_asks_for_the_tool_that_shares_most_with_it():
    tools = (WEATHER, BUDGET, TIMER)
    assert names("Show my budget and start the timer; then the weather", *tools) == [
        "get_budget",
        "set_timer",
        "get_weather",
    ]
    assert names("the budget, the budget", *tools) == ["get_budget"]
    assert names("groceries", *tools) == ["get_budget"]
    assert names("Hello there.", *tools) == []
    assert names("weather") == []
    # A word of the description alone is not enough where others have it, too.
    twins = (tool("alpha", "Handles paper. Never glass."), tool("beta", "Handles paper."))
    assert names("paper", *twins) == []
    assert names("glass", *twins) == []
    assert names("alpha", *twins) == ["alpha"]


def content(messages: Any, *tools: Any) -> Any:
    return reply(messages, tools)["content"]


def made(messages: Any, *tools: Any) -> list[Any]:
    calls = reply(messages, tools).get("tool_calls", ())
    return [(each["function"]["name"], json.loads(each["function"]["arguments"])) for each in calls]


def test_what_the_agent_says_where_it_calls_nothing():
    assert content([user("Hi")], WEATHER) == "All right."
    assert content([user("What is the weather")], WEATHER) == "What should I use as city?"
    assert content(
        [user("the weather in Oslo"), *called("get_weather", {"city": "Oslo"}, "x" * 500)], WEATHER
    ) == ("Here is what I found: " + "x" * 400)
    two = tool("make_trip", "Makes a trip.", ["from_city", "to_city"], from_city={}, to_city={})
    assert content([user("make a trip")], two) == "What should I use as from city, to city?"
    earlier = [
        user("the weather in Oslo"),
        *called("get_weather", {"city": "Oslo"}, "sun"),
        said("Sun."),
        user("Thanks"),
    ]
    assert content(earlier, WEATHER) == "All right."


def test_calls_have_ids_of_their_place_and_one_value_each():
    message = reply([MONDAY, user("the weather in Oslo tomorrow")], [WEATHER])
    (call,) = message["tool_calls"]
    assert (call["id"], json.loads(call["function"]["arguments"])) == (
        "lexical_2_0",
        {"city": "Oslo", "date": "2024-05-07"},
    )
    pair = tool("make_trip", "Makes a trip.", ["a_city", "b_city"], a_city={}, b_city={})
    assert made([user("make a trip from Oslo to Rome")], pair) == [
        ("make_trip", {"a_city": "Oslo", "b_city": "Rome"})
    ]
    assert made([user("make a trip to Oslo")], pair) == []


def test_lists_and_objects_are_filled():
    nested = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    both = tool("plan_trip", "Plans.", ["stops"], stops={"type": "array"}, start=nested)
    assert made([user("plan a trip over Oslo, Rome")], both) == [
        ("plan_trip", {"stops": ["Oslo", "Rome"], "start": {"city": "Oslo"}})
    ]
    many = " ".join(f'"{number}"' for number in range(30))
    (planned,) = made(
        [user(f"plan a trip {many}")], tool("plan_trip", "Plans.", ["stops"], stops={"type": "array"})
    )
    assert planned[1]["stops"] == [str(number) for number in range(20)]


@pytest.mark.parametrize(("levels", "is_filled"), [(6, True), (7, False)])
def test_objects_are_filled_down_to_some_levels(levels: int, is_filled: bool):
    schema: Any = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"city": schema}, "required": ["city"]}
    arguments: Any = "Oslo"
    for _ in range(levels + 1):
        arguments = {"city": arguments}
    plan = tool("plan_trip", "Plans.", ["city"], city=schema)
    assert made([user("plan a trip to Oslo")], plan) == ([("plan_trip", arguments)] if is_filled else [])


def test_values_are_recalled_from_results_and_calls():
    trains = [{"train_id": "T1", "from": "Oslo"}, {"train_id": "T2", "from": "Rome"}]
    history = [
        user("trains"),
        *called("search_trains", {"a": 1}, {"all": trains}),
        said("Here."),
        user("the fare from Rome"),
    ]
    assert made(history, FARE) == [("get_fare", {"train_id": "T2"})]
    history[-1] = user("the fare please")
    assert made(history, FARE) == [("get_fare", {"train_id": "T1"})]
    newer = [*history[:-1], *called("search_trains", {}, {"id": 7}), said("Here."), user("the fare please")]
    assert made(newer, FARE) == [("get_fare", {"train_id": 7})]
    by_call = [
        user("x"),
        *called("other", {"train_id": "C1"}, "text"),
        said("Here."),
        user("the fare please"),
    ]
    assert made(by_call, FARE) == [("get_fare", {"train_id": "C1"})]
    member = tool("show_level", "Shows.", ["level"], level={"enum": ["hot"]})
    recalled = [user("x"), *called("other", {"level": "hot"}, 1), said("Here."), user("show the level")]
    assert made(recalled, member) == [("show_level", {"level": "hot"})]
    number = tool("show_count", "Shows.", ["count"], count={"type": "integer"})
    counted = [user("x"), *called("other", {"count": 4}, {"count": 4}), said("Here."), user("show the count")]
    assert made(counted, number) == []


def test_the_answer_to_a_question_is_a_value():
    asked = [user("the weather"), said("What should I use as city?"), user(" oslo. ")]
    assert made(asked, WEATHER) == [("get_weather", {"city": "oslo"})]
    asked[-1] = user("o" * 50)
    assert made(asked, WEATHER) == [("get_weather", {"city": "o" * 40})]
    assert made([*asked[:2], user(" !! ")], WEATHER) == []
    assert made(asked[:1], WEATHER) == []
    timer = [user("set the timer"), said("What should I use as minutes?"), user("ten or so")]
    assert made(timer, TIMER) == [("set_timer", {"minutes": 10})]


def test_a_tool_that_gives_what_is_missing_is_called_first():
    needs = tool("pay_bill", "Pays.", ["bill_no"], bill_no={"description": "As list_bills gives it."})
    gives = tool("list_bills", "Lists what is open.")
    assert made([user("pay it")], needs, gives) == [("list_bills", {})]
    done = [user("pay it"), *called("list_bills", {}, {"none": 1})]
    assert made(done, needs, gives) == []
    assert content(done, needs, gives) == "What should I use as bill no?"
    paid = [user("pay it"), *called("list_bills", {}, {"bill_no": "B-12"})]
    assert made(paid, needs, gives) == [("pay_bill", {"bill_no": "B-12"})]
    again = [*paid, *called("pay_bill", {"bill_no": "B-12"}, "ok")]
    assert content(again, needs, gives) == "Here is what I found: ok"


def test_no_records_are_read_below_some_levels():
    records = [*lexical._records({"a": [{"b": {"c": 1}}]})]  # pyright: ignore[reportPrivateUsage]
    assert [record for record in records if record] == [{"a": [{"b": {"c": 1}}]}, {"b": {"c": 1}}, {"c": 1}]
    deep: Any = {"end": 1}
    for _ in range(6):
        deep = {"in": deep}
    assert {"end": 1} in [*lexical._records(deep)]  # pyright: ignore[reportPrivateUsage]
    assert {"end": 1} not in [*lexical._records({"in": deep})]  # pyright: ignore[reportPrivateUsage]
    assert answer(Request([])) == {"role": "assistant", "content": "All right."}
