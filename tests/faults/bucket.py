"""A loopback server that speaks as much S3 as runs in a bucket need, with a clock and outages that the test decides."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Self
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape


@dataclass
class Stored:
    """An object of the bucket."""

    data: bytes
    modified: datetime


class Bucket:
    """As a context manager it listens. Objects are created only if they are absent where a request demands it."""

    def __init__(self) -> None:
        self.objects: dict[str, Stored] = {}
        self.away = False
        """While true, every request is hung up on."""
        self.refused = 0
        self._connections: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *error: object) -> None:
        self._server.close()
        for connection in self._connections:
            connection.close()

    @property
    def environment(self) -> dict[str, str]:
        """What names it to a command."""
        port = self._server.sockets[0].getsockname()[1]
        return {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ACCESS_KEY_ID": "any",
            "AWS_SECRET_ACCESS_KEY": "any",
            "AWS_REGION": "us-east-1",
        }

    def age(self, name: str, seconds: float) -> None:
        """Makes the objects whose keys hold a text older."""
        for key, stored in self.objects.items():
            if name in key:
                stored.modified -= timedelta(seconds=seconds)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.add(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head)}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                if self.away:
                    self.refused += 1
                    break
                method, target, _ = head[0].split(" ")
                writer.write(self._answer(method, target, headers, body))
                await writer.drain()
        self._connections.discard(writer)
        writer.close()

    def _answer(self, method: str, target: str, headers: dict[str, str], body: bytes) -> bytes:
        parts = urlsplit(target)
        key = unquote(parts.path).lstrip("/")
        if method == "PUT":
            if "if-none-match" in headers and key in self.objects:
                return http("412 Precondition Failed")
            self.objects[key] = Stored(body, datetime.now(UTC))
            return http("200 OK")
        if "list-type" in parts.query:
            return http("200 OK", self._list(key.rstrip("/") + "/", parse_qs(parts.query)))
        if key not in self.objects:
            return http("404 Not Found")
        stored = self.objects[key]
        return http("200 OK", stored.data, modified=stored.modified)

    def _list(self, bucket: str, query: dict[str, list[str]]) -> bytes:
        prefix, after, delimiter = (
            query.get(name, [""])[0] for name in ("prefix", "start-after", "delimiter")
        )
        folders: set[str] = set()
        parts: list[str] = []
        for key, stored in sorted(self.objects.items()):
            name = key.removeprefix(bucket)
            if name == key or not name.startswith(prefix) or name <= after:
                continue
            rest = name.removeprefix(prefix)
            if delimiter and delimiter in rest:
                folders.add(prefix + rest.partition(delimiter)[0] + delimiter)
                continue
            modified = stored.modified.isoformat().replace("+00:00", "Z")
            parts.append(
                f"<Contents><Key>{escape(name)}</Key><LastModified>{modified}</LastModified><ETag>e</ETag>"
                f"<Size>{len(stored.data)}</Size></Contents>"
            )
        parts += [
            f"<CommonPrefixes><Prefix>{escape(each)}</Prefix></CommonPrefixes>" for each in sorted(folders)
        ]
        return f"<ListBucketResult>{''.join(parts)}</ListBucketResult>".encode()


def http(status: str, body: bytes = b"", modified: datetime | None = None) -> bytes:
    """An answer of the server."""
    when = format_datetime(modified or datetime.now(UTC), usegmt=True)
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nETag: e\r\nLast-Modified: {when}\r\n\r\n"
    return head.encode() + body
