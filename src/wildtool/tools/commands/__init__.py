"""Check your own tools, test which are confused, or compare two versions of them.

\b
Examples:
  wildtool tools lint tools.json
  wildtool tools try tools.json --requests mine.jsonl -m gpt-4o
  wildtool tools compare old.json new.json --requests mine.jsonl -m gpt-4o
"""

from wildtool.cli import CommandGroup, Commands

TOOLS = CommandGroup(
    help=__doc__,
    no_args_is_help=True,
    commands=Commands(
        {
            "lint": "Check names and descriptions of your tools.",
            "try": "Put requests to models, and see which tools they take for each other.",
            "compare": "Compare two versions of your tools on the same requests.",
        },
        group="tools",
    ),
)
"""The verb with its commands."""
