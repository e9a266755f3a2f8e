"""Runs a program where only a unix socket leads out: a port of its own loopback leads to that socket.

A program of its own, which is started inside the sandbox by its path, and imports nothing of wildtool.
"""

import os
import socket
import sys
import threading
from contextlib import suppress
from resource import RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_NPROC, getrlimit, setrlimit

_LIMITS = {RLIMIT_CORE: 0, RLIMIT_FSIZE: 2**30, RLIMIT_NPROC: 4096}
"""Bytes of a core and of a file that the program writes; its processes and threads."""


def forward(listening: socket.socket, path: str) -> None:
    """Connects each client of a port with a unix socket, for ever."""
    while True:
        inner, _ = listening.accept()
        outer = socket.socket(socket.AF_UNIX)
        try:
            outer.connect(path)
        except OSError:
            inner.close()
            outer.close()
            continue
        for source, target in ((inner, outer), (outer, inner)):
            threading.Thread(target=_copy, args=(source, target), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    """Passes on what one end says until it has said all."""
    with suppress(OSError):
        while True:
            data = source.recv(2**16)
            if not data:
                break
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def main(path: str, port: int, words: list[str]) -> None:
    """Forwards in a process of its own, which ends with the sandbox, and becomes the program."""
    listening = socket.create_server(("127.0.0.1", port), backlog=64)
    if os.fork() == 0:
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        forward(listening, path)
    listening.close()
    for limit, most in _LIMITS.items():
        hardest = getrlimit(limit)[1]
        bound = most if hardest < 0 else min(most, hardest)
        setrlimit(limit, (bound, bound))
    try:
        os.execvp(words[0], words)
    except OSError as error:
        sys.exit(f"{words[0]}: {error.strerror}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
