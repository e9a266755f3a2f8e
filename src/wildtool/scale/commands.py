"""`wildtool worker`, and `wildtool run` where a run is shared."""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from subprocess import PIPE
from typing import Any

import typer

from wildtool.api.plans import NamedRun, plan
from wildtool.api.settings import Settings
from wildtool.children import Child
from wildtool.cli import CommandGroup, Commands, FirstByDefault
from wildtool.cli.command import opt, report_error, worst_status
from wildtool.cli.options import shared as options
from wildtool.cli.options.config_file import explicit_options, loaded_config
from wildtool.cli.options.run import RunOptions
from wildtool.engine.call.cache import ReplyCache
from wildtool.engine.plan import Plan, SelectedItems
from wildtool.errors import RecordError, UsageError, WildtoolError
from wildtool.models.providers.base import endpoint_model
from wildtool.outputs import is_remote
from wildtool.scale import control
from wildtool.scale.copies import cache_folder_of_runs, place_of, url_digest
from wildtool.scale.job import SharedJob, worker_name
from wildtool.scale.launch import kubernetes_manifest, slurm_script
from wildtool.scale.local import PARENT_VARIABLE, LocalLauncher, leave_at_sigterm
from wildtool.scale.parts import PartsJob, made_parts, work_on_parts
from wildtool.scale.segments import recover_spools
from wildtool.scale.servers import ModelServer
from wildtool.scale.store import ObjectStore
from wildtool.scale.worker import ShardWorker, WorkerResult
from wildtool.secret_places import find_secrets
from wildtool.terminal import print_err, print_out

MAX_LOCAL = 1_024
"""Processes of one machine at most."""


def run_shared(runs: Sequence[NamedRun], settings: Settings) -> int:
    """`wildtool run` with workers; gives the exit status. Raises UsageError for workers that it does not know."""
    launch = launcher_of(settings)
    statuses: list[int] = []
    for run in runs:
        shared = control.SharedRun(run=run, settings=settings)
        try:
            statuses.append(print_end(shared, control.control_run(shared, launch())))
        except WildtoolError as error:
            statuses.append(report_error(error))
    return worst_status(statuses)


def print_end(shared: control.SharedRun, outcome: control.SharedOutcome) -> int:
    """Scores a run that workers shared and prints its numbers; gives the exit status."""
    from wildtool.cli.output.results import describe_failures, find_results
    from wildtool.terminal.tables import print_overview

    place = outcome.place
    if outcome.stopped is not None:
        print_err(
            f"{place.label}: stopped: {outcome.stopped}. All replies are recorded. Run the same command with a higher "
            "limit to continue."
        )
    results, status = find_results([place.folder], shared.run.plan.profile)
    answered = [result for result in results if result.counts.correct + result.counts.wrong]
    print_overview(answered)
    if not answered and (failed := [kind for result in results for kind in result.failed]):
        print_err(f"{place.label}: every call failed: {describe_failures(failed)}")
    # Where all is done, it does not matter which worker failed on the way.
    unfinished = [] if outcome.is_done else [3, *outcome.worker_statuses]
    if unfinished and outcome.stopped is None:
        print_err(f"{place.label}: not finished; run the same command to continue.")
    return worst_status([status, *unfinished, *(result.exit_status for result in results)])


def launcher_of(settings: Settings) -> "Callable[[], control.Launcher]":
    """Makes launchers of the workers that `--on` names. Raises UsageError."""
    out, where = settings.output.out, settings.workers.on or "local:1"
    if where.startswith("ray") and (out is None or not is_remote(Path(out))):
        raise UsageError(
            "--on ray needs an --out that all nodes reach, such as s3://bucket/run or file:///shared/run"
        )
    return launcher_at(where, settings.workers.server, quiet=settings.output.quiet)


def launcher_at(where: str, server: str | None = None, *, quiet: bool) -> "Callable[[], control.Launcher]":
    """Makes launchers of workers at a place. Raises UsageError for one that `--on` does not know."""
    if where.startswith("ray"):
        from wildtool.scale.ray_cluster import RayLauncher, RayPlace

        place = RayPlace.parse(where)
        return lambda: RayLauncher(place, server, quiet=quiet)
    kind, _, count = where.partition(":")
    if kind != "local" or not count.isdecimal() or not 1 <= int(count) <= MAX_LOCAL:
        raise UsageError(
            f"--on is {where!r}; expected local:N with N from 1 to {MAX_LOCAL:,}, such as local:4, or ray"
        )
    return lambda: LocalLauncher(int(count), server)


def shared_parts(
    kind: str, settings: Mapping[str, Any], parts: int, target: Path, where: str, *, force: bool
) -> "AbstractContextManager[Iterator[bytes]]":
    """`made_parts` by the workers that `--on` names, for commands that make a file of them."""
    job = PartsJob(kind=kind, settings=settings, parts=parts)
    return made_parts(job, target, launcher_at(where, quiet=False), force=force)


def start(
    run: Path = opt(
        "--run URL",
        "Address of the run, as --out had it; or its run folder.",
        default=...,
        show_default=False,
    ),
    server: str | None = opt(
        "COMMAND", "Start a model server for this worker, on a free port: {port}, as in the run's --base-url."
    ),
    trust: str | None = options.TRUST_OPTION,
) -> int:
    """Start a worker here, which helps a run that several share.

    \b
    Examples:
      wildtool worker start --run s3://bucket/runs/gpt-4o
      wildtool worker --run s3://bucket/runs/gpt-4o

    Takes shards of items until none is left, and continues those of workers that died at their recorded step. Start as
    many as you like, on any machine that reaches the store, the data and the model. All options are those of the run.
    """
    store = place_of(run).store
    if parts := PartsJob.read(store):
        count = work_on_parts(store, parts)
        if not os.environ.get(PARENT_VARIABLE):
            print_err(f"{store.url}: this worker made {count} parts")
        return 0
    result = work(store, server)
    if result is None:
        return 130
    if not os.environ.get(PARENT_VARIABLE):
        print_err(f"{store.url}: this worker played {result.items:,} items with {result.calls:,} calls")
        if result.limit is not None:
            print_err(f"{store.url}: stopped: {result.limit}")
    return 3 if result.limit is not None or result.left else 0


_ON_CLUSTERS = {
    "slurm": "Start workers as a Slurm array job.",
    "kubernetes": "Start workers as a Kubernetes job.",
}
WORKER = FirstByDefault(
    help="Start workers of a shared run, here or on a cluster.",
    commands=Commands(
        {
            "start": "Start a worker here, which helps a run that several share.",
            **_ON_CLUSTERS,
        },
        "worker",
    ),
)
"""The verb with its commands. Jobs on clusters call `wildtool worker --run ADDRESS`."""
LAUNCH = CommandGroup(
    help="Start workers of a run on a cluster (the older name of `wildtool worker`).",
    no_args_is_help=True,
    commands=Commands(_ON_CLUSTERS, group="launch"),
)
"""The older verb."""
_WORKERS = opt("N", "Workers.", default=..., min=1, max=100_000)
_PRINT = opt("--print", "Prepare the run and print what would be submitted.")


def slurm(
    run_options: RunOptions,
    context: typer.Context,
    benchmark: str = options.BENCHMARK_ARGUMENT,
    workers: int = _WORKERS,
    sbatch: list[str] | None = opt("OPTION", "Option of sbatch, such as --partition=cpu; repeatable."),
    print_only: bool = _PRINT,
) -> None:
    """Start workers as a Slurm array job.

    \b
    Examples:
      wildtool worker slurm wild-mini -m gpt-4o -o s3://b/run --workers 8

    Takes the options of `wildtool run`. Each worker has an equal part of all limits. Read the run with
    `wildtool show ADDRESS`, at any time.
    """
    run = _prepared(run_options, context, benchmark, workers)
    store = place_of(run.folder).store
    digest = SharedJob.read(store).trust_request(store.url).digest
    script = slurm_script(store.url, workers, sbatch or (), run_options.server, digest)
    _submit(script, ["sbatch"], print_only=print_only)


def kubernetes(
    run_options: RunOptions,
    context: typer.Context,
    benchmark: str = options.BENCHMARK_ARGUMENT,
    workers: int = _WORKERS,
    image: str = opt("NAME", "Image that holds wildtool and the data.", default=...),
    secret: list[str] | None = opt(
        "NAME", "Secret whose entries become environment variables: keys, credentials; repeatable."
    ),
    print_only: bool = _PRINT,
) -> None:
    """Start workers as a Kubernetes job.

    \b
    Examples:
      wildtool worker kubernetes bfcl -m gpt-4o -o s3://b/r --workers 8 --image i

    Takes the options of `wildtool run`. Each worker has an equal part of all limits. Read the run with
    `wildtool show ADDRESS`, at any time.
    """
    run = _prepared(run_options, context, benchmark, workers)
    store = place_of(run.folder).store
    manifest = kubernetes_manifest(
        store.url,
        workers,
        name=run.label,
        image=image,
        secrets=secret or (),
        server=run_options.server,
        trust=SharedJob.read(store).trust_request(store.url).digest,
    )
    _submit(manifest, ["kubectl", "create", "-f", "-"], print_only=print_only)


def _prepared(run_options: RunOptions, context: typer.Context, benchmark: str, workers: int) -> NamedRun:
    """The one run that a command names, in its store. Raises UsageError where it is none that a cluster can share."""
    settings = run_options.settings(benchmark, explicit_options(context))
    if run_options.out is None or not is_remote(run_options.out):
        raise UsageError(
            "--out must be an address that all workers reach, such as s3://bucket/run or file:///shared/run"
        )
    if find_secrets(run_options.server or ""):
        raise UsageError(
            "--server holds a key, which would be readable in what is submitted; let the server read it from a "
            "variable of the workers' environment"
        )
    if len(settings.models) > 1 or run_options.on is not None or run_options.dry_run:
        raise UsageError("workers on a cluster take one model, and neither --on nor --dry-run")
    report = None if run_options.quiet else print_err
    (run,) = plan(settings, loaded_config(context).models, report=report)
    place = place_of(run.folder)
    control.launch(control.SharedRun(run=run, settings=settings), place, workers)
    return run


def _submit(text: str, command: list[str], *, print_only: bool) -> None:
    if print_only:
        print_out(text.rstrip("\n"))
        return
    try:
        program = Child(command, stdin=PIPE)
    except FileNotFoundError as error:
        raise UsageError(
            f"there is no {command[0]} here; use --print, and submit it where there is"
        ) from error
    with program:
        program.communicate(text.encode())
    if program.returncode:
        raise UsageError(f"{command[0]} refused it (exit status {program.returncode}); its words are above")


def work(store: ObjectStore, server: str | None = None) -> WorkerResult | None:
    """Works on a run until nothing is left; None where a signal stopped it.

    Args:
        server: command of a model server that is to run as long.
    """
    # Also while its server loads; later the loop has a handler of its own for the signal.
    leave_at_sigterm()
    job = SharedJob.read(store)
    request = job.trust_request(store.url)
    if request.effects:
        request.demand(())
    its_plan, settings = job.plan(server)
    items = its_plan.read()
    count = sum(1 for _ in items.addresses())
    if count != job.items:
        raise RecordError(
            f"{its_plan.source.path}: the options of this run select {count:,} items here and {job.items:,} where it was "
            "started; use the same version of wildtool and the same data"
        )
    name = worker_name()
    with _own_server(server, name, settings, its_plan) as model_server:
        return _work_as(name, store, job, its_plan, items, settings, model_server)


@contextmanager
def _own_server(
    command: str | None, worker_name: str, settings: Settings, its_plan: Plan
) -> Generator[ModelServer | None]:
    """A server for one worker, which answers; None where there is no command of one. Raises ServerError."""
    if command is None:
        yield None
        return
    log = cache_folder_of_runs() / "servers" / f"{worker_name}.log"
    endpoint = settings.endpoint
    with ModelServer(command, endpoint.base_url or "", log, endpoint.api_key_env) as server:
        print_err(f"server of a worker at port {server.port}; its log: {log}")
        server.wait()
        for model in filter(None, map(endpoint_model, its_plan.models.values())):
            model.use_port(server.port)
        yield server


def _work_as(
    name: str,
    store: ObjectStore,
    job: SharedJob,
    its_plan: Plan,
    items: SelectedItems,
    settings: Settings,
    server: ModelServer | None,
) -> WorkerResult | None:
    spools = cache_folder_of_runs() / "spool" / url_digest(store.url)
    spool = spools / name
    spool.mkdir(parents=True)
    run_json = store.get("run.json")
    if run_json is None:
        raise RecordError(f"{store.url}: has no run.json; start the run again with its first command")
    (spool / "run.json").write_bytes(run_json)
    with its_plan.open_folder(spool, items, ["wildtool", *sys.argv[1:]]):
        # Only now may others take it for that of a dead worker, once nobody holds its lock.
        (spool / "shares").mkdir()
        dead = recover_spools(store, spools)
        folder = settings.output.cache
        cache = ReplyCache(Path(folder)) if folder else None
        try:
            player = ShardWorker(store, job, its_plan, items, spool, cache, server)
            player.claims.release(dead)
            return asyncio.run(_until_stopped(player))
        finally:
            if cache is not None:
                cache.close()
            if not any((spool / "shares").glob("*")):
                shutil.rmtree(spool, ignore_errors=True)


async def _until_stopped(player: ShardWorker) -> WorkerResult | None:
    task = asyncio.ensure_future(player.work())
    loop = asyncio.get_running_loop()
    for sent in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(sent, task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        return None
