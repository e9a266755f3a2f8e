"""A session as a state machine: the model keeps its own book and its own history from the first turn to the last."""

import json
from dataclasses import dataclass, field
from typing import Any, cast

from wildtool.benchmarks.ledger.book import Book, Directive, Entries
from wildtool.benchmarks.ledger.meaning import is_match
from wildtool.benchmarks.ledger.records import LedgerCall, LedgerSession, LedgerTurn, texts_of
from wildtool.benchmarks.ledger.tools import LEDGER_TOOLS, READING_TOOLS, run_tool
from wildtool.episode import provider_fields, reasoning_fields, written_text
from wildtool.json_codec import as_object
from wildtool.toolcall.arguments import ArgumentsError, read_arguments
from wildtool.toolcall.call_mutants import calls_message, made_call
from wildtool.types import Message, Request

MAX_REPLIES = 15
"""Replies that a turn may take."""
MAX_CALLS = 40
"""Calls that a turn may make; those beyond are not run, and end the turn."""


@dataclass(slots=True)
class TurnLog:
    """What happened in one turn."""

    books: list[Entries]
    """The book at its beginning, and after each change that was accepted."""
    texts: list[str] = field(default_factory=list[str])
    """What the model said to the user."""
    calls: int = 0
    refused: int = 0
    """Changes that the book did not take."""
    fault: str = ""
    """Why the turn ended before its answer; empty where it did not."""
    ended: bool = False
    replies: int = 0
    has_more: bool = False
    """Whether the user has said what was missing."""


class LedgerEpisode:
    """The state machine of one session."""

    def __init__(self, session: LedgerSession) -> None:
        self.session = session
        self.book = Book(session.base)
        self.logs = [TurnLog([self.book.entries])]
        self._messages: list[Message] = [
            {"role": "system", "content": _opening(session)},
            {"role": "user", "content": session.turns[0].text},
        ]

    @property
    def done(self) -> bool:
        return len(self.logs) == len(self.session.turns) and self.logs[-1].ended

    @property
    def _turn(self) -> LedgerTurn:
        return self.session.turns[len(self.logs) - 1]

    def request(self) -> Request | None:
        return None if self.done else Request(tuple(self._messages), LEDGER_TOOLS, gold=self._gold)

    def advance(self, reply: Message) -> None:
        if self.done:
            return
        log = self.logs[-1]
        log.replies += 1
        if reply.get("tool_calls"):
            self._take_calls(reply, log)
        else:
            self._take_text(reply, log)
        if not log.ended and log.replies == MAX_REPLIES:
            self._end(f"no answer after {MAX_REPLIES} replies")

    def _take_text(self, reply: Message, log: TurnLog) -> None:
        text = written_text(reply) or ""
        self._messages.append({"role": "assistant", "content": text, **provider_fields(reply)})
        log.texts.append(text)
        if not text.strip():
            self._end("empty reply")
        elif self._turn.more and not log.has_more:
            log.has_more = True
            self._messages.append({"role": "user", "content": self._turn.more})
        else:
            self._end("")

    def _take_calls(self, reply: Message, log: TurnLog) -> None:
        calls = cast(list[Any], reply["tool_calls"]) if isinstance(reply["tool_calls"], list) else []
        to_run = [call for call in map(_named_call, calls) if call]
        if not calls or len(to_run) < len(calls):
            self._messages.append({"role": "assistant", "content": written_text(reply) or ""})
            self._end("calls that cannot be read")
            return
        ids = [id_ or f"call-{len(self._messages)}-{place}" for place, (id_, *_) in enumerate(to_run)]
        shown = [{**as_object(call), "id": id_} for call, id_ in zip(calls, ids, strict=True)]
        message = {"role": "assistant", "content": reply.get("content"), "tool_calls": shown}
        # In the order of earlier versions, on which the hashes of recorded requests depend.
        self._messages.append({**message, **reasoning_fields(reply), **provider_fields(reply)})
        log.texts.append(written_text(reply) or "")
        for (_, name, arguments), id_ in zip(to_run, ids, strict=True):
            text = self._run(name, arguments, log)
            self._messages.append({"role": "tool", "content": text, "tool_call_id": id_})
        if log.calls > MAX_CALLS:
            self._end(f"more than {MAX_CALLS} calls")

    def _run(self, name: str, text: Any, log: TurnLog) -> str:
        log.calls += 1
        if log.calls > MAX_CALLS:
            return '{"error": "too many calls"}'
        try:
            arguments = read_arguments(text, empty_ok=True)
        except ArgumentsError as error:
            return json.dumps({"error": f"arguments: {error}"}, ensure_ascii=False)
        answer = run_tool(self.book, self.session.today, name, arguments)
        log.refused += answer.refused and name not in READING_TOOLS
        if self.book.entries is not log.books[-1]:
            log.books.append(self.book.entries)
        return answer.text

    def _end(self, fault: str) -> None:
        self.logs[-1].ended, self.logs[-1].fault = True, fault
        if not self.done:
            self.logs.append(TurnLog([self.book.entries]))
            self._messages.append({"role": "user", "content": self._turn.text})

    # Gold --------------------------------------------------------------------------------------------

    def _gold(self, style: str) -> Message:
        """The next reply of a shortest way, from the model's own book."""
        moves = self._turn.gold
        if style == "serial":
            moves = [part for m in moves for part in ([m] if isinstance(m, str) else [(call,) for call in m])]
        move = moves[min(self.logs[-1].replies, len(moves) - 1)]
        if isinstance(move, str):
            question, entries = self._turn.question, self.book.entries.values()
            answer = f"{question.answer(entries):f} {question.currency}" if question else ""
            return {"role": "assistant", "content": move.format(answer=answer)}
        return calls_message([self._gold_call(place, call) for place, call in enumerate(move)])

    def _gold_call(self, place: int, call: LedgerCall) -> dict[str, Any]:
        arguments = dict(call.arguments)
        if isinstance(entry := arguments.get("id"), Directive):
            arguments["id"] = self._id(entry)
        text = json.dumps(arguments, ensure_ascii=False)
        return made_call(call.name, text, {"id": f"gold-{len(self._messages)}-{place}"})

    def _id(self, directive: Directive) -> str:
        """The id that a directive has in the model's own book; the last of several, as users mean the newest."""
        ids = [entry_id for entry_id, entry in self.book.entries.items() if is_match(directive, entry)]
        return ids[-1] if ids else "none"


def _opening(session: LedgerSession) -> str:
    words = texts_of(session.lang)
    mark = words["closed_account_mark"].format
    closed = {each.account: mark(each.account, each.date) for each in session.base if each.kind == "close"}
    accounts = [closed.get(each.account, each.account) for each in session.base if each.kind == "open"]
    day = {"today": session.today, "weekday": words["weekdays"][session.today.weekday()]}
    return words["assistant"].format(**day, currency=session.currency, accounts=", ".join(accounts))


def _named_call(call: Any) -> tuple[str, str, Any] | None:
    """Id, name and argument text of a call; None where it has no name. An id that is no text is left empty."""
    id_, function = as_object(call).get("id"), as_object(as_object(call).get("function"))
    if not isinstance(name := function.get("name"), str):
        return None
    return id_ if isinstance(id_, str) else "", name, function.get("arguments")
