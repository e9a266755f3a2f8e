"""Functions as agents, through `wildtool.run`: what they do right, and what they do wrong."""

import asyncio
import inspect
import json
import sys
import threading
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import wildtool as wt
from agents.python_agents import (
    by_an_answer_tool,
    by_call,
    by_functions,
    in_a_thread,
    in_its_own_loop,
    played,
    question,
)
from wildtool.agents.agent import MODEL_PATHS
from wildtool.agents.python_agent import PythonAgent
from wildtool.errors import RecordError, UsageError, WildtoolError

NO_RETRIES = wt.Limits(retries=0)
WAYS = [by_call, by_functions, in_a_thread, in_its_own_loop, by_an_answer_tool]


def run(folder: Path, agent: Any, model: Any = "baseline/gold", limit: int = 1, **keywords: Any) -> wt.Run:
    return wt.run(
        "wild-mini", agent=agent, model=model, out=folder, limit=limit, limits=NO_RETRIES,
        profile="fixed", **keywords,
    )  # fmt: skip


def reasons(folder: Path, agent: Any, **keywords: Any) -> list[str]:
    """Why each unit failed."""
    rows = run(folder, agent, **keywords).verdicts().rows()
    assert {row["outcome"] for row in rows} == {"infra_error"}
    return [row["reason"] for row in rows]


@pytest.mark.long
@pytest.mark.parametrize("agent", WAYS)
@pytest.mark.parametrize("history", ["own", "gold", "none"])
def test_gold_answers_are_right_through_a_function(tmp_path: Path, agent: Any, history: Any) -> None:
    its = run(tmp_path / "run", agent, limit=2, history=history)
    bare = wt.run(
        "wild-mini", model="baseline/gold", out=tmp_path / "bare", limit=2, profile="fixed", history=history
    )
    assert its.scores["accuracy: task"].numerator == bare.scores["accuracy: task"].numerator
    assert its.result.counts == bare.result.counts


@pytest.mark.long
def test_all_sessions_are_right_through_functions(tmp_path: Path) -> None:
    its = run(tmp_path / "run", by_functions, limit=32)
    assert its.scores["accuracy: task"].numerator == 128


async def clumsy(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> Any:
    """Makes mistakes of several kinds, each once a turn."""
    number = len(messages) - max(place for place, each in enumerate(messages) if each["role"] == "user")
    name = tools[len(messages) % len(tools)]["function"]["name"]
    if number == 1:
        return {"role": "assistant", "content": None, "tool_calls": [_call("a", name, '{"x": 1}')]}
    if number == 3:
        calls = [_call("b", "no_such_tool", "{}"), _call("c", name, "{"), _call("d", name, "[1]")]
        return {"role": "assistant", "content": "Wait.", "tool_calls": calls}
    return "Done."


def _call(id_: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.long
def test_a_clumsy_model_is_judged_as_if_no_agent_were_around_it(tmp_path: Path) -> None:
    its = run(tmp_path / "run", by_call, model=clumsy, limit=6)
    bare = wt.run("wild-mini", model=clumsy, out=tmp_path / "bare", limit=6, profile="fixed", history="own")
    columns = ("item", "unit", "outcome", "correct", "error", "reason", "steps")
    assert [[row[name] for name in columns] for row in its.verdicts().rows()] == [
        [row[name] for name in columns] for row in bare.verdicts().rows()
    ]


async def by_the_next_tool(session: wt.AgentSession) -> None:
    """Executes another tool than the model called."""
    names = [tool["function"]["name"] for tool in session.tools("openai")]

    async def execute(call: dict[str, Any]) -> str:
        other = names[names.index(call["function"]["name"]) - 1]
        return (await session.call(other, call["function"]["arguments"], call["id"])).text

    await played(session, execute)


def test_a_call_that_is_executed_with_another_tool_is_altered(tmp_path: Path) -> None:
    its = run(tmp_path / "run", by_the_next_tool)
    altered = its.scores["harness: calls altered"]
    assert (altered.value, altered.denominator) == (
        1.0,
        its.scores["harness: calls executed as said"].denominator,
    )
    assert any("calls not executed as said" in remark.text for remark in its.result.trust)


def test_the_same_function_continues_its_run_and_another_text_of_it_has_another_folder(
    tmp_path: Path,
) -> None:
    first = run(tmp_path / "run", by_call)
    question = (first.folder / "record-0001.jsonl").read_text()
    again = run(tmp_path / "run", by_call, limit=1)
    assert (again.folder / "record-0001.jsonl").read_text() == question
    with pytest.raises(RecordError, match=r"agent\.name was"):
        run(tmp_path / "run", by_functions)


# What a function does wrong -----------------------------------------------------------------------------


async def raises(session: wt.AgentSession) -> None:
    async with asyncio.TaskGroup() as group:
        async for _ in session.turns():
            await group.create_task(_fail())


async def _fail() -> None:
    raise KeyError("lamp")


async def passes_what_is_no_json(session: wt.AgentSession) -> None:
    async for _ in session.turns():
        json.dumps(session)


async def returns_early(session: wt.AgentSession) -> None:
    async for _ in session.turns():
        return


async def never_answers(session: wt.AgentSession) -> None:
    async for _ in session.turns():
        pass


async def answers_twice(session: wt.AgentSession) -> None:
    async for text in session.turns():
        await session.answer(text)
        await session.answer(text)


async def exits(session: wt.AgentSession) -> None:
    async for _ in session.turns():
        sys.exit("no key")


async def gives_up(session: wt.AgentSession) -> None:
    async for _ in session.turns():
        await session.fail("the vault is closed")


async def cancels_itself(session: wt.AgentSession) -> None:
    async for _ in session.turns():
        raise asyncio.CancelledError


@pytest.mark.long
@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (raises, ["raises failed: KeyError: 'lamp'", "test_python_agent.py, line"]),
        (passes_what_is_no_json, ["TypeError: Object of type AgentSession", "test_python_agent.py, line"]),
        (returns_early, ["returns_early returned without an answer", "session.answer"]),
        (never_answers, ["never_answers asks for the user's next turn", "session.answer"]),
        (answers_twice, ["answers_twice", "each is answered once"]),
        (exits, ["exits called sys.exit('no key')"]),
        (gives_up, ["the vault is closed"]),
        (cancels_itself, ["cancels_itself cancelled itself"]),
    ],
)
def test_a_fault_of_a_function_is_said_by_name(tmp_path: Path, agent: Any, words: list[str]) -> None:
    for reason in reasons(tmp_path / "run", agent):
        assert all(each in reason for each in words), reason


def test_a_run_of_which_each_call_failed_by_its_agent_does_not_blame_the_endpoint(tmp_path: Path) -> None:
    async def agent(session: wt.AgentSession) -> None:
        async for _ in session.turns():
            await session.answer("")

    with pytest.raises(WildtoolError) as caught:
        wt.run("wild-mini", agent=agent, model="baseline/gold", out=tmp_path / "run", limit=2)
    said = str(caught.value)
    assert "never asked its model with the tools of the conversation: it said nothing" in said
    assert "endpoint" not in said


async def plays_one_turn(session: wt.AgentSession) -> None:
    text = await anext(session.turns())
    reply = await question(session, [{"role": "user", "content": text}])
    await session.answer(reply["content"] or "")


def test_a_function_that_returns_before_the_conversation_is_over_is_said_by_name(tmp_path: Path) -> None:
    verdicts = run(tmp_path / "run", plays_one_turn, model="baseline/chat").verdicts().rows()
    failed = [row["reason"] for row in verdicts if row["outcome"] == "infra_error"]
    assert failed
    assert all(
        "plays_one_turn returned after turn 1, and the conversation is not over" in reason
        for reason in failed
    )


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (lambda session: None, "lambda must be an async function"),
        (5, "agent=5 is no agent"),
        (PythonAgent, "PythonAgent must be an async function"),
    ],
)
def test_what_is_no_async_function_of_a_session_is_no_agent(tmp_path: Path, agent: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        run(tmp_path / "run", agent)


async def takes_two(session: wt.AgentSession, model: str) -> None:
    await by_call(session)


class Playing:
    """An object that plays."""

    def __init__(self, way: Callable[[wt.AgentSession], Any]) -> None:
        self._way = way

    async def __call__(self, session: wt.AgentSession) -> None:
        await self._way(session)

    async def play(self, session: wt.AgentSession) -> None:
        await self._way(session)


def test_what_takes_more_than_a_session_is_refused_until_it_is_bound(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"takes_two must take one argument.*functools\.partial"):
        run(tmp_path / "run", takes_two)
    assert run(tmp_path / "run", partial(takes_two, model="m")).result.counts.correct == 4


@pytest.mark.long
@pytest.mark.parametrize("agent", [Playing(by_call), Playing(by_call).play])
def test_objects_and_methods_play_too(tmp_path: Path, agent: Any) -> None:
    assert run(tmp_path / "run", agent).result.counts.correct == 4


@pytest.mark.parametrize(
    ("misuse", "words"),
    [
        (lambda session: session.tools("autogen"), "unknown form of tools 'autogen'"),
        (lambda session: session.tools("pydantic-ai"), "pip install pydantic-ai"),
        (lambda session: session.base_url("grpc"), "unknown wire 'grpc'"),
        (lambda session: session.call_from_thread("f", {}), "session.in_thread"),
    ],
)
def test_what_a_session_does_not_have_stops_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, misuse: Callable[[Any], Any], words: str
) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)

    async def agent(session: wt.AgentSession) -> None:
        async for _ in session.turns():
            misuse(session)

    with pytest.raises(UsageError) as caught:
        run(tmp_path / "run", agent)
    assert words in str(caught.value)


def test_an_answer_is_a_text(tmp_path: Path) -> None:
    async def agent(session: wt.AgentSession) -> None:
        async for _ in session.turns():
            await session.answer(None)  # pyright: ignore[reportArgumentType]

    with pytest.raises(UsageError, match="agent answers with NoneType"):
        run(tmp_path / "run", agent)


def test_a_limit_of_its_own_ends_a_turn_and_is_judged(tmp_path: Path) -> None:
    async def agent(session: wt.AgentSession) -> None:
        async for text in session.turns():
            await question(session, [{"role": "user", "content": text}])
            await session.reach_limit("one step")

    its = run(tmp_path / "run", agent)
    assert its.result.counts.infra_error == 0
    assert its.result.counts.correct < 4
    assert '"kind":"limit","detail":"one step"' in (its.folder / "record-0001.jsonl").read_text()


def test_a_function_that_hangs_fails_its_unit_after_the_timeout(tmp_path: Path) -> None:
    async def agent(session: wt.AgentSession) -> None:
        async for _ in session.turns():
            await asyncio.Event().wait()

    its = wt.run(
        "wild-mini", agent=agent, model="baseline/gold", out=tmp_path / "run", limit=1,
        limits=wt.Limits(retries=0, timeout=0.5),
    )  # fmt: skip
    assert its.result.counts.infra_error == 4
    assert "0.5 s" in its.verdicts().rows()[0]["reason"]


playing: list[asyncio.Event] = []
"""Set when a conversation has begun that `held_once` holds; empty where it holds none."""
ended: list[str] = []


async def held_once(session: wt.AgentSession) -> None:
    try:
        if playing and session.definitions()[0]["function"]["name"] == "log_run":
            playing[0].set()
            await asyncio.Event().wait()
        await by_call(session)
    except asyncio.CancelledError:
        ended.append("cancelled")
        raise


async def test_a_run_that_is_cancelled_ends_its_functions_and_continues_later(tmp_path: Path) -> None:
    keywords: Any = {"model": "baseline/gold", "limit": 4, "profile": "fixed", "out": tmp_path / "run"}
    ended.clear()
    playing[:] = [asyncio.Event()]
    interrupted = asyncio.create_task(wt.arun("wild-mini", agent=held_once, **keywords))
    await playing[0].wait()
    interrupted.cancel()
    with pytest.raises(asyncio.CancelledError):
        await interrupted
    assert ended
    playing.clear()
    its = await wt.arun("wild-mini", agent=held_once, **keywords)
    assert its.result.counts.correct == 16


@pytest.mark.long
def test_tasks_that_a_function_leaves_are_ended(tmp_path: Path) -> None:
    left: list[asyncio.Task[Any]] = []

    async def forever() -> None:
        left.append(asyncio.create_task(asyncio.Event().wait()))
        await asyncio.Event().wait()

    async def agent(session: wt.AgentSession) -> None:
        left.append(asyncio.create_task(forever()))
        await by_call(session)

    async def around() -> None:
        before = asyncio.get_running_loop().get_task_factory()
        await wt.arun("wild-mini", agent=agent, model="baseline/gold", out=tmp_path / "run", limit=2)
        assert len(left) == 4
        assert all(task.cancelled() for task in left)
        assert asyncio.get_running_loop().get_task_factory() is before

    asyncio.run(around())


async def blocks(seen: threading.Event, session: wt.AgentSession) -> None:
    seen.wait(120)
    await by_call(session)


def test_a_function_that_blocks_the_loop_is_named_with_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, said = threading.Event(), list[str]()

    def note(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        # What earlier tests left may be warned of in between.
        if category is RuntimeWarning:
            said.append(str(message))
            seen.set()

    monkeypatch.setattr(warnings, "showwarning", note)
    warnings.simplefilter("always", RuntimeWarning)
    agent = PythonAgent(partial(blocks, seen), blocked_s=0.2)
    its = run(tmp_path / "run", agent)
    assert its.result.counts.correct == 4
    line = inspect.getsourcelines(blocks)[1] + 1
    assert f"blocks has blocked the event loop for 0.2 s (test_python_agent.py, line {line})" in said[0]


def test_a_failure_after_the_last_answer_is_a_warning(tmp_path: Path) -> None:
    async def agent(session: wt.AgentSession) -> None:
        await by_call(session)
        raise ValueError("no cleaning up")

    with pytest.warns(RuntimeWarning, match="agent failed after its last answer: ValueError: no cleaning up"):
        assert run(tmp_path / "run", agent).result.counts.correct == 4


# What a session has ------------------------------------------------------------------------------------


def test_functions_say_what_the_tools_take(tmp_path: Path) -> None:
    found: dict[str, Any] = {}

    async def agent(session: wt.AgentSession) -> None:
        found.update({each.__name__: each for each in session.tools("callables")})
        found["definitions"] = session.tools("openai")
        found["addresses"] = [session.base_url(wire) for wire in MODEL_PATHS], session.mcp_url
        await by_call(session)

    run(tmp_path / "run", agent)
    definitions = {tool["function"]["name"]: tool["function"] for tool in found["definitions"]}
    for name, definition in definitions.items():
        parameters = inspect.signature(found[name]).parameters
        schema = definition["parameters"]
        assert set(schema["properties"]) <= set(parameters) | {"others"}
        needed = {each for each, its in parameters.items() if its.default is its.empty} - {"others"}
        assert needed == set(schema["required"])
        assert str(found[name].__doc__).startswith(definition["description"])
    assert all(address.startswith("http://127.0.0.1:") for address in found["addresses"][0])


def test_what_a_function_changes_of_its_tools_reaches_nobody(tmp_path: Path) -> None:
    async def agent(session: wt.AgentSession) -> None:
        for form in ("openai", "callables"):
            its: list[Any] = session.tools(form)
            its.clear()
        for tool in session.tools("openai"):
            tool["function"]["parameters"].clear()
        await by_call(session)

    assert run(tmp_path / "run", agent).result.counts.correct == 4


@pytest.mark.long
def test_an_agent_has_its_own_history_where_tasks_have_one(tmp_path: Path) -> None:
    tool = {"name": "now", "description": "The time.", "parameters": {"type": "object", "properties": {}}}
    case = {"id": "c", "input": "What time is it?", "tools": [tool], "expect": {"now": {}}}
    (tmp_path / "cases.json").write_text(json.dumps({"cases": [case]}))
    single = wt.run(tmp_path / "cases.json", agent=by_call, model="baseline/gold", out=tmp_path / "single")
    assert single.result.counts.correct == 1
    assert '"history"' not in (tmp_path / "single" / "run.json").read_text()
    run(tmp_path / "sessions", by_call)
    assert '"history": {\n      "own"' in (tmp_path / "sessions" / "run.json").read_text()
