"""The lexical agent: what it calls, asks and says, from nothing but messages and tools."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from long import a_fiftieth_of
from wildtool.models.baselines import make_baseline
from wildtool.models.baselines.lexical import answer
from wildtool.types import Message, Request

MONDAY = {"role": "system", "content": "Current Date: 2024-05-06 08:12:00 Monday"}


def tool(
    name: str, description: str, required: Sequence[str] = (), **properties: dict[str, Any]
) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def said(text: str) -> Message:
    return {"role": "assistant", "content": text}


def called(name: str, arguments: dict[str, Any], result: Any) -> list[Message]:
    call = {"id": name, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": name, "content": json.dumps(result)},
    ]


def reply(messages: Sequence[Any], tools: Sequence[Any]) -> Message:
    return answer(Request(messages, tools))


def calls(messages: Sequence[Any], tools: Sequence[Any]) -> list[tuple[str, dict[str, Any]]]:
    functions = [call["function"] for call in reply(messages, tools).get("tool_calls") or []]
    return [(function["name"], json.loads(function["arguments"])) for function in functions]


TEXT = {"type": "string"}
DATE = {"type": "string", "description": "Day, YYYY-MM-DD."}
WEATHER = tool("get_weather", "Weather forecast of a city.", ["city"], city=TEXT, date=DATE)
BUDGET = tool(
    "get_budget",
    "Shows the budget left in a spending category.",
    ["category"],
    category={"type": "string", "enum": ["eating_out", "groceries"]},
)
TIMER = tool(
    "set_timer", "Starts a kitchen timer.", ["minutes"], minutes={"type": "integer"}, loud={"type": "boolean"}
)
TRAINS = tool(
    "search_trains",
    "Finds trains between two cities.",
    ["from_city", "to_city"],
    from_city=TEXT,
    to_city=TEXT,
)
FARE = tool("get_fare", "Price of one train.", ["train_id"], train_id=TEXT)
SHARE = tool(
    "share_file",
    "Shares a file with people by e-mail.",
    ["file_id", "emails"],
    file_id={"type": "string", "description": "Id of the file, e.g. DOC-10."},
    emails={"type": "array", "items": {"type": "string"}, "description": "Who gets it."},
)
NOTE = tool(
    "add_note", "Saves a note.", ["text"], text={"type": "string", "description": "Words of the note."}
)


def test_it_calls_the_tool_whose_words_the_user_says():
    assert calls([user("what's the weather in Lisbon?")], [BUDGET, WEATHER]) == [
        ("get_weather", {"city": "Lisbon"})
    ]


def test_it_chats_where_no_tool_matches():
    assert not calls([user("my cat is so funny today")], [BUDGET, WEATHER])


def test_it_chats_where_no_tool_is_offered():
    assert reply([user("what's the weather in Lisbon?")], [])["content"]


def test_two_clauses_give_two_calls():
    wanted = calls([user("set a timer for 5 minutes, and what's the weather in Lisbon?")], [WEATHER, TIMER])
    assert wanted == [("set_timer", {"minutes": 5}), ("get_weather", {"city": "Lisbon"})]


def test_an_enumeration_member_is_named_in_words():
    assert calls([user("budget left for Eating out?")], [BUDGET]) == [
        ("get_budget", {"category": "eating_out"})
    ]


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("tomorrow", "2024-05-07"),
        ("this Thursday", "2024-05-09"),
        ("on May 22", "2024-05-22"),
        ("the day after tomorrow", "2024-05-08"),
        ("on 2024-06-01", "2024-06-01"),
        *((f"{word}", "2024-05-06") for word in ("today", "tonight", "今天", "今晚")),
        *((f"{word}", "2024-05-05") for word in ("yesterday", "昨天")),
        ("明天", "2024-05-07"),
        ("后天", "2024-05-08"),
    ],
)
def test_a_day_is_counted_from_the_date_line(words: str, day: str):
    wanted = calls([MONDAY, user(f"weather in Lisbon {words}")], [WEATHER])
    assert wanted == [("get_weather", {"city": "Lisbon", "date": day})]


def test_a_relative_day_without_a_date_line_is_left_out():
    assert calls([user("weather in Lisbon tomorrow")], [WEATHER]) == [("get_weather", {"city": "Lisbon"})]


def test_numbers_are_taken_in_order_but_not_from_days_and_times():
    timer = calls([MONDAY, user("on 2024-06-01 at 7:30 start a timer of 5 minutes, then 9")], [TIMER])
    assert timer == [("set_timer", {"minutes": 5})]


def test_one_value_serves_one_parameter_in_order():
    wanted = calls([user("trains from Porto to Lisbon")], [TRAINS])
    assert wanted == [("search_trains", {"from_city": "Porto", "to_city": "Lisbon"})]


def test_a_code_of_the_described_form_and_a_list_of_addresses_are_found():
    wanted = calls([user("share file DOC-8842 with a@x.org and b@x.org")], [SHARE])
    assert wanted == [("share_file", {"file_id": "DOC-8842", "emails": ["a@x.org", "b@x.org"]})]


def test_a_quoted_text_is_taken_as_it_stands():
    wanted = calls([user('save a note: "Buy milk, and 2 eggs."')], [NOTE])
    assert wanted == [("add_note", {"text": "Buy milk, and 2 eggs."})]


def test_a_nested_object_is_filled():
    start = {
        "type": "object",
        "properties": {"date": DATE, "time": {"type": "string", "description": "HH:MM"}},
    }
    start["required"] = ["date", "time"]
    plan = tool("plan_workout", "Plans a workout.", ["start"], start=start)
    wanted = calls([MONDAY, user("plan a workout tomorrow at 7:30 pm")], [plan])
    assert wanted == [("plan_workout", {"start": {"date": "2024-05-07", "time": "19:30"}})]


def test_it_asks_for_a_missing_value_by_name():
    assert "city" in reply([user("how is the weather")], [WEATHER])["content"]


def test_the_answer_to_a_question_fills_what_was_asked_for():
    talk = [user("how is the weather"), said("Which city?"), user("Bichos")]
    assert calls(talk, [WEATHER]) == [("get_weather", {"city": "Bichos"})]


RESULT = {
    "trains": [
        {"train_id": "tr_1", "price": 30.5, "duration_minutes": 190},
        {"train_id": "tr_2", "price": 46.0, "duration_minutes": 160},
        {"train_id": "tr_3", "price": 12.0, "duration_minutes": 400},
    ]
}
FOUND = called("search_trains", {"from_city": "Porto", "to_city": "Lisbon"}, RESULT)


@pytest.mark.parametrize(
    ("words", "train"),
    [("please", "tr_1"), ("the one for 12.0", "tr_3"), ("tr_22", "tr_22")],
)
def test_an_id_comes_from_the_earlier_record_that_is_meant(words: str, train: str):
    talk = [
        user("trains from Porto to Lisbon"),
        *FOUND,
        said("Three trains."),
        user(f"price of the train, {words}"),
    ]
    assert calls(talk, [TRAINS, FARE]) == [("get_fare", {"train_id": train})]


def test_a_tool_that_a_description_names_is_called_for_a_missing_value():
    id_ = {"type": "string", "description": "Id of the account, as list_accounts gives it."}
    pay = tool("pay_bill", "Pays a bill.", ["account_id"], account_id=id_)
    accounts = tool("list_accounts", "Every account.")
    assert calls([user("pay the bill")], [pay, accounts]) == [("list_accounts", {})]
    known = called("list_accounts", {}, [{"account_id": "ac_1"}])
    assert calls([user("pay the bill"), *known], [pay, accounts]) == [("pay_bill", {"account_id": "ac_1"})]


def test_no_records_give_no_id():
    talk = [
        user("trains from Porto to Lisbon"),
        *called("search_trains", {"from_city": "Porto", "to_city": "Lisbon"}, {"trains": []}),
        said("There are none."),
        user("price of the train"),
    ]
    assert not calls(talk, [TRAINS, FARE])


def test_a_second_wish_is_served_once_the_first_brings_its_id():
    start = [user("trains from Porto to Lisbon and the fare of the one for 12.0")]
    assert [name for name, _ in calls(start, [TRAINS, FARE])] == ["search_trains"]
    assert calls([*start, *FOUND], [TRAINS, FARE]) == [("get_fare", {"train_id": "tr_3"})]


def test_it_answers_from_the_observations_once_all_is_served():
    talk = [user("price of train tr_22, please"), *called("get_fare", {"train_id": "tr_22"}, {"price": 46.7})]
    assert "46.7" in reply(talk, [FARE])["content"]


def test_a_call_whose_result_is_known_is_not_made_again():
    history = called("get_weather", {"city": "Lisbon"}, "rain")
    talk = [user("weather in Lisbon"), *history, said("Rain."), user("so the weather in Lisbon is bad")]
    assert not calls(talk, [WEATHER])


def test_chinese_is_read_by_words_glosses_and_days():
    weather = tool(
        "get_weather",
        "查询一个城市的天气预报。",
        ["city", "date"],
        city={"type": "string", "description": "城市：qd=青岛，wx=无锡。", "enum": ["wx", "qd"]},
        date={"type": "string", "description": "日期，格式 YYYY-MM-DD。"},
        part={"type": "string", "description": "时段：day 白天，night 夜间。", "enum": ["day", "night"]},
    )
    wanted = calls([MONDAY, user("帮我查下青岛后天夜间的天气")], [NOTE, weather])
    assert wanted == [("get_weather", {"city": "qd", "date": "2024-05-08", "part": "night"})]


async def test_it_never_looks_at_the_gold_answer():
    def gold(style: str) -> Message:
        raise AssertionError("gold was read")

    request = Request([user("weather in Lisbon")], [WEATHER], gold=gold)
    assert (await make_baseline("baseline/lexical").complete(request)).message["tool_calls"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
VOCABULARY = """weather in Lisbon budget 12 7:30 tomorrow friday 31 June 0000-00-00 99:99 “ ' a@b.cd DOC-1 and , . ?
    去 明天 三 not the 99th"""
WORDS = st.lists(st.sampled_from(VOCABULARY.split()), max_size=12).map(" ".join)
SCHEMA = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(
            ["string", "integer", "number", "boolean", "array", "object", ["string", "null"], 3]
        ),
        "description": WORDS | JSON,
        "enum": JSON,
        "items": JSON,
        "properties": JSON,
        "format": JSON,
    },
)
TOOL = st.builds(
    lambda name, about, properties, required: {
        "type": "function",
        "function": {
            "name": name,
            "description": about,
            "parameters": {"type": "object", "properties": properties, "required": required},
        },
    },
    st.text(min_size=1, max_size=12) | st.sampled_from(["get_weather", "list_budget"]),
    WORDS | JSON,
    st.dictionaries(
        st.sampled_from(["city", "date", "budget_id", "amount", "x", "tags", "on"]), SCHEMA, max_size=4
    ),
    st.lists(st.sampled_from(["city", "date", "budget_id", "amount", "tags", "on"])) | JSON,
)
CALL = st.fixed_dictionaries(
    {},
    optional={"id": JSON, "function": st.fixed_dictionaries({}, optional={"name": JSON, "arguments": JSON})},
)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "tool"])},
    optional={
        "content": WORDS | JSON | JSON.map(repr),
        "tool_calls": st.lists(CALL, max_size=2) | JSON,
        "tool_call_id": JSON,
    },
)


@settings(max_examples=a_fiftieth_of(500), deadline=None)
@given(messages=st.lists(MESSAGE | JSON, max_size=6), tools=st.lists(TOOL | JSON, max_size=4))
def test_any_messages_and_tools_give_a_legal_assistant_message(messages: list[Any], tools: list[Any]):
    functions = [entry.get("function") for entry in tools if isinstance(entry, dict)]
    names = [function.get("name") for function in functions if isinstance(function, dict)]
    message = reply(messages, tools)
    assert message["role"] == "assistant"
    if made := message.get("tool_calls"):
        assert len({call["id"] for call in made}) == len(made)
        for call in made:
            assert call["function"]["name"] in names
            assert isinstance(json.loads(call["function"]["arguments"], parse_constant=pytest.fail), dict)
    else:
        assert isinstance(message["content"], str) and message["content"]


def nested(levels: int) -> Any:
    value: Any = {"type": "string"}
    for level in range(levels):
        value = (
            {"type": "array", "items": value} if level % 2 else {"type": "object", "properties": {"a": value}}
        )
    return value


@pytest.mark.parametrize(
    "hostile",
    [
        [user("weather in Lisbon " + "“" * 50_000)],
        [user("7" * 50_000 + " weather " + "Aa " * 9_000)],
        [user("x"), *called("get_weather", {}, nested(200)), user("weather \ud800 in Lisbon")],
        [{"role": "assistant", "tool_calls": [{"id": nested(5_000), "function": {"name": "get_weather"}}]}],
    ],
    ids=["quotes", "digits", "deep result", "deep id"],
)
def test_huge_and_deep_input_is_survived(hostile: list[Any]):
    deep = tool("get_weather", "Weather in a city.", ["city", "all"], city=TEXT, all=nested(5_000))
    assert reply(hostile, [deep, WEATHER])["role"] == "assistant"


def test_the_same_request_gives_the_same_reply():
    request = Request([user("weather in Lisbon and a timer for 5 minutes")], [WEATHER, TIMER])
    assert answer(request) == answer(request)
