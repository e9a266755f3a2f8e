"""The command `review regenerate`: tasks that an edit made stale, made again by models as proposals."""

import hashlib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from wildtool.cli.options.generate import PROCEDURAL, GenerateOptions, SeedOption, with_generate_options
from wildtool.cli.terminal import print_err, single_line
from wildtool.errors import UsageError

if TYPE_CHECKING:
    from wildtool.engine.plan import Plan
    from wildtool.review.regenerate import NotRegenerated

FOLDER_SUFFIX = ".regenerated"


@with_generate_options
def regenerate(
    generate_options: GenerateOptions,
    explicit: frozenset[str],
    what: Annotated[
        str,
        typer.Argument(metavar="SET", help="Made set (a file or folder), or its review.", show_default=False),
    ],
    item: Annotated[
        list[str] | None,
        typer.Option("--item", metavar="ID", help="Only this session; repeatable (default: all stale ones)."),
    ] = None,
    first: Annotated[
        int | None,
        typer.Option(
            "--from", min=1, metavar="N", help="First task to make again (default: the first stale one)."
        ),
    ] = None,
    keep_texts: Annotated[
        bool, typer.Option("--keep-texts", help="Keep the user's requests; make the rest of each task again.")
    ] = False,
    who: Annotated[
        str | None,
        typer.Option("--as", metavar="NAME", help="Whose copy of the items to use (default: the owner)."),
    ] = None,
    seed: SeedOption = "1",
    out: Annotated[
        Path | None,
        typer.Option(*("--out", "-o"), metavar="FOLDER", help="Folder for the record (default: beside SET)."),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL",
            help="Where the review is kept: a file, or postgresql://… (default: beside SET).",
        ),
    ] = None,
) -> int:
    """Make stale tasks of sessions again with models, as proposals to accept or discard.

    \b
    Examples:
      wildtool review regenerate sessions.jsonl --model gpt-4o
      wildtool review regenerate sessions.jsonl -m gpt-4o --keep-texts

    Tasks before the first one, tools and date stay as they are. Nothing changes before somebody accepts a proposal in
    `wildtool review serve`; its edits are then those of the model. The same command continues where it stopped, and
    another --seed makes other tasks.
    """
    from wildtool.cli.execute_generate import (
        CostEstimate,
        GenerationResult,
        assign_models,
        role_models,
        run_generation,
        set_result,
    )
    from wildtool.engine.record.reader import RecordReader
    from wildtool.engine.score.formatting import counted
    from wildtool.generate.core.files import RECORD_FOLDER, storage_errors, write_attrition
    from wildtool.generate.core.prompts import SESSION_ROLES
    from wildtool.generate.sessions.continuation import ContinuationMaker, ContinuationSpec
    from wildtool.generate.sessions.maker import VOTING_ROLES
    from wildtool.review.people import COMMAND_LINE
    from wildtool.review.regenerate import propose_remade, stale_sessions
    from wildtool.review.sets import open_review, store_name

    generate_options.check()
    if generate_options.model == PROCEDURAL:
        raise UsageError("tasks are made again by models; procedural is none")
    votes = Counter(
        name.split()[0] for name in role_models(generate_options.role_model, SESSION_ROLES, VOTING_ROLES)
    )
    spec = ContinuationSpec(seed, keep_texts, {role: max(1, votes[role]) for role in VOTING_ROLES})
    project = open_review(what, store)
    try:
        person = who or COMMAND_LINE
        wanted, refused = stale_sessions(project, person, spec, item or (), first and first - 1)
        _print_refused(refused)
        if not wanted:
            raise UsageError(
                "no session has stale tasks that can be made again; name one: --item ID --from N"
            )
        maker = ContinuationMaker(spec, wanted)
        models = assign_models(generate_options, maker, SESSION_ROLES, explicit, VOTING_ROLES)
        names = {role: model.model.name for role, model in models.items()}
        models_text = ", ".join(dict.fromkeys(names.values()))
        folder = out or _folder(store_name(what, store), f"{maker.source().sha256} {sorted(names.items())}")

        proposed: set[str] = set()

        def write(plan: "Plan") -> GenerationResult:
            with RecordReader(folder / RECORD_FOLDER) as reader, storage_errors(folder):
                found = maker.collect(maker.recorded(plan.selection.items(), reader))
                write_attrition(folder, found.losses, found.attrition())
            new, without = propose_remade(project, person, wanted, found, models_text)
            proposed.update(new)
            next_command = f"wildtool review serve {single_line(what)}"
            result = set_result(
                maker, found, folder, next_command, f", {counted(len(proposed), 'new proposal')}"
            )
            if not result.more_to_play:
                _print_refused([one for one in without if one.item not in proposed])
            return result

        def estimate() -> CostEstimate:
            from wildtool.generate.estimates import (
                SESSION_TRIAL_BASIS,
                SESSION_UPPER_END,
                estimate_continuations,
            )

            return CostEstimate(estimate_continuations(maker), SESSION_TRIAL_BASIS, SESSION_UPPER_END)

        return run_generation(maker, models, folder, generate_options, write, estimate)
    finally:
        project.close()


def _print_refused(found: "list[NotRegenerated]") -> None:
    for one in found:
        print_err(f"left out {single_line(one.item)}: {single_line(one.reason, 300)}")


def _folder(store: str, about: str) -> Path:
    """Where the record is kept: the same for the same tasks, models and settings, so that it can be continued."""
    # A database has no folder of its own; its password is not part of the name.
    path = Path(urlsplit(store).path.strip("/") or "review") if "://" in store else Path(store)
    name = path.name.removesuffix(".sqlite").removesuffix(".review") + FOLDER_SUFFIX
    return path.with_name(name) / hashlib.sha256(about.encode()).hexdigest()[:12]
