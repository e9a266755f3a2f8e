"""What happened in one task, step by step, next to its gold graph: what explains a verdict to a reader."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from wildtool.benchmark import Check
from wildtool.benchmarks.wildtoolbench.data import VIRTUAL, GoldNode, Session
from wildtool.benchmarks.wildtoolbench.episode import WildToolBenchRules, observation
from wildtool.benchmarks.wildtoolbench.fixed.episode import FixedEpisode
from wildtool.benchmarks.wildtoolbench.official.arguments import CORRECT
from wildtool.benchmarks.wildtoolbench.official.episode import LoggedStep, OfficialEpisode
from wildtool.benchmarks.wildtoolbench.official.judge import check_step, object_schemas
from wildtool.benchmarks.wildtoolbench.rule_words import rule_in_words
from wildtool.toolcall.arguments import ArgumentsError, read_bounded_json
from wildtool.trace import (
    GoldCall,
    GoldDifference,
    Trace,
    TraceStep,
    find_differences,
    mark_decisive,
)
from wildtool.types import Item, Message, Transcript


@dataclass(frozen=True, slots=True)
class _Account:
    """What a profile made of the steps of a finished episode."""

    fulfilled: Sequence[tuple[int, ...]]
    """Gold nodes that each step did, arguments and all."""
    notes: Mapping[int, str]
    """What the rules said, by step."""
    wrong: frozenset[int] = frozenset()
    """Gold nodes that a step tried and missed."""
    differences: Sequence[GoldDifference] = field(default_factory=tuple[GoldDifference, ...])


def trace(rules: WildToolBenchRules, item: Item, unit: str, transcript: Transcript) -> Trace:
    """What happened in a task, as the rules of a profile saw it. Pure; never raises, even on malformed replies."""
    session: Session = item.data
    position = item.units.index(unit)
    episode: Any = rules.walked(session, position, transcript)
    happened: list[tuple[Sequence[Message], Message]] = list(episode.steps())
    nodes = session.tasks[position].nodes
    check = rules.judge(episode, session, position)
    account = _ACCOUNTS[rules.name](episode, session, nodes, check)
    if episode.done and happened:
        account = _with_reason(account, len(happened) - 1, check.reason)
    steps = tuple(
        TraceStep(
            "agent",
            seen,
            reply,
            tuple(
                node for node in chain(*account.fulfilled[number : number + 1]) if node not in account.wrong
            ),
            account.notes.get(number, ""),
        )
        for number, (seen, reply) in enumerate(happened)
    )
    fulfilled = {node for step in steps for node in step.fulfilled}
    gold = tuple(_gold(node, number, fulfilled, account.wrong) for number, node in enumerate(nodes))
    return Trace(unit, session.sent_tools, steps, gold, tuple(account.differences))


def _gold(node: GoldNode, number: int, fulfilled: set[int], wrong: frozenset[int]) -> GoldCall:
    spoken = node.name in VIRTUAL
    arguments = observation(node, quote_texts=False) if spoken else node.arguments
    status = "done" if number in fulfilled else "wrong" if number in wrong else "missed"
    return GoldCall(node.name, arguments, node.deps, status)


def _with_reason(account: _Account, last: int, reason: str) -> _Account:
    """Notes at the last step what decided the task, unless another step already says so."""
    if any(reason in note for note in account.notes.values()):
        return account
    notes = {**account.notes}
    notes[last] = f"{notes[last]}; {reason}" if last in notes else reason
    return _Account(account.fulfilled, notes, account.wrong, account.differences)


# Fixed -----------------------------------------------------------------------------------------------


def _fixed(episode: FixedEpisode, session: Session, nodes: Sequence[GoldNode], check: Check) -> _Account:
    fulfilled = [step.nodes for step in episode.log]
    fault = episode.fault
    if fault is None or not episode.log:
        return _Account(fulfilled, {})
    name = fault.reason.partition(":")[0]
    differences = [
        GoldDifference(f"{name}.{d.path}" if d.path else name, d.gold, d.predicted, d.message)
        for d in fault.differences
    ]
    wrong = frozenset[int]() if fault.node is None else frozenset({fault.node})
    return _Account(fulfilled, {len(episode.log) - 1: fault.reason}, wrong, differences)


# Official and paper ----------------------------------------------------------------------------------


def _official(
    episode: OfficialEpisode, session: Session, nodes: Sequence[GoldNode], check: Check
) -> _Account:
    schemas = object_schemas(session)
    judged: Sequence[Mapping[str, Any]] = check.detail["steps"]
    checks = {number: step["checks"] for number, step in enumerate(judged) if "checks" in step}
    # The original checks arguments up to the first fault alone; a tick says that they are right, so all are checked here.
    fulfilled = [
        _right_nodes(step, nodes, schemas, checks.get(number)) for number, step in enumerate(episode.log)
    ]
    missed = frozenset(
        node
        for step, right in zip(episode.log, fulfilled, strict=True)
        for node in step.matched
        if node not in right
    )
    notes = _name_notes(episode)
    bad = next((number for number, labels in checks.items() if set(labels) != {CORRECT}), None)
    if bad is None:
        return _Account(fulfilled, notes, missed)
    step = episode.log[bad]
    labels = checks[bad]
    notes[bad] = "; ".join(dict.fromkeys(rule_in_words(label) for label in labels if label != CORRECT))
    for number in range(bad + 1, len(episode.log)):
        deleted = "deleted" in judged[number]
        after = "removed from the log, since an earlier step decided" if deleted else "not checked any more"
        notes[number] = f"{notes[number]}; {after}" if number in notes else after
    pairs = _pairs(step, nodes)
    failed = [
        (*pair, rule_in_words(label)) for pair, label in zip(pairs, labels, strict=False) if label != CORRECT
    ]
    differences = [d for node, text, label in failed for d in _differences(nodes[node], text, label)]
    return _Account(fulfilled, notes, missed, differences)


def _right_nodes(
    step: LoggedStep,
    nodes: Sequence[GoldNode],
    schemas: Mapping[str, Mapping[str, Any]],
    checked: Sequence[str] | None,
) -> tuple[int, ...]:
    """The matched gold nodes of a step whose arguments are right, too; none where the original raises on it.

    Args: checked: what the verdict says of its calls; None where it did not come so far.
    """
    if not step.correct or nodes[step.matched[0]].name in VIRTUAL:
        return tuple(step.matched) if step.correct else ()
    try:
        labels = check_step(step, nodes, schemas) if checked is None else checked
    except (KeyError, TypeError, IndexError, AttributeError, ValueError, RecursionError):
        return ()
    pairs = zip(_pairs(step, nodes), labels, strict=False)
    return tuple(node for (node, _), label in pairs if label == CORRECT)


def _paper(episode: OfficialEpisode, session: Session, nodes: Sequence[GoldNode], check: Check) -> _Account:
    """The paper's evaluator pairs calls over the whole task, so every difference is shown and none singled out."""
    differences = [
        difference
        for step in episode.log
        if step.matched and nodes[step.matched[0]].name not in VIRTUAL
        for node, text in _pairs(step, nodes)
        for difference in _differences(nodes[node], text, "differs from the gold call of the same place")
    ]
    exact = [d for d in differences if d.where not in {node.name for node in nodes}]
    fulfilled = [
        tuple(node for node in step.matched if check.correct or node not in _differing_nodes(step, nodes))
        for step in episode.log
    ]
    wrong = frozenset(chain(*(step.matched for step in episode.log))) - set(chain(*fulfilled))
    return _Account(fulfilled, _name_notes(episode), wrong, exact)


def _differing_nodes(step: LoggedStep, nodes: Sequence[GoldNode]) -> set[int]:
    """The matched gold nodes of a step whose arguments differ in any way."""
    if not step.matched or nodes[step.matched[0]].name in VIRTUAL:
        return set()
    return {node for node, text in _pairs(step, nodes) if not _is_equal(nodes[node].arguments, text)}


def _is_equal(arguments: Mapping[str, Any], text: Any) -> bool:
    try:
        parsed = read_bounded_json(text) if isinstance(text, str) else text
    except ArgumentsError:
        return False
    return not find_differences(arguments, parsed, "", "")


def _name_notes(episode: OfficialEpisode) -> dict[int, str]:
    """What the episode said of a step that did not fit."""
    if episode.raised is not None:
        return {len(episode.log): f"the original raises {episode.raised}"}
    return {len(episode.log) - 1: rule_in_words(episode.reason)} if episode.reason else {}


def _pairs(step: LoggedStep, nodes: Sequence[GoldNode]) -> list[tuple[int, Any]]:
    """Gold nodes of a matched step, each with the argument text of the call it is compared with (Q31)."""
    functions: list[Any] = [call["function"] for call in step.reply["tool_calls"]]
    try:
        pairs = sorted((function["name"], function["arguments"]) for function in functions)
    except (TypeError, RecursionError):
        # Arguments that are no texts have no order; names alone decide then.
        pairs = sorted(
            ((function["name"], function["arguments"]) for function in functions), key=lambda c: c[0]
        )
    gold = sorted(step.matched, key=lambda n: (nodes[n].name, nodes[n].argument_text))
    return [(node, text) for node, (_, text) in zip(gold, pairs, strict=False)]


def _differences(node: GoldNode, text: Any, label: str) -> list[GoldDifference]:
    """Where the arguments of a call differ from gold; the label is shown at the place it names."""
    try:
        parsed = read_bounded_json(text) if isinstance(text, str) else text
    except ArgumentsError:
        return [GoldDifference(node.name, node.arguments, text, label)]
    found_differences = find_differences(node.arguments, parsed, node.name, label)
    paths = [d.where for d in found_differences if f" at '{d.where.removeprefix(node.name + '.')}'" in label]
    if paths:
        return mark_decisive(found_differences, lambda d: d.where in paths)
    return found_differences or [GoldDifference(node.name, node.arguments, parsed, label)]


_ACCOUNTS: Mapping[str, Callable[[Any, Session, Sequence[GoldNode], Check], _Account]] = {
    "official": _official,
    "fixed": _fixed,
    "paper": _paper,
}
