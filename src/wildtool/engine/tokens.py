"""Guesses how many tokens a request is, without a tokenizer: by its letters, and more where they are Chinese."""

from typing import Any

from wildtool import wire
from wildtool.types import Request

ASCII_PER_TOKEN = 4.0
WIDE_TOKENS = 0.8
"""Tokens of a character outside ASCII."""
TOKENIZER = "estimated from characters"
"""How the guess is called where it is shown."""
ERROR = "17 % too low to 16 % too high in tests against three tokenizers"
"""Prompts of wild-mini and ACEBench, English and Chinese, against cl100k, o200k and Qwen's (docs/limits.md)."""


def estimate(request: Request) -> float:
    """Tokens of a request's messages and tools."""
    return tokens_of([list(request.messages), list(request.tools)])


def tokens_of(value: Any) -> float:
    """Tokens of a JSON value as it is sent."""
    data = wire.dumps(value)
    if data.isascii():
        return len(data) / ASCII_PER_TOKEN
    # Nearly all of them are Chinese here, which take three bytes each.
    wide = len(data) - len(data.decode("utf-8", "replace"))
    wide //= 2
    return (len(data) - 3 * wide) / ASCII_PER_TOKEN + wide * WIDE_TOKENS
