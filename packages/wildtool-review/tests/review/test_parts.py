"What the review knows of each format: parts, queues, stale tasks, findings, and the files that are read and written."

import json
from pathlib import Path
from typing import Any

import pytest

from golden_files import same_as_golden
from review.made_sets import mini_records
from review.story import rich_record
from wildtool.findings import fault
from wildtool_data.formats import find_set, format_of
from wildtool_data.formats.base import Facets, ItemPart, RawItem
from wildtool_data.formats.items import ITEMS
from wildtool_data.formats.sessions import SESSIONS

SINGLE, TURNS = "normal_single_turn_single_function", "normal_multi_turn_user_switch"
TOOL = {
    "name": "find_flights",
    "description": "Finds flights.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "Where to."}},
        "required": ["city"],
    },
}


def question(id_: str, text: str = "user: Fly to Lisbon.\n", **fields: Any) -> dict[str, Any]:
    return {"id": id_, "question": text, "function": [TOOL], "time": "", **fields}


def answer(id_: str, gold: Any) -> dict[str, Any]:
    return {"id": id_, "ground_truth": gold}


def record(id_: str, gold: Any, **fields: Any) -> dict[str, Any]:
    return {"question": question(id_, **fields), "answer": answer(id_, gold)}


GOLD = {"find_flights": {"city": "Lisbon"}}
ITEM: dict[str, Any] = {
    "lang": "en",
    "category": TURNS,
    "records": [
        record(f"{TURNS}_3_0", GOLD, text="user: Fly.\n", profile="p"),
        record(f"{TURNS}_3_1", [GOLD, {"find_flights": {"city": "Porto"}}], text="user: Fly again.\n"),
    ],
    "made_by": {"votes": [{"valid": True}, {"valid": False}], "review": []},
}


FAULTS: dict[str, dict[str, Any]] = {
    "nothing": ITEM,
    "no records": {**ITEM, "records": []},
    "no object": {"records": [7]},
    "argument": {
        **ITEM,
        "records": [record(f"{SINGLE}_0", {"find_flights": {"town": "x"}})],
        "category": SINGLE,
    },
    "tool": {**ITEM, "records": [record(f"{SINGLE}_0", {"other": {}})], "category": SINGLE},
    "one of two": {
        **ITEM,
        "records": [record(f"{TURNS}_3_0", 5), record(f"{TURNS}_3_1", {"find_flights": {"town": "x"}})],
    },
    "question": {
        **ITEM,
        "records": [record(f"{SINGLE}_0", GOLD, function=[{"name": "find_flights"}])],
        "category": SINGLE,
    },
}


@pytest.mark.parametrize("case", FAULTS)
def test_what_rules_find_in_an_item_points_at_its_part(case: str):
    rows = [f"{each.level} {each.rule} {each.field}: {each.message}" for each in ITEMS.check(FAULTS[case])]
    same_as_golden(f"review/findings/{case.replace(' ', '-')}.json", rows)


def write_files(folder: Path, lang: str, category: str, records: list[dict[str, Any]]) -> None:
    for part, place in (("question", folder / lang), ("answer", folder / lang / "possible_answer")):
        place.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps(row[part]) + "\n" for row in records)
        (place / f"data_{category}.json").write_text("".join(lines), "utf-8")


# Sessions -----------------------------------------------------------------------------------------------


def test_sessions_have_these_parts_graphs_and_facets():
    records = [rich_record("rich", "en"), mini_records(2)[1], {"id": 7, "english_tasks": ["x"]}, {}]
    same_as_golden(
        "review/sessions.json",
        [
            {
                "facets": repr(SESSIONS.facets(content)),
                "tasks": SESSIONS.task_count(content),
                "texts": list(SESSIONS.user_texts(content)),
                "parts": [f"{part.field} {part.kind} {part.task}" for part in SESSIONS.parts(content)],
                "written": [sorted(edges) for edges in SESSIONS.written_edges(content)],
                "graphs": [repr(graph) for graph in SESSIONS.graphs(content)],
                "findings": [
                    f"{each.level} {each.rule} {each.field}: {each.message}"
                    for each in SESSIONS.check(content)
                ],
            }
            for content in records
        ],
    )


def test_other_records_are_one_part():
    plain = format_of("apibank")
    content = {"a": 1}
    assert plain.parts(content) == [ItemPart("", "other")]
    assert (
        plain.task_count(content),
        plain.first_stale_task(content, "/a"),
        plain.task_of(content, "/a"),
    ) == (1, 1, None)
    assert plain.facets(content) == Facets((("", ""),))
    assert (plain.graphs(content), plain.written_edges(content), plain.user_texts(content)) == ([], [], [])


def glaive_record(call: str, **more: Any) -> dict[str, Any]:
    functions = json.dumps([{"name": "find", "parameters": {"properties": {"city": {"type": "string"}}}}])
    turns = [{"from": "human", "value": "Find it."}, {"from": "gpt", "value": call}]
    return {"id": "a", "conversations": turns, "system": functions, **more}


@pytest.mark.parametrize(
    ("content", "findings"),
    [
        (glaive_record('{"name": "find", "arguments": {"city": "Rome"}}'), []),
        ({"id": "a"}, ["unreadable: record 0: field conversations: expected a list, found null"]),
        (
            glaive_record('{"name": "find", "arguments": {"town": 1, "city": 2, "way": 3}}'),
            [f"unknown argument: 'find' declares no '{name}'" for name in ("town", "way")],
        ),
    ],
)
def test_rules_of_other_records_name_no_temporary_file(content: dict[str, Any], findings: list[str]):
    plain = format_of("glaive")
    rows = [finding.partition(": ")[::2] for finding in findings]
    assert plain.check(content) == [fault(rule, message) for rule, message in rows]
    assert plain.facets(content) == Facets((("", ""),), lang="en" if "system" in content else "")


def test_data_that_name_no_set_are_unreadable_for_rules():
    (finding,) = format_of("teval").check({"id": "a"})
    assert finding.message.startswith("which set is it? Name the file after one of instruct, ")


def test_other_records_are_read_and_written_line_by_line(tmp_path: Path):
    plain, file = format_of("glaive"), tmp_path / "items.jsonl"
    rows = [{"id": 7, "made_by": {"models": {"user": "m"}}}, {"x": 1, "made_by": "me"}]
    plain.write(rows, file)
    assert file.read_text() == "".join(json.dumps(row) + "\n" for row in rows)
    assert list(plain.read(file)) == [RawItem("7", rows[0], rows[0]["made_by"]), RawItem("2", rows[1])]


def test_a_set_of_a_named_benchmark_is_where_it_was_said_to_be(tmp_path: Path):
    file = tmp_path / "plain.jsonl"
    file.write_text(json.dumps(glaive_record("{}")) + "\n")
    format_, place = find_set(str(file), "glaive")
    assert (format_.name, format_.file_name, place) == ("glaive", "items.jsonl", file)
    write_files(tmp_path / "data", "en", SINGLE, [record(f"{SINGLE}_0", GOLD)])
    assert find_set(str(tmp_path / "data"), "acebench") == (ITEMS, tmp_path / "data")
    built_in, place = find_set("wild-mini")
    assert (built_in, place.suffix, place.is_file()) == (SESSIONS, ".jsonl", True)
