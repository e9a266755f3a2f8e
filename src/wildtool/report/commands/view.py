"""`wildtool view`: a local server that lists runs, including running ones, and opens their reports."""

import os
import sys
from pathlib import Path

from wildtool.cli.command import arg, opt
from wildtool.cli.options.shared import local_runs
from wildtool.interrupts import LINE
from wildtool.outputs import is_remote
from wildtool.terminal import print_err, print_out

COPY_EVERY_S = 10.0
"""Between two looks at a store."""
NO_TOKEN_OPTION = opt("Ask for no token; all users of this machine can then open it.")


def view(
    runs: Path = arg(
        "FOLDER",
        "Folder with runs in it, a bundle, or an address such as s3://bucket/runs.",
        default=Path("runs"),
    ),
    host: str = opt("NAME", "Address to listen on.", default="127.0.0.1"),
    port: int = opt("N", "Port; 0 picks a free one.", default=8642, min=0, max=65535),
    allow_remote: bool = opt("Allow a --host that other machines can reach; nothing is encrypted."),
    no_token: bool = NO_TOKEN_OPTION,
    open: bool = opt("Open it in the browser."),
) -> None:
    """Browse runs and their reports, and track running ones.

    \b
    Examples:
      wildtool view
      wildtool view runs/demo --port 0 --open

    Read-only. Only this machine can reach it, and only browsers that open the printed address with its token. Ctrl-C
    stops it.
    """
    from wildtool.report import check_libraries

    check_libraries()
    address, copies = runs, local_runs(runs)
    assert isinstance(copies, Path)
    runs = copies
    if is_remote(address):
        keep_copied(address)
    import asyncio

    from wildtool.report.server.address_token import AddressToken
    from wildtool.report.server.app import serve
    from wildtool.report.server.serving import has_pending_action

    token = None if no_token else AddressToken()

    def ready(address: str) -> None:
        print_out(f"Runs in {runs}: {token.address(address) if token else address}")
        sys.stdout.flush()
        print_err("Ctrl-C stops it.")
        if allow_remote:
            print_err(
                "Every machine that can reach this address can read all runs, with every prompt and reply"
                + (", if it has or overhears the token." if token else ". There is no token.")
                + " Nothing is encrypted."
            )
        if open:
            open_in_browser(token.address_once(address) if token else address)

    status = 130
    try:
        asyncio.run(serve(runs, host, port, remote=allow_remote, ready=ready, token=token))
        status = 0
    finally:
        if has_pending_action():
            # A disk does not answer: nothing else may wait for it either.
            sys.stdout.flush()
            if status:
                print_err(LINE)
            os._exit(status)


def keep_copied(address: Path) -> None:
    """Brings the copies of runs in a store up to date from time to time."""
    import threading
    import time
    from contextlib import suppress

    from wildtool.errors import WildtoolError
    from wildtool.scale.copies import local_folder

    def copy() -> None:
        while True:
            time.sleep(COPY_EVERY_S)
            # A store that does not answer now will later; what was copied is shown meanwhile.
            with suppress(WildtoolError):
                local_folder(address)

    threading.Thread(target=copy, daemon=True).start()


def open_in_browser(address: str) -> None:
    """Opens an address, and does not wait for the browser."""
    import threading
    import webbrowser

    # A browser in the terminal blocks the process that starts it.
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
