"""Settings of all tests."""

import atexit
import faulthandler
import fcntl
import gc
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from time import monotonic

import pytest
from hypothesis import settings
from platformdirs import user_cache_path

import long
from compiled_once import import_share
from wildtool import redact

PULLED = Path(os.environ.get("WILDTOOL_DATA_DIR") or user_cache_path("wildtool") / "tests")
"""Where what tests pull stays from one session to the next."""

ENDED_WITHIN_S = 300
REWATCHED_AFTER_S = 60
HANGS_AFTER_S = 1000
"""After the time limit of a test, even of one that began just before the watch was renewed."""

# A slow machine is no fault of the code: no test has a time limit of its own. Examples are drawn anew each time:
# many runs of a few meet as much as few runs of many.
settings.register_profile("wildtool", deadline=None, max_examples=long.a_fiftieth_of(1000))
settings.load_profile("wildtool")

# What a shell starts in the background ignores Ctrl-C, as would the commands that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tables are as wide as the terminal, and tests must not depend on the developer's.
os.environ.pop("COLUMNS", None)


STOPS = {sent: signal.getsignal(sent) for sent in (signal.SIGINT, signal.SIGTERM)}
"""What a stop does to the tests' own process; commands that tests call in it take both signals for themselves."""


NO_SECRETS = redact.__dict__.copy()
"""What removes secrets, as in a process that knows none yet."""


_watched_since = 0.0


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """A process that no timeout of pytest reaches says where it hangs, and ends.

    The watch is renewed now and then: one for each of thousands of tests would be as many threads.
    """
    global _watched_since
    now = monotonic()
    if now > _watched_since + REWATCHED_AFTER_S:
        _watched_since = now
        faulthandler.dump_traceback_later(HANGS_AFTER_S, exit=True, file=2)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    for sent, handler in STOPS.items():
        if signal.getsignal(sent) is not handler:
            signal.signal(sent, handler)
    # A secret of one test is none of the next, which might pass only since it is removed already. And to look for the
    # secrets of thousands of tests in all that is written takes a twentieth of all.
    redact.__dict__.update(NO_SECRETS)


_folders = count()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As pytest's own, which reads the names of all folders of earlier tests to find the next number."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    return tmp_path_factory.mktemp(f"{name}{next(_folders)}", numbered=False)


@pytest.fixture(autouse=True, scope="module")
def forget_benchmarks_of_files() -> Iterator[None]:
    """A name that the tests of one module read from a file is none to the next."""
    yield
    if (read := sys.modules.get("wildtool.engine.benchmark_file")) is not None:
        read.BY_NAME.clear()


def pytest_collection(session: pytest.Session) -> None:
    """Thousands of tests are objects that stay: to look for garbage among them takes seconds and finds none."""
    gc.disable()
    import_share(session)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of tests marked as long, `make long` runs all, everything else a fiftieth."""
    if not long.WHOLE and (left_out := long.left_out(items)):
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [test for test in items if test not in left_out]


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.freeze()
    # Every drawn example of a property leaves objects that refer to each other, so by default this takes a tenth of all.
    gc.set_threshold(50_000, 20, 100)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish() -> None:
    """A process that hangs after its last test says where, and ends."""
    faulthandler.dump_traceback_later(ENDED_WITHIN_S, exit=True, file=2)
    # To look for garbage in all that tests have left takes seconds, and Python itself does so when it ends.
    gc.freeze()
    atexit.register(gc.unfreeze)


@pytest.fixture(scope="session", autouse=True)
def own_data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What wildtool keeps for its user lies in a place of the tests' own, also where they start it as a command."""
    with pytest.MonkeyPatch.context() as patch:
        for kind in ("DATA", "CACHE", "CONFIG"):
            patch.setenv(f"XDG_{kind}_HOME", str(tmp_path_factory.mktemp(kind.lower())))
        yield


@pytest.fixture
def no_benchmark_files(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """A test begins without the benchmark files that others have read, and leaves none; gives what forgets them again."""
    from wildtool.engine.benchmark_file import BY_NAME

    def forget() -> None:
        for name in list(BY_NAME):
            monkeypatch.delitem(BY_NAME, name)

    forget()
    yield forget
    BY_NAME.clear()


@pytest.fixture(scope="session")
def bfcl_package(own_data_folder: None) -> Path:
    """The folder with BFCL's data, texts and classes, pulled as a user does, which the tests keep (`PULLED`).

    Without them the test is skipped; in the gate it fails.
    """
    from wildtool.benchmarks.bfcl import BFCL_BENCHMARK
    from wildtool.data.data_set import data_of
    from wildtool.data.pinned import cache_folder
    from wildtool.errors import DataError

    reason = "" if find_spec("mpmath") and find_spec("rank_bm25") else "pip install 'wildtool[bfcl]'"
    PULLED.mkdir(parents=True, exist_ok=True)
    with (PULLED / "lock").open("w") as lock, pytest.MonkeyPatch.context() as patch:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several processes of the tests may come here at once
        patch.setenv("WILDTOOL_DATA_DIR", str(PULLED))
        try:
            data_of(BFCL_BENCHMARK).pull(file=None, mirror=None, report=lambda _: None)
        except DataError as error:
            reason = str(error)
    if reason and os.environ.get("CI") == "true" and "WILDTOOL_ORACLE" in os.environ:
        pytest.fail(f"no package of BFCL: {reason}")
    if reason:
        pytest.skip(f"no package of BFCL: {reason}")
    cache_folder().mkdir(parents=True, exist_ok=True)
    if not (cache_folder() / "bfcl").exists():
        (cache_folder() / "bfcl").symlink_to(PULLED / "bfcl")
    return PULLED / "bfcl"


@pytest.fixture(scope="session", autouse=True)
def charts_drawn_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A chart is drawn once by all processes of the tests, commands included."""
    place = tmp_path_factory.getbasetemp()
    folder = (place.parent if "PYTEST_XDIST_WORKER" in os.environ else place) / "charts"
    folder.mkdir(exist_ok=True)
    os.environ["DRAWN_CHARTS"] = str(folder)
    if find_spec("vl_convert"):
        from drawn_once import draw_once

        draw_once(folder)
