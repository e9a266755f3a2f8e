"""A gold argument is grounded where a reader can find its value, and nowhere else."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.benchmarks.wildtoolbench.grounding import SearchText, names_value, normalize_text
from wildtool.benchmarks.wildtoolbench.lint import lint_records
from wildtool.toolcall.text.numerals import numbers_in

X = "english_answer_list"


def ungrounded(
    *tasks: tuple[str, list[dict[str, Any]]], schema: dict[str, Any] | None = None
) -> dict[str, str]:
    """Path below the answer list and message of each grounding finding of a session with these tasks."""
    parameter = {"type": "string", "description": "A value."} if schema is None else schema
    record: dict[str, Any] = {
        "id": "s",
        "english_env_info": "2025-03-14 09:26:00 Friday",
        "english_tools": [
            {
                "type": "function",
                "function": {
                    "name": "f",
                    "description": "Does it.",
                    "parameters": {"type": "object", "properties": {"x": parameter}},
                },
            }
        ],
        "english_tasks": [text for text, _ in tasks],
        "english_answer_list": [nodes for _, nodes in tasks],
        "english_task_types": ["Chat"] * len(tasks),
        "english_turn_subtypes": ["Partial Information"] * (len(tasks) - 1),
    }
    found = [finding for finding in lint_records([(1, record)], "x.jsonl") if finding.rule == "grounding"]
    return {finding.where.split(f"{X}", 1)[1]: finding.message for finding in found}


def call(x: Any, *needs: int, result: Any = "ok", **more: Any) -> dict[str, Any]:
    action = {"name": "f", "arguments": {"x": x}}
    return {"action": action, "observation": result, "dependency_list": list(needs), **more}


def ask(question: str, reply: str, *needs: int) -> dict[str, Any]:
    arguments = {"tool_name": "f", "missing_required_parameters": ["x"]}
    action = {"name": "ask_user_for_required_parameters", "arguments": arguments}
    return {"action": action, "observation": question, "user_input": reply, "dependency_list": list(needs)}


def answer(text: str, *needs: int) -> dict[str, Any]:
    action = {"name": "prepare_to_answer", "arguments": {"answer_type": "tool"}}
    return {"action": action, "observation": text, "dependency_list": list(needs)}


def grounded(text: str, x: Any, **schema: Any) -> bool:
    """Whether a value is grounded by one user text."""
    parameter = {"type": "string", "description": "A value."} | schema
    return not ungrounded((text, [call(x), answer("Done.", 0)]), schema=parameter)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("fly me to New York pls", "New York"),
        ("to NEW  york", "New York"),
        ("status in progress", "in_progress"),
        ("add two apples", "apple"),
        ("note: “call mum”!", "call mum."),
        ("帮我查一下北京的天气", "北京"),
        ("去Paris玩", "Paris"),
        ("on 2025-04-01 at 09:30", "2025-04-01 09:30"),
        ("ids A-17 and B-20", "A-17,B-20"),
        ("room 1,200 please", "1200"),
    ],
)
def test_a_text_is_found_whatever_its_case_spacing_and_underscores(text: str, value: str):
    assert grounded(text, value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("fly me to York", "New York"),
        ("category", "cat"),
        ("room 12", "room 1"),
        ("A-170", "A-17"),
        ("tomorrow", "2025-03-15"),
        ("ids A-17", "A-17,B-20"),
        ("anything", ""),
    ],
)
def test_a_part_of_a_word_or_an_inference_is_no_source(text: str, value: str):
    assert not grounded(text, value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("make it 47.23", 47.23),
        ("make it 47,23", 47.23),
        ("1,200 steps", 1200),
        ("1.200 Schritte", 1200),
        ("save 3k", 3000),
        ("1.5 million", 1_500_000),
        ("tip 15%", 0.15),
        ("it was -5 outside", -5),
        ("it was minus 5 outside", -5),
        ("twelve eggs", 12),
        ("twenty-five of them", 25),
        ("two hundred", 200),
        ("half of it", 0.5),
        ("the second one", 2),
        ("三个人", 3),
        ("三十五块", 35),
        ("两百五", 250),
        ("一万二", 12_000),
        ("3万", 30_000),
        ("，6只", 6),
        ("run 5km", 5),
        ("on 14.03.2025", 14),
        ("5 pieces", 5.0),
    ],
)
def test_a_number_is_found_in_every_form(text: str, value: float):
    assert grounded(text, value, type="float")


@pytest.mark.parametrize(
    ("text", "value"),
    [("47.23", 47), ("47.23", 23), ("room A12", 12), ("v1.2.3", 2), ("12", 1), ("1200", 200)],
)
def test_a_part_of_a_number_or_an_identifier_is_no_source(text: str, value: int):
    assert not grounded(text, value, type="integer")


def test_numbers_of_absurd_length_are_not_read():
    assert numbers_in("9" * 2_000_000) == frozenset()


def test_a_boolean_is_named_by_a_word_of_its_parameter():
    words = {"type": "boolean", "description": "Whether to send a reminder."}
    assert grounded("and remind me", True, **words)
    assert grounded("yes", True, **words)
    assert not grounded("book it", True, **words)
    assert grounded("请提醒我", True, type="boolean", description="提醒用户")
    assert not grounded("请用吧", True, type="boolean", description="提醒用户")
    # Any two signs in a row are a word, and of words the first five letters.
    assert grounded("提醒我", True, type="boolean", description="请用户提醒")
    assert grounded("start planning", True, type="boolean", description="Planned ones.")
    assert not grounded("a plane", True, type="boolean", description="Planned ones.")
    # In a list it has the name of the list.
    flags = {"type": "object", "properties": {"remind": {"type": "array", "items": {"type": "boolean"}}}}
    assert grounded("and remind me", {"remind": [True]}, **flags)
    assert not grounded("book it", {"remind": [True]}, **flags)


@pytest.mark.parametrize(
    "schema",
    [
        {"default": "pdf"},
        {"description": "Format. The default is 'pdf'."},
        {"description": "格式，默认为 pdf。"},
    ],
)
def test_a_documented_default_is_a_source(schema: dict[str, Any]):
    assert grounded("get it", "pdf", **schema)
    assert not grounded("get it", "txt", **schema)


def test_the_date_line_is_a_source():
    assert grounded("for today", "2025-03-14")
    assert grounded("this weekday", "Friday")


def test_history_is_a_source():
    first = ("one Rome", [call("Rome", result={"id": "R-1"}), answer("It is sunny.", 0)])
    for x in ("Rome", "R-1", "sunny"):
        assert ungrounded(first, ("two", [call(x), answer("Done.", 0)])) == {}


def test_a_later_task_is_no_source():
    second = ("now R-1", [answer("Yes.")])
    assert list(ungrounded(("get it", [call("R-1"), answer("Done.", 0)]), second)) == ["[0][0].arguments.x"]


def test_the_answer_to_the_current_task_is_no_source():
    assert list(ungrounded(("get it", [call("R-1"), answer("R-1 it is.", 0)]))) == ["[0][0].arguments.x"]


def test_a_reply_and_its_question_are_sources_for_what_depends_on_them():
    for x in ("Rome", "R-1"):
        nodes = [ask("Rome or Bonn?", "id R-1"), call(x, 0), answer("Done.", 1)]
        assert ungrounded(("get it", nodes)) == {}


def test_an_observation_is_a_source_for_what_depends_on_it_also_through_others():
    nodes = [call("a", result={"id": "R-1"}), call("a", 0), call("R-1", 1), answer("Done.", 2)]
    assert ungrounded(("do a", nodes)) == {}


def test_an_observation_of_a_node_it_does_not_depend_on_is_a_missing_dependency():
    nodes = [call("a", result={"id": "R-1"}), call("R-1"), answer("Done.", 0, 1)]
    found = ungrounded(("do a", nodes))
    assert found == {"[0][1].arguments.x": "'R-1' is known only from node 0; depend on it"}


def test_keys_of_an_observation_are_a_source():
    nodes = [call("a", result={"savings": 12}), call("savings", 0), answer("Done.", 1)]
    assert ungrounded(("do a", nodes)) == {}


def test_every_leaf_of_an_argument_is_checked():
    schema = {
        "type": "object",
        "description": "A filter.",
        "properties": {"tags": {"type": "array", "description": "Tags.", "items": {"type": "string"}}},
    }
    nodes = [call({"tags": ["red", "blue"]}), answer("Done.", 0)]
    assert list(ungrounded(("red ones", nodes), schema=schema)) == ["[0][0].arguments.x.tags[1]"]


def test_a_mark_with_a_reason_grounds_a_value():
    node = call("2025-03-15", grounding={"x": "derived: tomorrow, counted from the date line"})
    assert ungrounded(("tomorrow", [node, answer("Done.", 0)])) == {}


def test_a_mark_covers_what_it_contains():
    node = call(["red"], grounding={"x": "derived: the colour of the car"})
    schema = {"type": "array", "description": "Tags.", "items": {"type": "string"}}
    assert ungrounded(("as my car", [node, answer("Done.", 0)]), schema=schema) == {}


@pytest.mark.parametrize(
    "mark", [{"x": ""}, {"x": "derived:"}, {"x": 1}, {"y": "derived: so"}, [], "derived: so"]
)
def test_a_mark_without_reason_or_argument_is_found(mark: Any):
    node = call("R-1", grounding=mark)
    assert any(".grounding" in place for place in ungrounded(("R-1", [node, answer("Done.", 0)])))


@given(st.text(alphabet="ab é京_.'s\0", max_size=12), st.text(alphabet="ab é京_.'\0", min_size=1, max_size=4))
def test_a_value_is_named_where_it_stands_between_words_or_in_the_plural(text: str, value: str) -> None:
    """As one reads: each place where it occurs is looked at."""
    passage, sought = normalize_text(text), normalize_text(value).rstrip(". ")
    if "京" in sought:
        passage, sought = passage.replace(" ", ""), sought.replace(" ", "")
    forms = [sought, f"{sought}s", f"{sought}es"] if sought[-1:].isalpha() else [sought]
    named = any(
        passage.startswith(form, k) and not (inside_word(passage, k) or inside_word(passage, k + len(form)))
        for form in forms
        for k in range(len(passage))
        if sought
    )
    assert names_value(SearchText.of(text), value) == named


def inside_word(text: str, place: int) -> bool:
    return 0 < place < len(text) and all(c.isalnum() and c != "京" for c in text[place - 1 : place + 1])
