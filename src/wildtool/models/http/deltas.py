"""Joins the pieces of streamed answers, in time and memory proportional to them."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

from wildtool.json_codec import REPLY_LIMITS, TooLargeError, as_list, as_object, loads_within
from wildtool.types import REASONING_DETAILS

MAX_REPLY_PARTS = 100_000
"""Limit of calls, blocks, parts or items in one answer."""


class _TextFields:
    """Texts by name, joined from pieces in linear time."""

    def __init__(self) -> None:
        self._pieces: dict[str, list[str]] = {}

    def add(self, name: str, piece: str) -> None:
        if piece or name not in self._pieces:
            self._pieces.setdefault(name, []).append(piece)

    def replace(self, name: str, text: str) -> None:
        """Replaces the text so far."""
        self._pieces[name] = [text]

    def is_just(self, name: str, text: str) -> bool:
        """Whether the text so far is this one, in one piece."""
        return self._pieces.get(name) == [text]

    def has(self, name: str) -> bool:
        """Whether any piece was not empty."""
        return any(self._pieces.get(name, ()))

    def build(self) -> dict[str, str]:
        return {name: "".join(pieces) for name, pieces in self._pieces.items()}


INDEX_AS_TEXT, NO_INDEX, SHARED_INDEX = "index-as-text", "calls-without-index", "calls-with-one-index"
NAME_REPEATED, IDS_CHANGE, ARGUMENTS_REPEATED = "name-repeated", "ids-change", "arguments-repeated"
NAME_IN_PIECES, RETIRED_SHAPE = "name-in-pieces", "function-call"
UNCLEAR_CALLS = "unclear-calls"
"""Names of what is odd about the calls of a stream. Each but the last is read only where one reading exists."""
_IN_STRING = re.compile(r'["\\\\]')
_OUTSIDE = re.compile(r'["{}\[\]]')


def number_of_index(index: Any) -> int | str | None:
    """The place of a call or block, also where it came as a text; another text as it is, None for no place."""
    if isinstance(index, str):
        return int(index) if re.fullmatch(r"\s*\d{1,9}\s*", index, re.ASCII) else index or None
    return int(index) if isinstance(index, int | float) and -1e9 < index < 1e9 else None


class _JsonEnd:
    """Follows a JSON text in pieces to the end of its object, array or text, in time proportional to it."""

    def __init__(self) -> None:
        self._pending: list[str] = []
        self._depth = 0
        self._begun = self._in_string = self._escaped = False

    def add(self, piece: str) -> None:
        self._pending.append(piece)

    def is_whole(self) -> bool:
        """Whether what was opened is closed, and anything was opened."""
        pending, self._pending = self._pending, []
        for piece in pending:
            self._scan(piece)
        return self._begun and self._depth <= 0 and not self._in_string

    def _scan(self, piece: str) -> None:
        at = 0
        while at < len(piece):
            if self._escaped:
                self._escaped, at = False, at + 1
                continue
            match = (_IN_STRING if self._in_string else _OUTSIDE).search(piece, at)
            if match is None:
                return
            at = match.end()
            mark = match[0]
            self._begun = True
            if mark == '"':
                self._in_string = not self._in_string
            elif mark == "\\":
                self._escaped = True
            else:
                self._depth += 1 if mark in "{[" else -1


class _CallDeltas:
    """A call whose name and arguments arrive in pieces."""

    def __init__(self) -> None:
        self.rest: dict[str, Any] = {"type": "function"}
        self._function: dict[str, Any] = {}
        self._texts = _TextFields()
        self._arguments: list[str] = []
        self._end = _JsonEnd()

    @property
    def id(self) -> Any:
        """Its id; None or empty for none so far."""
        return self.rest.get("id")

    @property
    def has_arguments(self) -> bool:
        return any(self._arguments) or self._function.get("arguments") is not None

    @property
    def has_name(self) -> bool:
        """Whether any of its name came."""
        return self._texts.has("name")

    def has_whole_arguments(self) -> bool:
        """Whether its arguments are a whole JSON value, so that nothing can follow."""
        return self._function.get("arguments") is not None or self._end.is_whole()

    def is_named(self, name: str) -> bool:
        """Whether its whole name is this one, in one piece."""
        return self._texts.is_just("name", name)

    def add(self, delta: dict[str, Any], function: dict[str, Any], *, leave_name: bool = False) -> None:
        """Adds a piece. Args: leave_name: whether it only repeats the name."""
        self.rest |= {
            key: value
            for key, value in delta.items()
            if key not in ("index", "function") and value is not None and not (key == "id" and self.id)
        }
        for name, value in function.items():
            if name == "name" and leave_name:
                continue
            if not isinstance(value, str):
                if value is not None:
                    self._function[name] = value
            elif name == "arguments":
                self._arguments.append(value)
                self._end.add(value)
            else:
                self._texts.add(name, value)

    def build(self, oddities: dict[str, None]) -> dict[str, Any]:
        """The call. Args: oddities: gets the name of what was odd about its arguments."""
        function = {"name": "", "arguments": "", **self._texts.build()}
        arguments = "".join(self._arguments)
        restated = _restated(self._arguments)
        if restated is not None and not _is_json(arguments) and _is_json(restated):
            arguments = restated
            oddities[ARGUMENTS_REPEATED] = None
        function["arguments"] = arguments
        other = {name: value for name, value in self._function.items() if not function.get(name)}
        return {**self.rest, "function": {**function, **other}}


def _restated(pieces: list[str]) -> str | None:
    """The text of pieces of which some hold again all that came before them; None where none does."""
    parts: list[str] = []
    length, is_restated = 0, False
    for piece in filter(None, pieces):
        if parts and len(piece) >= length and piece.startswith("".join(parts)):
            parts, length, is_restated = [], 0, True
        parts.append(piece)
        length += len(piece)
    return "".join(parts) if is_restated else None


def _is_json(text: str) -> bool:
    try:
        loads_within(text, REPLY_LIMITS)
    except ValueError:
        return False
    return True


class _CallListDeltas:
    """The calls of one streamed message, and what was odd about them."""

    def __init__(self) -> None:
        self.oddities: dict[str, None] = {}
        """Names of what was read otherwise than as published, in the order they were met."""
        self._calls: list[_CallDeltas] = []
        self._at: dict[int | str, _CallDeltas] = {}
        """The latest call of each index."""
        self._of_id: dict[tuple[int | str | None, str], _CallDeltas] = {}
        self._reopened: dict[int | str, dict[str, Any]] = {}
        """Pieces that repeat a name after whole arguments: another call, if arguments follow."""

    def add_all(self, deltas: Iterable[dict[str, Any]]) -> None:
        """Adds the pieces of one chunk. Without an index each that has a name is a call of its own."""
        names = 0
        for delta in deltas:
            has_name = bool(as_object(delta.get("function")).get("name"))
            self.add(delta, begins=has_name and names > 0)
            names += has_name

    def add(self, delta: dict[str, Any], *, begins: bool = False) -> None:
        """Adds a piece to the call with its index or its id; without both, to the last call.

        Args: begins: whether it is another call, where it has no index.
        """
        index, function = self._index(delta), as_object(delta.get("function"))
        if index is None:
            self.oddities[NO_INDEX] = None
        elif index in self._reopened and function.get("arguments") and not function.get("name"):
            self._begin(index, self._reopened.pop(index))
            self.oddities[SHARED_INDEX] = None
        call = self._call_of(index, delta, function)
        if call is not None and self._only_repeats(call, index, delta, function):
            return
        if call is None or (index is None and begins) or self._starts_new_call(call, delta, function):
            if call is not None and index is not None:
                self.oddities[SHARED_INDEX] = None
            self._begin(index, delta)
            return
        name = function.get("name")
        repeats = isinstance(name, str) and name != "" and call.is_named(name)
        # Before any arguments it may be another piece of a name, if it comes alone.
        repeats = repeats and bool(delta.get("id") or function.get("arguments") or call.has_arguments)
        if repeats and not delta.get("id"):
            self.oddities[NAME_REPEATED] = None
        elif name and call.has_name and not repeats:
            self.oddities[NAME_IN_PIECES] = None
        call.add(delta, function, leave_name=repeats)

    def _index(self, delta: dict[str, Any]) -> int | str | None:
        index = delta.get("index")
        if isinstance(index, str) and index:
            self.oddities[INDEX_AS_TEXT] = None
        return number_of_index(index)

    def _call_of(
        self, index: int | str | None, delta: dict[str, Any], function: dict[str, Any]
    ) -> _CallDeltas | None:
        """The call that a piece may belong to."""
        id_ = delta.get("id")
        if isinstance(id_, str) and (index, id_) in self._of_id:
            return self._of_id[index, id_]
        if index is not None:
            return self._at.get(index)
        last = self._calls[-1] if self._calls else None
        if last is None or not id_:
            if sum(not call.has_whole_arguments() for call in self._calls[-2:]) > 1:
                self.oddities[UNCLEAR_CALLS] = None
            return last
        # Arguments under another id without a name, while the last call is open, are no call: none has no name.
        is_open = last.has_arguments and not last.has_whole_arguments()
        goes_on = is_open and function.get("arguments") and not function.get("name")
        return last if goes_on or last.id == id_ else None

    def _only_repeats(
        self, call: _CallDeltas, index: int | str | None, delta: dict[str, Any], function: dict[str, Any]
    ) -> bool:
        """Whether a piece repeats the name of a call that is whole, without id and arguments: as some servers end a call,
        or as another call begins, of which arguments follow."""
        name = function.get("name")
        if (
            index is None
            or delta.get("id")
            or function.get("arguments")
            or not isinstance(name, str)
            or not name
        ):
            return False
        if not (call.is_named(name) and call.has_arguments and call.has_whole_arguments()):
            return False
        self._reopened[index] = delta
        self.oddities[NAME_REPEATED] = None
        return True

    def _starts_new_call(self, call: _CallDeltas, delta: dict[str, Any], function: dict[str, Any]) -> bool:
        """Whether a piece with this call's index begins another call."""
        id_, name, arguments = delta.get("id"), function.get("name"), function.get("arguments")
        other_id = bool(id_ and call.id and id_ != call.id)
        if not name:
            if other_id:
                self.oddities[IDS_CHANGE] = None
            return False
        if other_id:
            # In the midst of arguments, what begins no value continues them.
            is_open = call.has_arguments and not call.has_whole_arguments()
            begins_none = isinstance(arguments, str) and not arguments.lstrip().startswith(("{", "[", '"'))
            if is_open and begins_none and arguments and call.is_named(name):
                self.oddities[IDS_CHANGE] = None
                return False
            return True
        # Without ids: a name never follows its own arguments, unless it is repeated before their end.
        if id_ or not call.has_arguments:
            return False
        return not call.is_named(name) or call.has_whole_arguments()

    def _begin(self, index: int | str | None, delta: dict[str, Any]) -> None:
        call = _CallDeltas()
        append_bounded(self._calls, call)
        if index is not None:
            self._at[index] = call
        id_ = delta.get("id")
        if isinstance(id_, str) and id_:
            self._of_id[index, id_] = call
        call.add(delta, as_object(delta.get("function")))

    def build(self) -> list[dict[str, Any]]:
        return [call.build(self.oddities) for call in self._calls]


class MessageDeltas:
    """An assistant message that arrives in deltas."""

    def __init__(self) -> None:
        self._texts = _TextFields()
        self._other: dict[str, Any] = {}
        self._calls: _CallListDeltas | None = None
        self._function: _CallListDeltas | None = None
        self._given: dict[str, Any] | None = None
        self._beside: dict[str, Any] | None = None

    @property
    def oddities(self) -> tuple[str, ...]:
        """Names of what was odd about the calls; complete once the message is built."""
        if self._given is not None:
            return ()
        lists = [calls for calls in (self._calls, self._function) if calls is not None]
        return tuple(dict.fromkeys(name for calls in lists for name in calls.oddities))

    def replace(self, message: dict[str, Any]) -> None:
        """Uses a whole message that arrived instead of a delta."""
        self._given = message

    def offer(self, message: dict[str, Any]) -> None:
        """Takes a whole message that arrived beside a delta; it counts if the deltas hold nothing."""
        self._beside = message

    def add(self, delta: dict[str, Any]) -> None:
        for name, value in delta.items():
            if name == "role" or value is None:
                continue
            if name == "tool_calls" and isinstance(value, list):
                self._calls = self._calls or _CallListDeltas()
                self._calls.add_all(objects(cast(list[Any], value)))
            elif name == "function_call" and isinstance(value, dict):
                if self._function is None:
                    self._function = _CallListDeltas()
                    self._function.oddities[RETIRED_SHAPE] = None
                self._function.add({"index": 0, "function": value})
            elif isinstance(value, str):
                self._texts.add(name, value)
            elif isinstance(value, list) and isinstance(self._other.get(name), list):
                self._other[name] += value
            else:
                self._other[name] = list(cast(list[Any], value)) if isinstance(value, list) else value

    def build(self) -> dict[str, Any]:
        if self._given is not None:
            return self._given
        has_text = any(map(self._texts.has, self._texts.build()))
        if self._beside is not None and not (has_text or self._other or self._calls or self._function):
            return self._beside
        message: dict[str, Any] = {"role": "assistant", "content": None, **self._other, **self._texts.build()}
        details = message.get(REASONING_DETAILS)
        if isinstance(details, list):
            message[REASONING_DETAILS] = _joined_details(cast(list[Any], details))
        if self._calls is not None:
            message["tool_calls"] = self._calls.build()
        if self._function is not None:
            # This shape has no place for a second call.
            message["function_call"] = self._function.build()[0]["function"]
        return message


def _joined_details(pieces: list[Any]) -> list[Any]:
    """The parts of reasoning in their pieces: those of one type and index that follow each other are one part."""
    parts: list[list[Any]] = []
    for piece in pieces:
        if parts and _are_of_one_part(parts[-1][-1], piece):
            parts[-1].append(piece)
        else:
            parts.append([piece])
    return [part[0] if len(part) == 1 else _joined_part(part) for part in parts]


def _are_of_one_part(last: Any, now: Any) -> bool:
    one, other = as_object(last), as_object(now)
    same = (one.get("type"), one.get("index")) == (other.get("type"), other.get("index"))
    return same and other.get("index") is not None


def _joined_part(pieces: list[Any]) -> dict[str, Any]:
    part: dict[str, Any] = {}
    for piece in pieces:
        part |= {key: value for key, value in piece.items() if value is not None}
    for key in ("text", "summary", "data"):
        texts = [piece[key] for piece in pieces if isinstance(piece.get(key), str)]
        if texts:
            part[key] = "".join(texts)
    return part


class BlockDeltas:
    """A content block that arrives in deltas."""

    def __init__(self, start: dict[str, Any]) -> None:
        self._start = dict(start)
        self._texts = _TextFields()
        self._citations: list[Any] = []
        for name in ("text", "thinking", "signature"):
            if isinstance(start.get(name), str):
                self._texts.add(name, start[name])

    def add(self, delta: dict[str, Any]) -> None:
        for name in ("text", "thinking", "signature", "partial_json"):
            if isinstance(delta.get(name), str):
                self._texts.add(name, delta[name])
        if "citation" in delta:
            self._citations.append(delta["citation"])

    def build(self) -> dict[str, Any]:
        texts = self._texts.build()
        text = texts.pop("partial_json", None)
        block = {**self._start, **texts}
        if text is not None:
            block["input"] = _value(text)
        if self._citations:
            before = block.get("citations")
            block["citations"] = [
                *(as_list(before)),
                *self._citations,
            ]
        return block


def _value(text: str) -> Any:
    """A tool's input; a text that is not JSON stays a text, since the model wrote it so."""
    try:
        return loads_within(text, REPLY_LIMITS) if text else {}
    except ValueError:
        return text


class PartDeltas:
    """The parts of a streamed turn; consecutive texts of one kind are joined to one part."""

    def __init__(self) -> None:
        self._parts: list[Any] = []
        self._pieces: list[str] = []

    def add(self, part: Any) -> None:
        now = as_object(part)
        if not isinstance(now.get("text"), str):
            self._close()
            append_bounded(self._parts, part)
        elif self._pieces and _continues(self._parts[-1], now):
            self._pieces.append(now["text"])
        else:
            self._close()
            append_bounded(self._parts, dict(now))
            self._pieces = [now["text"]]

    def build(self) -> list[Any]:
        self._close()
        return self._parts

    def _close(self) -> None:
        if self._pieces:
            self._parts[-1]["text"] = "".join(self._pieces)
        self._pieces = []


def _continues(last: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether a text continues the one before it: both of the same kind, without a signature."""
    plain = last.keys() | now.keys() <= {"text", "thought"}
    return plain and last.get("thought") == now.get("thought")


class ItemDeltas:
    """An output item that arrives in events."""

    def __init__(self) -> None:
        self._item: dict[str, Any] = {}
        self._texts = _TextFields()

    def add(self, kind: str, event: dict[str, Any]) -> None:
        """Adds an event of this kind, which is its type's part without `response.` and what happens."""
        if kind == "output_item":
            self._item |= as_object(event.get("item"))
            return
        part = as_object(event.get("part"))
        kind = str(part.get("type")) if part else kind
        if isinstance(delta := event.get("delta"), str):
            self._texts.add(kind, delta)
            return
        # The end of the first part repeats its text; those of others would replace it.
        name = _TEXT_KEYS.get(kind, "text")
        text = event.get(name, part.get(name))
        if isinstance(text, str) and not event.get("content_index"):
            self._texts.replace(kind, text)

    def build(self) -> dict[str, Any]:
        """The item; what it lacks itself is taken from the pieces."""
        texts = self._texts.build()
        if (arguments := texts.pop("function_call_arguments", None)) is not None:
            return {**self._item, "arguments": self._item.get("arguments") or arguments}
        content = [{"type": kind, _TEXT_KEYS.get(kind, "text"): text} for kind, text in texts.items() if text]
        if self._item.get("content") or not content:
            return self._item
        return {"type": "message", **self._item, "content": content}


_TEXT_KEYS = {"refusal": "refusal", "function_call_arguments": "arguments"}
"""Under which key an event or a part has its text, where that is not `text`."""


def append_bounded(parts: list[Any], part: Any) -> None:
    if len(parts) >= MAX_REPLY_PARTS:
        raise too_many_parts()
    parts.append(part)


def too_many_parts() -> TooLargeError:
    return TooLargeError(f"a reply of more than {MAX_REPLY_PARTS:,} calls or other parts")


def objects(parts: Iterable[Any]) -> Iterator[dict[str, Any]]:
    for part in parts:
        if isinstance(part, dict):
            yield cast(dict[str, Any], part)
