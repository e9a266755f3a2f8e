"""Failures inside answers: error objects of any provider, the HTTP status of each, and blocked prompts.

Sources: the error references of OpenAI, Azure, Anthropic, Google, OpenRouter, Alibaba's DashScope, Z.ai, Moonshot and
DeepSeek.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, cast

from wildtool.json_codec import REPLY_LIMITS, as_object, dumps, loads_within

QUOTA_USED_UP = "quota used up"
"""Error kind of an account without credit: no wait mends it, unlike a limit of calls per minute."""
_STATUS = {
    400: ("invalid_request", "bad_request", "invalid_argument", "failed_precondition", "out_of_range"),
    401: ("authentication", "unauthenticated", "unauthorized", "invalid_api_key"),
    402: ("billing", "payment_required"),
    403: ("permission", "permission_denied", "forbidden"),
    404: ("not_found", "model_not_found"),
    413: ("request_too_large",),
    429: (
        "rate_limit",
        "rate_limit_exceeded",
        "resource_exhausted",
        "too_many_requests",
        "throttling",
        "rate_limit_reached",
    ),
    500: ("api", "server", "internal", "internal_server", "unknown"),
    502: ("bad_gateway", "provider", "upstream"),
    503: ("service_unavailable", "unavailable"),
    504: ("timeout", "gateway_timeout", "deadline_exceeded"),
    529: ("overloaded",),
}
_BLOCKED = (
    "content_filter",
    "content_policy_violation",
    "ResponsibleAIPolicyViolation",
    "invalid_prompt",
    "bio_policy",
    "data_inspection_failed",
    "moderation_blocked",
    "1301",
)
_BLOCKED_WORDS = "Content Exists Risk"
_QUOTA = (
    "insufficient_quota",
    "insufficient_user_quota",
    "insufficient_balance",
    "insufficient_credits",
    "exceeded_current_quota_error",
    "billing_hard_limit_reached",
    "billing_not_active",
    "billing_error",
    "payment_required",
    "Arrearage",
    "1113",
    "402",
)
_QUOTA_WORDS = re.compile(
    r"credit balance is too low|insufficient (?:account )?(?:balance|credits?|funds|quota)|余额不足|欠费"
    r"|(?:out of|no more|used all available|exceeded your monthly included) credits|billing (?:hard )?limit"
    r"|spending (?:limit|cap)|quota (?:has been )?(?:used up|exhausted)",
    re.IGNORECASE,
)
"""Words of empty accounts. Of a "current quota" some providers speak where calls per minute are meant."""
_FIELDS = ("code", "status", "status_code", "type")
_MOST_READ = 10_000
"""Characters of a server's text in which words are looked for."""


def _plain(name: str) -> str:
    """An error's name without differences of spelling between providers."""
    return re.sub(r"[^a-z0-9]", "", name.lower()).removesuffix("error")


_STATUS_OF = {_plain(name): status for status, names in _STATUS.items() for name in names}
_BLOCKED_NAMES = frozenset(map(_plain, _BLOCKED))
_QUOTA_NAMES = frozenset(map(_plain, _QUOTA))


@dataclass(frozen=True, slots=True)
class ProviderFailure:
    """A failure at the provider."""

    message: str
    """The provider's words."""
    status: int | None = None
    """The HTTP status that it corresponds to; None if unknown."""
    blocked: bool = False
    """Whether the prompt was blocked."""
    no_quota: bool = False
    """Whether the account has no quota left."""


def failure_in_answer(parsed: Any) -> ProviderFailure | None:
    """The failure in the `error` of an answer, whatever else the answer contains; None if there is none."""
    if isinstance(parsed, list) and parsed:
        parsed = cast(list[Any], parsed)[0]
    fields = as_object(parsed)
    return failure_of_error(fields if fields.get("object") == "error" else fields.get("error"))


def failure_of_error(error: Any) -> ProviderFailure | None:
    """The failure of an error object or text; None for null and other empty values."""
    if not error:
        return None
    if not isinstance(error, dict):
        return ProviderFailure(error if isinstance(error, str) else _json(error))
    fields = cast(dict[str, Any], error)
    inner = fields.get("error")
    if isinstance(inner, dict) and inner and "message" not in fields:
        return failure_of_error(inner)
    names = list(_names(fields))
    words = _words(fields)
    blocked = any(_plain(name) in _BLOCKED_NAMES for name in names) or _BLOCKED_WORDS in words
    return ProviderFailure(
        words,
        status_from_names(names),
        blocked or bool(as_object(fields.get("metadata")).get("flagged_input")),
        _speaks_of_quota(words) or any(_plain(name) in _QUOTA_NAMES for name in names),
    )


def _speaks_of_quota(words: str) -> bool:
    return _QUOTA_WORDS.search(words[:_MOST_READ]) is not None


def status_from_names(names: list[str]) -> int | None:
    """The HTTP status for the names or numbers of an error; numbers come first."""
    numbers = (int(name) for name in names if re.fullmatch("[45][0-9][0-9]", name))
    words = (_STATUS_OF[_plain(name)] for name in names if _plain(name) in _STATUS_OF)
    return next(numbers, None) or next(words, None)


def refusal_in(answer: bytes, status: int) -> ProviderFailure:
    """What the body of a refusal says: the message of a JSON error, else the whole text.

    Args: status: of the refusal; only one of the caller's faults says anything of prompt and account.
    """
    text = answer.decode("utf-8", "replace")
    try:
        document: Any = loads_within(answer, REPLY_LIMITS) if text.lstrip().startswith(("{", "[")) else None
    except ValueError:
        document = None
    failure = failure_in_answer(document)
    # Some providers name it beside a message, without an error object.
    reported = failure or failure_of_error(as_object(document)) or ProviderFailure(text, None)
    callers = 400 <= status < 500
    return ProviderFailure(
        text if failure is None else failure.message,
        status,
        blocked=callers and reported.blocked,
        no_quota=callers and (reported.no_quota or status == 402 or _speaks_of_quota(text)),
    )


def retry_wait_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that the headers of a refusal ask to wait, by the finer one where both stand; None if neither does."""
    milliseconds = headers.get("retry-after-ms", "")
    if re.fullmatch(r"\d{1,300}(\.\d{1,300})?", milliseconds, re.ASCII):
        return float(milliseconds) / 1000
    return retry_after_s(headers.get("Retry-After"))


def retry_after_s(value: str | None) -> float | None:
    """Seconds of a Retry-After header (RFC 9110, 10.2.3), without a limit; None if unreadable."""
    if value is None:
        return None
    if re.fullmatch(r"\s*\d{1,300}(\.\d{1,300})?\s*", value, re.ASCII):
        return float(value)
    try:
        when = parsedate_to_datetime(value)
        return max(0.0, (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def retry_delay_s(answer: bytes) -> float | None:
    """Seconds of Google's `RetryInfo` in the body, such as `"retryDelay": "34.1s"`."""
    match = re.search(rb'"retryDelay"\s*:\s*"(\d{1,300}(?:\.\d{1,300})?)s"', answer)
    return float(match[1]) if match else None


def _names(error: Mapping[str, Any]) -> Iterator[str]:
    for level in (error, as_object(error.get("innererror"))):
        for field in _FIELDS:
            value = level.get(field)
            if isinstance(value, str | int):
                yield value[:100] if isinstance(value, str) else f"{value:d}" if abs(value) < 1000 else ""


def _words(error: Mapping[str, Any]) -> str:
    """The error's message, and the words of the provider behind a gateway."""
    sources = [error.get("message"), as_object(error.get("metadata")).get("raw")]
    texts = [text for text in sources if isinstance(text, str) and text]
    return ": ".join(texts) or _json(error)


def _json(value: Any) -> str:
    return dumps(value)[:1000].decode("utf-8", "replace")
