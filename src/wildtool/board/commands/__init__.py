"""The verb `board`: submissions of runs, and the leaderboard that is built of them."""

from pathlib import Path
from typing import Any

from wildtool.cli import CommandGroup, Commands
from wildtool.older_names import GOES_WITH
from wildtool.terminal import print_err

_SUBMIT = "Make a submission of a run: a bundle and its passport."
_VERIFY = "Judge submissions again and compare them with their claims."


class _FolderToo(CommandGroup):
    """The commands of the verb; a folder in place of one is built, as the verb alone did before."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        is_older = bool(args) and args[0] not in (*self.commands, "-h", "--help")
        if is_older and not ctx.resilient_parsing and (args[0].startswith("-") or Path(args[0]).is_dir()):
            print_err(
                f"`wildtool board FOLDER` is `wildtool board build FOLDER` now; the older form goes with {GOES_WITH}"
            )
            args = ["build", *args]
        return super().parse_args(ctx, args)


BOARD = _FolderToo(
    help="Submit runs to a leaderboard, verify submissions, and build its page.",
    no_args_is_help=True,
    commands=Commands(
        {
            "submit": _SUBMIT,
            "verify": _VERIFY,
            "build": "Build a leaderboard page of verified submissions.",
        },
        group="board",
    ),
)
"""The verb with its commands."""
SUBMIT = CommandGroup(
    help="Make submissions, and verify them (the older name of `wildtool board submit` and `verify`).",
    no_args_is_help=True,
    commands=Commands({"prepare": _SUBMIT, "verify": _VERIFY}, group="submit"),
)
"""The older verb."""
