"""Session files are read in both spellings and any language; what is wrong is named by file, line, id and field."""

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.wildtoolbench.build import ANSWER, ASK, TOOLS, answer, ask, node, record, tool
from wildtool.benchmarks.wildtoolbench import WILD_MINI, WILDTOOLBENCH
from wildtool.benchmarks.wildtoolbench.data import Session, read_items, read_session, send_tools
from wildtool.data.data_set import source_of_file
from wildtool.errors import DataError

TASK = [node("a", n=1), node("b", 0, x=0.5), answer(1)]


def write(folder: Path, *records: Any) -> Path:
    path = folder / "sessions.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def one(data: dict[str, Any], prefix: str = "") -> Session:
    return read_session(data, "f:1", prefix)


def renamed(data: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {key.replace("english_", f"{prefix}_"): value for key, value in data.items()}


# What is read --------------------


def test_a_record_is_read_as_an_item_with_a_unit_per_task(tmp_path: Path) -> None:
    (item,) = read_items(write(tmp_path, record(TASK, [answer()], domain="travel")))
    assert (item.id, item.units, item.split, item.lang) == ("s", ("0", "1"), "travel", "en")


def test_a_node_keeps_name_arguments_observation_and_dependencies() -> None:
    first, second, last = one(record(TASK)).tasks[0].nodes
    assert (first.name, first.arguments, first.deps) == ("a", {"n": 1}, ())
    assert (second.arguments, second.observation, second.deps) == ({"x": 0.5}, "b done", (0,))
    assert (last.name, last.observation, last.user_input) == (ANSWER, "Here you are.", None)


def test_a_question_keeps_what_the_user_replies() -> None:
    assert one(record([ask(), answer(0)])).tasks[0].nodes[0].user_input == "The red one."


def test_the_first_task_is_the_first_turn_and_the_others_have_their_subtype() -> None:
    assert [task.subtype for task in one(record(TASK, TASK)).tasks] == ["First Turn", "Partial Information"]


@pytest.mark.parametrize("name", ["english_answer_list", "answer_list"])
def test_gold_is_read_from_either_field(name: str) -> None:
    data = record(TASK)
    data[name] = data.pop("english_answer_list")
    assert len(one(data).tasks[0].nodes) == 3


def test_where_both_answer_lists_stand_the_other_one_only_gives_the_counts() -> None:
    found = one(record(TASK, [answer()], answer_list=[[answer()], [answer(), answer()]]))
    assert [len(task.nodes) for task in found.tasks] == [3, 1]
    assert found.answer_counts == (1, 2)


def test_without_a_second_answer_list_there_are_no_other_counts() -> None:
    assert one(record(TASK)).answer_counts is None


@pytest.mark.parametrize(("prefix", "code"), [("english", "en"), ("chinese", "zh"), ("french", "french")])
def test_the_language_is_that_of_the_field_prefix(prefix: str, code: str) -> None:
    assert one(renamed(record(TASK), prefix)).lang == code


def test_of_two_languages_the_wanted_one_is_read() -> None:
    both = record(TASK) | renamed(record([answer()]), "chinese")
    assert len(one(both, "chinese").tasks[0].nodes) == 1
    assert len(one(both).tasks[0].nodes) == 3, "without a wish, the first"


def test_records_without_the_wanted_language_are_left_out(tmp_path: Path) -> None:
    path = write(tmp_path, record(TASK), renamed(record(TASK, id="t"), "chinese"))
    assert [item.id for item in read_items(path, "zh")] == ["t"]


def test_tools_may_be_json_text() -> None:
    assert one(record(TASK, english_tools=json.dumps(TOOLS))).tools == tuple(TOOLS)


def test_blank_lines_are_no_sessions(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    path.write_text(f"\n{json.dumps(record(TASK))}\r\n  \n", encoding="utf-8")
    assert len(list(read_items(path))) == 1


def test_line_separators_inside_a_text_do_not_end_a_line(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    data = record(TASK, english_tasks=["a\u2028b\u0085c"])
    path.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    (item,) = read_items(path)
    assert item.data.tasks[0].text == "a\u2028b\u0085c"


def test_an_empty_file_has_no_items(tmp_path: Path) -> None:
    assert list(read_items(write(tmp_path))) == []


def test_only_sessions_of_the_split_are_loaded(tmp_path: Path) -> None:
    path = write(tmp_path, record(TASK, domain="x"), record(TASK, id="t", domain="y"))
    loaded = WILDTOOLBENCH.load(source_of_file("f", path), split="y")
    assert [item.id for item in loaded] == ["t"]


# float and number --------------------


def test_float_is_sent_as_number_at_any_depth() -> None:
    nested = tool("a", x="float")
    nested["function"]["parameters"]["properties"]["list"] = {"type": "array", "items": {"type": "float"}}
    sent = json.dumps(send_tools([nested]))
    assert sent.count('"number"') == 2
    assert "float" not in sent


def test_the_tools_themselves_stay_as_written() -> None:
    before = copy.deepcopy(TOOLS)
    found = one(record(TASK))
    assert found.tools == tuple(before)
    assert before == TOOLS


def test_a_description_that_speaks_of_floats_stays() -> None:
    described = tool("a")
    described["function"]["description"] = 'a float such as {"type": "float"}'
    assert send_tools([described]) == (described,)


def test_non_ascii_and_unknown_keys_of_tools_survive() -> None:
    odd = tool("a") | {"strict": None, "é": ["天"]}
    assert send_tools([odd]) == (odd,)


# What is wrong --------------------


def without(field: str) -> dict[str, Any]:
    return {key: value for key, value in record(TASK, TASK).items() if key != field}


def with_node(**changes: Any) -> dict[str, Any]:
    return record([node("a") | changes, answer(0)])


def with_action(**changes: Any) -> dict[str, Any]:
    return with_node(action={"name": "a", "arguments": {}} | changes)


NODE = "english_answer_list[0][0]"
FAULTS: dict[str, tuple[Any, str]] = {
    "no id": (without("id"), "field id: expected a text, found null"),
    "id is a number": (record(TASK, id=7), "field id: expected a text, found a number"),
    "id is empty": (record(TASK, id=""), "field id: is empty"),
    "no date": (without("english_env_info"), "field english_env_info: expected a text, found null"),
    "no tools": (without("english_tools"), "field english_tools: expected a list of tools, found null"),
    "tools are broken text": (
        record(TASK, english_tools="[{"),
        "field english_tools: expected a list of tools",
    ),
    "tools are deep text": (
        record(TASK, english_tools="[" * 100_000),
        "field english_tools: expected a list",
    ),
    "tools are text of an object": (
        record(TASK, english_tools="{}"),
        "english_tools: expected a list of tools",
    ),
    "tool is a text": (record(TASK, english_tools=["a"]), "field english_tools[0].function.name"),
    "tool has no name": (
        record(TASK, english_tools=[TOOLS[0], {"function": {}}]),
        "english_tools[1].function.name",
    ),
    "tool has no function": (record(TASK, english_tools=[{"name": "a"}]), "english_tools[0].function.name"),
    "no tasks of any language": (without("english_tasks"), "no field *_tasks"),
    "tasks are a text": (
        record(TASK, english_tasks="a"),
        "field english_tasks: expected a list, found a text",
    ),
    "no task": (record(), "field english_tasks: expected a list with at least one user text"),
    "task is null": (
        record(TASK, english_tasks=[None]),
        "field english_tasks[0]: expected a text, found null",
    ),
    "no types": (without("english_task_types"), "field english_task_types: expected a list, found null"),
    "too few types": (
        record(TASK, TASK, english_task_types=["Chat"]),
        "english_task_types: expected 2 entries, found 1",
    ),
    "type is a list": (record(TASK, english_task_types=[[]]), "field english_task_types[0]: expected a text"),
    "no subtypes": (
        without("english_turn_subtypes"),
        "field english_turn_subtypes: expected a list, found null",
    ),
    "a subtype too many": (
        record(TASK, english_turn_subtypes=["x"]),
        "turn_subtypes: expected 0 entries, found 1",
    ),
    "no gold": (
        without("english_answer_list"),
        "english_answer_list: expected a list of 2 lists of nodes (also accepted: answer_list)",
    ),
    "too little gold": (
        record(TASK, TASK, english_answer_list=[TASK]),
        "english_answer_list: expected 2 entries, found 1",
    ),
    "gold is an object": (
        record(TASK, english_answer_list={}),
        "english_answer_list: expected a list, found an object",
    ),
    "other gold of other length": (
        record(TASK, TASK, answer_list=[TASK]),
        "field answer_list: expected 2 entries, found 1",
    ),
    "other gold is null": (record(TASK, answer_list=None), "field answer_list: expected a list, found null"),
    "gold of a task is no list": (
        record(TASK, english_answer_list=[{}]),
        "field english_answer_list[0]: expected a list of nodes, found an object",
    ),
    "node is a list": (record([[]]), f"field {NODE}: expected a node object, found a list"),
    "action is missing": (with_node(action=None), f"field {NODE}.action: expected an object"),
    "action has no name": (with_action(name=None), f"field {NODE}.action.name: expected a text, found null"),
    "arguments are text": (
        with_action(arguments="{}"),
        f"field {NODE}.action.arguments: expected an object, found a text",
    ),
    "dependencies are a number": (
        with_node(dependency_list=0),
        f"field {NODE}.dependency_list: expected a list of node positions",
    ),
    "dependency is a text": (
        with_node(dependency_list=["0"]),
        f"field {NODE}.dependency_list[0]: expected a node position, found a text",
    ),
    "dependency is a boolean": (
        with_node(dependency_list=[True]),
        f"field {NODE}.dependency_list[0]: expected a node position, found a boolean",
    ),
    "question without reply": (
        with_action(name=ASK),
        f"field {NODE}.user_input: expected the user's reply as a text, found null",
    ),
    "record is a list": ([], "expected a JSON object, found a list"),
    "record is a boolean": (True, "expected a JSON object, found a boolean"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_by_file_line_id_and_field(name: str, tmp_path: Path) -> None:
    data, message = FAULTS[name]
    path = write(tmp_path, record(TASK, id="sound"), data)
    with pytest.raises(DataError) as error:
        list(read_items(path))
    text = str(error.value)
    assert text.startswith((f"{path}:2: ", f"{path}:2 (id ")), text
    assert message in text
    if isinstance(data, dict) and "english_tasks" in data:
        assert f"(id {data.get('id')!r})" in text


def test_an_id_that_stands_twice_is_named_with_both_lines(tmp_path: Path) -> None:
    path = write(tmp_path, record(TASK), record(TASK, id="t"), record(TASK))
    with pytest.raises(DataError, match=rf"{re.escape(str(path))}:3: id 's' is already used in line 1"):
        list(read_items(path))


@pytest.mark.parametrize("line", [b"{", b"{} {}", b"[" * 100_000, b"NaN1", b"1" * 5000])
def test_a_line_that_is_not_json_is_named(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(b"\n" + line + b"\n")
    with pytest.raises(
        DataError, match=rf"{re.escape(str(path))}:2: (not a JSON object|too large to be read)"
    ):
        list(read_items(path))


def test_a_line_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(json.dumps(record(TASK)).encode() + b'\n{"id": "\xff"}\n')
    with pytest.raises(DataError, match=rf"{re.escape(str(path))}:2: not UTF-8 text"):
        list(read_items(path))


def test_sessions_before_a_fault_are_read(tmp_path: Path) -> None:
    items = read_items(write(tmp_path, record(TASK), 7))
    assert next(items).id == "s"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "absent", tmp_path):
        with pytest.raises(DataError, match=re.escape(str(path))):
            list(read_items(path))
        with pytest.raises(DataError, match="--data"):
            source_of_file("x", path)


# Where data lie --------------------


def test_a_path_is_located_with_its_checksum(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"abc")
    source = WILDTOOLBENCH.data.locate(str(path))
    assert (source.name, source.path) == (str(path), path)
    assert source.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_official_data_that_are_not_there_are_named_with_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path))
    with pytest.raises(DataError, match=rf"(?s){re.escape(str(tmp_path))}.*data pull.*--from.*wild-mini"):
        WILDTOOLBENCH.data.locate(None)


def test_a_name_that_is_no_file_lists_what_can_be_named() -> None:
    with pytest.raises(DataError, match="official, wild-mini or a JSON-lines file"):
        WILDTOOLBENCH.data.locate("no such file")


def test_the_embedded_set_is_the_default_of_wild_mini() -> None:
    items = list(WILD_MINI.load(WILD_MINI.data.locate(None)))
    assert len(items) == 32
    assert {len(item.units) for item in items} == {4}


def test_what_is_pulled_must_be_the_pinned_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "cache"))
    path = write(tmp_path, record(TASK))
    with pytest.raises(DataError, match="not the pinned file"):
        WILDTOOLBENCH.data.pull(file=path, mirror=None, report=lambda _: None)
    with pytest.raises(DataError, match="data pull"):
        WILDTOOLBENCH.data.locate(None)


def test_a_byte_order_mark_before_the_first_line_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "sessions.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(record([answer()])).encode())
    assert len(list(read_items(path))) == 1


def test_pulling_the_embedded_set_fetches_nothing() -> None:
    told: list[str] = []
    path = WILD_MINI.data.pull(file=None, mirror="http://127.0.0.1:1", report=told.append)
    assert path.is_file()
    assert told == ["built in; there is nothing to fetch"]
