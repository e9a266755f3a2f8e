"""The folder of items that `wildtool generate acebench` makes without a model: when it may be written, what is said."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wildtool.engine.score.formatting import counted
from wildtool.errors import UsageError
from wildtool.outputs import check_folder, claim, contents_of
from wildtool.temporary import lasting_files
from wildtool.terminal import format_reason, print_err, print_out
from wildtool.written import written_before
from wildtool_data.make.core.files import ITEMS_FOLDER, LOSSES_FILE
from wildtool_data.make.items.output import items_run_command


def claim_folder(out: Path, *, force: bool) -> None:
    """Takes a folder for a set. Raises UsageError where it holds what no earlier command wrote."""
    check_folder(out, lambda _: True)
    claim(out)
    if not force and out.exists() and contents_of(out) and not all(map(written_before, lasting_files(out))):
        raise UsageError(
            f"{out} already exists; name another folder, remove it, or add --force to write into it"
        )


def print_made(out: Path, kept: int, losses: Sequence[Mapping[str, Any]]) -> int:
    """Says what was made and the first reason of a loss; the exit status. Args: kept: number of items."""
    print_out(f"{out / ITEMS_FOLDER}: {counted(kept, 'item')}, {len(losses)} lost")
    if losses:
        first = f"{losses[0]['reason']}: {losses[0]['detail']}"
        print_err(format_reason(f"why items were lost: {out / LOSSES_FILE}; the first: {first}"))
    if kept:
        print_err(f"Run them: {items_run_command(out)}")
    return 0 if kept else 1
