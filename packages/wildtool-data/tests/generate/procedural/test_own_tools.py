"""Sessions without a model over tools of the user's own: what is said determines the call, results follow schemas."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from long import WHOLE
from wildtool.benchmarks.wildtoolbench.data import ANSWER, ASK
from wildtool.benchmarks.wildtoolbench.lint import lint_records
from wildtool.errors import DataError
from wildtool.toolcall.schema_check import argument_faults
from wildtool.tools.schema.constraints import constraint_faults
from wildtool_data.make.core.plan import Lang, SessionGenerationSpec
from wildtool_data.make.procedural.guess_semantics import form_of, noun_of
from wildtool_data.make.procedural.history import History, Mention
from wildtool_data.make.procedural.requests import request_clause
from wildtool_data.make.procedural.sessions import procedural_sessions
from wildtool_data.make.procedural.tool_sets import ParameterSlot, read_tool_sets, result_schemas

EMAIL = {"type": "string", "format": "email"}
BOOKING: dict[str, Any] = {
    "type": "object",
    "required": ["id", "state", "guest", "nights"],
    "properties": {
        "id": {"type": "integer"},
        "state": {"type": "string", "enum": ["open", "paid"]},
        "guest": {"type": "object", "required": ["email"], "properties": {"email": EMAIL}},
        "nights": {"type": "integer", "minimum": 1, "maximum": 9},
        "until": {"type": "string", "format": "date"},
        "rooms": {"type": "array", "items": {"type": "object", "properties": {"floor": {"type": "integer"}}}},
        "code": {"type": "string", "pattern": "^[A-F]{3}$"},
    },
}  # fmt: skip
BOOKING_ID = {"name": "bookingId", "in": "path", "required": True, "schema": {"type": "integer"}}
DAY = {"name": "day", "in": "query", "required": True, "schema": {"type": "string"}}
CITY = {"name": "city", "in": "query", "required": True, "schema": {"type": "string"}}


def answering(schema: Any) -> dict[str, Any]:
    return {"200": {"content": {"application/json": {"schema": schema}}}}


API: dict[str, Any] = {
    "openapi": "3.0.0",
    "components": {"schemas": {"Booking": BOOKING}},
    "paths": {
        "/bookings": {
            "get": {
                "operationId": "listBookings",
                "summary": "Lists <b>bookings</b> of a city.",
                "parameters": [CITY, {"name": "page[size]", "in": "query", "schema": {"type": "integer"}}],
                "responses": answering({"type": "array", "items": {"$ref": "#/components/schemas/Booking"}}),
            }
        },
        "/bookings/{bookingId}": {
            "get": {
                "operationId": "getBooking",
                "summary": "This endpoint retrieves a booking.",
                "parameters": [BOOKING_ID],
                "responses": answering({"$ref": "#/components/schemas/Booking"}),
            },
            "post": {
                "operationId": "moveBooking",
                "summary": "Moves a booking to another day",
                "parameters": [BOOKING_ID, DAY],
                "responses": answering({"type": "object", "properties": {"ok": {"type": "boolean"}}}),
            },
        },
    },
}  # fmt: skip


def written(tmp_path: Path, value: Any) -> Path:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(value))
    return path


def made(
    path: Path, count: int = 48 if WHOLE else 24, lang: Lang = "en", seed: str = "1"
) -> list[dict[str, Any]]:
    found = list(procedural_sessions(SessionGenerationSpec(count, 4, seed, (lang,), path), [].append))
    assert found
    return found


@pytest.fixture(scope="module")
def booked(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Sessions over `API`, of which each test reads something else."""
    return made(written(tmp_path_factory.mktemp("api"), API))


def nodes(sessions: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for session in sessions:
        for task in session["english_answer_list"]:
            yield from task


def calls(sessions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [node for node in nodes(sessions) if node["action"]["name"] not in (ASK, ANSWER)]


def tool(name_: str, description: str, **properties: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {
        "type": "function",
        "function": {"name": name_, "description": description, "parameters": parameters},
    }


@pytest.mark.long
def test_results_follow_the_schema_that_is_documented(tmp_path: Path, booked: list[dict[str, Any]]):
    schemas = result_schemas(written(tmp_path, API))
    found = calls(booked)
    assert {node["action"]["name"] for node in found} == set(schemas)
    for node in found:
        schema = schemas[node["action"]["name"]]
        assert list(argument_faults(node["observation"], schema)) == []
        assert list(constraint_faults(node["observation"], schema)) == []


def test_an_entity_that_was_asked_for_is_the_one_that_comes_back(booked: list[dict[str, Any]]):
    found = [node for node in calls(booked) if node["action"]["name"] == "getBooking"]
    assert found
    assert all(node["observation"]["id"] == node["action"]["arguments"]["bookingId"] for node in found)


def test_a_chain_passes_on_an_id_out_of_a_documented_list(booked: list[dict[str, Any]]):
    chains = [
        task
        for session in booked
        for kind, task in zip(session["english_task_types"], session["english_answer_list"], strict=True)
        if kind == "Sequential Multi-Tool"
    ]
    assert chains
    for task in chains:
        assert str(task[1]["action"]["arguments"]["bookingId"]) in json.dumps(task[0]["observation"])


@pytest.mark.long
def test_sessions_over_an_api_keep_every_rule_of_the_format(tmp_path: Path, booked: list[dict[str, Any]]):
    for sessions in (booked, made(written(tmp_path, API), lang="zh")):
        assert [f.message for f in lint_records(enumerate(sessions, 1), "made")] == []


def test_no_text_says_a_noun_twice_or_shows_what_only_a_program_reads(booked: list[dict[str, Any]]):
    for session in booked:
        for text in session["english_tasks"]:
            assert not re.search(r"\b(\w+)[: ]+\1\b|[<>{}\[\]\x02]|bookingId|page\[|, ?,", text), text


def test_every_value_of_a_call_is_said_or_referred_to(booked: list[dict[str, Any]]):
    for session in booked:
        for text, kind, task in zip(
            session["english_tasks"],
            session["english_task_types"],
            session["english_answer_list"],
            strict=True,
        ):
            if kind == "Single-Tool":
                nouns = {"bookingId": "booking", "page[size]": "page size"}
                names = [nouns.get(name, name) for name in task[0]["action"]["arguments"]]
                assert all(name in text for name in names), text


@pytest.mark.long
def test_a_value_that_was_asked_for_is_not_taken_in_silence_the_next_time(tmp_path: Path):
    sessions = made(written(tmp_path, API), count=96)
    tasks = [
        (text, task[-2]["action"]["arguments"])
        for session in sessions
        for kind, text, task in zip(
            session["english_task_types"],
            session["english_tasks"],
            session["english_answer_list"],
            strict=True,
        )
        if kind == "Single-Tool"
    ]
    texts = [text for text, arguments in tasks if "city" in arguments]
    assert texts
    assert all("city" in text for text in texts)


def test_tools_described_alike_are_asked_for_by_name_and_those_named_alike_too_are_left_out(tmp_path: Path):
    city = {"type": "string", "description": "The city."}
    tools = [
        tool("getWeather", "Gets the weather.", city=city),
        tool("readSky", "Get weather", city=city),
        tool("get_weather", "Gets the weather.", city=city),
    ]
    notes: list[str] = []
    ((first, second),) = read_tool_sets(written(tmp_path, tools), "en", notes.append)
    assert [first.request, second.request] == ["use get weather", "use read sky"]
    assert (
        len(notes) == 1
        and "'get_weather' is left out: a user could not tell it from 'getWeather'" in notes[0]
    )


def test_parameters_called_alike_are_told_apart(tmp_path: Path):
    text = {"type": "string"}
    filter_ = {"type": "object", "properties": {"user": text}, "required": ["user"]}
    ((found,),) = read_tool_sets(
        written(tmp_path, [tool("add", "Adds it.", userId=text, user_id=text, user=text, filter=filter_)]),
        "en",
        print,
    )
    nouns = [slot.noun for slot in found.slots]
    assert len(set(nouns)) == len(nouns) == 4


def test_a_tool_among_many_without_parameters_is_found(tmp_path: Path):
    tools = [tool(f"ping{k}", f"Ping server {k}.") for k in range(11)]
    tools.append(tool("find", "Finds a place.", city={"type": "string"}, day={"type": "string"}))
    sessions = made(written(tmp_path, tools), count=8)
    assert {"find"} <= {node["action"]["name"] for node in calls(sessions)}


def test_tasks_that_the_tools_do_not_allow_become_easier_ones_and_that_is_said(tmp_path: Path):
    path = written(
        tmp_path, [tool("find", "Finds a place.", city={"type": "string"}, day={"type": "string"})]
    )
    path.write_text(path.read_text().replace('["city", "day"]', "[]"))
    notes: list[str] = []
    sessions = list(procedural_sessions(SessionGenerationSpec(12, 4, "1", ("en",), path), notes.append))
    types = {kind for session in sessions for kind in session["english_task_types"]}
    assert types <= {"Chat", "Single-Tool", "Parallel Multi-Tool"}
    assert len(notes) == 1 and "of 12 sessions have easier tasks than planned" in notes[0]


def test_values_stay_within_bounds_of_which_one_is_given(tmp_path: Path):
    path = written(tmp_path, [
        tool("set", "Sets it.", low={"type": "integer", "minimum": 5_000}, high={"type": "number", "maximum": -3},
             above={"type": "integer", "exclusiveMinimum": 7, "maximum": 8}, name={"type": "string"}),
    ])  # fmt: skip
    found = [node["action"]["arguments"] for node in calls(made(path, count=16))]
    assert found
    assert all(call["low"] >= 5_000 and call["high"] <= -3 and call["above"] in (7, 8) for call in found)


@pytest.mark.parametrize(
    ("description", "name", "lang", "clause"),
    [
        ("Returns a list of users.", "users", "en", "return a list of users"),
        (
            "This endpoint allows you to modify a user, e.g. its name. More.",
            "u",
            "en",
            "modify a user, e.g. its name",
        ),
        ("<p>Searches <em>all</em> rooms</p>\n\nDetails.", "s", "en", "search all rooms"),
        ("#### 🔒 OAuth\nGet [filters](https://x.y/z) a `user` has", "g", "en", "use “OAuth”"),
        ("Weather forecast", "getForecast", "en", "use “Weather forecast”"),
        ("", "deleteUserById", "en", "delete user by id"),
        ("", "pets", "en", "use “pets”"),
        ("Deletes a pet", "x", "zh", "使用“Deletes a pet”功能"),
        ("查询天气。返回温度。", "x", "zh", "查询天气"),
    ],
)
def test_a_request_is_put_together_from_the_description(description: str, name: str, lang: Lang, clause: str):
    assert request_clause(description, name, lang) == clause


def test_a_long_description_is_cut_between_words():
    clause = request_clause("Gets " + "antidisestablishmentarianism " * 20, "x", "en")
    assert len(clause) <= 111 and clause.endswith("antidisestablishmentarianism")


@pytest.mark.parametrize(("length", "is_whole"), [(110, True), (111, False)])
def test_a_description_of_a_hundred_and_ten_characters_stays_whole(length: int, is_whole: bool):
    sentence = "Get " + "words " * 20
    clause = request_clause(sentence[: length - 2] + " x", "x", "en")
    assert clause == (f"get{sentence[3 : length - 2]}{' x' if is_whole else ''}")


def test_a_description_without_a_verb_names_a_tool_up_to_sixty_characters():
    noun = "Weather ".ljust(60, "x")
    assert request_clause(noun, "getIt", "en") == f"use “{noun}”"
    assert request_clause(f"{noun}x", "getIt", "en") == "get it"


def test_no_usable_tool_is_refused_with_the_first_reason(tmp_path: Path):
    path = written(
        tmp_path, {"openapi": "3.0.0", "paths": {"/a": {"get": {"parameters": [{"$ref": "#/gone"}]}}}}
    )
    with pytest.raises(
        DataError, match=r"holds no usable tool; .*The first reason: GET /a: left out: it refers to '#/gone'"
    ):
        read_tool_sets(path, "en", [].append)


def test_what_two_parameters_are_called_by_one_noun_is_never_referred_to():
    def mention(key: str, noun: str, value: str) -> Mention:
        return Mention(ParameterSlot((key,), key, noun, "title", required=True), value, 0)

    history = History(by_noun=True)
    history.add(
        [mention("userId", "user", "Ann"), mention("user", "user", "Ben"), mention("city", "city", "Oslo")]
    )
    assert [found.value for found in history.near(1)] == ["Oslo"]


def test_numbers_that_are_ids_are_whole():
    assert form_of({"type": "float"}) == "whole"
    assert noun_of("id", "id") == "id"


def test_a_parameter_without_a_description_is_described_by_its_name(tmp_path: Path):
    ((found,),) = read_tool_sets(
        written(tmp_path, [tool("add", "Adds it.", city={"type": "string"})]), "en", print
    )
    city = found.definition["function"]["parameters"]["properties"]["city"]
    assert city == {"type": "string", "description": "city."}


def test_values_have_their_type_where_a_pattern_stands_at_a_number(tmp_path: Path):
    pin = {"type": "number", "pattern": "[0-9]{4}"}
    listed = {"type": "array", "items": {"type": "string"}}
    tools = [
        tool("setPin", "Sets a pin.", pin=pin, day={"type": "string"}),
        tool("find", "Finds places.", **{"at[]": listed}),
    ]
    sessions = made(written(tmp_path, tools), count=16)
    assert [f.message for f in lint_records(enumerate(sessions, 1), "made") if f.rule != "duplicate"] == []
