"""A tool server on standard input and output that passes each message on to the tool door.

For agents that take no server over HTTP. A program of its own, which is copied into the agent's home.
"""

import os
import sys
from http.client import HTTPConnection
from urllib.parse import urlsplit

DOOR_VARIABLE = "WILDTOOL_MCP_URL"
"""In which its address is told; a command line could be seen by others."""


def pass_on(url: str) -> None:
    """Answers one message after the other until the input ends."""
    door = urlsplit(url)
    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        connection = HTTPConnection(str(door.hostname), door.port)
        connection.request("POST", door.path, line, {"Content-Type": "application/json"})
        answer = connection.getresponse().read()
        connection.close()
        if answer:
            # JSON has no line breaks that mean anything.
            sys.stdout.buffer.write(answer.replace(b"\n", b" ") + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    pass_on(os.environ[DOOR_VARIABLE])
