"""A model server of one worker: how it is started, waited for and named when it ends."""

import urllib.error
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.scale import servers as module
from wildtool.scale.servers import ModelServer, ServerError


class Process:
    """In place of a process."""

    started: list[Any] = []  # noqa: RUF012
    status: int | None = None

    def __init__(self, words: list[str], **options: Any) -> None:
        self.started.append((words, options))
        self.has_ended = False

    def poll(self) -> int | None:
        return Process.status

    def end(self) -> None:
        self.has_ended = True


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    monkeypatch.setattr(Process, "started", [])
    monkeypatch.setattr(Process, "status", None)
    monkeypatch.setattr(module, "Child", Process)
    return Process.started


def server(folder: Path, command: str = "serve --port {port} 'a b'", key: str | None = None) -> ModelServer:
    return ModelServer(command, "http://127.0.0.1:{port}/v1/", folder / "cache" / "logs" / "s.log", key)


def test_a_server_gets_no_keys_of_providers_but_its_own(
    started: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    given = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GROQ_API_KEY", "HF_TOKEN", "CUDA_VISIBLE_DEVICES")
    for name in given:
        monkeypatch.setenv(name, "of-the-user")
    server(tmp_path, key="GROQ_API_KEY")
    ((_, options),) = started
    assert {*given} & {*options["env"]} == {"GROQ_API_KEY", "HF_TOKEN", "CUDA_VISIBLE_DEVICES"}


def test_a_server_ends_with_its_worker(started: list[Any], tmp_path: Path):
    with server(tmp_path) as made:
        process: Any = made._process  # pyright: ignore[reportPrivateUsage]
        assert not process.has_ended
    assert process.has_ended


def test_a_server_that_cannot_be_started_is_named(tmp_path: Path):
    with pytest.raises(ServerError, match=r"\(/no/such/program: No such file or directory\)"):
        server(tmp_path, "/no/such/program {port}")


def waiting(monkeypatch: pytest.MonkeyPatch, *answers: Any) -> list[Any]:
    """What the server answers, in turn, a second apart."""
    asked: list[Any] = []
    left = [*answers]
    now = [0.0]

    def opened(url: str, timeout: float, *, by_proxy: bool) -> Any:
        asked.append((url, timeout))
        now[0] += 1.0
        answer = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(answer, Exception):
            raise answer
        return SimpleNamespace(close=lambda: None)

    monkeypatch.setattr(module, "open_unredirected", opened)
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
