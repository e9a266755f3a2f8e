"""What a reply shows that a reader of the numbers must know: cut off, empty, filtered, calls that nothing read."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import orjson

from wildtool import json_codec
from wildtool.alter.variant import Variant
from wildtool.benchmark import Rules
from wildtool.episode import GOLD_STYLE, belongs_to_reasoning, reasoning_fields
from wildtool.json_codec import as_list, as_object
from wildtool.models.http.deltas import RETIRED_SHAPE
from wildtool.models.token_usage import token_usage
from wildtool.reply_ends import End, end_of
from wildtool.tool_formats.any_format import TextCall, calls_in_text
from wildtool.tool_formats.format import OWN_OBSERVATION, RESULT_BLOCK
from wildtool.trace import SaidCall
from wildtool.types import REPAIR_CHANGE, STREAM_CHANGE, Item, Message, Reply, Tool

REPLIES = "replies"
TOKEN_LIMIT = "cut off"
CUT_AT = "cut at "
"""How the sign begins of a reply that was cut off; the number of its tokens follows."""
EMPTY = "empty"
NAMELESS = "nameless calls"
"""Sign of replies with `tool_calls` of another shape, in which no function is named."""
OBJECT_ARGUMENTS, ENCODED_TWICE = "arguments as objects", "arguments encoded twice"
"""Signs of replies with a call whose arguments are no JSON text, or a JSON text of a JSON text."""
NO_ID, EQUAL_IDS = "calls without id", "calls with equal ids"
"""Signs of an endpoint's replies with calls that a result cannot be matched with."""
CHECKED = frozenset((OBJECT_ARGUMENTS, ENCODED_TWICE, NO_ID, EQUAL_IDS))
"""Signs that `wildtool.check.first_replies` names among the first replies of a run."""
SAME_CALL = "same call twice"
"""Sign of replies with two calls of one function with the same arguments."""
IN_TEXT_TOO = "call in text, too"
"""Sign of replies with a native call that stands in the text as well, as where two parsers read one output."""
IN_REASONING = "calls in reasoning"
"""Sign of replies with a call in their reasoning, and neither a text nor a call."""
ADAPTED = {
    "empty-reasoning-added": "empty reasoning added",
    "thought-signature-added": "signature placeholder added",
    "parallel-calls-split": "parallel calls split",
}
"""By change that an adapter makes to a history, since the endpoint refuses it as it is, the sign of a reply to it."""
REASONING_LEFT_OUT = "reasoning left out"
"""Sign of a reply to a request whose earlier replies were sent without their reasoning."""
_KEY_DROPPED = "message-key-dropped:"
LEGACY = "retired function_call"
"""Sign of replies with a call under `function_call`, which OpenAI retired, and that nothing reads there."""
INVENTED = "invented result"
"""Sign of replies in which the model wrote what a tool would answer."""
STOPPED = {
    End.CUT: TOKEN_LIMIT,
    End.FILTERED: "filtered",
    End.REFUSED: "refused",
    End.MALFORMED: "malformed call",
    End.UNFINISHED: "unfinished",
    End.PAUSED: "unfinished",
    End.UNKNOWN: "unknown end",
}
"""Signs of replies that their model did not end, or of which nobody knows."""
UNREAD = "unread "
"""How the sign of calls begins that are written as text and that nothing read; the name of their format follows."""
NEVER_CALLED = "no call"
"""Sign of wrong units in which tools were offered and nothing was called, neither natively nor as text."""
CALL_DUE, TEXT_FOR_CALL, FIRST_RIGHT = "call due", "text for a call", "first call right"
"""Signs of units whose first right answer is a call: all of them, those answered by text, and those that began right."""
TEXT_DUE, CALL_FOR_TEXT = "text due", "call for a text"
"""Signs of units whose first right answer is a text: all of them, and the wrong ones answered by a call."""
EVERY_TOOL = "every tool"
"""Sign of a reply in a wrong unit that calls each of the offered tools, where there are at least `FEWEST_TOOLS`."""
FEWEST_TOOLS = 3
MODEL, FINGERPRINT = "model ", "fingerprint "
"""How the signs begin that name what answered, by the endpoint's own word."""
_LONGEST_NAME = 100
LOOKED_AT_CHARACTERS = 32_000
"""Of a text that is looked at for calls that nothing read, half of them at its beginning and half at its end."""
_LIKE_CALL = re.compile(r"[{<\[(`]|\bAction\b")
"""What any text with a call in it has."""
_MARKED_CALL = re.compile(
    r"\A\s*+[\[{<`]|<[|｜a-zA-Z_]|\[TOOL_CALLS\]|\bAction\b|[\"'](?:name|function)[\"']"
)
"""What a text has that calls anything but an offered tool by its name."""


def reply_signs(reply: Reply, tools: Callable[[], Sequence[Tool]]) -> list[str]:
    """The signs of one reply, without those of what answered.

    Args:
        tools: gives what was offered; asked only for a text that may hold a call.
    """
    content: object = reply.message.get("content")
    text = content if isinstance(content, str) else ""
    calls = reply.message.get("tool_calls")
    has_calls = bool(calls)
    end = end_of(reply)
    # What has no body came from no endpoint.
    stopped = STOPPED.get(end) if end != End.UNKNOWN or reply.raw else None
    signs = [stopped] if stopped else []
    if not has_calls and (not stopped or end == End.UNKNOWN) and not (content and (not text or text.strip())):
        signs.append(EMPTY)
    if EMPTY in signs and format_of_text(_reasoning(reply.message), tools) is not None:
        # What a reply holds says more than what it lacks.
        signs[signs.index(EMPTY)] = IN_REASONING
    if not has_calls and isinstance(as_object(reply.message.get("function_call")).get("name"), str):
        signs = [LEGACY, *(sign for sign in signs if sign != EMPTY)]
    if has_calls and not _function_names(as_list(calls)):
        signs.append(NAMELESS)
    if has_calls:
        signs += _odd_calls(as_list(calls), comes_from_endpoint=bool(reply.raw))
        if _is_in_text_too(as_list(calls), text, tools):
            signs.append(IN_TEXT_TOO)
    signs += [
        change
        for change in reply.changes
        # What is streamed under the retired key is counted as such.
        if change.startswith(STREAM_CHANGE) and change != f"{STREAM_CHANGE}{RETIRED_SHAPE}"
    ]
    if f"{REPAIR_CHANGE}{OWN_OBSERVATION}" in reply.changes or RESULT_BLOCK.search(text):
        signs.append(INVENTED)
    if not has_calls and (format_ := format_of_text(text, tools)) is not None:
        signs.append(UNREAD + format_)
    return [*signs, *dict.fromkeys(_adapted(reply.changes))]


def _adapted(changes: Iterable[str]) -> Iterator[str]:
    """The signs of what was changed in the history that a reply answers."""
    for change in changes:
        if change in ADAPTED:
            yield ADAPTED[change]
        elif change.startswith(_KEY_DROPPED) and belongs_to_reasoning(change.removeprefix(_KEY_DROPPED)):
            yield REASONING_LEFT_OUT


def _reasoning(message: Message) -> str:
    """The reasoning of a reply, as far as it is text."""
    values = [*reasoning_fields(message).values()]
    parts = [part for value in values for part in as_list(value)]
    values += [as_object(part).get(key) for part in parts for key in ("text", "thinking")]
    return "\n".join(dict.fromkeys(value for value in values if isinstance(value, str)))


def _odd_calls(calls: Sequence[Any], *, comes_from_endpoint: bool) -> Iterator[str]:
    """The signs of what an endpoint should not have made of named calls, each once."""
    entries = [call for call in map(as_object, calls) if _function_names([call])]
    functions = [as_object(call["function"]) for call in entries]
    arguments = [function.get("arguments") for function in functions]
    if any(isinstance(each, dict | list) for each in arguments):
        yield OBJECT_ARGUMENTS
    if any(map(_is_encoded_twice, arguments)):
        yield ENCODED_TWICE
    if comes_from_endpoint:
        ids = [call.get("id") for call in entries]
        texts = [id_ for id_ in ids if isinstance(id_, str) and id_]
        if len(texts) < len(ids):
            yield NO_ID
        if len({*texts}) < len(texts):
            yield EQUAL_IDS
    contents = [content for content in map(_call_content, functions) if content is not None]
    if len({*contents}) < len(contents):
        yield SAME_CALL


def _is_in_text_too(calls: Sequence[Any], text: str, tools: Callable[[], Sequence[Tool]]) -> bool:
    """Whether a text holds one of the native calls of its reply."""
    read = _calls_of_text(text, tools)
    if not read:
        return False
    contents = {_call_content(as_object(as_object(call).get("function"))) for call in calls}
    return any(_call_content({"name": call.name, "arguments": call.arguments}) in contents for call in read)


def _is_encoded_twice(arguments: Any) -> bool:
    if not isinstance(arguments, str) or not arguments.lstrip().startswith('"'):
        return False
    inner = _value(arguments)
    return isinstance(inner, str) and isinstance(_value(inner), dict)


def _call_content(function: Mapping[str, Any]) -> bytes | None:
    """Name and arguments of a call, whatever their spelling; None where they cannot be compared."""
    arguments = function.get("arguments")
    value = _value(arguments) if isinstance(arguments, str) else arguments
    try:
        return json_codec.canonical_json([function.get("name"), value])
    except (ValueError, TypeError):
        return None


def _value(text: str) -> Any:
    """The value of a JSON text; the text itself where it is none."""
    try:
        return orjson.loads(text)
    except ValueError:
        return text


def format_of_text(text: str, tools: Callable[[], Sequence[Tool]]) -> str | None:
    """The format of the calls in a text, empty for one that no format reads; None for a text without calls, and where no
    tools were offered natively: there the benchmark itself asks for calls in its own text."""
    formats = Counter(call.format for call in _calls_of_text(text, tools))
    return max(formats, key=formats.__getitem__) if formats else None


def _calls_of_text(text: str, tools: Callable[[], Sequence[Tool]]) -> Sequence[TextCall]:
    """The calls in a text; none where no tools were offered natively."""
    # Nearly all texts end here: to read one in every format takes a hundred times as long.
    text = _looked_at(text)
    if not _LIKE_CALL.search(text) or not (offered := tools()):
        return ()
    if not (_MARKED_CALL.search(text) or _names_tool(text, offered)):
        return ()
    return calls_in_text(RESULT_BLOCK.sub("", text), offered)


def _looked_at(text: str) -> str:
    """A text, or the beginning and the end of a long one: to read 200,000 characters in every format takes a second."""
    half = LOOKED_AT_CHARACTERS // 2
    return text if len(text) <= LOOKED_AT_CHARACTERS else f"{text[:half]}\n{text[-half:]}"


def _names_tool(text: str, tools: Sequence[Tool]) -> bool:
    return any(name in text for name in _function_names(tools))


def unit_signs(
    replies: Sequence[Reply], tools: Callable[[], Sequence[Tool]], *, wrong: bool
) -> Mapping[str, int]:
    """The signs of all replies of a unit with their numbers.

    Args:
        wrong: whether it was judged wrong.
    """
    signs = Counter(sign for reply in replies for sign in (*reply_signs(reply, tools), *served_by(reply.raw)))
    if signs[TOKEN_LIMIT]:
        lengths = (token_usage(reply.usage).completion for reply in replies if end_of(reply) == End.CUT)
        signs.update(f"{CUT_AT}{tokens}" for tokens in lengths if tokens)
    signs[REPLIES] = len(replies)
    answered = any(reply.raw for reply in replies)
    if wrong and answered and not any(reply.message.get("tool_calls") for reply in replies) and tools():
        signs[NEVER_CALLED] = 1
    if wrong and (count := sum(_calls_every_tool(reply.message, tools) for reply in replies)):
        signs[EVERY_TOOL] = count
    return signs


def _calls_every_tool(message: Message, tools: Callable[[], Sequence[Tool]]) -> bool:
    names = _function_names(as_list(message.get("tool_calls")))
    if len(names) < FEWEST_TOOLS:
        return False  # most replies: they are not compared with all that was offered
    offered = _function_names(tools())
    return len(offered) >= FEWEST_TOOLS and names >= offered


def _function_names(entries: Iterable[Any]) -> set[str]:
    names = (as_object(as_object(entry).get("function")).get("name") for entry in entries)
    return {name for name in names if isinstance(name, str)}


def call_signs(
    variant: Variant, profile: str, item: Item, unit: str, reply: Message, *, correct: bool
) -> Sequence[str]:
    """The signs of a unit by what its first right answer is, a call or a text.

    Args:
        reply: the first of the model under test.
        correct: whether the unit was judged right.
    """
    try:
        request, rules = variant.episode(item, unit, profile).request(), variant.benchmark.rules(profile)
        if request is None or request.gold is None or request.role != "agent":
            return ()
        due = _calls_of(rules, request.gold(GOLD_STYLE))
        if correct:
            return (CALL_DUE, FIRST_RIGHT) if due else (TEXT_DUE,)
        calls = _calls_of(rules, reply)
    except Exception:  # noqa: BLE001 - a faulty benchmark is reported by its judge; here it only says nothing
        return ()
    if not due:
        return (TEXT_DUE, CALL_FOR_TEXT) if calls else (TEXT_DUE,)
    if not calls:
        return CALL_DUE, TEXT_FOR_CALL
    return (CALL_DUE, FIRST_RIGHT) if calls[0] in due else (CALL_DUE,)


def _calls_of(rules: Rules, reply: Message) -> list[SaidCall]:
    return [call for call in rules.said(reply) if call[0] != "message"]


def first_tools(variant: Variant, profile: str, item: Item) -> Sequence[Tool]:
    """The tools of an item's first request; empty for one that cannot be made."""
    if not variant.alterations and variant.benchmark.mode in variant.benchmark.text_modes:
        return ()
    try:
        request = variant.episode(item, item.units[0], profile).request()
        if request is not None and not request.tools and variant.alterations:
            # A question of an alteration may come first, such as that for reasoning.
            request = variant.benchmark.rules(profile).episode(item, item.units[0]).request()
    except Exception:  # noqa: BLE001 - a faulty benchmark is reported by its judge; here it only says nothing
        return ()
    return () if request is None else request.tools


def served_by(raw: str) -> Iterable[str]:
    """Model and fingerprint that an endpoint names in the body of an answer, or in the first event of a stream."""
    body = raw.lstrip()
    if not body.startswith(("{", "[")):
        _, _, body = raw.partition("data:")
        body = body.partition("\n")[0]
    try:
        parsed: Any = orjson.loads(body)
    except ValueError:
        return
    answer = as_object(cast(list[Any], parsed)[0] if isinstance(parsed, list) and parsed else parsed)
    for place in filter(None, (answer, as_object(answer.get("message")), as_object(answer.get("response")))):
        for sign, keys in ((MODEL, ("model", "modelVersion")), (FINGERPRINT, ("system_fingerprint",))):
            for key in keys:
                if isinstance(name := place.get(key), str) and name:
                    yield sign + name[:_LONGEST_NAME]
