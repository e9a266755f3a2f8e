"""What to tell users when an endpoint fails: a wrong address, no server, a web page, no key."""

import os
import re
import socket
import ssl

import aiohttp

from wildtool.advice import MORE_CONTEXT, Advice
from wildtool.reply_ends import OVERFLOWED

REQUEST_STATUSES = frozenset({400, 404, 413, 422, 500, 501})
"""Statuses with which servers refuse a request for what it contains; some say 500 where others say 400."""
_VERSION = re.compile(r"/v\d+[a-z0-9]*(/|$)")
_TLS_WANTED = re.compile(
    r"plain HTTP request was sent to HTTPS|HTTP request to an HTTPS server", re.IGNORECASE
)
_NO_TLS = (
    "WRONG_VERSION_NUMBER",
    "UNKNOWN_PROTOCOL",
    "HTTP_REQUEST",
    "PACKET_LENGTH_TOO_LONG",
    "RECORD_LAYER_FAILURE",
)
"""OpenSSL's reasons where the other side does not speak TLS."""
_MOST_READ = 10_000
"""Characters of a server's text in which words are looked for."""
_TOOLS_OFF = re.compile(
    r"--(?:enable-auto-tool-choice|tool-call-parser|jinja)\b|unsupported param(?:eter)?s?\W{1,3}tools"
    r"|(?:does(?:n't| not)|do not|cannot|not) (?:currently )?support(?:ed)?\b[^.]{0,60}"
    r"\b(?:tools?\b|tool[ _-](?:use|calls?|calling|choice)|function[ _-]?call(?:s|ing)?)"
    r"|\b(?:tools?|tool[ _-](?:use|calls?|calling|choice)|function[ _-]?call(?:s|ing)?)['\"`]?[^.]{0,40}"
    r"\b(?:not (?:yet )?(?:be )?(?:supported|enabled|available|allowed)|unsupported|disabled)"
    r"|no endpoints found that support tool|not advertise tools|不支持.{0,12}(?:工具|函数|tool|function)",
    re.IGNORECASE,
)
"""Words of servers that take no tools. Of several calls at once others speak, which is no reason to send none."""
_PARALLEL = re.compile(r"parallel|single|at once|tool_choice\W{1,3}(?:required|function)", re.IGNORECASE)
_OVERFLOW = re.compile(
    r"context[ _-]?(?:length|window|size|limit)|max(?:imum)?[ _](?:model|prompt|context|input|sequence)[ _]length"
    r"|(?:prompt|input|request|messages?)\b[^.]{0,60}\b(?:too long|too large for (?:the |requested )?model)"
    r"|exceed(?:s|ed)?\b[^.]{0,60}\b(?:token limit|max(?:imum)? (?:length|number of tokens|context)|length limit)"
    r"|longer than the (?:maximum )?(?:model|context)|too large for model with"
    r"|reduce (?:the length of|your) (?:the |your )?(?:messages|prompt|input)|must have less than \d+ tokens"
    r"|`inputs` tokens \+|range of input length|too many (?:input |prompt )?tokens|input is too large to process"
    r"|上下文.{0,12}(?:超|过长)|超.{0,12}(?:上下文|最大长度)",
    re.IGNORECASE,
)
_A_MINUTE = re.compile(r"per[ _-]?(?:minute|day|hour)|\b[TR]P[MD]\b|rate.limit", re.IGNORECASE)
"""A limit of tokens in a time is none of a request."""
_NO_GRAMMAR = re.compile(
    r"\bgrammar\b|(?:json[ _-]?)?schemas? (?:conversion|compilation)|(?:convert|compil)\w* (?:the )?(?:json[ _-]?)?schema"
    r"|(?:unsupported|invalid) (?:regex|pattern)",
    re.IGNORECASE,
)
"""Words of servers that derive a grammar from the schemas of tools."""
_UNREAD_OUTPUT = re.compile(
    r"(?:failed|unable|could not|cannot|can't) (?:to )?(?:pars|read|decod)\w* (?:the )?"
    r"(?:(?:model'?s? )?output|input at pos|tool[ _-]?calls?|function[ _-]?calls?|generated|completion|response)",
    re.IGNORECASE,
)
"""Words of servers that fail at what their own model wrote."""
_WEB_PAGE = re.compile(r"\s*<(?:!doctype|html|head|body)\b", re.IGNORECASE)


def for_status(status: int, base_path: str, text: str, *, keyless: bool) -> tuple[str, bool]:
    """Advice for a refusal, in brackets, empty if its own words say enough; and whether its words rule a retry out,
    whatever its status.

    Args:
        base_path: of the base URL.
        text: the server's own words.
        keyless: whether no key was sent.
    """
    if status in (401, 403) and keyless:
        return " (no key was sent; name its variable with --api-key-env)", False
    if advice := _for_words(status, text[:_MOST_READ]):
        return f" ({advice})", advice in (Advice.SERVER_PARSER, Advice.SIMPLER_TOOLS)
    if status in (404, 405) and not _VERSION.search(base_path):
        return " (most base URLs end in a version, such as http://127.0.0.1:8000/v1)", False
    return for_text(text), False


def _for_words(status: int, text: str) -> str:
    """Advice for a refusal of a request itself, told by its words; empty for any other."""
    if status not in REQUEST_STATUSES:
        return ""
    if _TLS_WANTED.search(text):
        return "the server speaks https, not http; change the base URL"
    if _TOOLS_OFF.search(text) and not _PARALLEL.search(text):
        return Advice.SERVER_PARSER
    if _NO_GRAMMAR.search(text):
        return Advice.SIMPLER_TOOLS
    if status >= 500 and _UNREAD_OUTPUT.search(text):
        return Advice.UNREAD_OUTPUT
    if _OVERFLOW.search(text) and not _A_MINUTE.search(text):
        return f"{OVERFLOWED}; {MORE_CONTEXT}"
    return ""


def for_text(text: str) -> str:
    """Advice for an answer that is a web page, in brackets; empty for any other text."""
    if not _WEB_PAGE.match(text):
        return ""
    return " (this is a web page; check the base URL, which must be that of an API, such as http://127.0.0.1:8000/v1)"


def for_network(error: Exception) -> str:
    """Advice if no server answered, in brackets; empty if the error says enough."""
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return " (check host and port of the base URL, and whether a firewall lies between)"
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(cause, socket.gaierror):
        return " (check the host's name in the base URL)"
    if speaks_http(error):
        return " (the server speaks http, not https; change the base URL)"
    if isinstance(cause, ConnectionRefusedError):
        return " (no server listens there; start it, or check host and port of the base URL)"
    return ""


def speaks_http(error: Exception) -> bool:
    """Whether the other side answered without TLS."""
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    return isinstance(cause, ssl.SSLError) and cause.reason in _NO_TLS


def network_words(error: Exception) -> str:
    """What went wrong, in the operating system's words if there are any, else in the library's."""
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return f"the proxy answered HTTP {error.status}"
    via = "at the proxy: " if isinstance(error, aiohttp.ClientProxyConnectionError) else ""
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if speaks_http(error):
        return via.removesuffix(": ")
    if isinstance(cause, OSError) and cause.strerror:
        # asyncio replaces the system's text; TLS and name errors have their own numbers.
        foreign = isinstance(cause, (ssl.SSLError, socket.gaierror)) or not cause.errno
        return via + (cause.strerror if foreign else os.strerror(cause.errno or 0))
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "the server closed the connection"
    if isinstance(error, aiohttp.ClientResponseError):
        return f"this is no HTTP answer ({error.message})"
    return str(error) or type(error).__name__
