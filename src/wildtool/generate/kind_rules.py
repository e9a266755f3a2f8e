"""The rule that what is done agrees with the wanted kind of task (P24)."""

from collections.abc import Callable, Iterator, Mapping

from wildtool.benchmarks.wildtoolbench.data import ANSWER, VIRTUAL
from wildtool.generate.moment import Moment, asked
from wildtool.generate.reading import Decision, Fault


def p24(decision: Decision, moment: Moment) -> Iterator[Fault]:
    """What is done agrees with the wanted kind of task."""
    calls = sum(action.name not in VIRTUAL for action in decision.actions)
    problem = _KINDS[moment.wanted.group](
        moment, calls, any(asked(decision)), any(action.name == ANSWER for action in decision.actions)
    )
    if problem:
        yield Fault("P24", problem)


def _single(moment: Moment, calls: int, asks: bool, answers: bool) -> str:
    if asks:
        return "Nothing is missing in this task; make the call."
    if len(moment.calls) + calls > 1:
        return "This task takes exactly one call."
    return "This task takes a call before the answer." if answers and not moment.calls else ""


def _multi(moment: Moment, calls: int, asks: bool, answers: bool) -> str:
    if asks:
        return "Nothing is missing in this task; make the calls."
    done, topology = len(moment.calls), moment.wanted.topology
    if answers and done < (3 if topology == "mixed" else 2):
        return "This task takes more calls before the answer."
    if topology == "parallel" and calls and (done or calls < 2):
        return "This task takes independent calls, all of them at once."
    if topology == "sequential" and calls > 1:
        return "This task takes calls that need each other, one at a time."
    return ""


def _clarify(moment: Moment, calls: int, asks: bool, answers: bool) -> str:
    if not asks and not moment.questions:
        return "Something required is missing in this task; ask the user first."
    return "This task takes a call before the answer." if answers and not moment.calls else ""


def _chat(moment: Moment, calls: int, asks: bool, answers: bool) -> str:
    return "This task needs no tool and no question; answer it." if calls or asks else ""


_KINDS: Mapping[str, Callable[[Moment, int, bool, bool], str]] = {
    "Single-Tool": _single,
    "Multi-Tool": _multi,
    "Clarify": _clarify,
    "Chat": _chat,
}
