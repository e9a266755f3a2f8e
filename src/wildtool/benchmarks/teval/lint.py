"""Checks T-Eval's records: gold that cannot be read or reached, and what the published rules stumble over."""

import re
from collections.abc import Iterator

from wildtool.benchmark import Finding
from wildtool.benchmarks.teval.data import TevalRecord, data_files, read_file
from wildtool.benchmarks.teval.reading import FINISH_ACTION, read_answer_object, read_plan_steps
from wildtool.errors import DataError
from wildtool.types import Source

_SIGNS = re.compile(r"[()\[\]{}*+?|^$.\\]")
"""Signs that mean something else in a pattern."""


def lint_source_files(source: Source) -> Iterator[Finding]:
    """Findings of a file or folder, file by file; a file that cannot be read is one finding."""
    for lang in ("en", "zh"):
        for path in data_files(source.path, lang):
            try:
                for item in read_file(path):
                    faults = _faults(item.data)
                    yield from (Finding(f"{path}: {item.id}", rule, message) for rule, message in faults)
            except DataError as error:
                yield Finding(str(path), "unreadable", str(error))


def _faults(record: TevalRecord) -> Iterator[tuple[str, str]]:
    match record.test.ability:
        case "plan":
            yield from _plan_faults(record)
        case "instruct":
            signs = sorted(set(_SIGNS.findall("".join(record.template.values()))))
            if record.form == "string" and signs:
                yield "template", f"has {' '.join(signs)}, which the published rules take as a pattern (Q6)"
        case "review":
            if record.gold["answer"] not in ("A", "B", "C", "D", "E"):
                yield "answer", f"{record.gold['answer']!r}; expected a letter from A to E"
        case _:
            gold = read_answer_object(record.gold) or {}
            missing = [name for name in ("thought", "name", "args") if name not in gold]
            if missing:
                yield (
                    "ground_truth",
                    f"no {', '.join(missing)}; expected an object with thought, name and args",
                )


def _plan_faults(record: TevalRecord) -> Iterator[tuple[str, str]]:
    steps = read_plan_steps(record.gold)
    if not steps:
        yield "ground_truth", "no steps with id, name and args"
        return
    if [step.id for step in steps] != list(range(len(steps))):
        yield "ids", f"{[step.id for step in steps]}; expected 0, 1, 2 and so on"
    if steps[-1].name != FINISH_ACTION:
        yield "last step", f"{steps[-1].name}; expected {FINISH_ACTION}"
    unknown = [step.name for step in steps[:-1] if record.names and step.name not in record.names]
    if unknown:
        yield "unknown API", f"{', '.join(unknown)}: not in API_list, so no line can name it"
    if len({(step.name, step.args) for step in steps}) < len(steps):
        yield "repeated step", "steps with the same name and arguments are matched in any order (Q3)"
