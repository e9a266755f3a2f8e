"""Files of lines: sessions of Claude Code, Qwen Code, Gemini CLI and pi, rollouts of Codex. Which lines are messages, and
of which conversation."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wildtool.json_codec import as_object, as_objects
from wildtool.shapes.reading import Reading, part_type
from wildtool.shapes.results import is_result
from wildtool.shapes.sessions.base import FAILED_CALL, MESSAGES, TAKEN_BACK
from wildtool.shapes.sessions.gemini_cli import chats_of, is_chat_head
from wildtool.shapes.sessions.pi import branch_of, is_session_head

_SPEAKERS = ("user", "assistant", "tool_result")
_SESSION_TYPES = frozenset({*_SPEAKERS, "system", "summary", "file-history-snapshot", "queue-operation"})
"""Types of lines in a session file of Claude Code; Qwen Code has results in lines of their own."""
_SESSION_KEYS = ("sessionId", "leafUuid", "messageId")
_CODEX_TYPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
"""Types of lines in a rollout of Codex."""
_CODEX_ITEM = "response_item"


def is_session_line(row: Mapping[str, Any]) -> bool:
    """Whether a row is a line of a session file of Claude Code or Qwen Code, of a type that is known."""
    return part_type(row) in _SESSION_TYPES and any(key in row for key in _SESSION_KEYS)


def is_codex_line(row: Mapping[str, Any]) -> bool:
    """Whether a row is a line of a rollout of Codex, of a type that is known."""
    return part_type(row) in _CODEX_TYPES and "payload" in row


def sessions_in(rows: Sequence[Mapping[str, Any]], reading: Reading) -> list[Mapping[str, Any]] | None:
    """The conversations of a file of lines, as records; None for rows of anything else. Lines of unknown types are
    counted."""
    if len(rows) > 1 and is_chat_head(rows[0]):
        return list(chats_of(rows, reading))
    if rows and is_session_head(rows[0]):
        return [branch_of(rows, reading)]
    types = [part_type(row) for row in rows]
    if any(map(is_session_line, rows)):
        if not all(types) or not all(any(key in row for key in _SESSION_KEYS) for row in rows):
            return None
        line_types, sessions = _SESSION_TYPES, _sessions(rows, reading)
    elif _CODEX_ITEM in types and all(types) and all("payload" in row for row in rows):
        line_types, sessions = _CODEX_TYPES, [[row for row in rows if part_type(row) == _CODEX_ITEM]]
    else:
        return None
    for kind in types:
        if kind not in line_types:
            reading.lose(f"line of type {kind}")
    return [{MESSAGES: session} for session in sessions]


def _sessions(rows: Sequence[Mapping[str, Any]], reading: Reading) -> Iterator[list[Any]]:
    """The messages of each session of Claude Code or Qwen Code; the conversation of a sub-agent is a session, too."""
    taken_back = _taken_back(rows)
    sides: dict[str, str] = {}
    sessions: dict[tuple[str, str], list[Any]] = {}
    for row in rows:
        id_, side = str(row.get("uuid")), ""
        if row.get("isSidechain"):
            side = sides[id_] = str(row.get("agentId") or sides.get(str(row.get("parentUuid")), id_))
        if part_type(row) not in _SPEAKERS or row.get("isMeta"):
            continue
        if not isinstance(row.get("message"), dict):
            reading.lose(f"line of type {part_type(row)} without a message")
        elif id_ in taken_back:
            reading.lose(TAKEN_BACK)
        elif row.get("isApiErrorMessage"):
            reading.lose(FAILED_CALL)
        else:
            sessions.setdefault((str(row.get("sessionId")), side), []).append(row)
    yield from sessions.values()


def _taken_back(rows: Sequence[Mapping[str, Any]]) -> set[str]:
    """The ids of requests in whose place the user put another one, and of all that followed them."""
    requests: dict[str, str] = {}
    gone: set[str] = set()
    for row in rows:
        parent, id_ = row.get("parentUuid"), str(row.get("uuid"))
        if isinstance(parent, str) and _is_request(row):
            gone |= {requests[parent]} if parent in requests else set()
            requests[parent] = id_
    for row in rows:
        if str(row.get("parentUuid")) in gone:
            gone.add(str(row.get("uuid")))
    return gone


def _is_request(row: Mapping[str, Any]) -> bool:
    """Whether a line is what the user says, and no result of a tool."""
    message = as_object(row.get("message"))
    content = message.get("content") or message.get("parts")
    says = part_type(row) == "user" and not row.get("isMeta") and not row.get("isSidechain")
    return says and bool(content) and not any(map(is_result, as_objects(content)))
