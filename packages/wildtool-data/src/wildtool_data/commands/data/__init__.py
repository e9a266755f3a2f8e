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

from wildtool.cli import CommandGroup, Commands

DATA = CommandGroup(
    help=__doc__,
    no_args_is_help=True,
    commands=Commands(
        {
            "pull": ("cli.commands.pull:pull", "Download a benchmark's official data and verify them."),
            "lint": ("wildtool_data.commands.data.lint:lint", "Check data for mistakes."),
            "stats": (
                "wildtool_data.commands.data.stats:stats",
                "Describe data: how many items, and of which kinds.",
            ),
            "overlap": (
                "wildtool_data.commands.data.overlap:overlap",
                "Look for benchmark questions and gold calls in training files.",
            ),
            "mix": (
                "wildtool_data.commands.data.mix:mix",
                "Mix training files into splits, without benchmark items.",
            ),
            "recipe": (
                "wildtool_data.commands.data.recipe:recipe",
                "Write everything that a training needs into one folder.",
            ),
            "refresh": (
                "wildtool_data.commands.data.refresh:refresh",
                "Replace names, dates and amounts, so that memorised answers fail.",
            ),
            "convert": (
                "wildtool_data.commands.data.convert:convert",
                "Convert training data of any layout for a trainer.",
            ),
        },
        group="data",
    ),
)
"""The verb with its commands."""
