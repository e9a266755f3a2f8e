"""The verb `tools`: are your tools fit to choose by, which are confused, and are new descriptions better?"""

from wildtool.cli import CommandGroup, Commands

TOOLS = CommandGroup(
    help="Check your own tools, test which are confused, or compare two versions of them.",
    no_args_is_help=True,
    commands=Commands(
        {
            "lint": ("tools.commands.lint:lint", "Check names and descriptions of your tools."),
            "try": (
                "tools.commands.try_:try_",
                "Put requests to models, and see which tools they take for each other.",
            ),
            "compare": (
                "tools.commands.compare:compare",
                "Compare two versions of your tools on the same requests.",
            ),
        },
        group="tools",
    ),
)
"""The verb with its commands."""
