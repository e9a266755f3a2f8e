"""ACEBench's sandbox: what each tool checks, in which order, and what it changes."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.acebench.sandbox_build import AIRLINE, PHONE, TEXTS, edition, phone, travel, traveller
from wildtool.benchmarks.acebench.sandbox import Sandbox
from wildtool.benchmarks.acebench.sandbox.edition import read_edition
from wildtool.errors import DataError

# Instances and tools ---------------------------------------------------------------------------------


def test_a_tool_of_the_device_changes_every_phone_class():
    box = phone(wifi=False)
    box.call("turn_on_wifi", {})
    assert [box.state(name)["wifi"] for name in PHONE] == [True] * 4


def test_without_configuration_the_wifi_is_off_and_the_device_logged_in():
    state = Sandbox(edition(), PHONE, {"Baspi": {"wifi": True}}).state("BaseApi")
    assert (state["wifi"], state["logged_in"]) == (False, True)


def test_a_configuration_of_the_class_itself_is_overwritten_by_that_of_the_device():
    box = Sandbox(edition(), ("MessageApi",), {"MessageApi": {"wifi": True}, "BaseApi": {}})
    assert box.state("MessageApi")["wifi"] is False


def test_private_methods_and_attributes_are_no_tools():
    assert [phone().tools(name) for name in ("_by_time", "__init__", "inbox", "wifi")] == [[]] * 4


def test_only_the_chinese_edition_searches_reminders():
    assert (len(phone("en").tools("search_reminders")), len(phone("zh").tools("search_reminders"))) == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"x": 1}, "MessageApi.send_message() got an unexpected keyword argument 'x'"),
        (
            {"message": ""},
            "MessageApi.send_message() missing 2 required positional arguments: 'sender_name' and 'receiver_name'",
        ),
        (
            {},
            "MessageApi.send_message() missing 3 required positional arguments: "
            "'sender_name', 'receiver_name', and 'message'",
        ),
    ],
)
def test_wrong_arguments_are_refused_in_pythons_words(arguments: dict[str, object], error: str):
    with pytest.raises(TypeError) as raised:
        phone().call("send_message", arguments)
    assert str(raised.value) == error


def test_an_unknown_class_is_a_data_error():
    with pytest.raises(DataError, match="'Bank'"):
        Sandbox(edition(), ("Bank",), {})


def test_the_end_state_has_text_keys_as_json_stores_them():
    saved = phone().saved()
    assert list(saved[1]["MessageApi"]["inbox"]) == ["1", "2"]


def test_values_that_json_lacks_are_saved_as_text():
    box = phone()
    box.call(
        "add_reminder",
        {"title": b"x", "description": (1, 2j), "time": [{None: 1, 1.5: 2, True: 3, False: 4}]},
    )
    added = box.saved()[2]["ReminderApi"]["reminder_list"]["2"]
    assert (added["title"], added["description"], added["time"]) == (
        "b'x'",
        [1, "2j"],
        [{"null": 1, "1.5": 2, "true": 3, "false": 4}],
    )


def test_two_sandboxes_share_no_state():
    shared = edition()
    first, second = (Sandbox(shared, ("MessageApi",), {}) for _ in range(2))
    first.call("delete_message", {"message_id": 1})
    assert list(second.state("MessageApi")["inbox"]) == [1, 2]


def test_an_edition_is_read_from_the_data_folder(tmp_path: Path):
    (tmp_path / "sandbox_messages.json").write_text(json.dumps({"case": {"en": "Hi {name}", "zh": None}}))
    (tmp_path / "sandbox_initial_state_en.json").write_text(json.dumps({"MessageApi": {"inbox": {"1": {}}}}))
    read = read_edition(tmp_path, "en")
    assert (read.say("case", name="Ann"), read.fresh("MessageApi")) == ("Hi Ann", {"inbox": {1: {}}})


@pytest.mark.parametrize("content", ["[]", "{", None])
def test_a_data_folder_without_its_files_is_a_data_error(tmp_path: Path, content: str | None):
    if content:
        (tmp_path / "sandbox_messages.json").write_text(content)
    with pytest.raises(DataError, match="sandbox_messages"):
        read_edition(tmp_path, "en")


# Messages --------------------------------------------------------------------------------------------


def said(box: Sandbox, tool: str, **arguments: object) -> object:
    """The sentence that a call answers with."""
    value = box.call(tool, arguments)
    return value["message"] if isinstance(value, dict) and "message" in value else value


@pytest.mark.parametrize(
    ("config", "sender", "expected"),
    [
        ({"logged_in": False, "wifi": False}, "Ann", "not_logged_in"),
        ({"wifi": False}, "Nobody", "wifi_off"),
        ({}, "Nobody", "unknown_user"),
        ({}, "Ann", "ok"),
    ],
)
def test_sending_checks_login_then_wifi_then_people(config: dict[str, bool], sender: str, expected: str):
    answer = said(phone(**config), "send_message", sender_name=sender, receiver_name="Bob", message="x")
    assert answer == f"MessageApi.send_message.{expected}"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("MessageApi.delete_message", {"message_id": 1}),
        ("MessageApi.view_messages_between_users", {"sender_name": "Ann", "receiver_name": "Bob"}),
        ("MessageApi.get_all_message_times_with_ids", {}),
        ("MessageApi.get_latest_message_id", {}),
        ("MessageApi.get_earliest_message_id", {}),
        ("ReminderApi.view_reminder_by_title", {"title": "Shop"}),
        ("ReminderApi.add_reminder", {"title": "t", "description": "d", "time": "now"}),
        ("ReminderApi.delete_reminder", {"reminder_id": 1}),
    ],
)
def test_most_tools_of_the_phone_need_a_login(tool: str, arguments: dict[str, object]):
    box = phone(logged_in=False)
    assert said(box, tool.partition(".")[2], **arguments) == f"{tool}.not_logged_in"


def test_a_full_inbox_takes_no_message():
    box = phone()
    for _ in range(2):
        answer = said(box, "send_message", sender_name="Ann", receiver_name="Bob", message="x")
    assert answer == "MessageApi.send_message.full"


def test_queries_by_time_fail_once_a_message_was_sent():
    box = phone()
    assert box.call("get_latest_message_id", {})["message_id"] == 1
    assert box.call("get_earliest_message_id", {})["message_id"] == 2
    box.call("send_message", {"sender_name": "Ann", "receiver_name": "Bob", "message": "x"})
    with pytest.raises(KeyError, match="time"):
        box.call("get_latest_message_id", {})


@pytest.mark.parametrize(
    ("message_id", "case"), [("1", "unknown_id"), (1.0, "ok"), (True, "ok"), (9, "unknown_id")]
)
def test_messages_are_deleted_by_what_equals_their_number(message_id: object, case: str):
    assert said(phone(), "delete_message", message_id=message_id) == f"MessageApi.delete_message.{case}"


def test_messages_between_two_people_are_those_of_one_direction():
    found = phone().call("view_messages_between_users", {"sender_name": "Bob", "receiver_name": "Ann"})
    assert [entry["id"] for entry in found["messages"]] == [2]


def test_searching_messages_needs_no_login_and_ignores_case():
    found = phone(logged_in=False).call("search_messages", {"user_name": "Ann", "keyword": "LUNCH"})
    assert [entry["id"] for entry in found["messages"]] == [1]


# Reminders -------------------------------------------------------------------------------------------


def test_a_new_reminder_is_numbered_by_the_list_not_like_the_given_ones():
    box = phone()
    box.call("add_reminder", {"title": "t", "description": "d", "time": "now"})
    assert box.call("view_reminder_by_title", {"title": "t"})["reminder"]["reminder_id"] == 2
    assert (
        said(box, "add_reminder", title="t", description="d", time="now") == "ReminderApi.add_reminder.full"
    )


def test_reminders_are_deleted_by_their_key_not_their_number():
    box = phone()
    assert said(box, "delete_reminder", reminder_id=1001) == "ReminderApi.delete_reminder.unknown_id"
    assert said(box, "delete_reminder", reminder_id=1) == "ReminderApi.delete_reminder.ok"


def test_the_chinese_search_fails_on_every_hit():
    with pytest.raises(AttributeError, match="strftime"):
        phone("zh").call("search_reminders", {"keyword": "TEA"})


def test_a_reminder_can_be_marked_in_chinese():
    box = phone("zh")
    box.call("mark_as_notified", {"reminder_id": 1})
    assert box.call("view_all_reminders", {})["reminders"][0]["notified"] is True


# Food ------------------------------------------------------------------------------------------------


def shopper(lang: str = "en") -> Sandbox:
    box = phone("zh" if lang == "zh" else "en")
    box.call("login_food_platform", {"username": "Ann", "password": "pw"})
    return box


def order(box: Sandbox, *items: object) -> object:
    return said(box, "add_food_delivery_order", username="Ann", merchant_name="Teahouse", items=items)


@pytest.mark.parametrize(
    ("wifi", "username", "password", "case"),
    [
        (False, "Nobody", "bad", "wifi_off"),
        (True, "Nobody", "bad", "unknown_user"),
        (True, "Ann", "bad", "bad_password"),
        (True, "Ann", "pw", "ok"),
    ],
)
def test_the_food_login_checks_wifi_then_person_then_password(
    wifi: bool, username: str, password: str, case: str
):
    answer = said(phone(wifi=wifi), "login_food_platform", username=username, password=password)
    assert answer == f"FoodPlatform.login_food_platform.{case}"


def test_a_second_food_login_is_refused():
    answer = said(shopper(), "login_food_platform", username="Ann", password="pw")
    assert answer == "FoodPlatform.login_food_platform.already"


def test_an_order_needs_a_login():
    assert order(phone(), {"product": "Tea"}) == "FoodPlatform.add_food_delivery_order.not_logged_in"


@pytest.mark.parametrize(("lang", "case"), [("en", "ok"), ("zh", "balance")])
def test_only_the_english_edition_lets_an_order_cost_the_whole_balance(lang: str, case: str):
    answer = order(shopper(lang), {"product": "Tea", "quantity": 2})
    assert answer == f"FoodPlatform.add_food_delivery_order.{case}"


@pytest.mark.parametrize(
    ("item", "case"),
    [
        ({"product": "Tea", "quantity": "1"}, "bad_quantity"),
        ({"product": "Tea", "quantity": 0}, "bad_quantity"),
        ({"product": "Tea", "quantity": 1.0}, "bad_quantity"),
        ({"product": "Cake", "quantity": 0}, "bad_quantity"),
        ({"product": ["Tea"]}, "unknown_product"),
        ({"product": "Tea", "quantity": 3}, "balance"),
        ({"product": "Tea", "quantity": True}, "ok"),
        ({"product": "Tea"}, "ok"),
    ],
)
def test_an_item_needs_a_whole_quantity_then_a_known_product(item: dict[str, object], case: str):
    assert order(shopper(), item) == f"FoodPlatform.add_food_delivery_order.{case}"


def test_an_order_lowers_the_balance():
    box = shopper()
    order(box, {"product": "Tea"})
    assert box.call("check_balance", {"user_name": "Ann"}) == 25.0


def test_the_balance_of_a_stranger_is_zero():
    assert phone().call("check_balance", {"user_name": "Nobody"}) == 0.0


def test_orders_are_found_by_product_in_english_only():
    english, chinese = shopper("en"), shopper("zh")
    for box in (english, chinese):
        order(box, {"product": "Tea"})
        assert box.call("search_orders", {"keyword": "house"})["status"] is True
    assert english.call("search_orders", {"keyword": "TEA"})["status"] is True
    with pytest.raises(AttributeError, match="'dict' object"):
        chinese.call("search_orders", {"keyword": "cake"})


# Travel ----------------------------------------------------------------------------------------------


def reserve(box: Sandbox, **changed: object) -> object:
    booking = {
        "user_id": "u1",
        "password": "pw",
        "flight_no": "F1",
        "cabin": "economy",
        "payment_method": "cash",
        "baggage_count": 1,
    }
    return box.call("reserve_flight", booking | changed)


def modify(box: Sandbox, **changes: object) -> object:
    return box.call("modify_flight", {"user_id": "u1", "reservation_id": "res_1"} | changes)


def test_a_bag_above_the_allowance_costs_fifty():
    assert reserve(travel(), baggage_count=3) == "res_2 200"


def test_the_allowance_follows_level_and_cabin_and_a_change_of_nothing_says_so():
    box = travel()
    assert [
        [
            box.call("get_baggage_allowance", {"membership_level": level, "cabin_class": cabin})
            for cabin in ("economy", "business", "first")
        ]
        for level in ("regular", "silver", "gold", "none")
    ] == [[1, 2, 0], [2, 3, 0], [3, 3, 0], [0, 0, 0]]
    assert modify(box) == "Travel.modify_flight.nothing"


def test_a_booking_takes_a_seat_even_where_none_is_left():
    box = travel()
    for _ in range(2):
        reserve(box)
    assert box.state("Travel")["flights"][0]["seats_available"] == -1


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"flight_no": "F9", "password": "bad"}, "'NoneType' object is not subscriptable"),
        ({"password": "bad"}, "'membership_level'"),
        ({"cabin": "first"}, "'first'"),
    ],
)
def test_a_booking_that_cannot_be_raises(changed: dict[str, str], error: str):
    with pytest.raises((TypeError, KeyError)) as raised:
        reserve(travel(), **changed)
    assert str(raised.value) == error


@pytest.mark.parametrize(("method", "case"), [("card", "bad_payment"), ("bank", "bank_short")])
def test_a_booking_is_paid_by_cash_or_bank(method: str, case: str):
    answer = reserve(travel(), payment_method=method, cabin="business", baggage_count=10)
    assert answer == f"Travel.reserve_flight.{case}"


def test_a_cabin_stays_changed_where_its_payment_fails():
    box = travel(F2={"business_price": 9000})
    reserve(box, flight_no="F2")
    changed = box.call("modify_flight", {"user_id": "u1", "reservation_id": "res_2", "new_cabin": "business"})
    assert changed == "Travel.modify_flight.cabin_short"
    assert box.state("Travel")["reservations"][1]["cabin"] == "business"


def test_a_cabin_change_is_priced_by_the_old_flight():
    box = travel(F2={"business_price": 9000})
    answer = modify(box, new_flight_no="F2", new_cabin="business")
    assert answer == "Travel.modify_flight.flight_changed paid 200"


def test_a_cabin_of_the_same_price_costs_nothing():
    told = {101: "paid 1", 100: "Travel.modify_flight.nothing", 99: "back 1"}
    for price, answer in told.items():
        box = travel(F2={"business_price": price})
        reserve(box, flight_no="F2")
        assert (
            box.call("modify_flight", {"user_id": "u1", "reservation_id": "res_2", "new_cabin": "business"})
            == answer
        )


def test_a_flight_is_changed_only_on_the_same_route():
    assert (
        modify(travel(F2={"destination": "C"}), new_flight_no="F2") == "Travel.modify_flight.flight_invalid"
    )


def test_bags_already_paid_for_are_charged_again():
    box = travel()
    assert modify(box, add_baggage=2) == "bags 100"
    assert modify(box, add_baggage=1) == "bags 150"


def test_an_unknown_payment_method_pays_nothing():
    box = travel()
    modify(box, add_baggage=2, new_payment_method="shells")
    assert box.state("Travel")["users"]["u1"] == traveller()


@pytest.mark.parametrize(
    ("departure", "reason", "answer"),
    [
        ("2024-07-16 08:00:00", "ill", "early 100"),
        ("2024-07-15 06:00:00", "ill", "late 10.0 90.0"),
        ("2024-07-15 06:00:01", "ill", "early 100"),
        ("2024-07-15 06:00:00", TEXTS[AIRLINE], "airline 100"),
        ("2024-07-14 06:00:00", "ill", "late 10.0 90.0"),
        ("2024-07-14 05:59:59", "ill", "Travel.cancel_reservation.departed"),
    ],
)
def test_a_cancellation_is_free_a_day_ahead_or_if_the_airline_cancels(
    departure: str, reason: str, answer: str
):
    box = travel()
    box.state("Travel")["flights"][0]["depart_time"] = departure
    cancelled = box.call("cancel_reservation", {"user_id": "u1", "reservation_id": "res_1", "reason": reason})
    assert cancelled == answer


def test_a_transfer_departs_after_the_first_arrival():
    later = {"origin": "B", "destination": "C", "depart_time": "2024-07-16 10:00:01"}
    box = travel(F2=later, F3=later | {"depart_time": "2024-07-16 10:00:00"}, F4=later | {"status": "full"})
    cities = {"origin_city": "A", "transfer_city": "B", "destination_city": "C"}
    assert [pair["second_leg"]["flight_no"] for pair in box.call("find_transfer_flights", cities)] == ["F2"]


def test_a_later_booking_shows_in_the_legs_of_a_transfer_but_not_in_flight_details():
    box = travel(F2={"origin": "B", "destination": "C", "depart_time": "2024-07-17 08:00:00"})
    details = box.call("get_flight_details", {"origin": "A"})
    cities = {"origin_city": "A", "transfer_city": "B", "destination_city": "C"}
    transfer = box.call("find_transfer_flights", cities)
    reserve(box)
    assert (details[0]["seats_available"], transfer[0]["first_leg"]["seats_available"]) == (1, 0)


def test_flights_are_found_by_what_is_given():
    box = travel(F2={"destination": "C"})
    found = [box.call("get_flight_details", given) for given in ({}, {"destination": "C"}, {"origin": "C"})]
    assert [len(found[0]), len(found[1]), found[2]] == [2, 1, "Travel.get_flight_details.none"]


def test_a_reservation_of_a_flight_that_does_not_exist_is_shown_without_one():
    box = travel()
    box.state("Travel")["reservations"][0]["flight_no"] = "F9"
    assert box.call("get_reservation_details", {"user_id": "u1"})[0]["flight_info"] is None
    booking = {"user_id": "u1", "reservation_id": "res_1"}
    assert (
        box.call("modify_flight", {**booking, "add_baggage": 1}) == "Travel.modify_flight.no_current_flight"
    )
    assert (
        box.call("cancel_reservation", {**booking, "reason": "ill"}) == "Travel.cancel_reservation.no_flight"
    )


def test_user_details_come_without_password():
    assert "password" not in travel().call("get_user_details", {"user_id": "u1", "password": "pw"})


@given(st.integers(0, 6), st.integers(1, 6), st.sampled_from(["regular", "silver", "gold"]))
def test_bags_that_cost_nothing_are_not_told_of(had: int, added: int, level: str):
    box = travel()
    (booked,) = box.state("Travel")["reservations"]
    booked["baggage"] = had
    box.state("Travel")["users"]["u1"] |= {"membership_level": level, "cash_balance": 1000.0}
    free = {"regular": 1, "silver": 2, "gold": 3}[level]
    cost = max(had + added - free, 0) * 50
    answer = modify(box, add_baggage=added)
    assert answer == (f"bags {cost}" if cost else "Travel.modify_flight.nothing")
    assert booked["baggage"] == had + added
    assert box.state("Travel")["users"]["u1"]["cash_balance"] == 1000.0 - cost


@pytest.mark.parametrize(("bags", "fee"), [(1, "0"), (1.0, "0.0"), (3.0, "100.0"), (True, "0")])
def test_a_fee_keeps_the_kind_of_the_number_of_bags(bags: float, fee: str):
    box = travel()
    arguments = {"membership_level": "regular", "cabin_class": "economy", "baggage_count": bags}
    assert str(box.call("calculate_baggage_fee", arguments)) == fee
