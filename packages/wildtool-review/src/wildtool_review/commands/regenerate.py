"""The command `review regenerate`: stale tasks, or the result of one call, made again by models as proposals."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import typer

from wildtool.cli.command import opt
from wildtool.errors import UsageError
from wildtool.terminal import print_err, single_line
from wildtool_data.commands.generate.options import PROCEDURAL, SEED_OPTION, GenerateOptions
from wildtool_review.commands.options import SET_ARGUMENT, STORE_OPTION

if TYPE_CHECKING:
    from wildtool.config.named_models import ConfiguredModel
    from wildtool.engine.plan import Plan
    from wildtool.types import Item
    from wildtool_data.make.core.collect import GeneratedSet
    from wildtool_data.make.core.maker import ScriptMaker
    from wildtool_data.make.core.roles import ScriptResult
    from wildtool_review.project import ReviewProject
    from wildtool_review.regenerate import NotRegenerated, Remade

    Recorded = Iterable[tuple[Item, ScriptResult[Any] | None]]

FOLDER_SUFFIX = ".regenerated"


def regenerate(
    context: typer.Context,
    generate_options: GenerateOptions,
    set_name: str = SET_ARGUMENT,
    item: list[str] | None = opt("ID", "Only this session; repeatable (default: all stale ones)."),
    first: int | None = opt("--from N", "First task to make again (default: the first stale one).", min=1),
    keep_texts: bool = opt("Keep the user's requests; make the rest of each task again."),
    call: int | None = opt(
        "N", "Only the result of this call of task --from (number as on the page).", min=0
    ),
    reviewer: str | None = opt("--as NAME", "Whose copy of the items to use (default: the owner)."),
    seed: str = SEED_OPTION,
    out: Path | None = opt("-o FOLDER", "Folder for the record (default: beside SET)."),
    store: str | None = STORE_OPTION,
) -> int:
    """Make stale tasks of sessions again with models, as proposals to accept or discard.

    \b
    Examples:
      wildtool review regenerate sessions.jsonl --model gpt-4o
      wildtool review regenerate sessions.jsonl -m gpt-4o --keep-texts

    Tasks before the first one, tools and date stay as they are. Nothing changes before somebody accepts a proposal in
    `wildtool review serve`; its edits are then those of the model. The same command continues where it stopped, and
    another --seed makes other tasks.

    `--item ID --from 2 --call 0` is for a call whose arguments were changed: the role tool alone answers it again, and
    all else stays.
    """
    from wildtool.engine.score.formatting import counted
    from wildtool_data.commands.generate.execute import GenerationResult, run_generation, set_result
    from wildtool_data.make.core.files import storage_errors, write_attrition
    from wildtool_data.make.core.maker import recorded_in
    from wildtool_review.people import COMMAND_LINE
    from wildtool_review.regenerate import propose_remade
    from wildtool_review.sets import open_review, store_name
    from wildtool_review.store.address import shown_name

    generate_options.check()
    if generate_options.model == PROCEDURAL:
        raise UsageError("tasks are made again by models; procedural is none")
    if call is not None and (len(item or ()) != 1 or first is None or keep_texts):
        raise UsageError("--call is for one call: give --item ID and --from N with it, and no --keep-texts")
    with open_review(set_name, store) as project:
        person = reviewer or COMMAND_LINE
        start = first and first - 1
        if call is None:
            work = _tasks_work(
                project, person, item or (), start, seed, keep_texts, context, generate_options
            )
        else:
            assert item and start is not None
            work = _result_work(project, person, item[0], start, call, seed, context, generate_options)
        names = sorted((role, model.model.name) for role, model in work.models.items())
        folder = out or _folder(store_name(set_name, store), f"{work.maker.source().sha256} {names}")

        proposed: set[str] = set()

        def write(plan: "Plan") -> GenerationResult:
            with storage_errors(folder):
                generated, remade = work.made(
                    recorded_in(folder, work.maker.recorded, plan.selection.items())
                )
                write_attrition(folder, generated.losses, generated.attrition())
            new, without = propose_remade(project, person, remade, work.author)
            proposed.update(new)
            next_command = f"wildtool review serve {single_line(shown_name(set_name))}"
            aside = f", {counted(len(proposed), 'new proposal')}"
            result = set_result(work.maker, generated, folder, next_command, aside)
            if not result.more_to_play:
                _print_refused([refusal for refusal in without if refusal.item not in proposed])
            return result

        return run_generation(work.maker, work.models, folder, generate_options, write)


@dataclass(frozen=True, slots=True)
class _Work:
    """What is made again, and by whom."""

    maker: "ScriptMaker[Any]"
    models: Mapping[str, "ConfiguredModel"]
    made: "Callable[[Recorded], tuple[GeneratedSet[Any], list[Remade]]]"
    """What came of it, from what is recorded."""

    @property
    def author(self) -> str:
        """The models that make it, for the log."""
        return ", ".join(dict.fromkeys(model.model.name for model in self.models.values()))


def _tasks_work(
    project: "ReviewProject",
    reviewer: str,
    items: Sequence[str],
    first: int | None,
    seed: str,
    keep_texts: bool,
    context: typer.Context,
    generate_options: GenerateOptions,
) -> _Work:
    """Stale tasks."""
    from wildtool_data.commands.generate.execute import assign_models, vote_counts
    from wildtool_data.make.core.prompts import SESSION_ROLES
    from wildtool_data.make.sessions.continuation import ContinuationMaker, ContinuationSpec
    from wildtool_data.make.sessions.maker import VOTING_ROLES
    from wildtool_review.regenerate import remade_sessions, stale_sessions

    votes = vote_counts(generate_options, SESSION_ROLES, VOTING_ROLES)
    spec = ContinuationSpec(seed, keep_texts, votes)
    sessions, refused = stale_sessions(project, reviewer, spec, items, first)
    _print_refused(refused)
    if not sessions:
        raise UsageError("no session has stale tasks that can be made again; name one: --item ID --from N")
    maker = ContinuationMaker(spec, sessions)

    def collect(recorded: "Recorded") -> "tuple[GeneratedSet[Any], list[Remade]]":
        generated = maker.collect(recorded)
        return generated, remade_sessions(sessions, generated)

    models = assign_models(generate_options, maker, SESSION_ROLES, context, VOTING_ROLES)
    return _Work(maker, models, collect)


def _result_work(
    project: "ReviewProject",
    reviewer: str,
    item: str,
    task: int,
    call: int,
    seed: str,
    context: typer.Context,
    generate_options: GenerateOptions,
) -> _Work:
    """The result of one call."""
    from wildtool_data.commands.generate.execute import assign_models
    from wildtool_data.make.sessions.result import REMADE_RESULT_ROLES, ResultMaker
    from wildtool_review.regenerate import remade_result, session_of_call

    session = session_of_call(project, reviewer, item, task)
    maker = ResultMaker(seed, session, call)

    def collect(recorded: "Recorded") -> "tuple[GeneratedSet[Any], list[Remade]]":
        generated = maker.collect(recorded)
        return generated, remade_result(session, call, generated)

    tool = assign_models(generate_options, maker, REMADE_RESULT_ROLES, context)["tool"]
    # A run has a default model, which nothing asks here.
    return _Work(maker, {"agent": tool, "tool": tool}, collect)


def _print_refused(refusals: "list[NotRegenerated]") -> None:
    from wildtool_review.server.regeneration import LEFT_OUT

    for refusal in refusals:
        print_err(f"{LEFT_OUT}{single_line(refusal.item)}: {single_line(refusal.reason, 300)}")


def _folder(store: str, identity: str) -> Path:
    """Where the record is kept: the same for the same tasks, models and settings, so that it can be continued."""
    # A database has no folder of its own; its password is not part of the name.
    path = Path(urlsplit(store).path.strip("/") or "review") if "://" in store else Path(store)
    name = path.name.removesuffix(".sqlite").removesuffix(".review") + FOLDER_SUFFIX
    return path.with_name(name) / hashlib.sha256(identity.encode()).hexdigest()[:12]
