"""`wildtool catalogue`: what the size of a catalogue costs, and what in your own is confused."""

from pathlib import Path

from wildtool.cli.command import arg, opt
from wildtool.cli.options import shared as options
from wildtool.outputs import check_file


def catalogue(
    sources: list[Path] = arg("RUNS…", "Folders with runs of several sizes of --catalogue."),
    out: Path | None = opt(
        "-o FOLDER", "Folder for sizes.csv and the chart (the chart needs the extra [report])."
    ),
    profile: str | None = options.PROFILE_OPTION,
    prices: Path | None = opt("FILE", "Price file, TOML or JSON; overrides built-in prices."),
    force: bool = options.FORCE_OPTION,
) -> int:
    """Show how accuracy falls with the size of a catalogue, and where it breaks.

    \b
    Examples:
      wildtool catalogue runs/sizes
      wildtool catalogue runs/sizes runs/sizes-bm25 -o sizes

    Takes runs of `wildtool run --catalogue N,…`, which differ in nothing but the size; each model and setting is a
    separate series, paired on the same units.
    """
    from wildtool.catalogue.size_curve import size_series
    from wildtool.catalogue.size_output import show_sizes

    if out is not None:
        check_file(out / "sizes.csv", force=force)
    show_sizes(size_series(sources, profile, prices), out)
    return 0
