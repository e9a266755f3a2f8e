"""Runs the scripts of a session in Monty, one call after another, and sees which calls come next without results.

A session is no process: between two answers it is a few kilobytes, kept for the next request. Where these are gone, as in
a run that was resumed, the scripts are run again with the results that they got.
"""

import atexit
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from time import monotonic
from typing import Any, cast

import pydantic_monty as monty

from wildtool.alter.expose.code.protocol import (
    DONE,
    ERROR,
    LIMIT,
    MISUSED,
    REFUSED,
    SandboxAnswer,
    ScriptCall,
    ScriptEnd,
    Session,
    SessionScript,
    answer_message,
    read_session,
)
from wildtool.alter.expose.code.refusals import is_refusal
from wildtool.alter.expose.code.script_text import ScriptText, read_script
from wildtool.alter.expose.code.values import MOST_CHARACTERS, json_value, leaves, with_other_leaf
from wildtool.json_codec import canonical_json, dumps
from wildtool.types import Message

MOST_CALLS_AHEAD = 64
"""Calls of one answer."""
MOST_CALLS = 1_000
"""Calls of one script."""
MOST_SCRIPT_CHARACTERS = 100_000
MOST_OUTPUT_CHARACTERS = 30_000
"""Of what a script printed that a model is shown."""
LIMITS: Mapping[str, Any] = {
    "max_feed_duration_secs": 1.0,
    "max_memory": 50_000_000,
    "max_recursion_depth": 200,
    # Looking up a function counts too. Calls are counted by us, since a session that was kept begins at none again.
    "max_suspensions": 3 * MOST_CALLS,
}
_PROCESSES = max(1, min(4, os.cpu_count() or 1))
_CHECKOUT_S, _REQUEST_S = 300.0, 10.0
"""Seconds that a script waits for a process at most, and that a process has for one answer."""
_KEPT_BYTES = 64 << 20
"""Of sessions between two answers, in all."""
_MOST_CHANGES, _CHANGES_S = 60, 2.0
"""How often a script is run again with a changed result, and for how many seconds, to see which arguments follow."""
_OS_POLICY: Mapping[str, Any] = {"random_start": {"seed": 0}, "sleep": "zero", "timezone": "utc"}
_NOTHING = "(nothing was printed)"
_ANSWER_OF_NONE = object()


class _Unknown:
    """What a call returns while nobody knows it."""


class _UnknownUsedError(Exception):
    """A call has an argument that holds what nobody knows."""


class _TooManyCallsError(Exception):
    """A script has made as many calls as it may."""


@dataclass(slots=True)
class _Progress:
    """How far a script has come."""

    made: list[ScriptCall] = field(default_factory=list[ScriptCall])
    pending: dict[int, int] = field(default_factory=dict[int, int])
    """By Monty's number of a call that is awaited its place among those made."""
    printed: str = ""

    def copy(self) -> "_Progress":
        return _Progress(list(self.made), dict(self.pending), self.printed)


@dataclass(frozen=True, slots=True)
class _Kept:
    """A session between two answers."""

    dump: bytes
    waiting: _Progress | None
    """Of the script that waits; None between two scripts."""


class _Run:
    """One script that runs in a process."""

    def __init__(
        self,
        functions: Mapping[str, Sequence[str]],
        texts: Mapping[str, ScriptText],
        results: Sequence[Any],
        unknown: Callable[[], Any] | None,
        progress: _Progress,
    ) -> None:
        """
        Args:
            texts: of the scripts of the session, by the names that Monty gives them.
            unknown: gives what stands for a result that is not known; None to stop there.
        """
        self._functions, self._texts, self._results, self._unknown = functions, texts, results, unknown
        self.progress = progress
        self.most = MOST_CALLS
        """Calls that it may make."""

    def drive(self, snapshot: Any) -> Any:
        """Goes on until the script ends or waits: the last snapshot. Raises MontyError as the script does."""
        while not isinstance(snapshot, monty.MontyComplete):
            if isinstance(snapshot, monty.NameLookupSnapshot):
                known = snapshot.variable_name in self._functions
                snapshot = (
                    snapshot.resume(value=_stub(snapshot.variable_name)) if known else snapshot.resume()
                )
            elif isinstance(snapshot, monty.FutureSnapshot):
                numbers = sorted(snapshot.pending_call_ids)
                answers = {number: self._answer(self.progress.pending[number]) for number in numbers}
                if _ANSWER_OF_NONE in answers.values():
                    return snapshot
                snapshot = snapshot.resume({number: {"return_value": its} for number, its in answers.items()})
            else:
                following = self._call(snapshot)
                if following is None:
                    return snapshot
                snapshot = following
        return snapshot

    def resumed(self, snapshot: Any) -> Any:
        """What follows a snapshot at which the script waited."""
        if isinstance(snapshot, monty.FutureSnapshot):
            return snapshot
        return snapshot.resume({"return_value": self._answer(len(self.progress.made) - 1)})

    def _answer(self, place: int) -> Any:
        if place < len(self._results):
            return self._results[place]
        return _ANSWER_OF_NONE if self._unknown is None else self._unknown()

    def _call(self, snapshot: Any) -> Any:
        """What follows a call; None where it waits."""
        if snapshot.is_os_function:
            return snapshot.resume_not_handled()
        if len(self.progress.made) >= self.most:
            raise _TooManyCallsError
        if self._unknown is not None and _holds_unknown((snapshot.args, snapshot.kwargs)):
            raise _UnknownUsedError
        try:
            call = _read_call(snapshot, self._functions.get(snapshot.function_name, ()))
        except (TypeError, ValueError) as error:
            return snapshot.resume({"exception": error})
        place = len(self.progress.made)
        self.progress.made.append(call)
        text = self._texts.get(snapshot.position.filename, ScriptText())
        if snapshot.allow_eager_await or text.is_awaited(snapshot.position.start, snapshot.position.end):
            self.progress.pending[snapshot.call_id] = place
            return snapshot.resume({"future": ...})
        answer = self._answer(place)
        return None if answer is _ANSWER_OF_NONE else snapshot.resume({"return_value": answer})


@cache
def _stub(name: str) -> Callable[..., None]:
    def function(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("a call of the sandbox is answered from outside")

    function.__name__ = name
    return function


def _read_call(snapshot: Any, parameters: Sequence[str]) -> ScriptCall:
    """A call with arguments as JSON holds them. Raises TypeError or ValueError in words for the model.

    Args:
        parameters: names, which positional arguments are taken for in their order.
    """
    if len(snapshot.args) > len(parameters):
        count, given = len(parameters), len(snapshot.args)
        raise TypeError(f"{snapshot.function_name}() takes {count} arguments but {given} were given")
    if twice := set(parameters[: len(snapshot.args)]) & snapshot.kwargs.keys():
        raise TypeError(f"{snapshot.function_name}() got multiple values for argument {min(twice)!r}")
    values: dict[str, Any] = {}
    for key, value in (*enumerate(snapshot.args, 1), *snapshot.kwargs.items()):
        try:
            values[str(key)] = json_value(value)
        except (TypeError, ValueError) as error:
            raise type(error)(f"argument {key} of {snapshot.function_name}: {error}") from None
    if len(dumps(values)) > MOST_CHARACTERS:
        raise ValueError(
            f"the arguments of {snapshot.function_name} take more than {MOST_CHARACTERS:,} characters"
        )
    args = [values[str(number)] for number in range(1, len(snapshot.args) + 1)]
    return ScriptCall(snapshot.function_name, args, {key: values[key] for key in snapshot.kwargs})


def _holds_unknown(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_unknown, cast(dict[Any, Any], value).values()))
    if isinstance(value, list | tuple | set | frozenset):
        return any(map(_holds_unknown, cast(Iterable[Any], value)))
    return isinstance(value, _Unknown)


class Sandbox:
    """Answers requests for the role `sandbox`. Calls from several threads wait for a free process."""

    def __init__(self) -> None:
        self._free = threading.BoundedSemaphore(_PROCESSES)
        self._lock = threading.Lock()
        self._pool: Any = None
        self._kept: OrderedDict[bytes, _Kept] = OrderedDict()
        self._bytes = 0

    def answer(self, messages: Sequence[Message]) -> Message:
        """How far the last script gets. Raises ValueError for a request that is none."""
        session = read_session(messages)
        with self._free:
            return answer_message(_Answering(self, session, messages).answer())

    def close(self) -> None:
        """Ends the processes."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.__exit__(None, None, None)

    def checkout(self, stubs: str) -> Any:
        """A session in a process, as a context."""
        with self._lock:
            if self._pool is None:
                self._pool = monty.Monty(
                    max_processes=_PROCESSES, checkout_timeout=_CHECKOUT_S, request_timeout=_REQUEST_S
                ).__enter__()
            checked: Any = {"type_check": True, "type_check_stubs": stubs} if stubs else {}
            return self._pool.checkout(limits=LIMITS, os_policy=_OS_POLICY, **checked)

    def keep(self, key: bytes, kept: _Kept) -> None:
        """Keeps a session for the next request of it."""
        with self._lock:
            old = self._kept.pop(key, None)
            self._kept[key] = kept
            self._bytes += len(kept.dump) - (0 if old is None else len(old.dump))
            while self._bytes > _KEPT_BYTES:
                _, oldest = self._kept.popitem(last=False)
                self._bytes -= len(oldest.dump)

    def kept(self, key: bytes) -> _Kept | None:
        """The session that was kept; None where it is gone."""
        with self._lock:
            return self._kept.get(key)


def _key(messages: Sequence[Message]) -> bytes:
    return sha256(canonical_json(list(messages))).digest()


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A script that waits for results."""

    dump: bytes
    progress: _Progress
    is_gathered: bool
    """Whether it waits for all calls that it has begun, so that nothing follows without a result."""


class _Answering:
    """One request: the last script of a session goes on."""

    def __init__(self, sandbox: Sandbox, session: Session, messages: Sequence[Message]) -> None:
        self._sandbox, self._session, self._messages = sandbox, session, messages
        fresh = max((n for n, script in enumerate(session.scripts) if script.is_fresh), default=0)
        self._scripts = list(session.scripts[fresh:])
        self._functions = session.functions
        self._texts = {
            _file(number): read_script(script.code, session.functions)
            for number, script in enumerate(self._scripts)
        }
        self._text = self._texts[_file(len(self._scripts) - 1)]
        self._results = self._scripts[-1].results

    def answer(self) -> SandboxAnswer:
        if len(self._scripts[-1].code) > MOST_SCRIPT_CHARACTERS:
            return SandboxAnswer(
                (), _end(LIMIT, f"a script of more than {MOST_SCRIPT_CHARACTERS:,} characters is not run")
            )
        try:
            with self._sandbox.checkout(self._session.stubs) as process:
                state = self._advance(process)
        except (
            monty.MontyError,
            _SessionLostError,
        ) as error:  # the process is gone, or what it would go on from
            return SandboxAnswer((), _end(LIMIT, str(error)))
        if isinstance(state, SandboxAnswer):
            return state
        calls = state.progress.made[len(self._results) :]
        if not state.is_gathered and not self._text.branches_on_results:
            calls += self._ahead(state, MOST_CALLS_AHEAD - len(calls))
        return SandboxAnswer(tuple(self._with_computed(calls)))

    def _advance(self, process: Any) -> "SandboxAnswer | _Waiting":
        """Runs the script on until it waits or ends."""
        output = monty.CollectString()
        run = self._run(self._results, None if self._session.is_answered else _opaque)
        before = ""
        try:
            kept = self._sandbox.kept(_key(self._messages[:-1])) if self._results else None
            if kept is not None and kept.waiting is not None:
                run.progress, before = kept.waiting.copy(), kept.waiting.printed
                snapshot = run.drive(run.resumed(process.load_snapshot(kept.dump, print_callback=output)))
            else:
                snapshot = run.drive(self._started(process, self._scripts, output))
        except _UnknownUsedError:
            end = _end(
                DONE, before + output.output, "the rest needs what a call returns, which is not known here"
            )
        except _TooManyCallsError:
            end = _end(LIMIT, before + output.output, f"a script makes {MOST_CALLS:,} calls at most")
        except monty.MontyCrashedError:
            raise
        except monty.MontyError as error:
            end = self._failed(error, before + output.output)
            if end.kind != LIMIT:
                self._keep(process.dump(), None)
        else:
            if not isinstance(snapshot, monty.MontyComplete):
                run.progress.printed = before + output.output
                self._keep(snapshot.dump(), run.progress)
                return _Waiting(snapshot.dump(), run.progress, isinstance(snapshot, monty.FutureSnapshot))
            end = _end(DONE, before + output.output, _shown(snapshot.output))
            self._keep(process.dump(), None)
        return SandboxAnswer(() if self._session.is_answered else tuple(run.progress.made), end)

    def _run(self, results: Sequence[Any], unknown: Callable[[], Any] | None) -> _Run:
        return _Run(self._functions, self._texts, results, unknown, _Progress())

    def _keep(self, dump: bytes, waiting: _Progress | None) -> None:
        self._sandbox.keep(_key(self._messages), _Kept(dump, waiting))

    def _started(self, process: Any, scripts: Sequence[SessionScript], output: Any) -> Any:
        """The first snapshot of the last script, after those before it."""
        place = max(n for n, message in enumerate(self._messages) if message["role"] == "user")
        kept = self._sandbox.kept(_key(self._messages[:place]))
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
        run = self._run(script.results, None)
        try:
            last = run.drive(process.feed_start(script.code, print_callback=monty.CollectString()))
        except monty.MontyCrashedError:
            raise
        except (monty.MontyError, _TooManyCallsError):
            return  # it ended so before
        if not isinstance(last, monty.MontyComplete):
            raise _SessionLostError("the variables of earlier scripts are lost")

    def _ahead(self, waiting: _Waiting, room: int) -> list[ScriptCall]:
        """Calls that come next whatever the waiting one returns: those that two runs with other placeholders have in
        common."""
        one, other = (self._fork(waiting, unknown, room) for unknown in (_opaque, dict[str, Any]))
        return list(_common(one, other))

    def _fork(self, waiting: _Waiting, unknown: Callable[[], Any], room: int) -> list[ScriptCall]:
        run = self._run(self._results, unknown)
        run.progress = waiting.progress.copy()
        run.most = len(run.progress.made) + room
        try:
            with self._sandbox.checkout(self._session.stubs) as process:
                snapshot = process.load_snapshot(waiting.dump, print_callback=monty.CollectString())
                run.drive(run.resumed(snapshot))
        except (monty.MontyError, _UnknownUsedError, _TooManyCallsError):
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
                for leaf in leaves(script.results[place]):
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
        run = self._run(scripts[-1].results, _opaque)
        run.most = len(self._results) + count
        try:
            with self._sandbox.checkout(self._session.stubs) as process:
                run.drive(self._started(process, scripts, monty.CollectString()))
        except (monty.MontyError, _UnknownUsedError, _TooManyCallsError, _SessionLostError):
            pass  # what it called before is what counts
        return run.progress.made[len(self._results) :]

    def _failed(self, error: Any, printed: str) -> ScriptEnd:
        """How a script ended that raised."""
        if not isinstance(error, monty.MontyRuntimeError):
            return _end(ERROR, printed, error.display())
        raised, frames = error.exception(), error.traceback()
        place = frames[-1] if frames else None
        lines = self._texts.get(place.filename, ScriptText()).result_lines if place else frozenset[int]()
        message = error.display("type-msg")
        if isinstance(raised, SystemExit):
            return _end(DONE, printed)
        if isinstance(raised, TimeoutError | MemoryError) or "suspension" in message:
            return _end(LIMIT, printed, message)
        if is_refusal(message):
            return _end(REFUSED, printed, error.display())
        misused = place is not None and place.line in lines and isinstance(raised, _OF_VALUES)
        return _end(MISUSED if misused else ERROR, printed, error.display())


class _SessionLostError(Exception):
    """What the script would go on from cannot be made again."""


_OF_VALUES = (LookupError, AttributeError, TypeError, ValueError)


def _file(number: int) -> str:
    """Monty's name of a script by its number in the session."""
    return f"<python-input-{number}>"


def _opaque() -> Any:
    return monty.ClassInstance(_Unknown())


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


def _end(kind: str, *parts: str) -> ScriptEnd:
    """An end with what the model reads: what was printed, then the rest."""
    text = "\n".join(part.rstrip("\n") for part in parts if part).encode("utf-8", "replace").decode()
    more = len(text) - MOST_OUTPUT_CHARACTERS
    if more > 0:
        text = f"{text[:MOST_OUTPUT_CHARACTERS]}\n… {more:,} more characters"
    return ScriptEnd(kind, text or _NOTHING)


@cache
def _sandbox_of(process: int) -> Sandbox:
    sandbox = Sandbox()
    atexit.register(sandbox.close)
    return sandbox


def shared_sandbox() -> Sandbox:
    """The sandbox of this process. A copy of the process has another, since it has none of the first one's pipes."""
    return _sandbox_of(os.getpid())
