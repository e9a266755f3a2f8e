"""The command `review import`: real conversations become drafts of sessions, to be completed in a review."""

from collections import Counter
from pathlib import Path

from wildtool.cli.command import arg, opt
from wildtool.cli.options import shared as options
from wildtool.cli.terminal import print_err, print_out, single_line
from wildtool.engine.score.formatting import counted
from wildtool.errors import UsageError, unknown_name


def import_drafts(
    files: list[Path] = arg("FILE...", "Conversations, JSON or JSON lines.", show_default=False),
    source: str | None = opt(
        "--from NAME", "openai (conversations of any API or agent), inspect (logs) or otel (spans)."
    ),
    out: Path | None = opt("-o FILE", "JSON Lines file to write."),
    keep_names: bool = opt("Leave all texts as they are; by default names are replaced."),
    seed: str = opt("TEXT", "The same seed gives the same names.", default="1"),
    skip_unclear: bool = opt(
        "Leave out conversations of unknown shape, or with a value whose role is unclear."
    ),
    force: bool = options.FORCE_OPTION,
) -> None:
    """Turn real conversations into drafts of sessions, whose gaps the review shows as findings.

    \b
    Examples:
      wildtool review import chats.jsonl --from openai -o drafts.jsonl
      wildtool review import log.json --from inspect -o drafts.jsonl

    What the assistant did becomes gold, to be checked. The graph and the types follow from values that flow between
    calls. Names, ids, places and amounts are replaced as by `wildtool data refresh`; names that occur only in free text
    are not found, so read before you publish.
    """
    from wildtool_data.make.core.files import write_sessions
    from wildtool_data.make.refresh.refresh import UnchangedSession
    from wildtool_review.drafts.conversation import LAYOUTS
    from wildtool_review.drafts.draft import draft_sessions, gap_counts

    if source is None:
        raise UsageError(f"say what the files hold: --from {'|'.join(LAYOUTS)}")
    if source not in LAYOUTS:
        raise UsageError(unknown_name("source", source, LAYOUTS))
    if out is None:
        raise UsageError("give the file to write: --out drafts.jsonl")
    refused: list[UnchangedSession] = []
    lost = Counter[str]()
    drafts = list(
        draft_sessions(
            files, source, refused, seed=seed, keep_names=keep_names, skip_unclear=skip_unclear, lost=lost
        )
    )
    for session in refused:
        print_err(f"left out {single_line(session.item)}: {single_line(session.reason, 300)}")
    if not drafts:
        raise UsageError(f"no conversation of {source} with a user in it was found; nothing is written")
    count = write_sessions(drafts, out, force=force)
    print_out(f"{out}: {counted(count, 'draft')}, {len(refused)} left out")
    for kind, number in gap_counts(drafts).most_common():
        print_out(f"  {kind}: {number}")
    for name, number in lost.most_common():
        print_out(f"  not kept: {name}: {number}")
    print_out(f"wildtool review {out}")
