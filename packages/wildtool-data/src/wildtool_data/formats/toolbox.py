"""Files of tool definitions, which people review before sessions are made over them: tool by tool, with the decision to
keep, edit, merge or drop it.

A tool that is approved is kept, one that is rejected is dropped. One that names another in `merge_into` is left out of
the release, and the other takes the parameters that it lacks as optional ones.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from wildtool.errors import DataError
from wildtool.findings import Finding, fault
from wildtool.json_codec import as_list, as_object
from wildtool.toolcall.schema import as_schema, member_schemas
from wildtool.tools.schema.definitions import definition_faults
from wildtool.tools.sources.tool_files import read_tool_lists
from wildtool_data.formats.base import Facets, ItemPart, RawItem, ReviewFormat
from wildtool_data.make.core.files import write_whole_file
from wildtool_data.pointers import pointer

MERGE_INTO = "merge_into"
"""The field that names the tool which takes a tool's place; empty for one that stays."""
_SET = "tool_set"
_PARAMETERS = ("function", "parameters")


class ToolboxFormat(ReviewFormat):
    """Tools in OpenAI's shape; of a file with several sets each tool says which is its own."""

    name = "toolbox"
    file_name = "tools.json"

    def read(self, path: Path) -> Iterator[RawItem]:
        left_out: list[str] = []
        often = Counter[str]()
        for number, tools in enumerate(read_tool_lists(path, left_out.append)):
            for tool in tools:
                function = as_object(as_object(tool).get("function"))
                name = function.get("name")
                if not isinstance(name, str) or not name:
                    raise DataError(f"{path}: set {number}: a tool without a name; give each tool one")
                often[name] += 1
                id_ = name if often[name] == 1 else f"{name} ({often[name]})"
                yield RawItem(id_, {**tool, _SET: number, MERGE_INTO: ""})
        if left_out:
            # A review that lacks operations would pass for one of the whole document.
            raise DataError(f"{left_out[0]}; {len(left_out)} operations cannot be reviewed, so take them out")

    def write(self, contents: Iterable[Any], out: Path) -> None:
        sets: dict[int, list[dict[str, Any]]] = {}
        for content in contents:
            sets.setdefault(int(content[_SET]), []).append(dict(content))
        merged = [_merged(sets[number]) for number in sorted(sets)]
        written = merged[0] if len(merged) == 1 else merged
        write_whole_file(out, [json.dumps(written, ensure_ascii=False, indent=1) + "\n"])

    def check(self, content: Any) -> list[Finding]:
        held = as_object(content)
        findings = definition_faults(held.get("function"))
        target = held.get(MERGE_INTO, "")
        if not isinstance(target, str):
            findings.append(
                fault("merge", "expected the name of a tool, or an empty text", pointer(MERGE_INTO))
            )
        elif target and target == _name(held):
            findings.append(fault("merge", "a tool cannot be merged into itself", pointer(MERGE_INTO)))
        return findings

    def facets(self, content: Any) -> Facets:
        return Facets((("tool", ""),), domain=f"set {as_object(content).get(_SET, 0)}")

    def parts(self, content: Any) -> list[ItemPart]:
        """Name, description, each parameter, which are required, and the tool to merge it into."""
        function = as_object(as_object(content).get("function"))
        parameters = as_schema(function.get("parameters"))
        fields = [
            pointer("function", "name"),
            pointer("function", "description"),
            *(pointer(*_PARAMETERS, "properties", name) for name in member_schemas(parameters)),
            *([pointer(*_PARAMETERS, "required")] if "required" in parameters else []),
            pointer(MERGE_INTO),
        ]
        return [ItemPart(field, "other", 0) for field in fields]

    def user_texts(self, content: Any) -> list[str]:
        """What a list of tools shows of one."""
        function = as_object(as_object(content).get("function"))
        return [f"{function.get('name')}: {function.get('description')}"]

    def use(self, place: Path) -> str:
        return f"wildtool generate --tools {place} --model NAME -o sessions"


def _merged(tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The tools of a set without the fields of the review, and those that are merged in their places."""
    kept: dict[str, dict[str, Any]] = {}
    for tool in tools:
        if tool.get(MERGE_INTO):
            continue
        if _name(tool) in kept:
            raise DataError(
                f"{_name(tool)}: two approved tools of a set have this name; reject, rename or merge one"
            )
        kept[_name(tool)] = tool
    for tool in tools:
        target = tool.get(MERGE_INTO)
        if target and target not in kept:
            raise DataError(
                f"{_name(tool)}: {MERGE_INTO} names {target!r}, which is no approved tool of its set that stays; "
                f"approve that one, or name another"
            )
        if target:
            kept[target] = _with_parameters_of(kept[target], tool)
    return [
        {key: value for key, value in tool.items() if key not in (_SET, MERGE_INTO)} for tool in kept.values()
    ]


def _with_parameters_of(tool: Mapping[str, Any], merged: Mapping[str, Any]) -> dict[str, Any]:
    """A tool that also takes what a merged one takes. Raises DataError where both mean another thing by a name."""
    function = as_object(tool["function"])
    parameters = as_schema(function.get("parameters"))
    own = member_schemas(parameters)
    more = member_schemas(as_schema(as_object(merged["function"]).get("parameters")))
    for name in own.keys() & more.keys():
        if _without_words(own[name]) != _without_words(more[name]):
            raise DataError(
                f"{_name(merged)} and {_name(tool)} take {name} with different values; make their definitions alike "
                "before you merge them"
            )
    properties = {**own, **{name: schema for name, schema in more.items() if name not in own}}
    required = as_list(parameters.get("required"))
    widened = {"type": "object", **parameters, "properties": properties, "required": required}
    return {**tool, "function": {**function, "parameters": widened}}


def _without_words(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in ("description", "title")}


def _name(tool: Mapping[str, Any]) -> str:
    return str(as_object(tool.get("function")).get("name"))


TOOLBOX = ToolboxFormat()
