"""Values that a model passes on: which results are damaged, and what counts as passing on, noticing and asking."""

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest
from typer.testing import CliRunner

from alter.altered_play import judged, said
from wildtool.alter.failures.failures import Failures
from wildtool.alter.failures.schedule import FailureSchedule
from wildtool.alter.failures.unit import FailingUnit
from wildtool.alter.variant import Variant
from wildtool.cli import app
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark
from wildtool.types import FieldValue, Message, Request, Tool

BENCHMARK = load_benchmark("wild-mini")
ITEMS = list(BENCHMARK.load(data_of(BENCHMARK).locate(None)))
TOOLS: list[Tool] = [
    {"type": "function", "function": {"name": name, "description": description}}
    for name, description in (
        ("find_flight", "Finds a flight."),
        ("get_price", "Gets a price."),
        ("get_weather", "Gets it."),
    )
]
FLIGHT = json.dumps({"flight": {"id": "QF1209", "km": 12500}, "airline": "Qantas"})


def call(name: str, **arguments: Any) -> Message:
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": f"{name} {arguments}", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def text(words: str) -> Message:
    return {"role": "assistant", "content": words}


def chain(
    kind: str, reply: Message, *, gold: Message, user: str = "How much?", result: str = FLIGHT
) -> tuple[str, Mapping[str, FieldValue]]:
    """The result of a flight's search as a model sees it, and what came of its reply."""
    unit = FailingUnit(FailureSchedule.parse(f"passed-on,{kind}"), "place", "en")
    asked: list[Message] = [{"role": "user", "content": user}]
    first = call("find_flight", to="Sydney")
    opened = unit.exchange(Request(asked, TOOLS))
    next(opened)
    with pytest.raises(StopIteration):
        opened.send(first)
    found = {"role": "tool", "tool_call_id": first["tool_calls"][0]["id"], "content": result}
    exchange = unit.exchange(Request([*asked, first, found], TOOLS, gold=lambda style: gold))
    shown = next(exchange).messages[-1]["content"]
    with suppress(StopIteration):
        exchange.send(reply)
    return shown, unit.fields(ended=True)


PRICE = call("get_price", flight="QF1209")


@pytest.mark.parametrize(
    ("reply", "end"),
    [
        (call("get_price", flight="RG2310"), "forwarded"),
        (call("find_flight", to="Sydney"), "noticed"),
        (PRICE, "noticed"),
        (text("That is not the flight you asked for, only the nearest record."), "noticed"),
        (text("Which flight do you mean?"), "asked"),
        (text("It costs 200 dollars."), "neither"),
        (call("get_weather", city="Sydney"), "neither"),
        (call("unheard_of", flight="RG2310"), "neither"),
    ],
)
def test_what_becomes_of_a_wrong_id(reply: Message, end: str):
    shown, fields = chain("wrong-id", reply, gold=PRICE)
    assert json.loads(shown)["flight"]["id"] == "RG2310"
    assert "notice" in json.loads(shown)
    assert fields["shortcut_end"] == end


@pytest.mark.parametrize(
    ("reply", "end"),
    [
        (call("get_price", km=12.5), "forwarded"),
        (call("get_price", km=12500), "noticed"),
        (call("find_flight", to="Sydney"), "noticed"),
        (call("find_flight", to="Perth"), "neither"),
    ],
)
def test_what_becomes_of_another_unit(reply: Message, end: str):
    shown, fields = chain("unit", reply, gold=call("get_price", km=12500))
    assert json.loads(shown)["flight"] == {"id": "QF1209", "km": 12.5}
    assert fields["shortcut_end"] == end


@pytest.mark.parametrize(
    ("reply", "end"),
    [
        (call("get_price", flight="QF1"), "forwarded"),
        (call("find_flight", to="Sydney"), "noticed"),
        (text("I found no results."), "noticed"),
        (text("Shall I look for another day?"), "asked"),
    ],
)
def test_what_becomes_of_an_empty_result(reply: Message, end: str):
    shown, fields = chain("empty", reply, gold=PRICE)
    assert shown == "{}"
    assert fields["shortcut_end"] == end


@pytest.mark.parametrize(
    ("gold", "user", "result"),
    [
        (text("All done."), "How much?", FLIGHT),
        (call("get_price", flight="other"), "How much?", FLIGHT),
        (PRICE, "How much is QF1209?", FLIGHT),
        (PRICE, "How much?", "no such flight"),
    ],
)
def test_a_result_that_gold_takes_nothing_from_stays_as_it_is(gold: Message, user: str, result: str):
    shown, fields = chain("wrong-id", PRICE, gold=gold, user=user, result=result)
    assert shown == result
    assert fields.get("shortcut_end") is None


def test_a_kind_that_has_nothing_to_damage_leaves_the_result():
    assert chain("unit", PRICE, gold=PRICE)[0] == FLIGHT


@pytest.mark.long
@pytest.mark.parametrize(
    ("style", "end"),
    [
        ("parallel", "noticed"),
        ("serial", "noticed"),
        ("forwards", "forwarded"),
        ("asks", "asked"),
        ("never-retries", "noticed"),
    ],
)
def test_policies_end_as_they_are_known_to(style: str, end: str):
    variant = Variant(BENCHMARK, (Failures(FailureSchedule.parse("passed-on")),))
    verdicts = [
        judged(variant, item, unit, said(variant, item, unit, "fixed", style), "fixed")
        for item in ITEMS
        for unit in item.units
    ]
    ends = Counter(verdict.fields.get("shortcut_end") for verdict in verdicts)
    assert ends.keys() == {None, end}
    assert ends[end] == 17
    if style in ("parallel", "serial"):
        assert {verdict.outcome for verdict in verdicts} == {"correct"}


def test_the_command_shows_the_table_and_refuses_items_without_a_chain(tmp_path: Any):
    def wildtool(*arguments: str) -> Any:
        return CliRunner().invoke(app, arguments)

    options = ("--model", "baseline/forwards", "--failures", "passed-on", "--out", str(tmp_path / "run"))
    assert wildtool("run", "wild-mini", *options).exit_code == 0
    shown = json.loads(wildtool("show", str(tmp_path / "run"), "--group", "shortcuts", "--json").output)
    numbers = {each["name"]: each for each in shown["runs"][0]["metrics"]}
    assert numbers["passed the value on"]["numerator"] == 17
    cases = tmp_path / "cases.yaml"
    cases.write_text("- {id: hello, input: Hello!, expect: none}\n", encoding="utf-8")
    refused = wildtool("run", str(cases), "--model", "baseline/gold", "--failures", "passed-on")
    assert refused.exit_code == 2
    wrong = wildtool("run", "wild-mini", "--model", "baseline/gold", "--failures", "passed-on,timeout")
    assert "wrong-id, empty, unit" in wrong.output
