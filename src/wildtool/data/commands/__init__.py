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

OF_PACKAGE = {
    "stats": "Describe data: how many items, and of which kinds.",
    "overlap": "Look for benchmark questions and gold calls in training files.",
    "mix": "Mix training files into splits, without benchmark items.",
    "recipe": "Write everything that a training needs into one folder.",
    "refresh": "Replace names, dates and amounts, so that memorised answers fail.",
    "convert": "Convert training data of any layout for a trainer.",
}
"""Commands of the package that the extra `data` brings."""
DATA = CommandGroup(
    help=__doc__,
    no_args_is_help=True,
    commands=Commands(
        {
            "pull": "Download a benchmark's official data and verify them.",
            "lint": "Check data for mistakes.",
            **OF_PACKAGE,
        },
        group="data",
        extras=dict.fromkeys(OF_PACKAGE, "data"),
    ),
)
"""The verb with its commands."""
