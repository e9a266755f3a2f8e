"What the review knows of each format: parts, queues, stale tasks, findings, and the files that are read and written."

import json
from pathlib import Path
from typing import Any

import pytest

from golden_files import same_as_golden
from review.made_sets import mini_records, tiny_records
from review.story import rich_record
from wildtool.errors import DataError, UsageError
from wildtool.findings import fault
from wildtool.sets.make.core.files import DOUBTFUL_FILE, ITEMS_FOLDER, PROVENANCE_FILE
from wildtool.sets.review.formats import find_set, format_of
from wildtool.sets.review.formats.base import Facets, ItemPart, RawItem, confidence_of
from wildtool.sets.review.formats.gaps import gap, open_gaps, with_gaps
from wildtool.sets.review.formats.items import ITEMS
from wildtool.sets.review.formats.sessions import SESSIONS

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


def test_parts_of_an_item_are_those_that_people_change():
    assert ITEMS.parts(ITEM) == [
        ItemPart("/records/0/question/question", "user text", 0),
        ItemPart("/records/0/question/time", "date", 0),
        ItemPart("/records/0/question/profile", "date", 0),
        ItemPart("/records/0/question/function/0", "tool", 0),
        ItemPart("/records/0/answer/ground_truth", "call", 0),
        ItemPart("/records/0/answer/ground_truth/find_flights/city", "argument", 0),
        ItemPart("/records/1/question/question", "user text", 1),
        ItemPart("/records/1/question/time", "date", 1),
        ItemPart("/records/1/question/function/0", "tool", 1),
        ItemPart("/records/1/answer/ground_truth", "alternatives", 1),
    ]
    assert ITEMS.facets(ITEM) == Facets(((TURNS, ""), (TURNS, "")), lang="en", confidence=0.5, judged=True)
    assert ITEMS.user_texts(ITEM) == ["user: Fly.\n", "user: Fly again.\n"]
    assert [ITEMS.task_count(content) for content in (ITEM, {}, {"records": [{}]})] == [2, 1, 1]
    assert (ITEMS.graphs(ITEM), ITEMS.written_edges(ITEM), ITEMS.task_of(ITEM, "/records/0")) == (
        [],
        [],
        None,
    )


@pytest.mark.parametrize(
    ("field", "first"),
    [("/records/0/question/question", 1), ("/records/1", 2), ("/records", 0), ("/category", 2), ("", 2)],
)
def test_turns_after_an_edited_one_repeat_what_was_said(field: str, first: int):
    assert ITEMS.first_stale_task(ITEM, field) == first


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


def test_items_are_read_from_a_made_folder_with_how_they_were_made_and_written_in_order(tmp_path: Path):
    folder = tmp_path / ITEMS_FOLDER
    singles = [record(f"{SINGLE}_{n}", GOLD) for n in (2, 10)]
    write_files(folder, "en", SINGLE, singles)
    write_files(folder, "zh", TURNS, ITEM["records"])
    made_by = {"ids": [f"{SINGLE}_10"], "models": {"user": "m"}}
    (tmp_path / PROVENANCE_FILE).write_text(json.dumps(made_by) + "\n", "utf-8")
    doubtful = {"made_by": {"lang": "zh"}, "records": [record(f"{SINGLE}_4", GOLD)]}
    (tmp_path / DOUBTFUL_FILE).write_text(json.dumps(doubtful) + "\n", "utf-8")
    items = list(ITEMS.read(tmp_path))
    assert items == [
        RawItem(f"en/{SINGLE}_2", {"lang": "en", "category": SINGLE, "records": [singles[0]]}),
        RawItem(
            f"en/{SINGLE}_10",
            {"lang": "en", "category": SINGLE, "records": [singles[1]], "made_by": made_by},
            made_by,
        ),
        RawItem(f"zh/{TURNS}_3", {"lang": "zh", "category": TURNS, "records": ITEM["records"]}),
        RawItem(
            f"zh/{SINGLE}_4",
            {"lang": "zh", "category": SINGLE, "records": doubtful["records"], "made_by": {"lang": "zh"}},
            {"lang": "zh"},
        ),
    ]
    assert list(ITEMS.read(folder)) == items[:3]
    assert list(ITEMS.read(tmp_path / DOUBTFUL_FILE)) == items[3:]
    ITEMS.write((item.content for item in reversed(items)), tmp_path / "out")
    written = {
        path.relative_to(tmp_path / "out").as_posix(): [
            json.loads(line)["id"] for line in path.read_text().splitlines()
        ]
        for path in (tmp_path / "out").rglob("*.json")
    }
    assert written == {
        f"{lang}/{place}data_{category}.json": ids
        for place in ("", "possible_answer/")
        for lang, category, ids in (
            ("en", SINGLE, [f"{SINGLE}_2", f"{SINGLE}_10"]),
            ("zh", TURNS, [f"{TURNS}_3_0", f"{TURNS}_3_1"]),
            ("zh", SINGLE, [f"{SINGLE}_4"]),
        )
    }


def test_records_are_written_by_number_then_turn_and_others_first_as_they_came(tmp_path: Path):
    ids = ("x_10_0", "x_2_11", "x_2_2", "x_2", "odd", "even", "x_1_0")
    records = [record(id_, {"n": number}) for number, id_ in enumerate(ids)]
    ITEMS.write([{"lang": "en", "category": "x", "records": records}], tmp_path)
    written = (tmp_path / "en" / "data_x.json").read_text().splitlines()
    assert [json.loads(line)["id"] for line in written] == [
        "odd", "even", "x_1_0", "x_2", "x_2_2", "x_2_11", "x_10_0"
    ]  # fmt: skip
    answers = (tmp_path / "en" / "possible_answer" / "data_x.json").read_text().splitlines()
    assert [json.loads(line)["ground_truth"]["n"] for line in answers] == [4, 5, 6, 3, 2, 1, 0]


def refusal(read: Any, folder: Path) -> str:
    with pytest.raises((DataError, UsageError)) as error:
        read()
    return str(error.value).replace(str(folder), "")


def test_files_that_do_not_fit_each_other_are_refused(tmp_path: Path):
    write_files(tmp_path / "a", "en", SINGLE, [record(f"{SINGLE}_0", GOLD)])
    (tmp_path / "a" / "en" / "possible_answer" / f"data_{SINGLE}.json").write_text(
        json.dumps(answer("other", {}))
    )
    assert refusal(lambda: list(ITEMS.read(tmp_path / "a")), tmp_path) == (
        f"/a/en: {SINGLE}: questions and answers have different ids"
    )
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / DOUBTFUL_FILE).write_text('{"records": [{"question": {"id": 7}}]}\n')
    assert refusal(lambda: list(ITEMS.read(tmp_path / "b")), tmp_path) == (
        f"/b/{DOUBTFUL_FILE}:1: expected records with ids, as `generate items` writes them"
    )
    write_files(tmp_path / "c", "en", "agent_multi_step", [record("agent_multi_step_0", GOLD)])
    assert refusal(lambda: list(ITEMS.read(tmp_path / "c")), tmp_path) == (
        "/c/en: agent_multi_step: episodes in the sandbox cannot be reviewed"
    )
    (tmp_path / "d.jsonl").write_text('{"id": ""}\n')
    assert refusal(lambda: list(SESSIONS.read(tmp_path / "d.jsonl")), tmp_path) == (
        "/d.jsonl:1: field id: expected a text that names the session"
    )
    assert refusal(lambda: list(format_of("apibank").read(tmp_path)), tmp_path) == (
        ": only files of JSON lines of apibank can be reviewed"
    )


def test_a_set_is_known_by_its_files(tmp_path: Path):
    (tmp_path / "sessions.jsonl").write_text(json.dumps(tiny_records(1)[0]) + "\n")
    assert find_set(str(tmp_path)) == (SESSIONS, tmp_path / "sessions.jsonl")
    for name in (DOUBTFUL_FILE, f"{ITEMS_FOLDER}/x"):
        folder = tmp_path / name.replace("/", "-")
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text("")
        assert find_set(str(folder)) == (ITEMS, folder)
    assert find_set(str(tmp_path / DOUBTFUL_FILE / DOUBTFUL_FILE)) == (
        ITEMS,
        tmp_path / DOUBTFUL_FILE / DOUBTFUL_FILE,
    )


# Sessions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "first", "task"),
    [
        ("/english_tasks/0", 1, 0),
        ("/english_tasks/1", 2, 1),
        ("/english_tasks", 0, None),
        ("/english_answer_list/0/2/observation", 1, 0),
        ("/english_answer_list/0/2/alternatives", 2, 0),
        ("/english_answer_list/0/2/dependency_kinds/0", 2, 0),
        ("/english_answer_list/0", 1, 0),
        ("/english_task_types/0", 2, 0),
        ("/english_turn_subtypes/0", 2, 1),
        ("/english_tools/0", 0, None),
        ("/english_env_info", 0, None),
        ("/domain", 2, None),
        ("", 0, None),
    ],
)
def test_an_edit_of_a_session_concerns_these_tasks(field: str, first: int, task: int | None):
    content = rich_record("rich", "en")
    assert SESSIONS.first_stale_task(content, field) == first
    assert SESSIONS.task_of(content, field) == task
    both = {
        **content,
        **{key.replace("english", "chinese"): value for key, value in content.items() if "english" in key},
    }
    assert SESSIONS.first_stale_task(both, field) == (
        first - 1 if first == 1 or field == "/english_tasks/1" else first
    )


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


def test_confidence_is_that_of_the_least_sure_edge_or_vote():
    assert confidence_of({"review": [{"confidence": 0.75}, {"confidence": "x"}, 7]}) == (0.75, False)
    votes = [{"valid": True}, {"valid": False}, {"valid": True}, {}]
    assert confidence_of({"review": [{"confidence": 0.75}], "votes": votes}) == (0.5, True)
    assert confidence_of(None) == (1.0, False)


def test_a_gap_is_open_until_its_part_is_changed():
    gaps = [gap("a", "/x", "one"), gap("b", "/y", "two"), gap("c", "no pointer", "three")]
    draft = with_gaps({"x": 1, "made_by": {"from": "openai"}}, gaps)
    assert draft["made_by"] == {
        "from": "openai",
        "gaps": [{**gaps[0], "was": "6b86b273ff34fce1"}, {**gaps[1], "was": None}, {**gaps[2], "was": None}],
    }
    assert [(each.rule, each.field, each.message, each.level) for each in open_gaps(draft)] == [
        ("a", "/x", "one", "warning"), ("b", "/y", "two", "warning"), ("c", "no pointer", "three", "warning")
    ]  # fmt: skip
    assert [each.rule for each in open_gaps({**draft, "x": 2, "y": 0})] == ["c"]
    assert list(open_gaps({"made_by": {"gaps": [{"field": 7}, 7]}})) == []


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
