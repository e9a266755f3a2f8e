"""How far the last script of a session gets: the calls that it waits for, those that come next whatever they return, and
which arguments follow from results."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from time import monotonic
from typing import Any, Protocol

import pydantic_monty as monty

from wildtool.alter.expose.code.protocol import (
    EndKind,
    SandboxAnswer,
    ScriptCall,
    ScriptEnd,
    ScriptSession,
    SessionScript,
)
from wildtool.alter.expose.code.refusals import is_sandbox_refusal
from wildtool.alter.expose.code.script_run import (
    MOST_SCRIPT_CALLS,
    ScriptProgress,
    ScriptRun,
    TooManyCallsError,
    UnknownUsedError,
    opaque,
)
from wildtool.alter.expose.code.script_text import ScriptText, read_script
from wildtool.alter.expose.code.values import text_places, with_other_leaf
from wildtool.json_codec import canonical_json
from wildtool.types import Message

MOST_CALLS_AHEAD = 64
"""Calls of one answer."""
MOST_SCRIPT_CHARACTERS = 100_000
MOST_OUTPUT_CHARACTERS = 30_000
"""Of what a script printed that a model is shown."""
_MOST_CHANGES, _CHANGES_S = 60, 2.0
"""How often a script is run again with a changed result, and for how many seconds, to see which arguments follow."""
_NOTHING = "(nothing was printed)"


@dataclass(frozen=True, slots=True)
class KeptSession:
    """A session between two answers."""

    dump: bytes
    waiting: ScriptProgress | None
    """Of the script that waits; None between two scripts."""


class SessionStore(Protocol):
    """Where sessions run, and lie between two answers."""

    def checkout(self, stubs: str) -> Any:
        """A session in a process, as a context."""
        ...

    def keep(self, key: bytes, kept: KeptSession) -> None:
        """Keeps a session for the next request of it."""
        ...

    def kept(self, key: bytes) -> KeptSession | None:
        """The session that was kept; None where it is gone."""
        ...


def session_key(messages: Sequence[Message]) -> bytes:
    return sha256(canonical_json(list(messages))).digest()


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A script that waits for results."""

    dump: bytes
    progress: ScriptProgress
    is_gathered: bool
    """Whether it waits for all calls that it has begun, so that nothing follows without a result."""


class ScriptAnswering:
    """One request: the last script of a session goes on."""

    def __init__(self, sandbox: SessionStore, session: ScriptSession, messages: Sequence[Message]) -> None:
        self._sandbox, self._session, self._messages = sandbox, session, messages
        fresh = max((n for n, script in enumerate(session.scripts) if script.is_fresh), default=0)
        self._scripts = list(session.scripts[fresh:])
        self._texts = {_file(number): _text_of(script) for number, script in enumerate(self._scripts)}
        self._text = self._texts[_file(len(self._scripts) - 1)]
        self._results = self._scripts[-1].results

    def answer(self) -> SandboxAnswer:
        if _is_too_long(self._scripts[-1]):
            return SandboxAnswer(
                (),
                _end(
                    EndKind.LIMIT, f"a script of more than {MOST_SCRIPT_CHARACTERS:,} characters is not run"
                ),
            )
        try:
            with self._sandbox.checkout(self._session.stubs) as process:
                state = self._advance(process)
        except (
            monty.MontyError,
            _SessionLostError,
        ) as error:  # the process is gone, or what it would go on from
            return SandboxAnswer((), _end(EndKind.LIMIT, str(error)))
        if isinstance(state, SandboxAnswer):
            return state
        calls = state.progress.made[len(self._results) :]
        if not state.is_gathered and not self._text.branches_on_results:
            calls += self._ahead(state, MOST_CALLS_AHEAD - len(calls))
        return SandboxAnswer(tuple(self._with_computed(calls)))

    def _advance(self, process: Any) -> "SandboxAnswer | _Waiting":
        """Runs the script on until it waits or ends."""
        output = monty.CollectString()
        run = self._run(self._scripts[-1], None)
        before = ""
        try:
            kept = self._sandbox.kept(session_key(self._asked_last())) if self._results else None
            if kept is not None and kept.waiting is not None:
                run.progress, before = kept.waiting.copy(), kept.waiting.printed
                snapshot = run.drive(run.resumed(process.load_snapshot(kept.dump, print_callback=output)))
            else:
                snapshot = run.drive(self._started(process, self._scripts, output))
        except UnknownUsedError:
            end = _end(
                EndKind.DONE,
                before + output.output,
                "the rest needs what a call returns, which is not known here",
            )
        except TooManyCallsError:
            end = _end(
                EndKind.LIMIT, before + output.output, f"a script makes {MOST_SCRIPT_CALLS:,} calls at most"
            )
        except monty.MontyCrashedError:
            raise
        except monty.MontyError as error:
            end = self._failed(error, before + output.output)
            if end.kind != EndKind.LIMIT:
                self._keep(process.dump(), None)
        else:
            if not isinstance(snapshot, monty.MontyComplete):
                run.progress.printed = before + output.output
                self._keep(snapshot.dump(), run.progress)
                return _Waiting(snapshot.dump(), run.progress, isinstance(snapshot, monty.FutureSnapshot))
            end = _end(EndKind.DONE, before + output.output, _shown(snapshot.output))
            self._keep(process.dump(), None)
        return SandboxAnswer(tuple(run.progress.unanswered), end)

    def _asked_last(self) -> Sequence[Message]:
        """The request at which the script began to wait, without what has come since then."""
        place = len(self._messages) - 1
        while self._messages[place - 1]["role"] == "system":
            place -= 1
        return self._messages[:place]

    def _run(self, script: SessionScript, unknown: Callable[[], Any] | None) -> ScriptRun:
        return ScriptRun(script, self._texts, unknown)

    def _keep(self, dump: bytes, waiting: ScriptProgress | None) -> None:
        self._sandbox.keep(session_key(self._messages), KeptSession(dump, waiting))

    def _started(self, process: Any, scripts: Sequence[SessionScript], output: Any) -> Any:
        """The first snapshot of the last script, after those before it."""
        place = max(n for n, message in enumerate(self._messages) if message["role"] == "user")
        kept = self._sandbox.kept(session_key(self._messages[:place]))
        if (
            len(scripts) > 1
            and kept is not None
            and kept.waiting is None
            and scripts[:-1] == self._scripts[:-1]
        ):
            process.load_session(kept.dump)
        else:
            for script in scripts[:-1]:
                self._run_again(process, script)
        return process.feed_start(scripts[-1].code, print_callback=output)

    def _run_again(self, process: Any, script: SessionScript) -> None:
        """Runs an earlier script with the results that it got. Raises _SessionLostError where it
        does not end with them."""
        run = self._run(script, None)
        try:
            last = run.drive(process.feed_start(script.code, print_callback=monty.CollectString()))
        except monty.MontyCrashedError:
            raise
        except (monty.MontyError, TooManyCallsError):
            return  # it ended so before
        if not isinstance(last, monty.MontyComplete):
            raise _SessionLostError("the variables of earlier scripts are lost")

    def _ahead(self, waiting: _Waiting, room: int) -> list[ScriptCall]:
        """Calls that come next whatever the waiting one returns: those that two runs with other placeholders have in
        common."""
        one, other = (self._fork(waiting, unknown, room) for unknown in (opaque, dict[str, Any]))
        return list(_common(one, other))

    def _fork(self, waiting: _Waiting, unknown: Callable[[], Any], room: int) -> list[ScriptCall]:
        run = self._run(self._scripts[-1], unknown)
        run.progress = waiting.progress.copy()
        run.most = min(MOST_SCRIPT_CALLS, len(run.progress.made) + room)
        try:
            with self._sandbox.checkout(self._session.stubs) as process:
                snapshot = process.load_snapshot(waiting.dump, print_callback=monty.CollectString())
                run.drive(run.resumed(snapshot))
        except (monty.MontyError, UnknownUsedError, TooManyCallsError):
            pass  # what it called before is what counts
        return run.progress.made[len(waiting.progress.made) : run.most]

    def _with_computed(self, calls: Sequence[ScriptCall]) -> Iterator[ScriptCall]:
        """The calls, with the arguments that change where an earlier result is another."""
        found: list[set[str]] = [set() for _ in calls]
        if self._text.computes:
            for made in self._changed_runs(len(calls)):
                for place, (call, its) in enumerate(zip(calls, made, strict=False)):
                    if call.name == its.name:
                        found[place].update(_differing(call, its))
        return (replace(call, computed=tuple(sorted(its))) for call, its in zip(calls, found, strict=True))

    def _changed_runs(self, count: int) -> Iterator[list[ScriptCall]]:
        """The same calls in runs in which one text or number of an earlier result is another, the last results first."""
        until, left = monotonic() + _CHANGES_S, _MOST_CHANGES
        for number in reversed(range(len(self._scripts))):
            script = self._scripts[number]
            for place in reversed(range(len(script.results))):
                for leaf in text_places(script.results[place]):
                    if not left or monotonic() > until:
                        return
                    left -= 1
                    results = list(script.results)
                    results[place] = with_other_leaf(results[place], leaf)
                    scripts = [*self._scripts]
                    scripts[number] = replace(script, results=tuple(results))
                    yield self._made_in(scripts, count)

    def _made_in(self, scripts: Sequence[SessionScript], count: int) -> list[ScriptCall]:
        """The calls of the last script after those with results."""
        run = self._run(scripts[-1], opaque)
        run.most = len(self._results) + count
        try:
            with self._sandbox.checkout(self._session.stubs) as process:
                run.drive(self._started(process, scripts, monty.CollectString()))
        except (monty.MontyError, UnknownUsedError, TooManyCallsError, _SessionLostError):
            pass  # what it called before is what counts
        return run.progress.made[len(self._results) :]

    def _failed(self, error: Any, printed: str) -> ScriptEnd:
        """How a script ended that raised."""
        if not isinstance(error, monty.MontyRuntimeError):
            return _end(EndKind.ERROR, printed, error.display())
        raised, frames = error.exception(), error.traceback()
        place = frames[-1] if frames else None
        lines = self._texts.get(place.filename, ScriptText()).result_lines if place else frozenset[int]()
        message = error.display("type-msg")
        if isinstance(raised, SystemExit):
            return _end(EndKind.DONE, printed)
        if isinstance(raised, TimeoutError | MemoryError) or "suspension" in message:
            return _end(EndKind.LIMIT, printed, message)
        if is_sandbox_refusal(message):
            return _end(EndKind.REFUSED, printed, error.display())
        misused = place is not None and place.line in lines and isinstance(raised, _OF_VALUES)
        return _end(EndKind.MISUSED if misused else EndKind.ERROR, printed, error.display())


class _SessionLostError(Exception):
    """What the script would go on from cannot be made again."""


_OF_VALUES = (LookupError, AttributeError, TypeError, ValueError)


def _is_too_long(script: SessionScript) -> bool:
    return len(script.code) > MOST_SCRIPT_CHARACTERS


def _text_of(script: SessionScript) -> ScriptText:
    """What a script says; nothing of one that is not run, since reading may take longer than running."""
    return ScriptText() if _is_too_long(script) else read_script(script.code, script.functions)


def _file(number: int) -> str:
    """Monty's name of a script by its number in the session."""
    return f"<python-input-{number}>"


def _common(one: Sequence[ScriptCall], other: Sequence[ScriptCall]) -> Iterator[ScriptCall]:
    """The calls with which both begin."""
    for first, second in zip(one, other, strict=False):
        if first != second:
            return
        yield first


def _differing(call: ScriptCall, other: ScriptCall) -> Iterator[str]:
    """Arguments that two calls of one function have otherwise."""
    for number, (value, its) in enumerate(zip(call.args, other.args, strict=False), 1):
        if value != its:
            yield str(number)
    for key, value in call.kwargs.items():
        if key in other.kwargs and other.kwargs[key] != value:
            yield key


def _shown(value: Any) -> str:
    """The value of a script's last line, as the model reads it."""
    return "" if value is None else value if isinstance(value, str) else repr(value)


def _end(kind: EndKind, *parts: str) -> ScriptEnd:
    """An end with what the model reads: what was printed, then the rest."""
    text = "\n".join(part.rstrip("\n") for part in parts if part).encode("utf-8", "replace").decode()
    more = len(text) - MOST_OUTPUT_CHARACTERS
    if more > 0:
        text = f"{text[:MOST_OUTPUT_CHARACTERS]}\n… {more:,} more characters"
    return ScriptEnd(kind, text or _NOTHING)
