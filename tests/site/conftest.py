"""The site that `make docs` built, served as a web server serves it."""

import os
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from e2e.conftest import browser, chromium, tab

__all__ = ["browser", "chromium", "tab"]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the tests' output is no log."""


@pytest.fixture(scope="session")
def site() -> Path:
    """Its folder; the test is skipped but in `make docs`, which builds it."""
    if "WILDTOOL_SITE" not in os.environ:
        pytest.skip("no site: `make docs` builds and tests it")
    return Path(os.environ["WILDTOOL_SITE"]).resolve()


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
