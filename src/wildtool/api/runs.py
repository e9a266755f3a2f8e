"""Runs that a program starts: the same plans, engine and folders as `wildtool run`."""

import asyncio
import inspect
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Unpack, cast, overload

from wildtool.api.bench import Bench
from wildtool.api.door import door
from wildtool.api.keywords import RunKeywords, keyword_docs, settings_of_call, with_keywords
from wildtool.api.notebook import notebook_display
from wildtool.api.plans import NamedRun, invocation_of, plan
from wildtool.api.results import Run
from wildtool.api.settings import Settings
from wildtool.config.config_file import trust_request_of
from wildtool.engine.benchmark_file import file_of
from wildtool.engine.run.runner import RunJob, RunResult, play_plans
from wildtool.errors import UsageError
from wildtool.models.function import CallableModel, ModelFunction
from wildtool.trust_request import TrustRequest
from wildtool.types import Model

ModelName = str | ModelFunction | Model
"""A name as on the command line, a function of (messages, tools), or an object with `complete`."""


@door
def trust(path: str | Path = "wildtool.toml", digest: str | None = None) -> TrustRequest:
    """What a `wildtool.toml` would do that nobody names; with its hash, it is trusted until it changes.

    Args:
        path: the file, or its folder.
        digest: the hash that a message, or the same call without it, has shown.

    Raises UsageError where there is no such file, it is invalid, or has another hash.
    """
    request = trust_request_of(Path(path))
    if digest is not None:
        request.accept(digest)
    return request


@overload
def run(bench: Bench | str | Path, *, model: ModelName, **keywords: Unpack[RunKeywords]) -> Run: ...
@overload
def run(
    bench: Bench | str | Path, *, model: Sequence[ModelName], **keywords: Unpack[RunKeywords]
) -> list[Run]: ...
@door
def run(
    bench: Bench | str | Path, *, model: ModelName | Sequence[ModelName], **keywords: Unpack[RunKeywords]
) -> Run | list[Run]:
    """Runs a benchmark on a model, or continues that run, and scores it.

    Works inside a running event loop. Prints nothing; a notebook shows a progress bar unless `quiet=True` is given.
    What is recorded stays when an error ends the run, and the same call continues.

    Args:
        bench: a benchmark, its name, or the path of a Python file that defines one.
        model: a name as on the command line, a function of (messages, tools) that gives the assistant message or its
            text, or a list of these.

    Returns:
        A `Run`; a list of them for a list of models.

    Raises:
        WildtoolError: one of the classes of `wildtool.errors`, with words of Python.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_arun(bench, model, keywords))
    return _in_thread(lambda: _arun(bench, model, keywords))


@overload
async def arun(bench: Bench | str | Path, *, model: ModelName, **keywords: Unpack[RunKeywords]) -> Run: ...
@overload
async def arun(
    bench: Bench | str | Path, *, model: Sequence[ModelName], **keywords: Unpack[RunKeywords]
) -> list[Run]: ...
@door
async def arun(
    bench: Bench | str | Path, *, model: ModelName | Sequence[ModelName], **keywords: Unpack[RunKeywords]
) -> Run | list[Run]:
    """As `run`, to be awaited."""
    return await _arun(bench, model, keywords)


def _describe_keywords() -> None:
    """Shows each keyword in `help`, in a notebook's completion and in the texts of the functions."""
    lines = "".join(f"    {name}: {text}\n" for name, text in keyword_docs().items())
    for function in (run, arun):
        described: Any = function
        described.__signature__ = with_keywords(inspect.signature(function))
        # Python 3.13 takes the indentation out of such texts, earlier ones leave it in.
        text, returned = inspect.getdoc(function) or "", "\nReturns:"
        described.__doc__ = (
            text.replace(returned, lines + returned, 1) if function is run else f"{text}\n\nArgs:\n{lines}"
        )


async def _arun(
    bench: Bench | str | Path, model: ModelName | Sequence[ModelName], keywords: RunKeywords
) -> Run | list[Run]:
    alone = isinstance(model, str) or not isinstance(model, Sequence)
    models = cast("Sequence[ModelName]", [model] if alone else model)
    runs, settings = _planned(bench, models, keywords)
    with (
        invocation_of(runs, settings) as invocation,
        notebook_display(runs, quiet=settings.output.quiet) as observers,
    ):
        jobs = [
            RunJob(planned.plan, planned.folder, observer)
            for planned, observer in zip(runs, observers, strict=True)
        ]
        outcomes = await play_plans(jobs, command=["wildtool.run"], invocation=invocation)
    for outcome in outcomes:
        if isinstance(outcome, Exception):
            raise outcome
        if isinstance(outcome, RunResult) and outcome.interrupted:
            # Ctrl-C ended the calls. Its own exception would leave the caller's loop at once, with its other tasks.
            raise asyncio.CancelledError
    finished = [Run(planned.folder, planned.plan.profile) for planned in runs]
    return finished[0] if alone and len(finished) == 1 else finished


def _planned(
    bench: Bench | str | Path, models: Sequence[ModelName], keywords: RunKeywords
) -> tuple[list[NamedRun], Settings]:
    """The runs of a call, and its settings. Raises UsageError for an unknown keyword or a wrong value."""
    own = [_own_model(model) for model in models]
    _check_names(own)
    names = [model if isinstance(model, str) else model.name for model in own]
    ready = {name: model for name, model in zip(names, own, strict=True) if not isinstance(model, str)}
    name, loaded = "", dict[str, Any]()
    if not isinstance(bench, Bench):
        name = str(bench)
    else:
        name = str(file_of(bench.benchmark) or bench.name)
        loaded = {"mode": bench.benchmark.mode, "split": bench.split, "lang": bench.lang}
        if bench.source.name != bench.name:
            loaded["data"] = bench.source.name
    given = {key: value for key, value in keywords.items() if value is not None}
    settings, config = settings_of_call(name, names, given, loaded)
    return plan(settings, config.models, models=ready), settings


def _own_model(model: ModelName) -> str | Model:
    if isinstance(model, str):
        return model
    if hasattr(model, "complete") and hasattr(model, "settings"):
        return cast(Model, model)
    return CallableModel(cast(ModelFunction, model))


def _check_names(models: Sequence[str | Model]) -> None:
    """Raises UsageError where two objects have one name: one of them would be given the other's replies."""
    names = [model.name for model in models if not isinstance(model, str)]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(
                f"model: two of them are called {name}; rename one or change its text, for what a function reads "
                "from global variables does not tell it from another"
            )


def _in_thread(work: Callable[[], Any]) -> Any:
    """Runs a coroutine in a loop of its own, since the caller's is taken; Ctrl-C stops it as it stops a command."""
    outcome: dict[str, Any] = {}
    loop = asyncio.new_event_loop()
    task = loop.create_task(work())

    def run_loop() -> None:
        try:
            outcome["value"] = loop.run_until_complete(task)
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            outcome["error"] = error
        finally:
            loop.close()

    thread = threading.Thread(target=run_loop, daemon=True)
    thread.start()
    try:
        thread.join()
    except KeyboardInterrupt:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    if "error" in outcome:
        raise outcome["error"]
    return outcome["value"]


_describe_keywords()
