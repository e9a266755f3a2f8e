"""What a Python function that plays as an agent is given: what the user says, its tools and its model."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import CancelledError, Future
from contextvars import Context, copy_context
from copy import deepcopy
from datetime import datetime
from typing import Any, TypeVar

from wildtool.agents.agent import WIRES, AgentFailedError, Place, ToolAnswer, TurnEnd, Wire
from wildtool.agents.native.tool_session import ToolKind
from wildtool.errors import UsageError, unknown_name
from wildtool.types import Tool

Result = TypeVar("Result")


class ConversationOverError(BaseException):
    """Ends a framework in a thread whose conversation is over. No `except Exception` catches it, or it would go on."""


class AgentSession:
    """One conversation, as the function that plays in it sees it::

        async def my_agent(session):
            agent = build_my_agent(session.tools("openai-agents"), session.base_url("chat"), session.model)
            async for text in session.turns():
                await session.answer(await agent.run(text))

    Each turn of the user is ended once: by `answer`, `reach_limit` or `fail`.
    """

    def __init__(self, place: Place, name: str) -> None:
        """Made by the run. Args: name: of the function, for messages."""
        self._place, self._name = place, name
        self._loop = asyncio.get_running_loop()
        self._texts: asyncio.Queue[str | None] = asyncio.Queue()
        self._turn: asyncio.Future[TurnEnd] | None = None
        """The turn that is open."""
        self._waiting: set[Future[ToolAnswer]] = set()
        """Calls of other threads."""
        self._is_over = False

    # What it works with ------------------------------------------------------------------------------

    @property
    def model(self) -> str:
        """The name of the model to ask for."""
        return self._place.model

    @property
    def instructions(self) -> str:
        """The system text of the benchmark; empty where it has none."""
        return self._place.instructions

    @property
    def date(self) -> datetime | None:
        """When the conversation takes place; None where it does not say so."""
        return self._place.date

    @property
    def mcp_url(self) -> str:
        """The address of the tools as an MCP server (streamable HTTP)."""
        return self._place.mcp_url

    def base_url(self, wire: Wire = "chat") -> str:
        """What a client library takes as its base URL, so that it asks the model under test. Any text serves as its key.

        Args:
            wire: what the library speaks: `chat` (chat completions), `responses` (OpenAI's Responses), `messages`
                (Anthropic) or `gemini`.

        Raises UsageError for another one.
        """
        if wire not in WIRES:
            raise UsageError(unknown_name("wire", str(wire), WIRES))
        return self._place.model_url(wire)

    def tools(self, kind: ToolKind) -> list[Any]:
        """The tools, made for a framework; each call goes to the benchmark and gets its answer.

        Args:
            kind: a framework; `callables` for async functions of keyword arguments; or `openai` for the dictionaries that
                a request holds, whose calls `call` executes.

        Raises UsageError for another one, and where the framework is not installed.
        """
        from wildtool.agents.native import framework_tools  # each framework is loaded when it is asked for

        return framework_tools(kind, self)

    def definitions(self) -> list[Tool]:
        """The tools as a bare model is sent them, in OpenAI's shape."""
        return deepcopy(list(self._place.tools))

    async def call(
        self, name: str, arguments: Mapping[str, Any] | str, call_id: str | None = None
    ) -> ToolAnswer:
        """Executes a call that the model made.

        Args:
            arguments: the text that the model wrote, or what was read from it.
            call_id: the id that the model's reply gives the call; without one it is found by its name and arguments.
        """
        if asyncio.get_running_loop() is self._loop:
            return await self._place.call_tool(name, arguments, call_id)
        # A framework with a loop of its own.
        return await asyncio.wrap_future(self._from_outside(name, arguments, call_id))

    def call_from_thread(
        self, name: str, arguments: Mapping[str, Any] | str, call_id: str | None = None
    ) -> ToolAnswer:
        """As `call`, for frameworks that run in a thread (`in_thread`). Raises UsageError where it would wait for
        itself, and ConversationOverError, which ends the thread, after the conversation."""
        try:
            inside = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            inside = False
        if inside:
            raise UsageError(
                f"{self._name} calls {name} from the event loop in a way that blocks it: await session.call(…), or run "
                "the framework by `await session.in_thread(…)`"
            )
        try:
            return self._from_outside(name, arguments, call_id).result()
        except CancelledError:
            raise ConversationOverError(f"{self._name} calls {name} after its conversation") from None

    async def in_thread(self, function: Callable[..., Result], *args: Any, **keywords: Any) -> Result:
        """Calls a function that blocks, and gives what it returns.

        Each call has a thread of its own. `asyncio.to_thread` has few, which agents that wait for a result soon hold all.
        """
        done: asyncio.Future[Result] = self._loop.create_future()

        def settle(set_outcome: Callable[[Any], None], outcome: Any) -> None:
            if not done.done():
                set_outcome(outcome)

        def work(context: Context) -> None:
            try:
                result = context.run(function, *args, **keywords)
            except StopIteration as error:
                outcome = (done.set_exception, RuntimeError(repr(error)))  # no future takes one
            except BaseException as error:  # noqa: BLE001 - raised where it is awaited
                outcome = (done.set_exception, error)
            else:
                outcome = (done.set_result, result)
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(settle, *outcome)

        threading.Thread(target=work, args=(copy_context(),), daemon=True).start()
        return await done

    def _from_outside(self, name: str, arguments: Any, call_id: str | None) -> "Future[ToolAnswer]":
        if self._is_over:
            raise CancelledError
        call = asyncio.run_coroutine_threadsafe(self.call(name, arguments, call_id), self._loop)
        self._waiting.add(call)
        call.add_done_callback(self._waiting.discard)
        return call

    def answers_by(self, tool: str, argument: str) -> None:
        """Says that the agent ends a turn by calling a tool of its own with its answer, instead of a text. Scripted
        models and earlier replies that are said again then call it too.

        Args:
            tool: its name.
            argument: the one that holds the answer.
        """
        self._place.answers_by(tool, argument)

    # The conversation ----------------------------------------------------------------------------------

    async def turns(self) -> AsyncIterator[str]:
        """What the user says, one turn after another, until the conversation is over."""
        while True:
            if self._turn is not None:
                raise AgentFailedError(
                    f"{self._name} asks for the user's next turn and has not answered this one: "
                    "`await session.answer(text)`"
                )
            text = await self._texts.get()
            if text is None:
                return
            yield text

    async def answer(self, text: str) -> None:
        """Ends the turn with what the user reads. Raises UsageError for what is no text."""
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(
                f"{self._name} answers with {type(text).__name__}: session.answer takes the text that the user reads"
            )
        self._end_turn(TurnEnd("answer" if text.strip() else "silent", text))

    async def reach_limit(self, reason: str) -> None:
        """Ends the turn without an answer, since the agent met a limit of its own, such as its most steps."""
        self._end_turn(TurnEnd("limit", detail=reason))

    async def fail(self, reason: str) -> None:
        """Ends the conversation, since the agent cannot go on; its unit then failed, and is not judged."""
        self._end_turn(TurnEnd("failed", detail=reason))

    def _end_turn(self, end: TurnEnd) -> None:
        if self._turn is None:
            raise AgentFailedError(
                f"{self._name} ends a turn of the user where none is open: each is answered once"
            )
        turn, self._turn = self._turn, None
        if not turn.done():
            turn.set_result(end)

    # For the run -----------------------------------------------------------------------------------------

    def begin_turn(self, text: str) -> "asyncio.Future[TurnEnd]":
        """Gives the function what the user says; the end of its turn."""
        self._turn = self._loop.create_future()
        self._texts.put_nowait(text)
        return self._turn

    @property
    def is_in_turn(self) -> bool:
        """Whether a turn of the user is not ended yet."""
        return self._turn is not None

    def end(self) -> None:
        """Ends the turns, and the calls that other threads wait for."""
        self._is_over = True
        self._texts.put_nowait(None)
        for call in list(self._waiting):
            call.cancel()
