"""Somebody who listens on the network of this machine, beyond loopback."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

ANSWER = b'{"choices": [{"message": {"role": "assistant", "content": "no"}}]}'


@dataclass
class Attacker:
    """Listens, answers everything, and keeps what it was sent."""

    listening: socket.socket = field(default_factory=lambda: socket.create_server(("0.0.0.0", 0)))
    heard: list[bytes] = field(default_factory=list[bytes])

    @property
    def port(self) -> int:
        return self.listening.getsockname()[1]

    @property
    def address(self) -> str:
        return f"http://0.0.0.0:{self.port}"

    @contextmanager
    def at_work(self) -> Iterator["Attacker"]:
        thread = threading.Thread(target=self._serve)
        thread.start()
        try:
            yield self
        finally:
            self.listening.shutdown(socket.SHUT_RDWR)
            self.listening.close()
            thread.join()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.listening.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(10)
                self.heard.append(connection.recv(65_536))
                head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(ANSWER)}\r\nConnection: close\r\n\r\n"
                connection.sendall(head.encode() + ANSWER)
