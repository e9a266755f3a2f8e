"""Builds the smallest sandbox and episodes that a statement about ACEBench's agents needs; every text is invented."""

from typing import Any

from wildtool.benchmarks.acebench.data import AgentRecord
from wildtool.benchmarks.acebench.sandbox import Sandbox
from wildtool.benchmarks.acebench.sandbox.edition import Edition, Lang

PHONE = ("BaseApi", "MessageApi", "ReminderApi", "FoodPlatform")
ON = {"BaseApi": {"wifi": True, "logged_in": True}}
AIRLINE = "Travel.cancel_reservation.airline_reason (argument value that triggers it)"
LOST = "Execution.multi_turn.exception (literal braces, delivered as single characters)"


class Texts(dict[str, Any]):
    """Every sentence is the name of its case, with its blanks behind it."""

    def __missing__(self, case: str) -> str:
        return case


TEXTS = Texts(
    {
        "Travel.cabin_names": ["economy", "business"],
        "Execution.multi_step.exception": "error: {exception}",
        "Execution.multi_step.undecodable": "no questions",
        "Travel.modify_flight.bag_paid": "bags {baggage_cost}",
        "Travel.modify_flight.cabin_paid": "paid {price_difference}",
        "Travel.modify_flight.cabin_refund": "back {amount}",
        "Travel.cancel_reservation.early": "early {refund_amount}",
        "Travel.cancel_reservation.late": "late {cancel_fee} {refund_amount}",
        "Travel.cancel_reservation.airline": "airline {refund_amount}",
        "Travel.reserve_flight.ok": "{reservation_id} {total_cost}",
        AIRLINE: "storm",
        LOST: "lost",
    }
)


def flight(number: str, **changed: Any) -> dict[str, Any]:
    return {
        "flight_no": number,
        "origin": "A",
        "destination": "B",
        "depart_time": "2024-07-16 08:00:00",
        "arrival_time": "2024-07-16 10:00:00",
        "status": "available",
        "seats_available": 1,
        "economy_price": 100,
        "business_price": 300,
    } | changed


def traveller(**changed: Any) -> dict[str, Any]:
    return {
        "user_name": "Ann",
        "password": "pw",
        "cash_balance": 1000.0,
        "bank_balance": 500.0,
        "membership_level": "regular",
    } | changed


def message(sender: str, receiver: str, text: str, time: str) -> dict[str, Any]:
    return {"sender_id": sender, "receiver_id": receiver, "message": text, "time": time}


def edition(lang: Lang = "en", **flights: dict[str, Any]) -> Edition:
    """An edition with two people, one reminder, one shop and one traveller; flights are given as number=fields."""
    booked = {
        "reservation_id": "res_1",
        "user_id": "u1",
        "flight_no": "F1",
        "payment_method": "cash",
        "cabin": "economy",
        "baggage": 1,
    }
    initial: dict[str, dict[str, Any]] = {
        "BaseApi": {},
        "MessageApi": {
            "max_capacity": 3,
            "user_list": {"Ann": {"user_id": "A"}, "Bob": {"user_id": "B"}},
            "inbox": {
                "1": message("A", "B", "Lunch?", "2024-02-01"),
                "2": message("B", "A", "Yes", "2024-01-01"),
            },
            "message_id_counter": 2,
        },
        "ReminderApi": {
            "max_capacity": 2,
            "reminder_list": {
                "1": {
                    "reminder_id": 1001,
                    "title": "Shop",
                    "description": "Buy tea",
                    "time": "2024-07-16 11:00",
                    "notified": False,
                }
            },
            "reminder_id_counter": 1,
        },
        "FoodPlatform": {
            "users": {"Ann": {"user_id": "U1", "password": "pw", "balance": 50.0}},
            "merchant_list": {"Teahouse": {"menu": [{"product": "Tea", "price": 25.0}]}},
            "orders": [],
        },
        "Travel": {
            "users": {"u1": traveller()},
            "flights": [flight("F1"), *(flight(number, **fields) for number, fields in flights.items())],
            "reservations": [booked],
        },
    }
    return Edition(lang, TEXTS, initial)


def phone(lang: Lang = "en", **config: bool) -> Sandbox:
    return Sandbox(edition(lang), PHONE, {"BaseApi": ON["BaseApi"] | config})


def travel(**flights: dict[str, Any]) -> Sandbox:
    return Sandbox(edition(**flights), ("Travel",), {})


def record(
    *milestones: str, question: str = "Turn on the wifi.", classes: tuple[str, ...] = PHONE
) -> AgentRecord:
    functions = ({"name": "turn_on_wifi", "description": "", "parameters": {}},)
    return AgentRecord(
        "agent_multi_step_0", "agent_multi_step", "en", 0, 0, question, functions, ON, classes, (), milestones
    )
