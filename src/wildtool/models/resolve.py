"""Makes the model that a name stands for; the endpoints that need no address, by the prefixes of names."""

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from wildtool.errors import UsageError
from wildtool.installed import installed_entries, load_entry, package_of
from wildtool.models.headers import Header
from wildtool.models.replay import LoggedReplies, ReplayModel
from wildtool.models.secrets import VARIABLE_NAME, describe_variable, find_key
from wildtool.models.settings import EndpointOptions, Sampling
from wildtool.types import Model

if TYPE_CHECKING:
    from wildtool.models.providers.base import HttpModel


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
            if value := os.environ.get(match[1], "").strip():
                return value.rstrip("/")
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


_SANDBOX, _STATIC = "sandbox/monty", "static/wordllama"
"""Models that run a script and rank tools in this process."""
DEFAULT_KEY = "OPENAI_API_KEY"
"""The variable whose key goes to a user's address where none is named."""
ENTRY_POINT_OF_PROVIDERS = "wildtool.providers"
OWN_PREFIXES = frozenset({*PRESETS, "baseline", "hf", "inspect", "sandbox", "static", "web"})
"""Prefixes that no package can take."""
MakeModel = Callable[[str, str, "ModelOptions"], Model]
"""Gives the model of a provider: called with its name in records, the name after the prefix, and the user's options."""


def installed_prefixes() -> list[str]:
    """Prefixes that installed packages offer, usable or not, sorted."""
    return sorted(installed_entries(ENTRY_POINT_OF_PROVIDERS).keys() - OWN_PREFIXES)


def provider_of(prefix: str) -> Preset | MakeModel | None:
    """How the models of a prefix are reached, by our table or by an installed package; None for no prefix.

    Raises UsageError where the package's entry point cannot be used.
    """
    if prefix in OWN_PREFIXES:
        return PRESETS.get(prefix)
    entries = installed_entries(ENTRY_POINT_OF_PROVIDERS).get(prefix, ())
    if not entries:
        return None
    first, *rivals = entries
    provider, problem = load_entry(first, _provider_fault)
    if rivals:
        problem = f"{', '.join(map(package_of, rivals))} offers that prefix too; uninstall one of them"
    if problem:
        raise UsageError(f"provider {prefix!r} of package {package_of(first)} cannot be used: {problem}")
    return provider


def _provider_fault(provider: Any) -> str | None:
    if isinstance(provider, Preset) or (callable(provider) and not isinstance(provider, type)):
        return None
    return f"is {type(provider).__name__}; name a Preset of wildtool.models.resolve, or a function that makes models"


def preset_of(name: str) -> tuple[Preset | MakeModel, str] | None:
    """The provider of a model's name and the endpoint's name for it; None for a plain name.

    Raises UsageError as `provider_of`.
    """
    prefix, slash, rest = name.partition("/")
    provider = provider_of(prefix) if slash and rest.strip() else None
    return None if provider is None else (provider, rest)


MAX_FOLDER_CHARACTERS = 100
"""Characters of a folder name; file systems allow 255 bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """What a user may set for a model besides its name."""

    endpoint: EndpointOptions = field(default_factory=EndpointOptions)
    sampling: Sampling = field(default_factory=Sampling)
    display_name: str | None = None
    """The name in records and tables, where it is not the one that the endpoint knows."""
    format: str | None = None
    """Tool-call format for prompting, `auto` to choose it by the model's name; None: native calls."""
    api: Literal["chat", "completions", "embeddings"] = "chat"
    """What it is asked for: answers to messages, the continuation of a raw text, or vectors of texts."""
    open_replies: Callable[[Path, str | None], LoggedReplies] | None = None
    """Opens the record or replies file of `replay:PATH#model`; only the engine can read records."""

    def for_other_role(
        self,
        endpoint: EndpointOptions,
        temperature: float | None,
        max_tokens: int | None = None,
        extra_body: Mapping[str, Any] | None = None,
    ) -> "ModelOptions":
        """Options of a model beside this one, at the same endpoint unless it has its own.

        Args:
            endpoint: the other model's base URL, key variable and headers, where it has any.
            max_tokens: of one reply; None for the provider's limit.
            extra_body: further fields of its requests; None for none.

        An endpoint of its own gets no key and no headers but those named for it, and headers of its own replace those of
        the first model. Temperature, length and further fields of the first model are not passed on; the seed is.
        """
        has_address = endpoint.base_url is not None
        return replace(
            self,
            endpoint=replace(
                endpoint,
                base_url_option="--user-base-url",
                timeout_s=self.endpoint.timeout_s,
                sends=self.endpoint.sends,
                shared=None if has_address else self.endpoint,
                default_key=not has_address and self.endpoint.default_key,
            ),
            sampling=replace(
                self.sampling, temperature=temperature, max_tokens=max_tokens, extra_body=extra_body or {}
            ),
            display_name=None,
            format=None,
            api="chat",
        )


def model_from_name(name: str, options: ModelOptions) -> Model:
    """The model of a name: `baseline/NAME`, `replay:PATH[#MODEL]`, `hf/PATH`, `inspect/PROVIDER/MODEL`, `PREFIX/NAME`,
    or any name that an endpoint knows.

    Raises:
        UsageError: no such baseline or file, no base URL, a named key variable that is not set, no such format, an
            extra that is not installed.
    """
    if name.startswith("--"):
        raise UsageError(f"the name of a model is missing before {name}")
    display_name = options.display_name or name
    if options.api == "completions" and options.format is not None:
        raise UsageError("a model that continues a raw text is sent no tools; leave out --tool-format")
    if name.startswith("hf/"):
        from wildtool.models.local.hf import HfModel, hf_model

        if options.api == "embeddings":
            raise _lacks_api(name, options.api)
        if options.api == "completions":
            return HfModel(display_name, name.removeprefix("hf/"), options.sampling, completion=True)
        return hf_model(display_name, name.removeprefix("hf/"), options.format, options.sampling)
    if options.format is not None and takes_format(name):
        return _prompted_model(name, options, options.format)
    if name.startswith("baseline/"):
        from wildtool.models.baselines import make_baseline

        return make_baseline(name, options.sampling.seed or 0)
    if name.startswith("replay:"):
        return _replay_model(name, options)
    if name == "web/search":
        from wildtool.models.web_search import web_search_model

        return web_search_model()
    if name == _SANDBOX:
        from wildtool.models.sandbox import SandboxModel

        return SandboxModel()
    if name == _STATIC:
        from wildtool.models.local.static import StaticRanker

        if options.api != "embeddings":
            raise UsageError(f"model {name!r} only ranks tools for a search; choose another model to test")
        return StaticRanker()
    if name.startswith("inspect/"):
        if options.api != "chat":
            raise _lacks_api(name, options.api)
        if options.endpoint.headers:
            raise UsageError(
                f"model {name!r} is called by Inspect, which takes no headers from here; leave out the headers, or name "
                "the model with --base-url"
            )
        from wildtool.models.providers.inspect import inspect_model

        return inspect_model(display_name, name.removeprefix("inspect/"), options.sampling)
    if (preset := preset_of(name)) is not None:
        provider, sent_as = preset
        if isinstance(provider, Preset):
            return _preset_model(name, provider, sent_as, options)
        if options.api != "chat":
            raise _lacks_api(name, options.api)
        return provider(display_name, sent_as, options)
    if (preset := _provider_by_name(name, options.endpoint)) is not None:
        prefix, sent_as = preset
        return _preset_model(name, PRESETS[prefix], sent_as, options)
    endpoint, base_url = _endpoint_of(None, options.endpoint)
    if not base_url:
        raise UsageError(_no_endpoint_message(name, endpoint.base_url_option))
    key = _key_of(_key_holder(None, endpoint, base_url), endpoint)
    return _http_model("chat completions", name, base_url, key, replace(options, endpoint=endpoint), name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where what is asked of a model goes, and which key and headers go with it."""

    address: str = ""
    """A base URL, or in words who passes it on; empty: it stays in this process."""
    key: str = ""
    """What holds the key: a variable, or the path of a file; empty: none is sent."""
    key_is_file: bool = False
    is_loopback: bool = False
    """Whether the address is one of this machine."""
    sends_key: bool = False
    """Whether a key is sent: a variable that is not set sends none."""
    headers: tuple[Header, ...] = ()


def destination_of(name: str, options: ModelOptions) -> Destination:
    """Where the model of a name is asked, without making it. Raises UsageError as `model_from_name`."""
    if name.startswith(("baseline/", "replay:")) or name in (_SANDBOX, _STATIC):
        return Destination()
    if name.startswith("hf/"):
        return Destination(address=f"the Hugging Face Hub, or a folder of weights ({name})")
    if name.startswith("inspect/"):
        return Destination(address=f"Inspect ({name}), which finds keys and addresses itself")
    if name == "web/search":
        from wildtool.models.web_search import KEY_VARIABLE, URL_VARIABLE

        key = os.environ.get(KEY_VARIABLE, "")
        return Destination(
            address=os.environ.get(URL_VARIABLE, ""), key=KEY_VARIABLE, sends_key=bool(key.strip())
        )
    provider, _ = preset_of(name) or (None, "")
    if provider is not None and not isinstance(provider, Preset):
        endpoint, prefix = options.endpoint, name.partition("/")[0]
        return Destination(
            address=f"the provider of an installed package ({prefix}/), which may find keys itself",
            key=str(endpoint.api_key_file or endpoint.api_key_env or ""),
            key_is_file=endpoint.api_key_file is not None,
            headers=endpoint.headers,
        )
    if provider is None:
        prefix, _ = _provider_by_name(name, options.endpoint) or ("", "")
        provider = PRESETS.get(prefix)
    endpoint, base_url = _endpoint_of(provider, options.endpoint)
    if not base_url:
        return Destination()
    from wildtool.models.http.endpoint import is_loopback, parse_base_url

    holder = _key_holder(provider, endpoint, base_url)
    return Destination(
        address=base_url,
        key=str(holder or ""),
        key_is_file=isinstance(holder, Path),
        is_loopback=is_loopback(parse_base_url(base_url).host or ""),
        sends_key=isinstance(holder, Path) or bool(holder and os.environ.get(holder, "").strip()),
        headers=endpoint.headers,
    )


def endpoint_note(name: str, options: ModelOptions) -> str | None:
    """Says which endpoint a plain name is sent to, if the name alone chose it; else None."""
    if (
        name.startswith(("hf/", "baseline/", "replay:", "inspect/", "web/search", _SANDBOX, _STATIC))
        or preset_of(name) is not None
    ):
        return None
    provider = _provider_by_name(name, options.endpoint)
    if provider is None:
        return None
    prefix, sent_as = provider
    option = options.endpoint.base_url_option
    at = PRESETS[prefix].url(option)
    as_what = f" as {sent_as}" if sent_as != name else ""
    return (
        f"{name} is called{as_what} at {at} (the same as {prefix}/{sent_as}); for another endpoint give "
        f"{option} URL"
    )


def _provider_by_name(name: str, endpoint: EndpointOptions) -> tuple[str, str] | None:
    """The prefix for a plain name that belongs to one provider, and the name to send; None if an address is given."""
    return None if _plain_address(endpoint) else known_name(name)


def _plain_address(endpoint: EndpointOptions) -> str:
    """The base URL of a plain name; empty where none is given."""
    shared_url = None if endpoint.shared is None else endpoint.shared.base_url
    return endpoint.base_url or shared_url or os.environ.get("OPENAI_BASE_URL", "")


def _no_endpoint_message(name: str, option: str) -> str:
    """The message for a name without an endpoint; most often its prefix is misspelt or nothing follows it."""
    prefix, slash, rest = name.partition("/")
    prefixes = PRESETS.keys() | {"baseline", "hf", "inspect", *installed_prefixes()}
    if prefix in prefixes:
        return f"model {name!r} is a prefix alone; name the model too, such as {prefix}/NAME"
    close = get_close_matches(prefix, prefixes) if slash and not name.startswith(OPENAI_OWNER) else []
    meant = f"did you mean {close[0]}/{rest}? Otherwise " if close else ""
    return (
        f"model {name!r} needs an endpoint: {meant}give one such as {option} http://127.0.0.1:8000/v1, set "
        "OPENAI_BASE_URL, or put a provider before the name, such as openrouter/ (see `wildtool list models`)"
    )


def _preset_model(name: str, preset: Preset, sent_as: str, options: ModelOptions) -> Model:
    """A model of the table of presets. Its key goes only to the table's address, unless the user names a key."""
    endpoint, base_url = _endpoint_of(preset, options.endpoint)
    key = _key_of(_key_holder(preset, endpoint, base_url), endpoint)
    has_secret_header = any(header.variable is not None for header in endpoint.headers)
    needs_key = preset.key_env and endpoint.base_url is None and endpoint.sends and not has_secret_header
    if key is None and needs_key:
        option = endpoint.base_url_option.replace("base-url", "api-key-env")
        raise UsageError(
            f"model {name!r} needs a key: set {preset.key_env}, or name its variable with {option}"
        )
    options = replace(options, endpoint=endpoint)
    return _http_model(preset.protocol, name, base_url, key, options, sent_as, preset.key_header)


def _http_model(
    protocol: Protocol,
    name: str,
    base_url: str,
    key: str | None,
    options: ModelOptions,
    sent_as: str,
    key_header: str | None = None,
) -> Model:
    extra = options.sampling.extra_body
    if extra and (field_of_key := find_key(extra)) is not None:
        raise UsageError(
            f"the extra body holds {field_of_key!r}, but it is recorded, and keys are not; put the key into an "
            "environment variable and name that with --api-key-env"
        )
    if options.api != "chat" and protocol != "chat completions":
        raise _lacks_api(name, options.api)
    adapter, endpoint = _adapter(protocol, options.api), options.endpoint
    return adapter(
        options.display_name or name,
        base_url,
        None if _replaces_key(endpoint, key_header or adapter.key_header) else key,
        options.sampling,
        sent_as=sent_as,
        key_header=key_header,
        extra_headers=endpoint.headers if endpoint.sends else (),
        timeout_s=endpoint.timeout_s,
    )


def _replaces_key(endpoint: EndpointOptions, key_header: str) -> bool:
    """Whether a header of the user's takes the place of the key. Raises UsageError where a key is named, too."""
    name = next((each.name for each in endpoint.headers if each.name.lower() == key_header.lower()), None)
    if name is not None and (endpoint.api_key_env or endpoint.api_key_file):
        raise UsageError(
            f"the header {name} and a key are both given, which is sent in it; leave out one of them"
        )
    return name is not None


def _lacks_api(name: str, api: str) -> UsageError:
    problem, instead = {
        "completions": ("cannot continue a raw text", "or hf/PATH; choose another mode with --mode"),
        "embeddings": ("gives no embeddings", "or leave it out for bm25"),
    }[api]
    return UsageError(f"model {name!r} {problem} here: that needs an endpoint with /{api}, {instead}")


def _adapter(protocol: Protocol, api: str) -> "type[HttpModel]":
    """The class for a protocol; imported here, since the network library is slow to load."""
    match protocol:
        case "chat completions" if api == "completions":
            from wildtool.models.providers.openai_chat import CompletionsModel

            return CompletionsModel
        case "chat completions" if api == "embeddings":
            from wildtool.models.providers.embeddings import EmbeddingsModel

            return EmbeddingsModel
        case "chat completions":
            from wildtool.models.providers.openai_chat import OpenAIModel

            return OpenAIModel
        case "responses":
            from wildtool.models.providers.openai_responses import ResponsesModel

            return ResponsesModel
        case "messages":
            from wildtool.models.providers.anthropic import AnthropicModel

            return AnthropicModel
        case "generateContent":
            from wildtool.models.providers.gemini import GeminiModel

            return GeminiModel


def takes_format(name: str) -> bool:
    """Whether a tool format can be used with the model of that name."""
    return not name.startswith(("baseline/", "replay:"))


def _prompted_model(name: str, options: ModelOptions, format_name: str) -> Model:
    from wildtool.models.prompted import PromptedModel
    from wildtool.tool_formats.detect import resolve_format

    inner = model_from_name(name, replace(options, format=None))
    return PromptedModel(inner, *resolve_format(format_name, name))


def folder_name(name: str) -> str:
    """A safe folder name for a model name: letters, digits, `.`, `_`, `-`; a slash becomes `--`.

    Different names get different folders: if other characters are replaced, a short hash is added.
    """
    folder = re.sub(r"[^A-Za-z0-9._-]", "_", name.replace("/", "--")).lstrip(".")[:MAX_FOLDER_CHARACTERS]
    if folder and folder.replace("--", "/") == name:
        return folder
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{folder}-{digest}" if folder else digest


def _replay_model(name: str, options: ModelOptions) -> ReplayModel:
    place = name.removeprefix("replay:")
    # A path may itself hold a "#", so an existing one is taken whole.
    path, _, model = (place, "", "") if Path(place).exists() else place.rpartition("#")
    if not path or not Path(path).exists():
        raise UsageError(f"{path or place} does not exist; replay: needs a run folder or a replies file")
    if options.open_replies is None:
        raise UsageError("replay: works only in `wildtool run`")
    replies = options.open_replies(Path(path), model or None)
    return ReplayModel(name, replies, {"replies": path, "model": model or None})


def _endpoint_of(preset: Preset | None, endpoint: EndpointOptions) -> tuple[EndpointOptions, str]:
    """The endpoint of a model of a preset, or of a plain name, with what it shares of the tested model's, and its base
    URL; empty where none is given.

    Raises UsageError where a variable that the preset needs is not set.
    """
    base_url = (
        _plain_address(endpoint)
        if preset is None
        else endpoint.base_url or preset.url(endpoint.base_url_option)
    )
    shared = endpoint.shared
    if shared is None or shared.given_at not in (None, base_url):
        return endpoint, base_url
    has_key = endpoint.api_key_env is not None or endpoint.api_key_file is not None
    # A preset has a key of its own.
    if preset is None and not has_key:
        endpoint = replace(endpoint, api_key_env=shared.api_key_env, api_key_file=shared.api_key_file)
    return replace(endpoint, headers=endpoint.headers or shared.headers), base_url


def _key_holder(preset: Preset | None, endpoint: EndpointOptions, base_url: str) -> str | Path | None:
    """The variable or the file whose key an endpoint gets; None where it gets none. What a user named comes first; the
    key of a provider goes to that provider, and where the user points it."""
    if endpoint.api_key_env is not None and endpoint.api_key_file is not None:
        raise UsageError("give the API key by --api-key-env or by --api-key-file, not both")
    holder = endpoint.api_key_file or endpoint.api_key_env
    if holder is not None:
        return holder
    if preset is not None:
        own_url_gets_key = preset.own_url_gets_key and endpoint.default_key
        return preset.key_env if endpoint.base_url is None or own_url_gets_key else None
    if not endpoint.default_key or "@" in re.split(r"[/?#]", base_url.partition("://")[2])[0]:
        # user:password@ is the credential; the default key is not meant for it.
        return None
    return DEFAULT_KEY


def _key_of(holder: str | Path | None, endpoint: EndpointOptions) -> str | None:
    """The key in a variable or a file. Raises UsageError where the user named one that holds none."""
    if holder is None:
        return None
    if isinstance(holder, Path):
        return _key_in_file(holder) if endpoint.sends else None
    if not VARIABLE_NAME.fullmatch(holder):
        raise UsageError(
            "--api-key-env does not name an environment variable; if it is the key itself, put it into one and name that"
        )
    key = os.environ.get(holder, "").strip() or None
    if key is None and endpoint.api_key_env is not None and endpoint.sends:
        raise UsageError(f"{describe_variable(holder)} holds no API key; set it or name another")
    return key


def own_key(base_url: str, endpoint: EndpointOptions) -> str | None:
    """The key that a user named for an address, and no other. Raises UsageError where there is none under that name."""
    named_only = replace(endpoint, default_key=False)
    return _key_of(_key_holder(None, named_only, base_url), named_only)


def _key_in_file(path: Path) -> str:
    try:
        key = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the API key file {path} cannot be read ({type(error).__name__})") from None
    if not key:
        raise UsageError(f"the API key file {path} is empty")
    return key
