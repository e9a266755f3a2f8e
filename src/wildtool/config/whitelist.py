"""What a `wildtool.toml` that nobody named, or the job of a run in a store, may choose without trust. It is a whitelist:
an option that is not in a table here needs trust."""

import json
import os
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from wildtool.errors import UsageError
from wildtool.models.headers import Header, parse_headers
from wildtool.models.settings import EndpointOptions, address_without_login
from wildtool.outputs import is_remote

if TYPE_CHECKING:
    from wildtool.models.resolve import ModelOptions

HARMLESS_OPTIONS = frozenset(
    (
        "temperature", "max_tokens", "seed", "repeats", "stream", "batch", "sampling", "format", "tool_format",
        "user_temperature", "user_max_tokens", "judge_max_tokens", "retriever_top_k", "among_top_k",
        "concurrency", "rpm", "tpm", "user_rpm", "user_tpm", "max_cost", "max_tokens_total", "deadline", "timeout",
        "retries", "order", "limit", "sample", "sample_seed", "ids", "split", "lang", "profile", "mode", "prompts",
        "failures", "failures_seed", "noise", "noise_seed", "inject", "inject_seed", "history",
        "among", "among_kinds", "among_seed", "expose", "available", "dry_run", "quiet", "no_check", "sort",
    )
)  # fmt: skip
"""Options that only choose what is measured, how models are sampled, and limits; as the file names them."""
FILE_OPTIONS = ("data", "hints", "rationale", "among_tools")
"""Options whose value may be a file that is read: harmless inside the folder."""
MODEL_OPTIONS: Mapping[str, str] = {
    "model": "",
    "user_model": "user_",
    "tools_model": "tools_",
    "judge": "judge_",
    "retriever": "retriever_",
    "among_retriever": "among_",
}
"""Options that name a model, with what the options of its own address and key begin with. Harmless where what is asked
stays in this process, or goes to this machine without a key."""
ENDPOINT_OPTIONS = frozenset(
    f"{prefix}{name}" for prefix in MODEL_OPTIONS.values() for name in ("base_url", "api_key_env", "header")
) | {"api_key_file"}
"""Options of addresses, keys and headers, which are judged with the models that they belong to."""
CHECKED_OPTIONS = frozenset(("out", "benchmark", "extra_body"))
"""Options whose value decides."""
TRUSTED_OPTIONS: Mapping[str, str] = {
    "agent": "start the agent {}",
    "server": "start `{}` for each worker",
    "on": "start workers (--on {})",
    "cache": "answer requests from replies that are kept in {}",
    "mcp_header": "add headers to what it asks an MCP server",
    "mcp_env": "give an MCP server that it starts the variables {}",
    "prices": "set the prices that --max-cost counts with, by {}",
    "force": "overwrite files that wildtool did not make (--force)",
    "config": "name the models of {}",
}
"""Options that always need trust, with what they do."""
HARMLESS_KEYS = frozenset(("temperature", "max_tokens", "stream", "batch", "rpm", "tpm", "format"))
"""Keys of a model's table that only choose how it is sampled, and limits."""
CHECKED_KEYS = frozenset(
    ("model", "base_url", "api_key_env", "api_key_file", "headers", "extra_body", "prices")
)
"""Keys of a model's table whose value decides."""
SAMPLING_FIELDS = frozenset(
    (
        "top_p", "top_k", "min_p", "typical_p", "presence_penalty", "frequency_penalty", "repetition_penalty", "stop",
        "logprobs", "top_logprobs", "reasoning_effort", "enable_thinking", "chat_template_kwargs",
    )
)  # fmt: skip
"""Fields of an extra body that only choose how a model is sampled; others can name tools, addresses and other models."""
BENCHMARK_SUFFIX = ".py"
RETRIEVERS = ("bm25", "own")
"""What finds tools without a model of its own."""
_ANY_MODEL = "NAME"


def option_effects(
    values: Mapping[str, Any], chosen: Collection[str], entries: Collection[str], folder: Path
) -> list[str]:
    """What options of `wildtool run` do beyond what needs no trust, each in words after "would".

    Args:
        values: of all options, by their names in the file.
        chosen: names of those that the file or the job chose.
        entries: names of models of a file, which are judged where they are used (`entry_effects`).
        folder: that paths are relative to.
    """
    effects: list[str] = []
    for name in sorted(chosen):
        value = values.get(name)
        if value is not None and name not in (*HARMLESS_OPTIONS, *MODEL_OPTIONS, *ENDPOINT_OPTIONS):
            effects += _option_effect(name, value, folder)
        elif value and name.endswith("header"):
            headers = _headers_in(value)
            effects += ["add headers to every request"] if headers is None else header_effects(headers)
    return [*effects, *_endpoint_effects(values, chosen, entries, folder)]


def _option_effect(name: str, value: Any, folder: Path) -> Iterator[str]:
    if name == "out":
        place = folder / str(value)
        if not lies_inside(value, folder):
            yield f"write to {value}"
        elif link := next(_links_out(place, folder), None):
            yield f"write to {value}, through the link {link}"
    elif name == "benchmark":
        if str(value).endswith(BENCHMARK_SUFFIX):
            yield f"execute the Python file {value}"
    elif name == "extra_body":
        yield from body_effects(value)
    elif name in FILE_OPTIONS:
        if effect := server_effect(name, str(value)):
            yield effect
        elif not lies_inside(str(value).removeprefix("shuffled:"), folder):
            yield f"read {value}"
    elif value is not False:
        yield TRUSTED_OPTIONS.get(name, f"set --{name.replace('_', '-')} to {{}}").format(value)


def server_effect(name: str, value: str) -> str:
    """What an option does that names a server of tools; empty for any other."""
    from wildtool.tools.sources.mcp import STDIO, is_server  # not for each command that reads no such file

    if name != "among_tools" or not is_server(value):
        return ""
    return f"start `{value.removeprefix(STDIO)}`" if value.startswith(STDIO) else f"ask {value} for its tools"


def lies_inside(path: Any, folder: Path) -> bool:
    """Whether a path leads to a place in a folder, symbolic links followed, and is no address."""
    place = Path(str(path))
    if place.is_absolute() or ".." in place.parts or is_remote(place):
        return False
    try:
        return (folder / place).resolve().is_relative_to(folder.resolve())
    except ValueError:
        return False  # a text that no path can be


def _links_out(place: Path, folder: Path) -> Iterator[Path]:
    """Symbolic links below a place that lead out of a folder."""
    for parent, folders, files in os.walk(place):
        paths = (Path(parent, name) for name in (*folders, *files))
        yield from (path for path in paths if not path.resolve().is_relative_to(folder.resolve()))


def body_effects(body: Any) -> list[str]:
    """What further fields of requests do. Args: body: a table, or its JSON."""
    try:
        fields = json.loads(body) if isinstance(body, str) else body
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        return []  # it is refused before anything is sent
    found = cast(dict[str, Any], fields)
    added = [name for name, value in found.items() if name not in SAMPLING_FIELDS or not _is_flat(value)]
    return [f"add the fields {', '.join(added)} to every request"] if added else []


def header_effects(headers: Iterable[Header]) -> list[str]:
    """What headers do whose values were given themselves, wherever they go: a gateway may take another address or model
    from one. Those of variables are named with the address (`model_effects`)."""
    names = [header.name for header in headers if header.variable is None]
    return [f"add the headers {', '.join(names)} to every request"] if names else []


def _headers_in(value: Any) -> tuple[Header, ...] | None:
    """The headers of an option; None where they are refused before anything is sent."""
    texts = cast(list[Any], value) if isinstance(value, list) else [value]
    try:
        return parse_headers([str(text) for text in texts])
    except UsageError:
        return None


def _is_flat(value: Any) -> bool:
    """Whether a value is a scalar, or holds nothing but scalars."""
    inner: Iterable[Any] = ()
    if isinstance(value, dict):
        inner = cast(dict[str, Any], value).values()
    elif isinstance(value, list):
        inner = cast(list[Any], value)
    return not any(isinstance(each, dict | list) for each in inner)


def _endpoint_effects(
    values: Mapping[str, Any], chosen: Collection[str], entries: Collection[str], folder: Path
) -> Iterator[str]:
    """What the models, addresses and keys do that were chosen."""
    from wildtool.models.resolve import ModelOptions

    tested = ModelOptions(endpoint=endpoint_in(values))
    shared = {"base_url", "api_key_env", "api_key_file", "header"}
    for option, prefix in MODEL_OPTIONS.items():
        own = {f"{prefix}{name}" for name in ("base_url", "api_key_env", "header")} if prefix else shared
        options = tested if not prefix else tested.for_other_role(endpoint_in(values, prefix), None)
        # Without an address of its own a model is asked at that of the tested one.
        places = own | (shared if values.get(f"{prefix}base_url") is None else set[str]())
        value: Any = values.get(option) or []
        names = cast(list[Any], value) if isinstance(value, list) else [value]
        for name in map(str, names):
            is_entry = name in entries
            if places & set(chosen):
                yield from model_effects(_ANY_MODEL if is_entry else name, options, folder)
            elif option in chosen and not is_entry:
                yield from model_effects(name, options, folder)
        if not names and own & set(chosen):
            yield from _unnamed_model_effects(options, folder)


def _unnamed_model_effects(options: "ModelOptions", folder: Path) -> Iterator[str]:
    """What an address, a key or a header does for a model that is named later."""
    endpoint = options.endpoint
    if endpoint.base_url is not None:
        yield from model_effects(_ANY_MODEL, options, folder)
        return
    where = "the model that you name"
    if key := endpoint.api_key_file or endpoint.api_key_env:
        yield f"send {_key_in_words(str(key), is_file=key == endpoint.api_key_file)} to {where}"
    yield from _secret_headers(endpoint.headers, where)


def _secret_headers(headers: Iterable[Header], where: str) -> list[str]:
    return [
        f"send {header.variable} to {where}, in the header {header.name}"
        for header in headers
        if header.variable is not None
    ]


def endpoint_in(values: Mapping[str, Any], prefix: str = "") -> EndpointOptions:
    """The address, the key and the headers that options name. Args: prefix: of those of a role (`MODEL_OPTIONS`)."""
    key_file = None if prefix else values.get("api_key_file")
    base_url = values.get(f"{prefix}base_url")
    return EndpointOptions(
        base_url=None if base_url is None else str(base_url).replace("{port}", "0"),
        api_key_env=values.get(f"{prefix}api_key_env"),
        api_key_file=None if key_file is None else Path(str(key_file)),
        headers=_headers_in(values.get(f"{prefix}header") or []) or (),
    )


def model_effects(
    name: str, options: "ModelOptions", folder: Path, typed_address: str | None = None
) -> list[str]:
    """What asking the model of a name does beyond this process, this machine without a key, and an address that was
    typed."""
    from wildtool.models.resolve import destination_of

    if name.startswith("replay:"):
        place = name.removeprefix("replay:")
        inside = lies_inside(place, folder) and lies_inside(place.rpartition("#")[0] or place, folder)
        return [] if inside else [f"read the replies of {place}"]
    if name in RETRIEVERS:
        return []
    try:
        destination = destination_of(name, options)
    except UsageError:
        return [f"call the model {name}"]  # whatever keeps it from being called now
    if not destination.address or destination.address == typed_address:
        return []
    where = address_without_login(destination.address)
    secret_headers = _secret_headers(destination.headers, where)
    if destination.is_loopback and not destination.sends_key:
        return secret_headers
    if not destination.key:
        return secret_headers or [f"call {where}"]
    key = _key_in_words(destination.key, is_file=destination.key_is_file)
    return [f"send {key} to {where}", *secret_headers]


def _key_in_words(key: str, *, is_file: bool) -> str:
    return f"the key in the file {key}" if is_file else key


def executed_files(benchmark: Any, commands: Iterable[str], folder: Path) -> dict[str, bytes]:
    """By path the bytes of what is executed and lies in a folder: a benchmark's file, and scripts that commands name,
    with the Python files beside each, which it may import."""
    paths = {folder / str(benchmark)} if str(benchmark).endswith(BENCHMARK_SUFFIX) else set[Path]()
    for command in commands:
        paths |= {folder / word for word in _file_words(command)}
    root = folder.resolve()
    own = {path.resolve() for path in paths if _is_file(path)}
    for path in list(own):
        if path.suffix == BENCHMARK_SUFFIX:
            own |= {beside.resolve() for beside in path.parent.glob(f"*{BENCHMARK_SUFFIX}")}
    inside = (path for path in own if path.is_relative_to(root) and path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in inside}


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False  # a word that is no name of a file


def _file_words(command: str) -> Iterator[str]:
    """What in a command may be the path of a file."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    for number, word in enumerate(words):
        yield from (word, word.rpartition("=")[2])
        if number and words[number - 1] == "-m":
            module = word.replace(".", "/")
            yield from (f"{module}.py", f"{module}/__main__.py", f"{module}/__init__.py")


def as_file_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by the names of parameters, by their names in the file."""
    return {name.rstrip("_"): value for name, value in values.items()}
