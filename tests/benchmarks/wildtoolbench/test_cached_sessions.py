"""What follows from a session is worked out once, and kept no longer than the session."""

import gc
import weakref

import pytest

from benchmarks.wildtoolbench.build import answer, item, node, session, shown, told
from wildtool.benchmarks.wildtoolbench import WILDTOOLBENCH
from wildtool.benchmarks.wildtoolbench.data import Session, cached_per_session
from wildtool.types import Transcript

CHAT = [answer()]


def test_it_is_worked_out_once_for_each_session_and_place() -> None:
    asked: list[tuple[Session, int]] = []

    @cached_per_session
    def length(its: Session, task: int) -> int:
        asked.append((its, task))
        return len(its.tasks[task].nodes)

    one, same_words = session(CHAT, [node("a"), answer(0)]), session(CHAT, [node("a"), answer(0)])
    assert [length(one, 0), length(one, 1), length(one, 1), length(same_words, 1)] == [1, 2, 2, 2]
    assert asked == [(one, 0), (one, 1), (same_words, 1)]


def test_what_raises_is_asked_again() -> None:
    @cached_per_session
    def impossible(its: Session) -> int:
        raise LookupError(its.id)

    made = session(CHAT)
    for _ in range(2):
        with pytest.raises(LookupError):
            impossible(made)


@pytest.mark.long
@pytest.mark.parametrize("profile", ["official", "fixed", "paper"])
def test_it_goes_with_the_session(profile: str) -> None:
    made = item([node("a"), answer(0)], CHAT)
    assert shown(WILDTOOLBENCH.rules(profile).episode(made, "1"))
    assert WILDTOOLBENCH.judge(made, {"0": Transcript(())}, profile)
    gone = weakref.ref(made.data)
    del made
    # What was judged last is kept for a moment.
    for _ in range(40):
        WILDTOOLBENCH.judge(item(CHAT), {}, profile)
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("profile", ["official", "fixed"])
def test_what_one_walk_adds_no_other_walk_of_the_session_shows(profile: str) -> None:
    made = item([node("a"), answer(0)], CHAT)
    before = [shown(WILDTOOLBENCH.rules(profile).episode(made, unit)) for unit in made.units]
    told(
        WILDTOOLBENCH.rules(profile).episode(made, "0"),
        {"role": "assistant", "content": "hm", "tool_calls": None},
    )
    assert [shown(WILDTOOLBENCH.rules(profile).episode(made, unit)) for unit in made.units] == before
