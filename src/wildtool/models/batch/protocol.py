"""Batch APIs: many requests as one file, their replies as another, at a lower price; what providers have in common.

A batch is begun under a mark that we choose, so that it can be found again where the answer to its creation was lost.
"""

import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any, ClassVar, Protocol, cast
from urllib.parse import quote

from wildtool.errors import CallError
from wildtool.json_codec import REPLY_LIMITS, loads_within
from wildtool.models.http.endpoint import Endpoint
from wildtool.types import Request

BATCHES_PER_PAGE = 100
"""Batches that one page of a list holds at most, with both providers."""
MAX_BATCH_PAGES = 20
"""Pages of a list that are looked through for a batch."""
_ID = re.compile(r"[\x21-\x7e]{1,200}")


@dataclass(frozen=True, slots=True)
class BatchState:
    """What a provider says of a batch."""

    id: str
    """What the provider calls it."""
    status: str
    """In the provider's own word."""
    ended: bool
    """Whether nothing of it is processed any more."""
    total: int = 0
    """Requests in it, as far as the provider has counted."""
    done: int = 0
    """Of these, those with a result or an error."""
    results: tuple[str, ...] = ()
    """Where its results lie, as the provider names it."""
    failure: str = ""
    """Why the whole batch was refused; empty where it was not."""
    failed_lines: Mapping[int, str] = field(default_factory=dict[int, str])
    """What was wrong with single requests of a refused batch, by their number in the file from 1."""
    too_large: bool = False
    """Whether it was refused since it asks too much at once, so that a smaller one would be taken."""
    transient: bool = False
    """Whether it was refused for a reason that another try may cure."""


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What came of one request of a batch."""

    custom_id: str
    """What we called the request."""
    answer: bytes = b""
    """The body that the request alone would have got; empty where it failed."""
    error: CallError | None = None
    """Why it failed, as it would be told of a call of its own."""
    canceled: bool = False
    """Whether somebody canceled it before it was begun."""


class NoResultError(ValueError):
    """A line that is no result of a request."""


class BatchSend(Protocol):
    """How a model's requests are sent where not by one HTTP call each."""

    async def __call__(self, body: bytes, request: Request) -> tuple[bytes, float]:
        """Gives the answer's bytes and the seconds it took.

        Raises CallError, or InfraError where trying again cannot be of use.
        """
        ...


class BatchClient:
    """The batches of one endpoint. A subclass has the provider's words for it.

    Every method that asks the endpoint raises CallError; none tries again.
    """

    most_requests: ClassVar[int]
    """Requests in a batch."""
    most_bytes: ClassVar[int]
    """Bytes of its file."""
    separator: ClassVar[bytes] = b""
    """What stands between two requests in the file."""
    stores_mark: ClassVar[bool]
    """Whether the provider keeps our mark with the batch."""

    def __init__(self, endpoint: Endpoint, path: str) -> None:
        """Args: endpoint: that of the model, which closes it. path: of the requests, below the base URL."""
        self.endpoint = endpoint
        self.path = path

    def line(self, custom_id: str, body: bytes) -> bytes:
        """One request in the file, its body byte for byte as it would be sent alone."""
        raise NotImplementedError

    def envelope(self, mark: str) -> tuple[bytes, bytes]:
        """What stands before and behind all requests."""
        raise NotImplementedError

    async def upload(self, mark: str, file: IO[bytes]) -> str | None:
        """Sends the file ahead; gives what the provider calls it, None where it goes with the creation."""
        raise NotImplementedError

    async def create(self, mark: str, file: IO[bytes] | None, uploaded: str | None) -> BatchState:
        """Begins a batch, from a file or from one sent ahead."""
        raise NotImplementedError

    async def state(self, id_: str) -> BatchState:
        """How a batch stands."""
        raise NotImplementedError

    def find(self, mark: str, requests: int, since: float) -> AsyncIterator[BatchState]:
        """Batches that may be the one begun under a mark; none but that one where marks are kept.

        Args:
            requests: how many it has.
            since: when it was begun at the earliest, in seconds since 1970.
        """
        raise NotImplementedError

    async def fetch(self, where: str, into: IO[bytes]) -> None:
        """Writes one of a batch's results files into a file."""
        raise NotImplementedError

    def result(self, row: Any) -> BatchResult:
        """What a line of the results says. Raises NoResultError where it is no such line."""
        raise NotImplementedError

    def cancel_path(self, id_: str) -> str:
        """Where a POST cancels a batch."""
        raise NotImplementedError

    def cancel_url(self, id_: str) -> str:
        """The address that a user posts to for canceling a batch; without any key."""
        return self.endpoint.redacted_url_at(self.cancel_path(id_))

    def parsed(self, answer: bytes, where: str) -> dict[str, Any]:
        """The object that an answer is. Raises CallError."""
        try:
            found = loads_within(answer, REPLY_LIMITS)
        except ValueError:
            found = None
        if isinstance(found, dict):
            return cast(dict[str, Any], found)
        text = answer.decode("utf-8", "replace")
        # Raised here, since the parser's exception would hold the whole text.
        raise self.endpoint.error("invalid JSON", "the answer is no JSON object", text, where=where)

    def shape_error(self, found: Mapping[str, Any], what: str) -> CallError:
        """The error of an answer that lacks what the protocol demands."""
        where = self.endpoint.redacted_url
        return self.endpoint.error("wrong shape", f"the answer is no {what}", str(dict(found)), where=where)


def parse_id(value: Any) -> str | None:
    """An id of the provider's; None for anything that cannot be one."""
    return value if isinstance(value, str) and _ID.fullmatch(value) else None


def quote_id(id_: str) -> str:
    """An id as a part of a path, whatever a server calls it."""
    quoted = quote(id_, safe="")
    return quoted.replace(".", "%2E") if set(quoted) <= {"."} else quoted


def parse_count(value: Any) -> int:
    """A count that a provider told; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
