"""`wildtool list`: benchmarks, models, profiles, modes, formats, cards."""

import os
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from wildtool.cli.config import LOGIN, Entry, read_config
from wildtool.cli.terminal import plain, say
from wildtool.errors import CallError, DataError, InfraError, UsageError

if TYPE_CHECKING:
    from wildtool.models.presets import Preset
    from wildtool.types import Benchmark


CHECK_TIMEOUT_S = 120.0
"""A model on a small machine may have to be loaded first."""


class What(StrEnum):
    """What can be listed."""

    benchmarks = "benchmarks"
    models = "models"
    profiles = "profiles"
    modes = "modes"
    formats = "formats"
    cards = "cards"


def list_(
    what: Annotated[What | None, typer.Argument(help="List only these.", show_default=False)] = None,
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="With cards: print this benchmark's.", show_default=False),
    ] = None,
    check: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="With models: make one tiny tool call and report what works."),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Endpoint of the checked model.")
    ] = None,
    api_key_env: Annotated[
        str | None, typer.Option(metavar="VARIABLE", help="Environment variable with its key.")
    ] = None,
    format_: Annotated[
        str | None, typer.Option("--format", metavar="NAME", help="Check it as `run --format NAME` asks it.")
    ] = None,
) -> None:
    """List benchmarks, models, profiles, modes, formats and cards.

    \b
    Examples:
      wildtool list
      wildtool list profiles
      wildtool list cards wildtoolbench
      wildtool list models --check ollama/qwen3:8b

    A card says what a benchmark measures, where its data come from, and every way in which we deviate from
    the original.
    """
    from wildtool.engine.registry import benchmark_names, load_benchmark

    if check is not None:
        if what is not What.models:
            raise UsageError("--check goes with models, such as `wildtool list models --check NAME`")
        said = {"base_url": base_url, "api_key_env": api_key_env, "format": format_}
        _check(check, {option: value for option, value in said.items() if value is not None})
        return
    if not (base_url is api_key_env is format_ is None):
        raise UsageError("--base-url, --api-key-env and --format go with --check NAME")
    if name is not None:
        if what is not What.cards:
            raise UsageError("a name goes with cards, such as `wildtool list cards NAME`")
        say(_card(load_benchmark(name)))
        return
    benchmarks = [load_benchmark(known) for known in benchmark_names()]
    for kind in [what] if what else list(What):
        say(f"{kind}")
        for line in LISTS[kind](benchmarks):
            say(f"  {line}")


def _check(name: str, typed: dict[str, str]) -> None:
    """Says what works at a model's endpoint. Raises InfraError where it does not answer.

    Args: typed: options of `ModelOptions` that stand on the command line.
    """
    import asyncio

    from wildtool.cli.named import Directory
    from wildtool.engine.rates import Rates
    from wildtool.models.checking import check
    from wildtool.models.resolve import ModelOptions

    options = ModelOptions(
        base_url=typed.get("base_url"),
        api_key_env=typed.get("api_key_env"),
        format=typed.get("format"),
        timeout_s=CHECK_TIMEOUT_S,
    )
    model = Directory(read_config(None).models, {}).find(name, options, typed, Rates()).model

    async def checked() -> dict[str, str]:
        try:
            return dict(await check(model))
        finally:
            await model.close()

    try:
        found = asyncio.run(checked())
    except CallError as error:
        raise InfraError(error.kind, str(error)) from error
    say(plain(name))
    for what, answer in found.items():
        say(f"  {what}: {plain(answer)}")


def _benchmarks(benchmarks: "list[Benchmark]") -> list[str]:
    return [
        line for found in benchmarks for line in (f"{found.name}: {found.title}", f"  data: {_data(found)}")
    ]


def _data(benchmark: "Benchmark") -> str:
    try:
        return str(benchmark.locate(None).path)
    except DataError as error:
        return str(error)


def _profiles(benchmarks: "list[Benchmark]") -> list[str]:
    return [f"{found.name} {name}: {line}" for found in benchmarks for name, line in found.profiles.items()]


def _modes(benchmarks: "list[Benchmark]") -> list[str]:
    return [f"{found.name} {name}: {line}" for found in benchmarks for name, line in found.modes.items()]


def _formats(benchmarks: "list[Benchmark]") -> list[str]:
    from wildtool.models.formats import FORMATS

    return [f"{found.name}: {found.about}" for found in FORMATS.values()]


def _models(benchmarks: "list[Benchmark]") -> list[str]:
    from wildtool.models.baseline import BASELINES
    from wildtool.models.presets import PRESETS

    return [
        *(f"{name}: {_configured(entry)}" for name, entry in read_config(None).models.items()),
        *BASELINES,
        "replay:PATH[#MODEL]: answers as recorded in a run folder or a replies file",
        "hf/PATH: weights on this machine, with their own chat template (extra [hf])",
        "inspect/PROVIDER/MODEL: whatever Inspect can ask, not wire-exact (extra [inspect])",
        "NAME: any name that an OpenAI-compatible endpoint knows (--base-url URL, or OPENAI_BASE_URL)",
        *(f"{prefix}/NAME: {_preset(preset)}" for prefix, preset in PRESETS.items()),
    ]


def _configured(entry: Entry) -> str:
    """What `wildtool.toml` says of a model, and whether its key variable is set; never the key."""
    at = f" at {LOGIN.sub('://', entry.base_url.partition('?')[0])}" if entry.base_url else ""
    key = ""
    if entry.api_key_env:
        key = f", key in {entry.api_key_env} ({_is_set(entry.api_key_env)})"
    elif entry.api_key_file:
        key = f", key in the file {entry.api_key_file}"
    price = ""
    if entry.price:
        price = f", {entry.price.input:g} USD in and {entry.price.output:g} USD out for a million tokens"
    return f"{entry.model}{at}{key}{price} (wildtool.toml)"


def _is_set(variable: str) -> str:
    return "set" if os.environ.get(variable, "").strip() else "not set"


def _preset(preset: "Preset") -> str:
    """Where it is, what it speaks, and whether its key variable is set; never the key."""
    spoken = f"{preset.protocol} at {preset.base_url}"
    if preset.key_env is None:
        return f"{spoken}, no key"
    return f"{spoken}, key in {preset.key_env} ({_is_set(preset.key_env)})"


def _cards(benchmarks: "list[Benchmark]") -> list[str]:
    return [f"{found.name}: wildtool list cards {found.name}" for found in benchmarks]


def _card(benchmark: "Benchmark") -> str:
    try:
        return plain(benchmark.card.read_text("utf-8"))
    except OSError as error:
        raise DataError(f"{benchmark.card}: the card cannot be read ({error.strerror})") from error


LISTS = {
    What.benchmarks: _benchmarks,
    What.profiles: _profiles,
    What.modes: _modes,
    What.formats: _formats,
    What.models: _models,
    What.cards: _cards,
}
