"""What `wildtool generate` does where models play the roles: the run, and what it tells of it."""

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from wildtool.cli.models import Directory, Named, check_prices
from wildtool.cli.options.generate import Making
from wildtool.cli.terminal import note, reason, say
from wildtool.errors import UsageError

if TYPE_CHECKING:
    from wildtool.engine.plan import Plan
    from wildtool.engine.run.estimate import Outlook
    from wildtool.engine.run.runner import RunResult
    from wildtool.types import Benchmark, Metric, Source


class Maker(Protocol):
    """What a run is made of: planned things as items, whose playing asks the roles."""

    profiles: Mapping[str, str]

    def as_benchmark(self) -> "Benchmark": ...

    def source(self) -> "Source": ...


@dataclass(frozen=True, slots=True)
class Product:
    """What came of a making, as it is told."""

    noun: str
    """What was made, in the plural."""
    where: Path
    """File or folder in which the kept ones lie."""
    kept: int
    losses: Sequence[Mapping[str, Any]]
    """`reason` and `detail` of each that was not kept."""
    unfinished: int
    yields: "Sequence[Metric]"
    use: str
    """The command that uses them."""
    aside: str = ""
    """What else became of them, for the last line; empty where nothing did."""
    again: bool = False
    """Whether more is to be played now, such as what stands in for something lost."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a making would take."""

    roles: "Mapping[str, Outlook]"
    basis: str
    """What it is told from."""
    above: str
    """What the upper end allows for."""


def players(
    making: Making,
    maker: Maker,
    roles: Collection[str],
    typed: frozenset[str],
    voting: Collection[str] = (),
) -> dict[str, Named]:
    """A model for each role; one that plays several roles stands once.

    Args:
        voting: roles that several models can play.
        typed: options that stand on the command line itself.

    Raises UsageError for a role or a name that is unknown.
    """
    from wildtool.cli.options.config_file import read_config
    from wildtool.engine.call.pricing import read_prices
    from wildtool.engine.call.rates import Rates
    from wildtool.engine.record.replies_file import opener
    from wildtool.models.resolve import ModelOptions

    others = role_models(making.role_model, roles, voting)
    settings = ModelOptions(
        base_url=making.base_url,
        api_key_env=making.api_key_env,
        temperature=making.temperature,
        max_tokens=making.max_tokens,
        timeout_s=making.timeout,
        open_replies=opener(maker.as_benchmark(), maker.source()),
    )
    rates = Rates(rpm=making.rpm, tpm=making.tpm)
    directory = Directory(read_config(making.config).models, read_prices(making.prices))
    found = {
        name: directory.find(name, settings, typed, rates)
        for name in dict.fromkeys([making.model, *others.values()])
    }
    for model in found.values():
        if model.remark and not making.quiet:
            note(model.remark)
    return {role: found[others.get(role, making.model)] for role in dict.fromkeys([*roles, *others])}


def role_models(
    given: Sequence[str] | None, roles: Collection[str], voting: Collection[str] = ()
) -> dict[str, str]:
    """What `--role-model ROLE=NAME` says; a voting role that is named again is another voter, such as `judge 2`.

    Raises UsageError.
    """
    named: dict[str, str] = {}
    for text in given or ():
        role, sign, name = text.partition("=")
        if role not in roles or not sign or not name.strip():
            raise UsageError(f"--role-model {text!r}: give ROLE=NAME; roles are: {', '.join(roles)}")
        if role in named and role not in voting:
            several = f"; several models can be: {', '.join(voting)}" if voting else ""
            raise UsageError(f"--role-model {text!r}: {role} is {named[role]} already{several}")
        count = sum(key == role or key.startswith(f"{role} ") for key in named)
        named[f"{role} {count + 1}" if count else role] = name
    return named


def make_set(
    maker: Maker,
    named: Mapping[str, Named],
    out: Path,
    making: Making,
    write: "Callable[[Plan], Product]",
    estimate: "Estimate | None" = None,
) -> int:
    """Makes a set in a folder, or goes on with the one in it. Gives the exit status.

    Args:
        named: a model for each role.
        write: writes what follows from the record, which lies in the folder's `record`.
        estimate: what it would take, where that can be told.

    Raises UsageError where an estimate is asked for and cannot be told.
    """
    from wildtool.cli.output.progress import Board, Progress
    from wildtool.engine.observer import Observer
    from wildtool.engine.plan import Plan
    from wildtool.engine.run.runner import run
    from wildtool.generate.core.files import RECORD
    from wildtool.outputs import check_folder, is_making

    if not making.dry_run:
        check_folder(out, is_making, force=making.force)
    prices = {role: model.price for role, model in named.items()}
    check_prices({named[role].model.name: price for role, price in prices.items()}, making.max_cost)
    plan = Plan(
        benchmark=maker.as_benchmark(),
        source=maker.source(),
        models={role: model.model for role, model in named.items()},
        profile=next(iter(maker.profiles)),
        concurrency=making.concurrency,
        timeout_s=making.timeout,
        rates={role: model.rates for role, model in named.items()},
        prices={role: price for role, price in prices.items() if price is not None},
    )
    if making.dry_run:
        return _tell_estimate(plan, estimate)
    watcher = Observer() if making.quiet else Progress(str(out), noun="items")
    drawn = [watcher] if isinstance(watcher, Progress) else []
    sitting = making.sitting()
    try:
        while True:
            with Board(drawn):
                command = ["wildtool", *sys.argv[1:]]
                result = run(plan, out / RECORD, command=command, observer=watcher, sitting=sitting)
            if result.interrupted:
                note(f"Interrupted. All replies are saved in {out}; run the same command again to continue.")
                return result.exit_status
            product = write(plan)
            if not product.again or result.limit is not None or result.exit_status:
                return _tell(result, product, out, making.quiet)
    finally:
        if sitting.cache is not None:
            sitting.cache.close()


def _tell_estimate(plan: "Plan", estimate: "Estimate | None") -> int:
    from wildtool.cli.execute import tell_taken
    from wildtool.engine.call.pricing import ERROR, TOKENIZER

    if estimate is None:
        raise UsageError("--dry-run cannot estimate this; set a limit with --max-cost instead")
    say(f"Nothing is sent or written. Tokens are {TOKENIZER} ({ERROR}).")
    say(f"Estimated from a trial: {estimate.basis}. Upper end: {estimate.above}.")
    for role, seen in estimate.roles.items():
        say(f"{role} ({plan.models[role].name})")
        tell_taken(plan, role, seen)
    return 0


def _cause(result: "RunResult") -> str:
    """By which failures of calls things were left unfinished; empty where none failed."""
    from wildtool.cli.output.results import in_words
    from wildtool.engine.score.results import failed_in

    failed = failed_in(result.verdicts) if result.counts.infra_error and result.verdicts else ()
    return f" since calls failed by {in_words(failed)}" if failed else ""


def _tell(result: "RunResult", made: Product, out: Path, quiet: bool) -> int:
    from wildtool.cli.output.tables import print_metrics
    from wildtool.generate.core.files import LOSSES

    answered = made.kept or made.losses
    if not quiet and answered:
        print_metrics(list(made.yields))
    if answered or not made.unfinished:
        say(f"{made.where}: {made.kept} {made.noun}, {len(made.losses)} lost{made.aside}")
    if made.losses:
        first = made.losses[0]
        why = f"why {made.noun} were lost: {out / LOSSES}; first: {first['reason']}: {first['detail']}"
        note(reason(why))
    if result.limit is not None:
        note(f"stopped: {result.limit}")
    if made.unfinished:
        unfinished = f"{made.unfinished} {made.noun} are unfinished{_cause(result)}"
        note(f"{unfinished}; run the same command again to continue.")
    elif made.kept and not quiet:
        note(f"Next: {made.use}")
    if result.exit_status:
        return result.exit_status
    return 0 if made.kept else 1
