"""Names requests by hash so that a growing history is stored once: each request is a chain root → message →
message.

The root of a chain is the tools; every message adds a link whose hash covers everything before it. Requests
that begin alike share the beginning of their chain, and the hash of the last link names the whole request.
"""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from wildtool import json_codec
from wildtool.types import Request

_DIGITS = 32
"""Hex digits kept of each SHA-256: 128 bits."""


def request_hashes(request: Request) -> list[str]:
    """Hashes of a request's links: of its tools first, then one for each message; the last names the
    request."""
    name = sha256(json_codec.dumps(list(request.tools))).hexdigest()[:_DIGITS]
    hashes = [name]
    for message in request.messages:
        name = sha256(name.encode() + json_codec.dumps(message)).hexdigest()[:_DIGITS]
        hashes.append(name)
    return hashes


def new_nodes(request: Request, hashes: list[str], known: set[str]) -> list[dict[str, Any]]:
    """The links of a request that are not in `known`, in order, as they are recorded."""
    links: list[dict[str, Any]] = []
    if hashes[0] not in known:
        links.append({"hash": hashes[0], "tools": list(request.tools)})
    for parent, name, message in zip(hashes, hashes[1:], request.messages, strict=False):
        if name not in known:
            links.append({"hash": name, "parent": parent, "message": message})
    return links


def rebuild_request(name: str, nodes: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The request of that hash, as `messages` and `tools`. Raises KeyError where a link is missing."""
    by_hash = {link["hash"]: link for link in nodes}
    messages: list[Any] = []
    # Popped, so that a damaged record whose links form a ring ends in a KeyError too.
    link = by_hash.pop(name)
    while "tools" not in link:
        messages.append(link["message"])
        link = by_hash.pop(link["parent"])
    return {"messages": messages[::-1], "tools": link["tools"]}
