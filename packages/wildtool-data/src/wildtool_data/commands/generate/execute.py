"""Runs `wildtool generate` with models: models for the roles, the run, its result or its estimate."""

import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from wildtool.api.meaning import rates_of
from wildtool.cli.options.config_file import explicit_options
from wildtool.cli.output.estimate import print_usage
from wildtool.cli.output.results import describe_failures
from wildtool.config.config_file import read_config
from wildtool.config.named_models import ConfiguredModel, ModelCatalog, check_one_host, check_prices
from wildtool.engine.call.budget import TOKEN_ESTIMATE_ERROR, TOKEN_ESTIMATE_METHOD, read_prices
from wildtool.engine.observer import Observer
from wildtool.engine.plan import Plan
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.replies import replay_source
from wildtool.engine.run.progress import ProgressObserver
from wildtool.engine.run.runner import RunResult, run_plan
from wildtool.engine.score.formatting import counted
from wildtool.engine.score.results import failures_in
from wildtool.errors import UsageError
from wildtool.outputs import check_folder, is_generation
from wildtool.terminal import format_reason, print_err, print_out
from wildtool.terminal.progress import ProgressDisplay
from wildtool.terminal.tables import print_metrics
from wildtool.types import Metric
from wildtool_data.commands.generate.options import GenerateOptions, ResponseFormat
from wildtool_data.make.core.collect import GeneratedSet
from wildtool_data.make.core.files import LOSSES_FILE, RECORD_FOLDER
from wildtool_data.make.core.maker import RoleBenchmark, ScriptMaker
from wildtool_data.make.core.prompts import reply_schemas
from wildtool_data.make.estimates import estimate_generation

_RULE = re.compile(r"\b[PTAC]\d+\b")


@dataclass(frozen=True, slots=True)
class GenerationResult:
    """What came of a generation so far, as it is printed."""

    noun: str
    """What was generated, one of them."""
    path: Path
    """File or folder of the kept ones."""
    kept: int
    losses: Sequence[Mapping[str, Any]]
    """`reason` and `detail` of each that was not kept."""
    unfinished: int
    metrics: Sequence[Metric]
    next_command: str
    """The command that uses them."""
    summary_suffix: str = ""
    """What else became of them, for the last line."""
    more_to_play: bool = False
    """Whether more is to run now, such as replacements of lost ones."""
    last_line: str = ""
    """The last line, where nothing can be lost; empty for the usual one, which counts the lost ones."""


def set_result(
    maker: ScriptMaker[Any], generated: GeneratedSet[Any], path: Path, next_command: str, aside: str = ""
) -> GenerationResult:
    """The result of a set of sessions or items, after planning its lost ones again.

    Args: aside: what else became of some of them, for the last line.
    """
    replaced = f", {generated.replaced} in place of lost ones" if generated.replaced else ""
    return GenerationResult(
        maker.name.removesuffix("s"), path, len(generated.kept), generated.unreplaced_losses, generated.unfinished,
        generated.attrition(), next_command, replaced + aside, more_to_play=maker.replace_lost(generated),
    )  # fmt: skip


def assign_models(
    generate_options: GenerateOptions,
    benchmark: RoleBenchmark,
    roles: Collection[str],
    context: typer.Context,
    voting: Collection[str] = (),
    temperatures: Mapping[str, float | None] | None = None,
) -> dict[str, ConfiguredModel]:
    """A model for each role; one model can have several roles.

    Args:
        voting: roles that several models can share, each with a vote.
        temperatures: of roles that do not take that of `--temperature`.

    Raises UsageError for an unknown role or model.
    """
    by_role = role_models(generate_options.role_model, roles, voting)
    replay = replay_source(benchmark, benchmark.source())
    catalog = ModelCatalog(read_config(generate_options.config).models, read_prices(generate_options.prices))
    assigned: dict[str, ConfiguredModel] = {}
    formats = response_formats(benchmark, generate_options.response_format)
    models: dict[tuple[str, float | None, str], ConfiguredModel] = {}
    notes: dict[str, None] = {}
    explicit = explicit_options(context)
    for role in dict.fromkeys([*roles, *by_role]):
        name, temperature = by_role.get(role, generate_options.model), (temperatures or {}).get(role)
        kind = role.split()[0]
        its_format = formats.get(kind)
        key = name, temperature, kind if its_format else ""
        if key not in models:
            options, explicit_names = generate_options, explicit
            if temperature is not None:
                options = replace(options, temperature=temperature)
                explicit_names = explicit | {"temperature"}
            model_options = options.model_options(replay, its_format)
            models[key] = model = catalog.find(name, model_options, explicit_names, rates_of(options.limits))
            if model.endpoint_note:
                notes[model.endpoint_note] = None
        assigned[role] = models[key]
    check_one_host(models.values())
    for note in () if generate_options.quiet else notes:
        print_err(note)
    return assigned


def response_formats(
    benchmark: RoleBenchmark, response_format: ResponseFormat | None
) -> dict[str, dict[str, Any]]:
    """What chat completions take as `response_format`, for each role whose reply is a JSON object."""
    if response_format is None:
        return {}
    formats: dict[str, dict[str, Any]] = {}
    schemas = reply_schemas(benchmark.prompts)
    for role, template in {**dict(zip(schemas, schemas, strict=True)), **benchmark.templates}.items():
        formats[role] = {"type": str(response_format)}
        if response_format is ResponseFormat.json_schema:
            formats[role]["json_schema"] = {"name": template, "schema": schemas[template]}
    return formats


def vote_counts(
    generate_options: GenerateOptions, roles: Collection[str], voting: Collection[str]
) -> dict[str, int]:
    """How many models each role has that several can share. Raises UsageError as `role_models`."""
    voters = Counter(name.split()[0] for name in role_models(generate_options.role_model, roles, voting))
    return {role: max(1, voters[role]) for role in voting}


def role_models(
    texts: Sequence[str] | None, roles: Collection[str], voting: Collection[str] = ()
) -> dict[str, str]:
    """The model of each role by `--role-model ROLE=NAME`; a shared role named again is another model, such as `judge 2`.

    Raises UsageError.
    """
    models: dict[str, str] = {}
    for text in texts or ():
        role, sign, name = text.partition("=")
        if role not in roles or not sign or not name.strip():
            raise UsageError(f"--role-model {text!r}: give ROLE=NAME; roles are: {', '.join(roles)}")
        if role in models and role not in voting:
            several = f"; several models can be: {', '.join(voting)}" if voting else ""
            raise UsageError(f"--role-model {text!r}: {role} is {models[role]} already{several}")
        count = sum(key == role or key.startswith(f"{role} ") for key in models)
        models[f"{role} {count + 1}" if count else role] = name
    return models


def share_votes(generate_options: GenerateOptions, roles: Sequence[str]) -> GenerateOptions:
    """The options where several `judge=NAME` share the votes by turns: `judge=a`, `judge 2=b`, `judge 3=a`."""
    texts = generate_options.role_model or ()
    judges = [text.partition("=")[2] for text in texts if text.startswith("judge=")]
    rest = [text for text in texts if not text.startswith("judge=")]
    voters = [role for role in roles if role.startswith("judge")]
    shared = [f"{voter}={judges[k % len(judges)]}" for k, voter in enumerate(voters) if judges]
    return replace(generate_options, role_model=[*rest, *shared])


def run_generation(
    maker: RoleBenchmark,
    models: Mapping[str, ConfiguredModel],
    folder: Path,
    generate_options: GenerateOptions,
    write: Callable[[Plan], GenerationResult],
) -> int:
    """Generates a set in a folder, or continues the one in it. Gives the exit status.

    Args:
        models: by role.
        write: writes what follows from the record, which is in the folder's `record`.

    Raises UsageError for `--dry-run` of what cannot be estimated.
    """
    if not generate_options.dry_run:
        check_folder(folder, is_generation, force=generate_options.force)
        _check_recipe(maker, folder)
    check_prices({model.model.name: model.price for model in models.values()}, generate_options.max_cost)
    plan = Plan(
        benchmark=maker,
        source=maker.source(),
        models={role: model.model for role, model in models.items()},
        profile=next(iter(maker.profiles)),
        concurrency=generate_options.concurrency,
        timeout_s=generate_options.timeout,
        rates={role: model.rates for role, model in models.items()},
        prices={role: model.price for role, model in models.items() if model.price is not None},
        headers={role: model.header_names for role, model in models.items() if model.headers},
    )
    if generate_options.dry_run:
        return _print_estimate(plan, maker)
    watcher = (
        Observer() if generate_options.quiet else ProgressObserver(str(folder), noun="items", right="usable")
    )
    drawn = [watcher] if isinstance(watcher, ProgressObserver) else []
    sitting = generate_options.invocation()
    try:
        while True:
            with ProgressDisplay(drawn):
                command = ["wildtool", *sys.argv[1:]]
                result = run_plan(
                    plan, folder / RECORD_FOLDER, command=command, observer=watcher, invocation=sitting
                )
            if result.interrupted:
                print_err(
                    f"Interrupted. All replies are saved in {folder}; run the same command again to continue."
                )
                return result.exit_status
            product = write(plan)
            if not product.more_to_play or result.limit is not None or result.exit_status:
                return _print_result(result, product, folder, generate_options.quiet)
    finally:
        if sitting.cache is not None:
            sitting.cache.close()


def _check_recipe(maker: RoleBenchmark, folder: Path) -> None:
    """Raises UsageError where a folder holds a set of the same settings that an earlier recipe began."""
    record = folder / RECORD_FOLDER
    if not (record / "run.json").is_file():
        return
    if problem := maker.begun_before(read_run(record)["identity"]["data_sha256"]):
        raise UsageError(f"{folder}: {problem}")


def _print_estimate(plan: Plan, maker: RoleBenchmark) -> int:
    estimate = estimate_generation(maker)
    if estimate is None:
        raise UsageError(
            f"--dry-run cannot estimate {maker.name.replace('-', ' ')}: how often a reply is refused and asked for again "
            "depends on the model; begin with a few, and set a limit with --max-cost or --max-tokens-total"
        )
    print_out(f"Nothing is sent or written. Tokens are {TOKEN_ESTIMATE_METHOD} ({TOKEN_ESTIMATE_ERROR}).")
    print_out(f"Estimated from a trial: {estimate.basis}. Upper end: {estimate.upper_end}.")
    for role, demand in estimate.roles.items():
        print_out(f"{role} ({plan.models[role].name})")
        print_usage(plan, role, demand)
    return 0


def _failure_note(result: RunResult) -> str:
    """Which failed calls left things unfinished; empty if none failed."""
    failed = failures_in(result.verdicts) if result.counts.infra_error and result.verdicts else ()
    return f" since calls failed by {describe_failures(failed)}" if failed else ""


def _print_result(result: RunResult, product: GenerationResult, folder: Path, quiet: bool) -> int:
    answered = product.kept or product.losses or product.last_line
    if not quiet and answered:
        print_metrics(list(product.metrics))
        if any(_RULE.search(metric.name) for metric in product.metrics):
            print_err(
                "Rules: P of decisions, T of results, A and C of texts; docs/generate.md says what each requires."
            )
    if product.last_line:
        print_out(product.last_line)
    elif answered or not product.unfinished:
        print_out(
            f"{product.path}: {counted(product.kept, product.noun)}, {len(product.losses)} lost{product.summary_suffix}"
        )
    if product.losses:
        first = product.losses[0]
        reason = f"why {product.noun}s were lost: {folder / LOSSES_FILE}; first: {first['reason']}: {first['detail']}"
        print_err(format_reason(reason))
    if result.limit is not None:
        print_err(f"stopped: {result.limit}")
    if product.unfinished:
        remainder = f"{counted(product.unfinished, product.noun)} {'is' if product.unfinished == 1 else 'are'} unfinished"
        print_err(f"{remainder}{_failure_note(result)}; run the same command again to continue.")
    elif product.kept and not quiet:
        print_err(f"Next: {product.next_command}")
    if result.exit_status:
        return result.exit_status
    return 0 if product.kept or product.last_line else 1
