"""Checking ACEBench data: each rule finds its fault, sound data have none, and no data make it fail."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.acebench.test_data import ADJUST, SINGLE, answer, question, write
from long import a_fiftieth_of
from wildtool.benchmarks.acebench.lint import lint_folder

ERROR_PARAM, INCOMPLETE = "special_error_param", "special_incomplete"
STEP = "agent_multi_step"


def tool(name: str = "f", *required: str, **properties: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "description": "d", "parameters": parameters}


def findings(folder: Path) -> list[tuple[str, str]]:
    """Place (file name, line, id, field) and rule of each finding."""
    return [(f.where.rpartition("/")[2], f.rule) for f in lint_folder(folder)]


def rules(folder: Path) -> list[str]:
    return [rule for _, rule in findings(folder)]


def gold(folder: Path, answer_: Any, *functions: dict[str, Any]) -> list[str]:
    """The rules that a Normal record with this gold answer and these functions breaks."""
    id_ = f"{SINGLE}_0"
    return rules(write(folder, SINGLE, [question(id_, function=list(functions))], [answer(id_, answer_)]))


def special(folder: Path, category: str, faults: Any, text: str, *functions: dict[str, Any]) -> list[str]:
    asked = question(f"{category}_0", question=text, function=list(functions))
    return rules(write(folder, category, [asked], [answer(f"{category}_0", faults)]))


TEXT = {"type": "string"}

# Normal and Special ----------------------------------------------------------------------------------


def test_sound_records_have_no_findings(tmp_path: Path) -> None:
    ids = [f"{SINGLE}_{i}" for i in range(2)]
    functions = [tool("f", "a", a=TEXT, b={"type": "array", "items": TEXT}), {"name": "g", "arguments": {}}]
    golds = [{"f": {"a": "x", "b": ["y"]}}, {"f_1": {"a": "x"}, "f_2": {"a": "y"}}]
    asked = [question(id_, function=functions) for id_ in ids]
    write(tmp_path, SINGLE, asked, [answer(*pair) for pair in zip(ids, golds, strict=True)])
    assert findings(tmp_path) == []


@pytest.mark.parametrize(
    ("gold_answer", "function", "broken"),
    [
        ({"f": {"a": []}}, tool(a={"type": "array", "items": TEXT}), ["empty gold"]),
        ({"f": {"a": {}}}, tool(a={"type": "object"}), ["empty gold"]),
        ({"f": {}}, tool("f", "a", a=TEXT), ["missing required"]),
        ({"f_1": {}}, tool("f_1"), ["name with digits"]),
        ({"g": {}}, tool("f"), ["not offered"]),
        ({"f": {}}, {"name": "f", "arguments": {}}, ["not offered"]),
        ({"f": {"b": "x"}}, tool(a=TEXT), ["unknown parameter"]),
        ({"f": {"a": "1"}}, tool(a={"type": "integer"}), ["type"]),
        ({"f": {"a": True}}, tool(a={"type": "integer"}), ["type"]),
        ({"f": {"a": None}}, tool(a=TEXT), ["type"]),
        ({"f": {"a": 1.5}}, tool(a={"type": "number"}), ["type"]),
        ({"f": {"a": 1}}, tool(a={"type": "colour"}), ["type"]),
        ({"f": {"a": [1]}}, tool(a={"type": "array"}), ["array without items"]),
        ({"f": {" a": "x"}}, tool("f", **{" a": TEXT}), ["stray blanks"]),
    ],
)
def test_a_gold_answer_with_a_fault_is_found(
    gold_answer: Any, function: dict[str, Any], broken: list[str], tmp_path: Path
) -> None:
    assert gold(tmp_path, gold_answer, function) == broken


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        (1, {"type": "number"}),
        (1.5, {"type": "float"}),
        (1, {"type": "float"}),
        (True, {"type": "boolean"}),
        ({"x": 1}, {"type": "dict"}),
        ([{}], {"type": "array", "items": {"type": "object"}}),
        (None, {"type": "any"}),
        (None, {}),
    ],
)
def test_values_of_the_declared_type_are_no_finding(value: Any, schema: Any, tmp_path: Path) -> None:
    assert gold(tmp_path, {"f": {"a": value}}, tool(a=schema)) == []


def test_every_candidate_is_checked(tmp_path: Path) -> None:
    assert gold(tmp_path, [{"f": {"a": "x"}}, {"f": {}}], tool("f", "a", a=TEXT)) == ["missing required"]


def test_a_function_offered_twice_is_found(tmp_path: Path) -> None:
    assert gold(tmp_path, {"f": {}}, tool("f"), tool("f")) == ["duplicate function"]


def test_a_shorter_name_earlier_in_the_list_is_found(tmp_path: Path) -> None:
    assert gold(tmp_path, {"find_all": {}}, tool("find"), tool("find_all")) == ["not offered"]


def test_an_incomplete_answer_names_an_offered_function_and_its_parameters(tmp_path: Path) -> None:
    nested = tool("f", a={"type": "object", "properties": {"inner": TEXT}})
    assert special(tmp_path, INCOMPLETE, {"f": ["a", "inner"]}, "user: x", nested) == []
    assert special(tmp_path, INCOMPLETE, {"f": ["b"]}, "user: x", nested) == ["unknown parameter"]
    assert special(tmp_path, INCOMPLETE, {"h": ["a"]}, "user: x", nested) == ["not offered"]
    assert special(tmp_path, INCOMPLETE, {"f": [" a"]}, "user: x", nested) == ["stray blanks"]


def test_a_wrong_value_stands_in_the_question(tmp_path: Path) -> None:
    assert special(tmp_path, ERROR_PARAM, {"a": ["-5"]}, "user: minus five", tool(a=TEXT)) == [
        "not in question"
    ]
    assert special(tmp_path, ERROR_PARAM, {"a": ["-5"]}, "user: it is -5", tool(a=TEXT)) == []


# Agent -----------------------------------------------------------------------------------------------

ON: dict[str, Any] = {"BaseApi": {"wifi": True, "logged_in": True}}


def episode(folder: Path, **changed: Any) -> Path:
    """A folder with one episode that turns on the wifi, and a sandbox of which it needs just that."""
    parts: dict[str, Any] = {
        "initial_config": {"BaseApi": {"wifi": False, "logged_in": True}},
        "involved_classes": ["BaseApi"],
        "function": [tool("turn_on_wifi"), tool("login_device")],
        "ground_truth": [ON],
        "mile_stone": ["[turn_on_wifi()] "],
    } | changed
    id_ = f"{STEP}_0"
    asked = question(id_, **{key: parts[key] for key in ("initial_config", "involved_classes", "function")})
    write(folder, STEP, [asked], [answer(id_, parts["ground_truth"], mile_stone=parts["mile_stone"])])
    own = ("BaseApi.turn_on_wifi.ok", "BaseApi.login_device.ok")
    texts = {
        case: {"en": "said"}
        for case in (*own, "Execution.multi_step.exception", "Execution.multi_step.undecodable")
    }
    (folder / "sandbox_messages.json").write_text(json.dumps(texts), "utf-8")
    (folder / "sandbox_initial_state_en.json").write_text(json.dumps(ON), "utf-8")
    return folder


def test_a_sound_episode_has_no_findings(tmp_path: Path) -> None:
    assert findings(episode(tmp_path)) == []


@pytest.mark.parametrize(
    ("changed", "broken"),
    [
        ({"mile_stone": ["[login_device()]"]}, ["state"]),
        ({"mile_stone": [["[turn_on_wifi()]"], ["[login_device()]"]]}, ["state"]),
        ({"mile_stone": ["[turn_on_wifi()]", "[say(text='It's on')]"]}, ["milestone", "not offered"]),
        ({"mile_stone": ["[turn_on_wifi()]", "well"]}, ["milestone"]),
        ({"mile_stone": ["[turn_on_wifi()]", "x ("]}, ["milestone"]),
        ({"mile_stone": ["[turn_on_wifi()]", "[login_device(a='say(1)')]"]}, []),
        ({"involved_classes": ["Travel"]}, ["class"]),
        ({"function": []}, ["not offered"]),
        ({"initial_config": {"Baspi": {"wifi": False}}}, ["class"]),
        ({"ground_truth": [{"BaseAPI": ON["BaseApi"]}]}, ["class"]),
        ({"ground_truth": []}, ["class", "state"]),
        ({"ground_truth": [ON, {"Travel": {"users": {}, "reservations": []}}]}, ["class", "class", "state"]),
        ({"involved_classes": ["Nope"]}, ["class", "class"]),
        ({"ground_truth": [{"BaseApi": {"wifi": True}}]}, ["attribute", "state"]),
        ({"ground_truth": [{"BaseApi": ON["BaseApi"] | {"battery": 1}}]}, ["attribute"]),
    ],
)
def test_an_episode_with_a_fault_is_found(changed: Any, broken: list[str], tmp_path: Path) -> None:
    assert rules(episode(tmp_path, **changed)) == broken


def test_apostrophes_in_a_milestone_are_found_but_do_not_hide_where_it_leads(tmp_path: Path) -> None:
    assert rules(episode(tmp_path, mile_stone=["[turn_on_wifi(), login_device(a='It's')]"])) == ["milestone"]
    assert rules(episode(tmp_path, mile_stone=["[login_device(a='It's')]"])) == ["milestone", "state"]


@pytest.mark.parametrize("content", [None, "{", "[]", '{"BaseApi.login_device.ok": 1}'])
def test_without_usable_tables_it_is_said_that_milestones_were_not_run(
    content: str | None, tmp_path: Path
) -> None:
    table = episode(tmp_path, mile_stone=["[login_device()]"]) / "sandbox_messages.json"
    table.unlink() if content is None else table.write_text(content, "utf-8")
    assert rules(tmp_path) == ["sandbox"]


def test_tables_that_lack_an_attribute_are_named(tmp_path: Path) -> None:
    episode(tmp_path, involved_classes=["BaseApi"])
    (tmp_path / "sandbox_messages.json").write_text("{}", "utf-8")
    assert rules(tmp_path) == ["state"]


# Structure -------------------------------------------------------------------------------------------


def test_a_finding_names_file_line_id_and_field(tmp_path: Path) -> None:
    ids = [f"{SINGLE}_0", f"{SINGLE}_1"]
    write(
        tmp_path, SINGLE, [question(i) for i in ids], [answer(ids[0], {"f": {}}), answer(ids[1], {"g": {}})]
    )
    (finding,) = lint_folder(tmp_path)
    assert finding.where == f"{tmp_path}/en/possible_answer/data_{SINGLE}.json:2 {SINGLE}_1 ground_truth.g"
    assert finding.message == "the function 'g' is not offered"


def test_a_broken_line_does_not_hide_the_faults_behind_it(tmp_path: Path) -> None:
    ids = [f"{SINGLE}_{i}" for i in range(4)]
    asked = ["{broken\n", question(ids[1], question=5), question(ids[2]), question(ids[3])]
    answers = [answer(ids[0], {}), answer(ids[1], {}), answer(ids[2], []), answer(ids[3], {"g": {}})]
    found = findings(write(tmp_path, SINGLE, asked, answers))
    assert [rule for _, rule in found] == ["format", "unmatched", "format", "format", "not offered"]
    assert [place.split(":")[1].split()[0] for place, _ in found] == ["1", "1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("asked", "answered", "broken"),
    [
        ([0, 1], [1, 0], ["order"]),
        ([1, 0], [1, 0], ["order"]),
        ([0, 1], [0], ["unmatched"]),
        ([0], [0, 1], ["unmatched"]),
        ([0, 0], [0, 0], ["duplicate", "duplicate"]),
    ],
)
def test_ids_stand_once_in_order_and_in_both_files(
    asked: list[int], answered: list[int], broken: list[str], tmp_path: Path
) -> None:
    questions = [question(f"{SINGLE}_{i}") for i in asked]
    assert (
        rules(write(tmp_path, SINGLE, questions, [answer(f"{SINGLE}_{i}", {}) for i in answered])) == broken
    )


def test_two_records_of_one_turn_are_in_no_order(tmp_path: Path) -> None:
    ids = [f"{SINGLE}_0", f"{SINGLE}_00"]
    write(tmp_path, SINGLE, [question(id_) for id_ in ids], [answer(id_, {}) for id_ in ids])
    assert rules(tmp_path) == ["order"]


@pytest.mark.parametrize("id_", [None, [1], f"{SINGLE}_x", "other_0"])
def test_an_id_of_another_form_is_found(id_: Any, tmp_path: Path) -> None:
    row = question(f"{SINGLE}_0") | {"id": id_}
    assert set(rules(write(tmp_path, SINGLE, [row], [{"id": id_, "ground_truth": {}}]))) == {"format"}


def test_a_missing_answer_file_is_found(tmp_path: Path) -> None:
    write(tmp_path, SINGLE, [question(f"{SINGLE}_0")], [answer(f"{SINGLE}_0", {})])
    (tmp_path / "en" / "possible_answer" / f"data_{SINGLE}.json").unlink()
    assert rules(tmp_path) == ["files"]


def test_a_folder_without_data_is_found(tmp_path: Path) -> None:
    assert [rule for _, rule in findings(tmp_path / "absent")] == ["files"]
    (tmp_path / "en").mkdir()
    assert [rule for _, rule in findings(tmp_path)] == ["files"]


@pytest.mark.parametrize(
    ("depth", "broken"),
    [
        (100, [(f"1 {INCOMPLETE}_0 ground_truth.f", "unknown parameter")]),
        (490, [("1", "format")]),
        (100_000, [("1", "format"), (f"1 {INCOMPLETE}_0 id", "unmatched")]),
    ],
)
def test_deep_nesting_is_no_failure(depth: int, broken: list[tuple[str, str]], tmp_path: Path) -> None:
    id_ = f"{INCOMPLETE}_0"
    line = json.dumps(question(id_, function=[tool(a="deep")]))
    deep = '{"properties": {"a": ' * depth + "1" + "}}" * depth
    write(tmp_path, INCOMPLETE, [line.replace('"deep"', deep) + "\n"], [answer(id_, {"f": ["b"]})])
    file = f"data_{INCOMPLETE}.json"
    assert findings(tmp_path) == [(f"{file}:{where}", rule) for where, rule in broken]


def test_a_field_of_another_type_is_shown_unless_it_is_too_deep(tmp_path: Path) -> None:
    id_ = f"{SINGLE}_0"
    line = json.dumps(question(id_, question="deep"))
    for depth, shown in ((30, "[" * 30 + "]" * 30), (31, "[" * 31 + "]" * 29 + "…")):
        write(tmp_path, SINGLE, [line.replace('"deep"', "[" * depth + "]" * depth) + "\n"], [answer(id_, {})])
        (finding,) = lint_folder(tmp_path)
        assert finding.message.endswith(f"field question: expected a text, found {shown}")
    write(tmp_path, SINGLE, [line.replace('"deep"', "[" * 990 + "]" * 990) + "\n"], [answer(id_, {})])
    (finding,) = lint_folder(tmp_path)
    assert finding.message.rpartition("found ")[2] in ("what is nested too deeply", "[" * 60 + "…")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abf"), inner, max_size=3),
    max_leaves=8,
)


@settings(
    max_examples=a_fiftieth_of(1_000),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(category=st.sampled_from([SINGLE, ADJUST, INCOMPLETE, ERROR_PARAM, STEP]), data=st.data())
def test_no_data_make_it_fail(category: str, data: st.DataObject, tmp_path: Path) -> None:
    id_ = f"{category}_0_0" if category == ADJUST else f"{category}_0"
    functions = data.draw(
        st.lists(st.fixed_dictionaries({"name": st.sampled_from("fg"), "parameters": json_values}))
    )
    properties = data.draw(st.dictionaries(st.sampled_from("ab"), json_values))
    asked = question(
        id_,
        function=[*functions, tool("f", **properties)],
        initial_config=data.draw(st.dictionaries(st.just("BaseApi"), json_values)),
        involved_classes=data.draw(st.lists(st.sampled_from(["BaseApi", "Travel", "x"]))),
    )
    gold_answer = data.draw(
        json_values
        | st.dictionaries(st.sampled_from("fg"), st.dictionaries(st.sampled_from("ab"), json_values))
    )
    answered = answer(
        id_, gold_answer, mile_stone=data.draw(st.lists(st.text() | st.just("[turn_on_wifi()]")))
    )
    episode(tmp_path)
    write(tmp_path, category, [asked], [answered])
    assert all(finding.where and finding.rule and finding.message for finding in lint_folder(tmp_path))


# The official data -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found(official: Path) -> list[tuple[str, str, str]]:
    """Language, rule, and record with field of each finding about the official data."""
    listed = [(finding, finding.where.removeprefix(f"{official}/")) for finding in lint_folder(official)]
    return [(where[:2], finding.rule, where.partition(" ")[2]) for finding, where in listed]


def records(found: list[tuple[str, str, str]], lang: str, rule: str) -> set[str]:
    return {where.split()[0] for code, name, where in found if (code, name) == (lang, rule)}


@pytest.mark.long
def test_the_official_data_have_98_findings_as_the_page_says(found: list[tuple[str, str, str]]) -> None:
    assert len(found) == 98


@pytest.mark.long
def test_the_known_faults_of_normal_records_are_found(found: list[tuple[str, str, str]]) -> None:
    parallel = "normal_single_turn_parallel_function"
    assert records(found, "en", "empty gold") == {f"{parallel}_42"}
    assert records(found, "zh", "empty gold") == {f"{parallel}_45", f"{parallel}_80", "normal_atom_list_28"}
    assert records(found, "en", "array without items") == {"normal_preference_40"}
    assert records(found, "zh", "missing required") == {"normal_atom_object_short_1"}
    assert records(found, "zh", "name with digits") == {"normal_similar_api_2", "normal_similar_api_22"}
    assert {"normal_preference_38", f"{parallel}_84"} < records(found, "en", "type")
    assert [sum(f[:2] == (lang, "type") for f in found) for lang in ("en", "zh")] == [10, 26]


@pytest.mark.long
def test_the_known_faults_of_special_records_are_found(found: list[tuple[str, str, str]]) -> None:
    assert records(found, "en", "stray blanks") == {"special_incomplete_0"}
    assert records(found, "en", "not in question") == {"special_error_param_37"}
    assert records(found, "zh", "not in question") == set()


@pytest.mark.long
def test_the_known_faults_of_episodes_are_found(found: list[tuple[str, str, str]]) -> None:
    misspelt = {"agent_multi_step_0", "agent_multi_step_1", "agent_multi_turn_7", "agent_multi_turn_9"}
    assert records(found, "en", "class") == misspelt
    assert records(found, "zh", "class") == misspelt | {"agent_multi_turn_12"}
    assert len(records(found, "en", "milestone")) == 12
    assert records(found, "zh", "milestone") == set()
    assert records(found, "zh", "not offered") == {"agent_multi_turn_26", "agent_multi_turn_27"}


@pytest.mark.long
@pytest.mark.parametrize(
    ("lang", "category", "reached"),
    [("en", "step", 12), ("en", "turn", 29), ("zh", "step", 14), ("zh", "turn", 29)],
)
def test_so_many_first_lists_of_milestones_reach_the_gold_state(
    lang: str, category: str, reached: int, found: list[tuple[str, str, str]]
) -> None:
    missed = [
        where
        for code, rule, where in found
        if (code, rule) == (lang, "state")
        and where.startswith(f"agent_multi_{category}_")
        and "[1]" not in where
    ]
    assert {"step": 20, "turn": 30}[category] - len(missed) == reached
