"""The chat-completions wire of OpenAI and of every server that speaks it: one call, bytes untouched."""

from collections.abc import Mapping
from typing import Any, ClassVar, cast

from wildtool.models.http_model import Asked, HttpModel
from wildtool.models.openai_batches import OpenAIBatches
from wildtool.models.streams import join_chat
from wildtool.types import Reply, Request


class OpenAIModel(HttpModel):
    """A model behind `POST {base_url}/chat/completions`. Nothing is changed on the way, in neither direction."""

    path = "/chat/completions"
    batches = OpenAIBatches
    stream_fields: ClassVar[Mapping[str, Any]] = {"stream": True, "stream_options": {"include_usage": True}}
    reserved = ("model", "messages", "tools")

    def ask(self, request: Request) -> Asked:
        """Model, messages, and tools if any; nothing else."""
        fields: dict[str, Any] = {"model": self._model, "messages": request.messages}
        if request.tools:
            fields["tools"] = request.tools
        return Asked(fields)

    def read(self, parsed: Any, asked: Asked) -> Reply | None:
        """The first choice's message as it is."""
        match parsed:
            case {"choices": [{"message": dict()} as choice, *_]}:
                pass
            case _:
                return None
        finish_reason: object = cast(dict[str, Any], choice).get("finish_reason")
        usage = cast(dict[str, Any], parsed).get("usage")
        return Reply(
            message=cast(dict[str, Any], choice)["message"],
            finish_reason=finish_reason if isinstance(finish_reason, str) else None,
            usage=cast(dict[str, Any], usage) if isinstance(usage, dict) else {},
        )

    def joined(self, parts: list[Any]) -> Any:
        """The chat completion that chunks stand for."""
        return join_chat(parts)
