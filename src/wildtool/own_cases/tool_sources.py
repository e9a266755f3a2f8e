"""The tools of a case: in the file, in another file, or in the listing of what had to be started for them (`listing.py`).

Nothing is started here.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from wildtool.data.files import read_json
from wildtool.errors import DataError
from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.own_cases.form import nearest_name
from wildtool.own_cases.matching import show
from wildtool.own_cases.places import CasePlace
from wildtool.shapes import Reading, read_tools
from wildtool.tools.sources.named import LISTING_SUFFIX
from wildtool.types import Tool

MCP, PYTHON, OPENAPI = "mcp", "python", "openapi"
_KINDS = (MCP, PYTHON, OPENAPI)
_SERVER_KEYS = ("command", "args", "url")
"""Keys of a server in a configuration that are read."""


@dataclass(frozen=True, slots=True)
class StartedSource:
    """Something that lists tools once it is started."""

    kind: str
    """`mcp` or `python`."""
    target: str
    """A command line or an address; of Python the path beside the case file."""

    @property
    def key(self) -> str:
        """What the listing calls it."""
        return f"{self.kind}: {self.target}"

    @property
    def effect(self) -> str:
        """What listing its tools does, after "would"."""
        if self.kind == PYTHON:
            return f"execute the Python file {self.target} to read its tools"
        if self.target.startswith(("http://", "https://")):
            return f"ask {self.target} for its tools"
        return f"start `{self.target}` to list its tools"

    def digest(self, folder: Path) -> str:
        """Of the file that is executed; empty for a server. Raises DataError where there is none."""
        if self.kind != PYTHON:
            return ""
        try:
            return sha256((folder / self.target).read_bytes()).hexdigest()
        except OSError as error:
            raise DataError(f"cannot read {folder / self.target}: {error.strerror}") from error


@dataclass(slots=True)
class ToolReader:
    """Reads the tools that cases name, each source once."""

    folder: Path
    """The one of the case file."""
    listing: Mapping[str, Any]
    """By key of a source its tools and the digest of what was executed."""
    sources: dict[str, StartedSource] = field(default_factory=dict[str, StartedSource])
    """Those that have to be started, by key."""
    files: dict[str, Path] = field(default_factory=dict[str, Path])
    """Files that were read, by path."""
    _read: dict[str, list[Tool] | None] = field(default_factory=dict[str, "list[Tool] | None"])

    def tools(self, place: CasePlace) -> list[Tool] | None:
        """The tools at a place; None where they cannot be read, which is noted, or are not listed yet."""
        key = json.dumps(place.value, sort_keys=True, default=str)
        if key not in self._read:
            self._read[key] = self._of_value(place)
        return self._read[key]

    def _of_value(self, place: CasePlace) -> list[Tool] | None:
        value = place.value
        if isinstance(value, str):
            return self._of_file(place, value)
        if isinstance(value, list):
            try:
                return [entry.tool for entry in read_tools(as_list(value), Reading())]
            except DataError as error:
                place.fail(f"no list of tools: {error}")
                return None
        held = as_object(value)
        kinds = [key for key in held if key in _KINDS]
        for key in held:
            if key not in (*_KINDS, "only"):
                place.at(key).fail(f"{key!r} is not a key here; {nearest_name(key, (*_KINDS, 'only'))}")
                return None
        if len(kinds) != 1:
            place.fail(f"is a path, a list of tools, or one of {', '.join(_KINDS)}, not {show(value)}")
            return None
        tools = self._of_kind(place.at(kinds[0]), kinds[0])
        return tools if tools is None or "only" not in held else tools_on_offer(place.at("only"), tools)

    def _of_kind(self, place: CasePlace, kind: str) -> list[Tool] | None:
        target = _command_of(place.value) if kind == MCP else place.value
        if not isinstance(target, str) or not target:
            if odd := [key for key in as_object(target) if key not in _SERVER_KEYS]:
                place.at(odd[0]).fail(f"{odd[0]!r} is not read here; {nearest_name(odd[0], _SERVER_KEYS)}")
                return None
            place.fail(
                f"takes {'a command or an address' if kind == 'mcp' else 'a path'}, not {show(place.value)}"
            )
            return None
        if kind == PYTHON and not (self.folder / target).is_file():
            place.fail(f"{self.folder / target}: there is no such file")
            return None
        if kind == OPENAPI:
            return self._of_file(place, target)
        source = StartedSource(kind, target)
        self.sources[source.key] = source
        try:
            is_listed = self._is_listed(source)
        except DataError as error:
            place.fail(str(error))
            return None
        return as_objects(as_object(self.listing[source.key]).get("tools")) if is_listed else None

    def _is_listed(self, source: StartedSource) -> bool:
        """Whether the listing has the tools of a source as it is now. Raises DataError where there is none."""
        entry = as_object(self.listing.get(source.key))
        return bool(entry) and entry.get("executed", "") == source.digest(self.folder)

    def _of_file(self, place: CasePlace, name: str) -> list[Tool] | None:
        # Many files have their tools inside, and need none of this.
        from wildtool.tools.sources.tool_files import tools_of_file

        path = self.folder / name
        self.files[str(path)] = path
        try:
            return list(tools_of_file(path, place.warn))
        except DataError as error:
            place.fail(str(error))
            return None

    @property
    def unlisted(self) -> list[StartedSource]:
        """Sources that have to be started before their tools are known."""
        return [source for source in self.sources.values() if not self._is_listed(source)]


def tools_on_offer(place: CasePlace, tools: Sequence[Tool]) -> list[Tool]:
    """The tools of the names at a place, in the order of the tools; unknown names are noted."""
    names = [name for name in as_list(place.value) if isinstance(name, str)]
    names_of_tools = [tool["function"]["name"] for tool in tools]
    if not names:
        place.fail("takes a list of names of tools")
    for name in names:
        if name not in names_of_tools:
            place.fail(f"no tool {name!r}; {nearest_name(name, names_of_tools)}")
    return [tool for tool in tools if tool["function"]["name"] in names]


def _command_of(value: Any) -> Any:
    """The command line or address of a server: a text, or an entry of a configuration of servers."""
    held = as_object(value)
    words = held.get("args", [])
    if {*held} <= {"command", "args"} and isinstance(held.get("command"), str) and isinstance(words, list):
        return shlex.join([held["command"], *map(str, as_list(words))])
    return held["url"] if {*held} == {"url"} else value


def listing_of(file: Path) -> Path:
    """Where the tools lie that were listed for a case file."""
    return file.with_name(file.name + LISTING_SUFFIX)


def read_listing(file: Path) -> dict[str, Any]:
    """What was listed for a case file; nothing where nothing was. Raises DataError for a file that is damaged."""
    path = listing_of(file)
    return as_object(as_object(read_json(path)).get("sources")) if path.is_file() else {}
