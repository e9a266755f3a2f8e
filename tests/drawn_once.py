"""The charts of pages, each drawn once for all tests: a chart is made of its data alone, and drawing takes long."""

import hashlib
import os
import pickle
import signal
import socket
import socketserver
from contextlib import suppress
from pathlib import Path

from wildtool.report.charts.data import ChartData
from wildtool.report.charts.render import Chart, render_chart
from wildtool.report.pages import metrics

ADDRESS = "drawing"
"""The socket in the folder at which one process draws for all: to load what draws takes longer than to draw."""


def draw_once(folder: Path) -> None:
    """Lets the pages of this process draw only what no process has drawn into that folder."""

    def drawn(data: ChartData) -> Chart:
        path = folder / hashlib.sha256(repr(data).encode("utf-8", "surrogatepass")).hexdigest()
        if path.exists():
            return pickle.loads(path.read_bytes())
        chart = _asked_for(data, folder / ADDRESS)
        whole = path.with_suffix(f".{os.getpid()}")
        whole.write_bytes(pickle.dumps(chart))
        whole.replace(path)
        return chart

    metrics.render_chart = drawn


def fork_to_draw(folder: Path) -> None:
    """Starts a fork of this process that draws what others ask for until this one ends, unless one does so already."""

    class Drawing(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            # Who asked may be killed meanwhile.
            with suppress(EOFError, OSError):
                pickle.dump(render_chart(pickle.load(self.rfile)), self.wfile)

    try:
        server = socketserver.UnixStreamServer(str(folder / ADDRESS), Drawing)
    except OSError:
        return
    with server:
        starter = os.getpid()
        if os.fork() == 0:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            server.timeout = 0.2
            while os.getppid() == starter:
                server.handle_request()
            os._exit(0)


def _asked_for(data: ChartData, address: Path) -> Chart:
    try:
        with socket.socket(socket.AF_UNIX) as asked:
            asked.connect(str(address))
            with asked.makefile("rwb") as stream:
                pickle.dump(data, stream)
                stream.flush()
                return pickle.load(stream)
    except (OSError, EOFError):
        # Nobody draws any more, or not this: what is wrong with it is seen here.
        return render_chart(data)
