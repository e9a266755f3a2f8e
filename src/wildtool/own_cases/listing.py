"""Lists the tools of servers and Python files that a case file names: only once that is trusted, and once.

What they list is written beside the case file. From then on runs, scores and checks read that.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from subprocess import PIPE, TimeoutExpired
from typing import Any

from wildtool.children import Child, python_words
from wildtool.config.whitelist import executed_files
from wildtool.data.files import read_json
from wildtool.errors import DataError
from wildtool.outputs import write_file
from wildtool.own_cases.tool_sources import PYTHON, StartedSource, listing_of, read_listing
from wildtool.shapes import Reading, read_tools
from wildtool.temporary import temporary_folder
from wildtool.tools.sources.mcp import ANSWER_TIMEOUT_S, STDIO, is_server, server_environment
from wildtool.tools.sources.named import ToolSource
from wildtool.trust_request import TrustRequest, trust_digest

PYTHON_TOOLS = "TOOLS"
"""The name in a Python file of its list of definitions."""
_READ_PYTHON = (
    "import json, pathlib, runpy, sys\n"
    f"tools = runpy.run_path(sys.argv[1]).get({PYTHON_TOOLS!r})\n"
    "def refuse(value):\n"
    f"    sys.exit(f'{PYTHON_TOOLS} holds {{value!r:.80}}; expected definitions, which are objects with a name, a"
    " description and parameters')\n"
    "pathlib.Path(sys.argv[2]).write_text(json.dumps(tools, default=refuse))\n"
)


def trust_request_of_cases(file: Path, sources: Sequence[StartedSource]) -> TrustRequest:
    """What listing the tools of a case file would do. Raises DataError where a Python file cannot be read."""
    servers = [source.target for source in sources if source.kind != PYTHON]
    executed = executed_files(None, servers, file.parent)
    for source in sources:
        executed[source.key] = source.digest(file.parent).encode()
    return TrustRequest(
        name=str(file),
        reason="the file says what is started, not you",
        effects=tuple(source.effect for source in sources),
        digest=trust_digest(json.dumps(sorted(source.key for source in sources)).encode(), executed),
        advice=f"Or write the tools into a file and name that, as in tools: tools.json. Listed tools are in "
        f"{listing_of(file)}.",
    )


def list_tools(file: Path, sources: Sequence[StartedSource]) -> None:
    """Asks for trust, starts what lists tools, and writes them beside the case file.

    Raises UsageError where it is not trusted, DataError where a source lists no tools.
    """
    trust_request_of_cases(file, sources).demand(())
    listing = read_listing(file)
    for source in sources:
        digest = source.digest(file.parent)
        tools: Any = _python_tools(file, source) if source.kind == PYTHON else list(_tools_of_server(source))
        read = [entry.tool for entry in read_tools(tools, Reading(f"{file}: {source.key}"))]
        if not read:
            raise DataError(f"{file}: {source.key} lists no tools")
        listing[source.key] = {"executed": digest, "tools": read}
    text = json.dumps({"sources": listing}, indent=1, ensure_ascii=False)
    write_file(listing_of(file), text.encode())


def _tools_of_server(source: StartedSource) -> Sequence[Any]:
    name = source.target if is_server(source.target) else f"{STDIO}{source.target}"
    return ToolSource(name=name).first_of_each_name()


def _python_tools(file: Path, source: StartedSource) -> Any:
    """What a Python file calls TOOLS. It runs in a process of its own, without keys. Raises DataError."""
    with temporary_folder() as place:
        result = place / "tools.json"
        words = python_words("-c", _READ_PYTHON, source.target, str(result))
        with Child(words, stderr=PIPE, cwd=file.parent.absolute(), env=server_environment(())) as child:
            try:
                _, errors = child.communicate(timeout=ANSWER_TIMEOUT_S)
            except TimeoutExpired as error:
                raise DataError(f"{source.target}: gave no tools within {ANSWER_TIMEOUT_S:g} s") from error
            if child.returncode or not result.is_file():
                last = errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
                raise DataError(f"{source.target}: cannot be run: {last[:500]}")
        tools = read_json(result)
    if not tools:
        raise DataError(f"{source.target}: has no {PYTHON_TOOLS}, a list of definitions of tools")
    return tools
