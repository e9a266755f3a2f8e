"""Tools of whatever a user names: a file, or a live MCP server, which is started or asked only here."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from wildtool.errors import DataError, UsageError
from wildtool.json_codec import dumps
from wildtool.models.headers import Header, parse_headers
from wildtool.outputs import check_not_input, write_file
from wildtool.redact import redacted_json
from wildtool.secret_places import recordable, register_foreign
from wildtool.shapes import FoundTool, Reading, read_tools
from wildtool.tools.sources.mcp import STDIO, is_server, server_tools
from wildtool.tools.sources.tool_files import first_of_each_name, named_tools, with_results, without_results
from wildtool.types import Tool

LISTING_SUFFIX = ".tools.json"
"""End of the name of the file that holds what a server listed, beside what is made of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSource:
    """A file of tools or an MCP server, and what a server gets of the user's own."""

    name: str
    """A path; `mcp:` and a command; or an address."""
    variables: tuple[str, ...] = ()
    """Names of environment variables that a server gets which a command starts."""
    headers: tuple[Header, ...] = ()
    """Those that a server at an address gets."""

    @property
    def is_server(self) -> bool:
        return is_server(self.name)

    def tools(self, note: Callable[[str], None] = lambda text: None) -> tuple[Tool, ...]:
        """The tools as they are sent; several may have one name.

        Args:
            note: is called with each operation of a document that is left out and why.

        Raises DataError where there are none, or where the file or the server cannot be read.
        """
        if not self.is_server:
            return tuple(map(without_results, named_tools(Path(self.name), note)))
        return tuple(entry.tool for entry in self._listed())

    def first_of_each_name(self) -> tuple[Tool, ...]:
        """As `tools`, of each name the first."""
        return first_of_each_name(self.tools())

    def file(self, beside: Path, *, again: bool = False) -> Path:
        """A file with its tools and the schemas of their results, for those who read tools more than once.

        It is the one that is named, or what the server lists. A server is asked once; after that the file counts, so that
        what is made of it continues with the same tools.

        Args:
            beside: what is made of the tools.
            again: whether the server is asked although there is such a file.

        Raises DataError as `tools`, UsageError where the file cannot be written.
        """
        if not self.is_server:
            return Path(self.name)
        path = beside.with_name(beside.name.removesuffix(".jsonl") + LISTING_SUFFIX)
        if again or not path.exists():
            check_not_input(path, [beside])
            write_file(path, dumps([with_results(entry) for entry in self._listed()]) + b"\n")
        return path

    def _listed(self) -> Sequence[FoundTool]:
        register_foreign(self.name)
        answer = server_tools(self.name, variables=self.variables, headers=self.headers)
        # A server may repeat the key that it was given.
        entries = read_tools(redacted_json(answer), Reading(recordable(self.name)))
        if not entries:
            raise DataError(f"{recordable(self.name)}: the server lists no tool")
        return entries


def tool_sources(
    names: Sequence[str], variables: Collection[str] | None, headers: Sequence[str] | None
) -> tuple[ToolSource, ...]:
    """The sources of some names, with what their servers get.

    Args:
        variables: names, as `--mcp-env` gives them.
        headers: texts, as `--mcp-header` gives them.

    Raises UsageError where there is no server to get them, or headers would go to several hosts.
    """
    if variables and not any(name.startswith(STDIO) for name in names):
        raise UsageError(
            f"--mcp-env is for a server that a command starts, such as {STDIO}'npx -y my-server'"
        )
    hosts = set(_hosts(names))
    if headers and not hosts:
        raise UsageError("--mcp-header is for an MCP server at an address, such as https://example.org/mcp")
    if headers and len(hosts) > 1:
        raise UsageError(
            "--mcp-header goes to one host, and these servers have two; give the tools of one as a file"
        )
    own_headers = parse_headers(headers, "--mcp-header")
    return tuple(
        ToolSource(name=name, variables=tuple(variables or ()), headers=own_headers) for name in names
    )


def _hosts(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for name in names:
        if is_server(name) and not name.startswith(STDIO):
            yield tuple(name.split("/")[:3])
