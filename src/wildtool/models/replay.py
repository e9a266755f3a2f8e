"""A model that answers from what was said before: a run's record or a file of scripted replies."""

from collections.abc import Callable, Mapping
from typing import Any

from wildtool.episode import EMPTY_REPLY
from wildtool.errors import CallError
from wildtool.types import Reply, Request, Transcript

RecordedReplies = Callable[[str, int], Mapping[str, Transcript] | None]
"""What was said in (item, repeat), by unit; None where nothing is known of it."""


class ReplayModel:
    """Answers by the request's address, whatever the request says."""

    def __init__(
        self, name: str, replies: RecordedReplies, settings: Mapping[str, Any] | None = None
    ) -> None:
        """Args: said: reads the record or replies file; settings: says which one it is."""
        self.name = name
        self._replies = replies
        self._settings = dict(settings or {})

    def settings(self) -> Mapping[str, Any]:
        """Where its replies come from."""
        return self._settings

    async def complete(self, request: Request) -> Reply:
        """The reply said at the request's address; past the end of a scripted unit an empty one.

        Raises:
            CallError: nothing was recorded there, or a call that failed then too.
        """
        address = request.address
        if address is None:
            raise CallError("not recorded", "a replayed request needs an address", final=True)
        units = self._replies(address.item, address.repeat) or {}
        transcript = units.get(address.unit, Transcript(()))
        if address.step < len(transcript.replies):
            return transcript.replies[address.step]
        if transcript.scripted:
            return Reply(dict(EMPTY_REPLY))
        why = transcript.infra_error or "its record stops before"
        place = f"item {address.item!r}, repeat {address.repeat}, unit {address.unit!r}, step {address.step}"
        raise CallError("not recorded", f"{self.name} holds no reply to {place}: {why}", final=True)

    async def close(self) -> None:
        """Nothing is open."""
