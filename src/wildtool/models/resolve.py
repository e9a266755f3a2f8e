"""Makes the model that a name stands for."""

import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from wildtool.errors import UsageError
from wildtool.models.presets import OPENAI_OWNER, PRESETS, Preset, Protocol, known_name, preset_of
from wildtool.models.replay import RecordedReplies, ReplayModel
from wildtool.models.secrets import VARIABLE_NAME, describe_variable, find_key
from wildtool.models.settings import EndpointOptions, Sampling
from wildtool.types import Model

if TYPE_CHECKING:
    from wildtool.models.providers.base import HttpModel

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
    open_replies: Callable[[Path, str | None], RecordedReplies] | None = None
    """Opens the record or replies file of `replay:PATH#model`; only the engine can read records."""

    def for_other_role(self, endpoint: EndpointOptions, temperature: float | None) -> "ModelOptions":
        """Options of a model beside this one, at the same endpoint unless it has its own.

        Args:
            endpoint: the other model's base URL and key variable, where it has any.

        An endpoint of its own gets no key but one named for it. Temperature, length and further fields of the first
        model are not passed on; the seed is.
        """
        own = endpoint.base_url is not None
        shared = not own and endpoint.api_key_env is None
        return replace(
            self,
            endpoint=replace(
                self.endpoint,
                base_url=endpoint.base_url if own else self.endpoint.base_url,
                base_url_option="--user-base-url",
                api_key_env=self.endpoint.api_key_env if shared else endpoint.api_key_env,
                api_key_file=self.endpoint.api_key_file if shared else None,
                shared=shared,
                default_key=not own and self.endpoint.default_key,
            ),
            sampling=replace(self.sampling, temperature=temperature, max_tokens=None, extra_body={}),
            display_name=None,
            format=None,
        )


def model_from_name(name: str, options: ModelOptions) -> Model:
    """The model of a name: `baseline/NAME`, `replay:PATH[#MODEL]`, `hf/PATH`, `inspect/PROVIDER/MODEL`, `PREFIX/NAME`,
    or any name that an endpoint knows.

    Raises:
        UsageError: no such baseline or file, no base URL, a named key variable that is not set, no such format, an
            extra that is not installed.
    """
    display_name = options.display_name or name
    if name.startswith("hf/"):
        from wildtool.models.local.hf import hf_model

        return hf_model(display_name, name.removeprefix("hf/"), options.format, options.sampling)
    if options.format is not None and takes_format(name):
        return _prompted_model(name, options, options.format)
    if name.startswith("baseline/"):
        from wildtool.models.baselines import make_baseline

        return make_baseline(name, options.sampling.seed or 0)
    if name.startswith("replay:"):
        return _replay_model(name, options)
    if name.startswith("inspect/"):
        from wildtool.models.providers.inspect import inspect_model

        return inspect_model(display_name, name.removeprefix("inspect/"), options.sampling)
    if (found := preset_of(name)) is not None:
        return _preset_model(name, *found, options)
    if (found := _provider_by_name(name, options.endpoint)) is not None:
        prefix, sent_as = found
        return _preset_model(name, PRESETS[prefix], sent_as if sent_as != name else None, options)
    endpoint = options.endpoint
    base_url = endpoint.base_url or os.environ.get("OPENAI_BASE_URL")
    if not base_url:
        raise UsageError(_no_endpoint_message(name, endpoint.base_url_option))
    return _http_model("chat completions", name, base_url, _api_key(endpoint, base_url), options)


def endpoint_note(name: str, options: ModelOptions) -> str | None:
    """Says which endpoint a plain name is sent to, if the name alone chose it; else None."""
    if name.startswith(("hf/", "baseline/", "replay:", "inspect/")) or preset_of(name) is not None:
        return None
    found = _provider_by_name(name, options.endpoint)
    if found is None:
        return None
    prefix, sent_as = found
    option = options.endpoint.base_url_option
    at = PRESETS[prefix].url(option)
    as_what = f" as {sent_as}" if sent_as != name else ""
    return (
        f"{name} is called{as_what} at {at} (the same as {prefix}/{sent_as}); for another endpoint give "
        f"{option} URL"
    )


def _provider_by_name(name: str, endpoint: EndpointOptions) -> tuple[str, str] | None:
    """The prefix for a plain name that belongs to one provider, and the name to send; None if an address is given."""
    return None if endpoint.base_url or os.environ.get("OPENAI_BASE_URL") else known_name(name)


def _no_endpoint_message(name: str, option: str) -> str:
    """The message for a name without an endpoint; most often its prefix is misspelt or nothing follows it."""
    prefix, slash, rest = name.partition("/")
    known = PRESETS.keys() | {"baseline", "hf", "inspect"}
    if prefix in known and not rest.strip():
        return f"model {name!r} is a prefix alone; name the model too, such as {prefix}/NAME"
    close = get_close_matches(prefix, known, 1) if slash and not name.startswith(OPENAI_OWNER) else []
    meant = f"did you mean {close[0]}/{rest}? Otherwise " if close else ""
    return (
        f"model {name!r} needs an endpoint: {meant}give one such as {option} http://127.0.0.1:8000/v1, set "
        "OPENAI_BASE_URL, or put a provider before the name, such as openrouter/ (see `wildtool list models`)"
    )


def _preset_model(name: str, preset: Preset, sent_as: str | None, options: ModelOptions) -> Model:
    """A model of the table of presets. Its key goes only to the table's address, unless the user names a key."""
    endpoint = options.endpoint
    if endpoint.shared:
        endpoint = replace(endpoint, base_url=None, api_key_env=None, api_key_file=None)
    base_url = endpoint.base_url or preset.url(endpoint.base_url_option)
    named = endpoint.api_key_env is not None or endpoint.api_key_file is not None
    key = None
    if named:
        key = _api_key(endpoint, base_url)
    elif preset.key_env and (endpoint.base_url is None or preset.own_url_gets_key):
        key = os.environ.get(preset.key_env, "").strip() or None
        if key is None and endpoint.base_url is None:
            option = endpoint.base_url_option.replace("base-url", "api-key-env")
            raise UsageError(
                f"model {name!r} needs a key: set {preset.key_env}, or name its variable with {option}"
            )
    return _http_model(
        preset.protocol, name, base_url, key, options, sent_as=sent_as, key_header=preset.key_header
    )


def _http_model(
    protocol: Protocol,
    name: str,
    base_url: str,
    key: str | None,
    options: ModelOptions,
    *,
    sent_as: str | None = None,
    key_header: str | None = None,
) -> Model:
    extra = options.sampling.extra_body
    if extra and (field_of_key := find_key(extra)) is not None:
        raise UsageError(
            f"the extra body holds {field_of_key!r}, but it is recorded, and keys are not; put the key into an "
            "environment variable and name that with --api-key-env"
        )
    display_name = options.display_name or name
    return _adapter(protocol)(
        display_name,
        base_url,
        key,
        options.sampling,
        sent_as=name if sent_as is None and display_name != name else sent_as,
        key_header=key_header,
        timeout_s=options.endpoint.timeout_s,
    )


def _adapter(protocol: Protocol) -> "type[HttpModel]":
    """The class for a protocol; imported here, since the network library is slow to load."""
    match protocol:
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


def _prompted_model(name: str, options: ModelOptions, wanted: str) -> Model:
    from wildtool.models.prompted import PromptedModel
    from wildtool.models.tool_formats.detect import AUTO, resolve_format

    inner = model_from_name(name, replace(options, format=None))
    return PromptedModel(inner, resolve_format(wanted, name), AUTO if wanted == AUTO else "by option")


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


def _api_key(endpoint: EndpointOptions, base_url: str) -> str | None:
    if endpoint.api_key_env is not None and endpoint.api_key_file is not None:
        raise UsageError("give the API key by --api-key-env or by --api-key-file, not both")
    if endpoint.api_key_file is not None:
        return _key_in_file(endpoint.api_key_file)
    if endpoint.api_key_env is not None:
        if not VARIABLE_NAME.fullmatch(endpoint.api_key_env):
            raise UsageError(
                "--api-key-env does not name an environment variable; if it is the key itself, put it into one and "
                "name that"
            )
        if key := os.environ.get(endpoint.api_key_env, "").strip():
            return key
        raise UsageError(
            f"{describe_variable(endpoint.api_key_env)} holds no API key; set it or name another"
        )
    if not endpoint.default_key:
        return None
    if "@" in re.split(r"[/?#]", base_url.partition("://")[2])[0]:
        # user:password@ is the credential; the default key is not meant for it.
        return None
    return os.environ.get("OPENAI_API_KEY", "").strip() or None


def _key_in_file(path: Path) -> str:
    try:
        key = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the API key file {path} cannot be read ({type(error).__name__})") from None
    if not key:
        raise UsageError(f"the API key file {path} is empty")
    return key
