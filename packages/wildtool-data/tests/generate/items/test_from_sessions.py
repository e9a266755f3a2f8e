"""Items out of the first tasks of sessions: as they are, without what is asked for, without the tool, or put wrong."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from generate.golden import check
from wildtool.benchmarks.wildtoolbench.data import WILD_MINI_FILE
from wildtool.errors import DataError, UsageError
from wildtool_data.make.core.files import write_sessions
from wildtool_data.make.core.plan import SessionGenerationSpec
from wildtool_data.make.items.from_sessions import _derived, items_from_sessions  # pyright: ignore[reportPrivateUsage]
from wildtool_data.make.items.item import GeneratedItem, MissingParameters, WrongValue
from wildtool_data.make.items.maker import ItemGenerationSpec
from wildtool_data.make.items.plan import parse_shares
from wildtool_data.make.items.procedural import procedural_items
from wildtool_data.make.items.rules import item_faults
from wildtool_data.make.procedural.sessions import procedural_sessions

ALL = parse_shares(("single", "parallel", "incomplete", "error", "irrelevant"))


def silent(text: str) -> None:
    del text


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """128 sessions, half of them Chinese."""
    path = tmp_path_factory.mktemp("sessions") / "sessions.jsonl"
    write_sessions(procedural_sessions(SessionGenerationSpec(128, 1, "3", ("en", "zh")), silent), path)
    return path


def written(path: Path) -> Mapping[str, dict[str, Any]]:
    """Each session by the text of its first task."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return {next(v for k, v in row.items() if k.endswith("_tasks"))[0]: row for row in rows}


def made(path: Path, kind: str) -> list[GeneratedItem]:
    return list(items_from_sessions(path, 1000, {kind: 1}, "1", ("en", "zh")))


def nodes(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    return next(value for key, value in row.items() if key.endswith("_answer_list"))[0]


def test_a_question_to_the_user_gives_an_incomplete_item(sessions: Path):
    by_text = written(sessions)
    items = made(sessions, "incomplete")
    assert len(items) == 32
    for item in items:
        asked = nodes(by_text[item.turns[0].utterances[0].text])[0]["action"]["arguments"]
        assert item.fault == MissingParameters(
            asked["tool_name"], tuple(asked["missing_required_parameters"])
        )
        assert item.correction[1].speaker == "user"


def test_the_called_tool_is_taken_away_for_an_irrelevant_item(sessions: Path):
    by_text = written(sessions)
    items = made(sessions, "irrelevant")
    assert items
    for item in items:
        called = nodes(by_text[item.turns[0].utterances[0].text])[0]["action"]["name"]
        assert item.removed_tool["name"] == called
        assert called not in [function["name"] for function in item.functions]


def test_one_value_of_the_text_is_put_wrong_for_an_error_item(sessions: Path):
    by_text = written(sessions)
    items = made(sessions, "error")
    assert items
    for item in items:
        assert isinstance(item.fault, WrongValue)
        right = item.turns[0].calls[0].arguments[item.fault.parameter]
        text = item.turns[0].utterances[0].text
        assert text.replace(item.fault.text, str(right)) in by_text
        assert item.fault.value != right


@pytest.mark.parametrize("kind", ["single", "parallel"])
def test_calls_without_a_question_stay_as_they_are(sessions: Path, kind: str):
    by_text = written(sessions)
    items = made(sessions, kind)
    assert items
    for item in items:
        wanted = [n["action"]["arguments"] for n in nodes(by_text[item.turns[0].utterances[0].text])[:-1]]
        assert [call.arguments for call in item.turns[0].calls] == wanted


def test_only_marks_of_derived_values_come_along():
    marks = {"a": "derived:  the day after ", "b": "shown: derived: x", "c": 3, "d": "", "e": "derived:"}
    assert _derived(marks) == {"a": "the day after", "e": ""}


def test_kinds_that_a_task_allows_come_by_their_shares(sessions: Path):
    kinds = Counter(item.plan.kind for item in items_from_sessions(sessions, 1000, ALL, "1", ("en", "zh")))
    assert kinds["incomplete"] == 32
    # Single-tool tasks: 2 to 1 to 1 in the published data; some hold no value that could be put wrong.
    assert kinds["single"] >= kinds["irrelevant"] >= kinds["error"] > 0


@pytest.mark.parametrize("path", ["made", "wild-mini"])
def test_what_breaks_a_rule_is_lost_with_its_reason_and_all_else_is_kept(sessions: Path, path: str):
    file = sessions if path == "made" else WILD_MINI_FILE
    found = procedural_items(ItemGenerationSpec(40, kinds=ALL, langs=("en", "zh"), sessions=file), silent)
    assert [fault for kept in found.kept for fault in item_faults(kept.item)] == []
    assert all(loss["detail"] for loss in found.losses)
    assert len(found.kept) > len(found.losses)


def test_a_session_like_an_earlier_one_gives_no_second_item(sessions: Path, tmp_path: Path):
    rows = [json.loads(line) for line in sessions.read_text("utf-8").splitlines()[:8]]
    write_sessions([*rows, *({**row, "id": f"{row['id']} again"} for row in rows)], tmp_path / "twice.jsonl")
    kinds = parse_shares(("single",))
    spec = ItemGenerationSpec(1000, kinds=kinds, langs=("en", "zh"), sessions=tmp_path / "twice.jsonl")
    items = procedural_items(spec, silent)
    assert 0 < len(items.kept) == len(items.losses)
    assert [loss["reason"] for loss in items.losses] == ["S4"] * len(items.losses)


def test_at_most_as_many_as_are_wanted_are_made(sessions: Path):
    assert len(list(items_from_sessions(sessions, 5, ALL, "1", ("en",)))) == 5


def test_a_kind_that_no_session_gives_is_refused(sessions: Path):
    with pytest.raises(UsageError, match="no items of the kind similar; they give incomplete, single"):
        next(items_from_sessions(sessions, 5, {"similar": 1}, "1", ("en",)))


def test_a_file_without_a_fitting_task_is_refused(tmp_path: Path, sessions: Path):
    chats = [line for text, line in _lines(sessions) if "Chat" in text]
    (tmp_path / "chats.jsonl").write_text("".join(chats), "utf-8")
    with pytest.raises(DataError, match="no session begins with a task that gives an item of single"):
        next(items_from_sessions(tmp_path / "chats.jsonl", 5, {"single": 1}, "1", ("en", "zh")))


def _lines(path: Path) -> list[tuple[str, str]]:
    """Type of the first task and line of each session."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    types = (next(v for k, v in json.loads(line).items() if k.endswith("_task_types"))[0] for line in lines)
    return list(zip(types, lines, strict=True))


def _tool(name: str, **properties: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {
        "type": "function",
        "function": {"name": name, "description": f"Does {name}.", "parameters": parameters},
    }


TEXT: dict[str, Any] = {"type": "string", "description": "城市，例如奥斯陆"}
LEVEL: dict[str, Any] = {"type": "string", "enum": ["low", "high"], "description": "Level of it."}
STARS: dict[str, Any] = {"type": "integer", "minimum": 1, "maximum": 5, "description": "星级。"}
SESSION_TOOLS = [
    _tool("rate", city=TEXT, stars=STARS, level=LEVEL),
    *(_tool(name, city=TEXT) for name in ("book", "rate_more", "rat", "list", "show")),
]


def _session(lang: str, kind: str, text: str, *steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    last = {
        "action": {"name": "prepare_to_answer", "arguments": {"answer_type": "tool"}},
        "observation": "Done.",
    }
    nodes = [{"idx": k, "dependency_list": [], **step} for k, step in enumerate((*steps, last))]
    record = {
        "env_info": "2025-05-06 08:12:00 Tuesday",
        "tools": SESSION_TOOLS,
        "tasks": [text],
        "answer_list": [nodes],
        "task_types": [kind],
        "turn_subtypes": [],
    }
    return {"id": text, **{f"{lang}_{key}": value for key, value in {**record, **more}.items()}}


def _step(name: str, **arguments: Any) -> dict[str, Any]:
    marks = {"city": "derived: it was said", "stars": "copied"}
    return {"action": {"name": name, "arguments": arguments}, "observation": "ok", "grounding": marks}


def _ask(question: str, reply: str, *names: Any) -> dict[str, Any]:
    arguments = {"tool_name": "rate", "missing_required_parameters": list(names)}
    action = {"name": "ask_user_for_required_parameters", "arguments": arguments}
    return {"action": action, "observation": question, "user_input": reply}


RATED = _step("rate", city="Oslo", stars=4, level="high")
SHORT_SESSIONS = [
    _session("english", "Single-Tool", "rate Oslo with 4 stars, high", RATED),
    _session("english", "Single-Tool", "rate Oslo with 4 or 4 stars, high high", RATED),
    _session("english", "Single-Tool", "book Oslo", _step("book", city="Oslo"), tools=SESSION_TOOLS[1:2]),
    _session("english", "Single-Tool", "book Rome", _step("book", city="Rome"), tools=SESSION_TOOLS[1:3]),
    _session("english", "Single-Tool", "fly", _step("fly", city="Rome"), env_info="soon"),
    _session("english", "Single-Tool", "nothing"),
    _session("chinese", "Single-Tool", "给奥斯陆打4星，high", _step("rate", city="奥斯陆", stars=4)),
    _session("english", "Parallel Multi-Tool", "rate Oslo, book it", RATED, _step("book", city="Oslo")),
    _session(
        "english",
        "Clarify",
        "rate it",
        _ask("Which?", "Oslo", "city", "stars", "city"),
        _ask("And?", "4"),
        RATED,
    ),
    _session("english", "Clarify", "rate them", RATED),
]


@pytest.mark.parametrize(
    ("items", "shares", "langs"),
    [
        *(
            (99, {kind: 1}, ["en", "zh"])
            for kind in ("single", "error", "irrelevant", "parallel", "incomplete")
        ),
        (99, {"single": 2, "error": 1, "irrelevant": 1, "incomplete": 1}, ["en", "zh"]),
        (3, {"single": 1, "irrelevant": 2}, ["en"]),
        (2, {"single": 1}, ["zh"]),
    ],
)
def test_the_first_task_of_each_session_becomes_one_item(
    tmp_path: Path, items: int, shares: dict[str, int], langs: list[Any]
):
    file = tmp_path / "s.jsonl"
    write_sessions(SHORT_SESSIONS, file)
    rows: list[list[str]] = []
    for item in items_from_sessions(file, items, shares, "1", langs):
        plan: Any = item.plan.kind
        names: Any = [function["name"] for function in (*item.functions, item.removed_tool) if function]
        rows.append([repr(item.plan), repr(replace(item, plan=plan, functions=names, removed_tool={}))])
    check(f"items_of_tasks/{items}_{'_'.join([*shares, *langs])}", rows)
