"""`wildtool score --traces`: what an agent did becomes a run of own cases, with an account of every conversation."""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from wildtool import json_codec
from wildtool.data.data_set import data_of
from wildtool.engine.plan import Selection
from wildtool.engine.replies import ItemReplies, digest_of_files, write_imported
from wildtool.engine.score.formatting import counted, first_names
from wildtool.errors import DataError, UsageError, unknown_name
from wildtool.outputs import check_folder, is_run, write_file
from wildtool.own_cases.records import Case
from wildtool.own_cases.summary import OVERALL, RIGHT
from wildtool.own_cases.traced.episode import TRACES
from wildtool.own_cases.traced.joining import CaseTry, Joined, Joiner
from wildtool.own_cases.traced.turns import TracedTurn, traced_turn, words_of_user
from wildtool.sanitize import single_line
from wildtool.shapes import Reading
from wildtool.traces import TracedConversation, TraceReading
from wildtool.traces.forms import values_of_file
from wildtool.traces.kinds import MODEL, names_model, span_kind
from wildtool.traces.origins import SpanTree, agents_of, asked_model
from wildtool.traces.reading import spans_as_conversations
from wildtool.traces.spans import TraceSpan, read_spans
from wildtool.types import Item

ACCOUNT_FILE = "traces.json"
_MOST_NAMES = 5
_MOST_ATTRIBUTES = 40
_UNNAMED = "unnamed"


@dataclass(slots=True)
class TracesAccount:
    """What became of traces that were joined to cases."""

    folder: Path
    """The run."""
    cases: int = 0
    units: int = 0
    """Turns of all cases, once each."""
    played: int = 0
    """Turns that a trace covers, once each."""
    tried: dict[str, int] = field(default_factory=dict[str, int])
    """By case how often it was tried."""
    by_id: int = 0
    """Tries that an attribute names; the others are known by the user's words."""
    unplayed: list[str] = field(default_factory=list[str])
    """Cases that no trace covers."""
    partly: list[str] = field(default_factory=list[str])
    """Cases of which traces lack a turn."""
    ambiguous: list[str] = field(default_factory=list[str])
    unmatched: list[str] = field(default_factory=list[str])
    """Conversations with the reason."""
    beside: int = 0
    """Further conversations of traces that were joined."""
    not_recorded: list[str] = field(default_factory=list[str])
    """Turns with what is not recorded of them."""
    failed: list[str] = field(default_factory=list[str])
    """Turns that ended with a failed call of a model."""
    other_words: list[str] = field(default_factory=list[str])
    past_the_end: list[str] = field(default_factory=list[str])
    """Cases whose traces have turns behind the last one that is judged."""
    models: Counter[str] = field(default_factory=Counter[str])
    agents: Counter[str] = field(default_factory=Counter[str])
    reading: TraceReading = field(default_factory=TraceReading)

    def lines(self) -> Iterator[str]:
        """For people, a line for each thing that they should know."""
        covered = self.cases - len(self.unplayed)
        tries = sum(self.tried.values())
        yield (
            f"traces: {covered:,} of {counted(self.cases, 'case')} covered ({self.played:,} of "
            f"{counted(self.units, 'turn')}), {counted(tries, 'try', 'tries')}; joined by id: {self.by_id:,}, "
            f"by the user's words: {tries - self.by_id:,}"
        )
        repeated = [case for case, count in self.tried.items() if count > 1]
        for title, names, of in (
            ("unplayed", self.unplayed, "case"),
            ("with unplayed turns", self.partly, "case"),
            ("tried more than once", repeated, "case"),
            ("fit several cases", self.ambiguous, "conversation"),
            ("fit no case", self.unmatched, "conversation"),
            ("not recorded", self.not_recorded, "turn"),
            ("failed calls of a model", self.failed, "turn"),
            ("named by an attribute, with other words of the user", self.other_words, "case"),
            ("turns behind the last one of a case, not judged", self.past_the_end, "case"),
        ):
            if names:
                first = first_names([single_line(name, 160) for name in names], _MOST_NAMES)
                yield f"  {title}: {counted(len(names), of)}: {first}"
        if len(self.models) > 1:
            models = [f"{single_line(name, 60)} ({count:,})" for name, count in self.models.most_common()]
            yield f"  calls of {len(models)} models, judged together: {first_names(models, _MOST_NAMES)}"
        if self.beside:
            yield f"  other conversations of these traces, such as of sub-agents: {self.beside:,}"
        for title, counts in (("calls left out", self.reading.left_out), ("not read", self.reading.unread)):
            yield from (
                f"  {title}: {single_line(name, 200)}: {count}" for name, count in counts.most_common(3)
            )
        if self.ambiguous or self.unmatched:
            yield "  To join them, give traces the id of their case as an attribute: --id-attribute NAME"
        folder = shlex.quote(str(self.folder))
        command = f"wildtool show {folder} --why '{OVERALL}: {RIGHT}'"
        yield f"  Why a turn is wrong: `{command}`; all of the traces: {self.folder / ACCOUNT_FILE}"

    def as_json(self) -> dict[str, Any]:
        """Everything, as it is kept beside the run."""
        return {
            "cases": self.cases,
            "turns": self.units,
            "turns_played": self.played,
            "tries": self.tried,
            "joined_by_id": self.by_id,
            "unplayed": self.unplayed,
            "with_unplayed_turns": self.partly,
            "fit_several_cases": self.ambiguous,
            "fit_no_case": self.unmatched,
            "other_conversations": self.beside,
            "not_recorded": self.not_recorded,
            "failed": self.failed,
            "other_words": self.other_words,
            "turns_past_the_end": self.past_the_end,
            "models": dict(self.models),
            "agents": dict(self.agents),
            "reading": self.reading.lines(),
        }


def write_traced_run(
    benchmark: Any,
    data: str,
    traces: Sequence[Path],
    out: Path | None = None,
    *,
    id_attribute: str | None = None,
    command: Sequence[str] = (),
    force: bool = False,
) -> TracesAccount:
    """Writes traces as a run of own cases; doing it again changes nothing.

    Args:
        benchmark: of the cases.
        out: the folder of the run; None for one below `runs`, whose name follows from cases and traces.
        id_attribute: the attribute whose values are ids of cases; None for those that are usual.
        force: whether to write into a folder that wildtool did not make.

    Raises DataError for files that cannot be read and where no trace covers a case, UsageError where the folder may not
    be written to.
    """
    benchmark = benchmark.in_mode(TRACES)
    source = data_of(benchmark).locate(data)
    selection = Selection(benchmark=benchmark, source=source)
    items = list(selection.read())
    if any(unit.gold is not None for item in items for unit in item.data.units.values()):
        raise UsageError(
            f"{source.path}: holds conversations, whose turns are judged after their own history; make cases of them "
            "first: wildtool review import FILE -o cases.yaml"
        )
    spans, reading = _read(traces)
    digest = digest_of_files(*traces)
    if out is None:
        key = sha256(f"{digest} {source.sha256} {id_attribute}".encode()).hexdigest()[:8]
        out = Path("runs", f"{benchmark.name}-traces-{key}")
    check_folder(out, is_run, force=force)
    tree = SpanTree(spans)
    if id_attribute is not None and not any(tree.values([span], id_attribute) for span in spans):
        # By the user's words alone the traces would be joined as if nothing had been asked for.
        raise UsageError(
            unknown_name("attribute", id_attribute, tree.attributes()[:_MOST_ATTRIBUTES], of="the traces")
        )
    conversations = _with_failures(reading.conversations, spans)
    joined = Joiner([item.data for item in items], tree, id_attribute).join(conversations)
    account = TracesAccount(out, cases=len(items), reading=reading)
    rows = [row for item in items for row in _rows(item, joined.tries.get(item.id, []), account)]
    _describe(account, joined, tree)
    if not any(row.transcripts for row in rows):
        raise DataError(_nothing_joined(account, items, traces))
    tries = {row.item.id: row.repeat + 1 for row in rows}
    uneven = tries if len(set(tries.values())) > 1 else None
    write_imported(selection, _identity(account, digest, id_attribute), rows, out, command, uneven)
    write_file(out / ACCOUNT_FILE, json_codec.dumps(account.as_json()) + b"\n")
    return account


def _read(traces: Sequence[Path]) -> tuple[list[TraceSpan], TraceReading]:
    """The spans of files with their conversations. Raises DataError where a file cannot be read, or none has a span."""
    reading = TraceReading()
    values = (entry for path in traces for entry in values_of_file(path, Reading(str(path), reading.lost)))
    spans = read_spans(values, reading.unread)
    names = ", ".join(map(str, traces))
    if not spans:
        reasons = "; ".join(name for name, _ in reading.unread.most_common(2))
        raise DataError(
            f"{names}: holds no spans{f' ({reasons})' if reasons else ''}; expected traces, such as OTLP as JSON or an "
            "export of Phoenix, Langfuse or LangSmith (docs/traces.md)"
        )
    spans_as_conversations(spans, reading, as_tries=True)
    return spans, reading


def _with_failures(
    conversations: Sequence[TracedConversation], spans: Sequence[TraceSpan]
) -> list[TracedConversation]:
    """The conversations, with failed calls of which nothing else is recorded: as the end of the one that waits for an
    answer in their trace, or alone."""
    span_ids = {id(span) for each in conversations for span in each.spans}
    failed: dict[str, TraceSpan] = {}
    for span in spans:
        is_call = span_kind(span) == MODEL or (not span_kind(span) and names_model(span))
        if span.failure and is_call and id(span) not in span_ids:
            failed[span.trace] = span
    completed: list[TracedConversation] = []
    for each in conversations:
        span = next((failed.pop(call.trace) for call in each.spans if call.trace in failed), None)
        waits = each.messages[-1]["role"] != "assistant"
        completed.append(replace(each, failure=span.failure) if span and waits and not each.failure else each)
    alone = (
        TracedConversation([], [], span.place.place, "", when=span.when, spans=(span,), failure=span.failure)
        for span in failed.values()
    )
    return [*completed, *alone]


def _rows(item: Item, tries: Sequence[CaseTry], account: TracesAccount) -> Iterator[ItemReplies]:
    """What traces have of a case, one row for each time that its turns were tried; an empty one where none was."""
    case: Case = item.data
    by_turn: dict[int, list[str]] = {}
    for name, unit in case.units.items():
        by_turn.setdefault(unit.turn, []).append(name)
    rounds = len(next(iter(by_turn.values())))
    rows: list[ItemReplies] = []
    covered: set[str] = set()
    for number, each in enumerate(tries):
        repeat, time = divmod(number, rounds)
        if not time:
            rows.append(ItemReplies("", item, repeat, {}, {}))
        transcripts, requests = rows[-1].transcripts, dict(rows[-1].requests)
        for names in by_turn.values():
            turn = _turn(case, names[time], each)
            where = f"{case.id}, turn {names[time]}" if len(case.units) > 1 else case.id
            if turn.gap:
                account.not_recorded.append(f"{where}: {turn.gap}")
            if turn.failure:
                account.failed.append(f"{where}: {turn.failure}")
            if (transcript := turn.transcript) is not None:
                transcripts[names[time]] = transcript
                requests[names[time]] = turn.requests
                covered.add(names[time])
        rows[-1] = replace(rows[-1], requests=requests)
        _note_rest(case, each, account)
    account.units += len(case.units)
    account.played += len(covered)
    if not covered:
        account.unplayed.append(case.id)
    elif len(covered) < len(case.units):
        account.partly.append(case.id)
    if tries:
        account.tried[case.id] = len(tries)
        account.by_id += sum(each.by_id for each in tries)
    yield from rows or [ItemReplies("", item, 0, {})]


def _turn(case: Case, unit: str, tried: CaseTry) -> TracedTurn:
    """What a try has of a turn; nothing where it lacks it."""
    its = case.units[unit]
    place = len(words_of_user(its.messages)) - 1
    for piece in tried.pieces:
        if not piece.conversation.messages and place == 0:
            return TracedTurn(failure=piece.conversation.failure)
        if (turn := piece.turn_of(place)) is not None:
            earlier = [each for each in case.units.values() if each.turn < its.turn]
            return traced_turn(its, earlier, piece.conversation, turn)
    return TracedTurn()


def _note_rest(case: Case, tried: CaseTry, account: TracesAccount) -> None:
    last = max(len(words_of_user(unit.messages)) for unit in case.units.values())
    if any(piece.turn_of(last) is not None for piece in tried.pieces) and case.id not in account.past_the_end:
        account.past_the_end.append(case.id)


def _describe(account: TracesAccount, joined: Joined, tree: SpanTree) -> None:
    """Notes what was not joined, and which models and agents the joined conversations name."""
    account.ambiguous = [f"{_named(each)}: {reason}" for each, reason in joined.ambiguous]
    account.unmatched = [f"{_named(each)}: {reason}" for each, reason in joined.unmatched]
    account.beside = len(joined.beside)
    account.other_words = list(dict.fromkeys(joined.other_words))
    pieces = [piece for tries in joined.tries.values() for each in tries for piece in each.pieces]
    calls = [span for piece in pieces for span in piece.conversation.spans]
    account.models = Counter(filter(None, map(asked_model, calls)))
    account.agents = agents_of(tree.around(calls))


def _identity(account: TracesAccount, digest: str, id_attribute: str | None) -> dict[str, Any]:
    """Who answered, as `run.json` has it. Args: digest: of the traces."""
    settings: dict[str, Any] = {"played": TRACES, "sha256": digest}
    if account.agents:
        settings["agent"] = " + ".join(account.agents)
    if id_attribute:
        settings["id_attribute"] = id_attribute
    models = " + ".join(name for name, _ in account.models.most_common())
    return {"name": models or next(iter(account.agents), _UNNAMED), "settings": settings}


def _named(conversation: TracedConversation) -> str:
    trace = conversation.spans[0].trace if conversation.spans else ""
    return f"{conversation.place} (trace {trace})" if trace else conversation.place


def _nothing_joined(account: TracesAccount, items: Iterable[Item], traces: Sequence[Path]) -> str:
    """Why no case is covered, with the first words of both sides."""
    names = ", ".join(map(str, traces))
    problems = [*account.unmatched, *account.ambiguous, *account.not_recorded]
    problems += [f"{name} ({count})" for name, count in account.reading.left_out.most_common(2)]
    first = next(iter(items))
    words = next(iter(words_of_user(next(iter(first.data.units.values())).messages)), "")
    return (
        f"{names}: no trace covers a case. {first_names([single_line(each, 300) for each in problems], 2)}. The first "
        f"case, {first.id}, says {single_line(words, 60)!r}. Give the cases of these traces, or name the attribute that "
        "has the ids of the cases: --id-attribute NAME"
    )
