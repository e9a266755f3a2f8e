"""The sandbox of a process: Monty's own processes, and the sessions between two answers.

A session is no process: between two answers it is a few kilobytes, kept for the next request. Where these are gone, as in
a run that was resumed, the scripts are run again with the results that they got.
"""

import atexit
import os
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

import pydantic_monty as monty

from wildtool.alter.expose.code.answering import KeptSession, ScriptAnswering
from wildtool.alter.expose.code.protocol import read_script_session, sandbox_message
from wildtool.alter.expose.code.script_run import MOST_SCRIPT_CALLS
from wildtool.types import Message

SANDBOX_LIMITS: Mapping[str, Any] = {
    "max_feed_duration_secs": 1.0,
    "max_memory": 50_000_000,
    "max_recursion_depth": 200,
    # Looking up a function counts too. Calls are counted by us, since a session that was kept begins at none again.
    "max_suspensions": 3 * MOST_SCRIPT_CALLS,
}
_PROCESSES = max(1, min(4, os.cpu_count() or 1))
_CHECKOUT_S, _REQUEST_S = 300.0, 10.0
"""Seconds that a script waits for a process at most, and that a process has for one answer."""
_KEPT_BYTES = 64 << 20
"""Of sessions between two answers, in all."""
_OS_POLICY: Mapping[str, Any] = {
    "datetime": datetime(2025, 1, 1),  # the same in each run, whatever the task's own date
    "random_start": {"seed": 0},
    "sleep": "zero",
    "timezone": "utc",
}


class ScriptSandbox:
    """Answers requests for the role `sandbox`. Calls from several threads wait for a free process."""

    def __init__(self) -> None:
        self._free = threading.BoundedSemaphore(_PROCESSES)
        self._lock = threading.Lock()
        self._pool: Any = None
        self._kept: OrderedDict[bytes, KeptSession] = OrderedDict()
        self._bytes = 0

    def answer(self, messages: Sequence[Message]) -> Message:
        """How far the last script gets. Raises ValueError for a request that is none."""
        session = read_script_session(messages)
        with self._free:
            return sandbox_message(ScriptAnswering(self, session, messages).answer())

    def close(self) -> None:
        """Ends the processes."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.__exit__(None, None, None)

    def checkout(self, stubs: str) -> Any:
        """A session in a process, as a context."""
        with self._lock:
            if self._pool is None:
                self._pool = monty.Monty(
                    max_processes=_PROCESSES, checkout_timeout=_CHECKOUT_S, request_timeout=_REQUEST_S
                ).__enter__()
            checked: Any = {"type_check": True, "type_check_stubs": stubs} if stubs else {}
            return self._pool.checkout(limits=SANDBOX_LIMITS, os_policy=_OS_POLICY, **checked)

    def keep(self, key: bytes, kept: KeptSession) -> None:
        """Keeps a session for the next request of it."""
        with self._lock:
            old = self._kept.pop(key, None)
            self._kept[key] = kept
            self._bytes += len(kept.dump) - (0 if old is None else len(old.dump))
            while self._bytes > _KEPT_BYTES:
                _, oldest = self._kept.popitem(last=False)
                self._bytes -= len(oldest.dump)

    def kept(self, key: bytes) -> KeptSession | None:
        """The session that was kept; None where it is gone."""
        with self._lock:
            return self._kept.get(key)


@cache
def _sandbox_of(process: int) -> ScriptSandbox:
    sandbox = ScriptSandbox()
    atexit.register(sandbox.close)
    return sandbox


def shared_sandbox() -> ScriptSandbox:
    """The sandbox of this process. A copy of the process has another, since it has none of the first one's pipes."""
    return _sandbox_of(os.getpid())
