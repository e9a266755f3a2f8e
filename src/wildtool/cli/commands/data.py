"""Download, check, describe, refresh, convert and mix data.

\b
Examples:
  wildtool data pull wildtoolbench
  wildtool data lint sessions.jsonl
  wildtool data stats wild-mini
  wildtool data overlap train.jsonl
  wildtool data mix a=a.jsonl b=b.jsonl --dedupe near -o mix
  wildtool data refresh sessions.jsonl --skip-unclear -o fresh.jsonl
  wildtool data convert toolace.json --to llamafactory -o lf
"""

from wildtool.cli import CommandGroup, Commands, of_extra

DATA = CommandGroup(
    help=__doc__,
    no_args_is_help=True,
    commands=Commands(
        {
            "pull": ("cli.commands.pull:pull", "Download a benchmark's official data and verify them."),
            "lint": (of_extra("data"), "Check data for mistakes."),
            "stats": (
                of_extra("data"),
                "Describe data: how many items, and of which kinds.",
            ),
            "overlap": (
                of_extra("data"),
                "Look for benchmark questions and gold calls in training files.",
            ),
            "mix": (
                of_extra("data"),
                "Mix training files into splits, without benchmark items.",
            ),
            "recipe": (
                of_extra("data"),
                "Write everything that a training needs into one folder.",
            ),
            "refresh": (
                of_extra("data"),
                "Replace names, dates and amounts, so that memorised answers fail.",
            ),
            "convert": (
                of_extra("data"),
                "Convert training data of any layout for a trainer.",
            ),
        },
        group="data",
    ),
)
"""The verb with its commands."""
