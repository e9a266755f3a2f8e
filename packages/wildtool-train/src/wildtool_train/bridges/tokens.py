"""An episode as tokens, for trainers that keep their own: what the policy wrote stays as it wrote it, and what it is
shown is added behind it."""

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any

from wildtool.errors import UsageError
from wildtool.json_codec import as_object, as_objects
from wildtool.models.prompted import parse_message
from wildtool.tool_formats import CALL_FORMATS
from wildtool.tool_formats.detect import format_of_template
from wildtool.tool_formats.format import CallFormat
from wildtool.tool_formats.lenient_json import strict_value_or
from wildtool.types import Message, Request, Tool
from wildtool_train.bridges.episode import RewardedEpisode
from wildtool_train.core import Transition


def call_format(tokenizer: Any, name: str | None = None) -> CallFormat:
    """The format in which a tokenizer's chat template writes calls, or the one of that name.

    Raises UsageError where the template has no marks of a format, or there is none of that name.
    """
    format = CALL_FORMATS.get(name) if name else format_of_template(tokenizer.get_chat_template())
    if format is None:
        raise UsageError(
            f"no format of calls {name!r} can be used with this chat template: name one of {', '.join(CALL_FORMATS)}"
        )
    return format


class TokenEpisode:
    """One episode: a prompt, and behind it the policy's tokens (mask 1) and those that it was shown (mask 0)."""

    def __init__(
        self,
        episode: RewardedEpisode,
        name: str,
        tokenizer: Any,
        format: CallFormat,
        *,
        max_tokens: int | None = None,
        template: Mapping[str, Any] | None = None,
    ) -> None:
        """Opens a unit.

        Args:
            tokenizer: of transformers, with a chat template.
            max_tokens: behind the prompt; an episode that needs more is cut, and its reward is 0.
            template: further arguments of the chat template.

        Raises DataError as the environment does.
        """
        self.episode = episode
        self.transition: Transition | None = None
        self._tokenizer, self._format = tokenizer, format
        self._max_tokens, self._template = inf if max_tokens is None else max_tokens, dict(template or {})
        observation = episode.environment.open(name)
        self._tools = observation.tools or []
        self.prompt_ids = self._encode(self._rendered(observation.messages, ask=True))
        self.completion_ids: list[int] = []
        self.mask: list[int] = []
        self.logprobs: list[float] = []
        self.is_cut = False

    @property
    def context(self) -> list[int]:
        """All tokens so far: what the policy continues."""
        return self.prompt_ids + self.completion_ids

    @property
    def is_over(self) -> bool:
        return self.is_cut or self.episode.environment.is_over

    @property
    def reward(self) -> float:
        """The episode's reward; 0 where it was cut."""
        return 0.0 if self.is_cut else self.episode.reward or 0.0

    def take(self, ids: Iterable[int], logprobs: Iterable[float] | None = None) -> None:
        """Takes the policy's tokens, up to the end of its message; then adds what it is shown, unless that is the end."""
        ids, ends = list(ids), self._ends()
        self._add(ids, 1, logprobs)
        self.is_cut = len(self.completion_ids) > self._max_tokens
        body = ids[:-1] if ids and ids[-1] in ends else ids
        text = self._tokenizer.decode(body, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        request = Request(self.episode.environment.shown().messages, self._tools)
        message, _ = parse_message({"role": "assistant", "content": text}, self._format, request)
        self.transition = self.episode.environment.step(message)
        observation = self.transition.observation
        if self.transition.done:
            return
        if observation.replaces:
            raise UsageError(
                f"{self.episode.environment.name}: this mode rewrites what was shown, so tokens cannot be kept; take"
                " another mode of the benchmark, such as fc"
            )
        self._add(self._shown(observation.messages, ids[-1:], ends), 0)
        self.is_cut = len(self.completion_ids) >= self._max_tokens

    def _add(self, ids: Sequence[int], mask: int, logprobs: Iterable[float] | None = None) -> None:
        self.completion_ids += ids
        self.mask += [mask] * len(ids)
        self.logprobs += [0.0] * len(ids) if logprobs is None else logprobs

    def _ends(self) -> set[int]:
        return {self._tokenizer.eos_token_id} - {None}

    def _shown(self, messages: list[Message], last: list[int], ends: set[int]) -> list[int]:
        """The tokens of new messages, from the end of the policy's message on."""
        conversation = self.episode.environment.shown().messages
        before = self._rendered(conversation[: len(conversation) - len(messages)])
        after = self._rendered(conversation, ask=True)
        if not after.startswith(before):
            raise UsageError("this chat template rewrites earlier messages, so tokens cannot be kept")
        end: str = self._tokenizer.eos_token or ""
        place = before.rfind(end) if end else -1
        # A template may write more behind the end of a message, such as a line break; that is not the policy's.
        start = place + (len(end) if last and last[0] in ends else 0) if place >= 0 else len(before)
        return self._encode(after[start:])

    def _rendered(self, messages: list[Message], *, ask: bool = False) -> str:
        return rendered(self._tokenizer, messages, self._tools, ask=ask, template=self._template)

    def _encode(self, text: str) -> list[int]:
        # The template writes the special tokens itself.
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])


def rendered(
    tokenizer: Any,
    messages: Sequence[Message],
    tools: Sequence[Tool],
    *,
    ask: bool,
    template: Mapping[str, Any] | None = None,
) -> str:
    """A conversation by a tokenizer's chat template; `ask` for the beginning of the next reply too."""
    return tokenizer.apply_chat_template(
        [_with_objects(message) for message in messages],
        tools=list(tools) or None,
        add_generation_prompt=ask,
        tokenize=False,
        **(template or {}),
    )


def _with_objects(message: Message) -> Message:
    """A message as chat templates take it: arguments are objects, and content is a text."""
    fitted = {**message, "content": message.get("content") or ""}
    if calls := as_objects(message.get("tool_calls")):
        fitted["tool_calls"] = [
            {**call, "function": _with_object(as_object(call.get("function")))} for call in calls
        ]
    return fitted


def _with_object(function: dict[str, Any]) -> dict[str, Any]:
    arguments: Any = function.get("arguments")
    value = strict_value_or(arguments, None) if isinstance(arguments, str) else arguments
    # In a sandbox the policy goes on after a call that cannot be read; many templates go through the arguments.
    return {**function, "arguments": value if isinstance(value, dict) else {"malformed_arguments": arguments}}
