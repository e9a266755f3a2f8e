"""What `view` and `review` say to another user of the same machine, who can reach their ports."""

import http.client
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from e2e.surface import wild_mini
from wildtool.cli import app
from wildtool.report.commands import view
from wildtool.report.server import serving

SECRET = "wild_mini_0"
"""In the answers of both, for those who may read them."""
Ask = Callable[..., tuple[int, str, str]]


@contextmanager
def served(monkeypatch: pytest.MonkeyPatch, *words: str) -> Iterator[tuple[str, Ask]]:
    """The path and query with which the browser is opened, and what asks the server."""
    stop, opened, addresses = threading.Event(), threading.Event(), list[str]()

    async def until_stopped() -> None:
        import asyncio

        await asyncio.to_thread(stop.wait)

    def open_(address: str) -> None:
        addresses.append(address)
        opened.set()

    monkeypatch.setattr(serving, "wait_for_sigterm", until_stopped)
    monkeypatch.setattr(view, "open_in_browser", open_)
    ended = threading.Thread(target=lambda: CliRunner().invoke(app, [*words, "--port", "0", "--open"]))
    ended.start()
    try:
        assert opened.wait(60)
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/.*)", addresses[0])
        assert match is not None

        def ask(path: str, cookie: str = "") -> tuple[int, str, str]:
            connection = http.client.HTTPConnection("127.0.0.1", int(match[1]))
            connection.request("GET", path, headers={"Cookie": cookie} if cookie else {})
            answer = connection.getresponse()
            text = answer.read().decode()
            connection.close()
            return answer.status, answer.headers.get("Set-Cookie", "").partition(";")[0], text

        yield match[2], ask
    finally:
        stop.set()
        ended.join()


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> list[str]:
    monkeypatch.chdir(tmp_path)
    Path("set.jsonl").write_text(wild_mini(1), "utf-8")
    if request.param == "review":
        return ["review", "set.jsonl", "--no-check"]
    run = ["run", "wild-mini", "-m", "baseline/gold", "-n", "1", "-q", "-o", f"runs/{SECRET}"]
    assert CliRunner().invoke(app, run).exit_code == 0
    return ["view", "runs"]


PAGES = {"view": "/runs.json", "review": "/api/queue?queue=all"}


@pytest.mark.parametrize(("words", "page"), PAGES.items(), indirect=["words"])
def test_another_user_is_refused_and_the_browser_that_was_opened_is_not(
    words: list[str], page: str, monkeypatch: pytest.MonkeyPatch
):
    with served(monkeypatch, *words) as (opened, ask):
        status, _, text = ask(page)
        assert (status, SECRET in text) == (403, False)
        status, cookie, _ = ask(opened)
        assert status == 303
        status, _, text = ask(page, cookie)
        assert (status, SECRET in text) == (200, True)
        assert ask(page, cookie + "x")[0] == 403


@pytest.mark.parametrize(("words", "page"), PAGES.items(), indirect=["words"])
def test_it_can_be_turned_off(words: list[str], page: str, monkeypatch: pytest.MonkeyPatch):
    with served(monkeypatch, *words, "--no-token") as (opened, ask):
        assert (opened, ask(page)[0]) == ("/", 200)
