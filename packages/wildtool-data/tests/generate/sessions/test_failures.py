"""How models fail at texts: refusals, other languages, loops, values from nowhere."""

import time
from decimal import Decimal
from typing import Any

import pytest

from wildtool.benchmarks.wildtoolbench.grounding import SearchText
from wildtool.findings import Finding
from wildtool_data.make.sessions.rules.failures import (
    MAX_ANSWER_CHARACTERS,
    _follows,  # pyright: ignore[reportPrivateUsage]
    loop_faults,
)
from wildtool_data.make.sessions.rules.texts import answer_faults, question_faults, user_faults

RESULT = {
    "rooms": [{"id": "rm_17", "name": "Sea", "price": 90.5}, {"id": "rm_24", "name": "Garden", "price": 60}],
    "phone": "+47 555 01 99",
    "mail": "desk@harbour.example",
}
BOTH = "Sea (rm_17) and Garden (rm_24) are free"
REQUEST = SearchText.of("A room for 3 nights from 2024-05-17, below 400 in all?")


def rules(faults: Any) -> set[str]:
    found: list[Finding] = list(faults)
    return {finding.rule for finding in found if finding.level == "error"}


def answer(text: str, lang: Any = "en", results: Any = (RESULT,)) -> set[str]:
    return rules(answer_faults(text, results, [REQUEST], lang))


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("I cannot help you with booking rooms.", "en"),
        ("I'm sorry, but I can't access live data.", "en"),
        ("Sorry, I am unable to do that.", "en"),
        ("Unfortunately I don't have access to the booking system.", "en"),
        ("As an AI language model I have no calendar.", "en"),
        ("I’m sorry, but that is a request I cannot comply with.", "en"),
        ("抱歉，我无法帮您预订房间。", "zh"),
        ("对不起，这个请求我不能完成。", "zh"),
        ("我不能提供此类信息。", "zh"),
        ("作为一个人工智能，我没有日历。", "zh"),
        ("很抱歉，目前无法处理您的请求。", "zh"),
    ],
)
def test_a_refusal_is_no_answer(text: str, lang: Any):
    assert "A7" in rules(answer_faults(text, [], [], lang))
    assert "A7" in rules(question_faults(text, [], lang))


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("I can't find a free room on that day, sorry.", "en"),
        ("The booking cannot be changed after Friday.", "en"),
        ("Your room is booked. Unfortunately breakfast is not included.", "en"),
        ("Sorry for the wait! Which day would you like to come?", "en"),
        ("抱歉，我没有找到空房。", "zh"),
        ("这个订单不能退款，请您确认。", "zh"),
    ],
)
def test_bad_news_is_no_refusal(text: str, lang: Any):
    assert rules(answer_faults(text, [], [], lang)) == set()


def test_a_user_who_refuses_the_role_is_refused_and_one_who_complains_is_not():
    for text, lang in (
        ("I'm sorry, but I can't assist with generating such requests.", "en"),
        ("As an AI model I cannot ask for rooms.", "en"),
        ("抱歉，我无法协助生成这样的请求。", "zh"),
    ):
        assert "A7" in rules(user_faults(text, [], lang))
    for text, lang in (
        ("Sorry, I can't find my booking, which one was it?", "en"),
        ("I can't come on Friday, move it to Sunday.", "en"),
        ("不好意思，我周五不能来，请改到周日。", "zh"),
    ):
        assert rules(user_faults(text, [], lang)) == set()


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("Votre chambre est réservée pour trois nuits avec le petit déjeuner dans la salle.", "en"),
        ("La habitación está reservada para tres noches con el desayuno en la sala.", "en"),
        ("Ihr Zimmer ist für drei Nächte gebucht und das Frühstück ist mit dabei.", "en"),
        ("Ваш номер забронирован на три ночи.", "en"),
        ("お部屋を予約しました。", "en"),
        ("Your room is booked for three nights.", "zh"),
        ("お部屋を三泊で予約しました。ありがとうございます。", "zh"),
    ],
)
def test_an_answer_in_another_language_is_refused(text: str, lang: Any):
    assert rules(answer_faults(text, [], [], lang)) == {"A8"}


def test_names_of_other_languages_are_fine():
    assert (
        answer("The film “La vita è bella” by Benigni is on at the Café de Paris tonight.", "en", []) == set()
    )
    assert answer("已为您预订 Sea Garden Hotel 的房间。", "zh", []) == set()


def test_an_endless_answer_is_refused():
    text = " ".join(f"Point {chr(97 + k % 26)}{k} is done." for k in range(600))
    assert len(text) > MAX_ANSWER_CHARACTERS
    assert rules(answer_faults(text, [], [], "en")) == {"A9"}


@pytest.mark.parametrize(
    "text",
    [
        "The room is free. " * 6,
        "Your room " + "is booked and " * 10,
        "very " * 15,
        "房间已经预订好了。" * 5,
        "哈" * 20,
        f"{'All is well today. One more. ' * 3}All is well today. And that is it, as I said to you.",
        "First. All is well today. Second. All is well today. Third. All is well today. All is well today.",
    ],
)
def test_a_text_in_a_loop_is_refused(text: str):
    assert rules(loop_faults(text)) == {"A10"}


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"- Room {k}: free, 2 beds\n" for k in range(101, 130)),
        "| a | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |",
        "No, no, no! That is very, very good.",
        "哈哈哈，太好了。",
        f"{'All is well today. One more. ' * 3}All is well today. And that is it, as I said to you before.",
    ],
)
def test_lists_and_tables_are_no_loops(text: str):
    assert rules(loop_faults(text)) == set()


def test_loops_are_looked_for_in_linear_time():
    start = time.process_time()
    for text in ("a" * 10_000, "1 " * 5_000, "好" * 10_000, "a b " * 2_500, "a.b+" * 2_500, "1,." * 3_300):
        answer(text)
        list(user_faults(text, [], "en"))
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "text",
    [
        f"{BOTH}; Garden costs 8351 a night.",
        f"{BOTH}. Your booking is rm_99.",
        f"{BOTH}. Write to info@harbour.example.",
        f"{BOTH}. See https://harbour.example/book.",
        f"{BOTH}. Call +47 555 02 88.",
        f"{BOTH}. Your code is ABX-4821.",
    ],
)
def test_a_value_from_nowhere_is_refused(text: str):
    assert answer(text) == {"A11"}


@pytest.mark.parametrize(
    "text",
    [
        f"{BOTH}: 90.50 and 60.00 a night, 271.5 and 180 for 3 nights.",
        f"{BOTH}. Together they cost 150.50; Garden is 30.50 cheaper, two thirds (66 %) of Sea.",
        f"{BOTH} from 17 May 2024 to 20 May.",
        f"{BOTH}. Call 5550199 or write to desk@harbour.example.",
        f"{BOTH}. With Sea 128.5 are left of your 400.",
        f"Two rooms: {BOTH}. Breakfast at 7:30.",
    ],
)
def test_what_follows_from_results_and_requests_is_faithful(text: str):
    assert answer(text) == set()


def test_without_results_general_knowledge_is_fine():
    assert answer("Mount Everest is 8,849 m high.", "en", []) == set()


@pytest.mark.parametrize(
    ("number", "operands", "follows"),
    [
        *(("40000", [other], near) for other, near in ((39997.4, False), (39999.6, True), (40000.4, True))),
        *(("40000.0", [other], near) for other, near in ((39999.96, True), (40000.04, True), (40000.06, False))),
        *((total, [40000.3, 170000.3], near) for total, near in (("210001", True), ("210002", False), ("210000", False))),
        *((total, [40000.2, 170000.2], near) for total, near in (("210000", True), ("210003", False))),
        *((left, [40000.2, 170000.3], near) for left, near in (("130000", True), ("130002", False))),
        *((left, [40000.3, 170000.2], near) for left, near in (("130000", True), ("129998", False))),
        *((product, [312.7, 517.3], near) for product, near in (("161760", True), ("161763", False))),
        *((product, [312.7, 517.1], near) for product, near in (("161697", True), ("161700", False))),
        *(("517.3", [312.7, other], near) for other, near in ((161760.0, True), (161750.0, True), (161700.0, False))),
        *(("66", [90500.0, other], near) for other, near in ((60000.0, True), (59500.0, True), (59000.0, False))),
        ("3600", [], False),
        ("0", [0.0], True),
    ],
)  # fmt: skip
def test_a_number_follows_from_others_as_it_is_rounded(number: str, operands: list[float], follows: bool):
    assert _follows(Decimal(number), sorted(operands)) is follows
    assert _follows(-Decimal(number), sorted(operands)) is follows
