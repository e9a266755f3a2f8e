"""The protocols in which agents ask models: what they ask is read, what the model said is written."""

import re
from collections.abc import Mapping

from wildtool.agents.agent import Wire
from wildtool.agents.wires.chat import ChatWire
from wildtool.agents.wires.gemini import GeminiWire
from wildtool.agents.wires.messages import MessagesWire
from wildtool.agents.wires.responses import ResponsesWire
from wildtool.agents.wires.side import side_answer
from wildtool.agents.wires.wire_format import WireFormat

__all__ = ["WIRE_FORMATS", "side_answer", "wire_of"]

WIRE_FORMATS: Mapping[Wire, WireFormat] = {
    each.wire: each for each in (ChatWire(), ResponsesWire(), MessagesWire(), GeminiWire())
}
_PATHS: Mapping[Wire, re.Pattern[str]] = {
    "chat": re.compile(r"(?:/v1)?/chat/completions"),
    "responses": re.compile(r"(?:/v1)?/responses"),
    "messages": re.compile(r"(?:/v1)?/messages"),
    "gemini": re.compile(r"(?:/v1\w*)?/\w+/.+:(?:generateContent|streamGenerateContent)"),
}


def wire_of(path: str) -> Wire | None:
    """The wire of a request; None for a path of no wire.

    Args:
        path: after the address of the doors, with or without a query.
    """
    return next((wire for wire in _PATHS if _PATHS[wire].fullmatch(path.partition("?")[0])), None)
