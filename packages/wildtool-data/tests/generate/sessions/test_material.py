"""Real users' conversations as examples: read in any shape, redacted, shown in turn, and never copied."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generate.sessions.players import Players
from generate.sessions.test_maker import made
from wildtool.errors import DataError
from wildtool.types import Request
from wildtool_data.make.core.plan import session_plans
from wildtool_data.make.sessions.material import (
    MAX_EXAMPLE_OVERLAP,
    UserMaterial,
    behaviour_patterns,
    read_material,
)

LOST = "My suitcase did not arrive in Porto this morning, please find out where it is and tell me at once."
TALKS = [
    [("user", LOST), ("assistant", "It is in Madrid."), ("user", "When does it come then?")],
    [("user", "Mail jane.roe@acme.test that the room for my workshop about tulips is too small")],
    [("user", "Any vegan place near the old harbour that is open on Mondays?"), ("user", "and cheaper?")],
]


def openai(talk: list[tuple[str, str]]) -> dict[str, Any]:
    return {"messages": [{"role": role, "content": text} for role, text in talk]}


def sharegpt(talk: list[tuple[str, str]]) -> dict[str, Any]:
    names = {"user": "human", "assistant": "gpt"}
    return {"conversations": [{"from": names[role], "value": text} for role, text in talk]}


def gemini(talk: list[tuple[str, str]]) -> dict[str, Any]:
    names = {"user": "user", "assistant": "model"}
    return {"contents": [{"role": names[role], "parts": [{"text": text}]} for role, text in talk]}


def write(folder: Path, rows: list[Any], name: str = "talks.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return path


def material(folder: Path, talks: Any = TALKS) -> UserMaterial:
    return read_material(write(folder, [openai(talk) for talk in talks]), None, "1")


def span(talk: list[tuple[str, str]]) -> dict[str, Any]:
    """A call of a model as OpenTelemetry exports it."""
    said = [{"role": role, "parts": [{"type": "text", "content": text}]} for role, text in talk]
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps(said),
        "gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "parts": [{"type": "text", "content": "Done."}], "finish_reason": "stop"}]
        ),
    }
    return {"name": "chat", "traceId": "1" * 32, "spanId": "2" * 16, "attributes": attributes}


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("talks.jsonl", openai(TALKS[0])),
        ("talks.jsonl", sharegpt(TALKS[0])),
        ("talks.jsonl", gemini(TALKS[0])),
        ("spans.jsonl", span(TALKS[0])),
    ],
    ids=["openai", "sharegpt", "gemini", "traces"],
)
def test_conversations_of_any_shape_are_examples(tmp_path: Path, name: str, row: dict[str, Any]):
    found = read_material(write(tmp_path, [row], name), None, "1")
    assert found.scenarios == (LOST,)
    assert found.overlap(LOST) == 1.0


def test_own_cases_are_examples(tmp_path: Path):
    path = tmp_path / "mine.yaml"
    path.write_text(f"- id: lost\n  input: {LOST!r}\n  expect: []\n")
    assert read_material(path, None, "1").scenarios == (LOST,)


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("no.jsonl", None, "no.jsonl"),
        ("odd.jsonl", '{"colour": "red"}', "odd.jsonl"),
        (
            "silent.jsonl",
            '{"messages": [{"role": "assistant", "content": "Hello"}]}',
            "no conversation with a message",
        ),
    ],
)
def test_what_holds_no_conversation_is_refused_by_name(
    tmp_path: Path, name: str, text: str | None, problem: str
):
    if text is not None:
        (tmp_path / name).write_text(text + "\n")
    with pytest.raises(DataError, match=problem):
        read_material(tmp_path / name, None, "1")


def test_scenarios_are_lines_or_a_list(tmp_path: Path):
    (tmp_path / "words.txt").write_text("A flight is cancelled.\n\n  A parcel is late. \n")
    (tmp_path / "words.json").write_text('["A flight is cancelled.", "A parcel is late."]')
    read = [read_material(None, tmp_path / name, "1").scenarios for name in ("words.txt", "words.json")]
    assert read == [("A flight is cancelled.", "A parcel is late.")] * 2
    (tmp_path / "wrong.json").write_text('["A flight is cancelled.", 7]')
    with pytest.raises(DataError, match="entry 2 is no text"):
        read_material(None, tmp_path / "wrong.json", "1")
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(DataError, match="no scenario"):
        read_material(None, tmp_path / "empty.txt", "1")
    (tmp_path / "rows.jsonl").write_text('{"scenario": "A parcel is late."}\n')
    with pytest.raises(DataError, match="looks like JSON"):
        read_material(None, tmp_path / "rows.jsonl", "1")


def test_personal_details_are_replaced_before_anything_is_shown(tmp_path: Path):
    players = Players()
    _, found = made(tmp_path, players, sessions=4, examples=write(tmp_path, [openai(talk) for talk in TALKS]))
    sent = json.dumps([request.messages for request in players.asked])
    assert "tulips" in sent and "jane.roe@acme.test" not in sent
    assert "jane.roe@acme.test" not in json.dumps(found.kept)


def test_examples_are_shown_equally_often(tmp_path: Path):
    talks = [[("user", f"Opening number {k}"), ("user", f"Continuation number {k}")] for k in range(12)]
    examples = material(tmp_path, talks)
    plans = list(session_plans(24, 4, seed="1", langs=["en"], scenarios=12))
    openings = Counter(text for plan in plans for text in examples.shown(plan, 0)[1]["examples"])
    later = Counter(
        examples.shown(plan, t)[1]["examples"][0]["continuation"] for plan in plans for t in (1, 2, 3)
    )
    assert set(openings.values()) == {24 * 3 / 12}
    assert set(later.values()) == {24 * 3 / 12}


@pytest.mark.long
def test_each_scenario_is_proposed_equally_often_and_provenance_names_it_by_number(tmp_path: Path):
    (tmp_path / "words.txt").write_text("\n".join(f"Scenario {k}" for k in range(10)))
    players = Players()
    _, found = made(tmp_path, players, sessions=8, scenarios=tmp_path / "words.txt")
    numbers = Counter(
        background["scenario"]
        for session in found.kept
        for background in session["made_by"]["plan"]["backgrounds"]
    )
    assert numbers == dict.fromkeys(range(1, 11), 4)
    first = [seen(request)["wanted"]["candidates"] for request in players.asked if is_opening(request)]
    assert {row["scenario"] for rows in first for row in rows} == {f"Scenario {k}" for k in range(10)}
    assert "Scenario" not in json.dumps(found.kept)


@pytest.mark.long
def test_a_first_task_shows_openings_and_a_later_one_a_history_with_its_continuation(tmp_path: Path):
    players = Players()
    made(tmp_path, players, sessions=4, examples=write(tmp_path, [openai(talk) for talk in TALKS]))
    proposed = [request for request in players.asked if "wanted" in seen(request) and request.role == "user"]
    for request in proposed:
        shown, instruction = seen(request)["examples"], request.messages[0]["content"]
        assert "patterns" in seen(request)
        if is_opening(request):
            assert len(shown) == 3 and all(isinstance(text, str) for text in shown)
        else:
            ((example),) = shown
            assert set(example) == {"history", "continuation"}
            assert {"user": LOST} in example["history"] or "vegan" in json.dumps(example["history"])
            assert '"continuation"' in instruction


def test_nothing_of_examples_is_shown_without_any(tmp_path: Path):
    players = Players()
    made(tmp_path, players, sessions=1)
    assert not any("examples" in seen(request) or "patterns" in seen(request) for request in players.asked)


def copies(role: str, text: str, request: Request) -> str:
    """A user whose first message is a real user's, under another beginning."""
    if role != "user" or not is_opening(request):
        return text
    said = json.loads(text)
    said["candidates"][0]["text"] = f"Hello, {LOST}"
    return json.dumps(said)


def test_a_copied_message_is_refused_and_the_overlap_is_said(tmp_path: Path):
    _, found = made(tmp_path, Players(copies), sessions=4, examples=write(tmp_path, [openai(TALKS[0])]))
    assert len(found.kept) == 4
    assert found.counters["user warned C6"] == 4
    for session in found.kept:
        refused = session["made_by"]["candidates"][0][0]
        assert refused["rules"].startswith("C6: ") and "picked" not in refused
        about = session["made_by"]["examples"]
        assert about["overlap"] <= about["bound"] == MAX_EXAMPLE_OVERLAP
        assert "C6" in session["made_by"]["checks"]
    shown = {metric.name: metric for metric in found.attrition() if metric.group.startswith("overlap")}
    assert shown["highest of a message"].value == 0.0


@pytest.mark.parametrize(
    ("text", "is_copy"),
    [
        (LOST.replace("Porto", "Lyon").replace("find", "say").replace("once", "noon"), True),
        (
            "My suitcase did not reach in Porto this noon, please find up where it is or tell me at last.",
            True,
        ),
        ("It is in Madrid, is it not? I would rather have it sent to the hotel.", False),
        ("Could somebody look for the luggage that I handed in at the airport of Lyon?", False),
    ],
)
def test_small_changes_do_not_make_an_example_ones_own(tmp_path: Path, text: str, is_copy: bool):
    assert bool(list(material(tmp_path).copy_faults(text))) == is_copy


def test_what_an_assistant_says_in_the_examples_is_not_copied_either(tmp_path: Path):
    said = "Your suitcase is in Madrid and will be brought to the hotel tomorrow."
    talks = [[("user", "Where is it?"), ("assistant", said), ("user", "Thanks.")]]
    assert material(tmp_path, talks).overlap(said) == 1.0


def test_what_is_left_out_of_the_examples_is_said(tmp_path: Path):
    silent = [("assistant", "Hello")]
    found = material(tmp_path, [TALKS[0], TALKS[0], TALKS[1], silent])
    lines = found.lines(["en", "zh"])
    assert "left out: the user says nothing in it: 1" in lines
    assert "left out: occurs twice: 1" in lines
    assert "no example is in the language zh: its sessions are shown none" in lines
    assert not [line for line in found.lines(["en"]) if line.startswith("no example")]


def test_what_became_of_traces_is_said(tmp_path: Path):
    broken = {**span(TALKS[0]), "spanId": "3" * 16, "attributes": {"gen_ai.operation.name": "chat"}}
    found = read_material(write(tmp_path, [span(TALKS[0]), broken], "spans.jsonl"), None, "1")
    assert any("left out: 1" in line for line in found.lines(["en"])), found.notes


@given(st.integers(0, 30), st.integers(0, 30))
def test_overlap_is_the_share_of_sequences_that_are_taken_over(copied: int, own: int):
    known = [f"real{k}" for k in range(30)]
    examples = UserMaterial(
        known=frozenset(zip(*(known[k:] for k in range(5)), strict=False)), whole=frozenset([tuple(known)])
    )
    words = [*known[:copied], *(f"own{k}" for k in range(own))]
    sequences = max(0, len(words) - 4)
    taken = max(0, copied - 4)
    assert examples.overlap(" ".join(words)) == pytest.approx(taken / sequences if sequences else 0.0)


def test_a_short_message_is_a_copy_only_if_it_is_one_of_the_examples(tmp_path: Path):
    examples = material(tmp_path)
    assert examples.overlap("And cheaper?") == 1.0
    assert examples.overlap("And nearer?") == 0.0


def test_patterns_say_how_users_write():
    found = behaviour_patterns(
        [["Where is it?", "and now?"], ["Find me a quiet room for eight people please"]]
    )
    assert found["share of questions"] == 0.67
    assert found["share of later messages under 6 words"] == 1.0
    assert found["words in the longest tenth of messages"] == 9
    assert "share of later messages under 6 words" not in behaviour_patterns([["Hello"]])


def test_chinese_sessions_are_shown_chinese_examples(tmp_path: Path):
    talks = [[("user", "我的行李还没到，帮我查一下")], [("user", "Where is my suitcase?")]]
    examples = material(tmp_path, talks)
    plans = session_plans(2, 1, seed="1", langs=["en", "zh"])
    shown = {plan.lang: examples.shown(plan, 0)[1]["examples"] for plan in plans}
    assert shown == {"en": ["Where is my suitcase?"], "zh": ["我的行李还没到，帮我查一下"]}


def is_opening(request: Request) -> bool:
    wanted = seen(request).get("wanted", {})
    return request.role == "user" and "candidates" in wanted and "strategy" not in wanted


def seen(request: Request) -> dict[str, Any]:
    return json.loads(request.messages[1]["content"])
