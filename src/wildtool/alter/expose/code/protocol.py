"""What the role `sandbox` is asked and answers: a session of scripts as messages, and how far the last script got.

The session is in the request, so that an answer hangs on nothing else and a run can go on in another process. Each
request begins like the one before it, so that a record holds every script and every result once.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from wildtool.json_codec import as_list, as_object, as_objects, loads
from wildtool.types import Message

SANDBOX = "sandbox"
"""The role that runs scripts."""


class EndKind(StrEnum):
    """How a script ends."""

    DONE = "done"
    """By its last line."""
    ERROR = "script error"
    MISUSED = "result misused"
    """By an error at a value that a call returned."""
    REFUSED = "sandbox refused"
    """By what Python runs and the sandbox does not."""
    LIMIT = "limit"
    """Of time, memory or calls; the session begins again without its variables."""


@dataclass(frozen=True, slots=True)
class ScriptCall:
    """One call of a function in a script."""

    name: str
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    computed: tuple[str, ...] = ()
    """Arguments that change with what earlier calls returned, by their keyword or their place."""


@dataclass(frozen=True, slots=True)
class ScriptEnd:
    """How a script ended, and what the model is told of it."""

    kind: EndKind
    output: str


@dataclass(frozen=True, slots=True)
class SandboxAnswer:
    """How far a script got."""

    calls: tuple[ScriptCall, ...] = ()
    """Those whose results it waits for: the first, and those after it that use no result of them. With its end all that
    it made and nothing answers."""
    end: ScriptEnd | None = None
    """None while it waits."""


@dataclass(frozen=True, slots=True)
class SessionScript:
    """One script of a session with the results of its calls so far, in the order of the calls."""

    code: str
    results: tuple[Any, ...]
    is_fresh: bool
    """Whether it begins a session without variables."""
    functions: Mapping[str, Sequence[str]]
    """Those that it can call, each with the names of its parameters in order."""
    answered: frozenset[str]
    """Functions that return results."""


@dataclass(frozen=True, slots=True)
class ScriptSession:
    """What the sandbox is asked to run: the last script."""

    stubs: str
    """What scripts are checked against before they run; empty for no check."""
    scripts: tuple[SessionScript, ...]


def setup_message(functions: Mapping[str, Sequence[str]], stubs: str, answered: Collection[str]) -> Message:
    """What holds from here on.

    Args:
        functions: those that scripts can call, with the names of their parameters.
        answered: those that return results.
    """
    its = {name: list(parameters) for name, parameters in functions.items()}
    return _message("system", functions=its, answered=[name for name in its if name in answered], stubs=stubs)


def script_message(code: str, *, is_fresh: bool) -> Message:
    return _message("user", script=code, fresh=is_fresh)


def results_message(results: Sequence[Any]) -> Message:
    return _message("tool", results=list(results))


def sandbox_message(answer: SandboxAnswer) -> Message:
    calls = [
        {
            "name": call.name,
            "args": list(call.args),
            "kwargs": dict(call.kwargs),
            "computed": list(call.computed),
        }
        for call in answer.calls
    ]
    end = {} if answer.end is None else {"end": answer.end.kind, "output": answer.end.output}
    return _message("assistant", calls=calls, **end)


def _message(role: str, **content: Any) -> Message:
    return {"role": role, "content": json.dumps(content, ensure_ascii=False)}


def read_script_session(messages: Sequence[Message]) -> ScriptSession:
    """The session of a request that this module wrote. Raises ValueError for any other."""
    functions, stubs, answered = dict[str, list[str]](), "", frozenset[str]()
    scripts: list[SessionScript] = []
    for message in messages:
        content = as_object(loads(message["content"]))
        if message["role"] == "system":
            its = as_object(content["functions"]).items()
            functions = {name: [*map(str, as_list(parameters))] for name, parameters in its}
            stubs, answered = str(content["stubs"]), frozenset(map(str, as_list(content["answered"])))
        elif message["role"] == "user":
            code, is_fresh = str(content["script"]), bool(content["fresh"])
            scripts.append(SessionScript(code, (), is_fresh, functions, answered))
        else:
            # What was found in the meantime can be called by the script that waits.
            results = (*scripts[-1].results, *as_list(content["results"]))
            scripts[-1] = replace(scripts[-1], results=results, functions=functions, answered=answered)
    return ScriptSession(stubs, tuple(scripts))


def read_answer(reply: Message) -> SandboxAnswer:
    """The answer of the sandbox, as recorded. Never raises: what is none ends the script by an error that says so."""
    text = reply.get("content")
    try:
        content = as_object(loads(text)) if isinstance(text, str) else {}
    except ValueError:
        content = {}
    calls = tuple(
        ScriptCall(
            str(call.get("name")),
            as_list(call.get("args")),
            as_object(call.get("kwargs")),
            tuple(map(str, as_list(call.get("computed")))),
        )
        for call in as_objects(content.get("calls"))
    )
    kind = next((each for each in EndKind if each == content.get("end")), None)
    if kind is not None:
        return SandboxAnswer(calls, ScriptEnd(kind, str(content.get("output"))))
    if not calls or "end" in content:
        return SandboxAnswer(
            (), ScriptEnd(EndKind.LIMIT, "the record of what the sandbox answered is damaged")
        )
    return SandboxAnswer(calls)
