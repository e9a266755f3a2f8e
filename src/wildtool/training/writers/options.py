"""How records are written."""

from dataclasses import dataclass
from typing import Literal

TextWithCalls = Literal["drop", "think", "tags"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions:
    """Choices that some forms leave open."""

    text_with_calls: TextWithCalls = "drop"
    """What ShareGPT's shape does with text beside calls: leave it out, write it as thinking, or before tags."""
    think_words: tuple[str, str] = ("<think>", "</think>")
    """Opening and closing word of thinking."""
    call_words: tuple[str, str] = ("<tool_call>", "</tool_call>")
    """Opening and closing word of calls."""
    lossless: bool = False
    """Whether ShareGPT's shape keeps what it has no place for in a separate field."""
    flat: bool = False
    """Whether ShareGPT's shape has only `human` and `gpt` turns, and tools in the system text."""
    for_upload: bool = False
    """Whether OpenAI's messages leave out empty tools, as its platform wants them."""
    prompt_completion: bool = False
    """Whether TRL's rows are a prompt and the last reply, which alone is learned then."""
    tools_as_text: bool = False
    """Whether TRL's tools are JSON text."""
    arguments_as_text: bool = False
    """Whether TRL's arguments are JSON text, for chat templates that take no others."""
    drop_weights: bool = False
    """Whether replies of weight 0 may become ones that are learned."""
    tool_format: str = "hermes"
    """The format in which texts show tools, calls and results."""


DEFAULT_WRITING = WriteOptions()
RECIPE_CHOICES = frozenset({"arguments_as_text"})
"""Choices that no option of `data convert` makes, but a recipe, which looks at the base's chat template."""
