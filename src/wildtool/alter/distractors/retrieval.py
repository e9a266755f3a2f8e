"""Finds the tools among many that a model is shown: by words, by the model itself in a first pass, by embeddings."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence

from wildtool.alter.distractors.pool import tool_text
from wildtool.episode import written_text
from wildtool.json_codec import as_object
from wildtool.shapes import tool_name
from wildtool.toolcall.retrieval import Bm25
from wildtool.types import Message, Request, Tool

FIRST_PASS = "own"
"""The model under test chooses from names and descriptions first."""
TOP_K = 10
RANKER = "ranker"
"""The role of a model of embeddings, which ranks the documents that it is sent behind a query."""
_INSTRUCTION = """\
You are shown a conversation and a catalogue of tools with what each does. Choose the tools that the assistant could \
need for the last message of the user; how they are called is shown later. Do not answer the user and call nothing.

- Choose at most {top_k} tools, the most useful first. Choose none if the message needs no tool.
- Reply with a JSON list of their names, such as ["first_name", "second_name"], and no other word."""
SELECTION_DIGEST = hashlib.sha256(_INSTRUCTION.encode()).hexdigest()[:12]
_NAME = re.compile(r'"((?:[^"\\\n]|\\.){1,200})"|([\w.-]{1,200})')


def user_texts(messages: Sequence[Message]) -> list[str]:
    """What the user said, in order."""
    texts = (message.get("content") for message in messages if message.get("role") == "user")
    return [text for text in texts if isinstance(text, str)]


def ranked(tools: Sequence[Tool], query: str, top_k: int) -> list[str]:
    """Names of the tools whose words fit a query best, by BM25."""
    return Bm25({tool_name(tool): tool_text(tool) for tool in tools}).search(query, top_k)


def selection_request(request: Request, tools: Sequence[Tool], top_k: int, needed: Sequence[str]) -> Request:
    """What the model under test is asked first: which tools it wants to see.

    Args:
        needed: names that a right answer calls, for the gold baseline.
    """
    entries = [
        {"name": tool_name(tool), "description": as_object(tool.get("function")).get("description")}
        for tool in tools
    ]
    context = {"conversation": [*request.messages], "tools": entries}
    messages: list[Message] = [
        {"role": "system", "content": _INSTRUCTION.format(top_k=top_k)},
        {"role": "user", "content": json.dumps(context, ensure_ascii=False)},
    ]
    return Request(messages, gold=request.gold and _names(needed))


def ranking_request(query: str, tools: Iterable[Tool], needed: Sequence[str]) -> Request:
    """What a model of embeddings is sent: the query, then each tool as a document with its name."""
    documents = [{"role": "document", "name": tool_name(tool), "content": tool_text(tool)} for tool in tools]
    return Request([{"role": "user", "content": query}, *documents], role=RANKER, gold=_names(needed))


def read_names(reply: Message, names: Iterable[str]) -> list[str]:
    """The names of tools in a reply, in its order, each once; anything else in it is passed over."""
    known = set(names)
    words = (quoted or bare for quoted, bare in _NAME.findall(written_text(reply) or ""))
    return [name for name in dict.fromkeys(words) if name in known]


def _names(needed: Sequence[str]) -> Callable[[str], Message]:
    def gold(style: str) -> Message:
        return {"role": "assistant", "content": json.dumps(list(needed), ensure_ascii=False)}

    return gold
