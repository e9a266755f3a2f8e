"""What an agent can reach: with bubblewrap its own folder and the two doors, and with libfaketime there the date of the
conversation.

Both are used where they are installed. Without bubblewrap an agent has its own home and none of the user's variables,
which keeps an honest one apart from the user's files, but no other. Its clock is then the real one, since libfaketime
leaves files of shared memory behind, which only end with a sandbox.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from shutil import which
from subprocess import PIPE, TimeoutExpired
from typing import Any
from urllib.parse import urlsplit

from wildtool.agents.agent import Place
from wildtool.children import Child, python_words
from wildtool.tools.sources.server_words import words_of_log

SOCKET = "/run/wildtool/doors"
"""Inside of the sandbox, where the doors are."""
_FORWARDER = Path(__file__).with_name("forwarder.py")
_FORWARDER_INSIDE = "/run/wildtool/forwarder.py"
_OWN_PACKAGE = Path(__file__).parents[1]
"""It holds the built-in set with its gold answers."""
_ALONE = ("--unshare-all", "--die-with-parent", "--new-session")
"""Options of bubblewrap that part a program from the rest of the machine."""
_PROBE_S = 20.0
_FAKE_CLOCKS = ("lib/*/faketime", "lib/faketime", "lib64/faketime", "local/lib/faketime")
"""Folders of libfaketime below /usr."""
_ETC = ("/etc/alternatives", "/etc/ld.so.cache")
_ROOT = Path("/")
_BOTH_WAYS = frozenset({"bin", "sbin", "lib", "lib32", "lib64"})
"""Folders of the root that are links into /usr today."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """How agents are confined on this machine."""

    bubblewrap: str | None
    """Its path, where it works."""
    fake_clock: str | None
    """The path of libfaketime."""
    missing: str = ""
    """Why there is no sandbox."""

    def settings(self) -> dict[str, Any]:
        """What it is, for settings and tables."""
        if not self.bubblewrap:
            files = "all of the user's"
            return {
                "sandbox": "none",
                "files": files,
                "network": "open",
                "clock": "real",
                "why": self.missing,
            }
        clock = "of the conversation" if self.fake_clock else "real"
        files = "its own folder, /usr, its program"
        return {"sandbox": "bubblewrap", "files": files, "network": "the two doors", "clock": clock}

    def confined(self, words: Sequence[str], path: str, place: Place, shown: Sequence[Path]) -> list[str]:
        """The command with which a program is started confined.

        Args:
            words: the command of the agent.
            path: its variable PATH.
            shown: folders and files beside those of its program that it may read.
        """
        if not self.bubblewrap:
            return list(words)
        if place.socket is None:
            raise ValueError("an agent in a sandbox needs the doors at a socket")
        port = str(urlsplit(place.base_url).port)
        interpreter = str(Path(python_words()[0]).resolve())
        python = [interpreter, "-I", "-S", _FORWARDER_INSIDE, SOCKET, port]
        roots = {*program_roots(words, path), *program_roots(python[:1], ""), *shown}
        outside = sorted(root for root in roots if not root.is_relative_to(place.folder.absolute()))
        return [self.bubblewrap, *_sandbox(place, outside), "--", *python, *self._clock(place.date), *words]

    def _clock(self, date: datetime | None) -> list[str]:
        """The words before a command that show it the date of the conversation from its start on.

        The program itself has to be the first that libfaketime is loaded into: it hands on what it shares with its
        children, and may die where a process becomes another program.
        """
        if not self.fake_clock or date is None:
            return []
        shown = date.astimezone(UTC) if date.tzinfo else date
        time = f"FAKETIME=@{shown:%Y-%m-%d %H:%M:%S}"
        return ["/usr/bin/env", time, "FAKETIME_DONT_FAKE_MONOTONIC=1", f"LD_PRELOAD={self.fake_clock}"]


@cache
def confinement_here(*, sandbox: bool = True) -> Confinement:
    """What this machine offers.

    Args:
        sandbox: whether bubblewrap is used where it is installed.
    """
    clock = _fake_clock()
    if not sandbox:
        return Confinement(bubblewrap=None, fake_clock=clock, missing="switched off")
    if sys.platform != "linux":
        return Confinement(bubblewrap=None, fake_clock=clock, missing=f"none is known for {sys.platform}")
    path = which("bwrap")
    if path is None:
        return Confinement(bubblewrap=None, fake_clock=clock, missing="bubblewrap is not installed")
    refusal = _refusal(path)
    if refusal:
        return Confinement(
            bubblewrap=None, fake_clock=clock, missing=f"bubblewrap does not work here: {refusal}"
        )
    return Confinement(bubblewrap=path, fake_clock=clock)


def program_roots(words: Sequence[str], path: str) -> set[Path]:
    """The folders and files outside of /usr that a command needs: those of its program, of what interprets it, and of
    files among its words.

    Args:
        path: the variable PATH with which the program is found.
    """
    program = which(words[0], path=path or None)
    files = [Path(program)] if program else []
    files += [Path(word) for word in words[1:] if word.startswith("/") and names_file(word)]
    roots = set[Path]()
    for file in files:
        for each in _chain(file):
            if not _is_system(each):
                roots |= _roots_of(each)
        interpreter = _interpreter(file, path)
        if interpreter:
            roots |= program_roots([interpreter], path)
    return roots - {_ROOT}  # which would show everything


def names_file(word: str) -> bool:
    """Whether a word of a command is the path of a file."""
    try:
        return Path(word).is_file()
    except OSError:
        return False  # a word may be longer than a path, such as a whole program


def _sandbox(place: Place, roots: Sequence[Path]) -> list[str]:
    """The options of bubblewrap."""
    folder = place.folder.absolute()
    options = [*_ALONE, "--ro-bind", "/usr", "/usr"]
    for name in sorted(_BOTH_WAYS):
        if Path("/", name).is_symlink():
            options += ["--symlink", str(Path("/", name).readlink()), f"/{name}"]
        else:
            options += ["--ro-bind-try", f"/{name}", f"/{name}"]
    options += ["--proc", "/proc", "--dev", "/dev", "--bind", str(folder / "tmp"), "/tmp"]
    for path in _ETC:
        options += ["--ro-bind-try", path, path]
    options += ["--ro-bind", str(_own_user(folder)), "/etc/passwd"]
    for root in roots:
        options += ["--ro-bind", str(root), str(root)]
    if _is_system(_OWN_PACKAGE) or any(_OWN_PACKAGE.is_relative_to(root) for root in roots):
        options += ["--tmpfs", str(_OWN_PACKAGE), "--remount-ro", str(_OWN_PACKAGE)]
    options += ["--bind", str(folder), str(folder), "--chdir", str(folder / "work")]
    options += ["--ro-bind", str(_FORWARDER), _FORWARDER_INSIDE, "--ro-bind", str(place.socket), SOCKET]
    return [*options, "--remount-ro", "/"]


def _own_user(folder: Path) -> Path:
    """A list of users with only the one that the agent is: programs ask for their user's name and home."""
    file = folder / "passwd"
    file.write_text(f"agent:x:{os.getuid()}:{os.getgid()}::{folder / 'home'}:/bin/sh\n", encoding="utf-8")
    return file


@cache
def _refusal(path: str) -> str:
    """Why bubblewrap makes no sandbox here, as it says itself; empty where it does."""
    # In a container it may be that only `--proc` is refused.
    shown = ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    with Child([path, *_ALONE, *shown, "--", "/bin/sh", "-c", "exit 0"], stdout=PIPE, stderr=PIPE) as child:
        try:
            log = child.communicate(timeout=_PROBE_S)[1]
        except TimeoutExpired:
            return "it does not end"
        if child.returncode == 0:
            return ""
        return words_of_log(log.decode("utf-8", "replace")) or f"exit status {child.returncode}"


def _fake_clock() -> str | None:
    if sys.platform != "linux":
        return None
    found = [file for folder in _FAKE_CLOCKS for file in Path("/usr").glob(f"{folder}/libfaketimeMT.so.1")]
    return str(found[0]) if found else None


def _chain(file: Path) -> Iterator[Path]:
    """A file and each that it is a link to."""
    file = file.absolute()
    for _ in range(40):  # as many as Linux follows
        yield file
        if not file.is_symlink():
            break
        file = Path(os.path.normpath(file.parent / file.readlink()))
    yield file.resolve()


def _roots_of(file: Path) -> set[Path]:
    """What is shown of a program: the packages or the prefix that it belongs to, its folder where it is a script, else
    the file alone."""
    if "node_modules" in file.parts:
        return {Path(*file.parts[: file.parts.index("node_modules") + 1])}
    if file.parent.name == "shims":
        # It starts what its version manager has put beside it.
        return {file.parent.parent}
    if file.parent.name == "bin":
        prefix = file.parent.parent
        if (prefix / "pyvenv.cfg").is_file():
            return {prefix}
        if any(prefix.glob("lib/python3*")) or (prefix / "lib" / "node_modules").is_dir():
            return {prefix}
    if file.is_symlink() or not _is_script(file) or file.parent == _ROOT:
        return {file}
    return {file.parent}


def _is_script(file: Path) -> bool:
    """Whether a file is text, which may need others beside it."""
    try:
        with file.open("rb") as stream:
            return b"\0" not in stream.read(4096)
    except OSError:
        return False


def _interpreter(file: Path, path: str) -> str | None:
    """The program that a script names in its first line."""
    try:
        with file.open("rb") as stream:
            first = stream.readline(400)
    except OSError:
        return None
    words = first[2:].decode("utf-8", "replace").split() if first.startswith(b"#!") else []
    if not words:
        return None
    if Path(words[0]).name != "env":
        return words[0]
    return next((word for word in words[1:] if not word.startswith("-") and which(word, path=path)), None)


def _is_system(file: Path) -> bool:
    """Whether every sandbox has it, as a part of the system."""
    return file.is_relative_to("/usr") or file.parts[1] in _BOTH_WAYS
