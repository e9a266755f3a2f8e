"""The command `review serve`, which is meant where none is named: the pages of a review."""

import sys
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from wildtool.children import python_words
from wildtool.cli.command import opt
from wildtool.cli.options import shared as options
from wildtool.errors import UsageError, unknown_name
from wildtool.report.commands.view import NO_TOKEN_OPTION
from wildtool.steps import show_step, step_line
from wildtool.terminal import print_err, print_out, single_line
from wildtool_review.commands.bad_cases import is_run, login_name, refuse_options, started
from wildtool_review.commands.options import (
    CHECKS_ANNOUNCED,
    NO_CHECK_OPTION,
    READER_OPTION,
    RUNS_OPTION,
    SET_ARGUMENT,
    STORE_OPTION,
)
from wildtool_review.commands.replies import open_rejudge

if TYPE_CHECKING:
    from wildtool.report.server.address_token import AddressToken
    from wildtool_review.project import ReviewProject
    from wildtool_review.server.app import Listen
    from wildtool_review.server.checks import ChecksProgress
    from wildtool_review.server.operations import RecordedRuns

_ONE_READER = (
    "Nobody signs in to read failures of a run: each reader reads a copy on their own machine, and `wildtool review "
    "merge` adds what they said"
)

_SWITCH_S = 0.0005
"""Seconds for which a thread keeps the interpreter that another one wants, a tenth of Python's own."""


def serve_pages(
    set_name: str = SET_ARGUMENT,
    store: str | None = STORE_OPTION,
    benchmark: str | None = options.DATA_BENCHMARK_OPTION,
    reviewer: str | None = opt("--as NAME", "Who reviews, where nobody signs in (default: the owner)."),
    host: str = opt("NAME", "Address to listen on.", default="127.0.0.1"),
    port: int = opt("N", "Port; 0 picks a free one.", default=8643, min=0, max=65535),
    tls_cert: Path | None = opt("FILE", "Certificate; people then sign in by their tokens."),
    tls_key: Path | None = opt("FILE", "Private key of the certificate."),
    behind_proxy: str | None = opt(
        "ORIGIN", "Address in people's browsers, if a proxy encrypts; people then sign in by their tokens."
    ),
    no_token: bool = NO_TOKEN_OPTION,
    open: bool = opt("Open it in the browser."),
    no_check: bool = NO_CHECK_OPTION,
    runs: list[Path] | None = RUNS_OPTION,
    model: str | None = opt(
        "-m NAME", "Model that makes tasks again at the push of a button, as `review regenerate`."
    ),
    max_cost: float | None = opt("USD", "What each push of the button may spend with --model.", min=0),
    reader: str | None = READER_OPTION,
) -> None:
    """Review a made set in the browser: read, correct, decide, resolve conflicts, see figures.

    \b
    Examples:
      wildtool review sessions.jsonl --open
      wildtool review sessions.jsonl --runs runs --port 9000
      wildtool review sessions.jsonl --behind-proxy https://review.example.org
      wildtool review runs/wild-mini --reader ann

    SET is a folder that `wildtool generate` made, or any data that `wildtool data lint` reads. It is not changed: all
    edits and decisions go into SET.review.sqlite. New items are added each time.

    Without further options only this machine can reach it, only browsers that open the printed address with its token,
    and nobody signs in. Ctrl-C stops it; everything saved stays. Rules run over new items while you review. With --runs
    each item shows how recorded answers are judged after the edits.

    SET can also be a run of which `wildtool review start RUN --failed` drew failures. The pages show them one by one,
    and what you say of each is added to the folder of the run at once.
    """
    import asyncio

    from wildtool.report.server.address_token import AddressToken
    from wildtool_review.people import COMMAND_LINE
    from wildtool_review.server.app import Listen, serve_review
    from wildtool_review.sets import start_review, store_name
    from wildtool_review.store.address import is_address, shown_name, split_password

    if is_run(Path(set_name)):
        of_sets = {"store": store, "benchmark": benchmark, "as": reviewer, "no-check": no_check, "runs": runs}
        of_teams = {"tls-cert": tls_cert, "tls-key": tls_key, "behind-proxy": behind_proxy}
        refuse_options({**of_sets, **of_teams, "model": model, "max-cost": max_cost})
        _serve_cases(Path(set_name), reader, Listen(host, port, risk=_ONE_READER), no_token, open)
        return
    if reader is not None:
        raise UsageError("--reader is about failures of a run; who reviews a set is --as NAME")
    listen = Listen(host, port, tls_cert, tls_key, (behind_proxy or "").rstrip("/"))
    listen.check()
    if no_token and listen.signs_in:
        raise UsageError("--no-token is for one person without sign-in; here everyone signs in by a token")
    if max_cost is not None and model is None:
        raise UsageError("--max-cost limits what --model may spend; name a model, too")
    if max_cost is not None and not 0 <= max_cost < inf:
        raise UsageError(f"--max-cost is {max_cost:g}; it must be a number from 0")
    project, _ = start_review(set_name, store, benchmark)
    try:
        if reviewer is not None and listen.signs_in:
            raise UsageError("--as is for one person without sign-in; here everyone signs in by a token")
        if reviewer is not None and not project.state.may(reviewer, "reviewer"):
            names = [person.name for person in project.state.people.values() if person.active]
            raise UsageError(unknown_name("person", reviewer, names))
        if listen.signs_in and not project.state.people:
            print_err("nobody can sign in yet: add people with `wildtool review people add`")
        rows = _rows_of(project, runs)
    except BaseException:
        project.close()
        raise
    place = store_name(set_name, store)
    name = single_line(shown_name(place))
    regeneration = None
    if model is not None:
        from wildtool_review.server.regeneration import Regeneration

        limit = [] if max_cost is None else [f"--max-cost={max_cost}"]
        command = python_words("-m", "wildtool", "review", "regenerate")
        # What a process is called with, anyone on the machine can read.
        place, password = split_password(place) if is_address(place) else (place, "")
        settings = [f"--store={place}", f"--model={model}", *limit]
        regeneration = Regeneration(model, [*command, *settings], place, password)
    new = 0 if no_check else len(project.state.queue("unchecked"))

    # Where people sign in they have tokens of their own.
    token = None if no_token or listen.signs_in else AddressToken()

    def ready(address: str) -> None:
        _announce(f"Review of {name}", address, token, open)
        if new >= CHECKS_ANNOUNCED:
            print_err(f"The rules run over {new:,} items; you can review meanwhile.")

    def show(now: "ChecksProgress") -> None:
        show_step(f"rules: {now.checked:,} of {now.total:,} items" if now.checked < now.total else "")
        if now.problem:
            print_err(f"The rules stopped: {now.problem}")
        elif now.checked == now.total and new >= CHECKS_ANNOUNCED:
            print_err(f"The rules have run over all {now.total:,} items.")

    served = serve_review(
        project,
        Path(name).name,
        listen,
        person=reviewer or COMMAND_LINE,
        ready=ready,
        runs=rows,
        on_progress=None if no_check else show,
        regeneration=regeneration,
        token=token,
    )
    # Else a save waits 5 ms for the rules each time that it comes back from the disk.
    sys.setswitchinterval(_SWITCH_S)
    with step_line():
        asyncio.run(served)


def _announce(what: str, address: str, token: "AddressToken | None", open_: bool) -> None:
    """Prints where the pages are, and opens them if asked to."""
    from wildtool.report.commands.view import open_in_browser

    print_out(f"{what}: {token.address(address) if token else address}")
    sys.stdout.flush()
    print_err("Ctrl-C stops it.")
    if open_:
        open_in_browser(token.address_once(address) if token else address)


def _serve_cases(folder: Path, reader: str | None, listen: "Listen", no_token: bool, open_: bool) -> None:
    """Serves the failures of a run that one person reads."""
    import asyncio

    from wildtool.report.server.address_token import AddressToken
    from wildtool_review.bad_cases.reading import RunCases
    from wildtool_review.server.app import serve_at
    from wildtool_review.server.cases import CasesApp, CaseService

    listen.check()
    cases, name = started(folder), reader or login_name()
    service = CaseService(RunCases(folder, cases.profile), cases, name)
    token = None if no_token else AddressToken()
    what = f"Failures of {single_line(str(folder))}, read by {single_line(name)}"
    asyncio.run(
        serve_at(
            listen, lambda: CasesApp(service), lambda address: _announce(what, address, token, open_), token
        )
    )


def _rows_of(project: "ReviewProject", runs: list[Path] | None) -> "RecordedRuns | None":
    """What the pages show of recorded runs; None if none are named."""
    rejudge = open_rejudge(project.format, runs)
    if rejudge is None:
        return None
    from wildtool_review.replies.page import rows_of  # takes a third of a second to import

    return rows_of(rejudge)
