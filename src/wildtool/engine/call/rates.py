"""How many calls and tokens a minute an endpoint may be sent. Apart from limits.py, which loads an event loop."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What an endpoint may be sent."""

    rpm: float | None = None
    """Calls a minute, tries included."""
    tpm: float | None = None
    """Tokens a minute, of prompts and replies."""

    def or_else(self, other: "Rates") -> "Rates":
        """These rates; where one is not set, that of the other."""
        return Rates(rpm=self.rpm or other.rpm, tpm=self.tpm or other.tpm)

    def intersect(self, other: "Rates") -> "Rates":
        """The lower of both, each."""
        return Rates(rpm=_lower(self.rpm, other.rpm), tpm=_lower(self.tpm, other.tpm))


def _lower(one: float | None, other: float | None) -> float | None:
    return min((rate for rate in (one, other) if rate is not None), default=None)
