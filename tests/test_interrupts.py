"""SIGTERM stops a command as Ctrl-C does."""

import asyncio
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

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
