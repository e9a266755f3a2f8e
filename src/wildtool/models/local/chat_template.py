"""A model's own chat template, through transformers: turns a request into the prompt that it was trained on."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from wildtool.errors import CallError, UsageError
from wildtool.models.openai_messages import (
    CallIds,
    Changes,
    HistoryCall,
    arguments_object,
    content_text,
    history_calls,
)
from wildtool.models.providers.chat_changes import SHORT_ID_CHARACTERS, split_parallel_calls
from wildtool.models.providers.openai_chat import prompt_of
from wildtool.types import Message, Request

_SAMPLE: dict[str, Any] = {
    "type": "function",
    "function": {"name": "f", "description": "", "parameters": {"type": "object", "properties": {}}},
}
_STYLE_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "f",
        "description": "",
        "parameters": {"type": "object", "properties": {"x": {"type": "object", "default": True}}},
    },
}
_STYLE_CHAT: list[Message] = [
    {"role": "user", "content": "x"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "aaaaaaaaa", "function": {"name": "f", "arguments": {"x": {"x": True}}}}],
    },
    {"role": "tool", "tool_call_id": "aaaaaaaaa", "content": "x"},
]
"""A chat that reveals how a template writes values."""
_REFUSES_PARALLEL = re.compile(r"(?i)raise_exception\(\s*[\"'][^\"']*\bsingle tool.call")
_FIRST_CALL = re.compile(r"\btool_calls\[0\]")
_EACH_CALL = re.compile(r"\bin\s+[\w.\[\]'\"]*\btool_calls\b|\(\s*[\w.]*\btool_calls\s*\)")


def takes_one_call(template: str) -> bool:
    """Whether a template takes one call per message: Llama 3's refuse more, that of gpt-oss shows only the first."""
    only_first = _FIRST_CALL.search(template) and not _EACH_CALL.search(template)
    return bool(only_first or _REFUSES_PARALLEL.search(template))


def wants_results_with_calls(template: str) -> bool:
    """Whether a template shows results only beside their calls, as Gemma 4's does."""
    return "tool_responses" in template and not re.search(r"==\s*['\"]tool['\"]", template)


def weights_place(path: str) -> tuple[str, dict[str, str]]:
    """Where transformers finds weights or a tokenizer, and its further arguments: of `FOLDER/NAME.gguf` the folder, and
    the file in it, which it reads as if it were not quantized."""
    if not path.endswith(".gguf"):
        return path, {}
    file = Path(path)
    return str(file.parent), {"gguf_file": file.name}


class ChatTemplate:
    """Tokenizer and chat template of one model. Code that comes with a model is never run."""

    def __init__(self, path: str, extra: Mapping[str, Any]) -> None:
        """Args: path: a folder, or a name that transformers finds by its own rules; extra: for the template.

        Raises UsageError if there is none.
        """
        library: Any = import_module("transformers")
        self._refused: Any = import_module("jinja2").TemplateError
        try:
            place, options = weights_place(path)
            self._tokenizer: Any = library.AutoTokenizer.from_pretrained(place, **options)
            self.text: str = self.template_text()
        except (OSError, ValueError, KeyError, ImportError) as error:
            cause = str(error).strip().partition("\n")[0]
            raise UsageError(f"model {path!r} has no tokenizer with a chat template here: {cause}") from error
        self._extra = dict(extra)

    def template_text(self) -> str:
        """The tokenizer's template. Raises ValueError if it has none."""
        return self._tokenizer.get_chat_template(tools=[_SAMPLE])

    @property
    def takes_tools(self) -> bool:
        """Whether the template shows tools to the model."""
        return "tools" in self.text

    @property
    def shows_calls(self) -> bool:
        """Whether it shows calls of earlier messages; some templates show only tools."""
        return "tool_calls" in self.text

    @property
    def digest(self) -> str:
        """Identifies the template."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def end_tokens(self) -> set[int]:
        """The tokenizer's tokens that end a reply."""
        end: Any = self._tokenizer.eos_token_id
        return set() if end is None else {end}

    @property
    def pad_token(self) -> int:
        """The token for padding."""
        return next((id_ for id_ in (self._tokenizer.pad_token_id, *self.end_tokens) if id_ is not None), 0)

    @cached_property
    def expected_repairs(self) -> frozenset[str]:
        """Repairs that do not count, since the template itself shows values in Python's style."""
        try:
            text = self._rendered(template_messages(_STYLE_CHAT, {}), [_STYLE_TOOL])
        except (self._refused, ValueError, TypeError, KeyError):
            return frozenset()
        literal = {"python-literal"} if "True" in text and "true" not in text else set[str]()
        return frozenset(literal | ({"single-quotes"} if "'parameters'" in text or "{'x'" in text else set()))

    def _rendered(self, messages: list[Message], tools: list[Any] | None) -> str:
        # SmolLM3's first template has its own name for tools.
        extra = {"xml_tools": tools} if tools and "xml_tools" in self.text else {}
        return self._tokenizer.apply_chat_template(
            messages,
            tools=tools,
            add_generation_prompt=True,
            tokenize=False,
            **{**extra, **self._extra},
        )

    def prompt(
        self, request: Request, calls_to_text: Callable[[Message], Message] | None = None
    ) -> tuple[list[int], Changes]:
        """The request's tokens, and the changes that the template needed.

        Args: calls_to_text: writes a message's calls into its text, for templates that show none.

        Raises CallError if the template refuses the request.
        """
        changes: Changes = {}
        try:
            messages = template_messages(
                request.messages,
                changes,
                short_ids="[TOOL_CALLS]" in self.text,
                one_call=takes_one_call(self.text),
                results_with_calls=wants_results_with_calls(self.text),
            )
            if (
                calls_to_text is not None
                and not self.shows_calls
                and any("tool_calls" in each for each in messages)
            ):
                changes["calls-as-text"] = None
                messages = [calls_to_text(each) if "tool_calls" in each else each for each in messages]
            text = self._rendered(messages, list(request.tools) or None)
            # The template writes the special tokens itself.
            tokens: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        except (self._refused, ValueError, TypeError, KeyError) as error:
            message = f"the chat template does not take the request: {error}"
            raise CallError("unsendable request", message, final=True) from error
        return tokens, changes

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens, with special tokens, since they may mark calls."""
        return self._tokenizer.decode(
            list(tokens), skip_special_tokens=False, clean_up_tokenization_spaces=False
        )


class PlainText(ChatTemplate):
    """The tokenizer alone: the text of a request's one message is the prompt."""

    def template_text(self) -> str:
        return ""

    def prompt(
        self, request: Request, calls_to_text: Callable[[Message], Message] | None = None
    ) -> tuple[list[int], Changes]:
        try:
            tokens: list[int] = self._tokenizer(prompt_of(request))["input_ids"]
        except ValueError as error:
            raise CallError("unsendable request", str(error), final=True) from error
        return tokens, {}


def template_messages(
    messages: Sequence[Message],
    changes: Changes,
    *,
    short_ids: bool = False,
    one_call: bool = False,
    results_with_calls: bool = False,
) -> list[Message]:
    """Messages as chat templates expect them: arguments are objects, results carry their tool's name.

    Args:
        short_ids: nine letters and digits, which templates of Mistral demand.
        one_call: at most one call per message.
        results_with_calls: results in the message of their calls.

    Raises ValueError for pictures and other parts that are not text.
    """
    messages = split_parallel_calls(messages, changes) if one_call else messages
    ids = CallIds(SHORT_ID_CHARACTERS, exactly=9) if short_ids else CallIds(r"\s\S", 10_000)
    adapted = [_as_expected(message, ids, changes) for message in messages]
    return _with_results(adapted, changes) if results_with_calls else adapted


def _with_results(messages: list[Message], changes: Changes) -> list[Message]:
    """Adds to each message with calls the results that follow it."""
    joined: list[Message] = []
    for message in messages:
        last = joined[-1] if joined else {}
        if message.get("role") == "tool" and "tool_calls" in last:
            changes["results-beside-calls"] = None
            result = {"name": message.get("name"), "response": message["content"]}
            joined[-1] = {**last, "tool_responses": [*last.get("tool_responses", ()), result]}
        else:
            joined.append(message)
    return joined


def _as_expected(message: Message, ids: CallIds, changes: Changes) -> Message:
    fitted = {**message, "content": content_text(message.get("content"))}
    if message.get("content") is None:
        changes["null-content-as-text"] = None
    elif fitted["content"] != message["content"]:
        changes["content-parts-joined"] = None
    if "tool_calls" in message:
        # Templates test whether the key exists, so an empty list would be taken for calls.
        del fitted["tool_calls"]
        if calls := [_call(call, ids, changes) for call in history_calls(message, changes)]:
            fitted["tool_calls"] = calls
        else:
            changes["empty-calls-dropped"] = None
    if message.get("role") == "tool":
        fitted["tool_call_id"], name = ids.for_result(message.get("tool_call_id"), changes)
        if "name" not in message:
            changes["tool-name-added"] = None
            fitted["name"] = name
    return fitted


def _call(call: HistoryCall, ids: CallIds, changes: Changes) -> dict[str, Any]:
    arguments = arguments_object(call.arguments, changes)
    if isinstance(call.arguments, str):
        changes["arguments-as-object"] = None
    return {
        "id": ids.for_call(call.id, call.name, changes),
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }
