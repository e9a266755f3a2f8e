"""BFCL's simulated classes: parsed and looked-up calls, refused calls, and what no argument may do."""

import inspect
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bfcl.simulated_build import TABLES, simulated
from wildtool.benchmarks.bfcl.simulated import SimulatedApis, classes_of
from wildtool.errors import DataError


def tools(version: str) -> dict[str, tuple[str, ...]]:
    """The names of the parameters of each tool."""
    return {
        name: tuple(inspect.signature(tool).parameters)
        for owner in classes_of(version).values()
        for name, tool in owner(TABLES, {}).tools().items()
    }


TOOLS = {version: tools(version) for version in ("v4", "v3")}
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(
        ["home", "box", "bag", "coin", "notes.txt", "..", ".", "/", "AAA", "BBB", "USR001", "USD", 7]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def calls(draw: st.DrawFn, version: str) -> str:
    name = draw(st.sampled_from(sorted(TOOLS[version])))
    given_ones = [key for key in TOOLS[version][name] if draw(st.integers(0, 9)) > 0]
    return f"{name}({', '.join(f'{key}={draw(VALUES)!r}' for key in given_ones)})"


def test_there_are_the_128_tools() -> None:
    assert {version: len(found) for version, found in TOOLS.items()} == {"v4": 128, "v3": 129}


@given(st.data(), st.booleans(), st.sampled_from(["v4", "v3"]))
def test_no_argument_makes_a_call_raise(data: st.DataObject, long_context: bool, version: str) -> None:
    apis = simulated(long_context=long_context, version=version)
    for call in data.draw(st.lists(calls(version), max_size=12)):
        assert isinstance(apis.execute(call), str)


SIGNED_IN = {"access_token": "t", "token_expires_in": 2, "credit_card_list": {"c": {"balance": 90}}}
FLIGHT = "book_flight('t', 'c', '2024-01-01', 'AAA', 'ZZZ', 'economy'"
TRADER = {"authenticated": True, "market_status": "Closed"}


@pytest.mark.parametrize(
    ("owner", "scenario", "made", "v3", "v4"),
    [
        (
            "TravelAPI",
            SIGNED_IN,
            f"{FLIGHT}, travel_cost=40)",
            '"booking_status": true',
            "unexpected keyword",
        ),
        ("TravelAPI", SIGNED_IN, f"{FLIGHT}, 99)", "balance is too low", "positional arguments"),
        ("TradingBot", TRADER, "place_order('Buy', 'AAA', 10, 99)", '"Pending"', "balance is too low"),
        ("TradingBot", TRADER, "update_market_status('10:00 AM')", '"Open"', "no tool"),
        ("TradingBot", TRADER, "withdraw_funds(1)", "no tool", "closed"),
        ("TradingBot", TRADER, "update_stock_price('AAA', 20)", '"old_price": 10.0', "no tool"),
        ("GorillaFileSystem", {}, "echo('x', 'new')", "None", "no such file"),
        ("TwitterAPI", {"authenticated": True}, "list_all_following()", "[]", '{"following_list": []}'),
        ("TicketAPI", {}, "ticket_get_login_status()", '{"username": false}', '{"login_status": false}'),
        ("MessageAPI", {"current_user": "USR001"}, "delete_message('USR002')", "first", "latest"),
    ],
)
def test_versions_differ_where_the_originals_do(
    owner: str, scenario: Mapping[str, Any], made: str, v3: str, v4: str
) -> None:
    assert v3 in simulated(owner, version="v3", **scenario).execute(made)
    assert v4 in simulated(owner, **scenario).execute(made)


def test_cd_takes_a_path_in_version_3_only() -> None:
    assert "only one directory" in simulated("GorillaFileSystem").execute("cd('bag/x')")
    old = simulated("GorillaFileSystem", version="v3")
    assert old.execute("mkdir('bag')").startswith('{"error"') and old.execute("cd('bag/')") != "{}"
    assert old.execute("find('.')") == '{"matches": ["./coin"]}'


def test_a_deposit_and_a_withdrawal_are_one_tool_in_version_3() -> None:
    bot = simulated("TradingBot", version="v3", authenticated=True)
    assert '"new_balance": 110.0' in bot.execute("make_transaction(1, 'deposit', 10)")
    assert '"new_balance": 100.0' in bot.execute("make_transaction(1, 'withdrawal', 10)")
    assert "no account" in bot.execute("make_transaction(2, 'deposit', 10)")
    assert "expected deposit" in bot.execute("make_transaction(1, 'gift', 10)")


def test_a_wrong_token_uses_up_the_right_one_in_version_3() -> None:
    for version, left in (("v3", 1), ("v4", 2)):
        travel = simulated("TravelAPI", version=version, **SIGNED_IN)
        travel.execute("set_budget_limit('x', 5)")
        assert travel.states()["TravelAPI"]["token_expires_in"] == left


@given(st.text())
def test_no_text_makes_a_call_raise(text: str) -> None:
    assert simulated().execute(text).startswith("Error during execution: ")


@pytest.mark.parametrize(
    "call",
    [
        "__import__('os').system('true')",
        "open('/etc/passwd')",
        "print(add(a=1, b=2))",
        "add.__globals__",
        "ls.__self__._current()",
        "_file(name='notes.txt')",
        "tools()",
        "state()",
        "execute(call='ls()')",
        "[add(a=1, b=2) for _ in range(3)]",
        "add(a=1, b=2) + 1",
        "add(a=(lambda: 1)(), b=2)",
        "add(a=1 + 1, b=2)",
        "add(**{'a': 1, 'b': 2})",
        "add(*[1, 2])",
        "math.add(a=1, b=2)",
        "quit()",
    ],
)
def test_only_known_tools_with_plain_values_are_called(call: str) -> None:
    assert simulated().execute(call).startswith("Error during execution: ")


def test_a_call_may_have_calls_as_its_arguments() -> None:
    assert simulated().execute("add(a=multiply(a=2, b=3)['result'], b=1)").startswith("Error")
    assert simulated().execute(
        "display_log(messages=[get_zipcode_based_on_city('Rivermist'), -1, (2.5,)])"
    ) == ('{"log": [{"zipcode": "83214"}, -1, [2.5]]}')


def test_what_no_class_has_is_named() -> None:
    with pytest.raises(DataError, match="'Teapot': expected one of GorillaFileSystem"):
        SimulatedApis(TABLES, ["Teapot"], {})


def test_a_scenario_that_cannot_be_loaded_is_named() -> None:
    with pytest.raises(DataError, match="initial_config of GorillaFileSystem"):
        SimulatedApis(TABLES, ["GorillaFileSystem"], {"GorillaFileSystem": {"root": {"home": 3}}})


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ("power(base=10, exponent=10000000000)", "the result is too large"),
        ("power(base=power(base=2, exponent=90000), exponent=3)", "expected numbers"),
        ("logarithm(value=2, base=3, precision=100000000)", "expected a precision from 1 to 1000"),
        ("square_root(number=2, precision=100000000)", "expected a precision from 1 to 1000"),
        ("round_number(number=5, decimal_places=-100000000000)", '{"result": 0}'),
        ("logarithm(value=1e999, base=3, precision=5)", "Error during execution: cannot convert Infinity"),
    ],
)
def test_no_number_makes_the_calculator_work_forever(call: str, shown: str) -> None:
    assert shown in simulated().execute(call)


@pytest.mark.parametrize(
    ("value", "precision", "shown"),
    [
        (10, 5, "3.3219299"),
        (10, 15, "3.3219280948873626"),
        (10, 30, "3.32192809488736234787031942948906"),
        (100000000000, 2, "36.563"),
        (8, 4, "3.0"),
    ],
)
def test_logarithms_are_those_of_mpmath_1_3_0(value: int, precision: int, shown: str) -> None:
    call = f"logarithm(value={value}, base=2, precision={precision})"
    assert simulated("MathAPI").execute(call) == f"{{'result': mpf('{shown}')}}"


def test_directories_that_contain_each_other_end_a_walk() -> None:
    apis = simulated("GorillaFileSystem")
    made = ["mkdir('p')", "cd('p')", "mkdir('a')", "mkdir('b')", "cd('..')", "cp('p', 'q')", "cd('p')"]
    made += ["mv('a', 'b')", "cd('..')", "cd('q')", "mv('b', 'a')", "cd('a')"]
    assert not any("rror" in apis.execute(call) for call in made)
    assert apis.execute("pwd()") == '{"current_working_directory": "/home/p/a"}'
    assert all(apis.execute(call).startswith("Error during execution: ") for call in ("find()", "du()"))


def test_a_renamed_directory_is_the_old_one_to_its_children() -> None:
    apis = simulated("GorillaFileSystem")
    for call in ("cd('box')", "mkdir('in')", "cd('..')", "mv('box', 'crate')", "cd('crate')", "cd('in')"):
        apis.execute(call)
    assert apis.execute("pwd()") == '{"current_working_directory": "/home/box/in"}'


def test_a_path_to_find_has_names_only() -> None:
    apis = simulated("GorillaFileSystem")
    assert apis.execute("find('./bag')") == '{"matches": ["./bag/coin"]}'
    assert all("error" in apis.execute(call) for call in ("find('bag/..')", "find('')"))


def test_a_file_system_without_a_root_stays_empty() -> None:
    apis = SimulatedApis(TABLES, ["GorillaFileSystem"], {}, long_context=True)
    assert apis.execute("ls()") == '{"current_directory_content": []}'


def test_of_a_message_with_several_receivers_the_first_counts() -> None:
    apis = simulated("MessageAPI", current_user="USR001", inbox=[{"USR002": "a", "USR003": "b"}])
    assert apis.execute("view_messages_sent()") == '{"messages": {"USR002": ["a"]}}'
    assert apis.execute("get_message_stats()") == '{"stats": {"received_count": 1, "total_contacts": 1}}'


def test_the_current_directory_is_not_compared_but_the_tree_is() -> None:
    apis, other = simulated("GorillaFileSystem"), simulated("GorillaFileSystem")
    apis.execute("cd('box')")
    assert apis.states() == other.states()
    apis.execute("touch('new')")
    assert apis.states() != other.states()


def test_a_copied_directory_shares_its_files() -> None:
    apis = simulated("GorillaFileSystem")
    for call in ("cp('bag', 'purse')", "cd('bag')", "echo('y', 'coin')", "cd('..')", "cd('purse')"):
        apis.execute(call)
    assert apis.execute("cat('coin')") == '{"file_content": "y"}'


def test_stopping_the_engine_is_refused_and_yet_stops_it() -> None:
    apis = simulated("VehicleControlAPI", engineState="running")
    assert "error" in json.loads(apis.execute("startEngine('STOP')"))
    assert apis.states()["VehicleControlAPI"]["engine_state"] == "stopped"


def test_a_contact_whose_id_is_taken_moves_the_counter() -> None:
    apis = simulated("MessageAPI", user_count=1)
    assert "error" in json.loads(apis.execute("add_contact('Cid')"))
    assert apis.states()["MessageAPI"]["user_count"] == 2


def test_posts_without_mentions_share_them() -> None:
    apis = simulated("TwitterAPI", authenticated=True)
    for call in ("post_tweet('one')", "post_tweet('two')", "mention(0, ['@ben'])"):
        apis.execute(call)
    assert json.loads(apis.execute("get_tweet(1)"))["mentions"] == ["@ben"]
    assert (
        json.loads(simulated("TwitterAPI", authenticated=True).execute("post_tweet('x')"))["mentions"] == []
    )


def test_ids_follow_from_the_draws_before_them() -> None:
    apis, other = (simulated("MessageAPI", current_user="USR001") for _ in range(2))
    first = apis.execute("send_message('USR002', 'a')")
    assert (
        other.execute("send_message('USR002', 'a')") == first != apis.execute("send_message('USR002', 'a')")
    )


def test_long_context_fills_directories_without_directories_and_lengthens_files() -> None:
    apis = simulated("GorillaFileSystem", long_context=True)
    assert apis.execute("cat('notes.txt')") == '{"file_content": "b\\na and more"}'
    assert apis.execute("cat('kept.txt')") == '{"file_content": "one two"}'
    assert apis.execute("find('box')") == '{"matches": ["box/filler.jpg"]}'
    assert apis.execute("find('.', 'filler')") == '{"matches": ["./box/filler.jpg", "./bag/filler.jpg"]}'


def test_what_is_no_json_is_shown_as_pythons_text() -> None:
    apis = simulated("TradingBot", long_context=True, authenticated=True)
    assert apis.execute("get_watchlist()") == "['ZZZ', Ellipsis]"
    assert simulated().execute("mkdir('new')") == "None"


def test_braces_of_the_data_are_no_format() -> None:
    details = json.loads(simulated("TradingBot", long_context=True).execute("get_order_details(7)"))
    assert details["metadata"] == {"overview": "About AAA and {nothing}."}
