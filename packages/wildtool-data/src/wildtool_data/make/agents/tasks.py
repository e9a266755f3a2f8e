"""Draws agent tasks without a model: who asks, the start state, what is wanted, and the calls that do it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Any

from wildtool.toolcall.call_syntax import CallExpression
from wildtool_data.make.agents.item import AgentTask, written_call
from wildtool_data.make.agents.scenario import AgentScenario
from wildtool_data.make.agents.texts import AGENT_TEXTS
from wildtool_data.make.core.plan import Lang
from wildtool_data.make.procedural.values import ValueSampler


@dataclass(slots=True)
class TaskDraft:
    """A task while it is drawn."""

    draw: Random
    scenario: AgentScenario
    values: ValueSampler
    config: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    who: str = ""
    """The sentence in which the user says who it is."""
    before: list[CallExpression] = field(default_factory=list[CallExpression])
    groups: list[tuple[CallExpression, ...]] = field(default_factory=list[tuple[CallExpression, ...]])
    wishes: list[str] = field(default_factory=list[str])

    @property
    def lang(self) -> Lang:
        return self.scenario.lang

    def text(self, name: str, /, **words: object) -> str:
        """A text of the language, filled in."""
        return AGENT_TEXTS[self.lang][name].format(**words)

    def wish(self, name: str, calls: Sequence[CallExpression], /, **words: object) -> None:
        """Adds a part of the task: what the user wants and the calls that do it."""
        self.wishes.append(self.text(name, **words))
        self.groups.append(tuple(calls))

    def before_all(self, name: str, /, **arguments: Any) -> None:
        """Adds a call that must come first."""
        self.before.append(written_call(name, **arguments))

    def state(self, name: str) -> dict[str, Any]:
        """A copy of the start state of a class."""
        return self.scenario.edition.fresh(name)

    def task(self, classes: tuple[str, ...]) -> AgentTask:
        kind = "turn" if self.scenario.multi_turn else "step"
        wishes = [
            self.text(f"{kind}_first" if number == 0 else f"{kind}_more", wish=wish)
            for number, wish in enumerate(self.wishes)
        ]
        separator = "" if self.lang == "zh" else " "
        question = separator.join([self.who, *wishes])
        return AgentTask(classes, question, self.config, tuple(self.before), tuple(self.groups))


def draw_task(scenario: AgentScenario, draw: Random) -> AgentTask:
    """One draw of a task over a scenario, not yet played."""
    classes = draw.choice(sorted(scenario.functions))
    values = ValueSampler(draw, scenario.lang, datetime(2024, 7, 15))
    draft = TaskDraft(draw, scenario, values)
    of_class = "Travel" if "Travel" in classes else "Finance" if "Finance" in classes else "phone"
    _DRAWERS[of_class](draft, classes)
    return draft.task(classes)


def _finance(draft: TaskDraft, classes: tuple[str, ...]) -> None:
    draw, bank = draft.draw, draft.state("Finance")
    accounts: Mapping[str, Any] = bank["accounts"]
    able = sorted(name for name, account in accounts.items() if not account["frozen"])
    own = draw.choice(able)
    balance = float(draw.randrange(600, 4_000))
    draft.config = {"Finance": {"balances": {own: balance}}}
    account = accounts[own]
    persona = {"name": account["owner"], "account": own, "password": account["password"]}
    draft.who = draft.text("turn_bank" if draft.scenario.multi_turn else "step_bank", **persona)
    draft.before_all("login_account", account_id=own, password=account["password"])
    for action in draw.sample(("transfer", "deposit", "withdraw", "loan"), draw.choice((1, 2, 2, 3))):
        amount = draw.randrange(20, 190) + draw.choice((0, 0.5, 0.25))
        if action == "transfer":
            target = draw.choice([name for name in able if name != own])
            arguments = {"from_account": own, "to_account": target, "amount": amount}
            call = written_call("transfer", **arguments)
            draft.wish("transfer", [call], amount=amount, target=target)
        elif action == "loan":
            months = draw.choice([int(term) for term in bank["rates"]])
            amount = draw.randrange(2, 12) * 100
            arguments = {"account_id": own, "amount": amount, "months": months}
            draft.wish("loan", [written_call("apply_for_loan", **arguments)], amount=amount, months=months)
        else:
            call = written_call(action, account_id=own, amount=amount)
            draft.wish(action, [call], amount=amount)


def _phone(draft: TaskDraft, classes: tuple[str, ...]) -> None:
    draw = draft.draw
    people = sorted(
        draft.state("FoodPlatform")["users"]
        if "FoodPlatform" in classes
        else draft.state("MessageApi")["user_list"]
    )
    person = draw.choice(people)
    wifi, logged_in = draw.random() < 0.5, draw.random() < 0.7
    draft.config = {"BaseApi": {"wifi": wifi, "logged_in": logged_in}}
    draft.who = draft.text("turn_person" if draft.scenario.multi_turn else "step_person", name=person)
    actions = {"MessageApi": _message, "ReminderApi": _reminder, "FoodPlatform": _food}
    able = [name for name in classes if name in actions]
    for name in draw.sample(able, draw.randint(1, len(able))):
        actions[name](draft, person)
    used = {call.name for group in draft.groups for call in group}
    if not logged_in and used & {"send_message", "delete_message", "add_reminder"}:
        draft.before_all("login_device")
    if not wifi and used & {"send_message", "login_food_platform"}:
        draft.before_all("turn_on_wifi")


def _message(draft: TaskDraft, person: str) -> None:
    state, draw = draft.state("MessageApi"), draft.draw
    other = draw.choice([name for name in sorted(state["user_list"]) if name != person])
    words = draft.values.of("sentence")
    call = written_call("send_message", sender_name=person, receiver_name=other, message=words)
    if len(state["inbox"]) < state["max_capacity"]:
        draft.wish("message", [call], other=other, words=words)
        return
    # A full inbox takes no message before another is deleted.
    number = draw.choice(sorted(state["inbox"]))
    delete = written_call("delete_message", message_id=number)
    draft.wish("message_instead", [delete, call], other=other, words=words, number=number)


def _reminder(draft: TaskDraft, person: str) -> None:
    title, note = draft.values.of("title"), draft.values.of("sentence")
    time = f"2024-07-{draft.draw.randrange(16, 31)} {draft.draw.randrange(8, 20):02}:00"
    call = written_call("add_reminder", title=title, description=note, time=time)
    draft.wish("reminder", [call], title=title, note=note, time=time)


def _food(draft: TaskDraft, person: str) -> None:
    state, draw = draft.state("FoodPlatform"), draft.draw
    account = state["users"][person]
    dishes = [
        (merchant, dish)
        for merchant, its in sorted(state["merchant_list"].items())
        for dish in its["menu"]
        if dish["price"] * 2 < account["balance"]
    ]
    merchant, dish = draw.choice(dishes)
    number = draw.choice((1, 1, 2))
    order = {
        "username": person,
        "merchant_name": merchant,
        "items": [{"product": dish["product"], "quantity": number}],
    }
    login = written_call("login_food_platform", username=person, password=account["password"])
    words = {"merchant": merchant, "dish": dish["product"], "number": number}
    calls = [login, written_call("add_food_delivery_order", **order)]
    draft.wish("food", calls, password=account["password"], **words)


def _travel(draft: TaskDraft, classes: tuple[str, ...]) -> None:
    state, draw = draft.state("Travel"), draft.draw
    user_id = draw.choice(sorted(state["users"]))
    user = state["users"][user_id]
    persona = {"name": user["user_name"], "user": user_id, "password": user["password"]}
    draft.who = draft.text("turn_traveller" if draft.scenario.multi_turn else "step_traveller", **persona)
    flight = draw.choice([flight for flight in state["flights"] if flight["status"] == "available"])
    economy, business = draft.scenario.edition.cabins
    arguments = {
        "user_id": user_id,
        "password": user["password"],
        "flight_no": flight["flight_no"],
        "cabin": draw.choice((economy, economy, business)),
        "payment_method": "bank" if user["bank_balance"] >= user["cash_balance"] else "cash",
        "baggage_count": draw.choice((0, 1, 2)),
    }
    draft.wish(
        "flight",
        [written_call("reserve_flight", **arguments)],
        **{key: value for key, value in arguments.items() if key not in ("user_id", "password")},
        pay=draft.text(f"pay_{arguments['payment_method']}"),
    )


_DRAWERS: Mapping[str, Callable[[TaskDraft, tuple[str, ...]], None]] = {
    "Finance": _finance,
    "phone": _phone,
    "Travel": _travel,
}
"""By scenario what draws its tasks."""
