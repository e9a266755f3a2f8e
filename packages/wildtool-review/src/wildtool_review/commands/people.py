"""The commands `review round` and `review people`: who reviews what."""

from wildtool.api.values import split_values
from wildtool.cli.command import arg, opt
from wildtool.errors import UsageError
from wildtool.terminal import print_err, print_out, single_line
from wildtool_review.commands.options import SET_ARGUMENT, STORE_OPTION


def round_(
    set_name: str = SET_ARGUMENT,
    people: list[str] | None = opt("NAME", "Who reviews in it; can be repeated or separated by commas."),
    share: float = opt("X", "Share of the items to draw.", default=0.2, min=0.0001, max=1),
    reviewers: int | None = opt("N", "People per item (default: 2, or what the set says).", min=1, max=2),
    seed: str = opt("TEXT", "The same seed draws the same items.", default="1"),
    close: int | None = opt("N", "End round N, once all its items have a result.", min=1),
    store: str | None = STORE_OPTION,
) -> None:
    """Open a round: draw a sample and assign each item to two people who do not see each other's work.

    \b
    Examples:
      wildtool review round sessions.jsonl --people ann,bob --share 0.2

    The sample has its share of each task type and subtype. No item comes twice until all were drawn; no pair of people
    meets in two consecutive rounds if others are possible.
    """
    from wildtool_review.people import COMMAND_LINE
    from wildtool_review.sets import open_review

    with open_review(set_name, store) as project:
        if close is not None:
            project.close_round(COMMAND_LINE, close)
            print_out(f"round {close} is closed")
            return
        names = split_values(people)
        if not names:
            raise UsageError("say who reviews: --people ann,bob")
        items = project.open_round(COMMAND_LINE, names, seed=seed, share=share, reviewers=reviewers)
        opened = project.state.rounds[-1]
        pairs = ", ".join(" and ".join(map(single_line, pair)) for pair in opened.pairs)
        print_out(f"round {opened.number}: {len(items)} of {len(project.state.items)} items, for {pairs}")


def people_add(
    set_name: str = SET_ARGUMENT,
    name: str = arg("NAME", "What the person is called in this review."),
    role: str = opt(
        "ROLE", "reviewer, adjudicator (resolves conflicts) or owner (opens rounds).", default="reviewer"
    ),
    store: str | None = STORE_OPTION,
) -> None:
    """Add a person, or change a role, and print a new personal token.

    \b
    Examples:
      wildtool review people add sessions.jsonl ann
      wildtool review people add sessions.jsonl eve --role adjudicator

    The token is shown once; only its hash is kept. An older token of the person no longer works.
    """
    from wildtool_review.people import COMMAND_LINE
    from wildtool_review.sets import open_review

    with open_review(set_name, store) as project:
        token = project.add_person(COMMAND_LINE, name, role)
    print_err(f"{name.strip()} is {role}; the token is shown only now:")
    print_out(token)


def people_revoke(
    set_name: str = SET_ARGUMENT, name: str = arg("NAME", "Who."), store: str | None = STORE_OPTION
) -> None:
    """Revoke a person's token and role. What they did stays.

    \b
    Examples:
      wildtool review people revoke sessions.jsonl ann
    """
    from wildtool_review.people import COMMAND_LINE
    from wildtool_review.sets import open_review

    with open_review(set_name, store) as project:
        project.revoke_person(COMMAND_LINE, name)
    print_out(f"{single_line(name)} no longer takes part")


def people_list(set_name: str = SET_ARGUMENT, store: str | None = STORE_OPTION) -> None:
    """List people with their roles.

    \b
    Examples:
      wildtool review people list sessions.jsonl
    """
    from wildtool_review.sets import open_review

    with open_review(set_name, store) as project:
        for person in project.state.people.values():
            print_out(f"{person.name}: {person.role}{'' if person.active else ' (no longer takes part)'}")
        if not project.state.people:
            print_err("nobody is registered: the review needs no sign-in, and only this machine may open it")
