"""`wildtool view`: a local server that lists runs, also while they go on, and opens their reports."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from wildtool.cli.terminal import note, say


def view(
    runs: Annotated[
        Path, typer.Argument(metavar="RUNS_DIR", help="A folder with runs in it, or a bundle.")
    ] = Path("runs"),
    host: Annotated[str, typer.Option(metavar="NAME", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="PORT", help="0 takes a port that is free.")
    ] = 8642,
    allow_remote: Annotated[
        bool,
        typer.Option(
            "--allow-remote", help="Let --host be one that other machines reach: they read all runs."
        ),
    ] = False,
    open: Annotated[bool, typer.Option("--open", help="Open the list in a browser.")] = False,
) -> None:
    """List runs in a browser, follow those that go on, and open their reports.

    \b
    Examples:
      wildtool view
      wildtool view runs/demo --port 0 --open

    Reads only. This machine alone can reach it, and no other web page may ask it anything. Ctrl-C ends it.
    """
    from wildtool.report import check_libraries

    check_libraries()
    import asyncio

    from wildtool.report.serve import reads_still, serve

    def ready(address: str) -> None:
        say(f"Runs below {runs}: {address}")
        sys.stdout.flush()
        note("Ctrl-C ends it.")
        if allow_remote:
            note(
                "Every machine that reaches this address reads all runs, with every prompt and reply; nothing is"
                " encrypted and no password is asked."
            )
        if open:
            _open(address)

    status = 130
    try:
        asyncio.run(serve(runs, host, port, remote=allow_remote, ready=ready))
        status = 0
    finally:
        if reads_still():
            # A disk that does not answer: nothing else may wait for it either.
            sys.stdout.flush()
            os._exit(status)


def _open(address: str) -> None:
    import threading
    import webbrowser

    # A browser of the terminal keeps whoever starts it waiting.
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
