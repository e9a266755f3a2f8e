"""The classes of defects that `wildtool check` looks for; their texts are in `defects.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """A class of broken tool calls."""

    number: int
    """From 1 on; 0 where streamed and whole replies differ in another way."""
    name: str
    """What is wrong, in a few words."""
    probes: str
    """What is sent, and how the defect is recognized."""
    effect: str
    """What it costs in a benchmark run."""
    cause: str
    """The likely one."""
    remedy: str
    """A setting to change, or what to do."""
    software: str
    """Where users reported it: software and issue."""
    untested: str = "the model did not make the call that was requested"
    """Why it may have stayed untested."""


def _read() -> Mapping[int, Defect]:
    text = files("wildtool.check").joinpath("defects.toml").read_text("utf-8")
    return {fields["number"]: Defect(**fields) for fields in tomllib.loads(text)["defect"]}


DEFECTS = _read()
"""By number."""
