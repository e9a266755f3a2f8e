"""`wildtool generate wildtoolbench`: sessions over your tools or the built-in ones."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from wildtool.api.values import split_values
from wildtool.cli.command import opt
from wildtool.engine.score.formatting import counted
from wildtool.errors import UsageError, unknown_name
from wildtool.terminal import print_err
from wildtool_data.commands.generate import options
from wildtool_data.commands.generate.options import GenerateOptions, ToolOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from wildtool_data.make.core.plan import MissingValues, SessionGenerationSpec
    from wildtool_data.make.procedural.tool_sets import ToolPart


def sessions(
    context: typer.Context,
    generate_options: GenerateOptions,
    tool_options: ToolOptions,
    out: Path | None = opt("-o PATH", "Folder to work in; with procedural, the file to write."),
    sessions: int = opt("-n N", "Number of sessions.", default=64),
    tasks: int = opt("N", "Tasks per session.", default=4),
    seed: str = options.SEED_OPTION,
    lang: list[str] | None = options.LANGS_OPTION,
    twins: bool = opt("Make each plan in both languages, linked by `twin`."),
    hold_out_tools: float | None = options.HOLD_OUT_OPTION,
    on: str | None = opt(
        "WHERE",
        "procedural: make parts of 25,000 sessions by workers: local:4 for four processes here, or ray (docs/scale.md).",
    ),
    against: list[Path] | None = opt("FILE", "Sessions that no generated task may resemble; repeatable."),
    examples: Path | None = opt(
        "FILE",
        "Real users' conversations (any shape, traces or own cases) that messages are to be like; never copied.",
    ),
    scenarios: Path | None = opt(
        "FILE", "Scenarios in words, one a line or a JSON list, in place of the built-in backgrounds."
    ),
    clarify: str = opt(
        "KIND",
        "What messages of clarify tasks leave out: all required values, or some of them.",
        default="all",
    ),
    role_prompts: Path | None = opt(
        "FOLDER", "Your own texts for the roles, in place of the shipped ones (docs/generate.md)."
    ),
    format_: list[str] | None = opt(
        "--format -f NAME",
        "Also write the reference generator's formats: raw, streamlined or calls; repeatable.",
    ),
) -> int:
    """Generate sessions in WildToolBench's format, with gold answers.

    \b
    Examples:
      wildtool generate --model procedural --sessions 64 -o made.jsonl
      wildtool generate --model procedural --tools tools.json -o mine.jsonl
      wildtool generate --model gpt-4o --tools openapi.json -o set

    Models take the roles user, planner, tool, agent, checker and judge; several users take turns. Every call is
    recorded in the folder; the same command continues where it stopped.
    """
    from wildtool_data.make.core.plan import SessionGenerationSpec

    generate_options.check()
    if out is None:
        procedural = generate_options.model == options.PROCEDURAL
        raise UsageError(f"give {'a file: --out made.jsonl' if procedural else 'a folder: --out set'}")
    spec = SessionGenerationSpec(
        sessions=sessions,
        tasks=tasks,
        seed=seed,
        langs=options.parse_languages(lang),
        tools=tool_options.file(out, force=generate_options.force),
        paired_languages=twins,
        avoid_near=tuple(against or ()),
        clarify=_missing_values(clarify),
        examples=examples,
        scenarios=scenarios,
        role_prompts=role_prompts,
    )
    if generate_options.model == options.PROCEDURAL:
        _refuse_for_templates(generate_options, spec, format_)
        return _generate_from_templates(out, spec, hold_out_tools, on, force=generate_options.force)
    if on is not None:
        raise UsageError(
            "--on needs --model procedural; models are asked by this process, with as many --concurrency as they bear"
        )
    if hold_out_tools is not None:
        force = generate_options.force
        spec = replace(
            spec, tools=options.split_tool_files(spec.tools, hold_out_tools, seed, out, force=force)
        )
    from wildtool.engine.plan import Plan
    from wildtool_data.commands.generate import execute
    from wildtool_data.make.core.prompts import SESSION_ROLES
    from wildtool_data.make.sessions.maker import SHARED_ROLES, SessionMaker
    from wildtool_data.make.sessions.output import (
        REFERENCE_FORMATS,
        SESSIONS_FILE,
        sessions_run_command,
        write_session_set,
    )

    formats = split_values(format_)
    for name in formats:
        if name not in REFERENCE_FORMATS:
            raise UsageError(unknown_name("format", name, REFERENCE_FORMATS))
    counts = execute.vote_counts(generate_options, SESSION_ROLES, SHARED_ROLES)
    maker = SessionMaker(
        replace(spec, judges=counts["judge"], checkers=counts["checker"], users=counts["user"])
    )
    models = execute.assign_models(generate_options, maker, SESSION_ROLES, context, SHARED_ROLES)
    said = [*maker.own_prompts.lines(), *maker.material.lines(spec.langs)]
    for line in () if generate_options.quiet else said:
        print_err(line)

    def write(plan: Plan) -> execute.GenerationResult:
        generated = write_session_set(maker, plan, out, formats)
        return execute.set_result(maker, generated, out / SESSIONS_FILE, sessions_run_command(out))

    return execute.run_generation(maker, models, out, generate_options, write)


def _missing_values(kind: str) -> "MissingValues":
    """What messages of clarify tasks leave out. Raises UsageError for an unknown kind."""
    from wildtool_data.make.core.plan import MISSING_VALUES

    for name in MISSING_VALUES:
        if name == kind:
            return name
    raise UsageError(f"--clarify {kind}: {unknown_name('kind', kind, MISSING_VALUES)}")


def _refuse_for_templates(
    generate_options: GenerateOptions, spec: "SessionGenerationSpec", formats: list[str] | None
) -> None:
    """Raises UsageError for what templates cannot do."""
    given = {
        "--role-model": generate_options.role_model,
        "--against": spec.avoid_near,
        "--format": formats,
        "--examples": spec.examples,
        "--scenarios": spec.scenarios,
        "--role-prompts": spec.role_prompts,
        "--clarify": spec.clarify != "all",
    }
    if names := [name for name, value in given.items() if value]:
        need = "need" if len(names) > 1 else "needs"
        raise UsageError(f"{', '.join(names)} {need} a model; procedural uses none")


def _generate_from_templates(
    out: Path, spec: "SessionGenerationSpec", share: float | None, on: str | None, *, force: bool
) -> int:
    from wildtool.outputs import check_absent
    from wildtool.terminal import CappedMessages, print_out
    from wildtool_data.make.core.files import write_sessions
    from wildtool_data.make.procedural.sessions import procedural_sessions
    from wildtool_data.make.procedural.tool_sets import split_tools, tool_sets_by_language

    remarks = CappedMessages()
    files = [(out, spec, None)]
    try:
        if share is not None:
            held = _held_sessions(spec.sessions, share)
            sets = tool_sets_by_language(spec.tools, spec.langs)[spec.langs[0]]
            others, held_out = split_tools(sets, share, spec.seed)
            files = [
                (out, replace(spec, sessions=spec.sessions - held), others),
                (
                    out.with_name(f"{out.stem}.held-out{out.suffix}"),
                    replace(spec, sessions=held, seed=f"{spec.seed}-held-out"),
                    held_out,
                ),
            ]
        for path, _, _ in files:
            check_absent(path, force=force)
        if on is None:
            counts = [
                write_sessions(procedural_sessions(its_spec, remarks, part), path, force=force)
                for path, its_spec, part in files
            ]
        else:
            # Before either file is in place all parts are made, so that the same command continues in the second one.
            with ExitStack() as parts_kept, ExitStack() as put_in_place:
                counts = [
                    _write_by_workers(*each, on, remarks, parts_kept, put_in_place, force=force)
                    for each in files
                ]
        for (path, _, part), count in zip(files, counts, strict=True):
            tools = "" if part is None else f", {counted(len(part.names), 'tool')}"
            print_out(f"{path}: {counted(count, 'session')}{tools}")
    finally:
        remarks.close()
    return 0


def _write_by_workers(
    path: Path,
    spec: "SessionGenerationSpec",
    part: "ToolPart | None",
    on: str,
    note: "Callable[[str], None]",
    parts_kept: ExitStack,
    put_in_place: ExitStack,
    *,
    force: bool,
) -> int:
    """Writes the same sessions as without workers; gives their number.

    Args:
        parts_kept: removes the parts.
        put_in_place: puts the file in place.
    """
    from wildtool.outputs import atomic_replace
    from wildtool.scale.commands import shared_parts
    from wildtool_data.make.procedural.parts import part_lines, set_settings
    from wildtool_data.make.procedural.sessions import ProceduralSet, note_easier

    # Says which tools are left out, and what does not work, before any worker starts.
    parts = ProceduralSet(spec, note, part).parts
    count, easier_sessions = 0, 0
    finished_parts = parts_kept.enter_context(
        shared_parts("procedural", set_settings(spec, part), parts, path, on, force=force)
    )
    new = put_in_place.enter_context(atomic_replace(path))
    with new.open("wb") as file:
        for data in finished_parts:
            for line in part_lines(data):
                if line.endswith(b"\n"):
                    file.write(line)
                    count += 1
                else:
                    easier_sessions += int(line)
    note_easier(easier_sessions, spec, note)
    return count


def _held_sessions(sessions: int, share: float) -> int:
    """How many of the sessions are over held-out tools. Raises UsageError where one of the files would have none."""
    options.check_share(share)
    if sessions < 2:
        raise UsageError("--hold-out-tools writes two files: give at least --sessions 2")
    return min(max(1, round(sessions * share)), sessions - 1)
