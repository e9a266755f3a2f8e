"""Reasoning of a reply, and what its provider wants back with it, on wires that have other places for it.

A wire keeps what it has a form of its own for: signed thinking, encrypted items, thought signatures. What is of another
provider goes with the reply sealed in that form's signature, which agents send back as it is, and becomes the same keys
of the message when it comes back. An agent that drops reasoning drops it here too, as it would at any endpoint.
"""

import binascii
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from wildtool.json_codec import LINE_LIMITS, as_list, as_object, dumps, loads_within
from wildtool.types import PROVIDER_CONTENT, REASONING_DETAILS, REASONING_KEYS, Message

_SEAL = b"wildtool:"
_SEALED = (*REASONING_KEYS, REASONING_DETAILS, PROVIDER_CONTENT)
_STANDARD = str.maketrans("-_", "+/")
"""Some clients write base64 in the alphabet of addresses."""


def reasoning_text(message: Message) -> str:
    """The reasoning that a reader can see; empty for none."""
    texts = (message.get(key) for key in REASONING_KEYS)
    return next((text for text in texts if isinstance(text, str) and text), "")


def sealed_reasoning(message: Message) -> str:
    """All that belongs to a reply's reasoning as a signature; empty where nothing does."""
    held = {key: message[key] for key in _SEALED if message.get(key)}
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
    except (ValueError, binascii.Error):
        return None
    return {key: held[key] for key in _SEALED if key in held}


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


def add_reasoning(
    message: Message,
    thoughts: Iterable[str],
    sealed: Mapping[str, Any],
    provider: str,
    parts: list[Any] | None,
) -> None:
    """Adds the reasoning of an earlier reply to its message.

    Args:
        thoughts: its texts, as the wire has them.
        sealed: what its signatures held, which says all if it is there.
        parts: the reply in its provider's own parts, where they hold more than the message; else None.
    """
    if sealed:
        message.update(sealed)
        return
    if text := "\n".join(thoughts):
        message[REASONING_KEYS[0]] = text
    if parts is not None:
        message[PROVIDER_CONTENT] = {provider: parts}
