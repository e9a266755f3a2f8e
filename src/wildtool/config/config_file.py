"""`wildtool.toml`: named models and defaults of `wildtool run`, checked key by key."""

import re
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from wildtool.config.whitelist import (
    CHECKED_KEYS,
    HARMLESS_KEYS,
    as_file_names,
    body_effects,
    endpoint_in,
    executed_files,
    header_effects,
    model_effects,
    option_effects,
)
from wildtool.errors import DataError, UsageError, unknown_name
from wildtool.models.headers import Header, headers_in_table
from wildtool.models.secrets import VARIABLE_NAME
from wildtool.models.settings import URL_CREDENTIALS, EndpointOptions, Rates
from wildtool.older_names import OLDER_SETTINGS, warn_of_older
from wildtool.other_names import known_settings_meant
from wildtool.secret_places import is_key_name, register_foreign
from wildtool.trust_request import TrustRequest, trust_digest

if TYPE_CHECKING:
    from wildtool.models.resolve import ModelOptions
    from wildtool.models.token_usage import Price

CONFIG_FILE = Path("wildtool.toml")
MOST_BYTES = 1 << 20
"""Of a file that nobody named."""
MODEL_KEYS: Mapping[str, tuple[type, ...]] = {
    "model": (str,),
    "base_url": (str,),
    "api_key_env": (str,),
    "api_key_file": (str,),
    "headers": (dict,),
    "format": (str,),
    "temperature": (int, float),
    "max_tokens": (int,),
    "extra_body": (dict,),
    "stream": (bool,),
    "batch": (bool,),
    "rpm": (int, float),
    "tpm": (int, float),
    "prices": (dict,),
}
"""Keys of a table `[models.NAME]`, with their types."""
SAMPLING_KEYS = ("temperature", "max_tokens", "extra_body", "stream")
"""Keys that are fields of `Sampling`."""
TYPE_PHRASES = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a table",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """A table `[models.NAME]`: a model that the user named. None: not set there."""

    model: str
    endpoint: EndpointOptions = field(default_factory=EndpointOptions)
    sampling: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The fields of `Sampling` that are set."""
    format: str | None = None
    batch: bool | None = None
    rates: Rates = field(default_factory=Rates)
    price: "Price | None" = None
    more_keys: tuple[str, ...] = ()
    """Keys that are set and that the whitelist does not know."""
    config: "Config | None" = field(default=None, compare=False, repr=False)
    """The file that it stands in, which must be trusted if nobody named it."""

    def merged(self, name: str, options: "ModelOptions", explicit: Collection[str]) -> "ModelOptions":
        """The options of this model: the command line first, then its table, then `[run]`.

        A key and headers are sent only to the address that they were named with.

        Args:
            name: of its table.
            options: those of the command.
            explicit: names of those that were typed.
        """
        from wildtool.models.resolve import preset_of

        own, changes = self.endpoint, dict[str, Any]()
        keyed = bool({"api_key_env", "api_key_file"} & set(explicit))
        own_key = {"api_key_env": own.api_key_env, "api_key_file": own.api_key_file}
        if "base_url" in explicit:
            if not keyed:
                changes |= {"api_key_env": None, "api_key_file": None}
            if "header" not in explicit:
                changes["headers"] = ()
        else:
            alone = own.base_url is not None or preset_of(self.model) is not None
            if alone:
                changes |= {"base_url": own.base_url, "shared": None, "default_key": own.base_url is None}
            if not keyed and (alone or any(own_key.values())):
                changes |= own_key
            if "header" not in explicit and (alone or own.headers):
                changes["headers"] = own.headers
        sampling = {option: value for option, value in self.sampling.items() if option not in explicit}
        return replace(
            options,
            endpoint=replace(options.endpoint, **changes),
            sampling=replace(options.sampling, **sampling),
            display_name=name,
            format=options.format if self.format is None or "tool_format" in explicit else self.format,
        )

    def effects(self, merged: "ModelOptions", typed_address: str | None, folder: Path) -> list[str]:
        """What to ask this model does beyond what needs no trust, each in words after "would".

        Args:
            merged: its options (`merged`).
            typed_address: base URL of the command line; None if none was typed.
            folder: that paths are relative to.
        """
        effects = model_effects(self.model, merged, folder, typed_address)
        if merged.endpoint.headers is self.endpoint.headers:
            effects += header_effects(self.endpoint.headers)
        if self.price is not None and not effects and model_effects(self.model, merged, folder):
            effects.append("set the prices that --max-cost counts with")
        effects += [f"set {key} of a model" for key in self.more_keys]
        return [*effects, *body_effects(self.sampling.get("extra_body", {}))]

    def demand_trust(self, merged: "ModelOptions", typed_address: str | None) -> None:
        """Raises UsageError where its file must be trusted to ask it, and is not. Args: as of `effects`."""
        if self.config is not None and not self.config.is_named:
            self.config.demand_trust(self.effects(merged, typed_address, Path()))


@dataclass(frozen=True, slots=True)
class Config:
    """The contents of the file; empty without one."""

    path: Path | None = None
    run: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Table `[run]`, unchecked: only the verb knows its options."""
    models: Mapping[str, ModelEntry] = field(default_factory=dict[str, ModelEntry])
    text: str = ""
    is_named: bool = True
    """Whether the user named the file, which makes it trusted."""

    def demand_trust(self, effects: Sequence[str]) -> None:
        """Returns where nothing needs trust, or the file is trusted, after a question at a terminal. Raises UsageError.

        Args:
            effects: what a command is about to do because of the file, each in words after "would".
        """
        if effects and not self.is_named:
            self.trust_request().demand(effects)

    def check_options(self, values: Mapping[str, Any], chosen: Collection[str]) -> None:
        """Raises UsageError where the file must be trusted for what its table `[run]` sets, and is not.

        Args:
            values: of all options, by the names of their parameters.
            chosen: names of those that the file sets and nobody typed.
        """
        if not self.is_named and chosen:
            its = as_file_names(values)
            names = as_file_names(dict.fromkeys(chosen))
            self.demand_trust(option_effects(its, names, self.models, Path()))

    def trust_request(self) -> TrustRequest:
        """Everything that the file would do, and the hash by which it is trusted."""
        path = self.path or CONFIG_FILE
        folder = path.parent
        commands = [str(self.run["server"])] if "server" in self.run else []
        executed = executed_files(self.run.get("benchmark"), commands, folder)
        digest = trust_digest(self.text.encode(), executed)
        return TrustRequest(
            name=str(path),
            effects=tuple(self._effects(folder)),
            digest=digest,
            advice=f"Or name the file (--config {path}), or allow it once at a terminal with `wildtool trust`; in "
            f"Python: wildtool.trust({str(path)!r}, {digest!r}).",
        )

    def _effects(self, folder: Path) -> Iterator[str]:
        """All that the file would do if nothing were typed."""
        from wildtool.models.resolve import ModelOptions

        yield from option_effects(self.run, self.run.keys(), self.models, folder)
        options = ModelOptions(endpoint=endpoint_in(self.run))
        for name, entry in self.models.items():
            yield from entry.effects(entry.merged(name, options, ()), None, folder)

    def error_at(self, keys: Iterable[str], message: str) -> UsageError:
        """An error at a place in the file, which may have the older name of a setting."""
        path = tuple(keys)
        line = _line(self.text, path)
        older = next((older for older, name in OLDER_SETTINGS.items() if path == ("run", name)), None)
        if line is None and older is not None and (line := _line(self.text, ("run", older))) is not None:
            path = ("run", older)
        place = f"{self.path}, line {line}" if line else f"{self.path}"
        return UsageError(f"{place}: {'.'.join(path)}: {message}")


def read_config(file: Path | None) -> Config:
    """The named file, or `wildtool.toml` in this folder, or an empty config.

    Raises UsageError that names file, line and key of anything invalid.
    """
    path = file or CONFIG_FILE
    if file is None:
        if not path.exists():
            return Config()
        _check_unnamed(path)
    # Loaded only if there is a file: every command calls this.
    from wildtool.data.files import MAX_SETTINGS_BYTES, parse_toml, read_text

    try:
        text = read_text(path, MAX_SETTINGS_BYTES)
        parsed = parse_toml(path, text)
    except DataError as error:
        raise UsageError(str(error)) from None
    models: dict[str, ModelEntry] = {}
    run: dict[str, Any] = {}
    config = Config(path, run, models, text, is_named=file is not None)
    _check_texts(config, parsed, ())
    tables: dict[str, dict[str, Any]] = {}
    for name, table in parsed.items():
        if name not in ("run", "models"):
            raise config.error_at([name], unknown_key_message(name, ("run", "models")))
        if not isinstance(table, dict):
            raise config.error_at([name], f"must be a table, such as [{name}]")
        tables[name] = cast(dict[str, Any], table)
    # Each entry knows its file, so the file's tables are filled in once it is there.
    run |= _settings_of_today(config, tables.get("run", {}))
    models |= {name: _entry(config, name, table) for name, table in tables.get("models", {}).items()}
    return config


def _settings_of_today(config: Config, table: Mapping[str, Any]) -> dict[str, Any]:
    """The table `[run]` with today's names. Raises UsageError where a setting is there under both."""
    settings: dict[str, Any] = {}
    for key, value in table.items():
        name = OLDER_SETTINGS.get(key, key)
        if name != key:
            if name in table:
                raise config.error_at(
                    ["run", key], f"is the older name of {name}, which is there too; keep one"
                )
            warn_of_older(f"{config.path}: run.{key}", f"run.{name}")
        settings[name] = value
    return settings


def _check_unnamed(path: Path) -> None:
    """Raises UsageError for what is no file that a person wrote: to read it could block, or fill the memory."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
        raise UsageError(
            f"{path}: is no regular file of at most {MOST_BYTES:,} bytes; remove it, or name another one with --config"
        )


def trust_request_of(path: Path) -> TrustRequest:
    """Everything that a config file would do that nobody names, and the hash by which it is trusted.

    Args:
        path: the file, or its folder.

    Raises UsageError where there is none, or it is invalid.
    """
    return read_config(path / CONFIG_FILE if path.is_dir() else path).trust_request()


def unknown_key_message(name: str, keys: Iterable[str]) -> str:
    """The message about an unknown key."""
    names = sorted(keys)
    meant = known_settings_meant(name, names) or get_close_matches(name.replace("-", "_"), names, 1)
    advice = f"did you mean {' or '.join(meant)}?" if meant else f"known keys: {', '.join(names)}"
    return f"unknown key; {advice}"


def _entry(config: Config, name: str, table: Any) -> ModelEntry:
    from wildtool.engine.call.budget import parse_price

    place = ("models", name)
    if not isinstance(table, dict):
        raise config.error_at(place, "must be a table with at least `model`")
    if not name.strip():
        raise config.error_at(place, "a model needs a name")
    values = cast(dict[str, Any], table)
    for key, value in values.items():
        if key not in MODEL_KEYS:
            raise config.error_at((*place, key), unknown_key_message(key, MODEL_KEYS))
        check_type(config, (*place, key), value, MODEL_KEYS[key])
    for key in ("rpm", "tpm"):
        if key in values and not values[key] > 0:
            raise config.error_at((*place, key), "must be more than 0")
    _check_format(config, (*place, "format"), values.get("format"))
    if not str(values.get("model", "")).strip():
        raise config.error_at(place, 'needs `model`, such as model = "openai-chat/gpt-4o"')
    prices = values.get("prices")
    where = f"{config.path}: models.{name}.prices"
    file = values.get("api_key_file")
    return ModelEntry(
        model=values["model"],
        endpoint=EndpointOptions(
            base_url=values.get("base_url"),
            api_key_env=values.get("api_key_env"),
            api_key_file=None if file is None else Path(file),
            headers=_headers(config, (*place, "headers"), values.get("headers", {})),
        ),
        sampling={name: values[name] for name in SAMPLING_KEYS if name in values},
        format=values.get("format"),
        batch=values.get("batch"),
        rates=Rates(rpm=values.get("rpm"), tpm=values.get("tpm")),
        price=None if prices is None else parse_price(where, prices, str(config.path)),
        more_keys=tuple(key for key in values if key not in HARMLESS_KEYS | CHECKED_KEYS),
        config=config,
    )


def _headers(config: Config, place: tuple[str, ...], table: Any) -> tuple[Header, ...]:
    try:
        return headers_in_table(table)
    except UsageError as error:
        raise config.error_at(place, str(error)) from None


def _check_format(config: Config, place: tuple[str, ...], name: str | None) -> None:
    if name is None:
        return
    from wildtool.tool_formats import CALL_FORMATS
    from wildtool.tool_formats.detect import AUTO

    if name not in (AUTO, *CALL_FORMATS):
        raise config.error_at(place, unknown_name("format", name, (*CALL_FORMATS, AUTO)))


def check_type(config: Config, place: tuple[str, ...], value: Any, types: tuple[type, ...]) -> None:
    """Raises UsageError if a value has none of these types; true is not a number."""
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise config.error_at(place, f"must be {TYPE_PHRASES[types[-1]]}")


_ADVICE = "put it into an environment variable and name that with api_key_env"


def _check_texts(config: Config, value: Any, place: tuple[str, ...]) -> None:
    """Refuses API keys, which must not be in this file, and what no path and no variable can hold. Never repeats a
    value."""
    if isinstance(value, dict):
        for name, inner in cast(dict[str, Any], value).items():
            _check_name(config, inner, (*place, name))
            _check_texts(config, inner, (*place, name))
    elif isinstance(value, list):
        for inner in cast(list[Any], value):
            _check_texts(config, inner, place)
    elif isinstance(value, str):
        register_foreign(value)
        if "\0" in value:
            raise config.error_at(place, "contains the character U+0000; remove it")
        if URL_CREDENTIALS.search(value):
            raise config.error_at(place, f"contains a login in an address; {_ADVICE}")


def _check_name(config: Config, value: Any, place: tuple[str, ...]) -> None:
    """Refuses a name that says that its value is a key."""
    name = place[-1]
    if len(place) == 2 and place[0] == "models":
        return  # a model may have any name
    if len(place) == 4 and place[0] == "models" and place[2] == "headers":
        return  # names of headers have a rule of their own
    if is_key_name(name):
        raise config.error_at(place, f"do not keep a key in a file that others may read; {_ADVICE}")
    if name.endswith("api_key_env") and isinstance(value, str) and not VARIABLE_NAME.fullmatch(value):
        raise config.error_at(place, f"is not a variable name; if it is the key itself, {_ADVICE}")


def _line(text: str, path: tuple[str, ...]) -> int | None:
    """The line of a key, or of its table's header; None if the file uses another notation."""
    table: list[str] = []
    line_number: int | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[([^\[\]]+)\]\s*(#.*)?$", line):
            table = _split_key(header[1])
            if line_number is None and table[: len(path)] == list(path):
                line_number = number
        elif (key := re.match(r"""\s*([^=#]+?)\s*=""", line)) and [*table, *_split_key(key[1])] == list(path):
            return number
    return line_number


def _split_key(dotted: str) -> list[str]:
    """The names in a dotted key."""
    return [
        name.strip()[1:-1] if name.strip()[:1] in ("'", '"') else name.strip()
        for name in re.findall(r"""(?:"[^"]*"|'[^']*'|[^.])+""", dotted)
    ]
