"""An agent episode as the published evaluator runs it: a pure state machine (sections 8.1, 8.2, 8.4 and 8.5).

Calls are looked up in the sandbox and made; no text is ever evaluated.
"""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from wildtool.benchmarks.acebench.episode.base import END_MARK, AgentEpisode, DialogueRole
from wildtool.benchmarks.acebench.prompts.originals import Originals
from wildtool.benchmarks.acebench.prompts.own import AgentLines, AgentPrompt
from wildtool.benchmarks.acebench.sandbox import TOOL_ERRORS, Sandbox
from wildtool.benchmarks.acebench.sandbox.edition import ClassState, Edition
from wildtool.json_codec import object_text
from wildtool.toolcall.call_syntax import CallReader, CallSyntaxError, PythonValue, parse_expression
from wildtool.toolcall.expressions import FUNCTIONS, Expressions
from wildtool.toolcall.python_trees import python_tree
from wildtool.types import Message, Request


def calls_to_run(text: str) -> list[str] | None:
    """The calls of a multi-turn reply that goes to the sandbox; None for one that goes to the user.

    It goes to the sandbox if some line has a bracket that opens and one behind it that closes, and it can be read.
    """
    calls = decode_message(text)
    bracketed = calls is not None and any("]" in line.partition("[")[2] for line in text.split("\n"))
    return calls if bracketed else None


def starts_bracketed(text: str) -> bool:
    """Whether a text starts with a bracketed span on its first line."""
    return text.startswith("[") and "]" in text.partition("\n")[0]


def decode_message(text: str) -> list[str] | None:
    """The calls of a message, each written again as `name(key=value, ...)`; None where it cannot be read as calls.

    A text that is one expression but neither a call nor a tuple of calls is no call at all, which is readable (Q62).
    """
    text = text.removeprefix(" ")
    if not text:
        return None
    # The original adds missing brackets before it strips brackets and quotes from both ends (Q63), to no effect.
    try:
        root = parse_expression(text.strip("[]'"))
        reader = _AgentReader()
        return [_source_of(reader, element) for element in _elements(root)]
    except CallSyntaxError:
        return None


class _AgentReader(CallReader):
    """Reads values like the Normal decoder, but for a nested call without keywords, which stays text."""

    def bare_call(self, node: ast.Call) -> PythonValue:
        try:
            return ast.unparse(node)
        except (RecursionError, ValueError) as error:
            raise CallSyntaxError("no source text for a nested call") from error


def _elements(root: ast.expr) -> list[ast.expr]:
    match root:
        case ast.Call():
            return [root]
        case ast.List() | ast.Tuple():
            return root.elts
        case _:
            return []


def _source_of(reader: CallReader, element: ast.expr) -> str:
    if not isinstance(element, ast.Call):
        raise CallSyntaxError(f"not a call but {type(element).__name__}")
    call = reader.call(element)
    return _call_text(call.name, call.arguments)


def _call_text(name: Any, arguments: dict[Any, Any]) -> str:
    return f"{name}({', '.join(f'{key}={_value_text(value)}' for key, value in arguments.items())})"


def _value_text(value: Any) -> str:
    """Python's text of a value; an object is taken for a nested call, so an ordinary one cannot be passed (Q61)."""
    if not isinstance(value, dict):
        try:
            return repr(value)
        except (ValueError, RecursionError) as error:
            raise CallSyntaxError("a value cannot be written") from error
    entries = cast(dict[Any, Any], value)
    if not entries:
        raise CallSyntaxError("an empty object")
    name, arguments = next(iter(entries.items()))
    if not isinstance(arguments, dict):
        raise CallSyntaxError("an object that is no call")
    return _call_text(name, cast(dict[Any, Any], arguments))


_TOOL_NAME = re.compile(r"\b([a-zA-Z_]\w*)\(")
"""The original's pattern: a name that starts with another letter is none, so that a tool's name is found behind it,
inside a text too."""
_MISSING: Any = object()


@dataclass(frozen=True, slots=True)
class ExecutionResult:
    """What the sandbox answers to one message."""

    message: list[Any] | str
    """The results in order; a text where the message was not run."""
    captured: bool
    """Whether the original holds the instances afterwards, so that the episode has an end state."""
    raised: str | None = None
    """The exception that the original ends with when it writes the results."""


def execute_step(edition: Edition, sandbox: Sandbox, calls: Sequence[str] | None) -> ExecutionResult:
    """Runs a multi-step message: an exception is the result of its call, later calls still run.

    Args:
        calls: as `decode_message` reads the message; None where it cannot.
    """
    if calls is None:
        return ExecutionResult(edition.say("Execution.multi_step.undecodable"), captured=False)
    values: list[Any] = []
    previous: Any = _MISSING
    for call in calls:
        try:
            previous = call_tool(sandbox, call, previous)
            values.append(previous)
        except TOOL_ERRORS as error:
            values.append(edition.say("Execution.multi_step.exception", exception=error))
    return _executed(values)


def execute_turn(edition: Edition, sandbox: Sandbox, calls: Sequence[str]) -> ExecutionResult:
    """Runs a multi-turn message: an exception abandons the batch, what was done stays done (Q59)."""
    values: list[Any] = []
    previous: Any = _MISSING
    try:
        for call in calls:
            previous = call_tool(sandbox, call, previous)
            values.append(previous)
    except TOOL_ERRORS:
        sentence = edition.texts[
            "Execution.multi_turn.exception (literal braces, delivered as single characters)"
        ]
        return ExecutionResult(list(sentence), captured=False)
    return _executed(values)


def call_tool(sandbox: Sandbox, call: str, previous: Any) -> Any:
    """The value of one call as `decode_message` writes it; of an unknown tool the previous value (Q60).

    Raises any of `TOOL_ERRORS`.
    """
    match = _TOOL_NAME.search(call)
    name = match[1] if match else ""
    if not sandbox.tools(name):
        if previous is _MISSING:
            raise UnboundLocalError(
                "cannot access local variable 'func_call_result' where it is not associated with a value"
            )
        return previous
    node = python_tree(call, "eval", "<string>").body
    if (
        not isinstance(node, ast.Call)
        or not isinstance(node.func, ast.Name)
        or not sandbox.tools(node.func.id)
    ):
        raise NameError(f"name {next(_names(node), '')!r} is not defined")
    return sandbox.call(node.func.id, {str(word.arg): _literal(word.value) for word in node.keywords})


def _executed(values: Sequence[Any]) -> ExecutionResult:
    """The values as results, written only now: what a later call of the message changed shows in earlier results."""
    raised = next(
        (fault for value in values if isinstance(value, dict) and (fault := serialization_error(value))), None
    )
    return ExecutionResult([_result(value) for value in values], captured=True, raised=raised)


def serialization_error(value: Any) -> str | None:
    """The exception that writing a value as JSON ends with: bytes and complex numbers as arguments lead there."""
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
    return None


def _result(value: Any) -> Any:
    """A value as the execution message shows it: through JSON where that is possible, else its text."""
    text = object_text(value)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        pass  # it is more than one literal
    unknown = next((name for name in _names(node) if name not in FUNCTIONS), None)
    if unknown is not None:
        # A nested call of a tool, or a number that Python writes as a name (`inf`, `nan`).
        raise NameError(f"name {unknown!r} is not defined")
    return Expressions().value(node)


def _names(node: ast.expr) -> Iterator[str]:
    return (part.id for part in ast.walk(node) if isinstance(part, ast.Name))


_END_MARK_IGNORED = 2
"""Number of messages after the first in which the end mark is ignored (Q54)."""


class OfficialAgentEpisode(AgentEpisode):
    """What both kinds of episode share: the agent's transcript, and the end state as the original gets hold of it."""

    def _prepare(self, originals: Originals | None) -> None:
        self._captured = False
        self._raised: str | None = None
        self._lines = AgentLines()
        classes, functions = self.record.involved_classes, self.record.functions
        self._prompt = AgentPrompt(
            self.edition.lang, classes, functions, multi_turn=self.multi_turn, originals=originals
        )

    def result(self) -> list[ClassState]:
        """The end state of the involved classes; empty where the original never got hold of the instances."""
        return self.sandbox.saved() if self._captured else []

    def raised(self) -> str | None:
        """The exception with which the original would have ended on writing results or end state."""
        return self._raised or (
            serialization_error(self.sandbox.instances_state()) if self._captured else None
        )

    def _agent_request(self) -> Request:
        messages = self._prompt.messages(self._lines.lines)
        return Request(
            messages,
            gold=lambda _style: {"role": "assistant", "content": self._gold_text()},
            in_text=self._lines.in_text(self._prompt),
        )

    def _show_user_message(self, text: str) -> None:
        self._lines.add("user", text)

    def _has_ended(self, sender: DialogueRole, message: str | list[Any]) -> bool:
        # `in` means part of a text, but element of a list of results, as in the original.
        return len(self.dialogue) > 1 + _END_MARK_IGNORED and END_MARK in message

    def _record_execution(self, text: str, executed: ExecutionResult) -> None:
        """Keeps what a message to the sandbox came to."""
        self._captured = self._captured or executed.captured
        self._raised = self._raised or executed.raised
        self.process.append(text)
        self._append("execution", "agent", executed.message)


class OfficialMultiStepEpisode(OfficialAgentEpisode):
    """A multi-step episode: every reply of the agent is run, whatever it says."""

    def advance(self, reply: Message) -> None:
        text = _text(reply)
        self._replies += 1
        # The recipient is a label only, and the agent's own messages never enter its transcript (Q57).
        self._append("agent", "execution" if starts_bracketed(text) else "user", text)
        if self._done:
            return
        executed = execute_step(self.edition, self.sandbox, decode_message(text))
        self._record_execution(text, executed)
        self._lines.add_result("execution result", f"{executed.message}")


class OfficialMultiTurnEpisode(OfficialAgentEpisode):
    """A multi-turn episode: the simulated user opens, then every reply goes to the user or to the sandbox."""

    multi_turn = True

    def advance(self, reply: Message) -> None:
        text = _text(reply)
        if self._user_speaks():
            self._add_user_message(text)
        else:
            self._add_agent_message(text)

    def _add_agent_message(self, text: str) -> None:
        self._replies += 1
        self._lines.add("agent", text)
        calls = calls_to_run(text)
        if calls is None:
            self._user.add_agent_message(_without_label(text))
            self._append("agent", "user", text)
            return
        self._append("agent", "execution", text)
        if self._done:
            return
        executed = execute_turn(self.edition, self.sandbox, calls)
        self._record_execution(text, executed)
        self._lines.add_result("execution", f"{executed.message}")


def _text(reply: Message) -> str:
    content = reply.get("content")
    return content if isinstance(content, str) else ""


def _without_label(text: str) -> str:
    for label in ("user:", "agent:"):
        if text.startswith(label):
            return text.removeprefix(label)
    return text
