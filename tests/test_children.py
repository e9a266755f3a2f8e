"""Programs that wildtool starts: what they import, what they are given, and that none outlives it."""

import ast
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from faults.planted_modules import PlantedModules
from source_files import source_files, source_name
from wildtool.children import Child, python_words
from wildtool.report.parallel import run_jobs

HOME = {"children.py", "supervisor.py", "agents/forwarder.py"}
"""The modules that may start programs; the last one is the inside of a sandbox."""
STARTS = {
    "sys.executable",
    *(f"subprocess.{name}" for name in ("Popen", "run", "call", "check_call", "check_output", "getoutput")),
    *(
        "asyncio.create_subprocess_exec",
        "asyncio.create_subprocess_shell",
        "os.system",
        "os.popen",
        "os.fork",
    ),
    *("os.posix_spawn", "os.posix_spawnp", "pty.spawn", "pty.fork"),
    *(f"os.{kind}{end}" for kind in ("exec", "spawn") for end in ("l", "le", "lp", "v", "ve", "vp", "vpe")),
}
STUBBORN = (
    "trap '' TERM; (setsid sh -c \"trap '' TERM; sleep 600; sleep 600\" &); echo up; sleep 600; sleep 600"
)
"""Ignores SIGTERM, and leaves a process in a session of its own."""
PARENT = """
import signal, sys
from wildtool.children import Child
from wildtool.interrupts import stop_at_sigterm
stop_at_sigterm()
child = Child(sys.argv[1:], grace_s=0.1)
signal.pause()
"""


def uses(text: str) -> Iterator[str]:
    """What a module takes from others, as `module.name`."""
    for node in ast.walk(ast.parse(text)) if re.search(r"\b(sys|os|pty|subprocess|asyncio)\b", text) else ():
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute):
            yield ast.unparse(node)


def test_one_module_starts_programs():
    found = {
        f"{source_name(path)}: {name}"
        for path in source_files()
        if source_name(path) not in HOME
        for name in STARTS.intersection(uses(path.read_text(encoding="utf-8")))
    }
    assert not found, "start it by wildtool.children"


def test_processes_of_pools_end_with_this_one_and_import_nothing_from_the_current_folder():
    for path in source_files():
        text = path.read_text(encoding="utf-8")
        if "ProcessPoolExecutor(" in text:
            assert "start_worker" in text, path
            assert 'get_context("fork")' in text or "safe_paths()" in text, path


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlantedModules:
    monkeypatch.chdir(tmp_path)
    return PlantedModules(tmp_path)


def test_a_child_of_this_python_imports_nothing_from_the_current_folder(modules: PlantedModules):
    with Child(python_words("-m", "wildtool", "--version"), stdout=subprocess.PIPE) as child:
        assert child.communicate()[0].startswith(b"wildtool ")
    assert modules.executed() == []


def test_processes_of_a_pool_import_nothing_from_the_current_folder(modules: PlantedModules):
    with run_jobs([partial(max, 1, 2)] * 2, parallel=True) as results:
        assert list(results) == [2, 2]
    assert modules.executed() == []


@pytest.mark.parametrize("status", [0, 7, -signal.SIGKILL, -signal.SIGSEGV])
def test_a_child_ends_as_its_program_did(status: int):
    script = f"exit {status}" if status >= 0 else f"kill -{-status} $$"
    with Child(["sh", "-c", script]) as child:
        assert child.wait() == status


def test_a_child_has_the_variables_that_it_is_given_and_no_other():
    given = {"PATH": os.environ["PATH"], "ODD": "\udcff="}
    with Child(["env", "-0"], env=given, stdout=subprocess.PIPE) as child:
        lines = child.communicate()[0].decode("utf-8", "surrogateescape").split("\0")
    assert sorted(filter(None, lines)) == sorted(f"{name}={value}" for name, value in given.items())


@pytest.mark.parametrize(
    ("word", "error"), [("no-such-program", FileNotFoundError), ("./file", PermissionError)]
)
def test_a_program_that_is_not_there_is_an_error_at_once(
    word: str, error: type[OSError], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(error) as caught:
        Child([word])
    assert caught.value.filename == word


@pytest.mark.skipif(sys.platform != "linux", reason="adopts orphans on Linux alone")
@pytest.mark.parametrize("act", [Child.end, Child.terminate, Child.kill])
def test_a_stubborn_child_ends_with_all_that_it_started(act: Callable[[Child], object]):
    # Whatever inherits the pipe keeps it open: its end is read only when all processes are gone.
    with Child(["sh", "-c", STUBBORN], grace_s=0.1, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None and child.stdout.readline() == b"up\n"
        act(child)
        assert child.stdout.read() == b""
        assert child.wait() == -signal.SIGKILL


def test_a_child_may_end_in_order_when_it_is_asked():
    script = "trap 'echo ended; exit 5' TERM; echo up; while :; do sleep 0.01; done"
    with Child(["sh", "-c", script], grace_s=60, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None and child.stdout.readline() == b"up\n"
        child.terminate()
        assert child.communicate()[0] == b"ended\n"
    assert child.returncode == 5


@pytest.mark.skipif(sys.platform != "linux", reason="adopts orphans on Linux alone")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_child_outlives_a_parent_that_gets_a_signal(sent: signal.Signals):
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, "sh", "-c", STUBBORN],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as parent:
        assert parent.stdout is not None and parent.stdout.readline() == b"up\n"
        parent.send_signal(sent)
        assert parent.communicate(timeout=60)[0] == b""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_a_program_ends_with_a_supervisor_that_is_killed():
    with Child(["sh", "-c", "echo up; exec sleep 600"], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None and child.stdout.readline() == b"up\n"
        with suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGKILL)
        assert child.stdout.read() == b""
