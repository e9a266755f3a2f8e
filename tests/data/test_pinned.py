"""Pinned files: nothing is used before its bytes are verified, and a failure leaves what was there."""

import hashlib
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from wildtool.data import pinned
from wildtool.data.pinned import PinnedFile, cache_folder, fetch, git_blob_id
from wildtool.errors import DataError

RIGHT = "löffel\n".encode() * 1000
BLOB = hashlib.sha1(b"blob %d\0" % len(RIGHT) + RIGHT).hexdigest()
FILE = PinnedFile("owner/name", "c0ffee", "folder/data.jsonl", BLOB)

Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Answers every request as the test says."""

    answer: Answer
    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        type(self).answer(self)

    def send(self, status: int, body: bytes, length: int | None) -> None:
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        return


class Server:
    """A loopback host with an answer of the test's choice."""

    def __init__(self, answer: Answer) -> None:
        self.asked: list[str] = []
        bound = type("Bound", (Handler,), {"answer": staticmethod(answer), "asked": self.asked})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), bound)
        self.mirror = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


Serve = Callable[[Answer], Server]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    monkeypatch.setenv("no_proxy", "*")
    started: list[Server] = []

    def start(answer: Answer) -> Server:
        started.append(Server(answer))
        return started[-1]

    yield start
    for server in started:
        server.close()


def body(content: bytes, *, status: int = 200, length: int | None = None) -> Answer:
    return lambda handler: handler.send(status, content, len(content) if length is None else length)


def closes(handler: Handler) -> None:
    handler.connection.close()


def never_ends(handler: Handler) -> None:
    handler.send(200, RIGHT[:10], len(RIGHT))
    handler.wfile.flush()
    handler.rfile.read(1)  # returns once the client has given up


def test_the_address_names_repository_commit_and_path() -> None:
    assert FILE.url("http://mirror/") == "http://mirror/owner/name/c0ffee/folder/data.jsonl"
    assert FILE.url().startswith("https://")


def test_the_blob_id_is_gits(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"hello\n")
    assert git_blob_id(tmp_path / "f") == "ce013625030ba8dba906f756967f9e9ca394464a"


def test_the_right_bytes_are_installed(serve: Serve, tmp_path: Path) -> None:
    server, said = serve(body(RIGHT)), list[str]()
    target = fetch(FILE, tmp_path / "new" / "data.jsonl", mirror=server.mirror, report=said.append)
    assert target.read_bytes() == RIGHT
    assert server.asked == ["/owner/name/c0ffee/folder/data.jsonl"]
    assert list(target.parent.iterdir()) == [target]
    assert BLOB in said[-1]


def test_bytes_without_a_stated_length_are_installed_if_right(serve: Serve, tmp_path: Path) -> None:
    server = serve(lambda handler: handler.send(200, RIGHT, None))
    assert fetch(FILE, tmp_path / "data", mirror=server.mirror).read_bytes() == RIGHT


def test_a_verified_file_is_not_fetched_again(serve: Serve, tmp_path: Path) -> None:
    server = serve(body(RIGHT))
    fetch(FILE, tmp_path / "data", mirror=server.mirror)
    fetch(FILE, tmp_path / "data", mirror=server.mirror)
    assert len(server.asked) == 1


def test_a_file_with_other_bytes_is_fetched_again(serve: Serve, tmp_path: Path) -> None:
    server = serve(body(RIGHT))
    (tmp_path / "data").write_bytes(b"old")
    assert fetch(FILE, tmp_path / "data", mirror=server.mirror).read_bytes() == RIGHT


FAILURES: dict[str, tuple[Answer, str]] = {
    "other bytes": (body(RIGHT.replace(b"l", b"L")), "not the pinned file"),
    "one byte more": (body(RIGHT + b" "), "not the pinned file"),
    "empty body": (body(b""), "not the pinned file"),
    "half a file": (body(RIGHT[:4000], length=len(RIGHT)), f"cut short after 4000 of {len(RIGHT)} bytes"),
    "no such file": (body(b"no", status=404), "answered 404"),
    "broken server": (body(b"oops", status=500), "answered 500"),
    "closed connection": (closes, "check the network"),
    "silence after ten bytes": (never_ends, "check the network"),
}


@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.parametrize("before", [None, b"old"])
def test_a_failed_fetch_says_why_and_leaves_what_was_there(
    name: str, before: bytes | None, serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pinned, "TIMEOUT_S", 0.2)
    answer, why = FAILURES[name]
    server, target = serve(answer), tmp_path / "data.jsonl"
    if before is not None:
        target.write_bytes(before)
    with pytest.raises(DataError) as error:
        fetch(FILE, target, mirror=server.mirror)
    assert why in str(error.value)
    assert server.mirror in str(error.value)
    assert "FILE" in str(error.value), "it says what to do next"
    assert [path.name for path in tmp_path.iterdir()] == ([] if before is None else ["data.jsonl"])
    assert before is None or target.read_bytes() == before


def test_a_host_that_nobody_serves_is_named(serve: Serve, tmp_path: Path) -> None:
    server = serve(body(RIGHT))
    server.close()
    with pytest.raises(DataError, match=server.mirror):
        fetch(FILE, tmp_path / "data", mirror=server.mirror)


def test_a_mirror_that_never_ends_is_not_read_on(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pinned, "MOST_BYTES", 3 * 2**20)

    def endless(handler: Handler) -> None:
        handler.send(200, b"", None)
        try:
            while True:
                handler.wfile.write(b"x" * 2**20)
        except OSError:
            return

    server = serve(endless)
    with pytest.raises(DataError, match=f"{server.mirror}.*longer than {3 * 2**20} bytes.*--from FILE"):
        fetch(FILE, tmp_path / "data", mirror=server.mirror)
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_just_the_longest_length_is_installed(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pinned, "MOST_BYTES", len(RIGHT))
    server = serve(body(RIGHT))
    assert fetch(FILE, tmp_path / "data", mirror=server.mirror).read_bytes() == RIGHT


@pytest.mark.parametrize("scheme", ["file", "FILE", "data", "ftp"])
def test_a_mirror_that_is_no_http_address_is_not_opened(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(*_: object, **__: object) -> None:
        pytest.fail("it was opened")

    monkeypatch.setattr(pinned.urllib.request, "urlopen", opened)
    with pytest.raises(DataError, match="http://"):
        fetch(FILE, tmp_path / "data", mirror=f"{scheme}://{tmp_path}")


@pytest.mark.parametrize("mirror", ["nonsense", "http://", "http://127.0.0.1:notaport", "unknown://host"])
def test_a_mirror_that_is_no_address_is_a_data_error(mirror: str, tmp_path: Path) -> None:
    with pytest.raises(DataError):
        fetch(FILE, tmp_path / "data", mirror=mirror)


def test_a_file_on_disk_is_copied_without_network(tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(RIGHT)
    target = fetch(FILE, tmp_path / "cache" / "data", file=tmp_path / "mine", mirror="http://127.0.0.1:9")
    assert target.read_bytes() == RIGHT
    assert (tmp_path / "mine").read_bytes() == RIGHT


def test_a_wrong_file_on_disk_is_named_and_not_installed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(b"other")
    with pytest.raises(DataError, match=r"mine: not the pinned file.* \(5 bytes\), expected"):
        fetch(FILE, tmp_path / "data", file=tmp_path / "mine")
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_missing_file_on_disk_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"absent.*--from"):
        fetch(FILE, tmp_path / "data", file=tmp_path / "absent")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_a_data_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "mine").write_bytes(RIGHT)
    with pytest.raises(DataError, match="WILDTOOL_DATA_DIR"):
        fetch(FILE, tmp_path / "file" / "folder" / "data", file=tmp_path / "mine")


def test_the_cache_lies_where_the_variable_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"


def test_without_the_variable_the_cache_is_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WILDTOOL_DATA_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder().is_relative_to(tmp_path)
    assert "wildtool" in cache_folder().parts
