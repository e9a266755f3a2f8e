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
