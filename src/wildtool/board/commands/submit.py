"""`wildtool board submit` and `verify`: makes submissions to a board, and verifies them."""

from pathlib import Path
from typing import TYPE_CHECKING

from wildtool.cli.command import arg, opt
from wildtool.cli.options import shared as options

if TYPE_CHECKING:
    from wildtool.board.verify import Verification


def submit(
    run: Path = arg("RUN", "Folder of a complete run."),
    out: Path = opt("-o FOLDER", "Folder for the bundle and its passport.", default=Path()),
    profile: str | None = options.PROFILE_OPTION,
    data: str | None = options.DATA_OPTION,
    force: bool = options.FORCE_OPTION,
) -> int:
    """Make a submission of a run: a bundle and its passport.

    \b
    Examples:
      wildtool board submit runs/gold -o submissions

    Writes NAME.bundle.zip with all recorded replies, and NAME.passport.json with what they claim to show. A run that
    leaves units out is refused with their ids (exit status 1).
    """
    from wildtool.board.passport import passport, write_passport
    from wildtool.board.verify import bundle_digest, passport_of
    from wildtool.board.verify import verify as verification_of
    from wildtool.engine.record.bundle import BUNDLE_SUFFIX, RUN_NAME
    from wildtool.engine.score.results import load_result
    from wildtool.export import ExportRequest, export
    from wildtool.models.resolve import folder_name
    from wildtool.outputs import check_file, make_folder
    from wildtool.terminal import print_out

    name = run.resolve().name
    bundle = out / f"{name if RUN_NAME.fullmatch(name) else folder_name(name)}{BUNDLE_SUFFIX}"
    targets = (bundle, passport_of(bundle))
    for target in targets:
        check_file(target, force=force)
    make_folder(out)
    claims = passport(load_result(run, profile, data=data))
    export("bundle", ExportRequest(folder=run, profile=profile, data=data), bundle, force=force)
    write_passport({**claims, "bundle": {"name": bundle.name, "sha256": bundle_digest(bundle)}}, targets[1])
    verification = verification_of(bundle, data=data)
    _print(verification)
    if verification.problems:
        for target in targets:
            target.unlink()
        return 1
    for target in targets:
        print_out(str(target))
    return 0


def verify(
    bundles: list[Path] = arg(
        "BUNDLE…", "Bundles to verify, each with its passport beside it, or folders of them."
    ),
    data: str | None = options.DATA_OPTION,
) -> int:
    """Judge submissions again and compare them with their claims.

    \b
    Examples:
      wildtool board verify submissions/gold.bundle.zip
      wildtool board verify submissions

    Exit status: 0 all hold, 1 one is refused; what is wrong is printed.
    """
    from wildtool.board.verify import submissions_in
    from wildtool.board.verify import verify as verification_of

    every = [each for path in bundles for each in (submissions_in(path) if path.is_dir() else [path])]
    verifications = [verification_of(bundle, data=data) for bundle in every]
    for each in verifications:
        _print(each)
    return int(any(each.problems for each in verifications))


def _print(verification: "Verification") -> None:
    from wildtool.engine.compare.leaderboard import headline
    from wildtool.sanitize import single_line
    from wildtool.terminal import print_err, print_out

    name = single_line(verification.bundle.name)
    if verification.problems:
        print_err(f"{name}: refused: {verification.refusal}")
    for doubt in verification.doubts:
        print_err(f"{name}: marked as submitted: {doubt}")
    for remark in verification.remarks:
        print_err(f"{name}: {remark}")
    for finding in verification.endpoint:
        print_err(f"{name}: endpoint: {finding}")
    if not verification.problems and verification.result is not None:
        result, metric = verification.result, headline(verification.result)
        number = (
            "" if metric is None or metric.value is None else f", {metric.name} {100 * metric.value:.1f} %"
        )
        mark, units = verification.mark, result.evidence.units
        print_out(f"{name}: {mark}: {units} units{number}; {verification.coverage}")
