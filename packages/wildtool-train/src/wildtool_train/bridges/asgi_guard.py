"""Who may ask a server that speaks ASGI, such as OpenEnv's: the policy of wildtool's own servers."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from multidict import CIMultiDict

from wildtool.report.server.access import AccessPolicy

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
POLICY_VIOLATION = 1008
"""Code with which a socket is closed; before it is open, servers answer 403 in its place."""


class AccessGuard:
    """Middleware that passes on only the requests and sockets that a policy allows."""

    def __init__(self, app: Application, policy: AccessPolicy) -> None:
        self._app, self._policy = app, policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        # A socket is opened by GET.
        refusal = self._policy.deny_reason(scope.get("method", "GET"), CIMultiDict(headers))
        if refusal is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        else:
            content_type = (b"content-type", b"text/plain; charset=utf-8")
            start = {"type": "http.response.start", "status": refusal.status, "headers": [content_type]}
            await send(start)
            await send({"type": "http.response.body", "body": (refusal.text or "").encode()})
