"""The command-line agents that wildtool knows: how each is started, pointed at the two doors, and what it does to them.

`templates.toml` holds the data; this module reads and checks it.
"""

import re
import shlex
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from wildtool.agents.agent import WIRES, Traits, Wire
from wildtool.errors import DataError, unknown_name
from wildtool.json_codec import as_list, as_object, dumps, replace_surrogates, values_inside

DriverName = Literal["stream-json", "app-server", "rpc", "acp", "once"]
FILE = Path(__file__).with_name("templates.toml")
AGENT_SLOTS = frozenset(
    {
        *("base_url", "mcp_url", "model", "instructions", "key"),
        *("home", "work", "tmp", "session"),
    }
)
"""What the texts of a template may name in braces."""
TURN_SLOTS = frozenset({"prompt", "turn"})
"""What a command may name, too, that is started for each turn."""
_CHOICES: Mapping[str, tuple[str, ...]] = {"driver": get_args(DriverName), "wire": WIRES}
_MORE: Mapping[str, frozenset[str]] = {
    "stream-json": frozenset(),
    "rpc": frozenset(),
    "acp": frozenset({"own_server", "message_ids", "mode", "meta", "error_texts"}),
}
"""By driver what `more` may hold; what the others find there they send as it is."""
_SLOT = re.compile(r"\{([a-z_]+)\}")
_QUOTED = (".json", ".toml")
"""Endings of files whose slots stand between double quotes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of an agent, in words."""

    calls: str = ""
    """Whether calls of one reply are executed together."""
    call_ids: str = ""
    """The key of `_meta` under which its calls to the tool door carry the model's ids."""
    retries: str = ""
    """What it does when its model's endpoint fails."""
    schemas: str = ""
    """What it changes in the tools that it offers its model."""
    results: str = ""
    """What it changes in results that it shows its model."""
    traps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """How an agent is started and driven."""

    name: str
    command: tuple[str, ...]
    driver: DriverName
    title: str = ""
    npm: str = ""
    """The package that installs it."""
    version: str = ""
    """With which it was tried."""
    tried: date | None = None
    wire: Wire | None = None
    """In which it asks its model; None where it may choose."""
    instructed: tuple[str, ...] = ()
    """Further words of the command where the conversation has a system text."""
    prefixes: tuple[str, ...] = ()
    """What it may put before the names of tools."""
    own_tools: str = ""
    """How its own tools are switched off, and which stay."""
    slash: str = ""
    """What is put before a message of the user that begins with `/`, and would be a command to it."""
    clock: str = ""
    """What it tells its model of date and place."""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables beside those that every agent has. An empty one is taken away."""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """Texts of files by their paths below its home."""
    copies: Mapping[str, str] = field(default_factory=dict[str, str])
    """By path below its home the name of a file of this package."""
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What only its driver knows."""
    traits: Traits = field(default_factory=Traits)
    known: Known = Known()

    @property
    def package(self) -> str:
        """What to install by npm."""
        return f"{self.npm}@{self.version}"

    def card(self) -> list[tuple[str, str]]:
        """What a user may want to know of it, each with a name."""
        facts = {
            "agent": f"{self.title} {self.version}, tried on {self.tried}",
            "install": f"npm install -g {self.package}",
            "started by": shlex.join(self.command),
            "asks its model by": str(self.wire),
            "own tools": self.own_tools,
            "clock": self.clock,
            "messages with /": self.slash
            and f"are sent with {self.slash!a} before them, or they would be its own commands",
            "names of tools": f"with a prefix: {', '.join(self.prefixes)}"
            if self.prefixes
            else "as they are",
            "calls of one reply": self.known.calls,
            "ids of calls": self.known.call_ids and f"under `{self.known.call_ids}` of `_meta`",
            "retries": self.known.retries,
            "schemas": self.known.schemas,
            "results": self.known.results,
            "traps": "\n".join(self.known.traps),
        }
        return [(name, fact) for name, fact in facts.items() if fact]


@cache
def agent_templates() -> Mapping[str, Template]:
    """The templates by name. Raises DataError for a file that is not as this module says."""
    return read_templates(FILE.read_text(encoding="utf-8"), FILE.name)


def read_templates(text: str, place: str) -> dict[str, Template]:
    """The templates in a text. Raises DataError, which names `place`, the template and the key."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{place}: not valid TOML: {error}") from error
    read = dict[str, Template]()
    for name, table in tables.items():
        here = f"{place}: [{name}]"
        if not isinstance(table, dict):
            raise DataError(f"{here}: expected a table, found {table!r}")
        read[name] = _read_template(name, _whole(as_object(table), tables, here), here)
    return read


def filled(text: str, values: Mapping[str, str]) -> str:
    """A text with the values in place of its slots; those without a value stay."""
    return _SLOT.sub(lambda slot: values.get(slot[1], slot[0]), text)


def filled_words(words: Iterable[str], values: Mapping[str, str]) -> list[str]:
    """The words of a command with the values in place of their slots. A word can hold neither a NUL nor a surrogate."""
    held = {name: replace_surrogates(value).replace("\0", "\ufffd") for name, value in values.items()}
    return [filled(word, held) for word in words]


def filled_file(path: str, text: str, values: Mapping[str, str]) -> str:
    """The text of a file with the values in place of its slots, as the format of the file writes them."""
    held = {name: replace_surrogates(value) for name, value in values.items()}
    if path.endswith(_QUOTED):
        held = {name: _between_quotes(value) for name, value in held.items()}
    return filled(text, held)


def filled_value(value: Any, values: Mapping[str, str]) -> Any:
    """A value of TOML with the values in place of the slots of all texts in it."""
    if isinstance(value, str):
        return filled(value, values)
    if isinstance(value, dict):
        return {key: filled_value(part, values) for key, part in as_object(value).items()}
    return [filled_value(part, values) for part in as_list(value)] if isinstance(value, list) else value


def slots_of(value: Any) -> set[str]:
    """The names in braces in all texts of a value of TOML."""
    return {slot for part in values_inside(value) if isinstance(part, str) for slot in _SLOT.findall(part)}


def _between_quotes(text: str) -> str:
    """A text as it stands between double quotes in JSON and in TOML, which wants DEL escaped, too."""
    return dumps(text).decode()[1:-1].replace("\x7f", "\\u007f")


def _whole(table: dict[str, Any], tables: Mapping[str, Any], place: str) -> dict[str, Any]:
    """A table with the keys of the one that it is `like`, where it does not have them itself. Raises DataError."""
    own = {key: value for key, value in table.items() if key != "like"}
    like = table.get("like")
    if like is not None and like not in tables:
        raise DataError(f"{place}: {unknown_name('template', str(like), tables)}")
    return {**as_object(tables.get(str(like))), **own}


def _read_template(name: str, table: dict[str, Any], place: str) -> Template:
    values = _checked(table, Template, place)
    values["traits"] = Traits(**_checked(values.get("traits", {}), Traits, f"{place} traits"))
    values["known"] = Known(**_checked(values.get("known", {}), Known, f"{place} known"))
    for key in ("command", "driver"):
        if not values.get(key):
            raise DataError(f"{place}: {key} is missing")
    for key, known in _CHOICES.items():
        if values.get(key, known[0]) not in known:
            raise DataError(f"{place}: {unknown_name(key, values[key], known)}")
    known_more = _MORE.get(values["driver"])
    for key in as_object(values.get("more")):
        if known_more is not None and key not in known_more:
            raise DataError(f"{place} more: {unknown_name('key', key, sorted(known_more))}")
    slots = slots_of({key: value for key, value in table.items() if key != "known"})
    for slot in sorted(slots - AGENT_SLOTS):
        raise DataError(f"{place}: {unknown_name('slot', slot, sorted(AGENT_SLOTS))}")
    return Template(name=name, **values)


def _checked(
    table: dict[str, Any], of: type[Template] | type[Traits] | type[Known], place: str
) -> dict[str, Any]:
    """The values of a table, lists as tuples. Raises DataError for a key or a type that the class does not have."""
    keys = [each.name for each in fields(of) if each.name != "name"]
    values = dict[str, Any]()
    for key, value in table.items():
        if key not in keys:
            raise DataError(f"{place}: {unknown_name('key', key, keys)}")
        kind = next((kind for kind, held in _KINDS.items() if key in held), _TEXT)
        if not _IS_OF[kind](value):
            raise DataError(f"{place}: {key} must be {kind}, found {value!r}")
        values[key] = tuple(as_list(value)) if isinstance(value, list) else value
    return values


_TEXT = "a text"
_KINDS: Mapping[str, frozenset[str]] = {
    "a list of texts": frozenset({"command", "instructed", "prefixes", "traps"}),
    "a table of texts": frozenset({"environment", "files", "copies"}),
    "a table": frozenset({"more", "traits", "known"}),
    "true or false": frozenset(each.name for each in fields(Traits)),
    "a date": frozenset({"tried"}),
}
"""What keys hold that do not hold a text."""
_IS_OF: Mapping[str, Callable[[Any], bool]] = {
    _TEXT: lambda value: isinstance(value, str),
    "a list of texts": lambda value: isinstance(value, list) and _are_texts(as_list(value)),
    "a table of texts": lambda value: isinstance(value, dict) and _are_texts(as_object(value).values()),
    "a table": lambda value: isinstance(value, dict),
    "true or false": lambda value: isinstance(value, bool),
    "a date": lambda value: isinstance(value, date),
}


def _are_texts(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)
