"""Runs: played concurrently, recorded, continued, stopped and failed in every way."""

import asyncio
import json
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.echo_benchmark import PATIENT, EchoBenchmark, ScriptedModel, plan_of
from engine.instant_time import NetworkModel, run_instantly
from long import a_fiftieth_of
from wildtool import json_codec
from wildtool.engine.call.client import RetryPolicy
from wildtool.engine.observer import Observer
from wildtool.engine.plan import Plan
from wildtool.engine.record.reader import LoggedReply, LogReader
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.run.runner import RunResult, run_plan
from wildtool.engine.score.score import score_run
from wildtool.engine.score.verdict_table import relation
from wildtool.errors import CallError, DataError, RecordError, StorageError, UsageError
from wildtool.types import Item, Reply, Request, Source, Verdict


def go(plan: Plan, out: Path, **options: Any) -> RunResult:
    options.setdefault("policy", PATIENT)
    return run_plan(plan, out, command=["wildtool", "run"], **options)


def rows(result: RunResult) -> list[tuple[Any, ...]]:
    assert result.verdicts is not None
    return relation([result.verdicts]).project("item, repeat, unit, outcome, said").fetchall()


def down(request: Request) -> CallError:
    return CallError("http 500", "broken")


def test_every_unit_gets_a_verdict_in_the_order_of_the_data(tmp_path: Path):
    result = go(
        plan_of(EchoBenchmark(items=3)),
        tmp_path,
    )
    assert [row[:4] for row in rows(result)] == [
        (f"i{item}", 0, str(unit), "correct") for item in range(3) for unit in range(2)
    ]
    assert (result.exit_status, result.calls) == (0, 12)


def test_a_verdict_row_holds_what_was_used(tmp_path: Path):
    result = go(plan_of(EchoBenchmark(items=1, units=1)), tmp_path / "mine")
    used = "steps, prompt_tokens, completion_tokens, latency_s, attempts"
    columns = f"run, model, benchmark, profile, correct, score, {used}"
    assert relation([result.verdicts]).project(columns).fetchall() == [
        ("mine", "scripted", "echo", "official", True, 1.0, 2, 20, 4, 0.5, 2)
    ]


def test_a_model_learns_the_address_of_its_request(tmp_path: Path):
    model = ScriptedModel()
    go(plan_of(EchoBenchmark(items=1, units=1), model, repeats=2, concurrency=1), tmp_path)
    places = [(a.item, a.repeat, a.unit, a.step) for a in (r.address for r in model.asked) if a]
    assert places == [("i0", 0, "0", 0), ("i0", 0, "0", 1), ("i0", 1, "0", 0), ("i0", 1, "0", 1)]


def test_the_record_rebuilds_every_request_as_it_was_sent(tmp_path: Path):
    model = ScriptedModel()
    go(plan_of(EchoBenchmark(items=2, steps=3), model), tmp_path)
    assert len(model.asked) == 12
    with LogReader(tmp_path) as reader:
        for request in model.asked:
            assert request.address is not None
            asked = {"messages": list(request.messages), "tools": list(request.tools)}
            assert reader.request(request.address) == asked


@pytest.mark.parametrize("bound", [1, 3])
def test_calls_in_flight_never_exceed_the_bound_and_reach_it(tmp_path: Path, bound: int):
    model = ScriptedModel()
    result = go(plan_of(EchoBenchmark(items=32), model, concurrency=bound), tmp_path)
    assert model.most_in_flight == bound
    assert result.counts.correct == 64


class Uneven(EchoBenchmark):
    """Of its items the last has five steps, the others have one."""

    def load(self, source: Source, **selection: Any) -> Iterator[Item]:
        for item in super().load(source, **selection):
            yield replace(item, data={"steps": 5 if item.id == f"i{self.items - 1}" else 1})


def test_long_items_are_begun_first_so_that_a_run_does_not_end_with_waiting_for_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    run_instantly(monkeypatch)
    model = NetworkModel(seconds=lambda request: 1.0)
    result = go(plan_of(Uneven(items=6, units=1), model, concurrency=2), tmp_path)
    # In the order of the data it would begin when the others are nearly done, and end after seven seconds.
    assert (result.status, model.ended) == ("done", pytest.approx(6.0))
    assert [row[0] for row in rows(result)] == [f"i{number}" for number in range(6)]


def test_one_call_at_a_time_takes_items_in_the_order_of_the_data(tmp_path: Path):
    model = ScriptedModel()
    go(plan_of(Uneven(items=6, units=1), model, concurrency=1), tmp_path)
    asked = [request.address.item for request in model.asked if request.address]
    assert list(dict.fromkeys(asked)) == [f"i{number}" for number in range(6)]


def test_repeats_are_asked_for_independently(tmp_path: Path):
    model = ScriptedModel(lambda request: "right" if request.address and request.address.repeat else "no")
    result = go(plan_of(EchoBenchmark(items=1, units=1), model, repeats=2), tmp_path)
    assert [row[3] for row in rows(result)] == ["wrong", "correct"]


def test_the_same_command_again_asks_nothing_and_judges_the_same(tmp_path: Path):
    first = go(plan_of(), tmp_path)
    table = rows(first)
    model = ScriptedModel()
    again = go(plan_of(model=model), tmp_path)
    assert (model.asked, again.calls, again.replayed) == ([], 0, 8)
    assert rows(again) == table


def test_a_larger_limit_plays_only_what_is_new(tmp_path: Path):
    go(plan_of(EchoBenchmark(items=5), limit=2), tmp_path)
    result = go(plan_of(EchoBenchmark(items=5), limit=3), tmp_path)
    assert (result.calls, result.replayed, result.counts.units) == (4, 8, 6)


REPLIES = st.text(alphabet=st.characters(), max_size=6) | st.sampled_from(
    ["right", "\ud83d" + "\ude00", "\udcff"]
)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=a_fiftieth_of(500),
    deadline=None,
)
@given(replies=st.lists(REPLIES, min_size=1, max_size=5), keep=st.floats(0, 1))
def test_a_run_cut_anywhere_and_continued_equals_one_that_was_not(
    tmp_path_factory: pytest.TempPathFactory, replies: list[str], keep: float
):
    def answer(request: Request) -> str:
        return replies[len(json_codec.dumps(list(request.messages))) % len(replies)]

    out = tmp_path_factory.mktemp("run")
    whole = rows(go(plan_of(model=ScriptedModel(answer)), out))
    segment = out / "record-0001.jsonl"
    os.truncate(segment, int(segment.stat().st_size * keep))
    continued = go(plan_of(model=ScriptedModel(answer)), out)
    assert rows(continued) == whole
    assert continued.calls + continued.replayed == 8
    replayed = score_run(out)
    assert relation([replayed.verdicts]).project("item, repeat, unit, outcome, said").fetchall() == whole


def test_a_unit_whose_call_fails_for_good_is_an_infra_error_and_the_others_go_on(tmp_path: Path):
    def answer(request: Request) -> object:
        return down(request) if request.address and request.address.unit == "1" else "right"

    result = go(plan_of(EchoBenchmark(items=1), ScriptedModel(answer)), tmp_path)
    assert [row[3] for row in rows(result)] == ["correct", "infra_error"]
    assert result.exit_status == 3
    attempts = relation([result.verdicts]).filter("unit = '1'").project("attempts").fetchall()
    assert attempts == [(3,)]


def test_running_again_retries_just_the_failed_calls(tmp_path: Path):
    def half(request: Request) -> object:
        return down(request) if request.address and request.address.step == 1 else "right"

    go(plan_of(model=ScriptedModel(half)), tmp_path)
    model = ScriptedModel()
    result = go(plan_of(model=model), tmp_path)
    assert [request.address.step for request in model.asked if request.address] == [1] * 4
    assert (result.exit_status, result.counts.correct) == (0, 4)


def test_a_benchmark_that_lets_an_infra_error_through_ends_that_item_only(tmp_path: Path):
    class Plain(EchoBenchmark):
        async def play(self, item: Item, ask: Any, profile: str, *, in_order: bool = False) -> None:
            await ask("0", Request([{"role": "user", "content": item.id}]))

    model = ScriptedModel(lambda request: down(request) if "i0" in str(request.messages) else "right")
    result = go(plan_of(Plain(units=1, steps=1), model), tmp_path)
    assert [row[3] for row in rows(result)] == ["infra_error", "correct"]


def test_a_run_whose_calls_are_all_refused_stops_and_quotes_the_endpoint(tmp_path: Path):
    model = ScriptedModel(lambda request: CallError("http 401", "no such key", final=True))
    with pytest.raises(UsageError, match="no such key"):
        go(plan_of(EchoBenchmark(items=100), model, concurrency=4), tmp_path)
    assert len(model.asked) < 20
    assert (tmp_path / "record-0001.jsonl").read_text().count("\n") == 1


def test_a_short_run_whose_calls_are_all_refused_stops_too(tmp_path: Path):
    model = ScriptedModel(lambda request: CallError("http 404", "no such model", final=True))
    with pytest.raises(UsageError, match="no such model"):
        go(plan_of(EchoBenchmark(items=1, units=1), model), tmp_path)


def test_refusals_are_recorded_once_a_call_succeeds(tmp_path: Path):
    def answer(request: Request) -> object:
        too_long = request.address and request.address.unit == "0"
        return CallError("http 400", "too long", final=True) if too_long else "right"

    result = go(plan_of(EchoBenchmark(items=1, steps=1), ScriptedModel(answer)), tmp_path)
    assert [row[3] for row in rows(result)] == ["infra_error", "correct"]
    assert (tmp_path / "record-0001.jsonl").read_text().count('"row":"error"') == 1


def test_a_fault_of_an_adapter_stops_the_run_with_the_record_whole(tmp_path: Path):
    def answer(request: Request) -> object:
        return ZeroDivisionError("bug") if "i3" in str(request.messages) else "right"

    model = ScriptedModel(answer)
    with pytest.raises(ZeroDivisionError):
        go(plan_of(EchoBenchmark(items=9), model, concurrency=1), tmp_path)
    assert model.closed
    assert read_run(tmp_path)["sittings"][-1]["status"] == "stopped: ZeroDivisionError"
    with LogReader(tmp_path) as reader:
        assert (reader.torn, [item for item, _ in reader.jobs()]) == (0, ["i0", "i1", "i2"])


def test_a_reply_that_cannot_be_recorded_is_an_infra_error(tmp_path: Path):
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    model = ScriptedModel(lambda request: Reply({"content": deep}))
    result = go(plan_of(EchoBenchmark(items=1, units=1), model), tmp_path)
    assert result.counts.infra_error == 1


def test_what_the_benchmark_sees_is_what_a_replay_will_give(tmp_path: Path):
    seen: list[Any] = []

    class Watching(EchoBenchmark):
        async def play(self, item: Item, ask: Any, profile: str, *, in_order: bool = False) -> None:
            seen.append((await ask("0", Request([{"role": "user", "content": "hi"}]))).message)

    for _ in range(2):
        go(plan_of(Watching(items=1, units=1), ScriptedModel(lambda request: "\ud83d" + "\ude00")), tmp_path)
    assert seen[0] == seen[1]


def test_a_judge_that_raises_keeps_the_run_going_and_is_reported(tmp_path: Path):
    class Faulty(EchoBenchmark):
        def judge(self, item: Item, transcripts: Mapping[str, Any], profile: str) -> list[Verdict]:
            if item.id == "i0":
                raise KeyError("bug")
            return super().judge(item, transcripts, profile)

    result = go(plan_of(Faulty()), tmp_path)
    assert result.exit_status == 1
    assert "KeyError: 'bug'" in result.faults[0]
    assert (result.counts.unplayed, result.counts.correct) == (2, 2)


def test_a_judge_that_forgets_a_unit_is_a_fault(tmp_path: Path):
    class Forgetful(EchoBenchmark):
        def judge(self, item: Item, transcripts: Mapping[str, Any], profile: str) -> list[Verdict]:
            return super().judge(item, transcripts, profile)[:1]

    assert go(plan_of(Forgetful()), tmp_path).exit_status == 1


def test_a_request_that_differs_from_the_recorded_one_is_refused(tmp_path: Path):
    class Changed(EchoBenchmark):
        async def play(self, item: Item, ask: Any, profile: str, *, in_order: bool = False) -> None:
            await ask("0", Request([{"role": "user", "content": "another prompt"}]))

    go(plan_of(), tmp_path)
    with pytest.raises(RecordError, match="item i0, repeat 0, unit 0, step 0"):
        go(plan_of(Changed()), tmp_path)


def test_roles_reach_their_own_models_and_only_the_agent_is_counted(tmp_path: Path):
    class TwoRoles(EchoBenchmark):
        async def play(self, item: Item, ask: Any, profile: str, *, in_order: bool = False) -> None:
            await ask("0", Request([{"role": "user", "content": "hi"}], role="user"))
            await ask("0", Request([{"role": "user", "content": "hi"}]))

    user, agent = ScriptedModel(), ScriptedModel()
    plan = plan_of(TwoRoles(items=1, units=1), models={"agent": agent, "user": user})
    result = go(plan, tmp_path)
    assert (len(user.asked), len(agent.asked)) == (1, 1)
    assert relation([result.verdicts]).project("prompt_tokens").fetchall() == [(10,)]
    with LogReader(tmp_path) as reader:
        steps = reader.log("i0", 0)["0"].values()
    assert [step.role for step in steps if isinstance(step, LoggedReply)] == ["user", "agent"]


def test_a_model_of_several_roles_is_closed_once(tmp_path: Path):
    closed: list[int] = []

    class Counting(ScriptedModel):
        async def close(self) -> None:
            closed.append(1)

    model = Counting()
    go(plan_of(EchoBenchmark(with_user=1), models={"agent": model, "user": model}), tmp_path)
    assert closed == [1]


def test_a_role_without_a_model_is_a_usage_error(tmp_path: Path):
    class Needy(EchoBenchmark):
        async def play(self, item: Item, ask: Any, profile: str, *, in_order: bool = False) -> None:
            await ask("0", Request([], role="user"))

    with pytest.raises(UsageError, match="'user'"):
        go(plan_of(Needy()), tmp_path)


def test_bad_data_stop_a_run_before_its_first_call(tmp_path: Path):
    class Broken(EchoBenchmark):
        def load(self, source: Any, **selection: Any) -> Any:
            yield from super().load(source)
            raise DataError("line 3: broken")

    model = ScriptedModel()
    with pytest.raises(DataError, match="line 3"):
        go(plan_of(Broken(), model), tmp_path / "out")
    assert model.asked == []
    assert not (tmp_path / "out").exists()


def test_ctrl_c_ends_a_run_cleanly_and_the_same_command_goes_on(tmp_path: Path):
    def interrupt(request: Request) -> object:
        if "i2" in str(request.messages):
            os.kill(os.getpid(), signal.SIGINT)
        return "right"

    model = ScriptedModel(interrupt)
    stopped = go(plan_of(EchoBenchmark(items=9), model, concurrency=1), tmp_path)
    assert (stopped.exit_status, stopped.verdicts, model.closed) == (130, None, True)
    assert read_run(tmp_path)["sittings"][-1]["status"] == "interrupted"
    result = go(plan_of(EchoBenchmark(items=9)), tmp_path)
    assert (result.exit_status, result.counts.correct) == (0, 18)
    assert result.replayed == stopped.calls


def test_units_are_told_as_they_end_and_not_only_with_their_item(tmp_path: Path):
    ended = 0
    seen_by_the_last: list[int] = []

    class Watcher(Observer):
        def unit_ended(self, item: str, repeat: int) -> None:
            nonlocal ended
            ended += 1

    def answer(request: Request) -> object:
        if "/3" in str(request.messages):
            seen_by_the_last.append(ended)
            return "right"
        return down(request) if "/2" in str(request.messages) else "right"

    plan = plan_of(EchoBenchmark(items=1, units=4, steps=1), ScriptedModel(answer), in_order=True)
    go(plan, tmp_path, observer=Watcher())
    assert (seen_by_the_last, ended) == ([3], 4)


def test_a_watcher_is_told_what_happens(tmp_path: Path):
    told: list[Any] = []

    class Watcher(Observer):
        def started(self, jobs: int) -> None:
            told.append(("started", jobs))

        def call_done(self, reply: Reply, *, replayed: bool) -> None:
            told.append(("done", replayed))

        def call_retried(self, kind: str, delay_s: float) -> None:
            told.append(("retried", kind))

        def call_failed(self, kind: str) -> None:
            told.append(("failed", kind))

        def item_done(self, item: str, repeat: int, verdicts: Any) -> None:
            told.append(("item", item, repeat, len(verdicts)))

    outcomes = iter(["right", down, down, down])
    model = ScriptedModel(lambda request: down(request) if (o := next(outcomes)) is down else o)
    go(plan_of(EchoBenchmark(items=1, units=1), model), tmp_path, observer=Watcher())
    retried = ("retried", "http 500")
    assert told == [
        ("started", 1), ("done", False), retried, retried, ("failed", "http 500"), ("item", "i0", 0, 1)
    ]  # fmt: skip


def test_a_full_disk_stops_the_run_and_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from wildtool.engine.record.writer import LogWriter

    def full(self: LogWriter, sent: Any, reply: Reply) -> None:
        raise self._storage_error(OSError(28, "No space left on device"))  # pyright: ignore

    monkeypatch.setattr(LogWriter, "step", full)
    with pytest.raises(StorageError, match=r"No space left.*run the same command again"):
        go(plan_of(), tmp_path)


def test_replayed_items_do_not_keep_the_event_loop_from_calls_in_flight(tmp_path: Path):
    go(plan_of(EchoBenchmark(items=50), limit=50), tmp_path)
    segment = tmp_path / "record-0001.jsonl"
    kept = [line for line in segment.read_bytes().splitlines(keepends=True) if b'"item":"i0"' not in line]
    segment.write_bytes(b"".join(kept))
    done: list[str] = []

    class Watcher(Observer):
        def item_done(self, item: str, repeat: int, verdicts: Any) -> None:
            done.append(item)

    go(plan_of(EchoBenchmark(items=50), concurrency=2, in_order=True), tmp_path, observer=Watcher())
    assert done.index("i0") < 25


def test_units_in_order_are_asked_one_after_another(tmp_path: Path):
    model = ScriptedModel()
    go(plan_of(EchoBenchmark(items=1, units=3), model, in_order=True), tmp_path)
    units = [request.address.unit for request in model.asked if request.address]
    assert units == ["0", "0", "1", "1", "2", "2"]
    assert model.most_in_flight == 1


def test_a_call_that_hangs_is_cut_off_by_the_timeout(tmp_path: Path):
    class Hanging(ScriptedModel):
        async def complete(self, request: Request) -> Reply:
            return await asyncio.get_running_loop().create_future()

    policy = RetryPolicy(timeout_s=0.001, max_attempts=1)
    result = go(plan_of(EchoBenchmark(items=1, units=1), Hanging()), tmp_path, policy=policy)
    assert result.counts.infra_error == 1
    assert '"kind":"timeout"' in (tmp_path / "record-0001.jsonl").read_text()


def test_the_database_is_loaded_while_the_last_calls_are_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    loaded = threading.Event()
    monkeypatch.setattr("wildtool.engine.run.scheduler.load_database", loaded.set)
    waited: list[bool] = []

    class LastWaits(ScriptedModel):
        async def complete(self, request: Request) -> Reply:
            if request.address and request.address.item == "i4":
                waited.append(loaded.is_set())
                assert await asyncio.to_thread(loaded.wait, 60)
            return await super().complete(request)

    result = go(plan_of(EchoBenchmark(items=5, units=1, steps=1), LastWaits(), concurrency=2), tmp_path)
    # Not at the start, where everything else needs the processor, nor when all calls have ended.
    assert (waited, result.counts.correct) == ([False], 5)


def test_run_json_holds_what_a_reader_needs_to_repeat_the_run(tmp_path: Path):
    go(plan_of(seed=7, limit=1), tmp_path)
    about = json.loads((tmp_path / "run.json").read_text())
    assert about["identity"]["seed"] == 7
    assert about["identity"]["models"] == {"agent": {"name": "scripted", "settings": {"temperature": 0.0}}}
    assert about["identity"]["data_sha256"] == about["data"]["sha256"]
    assert about["scope"]["limit"] == 1
    assert set(about["versions"]) >= {"wildtool", "python", "aiohttp", "orjson", "duckdb"}
    sitting = about["sittings"][0]
    assert (sitting["command"], sitting["status"]) == (["wildtool", "run"], "done")
    assert sitting["started"] <= sitting["ended"]
