"""Ctrl-C and SIGTERM stop a command in the same way: in order, with one line and exit status 130.

A command goes through three phases. Before its work, while Python still imports, it ends at once: there is nothing to put
in order. During its work a stop raises KeyboardInterrupt. Once its status is decided, the first stop comes too late.
"""

import atexit
import os
import signal
import sys
from _thread import interrupt_main
from collections.abc import Generator
from contextlib import contextmanager
from threading import Timer, current_thread, main_thread
from types import FrameType
from typing import Any

EXIT_STATUS = 130
LINE = "interrupted"
"""What a command says when it was stopped."""
_SOON_S = 0.05
_QUERY = "Query interrupted"
"""What the database raises, as a RuntimeError without any trace of the KeyboardInterrupt that ended its query."""


def exit_at_stop() -> None:
    """From now on a stop ends this process at once. Leaves signals alone that are ignored or handled already.

    For the command only: a program that uses wildtool as a library chooses its signals itself.
    """
    sys.unraisablehook = _ask_again
    # Python gives signals back their own meaning before it ends, which is to kill; registered first, this comes last.
    atexit.register(_set_both, signal.SIG_IGN)
    for sent, untouched in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
        if signal.getsignal(sent) is untouched:
            signal.signal(sent, _exit)


def stop_at_sigterm() -> None:
    """From now on SIGTERM does what Ctrl-C does at this moment. Does nothing where SIGTERM has a meaning already.

    For the command only: a program that uses wildtool as a library chooses its signals itself.
    """
    if current_thread() is main_thread() and signal.getsignal(signal.SIGTERM) in (signal.SIG_DFL, _exit):
        signal.signal(signal.SIGTERM, _interrupt)


@contextmanager
def keep_sigterm() -> Generator[None]:
    """Gives SIGTERM back what it meant before: a library that is used meanwhile may take it."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if current_thread() is main_thread():
            signal.signal(signal.SIGTERM, before)


@contextmanager
def interruptible() -> Generator[None]:
    """While a command works, a stop raises KeyboardInterrupt, or what an event loop makes of it; afterwards the first one
    is ignored. Leaves the signals of other programs alone."""
    is_command = current_thread() is main_thread() and signal.getsignal(signal.SIGTERM) in (_interrupt, _exit)
    if is_command:
        stop_at_sigterm()
        if signal.getsignal(signal.SIGINT) is _exit:
            # The one that event loops replace.
            signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        if is_command:
            _set_both(_ignore_once)


@contextmanager
def uninterrupted() -> Generator[None]:
    """A stop that comes inside is heeded at the end: DuckDB aborts the whole process if one comes while it loads."""
    if current_thread() is not main_thread():
        yield
        return
    came: list[int] = []
    before = {sent: signal.getsignal(sent) for sent in (signal.SIGINT, signal.SIGTERM)}
    for sent in before:
        signal.signal(sent, lambda sent, _: came.append(sent))
    try:
        yield
    finally:
        for sent, handler in before.items():
            signal.signal(sent, handler)
        if came:
            signal.raise_signal(signal.Signals(came[0]))


def is_interrupt(error: BaseException | None) -> bool:
    """Whether an error comes from a stop: a library may raise one of its own in place of KeyboardInterrupt."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyboardInterrupt) or (isinstance(error, RuntimeError) and str(error) == _QUERY):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def raise_interrupt(error: BaseException) -> None:
    """Raises KeyboardInterrupt if an error comes from a stop: code that takes any error must let a stop pass."""
    if is_interrupt(error):
        raise KeyboardInterrupt from error


def _set_both(handler: Any) -> None:
    for sent in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(sent) is not signal.SIG_IGN:
            signal.signal(sent, handler)


def _interrupt(sent: int, frame: FrameType | None) -> None:
    if not callable(signal.getsignal(signal.SIGINT)):
        # A script that starts a command in the background lets it ignore Ctrl-C, but not SIGTERM.
        raise KeyboardInterrupt
    # An event loop has a handler of its own, which lets its tasks end.
    signal.raise_signal(signal.SIGINT)


def _exit(sent: int, frame: FrameType | None) -> None:
    # Not by SystemExit, which an import may turn into another error.
    os.write(2, f"{LINE}\n".encode())
    os._exit(EXIT_STATUS)


def _ignore_once(sent: int, frame: FrameType | None) -> None:
    _set_both(_exit)


def _ask_again(unraisable: "sys.UnraisableHookArgs") -> None:
    """Python only prints what is raised while it frees an object, and would go on."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        # Once this function is left, from which nothing can be raised either.
        again = Timer(_SOON_S, interrupt_main)
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(unraisable)
