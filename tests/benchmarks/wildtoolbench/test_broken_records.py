"""What a session record is told that cannot be read, and what is read of a sound one."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.wildtoolbench.build import answer, ask, node, record, tool
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.benchmarks.wildtoolbench.data import GoldNode, Task, read_items, read_session
from wildtool.errors import DataError
from wildtool.types import Item

SOUND = record([ask(), node("a", 0, n=1), answer(1)], [answer()])


def changed(path: str, value: Any) -> dict[str, Any]:
    """The sound record with another value at a path; None takes a key out."""
    own = copy.deepcopy(SOUND)
    *keys, last = [int(key) if key.isdigit() else key for key in path.split("/")]
    at: Any = own
    for key in keys:
        at = at[key]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return own


NODE = "english_answer_list/0/1"
NODE_AT = "field english_answer_list[0][1]"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("id", None, "field id: expected a text, found null"),
        ("id", "", "field id: is empty; give each session another name"),
        ("english_env_info", 5, "field english_env_info: expected a text, found a number"),
        ("english_tools", {}, "field english_tools: expected a list of tools, found an object"),
        ("english_tools", "{", "field english_tools: expected a list of tools, found a text"),
        (
            "english_tools/1",
            {},
            "field english_tools[1].function.name: expected an OpenAI tool with a name, found an object",
        ),
        (
            "english_tasks",
            [],
            "field english_tasks: expected a list with at least one user text, found a list",
        ),
        ("english_tasks/1", 5, "field english_tasks[1]: expected a text, found a number"),
        ("english_tasks", "x", "field english_tasks: expected a list, found a text"),
        ("english_task_types", ["Chat"], "field english_task_types: expected 2 entries, found 1"),
        ("english_turn_subtypes", [], "field english_turn_subtypes: expected 1 entries, found 0"),
        (
            "english_answer_list",
            None,
            "field english_answer_list: expected a list of 2 lists of nodes (also accepted: answer_list), found null",
        ),
        ("english_answer_list", [[]], "field english_answer_list: expected 2 entries, found 1"),
        ("answer_list", [[]], "field answer_list: expected 2 entries, found 1"),
        (
            "english_answer_list/1",
            {},
            "field english_answer_list[1]: expected a list of nodes, found an object",
        ),
        (NODE, [], f"{NODE_AT}: expected a node object, found a list"),
        (f"{NODE}/action", [], f"{NODE_AT}.action: expected an object with name and arguments, found a list"),
        (f"{NODE}/action/name", 5, f"{NODE_AT}.action.name: expected a text, found a number"),
        (f"{NODE}/action/arguments", [], f"{NODE_AT}.action.arguments: expected an object, found a list"),
        (
            f"{NODE}/dependency_list",
            {},
            f"{NODE_AT}.dependency_list: expected a list of node positions, found an object",
        ),
        (
            f"{NODE}/dependency_list",
            [0, "1"],
            f"{NODE_AT}.dependency_list[1]: expected a node position, found a text",
        ),
        (
            "english_answer_list/0/0/user_input",
            5,
            "field english_answer_list[0][0].user_input: expected the user's reply as a text, found a number",
        ),
    ],
)
def test_a_broken_record_is_named_with_its_field(path: str, value: Any, message: str) -> None:
    own = changed(path, value)
    with pytest.raises(DataError) as caught:
        read_session(own, "here")
    assert str(caught.value) == f"here (id {own.get('id')!r}): {message}"


def test_a_record_without_tasks_is_named() -> None:
    with pytest.raises(DataError) as caught:
        read_session({"b": 1, "a": 2}, "here")
    assert str(caught.value) == "here: no field *_tasks (such as english_tasks); found fields ['a', 'b']"


def test_a_session_has_what_its_record_says() -> None:
    own = changed("answer_list", [[1, 2], []]) | {"domain": "travel", "subdomain": "hotels"}
    own["english_answer_list"][0][1] |= {"idx": 7, "alternatives": {"n": [2, None], "x": 5}, "user_input": 5}
    own["english_tools"] = json.dumps([tool("a", "n", n="integer", x="float")])
    session = read_session(own, "here")
    assert (session.id, session.lang, session.date) == ("s", "en", "2025-03-14 09:26:00 Friday")
    assert (session.domain, session.subdomain, session.answer_counts, session.transitions) == (
        "travel",
        "hotels",
        (2, 0),
        0,
    )
    assert session.tools == (tool("a", "n", n="integer", x="float"),)
    assert session.sent_tools == (tool("a", "n", n="integer", x="number"),)
    first, second = session.tasks
    assert first == Task(
        "wish 0",
        (
            GoldNode("ask_user_for_required_parameters", {}, "Which one?", (), "The red one."),
            GoldNode("a", {"n": 1}, "a done", (0,), None, 7, {"n": [2, None], "x": []}),
            GoldNode("prepare_to_answer", {}, "Here you are.", (1,)),
        ),
        "Mixed Multi-Tool",
        "First Turn",
    )
    assert (second.text, second.type, second.subtype, second.group) == (
        "wish 1",
        "Mixed Multi-Tool",
        "Partial Information",
        "Multi-Tool",
    )
    assert first.deps == [(), (0,), (1,)]


def test_a_language_is_chosen_by_its_prefix_or_code(tmp_path: Path) -> None:
    both = {
        **SOUND,
        **{
            key.replace("english", "chinese"): value
            for key, value in SOUND.items()
            if key.startswith("english")
        },
    }
    assert [read_session(both, "here", prefix).lang for prefix in ("", "english", "chinese")] == [
        "en",
        "en",
        "zh",
    ]
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(both), "utf-8")
    langs = (None, "english", "en", "chinese", "zh", "fr")
    assert [[item.lang for item in read_items(path, lang)] for lang in langs] == [
        ["en"],
        ["en"],
        ["en"],
        ["zh"],
        ["zh"],
        [],
    ]
    path.write_text('{"id": "s"}', "utf-8")
    with pytest.raises(DataError, match="no field"):
        list(read_items(path, "zh"))
    path.write_text(
        "".join(f"{json.dumps(each)}\n" for each in (SOUND, {**both, "id": "t", "domain": "d"}, SOUND)),
        "utf-8",
    )
    assert [item.id for item in read_items(path, "zh")] == ["t"]
    with pytest.raises(DataError) as caught:
        list(read_items(path))
    assert str(caught.value) == f"{path}:3: id 's' is already used in line 1"
    path.write_text(
        "".join(f"{json.dumps(each)}\n" for each in (SOUND, {**both, "id": "t", "domain": "d"})), "utf-8"
    )
    source = WILDTOOLBENCH.data.locate(str(path))
    assert [(item.id, item.units, item.split, item.lang) for item in WILDTOOLBENCH.load(source)] == [
        ("s", ("0", "1"), "", "en"),
        ("t", ("0", "1"), "d", "en"),
    ]
    assert [item.id for item in WILDTOOLBENCH.load(source, split="d")] == ["t"]


def test_a_session_without_a_date_is_read_and_its_date_line_is_empty_as_in_the_original():
    session = read_session(changed("english_env_info", ""), "file:1")
    item = Item(session.id, ("0", "1"), session)
    request = WILDTOOLBENCH.rules("official").episode(item, "0").request()
    assert request is not None
    assert request.messages[0] == {"role": "system", "content": "Current Date: "}
