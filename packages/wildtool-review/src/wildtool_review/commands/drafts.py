"""The command `review import`: real conversations become drafts of own cases, or of sessions of WildToolBench."""

import shlex
from collections import Counter
from pathlib import Path

from wildtool.cli.command import arg, opt
from wildtool.cli.options import shared as options
from wildtool.engine.score.formatting import counted
from wildtool.errors import UsageError, unknown_name
from wildtool.terminal import print_err, print_out, single_line

_CASES, _SESSIONS = "cases", "sessions"
_FORMS = (".yaml", ".yml", ".jsonl")
"""How files of cases may end: that of another name would be read otherwise than it is written."""


def import_drafts(
    files: list[Path] = arg("FILE...", "Traces or conversations.", show_default=False),
    source: str | None = opt(
        "--from NAME",
        "otel (traces), openai (conversations) or inspect (logs); by default what each file looks like.",
    ),
    out: Path | None = opt("-o FILE", "File to write: YAML or JSON lines."),
    form: str = opt("--to NAME", "cases (own cases), or sessions (WildToolBench).", default=_CASES),
    tools: Path | None = opt("FILE", "Tool definitions for conversations that have none."),
    redact: bool = opt(
        "--redact/--no-redact",
        "Replace personal details (the default); --no-redact leaves all as it is.",
        default=True,
    ),
    keep_names: bool = opt("The same as --no-redact."),
    seed: str = opt("TEXT", "The same seed gives the same replacements.", default="1"),
    skip_unclear: bool = opt(
        "Leave out conversations of unknown shape, or with a value whose role is unclear."
    ),
    force: bool = options.FORCE_OPTION,
) -> None:
    """Turn traces and other conversations into drafts of own cases, with what the agent did as gold.

    \b
    Examples:
      wildtool review import traces.json -o cases.yaml
      wildtool review import a.json b.json --tools t.json -o c.yaml
      wildtool review import chats.jsonl --from openai --to sessions -o d.jsonl

    Names, mail addresses, phone numbers, keys and card numbers are replaced; some are missed, so read before you
    publish. A case with a problem is skipped until it is put right.
    """
    from wildtool_data.conversations.reading import LAYOUTS

    if source is not None and source not in LAYOUTS:
        raise UsageError(unknown_name("source", source, LAYOUTS))
    if form not in (_CASES, _SESSIONS):
        raise UsageError(unknown_name("form", form, (_CASES, _SESSIONS)))
    if out is None:
        example = "cases.yaml" if form == _CASES else "drafts.jsonl"
        raise UsageError(f"give the file to write: --out {example}")
    if form == _SESSIONS:
        if source is None:
            raise UsageError(f"say what the files hold: --from {'|'.join(LAYOUTS)}")
        _import_sessions(
            files,
            source,
            out,
            seed,
            keep_names=keep_names or not redact,
            skip_unclear=skip_unclear,
            force=force,
        )
        return
    if out.suffix.casefold() not in _FORMS:
        raise UsageError(f"{out}: cases are written as YAML or JSON lines; name a file .yaml or .jsonl")
    from wildtool_data.conversations.personal import Redactor
    from wildtool_review.drafts.case_drafts import draft_cases, write_cases

    redactor = Redactor(seed) if redact and not keep_names else None
    made = draft_cases(files, source, tools, redactor, skip_unclear=skip_unclear)
    for line in made.lines:
        print_out(single_line(line, 400))
    for reason, number in made.left_out.most_common():
        print_err(f"left out: {single_line(reason, 300)}: {number}")
    if not made.drafts:
        raise UsageError("no conversation with a user in it was found; nothing is written")
    write_cases(made.drafts, out, force=force)
    for line in redactor.lines() if redactor else ():
        print_out(f"  {line}")
    skipped = [draft for draft in made.drafts if draft.problems]
    noted = sum(len(draft.findings) for draft in made.drafts)
    print_out(
        f"{out}: {counted(len(made.drafts), 'case')}, {len(skipped)} skipped until put right, {counted(noted, 'note')}"
    )
    for draft in made.drafts:
        for text in (*draft.problems, *draft.findings):
            print_out(f"  {draft.case['id']}: {single_line(text, 300)}")
    if len(skipped) < len(made.drafts):
        print_out(f"wildtool run {shlex.quote(str(out))} --model baseline/gold")


def _import_sessions(
    files: list[Path], source: str, out: Path, seed: str, *, keep_names: bool, skip_unclear: bool, force: bool
) -> None:
    from wildtool_data.make.core.files import write_sessions
    from wildtool_data.make.refresh.refresh import UnchangedSession
    from wildtool_review.drafts.draft import draft_sessions, gap_counts

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
    print_out(f"wildtool review {shlex.quote(str(out))}")
