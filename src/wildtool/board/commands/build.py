"""`wildtool board build`: a static leaderboard of verified submissions."""

from pathlib import Path

from wildtool.cli.command import arg, opt
from wildtool.cli.options import shared as options


def build(
    folder: Path = arg("FOLDER", "Folder with submissions, at any depth."),
    out: Path = opt("-o FOLDER", "Folder for the pages.", default=Path("board")),
    data: str | None = options.DATA_OPTION,
    force: bool = options.FORCE_OPTION,
) -> int:
    """Build a leaderboard page of verified submissions.

    \b
    Examples:
      wildtool board build submissions -o site

    Every submission is verified first, as by `wildtool board verify`; what is refused is listed with the reason. Ranked
    are recomputed ones on official data. The pages need no server. Exit status: 0 all submissions hold, 1 some were
    refused, 2 there is none.
    """
    from wildtool.board.build import build_board
    from wildtool.outputs import check_folder, is_site
    from wildtool.sanitize import single_line
    from wildtool.terminal import print_err, print_out

    check_folder(out, is_site, force=force)
    page, refused = build_board(folder, out, data)
    for each in refused:
        bundle = single_line(each.bundle, 1_000)
        print_err(
            f"{bundle}: refused: {each.refusal}; make it again by `wildtool board submit RUN`, or take it out of the "
            "folder"
        )
    print_out(str(page))
    return int(bool(refused))
