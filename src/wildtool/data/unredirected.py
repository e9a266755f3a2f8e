"""Requests by the standard library that follow no redirect: a key or a body is meant for the host that was named."""

from http.client import HTTPMessage, HTTPResponse
from typing import IO
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener


class _UnfollowedRedirect(HTTPRedirectHandler):
    """Says where a redirect points instead of following it."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        reason = f"redirects to {newurl}, which is not followed; if you trust that host, give its address"
        raise HTTPError(req.full_url, code, reason, headers, fp)


def open_unredirected(request: Request | str, timeout_s: float, *, by_proxy: bool = True) -> HTTPResponse:
    """The response to a request.

    Args:
        timeout_s: seconds for each read.
        by_proxy: whether the environment's proxy may be used.

    Raises HTTPError for a status of 300 or more, whose reason says where a redirect points, and what urllib raises.
    """
    handlers = [_UnfollowedRedirect()] if by_proxy else [_UnfollowedRedirect(), ProxyHandler({})]
    return build_opener(*handlers).open(request, timeout=timeout_s)
