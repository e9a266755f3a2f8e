"""ACEBench's own result files are read as records; what they lack of an episode is rebuilt exactly."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from benchmarks.acebench.sandbox_build import edition, record
from parity.cases import oracle_folder, present, rows
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.data import AGENT, ItemData, read_items
from wildtool.benchmarks.acebench.episode.official import (
    OfficialAgentEpisode,
    OfficialMultiStepEpisode,
    OfficialMultiTurnEpisode,
)
from wildtool.benchmarks.acebench.results import episode_transcript
from wildtool.cli import app
from wildtool.engine.replies import import_replies
from wildtool.episode import replay
from wildtool.errors import DataError
from wildtool.types import Item, Transcript

ADJUST = "normal_multi_turn_user_adjust"
INCOMPLETE = "special_incomplete"


def write(folder: Path, category: str, *lines: Any, name: str = "result_en/some-model") -> Path:
    path = folder / name / f"data_{category}_result.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def read(path: Path) -> list[tuple[str, str, dict[str, Transcript]]]:
    results = ACEBENCH.data.read_results(path, {}, ACEBENCH.mode)
    assert results is not None
    return [(row.model, row.item, dict(row.units)) for row in results.rows]


def texts(transcript: Transcript) -> list[Any]:
    return [reply.message["content"] for reply in transcript.replies]


def test_the_lines_of_a_dialogue_are_units_of_one_item(tmp_path: Path) -> None:
    lines = [{"id": f"{ADJUST}_{name}", "result": f"[f(a={name!r})]"} for name in ("0_0", "0_1", "1_0")]
    (model, first, units), (_, second, _) = read(write(tmp_path, ADJUST, *lines))
    assert (model, first, second) == ("some-model", f"en/{ADJUST}_0", f"en/{ADJUST}_1")
    assert {unit: texts(transcript) for unit, transcript in units.items()} == {
        "0": ["[f(a='0_0')]"],
        "1": ["[f(a='0_1')]"],
    }


def test_a_record_without_dialogue_has_unit_0(tmp_path: Path) -> None:
    ((_, item, units),) = read(write(tmp_path, INCOMPLETE, {"id": f"{INCOMPLETE}_7", "result": "x"}))
    assert (item, list(units)) == (f"en/{INCOMPLETE}_7", ["0"])


def test_an_answer_of_none_is_a_reply_without_text(tmp_path: Path) -> None:
    ((_, _, units),) = read(write(tmp_path, INCOMPLETE, {"id": f"{INCOMPLETE}_0", "result": None}))
    assert texts(units["0"]) == [None]


@pytest.mark.parametrize(
    ("folders", "item", "model"),
    [
        ("result_zh/org/model", f"zh/{INCOMPLETE}_0", "org/model"),
        ("model/zh", f"zh/{INCOMPLETE}_0", "model"),
        ("result_zh/en/model", f"en/{INCOMPLETE}_0", "model"),
    ],
)
def test_the_innermost_folder_of_a_language_tells_language_and_model(
    tmp_path: Path, folders: str, item: str, model: str
) -> None:
    path = write(tmp_path, INCOMPLETE, {"id": f"{INCOMPLETE}_0", "result": "x"}, name=folders)
    ((found_model, found_item, _),) = read(path)
    assert (found_item, found_model) == (item, model)


def test_a_folder_is_read_file_by_file(tmp_path: Path) -> None:
    for lang in ("en", "zh"):
        write(tmp_path, INCOMPLETE, {"id": f"{INCOMPLETE}_0", "result": "x"}, name=f"result_{lang}/m")
    assert [item for _, item, _ in read(tmp_path)] == [f"en/{INCOMPLETE}_0", f"zh/{INCOMPLETE}_0"]


def test_a_folder_of_several_models_becomes_a_run_of_each(tmp_path: Path) -> None:
    line = {"id": "agent_finance_multi_step_0", "result": [], "process": []}
    for model in ("some-model", "other-model"):
        write(tmp_path / "results", "agent_finance_multi_step", line, name=f"result_en/{model}")
    runs = import_replies(ACEBENCH, ACEBENCH.data.locate("finance"), tmp_path / "results", tmp_path / "runs")
    assert [run.name for run in runs] == ["other-model", "some-model"]


def test_a_folder_without_result_files_holds_no_replies(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a folder without result files of acebench's original tool"):
        import_replies(ACEBENCH, ACEBENCH.data.locate("finance"), tmp_path, tmp_path / "runs")


def test_a_file_whose_language_cannot_be_told_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, INCOMPLETE, {"id": f"{INCOMPLETE}_0", "result": "x"}, name="some-model")
    with pytest.raises(DataError, match="which language is it"):
        read(path)


@pytest.mark.parametrize(
    "first", [{"item": "x", "tasks": []}, {"id": "session_1", "result": []}, {"id": f"{ADJUST}_0_0"}]
)
def test_other_files_are_left_to_others(tmp_path: Path, first: Any) -> None:
    assert ACEBENCH.data.read_results(write(tmp_path, ADJUST, first), {}, "chat") is None


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"id": "odd_0", "result": ""}, "field id: expected an id like"),
        ({"id": f"{INCOMPLETE}_0", "result": "x"}, "field id: expected an id that occurs once"),
        ({"id": "agent_multi_step_0", "result": []}, "field process: expected a list, found null"),
        ({"id": "agent_multi_step_0", "result": [], "process": ["f"] * 1001}, "at most 1000 messages"),
    ],
)
def test_a_fault_names_file_line_and_field(tmp_path: Path, line: Any, said: str) -> None:
    path = write(tmp_path, INCOMPLETE, {"id": f"{INCOMPLETE}_0", "result": "x"}, line)
    with pytest.raises(DataError, match=rf"_result\.json:2 .*{said}"):
        read(path)


def test_an_episode_is_its_messages_to_the_sandbox_and_then_the_end(tmp_path: Path) -> None:
    lines = [{"id": f"agent_multi_{kind}_0", "result": [], "process": ["[f()]"]} for kind in ("step", "turn")]
    (_, _, step), (_, _, turn) = read(write(tmp_path, "agent_multi_step", *lines))
    assert texts(step["0"])[:2] == ["[f()]", "finish conversation"]
    assert texts(turn["0"])[1:3] == ["[f()]", "finish conversation"]


@pytest.mark.long
def test_a_rebuilt_episode_ends_in_the_state_of_the_original() -> None:
    cases = present(oracle_folder("acebench"))
    official = present(cases.parents[1] / "data" / "acebench")
    episodes = {item.id: item.data for item in read_items(official, AGENT)}
    compared = 0
    for case in rows(cases / "agent_episodes.jsonl.gz"):
        data = episodes[f"{case['lang']}/{case['id']}"]
        multi_turn = case["category"] == "agent_multi_turn"
        episode = (OfficialMultiTurnEpisode if multi_turn else OfficialMultiStepEpisode)(
            data.records[0], data.edition
        )
        assert replay(episode, episode_transcript(case["process"], multi_turn=multi_turn))
        where = (case["lang"], case["id"], case["variant"])
        assert (episode.result(), episode.process) == (case["result"], case["process"]), where
        compared += 1
    assert compared > 1_000


@pytest.mark.parametrize("result", [["x"], {"a": 1}, 5, True, None])
@pytest.mark.parametrize("category", [INCOMPLETE, "normal_atom_bool"])
def test_a_result_that_is_no_text_stays_as_it_is(tmp_path: Path, category: str, result: Any) -> None:
    lines = [{"id": f"{category}_0", "result": result}, {"id": f"{category}_1", "result": "x"}]
    rows_read = read(write(tmp_path, category, *lines))
    assert [texts(units["0"]) for _, _, units in rows_read] == [[result], ["x"]]


@pytest.mark.parametrize("multi_turn", [False, True])
@pytest.mark.parametrize("length", [1, 19, 20, 21, 30, 60])
def test_all_messages_of_a_longer_episode_are_judged(multi_turn: bool, length: int) -> None:
    category = "agent_multi_turn" if multi_turn else "agent_multi_step"
    item = Item("en/x", ("0",), ItemData((replace(record(), category=category),), edition()))
    process = ["[turn_on_wifi()]"] * length
    transcript = episode_transcript(process, multi_turn=multi_turn)
    played = ACEBENCH.rules("official").recorded_episode(item, item.units[0], transcript)
    assert replay(played, transcript)
    assert isinstance(played, OfficialAgentEpisode)
    assert played.process == process


def test_a_result_file_with_a_missing_line_says_so_in_the_table(tmp_path: Path) -> None:
    category = "normal_atom_bool"
    parameters = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    function = {"name": "f", "parameters": parameters}
    ids = [f"{category}_{number}" for number in range(4)]
    asked = {"question": "user: Do it.\n", "function": [function], "time": ""}
    for folder, more in (("en", asked), ("en/possible_answer", {"ground_truth": {"f": {"a": "x"}}})):
        (tmp_path / "data" / folder).mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps({"id": id_, **more}) + "\n" for id_ in ids)
        (tmp_path / "data" / folder / f"data_{category}.json").write_text(lines)
    write(
        tmp_path,
        category,
        *({"id": id_, "result": "[f(a='x')]"} for id_ in ids[:2]),
        {"id": ids[3], "result": ["x"]},
    )
    line = f"score --benchmark acebench --data {tmp_path / 'data'} --replies {tmp_path / 'result_en'}"
    shown = CliRunner().invoke(app, line.split(), prog_name="wildtool").stdout
    assert "2/3" in shown
    assert "3 of 4" in shown


def test_a_line_nested_too_deep_is_refused_by_its_number(tmp_path: Path) -> None:
    path = write(tmp_path, INCOMPLETE, {"id": f"{INCOMPLETE}_0", "result": "x"})
    with path.open("a") as file:
        file.write("\n" + '{"id": "b", "result": ' + "[" * 2000 + "]" * 2000 + "}\n")
    with pytest.raises(DataError, match=r":\d: .*JSON nested deeper"):
        read(path)
