"""What a user sets for a model besides its name: how it samples, how its endpoint is reached and how often."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.errors import UsageError
from wildtool.models.headers import Header

if TYPE_CHECKING:
    from wildtool.types import Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """What shapes a reply. Values that are not set are not sent, unless the protocol demands one."""

    temperature: float | None = None
    max_tokens: int | None = None
    """Tokens per reply."""
    seed: int | None = None
    """Sent plus the number of the repeat, so that repeats differ."""
    extra_body: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """More fields of the request body; none that is set by other means."""
    response_format: Mapping[str, Any] | None = None
    """Sent beside the extra body, as chat completions take it: what every reply must look like."""
    stream: bool = False
    """Whether replies are requested as streams."""

    @property
    def body(self) -> dict[str, Any]:
        """The extra body with the response format, where one is set. Raises UsageError if both set one."""
        if self.response_format is None:
            return dict(self.extra_body)
        if "response_format" in self.extra_body:
            raise UsageError("response_format is set in the extra body too; leave it out there")
        return {**self.extra_body, "response_format": dict(self.response_format)}

    def limits(self) -> dict[str, Any]:
        """Temperature and maximum tokens, as far as they are set."""
        limits = {"temperature": self.temperature, "max_tokens": self.max_tokens}
        return {name: value for name, value in limits.items() if value is not None}

    def seed_of(self, request: "Request") -> int | None:
        """The seed of a request, which depends on its repeat; None where no seed is set."""
        return None if self.seed is None else self.seed + (request.address.repeat if request.address else 0)


def without_trailing_slash(base_url: str) -> str:
    """The base URL without slashes at the end of its path, which address the same endpoint."""
    return re.sub(r"^([^?#]*?)/+(?=[?#]|$)", r"\1", base_url)


URL_CREDENTIALS = re.compile(r"://[^/?#\s]*@")
"""A login in an address."""


def address_without_login(address: str) -> str:
    """An address for a message: without its login and its query, each of which may hold a key."""
    return URL_CREDENTIALS.sub("://", address.partition("?")[0])


MAX_CONCURRENCY = 4_096
"""Calls in flight at one endpoint; each holds a connection, and systems rarely open more."""
UNSET = Sampling()
"""Everything as the provider does it by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointOptions:
    """Where a model is reached, with which key and headers, and how long a call may take."""

    base_url: str | None = None
    """None: the provider's own address, or the environment's OPENAI_BASE_URL."""
    base_url_option: str = "--base-url"
    """The option that messages name where an address is missing."""
    api_key_env: str | None = None
    """Name of the environment variable that holds the key; None: the provider's, or OPENAI_API_KEY."""
    api_key_file: Path | None = None
    """A file that holds only the key; excludes `api_key_env`."""
    headers: tuple[Header, ...] = ()
    """Sent with every request, to this endpoint alone."""
    given_at: str | None = None
    """The base URL that key and headers were given for, where another model may share them; None: any."""
    timeout_s: float = 600.0
    """Seconds for one attempt of a call."""
    shared: "EndpointOptions | None" = None
    """Those of the tested model, for a model beside it: a plain name without an address is asked there. Key and headers
    that are not given here are taken from there too, at the address that they were given for."""
    default_key: bool = True
    """Whether OPENAI_API_KEY may be sent where no key is named."""
    sends: bool = True
    """False where nothing will be sent, as in a dry run: then no key is needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """How much an endpoint may be sent; None: any amount."""

    rpm: float | None = None
    """Calls per minute, each attempt counted."""
    tpm: float | None = None
    """Tokens per minute, of prompts and replies."""

    def or_else(self, other: "Rates") -> "Rates":
        """These rates; where one is not set, that of the other."""
        return Rates(rpm=self.rpm or other.rpm, tpm=self.tpm or other.tpm)

    def intersect(self, other: "Rates") -> "Rates":
        """The lower of both, each."""
        return Rates(rpm=_lower(self.rpm, other.rpm), tpm=_lower(self.tpm, other.tpm))


def _lower(first: float | None, other: float | None) -> float | None:
    return min((rate for rate in (first, other) if rate is not None), default=None)
