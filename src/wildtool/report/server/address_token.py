"""The token in the address that a local server prints, which other people on the same machine do not know.

A browser that opens the address gets a cookie for it, and is sent on to the same page without the token. Both are drawn
when the server starts and are kept nowhere, so an address of an earlier start no longer works.
"""

import hmac
import secrets

from aiohttp import web
from yarl import URL

PARAMETER = "token"
_REFUSAL = (
    "Open the whole address that this server printed when it was started; it ends in ?token=…. Each start prints a new "
    "one.\n"
)


class AddressToken:
    """Who may ask one server: browsers that opened the address with its token."""

    def __init__(self) -> None:
        self._token = secrets.token_urlsafe(32)
        self._cookie = secrets.token_urlsafe(32)
        self._once: list[str] = []

    def address(self, address: str) -> str:
        """The address to print. Args: address: of the server, without a query."""
        return f"{address}?{PARAMETER}={self._token}"

    def address_once(self, address: str) -> str:
        """An address that works once: others on the machine can read what a browser is started with."""
        code = secrets.token_urlsafe(32)
        self._once.append(code)
        return f"{address}?{PARAMETER}={code}"

    def admit(self, request: web.Request) -> web.Response | None:
        """None for a request that may be answered; else the answer that gives the cookie and leads to the page without
        the token.

        Raises HTTPForbidden for one with neither, or with those of an earlier start.
        """
        # Browsers send cookies to every port of a host, and under a tunnel the port is another one.
        name = f"wildtool-{request.url.port}"
        if _equal(request.cookies.get(name, ""), self._cookie):
            return None if PARAMETER not in request.query else _without_token(request)
        if request.method not in ("GET", "HEAD") or not self._is_known(request.query.getall(PARAMETER, [])):
            raise web.HTTPForbidden(text=_REFUSAL)
        response = _without_token(request)
        response.set_cookie(
            name, self._cookie, path="/", httponly=True, samesite="Strict", secure=request.secure
        )
        return response

    def _is_known(self, texts: list[str]) -> bool:
        for text in texts:
            if _equal(text, self._token):
                return True
            for code in self._once:
                if _equal(text, code):
                    self._once.remove(code)
                    return True
        return False


def _equal(text: str, secret: str) -> bool:
    """In a time that tells nothing of the secret."""
    return hmac.compare_digest(text.encode("utf-8", "surrogatepass"), secret.encode())


def _without_token(request: web.Request) -> web.Response:
    # Two slashes at its beginning would name another host.
    path = "/" + request.rel_url.raw_path.lstrip("/")
    query = [(name, value) for name, value in request.query.items() if name != PARAMETER]
    return web.Response(status=303, headers={"Location": str(URL(path, encoded=True).with_query(query))})
