"""Definitions of tools, and gold arguments, are refused for every fault, and each is named with its place."""

from collections.abc import Callable
from typing import Any

import pytest

from wildtool.toolcall.schema_check import argument_faults, function_faults, shorten
from work import growth


@pytest.mark.parametrize(
    "member", [str, lambda k: [k], lambda k: {"a": k}], ids=["texts", "lists", "objects"]
)
def test_an_enum_of_many_members_is_checked_in_linear_work(member: Callable[[int], Any]):
    def checked(count: int) -> Callable[[], object]:
        colour = {"type": "string", "description": "x", "enum": [member(k) for k in range(count)]}
        parameters = {"type": "object", "properties": {"colour": colour}}
        return lambda: list(function_faults({"name": "f", "description": "x", "parameters": parameters}))

    assert growth(checked, 1_000) < 2.5


def test_a_fault_shows_only_the_beginning_of_a_long_enum():
    schema = {"type": "string", "enum": [f"v{k}" for k in range(1_000)]}
    assert [message for _, message in argument_faults("w", schema)] == [
        f"'w' is not in the enum {shorten(schema['enum'][:30])}"
    ]
