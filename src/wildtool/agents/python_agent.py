"""An async Python function as an agent: `async def my_agent(session)`."""

import asyncio
import inspect
import sysconfig
import traceback
import warnings
from collections.abc import Callable, Mapping
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Any, cast

from wildtool.agents.agent import AgentFailedError, Place, Traits, TurnEnd
from wildtool.agents.loop_watch import BLOCKED_S, OWNER, LoopWatch, TaskCollector
from wildtool.agents.session import AgentSession
from wildtool.errors import UsageError
from wildtool.models.function import code_digest

AgentFunction = Callable[..., Any]
"""A coroutine function of an `AgentSession`, which plays one conversation."""
AGENT_CLOSING_S = 5.0
"""Seconds that a function may take to end after its conversation."""
_NOT_THE_USERS = (
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    str(Path(__file__).parents[1]),
    "<",
)
"""Where the code of Python, of installed packages and of wildtool lies."""


class PythonAgent:
    """Plays each conversation by a call of a function, all in one event loop."""

    def __init__(self, function: AgentFunction, blocked_s: float = BLOCKED_S) -> None:
        """Raises UsageError for what is no coroutine function of one session.

        Args:
            blocked_s: seconds for which it may keep the event loop from going on before a warning says so.
        """
        if not callable(function):
            raise UsageError(
                f"agent={function!r:.80} is no agent; give a name, a command, an async function of a session or an "
                "`Agent`"
            )
        inner = _without_partials(function)
        name = str(getattr(inner, "__name__", type(inner).__name__)).strip("<>")
        code = getattr(_called(inner), "__code__", None)
        if not inspect.iscoroutinefunction(_called(inner)):
            raise UsageError(
                f"agent={name} must be an async function of a session, `async def {name}(session)`; what blocks goes "
                "into `await session.in_thread(…)`"
            )
        try:
            inspect.signature(function).bind(None)
        except (TypeError, ValueError) as error:
            raise UsageError(
                f"agent={name} must take one argument, the session ({error}); bind others with functools.partial"
            ) from None
        self._function, self._function_name = function, name
        self._digest = code_digest(function)
        self._watch = LoopWatch(name, code and code.co_filename, blocked_s)
        self.name = f"{name}-{self._digest[:8]}"
        """Another text of the function has another name, so a run never goes on with the replies of an earlier one."""
        self.traits = Traits()

    def settings(self) -> Mapping[str, Any]:
        return {"function": self._function_name, "code_sha256": self._digest}

    async def start(self, place: Place) -> "LiveFunction":
        return LiveFunction(self._function, self._function_name, place, self._watch)


class LiveFunction:
    """One call of the function, in one conversation."""

    def __init__(self, function: AgentFunction, name: str, place: Place, watch: LoopWatch) -> None:
        """Starts it, as a task of the running loop."""
        self._name, self._watch = name, watch
        self._session = AgentSession(place, name)
        self._turns = 0
        self._is_closed = self._is_reported = False
        self._tasks = TaskCollector(asyncio.get_running_loop())
        watch.enter()
        context = copy_context()
        context.run(OWNER.set, self._tasks)
        self._task = asyncio.get_running_loop().create_task(self._without_exits(function), context=context)

    async def turn(self, text: str) -> TurnEnd:
        """Gives it what the user says, and waits until it has answered. Raises AgentFailedError where it did not, or did
        it wrong, and UsageError where it asked for something that there is not."""
        self._check_still_runs()
        end = self._session.begin_turn(text)
        self._turns += 1
        await asyncio.wait({end, self._task}, return_when=asyncio.FIRST_COMPLETED)
        if self._task.done() and (self._task.cancelled() or self._task.exception() or not end.done()):
            self._check_still_runs()
        return end.result()

    async def close(self) -> None:
        """Lets it end after its last turn, and ends it in the middle of one."""
        if self._is_closed:
            return
        self._is_closed = True
        is_open = self._session.is_in_turn
        self._session.end()
        try:
            if not is_open:
                await asyncio.wait({self._task}, timeout=AGENT_CLOSING_S)
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=AGENT_CLOSING_S)
            await self._tasks.cancel(AGENT_CLOSING_S)
        finally:
            self._tasks.close()
            self._watch.leave()
        self._warn_of_end(is_open)

    async def _without_exits(self, function: AgentFunction) -> None:
        """Calls the function. `sys.exit` in it ends its own conversation, not the run."""
        try:
            await function(self._session)
        except SystemExit as error:
            raise AgentFailedError(f"{self._name} called sys.exit({error.code!r})") from error

    def _check_still_runs(self) -> None:
        """Raises the error with which the function has ended, if it has."""
        if not self._task.done():
            return
        self._is_reported = True
        if self._task.cancelled():
            raise AgentFailedError(f"{self._name} cancelled itself")
        error = self._task.exception()
        if isinstance(error, AgentFailedError | UsageError):
            raise error
        if error is not None:
            raise AgentFailedError(f"{self._name} failed: {said_of(error)}") from error
        if self._session.is_in_turn:
            raise AgentFailedError(
                f"{self._name} returned without an answer to turn {self._turns} of the user: "
                "`await session.answer(text)`"
            )
        raise AgentFailedError(
            f"{self._name} returned after turn {self._turns}, and the conversation is not over: play in "
            "`async for text in session.turns()`"
        )

    def _warn_of_end(self, was_in_turn: bool) -> None:
        """Says what nobody else can: that the function does not end, or failed after its last answer."""
        if not self._task.done():
            text = f"{self._name} does not end although it was cancelled; let asyncio.CancelledError pass"
        elif self._task.cancelled() or self._task.exception() is None or self._is_reported or was_in_turn:
            return
        else:
            error = self._task.exception()
            assert error is not None, "looked at above"
            text = f"{self._name} failed after its last answer: {said_of(error)}"
        warnings.warn(text, RuntimeWarning, stacklevel=2)


def said_of(error: BaseException) -> str:
    """The type and text of an error, with the line of the user's code that it came from, or that raised it; of a group
    those of its first."""
    if isinstance(error, BaseExceptionGroup):
        return said_of(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])
    places = traceback.extract_tb(error.__traceback__)
    own = [place for place in places if not place.filename.startswith(_NOT_THE_USERS)]
    last = (own or places)[-1:]
    where = "".join(f" ({Path(place.filename).name}, line {place.lineno})" for place in last)
    return f"{type(error).__name__}: {error}{where}"


def _without_partials(function: Any) -> Any:
    while isinstance(function, partial):
        function = cast("partial[Any]", function).func
    return function


def _called(function: Any) -> Any:
    """What is called with a function: of an object its method."""
    return function if hasattr(function, "__code__") else type(function).__call__
