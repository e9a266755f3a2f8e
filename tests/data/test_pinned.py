"""Pinned files: nothing is used before its bytes are verified, and a failure leaves what was there."""

import gzip
import hashlib
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from platformdirs import user_cache_path

from data.loopback import Answer, Handler, Server, body, files
from wildtool.data import pinned
from wildtool.data.pinned import (
    MAX_PARALLEL_FETCHES,
    PinnedFile,
    cache_folder,
    data_place,
    fetch,
    fetch_all,
    git_blob_id,
)
from wildtool.errors import DataError

RIGHT = "löffel\n".encode() * 1000
BLOB = hashlib.sha1(b"blob %d\0" % len(RIGHT) + RIGHT).hexdigest()
FILE = PinnedFile("owner/name", "c0ffee", "folder/data.jsonl", BLOB)

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


def closes(handler: Handler) -> None:
    handler.connection.close()


def never_ends(handler: Handler) -> None:
    handler.send(200, RIGHT[:10], len(RIGHT))
    handler.wfile.flush()
    handler.rfile.read(1)  # returns once the client has given up


def test_the_address_names_repository_commit_and_path() -> None:
    assert FILE.url("http://mirror/") == "http://mirror/owner/name/c0ffee/folder/data.jsonl"
    assert FILE.url() == "https://raw.githubusercontent.com/owner/name/c0ffee/folder/data.jsonl"


def test_the_blob_id_is_gits(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"hello\n")
    assert git_blob_id(tmp_path / "f") == "ce013625030ba8dba906f756967f9e9ca394464a"


def test_the_right_bytes_are_installed_and_not_fetched_again(serve: Serve, tmp_path: Path) -> None:
    server, reports = serve(body(RIGHT)), list[str]()
    target = tmp_path / "new" / "folder" / "data.jsonl"
    for _ in range(2):
        assert fetch(FILE, target, mirror=server.mirror, report=reports.append) == target
    assert target.read_bytes() == RIGHT
    assert server.asked == ["/owner/name/c0ffee/folder/data.jsonl"]
    assert list(target.parent.iterdir()) == [target]
    assert reports == [
        f"fetching {server.mirror}/owner/name/c0ffee/folder/data.jsonl",
        f"{target} verified: git blob id {BLOB}",
        f"{target} is there and verified",
    ]


def test_bytes_without_a_stated_length_are_installed_if_right(serve: Serve, tmp_path: Path) -> None:
    server = serve(lambda handler: handler.send(200, RIGHT, None))
    assert fetch(FILE, tmp_path / "data", mirror=server.mirror).read_bytes() == RIGHT


def test_a_file_with_other_bytes_is_fetched_again(serve: Serve, tmp_path: Path) -> None:
    server = serve(body(RIGHT))
    (tmp_path / "data").write_bytes(b"old")
    assert fetch(FILE, tmp_path / "data", mirror=server.mirror).read_bytes() == RIGHT


HINT = "check the network or proxy, try again, or give a downloaded copy with --from FILE"


def not_pinned(content: bytes) -> str:
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    return (
        f"not the pinned file: git blob id {blob} ({len(content)} bytes), expected git blob id {BLOB}; nothing was"
        " installed. Take folder/data.jsonl at commit c0ffee of owner/name, or give another file to a run with"
        " --data FILE"
    )


CHANGED = RIGHT.replace(b"l", b"L")
FAILURES: dict[str, tuple[Answer, str]] = {
    "other bytes": (body(CHANGED), not_pinned(CHANGED)),
    "one byte more": (body(RIGHT + b" "), not_pinned(RIGHT + b" ")),
    "empty body": (body(b""), not_pinned(b"")),
    "half a file": (
        body(RIGHT[:4000], length=len(RIGHT)),
        f"cut short after 4000 of {len(RIGHT)} bytes; {HINT}",
    ),
    "no such file": (body(b"no", status=404), f"the server answered 404 Not Found; {HINT}"),
    "broken server": (body(b"oops", status=500), f"the server answered 500 Internal Server Error; {HINT}"),
    "closed connection": (closes, f"Remote end closed connection without response; {HINT}"),
    "silence after ten bytes": (never_ends, f"timed out; {HINT}"),
}


@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.parametrize("before", [None, b"old"])
def test_a_failed_fetch_says_why_and_leaves_what_was_there(
    name: str, before: bytes | None, serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, why = FAILURES[name]
    if "timed out" in why:  # a busy machine may keep the others waiting as long
        monkeypatch.setattr(pinned, "TIMEOUT_S", 0.2)
    server, target = serve(answer), tmp_path / "data.jsonl"
    if before is not None:
        target.write_bytes(before)
    with pytest.raises(DataError) as error:
        fetch(FILE, target, mirror=server.mirror)
    assert str(error.value) == f"{FILE.url(server.mirror)}: {why}"
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
    monkeypatch.setattr(pinned, "MAX_FILE_BYTES", 3 * 2**20)

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
    monkeypatch.setattr(pinned, "MAX_FILE_BYTES", len(RIGHT))
    server = serve(body(RIGHT))
    assert fetch(FILE, tmp_path / "data", mirror=server.mirror).read_bytes() == RIGHT


@pytest.mark.parametrize("scheme", ["file", "FILE", "data", "ftp"])
def test_a_mirror_that_is_no_http_address_is_not_opened(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(*_: object, **__: object) -> None:
        pytest.fail("it was opened")

    monkeypatch.setattr(urllib.request, "urlopen", opened)
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


def test_a_folder_that_cannot_be_made_is_a_data_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "mine").write_bytes(RIGHT)
    folder = tmp_path / "file" / "folder"
    with pytest.raises(DataError) as error:
        fetch(FILE, folder / "data", file=tmp_path / "mine")
    assert str(error.value) == (
        f"cannot make {folder}: Not a directory; WILDTOOL_DATA_DIR names another folder"
    )


def test_content_is_installed_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "new" / "folder" / "data"
    for content in (b"one", b"two"):
        pinned.install(target, content)
        assert ([*target.parent.iterdir()], target.read_bytes()) == ([target], content)

    def full(path: Path, content: bytes) -> None:
        if begun.pop():
            path.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    begun = [False, True]
    while begun:
        with pytest.raises(DataError) as error:
            pinned.install(target, b"three")
        assert str(error.value) == (
            f"cannot write {target}: No space left on device; WILDTOOL_DATA_DIR names another folder"
        )
        assert ([*target.parent.iterdir()], target.read_bytes()) == ([target], b"two")
    monkeypatch.undo()
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=f"^cannot make {tmp_path / 'file'}: File exists; "):
        pinned.install(tmp_path / "file" / "data", b"three")


def test_a_compressed_file_on_disk_is_unpacked_before_it_is_verified(tmp_path: Path) -> None:
    (tmp_path / "mine.gz").write_bytes(gzip.compress(RIGHT))
    assert fetch(FILE, tmp_path / "data", file=tmp_path / "mine.gz").read_bytes() == RIGHT


def test_a_file_on_disk_is_not_read_on_beyond_the_longest_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").write_bytes(RIGHT)
    monkeypatch.setattr(pinned, "MAX_FILE_BYTES", len(RIGHT))
    assert fetch(FILE, tmp_path / "data", file=tmp_path / "mine").read_bytes() == RIGHT
    monkeypatch.setattr(pinned, "MAX_FILE_BYTES", len(RIGHT) - 1)
    with pytest.raises(DataError) as error:
        fetch(FILE, tmp_path / "again", file=tmp_path / "mine")
    assert str(error.value) == (
        f"{tmp_path / 'mine'}: longer than {len(RIGHT) - 1} bytes, so it is not the file; --from names another"
    )


def test_a_file_may_be_known_by_its_sha256(tmp_path: Path) -> None:
    file = PinnedFile("owner/name", "c0ffee", "a", sha256=hashlib.sha256(RIGHT).hexdigest())
    (tmp_path / "right").write_bytes(RIGHT)
    (tmp_path / "wrong").write_bytes(RIGHT + b" ")
    assert fetch(file, tmp_path / "a", file=tmp_path / "right").read_bytes() == RIGHT
    with pytest.raises(DataError, match=f"SHA-256 .* expected SHA-256 {file.sha256}"):
        fetch(file, tmp_path / "b", file=tmp_path / "wrong")


@pytest.mark.parametrize("digests", [{}, {"git_blob": BLOB, "sha256": "0" * 64}])
def test_a_file_is_known_by_just_one_digest(digests: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="one of them"):
        PinnedFile("owner/name", "c0ffee", "a", **digests)


# Many files ------------------------------------------------------------------------------------------


def many(folder: Path, count: int = 5) -> tuple[dict[Path, PinnedFile], dict[str, bytes]]:
    """Files `0`, `1`, … with their targets in a folder, and what a server has to serve for them."""
    contents = {f"/owner/name/c0ffee/set/{i}": b"%d" % i for i in range(count)}
    pins = {
        folder / str(i): PinnedFile(
            "owner/name",
            "c0ffee",
            f"set/{i}",
            sha256=hashlib.sha256(b"%d" % i).hexdigest(),
            other_path=f"other/{i}",
        )
        for i in range(count)
    }
    return pins, contents


def test_many_files_are_brought_to_their_targets(serve: Serve, tmp_path: Path) -> None:
    pins, contents = many(tmp_path, 20)
    server, reports = serve(files(contents)), list[str]()
    for _ in range(2):
        fetch_all(pins, mirror=server.mirror, report=reports.append)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        str(i): b"%d" % i for i in range(20)
    }
    assert reports == [
        f"taking 20 of 20 files from {server.mirror}/owner/name",
        "20 files are there and verified",
        "20 files are there and verified",
    ]


FAULTS: dict[str, tuple[Answer, str]] = {
    "not found": (body(b"no", status=404), "the server answered 404 Not Found; "),
    "wrong bytes": (body(b"wrong"), "not the pinned file: "),
    "broken connection": (closes, "Remote end closed connection without response; "),
    "cut short": (body(b"", length=1), "cut short after 0 of 1 bytes; "),
}


@pytest.mark.parametrize("name", FAULTS)
def test_one_failed_file_is_named_and_the_others_are_in_place(
    name: str, serve: Serve, tmp_path: Path
) -> None:
    pins, contents = many(tmp_path)
    fault, why = FAULTS[name]
    rest = files(contents)
    server = serve(lambda handler: (fault if handler.path.endswith("/3") else rest)(handler))
    with pytest.raises(DataError) as error:
        fetch_all(pins, mirror=server.mirror)
    place = f"{server.mirror}/owner/name/c0ffee/set/3"
    assert str(error.value).startswith(f"1 of 5 files are missing: set/3. The first reason: {place}: {why}")
    assert str(error.value).endswith(". The others are in place. Run the same command again to continue")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1", "2", "4"]


def test_running_again_asks_only_for_what_is_missing(serve: Serve, tmp_path: Path) -> None:
    wanted, contents = many(tmp_path)
    fetch_all(wanted, mirror=serve(files(contents)).mirror)
    (tmp_path / "1").unlink()
    (tmp_path / "2").write_bytes(b"damaged")
    server, reports = serve(files(contents)), list[str]()
    fetch_all(wanted, mirror=server.mirror, report=reports.append)
    assert reports[0] == f"taking 2 of 5 files from {server.mirror}/owner/name"
    assert sorted(server.asked) == ["/owner/name/c0ffee/set/1", "/owner/name/c0ffee/set/2"]
    assert all(pin.is_at(target) for target, pin in wanted.items())


def test_where_nothing_comes_not_every_file_is_waited_for(serve: Serve, tmp_path: Path) -> None:
    wanted, _ = many(tmp_path, 100 * MAX_PARALLEL_FETCHES)
    server = serve(body(b"no", status=503))
    with pytest.raises(
        DataError, match=r"800 of 800 files are missing: set/0, set/1, set/2, …\. The first"
    ) as e:
        fetch_all(wanted, mirror=server.mirror)
    assert str(e.value).endswith(
        f"answered 503 Service Unavailable; {HINT}. Run the same command again to continue"
    )
    assert len(server.asked) < 100 * MAX_PARALLEL_FETCHES


def test_many_files_come_from_a_folder_in_either_layout(tmp_path: Path) -> None:
    wanted, _ = many(tmp_path / "cache", 3)
    (tmp_path / "mine" / "set").mkdir(parents=True)
    (tmp_path / "mine" / "other").mkdir()
    (tmp_path / "mine" / "set" / "0").write_bytes(b"0")
    (tmp_path / "mine" / "other" / "1").write_bytes(b"1")
    (tmp_path / "mine" / "other" / "2.gz").write_bytes(gzip.compress(b"2"))
    fetch_all(wanted, folder=tmp_path / "mine", mirror="http://127.0.0.1:9")
    assert sorted(path.read_bytes() for path in (tmp_path / "cache").iterdir()) == [b"0", b"1", b"2"]


def test_an_error_of_another_kind_is_raised_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(pinned, "fetch", broken)
    with pytest.raises(ZeroDivisionError):
        fetch_all(many(tmp_path)[0])


def test_proxies_of_the_environment_are_used(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted, contents = many(tmp_path, 1)
    proxy = serve(files({f"http://far.example{path}": content for path, content in contents.items()}))
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("http_proxy", proxy.mirror)
    # urllib reads the environment once a process; this test stands for a process of its own.
    monkeypatch.setattr(urllib.request, "_opener", None)
    fetch_all(wanted, mirror="http://far.example")
    assert (tmp_path / "0").read_bytes() == b"0"


# The cache -------------------------------------------------------------------------------------------


def test_the_cache_lies_where_the_variable_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"


def test_without_the_variable_the_cache_is_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WILDTOOL_DATA_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == user_cache_path("wildtool") / "data"
    assert cache_folder().is_relative_to(tmp_path)


def test_data_are_where_the_user_says_or_pulled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path))

    def message(data: str | None) -> str:
        with pytest.raises(DataError) as error:
            data_place(data, "tides", "a folder")
        return str(error.value)

    pulled = tmp_path / "tides"
    assert message("nowhere") == "no file or folder 'nowhere'; --data takes official, a folder"
    for data in (None, "official"):
        assert message(data) == (
            f"the official data are not at {pulled}; get them with `wildtool data pull tides` (or `--from FOLDER` if you"
            " have them), or name a folder with --data"
        )
    pulled.mkdir()
    for data in (None, "official", str(pulled)):
        assert data_place(data, "tides", "a folder") == pulled
