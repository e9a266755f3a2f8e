"""ACEBench's finance episodes, which are ours: what the bank does and refuses, and that every gold answer is forced."""

import inspect
import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wildtool.benchmarks.acebench.data import FINANCE, AgentRecord, read_category
from wildtool.benchmarks.acebench.episode.base import END_MARK
from wildtool.benchmarks.acebench.episode.end_state import compare_end_state, process_accuracy
from wildtool.benchmarks.acebench.episode.official import (
    OfficialAgentEpisode,
    OfficialMultiStepEpisode,
    OfficialMultiTurnEpisode,
    decode_message,
    execute_step,
    execute_turn,
)
from wildtool.benchmarks.acebench.sandbox import TOOL_ERRORS, Sandbox
from wildtool.benchmarks.acebench.sandbox.edition import Edition, Lang, read_edition
from wildtool.benchmarks.acebench.sandbox.finance import Finance
from wildtool.benchmarks.acebench.source import PACKAGED
from wildtool.errors import DataError

EDITIONS: dict[str, Edition] = {
    lang: read_edition(PACKAGED, lang) for lang in cast(tuple[Lang, ...], ("en", "zh"))
}
RECORDS = [
    cast(AgentRecord, record)
    for lang in EDITIONS
    for category in FINANCE
    for record in read_category(PACKAGED, lang, category)
]
TOOLS = sorted(
    name for name, _ in inspect.getmembers(Finance, inspect.isfunction) if not name.startswith("_")
)
every_record = pytest.mark.parametrize("record", RECORDS, ids=lambda record: f"{record.lang}/{record.id}")
some_records = pytest.mark.parametrize(
    "record",
    [
        pytest.param(record, marks=() if number % 4 == 0 else pytest.mark.long)
        for number, record in enumerate(RECORDS)
    ],
    ids=lambda record: f"{record.lang}/{record.id}",
)
"""Each fourth of a language and category, and by `make long` the others."""

NORA, SAVINGS, OWEN, PRIYA, DANIEL, TOM = "MB-1001", "MB-1002", "HC-2001", "MB-1003", "HC-2002", "HC-2004"

# The episodes ----------------------------------------------------------------------------------------


def lists(record: AgentRecord) -> list[tuple[str, ...]]:
    """The milestones as alternatives."""
    first = record.milestones[0]
    return (
        [cast(tuple[str, ...], record.milestones)]
        if isinstance(first, str)
        else list(cast(Any, record.milestones))
    )


def played(record: AgentRecord, messages: tuple[str, ...] | list[str]) -> OfficialAgentEpisode:
    """The episode in which the agent says these messages and ends, and the user cooperates."""
    edition = EDITIONS[record.lang]
    episode = (
        OfficialMultiTurnEpisode(record, edition)
        if record.category.endswith("turn")
        else OfficialMultiStepEpisode(record, edition)
    )
    left = [*messages, END_MARK]
    while request := episode.request():
        if request.role == "user":
            episode.advance({"role": "assistant", "content": record.question})
        else:
            episode.advance({"role": "assistant", "content": left.pop(0) if left else END_MARK})
    return episode


def reaches_gold(record: AgentRecord, messages: tuple[str, ...] | list[str]) -> bool:
    return compare_end_state(record.end_state, played(record, messages).result()).correct


def moving(record: AgentRecord, messages: tuple[str, ...]) -> Iterator[int]:
    """Positions of the messages that change the state."""
    box = Sandbox(EDITIONS[record.lang], record.involved_classes, record.initial_config)
    for position, message in enumerate(messages):
        before = box.saved()
        execute_turn(EDITIONS[record.lang], box, decode_message(message) or [])
        if box.saved() != before:
            yield position


@pytest.mark.parametrize("lang", EDITIONS)
@pytest.mark.parametrize(("category", "count"), [(FINANCE[0], 16), (FINANCE[1], 15)])
def test_each_language_has_sixteen_multi_step_and_fifteen_multi_turn_episodes(
    lang: str, category: str, count: int
):
    assert sum((record.lang, record.category) == (lang, category) for record in RECORDS) == count


@some_records
def test_the_gold_state_is_what_the_sandbox_comes_to_by_every_list_of_milestones(record: AgentRecord):
    alternatives = lists(record)
    assert alternatives
    for milestones in alternatives:
        episode = played(record, milestones)
        assert episode.result() == list(record.end_state)
        assert process_accuracy(record.milestones, episode.process, end_to_end=False) == 1.0


@some_records
def test_without_a_milestone_that_changes_something_the_gold_state_is_missed(record: AgentRecord):
    milestones = lists(record)[0]
    positions = list(moving(record, milestones))
    assert positions
    for position in positions:
        assert not reaches_gold(record, milestones[:position] + milestones[position + 1 :])


@some_records
def test_with_another_amount_the_gold_state_is_missed(record: AgentRecord):
    milestones = lists(record)[0]
    changed = [position for position in moving(record, milestones) if "amount=" in milestones[position]]
    assert changed
    for position in changed:
        for factor in (0.5, 1.01):
            head, amount, tail = re.split(r"(?<=amount=)([\d.]+)", milestones[position])
            other = f"{head}{float(amount) * factor}{tail}"
            assert not reaches_gold(record, [*milestones[:position], other, *milestones[position + 1 :]])


@some_records
def test_doing_something_twice_misses_the_gold_state(record: AgentRecord):
    milestones = lists(record)[0]
    last = max(moving(record, milestones))
    box = Sandbox(EDITIONS[record.lang], record.involved_classes, record.initial_config)
    for message in milestones:
        execute_turn(EDITIONS[record.lang], box, decode_message(message) or [])
    before = box.saved()
    execute_turn(EDITIONS[record.lang], box, decode_message(milestones[last]) or [])
    # Where the bank refuses the second time, nothing is wrong.
    assert reaches_gold(record, [*milestones, milestones[last]]) is (box.saved() == before)


@every_record
def test_an_idle_agent_misses_the_gold_state(record: AgentRecord):
    assert not reaches_gold(record, [])


@every_record
def test_the_tools_of_a_record_are_those_of_the_bank_with_their_parameters(record: AgentRecord):
    assert sorted(function["name"] for function in record.functions) == TOOLS
    for function in record.functions:
        parameters = [*inspect.signature(getattr(Finance, function["name"])).parameters.values()][1:]
        required = [
            parameter.name for parameter in parameters if parameter.default is inspect.Parameter.empty
        ]
        assert list(function["parameters"]["properties"]) == [parameter.name for parameter in parameters]
        assert function["parameters"]["required"] == required


@every_record
def test_all_calls_of_the_milestones_are_of_offered_tools(record: AgentRecord):
    names = {message[1 : message.index("(")] for milestones in lists(record) for message in milestones}
    assert names <= set(TOOLS)


@pytest.mark.parametrize(("lang", "rule"), [("en", "17 March 2025"), ("zh", "2025年3月17日")])
def test_a_multi_turn_agent_is_told_the_rules_of_the_bank(lang: str, rule: str):
    record = next(r for r in RECORDS if r.lang == lang and r.category == FINANCE[1])
    episode = OfficialMultiTurnEpisode(record, EDITIONS[lang])
    simulated = episode.request()
    assert simulated is not None
    assert record.question in simulated.messages[0]["content"]
    assert ("bank" if lang == "en" else "银行客户") in simulated.messages[0]["content"]
    episode.advance({"role": "assistant", "content": "Hello"})
    asked = episode.request()
    assert asked is not None
    assert rule in asked.messages[0]["content"]


def test_both_editions_have_every_sentence():
    cases = set(EDITIONS["en"].texts)
    assert cases == set(EDITIONS["zh"].texts)
    assert all(EDITIONS[lang].texts[case] for lang in EDITIONS for case in cases)


@pytest.mark.parametrize("lang", EDITIONS)
def test_the_initial_loans_and_movements_name_accounts_that_exist(lang: str):
    state = EDITIONS[lang].initial["Finance"]
    ends = {entry[side] for entry in state["transactions"] for side in ("from", "to")} - {None}
    owners = {loan["account_id"] for loan in state["loans"].values()}
    assert ends | owners <= set(state["accounts"])
    assert [entry["date"] for entry in state["transactions"]] == sorted(
        e["date"] for e in state["transactions"]
    )


# The bank --------------------------------------------------------------------------------------------


def bank(*logged_in: str, **balances: float) -> Finance:
    renamed = {account_id.replace("_", "-"): balance for account_id, balance in balances.items()}
    return Finance(EDITIONS["en"], {"logged_in": list(logged_in), "balances": renamed})


def says(case: str, **values: object) -> dict[str, Any]:
    return EDITIONS["en"].failed(f"Finance.{case}", **values)


def test_logging_in_needs_the_account_and_its_password_and_happens_once():
    desk = bank()
    assert desk.login_account("XX-1", "p") == says("unknown_account", account_id="XX-1")
    assert desk.login_account(NORA, "p") == says("login_account.bad_password")
    assert desk.logged_in == []
    assert desk.login_account(NORA, "nora-7319")["status"]
    assert desk.login_account(NORA, "nora-7319") == says("login_account.already", account_id=NORA)
    assert desk.logged_in == [NORA]


@pytest.mark.parametrize(
    "call",
    [
        lambda desk: desk.check_balance(NORA),
        lambda desk: desk.get_statement(NORA),
        lambda desk: desk.get_loans(NORA),
        lambda desk: desk.deposit(NORA, 1),
        lambda desk: desk.withdraw(NORA, 1),
        lambda desk: desk.transfer(NORA, OWEN, 1),
        lambda desk: desk.apply_for_loan(NORA, 500, 6),
        lambda desk: desk.repay_loan(NORA, "loan_1", 1),
    ],
)
def test_nothing_can_be_done_with_an_account_that_is_not_logged_in(call: Any):
    desk = bank(OWEN)
    assert call(desk) == says("not_logged_in", account_id=NORA)
    assert desk.posted == []


@pytest.mark.parametrize("account_id", ["XX-1", None, 7, [NORA], {}])
def test_an_account_that_does_not_exist_is_named(account_id: Any):
    assert bank(NORA).check_balance(account_id) == says("unknown_account", account_id=account_id)
    assert bank(NORA).transfer(NORA, account_id, 1) == says("unknown_account", account_id=account_id)


@pytest.mark.parametrize(
    "amount",
    [
        0,
        -1,
        0.004,
        0.005,
        0.125,
        1.001,
        0.1 + 0.2,
        1e-9,
        True,
        "5",
        None,
        float("nan"),
        float("inf"),
        10**400,
        [5],
    ],
)
def test_what_is_no_amount_moves_nothing(amount: Any):
    desk = bank(NORA, OWEN)
    refused = says("bad_amount")
    assert (
        desk.deposit(NORA, amount)
        == desk.withdraw(NORA, amount)
        == desk.transfer(NORA, OWEN, amount)
        == refused
    )
    assert desk.get_loan_offer(amount, 6) == desk.apply_for_loan(NORA, amount, 6) == refused
    assert desk.repay_loan(OWEN, "loan_1", amount) == refused
    assert desk.posted == []


def test_cents_are_added_exactly():
    desk = bank(NORA, MB_1001=0.1)
    desk.deposit(NORA, 0.2)
    assert desk.balances[NORA] == 0.3
    desk.deposit(NORA, 1e2)
    assert desk.balances[NORA] == 100.3


@given(
    st.one_of(
        st.floats(0.001, 9_999, allow_nan=False), st.integers(1, 999_900).map(lambda cents: cents / 100)
    )
)
def test_an_amount_has_two_decimals_at_most(amount: float):
    desk = bank(NORA, MB_1001=0)
    decimals = -Decimal(str(amount)).normalize().as_tuple().exponent  # pyright: ignore[reportOperatorIssue]
    assert desk.deposit(NORA, amount)["status"] is (decimals <= 2)
    assert desk.balances[NORA] == (amount if decimals <= 2 else 0)


@given(
    st.one_of(st.dates().map(str), st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", fullmatch=True), st.text())
)
@example("20240612")
@example("2024-W24-3")
def test_a_date_is_a_day_of_the_calendar(day: str):
    try:
        is_day = date.fromisoformat(day).isoformat() == day
    except ValueError:
        is_day = False
    answer = bank(NORA).get_statement(NORA, day)
    assert answer["status"] is is_day
    assert is_day or answer == says("get_statement.bad_date")


def test_a_deposit_has_a_limit():
    desk = bank(NORA, MB_1001=0)
    assert desk.deposit(NORA, 10000.01) == says("deposit.limit", limit="10000.00")
    assert desk.deposit(NORA, 10000)["balance"] == 10000.0


def test_cash_is_limited_per_day_and_by_the_balance():
    desk = bank(NORA, MB_1001=1050)
    assert desk.withdraw(NORA, 1000.01) == says("withdrawal_limit", limit="1000.00", left="1000.00")
    assert desk.withdraw(NORA, 900)["balance"] == 150.0
    assert desk.withdraw(NORA, 101) == says("withdrawal_limit", limit="1000.00", left="100.00")
    assert bank(NORA, MB_1001=99).withdraw(NORA, 100) == says("insufficient_funds", balance="99.00")


def test_the_whole_balance_may_be_spent():
    assert bank(NORA, MB_1001=99).withdraw(NORA, 99)["balance"] == 0.0


def test_a_transfer_moves_money_from_one_account_to_another():
    desk = bank(NORA, MB_1001=100, HC_2001=5)
    assert desk.transfer(NORA, OWEN, 60)["balance"] == 40.0
    assert (desk.balances[NORA], desk.balances[OWEN]) == (40.0, 65.0)
    assert desk.transfer(NORA, OWEN, 60) == says("insufficient_funds", balance="40.00")
    assert desk.transfer(NORA, NORA, 1) == says("transfer.same_account")


def test_what_was_sent_this_morning_counts_towards_the_limit_of_transfers():
    desk = bank(PRIYA)
    assert desk.check_balance(PRIYA)["transfer_left_today"] == 3200.0
    assert desk.transfer(PRIYA, NORA, 3200.01) == says("transfer_limit", limit="5000.00", left="3200.00")
    assert desk.transfer(PRIYA, NORA, 3200)["status"]
    assert desk.withdraw(PRIYA, 1000)["status"]


def test_a_frozen_account_neither_gets_nor_gives():
    desk = bank(NORA, TOM)
    refused = says("frozen", account_id=TOM)
    assert desk.transfer(NORA, TOM, 1) == desk.transfer(TOM, NORA, 1) == desk.deposit(TOM, 1) == refused
    assert desk.apply_for_loan(TOM, 100, 6) == desk.withdraw(TOM, 1) == refused
    assert desk.check_balance(TOM)["balance"] == 500.0


def test_accounts_are_found_by_owner_in_any_case_and_without_login():
    found = bank().find_accounts(" daniel brooks ")["accounts"]
    assert [(account["account_id"], account["bank"]) for account in found] == [
        (DANIEL, "Harbor Credit Union"),
        ("MB-1004", "Maple Bank"),
    ]
    assert all("password" not in account and "balance" not in account for account in found)
    assert bank().find_accounts("Daniel") == says("find_accounts.none", owner="Daniel")
    assert bank().find_accounts(None) == says("find_accounts.none", owner=None)


def test_a_statement_has_both_sides_and_can_be_cut_by_days():
    desk = bank(OWEN)
    assert [e["amount"] for e in desk.get_statement(OWEN, "2025-03-10", "2025-03-12")["transactions"]] == [
        75.0,
        75.0,
    ]
    assert len(desk.get_statement(OWEN, to_date="2025-03-08")["transactions"]) == 1
    assert desk.get_statement(OWEN, "10 March") == says("get_statement.bad_date")
    assert desk.get_statement(OWEN, "2025-13-99") == says("get_statement.bad_date")
    assert desk.get_statement(OWEN, to_date="2025-02-29") == says("get_statement.bad_date")
    assert desk.get_statement(OWEN, to_date=20250310) == says("get_statement.bad_date")


def test_what_a_statement_gives_is_a_copy():
    desk = bank(OWEN)
    desk.get_statement(OWEN)["transactions"][0]["amount"] = 0
    assert desk.get_statement(OWEN)["transactions"][0]["amount"] == 42.5


def test_a_loan_has_simple_interest_and_instalments_rounded_up():
    assert bank().get_loan_offer(1000, 36) == {
        "status": True,
        "principal": 1000.0,
        "months": 36,
        "yearly_rate": 0.06,
        "monthly_payment": 32.78,
        "total": 1180.0,
    }


@pytest.mark.parametrize("months", [0, 7, 12.0, "12", None, [12], True])
def test_a_loan_has_one_of_four_terms(months: Any):
    refused = says("bad_term", terms="6, 12, 24, 36")
    assert bank().get_loan_offer(100, months) == refused
    assert bank(NORA).apply_for_loan(NORA, 100, months) == refused


def test_a_loan_is_paid_out_and_owed_with_its_interest():
    desk = bank(NORA, MB_1001=0)
    assert desk.apply_for_loan(NORA, 1000, 12)["loan_id"] == "loan_5"
    assert desk.balances[NORA] == 1000.0
    assert desk.get_loans(NORA)["loans"][0]["outstanding"] == 1040.0


def test_no_more_is_lent_than_the_credit_limit_leaves():
    desk = bank(OWEN)
    assert desk.check_balance(OWEN)["credit_available"] == 2376.0
    assert desk.apply_for_loan(OWEN, 2376.01, 6) == says("apply_for_loan.credit_limit", available="2376.00")
    assert desk.apply_for_loan(OWEN, 2376, 6)["status"]
    assert desk.apply_for_loan(OWEN, 1, 6) == says("apply_for_loan.credit_limit", available="0.00")


def test_who_is_overdue_gets_no_loan_before_the_overdue_sum_is_paid():
    desk = bank(DANIEL)
    assert desk.apply_for_loan(DANIEL, 100, 6) == says("apply_for_loan.overdue", overdue="152.25")
    desk.repay_loan(DANIEL, "loan_2", 152.24)
    assert desk.apply_for_loan(DANIEL, 100, 6) == says("apply_for_loan.overdue", overdue="0.01")
    desk.repay_loan(DANIEL, "loan_2", 0.01)
    assert desk.apply_for_loan(DANIEL, 100, 6)["status"]


def test_a_repayment_is_limited_by_what_is_owed_and_by_the_balance():
    desk = bank(OWEN)
    assert desk.repay_loan(OWEN, "loan_1", 624.01) == says("repay_loan.too_much", outstanding="624.00")
    assert desk.repay_loan(OWEN, "loan_1", 624)["balance"] == 16.2
    assert desk.loans["loan_1"]["outstanding"] == 0.0
    short = bank(OWEN, HC_2001=10)
    assert short.repay_loan(OWEN, "loan_1", 11) == says("insufficient_funds", balance="10.00")


@pytest.mark.parametrize("loan_id", ["loan_3", "loan_9", None, ["loan_1"]])
def test_only_a_loan_of_the_account_can_be_repaid(loan_id: Any):
    assert bank(OWEN).repay_loan(OWEN, loan_id, 1) == says("repay_loan.unknown_loan", loan_id=loan_id)


def test_movements_of_an_episode_compare_equal_in_any_order():
    one, other = bank(NORA), bank(NORA)
    one.withdraw(NORA, 10)
    one.transfer(NORA, OWEN, 20)
    other.transfer(NORA, OWEN, 20)
    other.withdraw(NORA, 10)
    assert (one.posted, one.balances) == (other.posted, other.balances)
    assert len(one.posted) == 2


@pytest.mark.parametrize("config", [{"logged_in": ["XX-1"]}, {"balances": {"XX-1": 5}}])
def test_a_configuration_of_an_unknown_account_is_refused(config: dict[str, Any]):
    with pytest.raises(DataError, match="XX-1"):
        Finance(EDITIONS["en"], config)


def test_the_configuration_of_the_bank_is_its_own_part_and_not_that_of_the_device():
    box = Sandbox(
        EDITIONS["en"], ["Finance"], {"BaseApi": {"logged_in": True}, "Finance": {"logged_in": [NORA]}}
    )
    assert box.saved()[0]["Finance"]["logged_in"] == [NORA]


# Any arguments ---------------------------------------------------------------------------------------

accounts = st.sampled_from([*EDITIONS["en"].initial["Finance"]["accounts"], "XX-1"])
loan_ids = st.sampled_from(["loan_1", "loan_2", "loan_3", "loan_4", "loan_5", "loan_9"])
amounts = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.floats(0, 6000),
    st.integers(-5, 6000),
    st.just(10**400),
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=6,
)
steps = st.one_of(
    st.tuples(st.sampled_from(["deposit", "withdraw"]), accounts, amounts),
    st.tuples(st.just("transfer"), accounts, accounts, amounts),
    st.tuples(st.just("apply_for_loan"), accounts, amounts, st.sampled_from([6, 12, 24, 36, 5])),
    st.tuples(st.just("repay_loan"), accounts, loan_ids, amounts),
)


def cents(money: float) -> int:
    assert round(money, 2) == money
    return round(money * 100)


@given(st.lists(steps, max_size=12))
def test_money_is_neither_made_nor_lost_and_no_balance_is_negative(moves: list[tuple[Any, ...]]):
    desk = bank(*EDITIONS["en"].initial["Finance"]["accounts"])
    total = sum(map(cents, desk.balances.values()))
    for tool, *arguments in moves:
        before = (desk.balances, len(desk.transactions))
        answer = getattr(desk, tool)(*arguments)
        assert answer["status"] or (desk.balances, len(desk.transactions)) == before
    into = sum(cents(entry["amount"]) for entry in desk.posted if entry["type"] in ("deposit", "loan"))
    out = sum(cents(entry["amount"]) for entry in desk.posted if entry["type"] in ("withdrawal", "repayment"))
    assert sum(map(cents, desk.balances.values())) == total + into - out
    assert min(desk.balances.values()) >= 0
    assert all(0 <= loan["overdue"] <= loan["outstanding"] <= loan["total"] for loan in desk.loans.values())


@given(st.data())
def test_any_arguments_give_a_result_or_one_of_the_errors_a_tool_may_raise(data: st.DataObject):
    desk = bank(NORA, OWEN, PRIYA)
    tool = getattr(desk, data.draw(st.sampled_from(TOOLS)))
    parameters = inspect.signature(tool).parameters
    arguments = {name: data.draw(accounts | anything) for name in parameters}
    before = (sum(map(cents, desk.balances.values())), len(desk.posted))
    try:
        answer = tool(**arguments)
    except TOOL_ERRORS:
        assert (sum(map(cents, desk.balances.values())), len(desk.posted)) == before
    else:
        assert answer["status"] in (True, False)


@given(
    st.sampled_from(TOOLS),
    st.dictionaries(st.sampled_from(["account_id", "amount", "x"]), anything, max_size=3),
)
def test_any_call_of_a_message_is_answered_by_both_kinds_of_episode(tool: str, arguments: dict[str, Any]):
    message = f"[{tool}({', '.join(f'{name}={value!r}' for name, value in arguments.items())})]"
    edition = EDITIONS["en"]
    calls = decode_message(message)
    answers = [
        execute(edition, Sandbox(edition, ["Finance"], {"Finance": {"logged_in": [NORA]}}), calls or [])
        for execute in (execute_step, execute_turn)
    ]
    assert all(isinstance(answer.message, list) for answer in answers)
