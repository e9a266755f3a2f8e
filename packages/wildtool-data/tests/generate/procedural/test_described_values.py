"""Sessions and items over a user's own catalogue, whose values are those that its descriptions speak of."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from long import WHOLE
from wildtool.cli import app

COUNT = {"type": "integer", "description": "How many"}
STOCK = {"type": "string", "description": "Ticker symbol, such as AAPL."}


def tool(name: str, description: str, **parameters: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": parameters, "required": list(parameters)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def text(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


FINANCE = [
    tool("get_quote", "Get the latest price of a stock.", symbol=STOCK),
    tool("get_close", "Get the closing price of a stock.", symbol=STOCK, day=text("Trading day, YYYY-MM-DD")),
    tool(
        "convert_currency",
        "Convert an amount of money from one currency to another.",
        amount={"type": "number", "description": "The amount"},
        from_currency=text("Currency code, e.g. USD"),
        to_currency=text("Currency code, e.g. EUR"),
    ),
    tool(
        "list_dividends",
        "List the dividends that a company paid in a period.",
        symbol=STOCK,
        start_date=text("First day, in the past", format="date"),
        end_date=text("Last day, in the past", format="date"),
    ),
    tool("set_alert", "Set an alert for an upcoming call.", symbol=STOCK, day=text("Day, DD/MM/YYYY")),
]


def sessions(folder: Path, tools: list[dict[str, Any]], count: int = 12) -> list[dict[str, Any]]:
    (folder / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
    made = folder / "made.jsonl"
    words = ["generate", "-m", "procedural", "--tools", folder / "tools.json", "-n", count, "-o", made]
    ran = CliRunner().invoke(app, [str(word) for word in words], prog_name="wildtool")
    assert ran.exit_code == 0, ran.output
    return [json.loads(line) for line in made.read_text(encoding="utf-8").splitlines()]


def calls(made: list[dict[str, Any]], name: str) -> Iterator[tuple[date, Mapping[str, Any]]]:
    """The date of each session and the arguments of each call of a tool in it."""
    for session in made:
        today = datetime.fromisoformat(" ".join(session["english_env_info"].split()[:2])).date()
        for node in (node for task in session["english_answer_list"] for node in task):
            if node["action"]["name"] == name:
                yield today, node["action"]["arguments"]


@pytest.fixture(scope="module")
def finance(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return sessions(tmp_path_factory.mktemp("finance"), FINANCE, 40 if WHOLE else 24)


@pytest.mark.long
def test_symbols_of_companies_are_real_ones(finance: list[dict[str, Any]]):
    symbols = {given["symbol"] for name in ("get_quote", "get_close") for _, given in calls(finance, name)}
    assert len(symbols) > 5
    assert all(re.fullmatch("[A-Z]{1,5}", symbol) for symbol in symbols)


def test_no_closing_price_of_a_future_day_or_of_a_weekend_is_asked_for(finance: list[dict[str, Any]]):
    days = [(today, date.fromisoformat(given["day"])) for today, given in calls(finance, "get_close")]
    assert len(days) > 5
    assert all(day < today and day.weekday() < 5 for today, day in days)


def test_upcoming_days_are_future_ones_in_the_form_that_is_described(finance: list[dict[str, Any]]):
    days = [
        (today, datetime.strptime(given["day"], "%d/%m/%Y").date())
        for today, given in calls(finance, "set_alert")
    ]
    assert len(days) > 5
    assert all(day > today for today, day in days)


def test_a_currency_is_converted_into_another(finance: list[dict[str, Any]]):
    pairs = [
        (given["from_currency"], given["to_currency"]) for _, given in calls(finance, "convert_currency")
    ]
    assert len(pairs) > 5
    assert all(first != last for first, last in pairs)


def test_a_period_does_not_end_before_it_begins(finance: list[dict[str, Any]]):
    periods = [(given["start_date"], given["end_date"]) for _, given in calls(finance, "list_dividends")]
    assert len(periods) > 5
    assert all(start <= end for start, end in periods)


def test_no_call_takes_a_value_of_which_the_tool_before_it_knows_nothing(finance: list[dict[str, Any]]):
    results = [
        (node["action"]["arguments"], node["observation"])
        for session in finance
        for task in session["english_answer_list"]
        for node in task
        if node["action"]["name"] == "convert_currency"
    ]
    assert not [result for _, result in results if "symbol" in result]


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "schema", "pattern"),
    [
        ("size", text("Size of the shirt, such as S, M or XL"), "S|M|XL"),
        ("fabric", text("Fabric of the shirt", examples=["wool", "linen"]), "wool|linen"),
        ("label", text("Label", example="LBL-2024-001"), r"LBL-\d{4}-\d{3}"),
        ("shop_code", text("Code of the shop (e.g. NYC)"), "NYC"),
        ("country", text("Country, e.g. US or FR"), "[A-Z]{2}"),
        ("month", text("Month, YYYY-MM", pattern=r"^\d{4}-(0[1-9]|1[0-2])$"), "202[456]-[01][0-9]"),
        ("day", text("Day of sale", examples=["31.12.2024"]), r"\d\d\.\d\d\.202[456]"),
        ("day", text("Day of sale, like 03/04/2025"), "03/04/2025"),
        ("尺码", text("尺码，例如大号、中号"), "大号|中号"),
    ],
)
def test_values_are_like_the_examples_of_a_definition(
    name: str, schema: dict[str, Any], pattern: str, tmp_path: Path
):
    made = sessions(tmp_path, [tool("make_shirt", "Make shirts.", **{name: schema, "count": COUNT})], 6)
    values = [given[name] for _, given in calls(made, "make_shirt")]
    assert values
    assert all(re.fullmatch(pattern, value) for value in values), values


@pytest.mark.parametrize("words", ["such as the name of a city", "e.g. what you saw", "like any other text"])
def test_words_about_a_value_are_no_example(words: str, tmp_path: Path):
    made = sessions(tmp_path, [tool("note", "Write a note.", topic=text(f"Topic, {words}"))], 6)
    said = {given["topic"] for _, given in calls(made, "note")}
    assert len(said) > 3
    assert not [value for value in said if value in words]


def items(folder: Path, tools: list[dict[str, Any]], *more: str) -> tuple[int, str]:
    (folder / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
    words = ["generate", "acebench", "-m", "procedural", "--tools", str(folder / "tools.json"), "-n", "15"]
    ran = CliRunner().invoke(app, [*words, "-o", str(folder / "set"), *more], prog_name="wildtool")
    return ran.exit_code, ran.output


def test_items_about_optional_objects_give_them(tmp_path: Path):
    part = {"type": "object", "description": "What to keep", "required": ["sector"]}
    part["properties"] = {"sector": text("Sector", enum=["energy", "health"])}
    screen = tool("screen", "Screen the market.", symbol=STOCK, filter=part)
    screen["function"]["parameters"]["required"] = ["symbol"]
    own = [*FINANCE, screen]
    status, output = items(tmp_path, own, "--kinds", "object-short")
    assert (status, "0 lost" in output) == (0, True), output


def test_kinds_that_no_tool_allows_are_not_planned_unless_they_are_asked_for(tmp_path: Path):
    status, output = items(tmp_path, FINANCE)
    assert (status, "15 items, 0 lost" in output, "object-deep" in output) == (0, True, True), output
    (tmp_path / "asked").mkdir()
    status, output = items(tmp_path / "asked", FINANCE, "--kinds", "single,list")
    assert (status, "no tool of these allows an item of the kind list" in output) == (0, True), output
