"""Who may ask a local server, and how it listens: shared by `wildtool view` and the pages of `wildtool review`.

Browsers let any web page send requests to a server on the same machine, so it answers only requests that name it as their
host (another name may have been pointed at this machine) and that come from its own pages or a typed address.
"""

import asyncio
import ipaddress
import os
import re
import signal
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from urllib.parse import urlsplit

from aiohttp import web
from multidict import MultiMapping

from wildtool.errors import UsageError

SAFE_HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
"""Headers of every answer, beside its content security policy."""
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]@/\s]+)(?::\d{1,5})?")
_OWN = frozenset({"localhost", "127.0.0.1", "::1"})


class AccessPolicy:
    """Decides which requests are answered: the middleware that each one passes first."""

    def __init__(
        self,
        host: str,
        *,
        remote: bool,
        scheme: str = "http",
        proxy: str = "",
        writes: bool = False,
        programs: bool = False,
    ) -> None:
        """Args:
        host: the name or address that the server listens on.
        remote: whether other machines may connect.
        scheme: `http` or `https`.
        proxy: the origin that browsers see, such as `https://review.example.org`, of a proxy before this server.
        writes: whether POST is allowed; it must name its origin.
        programs: whether programs may POST, too, which name no origin; browsers always do.
        """
        self._names = _OWN | {host.lower()} | ({socket.gethostname().lower()} if remote else set[str]())
        if proxy:
            self._names |= {(urlsplit(proxy).hostname or "").lower()}
        self._remote = remote
        self._scheme = scheme
        self._proxy = proxy
        self._programs = programs
        self._methods = ("GET", "HEAD", "POST") if writes else ("GET", "HEAD")

    def deny_reason(self, method: str, headers: MultiMapping[str]) -> web.HTTPException | None:
        """Why a request is refused; None if it is answered."""
        hosts = headers.getall("Host", [])
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return web.HTTPForbidden(text="This server has another name. Use the address that it printed.\n")
        origin, site = headers.get("Origin"), headers.get("Sec-Fetch-Site")
        own = self._proxy or f"{self._scheme}://{hosts[0]}"
        is_read = method != "POST" or "POST" not in self._methods
        anonymous = (None,) if is_read or self._programs else ()
        if origin not in (own, *anonymous) or site not in (None, "same-origin", "none"):
            return web.HTTPForbidden(text="Other sites may not link here. Type the address yourself.\n")
        if method not in self._methods:
            return web.HTTPMethodNotAllowed(method, self._methods)
        return None

    def _is_ours(self, host: str) -> bool:
        match = _HOST.fullmatch(host)
        if match is None:
            return False
        # The port is not compared: a tunnel may use another one.
        its = match[1].strip("[]").lower()
        return its in self._names or (self._remote and _is_address(its))


def _is_address(host: str) -> bool:
    """Whether a host is an IP address, which nobody can redirect, unlike a name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


_READABLE = (
    "Nothing is encrypted: anyone in between can read the token, and all runs with every prompt and reply. Add"
    " --allow-remote if you want this"
)


def resolve(
    host: str, port: int, *, remote: bool, risk: str = _READABLE
) -> tuple[socket.AddressFamily, tuple[str, int]]:
    """Where to listen: the family of the host's address, the address itself and the port.

    Args: risk: what to say where other machines could reach it without `remote`.

    Raises UsageError if that is so, or if there is no such host.
    """
    try:
        family, _, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError, OverflowError) as error:
        raise UsageError(f"--host {host}: no such host ({error})") from error
    address = str(where[0])
    if not remote and not ipaddress.ip_address(address.partition("%")[0]).is_loopback:
        raise UsageError(f"--host {host} can be reached by other machines. {risk}")
    return family, (address, port)


def listening_socket(host: str, port: int, *, remote: bool, risk: str = _READABLE) -> socket.socket:
    """A listening socket. Args: as of `resolve`. Raises UsageError as it, or if it cannot listen there."""
    family, where = resolve(host, port, remote=remote, risk=risk)
    try:
        return socket.create_server(where, family=family)
    except OSError as error:
        raise UsageError(
            f"cannot listen at {host}, port {port} ({os.strerror(error.errno or 0)}); --port 0 picks a free one"
        ) from error


def address_of(host: str, at: socket.socket, scheme: str = "http") -> str:
    """The address to type into a browser."""
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{at.getsockname()[1]}/"


async def wait_for_sigterm() -> None:
    """Returns at SIGTERM."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    # Not in every thread and on every system; then the process simply ends.
    with suppress(NotImplementedError, RuntimeError, ValueError):
        loop.add_signal_handler(signal.SIGTERM, stopped.set)
    await stopped.wait()
