"""A model that answers from a run's record or from a file of scripted replies."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from wildtool.episode import EMPTY_REPLY, said_alone
from wildtool.errors import CallError
from wildtool.types import Reply, Request, Transcript

LoggedReplies = Callable[[str, int], Mapping[str, Transcript] | None]
"""The replies of (item, repeat), by unit; None if there are none."""


class ReplayModel:
    """Answers by the request's address, whatever its messages are."""

    def __init__(self, name: str, replies: LoggedReplies, settings: Mapping[str, Any] | None = None) -> None:
        """Args: replies: reads the record or replies file; settings: names it."""
        self.name = name
        self._replies = replies
        self._settings = dict(settings or {})

    def settings(self) -> Mapping[str, Any]:
        """Where its replies come from."""
        return self._settings

    async def complete(self, request: Request) -> Reply:
        """The reply at the request's address; after the end of a scripted unit an empty one.

        Raises:
            CallError: nothing was recorded there, or the recorded call failed too.
        """
        address = request.address
        if address is None:
            raise CallError("not recorded", "a replayed request needs an address", final=True)
        units = self._replies(address.item, address.repeat) or {}
        transcript = units.get(address.unit, Transcript(()))
        if address.step < len(transcript.replies):
            reply = transcript.replies[address.step]
            said = said_alone(reply.message)
            return reply if said is reply.message else replace(reply, message=said)
        if transcript.scripted:
            return Reply(dict(EMPTY_REPLY))
        reason = transcript.infra_error or "its record stops before"
        place = f"item {address.item!r}, repeat {address.repeat}, unit {address.unit!r}, step {address.step}"
        raise CallError("not recorded", f"{self.name} holds no reply to {place}: {reason}", final=True)

    async def close(self) -> None:
        """Nothing is open."""
