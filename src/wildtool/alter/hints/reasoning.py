"""Asks a model for its reasoning before it replies, and words it as a part of what it sees next."""

import hashlib
import json

from wildtool.types import Message, Request

HEADING = "Thoughts on this so far:"
"""The line above reasoning."""
_INSTRUCTION = """\
You are shown a conversation and the tools that an assistant may call in it. Think about what the assistant should do \
next, and write your thoughts down; do not do it.

- Write at least three steps. Begin each with a line that holds a short title.
- Say what the user wants, which facts are known and where they are from, and which are missing.
- Weigh at least one other way to continue, and look for a mistake in what you thought before.
- Do not write the reply itself, and no call of a tool: neither JSON nor code."""
PROMPT_DIGEST = hashlib.sha256(f"{_INSTRUCTION}\0{HEADING}".encode()).hexdigest()[:12]


def reasoning_request(request: Request) -> Request:
    """What a model is asked before a request: its reasoning, without calls and without the reply."""
    context = {
        "tools": [tool.get("function", tool) for tool in request.tools],
        "conversation": [*request.messages],
    }
    messages: list[Message] = [
        {"role": "system", "content": _INSTRUCTION},
        {"role": "user", "content": json.dumps(context, ensure_ascii=False)},
    ]

    def gold(style: str) -> Message:
        return {"role": "assistant", "content": ""}

    return Request(messages, gold=request.gold and gold)


def with_heading(text: str) -> str:
    """Reasoning as it is shown; empty for a blank one."""
    return f"\n{HEADING}\n{text.strip()}" if text.strip() else ""
