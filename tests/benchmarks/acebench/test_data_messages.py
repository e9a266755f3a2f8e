"""What is said of ACEBench's files that cannot be read, word for word, and what of them is read."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.acebench.test_data import ADJUST, SINGLE, TOOL, answer, question, write
from benchmarks.acebench.test_lint import ON, episode
from benchmarks.data_fault import fault_of
from wildtool.benchmarks.acebench.data import (
    AGENT,
    ATOM,
    CATEGORIES,
    FINANCE,
    MULTI_TURN,
    NORMAL,
    SPECIAL,
    SPLITS,
    categories_in,
    categories_of,
    folder_languages,
    is_agent,
    is_multi_turn_agent,
    read_category,
    read_items,
)
from wildtool.benchmarks.acebench.episode.base import EPISODE_MESSAGES, MAX_MESSAGES
from wildtool.benchmarks.acebench.results import (
    MAX_PROCESS_MESSAGES,
    UNKNOWN_OPENING,
    episode_transcript,
    read_results,
)
from wildtool.data.data_set import ResultRow
from wildtool.types import Reply, Transcript

STEP, INCOMPLETE, IRRELEVANT = "agent_multi_step", "special_incomplete", "special_irrelevant"
PREFERENCE = "normal_preference"


def test_a_split_is_a_group_or_one_category() -> None:
    groups = {
        "normal": NORMAL,
        "special": SPECIAL,
        "agent": AGENT,
        "atom": ATOM,
        "multi_turn": MULTI_TURN,
        "test_all": CATEGORIES,
        "agent_finance": FINANCE,
    }
    assert groups | {name: (name,) for name in (*CATEGORIES, *FINANCE)} == SPLITS
    assert (*NORMAL, *SPECIAL, *AGENT) == CATEGORIES
    assert [name.removeprefix("normal_atom_") for name in ATOM] == [
        "bool",
        "enum",
        "number",
        "list",
        "object_short",
        "object_deep",
    ]
    assert (categories_of("agent"), categories_of(STEP)) == (AGENT, (STEP,))
    names = (*CATEGORIES, *FINANCE)
    assert [name for name in names if is_agent(name)] == [*AGENT, *FINANCE]
    assert [name for name in names if is_multi_turn_agent(name)] == [AGENT[1], FINANCE[1]]
    assert not is_multi_turn_agent("normal_multi_turn")


GOLD = {"f": {}}
AGENT_QUESTION = {"initial_config": {}, "involved_classes": ["BaseApi"]}
AGENT_ANSWER = {"mile_stone": ["[f()]"]}
Q, A = "en/data_{}.json:1 (id {!r}): field ", "en/possible_answer/data_{}.json:1 (id {!r}): field "


@pytest.mark.parametrize(
    ("category", "asked", "answered", "fault"),
    [
        (SINGLE, {"id": 3}, {"id": 3}, Q + "id: expected a text, found 3"),
        (SINGLE, {"id": "x"}, {"id": "x"}, Q + f'id: expected an id like {SINGLE}_0, found "x"'),
        *(
            (SINGLE, {"id": id_}, {"id": id_}, Q + f'id: expected an id like {SINGLE}_0, found "{id_}"')
            for id_ in (f"{SINGLE}_", f"{SINGLE}_1_2", f"x{SINGLE}_1", f"{SINGLE}_1 ")
        ),
        (ADJUST, {}, {}, Q + f'id: expected an id like {ADJUST}_0_0, found "{ADJUST}_0"'),
        (
            SINGLE,
            {},
            {"id": "y"},
            "en/possible_answer/data_{}.json:1 (id 'y'): field id: expected"
            f" '{SINGLE}_0', the id of en/data_{SINGLE}.json:1, found \"y\"",
        ),
        (SINGLE, {"question": None}, {}, Q + "question: expected a text, found null"),
        (SINGLE, {"function": {}}, {}, Q + "function: expected a list, found {{}}"),
        (SINGLE, {"function": [TOOL, 3]}, {}, Q + "function[1]: expected an object, found 3"),
        (SINGLE, {"function": [TOOL, {}]}, {}, Q + "function[1].name: expected a text, found null"),
        (SINGLE, {"time": 3}, {}, Q + "time: expected a text, found 3"),
        (PREFERENCE, {"profile": ["x" * 56]}, {}, Q + 'profile: expected a text, found ["' + "x" * 56 + '"]'),
        (PREFERENCE, {"profile": ["x" * 57]}, {}, Q + 'profile: expected a text, found ["' + "x" * 57 + '"…'),
        (PREFERENCE, {"profile": ["x" * 70]}, {}, Q + 'profile: expected a text, found ["' + "x" * 58 + "…"),
        (SINGLE, {}, {"ground_truth": 3}, A + "ground_truth: expected an object, found 3"),
        (SINGLE, {}, {"ground_truth": []}, A + "ground_truth: expected at least one answer, found []"),
        (SINGLE, {}, {"ground_truth": [{}, 3]}, A + "ground_truth[1]: expected an object, found 3"),
        (
            SINGLE,
            {},
            {"ground_truth": {"f": 3}},
            A + "ground_truth.f: expected an object of arguments, found 3",
        ),
        (
            SINGLE,
            {},
            {"ground_truth": [{"f": {}}, {"g": "ü"}]},
            A + 'ground_truth[1].g: expected an object of arguments, found "\\u00fc"',
        ),
        (IRRELEVANT, {}, {"ground_truth": {}}, A + "ground_truth: expected a text, found {{}}"),
        (INCOMPLETE, {}, {"ground_truth": []}, A + "ground_truth: expected an object, found []"),
        (INCOMPLETE, {}, {"ground_truth": {}}, A + "ground_truth: expected at least one entry, found {{}}"),
        (
            INCOMPLETE,
            {},
            {"ground_truth": {"f": [3]}},
            A + "ground_truth.f: expected a list of texts, found [3]",
        ),
        (INCOMPLETE, {"time": None}, {"ground_truth": {"f": []}}, Q + "time: expected a text, found null"),
        (
            STEP,
            AGENT_QUESTION | {"initial_config": {"BaseApi": 3}},
            AGENT_ANSWER,
            Q + "initial_config.BaseApi: expected an object of attributes, found 3",
        ),
        (
            STEP,
            AGENT_QUESTION | {"involved_classes": [3]},
            AGENT_ANSWER,
            Q + "involved_classes: expected a list of class names, found [3]",
        ),
        (STEP, AGENT_QUESTION, AGENT_ANSWER, A + "ground_truth: expected a list, found " + '{{"f": {{}}}}'),
        (
            STEP,
            AGENT_QUESTION,
            AGENT_ANSWER | {"ground_truth": [{"BaseApi": {}}, {"A": 3}]},
            A + "ground_truth[1].A: expected an object of attributes, found 3",
        ),
        (
            STEP,
            AGENT_QUESTION,
            {"ground_truth": [], "mile_stone": "x"},
            A + 'mile_stone: expected a list, found "x"',
        ),
        (
            STEP,
            AGENT_QUESTION,
            {"ground_truth": [], "mile_stone": [["x"], "y"]},
            A + 'mile_stone[1]: expected a list of messages, found "y"',
        ),
    ],
)
def test_a_line_that_cannot_be_read_is_named(
    tmp_path: Path, category: str, asked: dict[str, Any], answered: dict[str, Any], fault: str
) -> None:
    id_ = f"{category}_0"
    folder = write(tmp_path, category, [question(id_) | asked], [answer(id_, GOLD) | answered])
    message = fault_of(lambda: read_category(folder, "en", category)).replace(f"{tmp_path}/", "")
    assert message == fault.format(category, answered.get("id", asked.get("id", id_)))


def test_files_that_do_not_fit_are_named(tmp_path: Path) -> None:
    ids = [f"{SINGLE}_{number}" for number in range(3)]
    path = tmp_path / "en" / f"data_{SINGLE}.json"
    answers = path.parent / "possible_answer" / path.name

    def fault(asked: list[Any], answered: list[Any]) -> str:
        write(tmp_path, SINGLE, asked, answered)
        return fault_of(lambda: read_category(tmp_path, "en", SINGLE))

    asked, answered = [question(id_) for id_ in ids], [answer(id_, GOLD) for id_ in ids]
    assert fault(asked, answered[:1]) == f"{answers}: expected 3 answers, as {path} has; found 1"
    assert fault(asked[:1], answered) == f"{answers}: expected 1 answers, as {path} has; found 3"
    assert fault([asked[0], asked[0]], [answered[0], answered[0]]) == (
        f"{path} (id {ids[0]!r}): expected ascending ids, found it after {ids[0]!r}"
    )
    assert fault([asked[1], asked[0]], [answered[1], answered[0]]) == (
        f"{path} (id {ids[0]!r}): expected ascending ids, found it after {ids[1]!r}"
    )
    assert fault([asked[0], "\n", "[]\n"], answered[:1]) == f"{path}:3: expected a JSON object, found list"
    assert fault(["{\n"], []).startswith(f"{path}:1: not a JSON object (")
    answers.unlink()
    assert fault_of(lambda: read_category(tmp_path, "en", SINGLE)) == (
        f"{answers.parent}: expected {path.name} or {path.name}.gz, found neither"
    )


def test_languages_and_categories_of_a_folder_are_those_that_it_has(tmp_path: Path) -> None:
    missing = f"{tmp_path}: no folder en or zh; give a folder of ACEBench files"
    assert fault_of(lambda: folder_languages(tmp_path)) == missing
    write(tmp_path, SINGLE, [], [], "zh")
    assert folder_languages(tmp_path) == folder_languages(tmp_path, "zh") == ["zh"]
    assert fault_of(lambda: folder_languages(tmp_path, "en")) == f"{tmp_path}: no language 'en'; it has zh"
    write(tmp_path, FINANCE[0], [], [], "zh")
    (tmp_path / "zh" / f"data_{SPECIAL[0]}.json.gz").write_bytes(b"")
    (tmp_path / "zh" / "data_other.json").write_bytes(b"")
    assert categories_in(tmp_path, "zh") == [SINGLE, SPECIAL[0], FINANCE[0]]
    (tmp_path / "en").mkdir()
    assert folder_languages(tmp_path) == ["en", "zh"]
    assert fault_of(lambda: categories_in(tmp_path, "en")) == (
        f"{tmp_path / 'en'}: expected files like data_{CATEGORIES[0]}.json, found none"
    )


def test_an_episode_must_have_the_classes_of_the_sandbox(tmp_path: Path) -> None:
    for name in ("Nope", "Travel"):
        episode(tmp_path, involved_classes=["BaseApi", name])
        assert fault_of(lambda: list(read_items(tmp_path))) == (
            f"{tmp_path / 'en'} (id '{STEP}_0'): field involved_classes: expected classes among BaseApi, found {name!r}"
        )
    (item,) = read_items(episode(tmp_path))
    assert (item.id, item.units, item.split, item.lang, item.roles) == (
        f"en/{STEP}_0",
        ("0",),
        STEP,
        "en",
        (),
    )
    (record,) = item.data.records
    assert record.end_state == (ON,)
    assert record.milestone_lists == (("[turn_on_wifi()] ",),)


# Result files ----------------------------------------------------------------------------------------


def results(folder: Path, name: str, *lines: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return folder / name


def rows(path: Path) -> list[ResultRow]:
    found = read_results(path, {}, "text")
    assert found is not None
    return list(found.rows)


def replies(*texts: Any) -> Transcript:
    return Transcript(tuple(Reply({"role": "assistant", "content": text}) for text in texts))


def test_results_are_read_by_id_with_model_and_language_of_their_folders(tmp_path: Path) -> None:
    first = results(
        tmp_path / "zh" / "result_en" / "org" / "gpt",
        f"data_{ADJUST}_result.json",
        {"id": f"{ADJUST}_1_0", "result": "a"},
        {"id": f"{ADJUST}_01_1", "result": 3},
        {"id": f"{ADJUST}_2_0", "result": None},
    )
    second = results(tmp_path / "zh", f"data_{SINGLE}_result.json", {"id": f"{SINGLE}_7", "result": "b"})
    assert rows(tmp_path) == [
        ResultRow(str(second), tmp_path.name, f"zh/{SINGLE}_7", {"0": replies("b")}),
        ResultRow(str(first), "org/gpt", f"en/{ADJUST}_1", {"0": replies("a"), "1": replies(3)}),
        ResultRow(str(first), "org/gpt", f"en/{ADJUST}_2", {"0": replies(None)}),
    ]
    assert rows(first) == rows(tmp_path)[1:]
    assert read_results(tmp_path / "none", {}, "text") is None
    for line in ({"id": 3, "result": ""}, {"id": f"{SINGLE}_0"}, {"id": f"{SINGLE}_x", "result": ""}, {}):
        assert read_results(results(tmp_path / "x", "other.json", line), {}, "text") is None
    (tmp_path / "x" / "other.json").write_text("{", "utf-8")
    assert read_results(tmp_path / "x" / "other.json", {}, "text") is None
    assert read_results(tmp_path / "x", {}, "text") is None


def test_results_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    name = f"data_{SINGLE}_result.json"
    good = {"id": f"{SINGLE}_0", "result": "a"}
    path = results(tmp_path / "en" / "m", name, good, good)
    assert fault_of(lambda: rows(path)) == (
        f"{path}:2 (id '{SINGLE}_0'): field id: expected an id that occurs once, found \"{SINGLE}_0\""
    )
    path = results(tmp_path / "en" / "m", name, good, {"id": "x", "result": "a"})
    assert fault_of(lambda: rows(path)) == (
        f"{path}:2 (id 'x'): field id: expected an id like {CATEGORIES[0]}_0, found \"x\""
    )
    path = results(tmp_path / "fr" / "m", name, good)
    assert fault_of(lambda: rows(path)) == (
        f"{path}: which language is it? Result files do not say; put it into a folder en or zh or result_en or result_zh"
    )
    many = {"id": f"{STEP}_0", "result": "", "process": [""] * (MAX_PROCESS_MESSAGES + 1)}
    path = results(tmp_path / "en" / "m", f"data_{STEP}_result.json", many)
    assert fault_of(lambda: rows(path)).startswith(
        f"{path}:1 (id '{STEP}_0'): field process: expected at most 1000 messages, found ["
    )
    (row,) = rows(results(tmp_path / "en" / "m", path.name, many | {"process": many["process"][1:]}))
    assert len(row.units["0"].replies) == MAX_PROCESS_MESSAGES + 3


def test_an_episode_is_what_the_sandbox_was_sent_and_three_ends() -> None:
    ends = ["finish conversation"] * 3
    assert episode_transcript(["[a()]", "[b()]"], multi_turn=False) == replies("[a()]", "[b()]", *ends)
    assert episode_transcript([], multi_turn=True) == replies(UNKNOWN_OPENING, *ends)
    lengths = [
        episode_transcript(["x"] * count, multi_turn=False).replies[0].message.get(EPISODE_MESSAGES)
        for count in (18, 19, 20, 21)
    ]
    needed = [2 * count + 1 for count in (18, 19, 20, 21)]
    assert lengths == [count if count > MAX_MESSAGES else None for count in needed]
    assert None in lengths and needed[-1] in lengths
