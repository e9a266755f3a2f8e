"""Reasoning of a reply, and what its provider wants back with it, on wires that have other places for it.

A wire keeps what it has a form of its own for: signed thinking, encrypted items, thought signatures. What is of another
provider goes with the reply sealed in that form's signature, which agents send back as it is, and becomes the same keys
of the message when it comes back. An agent that drops reasoning drops it here too, as it would at any endpoint.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wildtool.episode import belongs_to_reasoning, fields_with_calls
from wildtool.json_codec import LINE_LIMITS, as_list, as_object, as_objects, dumps, loads_within
from wildtool.models.openai_messages import assistant_message
from wildtool.types import PROVIDER_CONTENT, REASONING_KEYS, Message

_SEAL = b"wildtool:"
_CALLS = "tool_calls"
"""Key of what belongs to the reasoning at single calls, by their ids: Google signs calls."""
_STANDARD = str.maketrans("-_", "+/")
"""Some clients write base64 in the alphabet of addresses."""


def reasoning_text(message: Message) -> str:
    """The reasoning that a reader can see; empty for none."""
    texts = (message.get(key) for key in REASONING_KEYS)
    return next((text for text in texts if isinstance(text, str) and text), "")


def sealed_reasoning(message: Message) -> str:
    """All that belongs to a reply's reasoning as a signature; empty where nothing does."""
    held = {key: value for key, value in fields_with_calls(message).items() if value}
    fields = {str(call.get("id")): _of_reasoning(call) for call in as_objects(message.get(_CALLS))}
    if any(fields.values()):
        held[_CALLS] = fields
    return b64encode(_SEAL + dumps(held)).decode() if held else ""


def unsealed(signature: Any) -> dict[str, Any] | None:
    """What a signature of ours holds, by keys of a message; None for one of a provider."""
    if not isinstance(signature, str):
        return None
    try:
        text = b64decode(signature.translate(_STANDARD) + "==")
        if not text.startswith(_SEAL):
            return None
        held = as_object(loads_within(text.removeprefix(_SEAL), LINE_LIMITS))
    except ValueError:
        return None
    kept = {key: held[key] for key in (PROVIDER_CONTENT, _CALLS) if key in held}
    return {**_of_reasoning(held), **kept}


def _of_reasoning(held: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in held.items() if belongs_to_reasoning(key)}


def own_parts(
    message: Message, provider: str, text_of_part: Callable[[Mapping[str, Any]], Any]
) -> list[dict[str, Any]] | None:
    """The parts that a wire's own provider made of a reply, where they still say its text; else None.

    Args:
        provider: the key of its parts.
        text_of_part: the text of a part that is one; anything else for another part.
    """
    parts = as_list(as_object(message.get(PROVIDER_CONTENT)).get(provider))
    if not parts or not all(isinstance(part, dict) for part in parts):
        return None
    texts = (text_of_part(part) for part in parts)
    content = message.get("content") or ""
    return parts if "".join(text for text in texts if isinstance(text, str)) == content else None


def earlier_reply(
    provider: str,
    texts: Sequence[str],
    calls: Sequence[dict[str, Any]],
    thoughts: Sequence[str],
    own_parts: list[Any] | None,
    sealed: Mapping[str, Any],
    refusal: str = "",
) -> Message:
    """An earlier reply with its reasoning, in OpenAI's shape.

    Args:
        thoughts: its texts, as the wire has them.
        own_parts: the reply in its provider's own parts, where they hold more than the message; else None.
        sealed: what its signatures held, which says all if it is there.
    """
    if sealed:
        fields = as_object(sealed.get(_CALLS))
        calls = [{**call, **_of_reasoning(as_object(fields.get(call["id"])))} for call in calls]
        of_message = {key: value for key, value in sealed.items() if key != _CALLS}
        return {**assistant_message(provider, texts, calls, (), None, refusal), **of_message}
    written = [thought for thought in thoughts if thought]
    return assistant_message(provider, texts, calls, written, own_parts, refusal)
