"""The rules of one training record in ShareGPT's form (specification of training data, 3.5: S01 to S21)."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from wildtool import json_codec
from wildtool.findings import Finding, fault
from wildtool.json_codec import as_list, as_object, as_objects, json_type
from wildtool.toolcall.text.unseen import is_unseen
from wildtool.training.record import RecordKind

TURN_ROLES = ("human", "gpt", "function_call", "observation")
_ASKS, _REPLIES = ("human", "observation"), ("gpt", "function_call")
_WARNINGS = frozenset(
    {"S12", "S13", "S14", "S15", "S16", "S17", "S18", "S21", "repair", "repeated-key", "F03", "F05", "F06"}
)
EMPTY_CALLS = "the list of calls is empty"
_SOME_STOP = "some templates of LLaMA-Factory stop on it"
_MARKS = re.compile(
    r"<functioncall>|<\|endoftext\|>|<\|im_start\|>|<\|im_end\|>|FUNCTION RESPONSE:|</?tool_call>|<tool_response>"
    r"|\[TOOL_CALLS\]|<\|python_tag\|>|<\|eot_id\|>"
)
"""Marks of formats of models."""
_THINKING = re.compile(r"\s*<think>.*?</think>\s*", re.DOTALL)
_TAGS = re.compile(r".*?<tool_call>(.*?)</tool_call>\s*", re.DOTALL)


def record_finding(rule: str, field: str, message: str) -> Finding:
    """What a rule finds in a record or a file.

    Errors make a trainer stop or lose data; warnings teach what is probably not meant.

    Args:
        rule: its number, such as `S05`.
        field: where in the record, such as `conversations[3]`.
    """
    return fault(rule, message, field, "warning" if rule in _WARNINGS else "error")


def record_kind(record: Any) -> RecordKind:
    """A record with a chosen or rejected reply is a pair."""
    return "preference" if {"chosen", "rejected"} & as_object(record).keys() else "sft"


def check_record(record: Any, kind: RecordKind) -> list[Finding]:
    """The findings of all rules in a record, in order of their numbers. Never raises, whatever the record."""
    return sorted(_check(record, kind), key=lambda finding: finding.rule)


def _check(record: Any, kind: RecordKind) -> Iterator[Finding]:
    if not isinstance(record, dict):
        yield record_finding("S01", "", f"a record must be an object, this is {json_type(record)}")
        return
    fields = cast(dict[str, Any], record)
    turns = as_list(fields.get("conversations"))
    if not turns:
        message = "conversations must be a list with at least one turn"
        yield record_finding("S02", "conversations", message)
        return
    broken = list(_unreadable_turns(turns))
    if broken:
        yield from broken
        return
    tools = _Tools(fields.get("tools"))
    yield from _order(turns, kind)
    yield from tools.findings()
    replies: list[tuple[str, Mapping[str, Any]]] = []
    if kind == "preference":
        unusable = [_not_a_reply(fields, name) for name in ("chosen", "rejected")]
        if any(unusable):
            yield from (finding for finding in unusable if finding)
            return
        replies = [(name, as_object(fields[name])) for name in ("chosen", "rejected")]
        if _same_reply(*(reply for _, reply in replies)):
            yield record_finding("S20", "rejected", "chosen and rejected say the same")
    places = [(f"conversations[{k}]", f"turn {k + 1}", turn) for k, turn in enumerate(as_objects(turns))]
    places += [(name, name, reply) for name, reply in replies]
    has_called = False
    for field, name, turn in places:
        role, text = turn["from"], turn["value"]
        if role != "function_call":
            if role in ("human", "gpt") and is_unseen(text):
                yield record_finding("S11", field, f"{name}: empty {'reply' if role == 'gpt' else 'request'}")
        else:
            calls = calls_of_turn(text)
            if isinstance(calls, str):
                ends = "" if calls == EMPTY_CALLS else ": LLaMA-Factory stops here"
                yield record_finding("S08", field, f"{name}: {calls}{ends}")
            else:
                text = text if _inside_tags(text) is None else re.sub("</?tool_call>", "", text)
                if field != "rejected":  # a rejected reply may call what it must not
                    yield from tools.misuses(calls, field, name)
                    if tools.listed is None and not has_called:
                        first = calls[0]["name"]
                        message = f'calls "{first}", and the record has no tools that can be read'
                        yield record_finding("S12", field, message)
                    has_called = True
        if mark := _MARKS.search(text):
            message = f'{name}: "{mark[0]}" is a mark of a chat format: was the set converted?'
            yield record_finding("S21", field, message)


def _unreadable_turns(turns: list[Any]) -> Iterator[Finding]:
    for k, turn in enumerate(turns):
        field, name = f"conversations[{k}]", f"turn {k + 1}"
        if not isinstance(turn, dict):
            yield record_finding("S03", field, f"{name} must be an object, this is {json_type(turn)}")
            continue
        for key in ("from", "value"):
            value = as_object(turn).get(key)
            if not isinstance(value, str):
                advice = "; write it as JSON text" if isinstance(value, dict | list) else ", not a text"
                yield record_finding("S03", field, f"{name}: {key} is {json_type(value)}{advice}")


def _order(turns: list[Any], kind: RecordKind) -> Iterator[Finding]:
    """S04 to S07 and S16."""
    roles = [(k, cast(str, turn["from"])) for k, turn in enumerate(turns)]
    if roles[0][1] == "system":
        roles = roles[1:]
    unknown = [(k, role) for k, role in roles if role not in TURN_ROLES]
    for k, role in unknown:
        message = f'turn {k + 1}: role "{role}" is none of {", ".join(TURN_ROLES)}'
        yield record_finding("S04", f"conversations[{k}]", message)
    if not unknown:
        for place, (k, role) in enumerate(roles):
            allowed = _REPLIES if place % 2 else _ASKS
            if role not in allowed:
                here = f"only {' or '.join(allowed)} can be here"
                message = f"turn {k + 1} is {role}, {here}: LLaMA-Factory drops this record"
                yield record_finding("S05", f"conversations[{k}]", message)
                break  # what follows is only shifted
    last = f"conversations[{len(turns) - 1}]"
    if kind == "sft" and (len(roles) % 2 or not roles):
        ends = f"ends with {roles[-1][1]}" if roles else "has no turn"
        message = f"{ends}: nothing to learn after it; LLaMA-Factory drops this record"
        yield record_finding("S06", last, message)
    if kind == "preference" and len(roles) % 2 == 0:
        message = "the prompt of a pair must end with human or observation: LLaMA-Factory drops this record"
        yield record_finding("S07", last, message)
    before = ""
    for k, role in roles:
        if role == "observation" and before != "function_call":
            yield record_finding("S16", f"conversations[{k}]", f"turn {k + 1}: a result without a call")
        before = role


def _not_a_reply(record: Mapping[str, Any], name: str) -> Finding | None:
    reply = as_object(record.get(name))
    if isinstance(reply.get("value"), str) and reply.get("from") in _REPLIES:
        return None
    return record_finding("S19", name, f"{name} must be one turn of gpt or function_call")


def _same_reply(chosen: Mapping[str, Any], rejected: Mapping[str, Any]) -> bool:
    if chosen["from"] != rejected["from"]:
        return False
    left_side, other = chosen["value"], rejected["value"]
    return left_side.split() == other.split() or _canonical(left_side) == _canonical(other)


def _canonical(text: str) -> str:
    try:
        return json.dumps(json_codec.loads(text), sort_keys=True)
    except (ValueError, RecursionError):
        return text


def calls_of_turn(text: str) -> list[dict[str, Any]] | str:
    """The calls of a `function_call` turn, or why they cannot be read.

    An optional thinking block comes before them, or one pair of `<tool_call>` tags around them with any text before.
    """
    inside = _inside_tags(text)
    thinking = _THINKING.match(text)
    body = text[thinking.end() :] if inside is None and thinking else text if inside is None else inside
    try:
        value = json_codec.loads(body)
    except ValueError as error:
        column = len(text) - len(body) if inside is None else text.index(body)
        return f"the call is no JSON (column {column + getattr(error, 'pos', 0) + 1})"
    calls = as_list(value) if isinstance(value, list) else [value]
    if not calls:
        return EMPTY_CALLS
    for call in as_objects(calls):
        if not isinstance(call.get("name"), str) or "arguments" not in call:
            return "a call must be an object with name and arguments"
    return calls


def _inside_tags(text: str) -> str | None:
    """The text between the one pair of tags at the end of a call turn; None without them."""
    if text.count("<tool_call>") != 1 or text.count("</tool_call>") != 1:
        return None
    match = _TAGS.fullmatch(text)
    return match[1] if match else None


class _Tools:
    """The tools of a record, and what the rules say of them."""

    def __init__(self, text: Any) -> None:
        self.listed: list[dict[str, Any]] | None = None
        """The tools as bare functions; None where there are none that can be read."""
        self._fault: str | None = None
        if text is None or text == "":
            return
        try:
            value = json_codec.loads(text) if isinstance(text, str) else None
        except ValueError:
            self._fault = "tools must be a JSON text of a list, this text is no JSON"
            return
        if not isinstance(value, list):
            kind = json_type(text if not isinstance(text, str) else value)
            self._fault = f"tools must be a JSON text of a list, this is {kind}"
        elif not all(isinstance(tool, dict) for tool in as_list(value)):
            self._fault = "tools must be a JSON text of a list of objects"
        elif value:
            # LLaMA-Factory takes the outer object of OpenAI's form off itself.
            self.listed = [
                as_object(tool["function"]) if tool.get("type") == "function" and "function" in tool else tool
                for tool in as_objects(value)
            ]

    def findings(self) -> Iterator[Finding]:
        """S09, S10, S17 and S18."""
        if self._fault:
            yield record_finding("S09", "tools", f"{self._fault}: LLaMA-Factory stops here")
        broken = False
        for k, tool in enumerate(self.listed or ()):
            name = tool.get("name")
            if not isinstance(name, str) or not name:
                broken = True
                yield record_finding("S10", f"tools[{k}]", f"tool {k + 1} has no name")
            elif not isinstance(as_object(tool.get("parameters")).get("properties"), dict):
                broken = True
                advice = 'write {"type": "object", "properties": {}}'
                yield record_finding(
                    "S10", f"tools[{k}]", f'tool "{name}" has no parameters.properties: {advice}'
                )
        if broken:
            return
        names: set[str] = set()
        for k, tool in enumerate(self.listed or ()):
            name = tool["name"]
            if name in names:
                yield record_finding("S18", f"tools[{k}]", f'tool "{name}" is listed twice')
            names.add(name)
            for param, schema in tool["parameters"]["properties"].items():
                if not isinstance(schema, dict):
                    message = f'tool "{name}", "{param}": its schema is no object'
                    yield record_finding("S17", f"tools[{k}]", f"{message}, {_SOME_STOP}")
                odd = [v for v in as_list(as_object(schema).get("enum")) if not isinstance(v, str)]
                if odd:
                    excerpt = json.dumps(odd[0], ensure_ascii=False, default=str)[:40]
                    message = f'tool "{name}", "{param}": enum holds {excerpt}, {_SOME_STOP}'
                    yield record_finding("S17", f"tools[{k}]", message)

    def misuses(self, calls: list[dict[str, Any]], field: str, place: str) -> Iterator[Finding]:
        """S13, S14 and S15 of the calls of one turn."""
        by_name = {str(tool.get("name")): as_object(tool.get("parameters")) for tool in self.listed or ()}
        for call in calls:
            name, arguments = call["name"], call["arguments"]
            if not isinstance(arguments, dict):
                kind = json_type(arguments)
                message = f'{place}: arguments of "{name}" are {kind}: models learn to quote twice'
                yield record_finding("S15", field, message)
            if self.listed is None:
                continue
            if name not in by_name:
                names = ", ".join(by_name)
                message = f'{place}: calls "{name}"; tools are {names[:200]}'
                yield record_finding("S13", field, message)
            elif isinstance(arguments, dict):
                yield from _argument_misuses(name, as_object(arguments), by_name[name], field, place)


def _argument_misuses(
    name: str, arguments: Mapping[str, Any], schema: Mapping[str, Any], field: str, place: str
) -> Iterator[Finding]:
    properties = schema.get("properties")
    if isinstance(properties, dict) and not schema.get("additionalProperties"):
        for argument in arguments:
            if argument not in properties:
                yield record_finding(
                    "S14", field, f'{place}: {name}: argument "{argument}" is not in its schema'
                )
    for required in as_list(schema.get("required")):
        if isinstance(required, str) and required not in arguments:
            yield record_finding("S14", field, f'{place}: {name}: required argument "{required}" is missing')
