"""The simulated stock trading account (section 6 of the specification of the classes)."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from wildtool.benchmarks.bfcl.simulated.base import ApiState, SimulatedApi, copied, failed
from wildtool.toolcall.refusals import refuse_if

_CLOCK = datetime(2024, 9, 1, 10, 30)
_SECONDS_A_DAY = 86_400
_TIMESTAMP = "%Y-%m-%d %H:%M:%S"
_NO_LOGIN = "the user is not logged in"


class TradingBot(SimulatedApi):
    """Stocks, orders, a watch list and an account whose balance orders do not touch. The clock stands still."""

    NAME = "TradingBot"
    DOCUMENTS = "trading_bot"

    def _set_up(self, scenario: Mapping[str, Any]) -> None:
        orders = self.state["orders"]
        self.state["orders"] = {int(key) if key.isdigit() else key: order for key, order in orders.items()}
        self.state["long_context"] = self._long

    def get_current_time(self) -> ApiState:
        return {"current_time": _CLOCK.strftime("%I:%M %p")}

    def get_symbol_by_name(self, name: Any) -> ApiState:
        return {"symbol": self._lookups["get_symbol_by_name.symbol_map"].get(name, "Stock not found")}

    def get_stock_info(self, symbol: Any) -> ApiState:
        stock = self.state["stocks"].get(symbol)
        refuse_if(stock is None, f"no stock with the symbol {symbol!r}")
        if not self._long:
            return stock
        extended = {"MA(5)": self._filler["MA_5_EXTENSION"], "MA(20)": self._filler["MA_20_EXTENSION"]}
        return {**stock, **extended}

    def get_order_details(self, order_id: Any) -> ApiState:
        order = self.state["orders"].get(order_id)
        refuse_if(order is None, f"no order with the id {order_id!r}")
        if not self._long:
            return order
        texts = self._filler["ORDER_DETAIL_EXTENSION"].items()
        metadata = {key: text.replace("{symbol}", order["symbol"]) for key, text in texts}
        return {**order, "metadata": metadata}

    def cancel_order(self, order_id: Any) -> ApiState:
        order = self.state["orders"].get(order_id)
        refuse_if(order is None, f"no order with the id {order_id!r}")
        refuse_if(order["status"] == "Completed", f"order {order_id!r} is completed already")
        order["status"] = "Cancelled"
        return {"order_id": order_id, "status": "Cancelled"}

    def place_order(self, order_type: Any, symbol: Any, price: Any, amount: Any) -> ApiState:
        self._require_login()
        refuse_if(symbol not in self.state["stocks"], f"no stock with the symbol {symbol!r}")
        refuse_if(price <= 0 or amount <= 0, "price and amount must be positive")
        price = float(price)
        refuse_if(not self._can_pay(order_type, price, amount), "the balance is too low for this order")
        order_id = self.state["order_counter"]
        order = {"id": order_id, "order_type": order_type, "symbol": symbol, "price": price, "amount": amount}
        self.state["orders"][order_id] = {**order, "status": "Open"}
        self.state["order_counter"] += 1
        return {
            "order_id": order_id,
            "order_type": order_type,
            "status": "Pending",
            "price": price,
            "amount": amount,
        }

    def _require_login(self) -> None:
        refuse_if(not self.state["authenticated"], _NO_LOGIN)

    def _can_pay(self, order_type: Any, price: float, amount: Any) -> bool:
        return order_type.lower() != "buy" or price * int(amount) <= self.state["account_info"]["balance"]

    def withdraw_funds(self, amount: Any) -> ApiState:
        account = self.state["account_info"]
        self._require_login()
        refuse_if(self.state["market_status"] != "Open", "the market is closed")
        refuse_if(amount <= 0, "the amount must be positive")
        refuse_if(amount > account["balance"], "the balance is too low")
        account["balance"] -= amount
        self._note("withdrawal", amount)
        return {"status": "Withdrawal successful", "new_balance": account["balance"]}

    def fund_account(self, amount: Any) -> ApiState:
        account = self.state["account_info"]
        self._require_login()
        refuse_if(amount <= 0, "the amount must be positive")
        account["balance"] += amount
        self._note("deposit", amount)
        return {"status": "Account funded successfully", "new_balance": account["balance"]}

    def get_account_info(self) -> ApiState:
        self._require_login()
        return self.state["account_info"]

    def trading_login(self, username: Any, password: Any) -> ApiState:
        if self.state["authenticated"]:
            return {"status": "Already logged in"}
        self.state["authenticated"] = True
        return {"status": "Logged in successfully"}

    def trading_get_login_status(self) -> ApiState:
        return {"status": bool(self.state["authenticated"])}

    def trading_logout(self) -> ApiState:
        if not self.state["authenticated"]:
            return {"status": "No user is logged in"}
        self.state["authenticated"] = False
        return {"status": "Logged out successfully"}

    def add_to_watchlist(self, stock: Any) -> ApiState:
        watched = self.state["watch_list"]
        if stock not in watched and stock in self.state["stocks"]:
            watched.append(stock)
        return {"watchlist": watched}

    def remove_stock_from_watchlist(self, symbol: Any) -> ApiState:
        self._require_login()
        refuse_if(symbol not in self.state["watch_list"], f"stock {symbol!r} is not on the watch list")
        self.state["watch_list"].remove(symbol)
        return {"status": f"Stock {symbol} removed from watchlist successfully."}

    def get_watchlist(self) -> ApiState | list[Any]:
        watched = self.state["watch_list"]
        if not self.state["authenticated"]:
            return [_NO_LOGIN]
        return [*watched, *self._filler["WATCH_LIST_EXTENSION"]] if self._long else {"watchlist": watched}

    def get_order_history(self) -> ApiState:
        self._require_login()
        return {"history": list(self.state["orders"])}

    def get_transaction_history(
        self, start_date: Any = None, end_date: Any = None
    ) -> ApiState | list[ApiState]:
        if not self.state["authenticated"]:
            return [failed(_NO_LOGIN)]
        start = datetime.strptime(start_date, "%Y-%m-%d") if start_date else datetime.min
        end = datetime.strptime(end_date, "%Y-%m-%d") if end_date else datetime.max
        history = [
            entry
            for entry in self.state["transaction_history"]
            if start <= datetime.strptime(entry["timestamp"], _TIMESTAMP) <= end
        ]
        extension = self._filler["TRANSACTION_HISTORY_EXTENSION"] if self._long else ()
        return {"transaction_history": [*history, *extension]}

    def get_available_stocks(self, sector: Any) -> ApiState:
        extensions = {"Technology": "TECHNOLOGY_EXTENSION", "Automobile": "AUTOMOBILE_EXTENSION"}
        stocks: list[Any] = self._lookups["get_available_stocks.sector_map"].get(sector, [])
        if self._long and sector in extensions:
            stocks = stocks + self._filler[extensions[sector]]
        return {"stock_list": stocks}

    def filter_stocks_by_price(self, stocks: Any, min_price: Any, max_price: Any) -> ApiState:
        known = self.state["stocks"]
        prices = [(stock, known[stock]["price"] if stock in known else 0) for stock in stocks]
        return {"filtered_stocks": [stock for stock, price in prices if min_price <= price <= max_price]}

    def notify_price_change(self, stocks: Any, threshold: Any) -> ApiState:
        known = self.state["stocks"]
        changed = [
            stock for stock in stocks if stock in known and abs(known[stock]["percent_change"]) >= threshold
        ]
        if not changed:
            return {"notification": "No stock has changed by the threshold or more."}
        return {"notification": f"Stocks that have changed by the threshold or more: {', '.join(changed)}."}

    def _note(self, kind: str, amount: Any) -> None:
        """Adds to the transaction history, at a time drawn from the day after the clock's."""
        moment = _CLOCK + timedelta(seconds=self._random.randint(0, _SECONDS_A_DAY))
        entry = {"type": kind, "amount": copied(amount), "timestamp": moment.strftime(_TIMESTAMP)}
        self.state["transaction_history"].append(entry)
