"""The simulated classes as version 3 of the data needs them (April 2025): what differs from version 4's."""

from collections.abc import Mapping
from datetime import datetime, time
from typing import Any

from wildtool.benchmarks.bfcl.simulated.base import ApiState, SimulatedApi
from wildtool.benchmarks.bfcl.simulated.files import File, GorillaFileSystem, walked
from wildtool.benchmarks.bfcl.simulated.messages import MessageAPI
from wildtool.benchmarks.bfcl.simulated.posts import TwitterAPI
from wildtool.benchmarks.bfcl.simulated.tickets import TicketAPI
from wildtool.benchmarks.bfcl.simulated.trading import TradingBot
from wildtool.benchmarks.bfcl.simulated.travel import TravelAPI, refusing
from wildtool.benchmarks.bfcl.simulated.vehicle import VehicleControlAPI
from wildtool.toolcall.refusals import RefusedCallError, refuse_if

_OPEN, _CLOSE = time(9, 30), time(16)
_LATER_ROUTES = (("LAX", "HND"), ("CRH", "HKG"), ("CRH", "JFK"))
"""Routes that only version 4 has."""


class FilesV3(GorillaFileSystem):
    """`cd` takes paths, `find` always begins in the current directory, `echo` creates its file."""

    def cd(self, folder: Any) -> ApiState:
        if folder == "..":
            return super().cd(folder)
        parts: list[str] = [] if folder in (".", "/") else folder.strip("/").split("/")
        # The original has no directory "." or "" within a path.
        refuse_if("" in parts or "." in parts, f"cd: {folder}: no such directory")
        self._current = self._resolved("cd", folder)
        return {"current_working_directory": self._current.name}

    def find(self, path: Any = ".", name: Any = None) -> ApiState:
        items = walked(self._current, path.rstrip("/"))
        return {"matches": [where for where, item in items if name is None or name in item.name]}

    def echo(self, content: Any, file_name: Any = None) -> ApiState | None:
        if file_name not in (None, "") and file_name not in self._current.children:
            self._check_new("echo", file_name)
            self._current.children[file_name] = File(file_name, content)
            return None
        return super().echo(content, file_name)


class MessagesV3(MessageAPI):
    """A deleted message is confirmed in other words."""

    def delete_message(self, receiver_id: Any) -> ApiState:
        super().delete_message(receiver_id)
        text = f"Receiver {receiver_id}'s first message deleted successfully."
        return {"deleted_status": True, "message_id": receiver_id, "message": text}


class PostsV3(TwitterAPI):
    """Whom one follows is a bare list."""

    def list_all_following(self) -> Any:
        return super().list_all_following()["following_list"]


class TicketsV3(TicketAPI):
    """The login status has another name."""

    def ticket_get_login_status(self) -> ApiState:
        return {"username": super().ticket_get_login_status()["login_status"]}


class TradingV3(TradingBot):
    """Orders need no balance, the market can be opened and closed, and prices can be set."""

    REMOVED = frozenset({"withdraw_funds"})

    def get_symbol_by_name(self, name: Any) -> ApiState:
        return {"symbol": "Stock not found"} if name == "Gorilla" else super().get_symbol_by_name(name)

    def _can_pay(self, order_type: Any, price: float, amount: Any) -> bool:
        return True

    def update_market_status(self, current_time_str: Any) -> ApiState:
        now = datetime.strptime(current_time_str, "%I:%M %p").time()
        self.state["market_status"] = "Open" if _OPEN <= now <= _CLOSE else "Closed"
        return {"status": self.state["market_status"]}

    def make_transaction(self, account_id: Any, xact_type: Any, amount: Any) -> ApiState:
        if self.state["authenticated"] and self.state["market_status"] == "Open":
            is_known = account_id == self.state["account_info"]["account_id"]
            refuse_if(not is_known, f"no account with the id {account_id!r}")
            if xact_type == "deposit":
                return {**self.fund_account(amount), "status": "Deposit successful"}
            refuse_if(xact_type != "withdrawal" and amount > 0, "expected deposit or withdrawal")
        return self.withdraw_funds(amount)

    def update_stock_price(self, symbol: Any, new_price: Any) -> ApiState:
        stocks = self.state["stocks"]
        is_bad = symbol not in stocks or new_price <= 0
        refuse_if(is_bad, f"no stock {symbol!r}, or the price is not positive")
        stock = stocks[symbol]
        old = stock["price"]
        stock |= {"price": new_price, "percent_change": ((new_price - old) / old) * 100}
        return {"symbol": symbol, "old_price": old, "new_price": new_price}

    def add_to_watchlist(self, stock: Any) -> ApiState:
        return {"symbol": super().add_to_watchlist(stock)["watchlist"]}


class TravelV3(TravelAPI):
    """The caller says what a flight costs; a wrong token uses up the right one."""

    REMOVED = frozenset({"get_booking_history"})

    def _set_up(self, scenario: Mapping[str, Any]) -> None:
        super()._set_up(scenario)
        costs = self._lookups["get_flight_cost.base_costs"]
        left = {route: cost for route, cost in costs.items() if route not in _LATER_ROUTES}
        self._lookups = {**self._lookups, "get_flight_cost.base_costs": left}

    def get_flight_cost(
        self, travel_from: Any, travel_to: Any, travel_date: Any, travel_class: Any
    ) -> ApiState:
        found = super().get_flight_cost(travel_from, travel_to, travel_date, travel_class)
        if not self._long:
            return found
        routes = zip(self._lookups["get_flight_cost.base_costs"], found["travel_cost_list"], strict=True)
        what = f"{travel_class} class, on {travel_date}"
        return {"travel_cost_list": [f"{a} to {b}: {cost} USD, {what}" for (a, b), cost in routes]}

    @refusing("booking_status")
    def book_flight(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        access_token: Any,
        card_id: Any,
        travel_date: Any,
        travel_from: Any,
        travel_to: Any,
        travel_class: Any,
        travel_cost: Any,
    ) -> ApiState:
        self._check_token(access_token)
        self._check_card(card_id)
        refuse_if("balance" not in self.state["credit_card_list"][card_id], "the card has no balance")
        return self._book(card_id, travel_date, travel_from, travel_to, travel_class, travel_cost)

    def compute_exchange_rate(self, base_currency: Any, target_currency: Any, value: Any) -> ApiState:
        rate = self._lookups["compute_exchange_rate.exchange_rates"].get((base_currency, target_currency))
        if rate is None:
            return super().compute_exchange_rate(base_currency, target_currency, value)
        return {"exchanged_value": value * rate}

    def contact_customer_support(self, booking_id: Any, message: Any) -> ApiState:
        self._check_booking(booking_id)
        text = "Thank you for contacting us. We will get back to you shortly. "
        return {"customer_support_message": text + message}

    def _check_token(self, access_token: Any) -> None:
        try:
            super()._check_token(access_token)
        except RefusedCallError:
            if self.state["token_expires_in"] != 0:
                self.state["token_expires_in"] -= 1
            raise


class VehicleV3(VehicleControlAPI):
    """Cruise control keeps numbers as they are given."""

    def _cruise_number(self, number: Any) -> Any:
        return number


V3_CLASSES: Mapping[str, type[SimulatedApi]] = {
    owner.NAME: owner for owner in (FilesV3, MessagesV3, PostsV3, TicketsV3, TradingV3, TravelV3, VehicleV3)
}
"""By name the classes that differ."""
