"""A file of own cases as a benchmark of the file's name: an item is a case or a conversation, a unit one of its turns."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from wildtool.benchmark import Benchmark, Check, Mutant, Rules, SessionRecord
from wildtool.benchmarks import OF_ANY_FILE, OURS, SUITES
from wildtool.data.data_set import DataSet, source_of_file
from wildtool.data.files import files_under, source_of_files
from wildtool.engine.registry import CaseFiles, ImportedTraces
from wildtool.errors import DataError
from wildtool.findings import Finding
from wildtool.own_cases.case_files import (
    CaseFile,
    case_paths,
    checked_cases,
    holds_conversations,
    is_case_file,
    prefixed,
    read_case_file,
)
from wildtool.own_cases.episode import CaseEpisode
from wildtool.own_cases.judging import ERRORS, Judgement, TurnMistake, judge_turn
from wildtool.own_cases.matching import holds_matcher
from wildtool.own_cases.reading import SUFFIXES, YAML
from wildtool.own_cases.records import Case, CaseUnit
from wildtool.own_cases.session import session_of
from wildtool.own_cases.summary import OVERALL, RIGHT, SHOWN, TABLES, joined
from wildtool.own_cases.traced.episode import TRACES, TracedEpisode
from wildtool.toolcall.text.unseen import is_unseen
from wildtool.types import FieldValue, Item, Source, Transcript

_FIXED = "fixed"
_NO_MISTAKES = frozenset(["other text", "call repeated"])
"""Mistakes that some cases allow."""


class CaseRules(Rules):
    """A turn is right with the calls and texts that its case expects."""

    def episode(self, item: Item, unit: str) -> CaseEpisode:
        return CaseEpisode(_unit(item, unit))

    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        its = cast(CaseEpisode, episode)
        judgement = _judgement(its)
        missed = [name for name in judgement.expected_tools if name not in judgement.called_tools]
        instead = [name for name in judgement.called_tools if name not in judgement.expected_tools]
        columns: dict[str, FieldValue] = {
            "expected": joined(judgement.expected_tools),
            "called": joined(judgement.called_tools),
            "missed": missed[0] if missed else "",
            "instead": instead[0] if missed and instead else "",
        }
        return Check(judgement.error is None, judgement.error, judgement.reason, fields=columns)

    def session(self, item: Item) -> SessionRecord | None:
        """The case as a session, for `--history own`."""
        return session_of(item.data)

    def mutants(self, item: Item) -> Iterable[Mutant]:
        # A case that leaves something free allows what is a mistake elsewhere.
        return (
            mutant
            for mutant in super().mutants(item)
            if mutant.kind not in _NO_MISTAKES and _is_strict(_unit(item, mutant.unit))
        )


class TracedRules(CaseRules):
    """The same of what an agent did, whose tools gave results of their own."""

    def recorded_episode(self, item: Item, unit: str, transcript: Transcript | None) -> CaseEpisode:
        case: Case = item.data
        earlier = (each for each in case.units.values() if each.turn < case.units[unit].turn)
        return TracedEpisode(case.units[unit], transcript or Transcript(()), earlier)


def _judgement(episode: CaseEpisode) -> Judgement:
    """The judgement of a turn that has ended."""
    if episode.unreadable:
        return Judgement(TurnMistake.unreadable, episode.unreadable)
    judgement = judge_turn(episode.unit.expectation, episode.calls, episode.text, episode.unit.parameters)
    if not episode.calls and is_unseen(episode.text) and judgement.error in (None, TurnMistake.no_call):
        return Judgement(TurnMistake.blank, ERRORS[TurnMistake.blank], judgement.expected_tools)
    if judgement.error is not None and episode.unrecorded:
        reason = (
            f"{judgement.reason}; the turn ended here, as the result of {episode.unrecorded} is not recorded"
        )
        return replace(judgement, reason=reason)
    return judgement


def _is_strict(unit: CaseUnit) -> bool:
    """Whether a turn takes one list of calls and nothing else."""
    expectation = unit.expectation
    patterns = [pattern for slot in expectation.slots for pattern in slot.patterns]
    return (
        len(expectation.alternatives or ()) == 1
        and not expectation.also
        and all(slot.least == slot.most == len(slot.patterns) == 1 for slot in expectation.slots)
        and not any(
            pattern.arguments is None
            or pattern.ignore
            or pattern.extra
            or holds_matcher(dict(pattern.arguments))
            for pattern in patterns
        )
    )


class CaseData(DataSet):
    """A case file, or a folder of them, with the files that they refer to."""

    def _place(self, data: str | None) -> Path:
        return self.shipped if data in (None, self.name) and self.shipped is not None else Path(str(data))

    def locate(self, data: str | None, split: str | None = None) -> Source:
        place = self._place(data)
        paths = case_paths(place)
        files = [file for path in paths for file in (path, *_case_file(path).files)]
        name = str(place)
        if len(files) == 1 and not place.is_dir():
            return source_of_file(name, place)
        return source_of_files(name, place, dict.fromkeys(files))

    def prepare(self, data: str | None) -> None:
        """Lists the tools of servers and Python files that the cases name, once that is trusted. Raises UsageError."""
        for path in case_paths(self._place(data)):
            if sources := _case_file(path).sources:
                from wildtool.own_cases.listing import list_tools  # needed once for a file

                list_tools(path, sources)


def _case_file(path: Path) -> CaseFile:
    """What a file of cases holds; nothing of one of conversations, which names no other files and may be long."""
    return CaseFile(path) if holds_conversations(path) else read_case_file(path)


def lint_cases(source: Source) -> Iterator[Finding]:
    """What is wrong with case files."""
    for path in case_paths(source.path):
        case_file = read_case_file(path)
        yield from (fault.finding for fault in case_file.faults)
        if not case_file.errors and not case_file.has_tools and not case_file.sources:
            message = "calls are expected, but no tools are shown; name them with 'tools'"
            yield Finding(f"{path}:1", "tools", message, "warning")


class CaseBenchmark(Benchmark):
    """The cases of one file or folder."""

    title = "own cases"
    profiles: Mapping[str, str] = {_FIXED: "the calls that the case expects, values by meaning"}
    modes: Mapping[str, str] = {
        "chat": "messages and native tool calls",
        TRACES: "what an agent did with its own tools, from its traces",
    }
    recorded_modes = (TRACES,)
    columns: Mapping[str, str] = {
        "tags": "VARCHAR",
        "turn": "INTEGER",
        "expects": "VARCHAR",
        "must": "BOOLEAN",
        "at_least": "DOUBLE",
        "case_hash": "VARCHAR",
        "line": "INTEGER",
        "expected": "VARCHAR",
        "called": "VARCHAR",
        "missed": "VARCHAR",
        "instead": "VARCHAR",
    }
    groups = ("expects",)
    headline: Mapping[str, tuple[str, str]] = {_FIXED: (OVERALL, RIGHT)}
    tables = TABLES
    shown = SHOWN
    card = Path(__file__).parent / "card.md"

    def __init__(self, name: str, place: Path) -> None:
        """Args: place: the file or folder."""
        self.name = name
        self.title = f"{name}: own cases of {place.name}"
        self.data = CaseData(name=name, shipped=place, lint=lint_cases)

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        if split not in (None, "") or lang not in (None, "en"):
            return
        is_empty = True
        for path in case_paths(source.path):
            prefix = path.relative_to(source.path).with_suffix("").as_posix() if source.path.is_dir() else ""
            for case in prefixed(checked_cases(path), prefix):
                is_empty = False
                yield Item(case.id, tuple(case.units), case)
        if is_empty:
            raise DataError(f"{source.path}: each case has 'skip', so there is nothing to run")

    def rules(self, profile: str) -> Rules:
        return TracedRules() if self.mode == TRACES else CaseRules()

    def fields(self, item: Item, unit: str) -> Mapping[str, FieldValue]:
        case: Case = item.data
        its = _unit(item, unit)
        return {
            "tags": joined(case.tags),
            "turn": its.turn,
            "expects": _kind(its),
            "must": case.must,
            "at_least": case.at_least,
            "case_hash": case.digest,
            "line": case.line,
        }


def _kind(unit: CaseUnit) -> str:
    expectation = unit.expectation
    if expectation.needs_call:
        return "call"
    return "no call" if expectation.alternatives == ((),) and not expectation.also else "either"


def _unit(item: Item, unit: str) -> CaseUnit:
    return item.data.units[unit]


def name_of_cases(place: Path) -> str:
    """What a benchmark of a file or folder is called: the file's name without suffixes, in lower case."""
    stem = place.resolve().name if place.is_dir() else place.name.partition(".")[0]
    name = re.sub(r"[^a-z0-9_]+", "-", stem.casefold()).strip("-_") or "cases"
    return f"{name}-cases" if name in {*OURS, *OF_ANY_FILE, *SUITES} else name


class OwnCases:
    """What the registry of benchmarks asks about files of own cases."""

    def are_in(self, path: Path) -> bool:
        """Whether a file or folder holds cases in our form or in that of another program; not conversations alone.

        Nobody else's data are YAML, so such a file is read as cases, and its mistakes are named.
        """
        if path.is_dir():
            return any(map(is_case_file, files_under(path)))
        return is_case_file(path) or (SUFFIXES.get(path.suffix.casefold()) == YAML and path.is_file())

    def benchmark(self, place: str) -> CaseBenchmark:
        """The benchmark of a path, or for `-` of standard input. Raises DataError where there is no such file."""
        path = _kept_input() if place == "-" else Path(place)
        if not path.exists():
            raise DataError(f"{path}: there is no such file; `wildtool new cases` writes a first one")
        return self.of_run(name_of_cases(path), path)

    def import_traces(
        self, place: Path, traces: Sequence[Path], out: Path | None, settings: Mapping[str, Any]
    ) -> ImportedTraces:
        """Writes what an agent did as a run of cases. Raises as `traced.scoring.write_traced_run`."""
        from wildtool.own_cases.traced.scoring import write_traced_run  # few commands read traces

        return write_traced_run(self.benchmark(str(place)), str(place), traces, out, **settings)

    def of_run(self, name: str, path: Path) -> CaseBenchmark:
        """The benchmark of a name over a file that may not be there any more."""
        return CaseBenchmark(name, path)


OWN_CASE_FILES: CaseFiles = OwnCases()


def _kept_input() -> Path:
    """The file in the current folder that keeps the cases of standard input, since a score reads them again."""
    import sys

    from wildtool.outputs import write_file
    from wildtool.own_cases.reading import input_suffix
    from wildtool.own_cases.yaml_text import YAML_LIMITS

    content = sys.stdin.buffer.read(YAML_LIMITS.bytes + 1)
    if len(content) > YAML_LIMITS.bytes:
        raise DataError(
            f"standard input: longer than {YAML_LIMITS.bytes >> 20} MiB; write it to a file first"
        )
    if not content.strip():
        raise DataError(
            "standard input: is empty; - reads cases from it, as in: wildtool run - < cases.jsonl"
        )
    path = Path(f"standard-input-{sha256(content).hexdigest()[:8]}{input_suffix(content)}")
    write_file(path, content)
    return path
