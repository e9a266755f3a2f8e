"""What an MCP server at an address is asked, message by message."""

import shlex
import sys

import pytest

from wildtool.errors import DataError
from wildtool.tools.sources.mcp import server_tools


def test_a_program_that_refuses_is_named_with_its_command():
    answer = '{"id": 1, "error": {"message": "no"}}'
    refusal = f"input(); print({answer!r}, flush=True)"
    command = f"{sys.executable} -c {shlex.quote(refusal)}"
    with pytest.raises(DataError) as caught:
        server_tools(f"mcp:{command}")
    assert str(caught.value) == f"mcp:{command}: initialize was refused: no"
