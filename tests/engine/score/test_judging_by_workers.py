"""Long records are judged by several processes, and nothing shows it."""

# pyright: reportPrivateUsage=false

import gc
import os
import signal
from collections.abc import Iterator
from multiprocessing import active_children
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from engine.echo_benchmark import PATIENT, EchoRules, ScriptedModel, plan_of
from wildtool.engine.record.reader import LoggedReply, LogReader
from wildtool.engine.run.runner import run_plan
from wildtool.engine.score import pool, score
from wildtool.engine.score.score import ScoringOutcome, score_run
from wildtool.errors import CallError, RecordError


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> None:
    """The workers that run the tests have one more thread, which no copy misses."""
    monkeypatch.setattr(pool, "_has_threads", lambda: False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1}, raising=False)


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


@pytest.mark.long
@pytest.mark.usefixtures("copied")
@pytest.mark.parametrize("profile", ["official", "strict"])
def test_table_and_outcome_are_those_of_one_process(
    record: Path, monkeypatch: pytest.MonkeyPatch, profile: str
):
    refuse_some(monkeypatch)
    parts: list[Any] = []
    by_workers = pool.judged_by_workers

    def recorded_parts(*arguments: Any) -> Any:
        parts.append(list(by_workers(*arguments) or ()))
        return iter(parts[-1])

    monkeypatch.setattr(pool, "judged_by_workers", recorded_parts)
    alone, table = scored(record, monkeypatch, 10_000, profile)
    assert alone.faults
    assert min(alone.counts.wrong, alone.counts.infra_error, alone.counts.unplayed) > 0
    assert scored(record, monkeypatch, 1, profile) == (alone, table)
    assert [len(found) for found in parts] == [5]


@pytest.mark.long
@pytest.mark.usefixtures("copied")
@pytest.mark.parametrize("how", ["killed", "fails"])
def test_a_worker_that_dies_changes_nothing(record: Path, monkeypatch: pytest.MonkeyPatch, how: str):
    _, table = scored(record, monkeypatch, 10_000, "official")
    this, judged, here = os.getpid(), EchoRules.unfinished, list[int]()

    def unfinished(*given: Any) -> Any:
        if os.getpid() != this:
            os.kill(os.getpid(), signal.SIGKILL if how == "killed" else 0)
            raise MemoryError
        here.append(1)
        return judged(*given)

    monkeypatch.setattr(EchoRules, "unfinished", unfinished)
    monkeypatch.setattr(score, "safe_judge", lambda variant, *given: (variant.judge(*given), None))
    assert scored(record, monkeypatch, 1, "official")[1] == table
    # A worker had the rest: it is judged here, and the first part for the second time.
    assert len(here) > 160


@pytest.mark.usefixtures("copied")
def test_an_interrupt_ends_the_workers_and_the_command(record: Path, monkeypatch: pytest.MonkeyPatch):
    begun: list[Any] = []

    def interrupt() -> None:
        begun.extend(active_children())
        raise KeyboardInterrupt

    monkeypatch.setattr(pool, "load_database", interrupt)
    with pytest.raises(KeyboardInterrupt):
        scored(record, monkeypatch, 1, "official")
    assert begun and not any(worker.is_alive() for worker in begun)


@pytest.mark.long
@pytest.mark.usefixtures("copied")
@pytest.mark.parametrize("failing", [False, True])
def test_memory_is_collected_again_once_the_workers_have_ended(
    record: Path, monkeypatch: pytest.MonkeyPatch, failing: bool
):
    counts = [gc.get_freeze_count()]

    def load() -> None:
        counts.append(gc.get_freeze_count())
        if failing:
            raise OSError

    monkeypatch.setattr(pool, "load_database", load)
    scored(record, monkeypatch, 1, "official")
    assert counts[1] > counts[0]
    assert gc.get_freeze_count() == 0


@pytest.mark.long
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


def test_a_process_with_threads_is_not_copied(record: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1}, raising=False)
    monkeypatch.setattr(pool, "ProcessPoolExecutor", lambda *given, **named: pytest.fail("copied"))
    release = Event()
    thread = Thread(target=release.wait)
    thread.start()
    try:
        assert scored(record, monkeypatch, 1, "official")[0].counts.correct
    finally:
        release.set()
        thread.join()


def test_lines_of_any_length_are_read_at_their_place(tmp_path: Path):
    lengths = [1, 50, (1 << 14) - 60, 1 << 14, 1 << 16, 1 << 18]
    said = iter(["x" * length for length in lengths] + ["right"] * 10)
    model = ScriptedModel(lambda request: next(said))
    run_plan(plan_of(model=model, repeats=2, concurrency=1), tmp_path, command=[], policy=PATIENT)
    with LogReader(tmp_path) as reader:
        assert reader.rows == 16
        texts = [
            step.reply.message["content"]
            for job in reader.jobs()
            for unit in reader.log(*job).values()
            for step in unit.values()
            if isinstance(step, LoggedReply)
        ]
    assert sorted(map(len, texts))[-4:] == sorted(lengths)[-4:]
