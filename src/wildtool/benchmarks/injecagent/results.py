"""Reads result files of InjecAgent and of ToLeaP: `results/MODEL/test_cases_ATTACK_SETTING.json`, one test case a line
with the agent's `output`, of agents with native calls also `tool_calls`, and `output Step 2` where it obeyed.

Cases that the original could not handle are not written, so they are matched by the user's request and the tool's
result, as its cache does.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from wildtool.benchmark import NATIVE
from wildtool.benchmarks.injecagent.data import ATTACKS, BASE, ENHANCED, InjecCase
from wildtool.benchmarks.result_files import files_named, one_reply
from wildtool.data.data_set import ResultRow, Results
from wildtool.data.files import as_named
from wildtool.errors import DataError
from wildtool.json_codec import as_objects, read_json_lines, required_field
from wildtool.types import Item, Reply, Transcript

_FILE = re.compile(rf"test_cases_({'|'.join(ATTACKS)})_({BASE}|{ENHANCED})\.json")
_STEPS = (("output", "tool_calls"), ("output Step 2", "tool_calls Step 2"))
"""Fields of the text and of the native calls in each step."""


def read_results(path: Path, items: Mapping[str, Item], mode: str) -> Results | None:
    """The outputs of a file or folder; the model is the folder that a file is in."""
    files = [(file, match[1], match[2]) for file, match in files_named(path, _FILE)]
    return Results(_rows(files, items, mode)) if files else None


def _rows(
    files: Sequence[tuple[Path, str, str]], items: Mapping[str, Item], mode: str
) -> Iterator[ResultRow]:
    for file, attack, setting in files:
        cases = {
            (case.user_request, case.result): item.id
            for item in items.values()
            if (case := cast(Mapping[str, InjecCase], item.data).get(setting)) and case.attack == attack
        }
        for where, line in read_json_lines(file, "test case"):
            if ("tool_calls" in line) != (mode == NATIVE):
                kind, other = ("prompted", "react") if mode == NATIVE else ("native", NATIVE)
                raise DataError(f"{where}: the output of an agent with {kind} calls; add --mode {other}")
            request = required_field(line, "User Instruction", str, where)
            item = cases.get((request, required_field(line, "Tool Response", str, where)))
            if item is None:
                raise DataError(
                    f"{where}: the data have no case of {attack} {setting} with this User Instruction ({request!r:.60})"
                    " and Tool Response; choose the files with --split"
                )
            replies = tuple(_replies(line, where, native=mode == NATIVE))
            yield ResultRow(where, as_named(file).parent.name, item, {setting: Transcript(replies)})


def _replies(line: dict[str, Any], where: str, *, native: bool) -> Iterator[Reply]:
    """The reply of each step that the line has. Raises DataError."""
    for text, calls in _STEPS:
        if text not in line:
            if text == "output":
                raise DataError(f"{where}: field output is missing; expected the agent's reply")
            return
        (reply,) = one_reply(line[text], f"{where}: field {text}").replies
        if native and calls not in line:
            return  # what was called in this step is not known, so it counts as not asked
        message = (
            {**reply.message, "tool_calls": as_objects(line[calls])} if line.get(calls) else reply.message
        )
        yield Reply(message)
