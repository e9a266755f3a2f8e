"""`wildtool view` as its options say: what is served, what is printed, what is kept up to date, how it ends."""

import asyncio
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from wildtool.cli import app
from wildtool.cli.options import shared
from wildtool.errors import StorageError
from wildtool.report.commands import view
from wildtool.report.server import app as server
from wildtool.report.server import serving

WARNING = (
    "Every machine that can reach this address can read all runs, with every prompt and reply. There is no token."
    " Nothing is encrypted.\n"
)


class Started:
    """What was asked of the parts that a test replaces."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[Any] = []
        self.fails: BaseException | None = None

        async def serve(
            root: Path, host: str, port: int, *, remote: bool, ready: Callable[[str], None], token: object
        ) -> None:
            self.token = token
            self.calls.append(("serve", root, host, port, remote))
            ready("http://here/")
            await asyncio.sleep(0)
            if self.fails:
                raise self.fails

        monkeypatch.setattr(server, "serve", serve)
        monkeypatch.setattr(view, "open_in_browser", lambda address: self.calls.append(("open", address)))
        monkeypatch.setattr(view, "keep_copied", lambda address: self.calls.append(("copy", address)))
        # A server of another test may still end.
        monkeypatch.setattr(serving, "has_pending_action", lambda: False)
        monkeypatch.setattr("os._exit", lambda status: self.calls.append(("exit", status)))

    def view(self, line: str = "") -> tuple[int, str, str]:
        ended = CliRunner().invoke(app, ["view", *line.split()], prog_name="wildtool")
        return ended.exit_code, ended.stdout, ended.stderr


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    return Started(monkeypatch)


def test_the_runs_of_this_machine_are_served_to_it_alone(started: Started):
    assert started.view("--no-token") == (0, "Runs in runs: http://here/\n", "Ctrl-C stops it.\n")
    assert started.token is None
    assert started.calls == [("serve", Path("runs"), "127.0.0.1", 8642, False)]


def test_options_choose_the_place_and_open_the_browser(started: Started):
    line = "demo --host 0.0.0.0 --port 0 --allow-remote --open --no-token"
    assert started.view(line) == (0, "Runs in demo: http://here/\n", f"Ctrl-C stops it.\n{WARNING}")
    assert started.calls == [("serve", Path("demo"), "0.0.0.0", 0, True), ("open", "http://here/")]


def test_the_printed_address_has_a_token_and_what_opens_the_browser_another_one(started: Started):
    _, printed, said = started.view("--open --host 0.0.0.0 --allow-remote")
    assert printed.startswith("Runs in runs: http://here/?token=")
    opened = started.calls[-1][1]
    assert opened.startswith("http://here/?token=") and opened not in printed
    assert "overhears the token" in said


@pytest.mark.parametrize(("port", "status"), [("-1", 2), ("65535", 0), ("65536", 2)])
def test_a_port_is_one_that_there_can_be(port: str, status: int, started: Started):
    assert started.view(f"--port {port}")[0] == status


def test_runs_of_a_store_are_served_from_copies_that_are_kept_up_to_date(
    started: Started, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(shared, "local_run", lambda run: Path("copies") / run.name)
    assert started.view("s3://bucket/demo --no-token") == (
        0,
        "Runs in copies/demo: http://here/\n",
        "Ctrl-C stops it.\n",
    )
    copied, served = started.calls
    assert (copied[0], str(copied[1])) == ("copy", str(Path("s3://bucket/demo")))
    assert served[1] == Path("copies/demo")


@pytest.mark.parametrize(("fails", "status"), [(None, 0), (KeyboardInterrupt(), 130)])
def test_a_read_that_does_not_end_does_not_hold_the_process(
    fails: BaseException | None, status: int, started: Started, monkeypatch: pytest.MonkeyPatch
):
    started.fails = fails
    assert started.view()[0] == status
    assert len(started.calls) == 1
    monkeypatch.setattr(serving, "has_pending_action", lambda: True)
    started.view()
    assert started.calls[2:] == [("exit", status)]


class Thread:
    """A thread that runs where it is started."""

    def __init__(self, target: Callable[..., object], args: tuple[object, ...] = (), *, daemon: bool) -> None:
        assert daemon
        self.start = lambda: target(*args)


def test_copies_are_looked_at_every_ten_seconds_whatever_fails(monkeypatch: pytest.MonkeyPatch):
    looks: list[Any] = []

    def look(address: Path) -> None:
        looks.append(address)
        if len(looks) == 2:
            raise StorageError("the store does not answer")
        if len(looks) == 6:
            raise KeyboardInterrupt

    monkeypatch.setattr(threading, "Thread", Thread)
    monkeypatch.setattr("time.sleep", looks.append)
    monkeypatch.setattr("wildtool.scale.copies.local_folder", look)
    with pytest.raises(KeyboardInterrupt):
        view.keep_copied(Path("s3://a"))
    assert looks == [10.0, Path("s3://a")] * 3


def test_a_browser_is_opened_beside(monkeypatch: pytest.MonkeyPatch):
    opened: list[str] = []
    monkeypatch.setattr(threading, "Thread", Thread)
    monkeypatch.setattr(webbrowser, "open", opened.append)
    view.open_in_browser("http://here/")
    assert opened == ["http://here/"]
