"""The `wildtool` of shells: asks for a fork (`forks`) with its own words, folder, variables and outputs, ends as it does.

Its first line is added where it is installed. It imports nothing that takes long, and reads no input.
"""

import json
import os
import signal
import socket
import sys

LENGTH = 10
"""How many bytes a length or a process id takes."""

here, there = os.pipe()
words = [os.path.join(os.path.dirname(sys.executable), "wildtool"), *sys.argv[1:]]  # noqa: PTH118, PTH120
request = json.dumps([os.getcwd(), dict(os.environ), words]).encode()  # noqa: PTH109
with socket.socket(socket.AF_UNIX) as forker:
    forker.connect(os.environ["FORKER"])
    socket.send_fds(forker, [b"%*d" % (LENGTH, len(request))], [1, 2, there])
    forker.sendall(request)
os.close(there)
pid = int(os.read(here, LENGTH))
for sent in (signal.SIGINT, signal.SIGTERM):
    signal.signal(sent, lambda number, _: os.kill(pid, number))
status = b""
while part := os.read(here, LENGTH):
    status += part
if int(status) < 0:
    if int(status) != -signal.SIGKILL:
        signal.signal(-int(status), signal.SIG_DFL)
    os.kill(os.getpid(), -int(status))
sys.exit(int(status))
