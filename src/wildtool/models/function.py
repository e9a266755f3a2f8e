"""A Python function as a model: `function(messages, tools)` gives the assistant message, or its text."""

import asyncio
import hashlib
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any, cast

from wildtool import json_codec
from wildtool.errors import UsageError, WildtoolError
from wildtool.json_codec import as_list, as_object
from wildtool.reply_ends import given_reason
from wildtool.shapes import Reading, ShapeError, read_answer
from wildtool.types import Message, Reply, Request, Tool

ModelFunction = Callable[[list[Message], list[Tool]], Any]
"""Takes messages and tools in OpenAI's shape, which it may change, and gives the assistant message in any shape that
`wildtool.shapes` reads, its text, or a whole answer around it (a dictionary, or an object of a client library); may be a
coroutine function."""


class CallableModel:
    """Answers by calling a function."""

    def __init__(self, function: ModelFunction) -> None:
        """Raises UsageError for what cannot be called with messages and tools."""
        try:
            inspect.signature(function).bind([], [])
        except (TypeError, ValueError) as error:
            raise UsageError(f"model={function!r} must be a function of (messages, tools): {error}") from None
        self._function = function
        self._name = str(getattr(function, "__name__", type(function).__name__)).strip("<>")
        self._digest = code_digest(function)
        self.name = f"function/{self._name}-{self._digest[:8]}"
        """Another text of the function has another name, so a run never continues with replies of an earlier one."""

    def settings(self) -> Mapping[str, Any]:
        return {"function": self._name, "code_sha256": self._digest}

    async def complete(self, request: Request) -> Reply:
        """What the function answers. Raises WildtoolError where it fails, or gives no message."""
        start = asyncio.get_running_loop().time()
        # A copy: what the function changes must not reach the next request.
        messages, tools = json_codec.loads(json_codec.dumps([list(request.messages), list(request.tools)]))
        address = request.address
        place = f" (item {address.item}, unit {address.unit}, step {address.step})" if address else ""
        try:
            if inspect.iscoroutinefunction(self._function):
                answer = await self._function(messages, tools)
            else:
                answer = await asyncio.to_thread(self._function, messages, tools)
                if inspect.isawaitable(answer):
                    answer = await answer
        except Exception as error:
            raise WildtoolError(
                f"the function {self._name} failed{place}: {type(error).__name__}: {error}. Replies so far are recorded"
            ) from error
        try:
            return _as_reply(answer, asyncio.get_running_loop().time() - start)
        except ShapeError as error:
            raise WildtoolError(
                f"the function {self._name} gave no assistant message{place}: {error}"
            ) from None

    async def close(self) -> None:
        """Nothing is open."""


def _as_reply(answer: Any, seconds: float) -> Reply:
    """Raises ShapeError for what is no answer."""
    if not isinstance(answer, str | Mapping) and hasattr(answer, "model_dump"):
        answer = answer.model_dump(exclude_none=True)
    whole = as_object(answer)
    message = read_answer(answer, Reading())
    is_completion = bool(as_list(whole.get("choices")))
    return Reply(
        message,
        raw=json.dumps(whole, default=str) if is_completion else "",
        finish_reason=given_reason(whole),
        usage=as_object(whole.get("usage")),
        latency_s=seconds,
    )


def code_digest(function: Callable[..., Any]) -> str:
    """SHA-256 of what a function is made of: its text, constants, defaults, bound values and those of its closure.

    Global variables, other functions that it calls and objects whose value has no text are not part of it.
    """
    return hashlib.sha256(repr(_parts(function, set())).encode()).hexdigest()


def _parts(value: Any, seen: set[int]) -> Any:
    """What makes a value another one, in a form whose text is the same in every process."""
    if value is None or isinstance(value, str | bytes | int | float | complex):
        return value
    if id(value) in seen:
        return "…"
    seen = seen | {id(value)}
    match value:
        case list() | tuple():
            return [_parts(each, seen) for each in cast("Sequence[Any]", value)]
        case set() | frozenset():
            return sorted(repr(_parts(each, seen)) for each in cast("frozenset[Any]", value))
        case dict():
            return [(repr(key), _parts(each, seen)) for key, each in cast("dict[Any, Any]", value).items()]
        case partial():
            return [_parts(each, seen) for each in (value.func, value.args, value.keywords)]
        case CodeType():
            return [value.co_code, value.co_names, _parts(value.co_consts, seen)]
        case MethodType():
            return [_parts(value.__self__, seen), _parts(value.__func__, seen)]
        case FunctionType():
            text = _text_of(value)
            # Two functions may stand on one line. Code is of one version of Python, so it counts only where it must.
            code = value.__code__ if not text or value.__name__ == "<lambda>" else None
            cells = [cell.cell_contents for cell in value.__closure__ or () if cell != CellType()]
            bound = (code, value.__defaults__, value.__kwdefaults__, cells)
            return [text, *(_parts(each, seen) for each in bound)]
        case type():
            return _text_of(value) or value.__qualname__
        case _:
            return [_parts(type(value), seen), _parts(getattr(value, "__dict__", {}), seen)]


def _text_of(defined: Any) -> str:
    try:
        return inspect.getsource(defined)
    except (OSError, TypeError):
        return ""
