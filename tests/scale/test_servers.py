"""A model server of one worker: how it is started, waited for and named when it ends."""

import sys
import threading
import urllib.error
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.errors import UsageError
from wildtool.scale import servers as module
from wildtool.scale.servers import ModelServer, ServerError, supervise


class Process:
    """In place of a process."""

    started: list[Any] = []  # noqa: RUF012
    status: int | None = None

    def __init__(self, words: list[str], **options: Any) -> None:
        self.started.append((words, options))
        self.stdin = SimpleNamespace(close=lambda: self.log.append("close"))
        self.log: list[Any] = []
        self.lasts = False

    def poll(self) -> int | None:
        return Process.status

    def wait(self, timeout: float | None = None) -> None:
        self.log.append(timeout)
        if self.lasts and timeout is not None:
            raise module.subprocess.TimeoutExpired("x", timeout)

    def kill(self) -> None:
        self.log.append("kill")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    monkeypatch.setattr(Process, "started", [])
    monkeypatch.setattr(Process, "status", None)
    monkeypatch.setattr(module.subprocess, "Popen", Process)
    return Process.started


def server(folder: Path, command: str = "serve --port {port} 'a b'") -> ModelServer:
    return ModelServer(command, "http://127.0.0.1:{port}/v1/", folder / "cache" / "logs" / "s.log")


def test_a_server_is_started_on_a_free_port_with_its_own_log(started: list[Any], tmp_path: Path):
    made = server(tmp_path)
    ((words, options),) = started
    port = str(made.port)
    assert words == [sys.executable, "-m", "wildtool.scale.servers", "serve", "--port", port, "a b"]
    assert options.pop("stdout").name == str(tmp_path / "cache" / "logs" / "s.log")
    assert options == {"stdin": -1, "stderr": -2, "start_new_session": True}
    with pytest.raises(UsageError, match=r"^--server is \"serve 'x\", which no shell can read \(No closing"):
        server(tmp_path, "serve 'x")


def test_a_server_ends_with_its_worker_and_is_killed_if_it_does_not(started: list[Any], tmp_path: Path):
    for lasts, log in ((False, ["close", 40.0]), (True, ["close", 40.0, "kill", None])):
        with server(tmp_path) as made:
            process: Any = made._process  # pyright: ignore[reportPrivateUsage]
            process.lasts = lasts
        assert process.log == log


def waiting(monkeypatch: pytest.MonkeyPatch, *answers: Any) -> list[Any]:
    """What the server answers, in turn, a second apart."""
    asked: list[Any] = []
    left = [*answers]
    now = [0.0]

    class Opener:
        def open(self, url: str, timeout: float) -> Any:
            asked.append((url, timeout))
            now[0] += 1.0
            answer = left.pop(0) if len(left) > 1 else left[0]
            if isinstance(answer, Exception):
                raise answer
            return SimpleNamespace(close=lambda: None)

    monkeypatch.setattr(module.urllib.request, "build_opener", lambda handler: Opener())
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=lambda seconds: None))
    return asked


def http(code: int) -> urllib.error.HTTPError:
    return urllib.error.HTTPError("u", code, "x", {}, None)  # pyright: ignore


def test_a_server_is_waited_for_until_it_answers(
    started: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for last in ("fine", http(404)):
        made = server(tmp_path)
        asked = waiting(monkeypatch, ConnectionError(), http(503), ValueError(), last)
        made.wait()
        assert asked == [(f"http://127.0.0.1:{made.port}/v1/models", 10)] * 4


def test_a_server_that_never_answers_is_named(
    started: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    made = server(tmp_path)
    asked = waiting(monkeypatch, http(503))
    monkeypatch.setattr(module, "START_S", 3.0)
    with pytest.raises(ServerError) as caught:
        made.wait()
    assert len(asked) == 3
    assert caught.value.exit_status == 3
    assert str(caught.value) == (
        f"the server does not answer at http://127.0.0.1:{made.port}/v1/models after 3 s; its log:"
        f" {tmp_path}/cache/logs/s.log"
    )


@pytest.mark.parametrize(
    ("log", "last"), [("", "it wrote nothing"), ("a\nno room\n\n", "no room"), ("x" * 700, "x" * 600)]
)
def test_a_server_that_ended_is_named_with_its_last_line(
    started: list[Any], tmp_path: Path, log: str, last: str
):
    made = server(tmp_path)
    made.check()
    (tmp_path / "cache" / "logs" / "s.log").write_text(log)
    Process.status = 7
    with pytest.raises(ServerError) as caught:
        made.wait()
    assert str(caught.value) == (
        f"the server of this worker ended with status 7 ({last}); its shares are free for other workers. Its log:"
        f" {tmp_path}/cache/logs/s.log"
    )


# Between a worker and its server ----------------------------------------------------------------------


class Supervised:
    """A server and the standard input of its supervisor; what is done to it is noted."""

    pid = 5

    def __init__(self, monkeypatch: pytest.MonkeyPatch, status: int, *, ends: bool = True) -> None:
        """Args: ends: by itself, not by a signal."""
        self.log: list[Any] = []
        self.status = status
        self._over, self._gone = threading.Event(), threading.Event()
        if ends:
            self._over.set()
        monkeypatch.setattr(module.subprocess, "Popen", self._start)
        system = SimpleNamespace(read=self._read, killpg=self._killpg)
        monkeypatch.setattr(module, "os", system)
        self._left = [] if ends else [b"x", b""]

    def _start(self, words: list[str], **options: Any) -> Any:
        self.log.append((words, options))
        return self

    def _read(self, file: int, size: int) -> bytes:
        assert (file, size) == (0, 64)
        if not self._left:
            self._gone.wait()
        return self._left.pop(0)

    def _killpg(self, group: int, sent: int) -> None:
        self.log.append((group, int(sent)))
        if sent == 9:
            self._over.set()
        raise ProcessLookupError

    def wait(self, timeout: float | None = None) -> int:
        if timeout is not None:
            self.log.append(timeout)
            raise module.subprocess.TimeoutExpired("x", timeout)
        self._over.wait(10)
        return self.status


STARTED = (["serve", "x"], {"stdin": -3, "start_new_session": True})


@pytest.mark.parametrize(("status", "exit_status"), [(3, 3), (0, 0), (-9, 137)])
def test_what_a_server_leaves_behind_is_killed_when_it_ends(
    monkeypatch: pytest.MonkeyPatch, status: int, exit_status: int
):
    server = Supervised(monkeypatch, status)
    assert supervise(["serve", "x"]) == exit_status
    assert server.log == [STARTED, (5, 9)]


def test_a_server_ends_once_standard_input_does_and_is_killed_if_it_does_not(monkeypatch: pytest.MonkeyPatch):
    server = Supervised(monkeypatch, -9, ends=False)
    assert supervise(["serve", "x"]) == 137
    assert server.log[:4] == [STARTED, (5, 15), 20.0, (5, 9)]


def test_a_server_that_cannot_be_started_is_named_in_its_log(capsys: pytest.CaptureFixture[str]):
    assert supervise(["/no/such/program", "x"]) == 127
    assert capsys.readouterr().out == "/no/such/program: No such file or directory\n"
