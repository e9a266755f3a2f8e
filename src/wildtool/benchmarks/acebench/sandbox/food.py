"""The food delivery platform of the sandbox (section 9.4 of the specification)."""

from collections.abc import Mapping
from typing import Any

from wildtool.benchmarks.acebench.sandbox.edition import ClassState, Edition
from wildtool.benchmarks.acebench.sandbox.phone import BaseApi


class FoodPlatform(BaseApi):
    """Six merchants with two products each, and six customers with a balance."""

    def __init__(self, edition: Edition, config: Mapping[str, Any]) -> None:
        super().__init__(edition, config)
        state = edition.fresh("FoodPlatform")
        self.users: dict[str, ClassState] = state["users"]
        self.merchant_list: dict[str, ClassState] = state["merchant_list"]
        self.logged_in_users: list[Any] = list(config.get("logged_in_users", []))
        self.orders: list[ClassState] = state["orders"]

    def login_food_platform(self, username: Any, password: Any) -> ClassState:
        failed = self._edition.failed
        if not self.wifi:
            return failed("FoodPlatform.login_food_platform.wifi_off")
        if username not in self.users:
            return failed("FoodPlatform.login_food_platform.unknown_user")
        if self.users[username]["password"] != password:
            return failed("FoodPlatform.login_food_platform.bad_password")
        if username in self.logged_in_users:
            return failed("FoodPlatform.login_food_platform.already", username=username)
        self.logged_in_users.append(username)
        return self._edition.done("FoodPlatform.login_food_platform.ok", username=username)

    def view_logged_in_users(self) -> ClassState:
        if not self.logged_in_users:
            return self._edition.failed("FoodPlatform.view_logged_in_users.none")
        return {"status": True, "logged_in_users": self.logged_in_users}

    def check_balance(self, user_name: Any) -> float:
        # The original also prints a line where the user is unknown; no caller reads it.
        return self.users[user_name]["balance"] if user_name in self.users else 0.0

    def add_food_delivery_order(self, username: Any, merchant_name: Any, items: Any) -> ClassState:
        tool = "FoodPlatform.add_food_delivery_order"
        failed = self._edition.failed
        if username not in self.logged_in_users:
            return failed(f"{tool}.not_logged_in", username=username)
        if merchant_name not in self.merchant_list:
            return failed(f"{tool}.unknown_merchant")
        prices = {entry["product"]: entry["price"] for entry in self.merchant_list[merchant_name]["menu"]}
        total, ordered = 0.0, list[ClassState]()
        for item in items:
            product, quantity = item.get("product"), item.get("quantity", 1)
            if not isinstance(quantity, int) or quantity <= 0:
                return failed(f"{tool}.bad_quantity", quantity=quantity, product=product)
            # By equality, not by key: a product may be anything, even what no dictionary can hold.
            price = next((price for name, price in prices.items() if name == product), None)
            if price is None:
                return failed(f"{tool}.unknown_product", product=product, merchant_name=merchant_name)
            total += price * quantity
            ordered.append({"product": product, "quantity": quantity, "price_per_unit": price})
        balance = self.users[username]["balance"]
        if total > balance or (total == balance and not self._edition.spends_all):
            return failed(f"{tool}.balance")
        self.users[username]["balance"] = balance - total
        self.orders.append(
            {"user_name": username, "merchant_name": merchant_name, "items": ordered, "total_price": total}
        )
        return self._edition.done(f"{tool}.ok", merchant_name=merchant_name, total_price=total)

    def get_products(self, merchant_name: Any) -> list[ClassState] | ClassState:
        if merchant_name not in self.merchant_list:
            return self._edition.failed(
                "FoodPlatform.get_products.unknown_merchant", merchant_name=merchant_name
            )
        return self.merchant_list[merchant_name]["menu"]

    def view_orders(self, user_name: Any) -> ClassState:
        found = [order for order in self.orders if order["user_name"] == user_name]
        if not found:
            return self._edition.failed("FoodPlatform.view_orders.none")
        return {"status": True, "orders": found}

    def search_orders(self, keyword: Any) -> ClassState:
        found = [order for order in self.orders if self._is_about(order, keyword)]
        if not found:
            return self._edition.failed("FoodPlatform.search_orders.none")
        return {"status": True, "orders": found}

    def _is_about(self, order: ClassState, keyword: Any) -> bool:
        if keyword.lower() in order["merchant_name"].lower():
            return True
        if order["items"] and not self._edition.finds_products:
            # The original searches the ordered item, a dictionary, as if it were the product's name.
            raise AttributeError("'dict' object has no attribute 'lower'")
        return any(keyword.lower() in item["product"].lower() for item in order["items"])
