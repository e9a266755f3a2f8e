"""The commands `review log` and `review merge`: the log of a review, and those of others."""

from pathlib import Path
from typing import TYPE_CHECKING

from wildtool.cli.command import arg, opt
from wildtool.cli.help import OUTPUT
from wildtool.cli.options import shared as options
from wildtool.terminal import print_out, single_line
from wildtool_review.commands.bad_cases import is_run, refuse_options
from wildtool_review.commands.options import SET_ARGUMENT, STORE_OPTION

if TYPE_CHECKING:
    from wildtool_review.log import Entry


def log(
    set_name: str = SET_ARGUMENT,
    store: str | None = STORE_OPTION,
    verify: bool = opt("Check every entry, and name the first bad one."),
    last: str | None = opt(
        "DIGEST", "Digest that the last entry must have, as in a release's manifest.json."
    ),
    out: Path | None = opt("-o FILE", "Write the log as JSON lines.", panel=OUTPUT),
    anonymous: bool = opt("Write it with pseudonyms and without remarks, to be published."),
    force: bool = options.FORCE_OPTION,
) -> None:
    """Show, check or write the log, which has everything that happened.

    \b
    Examples:
      wildtool review log sessions.jsonl
      wildtool review log sessions.jsonl --verify
      wildtool review log sessions.jsonl -o ann.jsonl

    Send the written file to others, who add it to their review with `wildtool review merge`.
    """
    from wildtool.outputs import check_absent
    from wildtool_review.files import export_log
    from wildtool_review.sets import open_review

    with open_review(set_name, store) as project:
        if verify:
            name = single_line(project.store.name)
            count = project.verify(name, last)
            print_out(f"{name}: {count} entries, all intact; digest {project.state.digest}")
        elif out is not None:
            check_absent(out, force=force)
            print_out(f"{out}: {export_log(project.store, out, anonymous=anonymous)} entries")
        else:
            for entry in project.store.read():
                print_out(_entry_line(entry))


def _entry_line(entry: "Entry") -> str:
    decision = (
        entry.after
        if isinstance(entry.after, str) and entry.kind in ("decision", "settle", "resolve")
        else ""
    )
    parts = (
        entry.when,
        entry.who,
        entry.kind,
        entry.item,
        entry.field,
        decision,
        " ".join(entry.reason),
        entry.note,
    )
    return f"{entry.n:>6}  " + "  ".join(single_line(part) for part in parts if part)


def merge(
    set_name: str = SET_ARGUMENT,
    files: list[Path] = arg("FILE...", "Logs that others wrote with `review log --out`."),
    store: str | None = STORE_OPTION,
    benchmark: str | None = options.DATA_BENCHMARK_OPTION,
) -> None:
    """Add what others did in copies of the same review.

    \b
    Examples:
      wildtool review merge sessions.jsonl bob.jsonl
      wildtool review merge runs/wild-mini bob/labels.jsonl

    Nothing is overwritten: edits of the same part become a conflict for an adjudicator, who sees both. Merging a file
    again adds nothing. If there is no review yet, it becomes that of the file. Of a run, FILE is the `labels.jsonl` of a
    copy of it, in which others read the same failures.
    """
    if is_run(Path(set_name)):
        refuse_options({"store": store, "benchmark": benchmark})
        from wildtool.engine.record.case_labels import merge_readings

        for file in files:
            print_out(f"{file}: {merge_readings(Path(set_name), file)} readings added")
        return
    from wildtool_review.files import merge_log
    from wildtool_review.sets import open_store, start_review, store_name
    from wildtool_review.store.address import is_address

    name = store_name(set_name, store)
    if set_name != name and not is_address(name) and not Path(name).exists():
        from wildtool_data.formats import find_set
        from wildtool_review.project import ReviewProject

        format_, _ = find_set(set_name, benchmark)
        project = ReviewProject.create(open_store(name), format_)
    else:
        project, _ = start_review(set_name, store, benchmark)
    with project:
        for file in files:
            report = merge_log(project, file)
            print_out(
                f"{file}: {report.added} entries added, {report.known} known, "
                f"{report.contradictions} contradictions, {report.settled} reviews ended"
            )
