"""Fresh values: entities change everywhere alike, all else stays, and what is unclear is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from generate.procedural.test_procedural import findings, gold_verdicts, made
from long import WHOLE
from wildtool.benchmarks.wildtoolbench.data import VIRTUAL, WILD_MINI_FILE
from wildtool.errors import DataError
from wildtool_data.make.refresh.entities import UnclearError, find_entities, fixed_values
from wildtool_data.make.refresh.refresh import UnchangedSession, refresh_file, refresh_session

MINI_SESSIONS = [json.loads(line) for line in WILD_MINI_FILE.read_text("utf-8").splitlines()]
SESSIONS = [*MINI_SESSIONS, *made(32)]
IDS = [record["id"] for record in SESSIONS]
EACH = 1 if WHOLE else 4
"""Which sessions are looked at where one test looks at all: each of them, or each fourth."""


def prefix_of(record: dict[str, Any]) -> str:
    return next(key for key in record if key.endswith("_tasks")).removesuffix("_tasks")


def calls(record: dict[str, Any]) -> list[Any]:
    nodes = [node for task in record[f"{prefix_of(record)}_answer_list"] for node in task]
    return [node["action"]["arguments"] for node in nodes if node["action"]["name"] not in VIRTUAL]


def shape(value: Any) -> Any:
    """A JSON value without its scalars."""
    if isinstance(value, dict):
        return {key: shape(child) for key, child in value.items()}
    return [shape(child) for child in value] if isinstance(value, list) else type(value)


def one(text: str, observation: Any, then: str = "Done.", **arguments: Any) -> dict[str, Any]:
    """A session of one call and a chat after it."""
    properties = {name: {"type": "string", "description": name} for name in arguments}
    node = {
        "idx": 0,
        "action": {"name": "do", "arguments": arguments},
        "observation": observation,
        "dependency_list": [],
    }
    final = {
        "action": {"name": "prepare_to_answer", "arguments": {"answer_type": "tool"}},
        "observation": then,
    }
    schema = {"type": "object", "properties": properties, "required": []}
    return {
        "id": "one",
        "english_env_info": "2025-05-06 08:12:00 Tuesday",
        "english_tools": [
            {"type": "function", "function": {"name": "do", "description": "Does.", "parameters": schema}}
        ],
        "english_tasks": [text],
        "english_answer_list": [[node, {**final, "idx": 1, "dependency_list": [0]}]],
        "english_task_types": ["Single-Tool"],
        "english_turn_subtypes": [],
    }


@pytest.mark.long
@pytest.mark.parametrize("record", SESSIONS, ids=IDS)
def test_only_scalars_of_texts_and_gold_change(record: dict[str, Any]):
    fresh = refresh_session(record, "s")
    assert shape(fresh) == shape(record)
    kept = ("tools", "task_types", "turn_subtypes")
    assert all(fresh[f"{prefix_of(record)}_{name}"] == record[f"{prefix_of(record)}_{name}"] for name in kept)


@pytest.mark.long
@pytest.mark.parametrize("record", SESSIONS, ids=IDS)
def test_no_old_entity_is_left(record: dict[str, Any]):
    prefix = prefix_of(record)
    nodes = [node for task in record[f"{prefix}_answer_list"] for node in task]
    fixed = fixed_values(record[f"{prefix}_tools"])
    old = [
        t
        for t in find_entities(nodes, record[f"{prefix}_env_info"], fixed).texts
        if len(t) > 4 and t.casefold() not in fixed
    ]
    fresh = refresh_session(record, "s")
    text = str([fresh[f"{prefix}_{name}"] for name in ("env_info", "tasks", "answer_list")])
    assert [entity for entity in old if entity in text] == []


def test_gold_stays_right_and_no_rule_is_broken(tmp_path: Path):
    fresh = [refresh_session(record, "s") for record in MINI_SESSIONS]
    assert findings(fresh) == []
    for profile in ("official", "fixed", "paper"):
        assert set(gold_verdicts(fresh, tmp_path / f"{profile}.jsonl", profile)) == {"correct"}


def test_answers_known_by_heart_fail():
    called = [record for record in SESSIONS if calls(record)][::EACH]
    changed = [calls(refresh_session(record, "s")) != calls(record) for record in called]
    assert sum(changed) >= 0.95 * len(changed)


def test_a_seed_gives_the_same_values_and_another_seed_others():
    record = MINI_SESSIONS[0]
    assert refresh_session(record, "a") == refresh_session(record, "a")
    assert calls(refresh_session(record, "a")) != calls(refresh_session(record, "b"))


def test_a_name_changes_in_all_its_forms():
    record = one("write Priya Nair. hm, priya's mail?", {"sent": True}, "Priya got it.", contact="Priya Nair")
    fresh = refresh_session(record, "s")
    first = fresh["english_answer_list"][0][0]["action"]["arguments"]["contact"].split()[0]
    assert fresh["english_tasks"][0].count(first.lower()) == 1
    assert fresh["english_answer_list"][0][1]["observation"] == f"{first} got it."


def test_sums_of_money_stay_sums():
    record = one("the bill was 42.18, half of it", {"amount": 42.18, "net_cost": 21.09}, amount_id="ex_5012")
    seen = refresh_session(record, "s")["english_answer_list"][0][0]["observation"]
    assert seen["amount"] == pytest.approx(2 * seen["net_cost"])
    assert seen["amount"] != 42.18


def test_weekdays_stay_and_years_change():
    fresh = refresh_session(one("on 2025-05-09", "ok", day="2025-05-09"), "s")
    line = fresh["english_env_info"]
    assert line.endswith("Tuesday")
    assert line[:4] != "2025"
    assert fresh["english_answer_list"][0][0]["action"]["arguments"]["day"] == f"{line[:4]}-05-09"


def test_members_of_an_enum_stay():
    record = one("in the Old Town", "ok", branch="Old Town", order_id="AB-20417")
    record["english_tools"][0]["function"]["parameters"]["properties"]["branch"]["enum"] = [
        "Old Town",
        "North",
    ]
    record["english_tasks"] = ["AB-20417 in the Old Town"]
    given = refresh_session(record, "s")["english_answer_list"][0][0]["action"]["arguments"]
    assert given["branch"] == "Old Town"
    assert given["order_id"] != "AB-20417"


def test_a_name_of_something_unknown_is_refused():
    with pytest.raises(UnclearError, match=r"do\.gizmo: 'Bergamot': its role is unclear"):
        refresh_session(one("get Bergamot", "ok", gizmo="Bergamot"), "s")


def described(about: str, **arguments: str) -> dict[str, Any]:
    """A session whose one parameter is described."""
    record = one(f"get {' '.join(arguments.values())}", "ok", **arguments)
    for schema in record["english_tools"][0]["function"]["parameters"]["properties"].values():
        schema["description"] = about
    return record


def given(record: dict[str, Any]) -> str:
    return next(
        iter(refresh_session(record, "s")["english_answer_list"][0][0]["action"]["arguments"].values())
    )


@pytest.mark.parametrize(
    ("key", "about", "value"),
    [
        ("targetLanguage", "What to translate to.", "Norwegian"),
        ("into", "The language of the answer.", "Norwegian"),
        ("mood", "Mood, such as 'Calm' or 'Wild'.", "Calm"),
        ("sort_order", "How to sort.", "Newest First"),
    ],
)
def test_a_word_of_a_list_by_the_definition_of_its_parameter_stays(key: str, about: str, value: str):
    assert given(described(about, **{key: value})) == value


@pytest.mark.parametrize(
    ("key", "about", "value"),
    [
        ("username", "Username", "Amber Fox"),
        ("gizmo", "The identifier of the gizmo.", "Bergamot"),
        ("keywords", "Search keywords.", "Silver Canyon"),
        ("region", "Name of the region.", "Old Marsh"),
        ("end", "Where to go.", "Linden Street 22"),
    ],
)
def test_a_name_by_the_definition_of_its_parameter_is_rewritten_everywhere(key: str, about: str, value: str):
    fresh = refresh_session(described(about, **{key: value}), "s")
    new = given(described(about, **{key: value}))
    assert new != value
    assert fresh["english_tasks"] == [f"get {new}"]


@pytest.mark.parametrize(
    ("key", "about", "value"),
    [
        ("query", "The keyword to search for.", "Mercury"),
        ("gizmo", "In the form of 'Aaa'.", "Aaa"),
        ("gizmo", "A gizmo, in the language of birds.", "Bergamot"),
    ],
)
def test_what_a_definition_does_not_settle_is_refused(key: str, about: str, value: str):
    with pytest.raises(UnclearError, match="role is unclear"):
        given(described(about, **{key: value}))


def test_a_word_of_a_list_that_is_a_name_elsewhere_is_refused():
    record = described("As told.", language="Norwegian", title="Norwegian")
    with pytest.raises(UnclearError, match="elsewhere a name"):
        refresh_session(record, "s")


def test_rewritten_texts_are_no_nearer_than_the_old_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        "wildtool_data.make.refresh.refresh._drawn",
        lambda old, role, values: values.draw.choice(("Ainoki Maruda", "Belzuch Ferstgy")),
    )
    path = tmp_path / "s.jsonl"
    records = [
        {**one(f"tell me of {name} please", "ok", title=name), "id": name}
        for name in ("Zyx Wvutsr", "Ponmlk Jihgf", "Quorq Lolosh")
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    refused: list[UnchangedSession] = []
    fresh = list(refresh_file(path, "s", refused, skip_unclear=True))
    assert len({record["english_tasks"][0] for record in fresh}) == len(fresh) == 2
    assert "nearly one of another session" in refused[0].reason


def test_a_date_without_separators_is_refused():
    with pytest.raises(UnclearError, match="20250506"):
        refresh_session(one("on 20250506", "ok", day="20250506"), "s")


def test_a_file_with_an_unclear_session_is_refused_by_item_and_value(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps(one("get Bergamot", "ok", gizmo="Bergamot")) + "\n")
    with pytest.raises(DataError, match=r"s\.jsonl:1: one: do\.gizmo: 'Bergamot'.*--skip-unclear"):
        list(refresh_file(path, "s", [], skip_unclear=False))


def test_unclear_sessions_can_be_left_out_and_are_named(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    records = [
        one("get Bergamot", "ok", gizmo="Bergamot"),
        {**one("on 2025-05-09", "ok", day="2025-05-09"), "id": "two"},
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    refused: list[UnchangedSession] = []
    assert [record["id"] for record in refresh_file(path, "s", refused, skip_unclear=True)] == ["two"]
    assert [session.item for session in refused] == ["one"]


def test_accepted_values_get_fresh_ones_as_gold_does_and_other_proposed_texts_are_left_out():
    record = json.loads(json.dumps(MINI_SESSIONS[1]))
    gold = record["english_answer_list"][0][0]
    gold["alternatives"] = {
        "to_city": ["Sintra", record["english_answer_list"][0][0]["action"]["arguments"]["to_city"]]
    }
    record["made_by"] = {"model": "m", "candidates": [["From Porto to Lisbon?"]]}
    new = refresh_session(record, "1")
    made = new["english_answer_list"][0][0]
    assert made["alternatives"]["to_city"][1] == made["action"]["arguments"]["to_city"]
    assert "Sintra" not in json.dumps(new)
    assert new["made_by"] == {"model": "m"}
