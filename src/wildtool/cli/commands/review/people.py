"""The commands `review round` and `review people`: who reviews what."""

from typing import Annotated

import typer

from wildtool.cli.command import split_values
from wildtool.cli.options.review import SetArgument, StoreOption
from wildtool.cli.terminal import print_err, print_out, single_line
from wildtool.errors import UsageError


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
