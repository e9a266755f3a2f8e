"""Arguments and options that several commands of a review have."""

from wildtool.cli.command import arg, opt

SET_ARGUMENT = arg("SET", "Made set (a file or folder), or its review.", show_default=False)
NO_CHECK_OPTION = opt("Do not run the rules over items that were not checked yet.")
STORE_OPTION = opt("FILE|URL", "Where the review is kept: a file, or postgresql://… (default: beside SET).")
RUNS_OPTION = opt("FOLDER", "Recorded runs of the set, or folders above; can be repeated.")
READER_OPTION = opt("NAME", "With a run: who reads (default: your login name).")
CHECKS_ANNOUNCED = 200
"""Items from which checking them is announced."""
