"""Whole sessions that agents keep. Each becomes a record of a conversation, for `read_record`.

What a session holds under a key that its form does not have goes into the record as it is, so that `read_record` refuses
or counts it.
"""

from collections.abc import Mapping
from typing import Any

from wildtool.shapes.sessions.adk import adk_session, is_adk_session
from wildtool.shapes.sessions.atif import is_trajectory, trajectories
from wildtool.shapes.sessions.base import SessionForm
from wildtool.shapes.sessions.gemini_cli import chat_of, is_chat
from wildtool.shapes.sessions.opencode import export_records, is_export

_FORMS = (
    SessionForm("a trajectory (ATIF)", is_trajectory, trajectories),
    SessionForm("a session of Google's ADK", is_adk_session, adk_session),
    SessionForm("a chat of Gemini CLI", is_chat, chat_of),
    SessionForm("a session of OpenCode", is_export, export_records),
)


def session_form(row: Mapping[str, Any]) -> SessionForm | None:
    """The form of a document; None if it is no session of an agent."""
    return next((form for form in _FORMS if form.fits(row)), None)
