"""Slow and too many connections to the local server: they are closed, and others are answered."""

import asyncio
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from e2e.command import COMMAND
from report.server.test_app import served
from wildtool.report.server import connections, serving
from wildtool.report.server.connections import Connections
from wildtool.report.server.serving import WorkerThread, has_pending_action

HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
FEW_DESCRIPTORS = """
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
BLOCKED = """
import sys, threading
from wildtool.report.server.run_index import RunIndex
RunIndex.scan = lambda self: threading.Event().wait()
from wildtool.cli import main
sys.argv = ["wildtool", "view", sys.argv[1], "--port", "0", "--no-token"]
main()
"""


@pytest.mark.parametrize("sent", [b"", b"GET", HEAD, HEAD + b"Content-Length: 9\r\n\r\nabc"])
async def test_a_request_that_does_not_come_whole_is_closed(
    tmp_path: Path, sent: bytes, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connections, "REQUEST_S", 0.01)
    monkeypatch.setattr(serving, "REQUEST_S", 0.01)
    async with served(tmp_path) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(sent)
        assert not (await rest_of(reader)).startswith(b"HTTP/1.1 5")
        writer.close()


async def test_a_connection_that_drips_gets_no_longer_than_one_that_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connections, "REQUEST_S", 0.05)
    async with served(tmp_path) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(HEAD)
        with suppress(ConnectionError):
            while not reader.at_eof():
                writer.write(b"X: y\r\n")
                await writer.drain()
                await asyncio.sleep(0)
        writer.close()
        # The next one has its time, however busy this machine is.
        monkeypatch.setattr(connections, "REQUEST_S", 60)
        assert (await server.get("/")).status == 200


async def test_where_there_are_too_many_the_oldest_that_waits_makes_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connections, "connection_limit", lambda: 4)
    async with served(tmp_path) as server:
        waiting = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(20)]
        assert (await server.get("/")).status == 200
        assert await rest_of(waiting[0][0]) == b""
        for _, writer in waiting:
            writer.close()


def test_the_process_has_descriptors_for_as_many_as_it_allows(monkeypatch: pytest.MonkeyPatch):
    for soft, most in ((8, 4), (64, 16), (1024, 256), (resource.RLIM_INFINITY, 256)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, soft=soft: (soft, soft))
        assert connections.connection_limit() == most


@pytest.mark.long
def test_without_descriptors_it_keeps_serving_and_says_nothing(tmp_path: Path):
    command = [
        sys.executable,
        "-c",
        FEW_DESCRIPTORS,
        str(COMMAND),
        "view",
        str(tmp_path),
        "--port",
        "0",
        "--no-token",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            port = port_of(process)

            async def crowd() -> tuple[bytes, bytes]:
                held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(300)]
                during = await ask(port)
                for _, writer in held:
                    writer.close()
                return during, await ask(port)

            during, after = asyncio.run(crowd())
        finally:
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate()
    assert (during[:15], after[:15]) == (b"HTTP/1.1 200 OK", b"HTTP/1.1 200 OK")
    assert (process.returncode, "Traceback" in said) == (0, False), said


@pytest.mark.long
def test_sigterm_ends_it_also_while_a_disk_does_not_answer(tmp_path: Path):
    command = [sys.executable, "-c", BLOCKED, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        port = port_of(process)
        asyncio.run(begin(port))
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate()
    assert (process.returncode, "Traceback" in said) == (0, False), said


def test_a_reading_that_does_not_end_is_left_behind():
    done, forever = threading.Event(), threading.Event()

    async def read() -> None:
        reader = WorkerThread()
        assert await reader.call(lambda: 7) == 7
        task = asyncio.ensure_future(reader.call(lambda: (done.set(), forever.wait())))
        await asyncio.to_thread(done.wait)
        reader.close()
        assert has_pending_action()
        forever.set()
        await task

    asyncio.run(read())


def port_of(process: "subprocess.Popen[str]") -> int:
    assert process.stdout is not None
    found = re.search(r":(\d+)/$", process.stdout.readline().strip())
    assert found is not None
    return int(found[1])


async def rest_of(reader: asyncio.StreamReader) -> bytes:
    """What comes before the connection is closed, in whatever way."""
    with suppress(ConnectionError):
        return await reader.read()
    return b""


async def ask(port: int) -> bytes:
    while True:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HEAD + b"Connection: close\r\n\r\n")
        try:
            return await reader.read()
        except ConnectionError:
            continue
        finally:
            writer.close()


async def begin(port: int) -> None:
    """Begins a reading, and does not wait for what it gives."""
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /runs.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
    # The page is answered after that request was read.
    assert (await ask(port)).startswith(b"HTTP/1.1 200")
    writer.close()


async def test_a_connection_that_comes_the_moment_the_server_stops_is_no_error():
    errors: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda loop, context: errors.append(context))
    with socket.create_server(("127.0.0.1", 0)) as at, socket.socket() as client:
        accepting = loop.create_task(Connections(asyncio.Protocol).accept(at))
        await asyncio.sleep(0)
        client.connect(at.getsockname())
        # Both in one turn of the loop: the socket is readable, and nobody waits for it any more.
        loop.call_soon(accepting.cancel)
        await asyncio.gather(accepting, return_exceptions=True)
        await asyncio.sleep(0)
    assert errors == []
