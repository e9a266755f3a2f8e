"""Rules for agent records: known classes, readable milestones, and milestones that lead to the gold state."""

import re
from collections.abc import Iterator, Sequence
from typing import cast

from wildtool.benchmarks.acebench.check import short_repr
from wildtool.benchmarks.acebench.data import AgentRecord
from wildtool.benchmarks.acebench.episode.end_state import compare_end_state
from wildtool.benchmarks.acebench.episode.official import decode_message, execute_step
from wildtool.benchmarks.acebench.sandbox import SANDBOX_CLASSES, SAVED_ATTRIBUTES, TOOL_ERRORS, Sandbox
from wildtool.benchmarks.acebench.sandbox.edition import Edition
from wildtool.findings import Finding, fault

MAX_SHOWN = 300
"""Characters of a difference between states that a finding shows."""
_TOOL_NAME = re.compile(r"[^\W\d]\w*(?=\()")


def episode_faults(record: AgentRecord, edition: Edition | None) -> Iterator[Finding]:
    """Every fault of an agent record, with its field.

    Args:
        edition: the sandbox in which to run the milestones; None does not run them.
    """
    yield from _unknown_classes(record)
    yield from _other_classes(record)
    yield from _other_attributes(record)
    involved = record.involved_classes
    runs = edition is not None and all(
        name in SANDBOX_CLASSES and name in edition.initial for name in involved
    )
    for field, milestones in _lists(record):
        for position, text in enumerate(milestones):
            if not decode_message(text.strip()):
                message = (
                    f"{short_repr(text)} cannot be read as calls, so no reply that works matches it (Q52)"
                )
                yield fault("milestone", message, f"{field}[{position}]")
        for name in sorted(
            set(_tools_called(milestones)) - {function["name"] for function in record.functions}
        ):
            message = f"the milestones call {short_repr(name)}, which is not offered"
            yield fault("not offered", message, field)
        if runs and (difference := _state_differences(record, cast(Edition, edition), milestones)):
            yield fault("state", f"the milestones do not lead to the gold state: {difference}", field)


def _unknown_classes(record: AgentRecord) -> Iterator[Finding]:
    known = ", ".join(sorted(SANDBOX_CLASSES))
    named = [
        *(("involved_classes", name, "") for name in record.involved_classes),
        *(("initial_config", name, ", so this part is not used") for name in record.initial_config),
        *(
            (f"ground_truth[{at}]", name, ", so this state is never compared (Q49)")
            for at, entry in enumerate(record.end_state)
            for name in entry
        ),
    ]
    for field, name, effect in named:
        if name not in SANDBOX_CLASSES:
            yield fault("class", f"{short_repr(name)} is no class of the sandbox{effect}: {known}", field)


def _other_classes(record: AgentRecord) -> Iterator[Finding]:
    """The gold state has one entry per involved class."""
    gold = [name for entry in record.end_state for name in entry]
    entries, classes = len(record.end_state), record.involved_classes
    if entries != len(classes):
        yield fault("class", f"{entries} entries for {len(classes)} classes: no reply passes", "ground_truth")
    for name in sorted(set(gold) & SANDBOX_CLASSES.keys() - set(classes)):
        yield fault("class", f"{name} is not among the involved classes", "ground_truth")


def _other_attributes(record: AgentRecord) -> Iterator[Finding]:
    """The gold state of a class has exactly the attributes that are compared."""
    for position, entry in enumerate(record.end_state):
        for name, attributes in entry.items():
            saved = set(SAVED_ATTRIBUTES.get(name, attributes))
            for attribute in sorted(saved ^ attributes.keys()):
                effect = "missing: no reply passes" if attribute in saved else "never compared (Q50)"
                yield fault("attribute", f"{attribute} is {effect}", f"ground_truth[{position}].{name}")


def _lists(record: AgentRecord) -> Iterator[tuple[str, Sequence[str]]]:
    """Each alternative list of milestones with its field."""
    lists = record.milestone_lists
    several = lists != (record.milestones,)
    yield from ((f"mile_stone[{at}]" if several else "mile_stone", texts) for at, texts in enumerate(lists))


def _tools_called(milestones: Sequence[str]) -> Iterator[str]:
    for milestone in milestones:
        for call in decode_message(_requoted(milestone)) or ():
            yield from _TOOL_NAME.findall(call)[:1]


def _state_differences(record: AgentRecord, edition: Edition, milestones: Sequence[str]) -> str:
    """Differences from the gold state after running all milestones; empty if there are none."""
    try:
        sandbox = Sandbox(edition, record.involved_classes, record.initial_config)
        for milestone in milestones:
            execute_step(edition, sandbox, decode_message(_requoted(milestone)))
    except TOOL_ERRORS as error:
        return f"the sandbox's tables are damaged ({type(error).__name__}: {error})"
    compared = compare_end_state(record.end_state, sandbox.saved())
    sentences = [sentence for sentences in compared.errors for sentence in sentences]
    return "; ".join(sentences or [compared.error_type])[:MAX_SHOWN]


def _requoted(text: str) -> str:
    """A milestone, with apostrophes between letters escaped if it cannot be read otherwise."""
    text = text.strip()
    return text if decode_message(text) else re.sub(r"(?<=\w)'(?=\w)", r"\\'", text)
