"""Chats as items of a Responses request, and the output of a response as messages."""

from typing import Any

import pytest

from wildtool.shapes import Reading, ShapeError
from wildtool_train.bridges.responses import messages_of


def said(*parts: Any) -> dict[str, Any]:
    return {"type": "message", "content": [*parts]}


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        ("x", "found.*x"),
        (7, "found.*7"),
        (said({"text": 7}), "part 1"),
        ({"type": "function_call", "name": "f", "argz": {"a": 1}}, "`argz` here"),
    ],
)
def test_an_item_of_no_known_shape_is_refused(item: Any, problem: str):
    with pytest.raises(ShapeError, match=f"^output: .*{problem}"):
        messages_of([item], Reading("output"))
