"""Reads what the roles of items write."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wildtool.findings import Finding, fault
from wildtool.json_codec import as_object, as_objects
from wildtool.toolcall.schema import member_schemas
from wildtool_data.make.core.parsing import Action, RefusedReplyError, read_action, read_object, reply_text
from wildtool_data.make.core.roles import AttemptFailedError, RoleCoroutine, RoleSession
from wildtool_data.make.core.votes import ask_voters
from wildtool_data.make.items.item import MissingParameters, Utterance, WrongValue

MAX_DIALOGUE_MESSAGES = 7
OPINION_PLACES = ("question", "tools", "answer", "")


@dataclass(frozen=True, slots=True)
class RequestProblem:
    """The assistant's reply to a request that it cannot serve without more information."""

    fault: MissingParameters | WrongValue
    text: str
    """What the user reads."""

    @property
    def kind(self) -> str:
        """The kind of item that such a request makes."""
        return "incomplete" if isinstance(self.fault, MissingParameters) else "error"


def parse_role_calls(entries: Any, rule: str) -> list[Action]:
    """Calls as roles write them. Raises RefusedReplyError by the rule."""
    calls = [read_action({**row, "derived": as_object(row.get("derived"))}) for row in as_objects(entries)]
    readable = [call for call in calls if call is not None]
    if len(readable) < len(calls):
        message = "Each of `calls` has a `name`, `arguments` (object) and perhaps `derived` (path to reason)."
        raise RefusedReplyError(fault(rule, message))
    if not readable:
        raise RefusedReplyError(fault(rule, "`calls` must be a list of at least one call."))
    return readable


def parse_messages(entries: Any) -> tuple[Utterance, ...]:
    """A dialogue as the writer gives it: objects with `user` or `assistant`, or with `role` and `content`.

    Raises RefusedReplyError.
    """
    rows = as_objects(entries)
    talk: list[Utterance] = []
    for entry in rows[:MAX_DIALOGUE_MESSAGES]:
        if set(entry) == {"role", "content"}:
            entry = {str(entry["role"]): entry["content"]}
        for speaker in ("user", "assistant"):
            if isinstance(entry.get(speaker), str) and len(entry) == 1:
                talk.append(Utterance(speaker, reply_text({"content": entry[speaker]})))
    if not rows or len(talk) != len(rows):
        message = f'`messages` is a list of 1 to {MAX_DIALOGUE_MESSAGES} objects such as {{"user": "what is said"}}.'
        raise RefusedReplyError(fault("W1", message))
    return tuple(talk)


def parse_text_reply(text: str, rule: str) -> str:
    """The `text` of a reply. Raises RefusedReplyError by the rule."""
    spoken = read_object(text, rule).get("text")
    if not isinstance(spoken, str):
        raise RefusedReplyError(fault(rule, "`text` must be a text."))
    return reply_text({"content": spoken})


def parse_assistant_action(
    text: str, tools: Mapping[str, Mapping[str, Any]]
) -> list[Action] | RequestProblem:
    """What the assistant does: calls, or a remark on what is missing or wrong. Raises RefusedReplyError."""
    reply = read_object(text, "G1")
    action = reply.get("action")
    if action == "call":
        return parse_role_calls(reply.get("calls"), "G2")
    tool, thought, spoken = reply.get("tool"), reply.get("thought"), reply.get("text")
    if action not in ("missing", "wrong"):
        raise RefusedReplyError(fault("G1", "`action` must be call, missing or wrong."))
    faults: list[Finding] = []
    if not isinstance(tool, str) or tool not in tools:
        faults.append(fault("G3", f"`tool` must be one of {', '.join(tools)}."))
    if not isinstance(spoken, str) or not spoken.strip():
        faults.append(fault("G3", "`text` must say to the user what is missing or wrong."))
    if action == "missing" and not isinstance(thought, str):
        faults.append(fault("G3", "`thought` must be the missing parameters joined by a bar: a|b."))
    if faults:
        raise RefusedReplyError(*faults)
    if action == "missing":
        names = [name.strip() for name in str(thought).split("|")]
        lack = MissingParameters(str(tool), tuple(dict.fromkeys(filter(None, names))))
    else:
        lack = _wrong(str(tool), reply.get("parameter"), thought, tools[str(tool)])
    if lack is None:
        message = "`parameter` must be one of the tool's, and `thought` the wrong value."
        raise RefusedReplyError(fault("G3", message))
    return RequestProblem(lack, reply_text({"content": spoken}))


def parse_opinion(text: str) -> dict[str, Any]:
    """A judge's vote: `valid`, `where` (what is wrong, one of `OPINION_PLACES`) and `reason`.

    Raises RefusedReplyError.
    """
    reply = read_object(text, "V1")
    valid, where, reason = reply.get("valid"), reply.get("where", ""), reply.get("reason", "")
    if not isinstance(valid, bool):
        raise RefusedReplyError(fault("V1", "`valid` must be true or false."))
    if where not in OPINION_PLACES:
        raise RefusedReplyError(fault("V1", "`where` must be question, tools or answer."))
    if not valid and (not isinstance(reason, str) or not reason.strip()):
        raise RefusedReplyError(fault("V1", "`reason` must say what is wrong."))
    return {
        "valid": valid,
        "where": "" if valid else where,
        "reason": reply_text({"content": reason})[:500],
    }


def _wrong(tool: str, parameter: Any, value: Any, schema: Mapping[str, Any]) -> WrongValue | None:
    """The wrong value; a number in quotation marks is a number where the parameter takes one."""
    properties = member_schemas(schema)
    if not isinstance(parameter, str) or parameter not in properties:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, str) and properties[parameter].get("type") in ("integer", "float"):
        try:
            number = float(value)
        except ValueError:
            return WrongValue(tool, parameter, value)
        # Kept as it was written, so that it is found in the request again.
        return WrongValue(
            tool, parameter, int(value) if number.is_integer() and value.lstrip("-").isdigit() else number
        )
    return WrongValue(tool, parameter, value)


def judge_opinions(
    roles: RoleSession, judges: int, blocks: Sequence[str], situation: Mapping[str, Any]
) -> RoleCoroutine[list[dict[str, Any]]]:
    """What all judges say of an item that breaks no rule; `valid` is None for a vote that cannot be read.

    Args:
        blocks: the parts of the role's instruction; `situation` likewise as `RoleSession.ask` takes it.
    """
    votes = yield from ask_voters(
        roles, "judge", judges, blocks, situation, lambda text: (parse_opinion(text), ())
    )
    opinions: list[dict[str, Any]] = []
    for judge, vote in votes:
        if isinstance(vote, AttemptFailedError):
            vote = {"valid": None, "where": "", "reason": f"no vote that could be read: {vote}"}
        elif not vote["valid"]:
            roles.counters["judge found wrong"] += 1
        opinions.append({"judge": judge, **vote})
    return opinions
