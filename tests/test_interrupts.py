"""SIGTERM stops a command as Ctrl-C does."""

import asyncio
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from wildtool.cli import app
from wildtool.interrupts import stop_at_sigterm


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """The handlers of a command that has just begun; those of the tests come back."""
    before = {sent: signal.getsignal(sent) for sent in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    for sent, handler in before.items():
        signal.signal(sent, handler)


def test_sigterm_interrupts_like_ctrl_c():
    stop_at_sigterm()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)


def test_sigterm_lets_the_tasks_of_an_event_loop_end_in_order():
    stop_at_sigterm()
    ended: list[str] = []

    async def work() -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("in order")
            raise

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(work())
    assert ended == ["in order"]


def test_sigterm_stops_a_command_that_was_started_in_the_background_and_ignores_ctrl_c():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stop_at_sigterm()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)


def test_a_sigterm_that_is_ignored_or_handled_stays_so():
    for meaning in (signal.SIG_IGN, signal.default_int_handler):
        signal.signal(signal.SIGTERM, meaning)
        stop_at_sigterm()
        assert signal.getsignal(signal.SIGTERM) is meaning


def test_a_thread_leaves_signals_alone():
    thread = threading.Thread(target=stop_at_sigterm)
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_command_that_waits_for_input_says_one_line_at_sigterm():
    code = """
import sys
from wildtool.cli import command
from wildtool.interrupts import stop_at_sigterm
def wait():
    print("up", flush=True)
    sys.stdin.read()
stop_at_sigterm()
sys.exit(command.run_to_status(wait))
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == b"up\n"
        process.terminate()
        assert process.communicate(timeout=60) == (b"", b"interrupted\n")
    assert process.returncode == 130


def ended(code: str, *words: str) -> tuple[int, bytes, bytes]:
    """How a program ends: its status, and what it writes."""
    process = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, timeout=300, check=False
    )
    return process.returncode, process.stdout, process.stderr


WHILE_IMPORTING = """
import os, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), int(sys.argv[2]))
sys.meta_path.insert(0, Finder())
from wildtool.__main__ import main
sys.argv[:] = ["wildtool", *sys.argv[1:]]
main()
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("module", ["wildtool.cli", "typer"])
def test_a_stop_while_the_command_imports_is_one_line(module: str, sent: signal.Signals):
    assert ended(WHILE_IMPORTING, module, str(int(sent))) == (130, b"", b"interrupted\n")


WORKING = """
import os, signal, sys, threading
import typer
from wildtool.cli.command import with_exit_status
from wildtool.interrupts import exit_at_stop
exit_at_stop()
def work():
{}
try:
    with_exit_status(work)()
except typer.Exit as ended:
    sys.exit(ended.exit_code)
"""
IN_A_QUERY = """
    import duckdb
    threading.Timer(0, os.kill, (os.getpid(), signal.SIGINT)).start()
    duckdb.sql("SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b").fetchall()
"""
WHILE_SOMETHING_IS_FREED = """
    class Freed:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)
    Freed()
    while True:
        pass
"""
WHILE_THE_DATABASE_LOADS = """
    class Finder:
        def find_spec(self, name, path=None, target=None):
            if name == "duckdb":
                signal.raise_signal(signal.SIGINT)
                loading.append(name)
    loading = []
    sys.meta_path.insert(0, Finder())
    from wildtool.engine.score.verdict_table import load_database
    try:
        load_database()
    finally:
        assert loading, "it was interrupted while it was loading"
"""
INSIDE_AN_ERROR = """
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        raise ImportError("half of a module")
"""


@pytest.mark.parametrize(
    "work", [IN_A_QUERY, WHILE_THE_DATABASE_LOADS, WHILE_SOMETHING_IS_FREED, INSIDE_AN_ERROR]
)
def test_a_stop_that_a_library_turns_into_something_else_is_one_line(work: str):
    assert ended(WORKING.format(work)) == (130, b"", b"interrupted\n")


def test_a_stop_after_the_work_comes_too_late_and_a_second_one_ends_what_hangs():
    late = """
import signal, sys
import typer
from wildtool.cli.command import with_exit_status
from wildtool.interrupts import exit_at_stop
exit_at_stop()
try:
    with_exit_status(lambda: 3)()
except typer.Exit as ended:
    for _ in range(int(sys.argv[1])):
        signal.raise_signal(signal.SIGINT)
    sys.exit(ended.exit_code)
"""
    assert ended(late, "1") == (3, b"", b"")
    assert ended(late, "2") == (130, b"", b"interrupted\n")


def test_the_signals_of_a_program_that_uses_the_command_stay_as_they_are():
    before = [signal.getsignal(sent) for sent in (signal.SIGINT, signal.SIGTERM)]
    assert CliRunner().invoke(app, ["list"]).exit_code == 0
    assert [signal.getsignal(sent) for sent in (signal.SIGINT, signal.SIGTERM)] == before


def test_a_stop_while_python_ends_changes_no_status():
    last = """
import atexit, os, signal, sys
# What is registered before the command's own runs after it.
atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))
from wildtool.interrupts import exit_at_stop
exit_at_stop()
sys.exit(3)
"""
    assert ended(last) == (3, b"", b"")
