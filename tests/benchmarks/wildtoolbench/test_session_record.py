"""What own history needs to know of a session: results of calls, values that must have been shown, a task as it is shown
later; and result files of the original, row by row."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.wildtoolbench.build import answer, ask, call, calls, item, node, record, says
from wildtool.benchmarks.wildtoolbench.data import DATA, read_results
from wildtool.benchmarks.wildtoolbench.episode import call_id
from wildtool.benchmarks.wildtoolbench.grounding import SearchText, flat_text, names_value, normalize_text
from wildtool.benchmarks.wildtoolbench.judge import RULES
from wildtool.benchmarks.wildtoolbench.session_record import session
from wildtool.errors import DataError
from wildtool.types import Message

FIRST = [node("a", n=1, observation={"code": 77}), answer(0)]
SECOND = [
    ask(),
    node("a", 0, n=2),
    node("b", 1, n=77, text="red", observation={"key": "k9"}),
    node("c", 1, text="k9", x=3.5),
    answer(2, 3),
]
OWN = item(
    FIRST,
    SECOND,
    [node("d"), node("a", 0, n=77), answer(1)],
    english_tasks=["wish 1", "take 2 and 3.5 of red", "wish 77"],
)


def recorded(profile: str = "fixed") -> Any:
    own = session(RULES[profile], OWN)
    assert own is not None
    return own


def test_earlier_tasks_have_their_places_in_a_request() -> None:
    assert (recorded().history("0"), recorded().history("1")) == ({}, {"0": slice(1, 5)})
    three = session(RULES["fixed"], item(FIRST, FIRST, SECOND))
    assert three is not None and three.history("2") == {"0": slice(1, 5), "1": slice(5, 9)}


@pytest.mark.parametrize(
    ("unit", "name", "arguments", "result"),
    [
        ("0", "a", '{"n": 1}', '{"code": 77}'),
        ("1", "a", '{"n": 1}', '{"code": 77}'),
        ("1", "a", '{"n": 2}', "a done"),
        ("1", "a", {"n": 2}, None),
        ("0", "a", '{"n": 2}', None),
        ("1", "a", "{", None),
        ("1", "a", "", None),
        ("2", "d", "", "d done"),
        ("1", "d", "{}", None),
        ("1", "prepare_to_answer", "{}", None),
    ],
)
def test_a_call_gets_what_gold_got_for_it(unit: str, name: str, arguments: Any, result: str | None) -> None:
    assert recorded().result(unit, name, arguments) == result


def test_results_of_a_tool_come_nearest_first() -> None:
    assert list(recorded().results("1", "a")) == ["a done", {"code": 77}]
    assert list(recorded().results("0", "a")) == [{"code": 77}]
    assert list(recorded().results("1", "prepare_to_answer")) == []


def shown(*texts: str, role: str = "tool") -> list[Message]:
    return [{"role": role, "content": text} for text in texts]


@pytest.mark.parametrize(
    ("history", "missing"),
    [
        (shown('{"code": 77}'), []),
        (shown('{"code": 77}', role="user"), []),
        (shown('{"code": 77}', role="assistant"), ["b.n"]),
        (shown("a done"), ["b.n"]),
        ([], ["b.n"]),
    ],
)
def test_a_value_of_an_earlier_result_must_have_been_shown(
    history: Sequence[Message], missing: list[str]
) -> None:
    assert recorded().missing("1", history) == missing
    # What the user says in the task itself need not be shown.
    assert recorded().missing("0", history) == recorded().missing("2", history) == []


def test_a_task_is_shown_later_with_its_own_replies_and_golds_results() -> None:
    both = calls(call("b", "x1", n=77, text="red"), call("c", "x2", text="k9", x=3.5))
    replies = [
        says("Which one?"),
        {**calls(call("a", "x0", n=2)), "content": "Wait."},
        both,
        says("Done."),
        says("More."),
    ]

    def made(number: int, name: str, **arguments: Any) -> dict[str, Any]:
        return call(name, call_id("s", 1, number), **arguments)

    def result(number: int, content: str) -> Message:
        return {"role": "tool", "content": content, "tool_call_id": call_id("s", 1, number)}

    expected = [
        {"role": "user", "content": "take 2 and 3.5 of red"},
        says("Which one?"),
        {"role": "user", "content": "The red one."},
        {"role": "assistant", "content": "Wait.", "tool_calls": [made(1, "a", n=2)]},
        result(1, "a done"),
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [made(2, "b", n=77, text="red"), made(3, "c", text="k9", x=3.5)],
        },
        result(2, '{"key": "k9"}'),
        result(3, "c done"),
        says("Done."),
    ]
    assert recorded().own_run("1", replies) == expected
    assert recorded().own_run("1", replies[:1]) == expected[:3]
    wrong = calls(call("d", "x9"))
    assert recorded().own_run("1", [says("Which one?"), wrong]) == [
        *expected[:3],
        {"role": "assistant", "content": "", "tool_calls": wrong["tool_calls"]},
    ]


def test_published_results_are_those_of_each_call_in_whatever_order_it_is_made() -> None:
    own = session(RULES["official"], item([node("b"), node("a"), node("a"), answer(0, 1, 2)]))
    assert own is not None
    reply = calls(call("b", "x"), call("a", "y"), call("a", "z"))
    _, sent, *results = own.own_run("0", [reply])
    ids = [call_id("s", 0, number) for number in (0, 1, 2)]
    assert [each["id"] for each in sent["tool_calls"]] == ids
    assert [(result["content"], result["tool_call_id"]) for result in results] == [
        *zip(('"b done"', '"a done"', '"a done"'), ids, strict=True),
    ]


# Grounding -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value", "named"),
    [
        ("it is 5", 5, True),
        ("it is 5", 5.0, True),
        ("it is 15", 5, False),
        ("it is 5.5", 5, False),
        ("x -5", -5, True),
        ("true story", True, True),
        ("untrue", True, False),
        ("false", False, True),
        ("a 5", "5", True),
        ("a 55", "5", False),
        ("New-York City", "new york", True),
        ("newyork", "new york", False),
        ("hotels", "hotel", True),
        ("boxes", "box", True),
        ("hotelsx", "hotel", False),
        ("a hotel.", "Hotel!", True),
        ("it’s", "it's", True),
        ("“x”", '"x"', True),
        ("x", "", False),
        ("我要去 北京市", "北京", True),
        ("北 京", "北京", True),
        ("ab cab", "ab", True),
        ("cab ab", "ab", True),
        ("cab", "ab", False),
        ("a_b", "a b", True),
        ("５", "5", True),
        ("es", "e", True),
        ("room 7s", "7", True),
        ("a5", "5", False),
        ("a⺀ b", "⺀b", True),
        ("a⹿ b", "⹿b", False),
    ],
)
def test_a_text_names_a_value_as_people_write_it(text: str, value: Any, named: bool) -> None:
    assert names_value(SearchText.of(text), value) == named


def test_values_are_searched_with_their_keys() -> None:
    value = {"a": [1, 2.50, {"b": None}], "c": "x\ny", "d": True}
    assert flat_text(value) == "a\n1\n2.5\nb\nnull\nc\nx\ny\nd\nTrue"
    assert (flat_text("x"), flat_text(1e-7), flat_text([])) == ("x", "0.0000001", "")
    assert normalize_text(" Ａ_b—C  «d» `e´ ") == "a b c \"d\" 'e'"


# Results of the original -----------------------------------------------------------------------------


def write(folder: Path, *lines: Any) -> Path:
    path = folder / "m" / "result.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return path


def task_log(*outputs: Any, **more: Any) -> dict[str, Any]:
    steps = {f"step_{place}": {"inference_output": output} for place, output in enumerate(outputs)}
    return {"inference_log": {**steps, "note": 1}, **more}


def test_result_files_have_replies_usage_and_latency_of_each_step(tmp_path: Path) -> None:
    first = {"content": "x", "tool_calls": None, "reasoning_content": "r", "other": 1}
    log = task_log(
        first, {"content": None}, input_token_count=[5], output_token_count=["x", 7], latency=[1, 2.5]
    )
    path = write(tmp_path, {"id": "s", "result": [log, task_log()]}, {"id": "t", "result": "Error: lost"})
    results = read_results(path, {}, "chat")
    assert results is not None
    rows = [
        (
            row.where,
            row.model,
            row.item,
            {unit: [(r.message, r.usage, r.latency_s) for r in t.replies] for unit, t in row.units.items()},
        )
        for row in results.rows
    ]
    replies = [
        (
            {"role": "assistant", "content": "x", "tool_calls": None, "reasoning_content": "r"},
            {"prompt_tokens": 5},
            1.0,
        ),
        ({"role": "assistant", "content": None}, {"completion_tokens": 7}, 2.5),
    ]
    assert rows == [
        (f"{path}:1 (id 's')", "m", "s", {"0": replies, "1": []}),
        (f"{path}:2 (id 't')", "m", "t", {}),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"id": 5, "result": []}, "field id: expected a text, found a number"),
        (
            {"id": "s", "result": [{}]},
            "(id 's'): result[0].inference_log: expected an object of steps, found null",
        ),
        (
            {"id": "s", "result": [task_log(), {"inference_log": {"step_1": {}}}]},
            "(id 's'): result[1].inference_log.step_0: expected an object with inference_output",
        ),
        (
            {"id": "s", "result": [task_log({}, 5)]},
            "(id 's'): result[0].inference_log.step_1: expected an object with inference_output",
        ),
    ],
)
def test_a_broken_result_is_named(tmp_path: Path, line: Any, message: str) -> None:
    path = write(tmp_path, line)
    results = read_results(path, {}, "chat")
    assert results is not None
    with pytest.raises(DataError) as caught:
        list(results.rows)
    assert str(caught.value) in (f"{path}:1 {message}", f"{path}:1: {message}")


@pytest.mark.parametrize("line", [{"id": "s"}, {"result": []}, {"id": "s", "result": 5}])
def test_other_lines_are_no_results(tmp_path: Path, line: Any) -> None:
    assert read_results(write(tmp_path, line), {}, "chat") is None
    assert read_results(tmp_path, {}, "chat") is None
    assert read_results(write(tmp_path, []), {}, "chat") is None


def test_data_are_found_by_name_or_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path))
    place = tmp_path / "wildtoolbench" / "Wild-Tool-Bench.jsonl"
    with pytest.raises(DataError) as caught:
        DATA.locate(None)
    assert str(caught.value) == (
        f"the official data are not at {place}; get them with `wildtool data pull wildtoolbench` (or `--from FILE` if you"
        " have them), or use the embedded set: `--data wild-mini`"
    )
    with pytest.raises(DataError) as caught:
        DATA.locate("nowhere")
    assert (
        str(caught.value) == "no data file 'nowhere'; --data takes official, wild-mini or a JSON-lines file"
    )
    place.parent.mkdir()
    place.write_text(json.dumps(record(FIRST)), "utf-8")
    assert [(DATA.locate(name).name, DATA.locate(name).path) for name in (None, "official", str(place))] == [
        ("official", place),
        ("official", place),
        (str(place), place),
    ]
    assert DATA.locate("wild-mini").path.name == "wild_mini.jsonl"
