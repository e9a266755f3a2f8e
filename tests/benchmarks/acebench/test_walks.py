"""Long walks through the classes of ACEBench's sandbox: each call with its answer, and the state at the end."""

# ruff: noqa: E501 - each call stands on one line

import ast
from dataclasses import replace
from typing import Any

from benchmarks.acebench.sandbox_build import ON, PHONE, Texts, edition
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
