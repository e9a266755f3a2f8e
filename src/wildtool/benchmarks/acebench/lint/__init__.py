"""Checks data in ACEBench's format: the structure of files, then each readable record by the rules."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from wildtool.benchmark import Finding
from wildtool.benchmarks.acebench.data import (
    AgentRecord,
    Record,
    categories_in,
    folder_languages,
    is_agent,
    read_record,
)
from wildtool.benchmarks.acebench.data_lines import JsonLine, find_file, scan_lines
from wildtool.benchmarks.acebench.lint.rules import ANSWER_FIELDS, RECORD_RULES, episode_faults
from wildtool.benchmarks.acebench.sandbox.edition import Edition, Lang, read_edition
from wildtool.errors import DataError

RecordWithLines = tuple[Record, JsonLine, JsonLine]
"""A record with the lines of its question and of its answer."""


def lint_folder(folder: Path) -> Iterator[Finding]:
    """Findings of a folder of ACEBench files, by language and category; never raises, whatever the files contain."""
    try:
        codes = folder_languages(folder)
    except (DataError, OSError) as error:
        yield Finding(str(folder), "files", str(error))
        return
    for lang in codes:
        try:
            categories = categories_in(folder, lang)
        except (DataError, OSError) as error:
            yield Finding(str(folder / lang), "files", str(error))
            continue
        edition, fault = _edition(folder, lang)
        if edition is None and any(map(is_agent, categories)):
            yield Finding(str(folder), "sandbox", f"milestones were not run: {fault}")
        for category in categories:
            yield from _lint_category(folder, lang, category, edition)


def _edition(folder: Path, lang: Lang) -> tuple[Edition | None, str]:
    try:
        return read_edition(folder, lang), ""
    except (DataError, LookupError, TypeError, AttributeError) as error:
        return None, f"the tables of the sandbox cannot be used: {error}"


def _lint_category(folder: Path, lang: str, category: str, edition: Edition | None) -> Iterator[Finding]:
    faults: list[Finding] = []
    records = _readable(folder, lang, category, faults)
    yield from faults
    for record, question, answer in records:
        try:
            issues = list(RECORD_RULES.findings(record))
            if isinstance(record, AgentRecord):
                issues += episode_faults(record, edition)
        except RecursionError:
            yield Finding(question.where, "format", "nested too deeply")
            continue
        for issue in issues:
            line = answer if issue.field.startswith(ANSWER_FIELDS) else question
            yield Finding(f"{line.where} {record.id} {issue.field}", issue.rule, issue.message)
    for (before, _, _), (after, line, _) in pairwise(records):
        if (before.dialogue, before.turn) >= (after.dialogue, after.turn):
            yield Finding(
                f"{line.where} {after.id} id", "order", f"expected ascending ids, found it after {before.id}"
            )


def _readable(folder: Path, lang: str, category: str, faults: list[Finding]) -> list[RecordWithLines]:
    """The readable records of a category, in file order; findings about the others are added to `faults`."""
    try:
        path, answers_path = (
            find_file(place, category) for place in (folder / lang, folder / lang / "possible_answer")
        )
        questions, answers = _by_id(path, faults), _by_id(answers_path, faults)
    except DataError as error:
        faults.append(Finding(str(folder / lang), "files", str(error)))
        return []
    missing = f"{path} has no question with this id", f"{answers_path} has no such answer"
    for message, lines, others in zip(missing, (answers, questions), (questions, answers), strict=True):
        for id_, line in ((id_, line) for id_, line in lines.items() if id_ not in others):
            faults.append(Finding(f"{line.where} {id_} id", "unmatched", message))
    both = [id_ for id_ in questions if id_ in answers]
    if both != [id_ for id_ in answers if id_ in questions]:
        faults.append(Finding(str(answers_path), "order", f"the answers are in another order than in {path}"))
    records: list[RecordWithLines] = []
    for id_ in both:
        try:
            record = read_record(questions[id_], answers[id_], category, lang)
        except DataError as error:
            faults.append(_format_fault(error))
        else:
            records.append((record, questions[id_], answers[id_]))
    return records


def _by_id(path: Path, faults: list[Finding]) -> dict[str, JsonLine]:
    """The lines of a file by id."""
    lines: dict[str, JsonLine] = {}
    for line in scan_lines(path):
        if isinstance(line, DataError):
            faults.append(_format_fault(line))
            continue
        try:
            id_ = line.read_text("id")
        except DataError as error:
            faults.append(_format_fault(error))
            continue
        if id_ in lines:
            faults.append(
                Finding(f"{line.where} {id_} id", "duplicate", f"{lines[id_].where} has this id already")
            )
        lines.setdefault(id_, line)
    return lines


def _format_fault(error: DataError) -> Finding:
    """A reading error as a finding."""
    where, _, message = str(error).partition(": ")
    return Finding(where, "format", message)
