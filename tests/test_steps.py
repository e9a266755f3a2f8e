"""Long tasks that say how far they are."""

from collections.abc import Iterator

import pytest

from wildtool import steps


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    lines: list[str] = []
    monkeypatch.setattr(steps, "_show", lines.append)
    yield lines


def at(*seconds: float) -> Iterator[float]:
    yield from seconds
    while True:
        yield seconds[-1]


def test_a_short_task_says_nothing(shown: list[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(steps, "monotonic", at(0.0, 1.0).__next__)
    assert list(steps.with_steps("judging runs/a", range(100), int)) == list(range(100))
    assert shown == []


def test_a_long_one_says_how_far_it_is_and_then_clears_the_line(
    shown: list[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(steps, "monotonic", at(0.0, 0.5, 3.0, 3.05, 3.2).__next__)
    assert list(steps.with_steps("judging runs/a", range(1000, 1130), int)) == list(range(1000, 1130))
    assert shown == ["judging runs/a: 1,032 done", "judging runs/a: 1,096 done", ""]


def test_an_error_in_a_long_task_clears_the_line_too(shown: list[str]):
    with pytest.raises(ValueError, match="broken"), steps.step_line():
        steps.show_step("reading a.jsonl")
        raise ValueError("broken")
    assert shown == ["reading a.jsonl", ""]


def test_without_a_terminal_nothing_is_counted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(steps, "_show", None)
    assert list(steps.with_steps("judging", "ab", lambda job: 1 // 0)) == ["a", "b"]


def test_the_clock_is_looked_at_before_every_32nd_job_from_the_first_on(
    shown: list[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(steps, "monotonic", at(5.0, 7.0, 7.5, 7.55, 7.6, 7.75).__next__)
    jobs = [f"job {number}" for number in range(161)]
    assert list(steps.with_steps("judging", jobs, lambda job: int(job[4:]) * 100)) == jobs
    assert shown == ["judging: 3,200 done", "judging: 12,800 done", ""]


def test_steps_are_shown_by_the_function_that_was_given_last(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(steps, "_show", None)
    steps.show_step("before")
    lines: list[str] = []
    steps.show_steps(lines.append)
    steps.show_step("reading")
    assert lines == ["reading"]
