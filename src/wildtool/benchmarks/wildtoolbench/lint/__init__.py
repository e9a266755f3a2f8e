"""Checks session files in WildToolBench's format; never raises, even on malformed data."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Any, cast

from wildtool.benchmark import Finding
from wildtool.benchmarks.wildtoolbench.data import SUBTYPES, Session, language_prefixes, read_session
from wildtool.benchmarks.wildtoolbench.lint.rules import SESSION_RULES, STRICT_RULES, linted_session
from wildtool.benchmarks.wildtoolbench.stats import shapes
from wildtool.errors import DataError
from wildtool.json_codec import as_object
from wildtool.toolcall.graph import depth
from wildtool.toolcall.schema_check import SchemaFault
from wildtool.toolcall.text.similarity import near_duplicates
from wildtool.types import Source

MAX_RECORD_DEPTH = 60
"""Deepest nesting of a record that is checked; real records have less than 20 levels."""
NumberedRecord = tuple[int, dict[str, Any]]


def lint_records(
    records: Iterable[NumberedRecord], file: str, *, balanced: bool | None = None, strict: bool = False
) -> Iterator[Finding]:
    """Findings of all records of a file, then of the file as a set.

    Args:
        records: line number and parsed JSON object of each session.
        file: name to show in findings.
        balanced: whether the set must be balanced; None means only if every record names a domain.
        strict: also report dependencies that carry no value.
    """
    lines: dict[str, int] = {}
    sessions: list[Session] = []
    texts: list[tuple[str, str]] = []
    unreadable = False
    for number, record in records:
        name = _name(record)
        place = f"{file}:{number} {name}"
        if name in lines:
            yield Finding(f"{place} id", "duplicate", f"line {lines[name]} has this id already")
        lines.setdefault(name, number)
        read, fault = _read(record)
        if fault:
            yield Finding(f"{place} record", "schema", fault)
            unreadable = True
        sessions.extend(list(read.values())[:1])
        for prefix, session in read.items():
            texts.extend((task.text, f"{place} {prefix}_tasks[{t}]") for t, task in enumerate(session.tasks))
            case = linted_session(record, session, prefix)
            for rules in (SESSION_RULES, STRICT_RULES) if strict else (SESSION_RULES,):
                for finding in rules.findings(case):
                    yield Finding(f"{place} {finding.field}", finding.rule, finding.message)
    yield from _duplicate_texts(texts)
    claimed = bool(sessions) and all(session.domain for session in sessions)
    # An unreadable record would make every count wrong.
    if not unreadable and (claimed if balanced is None else balanced):
        for property_of_set, message in balance(sessions):
            yield Finding(f"{file} set {property_of_set}", "balance", message)


def lint_sessions(source: Source) -> Iterator[Finding]:
    """Findings of the file of sessions that is named as data."""
    return lint_file(source.path)


def lint_file(path: Path, *, balanced: bool | None = None, strict: bool = False) -> Iterator[Finding]:
    """Findings of a JSON-lines file, or of a `.json` file with one session, which need not be balanced."""
    broken: list[Finding] = []
    single = path.suffix == ".json"
    try:
        with path.open("rb") as lines:
            records = _parsed([(1, lines.read())] if single else enumerate(lines, 1), str(path), broken)
            must_balance = False if single and balanced is None else balanced
            yield from lint_records(records, str(path), balanced=must_balance, strict=strict)
    except OSError as error:
        yield Finding(f"{path}:0 ? file", "json", f"cannot be read: {error.strerror}")
    yield from broken


def _parsed(
    chunks: Iterable[tuple[int, bytes]], file: str, broken: list[Finding]
) -> Iterator[NumberedRecord]:
    """The readable records with their line numbers; findings about the others are added to `broken`."""

    def report(number: int, place: str, message: str) -> None:
        broken.append(Finding(f"{file}:{number} {place}", "json", message))

    for number, chunk in chunks:
        if not chunk.strip():
            continue
        twice: list[str] = []

        def collect(pairs: list[tuple[str, Any]], twice: list[str] = twice) -> dict[str, Any]:
            counts = Counter(key for key, _ in pairs)
            twice.extend(sorted(key for key in counts if counts[key] > 1))
            return dict(pairs)

        try:
            record: Any = json.loads(chunk.decode("utf-8-sig"), object_pairs_hook=collect)
        except (ValueError, RecursionError) as error:
            report(number, "? line", f"not a JSON object: {str(error)[:200]}")
            continue
        if not isinstance(record, dict):
            report(number, "? line", "expected a JSON object, one session a line")
            continue
        record = as_object(record)
        for key in dict.fromkeys(twice):
            report(number, f"{_name(record)} {key}", "the key occurs twice in an object")
        yield number, record


def _read(record: dict[str, Any]) -> tuple[dict[str, Session], str]:
    """The sessions of a record by field prefix (one per language), and why reading failed, if it did."""
    read: dict[str, Session] = {}
    fault = _json_problem(record)
    if fault:
        return read, fault
    try:
        for prefix in language_prefixes(record) or [""]:
            read[prefix] = read_session(record, "record", prefix)
    except DataError as error:
        return read, str(error).split("): ", 1)[-1]
    return read, ""


def _json_problem(record: dict[str, Any]) -> str:
    """Why a record is not an ordinary JSON value (nesting, numbers, types); empty if it is one."""
    layer: list[Any] = [record]
    for _ in range(MAX_RECORD_DEPTH):
        below: list[Any] = []
        for value in layer:
            if isinstance(value, dict):
                pairs = cast(dict[Any, Any], value)
                if not all(isinstance(key, str) for key in pairs):
                    return "an object has a key that is not a text"
                below.extend(pairs.values())
            elif isinstance(value, list):
                below.extend(cast(list[Any], value))
            elif isinstance(value, float) and not math.isfinite(value):
                return f"{value} is no JSON number"
            elif isinstance(value, int) and value.bit_length() > 1024:
                return "a number has more than 300 digits"
            elif not isinstance(value, str | int | float | None):
                return f"{type(value).__name__} is no JSON type"
        if not below:
            return ""
        layer = below
    return f"nested deeper than {MAX_RECORD_DEPTH} levels"


def _name(record: dict[str, Any]) -> str:
    return str(record["id"]) if isinstance(record.get("id"), str) else "?"


def _duplicate_texts(texts: Iterable[tuple[str, str]]) -> Iterator[Finding]:
    """User texts that are equal or nearly equal."""
    for near in near_duplicates(texts):
        message = f"{near.similarity:.0f} % like the user text at {near.earlier}"
        yield Finding(near.place, "duplicate", message)


# A balanced set ---------------------------------------------------------------------------------------


Sessions = Sequence[Session]


def balance(sessions: Sessions) -> Iterator[SchemaFault]:
    """What is out of balance (a session id and field, or a property of the set), and what is expected."""
    for rule in BALANCE_RULES:
        yield from rule(sessions)


def check_positions(sessions: Sessions) -> Iterator[SchemaFault]:
    """Each group of task types is equally frequent at each position."""
    for position in range(4):
        counts = Counter(s.tasks[position].group for s in sessions if position < len(s.tasks))
        yield from _uneven(counts, shapes.TASK_GROUPS, f"task type at position {position + 1}")


def check_transitions(sessions: Sessions) -> Iterator[SchemaFault]:
    """Changes of group within a session are distributed as over all sequences of four groups."""
    counts = Counter(session.transitions for session in sessions)
    for number, expected in expected_transitions(len(sessions)).items():
        if abs(counts[number] - expected) > 1:
            yield f"transitions {number}", f"expected about {expected} sessions, found {counts[number]}"


def check_intents(sessions: Sessions) -> Iterator[SchemaFault]:
    """The three kinds of hidden intent are equally frequent."""
    yield from _uneven(
        Counter(task.subtype for s in sessions for task in s.tasks[1:]), SUBTYPES, "turn subtype"
    )


def check_shapes(sessions: Sessions) -> Iterator[SchemaFault]:
    """The set has all multi-tool types, same-name calls, a diamond, a chain of five, one and two questions in a task."""
    tasks = [task for session in sessions for task in session.tasks]
    graphs = [shapes.call_graph(task) for task in tasks]
    counts = {shapes.questions(task) for task in tasks}
    present = {
        **{
            f"{kind} Multi-Tool": _any_of_type(sessions, kind) for kind in ("Parallel", "Sequential", "Mixed")
        },
        "same-name calls": any(map(shapes.same_name_groups, tasks)),
        "a diamond of calls": any(map(shapes.has_diamond, graphs)),
        "a chain of five calls": any((depth(graph) or 0) >= 5 for graph in graphs),
        "a question asked once": 1 in counts,
        "a question asked twice": 2 in counts,
    }
    for name, is_present in present.items():
        if not is_present:
            yield name, "expected in at least one task, found in none"


def check_domains(sessions: Sessions) -> Iterator[SchemaFault]:
    """From 32 sessions on, the set has at least 8 domains and 24 subdomains."""
    if len(sessions) < 32:
        return
    domains = {session.domain for session in sessions}
    subdomains = {(session.domain, session.subdomain) for session in sessions}
    if len(domains) < 8:
        yield "domain", f"expected at least 8 domains, found {len(domains)}"
    if len(subdomains) < 24:
        yield "subdomain", f"expected at least 24 subdomains, found {len(subdomains)}"


def check_parameters(sessions: Sessions) -> Iterator[SchemaFault]:
    """Every kind of parameter is used by some gold call."""
    used = {kind for session in sessions for kind in shapes.kinds_used(session)}
    for kind in shapes.PARAMETER_KINDS:
        if kind not in used:
            yield f"parameter kind {kind}", "expected in at least one gold call, found in none"


def check_session_tools(sessions: Sessions) -> Iterator[SchemaFault]:
    """Each session has 3 to 8 tools, and one that no gold call uses."""
    for session in sessions:
        if not 3 <= len(session.tools) <= 8:
            yield f"{session.id} tools", f"expected 3 to 8 tools, found {len(session.tools)}"
        if not shapes.unused_tools(session):
            yield f"{session.id} tools", "every tool is used; add a near-miss that no gold call uses"


BALANCE_RULES: tuple[Callable[[Sessions], Iterator[SchemaFault]], ...] = (
    check_positions,
    check_transitions,
    check_intents,
    check_shapes,
    check_domains,
    check_parameters,
    check_session_tools,
)


def expected_transitions(sessions: int) -> dict[int, int]:
    """Number of transitions to expected sessions, in proportion to all 256 sequences, by largest remainder."""
    sequences = list(product(range(len(shapes.TASK_GROUPS)), repeat=4))
    shares = Counter(sum(a != b for a, b in pairwise(s)) for s in sequences)
    counts = {number: sessions * share // len(sequences) for number, share in sorted(shares.items())}
    by_remainder = sorted(shares, key=lambda number: -(sessions * shares[number] % len(sequences)))
    for number in by_remainder[: sessions - sum(counts.values())]:
        counts[number] += 1
    return counts


def _uneven(counts: Counter[str], names: Sequence[str], subject: str) -> Iterator[SchemaFault]:
    """Names that are counted more or less often than an even distribution allows."""
    low, rest = divmod(sum(counts[name] for name in names), len(names))
    high = low + (rest > 0)
    expected = str(low) if low == high else f"{low} or {high}"
    for name in names:
        if not low <= counts[name] <= high:
            yield f"{subject}: {name}", f"expected {expected} times, found {counts[name]}"


def _any_of_type(sessions: Sessions, kind: str) -> bool:
    return any(task.type == f"{kind} Multi-Tool" for session in sessions for task in session.tasks)
