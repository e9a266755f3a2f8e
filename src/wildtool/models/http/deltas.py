"""Joins the pieces of streamed answers, in time and memory proportional to them."""

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


class _CallDeltas:
    """A call whose name and arguments arrive in pieces."""

    def __init__(self) -> None:
        self.rest: dict[str, Any] = {"type": "function"}
        self._function: dict[str, Any] = {}
        self._texts = _TextFields()

    def starts_new_call(self, delta: dict[str, Any], function: dict[str, Any]) -> bool:
        """Whether a piece with this call's index begins another call."""
        other = delta.get("id") and self.rest.get("id") and delta["id"] != self.rest["id"]
        # Without ids, only this separates calls: a name never follows its arguments.
        late = not delta.get("id") and self._texts.has("arguments")
        return bool(function.get("name")) and bool(other or late)

    def add(self, delta: dict[str, Any], function: dict[str, Any]) -> None:
        self.rest |= {
            key: value
            for key, value in delta.items()
            if key not in ("index", "function")
            and value is not None
            and not (key == "id" and self.rest.get("id"))
        }
        for name, value in function.items():
            if not isinstance(value, str):
                if value is not None:
                    self._function[name] = value
            # Some repeat id and name with each piece.
            elif not (delta.get("id") and name == "name" and self._texts.is_just(name, value)):
                self._texts.add(name, value)

    def build(self) -> dict[str, Any]:
        function = {"name": "", "arguments": "", **self._texts.build()}
        other = {name: value for name, value in self._function.items() if not function.get(name)}
        return {**self.rest, "function": {**function, **other}}


class _CallListDeltas:
    """The calls of one streamed message."""

    def __init__(self) -> None:
        self._calls: list[_CallDeltas] = []
        self._at: dict[int, _CallDeltas] = {}

    def add(self, delta: dict[str, Any]) -> None:
        """Adds a piece to the call with its index; without index, to the last call."""
        index, function = delta.get("index"), as_object(delta.get("function"))
        at = index if isinstance(index, int) else None
        call = self._at.get(at) if at is not None else self._last(delta)
        if call is None or call.starts_new_call(delta, function):
            call = _CallDeltas()
            append_bounded(self._calls, call)
        if at is not None:
            self._at[at] = call
        call.add(delta, function)

    def _last(self, delta: dict[str, Any]) -> _CallDeltas | None:
        """The call that a piece without index continues; None if its id is another one, so that it begins a call."""
        last = self._calls[-1] if self._calls else None
        return None if last is None or delta.get("id") not in (None, "", last.rest.get("id")) else last

    def build(self) -> list[dict[str, Any]]:
        return [call.build() for call in self._calls]


class MessageDeltas:
    """An assistant message that arrives in deltas."""

    def __init__(self) -> None:
        self._texts = _TextFields()
        self._other: dict[str, Any] = {}
        self._calls: _CallListDeltas | None = None
        self._function: _CallDeltas | None = None
        self._given: dict[str, Any] | None = None

    def replace(self, message: dict[str, Any]) -> None:
        """Uses a whole message that arrived instead of a delta."""
        self._given = message

    def add(self, delta: dict[str, Any]) -> None:
        for name, value in delta.items():
            if name == "role" or value is None:
                continue
            if name == "tool_calls" and isinstance(value, list):
                self._calls = self._calls or _CallListDeltas()
                for call in objects(cast(list[Any], value)):
                    self._calls.add(call)
            elif name == "function_call" and isinstance(value, dict):
                self._function = self._function or _CallDeltas()
                self._function.add({}, cast(dict[str, Any], value))
            elif isinstance(value, str):
                self._texts.add(name, value)
            elif isinstance(value, list) and isinstance(self._other.get(name), list):
                self._other[name] += value
            else:
                self._other[name] = list(cast(list[Any], value)) if isinstance(value, list) else value

    def build(self) -> dict[str, Any]:
        if self._given is not None:
            return self._given
        message: dict[str, Any] = {"role": "assistant", "content": None, **self._other, **self._texts.build()}
        details = message.get(REASONING_DETAILS)
        if isinstance(details, list):
            message[REASONING_DETAILS] = _joined_details(cast(list[Any], details))
        if self._calls is not None:
            message["tool_calls"] = self._calls.build()
        if self._function is not None:
            message["function_call"] = self._function.build()["function"]
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
