"""Reads what the roles of items write; what is wrong are faults, not exceptions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from wildtool.generate.core.parsing import Action, RuleFault, read_object, reply_text
from wildtool.generate.items.item import MissingParameters, Utterance, WrongValue
from wildtool.toolcall.schema import as_schema

MAX_DIALOGUE_MESSAGES = 7
OPINION_PLACES = ("question", "tools", "answer", "")


@dataclass(frozen=True, slots=True)
class RequestProblem:
    """The assistant's reply to a request that it cannot serve as it stands."""

    fault: MissingParameters | WrongValue
    text: str
    """What the user reads."""

    @property
    def kind(self) -> str:
        """The kind of item that such a request makes."""
        return "incomplete" if isinstance(self.fault, MissingParameters) else "error"


@dataclass(frozen=True, slots=True)
class JudgeOpinion:
    """What a judge says of an item."""

    valid: bool
    where: str
    """What is wrong: one of `WHERE`."""
    reason: str


def parse_role_calls(listed: Any, rule: str) -> tuple[list[Action], list[RuleFault]]:
    """Calls as roles write them: name, arguments, and reasons for values that are worked out."""
    rows = cast(list[Any], listed) if isinstance(listed, list) else []
    calls: list[Action] = []
    for row in rows:
        entry = as_schema(row)
        name, arguments = entry.get("name"), entry.get("arguments")
        reasons = as_schema(entry.get("derived"))
        fine = all(isinstance(reason, str) and reason.strip() for reason in reasons.values())
        if not isinstance(name, str) or not isinstance(arguments, dict) or not fine:
            message = (
                "Each of `calls` has a `name`, `arguments` (object) and perhaps `derived` (path to reason)."
            )
            return [], [RuleFault(rule, message)]
        calls.append(Action(name, cast(dict[str, Any], arguments), cast(Mapping[str, str], reasons)))
    return calls, [] if calls else [RuleFault(rule, "`calls` must be a list of at least one call.")]


def parse_messages(listed: Any) -> tuple[tuple[Utterance, ...], list[RuleFault]]:
    """A dialogue as the writer gives it: objects with `user` or `assistant`, or with `role` and `content`."""
    rows = cast(list[Any], listed) if isinstance(listed, list) else []
    talk: list[Utterance] = []
    for row in rows[:MAX_DIALOGUE_MESSAGES]:
        entry = as_schema(row)
        if set(entry) == {"role", "content"}:
            entry = {str(entry["role"]): entry["content"]}
        for who in ("user", "assistant"):
            if isinstance(entry.get(who), str) and len(entry) == 1:
                talk.append(Utterance(who, reply_text({"content": entry[who]})))
    if not rows or len(talk) != len(rows):
        message = f'`messages` is a list of 1 to {MAX_DIALOGUE_MESSAGES} objects such as {{"user": "what is said"}}.'
        return (), [RuleFault("W1", message)]
    return tuple(talk), []


def parse_text_reply(text: str, rule: str) -> tuple[str, list[RuleFault]]:
    """The `text` of a reply."""
    written, faults = read_object(text, rule)
    if not faults and not isinstance(written.get("text"), str):
        faults = [RuleFault(rule, "`text` must be a text.")]
    return reply_text({"content": written.get("text")}), faults


def parse_assistant_action(
    text: str, tools: Mapping[str, Mapping[str, Any]]
) -> tuple[list[Action] | RequestProblem | None, list[RuleFault]]:
    """What the assistant does: calls, or a remark on what is missing or wrong."""
    written, faults = read_object(text, "G1")
    if faults:
        return None, faults
    action = written.get("action")
    if action == "call":
        calls, faults = parse_role_calls(written.get("calls"), "G2")
        return calls or None, faults
    tool, thought, said = written.get("tool"), written.get("thought"), written.get("text")
    if action not in ("missing", "wrong"):
        return None, [RuleFault("G1", "`action` must be call, missing or wrong.")]
    if not isinstance(tool, str) or tool not in tools:
        faults.append(RuleFault("G3", f"`tool` must be one of {', '.join(tools)}."))
    if not isinstance(said, str) or not said.strip():
        faults.append(RuleFault("G3", "`text` must say to the user what is missing or wrong."))
    if action == "missing" and not isinstance(thought, str):
        faults.append(RuleFault("G3", "`thought` must be the missing parameters joined by a bar: a|b."))
    if faults:
        return None, faults
    heard = reply_text({"content": said})
    if action == "missing":
        return RequestProblem(MissingParameters(str(tool), _names(cast(str, thought))), heard), []
    fault = _wrong(str(tool), written.get("parameter"), thought, tools[str(tool)])
    if fault is None:
        return None, [
            RuleFault("G3", "`parameter` must be one of the tool's, and `thought` the wrong value.")
        ]
    return RequestProblem(fault, heard), []


def parse_opinion(text: str) -> tuple[JudgeOpinion | None, list[RuleFault]]:
    """A judge's vote."""
    written, faults = read_object(text, "V1")
    if faults:
        return None, faults
    valid, where, reason = written.get("valid"), written.get("where", ""), written.get("reason", "")
    if not isinstance(valid, bool):
        return None, [RuleFault("V1", "`valid` must be true or false.")]
    if where not in OPINION_PLACES:
        return None, [RuleFault("V1", "`where` must be question, tools or answer.")]
    if not valid and (not isinstance(reason, str) or not reason.strip()):
        return None, [RuleFault("V1", "`reason` must say what is wrong.")]
    return JudgeOpinion(valid, str(where), reply_text({"content": reason})[:500]), []


def _names(thought: str) -> tuple[str, ...]:
    """Names joined by a bar, each once."""
    parts: Iterable[str] = (part.strip() for part in thought.split("|"))
    return tuple(dict.fromkeys(part for part in parts if part))


def _wrong(tool: str, parameter: Any, value: Any, schema: Mapping[str, Any]) -> WrongValue | None:
    """The wrong value; a number in quotation marks is a number where the parameter takes one."""
    properties = as_schema(schema.get("properties"))
    if not isinstance(parameter, str) or parameter not in properties:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, str) and as_schema(properties[parameter]).get("type") in ("integer", "float"):
        try:
            number = float(value)
        except ValueError:
            return WrongValue(tool, parameter, value)
        # Kept as it was written, so that it is found in the request again.
        return WrongValue(
            tool, parameter, int(value) if number.is_integer() and value.lstrip("-").isdigit() else number
        )
    return WrongValue(tool, parameter, value)
