"""One script as it runs in Monty: each call is answered by a result that is known, or the script waits there."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast

import pydantic_monty as monty

from wildtool.alter.expose.code.protocol import ScriptCall, SessionScript
from wildtool.alter.expose.code.script_text import ScriptText
from wildtool.alter.expose.code.values import MOST_ARGUMENT_CHARACTERS, json_value
from wildtool.json_codec import dumps

MOST_SCRIPT_CALLS = 1_000
"""Calls of one script."""
_NOT_KNOWN = object()
_OBJECT = re.compile(
    r"<(?:function|class|module) '[^']*'(?: at 0x[0-9a-f]+)?>|<coroutine object [^<>]*>|<\w+ object>"
)
"""What leaves the sandbox in place of a function, class, module, coroutine or iterator: a text."""
_FUNCTION_TEXT = re.compile(r"<function '(\w+)'>")
"""The same of a tool."""


class Unknown:
    """What a call returns while nobody knows it."""


def opaque() -> Any:
    """A placeholder of a result, which a script can only pass on."""
    return monty.ClassInstance(Unknown())


class UnknownUsedError(Exception):
    """A call has an argument that holds what nobody knows."""


class TooManyCallsError(Exception):
    """A script has made as many calls as it may."""


@dataclass(slots=True)
class ScriptProgress:
    """How far a script has come."""

    made: list[ScriptCall] = field(default_factory=list[ScriptCall])
    """Calls that are answered."""
    unanswered: list[ScriptCall] = field(default_factory=list[ScriptCall])
    """The others."""
    pending: dict[int, int | None] = field(default_factory=dict[int, int | None])
    """By Monty's number of a call that is awaited its place among those that are answered; None for another."""
    printed: str = ""

    def copy(self) -> "ScriptProgress":
        return ScriptProgress(list(self.made), list(self.unanswered), dict(self.pending), self.printed)


class ScriptRun:
    """One script that runs in a process."""

    def __init__(
        self,
        script: SessionScript,
        texts: Mapping[str, ScriptText],
        unknown: Callable[[], Any] | None,
    ) -> None:
        """
        Args:
            texts: of the scripts of the session, by the names that Monty gives them.
            unknown: gives what stands for a result that is not known; None to stop there.
        """
        self._functions, self._answered, self._results = script.functions, script.answered, script.results
        self._texts, self._unknown = texts, unknown
        self.progress = ScriptProgress()
        self.most = MOST_SCRIPT_CALLS
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
                if _NOT_KNOWN in answers.values():
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

    def _answer(self, place: int | None) -> Any:
        if place is None:
            return opaque()
        if place < len(self._results):
            return self._results[place]
        return _NOT_KNOWN if self._unknown is None else self._unknown()

    def _call(self, snapshot: Any) -> Any:
        """What follows a call; None where it waits."""
        if snapshot.is_os_function:
            return snapshot.resume_not_handled()
        # A name that is called comes here without having been looked up.
        name = _FUNCTION_TEXT.sub(r"\1", snapshot.function_name)
        if name not in self._functions:
            return snapshot.resume({"exception": NameError(f"name '{name}' is not defined")})
        is_answered = name in self._answered
        calls = self.progress.made if is_answered else self.progress.unanswered
        if len(calls) >= self.most:
            raise TooManyCallsError
        if _holds_unknown((snapshot.args, snapshot.kwargs)):
            raise UnknownUsedError
        try:
            call = _read_call(name, snapshot, self._functions[name])
        except (TypeError, ValueError) as error:
            return snapshot.resume({"exception": error})
        place = len(calls) if is_answered else None
        calls.append(call)
        text = self._texts.get(snapshot.position.filename, ScriptText())
        if snapshot.allow_eager_await or text.is_awaited(snapshot.position.start, snapshot.position.end):
            self.progress.pending[snapshot.call_id] = place
            return snapshot.resume({"future": ...})
        answer = self._answer(place)
        return None if answer is _NOT_KNOWN else snapshot.resume({"return_value": answer})


@cache
def _stub(name: str) -> Callable[..., None]:
    def function(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("a call of the sandbox is answered from outside")

    # An argument arrives as this name; a plain one could be any text.
    function.__name__ = f"<function '{name}'>"
    return function


def _read_call(name: str, snapshot: Any, parameters: Sequence[str]) -> ScriptCall:
    """A call with arguments as JSON holds them. Raises TypeError or ValueError in words for the model.

    Args:
        parameters: names, which positional arguments are taken for in their order.
    """
    if len(snapshot.args) > len(parameters):
        count, given = len(parameters), len(snapshot.args)
        raise TypeError(f"{name}() takes {count} arguments but {given} were given")
    if twice := set(parameters[: len(snapshot.args)]) & snapshot.kwargs.keys():
        raise TypeError(f"{name}() got multiple values for argument {min(twice)!r}")
    values: dict[str, Any] = {}
    for key, value in (*enumerate(snapshot.args, 1), *snapshot.kwargs.items()):
        try:
            values[str(key)] = json_value(value)
            _refuse_objects(values[str(key)])
        except (TypeError, ValueError) as error:
            raise type(error)(f"argument {key} of {name}: {error}") from None
    if len(dumps(values)) > MOST_ARGUMENT_CHARACTERS:
        raise ValueError(f"the arguments of {name} take more than {MOST_ARGUMENT_CHARACTERS:,} characters")
    args = [values[str(number)] for number in range(1, len(snapshot.args) + 1)]
    return ScriptCall(name, args, {key: values[key] for key in snapshot.kwargs})


def _refuse_objects(value: Any) -> None:
    """Raises TypeError for a value of JSON that holds the text of an object."""
    if isinstance(value, str) and _OBJECT.fullmatch(value):
        raise TypeError(f"{value} is no JSON value")
    if isinstance(value, dict):
        its = cast(dict[str, Any], value)
        _refuse_objects([*its, *its.values()])
    elif isinstance(value, list):
        for each in cast(list[Any], value):
            _refuse_objects(each)


def _holds_unknown(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_unknown, cast(dict[Any, Any], value).values()))
    if isinstance(value, list | tuple | set | frozenset):
        return any(map(_holds_unknown, cast(Iterable[Any], value)))
    return isinstance(value, Unknown)
