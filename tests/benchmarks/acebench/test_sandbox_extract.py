"""The sandbox's tables read from Python classes: literals and sentences by their place, and no code is run."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.acebench.upstream import python_files
from wildtool.benchmarks.acebench.sandbox.extract import (
    extract_sentences,
    extract_state,
    find_sentences,
)
from wildtool.benchmarks.acebench.source import read_tables
from wildtool.data.prompt_files import digest_of
from wildtool.errors import DataError


def sentences(method: str) -> dict[str, Any]:
    """What is said by the cases of one method of a class, given as Python source."""
    return {case: text for case, text in extract_sentences({"travel.py": method}).items() if text is not None}


# Sentences -------------------------------------------------------------------------------------------


def test_the_sentences_of_a_method_are_its_cases_in_the_order_of_the_file() -> None:
    source = '''
class MessageApi:
    def delete_message(self, message_id):
        """Removes it: not a sentence."""
        if self.logged_in == False:
            return {"status": False, "message": "locked"}
        if message_id not in self.inbox:
            return {"status": False, "message": "unknown"}
        return {"status": True, "message": f"removed {message_id}."}
'''
    assert sentences(source) == {
        "MessageApi.delete_message.not_logged_in": "locked",
        "MessageApi.delete_message.unknown_id": "unknown",
        "MessageApi.delete_message.ok": "removed {message_id}.",
    }


def test_returned_collected_and_printed_texts_and_reasons_are_sentences() -> None:
    source = """
class Travel:
    def cancel_reservation(self, user_id, reservation_id, reason):
        notes = []
        if not user_id:
            return "a"
        if not flight["flight_no"]:
            return f"b"
        notes.append("c")
        print(f"d {user['user_name']}")
        if reason == "e":
            return f"f {amount}"
        elif reservation["cabin"] == "no sentence":
            return (
                "g"
            )
        notes.append({"no": "sentence"})
        return "h"
"""
    assert list(sentences(source).values()) == ["a", "b", "c", "d {user_name}", "e", "f {amount}", "g", "h"]


def test_messages_that_are_values_are_no_sentences() -> None:
    source = """
class MessageApi:
    def search_messages(self, user_name, keyword):
        if user_name not in self.user_list:
            return {"status": False, "message": "who?"}
        found = [{"id": i, "message": m["message"]} for i, m in self.inbox.items() if keyword in m["message"]]
        found.append({"message": m["message"], "text": keyword.lower()})
        return {"status": False, "message": "none"} if not found else {"status": True, "messages": found}
"""
    assert list(sentences(source).values()) == ["who?", "none"]


def test_blanks_are_named_by_what_they_stand_for() -> None:
    source = """
class MessageApi:
    def get_latest_message_id(self):
        if not self.logged_in:
            return {"message": "a"}
        if not self.inbox:
            return {"message": "b"}
        return {"message": f"c {latest_message_id}", "message_id": latest_message_id}
"""
    assert sentences(source)["MessageApi.get_latest_message_id.ok"] == "c {message_id}"


def test_a_method_that_a_language_lacks_has_no_sentences() -> None:
    assert (
        extract_sentences({"travel.py": "class ReminderApi: pass"})["ReminderApi.mark_as_notified.ok"] is None
    )


def test_another_number_of_sentences_than_cases_is_an_error() -> None:
    source = """
class BaseApi:
    def login_device(self):
        return {"message": "a"} if self.x else {"message": "b"}
"""
    with pytest.raises(DataError, match=r"BaseApi\.login_device: expected 1 sentences, found 2"):
        extract_sentences({"travel.py": source})


def test_the_cabin_names_are_those_of_the_allowances() -> None:
    source = """
class Travel:
    def get_baggage_allowance(self, level, cabin):
        table = {"low": {"bench": 1, "sofa": 2}, "high": {"bench": 2, "sofa": 3}}
        return table.get(level, {}).get(cabin, 0)
"""
    assert sentences(source) == {"Travel.cabin_names": ["bench", "sofa"]}


def test_a_function_that_handles_calls_says_its_only_text_of_several_words() -> None:
    source = '''
class Runner:
    def respond(self, history):
        """Not this one, a docstring."""
        results.append(f"it went wrong: {str(e)}")
        current["sender"] = "one word"
        name = f"{model.replace('-', '_').replace('.', '_')}_{number}_{owner.lower()}_x"

    def other(self):
        return "the words of another function"
'''
    assert find_sentences(source, "respond", "runner.py") == ["it went wrong: {exception}"]


# State -----------------------------------------------------------------------------------------------


def test_the_state_is_what_the_constructor_sets_and_the_loader_takes_by_default() -> None:
    source = """
class Shop(Base):
    def __init__(self):
        '''Sets it up.'''
        super().__init__()
        self.most = 6
        self.users: Dict[str, float] = {"Ann": {"balance": 5.0}}
        self.wifi = None

    def _load_scenario(self, scenario: dict, long_context=False) -> None:
        self.wifi = scenario.get("wifi", False)
        self.logged = scenario.get("logged", [])
"""
    assert extract_state({"travel.py": source}) == {
        "Shop": {"most": 6, "users": {"Ann": {"balance": 5.0}}, "wifi": False, "logged": []}
    }


def test_integer_keys_become_texts_as_in_json_files() -> None:
    assert extract_state({"travel.py": "class A:\n def __init__(self):\n  self.box = {1: 'x'}"}) == {
        "A": {"box": {"1": "x"}}
    }


@pytest.mark.parametrize("value", ["open('x')", "__import__('os').system('true')", "1 if x else 2", "f'{x}'"])
def test_a_value_that_is_no_literal_is_an_error_and_never_run(value: str) -> None:
    with pytest.raises(DataError, match=r"A\.x: expected a literal"):
        extract_state({"travel.py": f"class A:\n def __init__(self):\n  self.x = {value}"})


def test_code_outside_and_inside_classes_is_not_run(tmp_path: Path) -> None:
    trap = f"open({str(tmp_path / 'ran')!r}, 'w')"
    source = f"""
{trap}
class BaseApi:
    {trap}
    def turn_on_wifi(self, x={trap}):
        {trap}
        return {{"message": "on"}}
{trap}
"""
    assert sentences(source) == {"BaseApi.turn_on_wifi.ok": "on"}
    assert extract_state({"travel.py": source}) == {"BaseApi": {}}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("source", ["def f(:", "x\0y", "(" * 10_000, "-" * 100_000 + "1", "#" * 1_000_000])
def test_what_is_no_python_is_a_data_error(source: str) -> None:
    with pytest.raises(DataError, match="not a Python file"):
        extract_sentences({"travel.py": source})
    with pytest.raises(DataError, match="not a Python file"):
        extract_state({"travel.py": source})


# The official tables ---------------------------------------------------------------------------------


def test_from_code_that_says_the_official_sentences_the_official_tables_are_read(official: Path) -> None:
    tables = read_tables(python_files(official).__getitem__)
    assert tables == {name: json.loads((official / name).read_text("utf-8")) for name in tables}
    assert len(tables) == 3


def test_the_digest_of_a_table_does_not_depend_on_spacing_or_order() -> None:
    assert digest_of(json.loads('{"b": 1, "a": "é"}')) == digest_of({"a": "é", "b": 1})
    assert digest_of({"a": 1}) != digest_of({"a": 1.0})


# Doctored files ------------------------------------------------------------------------------------

VALUES = (
    "b'x'",
    "2j",
    "{1, 2}",
    "{(1, 2): 3}",
    "{[]: 1}",
    "{**x}",
    "...",
    "1e999",
    "'\\ud800'",
    "9" * 5_000,
    "x",
    "f()",
    "scenario.get('x', b'x')",
    "scenario.get('x', *y)",
    "[" * 59 + "]" * 59,
    "-" * 3_000 + "1",
    "lambda: 1",
    "yield",
    "+".join(["'a'"] * 3_000),
    "f'{x!r:>{y}}'",
    "(x := 1)",
    "[x for x in y]",
    "not 1",
    "'a' * 9",
    "0x" + "f" * 9_000,
)
_LITERALS = ("1e999", "'\\ud800'", "[" * 59 + "]" * 59)
"""Those of them that are Python literals all the same."""
SAID = (
    *VALUES,
    "'one'",
    "f'two {x}'",
    "f'{f()}'",
    "{'message': 'three'}",
    "{'message': {'message': 'x'}}",
    "print('four')",
)


def check_named(source: str) -> None:
    """What comes of a file: tables that JSON holds, or an error that names it."""
    for extract in (extract_state, extract_sentences):
        try:
            json.dumps(extract({"travel.py": source}))
        except DataError as error:
            assert str(error).startswith("travel.py: ")
    try:
        find_sentences(source, "send_message", "travel.py")
    except DataError as error:
        assert str(error).startswith("travel.py: send_message: ")


@pytest.mark.parametrize("value", VALUES)
def test_a_value_that_json_does_not_hold_is_named_with_file_and_attribute(value: str) -> None:
    source = f"class MessageApi:\n    def __init__(self, scenario):\n        self.inbox = {value}"
    if value in _LITERALS:
        assert extract_state({"message.py": source})
    else:
        with pytest.raises(DataError, match=r"^message\.py: (MessageApi\.inbox: |not a Python file)"):
            extract_state({"message.py": source})
    check_named(source)


PLACES = (("MessageApi", "__init__"), ("MessageApi", "send_message"), ("Travel", "get_baggage_allowance"))
FORMS = ("self.x = {}", "return {}", "{}", "if {}: pass", "reason == {}")


@given(st.lists(st.tuples(st.sampled_from(FORMS), st.sampled_from(SAID)), max_size=6))
def test_a_doctored_class_gives_tables_or_an_error_that_names_its_file(body: list[tuple[str, str]]) -> None:
    lines = [form.format(value) for form, value in body] or ["pass"]
    for owner, method in PLACES:
        check_named(f"class {owner}:\n    def {method}(self):\n        " + "\n        ".join(lines))


@given(st.integers(0, 2_000), st.integers(0, 60), st.text(max_size=20))
def test_a_file_with_any_part_replaced_gives_tables_or_an_error_that_names_it(
    at: int, cut: int, put: str
) -> None:
    check_named(SOURCE[:at] + put + SOURCE[at + cut :])


@pytest.mark.parametrize(
    "source",
    [
        "(" * 50_000,
        "f(" * 90,
        "{" * 61,
        "with (" * 61 + "x" + ")" * 61,
        "x = " + "-" * 150_000 + "1",
        "if x:\n" + " " * 199_990,
        "class A:" * 20_000,
        "\x00",
        "a = '" + "x" * 300_000 + "'",
    ],
)
def test_a_file_of_any_length_and_depth_is_refused_at_once(source: str) -> None:
    with pytest.raises(DataError, match=r"^travel\.py: not a Python file"):
        extract_state({"travel.py": source})


SOURCE = """
class MessageApi(BaseApi):
    def __init__(self):
        super().__init__()
        self.max_capacity = 6
        self.inbox = {1: {"sender_id": "A", "message": "x"}}

    def _load_scenario(self, scenario):
        self.wifi = scenario.get("wifi", False)

    def send_message(self, sender_name, receiver_name, message):
        if not self.logged_in:
            return {"status": False, "message": "locked"}
        if not self.wifi:
            return {"status": False, "message": "no wifi"}
        if len(self.inbox) >= self.max_capacity:
            return {"status": False, "message": f"full with {len(self.inbox)}"}
        if sender_name not in self.users:
            return {"status": False, "message": "unknown"}
        return {"status": True, "message": f"sent to {receiver_name}."}
"""
