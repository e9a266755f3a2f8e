"""The verb `review`: people correct and approve made sets. A set's own name opens its review in the browser."""

from pathlib import Path
from typing import Any

from wildtool.cli import CommandGroup, Commands


class _SetByDefault(CommandGroup):
    """A group whose first command is meant where the line names none."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        has_name = bool(args) and (args[0] in self.commands or _is_misspelt(args))
        # The shell completes names while nothing is typed.
        return super().parse_args(
            ctx, args if has_name or ctx.resilient_parsing else [next(iter(self.commands)), *args]
        )


def _is_misspelt(args: list[str]) -> bool:
    """Whether the line seems to have a command's name before the set: two words, of which the first is no file."""
    return len(args) > 1 and not any(word.startswith("-") for word in args[:2]) and not Path(args[0]).exists()


COMMANDS = {
    "serve": "Review a made set in the browser: read, correct, decide, resolve conflicts, see figures.",
    "start": "Start the review of a made set, or continue it, without opening it.",
    "export": "Write a release: the approved items, with provenance, a card and preference pairs.",
    "stats": "Show quality by round, the stop rule, agreement, and the precision of each rule's warnings.",
    "log": "Show, check or write the log, which has everything that happened.",
    "merge": "Add what others did in copies of the same review.",
    "round": "Open a round: draw a sample and assign each item to two people who do not see each other's work.",
    "agree": "List what several models do alike although gold has something else: likely errors in gold.",
    "regenerate": "Make stale tasks of sessions again with models, as proposals to accept or discard.",
    "import": "Turn traces and other conversations into drafts of own cases, with what the agent did as gold.",
    "quick": "Keep or reject own cases in the terminal, one key a case; or label failures of a run.",
    "people": "Add and remove people, with personal tokens.",
}
OF_PEOPLE = {
    "add": "Add a person, or change a role, and print a new personal token.",
    "revoke": "Revoke a person's token and role.",
    "list": "List people with their roles.",
}
REVIEW = _SetByDefault(
    help="Review and correct made sets, and release them.",
    commands=Commands(
        COMMANDS,
        "review",
        extras=dict.fromkeys(COMMANDS, "review"),
    ),
)
"""The verb with its commands."""
PEOPLE = CommandGroup(
    help="Add and remove people, with personal tokens.",
    no_args_is_help=True,
    commands=Commands(
        OF_PEOPLE,
        group="review.people",
        extras=dict.fromkeys(OF_PEOPLE, "review"),
    ),
)
"""The group `wildtool review people`."""
