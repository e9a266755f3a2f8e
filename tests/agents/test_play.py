"""An agent plays a run through both doors: verdicts are those of the bare model, and what it does is recorded."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import wildtool as wt
from agents.doors_agent import DoorsAgent, Habits
from wildtool.engine.record.reader import LogReader

HISTORIES = ("own", "gold")


def play(folder: Path, agent: DoorsAgent, model: str = "baseline/gold", **settings: Any) -> Any:
    settings = {"limit": 4, **settings}
    return wt.run("wild-mini", model=model, agent=agent, out=folder, quiet=True, **settings)


def outcomes(run: Any) -> dict[Any, Any]:
    return {
        (each["item"], each["unit"]): (each["outcome"], each["error"], each["steps"])
        for each in run.verdicts().rows()
    }


def notes(folder: Path) -> list[Mapping[str, Any]]:
    """What is recorded of the agent beside each reply."""
    with LogReader(folder) as reader:
        return [
            step.reply.message["harness"]
            for number in range(4)
            for steps in reader.log(f"wild_mini_{number}", 0).values()
            for _, step in sorted(steps.items())
        ]


def fates(folder: Path) -> Counter[str]:
    return Counter(call["fate"] for note in notes(folder) for call in note.get("calls", ()))


@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize("model", ["gold", "gold-serial", "lexical", "chat", "random"])
def test_verdicts_are_those_of_the_bare_model(tmp_path: Path, model: str, history: str):
    name = f"baseline/{model}"
    bare = wt.run("wild-mini", model=name, history=history, limit=4, out=tmp_path / "bare", quiet=True)
    played = play(tmp_path / "played", DoorsAgent(), name, history=history)
    assert outcomes(played) == outcomes(bare)
    assert set(fates(tmp_path / "played")) <= {"as said"}


HARMLESS = {
    "another prefix": Habits(prefix="wt_"),
    "wrapped results": Habits(wraps=True),
    "a title first": Habits(asks_title=True),
    "each text thrown away once": Habits(asks_again=True),
    "each question twice": Habits(retries=True),
    "a tool of its own": Habits(has_todo=True),
    "each call twice": Habits(calls_twice=True),
    "calls that nobody asked for": Habits(invents=True),
    "calls that it answers itself": Habits(answers_itself=frozenset({"add_expense", "list_accounts"})),
}


@pytest.mark.parametrize("habits", HARMLESS.values(), ids=HARMLESS)
def test_what_an_agent_does_around_a_right_model_takes_no_verdict_from_it(tmp_path: Path, habits: Habits):
    played = play(tmp_path / "run", DoorsAgent(habits), limit=2)
    assert {each["outcome"] for each in played.verdicts().rows()} == {"correct"}


def test_the_record_says_how_tools_are_offered_and_what_is_around_them(tmp_path: Path):
    play(tmp_path / "run", DoorsAgent(Habits(has_todo=True, asks_title=True, retries=True)), limit=1)
    first = notes(tmp_path / "run")[0]
    assert first["prompt"]["text"].startswith("You are an agent. Current Date")
    assert first["tools"]["own"] == ["todo"]
    assert first["tools"]["renamed"]["mcp__wt__list_accounts"] == "list_accounts"
    assert first["sampling"] == {"temperature": 0.3}
    assert first["side_requests"]
    assert any(note.get("retries") for note in notes(tmp_path / "run"))


@pytest.mark.parametrize(
    ("habits", "fate"),
    [
        (Habits(alters=True), "altered"),
        (Habits(answers_itself=frozenset({"list_accounts"})), "answered by the agent"),
        (Habits(skips=frozenset({"list_accounts"})), "never arrived"),
        (Habits(invents=True), "discarded"),
    ],
)
def test_the_record_says_what_became_of_each_call(tmp_path: Path, habits: Habits, fate: str):
    play(tmp_path / "run", DoorsAgent(habits), limit=1)
    assert fates(tmp_path / "run")[fate] >= 1


def test_what_the_model_was_shown_in_place_of_a_result_is_recorded(tmp_path: Path):
    play(tmp_path / "run", DoorsAgent(Habits(wraps=True)), limit=1)
    calls = [call for note in notes(tmp_path / "run") for call in note.get("calls", ())]
    assert calls and all(call["result"].startswith("<untrusted>") for call in calls)


def test_the_agents_last_text_is_what_its_user_reads(tmp_path: Path):
    play(tmp_path / "run", DoorsAgent(Habits(says="As you wish.")), limit=1)
    ends = [note["end"] for note in notes(tmp_path / "run") if "end" in note]
    assert ends and all(end["text"] == "As you wish." for end in ends)


def test_later_tasks_go_on_in_the_same_agent_with_its_own_history_and_anew_with_gold(tmp_path: Path):
    agent = DoorsAgent()
    play(tmp_path / "own", agent, limit=2)
    assert len(agent.places) == 2
    play(tmp_path / "gold", agent, limit=2, history="gold")
    assert len(agent.places) == 2 + 8
    assert agent.alive == 0


FAULTS = {
    "a tool is not offered": (
        Habits(drops=frozenset({"list_accounts"})),
        "asks its model without 1 of the 7 tools",
    ),
    "it dies": (Habits(crashes_at="lunch"), "out of ideas"),
    "it ends by an error": (Habits(ends="failed"), "ended its turn by failed"),
}


@pytest.mark.parametrize(("habits", "words"), FAULTS.values(), ids=FAULTS)
def test_a_fault_of_the_agent_is_no_verdict_of_the_model(tmp_path: Path, habits: Habits, words: str):
    agent = DoorsAgent(habits)
    try:
        played = play(tmp_path / "run", agent, limit=2, retries=0)
    except wt.WildtoolError as error:
        # No unit was played at all.
        assert words in str(error)
    else:
        failed = [each for each in played.verdicts().rows() if each["outcome"] == "infra_error"]
        assert failed and all(words in each["reason"] for each in failed if each["unit"] == "0")
    assert agent.alive == 0


def test_an_agent_that_does_nothing_any_more_is_ended_and_others_play_on(tmp_path: Path):
    agent = DoorsAgent(Habits(hangs_at="lunch"))
    played = play(tmp_path / "run", agent, limit=3, timeout=1.0, retries=0)
    outcome = {each["item"]: each["outcome"] for each in played.verdicts().rows() if each["unit"] == "0"}
    assert sorted(outcome.values()) == ["correct", "correct", "infra_error"]
    assert agent.alive == 0


def test_sixteen_agents_at_once(tmp_path: Path):
    agent = DoorsAgent()
    played = play(tmp_path / "run", agent, limit=20, concurrency=16)
    assert {each["outcome"] for each in played.verdicts().rows()} == {"correct"}
    assert agent.most_alive == 16
