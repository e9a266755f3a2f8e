"""A PostgreSQL server for tests, from the system's package, listening on a socket in a folder."""

import os
import pwd
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

_DATABASES = count(1)


def _programs() -> Path | None:
    """The folder with the server's programs; Debian keeps them outside of the path."""
    found = [Path(path).parent for name in ("initdb",) if (path := shutil.which(name))]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in found if (folder / "initdb").exists()), None)


def missing_postgres() -> str:
    """Why no server can be started; empty if one can."""
    if find_spec("psycopg") is None:
        return "psycopg is not installed (extra review)"
    return "" if _programs() else "no PostgreSQL server is installed"


class PostgresServer:
    """A server that runs inside of a `with` block; it refuses to run as root, so there it takes another user."""

    def __init__(self, *, durable: bool = False) -> None:
        """
        Args: durable: write to the disk at each commit, as servers do; tests need none of that.
        """
        programs = _programs()
        assert programs is not None
        self._programs = programs
        self._fsync = "on" if durable else "off"
        # The path of a socket has about 100 characters at most.
        self._folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
        self._user: str | None = None
        if os.geteuid() == 0:
            self._user = next(name for name in ("postgres", "nobody") if _is_user(name))
            shutil.chown(self._folder, self._user)

    def __enter__(self) -> Self:
        data = self._folder / "data"
        about = ("--auth=trust", "--username=tester", "--no-sync", "--encoding=UTF8", "--locale=C")
        self._run("initdb", *about, "-D", str(data))
        options = f"-k {self._folder} -c listen_addresses='' -c fsync={self._fsync}"
        self._run("pg_ctl", "-D", str(data), "-w", "-o", options, "-l", str(self._folder / "log"), "start")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._run("pg_ctl", "-D", str(self._folder / "data"), "-m", "immediate", "stop")
        shutil.rmtree(self._folder, ignore_errors=True)

    def restart(self) -> None:
        """Ends all connections, as an update of the server does."""
        self._run("pg_ctl", "-D", str(self._folder / "data"), "-w", "-m", "fast", "-l", "log", "restart")

    def new_database(self) -> str:
        """The address of an empty database."""
        name = f"review{os.getpid()}_{next(_DATABASES)}"
        import psycopg

        with psycopg.connect(f"host={self._folder} user=tester dbname=postgres", autocommit=True) as server:
            server.execute(f"CREATE DATABASE {name}")  # pyright: ignore[reportArgumentType, reportCallIssue]
        return f"postgresql:///{name}?host={self._folder}&user=tester"

    def _run(self, program: str, *words: str) -> None:
        done = subprocess.run(
            [str(self._programs / program), *words],
            user=self._user,
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert done.returncode == 0, f"{program}: {done.stderr.decode()}"


def _is_user(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True
