"""Long walks through the classes of ACEBench's sandbox: each call with its answer, and the state at the end."""

# ruff: noqa: E501 - each call stands on one line

import ast
from dataclasses import replace
from typing import Any

from benchmarks.acebench.sandbox_build import ON, PHONE, Texts, edition, phone, travel
from wildtool.benchmarks.acebench.sandbox import TOOL_ERRORS, Sandbox


def shown(value: Any) -> Any:
    """A value with each flight as its number and its free seats."""
    if isinstance(value, dict):
        if "seats_available" in value:
            return f"{value['flight_no']} with {value['seats_available']} seats"
        return {key: shown(element) for key, element in value.items()}
    return [shown(element) for element in value] if isinstance(value, list) else value


def answers(box: Sandbox, walk: list[str]) -> list[str]:
    """The calls of a walk, each with what it answers now."""
    lines: list[str] = []
    for line in walk:
        text = line.partition(" -> ")[0]
        call = ast.parse(text, mode="eval").body
        assert isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        arguments = {str(argument.arg): ast.literal_eval(argument.value) for argument in call.keywords}
        try:
            answer = shown(box.call(call.func.id, arguments))
        except TOOL_ERRORS as error:
            answer = f"{type(error).__name__}: {error}"
        lines.append(f"{text} -> {answer}")
    return lines


def bookings(cash: float, bank: float, *reservations: tuple[str, str, str, int]) -> list[dict[str, Any]]:
    """The saved state of Travel. Args: reservations: flight, way to pay, cabin and pieces of baggage of each."""
    user = {"user_name": "Ann", "password": "pw", "cash_balance": cash, "bank_balance": bank}
    fields = ("flight_no", "payment_method", "cabin", "baggage")
    rows = [
        {"reservation_id": f"res_{number}", "user_id": "u1", **dict(zip(fields, values, strict=True))}
        for number, values in enumerate(reservations, 1)
    ]
    return [{"Travel": {"users": {"u1": user | {"membership_level": "regular"}}, "reservations": rows}}]


FLIGHTS: dict[str, dict[str, Any]] = {
    "F2": {"origin": "B", "destination": "C", "depart_time": "2024-07-16 10:00:00"},
    "F3": {
        "origin": "B",
        "destination": "C",
        "depart_time": "2024-07-16 10:00:01",
        "arrival_time": "2024-07-16 12:00:00",
    },
    "F4": {"status": "full"},
    "F5": {"depart_time": "2024-07-15 06:00:00"},
    "F6": {"depart_time": "2024-07-15 06:00:01", "economy_price": 1000, "business_price": 100},
    "F7": {"depart_time": "2024-07-14 05:59:59"},
}


def test_a_walk_through_messages_reminders_and_takeout() -> None:
    box = phone(wifi=False)
    walk = [
        "get_latest_message_id() -> {'status': True, 'message': 'MessageApi.get_latest_message_id.ok', 'message_id': 1}",
        "get_earliest_message_id() -> {'status': True, 'message': 'MessageApi.get_earliest_message_id.ok', 'message_id': 2}",
        "get_all_message_times_with_ids() -> {1: '2024-02-01', 2: '2024-01-01'}",
        "view_messages_between_users(sender_name='Ann', receiver_name='Bob') -> {'status': True, 'messages': [{'id': 1, 'sender': 'Ann', 'receiver': 'Bob', 'message': 'Lunch?'}]}",
        "view_messages_between_users(sender_name='Eve', receiver_name='Bob') -> {'status': False, 'message': 'MessageApi.view_messages_between_users.unknown_sender'}",
        "view_messages_between_users(sender_name='Ann', receiver_name='Eve') -> {'status': False, 'message': 'MessageApi.view_messages_between_users.unknown_receiver'}",
        "view_messages_between_users(sender_name='Ann', receiver_name='Ann') -> {'status': False, 'message': 'MessageApi.view_messages_between_users.none'}",
        "search_messages(user_name='Ann', keyword='YES') -> {'status': True, 'messages': [{'id': 2, 'sender_id': 'B', 'receiver_id': 'A', 'message': 'Yes'}]}",
        "search_messages(user_name='Eve', keyword='') -> {'status': False, 'message': 'MessageApi.search_messages.unknown_user'}",
        "search_messages(user_name='Bob', keyword='tea') -> {'status': False, 'message': 'MessageApi.search_messages.none'}",
        "search_messages(user_name='Bob', keyword='') -> {'status': True, 'messages': [{'id': 1, 'sender_id': 'A', 'receiver_id': 'B', 'message': 'Lunch?'}, {'id': 2, 'sender_id': 'B', 'receiver_id': 'A', 'message': 'Yes'}]}",
        "send_message(sender_name='Ann', receiver_name='Bob', message='Hi') -> {'status': False, 'message': 'MessageApi.send_message.wifi_off'}",
        "turn_on_wifi() -> {'status': True, 'message': 'BaseApi.turn_on_wifi.ok'}",
        "send_message(sender_name='Ann', receiver_name='Eve', message='Hi') -> {'status': False, 'message': 'MessageApi.send_message.unknown_user'}",
        "send_message(sender_name='Eve', receiver_name='Bob', message='Hi') -> {'status': False, 'message': 'MessageApi.send_message.unknown_user'}",
        "send_message(sender_name='Ann', receiver_name='Bob', message='Hi') -> {'status': True, 'message': 'MessageApi.send_message.ok'}",
        "send_message(sender_name='Ann', receiver_name='Bob', message='Hi') -> {'status': False, 'message': 'MessageApi.send_message.full'}",
        "get_latest_message_id() -> KeyError: 'time'",
        "get_all_message_times_with_ids() -> KeyError: 'time'",
        "view_messages_between_users(sender_name='Ann', receiver_name='Bob') -> {'status': True, 'messages': [{'id': 1, 'sender': 'Ann', 'receiver': 'Bob', 'message': 'Lunch?'}, {'id': 3, 'sender': 'Ann', 'receiver': 'Bob', 'message': 'Hi'}]}",
        "delete_message(message_id=9) -> {'status': False, 'message': 'MessageApi.delete_message.unknown_id'}",
        "delete_message(message_id=1) -> {'status': True, 'message': 'MessageApi.delete_message.ok'}",
        "delete_message(message_id=2) -> {'status': True, 'message': 'MessageApi.delete_message.ok'}",
        "delete_message(message_id=3) -> {'status': True, 'message': 'MessageApi.delete_message.ok'}",
        "get_latest_message_id() -> {'status': False, 'message': 'MessageApi.get_latest_message_id.empty'}",
        "get_earliest_message_id() -> {'status': False, 'message': 'MessageApi.get_earliest_message_id.empty'}",
        "view_reminder_by_title(title='Shop') -> {'status': True, 'reminder': {'reminder_id': 1001, 'title': 'Shop', 'description': 'Buy tea', 'time': '2024-07-16 11:00', 'notified': False}}",
        "view_reminder_by_title(title='shop') -> {'status': False, 'message': 'ReminderApi.view_reminder_by_title.none'}",
        "view_all_reminders() -> {'status': True, 'reminders': [{'title': 'Shop', 'description': 'Buy tea', 'time': '2024-07-16 11:00', 'notified': False}]}",
        "add_reminder(title='T', description='D', time='8') -> {'status': True, 'message': 'ReminderApi.add_reminder.ok'}",
        "add_reminder(title='T', description='D', time='8') -> {'status': False, 'message': 'ReminderApi.add_reminder.full'}",
        "view_reminder_by_title(title='T') -> {'status': True, 'reminder': {'reminder_id': 2, 'title': 'T', 'description': 'D', 'time': '8', 'notified': False}}",
        "delete_reminder(reminder_id=3) -> {'status': False, 'message': 'ReminderApi.delete_reminder.unknown_id'}",
        "delete_reminder(reminder_id=2) -> {'status': True, 'message': 'ReminderApi.delete_reminder.ok'}",
        "delete_reminder(reminder_id=1) -> {'status': True, 'message': 'ReminderApi.delete_reminder.ok'}",
        "view_all_reminders() -> {'status': False, 'message': 'ReminderApi.view_all_reminders.none'}",
        "add_reminder(title='U', description='E', time='9') -> {'status': True, 'message': 'ReminderApi.add_reminder.ok'}",
        "view_logged_in_users() -> {'status': False, 'message': 'FoodPlatform.view_logged_in_users.none'}",
        "check_balance(user_name='Ann') -> 50.0",
        "check_balance(user_name='Eve') -> 0.0",
        "add_food_delivery_order(username='Ann', merchant_name='Teahouse', items=[]) -> {'status': False, 'message': 'FoodPlatform.add_food_delivery_order.not_logged_in'}",
        "login_food_platform(username='Eve', password='pw') -> {'status': False, 'message': 'FoodPlatform.login_food_platform.unknown_user'}",
        "login_food_platform(username='Ann', password='no') -> {'status': False, 'message': 'FoodPlatform.login_food_platform.bad_password'}",
        "login_food_platform(username='Ann', password='pw') -> {'status': True, 'message': 'FoodPlatform.login_food_platform.ok'}",
        "login_food_platform(username='Ann', password='pw') -> {'status': False, 'message': 'FoodPlatform.login_food_platform.already'}",
        "view_logged_in_users() -> {'status': True, 'logged_in_users': ['Ann']}",
        "get_products(merchant_name='Bakery') -> {'status': False, 'message': 'FoodPlatform.get_products.unknown_merchant'}",
        "get_products(merchant_name='Teahouse') -> [{'product': 'Tea', 'price': 25.0}]",
        "add_food_delivery_order(username='Ann', merchant_name='Bakery', items=[]) -> {'status': False, 'message': 'FoodPlatform.add_food_delivery_order.unknown_merchant'}",
        "add_food_delivery_order(username='Ann', merchant_name='Teahouse', items=[{'product': 'Tea', 'quantity': 0}]) -> {'status': False, 'message': 'FoodPlatform.add_food_delivery_order.bad_quantity'}",
        "add_food_delivery_order(username='Ann', merchant_name='Teahouse', items=[{'product': 'Tea', 'quantity': 1.0}]) -> {'status': False, 'message': 'FoodPlatform.add_food_delivery_order.bad_quantity'}",
        "add_food_delivery_order(username='Ann', merchant_name='Teahouse', items=[{'product': 'Cake'}]) -> {'status': False, 'message': 'FoodPlatform.add_food_delivery_order.unknown_product'}",
        "add_food_delivery_order(username='Ann', merchant_name='Teahouse', items=[{'product': ['Tea']}]) -> {'status': False, 'message': 'FoodPlatform.add_food_delivery_order.unknown_product'}",
        "add_food_delivery_order(username='Ann', merchant_name='Teahouse', items=[{'product': 'Tea', 'quantity': 3}]) -> {'status': False, 'message': 'FoodPlatform.add_food_delivery_order.balance'}",
        "add_food_delivery_order(username='Ann', merchant_name='Teahouse', items=[{'product': 'Tea', 'quantity': 2}]) -> {'status': True, 'message': 'FoodPlatform.add_food_delivery_order.ok'}",
        "view_orders(user_name='Ann') -> {'status': True, 'orders': [{'user_name': 'Ann', 'merchant_name': 'Teahouse', 'items': [{'product': 'Tea', 'quantity': 2, 'price_per_unit': 25.0}], 'total_price': 50.0}]}",
        "add_food_delivery_order(username='Ann', merchant_name='Teahouse', items=[{'product': 'Tea'}]) -> {'status': False, 'message': 'FoodPlatform.add_food_delivery_order.balance'}",
        "view_orders(user_name='Ann') -> {'status': True, 'orders': [{'user_name': 'Ann', 'merchant_name': 'Teahouse', 'items': [{'product': 'Tea', 'quantity': 2, 'price_per_unit': 25.0}], 'total_price': 50.0}]}",
        "view_orders(user_name='Bob') -> {'status': False, 'message': 'FoodPlatform.view_orders.none'}",
        "search_orders(keyword='HOUSE') -> {'status': True, 'orders': [{'user_name': 'Ann', 'merchant_name': 'Teahouse', 'items': [{'product': 'Tea', 'quantity': 2, 'price_per_unit': 25.0}], 'total_price': 50.0}]}",
        "search_orders(keyword='tea') -> {'status': True, 'orders': [{'user_name': 'Ann', 'merchant_name': 'Teahouse', 'items': [{'product': 'Tea', 'quantity': 2, 'price_per_unit': 25.0}], 'total_price': 50.0}]}",
        "search_orders(keyword='cake') -> {'status': False, 'message': 'FoodPlatform.search_orders.none'}",
        "search_orders(keyword='Tea') -> {'status': True, 'orders': [{'user_name': 'Ann', 'merchant_name': 'Teahouse', 'items': [{'product': 'Tea', 'quantity': 2, 'price_per_unit': 25.0}], 'total_price': 50.0}]}",
        "check_balance(user_name='Ann') -> 0.0",
    ]
    assert answers(box, walk) == walk
    assert box.saved() == [
        {"BaseApi": {"wifi": True, "logged_in": True}},
        {"MessageApi": {"inbox": {}}},
        {
            "ReminderApi": {
                "reminder_list": {
                    "3": {"reminder_id": 3, "title": "U", "description": "E", "time": "9", "notified": False}
                }
            }
        },
        {
            "FoodPlatform": {
                "users": {"Ann": {"user_id": "U1", "password": "pw", "balance": 0.0}},
                "logged_in_users": ["Ann"],
                "orders": [
                    {
                        "user_name": "Ann",
                        "merchant_name": "Teahouse",
                        "items": [{"product": "Tea", "quantity": 2, "price_per_unit": 25.0}],
                        "total_price": 50.0,
                    }
                ],
            }
        },
    ]


def test_a_walk_without_a_login() -> None:
    box = phone(wifi=False, logged_in=False)
    walk = [
        "send_message(sender_name='Ann', receiver_name='Bob', message='Hi') -> {'status': False, 'message': 'MessageApi.send_message.not_logged_in'}",
        "delete_message(message_id=1) -> {'status': False, 'message': 'MessageApi.delete_message.not_logged_in'}",
        "view_messages_between_users(sender_name='Ann', receiver_name='Bob') -> {'status': False, 'message': 'MessageApi.view_messages_between_users.not_logged_in'}",
        "search_messages(user_name='Ann', keyword='yes') -> {'status': True, 'messages': [{'id': 2, 'sender_id': 'B', 'receiver_id': 'A', 'message': 'Yes'}]}",
        "get_all_message_times_with_ids() -> {'status': False, 'message': 'MessageApi.get_all_message_times_with_ids.not_logged_in'}",
        "get_latest_message_id() -> {'status': False, 'message': 'MessageApi.get_latest_message_id.not_logged_in'}",
        "get_earliest_message_id() -> {'status': False, 'message': 'MessageApi.get_earliest_message_id.not_logged_in'}",
        "view_reminder_by_title(title='Shop') -> {'status': False, 'message': 'ReminderApi.view_reminder_by_title.not_logged_in'}",
        "add_reminder(title='T', description='D', time='8') -> {'status': False, 'message': 'ReminderApi.add_reminder.not_logged_in'}",
        "delete_reminder(reminder_id=1) -> {'status': False, 'message': 'ReminderApi.delete_reminder.not_logged_in'}",
        "view_all_reminders() -> {'status': True, 'reminders': [{'title': 'Shop', 'description': 'Buy tea', 'time': '2024-07-16 11:00', 'notified': False}]}",
        "login_food_platform(username='Ann', password='pw') -> {'status': False, 'message': 'FoodPlatform.login_food_platform.wifi_off'}",
        "login_device() -> {'status': True, 'message': 'BaseApi.login_device.ok'}",
        "delete_message(message_id=1) -> {'status': True, 'message': 'MessageApi.delete_message.ok'}",
    ]
    assert answers(box, walk) == walk
    assert box.saved() == [
        {"BaseApi": {"wifi": False, "logged_in": True}},
        {
            "MessageApi": {
                "inbox": {"2": {"sender_id": "B", "receiver_id": "A", "message": "Yes", "time": "2024-01-01"}}
            }
        },
        {
            "ReminderApi": {
                "reminder_list": {
                    "1": {
                        "reminder_id": 1001,
                        "title": "Shop",
                        "description": "Buy tea",
                        "time": "2024-07-16 11:00",
                        "notified": False,
                    }
                }
            }
        },
        {
            "FoodPlatform": {
                "users": {"Ann": {"user_id": "U1", "password": "pw", "balance": 50.0}},
                "logged_in_users": [],
                "orders": [],
            }
        },
    ]


def test_a_walk_through_what_only_the_chinese_edition_has() -> None:
    box = Sandbox(edition("zh"), PHONE, {"BaseApi": {"wifi": True}})
    walk = [
        "search_reminders(keyword='TEA') -> AttributeError: 'str' object has no attribute 'strftime'",
        "search_reminders(keyword='shop') -> AttributeError: 'str' object has no attribute 'strftime'",
        "search_reminders(keyword='x') -> {'status': False, 'message': 'ReminderApi.search_reminders.none'}",
        "mark_as_notified(reminder_id=2) -> {'status': False, 'message': 'ReminderApi.mark_as_notified.unknown_id'}",
        "mark_as_notified(reminder_id=1) -> {'status': True, 'message': 'ReminderApi.mark_as_notified.ok'}",
        "view_all_reminders() -> {'status': True, 'reminders': [{'title': 'Shop', 'description': 'Buy tea', 'time': '2024-07-16 11:00', 'notified': True}]}",
        "login_food_platform(username='Ann', password='pw') -> {'status': True, 'message': 'FoodPlatform.login_food_platform.ok'}",
        "add_food_delivery_order(username='Ann', merchant_name='Teahouse', items=[{'product': 'Tea', 'quantity': 2}]) -> {'status': False, 'message': 'FoodPlatform.add_food_delivery_order.balance'}",
        "add_food_delivery_order(username='Ann', merchant_name='Teahouse', items=[{'product': 'Tea', 'quantity': 1}]) -> {'status': True, 'message': 'FoodPlatform.add_food_delivery_order.ok'}",
        "search_orders(keyword='house') -> {'status': True, 'orders': [{'user_name': 'Ann', 'merchant_name': 'Teahouse', 'items': [{'product': 'Tea', 'quantity': 1, 'price_per_unit': 25.0}], 'total_price': 25.0}]}",
        "search_orders(keyword='cake') -> AttributeError: 'dict' object has no attribute 'lower'",
        "search_orders(keyword='Tea') -> {'status': True, 'orders': [{'user_name': 'Ann', 'merchant_name': 'Teahouse', 'items': [{'product': 'Tea', 'quantity': 1, 'price_per_unit': 25.0}], 'total_price': 25.0}]}",
        "view_orders(user_name='Ann') -> {'status': True, 'orders': [{'user_name': 'Ann', 'merchant_name': 'Teahouse', 'items': [{'product': 'Tea', 'quantity': 1, 'price_per_unit': 25.0}], 'total_price': 25.0}]}",
    ]
    assert answers(box, walk) == walk
    assert box.saved() == [
        {"BaseApi": {"wifi": True, "logged_in": True}},
        {
            "MessageApi": {
                "inbox": {
                    "1": {"sender_id": "A", "receiver_id": "B", "message": "Lunch?", "time": "2024-02-01"},
                    "2": {"sender_id": "B", "receiver_id": "A", "message": "Yes", "time": "2024-01-01"},
                }
            }
        },
        {
            "ReminderApi": {
                "reminder_list": {
                    "1": {
                        "reminder_id": 1001,
                        "title": "Shop",
                        "description": "Buy tea",
                        "time": "2024-07-16 11:00",
                        "notified": True,
                    }
                }
            }
        },
        {
            "FoodPlatform": {
                "users": {"Ann": {"user_id": "U1", "password": "pw", "balance": 25.0}},
                "logged_in_users": ["Ann"],
                "orders": [
                    {
                        "user_name": "Ann",
                        "merchant_name": "Teahouse",
                        "items": [{"product": "Tea", "quantity": 1, "price_per_unit": 25.0}],
                        "total_price": 25.0,
                    }
                ],
            }
        },
    ]


def test_a_walk_through_flights_and_bookings() -> None:
    box = travel(**FLIGHTS)
    walk = [
        "get_user_details(user_id='u1', password='pw') -> {'user_name': 'Ann', 'cash_balance': 1000.0, 'bank_balance': 500.0, 'membership_level': 'regular'}",
        "get_user_details(user_id='u1', password='x') -> {'status': 'error', 'message': 'Travel.get_user_details.bad'}",
        "get_user_details(user_id='u2', password='pw') -> {'status': 'error', 'message': 'Travel.get_user_details.bad'}",
        "authenticate_user(user_id='u1', password='pw') -> {'user_name': 'Ann', 'password': 'pw', 'cash_balance': 1000.0, 'bank_balance': 500.0, 'membership_level': 'regular'}",
        "authenticate_user(user_id='u1', password='x') -> {'status': 'error', 'message': 'Travel.authenticate_user.bad'}",
        "get_flight_details(origin='A', destination='B') -> ['F1 with 1 seats', 'F4 with 1 seats', 'F5 with 1 seats', 'F6 with 1 seats', 'F7 with 1 seats']",
        "get_flight_details(origin='B') -> ['F2 with 1 seats', 'F3 with 1 seats']",
        "get_flight_details(destination='D') -> Travel.get_flight_details.none",
        "get_reservation_details() -> {'status': 'error', 'message': 'Travel.get_reservation_details.no_key'}",
        "get_reservation_details(reservation_id='res_1') -> [{'reservation_id': 'res_1', 'user_id': 'u1', 'flight_no': 'F1', 'payment_method': 'cash', 'cabin': 'economy', 'baggage': 1, 'flight_info': 'F1 with 1 seats'}]",
        "get_reservation_details(user_id='u1') -> [{'reservation_id': 'res_1', 'user_id': 'u1', 'flight_no': 'F1', 'payment_method': 'cash', 'cabin': 'economy', 'baggage': 1, 'flight_info': 'F1 with 1 seats'}]",
        "get_reservation_details(reservation_id='res_1', user_id='u2') -> [{'reservation_id': 'res_1', 'user_id': 'u1', 'flight_no': 'F1', 'payment_method': 'cash', 'cabin': 'economy', 'baggage': 1, 'flight_info': 'F1 with 1 seats'}]",
        "get_reservation_details(user_id='u2') -> []",
        "find_transfer_flights(origin_city='A', transfer_city='B', destination_city='C') -> [{'first_leg': 'F1 with 1 seats', 'second_leg': 'F3 with 1 seats'}, {'first_leg': 'F5 with 1 seats', 'second_leg': 'F3 with 1 seats'}, {'first_leg': 'F6 with 1 seats', 'second_leg': 'F3 with 1 seats'}, {'first_leg': 'F7 with 1 seats', 'second_leg': 'F3 with 1 seats'}]",
        "find_transfer_flights(origin_city='A', transfer_city='C', destination_city='B') -> Travel.find_transfer_flights.none",
        "get_baggage_allowance(membership_level='regular', cabin_class='economy') -> 1",
        "get_baggage_allowance(membership_level='regular', cabin_class='business') -> 2",
        "get_baggage_allowance(membership_level='regular', cabin_class='x') -> 0",
        "get_baggage_allowance(membership_level='silver', cabin_class='economy') -> 2",
        "get_baggage_allowance(membership_level='silver', cabin_class='business') -> 3",
        "get_baggage_allowance(membership_level='silver', cabin_class='x') -> 0",
        "get_baggage_allowance(membership_level='gold', cabin_class='economy') -> 3",
        "get_baggage_allowance(membership_level='gold', cabin_class='business') -> 3",
        "get_baggage_allowance(membership_level='gold', cabin_class='x') -> 0",
        "get_baggage_allowance(membership_level='none', cabin_class='economy') -> 0",
        "get_baggage_allowance(membership_level='none', cabin_class='business') -> 0",
        "get_baggage_allowance(membership_level='none', cabin_class='x') -> 0",
        "calculate_baggage_fee(membership_level='regular', cabin_class='economy', baggage_count=1) -> 0",
        "calculate_baggage_fee(membership_level='regular', cabin_class='economy', baggage_count=2) -> 50",
        "calculate_baggage_fee(membership_level='silver', cabin_class='business', baggage_count=5) -> 100",
        "calculate_baggage_fee(membership_level='gold', cabin_class='economy', baggage_count=0) -> 0",
        "calculate_baggage_fee(membership_level='none', cabin_class='economy', baggage_count=1) -> KeyError: 'none'",
        "calculate_baggage_fee(membership_level='regular', cabin_class='x', baggage_count=1) -> KeyError: 'x'",
        "calculate_price_difference(flight={'economy_price': 100, 'business_price': 300}, old_cabin='economy', new_cabin='business') -> 200",
        "calculate_price_difference(flight={'economy_price': 100, 'business_price': 300}, old_cabin='business', new_cabin='economy') -> -200",
        "calculate_price_difference(flight={'economy_price': 100, 'business_price': 300}, old_cabin='x', new_cabin='business') -> 300",
        "calculate_price_difference(flight={'economy_price': 100, 'business_price': 300}, old_cabin='economy', new_cabin='x') -> -100",
        "update_balance(user={'cash_balance': 5}, payment_method='cash', amount=-5) -> True",
        "update_balance(user={'cash_balance': 5}, payment_method='cash', amount=-6) -> False",
        "update_balance(user={'bank_balance': 5}, payment_method='bank', amount=-1) -> True",
        "update_balance(user={}, payment_method='x', amount=-6) -> True",
        "reserve_flight(user_id='u1', password='x', flight_no='F1', cabin='economy', payment_method='cash', baggage_count=1) -> KeyError: 'membership_level'",
        "reserve_flight(user_id='u1', password='pw', flight_no='F4', cabin='economy', payment_method='cash', baggage_count=1) -> TypeError: 'NoneType' object is not subscriptable",
        "reserve_flight(user_id='u1', password='pw', flight_no='F1', cabin='economy', payment_method='card', baggage_count=1) -> Travel.reserve_flight.bad_payment",
        "reserve_flight(user_id='u1', password='pw', flight_no='F1', cabin='business', payment_method='bank', baggage_count=7) -> Travel.reserve_flight.bank_short",
        "reserve_flight(user_id='u1', password='pw', flight_no='F6', cabin='economy', payment_method='cash', baggage_count=2) -> Travel.reserve_flight.cash_short",
        "reserve_flight(user_id='u1', password='pw', flight_no='F1', cabin='business', payment_method='bank', baggage_count=6) -> res_2 500",
        "reserve_flight(user_id='u1', password='pw', flight_no='F6', cabin='economy', payment_method='cash', baggage_count=1) -> res_3 1000",
        "get_user_details(user_id='u1', password='pw') -> {'user_name': 'Ann', 'cash_balance': 0.0, 'bank_balance': 0.0, 'membership_level': 'regular'}",
        "get_reservation_details(user_id='u1') -> [{'reservation_id': 'res_1', 'user_id': 'u1', 'flight_no': 'F1', 'payment_method': 'cash', 'cabin': 'economy', 'baggage': 1, 'flight_info': 'F1 with 0 seats'}, {'reservation_id': 'res_2', 'user_id': 'u1', 'flight_no': 'F1', 'payment_method': 'bank', 'cabin': 'business', 'baggage': 6, 'flight_info': 'F1 with 0 seats'}, {'reservation_id': 'res_3', 'user_id': 'u1', 'flight_no': 'F6', 'payment_method': 'cash', 'cabin': 'economy', 'baggage': 1, 'flight_info': 'F6 with 0 seats'}]",
    ]
    assert answers(box, walk) == walk
    assert box.saved() == bookings(
        0.0, 0.0, ("F1", "cash", "economy", 1), ("F1", "bank", "business", 6), ("F6", "cash", "economy", 1)
    )


def test_a_walk_through_changes_of_a_booking() -> None:
    box = travel(**FLIGHTS)
    walk = [
        "modify_flight(user_id='u2', reservation_id='res_1') -> Travel.modify_flight.no_reservation",
        "modify_flight(user_id='u1', reservation_id='res_2') -> Travel.modify_flight.no_reservation",
        "modify_flight(user_id='u1', reservation_id='res_1') -> Travel.modify_flight.nothing",
        "modify_flight(user_id='u1', reservation_id='res_1', new_flight_no='F1', new_cabin='economy') -> Travel.modify_flight.nothing",
        "modify_flight(user_id='u1', reservation_id='res_1', new_flight_no='F9') -> Travel.modify_flight.flight_invalid",
        "modify_flight(user_id='u1', reservation_id='res_1', new_flight_no='F2') -> Travel.modify_flight.flight_invalid",
        "modify_flight(user_id='u1', reservation_id='res_1', new_flight_no='F5', new_cabin='business', add_baggage=2) -> Travel.modify_flight.flight_changed paid 200 bags 50",
        "get_user_details(user_id='u1', password='pw') -> {'user_name': 'Ann', 'cash_balance': 750.0, 'bank_balance': 500.0, 'membership_level': 'regular'}",
        "modify_flight(user_id='u1', reservation_id='res_1', new_cabin='economy', new_payment_method='bank') -> back 200",
        "get_user_details(user_id='u1', password='pw') -> {'user_name': 'Ann', 'cash_balance': 750.0, 'bank_balance': 700.0, 'membership_level': 'regular'}",
        "modify_flight(user_id='u1', reservation_id='res_1', add_baggage=20, new_payment_method='bank') -> Travel.modify_flight.bag_short",
        "modify_flight(user_id='u1', reservation_id='res_1', add_baggage=1, new_payment_method='card') -> bags 1150",
        "modify_flight(user_id='u1', reservation_id='res_1', new_flight_no='F6', new_cabin='business') -> Travel.modify_flight.flight_changed paid 200",
        "modify_flight(user_id='u1', reservation_id='res_1', new_cabin='economy', new_payment_method='bank') -> Travel.modify_flight.cabin_short",
        "get_reservation_details(user_id='u1') -> [{'reservation_id': 'res_1', 'user_id': 'u1', 'flight_no': 'F6', 'payment_method': 'cash', 'cabin': 'economy', 'baggage': 24, 'flight_info': 'F6 with 1 seats'}]",
        "get_user_details(user_id='u1', password='pw') -> {'user_name': 'Ann', 'cash_balance': 550.0, 'bank_balance': 700.0, 'membership_level': 'regular'}",
    ]
    assert answers(box, walk) == walk
    assert box.saved() == bookings(550.0, 700.0, ("F6", "cash", "economy", 24))


def test_a_walk_through_cancellations() -> None:
    box = travel(**FLIGHTS)
    walk = [
        "cancel_reservation(user_id='u2', reservation_id='res_1', reason='x') -> Travel.cancel_reservation.bad_user",
        "cancel_reservation(user_id='u1', reservation_id='res_2', reason='x') -> Travel.cancel_reservation.bad_reservation",
        "cancel_reservation(user_id='u1', reservation_id='res_1', reason='x') -> early 100",
        "get_user_details(user_id='u1', password='pw') -> {'user_name': 'Ann', 'cash_balance': 1100.0, 'bank_balance': 500.0, 'membership_level': 'regular'}",
        "cancel_reservation(user_id='u1', reservation_id='res_1', reason='storm') -> airline 100",
        "modify_flight(user_id='u1', reservation_id='res_1', new_flight_no='F5') -> Travel.modify_flight.flight_changed",
        "cancel_reservation(user_id='u1', reservation_id='res_1', reason='x') -> late 10.0 90.0",
        "get_user_details(user_id='u1', password='pw') -> {'user_name': 'Ann', 'cash_balance': 1290.0, 'bank_balance': 500.0, 'membership_level': 'regular'}",
        "modify_flight(user_id='u1', reservation_id='res_1', new_flight_no='F6') -> Travel.modify_flight.flight_changed",
        "cancel_reservation(user_id='u1', reservation_id='res_1', reason='x') -> early 1000",
        "modify_flight(user_id='u1', reservation_id='res_1', new_flight_no='F7') -> Travel.modify_flight.flight_changed",
        "cancel_reservation(user_id='u1', reservation_id='res_1', reason='storm') -> Travel.cancel_reservation.departed",
        "get_user_details(user_id='u1', password='pw') -> {'user_name': 'Ann', 'cash_balance': 2290.0, 'bank_balance': 500.0, 'membership_level': 'regular'}",
    ]
    assert answers(box, walk) == walk
    assert box.saved() == bookings(2290.0, 500.0, ("F7", "cash", "economy", 1))


def test_a_sentence_names_what_it_is_about() -> None:
    calls = {
        "MessageApi.get_latest_message_id.ok {message_id}": "get_latest_message_id()",
        "MessageApi.get_earliest_message_id.ok {message_id}": "get_earliest_message_id()",
        "MessageApi.send_message.ok {receiver_name}": "send_message(sender_name='Ann', receiver_name='Bob', message='Hi')",
        "MessageApi.delete_message.ok {message_id}": "delete_message(message_id=1)",
        "ReminderApi.view_reminder_by_title.none {title}": "view_reminder_by_title(title='T')",
        "ReminderApi.add_reminder.ok {title}": "add_reminder(title='T', description='D', time='8')",
        "ReminderApi.mark_as_notified.ok {reminder_id}": "mark_as_notified(reminder_id=2)",
        "ReminderApi.delete_reminder.ok {reminder_id}": "delete_reminder(reminder_id=2)",
        "FoodPlatform.add_food_delivery_order.not_logged_in {username}": "add_food_delivery_order(username='Ann', merchant_name='Teahouse', items=[])",
        "FoodPlatform.login_food_platform.ok {username}": "login_food_platform(username='Ann', password='pw')",
        "FoodPlatform.login_food_platform.already {username}": "login_food_platform(username='Ann', password='pw')",
        "FoodPlatform.add_food_delivery_order.bad_quantity {quantity} {product}": "add_food_delivery_order(username='Ann', merchant_name='Teahouse', items=[{'product': 'Tea', 'quantity': -1}])",
        "FoodPlatform.add_food_delivery_order.unknown_product {product} {merchant_name}": "add_food_delivery_order(username='Ann', merchant_name='Teahouse', items=[{'product': 'Cake'}])",
        "FoodPlatform.add_food_delivery_order.ok {merchant_name} {total_price}": "add_food_delivery_order(username='Ann', merchant_name='Teahouse', items=[{'product': 'Tea'}])",
        "FoodPlatform.get_products.unknown_merchant {merchant_name}": "get_products(merchant_name='Kiosk')",
    }
    texts = Texts({sentence.partition(" ")[0]: sentence for sentence in calls})
    box = Sandbox(replace(edition("zh"), texts=texts), PHONE, ON)
    said = [
        ast.literal_eval(line.partition(" -> ")[2])["message"] for line in answers(box, [*calls.values()])
    ]
    assert said == [
        "MessageApi.get_latest_message_id.ok 1",
        "MessageApi.get_earliest_message_id.ok 2",
        "MessageApi.send_message.ok Bob",
        "MessageApi.delete_message.ok 1",
        "ReminderApi.view_reminder_by_title.none T",
        "ReminderApi.add_reminder.ok T",
        "ReminderApi.mark_as_notified.ok 2",
        "ReminderApi.delete_reminder.ok 2",
        "FoodPlatform.add_food_delivery_order.not_logged_in Ann",
        "FoodPlatform.login_food_platform.ok Ann",
        "FoodPlatform.login_food_platform.already Ann",
        "FoodPlatform.add_food_delivery_order.bad_quantity -1 Tea",
        "FoodPlatform.add_food_delivery_order.unknown_product Cake Teahouse",
        "FoodPlatform.add_food_delivery_order.ok Teahouse 25.0",
        "FoodPlatform.get_products.unknown_merchant Kiosk",
    ]
