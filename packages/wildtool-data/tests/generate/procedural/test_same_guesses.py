"""What templates read out of names, descriptions and schemas, and how they word it."""

from datetime import UTC, datetime
from random import Random
from typing import Any

from generate.golden import check
from wildtool_data.make.procedural.guess_semantics import (
    ReturnSemantics,
    form_of,
    guess_kind,
    guess_returns,
    is_id,
    noun_of,
)
from wildtool_data.make.procedural.requests import (
    clause_from_name,
    compared,
    request_clause,
    spoken_name,
    with_places,
)
from wildtool_data.make.procedural.tool_sets import (
    ParameterSlot,
    _distinguishable,  # pyright: ignore[reportPrivateUsage]
    slot_of,
)
from wildtool_data.make.procedural.value_roles import quoted_examples, value_role
from wildtool_data.make.procedural.values import ValueSampler, as_spoken

DAY = datetime(2025, 3, 4, tzinfo=UTC)
DESCRIPTIONS = [
    "",
    "Gets a user.",
    "Get user",
    "Returns the list of orders, sorted.",
    "This endpoint allows you to create a ticket",
    "The API method is used to delete a pet. Danger!",
    "Use this tool to send mail",
    "Call this method if you want to ping",
    "[Beta] Lists rooms",
    "DEPRECATED: Cancels it.",
    "Used to book a room",
    "Allows users to pay",
    "An API for weather",
    "Weather",
    "Weather of a city and much more than sixty characters in one long noun phrase here",
    "Studies the sky",
    "Running reports daily",
    "Stopping a server",
    "Copies files",
    "Watches it",
    "Making copies of it",
    "e.g. this. Gets it.",
    "Gets it, i.e. all of it. More",
    "Get no. 5 of it",
    "✅ Deletes a pet 🐶",
    "1234",
    "...\nGets it",
    "Gets it:\nmore",
    "Gets “it.” Then",
    "查询天气。返回温度。",
    "查询天气",
    "Get 天气",
    (
        "Gets a very long description that goes on and on, with a stop here, and then it goes on "
        "and on without any stop at all until the end"
    ),
    (
        "Gets "
        "averylongwordthatneverendsandgoesonandonandonandonandonandonandonandon"
        "andonandonandonandonandonandonandonandonandonand on"
    ),
    (
        "Lists all things which are there - with a dash – and another dash - and one more dash - "
        "up to the very end of it all, I say"
    ),
    "get",
    "Get ",
    "<p>Gets <b>it</b></p>",
]
NAMES = [
    "city",
    "userId",
    "user_id",
    "user-ids",
    "ID",
    "guid",
    "orderid",
    "paid",
    "email",
    "e_mail",
    "ip",
    "tip",
    "coordinates",
    "bbox",
    "currency",
    "coin",
    "coincide",
    "country_code",
    "country",
    "account",
    "discount",
    "language",
    "locale",
    "username",
    "userName",
    "password",
    "version",
    "sha256",
    "phone",
    "mobileNumber",
    "url",
    "uri",
    "link",
    "domain",
    "timestamp",
    "date",
    "days",
    "update",
    "month",
    "time",
    "hour",
    "timezone",
    "location",
    "region",
    "address",
    "author",
    "owner",
    "title",
    "query",
    "code",
    "token",
    "message",
    "body",
    "year",
    "minutes",
    "duration",
    "limit",
    "page",
    "quantity",
    "price",
    "amount",
    "thing",
    "getUserByID",
    "HTTPServer",
    "a.b-c d",
    "__x__",
    "名字",
    "uuid",
    "productid",
    "valid",
]


def test_a_request_is_worded_by_the_description_or_the_name():
    rows = {
        text[:60] + str(len(text)): [request_clause(text, "findUserByID", lang) for lang in ("en", "zh")]
        for text in DESCRIPTIONS
    }
    check("request_clauses", rows)
    assert [clause_from_name("findUserByID", lang) for lang in ("en", "zh")] == [
        "use “find user by id”",
        "使用“find user by id”功能",
    ]
    assert with_places("get [a] {b}", ["x", "y"]) == "get a b[\2{x}][\2{y}]"
    assert compared("Get THE list of all users, for your team!") == "get list users team"


def test_a_kind_is_guessed_from_name_type_and_description():
    rows: dict[str, Any] = {}
    for name in NAMES:
        kinds = [guess_kind(name, {"type": type_}) for type_ in ("string", "integer", "float", "boolean")]
        rows[name] = " / ".join(
            [*kinds, spoken_name(name), noun_of(name, "id"), noun_of(name, ""), str(is_id(name))]
        )
    check("guessed_kinds", rows)
    about = {
        text: guess_kind("x", {"type": "string", "description": text})
        for text in ("The city.", "Is, the city", "A date (or time)", "用户，city", "Name of it", "")
    }
    assert about == {
        "The city.": "city",
        "Is, the city": "text",
        "A date (or time)": "date",
        "用户，city": "text",
        "Name of it": "title",
        "": "text",
    }
    assert [guess_kind("city", schema) for schema in ({"enum": ["a"]}, {"type": "null"}, {})] == [
        "enum",
        "boolean",
        "city",
    ]
    assert [
        form_of(schema)
        for schema in (
            {"type": "integer"},
            {"type": "integer", "enum": [1]},
            {"type": "string"},
            {"type": "string", "format": "uuid"},
            {"type": "string", "pattern": "a"},
            {"type": "string", "enum": ["a"]},
            {"type": "boolean"},
            {},
        )
    ] == ["whole", "other", "", "uuid", "other", "other", "other", "other"]


SCHEMAS: dict[str, dict[str, Any]] = {
    "plain": {"type": "string"},
    "date": {"type": "string", "format": "date"},
    "number of a date": {"type": "integer", "format": "date"},
    "number of a pattern": {"type": "integer", "pattern": "^a$"},
    "moment": {"type": "string", "format": "date-time"},
    "uuid": {"type": "string", "format": "uuid"},
    "pattern": {"type": "string", "pattern": "^a$"},
    "pattern and date": {"type": "string", "pattern": "^2", "format": "date"},
    "list": {"type": "array", "items": {"type": "string", "pattern": "^a$"}},
    "list of numbers": {"type": "array", "items": {"type": "integer", "minimum": 2}},
    "enum": {"type": "string", "enum": ["a", "b"]},
    "number": {"type": "float", "maximum": 3},
    "examples": {"type": "string", "description": "Such as 'red', 'blue' or 'red'."},
    "one example": {"type": "string", "description": "Such as 'red'."},
    "examples of a list": {"type": "array", "description": "Like 'x' or 'y'.", "items": {"type": "string"}},
    "format example": {"type": "string", "description": "In the format 'YYYY' or as 'MM'."},
}


def test_a_slot_says_what_values_it_takes_and_what_it_is_called():
    paths: list[Any] = [("thing",), ("orderId",), ("stay", "from_date"), ("rows", 0, "user id")]
    check(
        "slots",
        {
            f"{name} {path}": repr(slot_of(schema, path, required=bool(k % 2)))
            for k, (name, schema) in enumerate(SCHEMAS.items())
            for path in paths
        },
    )
    slot = slot_of({"type": "string"}, ("rows", 0, "user id"), required=True)
    assert (slot.dotted, slot.same_values(slot)) == ("rows.user id", True)


def test_what_a_tool_returns_is_guessed_from_its_name_and_result():
    ids = {"order_id": "", "customerId": "whole", "city_id": "uuid", "id": ""}
    result = {
        "type": "object",
        "properties": {
            "order": {"type": "object", "properties": {"id": {"type": "string"}}},
            "customers": {
                "type": "array",
                "items": {"type": "object", "properties": {"customerId": {"type": "integer"}}},
            },
        },
    }
    names = ["getOrder", "searchOrders", "listCities", "find_customer", "pay", "orders", "get_id"]
    rows = {
        name: [
            repr(guess_returns(name, own, ids, returns))
            for own, returns in (
                (set(), {}),
                ({"order_id"}, {}),
                (set(), result),
                (
                    set(),
                    {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string"}}}},
                ),
            )
        ]
        for name in names
    }
    check("guessed_returns", rows)
    assert [
        (r.key, r.name)
        for r in (ReturnSemantics(), ReturnSemantics(entity="a"), ReturnSemantics(id_key="b", field="c"))
    ] == [("", ""), ("a_id", "a_id"), ("b", "c")]


def test_values_of_each_kind_are_drawn_as_before():
    kinds = [
        "person",
        "city",
        "goods",
        "dish",
        "title",
        "sentence",
        "text",
        "address",
        "phone",
        "email",
        "url",
        "date",
        "time",
        "ip",
        "coordinates",
        "currency",
        "country",
        "country*code",
        "language",
        "handle",
        "version",
        "hash",
        "id",
        "code",
        "uuid",
        "moment",
        "morning",
        "evening",
        "fee",
        "tip",
        "digits",
        "integer",
        "count",
        "minutes",
        "stars",
        "percent",
        "year",
        "number",
        "amount",
        "price",
        "km",
        "celsius",
        "rating",
        "rate",
        "boolean",
        "flag",
        "colour",
        "team",
        "list:city",
        "list:colour",
        "unknown",
        "pattern:^[A-C]{2}$",
        "pattern:^[a-z]+_[a-z]+$",
        "pattern:^[A-Z][a-z]+[A-Z]",
    ]
    rows: dict[str, Any] = {}
    for lang in ("en", "zh"):
        values = ValueSampler(Random(7), lang, DAY)
        for kind in kinds:
            name = kind.replace("*", " ")
            rows[f"{lang} {name}"] = [values.of(name) for _ in range(3)] + [
                values.of(name, (), (2, 2.5)),
                values.of(name, ("a", "b")),
            ]
        rows[f"{lang} ids"] = [
            values.id("or"),
            values.id("or", "uuid"),
            values.id("or", "whole"),
            values.id("or", "whole", (3, 5)),
            values.id("or", "whole", (1, 1e9)),
        ]
    check("drawn_values", rows)
    spoken = [
        (True, ""),
        (False, ""),
        (["a b", 2], "list:title"),
        ("a", "title"),
        ("a_b", "enum"),
        ("a_b", "code"),
        (2.5, ""),
    ]
    assert [[as_spoken(value, kind, lang) for value, kind in spoken] for lang in ("en", "zh")] == [
        ["yes", "no", '"a b" and "2"', '"a"', "a b", "a_b", "2.5"],
        ["是", "否", "“a b”和“2”", "“a”", "a b", "a_b", "2.5"],
    ]
    scarce = ValueSampler(Random(1), "en", DAY)
    assert sorted(scarce.of("x", ("a", "b", "c")) for _ in range(3)) == ["a", "b", "c"]


def test_the_role_of_a_value_follows_from_its_definition():
    about = [
        "",
        "The language.",
        "A region",
        "Name of the file",
        "The unit, of it",
        "Search query",
        "Such as 'Blue' or 'Red'",
        "地区",
        "关键词",
    ]
    keys = ["x", "language", "user_name", "home_region", "query", "search_terms", "colour", "ids", "x_format"]
    rows = {
        f"{key}: {text}": " ".join(
            repr(value_role(key, {"description": text}, value)) for value in ("Blue", "Blue Sky")
        )
        for key in keys
        for text in about
    }
    check("value_roles", rows)
    assert quoted_examples(
        {"description": "Use 'a', “b”, \"c\" or 'a'; don't 'd' it, format 'YYYY', form of 'x', ' '"}
    ) == ["a", "b", "c", "d"]


def test_slots_that_are_called_alike_are_called_by_their_keys():
    slots = tuple(
        ParameterSlot((key,), key, noun, "title", required)
        for key, noun, required in (
            ("homeTown", "place", True),
            ("place", "place", False),
            ("_", "place", True),
            ("Place", "place", True),
            ("DAY", "date", False),
            ("dAY", "date", False),
            ("hour", "time", False),
        )
    )
    renamed = [(slot.key, slot.noun, slot.required) for slot in _distinguishable(slots)]
    assert renamed == [
        ("homeTown", "home town", True),
        ("_", "place", True),
        ("Place", "place again", True),
        ("DAY", "day", False),
        ("dAY", "d ay", False),
        ("hour", "time", False),
    ]
