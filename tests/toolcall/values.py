"""Compares two values as the only argument of a call."""

from dataclasses import replace
from typing import Any

from wildtool.toolcall.compare import ArgumentDifference, compare_arguments


def compare_values(gold: Any, predicted: Any, schema: Any) -> list[ArgumentDifference]:
    parameters = {"properties": {"v": schema}, "required": ["v"]}
    found = compare_arguments({"v": gold}, {"v": predicted}, parameters)
    return [replace(each, path=each.path.removeprefix("v").removeprefix(".")) for each in found]
