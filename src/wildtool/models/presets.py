"""The endpoints that need no address: the prefixes of models' names."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from wildtool.errors import UsageError

Protocol = Literal["chat completions", "responses", "messages", "generateContent"]


@dataclass(frozen=True, slots=True)
class Preset:
    """How the models of one prefix are reached, unless the user says otherwise."""

    base_url: str
    """`{VARIABLE}` in it is filled in from the environment."""
    key_env: str | None = None
    """The environment variable of its key; None if it needs none."""
    protocol: Protocol = "chat completions"
    key_header: str | None = None
    """The header of the key, if it is not the protocol's own."""
    url_env: str | None = None
    """An environment variable that replaces the base URL."""
    own_url_gets_key: bool = False
    """Whether the key may be sent to an address that the user gives; else only a key named for it is."""

    def url(self, option: str) -> str:
        """The base URL. Raises UsageError if a variable in it is not set; the message advises `option`."""
        if self.url_env and os.environ.get(self.url_env):
            return os.environ[self.url_env]

        def value(match: re.Match[str]) -> str:
            if found := os.environ.get(match[1], "").strip():
                return found.rstrip("/")
            raise UsageError(f"the endpoint {self.base_url} needs {match[1]}; set it or give {option} URL")

        return re.sub(r"\{(\w+)\}", value, self.base_url)


PRESETS: Mapping[str, Preset] = {
    "openai-chat": Preset(
        "https://api.openai.com/v1", "OPENAI_API_KEY", url_env="OPENAI_BASE_URL", own_url_gets_key=True
    ),
    "openai-responses": Preset(
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        "responses",
        url_env="OPENAI_BASE_URL",
        own_url_gets_key=True,
    ),
    "anthropic": Preset("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", "messages"),
    "gemini": Preset("https://generativelanguage.googleapis.com/v1beta", "GEMINI_API_KEY", "generateContent"),
    "azure": Preset(
        "{AZURE_OPENAI_ENDPOINT}/openai/v1",
        "AZURE_OPENAI_API_KEY",
        key_header="api-key",
        own_url_gets_key=True,
    ),
    "bedrock": Preset(
        "https://bedrock-runtime.{AWS_REGION}.amazonaws.com/openai/v1",
        "AWS_BEARER_TOKEN_BEDROCK",
        own_url_gets_key=True,
    ),
    "openrouter": Preset("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "deepseek": Preset("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "mistral": Preset("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "xai": Preset("https://api.x.ai/v1", "XAI_API_KEY"),
    "dashscope": Preset("https://dashscope.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"),
    "moonshot": Preset("https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"),
    "zai": Preset("https://api.z.ai/api/paas/v4", "ZAI_API_KEY"),
    "siliconflow": Preset("https://api.siliconflow.cn/v1", "SILICONFLOW_API_KEY"),
    "together": Preset("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "groq": Preset("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "fireworks": Preset("https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
    "cerebras": Preset("https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    "deepinfra": Preset("https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY"),
    "hf-router": Preset("https://router.huggingface.co/v1", "HF_TOKEN"),
    "nim": Preset("https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY"),
    "ollama": Preset("http://127.0.0.1:11434/v1"),
    "vllm": Preset("http://127.0.0.1:8000/v1"),
    "sglang": Preset("http://127.0.0.1:30000/v1"),
    "llamacpp": Preset("http://127.0.0.1:8080/v1"),
    "lmstudio": Preset("http://127.0.0.1:1234/v1"),
}
"""By prefix. A prefix must not be the owner of models that people serve themselves as `OWNER/NAME` (`nvidia`, `openai`):
such names are plain ones, sent whole to the user's address (see `known_name`)."""


KNOWN_NAMES: tuple[tuple[re.Pattern[str], str], ...] = (
    # gpt-oss are open weights, which anybody may serve; OpenAI does not.
    (re.compile(r"(?:ft:)?(?:gpt-(?!oss)|chatgpt-|o[1-9]\d*(?:-|$))"), "openai-chat"),
    (re.compile("claude-"), "anthropic"),
    (re.compile("gemini-"), "gemini"),
)
"""Patterns of names that belong to one provider, with the prefix of its endpoint."""
NAME_EXAMPLES = (
    ("gpt-…, o3", "openai-chat"),
    ("openai/NAME", "openai-chat"),
    ("claude-…", "anthropic"),
    ("gemini-…", "gemini"),
)
"""Such names as `wildtool list models` shows them, with their prefixes."""
OPENAI_OWNER = "openai/"
"""Not a prefix of the table, but users may write it before a name of OpenAI's."""


def known_name(name: str) -> tuple[str, str] | None:
    """The prefix for a plain name that belongs to one provider, and the name to send; None for any other name.

    Not for names at the user's own address: a server may call its models anything.
    """
    sent_as = name.removeprefix(OPENAI_OWNER)
    prefix = next((prefix for pattern, prefix in KNOWN_NAMES if pattern.match(sent_as)), None)
    if sent_as != name:
        # All other names after `openai/` are OpenAI's too, except its open weights.
        prefix = "openai-chat" if sent_as.strip() and not sent_as.startswith("gpt-oss") else None
    return None if prefix is None else (prefix, sent_as)


def preset_of(name: str) -> tuple[Preset, str] | None:
    """The preset of a model's name and the endpoint's name for it; None for a plain name."""
    prefix, slash, rest = name.partition("/")
    preset = PRESETS.get(prefix)
    return (preset, rest) if preset is not None and slash and rest.strip() else None
