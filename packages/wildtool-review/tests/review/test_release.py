"""What comes out of a review: data that play, provenance, preference pairs, a card; the same bytes from the same log."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from review.made_sets import decide, edit, mini_records, project, tiny_records
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.cli import app
from wildtool.errors import UsageError
from wildtool.json_codec import read_json_lines
from wildtool_data.formats import find_set
from wildtool_data.formats.items import ITEMS
from wildtool_data.pointers import Change
from wildtool_review.project import ReviewProject
from wildtool_review.release import write_release
from wildtool_review.store.sqlite import SqliteStore


def rows(path: Path) -> list[dict[str, Any]]:
    return [row for _, row in read_json_lines(path)]


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_a_text_of_a_model_has_that_model_as_its_source(tmp_path: Path):
    review = project(tmp_path)
    item = review.item("s0")
    change = Change("/english_tasks/1", item.content["english_tasks"][1], "By a model.")
    review.edit("me", "s0", item.digest, [change], model="other-model")
    decide(review, "me", "s0")
    write_release(review, tmp_path / "out")
    field = rows(tmp_path / "out" / "provenance.jsonl")[0]["fields"]["/english_tasks/1"]
    assert (field["by"], field["model"]) == ("model", "other-model")
    assert rows(tmp_path / "out" / "preferences.jsonl") == []


def test_other_accepted_values_and_kinds_of_edges_are_released_and_prefer_nothing(tmp_path: Path):
    review = project(tmp_path, mini_records(1))
    step = "/english_answer_list/0/1"
    edit(review, "me", "wild_mini_0", {"amount": [43]}, f"{step}/alternatives")
    edit(review, "me", "wild_mini_0", {"0": "argument"}, f"{step}/dependency_kinds")
    decide(review, "me", "wild_mini_0")
    assert review.item("wild_mini_0").findings() == []
    write_release(review, tmp_path / "out")
    (item,) = WILDTOOLBENCH.load(WILDTOOLBENCH.data.locate(str(tmp_path / "out" / "sessions.jsonl")))
    assert item.data.tasks[0].nodes[1].alternatives == {"amount": [43]}
    (made,) = rows(tmp_path / "out" / "sessions.jsonl")
    assert made["english_answer_list"][0][1]["dependency_kinds"] == {"0": "argument"}
    fields = rows(tmp_path / "out" / "provenance.jsonl")[0]["fields"]
    assert {fields[f"{step}/{name}"]["by"] for name in ("alternatives", "dependency_kinds")} == {"person"}
    assert rows(tmp_path / "out" / "preferences.jsonl") == []


def test_the_card_has_each_round_also_behind_one_without_results(tmp_path: Path):
    review = project(tmp_path, tiny_records(4), people="ann bob")
    for share in (0.25, 0.5):
        review.open_round("owner", ["ann", "bob"], share=share)
    for item in review.state.rounds[1].items:
        for who in ("ann", "bob"):
            decide(review, who, item)
    write_release(review, tmp_path / "out", allow_findings=True)
    _, _, table = (tmp_path / "out" / "card.md").read_text("utf-8").partition("| round |")
    assert table.splitlines()[2:4] == [
        "| 1 | 1 | – | – |  |  |",
        "| 2 | 2 | 100.0 % | 34.2 to 100.0 % | ████████████████████ | 78 % |",
    ]


def test_the_card_says_how_near_messages_are_to_the_examples_they_were_made_with(tmp_path: Path):
    plain, *made = mini_records(3)
    for record, overlap in zip(made, (0.02, 0.125), strict=True):
        record["made_by"] = {
            "examples": {"sha256": "0", "conversations": 9, "overlap": overlap, "bound": 0.3}
        }
    review = project(tmp_path, [plain, *made])
    for item in review.state.items:
        decide(review, "me", item)
    write_release(review, tmp_path / "out")
    card = " ".join((tmp_path / "out" / "card.md").read_text("utf-8").split())
    assert "2 items were made with conversations of real users" in card
    assert "at most 0.125; above 0.3 a message is refused" in card


def test_hostile_texts_are_no_markup_in_the_card(tmp_path: Path):
    records = tiny_records(1)
    records[0]["english_task_types"][0] = "<script>alert(1)</script>|[x](javascript:y)\n# Head"
    records[0]["id"] = "../../s0"
    review = project(tmp_path, records)
    decide(review, "me", "../../s0")
    write_release(review, tmp_path / "out", allow_findings=True)
    card = (tmp_path / "out" / "card.md").read_text("utf-8")
    assert "| ../../s0 | schema | error | /english\\_task\\_types/0 |".replace("\\_", "&#95;") in card
    assert "<script" not in card and "[x](" not in card and "\n# Head" not in card
    assert sorted(files_of(tmp_path / "out")) == [
        "card.md", "manifest.json", "preferences.jsonl", "provenance.jsonl", "sessions.jsonl"
    ]  # fmt: skip


def test_nothing_is_released_before_something_is_approved(tmp_path: Path):
    with pytest.raises(UsageError, match="no item is approved"):
        write_release(project(tmp_path), tmp_path / "out")


def exported(tmp_path: Path, *words: str) -> tuple[int, str]:
    """Exit status and output of the command."""
    line = ["review", "export", str(tmp_path / "set.jsonl"), "-o", str(tmp_path / "out"), *words]
    ended = CliRunner().invoke(app, line, prog_name="wildtool")
    return ended.exit_code, " ".join(ended.output.split())


def test_items_in_which_rules_find_something_are_exported_only_if_told(
    tmp_path: Path,
):
    review = project(tmp_path, mini_records(2))
    for item in review.state.items:
        decide(review, "me", item)
    review.close()
    assert exported(tmp_path)[0] == 0
    assert (
        "Open findings\n\nWhat the rules find in approved items, which people left as they are.\n\nNone."
        in (tmp_path / "out" / "card.md").read_text("utf-8")
    )
    review = project(tmp_path, [])
    edit(review, "me", "wild_mini_1", "no such tool", "/english_answer_list/0/0/action/name")
    decide(review, "me", "wild_mini_1")
    review.close()
    shutil.rmtree(tmp_path / "out")
    status, told = exported(tmp_path)
    assert status == 2
    assert "in 1 of 2 approved items, such as wild_mini_1" in told and "--allow-findings" in told
    assert not (tmp_path / "out").exists()
    assert exported(tmp_path, "--allow-findings")[0] == 0
    assert "| wild&#95;mini&#95;1 | " in (tmp_path / "out" / "card.md").read_text("utf-8")


def test_a_release_follows_from_the_log_whatever_was_kept_beside_it(tmp_path: Path):
    review = project(tmp_path, tiny_records(3))
    for item in review.state.items:
        decide(review, "me", item)
    review.close()
    store = SqliteStore(tmp_path / "set.review.sqlite")
    kept = store.snapshot() or b""
    store.save_snapshot(9, kept.replace(b'"approved"', b'"approvee"', 1))
    store.rows("UPDATE review_log SET item = 's9' WHERE item = 's1' AND n > 3")
    store.close()
    assert exported(tmp_path)[0] == 0
    assert [row["id"] for row in rows(tmp_path / "out" / "sessions.jsonl")] == ["s0", "s1", "s2"]


def test_nothing_is_released_from_a_damaged_log(tmp_path: Path):
    review = project(tmp_path, tiny_records(2))
    decide(review, "me", "s0")
    review.close()
    store = SqliteStore(tmp_path / "set.review.sqlite")
    (line,) = [line for n, line in enumerate(store.lines(), 1) if n == 2]
    store.rows("UPDATE review_log SET line = ? WHERE n = 2", [line.replace(b"number 1", b"number 7")])
    store.close()
    status, told = exported(tmp_path)
    assert status == 2 and "line 2: was changed after it was written" in told


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path):
    review = project(tmp_path)
    decide(review, "me", "s0")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("…")
    with pytest.raises(UsageError, match=r"thesis\.tex"):
        write_release(review, tmp_path / "out")
    write_release(review, tmp_path / "new")
    write_release(review, tmp_path / "new")


def ace_folder(folder: Path) -> Path:
    """A set of one dialogue of two turns and one single call."""
    tool = {
        "name": "Weather_now",
        "description": "Tells the weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "Name of the city."}},
            "required": ["city"],
        },
    }
    made = {
        "normal_multi_turn_user_switch": [("_1000_0", "Rome"), ("_1000_1", "Paris")],
        "normal_single_turn_single_function": [("_1001", "Oslo")],
    }
    for category, records in made.items():
        questions, answers = folder / "en", folder / "en" / "possible_answer"
        answers.mkdir(parents=True, exist_ok=True)
        name = f"data_{category}.json"
        asked = [
            {"id": category + number, "question": f"user: Weather in {city}?", "function": [tool], "time": ""}
            for number, city in records
        ]
        gold = [
            {"id": category + number, "ground_truth": {"Weather_now": {"city": city}}}
            for number, city in records
        ]
        for place, lines in ((questions / name, asked), (answers / name, gold)):
            place.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def test_items_of_single_calls_and_dialogues_come_back_as_files_that_load(tmp_path: Path):
    found, place = find_set(str(ace_folder(tmp_path / "items")))
    assert found is ITEMS
    review = ReviewProject.create(SqliteStore(tmp_path / "r.sqlite"), found)
    assert review.import_items(found.read(place)) == 2
    list(review.check_items())
    assert {item.warnings for item in review.state.items.values()} == {()}
    dialogue = "en/normal_multi_turn_user_switch_1000"
    edit(review, "me", dialogue, 5, "/records/0/answer/ground_truth/Weather_now/city")
    assert review.state.items[dialogue].stale == (1,)
    findings = review.item(dialogue).findings() or []
    assert "/records/0/answer/ground_truth/Weather_now/city" in [finding.field for finding in findings]
    edit(review, "me", dialogue, "Lyon", "/records/0/answer/ground_truth/Weather_now/city")
    edit(review, "me", dialogue, "user: Weather in Lyon?", "/records/0/question/question")
    assert review.state.items[dialogue].warnings == ()
    for item in review.state.items:
        decide(review, "me", item)
    write_release(review, tmp_path / "out")
    loaded = list(ACEBENCH.load(ACEBENCH.data.locate(str(tmp_path / "out" / "items"))))
    assert sorted(item.id for item in loaded) == sorted(review.state.items)
    assert (
        '"Lyon"'
        in (tmp_path / "out/items/en/possible_answer/data_normal_multi_turn_user_switch.json").read_text()
    )
    # A later release has no file of a category of which nothing is approved any more.
    edit(review, "me", dialogue, "user: Weather in Lyon now?", "/records/0/question/question")
    write_release(review, tmp_path / "out")
    written = (path.name for path in (tmp_path / "out" / "items" / "en").glob("*.json"))
    assert list(written) == ["data_normal_single_turn_single_function.json"]


def test_doubtful_items_are_reviewed_with_the_share_of_their_judges(tmp_path: Path):
    ace_folder(tmp_path / "set" / "items")
    single = tmp_path / "set/items/en"
    name = "data_normal_single_turn_single_function.json"
    record = {"question": rows(single / name)[0], "answer": rows(single / "possible_answer" / name)[0]}
    for part in record.values():
        part["id"] = "normal_single_turn_single_function_1002"
    votes = [
        {"judge": "one", "valid": True},
        {"judge": "two", "valid": False},
        {"judge": "three", "valid": None},
    ]
    made_by = {"lang": "en", "votes": votes, "models": {"writer": "some-model"}}
    doubtful = {"item": "2", "votes": votes, "records": [record], "mended": [], "made_by": made_by}
    (tmp_path / "set" / "doubtful.jsonl").write_text(json.dumps(doubtful) + "\n")
    found, place = find_set(str(tmp_path / "set"))
    review = ReviewProject.create(SqliteStore(tmp_path / "r.sqlite"), found)
    assert review.import_items(found.read(place)) == 3
    list(review.check_items())
    item = review.state.items["en/normal_single_turn_single_function_1002"]
    assert (item.stage, round(item.confidence, 2)) == ("judged", 0.33)
    assert [one.id for one in review.state.queue("graph")] == [item.id]
    only, file = find_set(str(tmp_path / "set" / "doubtful.jsonl"))
    assert [raw.id for raw in only.read(file)] == [item.id]
