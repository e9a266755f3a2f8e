"""The local server that the players ask, in a process of its own, and how many calls a second it can take."""

import asyncio
import subprocess
import sys
import time
import venv
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
SERVER = ROOT / "tests" / "faults" / "server.py"
BASELINES = ROOT / "build" / "bench-venv"


@contextmanager
def serving(behaviour: str, delay_ms: float = 0) -> Generator[str, None, None]:
    """A server while the context is open; gives its base URL."""
    command = [sys.executable, str(SERVER), "--behaviour", behaviour, "--delay-ms", str(delay_ms)]
    with printing_its_port(command) as address:
        yield f"{address}/v1"


@contextmanager
def printing_its_port(command: Sequence[str]) -> Generator[str, None, None]:
    """A server that prints its port first, while the context is open; gives its address without a path."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.terminate()


def baseline_python() -> Path:
    """The interpreter with the baselines' packages; installs them at the first call."""
    python = BASELINES / "bin" / "python"
    if not (BASELINES / "installed").exists():
        venv.create(BASELINES, with_pip=True)
        requirements = Path(__file__).with_name("requirements.txt")
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--requirement", requirements], check=True)
        (BASELINES / "installed").touch()
    return python


def ceiling(base_url: str, body: bytes, calls: int = 20_000, connections: int = 100) -> float:
    """Calls a second that the server answers to a client which does nothing but send the same bytes again."""
    port = int(base_url.split(":")[2].split("/")[0])
    return asyncio.run(_ceiling(port, body, calls, connections))


async def _ceiling(port: int, body: bytes, calls: int, connections: int) -> float:
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: bench\r\nContent-Length: {len(body)}\r\n\r\n"
    request = head.encode() + body
    left = calls

    async def one() -> None:
        nonlocal left
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while left > 0:
            left -= 1
            writer.write(request)
            answer = await reader.readuntil(b"\r\n\r\n")
            length = int(answer.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
            await reader.readexactly(length)
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(connections)))
    return calls / (time.perf_counter() - began)
