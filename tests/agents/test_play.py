"""An agent plays a run through both doors: verdicts are those of the bare model, and what it does is recorded."""

import asyncio
import json
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wildtool as wt
from agents.doors_agent import DoorsAgent, Habits, IntrudingAgent
from long import a_fiftieth_of
from wildtool.alter.agent.agent import AgentAlteration
from wildtool.alter.agent.record import harness_record
from wildtool.alter.variant import Variant
from wildtool.benchmark import judge_unit
from wildtool.check.agents import check_agent
from wildtool.data.data_set import data_of
from wildtool.engine.call.rate_limit import RateLimiter
from wildtool.engine.record.reader import LoggedReply, LogReader
from wildtool.engine.registry import load_benchmark
from wildtool.episode import gold_replies
from wildtool.errors import WildtoolError
from wildtool.types import Item, Message, Reply, Request, Transcript

HISTORIES: tuple[Literal["own", "gold"], ...] = ("own", "gold")


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
    return [reply["harness"] for reply in replies_of(folder)]


def replies_of(folder: Path) -> list[Message]:
    with LogReader(folder) as reader:
        return [
            step.reply.message
            for number in range(4)
            for steps in reader.log(f"wild_mini_{number}", 0).values()
            for _, step in sorted(steps.items())
            if isinstance(step, LoggedReply)
        ]


def fates(folder: Path) -> Counter[str]:
    return Counter(call["fate"] for note in notes(folder) for call in note.get("calls", ()))


@pytest.mark.long
@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize("model", ["gold", "gold-serial", "lexical", "chat", "random"])
def test_verdicts_are_those_of_the_bare_model(tmp_path: Path, model: str, history: Any):
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


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
def test_the_agents_last_text_is_what_its_user_reads(tmp_path: Path):
    wt.run("wild-mini", model="baseline/gold", history="own", limit=1, out=tmp_path / "bare", quiet=True)
    played = play(tmp_path / "run", DoorsAgent(Habits(says="As you wish.")), limit=1)
    said = [reply["content"] for reply in replies_of(tmp_path / "bare") if reply.get("content")]
    ends = [
        (reply["content"], end.said)
        for reply in replies_of(tmp_path / "run")
        if (record := harness_record(reply)) is not None and (end := record.end) is not None
    ]
    assert ends == [("As you wish.", text) for text in said]
    assert sum(row["texts_changed"] for row in played.verdicts().rows()) == len(said) > 0


def thrown_away(messages: list[Message], tools: list[Any]) -> dict[str, Any]:
    """A whole answer of ten tokens."""
    message = {"role": "assistant", "content": "Done."}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}


def test_the_tokens_of_replies_that_the_agent_throws_away_are_its_own(tmp_path: Path):
    agent = DoorsAgent(Habits(asks_again=True))
    played = wt.run("wild-mini", model=thrown_away, agent=agent, limit=1, out=tmp_path / "run", quiet=True)
    rows = list(played.verdicts().rows())
    assert rows and all(row["agent_own_tokens"] == 10 * row["agent_own_steps"] > 0 for row in rows)
    assert all(row["prompt_tokens"] + row["completion_tokens"] == 2 * row["agent_own_tokens"] for row in rows)


def plans_for_ever(messages: list[Message], tools: list[Any]) -> dict[str, Any]:
    """A call of the agent's own list, whatever was asked."""
    call = {"id": "c1", "type": "function", "function": {"name": "todo", "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


@pytest.mark.long
def test_a_model_that_only_calls_the_agents_own_tools_is_judged(tmp_path: Path):
    agent = DoorsAgent(Habits(has_todo=True))
    played = wt.run("wild-mini", model=plans_for_ever, agent=agent, limit=1, out=tmp_path / "run", quiet=True)
    rows = list(played.verdicts().rows())
    assert {(row["outcome"], row["turn_end"], row["agent_own_steps"]) for row in rows} == {
        ("wrong", "limit", 50)
    }
    assert agent.alive == 0


def test_requests_of_an_agents_own_steps_count_for_the_rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    counted: list[int] = []
    adjust = RateLimiter.adjust

    def counting(limiter: RateLimiter, expected: float, used: float, requests: int = 1) -> None:
        counted.append(requests)
        adjust(limiter, expected, used, requests)

    monkeypatch.setattr(RateLimiter, "adjust", counting)
    agent = DoorsAgent(Habits(asks_again=True))
    wt.run("wild-mini", model=thrown_away, agent=agent, limit=1, out=tmp_path / "run", quiet=True)
    own_steps = sum(note.get("own_steps", 0) for note in notes(tmp_path / "run"))
    assert sum(counted) == len(counted) + own_steps > len(counted)


@pytest.mark.long
def test_a_check_names_each_thing_that_reached_the_model_otherwise():
    wraps = check_agent(cast(Any, DoorsAgent(Habits(wraps=True))), quick=True)
    assert wraps.fit is False and (wraps.right, wraps.failed) == (32, 0)
    (name,) = wraps.differences
    assert "shown otherwise" in name and name not in wraps.facts
    assert all("<untrusted>" in example for example in wraps.examples[name])
    plain = check_agent(cast(Any, DoorsAgent()), quick=True)
    assert plain.fit and not plain.differences and plain.facts["calls"].endswith(" as said")
    lacks = check_agent(cast(Any, DoorsAgent(Habits(alters=True, says="As you wish."))), quick=True)
    assert lacks.differences["calls altered"] and lacks.differences["answers it changed"]


@pytest.mark.long
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


@pytest.mark.long
@pytest.mark.parametrize(("habits", "words"), FAULTS.values(), ids=FAULTS)
def test_a_fault_of_the_agent_is_no_verdict_of_the_model(tmp_path: Path, habits: Habits, words: str):
    agent = DoorsAgent(habits)
    try:
        played = play(tmp_path / "run", agent, limit=2, retries=0)
    except WildtoolError as error:
        # No unit was played at all.
        assert words in str(error)
    else:
        failed = [each for each in played.verdicts().rows() if each["outcome"] == "infra_error"]
        assert failed and all(words in each["reason"] for each in failed if each["unit"] == "0")
    assert agent.alive == 0


def test_a_question_that_cannot_be_read_is_said_where_the_agent_ends_by_it(tmp_path: Path):
    played = play(tmp_path / "run", DoorsAgent(Habits(garbles=True)), limit=1, retries=0)
    reasons = {each["reason"] for each in played.verdicts().rows() if each["unit"] == "0"}
    assert all("refused here" in reason and "messages" in reason for reason in reasons)


class Gold:
    """Gold answers, and what was asked for them."""

    name = "gold"

    def __init__(
        self, slow_s: float = 0.0, change: Callable[[Message], Message] = lambda message: message
    ) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self._slow_s, self._change = slow_s, change

    async def complete(self, request: Request) -> Reply:
        address = request.address
        assert address is not None
        gold = GOLD[address.item, address.unit]
        self.asked.append((address.item, address.unit, address.step))
        await asyncio.sleep(self._slow_s)
        return Reply(self._change(gold[address.step] if address.step < len(gold) else {"content": "Done."}))

    async def close(self) -> None: ...

    def settings(self) -> Mapping[str, Any]:
        return {}


@pytest.mark.long
def test_a_client_that_goes_away_and_asks_again_is_given_the_one_answer(tmp_path: Path):
    model = Gold(slow_s=0.5)  # far longer than the client waits, also where the machine is busy
    played = wt.run(
        "wild-mini", model=model, agent=DoorsAgent(Habits(hangs_up=True)), out=tmp_path, limit=2, quiet=True
    )
    assert {each["outcome"] for each in played.verdicts().rows()} == {"correct"}
    assert len(model.asked) == len(set(model.asked))


ODD = {
    "no list of calls": {"content": None, "tool_calls": "list_accounts()"},
    "something beside a call": {"content": "", "tool_calls": [None, "x", 3]},
    "a call without a name": {"content": "", "tool_calls": [{"function": {"arguments": "{}"}}]},
    "arguments that are no text": {
        "content": "",
        "tool_calls": [{"id": "a", "function": {"name": "list_accounts", "arguments": {"a": 1}}}],
    },
    "broken arguments": {
        "content": "",
        "tool_calls": [{"id": "a", "function": {"name": "list_accounts", "arguments": '{"a": '}}],
    },
    "parts of a text": {"content": [{"type": "text", "text": "Well."}]},
    "nothing": {},
}


@pytest.mark.long
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_odd_replies_are_judged_as_those_of_a_bare_model(tmp_path: Path, odd: Message):
    def model() -> Gold:
        return Gold(change=lambda _: {"role": "assistant", **odd})

    bare = wt.run("wild-mini", model=model(), history="gold", limit=2, out=tmp_path / "bare", quiet=True)
    played = wt.run(
        "wild-mini",
        model=model(),
        agent=DoorsAgent(),
        history="gold",
        limit=2,
        out=tmp_path / "run",
        quiet=True,
    )
    assert outcomes(played) == outcomes(bare)


def test_an_agent_that_does_nothing_any_more_is_ended_and_others_play_on(tmp_path: Path):
    agent = DoorsAgent(Habits(hangs_at="lunch"))
    played = play(tmp_path / "run", agent, limit=3, timeout=1.0, retries=0)
    outcome = {each["item"]: each["outcome"] for each in played.verdicts().rows() if each["unit"] == "0"}
    assert sorted(outcome.values()) == ["correct", "correct", "infra_error"]
    assert agent.alive == 0


@pytest.mark.long
def test_sixteen_agents_at_once(tmp_path: Path):
    agent = DoorsAgent()
    played = play(tmp_path / "run", agent, limit=20, concurrency=16)
    assert {each["outcome"] for each in played.verdicts().rows()} == {"correct"}
    assert agent.most_alive == 16


def test_an_intruder_finds_no_answer_at_the_doors_and_gains_no_point(tmp_path: Path):
    play(tmp_path / "gold", DoorsAgent(), limit=1)
    with LogReader(tmp_path / "gold") as reader:
        replies = [
            step.reply.message
            for steps in reader.log("wild_mini_0", 0).values()
            for step in steps.values()
            if isinstance(step, LoggedReply)
        ]
    secrets = [reply["content"] for reply in replies if reply.get("content")]
    agent = IntrudingAgent()
    played = play(tmp_path / "run", agent, limit=1, retries=0)
    assert {each["outcome"] for each in played.verdicts().rows()} == {"infra_error"}
    assert secrets and "list_accounts" in agent.found
    assert not [text for text in secrets if text in agent.found]


@pytest.mark.long
def test_a_flood_of_calls_in_one_conversation_harms_no_other(tmp_path: Path):
    played = play(tmp_path / "run", DoorsAgent(Habits(floods_at="lunch")), limit=3)
    assert {each["outcome"] for each in played.verdicts().rows()} == {"correct"}


def _gold_of(item: Item, unit: str) -> list[Message]:
    return gold_replies(load_benchmark("wild-mini").rules("official").episode(item, unit)) or []


ITEMS = list(load_benchmark("wild-mini").load(data_of(load_benchmark("wild-mini")).locate(None, None)))
GOLD = {(item.id, unit): _gold_of(item, unit) for item in ITEMS[:4] for unit in item.units}
TEXTS = st.sampled_from(["", "Done.", "How much was it?"]) | st.text(max_size=20)


@st.composite
def transcripts(draw: st.DrawFn) -> tuple[Item, str, list[Message], list[Any]]:
    """Replies to a task as a model may give them, gold ones among them, and notes of an agent beside each."""
    item = draw(st.sampled_from(ITEMS[:8]))
    unit = draw(st.sampled_from(item.units))
    episode = load_benchmark("wild-mini").rules("official").episode(item, unit)
    names = [tool["function"]["name"] for tool in (episode.request() or Request([])).tools]
    replies: list[Message] = []
    for _ in range(draw(st.integers(0, 4))):
        request = episode.request()
        if request is None:
            break
        if request.gold is not None and draw(st.booleans()):
            reply = request.gold(draw(st.sampled_from(["parallel", "serial"])))
        elif draw(st.booleans()):
            called = draw(st.lists(st.sampled_from([*names, "nothing"]), min_size=1, max_size=2))
            calls = [
                {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": draw(TEXTS)}}
                for n, name in enumerate(called)
            ]
            reply = {"role": "assistant", "content": None, "tool_calls": calls}
        else:
            reply = {"role": "assistant", "content": draw(TEXTS)}
        replies.append(reply)
        episode.advance(reply)
    notes = [{"seconds": 0.1, "end": {"kind": "answer", "said": draw(TEXTS)}} for _ in replies]
    return item, unit, replies, notes


@settings(max_examples=a_fiftieth_of(10_000), deadline=None)
@given(transcripts())
def test_a_record_of_an_agent_is_judged_as_the_same_replies_alone(drawn: Any):
    item, unit, replies, notes = drawn
    benchmark = load_benchmark("wild-mini")
    played = Variant(benchmark, (AgentAlteration("doors", {}),))
    beside = [Reply({**reply, "harness": note}) for reply, note in zip(replies, notes, strict=True)]
    for profile in benchmark.profiles:
        alone = judge_unit(benchmark, item, unit, Transcript(tuple(map(Reply, replies))), profile)
        judged = played.judge_unit(item, unit, Transcript(tuple(beside)), profile)
        assert (judged.outcome, judged.score, judged.error, judged.reason, judged.steps) == (
            alone.outcome,
            alone.score,
            alone.error,
            alone.reason,
            alone.steps,
        )


PLAYING = """
import sys
sys.path.insert(0, {tests!r})
from agents.doors_agent import DoorsAgent
import wildtool
wildtool.run("wild-mini", model="baseline/gold", agent=DoorsAgent(), limit=6, out={out!r}, quiet=True)
"""


def test_kills_lose_no_reply_and_ask_none_twice(tmp_path: Path):
    play(tmp_path / "whole", DoorsAgent(), limit=6)
    script = tmp_path / "play.py"
    killed = tmp_path / "killed"
    script.write_text(PLAYING.format(tests=str(Path(__file__).parents[1]), out=str(killed)), "utf-8")
    kills = a_fiftieth_of(50)
    drawn = random.Random(52)
    while kills:
        process = subprocess.Popen([sys.executable, str(script)])
        steps = len(recorded(killed)) + drawn.randint(1, 12)
        while process.poll() is None and len(recorded(killed)) < steps:
            time.sleep(0.01)
        if process.poll() is not None:
            assert process.returncode == 0
            shutil.rmtree(killed)
        process.kill()
        process.wait()
        kills -= 1
    play(killed, DoorsAgent(), limit=6)
    assert sorted(recorded(killed)) == sorted(recorded(tmp_path / "whole"))


def recorded(folder: Path) -> list[tuple[Any, ...]]:
    """The addresses of all recorded replies, in the order of the record."""
    found: list[tuple[Any, ...]] = []
    for file in sorted(folder.glob("record-*.jsonl")) if folder.exists() else ():
        for line in file.read_text("utf-8").splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if "step" in row:
                found.append((row["item"], row["unit"], row["step"]))
    return found
