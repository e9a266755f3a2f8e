"""`wildtool data refresh`."""

from pathlib import Path

from wildtool.cli.command import opt
from wildtool.cli.options import shared as options
from wildtool.data.commands.files import FILE_OR_BENCHMARK, resolve_data
from wildtool.engine.score.formatting import counted
from wildtool.errors import UsageError
from wildtool.terminal import print_err, print_out, single_line


def refresh(
    data: str = FILE_OR_BENCHMARK,
    out: Path | None = opt("-o FILE", "JSON Lines file to write."),
    seed: str = opt("TEXT", "The same seed gives the same values.", default="1"),
    skip_unclear: bool = opt("Leave out sessions with a value whose role is unclear."),
    benchmark: str | None = options.DATA_BENCHMARK_OPTION,
    force: bool = options.FORCE_OPTION,
) -> None:
    """Replace names, dates and amounts, so that memorised answers fail.

    \b
    Examples:
      wildtool data refresh sessions.jsonl --seed 7 --skip-unclear -o fresh.jsonl

    Requests, gold answers and tool results change consistently; structure and scoring stay the same.
    """
    from wildtool_data.make.core.files import write_sessions
    from wildtool_data.make.refresh.refresh import UnchangedSession, refresh_file

    if out is None:
        raise UsageError("give the file to write: --out fresh.jsonl")
    _, source = resolve_data(data, benchmark)
    left_out: list[UnchangedSession] = []
    sessions = refresh_file(source.path, seed, left_out, skip_unclear=skip_unclear)
    count = write_sessions(sessions, out, force=force)
    for session in left_out:
        print_err(f"left out {single_line(session.item)}: {single_line(session.reason, 300)}")
    print_out(f"{out}: {counted(count, 'session')}, {len(left_out)} left out")
