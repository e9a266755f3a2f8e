"""Describing ACEBench data: what is counted, and the totals of the official data."""

from pathlib import Path

import pytest

from benchmarks.acebench.test_data import ADJUST, SINGLE, TOOL, answer, question, write
from wildtool.benchmarks.acebench.stats import stats
from wildtool.errors import DataError


def counts(folder: Path) -> dict[str, dict[str, float | None]]:
    groups: dict[str, dict[str, float | None]] = {}
    for metric in stats(folder):
        assert metric.kind == "count"
        groups.setdefault(metric.group, {})[metric.name] = metric.value
    return groups


def test_the_turns_of_a_dialogue_are_records_of_one_dialogue(tmp_path: Path) -> None:
    ids = [f"{ADJUST}_0_0", f"{ADJUST}_0_1", f"{ADJUST}_1_0"]
    write(tmp_path, ADJUST, [question(i) for i in ids], [answer(i, {"f": {}}) for i in ids])
    found = counts(tmp_path)
    assert found["records (en)"] == {ADJUST: 3}
    assert found["dialogues (en)"] == {ADJUST: 2}


def test_gold_calls_are_those_of_the_first_candidate(tmp_path: Path) -> None:
    gold = [{"f_1": {}, "f_2": {}}, {"f": {}}]
    write(tmp_path, SINGLE, [question(f"{SINGLE}_0")], [answer(f"{SINGLE}_0", gold)])
    assert counts(tmp_path)["gold calls (en)"] == {SINGLE: 2}


def test_milestones_are_those_of_the_first_list(tmp_path: Path) -> None:
    asked = {"initial_config": {}, "involved_classes": []}
    ids = ["agent_multi_step_0", "agent_multi_step_1"]
    answers = [answer(ids[0], [], mile_stone=["a", "b"]), answer(ids[1], [], mile_stone=[["c"], ["d", "e"]])]
    write(tmp_path, "agent_multi_step", [question(i, **asked) for i in ids], answers)
    assert counts(tmp_path)["milestones (en)"] == {"agent_multi_step": 3}


def test_a_dialogue_has_the_turns_of_its_user_and_a_gold_call_its_arguments(tmp_path: Path) -> None:
    category = "normal_multi_turn_user_adjust"
    said = ("user: One.\n", "user: One.\nsystem: Where?\nuser: Two.\n", "user: Alone.\n")
    ids = (f"{category}_0_0", f"{category}_0_1", f"{category}_1_0")
    gold = ({"f": {"a": 1, "b": 2}}, {"f": {"a": 1}}, {"f": {}})
    questions = [question(name, question=text) for name, text in zip(ids, said, strict=True)]
    write(tmp_path, category, questions, [answer(*each) for each in zip(ids, gold, strict=True)])
    found = counts(tmp_path)
    assert found["user turns of a dialogue (en)"] == {"1": 1, "2": 1}
    assert found["arguments of a gold call (en)"] == {"0": 1, "1": 1, "2": 1}


def test_parameters_are_counted_by_declared_type_and_distractors_have_none(tmp_path: Path) -> None:
    properties = {"a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "array"}, "d": {}, "e": 1}
    functions = [TOOL | {"parameters": {"properties": properties}}, {"name": "g", "arguments": {"x": 1}}]
    write(tmp_path, SINGLE, [question(f"{SINGLE}_0", function=functions)], [answer(f"{SINGLE}_0", {})])
    found = counts(tmp_path)
    assert found["parameter type (en)"] == {"string": 2, "none declared": 2, "array": 1}
    assert found["functions offered (en)"] == {SINGLE: 2}
    assert found["size (en)"]["distinct function names"] == 2


def test_each_language_is_described_apart(tmp_path: Path) -> None:
    for lang, count in (("en", 1), ("zh", 2)):
        ids = [f"{SINGLE}_{i}" for i in range(count)]
        write(tmp_path, SINGLE, [question(i) for i in ids], [answer(i, {}) for i in ids], lang)
    found = counts(tmp_path)
    assert (found["size (en)"]["records"], found["size (zh)"]["records"]) == (1, 2)


def test_a_record_that_cannot_be_read_is_a_data_error(tmp_path: Path) -> None:
    write(tmp_path, SINGLE, [question(f"{SINGLE}_0", question=1)], [answer(f"{SINGLE}_0", {})])
    with pytest.raises(DataError, match="field question"):
        stats(tmp_path)


@pytest.mark.long
def test_the_official_data_have_the_totals_of_the_specification(official: Path) -> None:
    found = counts(official)
    assert found["size (en)"] == {
        "records": 1023,
        "dialogues": 900,
        "functions offered": 3878,
        "gold calls": 1008,
        "milestones": 234,
        "distinct function names": 2329,
    }
    assert found["size (zh)"]["records"] == 1017
    assert found["size (zh)"]["functions offered"] == 3689
    assert found["size (zh)"]["distinct function names"] == 1950
    assert found["records (en)"][ADJUST] == 123
    assert found["records (zh)"][ADJUST] == 116
    for lang in ("en", "zh"):
        dialogues = found[f"dialogues ({lang})"]
        assert sum(n or 0 for category, n in dialogues.items() if category.startswith("normal")) == 700
