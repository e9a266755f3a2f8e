"""Long records are judged in two processes, and nothing shows it."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from engine.echo_benchmark import PATIENT, EchoBenchmark, EchoRules, ScriptedModel, plan_of
from wildtool.engine.record.reader import RecordedReply, RecordReader
from wildtool.engine.run.runner import run_plan
from wildtool.engine.score import score, two_processes
from wildtool.engine.score.score import ScoringOutcome, score_run
from wildtool.engine.score.two_processes import in_two_processes
from wildtool.errors import CallError, RecordError

Mine = Callable[[int], bool]


def own(mine: Mine, jobs: int = 1_000) -> list[int]:
    return [place for place in range(jobs) if mine(place)]


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> None:
    """The workers that run the tests have one more thread, which no copy misses."""
    monkeypatch.setattr(two_processes, "_can_copy", lambda: True)
    monkeypatch.setattr(score, "MANY_ROWS", 1)


@pytest.mark.usefixtures("copied")
@pytest.mark.parametrize("jobs", [0, 1, 16, 17, 1_000])
def test_each_job_is_done_once(jobs: int):
    found = in_two_processes(lambda mine: own(mine, jobs), lambda mine: own(mine, jobs))
    assert found is not None
    assert sorted([*found[0], *found[1]]) == list(range(jobs))


@pytest.mark.usefixtures("copied")
def test_both_processes_take_what_is_left():
    there, here = os.pipe()

    def theirs(mine: Mine) -> list[int]:
        first = mine(0)
        os.write(here, b"!")
        return [place for place in range(1_000) if (first if place == 0 else mine(place))]

    def ours(mine: Mine) -> list[int]:
        os.read(there, 1)
        return own(mine)

    found = in_two_processes(ours, theirs)
    assert found is not None
    assert found[1][:16] == list(range(16))
    assert sorted([*found[0], *found[1]]) == list(range(1_000))


def die(mine: Mine) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fail(mine: Mine) -> None:
    raise ValueError("no")


@pytest.mark.usefixtures("copied")
@pytest.mark.parametrize(("ours", "theirs"), [(own, die), (own, fail), (fail, own)])
def test_there_is_no_result_where_one_fails(ours: Any, theirs: Any):
    assert in_two_processes(ours, theirs) is None


@pytest.mark.usefixtures("copied")
def test_an_interrupt_ends_the_copy_too():
    there, here = os.pipe()
    begun, begin = os.pipe()

    def theirs(mine: Mine) -> None:
        os.write(begin, b"%d" % os.getpid())
        os.read(there, 1)  # never comes

    copies: list[int] = []

    def ours(mine: Mine) -> None:
        copies.append(int(os.read(begun, 10)))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_two_processes(ours, theirs)
    # Other tests of this process may have left children that still run.
    with pytest.raises(ChildProcessError):
        os.waitpid(copies[0], os.WNOHANG)
    os.close(here)


def test_a_process_with_threads_is_not_copied(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(two_processes, "_running_tasks", lambda: 0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1}, raising=False)
    release = Event()
    thread = Thread(target=release.wait)
    thread.start()
    try:
        assert in_two_processes(own, own) is None
    finally:
        release.set()
        thread.join()


@pytest.mark.parametrize(
    ("running", "copied"), [("1/90", True), ("2/90", False), ("17/90", False), ("?", True)]
)
def test_a_busy_machine_has_no_processor_for_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, running: str, copied: bool
):
    load, threads = tmp_path / "loadavg", tmp_path / "task"
    load.write_text(f"9.10 8.80 7.30 {running} 4711\n")
    (threads / "1").mkdir(parents=True)
    monkeypatch.setattr(two_processes, "_LOAD", load)
    monkeypatch.setattr(two_processes, "_THREADS", threads)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1}, raising=False)
    monkeypatch.setattr(two_processes.sys, "platform", "linux")
    assert two_processes._can_copy() == copied  # pyright: ignore[reportPrivateUsage]


# A record ---------------------------------------------------------------------------------------------


def answers() -> Iterator[Any]:
    number = 0
    while True:
        number += 1
        yield (
            CallError("http 400", "no", final=True)
            if number % 23 == 0
            else "wrong"
            if number % 5 == 0
            else "right"
        )


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """80 items, repeats counted, of two units with two steps: right, wrong and failed ones, and some never played."""
    said = answers()
    run = tmp_path / "run"
    model = ScriptedModel(lambda request: next(said))
    run_plan(plan_of(model=model, repeats=40, concurrency=1), run, command=[], policy=PATIENT)
    segment = run / "record-0001.jsonl"
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join(lines[:-30]))
    return run


def scored(
    run: Path, monkeypatch: pytest.MonkeyPatch, rows: int, profile: str
) -> tuple[ScoringOutcome, bytes]:
    monkeypatch.setattr(score, "MANY_ROWS", rows)
    outcome = score_run(run, profile=profile)
    return outcome, outcome.verdicts.read_bytes()


def refuse_some(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the judge fail on the items whose second answer is wrong."""
    judged = EchoRules.verdict

    def verdict(rules: EchoRules, episode: Any, *about: Any) -> Any:
        if episode.answers[1].get("content") == "wrong":
            raise ZeroDivisionError(str(about[0].id))
        return judged(rules, episode, *about)

    monkeypatch.setattr(EchoRules, "verdict", verdict)


@pytest.mark.usefixtures("copied")
@pytest.mark.parametrize("profile", ["official", "strict"])
def test_table_and_outcome_are_those_of_one_process(
    record: Path, monkeypatch: pytest.MonkeyPatch, profile: str
):
    refuse_some(monkeypatch)
    alone, table = scored(record, monkeypatch, 10_000, profile)
    assert alone.faults
    assert min(alone.counts.wrong, alone.counts.infra_error, alone.counts.unplayed) > 0
    assert scored(record, monkeypatch, 1, profile) == (alone, table)


@pytest.mark.usefixtures("copied")
def test_a_copy_that_dies_changes_nothing(record: Path, monkeypatch: pytest.MonkeyPatch):
    _, table = scored(record, monkeypatch, 10_000, "official")
    there, here = os.pipe()
    this, judged = os.getpid(), EchoRules.verdict

    def verdict(*given: Any) -> Any:
        if os.getpid() != this:
            os.write(here, b"!")
            os.kill(os.getpid(), signal.SIGKILL)
        return judged(*given)

    monkeypatch.setattr(EchoRules, "verdict", verdict)
    # This process waits until the other one has judged something.
    monkeypatch.setattr(score, "load_database", lambda: os.read(there, 1))
    assert scored(record, monkeypatch, 1, "official")[1] == table


@pytest.mark.usefixtures("copied")
def test_of_two_damaged_lines_the_first_is_named(record: Path, monkeypatch: pytest.MonkeyPatch):
    segment = record / "record-0001.jsonl"
    lines = segment.read_bytes().splitlines(keepends=True)
    for place in (100, 250):
        lines[place] = lines[place].replace(b'"role":"agent"', b'"role":"agemt"')
    segment.write_bytes(b"".join(lines))
    told: list[str] = []
    for rows in (10_000, 1):
        with pytest.raises(RecordError) as raised:
            scored(record, monkeypatch, rows, "official")
        told.append(str(raised.value))
    assert "line 101: damaged" in told[0]
    assert told[1] == told[0]


@pytest.mark.usefixtures("copied")
def test_a_benchmark_may_ask_for_one_process(record: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("copied"))
    monkeypatch.setattr(EchoBenchmark, "judged_in_one_process", lambda _: True)
    assert scored(record, monkeypatch, 1, "official")[0].counts.correct


def test_lines_of_any_length_are_read_at_their_place(tmp_path: Path):
    lengths = [1, 50, (1 << 14) - 60, 1 << 14, 1 << 16, 1 << 18]
    said = iter(["x" * length for length in lengths] + ["right"] * 10)
    model = ScriptedModel(lambda request: next(said))
    run_plan(plan_of(model=model, repeats=2, concurrency=1), tmp_path, command=[], policy=PATIENT)
    with RecordReader(tmp_path) as reader:
        assert reader.rows == 16
        texts = [
            step.reply.message["content"]
            for job in reader.jobs()
            for unit in reader.log(*job).values()
            for step in unit.values()
            if isinstance(step, RecordedReply)
        ]
    assert sorted(map(len, texts))[-4:] == sorted(lengths)[-4:]
