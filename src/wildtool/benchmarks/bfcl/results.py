"""Reads the original's result files, `result/MODEL/[GROUP/]BFCL_v4_CATEGORY_result.json`: one `{"id", "result"}` a line.

A result is a list of `{name: arguments}` (native calls) or a text; with several turns, a list of turns of such steps.
Memory and web search cannot be scored from them: what the memories held and what a search gave is in no result file.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from wildtool.benchmark import NATIVE
from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES
from wildtool.benchmarks.bfcl.data import RepeatedIds
from wildtool.benchmarks.result_files import files_named
from wildtool.data.data_set import ResultRow, Results
from wildtool.data.files import as_named
from wildtool.errors import DataError
from wildtool.json_codec import checked, dumps, read_json_lines, required_field
from wildtool.types import Item, Message, Reply, Transcript

_GROUPS = frozenset({"non_live", "live", "multi_turn", "agentic", "format_sensitivity"})
"""Folders between that of the model and its files."""
_FILE = re.compile(r"BFCL_v\d+_(.+)_result\.json")
"""The name of a file, with its category."""
_NOT_SCORED = ("memory", "web_search", "format_sensitivity")
_WRITTEN = re.compile(r"\s*\[\s*\w+(\.\w+)*\(.*\)\s*\]\s*", re.DOTALL)
"""A reply of calls as the prompt of mode `prompt` asks for them."""
_FAILED = "Error during inference"
"""How the text begins that the original writes in place of replies where a call failed."""


def read_results(path: Path, items: Mapping[str, Item], mode: str) -> Results | None:
    """The entries of the files; None where they are not the original's. The model is the folder that holds the groups.

    An entry whose call failed has the error of the file in place of a reply. Files that cannot be scored, and those of
    categories that are not among the items, are left out.

    Raises DataError for a line that breaks the format, replies of another mode, or if no file can be scored.
    """
    categories = {item.split for item in items.values()}
    scored: list[tuple[Path, str]] = []
    left_out: list[str] = []
    for file, match in files_named(path, _FILE):
        category = match[1]
        names = (each.name for each in BFCL_CATEGORIES.values() if category in (each.name, each.v3_name))
        if category.startswith(_NOT_SCORED):
            left_out.append(
                f"{file} is left out: its replies alone cannot be scored, as what they were answered with is in no file"
            )
        elif categories.isdisjoint(names):
            left_out.append(f"{file} is left out: the data and --split have no {category}")
        else:
            scored.append((file, category))
    if left_out and not scored:
        raise DataError(f"{left_out[0]}; give the folder of another group, such as result/MODEL/non_live")
    return Results(_results(scored, items, mode), left_out) if scored else None


def _results(files: Sequence[tuple[Path, str]], items: Mapping[str, Item], mode: str) -> Iterator[ResultRow]:
    for file, category in files:
        model = next(folder.name for folder in as_named(file).parents if folder.name not in _GROUPS)
        lines = list(_lines(file, in_turns=category.startswith("multi_turn")))
        replies = [reply for _, _, steps in lines if not isinstance(steps, str) for reply in steps]
        _check_mode(file, replies, mode)
        name_of = RepeatedIds()
        for where, id_, steps in lines:
            name = name_of(id_)
            item = name if name in items else id_
            if isinstance(steps, str):
                transcript = Transcript((), infra_error=steps)
            else:
                transcript = Transcript(tuple(_reply(step, where) for step in steps))
            yield ResultRow(where, model, item, {"0": transcript})


def _lines(file: Path, *, in_turns: bool) -> Iterator[tuple[str, str, list[Any] | str]]:
    """Place, entry and what each step gave, or why none did."""
    for place, line in read_json_lines(file):
        item = required_field(line, "id", str, place)
        where = f"{place} (id {item!r}): field result"
        result = line.get("result")
        if isinstance(result, str) and result.startswith(_FAILED):
            yield where, item, result
        elif in_turns:
            turns = checked(result, list, where, "a list of turns")
            yield (
                where,
                item,
                [step for turn in turns for step in checked(turn, list, where, "lists of steps")],
            )
        else:
            yield where, item, [result]


def _check_mode(file: Path, replies: list[Any], mode: str) -> None:
    """Raises DataError for replies of another mode, which would all be wrong. A model with native calls may write some as
    text."""
    is_native = any(isinstance(reply, list) for reply in replies)
    is_written = any(isinstance(reply, str) and _WRITTEN.fullmatch(reply) for reply in replies)
    if is_native if mode != NATIVE else is_written and not is_native:
        other, calls = ("fc", "native calls") if is_native else ("prompt", "calls written as text")
        raise DataError(f"{file}: these replies have {calls}; add --mode {other}")


def _reply(result: Any, where: str) -> Reply:
    message: Message = {"role": "assistant", "content": None}
    if isinstance(result, str) or result is None:
        return Reply({**message, "content": result})
    calls = [
        checked(call, dict, where, "objects of a name with its arguments")
        for call in checked(result, list, where, "a list of calls, or a text")
    ]
    pairs = [pair for call in calls for pair in call.items()]
    functions = [
        {"name": name, "arguments": value if isinstance(value, str) else dumps(value).decode()}
        for name, value in pairs
    ]
    entries = [
        {"id": f"call_{number}", "type": "function", "function": function}
        for number, function in enumerate(functions)
    ]
    return Reply({**message, "tool_calls": entries})
