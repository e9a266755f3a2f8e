"""The verb `review`: people correct and approve made sets. A set's own name opens its review in the browser."""

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from math import inf
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from wildtool.cli.command import OUTPUT, SETTINGS, PanelCommand, split_values, with_exit_status
from wildtool.cli.commands.review_drafts import import_drafts
from wildtool.cli.commands.review_regenerate import regenerate
from wildtool.cli.commands.review_replies import RunsOption, agree, open_rejudge
from wildtool.cli.options import shared as options
from wildtool.cli.terminal import print_err, print_out, single_line
from wildtool.errors import UsageError, unknown_name
from wildtool.steps import show_step, step_line, with_steps

if TYPE_CHECKING:
    from wildtool.review.log import Entry
    from wildtool.review.project import ReviewProject
    from wildtool.review.replies.rejudge import Rejudge
    from wildtool.review.server.checks import ChecksProgress
    from wildtool.review.server.operations import RecordedRuns
    from wildtool.review.state import Queue

SetArgument = Annotated[
    str, typer.Argument(metavar="SET", help="Made set (a file or folder), or its review.", show_default=False)
]
NoCheckOption = Annotated[
    bool, typer.Option("--no-check", help="Do not run the rules over items that were not checked yet.")
]
StoreOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|URL", help="Where the review is kept: a file, or postgresql://… (default: beside SET)."
    ),
]
_PROGRESS = 200
"""Items from which checking them is announced."""
_SHOWN: tuple[tuple["Queue", str], ...] = (
    ("warnings", "with findings of rules"),
    ("conflicts", "in conflict"),
    ("stale", "with stale tasks"),
)
"""Queues of which the first items are named."""


def start(
    what: SetArgument,
    store: StoreOption = None,
    benchmark: options.BenchmarkOption = None,
    no_check: NoCheckOption = False,
    runs: RunsOption = None,
) -> None:
    """Start the review of a made set, or continue it, without opening it.

    \b
    Examples:
      wildtool review start sessions.jsonl
      wildtool review start sessions.jsonl --store team.review.sqlite
      wildtool review start sessions.jsonl --runs runs

    SET is a folder that `wildtool generate` made, or any data that `wildtool data lint` reads. It is not changed: all
    edits and decisions go into SET.review.sqlite. New items are added each time. `wildtool review SET` opens it in the
    browser.
    """
    from wildtool.review.sets import start_review, store_name

    project, added = start_review(what, store, benchmark)
    try:
        if not no_check:
            _check_new(project)
        _print_overview(project, single_line(store_name(what, store)), added)
        if rejudge := open_rejudge(project.format, runs):
            with rejudge.runs:
                _print_flips(project, rejudge)
    finally:
        project.close()


def _print_overview(project: "ReviewProject", name: str, added: int) -> None:
    from collections import Counter

    items = project.state.items.values()
    print_out(f"{name}: {len(items)} items, {added} new")
    stages = Counter(item.stage for item in items)
    print_out(", ".join(f"{count} {stage}" for stage, count in stages.items()))
    for queue, what in _SHOWN:
        if found := project.state.queue(queue):
            shown = ", ".join(single_line(item.id) for item in found[:3])
            print_out(f"{len(found)} {what}: {shown}{', …' if len(found) > 3 else ''}")


def serve_pages(
    what: SetArgument,
    store: StoreOption = None,
    benchmark: options.BenchmarkOption = None,
    who: Annotated[
        str | None,
        typer.Option("--as", metavar="NAME", help="Who reviews, where nobody signs in (default: the owner)."),
    ] = None,
    host: Annotated[str, typer.Option(metavar="NAME", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="N", help="Port; 0 picks a free one.")
    ] = 8643,
    tls_cert: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Certificate; people then sign in by their tokens.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Private key of the certificate.")
    ] = None,
    behind_proxy: Annotated[
        str | None,
        typer.Option(
            metavar="ORIGIN",
            help="Address in people's browsers, if a proxy encrypts; people then sign in by their tokens.",
        ),
    ] = None,
    open: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    no_check: NoCheckOption = False,
    runs: RunsOption = None,
    model: Annotated[
        str | None,
        typer.Option(
            *("--model", "-m"),
            metavar="NAME",
            help="Model that makes tasks again at the push of a button, as `review regenerate`.",
        ),
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option(min=0, metavar="USD", help="What each push of the button may spend with --model."),
    ] = None,
) -> None:
    """Review a made set in the browser: read, correct, decide, resolve conflicts, see figures.

    \b
    Examples:
      wildtool review sessions.jsonl --open
      wildtool review sessions.jsonl --runs runs --port 9000
      wildtool review sessions.jsonl --behind-proxy https://review.example.org

    SET is a folder that `wildtool generate` made, or any data that `wildtool data lint` reads. It is not changed: all
    edits and decisions go into SET.review.sqlite. New items are added each time.

    Without further options only this machine can reach it, and nobody signs in. Ctrl-C stops it; everything saved
    stays. Rules run over new items while you review. With --runs each item shows how recorded answers are judged after
    the edits.
    """
    import asyncio

    from wildtool.cli.commands.view import open_in_browser
    from wildtool.review.people import COMMAND_LINE
    from wildtool.review.server.app import Listen, serve_review
    from wildtool.review.sets import start_review, store_name

    listen = Listen(host, port, tls_cert, tls_key, (behind_proxy or "").rstrip("/"))
    listen.check()
    if max_cost is not None and model is None:
        raise UsageError("--max-cost limits what --model may spend; name a model, too")
    if max_cost is not None and not 0 <= max_cost < inf:
        raise UsageError(f"--max-cost is {max_cost:g}; it must be a number from 0")
    project, _ = start_review(what, store, benchmark)
    try:
        if who is not None and listen.signs_in:
            raise UsageError("--as is for one person without sign-in; here everyone signs in by a token")
        if who is not None and not project.state.may(who, "reviewer"):
            known = [person.name for person in project.state.people.values() if person.active]
            raise UsageError(unknown_name("person", who, known))
        if listen.signs_in and not project.state.people:
            print_err("nobody can sign in yet: add people with `wildtool review people add`")
        rows = _rows_of(project, runs)
    except BaseException:
        project.close()
        raise
    name = single_line(store_name(what, store))
    regeneration = None
    if model is not None:
        from wildtool.review.server.regeneration import Regeneration

        limit = [] if max_cost is None else [f"--max-cost={max_cost}"]
        command = [sys.executable, "-m", "wildtool", "review", "regenerate"]
        place = store_name(what, store)
        about = [f"--store={place}", f"--model={model}", *limit]
        regeneration = Regeneration(model, [*command, *about], place)
    new = 0 if no_check else len(project.state.queue("unchecked"))

    def ready(address: str) -> None:
        print_out(f"Review of {name}: {address}")
        sys.stdout.flush()
        print_err("Ctrl-C stops it.")
        if new >= _PROGRESS:
            print_err(f"The rules run over {new:,} items; you can review meanwhile.")
        if open:
            open_in_browser(address)

    def show(now: "ChecksProgress") -> None:
        show_step(f"rules: {now.checked:,} of {now.total:,} items" if now.checked < now.total else "")
        if now.problem:
            print_err(f"The rules stopped: {now.problem}")
        elif now.checked == now.total and new >= _PROGRESS:
            print_err(f"The rules have run over all {now.total:,} items.")

    served = serve_review(
        project,
        Path(name).name,
        listen,
        who=who or COMMAND_LINE,
        ready=ready,
        runs=rows,
        on_progress=None if no_check else show,
        regeneration=regeneration,
    )
    with step_line():
        asyncio.run(served)


def _rows_of(project: "ReviewProject", runs: list[Path] | None) -> "RecordedRuns | None":
    """What the pages show of recorded runs; None if none are named."""
    rejudge = open_rejudge(project.format, runs)
    if rejudge is None:
        return None
    from wildtool.review.replies.page import rows_of  # takes a third of a second to import

    return rows_of(rejudge)


def _check_new(project: "ReviewProject") -> None:
    """Runs the rules over items that were not checked yet."""
    new = len(project.state.queue("unchecked"))
    if new >= _PROGRESS:
        print_err(f"checking {new} items; you can interrupt this and continue later")
    for _ in with_steps("checking", enumerate(project.check_items()), itemgetter(0)):
        pass


def _print_flips(project: "ReviewProject", rejudge: "Rejudge") -> None:
    """Which recorded answers another verdict has since their item was edited."""
    edited = [item.id for item in project.state.items.values() if item.version > 1]
    print_out(f"{len(rejudge.runs.runs)} recorded runs of {len(rejudge.runs.models)} models")
    for item in edited:
        for flip in rejudge.of_item(project.item(item)).flips:
            about = f"{single_line(item)}, unit {single_line(flip.unit)}, {single_line(flip.model)}"
            print_out(
                f"{about}: {flip.before.state} -> {flip.after.state} ({single_line(flip.after.reason)})"
            )


def export(
    what: SetArgument,
    out: Annotated[
        Path | None, typer.Option(*("--out", "-o"), metavar="FOLDER", help="Folder to write.")
    ] = None,
    store: StoreOption = None,
    force: options.ForceOption = False,
) -> None:
    """Write a release: the approved items, with provenance, a card and preference pairs.

    \b
    Examples:
      wildtool review export sessions.jsonl -o release
      wildtool run wildtoolbench --data release/sessions.jsonl -m baseline/gold

    People appear as person 1, person 2, …; their remarks are left out. The same log gives the same bytes.
    """
    from wildtool.review.release import write_release
    from wildtool.review.sets import open_review

    if out is None:
        raise UsageError("give the folder to write: --out release")
    project = open_review(what, store)
    try:
        manifest = write_release(project, out, force=force)
    finally:
        project.close()
    print_out(f"{out}: {manifest['items']} approved items of {len(project.state.items)}")
    print_out(f"wildtool run {manifest['benchmark']} --data {out / manifest['data']} --model NAME")


def stats(
    what: SetArgument,
    store: StoreOption = None,
    max_error: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            metavar="X",
            help="Largest error rate that the last round's 95 % interval may include.",
        ),
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Show quality by round, the stop rule, agreement, and the precision of each rule's warnings.

    \b
    Examples:
      wildtool review stats sessions.jsonl
      wildtool review stats sessions.jsonl --max-error 0.05 --json
    """
    from wildtool.cli.output.tables import print_metrics
    from wildtool.review.figures import review_figures
    from wildtool.review.sets import open_review

    project = open_review(what, store)
    try:
        metrics = review_figures(project, max_error)
    finally:
        project.close()
    if as_json:
        print(json.dumps([asdict(metric) for metric in metrics], indent=1))
    else:
        print_metrics(metrics)


def log(
    what: SetArgument,
    store: StoreOption = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Check every entry, and name the first bad one.")
    ] = False,
    last: Annotated[
        str | None,
        typer.Option(
            metavar="DIGEST", help="Digest that the last entry must have, as in a release's manifest.json."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            *("--out", "-o"), metavar="FILE", help="Write the log as JSON lines.", rich_help_panel=OUTPUT
        ),
    ] = None,
    anonymous: Annotated[
        bool,
        typer.Option("--anonymous", help="Write it with pseudonyms and without remarks, to be published."),
    ] = False,
    force: options.ForceOption = False,
) -> None:
    """Show, check or write the log, which has everything that happened.

    \b
    Examples:
      wildtool review log sessions.jsonl
      wildtool review log sessions.jsonl --verify
      wildtool review log sessions.jsonl -o ann.jsonl

    Send the written file to others, who add it to their review with `wildtool review merge`.
    """
    from wildtool.outputs import check_absent
    from wildtool.review.files import export_log
    from wildtool.review.sets import open_review, store_name

    project = open_review(what, store)
    try:
        if verify:
            name = single_line(store_name(what, store))
            count = project.verify(name, last)
            print_out(f"{name}: {count} entries, all intact; digest {project.state.digest}")
        elif out is not None:
            check_absent(out, force=force)
            print_out(f"{out}: {export_log(project.store, out, anonymous=anonymous)} entries")
        else:
            for entry in project.store.read():
                print_out(_entry_line(entry))
    finally:
        project.close()


def _entry_line(entry: "Entry") -> str:
    said = (
        entry.after
        if isinstance(entry.after, str) and entry.kind in ("decision", "settle", "resolve")
        else ""
    )
    parts = (
        entry.when,
        entry.who,
        entry.kind,
        entry.item,
        entry.field,
        said,
        " ".join(entry.reason),
        entry.note,
    )
    return f"{entry.n:>6}  " + "  ".join(single_line(part) for part in parts if part)


def merge(
    what: SetArgument,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Logs that others wrote with `review log --out`.")
    ],
    store: StoreOption = None,
    benchmark: options.BenchmarkOption = None,
) -> None:
    """Add what others did in copies of the same review.

    \b
    Examples:
      wildtool review merge sessions.jsonl bob.jsonl

    Nothing is overwritten: edits of the same part become a conflict for an adjudicator, who sees both. Merging a file
    again adds nothing. If there is no review yet, it becomes that of the file.
    """
    from wildtool.review.files import merge_log
    from wildtool.review.sets import open_store, start_review, store_name

    name = store_name(what, store)
    if what != name and not Path(name).exists() and not name.startswith("postgres"):
        from wildtool.review.formats import find_set
        from wildtool.review.project import ReviewProject

        format_, _ = find_set(what, benchmark)
        project = ReviewProject.create(open_store(name), format_)
    else:
        project, _ = start_review(what, store, benchmark)
    try:
        for file in files:
            report = merge_log(project, file)
            print_out(
                f"{file}: {report.added} entries added, {report.known} known, "
                f"{report.contradictions} contradictions, {report.settled} reviews ended"
            )
    finally:
        project.close()


def round_(
    what: SetArgument,
    people: Annotated[
        list[str] | None,
        typer.Option(
            "--people", metavar="NAME", help="Who reviews in it; can be repeated or separated by commas."
        ),
    ] = None,
    share: Annotated[
        float, typer.Option(min=0.0001, max=1, metavar="X", help="Share of the items to draw.")
    ] = 0.2,
    reviewers: Annotated[int, typer.Option(min=1, max=2, metavar="N", help="People per item.")] = 2,
    seed: Annotated[str, typer.Option(metavar="TEXT", help="The same seed draws the same items.")] = "1",
    close: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="End round N, once all its items have a result.")
    ] = None,
    store: StoreOption = None,
) -> None:
    """Open a round: draw a sample and assign each item to two people who do not see each other's work.

    \b
    Examples:
      wildtool review round sessions.jsonl --people ann,bob --share 0.2

    The sample has its share of each task type and subtype. No item comes twice until all were drawn; no pair of people
    meets in two consecutive rounds if others are possible.
    """
    from wildtool.review.people import COMMAND_LINE
    from wildtool.review.sets import open_review

    project = open_review(what, store)
    try:
        if close is not None:
            project.close_round(COMMAND_LINE, close)
            print_out(f"round {close} is closed")
            return
        names = split_values(people)
        if not names:
            raise UsageError("say who reviews: --people ann,bob")
        items = project.open_round(COMMAND_LINE, names, seed=seed, share=share, reviewers=reviewers)
        one = project.state.rounds[-1]
        pairs = ", ".join(" and ".join(map(single_line, pair)) for pair in one.pairs)
        print_out(f"round {one.number}: {len(items)} of {len(project.state.items)} items, for {pairs}")
    finally:
        project.close()


def people_add(
    what: SetArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the person is called in this review.")],
    role: Annotated[
        str,
        typer.Option(
            metavar="ROLE", help="reviewer, adjudicator (resolves conflicts) or owner (opens rounds)."
        ),
    ] = "reviewer",
    store: StoreOption = None,
) -> None:
    """Add a person, or change a role, and print a new personal token.

    \b
    Examples:
      wildtool review people add sessions.jsonl ann
      wildtool review people add sessions.jsonl eve --role adjudicator

    The token is shown once; only its hash is kept. An older token of the person no longer works.
    """
    from wildtool.review.people import COMMAND_LINE
    from wildtool.review.sets import open_review

    project = open_review(what, store)
    try:
        token = project.add_person(COMMAND_LINE, name, role)
    finally:
        project.close()
    print_err(f"{name.strip()} is {role}; the token is shown only now:")
    print_out(token)


def people_revoke(
    what: SetArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Who.")],
    store: StoreOption = None,
) -> None:
    """Revoke a person's token and role. What they did stays.

    \b
    Examples:
      wildtool review people revoke sessions.jsonl ann
    """
    from wildtool.review.people import COMMAND_LINE
    from wildtool.review.sets import open_review

    project = open_review(what, store)
    try:
        project.revoke_person(COMMAND_LINE, name)
    finally:
        project.close()
    print_out(f"{single_line(name)} no longer takes part")


def people_list(what: SetArgument, store: StoreOption = None) -> None:
    """List people with their roles.

    \b
    Examples:
      wildtool review people list sessions.jsonl
    """
    from wildtool.review.sets import open_review

    project = open_review(what, store)
    try:
        for person in project.state.people.values():
            print_out(f"{person.name}: {person.role}{'' if person.active else ' (no longer takes part)'}")
        if not project.state.people:
            print_err("nobody is registered: the review needs no sign-in, and only this machine may open it")
    finally:
        project.close()


_COMMANDS: Mapping[str, Callable[..., int | None]] = {
    "serve": serve_pages,
    "start": start,
    "export": export,
    "stats": stats,
    "log": log,
    "merge": merge,
    "round": round_,
    "agree": agree,
    "regenerate": regenerate,
    "import": import_drafts,
}
_PEOPLE: Mapping[str, Callable[..., int | None]] = {
    "add": people_add,
    "revoke": people_revoke,
    "list": people_list,
}


class _SetByDefault(TyperGroup):
    """A group whose first command is meant where the line names none."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        named = bool(args) and (args[0] in self.commands or _is_misspelt(args))
        # The shell completes names while nothing is typed.
        return super().parse_args(
            ctx, args if named or ctx.resilient_parsing else [next(iter(self.commands)), *args]
        )


def _is_misspelt(args: list[str]) -> bool:
    """Whether the line seems to have a command's name before the set: two words, of which the first is no file."""
    return len(args) > 1 and not any(word.startswith("-") for word in args[:2]) and not Path(args[0]).exists()


def _group(about: str, cls: type[TyperGroup] | None = None) -> typer.Typer:
    shown: dict[str, Any] = {"rich_markup_mode": None, "add_completion": False, "context_settings": SETTINGS}
    return (
        typer.Typer(cls=cls, help=about, **shown)
        if cls
        else typer.Typer(help=about, no_args_is_help=True, **shown)
    )


def _review() -> typer.Typer:
    app = _group("Review and correct made sets, and release them.", _SetByDefault)
    first, *others = (*_COMMANDS, "people")
    more = f"See also: {', '.join(f'wildtool review {name}' for name in others)}."
    for name, command in _COMMANDS.items():
        app.command(name, cls=PanelCommand, epilog=more if name == first else None)(with_exit_status(command))
    people = _group("Add and remove people, with personal tokens.")
    for name, command in _PEOPLE.items():
        people.command(name, cls=PanelCommand)(with_exit_status(command))
    app.add_typer(people, name="people")
    return app


REVIEW = _review()
"""The verb with its commands."""
