"""Tools of every layout in OpenAI's shape."""

from typing import Any

import pytest

from training.record_forms import tool
from wildtool.sets.prepare.tools import tools_from

ANY, TEXT, WHOLE = {}, {"type": "string"}, {"type": "integer"}


# Forms of tools --------------------------------------------------------------------------------------

F = tool("f", "a", a=WHOLE)


@pytest.mark.parametrize(
    "value",
    [
        {"toolSpec": {"name": "f", "inputSchema": {"json": {"a": "int"}}}},
        [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": {"a": "int"}}]}],
    ],
)
def test_wrapped_definitions_are_read_and_given_as_found(value: Any):
    found = tools_from(value)
    assert found.tools == (F,)
    assert found.given == tuple(value if isinstance(value, list) else [value])
