"""The simulated travel agency (section 7 of the specification of the classes)."""

# ruff: noqa: N803 - parameters have the names that the benchmark's tools have.

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from datetime import date, datetime
from typing import Any

from wildtool.benchmarks.bfcl.simulated.base import ApiState, SimulatedApi, copied
from wildtool.toolcall.refusals import RefusedCallError, refuse_if

_CLASS_FACTORS = {"economy": 1, "business": 2, "first": 5}
_TODAY = date(2026, 3, 23)
"""Day on which travellers must be adults: the release of the specified code, so that verdicts do not change."""
_SUPPORT = (
    "Thank you for contacting customer support."
    " Your message has been received and we will get back to you shortly."
)


@contextmanager
def refusing(status: str) -> Generator[None]:
    """Refusals of what it decorates also say that a status is false."""
    try:
        yield
    except RefusedCallError as refusal:
        refusal.also = {status: False}
        raise


class TravelAPI(SimulatedApi):
    """Flights booked and insured with credit cards, for one authenticated traveller."""

    NAME = "TravelAPI"
    DOCUMENTS = "travel_booking"

    def _set_up(self, scenario: Mapping[str, Any]) -> None:
        if self._long:
            for key in ("credit_card_list", "booking_record"):
                for entry, value in self._filler[f"{key.upper().removesuffix('_LIST')}_EXTENSION"].items():
                    self.state[key].setdefault(entry, copied(value))
        self.state["long_context"] = self._long

    def authenticate_travel(
        self,
        client_id: Any,
        client_secret: Any,
        refresh_token: Any,
        grant_type: Any,
        user_first_name: Any,
        user_last_name: Any,
    ) -> ApiState:
        token = str(self._random.randint(100000, 999999))
        self.state |= {
            "access_token": token,
            "token_type": "Bearer",
            "token_expires_in": 2,
            "token_scope": grant_type,
            "user_first_name": user_first_name,
            "user_last_name": user_last_name,
        }
        return {"expires_in": 2, "access_token": token, "token_type": "Bearer", "scope": grant_type}

    def travel_get_login_status(self) -> ApiState:
        return {"status": self.state["token_expires_in"] not in (None, 0)}

    def register_credit_card(
        self,
        access_token: Any,
        card_number: Any,
        expiration_date: Any,
        cardholder_name: Any,
        card_verification_number: Any,
    ) -> ApiState:
        refuse_if(self.state["token_expires_in"] is None, "no token has been issued")
        self._check_token(access_token)
        refuse_if(card_number in self.state["credit_card_list"], "the card is registered already")
        card_id = str(self._random.randint(100000000000, 999999999999))
        self.state["credit_card_list"][card_id] = {
            "card_number": card_number,
            "expiration_date": expiration_date,
            "cardholder_name": cardholder_name,
            "card_verification_number": card_verification_number,
            "balance": self._random.randint(10000, 99999),
        }
        return {"card_id": card_id}

    def get_flight_cost(
        self, travel_from: Any, travel_to: Any, travel_date: Any, travel_class: Any
    ) -> ApiState:
        cost = self._cost(travel_from, travel_to, travel_date, travel_class)
        if not self._long:
            return {"travel_cost_list": [cost]}
        pairs = self._lookups["get_flight_cost.base_costs"]
        return {"travel_cost_list": [self._cost(a, b, travel_date, travel_class) for a, b in pairs]}

    def get_credit_card_balance(self, access_token: Any, card_id: Any) -> ApiState:
        self._check_token(access_token)
        self._check_card(card_id)
        return {"card_balance": self.state["credit_card_list"][card_id]["balance"]}

    @refusing("booking_status")
    def book_flight(
        self,
        access_token: Any,
        card_id: Any,
        travel_date: Any,
        travel_from: Any,
        travel_to: Any,
        travel_class: Any,
    ) -> ApiState:
        card = self.state["credit_card_list"].get(card_id, {})
        airports = self._lookups["list_all_airports.returns"]
        self._check_token(access_token)
        self._check_card(card_id)
        refuse_if("balance" not in card, "the card has no balance")
        is_served = travel_from in airports and travel_to in airports
        refuse_if(not is_served, f"expected airports of {', '.join(airports)}")
        refuse_if(not _is_date(travel_date), "expected the date as YYYY-MM-DD")
        refuse_if(travel_class not in _CLASS_FACTORS, f"expected a class of {', '.join(_CLASS_FACTORS)}")
        routes = self._lookups["get_flight_cost.base_costs"]
        refuse_if((travel_from, travel_to) not in routes, f"no flight from {travel_from} to {travel_to}")
        cost = self._cost(travel_from, travel_to, travel_date, travel_class)
        return self._book(card_id, travel_date, travel_from, travel_to, travel_class, cost)

    def _book(
        self, card_id: Any, travel_date: Any, travel_from: Any, travel_to: Any, travel_class: Any, cost: Any
    ) -> ApiState:
        """Books and pays a flight that exists, with a registered card."""
        card = self.state["credit_card_list"][card_id]
        budget = self.state["budget_limit"]
        refuse_if(card["balance"] < cost, "the card's balance is too low")
        is_spent = budget is not None and card["balance"] < budget
        refuse_if(is_spent, "the card's balance is below the budget limit")
        cost = float(cost)
        card["balance"] -= cost
        booking_id = str(self._random.randint(1000000, 9999999))
        transaction_id = str(self._random.randint(10000000, 99999999))
        self.state["booking_record"][booking_id] = {
            "card_id": card_id,
            "travel_date": travel_date,
            "travel_from": travel_from,
            "travel_to": travel_to,
            "travel_class": travel_class,
            "travel_cost": cost,
            "transaction_id": transaction_id,
        }
        return {
            "booking_id": booking_id,
            "transaction_id": transaction_id,
            "booking_status": True,
            "booking_history": self.state["booking_record"] if self._long else {},
        }

    def retrieve_invoice(
        self, access_token: Any, booking_id: Any = None, insurance_id: Any = None
    ) -> ApiState:
        self._check_token(access_token)
        self._check_booking(booking_id)
        booking = self.state["booking_record"][booking_id]
        keys = ("travel_date", "travel_from", "travel_to", "travel_class", "travel_cost", "transaction_id")
        return {"invoice": {"booking_id": booking_id, **{key: booking[key] for key in keys}}}

    def get_booking_history(self, access_token: Any) -> ApiState:
        self._check_token(access_token)
        return {"booking_history": copied(self.state["booking_record"])}

    @refusing("cancel_status")
    def cancel_booking(self, access_token: Any, booking_id: Any) -> ApiState:
        self._check_token(access_token)
        self._check_booking(booking_id)
        booking = self.state["booking_record"][booking_id]
        self.state["credit_card_list"][booking["card_id"]]["balance"] += booking["travel_cost"]
        del self.state["booking_record"][booking_id]
        return {"cancel_status": True}

    def list_all_airports(self) -> list[str]:
        return self._lookups["list_all_airports.returns"]

    def get_nearest_airport_by_city(self, location: Any) -> ApiState:
        airports = self._lookups["get_nearest_airport_by_city.airport_map"]
        return {"nearest_airport": airports.get(location, "Unknown")}

    def compute_exchange_rate(self, base_currency: Any, target_currency: Any, value: Any) -> ApiState:
        rates = self._lookups["compute_exchange_rate.exchange_rates"]
        rate = rates.get((base_currency, target_currency))
        if rate is not None:
            return {"exchanged_value": float(value * rate)}
        rate = rates.get((target_currency, base_currency))
        if rate is None:
            raise ValueError("no exchange rate for these currencies")
        return {"exchanged_value": round(value / rate, 2)}

    def verify_traveler_information(
        self, first_name: Any, last_name: Any, date_of_birth: Any, passport_number: Any
    ) -> ApiState:
        failure = None
        if (first_name, last_name) != (self.state["user_first_name"], self.state["user_last_name"]):
            failure = "the names are not those of the user"
        elif not _is_date(date_of_birth):
            failure = "expected the date of birth as YYYY-MM-DD"
        elif _age(date_of_birth) < 18:
            failure = "the traveler must be 18 or older"
        elif not passport_number.startswith("US"):
            failure = "Passport must be issued by the United States."
        if failure is not None:
            return {"verification_status": False, "verification_failure": failure}
        return {"verification_status": True}

    def set_budget_limit(self, access_token: Any, budget_limit: Any) -> ApiState:
        self._check_token(access_token)
        self.state["budget_limit"] = float(budget_limit)
        return {"budget_limit": self.state["budget_limit"]}

    @refusing("insurance_status")
    def purchase_insurance(
        self, access_token: Any, insurance_type: Any, booking_id: Any, insurance_cost: Any, card_id: Any
    ) -> ApiState:
        budget = self.state["budget_limit"]
        self._check_token(access_token)
        is_spent = budget is not None and budget < insurance_cost
        refuse_if(is_spent, "the insurance costs more than the budget limit")
        self._check_booking(booking_id)
        self._check_card(card_id)
        self.state["credit_card_list"][card_id]["balance"] -= insurance_cost
        return {"insurance_id": str(self._random.randint(100000000, 999999999)), "insurance_status": True}

    def contact_customer_support(self, booking_id: Any, message: Any) -> ApiState:
        self._check_booking(booking_id)
        return {"customer_support_message": _SUPPORT}

    def get_all_credit_cards(self) -> ApiState:
        return {"credit_card_list": self.state["credit_card_list"]}

    def get_budget_fiscal_year(self, lastModifiedAfter: Any = None, includeRemoved: Any = None) -> ApiState:
        return {"budget_fiscal_year": "2018"}

    def _cost(self, travel_from: Any, travel_to: Any, travel_date: Any, travel_class: Any) -> float:
        """The price of a flight; raises KeyError for an unknown route or class."""
        base = self._lookups["get_flight_cost.base_costs"][travel_from, travel_to]
        digits = sum(int(character) for character in travel_date if character.isdigit())
        return float(base * _CLASS_FACTORS[travel_class] * (2 if digits % 2 == 0 else 1))

    def _check_token(self, access_token: Any) -> None:
        refuse_if(self.state["token_expires_in"] == 0, "the token has expired")
        refuse_if(access_token != self.state["access_token"], "the token is not valid")

    def _check_card(self, card_id: Any) -> None:
        refuse_if(card_id not in self.state["credit_card_list"], f"card {card_id!r} is not registered")

    def _check_booking(self, booking_id: Any) -> None:
        refuse_if(booking_id not in self.state["booking_record"], f"booking {booking_id!r} not found")


def _is_date(text: Any) -> bool:
    try:
        datetime.strptime(text, "%Y-%m-%d")
    except ValueError:
        return False  # of another form, or no such day
    return True


def _age(date_of_birth: str) -> int:
    """Completed years on the fixed day."""
    birth = datetime.strptime(date_of_birth, "%Y-%m-%d").date()
    return _TODAY.year - birth.year - ((_TODAY.month, _TODAY.day) < (birth.month, birth.day))
