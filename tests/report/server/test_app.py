"""The server of `wildtool view`, asked over a real socket: who may ask, for what, and what it leaves behind."""

import asyncio
import json
import os
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from report.report_build import ATTACK, FORGED, Scripted, play
from wildtool.errors import RecordError, UsageError
from wildtool.report.server.app import serve
from wildtool.report.server.report_jobs import files_below


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Asked:
    """A server under test."""

    port: int

    async def get(self, path: str, *headers: str, method: str = "GET", host: str | None = None) -> Answer:
        """Sends a request just as it is written; `host` is the whole header, empty for none."""
        lines = [f"{method} {path} HTTP/1.1", "Connection: close", *headers]
        named = f"Host: 127.0.0.1:{self.port}" if host is None else host
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write("\r\n".join([*lines, *filter(None, [named]), "", ""]).encode())
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
        first, *rest = head.decode().split("\r\n")
        return Answer(int(first.split()[1]), dict(line.lower().split(": ", 1) for line in rest), body)

    async def json(self, path: str) -> Any:
        return json.loads((await self.get(path)).body)

    async def rows(self) -> list[dict[str, Any]]:
        """The list with all its numbers."""
        while True:
            found = await self.json("/runs.json")
            if not found["again"]:
                return found["runs"]

    async def report(self, *runs: str) -> str:
        """The address of the report of some runs, made."""
        return "/" + (await self.made(*runs))["address"]

    async def made(self, *runs: str) -> Any:
        """What became of the report of some runs."""
        key = (await self.json("/open.json?" + "&".join(f"run={run}" for run in runs)))["key"]
        while True:
            state = await self.json(f"/made.json?key={key}")
            if "step" not in state:
                return state
            await asyncio.sleep(0.05)


@asynccontextmanager
async def served(root: Path) -> AsyncIterator[Asked]:
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(serve(root, "127.0.0.1", 0, remote=False, ready=address.set_result))
    await asyncio.wait([task, address], return_when=asyncio.FIRST_COMPLETED)
    port = urlsplit(address.result()).port
    assert port is not None
    try:
        yield Asked(port)
    finally:
        task.cancel()
        await asyncio.wait([task])


def states(folder: Path) -> dict[Path, tuple[int, int]]:
    """Size and time of change of everything below a folder."""
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*")}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("runs")
    play(place / "gold", "baseline/gold", limit=1)
    play(place / "chat", "baseline/chat", limit=1)
    (place / "chat" / "verdicts-official.parquet").unlink()
    return place


@pytest.fixture
async def server(runs: Path) -> AsyncIterator[Asked]:
    async with served(runs) as asked:
        yield asked


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:9000", "127.0.0.1:9000"])
async def test_it_answers_to_its_own_names_at_any_port_since_tunnels_end_elsewhere(server: Asked, host: str):
    assert (await server.get("/", host=f"Host: {host}")).status == 200


@pytest.mark.long
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "localhost@evil.example",
        "127.0.0.1:80@evil.example",
        "192.0.2.1",
        "127.0.0.1, evil.example",
        "",
    ],
)
@pytest.mark.parametrize("path", ["/", "/runs.json", "/open.json?run=x", "/assets/site.js"])
async def test_another_name_is_refused_since_anyone_may_point_one_here(server: Asked, host: str, path: str):
    assert (await server.get(path, host=f"Host: {host}")).status in (400, 403)


async def test_a_request_without_a_name_or_with_two_is_refused(server: Asked):
    assert (await server.get("/", host="")).status in (400, 403)
    assert (await server.get("/", "Host: localhost", host="Host: evil.example")).status in (400, 403)


@pytest.mark.long
@pytest.mark.parametrize(
    "header",
    [
        "Origin: http://evil.example",
        "Origin: null",
        "Origin: http://127.0.0.1:1",
        "Origin: https://127.0.0.1:{port}",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
    ],
)
@pytest.mark.parametrize("path", ["/", "/runs.json", "/open.json?run=x", "/report/x/data/t.js"])
async def test_other_origins_are_refused(server: Asked, header: str, path: str):
    assert (await server.get(path, header.format(port=server.port))).status == 403


@pytest.mark.parametrize(
    "header", ["Origin: http://127.0.0.1:{port}", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none"]
)
async def test_its_own_pages_and_a_typed_address_come_in(server: Asked, header: str):
    assert (await server.get("/runs.json", header.format(port=server.port))).status == 200


@pytest.mark.long
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"])
@pytest.mark.parametrize("path", ["/", "/runs.json", "/nowhere"])
async def test_nothing_but_reading_is_allowed(server: Asked, method: str, path: str):
    assert (await server.get(path, method=method)).status == 405


async def test_the_head_of_a_page_is_that_of_the_page(server: Asked):
    whole, head = await server.get("/"), await server.get("/", method="HEAD")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == whole.headers["content-length"]


@pytest.mark.parametrize(
    ("path", "method", "header", "status"),
    [
        ("/", "GET", "X: y", 200),
        ("/runs.json", "GET", "X: y", 200),
        ("/nowhere", "GET", "X: y", 404),
        ("/", "GET", "Origin: http://evil.example", 403),
        ("/", "POST", "X: y", 405),
    ],
)
async def test_every_answer_says_what_a_browser_may_do_with_it(
    server: Asked, path: str, method: str, header: str, status: int
):
    answer = await server.get(path, header, method=method)
    assert answer.status == status
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert not any(name.startswith("access-control") for name in answer.headers)


@pytest.mark.long
@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/assets/../../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/assets/%2e%2e%2f%2e%2e%2fsecret.txt",
        "/..%5csecret.txt",
        "/%252e%252e/secret.txt",
        "//etc/passwd",
        "/%2fetc/passwd",
        "/etc/passwd%00.html",
        "/assets",
        "/assets/",
        "/report/../index.html/../../etc/passwd",
        "/report/{key}/../../list/index.html",
        "/report/{key}/%2e%2e/%2e%2e/list/index.html",
        "/report/%2e%2e/list/index.html",
    ],
)
async def test_no_address_leads_out_of_what_was_written(server: Asked, path: str):
    answer = await server.get(path.format(key="0" * 16))
    assert (answer.status, b"root:" in answer.body) == (404, False)


def test_a_link_among_the_pages_leads_nowhere(tmp_path: Path):
    (tmp_path / "site" / "inner").mkdir(parents=True)
    (tmp_path / "site" / "inner" / "a.html").write_text("a")
    (tmp_path / "secret").write_text("s")
    (tmp_path / "site" / "b.html").symlink_to(tmp_path / "secret")
    assert list(files_below(tmp_path / "site")) == ["inner/a.html"]


@pytest.mark.long
async def test_a_report_has_the_pages_of_the_verb_report_and_is_made_once_for_each_state(
    runs: Path, tmp_path: Path
):
    from typer.testing import CliRunner

    from wildtool.cli import app

    before = states(runs)
    async with served(runs) as server:
        chat, gold = [row["id"] for row in await server.rows()]
        address = await server.report(gold, chat)
        again = await server.report(chat, gold)
        assert again == address
        assert states(runs) == before
        out = tmp_path / "report"
        command = ["report", str(runs / "chat"), str(runs / "gold"), "-o", str(out)]
        assert CliRunner().invoke(app, command).exit_code == 0
        for path in files_below(out):
            answer = await server.get(f"{address.rpartition('/')[0]}/{path}")
            assert answer.status == 200
            assert answer.body == (out / path).read_bytes(), path
        os.utime(runs / "gold" / "record-0001.jsonl")
        assert (await server.json(f"/open.json?run={gold}&run={chat}"))["key"] not in address


@pytest.mark.long
async def test_a_report_that_cannot_be_made_says_why(tmp_path: Path):
    folder = play(tmp_path / "runs" / "gold", "baseline/gold", limit=1)
    about = json.loads((folder / "run.json").read_text())
    about["data"] |= {"name": "/nowhere", "path": "/nowhere"}
    (folder / "run.json").write_text(json.dumps(about))
    (folder / "verdicts-official.parquet").unlink()
    async with served(tmp_path / "runs") as server:
        (row,) = await server.rows()
        assert "not where they were" in (await server.made(row["id"]))["problem"]


async def test_a_run_or_a_report_that_is_not_there_is_not_found(server: Asked):
    for path in ("/open.json", "/open.json?run=../gold", "/made.json?key=x", "/report/x/index.html"):
        assert (await server.get(path)).status == 404, path


async def test_hostile_names_are_data_of_json_and_nothing_else(tmp_path: Path):
    play(tmp_path / "runs" / "x", Scripted(f"{ATTACK} {FORGED}"), limit=1)
    async with served(tmp_path / "runs") as server:
        answer = await server.get("/runs.json")
        assert answer.headers["content-type"] == "application/json"
        assert json.loads(answer.body)["runs"][0]["model"].startswith(ATTACK)
        assert "\u202e" not in answer.body.decode()


async def test_nothing_is_left_when_it_ends_and_no_report_is_made_on(
    runs: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    started: asyncio.Queue[Any] = asyncio.Queue()
    create = asyncio.create_subprocess_exec

    async def noted(*words: Any, **options: Any) -> Any:
        process = await create(*words, **options)
        started.put_nowait(process)
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", noted)
    async with served(runs) as server:
        (row, _) = await server.rows()
        await server.json(f"/open.json?run={row['id']}")
        process = await started.get()
        assert len(list((tmp_path / "tmp").iterdir())) == 1
    assert process.returncode < 0, "ended by a signal"
    assert list((tmp_path / "tmp").iterdir()) == []


async def test_a_port_in_use_is_an_error_that_says_what_to_do(runs: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"port {port} .*in use.*--port 0"):
            await serve(runs, "127.0.0.1", port, remote=False, ready=lambda address: None)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
async def test_a_host_that_others_reach_must_be_wished_for(runs: Path, host: str):
    with pytest.raises(UsageError, match="can be reached by other machines"):
        await serve(runs, host, 0, remote=False, ready=lambda address: None)


async def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path):
    with pytest.raises(RecordError, match="no such folder"):
        await serve(tmp_path / "x", "127.0.0.1", 0, remote=False, ready=lambda address: None)
