"""What the calls of a recorded run had in common: address, and body without messages and tools. Never a key."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wildtool.errors import UsageError
from wildtool.json_codec import as_object, dumps
from wildtool.models.resolve import Preset, preset_of
from wildtool.models.settings import Sampling
from wildtool.types import Request


@dataclass(frozen=True, slots=True)
class CallTemplate:
    """How a model was called by chat completions."""

    url: str = ""
    """Without credentials; of a query only the names."""
    key_header: str = ""
    """The header of the key up to the key itself; it is not known whether one was sent."""
    fields: str = ""
    """The body as JSON, without messages, tools and seed."""
    seed: int | None = None
    """Sent plus the number of the repeat."""
    problem: str = ""
    """Why calls cannot be written down so; empty where they can."""


def call_template(name: str, settings: Mapping[str, Any]) -> CallTemplate:
    """What the calls of a model had in common.

    Args:
        name: of the model in the record.
        settings: those that the record has of it.
    """
    base_url = settings.get("base_url")
    if not isinstance(base_url, str):
        return CallTemplate(problem="this model is not called over HTTP")
    if settings.get("api", "chat") != "chat":
        return CallTemplate(problem=f"it was called by /{settings['api']}, not by chat completions")
    if "format" in settings:
        return CallTemplate(problem=f"tools and calls were sent as text, in the format {settings['format']}")
    found = _preset(name)
    if found is not None and found.protocol != "chat completions":
        return CallTemplate(
            problem=f"it was called by the protocol {found.protocol}, not by chat completions"
        )
    return _chat_template(name, base_url, settings, found)


def _preset(name: str) -> Preset | None:
    try:
        found = preset_of(name)
    except UsageError:
        # A package that is gone since, or cannot be used.
        return None
    return found[0] if found is not None and isinstance(found[0], Preset) else None


def _chat_template(
    name: str, base_url: str, settings: Mapping[str, Any], preset: Preset | None
) -> CallTemplate:
    from wildtool.models.providers.openai_chat import OpenAIModel

    address, _, query = base_url.partition("?")
    sampling = Sampling(
        temperature=settings.get("temperature"),
        max_tokens=settings.get("max_tokens"),
        extra_body=as_object(settings.get("extra_body")),
        stream=bool(settings.get("stream")),
    )
    try:
        model = OpenAIModel(name, address, None, sampling, sent_as=settings.get("sent_as"))
        body = json.loads(model.body(Request([])))
    except (UsageError, ValueError, TypeError) as error:
        return CallTemplate(problem=f"its settings cannot be read: {error}")
    header = (preset.key_header if preset is not None else None) or OpenAIModel.key_header
    return CallTemplate(
        f"{address.rstrip('/')}{OpenAIModel.path}{f'?{query}' if query else ''}",
        f"{header}: Bearer " if header == "Authorization" else f"{header}: ",
        dumps({key: value for key, value in body.items() if key != "messages"}).decode(),
        settings.get("seed"),
    )
