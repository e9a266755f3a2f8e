"""Lists of labels for failures of a run, and the rules that propose some of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wildtool.benchmarks.wildtoolbench.error_classes import PAPER_COLUMNS
from wildtool.engine.score.label_metrics import NO_LABEL
from wildtool.errors import DataError, UsageError, unknown_name
from wildtool.json_codec import as_list, canonical_json
from wildtool.trace import Trace, said_calls
from wildtool.types import Message, Verdict

PLAN, EXPECTATION, CLUE = (
    "I limited adaptiveness of planning",
    "II inaccurate expectations",
    "III missing key clues",
)
LABEL_KEYS = "123456789acdefghijklmopruvwxyz"
"""The keys of labels, in their order; the other letters do something else."""
MOST_LABELS = len(LABEL_KEYS)
_SHORTEST_CLUE = 3
"""Characters of a value that is looked for in what the model was shown; shorter ones stand everywhere."""


@dataclass(frozen=True, slots=True)
class ReadCase:
    """A failure as a reader sees it."""

    trace: Trace
    verdict: Verdict
    """Under the rules by which it is a failure."""
    verdicts: Mapping[str, Verdict]
    """By profile, of the other rules of its benchmark."""


Proposing = Callable[[ReadCase], Iterator[str]]
"""Gives the labels that a rule proposes for a case."""


@dataclass(frozen=True, slots=True)
class LabelSet:
    """Labels that readers choose from."""

    labels: Mapping[str, str]
    """By name what each means."""
    proposed: Proposing
    """Names of the labels that rules propose; a reader keeps them or not."""


def label_set(name: str) -> LabelSet:
    """A list of labels by its name, or that of a file. Raises UsageError or DataError if there is none of that name.

    Args:
        name: `toleap`, `wildtoolbench`, or a text file with a line `NAME: what it means` for each label.
    """
    if name in LABEL_SETS:
        return LABEL_SETS[name]
    if not Path(name).is_file():
        raise UsageError(
            f"{unknown_name('list of labels', name, LABEL_SETS)}, or give a text file with a line 'NAME: what it means' "
            "for each label"
        )
    return LabelSet(_labels_of_file(Path(name)), _nothing)


def _labels_of_file(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read as text ({error})") from error
    labels: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        label, _, about = (part.strip() for part in line.partition(":"))
        problem = ""
        if not label:
            problem = "has no label"
        elif label in labels:
            problem = f"has the label {label!r} again"
        elif label == NO_LABEL:
            problem = f"{label!r} is what cases without a label are called"
        if problem:
            raise DataError(f"{path}:{number}: {problem}; expected 'NAME: what it means', each name once")
        labels[label] = about
    if not 0 < len(labels) <= MOST_LABELS:
        raise DataError(
            f"{path}: has {len(labels)} labels; expected 1 to {MOST_LABELS}, each a line 'NAME: what it means'"
        )
    return labels


def _nothing(case: ReadCase) -> Iterator[str]:
    yield from ()


def _toleap(case: ReadCase) -> Iterator[str]:
    """No rule can tell what a model expected of an action, so type II is never proposed."""
    if _repeats_a_call(case.trace):
        yield PLAN
    if _leaves_out_a_clue(case.trace):
        yield CLUE


def _repeats_a_call(trace: Trace) -> bool:
    """Whether the model made a call again, the same in name and arguments, after it saw what came of it."""
    earlier: set[bytes] = set()
    for step in trace.steps:
        calls = {canonical_json([name, arguments]) for name, arguments in _calls(step.reply)}
        if calls & earlier:
            return True
        earlier |= calls
    return False


def _calls(reply: Message) -> Iterator[tuple[str, Any]]:
    if as_list(reply.get("tool_calls")):
        yield from said_calls(reply)


def _leaves_out_a_clue(trace: Trace) -> bool:
    """Whether a value that gold has, and that the model missed, stood word for word in what it was shown."""
    shown = "\n".join(str(message.get("content")) for step in trace.steps for message in step.seen)
    expected = (
        str(each.expected) for each in trace.differences if isinstance(each.expected, str | int | float)
    )
    return any(len(value) >= _SHORTEST_CLUE and value in shown for value in expected)


def _wildtoolbench(case: ReadCase) -> Iterator[str]:
    """The class that the evaluator of the paper gives, where it judges the case and calls it wrong, too."""
    verdict = case.verdicts.get("paper")
    if verdict is not None and verdict.error in PAPER_COLUMNS:
        yield verdict.error


_PAPER_ABOUT: Sequence[str] = (
    "text or nothing although a call was expected",
    "a call although the user had to be asked, or of a tool that does not exist",
    "a call in a chat task",
    "a call once too often, or after everything was done",
    "a tool that is not needed, or not due yet",
    "an end although more calls were expected",
    "a value of the wrong type, or a required argument left out",
    "an argument that the tool does not have or that nothing asked for",
    "a wrong value",
)
LABEL_SETS: Mapping[str, LabelSet] = {
    "toleap": LabelSet(
        {
            PLAN: "its plan is missing, or not adapted to what happened",
            EXPECTATION: "it expects something else of an action than what the action does",
            CLUE: "it leaves out a fact that it was shown earlier",
        },
        _toleap,
    ),
    "wildtoolbench": LabelSet(dict(zip(PAPER_COLUMNS, _PAPER_ABOUT, strict=True)), _wildtoolbench),
}
"""The types of the ToLeaP paper (section 4.2, challenge 4), and the nine columns of WildToolBench's Table 4."""
