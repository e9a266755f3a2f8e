"""BFCL's simulated classes: how calls are read and run beside this process, and what no call may do there."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bfcl.simulated_build import result, simulated
from wildtool.benchmarks.bfcl import simulated as beside
from wildtool.benchmarks.bfcl.package import package_file
from wildtool.benchmarks.bfcl.simulated import STOPPED_CALL, SimulatedApis
from wildtool.errors import DataError, UsageError

FAILED = "Error during execution: "
SIGNED_IN = {"access_token": "t", "token_expires_in": 2, "credit_card_list": {"c": {"balance": 90}}}
FLIGHT = "book_flight('t', 'c', '2024-01-01', 'SFO', 'LAX', 'economy'"
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
        ("TradingBot", TRADER, "update_market_status('10:00 AM')", '"Open"', "is not defined"),
        ("TradingBot", TRADER, "withdraw_funds(1)", "is not defined", "closed"),
        ("TwitterAPI", {"authenticated": True}, "list_all_following()", "[", '{"following_list": ['),
    ],
)
def test_each_version_runs_on_its_own_classes(
    owner: str, scenario: Mapping[str, Any], made: str, v3: str, v4: str
) -> None:
    assert v3 in result(simulated(owner, version="v3", **scenario), made)
    assert v4 in result(simulated(owner, **scenario), made)


@given(st.lists(st.text(), max_size=4))
def test_no_text_makes_a_call_raise(texts: list[str]) -> None:
    found = simulated("GorillaFileSystem").execute(texts)
    assert len(found) == len(texts) and all(isinstance(text, str) for text in found)


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ("__import__('os').system('true')", "name '__import__' is not defined"),
        ("open('/etc/passwd')", "name 'open' is not defined"),
        ("eval('1')", "name 'eval' is not defined"),
        ("os.getcwd()", "name 'os' is not defined"),
        ("GorillaFileSystem.ls()", "name 'GorillaFileSystem' is not defined"),
        ("add.__globals__", "name 'add' is not defined"),
        ("ls().__class__", "expected a value or a call of a tool, found Attribute"),
        ("str.format('{0.__class__}', 1)", "expected a value or a call of a tool, found Attribute"),
        ("_load_scenario({})", "name '_load_scenario' is not defined"),
        ("[add(a=1, b=2) for _ in range(3)]", "expected a value or a call of a tool, found ListComp"),
        ("add(a=(lambda: 1)(), b=2)", "expected a value or a call of a tool, found Lambda"),
        ("ls()()", "'dict' object is not callable"),
        ("get-time()", "name 'get' is not defined"),
        ("tools[0](a=1)", "name 'tools' is not defined"),
        ("é()", "name 'é' is not defined"),
        (f"{'a' * 300}()", f"name '{'a' * 200}' is not defined"),
        (f"{'aé' * 90}()", f"name '{'aé' * 66}a\ufffd' is not defined"),
        ("add(a=nan, b=2)", "name 'nan' is not defined"),
        ("quit()", "Function call quit is not allowed."),
        ("a.remove(x=1)", "Function call remove is not allowed."),
        ("a b()", "invalid syntax (<string>, line 1)"),
        ("ls(a=1, a=2)", "keyword argument repeated: a (<string>, line 1)"),
        ("add(a=1)", "MathAPI.add() missing 1 required positional argument: 'b'"),
        ("add(a=1, b=2, self=3)", "MathAPI.add() got multiple values for argument 'self'"),
    ],
)
def test_a_call_that_cannot_be_made_has_the_words_of_python(call: str, shown: str) -> None:
    assert result(simulated(), call) == FAILED + shown


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ("add(a=1, b=2)", '{"result": 3}'),
        ("add(*[1], **{'b': -2})", '{"result": -1}'),
        (
            "display_log(messages=[get_zipcode_based_on_city('Rivermist'), (2.5,)])",
            '{"log": [{"zipcode": "83214"}, [2.5]]}',
        ),
        ("round(2.6)", "3"),
        ("()", "()"),
        ("mkdir(dir_name='new')", "None"),
        ("display_log(messages='see (this)')", '{"log": "see(this)"}'),
    ],
)
def test_arguments_are_values_calls_and_functions_of_values(call: str, shown: str) -> None:
    assert result(simulated(), call) == shown


def test_a_file_a_process_and_a_connection_are_refused_to_the_classes(tmp_path: Path) -> None:
    """The classes have no such call, so the process is asked as it would be by one that had."""
    import subprocess
    import sys

    worker = Path(beside.__file__).with_name("worker.py")
    code = f"""
import sys, socket, subprocess
sys.path.insert(0, {str(worker.parent)!r})
import worker
worker.prepare({str(package_file("v4"))!r})
worker.Guard.is_up = True
for what in (lambda: open({str(tmp_path / "x")!r}, "w"), lambda: subprocess.run(["true"]), lambda: socket.socket()):
    try:
        what()
    except PermissionError as error:
        print(error)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    refused = [f"{event} is not allowed" for event in ("open", "subprocess.Popen", "socket.__new__")]
    assert ended.stdout.splitlines() == refused, ended.stderr
    assert not (tmp_path / "x").exists()


@pytest.mark.long
def test_a_call_without_an_end_is_stopped() -> None:
    apis = simulated("MathAPI")
    assert apis.execute(["power(base=9, exponent=9999999999)"]) == [STOPPED_CALL]
    assert result(apis, "add(a=1, b=2)") == '{"result": 3}'


def test_a_call_that_is_stopped_leaves_all_else_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = beside.Worker.ask

    def stops_at_a_power(worker: beside.Worker, requests: Any) -> list[Any]:
        """As the process does once the call took too long, without the seconds that this takes."""
        if "power(" in str(requests):
            worker.stop()
            raise beside.WorkerEndedError
        return ask(worker, requests)

    monkeypatch.setattr(beside.Worker, "ask", stops_at_a_power)
    apis, other = simulated("GorillaFileSystem", "MathAPI"), simulated("GorillaFileSystem")
    assert other.execute(["mkdir('theirs')"]) == ["None"]
    found = apis.execute(["mkdir('mine')", "power(base=9, exponent=9999999999)", "ls()"])
    assert found[:2] == ["None", STOPPED_CALL] and '"mine"' in found[2]
    assert '"theirs"' in result(other, "ls()")


def test_a_call_that_takes_all_memory_is_refused() -> None:
    text = result(simulated("MathAPI"), "len(range(0) or [str(list(range(400000000)))])")
    assert text.startswith(FAILED)


def test_a_process_that_was_killed_is_replaced_in_the_same_state() -> None:
    apis = simulated("MessageAPI", current_user="USR001")
    before = result(apis, "send_message('USR002', 'a')")
    expected = result(simulated("MessageAPI", current_user="USR001"), "send_message('USR002', 'a')")
    assert before == expected
    apis.worker.stop()
    assert json.loads(result(apis, "view_messages_sent()"))["messages"]["USR002"][-1] == "a"


def test_what_no_class_has_and_what_cannot_be_loaded_are_named() -> None:
    with pytest.raises(DataError, match="'Teapot': expected one of GorillaFileSystem"):
        SimulatedApis(["Teapot"], {})
    broken = SimulatedApis(["GorillaFileSystem"], {"GorillaFileSystem": {"root": {"home": 3}}})
    with pytest.raises(DataError, match="initial_config of GorillaFileSystem"):
        broken.execute(["ls()"])


def test_without_the_package_or_the_extra_the_way_to_get_them_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(beside, "_NEEDED", ("no_such_module",))
        with pytest.raises(UsageError, match=r"need no_such_module: pip install 'wildtool\[bfcl\]'"):
            beside.Worker("v4").start()
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path))
    with pytest.raises(DataError, match="wildtool data pull bfcl"):
        beside.Worker("v4").start()


def test_public_attributes_are_compared_and_forces_where_they_are_wanted() -> None:
    weak, full = simulated("VehicleControlAPI"), simulated("VehicleControlAPI")
    turn = ["pressBrakePedal(pedalPosition=0.9)"], ["pressBrakePedal(pedalPosition=1)"]
    ((_, _, differing),) = weak.beside(full, [turn], hidden=False)
    assert differing == []
    ((_, _, differing),) = weak.beside(full, [([], [])], hidden=True)
    assert differing == [["VehicleControlAPI", ["_brakePedalForce"]]]
    files, others = simulated("GorillaFileSystem"), simulated("GorillaFileSystem")
    turns = [(["cd('box')"], []), (["touch('new')"], [])]
    assert [one[2] for one in files.beside(others, turns, hidden=True)] == [
        [],
        [["GorillaFileSystem", ["root"]]],
    ]


def test_a_reading_leaves_later_draws_as_they_are_where_that_is_wanted() -> None:
    steady = SimulatedApis(["VehicleControlAPI"], {}, steady=True)
    first, second = steady.execute(["get_current_speed()"] * 2)
    assert first == second
    first, second = SimulatedApis(["VehicleControlAPI"], {}).execute(["get_current_speed()"] * 2)
    assert first != second


def test_posts_without_mentions_share_them_within_an_entry_only() -> None:
    apis = simulated("TwitterAPI", authenticated=True)
    apis.execute(["post_tweet('one')", "post_tweet('two')"])
    number = json.loads(result(apis, "post_tweet('three')"))["id"]
    apis.execute([f"mention({number}, ['@ben'])"])
    assert json.loads(result(apis, f"get_tweet({number - 1})"))["mentions"] == ["@ben"]
    assert (
        json.loads(result(simulated("TwitterAPI", authenticated=True), "post_tweet('x')"))["mentions"] == []
    )


def test_facts_are_the_plain_values_of_the_classes_now() -> None:
    apis = simulated("GorillaFileSystem", "TicketAPI")
    apis.execute(["cd('box')", "ticket_login('ann', 'x')"])
    assert {
        key: apis.facts()[key]
        for key in ("GorillaFileSystem current_working_directory", "TicketAPI current_user")
    } == {
        "GorillaFileSystem current_working_directory": "/home/box",
        "TicketAPI current_user": "ann",
    }


def test_states_that_take_too_long_to_compare_are_others(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = beside.Worker.ask

    def ends_at_a_comparison(worker: beside.Worker, requests: Any) -> list[Any]:
        if any(request[0] == "compare" for request in requests):
            worker.stop()
            raise beside.WorkerEndedError
        return ask(worker, requests)

    monkeypatch.setattr(beside.Worker, "ask", ends_at_a_comparison)
    apis, truth = simulated("MathAPI"), simulated("MathAPI")
    ((made, _, differing),) = apis.beside(truth, [(["add(a=1, b=2)"], [])], hidden=False)
    assert made == ['{"result": 3}'] and differing == [("MathAPI", ["what takes too long to compare"])]
