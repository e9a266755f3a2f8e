"""`wildtool list`: benchmarks, models, agents, profiles, modes, formats, cards."""

import os
import sys
from enum import StrEnum
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from wildtool.benchmarks import HIDDEN, OURS, SUITES
from wildtool.cli.command import arg, opt
from wildtool.cli.options import completion
from wildtool.cli.options import shared as options
from wildtool.config.config_file import ModelEntry, read_config
from wildtool.errors import CallError, DataError, InfraError, UsageError
from wildtool.models.headers import Header, parse_headers
from wildtool.models.settings import address_without_login
from wildtool.terminal import escape_text, print_err, print_out, print_wrapped, terminal_width, wrap_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wildtool.benchmark import Benchmark
    from wildtool.models.resolve import Preset
    from wildtool.types import Model


CHECK_TIMEOUT_S = 120.0
"""A model on a small machine may have to be loaded first."""


TIERS = {
    "1": "runs by the name of a model, with results like the original's",
    "2": "can be reproduced with its own code only",
    "3": "cannot be reproduced",
}
"""How ToLeaP's paper sorts benchmarks (its section on reproducibility), in our words."""


class ListKind(StrEnum):
    """What can be listed."""

    benchmarks = "benchmarks"
    suites = "suites"
    models = "models"
    agents = "agents"
    profiles = "profiles"
    modes = "modes"
    formats = "formats"
    cards = "cards"


def list_(
    subject: ListKind | None = arg(
        "KIND", f"List only these: {', '.join(ListKind)}.", default=None, show_default=False
    ),
    name: str | None = arg(
        "NAME",
        "With cards: the benchmark whose card to print; with agents: the agent.",
        default=None,
        show_default=False,
        complete=completion.benchmarks,
    ),
    check: str | None = opt("NAME", "With models: send one small tool call and report what works."),
    coverage: bool = opt(
        "The benchmarks and training sets of ToLeaP's paper, with licences, and which of them run or are read here."
    ),
    upstream: bool = opt("Ask whether the repositories that benchmarks are pinned to have newer commits."),
    mirror: str | None = opt("URL", "With --upstream: ask this address instead of GitHub's."),
    base_url: str | None = options.BASE_URL_OPTION,
    api_key_env: str | None = options.API_KEY_ENV_OPTION,
    header: list[str] | None = options.HEADER_OPTION,
    format_: str | None = options.TOOL_FORMAT_OPTION,
    trust: str | None = options.TRUST_OPTION,
) -> int:
    """List benchmarks, models, agents, profiles, modes, formats or cards.

    \b
    Examples:
      wildtool list
      wildtool list profiles
      wildtool list cards wildtoolbench
      wildtool list agents codex
      wildtool list models --check ollama/qwen3:8b

    A card says what a benchmark measures, where its data come from, and how its results differ from the original's.
    """
    from wildtool.engine import registry

    if coverage:
        if subject is not None or check is not None:
            raise UsageError("give --coverage without a kind: `wildtool list --coverage`")
        _print_coverage()
        return 0
    if upstream is True:
        if subject is not None or check is not None:
            raise UsageError("give --upstream without a kind: `wildtool list --upstream`")
        return _print_upstream(registry.usable_benchmarks(), mirror)
    if isinstance(mirror, str):
        raise UsageError("--mirror needs --upstream")
    if check is not None:
        if subject is not ListKind.models:
            raise UsageError("--check is for models, such as `wildtool list models --check NAME`")
        endpoint = {
            "base_url": base_url,
            "api_key_env": api_key_env,
            "header": header,
            "tool_format": format_,
        }
        _check(check, {option: value for option, value in endpoint.items() if value is not None})
        return 0
    if not (base_url is api_key_env is header is format_ is None):
        raise UsageError("--base-url, --api-key-env, --header and --tool-format need --check NAME")
    if name is not None:
        if subject is ListKind.agents:
            _print(_agent(name), indent="")
            return 0
        if subject is not ListKind.cards:
            raise UsageError("a name is for cards and agents, such as `wildtool list cards NAME`")
        _print_card(_card(registry.load_benchmark(name)))
        return 0
    benchmarks = [each for each in registry.usable_benchmarks() if each.name not in HIDDEN]
    for kind in [subject] if subject else list(ListKind):
        if subject is None:
            print_wrapped(f"{'' if kind is ListKind.benchmarks else chr(10)}{kind}")
        _print(_rows(kind, benchmarks), indent="" if subject else "  ")
    if subject is None:
        print_err("The benchmarks and training sets of ToLeaP's paper: wildtool list --coverage")
    return 0


def _print_upstream(benchmarks: "list[Benchmark]", mirror: str | None) -> int:
    """Prints what became of the repositories of all benchmarks; gives the exit status, 3 where one could not be asked."""
    from wildtool.data.commands.pull import pins_of, upstream_news

    complete = True
    ask = cache(partial(upstream_news, mirror=mirror))  # some benchmarks share a repository
    for benchmark in benchmarks:
        news = {str(pin): ask(pin) for pin in pins_of(benchmark)}
        complete = complete and all(answered for _, answered in news.values())
        if news:
            print_out(benchmark.name)
            _print([(pin, text) for pin, (text, _) in news.items()], indent="  ")
    return 0 if complete else InfraError.exit_status


def _print_coverage() -> None:
    """Prints ToLeaP's benchmarks and training sets: what runs or reads them here, and what cannot be had."""
    rows = _table_of_toleap("toleap_benchmarks.csv")
    for tier, description in TIERS.items():
        print_wrapped(f"tier {tier}: {description}")
        _print([(row["benchmark"], _coverage_of(row)) for row in rows if row["tier"] == tier], indent="  ")
        print_out("")
    print_wrapped(
        f"The paper counts 33; its table names {len(rows)}. Source and licence of those that do not run here "
        "are unknown: the paper does not say them."
    )
    additions = [name for name in OURS if name not in {row["ours"] for row in rows}]
    print_wrapped(f"Not in the paper, and run here: {', '.join(additions)}.")
    print_out("")
    sets = _table_of_toleap("toleap_training_sets.csv")
    print_wrapped(
        f"training sets ({len(sets)}): the paper prints no name; the download script of its repository loads these"
    )
    _print([(row["source"], _training_coverage(row)) for row in sets], indent="  ")
    print_wrapped(
        "All are on the Hugging Face hub. wildtool fetches none: download the file and give it to `data convert`."
    )


def _table_of_toleap(name: str) -> list[dict[str, str]]:
    import csv
    from importlib.resources import files

    text = files("wildtool.data").joinpath(name).read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


def _coverage_of(row: dict[str, str]) -> str:
    if row["ours"] in OURS:
        return f"`wildtool run {row['ours']}`; {row['source']}, licence {row['licence']}"
    return row["why"]


def _training_coverage(row: dict[str, str]) -> str:
    """What reads a set, its size and its licence."""
    reader = (
        f"`data convert --from {row['reader']}`"
        if row["reader"]
        else "not read: it holds prompts and no dialogues"
    )
    rows = f"rows: {row['rows']}"
    licence = {
        "none": "its card shows no licence, so ask its author before you use it",
        "unknown": "licence unknown",
    }.get(row["licence"], f"licence {row['licence']}")
    trained = (
        "made into training files by its authors" if row["converted"] == "yes" else "not seen in training"
    )
    return f"{reader}; {rows}; {licence}; {trained}"


def _print(rows: "list[tuple[str, str]]", indent: str) -> None:
    """Prints names with their descriptions, side by side if the names are short."""
    from rich.cells import cell_len

    width = terminal_width()
    room = min(max(cell_len(name) for name, _ in rows), width // 3)
    margin = " " * (len(indent) + room + 2)
    for name, description in rows:
        first = f"{indent}{name}{' ' * (room - cell_len(name))}  "
        lines = [
            line
            for part in escape_text(description).split("\n")
            for line in wrap_text(part, width - len(margin))
        ]
        if cell_len(name) > room and description:
            print_out(f"{indent}{name}")
            first = margin
        print_out((first + lines[0]).rstrip())
        for line in lines[1:]:
            print_out(margin + line)


def _check(name: str, typed: "Mapping[str, Any]") -> None:
    """Prints what works at a model's endpoint. Raises InfraError if it does not answer.

    Args: typed: settings of the model given on the command line.
    """
    import asyncio

    from wildtool.config.named_models import ModelCatalog
    from wildtool.models.resolve import ModelOptions
    from wildtool.models.settings import EndpointOptions, Rates

    options = ModelOptions(
        endpoint=EndpointOptions(
            base_url=typed.get("base_url"),
            api_key_env=typed.get("api_key_env"),
            headers=parse_headers(typed.get("header")),
            timeout_s=CHECK_TIMEOUT_S,
        ),
        format=typed.get("tool_format"),
    )
    configured = ModelCatalog(read_config(None).models, {}).find(name, options, typed, Rates())
    model = configured.model
    if configured.endpoint_note:
        print_err(configured.endpoint_note)

    answers = asyncio.run(check_model(name, model))
    print_out(escape_text(name))
    for question, answer in answers.items():
        print_out(f"  {question}: {escape_text(answer)}")


async def check_model(name: str, model: "Model") -> "Mapping[str, str]":
    """What works at a model's endpoint. Raises InfraError if it does not answer, or not in time."""
    import asyncio

    from wildtool.engine.call.client import once_loaded
    from wildtool.models.probe import probe

    async def ask() -> "Mapping[str, str]":
        # Also of a model without an endpoint, and of one that is asked again in another way.
        async with asyncio.timeout(CHECK_TIMEOUT_S):
            return await probe(model)

    waiting = asyncio.create_task(_show_waiting(name))
    try:
        return await once_loaded(ask, print_err)
    except TimeoutError:
        raise InfraError("timeout", f"{name}: no complete answer within {CHECK_TIMEOUT_S:g} s") from None
    except CallError as error:
        raise InfraError(error.kind, str(error)) from error
    finally:
        waiting.cancel()
        await model.close()


async def _show_waiting(name: str) -> None:
    """Says on a terminal, second by second, that an endpoint is asked."""
    import asyncio

    from wildtool.engine.score.formatting import format_duration
    from wildtool.terminal import print_step

    if not sys.stderr.isatty():
        return
    seconds = 0
    try:
        while True:
            waited = f", {format_duration(seconds)}" if seconds else ""
            print_step(f"Asking {name}{waited} (at most {format_duration(CHECK_TIMEOUT_S)})")
            await asyncio.sleep(1)
            seconds += 1
    finally:
        print_step("")


ListRows = list[tuple[str, str]]
"""Names with their descriptions."""


def _rows(kind: ListKind, benchmarks: "list[Benchmark]") -> ListRows:
    from wildtool.tool_formats import CALL_FORMATS

    match kind:
        case ListKind.benchmarks:
            return [
                (
                    benchmark.name,
                    f"{benchmark.title.removeprefix(f'{benchmark.name}: ')}\ndata: {_data(benchmark)}",
                )
                for benchmark in benchmarks
            ]
        case ListKind.suites:
            return list(SUITES.items())
        case ListKind.models:
            return _models()
        case ListKind.agents:
            return _agents()
        case ListKind.profiles | ListKind.modes:
            return [
                (f"{benchmark.name} {name}", line)
                for benchmark in benchmarks
                for name, line in (
                    _profiles(benchmark) if kind is ListKind.profiles else benchmark.modes
                ).items()
            ]
        case ListKind.formats:
            return [(form.name, form.about) for form in CALL_FORMATS.values()]
        case ListKind.cards:
            return [(benchmark.name, f"wildtool list cards {benchmark.name}") for benchmark in benchmarks]


def _agents() -> ListRows:
    """The agents that `--agent` knows by name, and what else it takes."""
    from shutil import which

    from wildtool.agents.templates import agent_templates

    rows = [
        (name, f"{each.title}, {'installed' if which(each.command[0]) else f'npm install -g {each.package}'}")
        for name, each in agent_templates().items()
    ]
    others = [
        ("acp:COMMAND", "any program that speaks the Agent Client Protocol"),
        (
            "'COMMAND {prompt}'",
            "any program that answers one turn; {mcp_url}, {base_url} and {model} say what it needs",
        ),
    ]
    return [*rows, *others]


def _agent(name: str) -> ListRows:
    """What is known of an agent. Raises UsageError for an unknown name."""
    from wildtool.agents.templates import agent_templates
    from wildtool.errors import match_name

    return agent_templates()[match_name("agent", name, agent_templates())].card()


def _profiles(benchmark: "Benchmark") -> "dict[str, str]":
    """Each profile with what it does, and the published evaluator that it follows."""
    from wildtool.benchmark import evaluators_of

    evaluators = evaluators_of(benchmark)
    return {
        name: line + (f"\nfollows {evaluators[name]}" if name in evaluators else "")
        for name, line in benchmark.profiles.items()
    }


def _data(benchmark: "Benchmark") -> str:
    from wildtool.data.data_set import data_of

    data = data_of(benchmark)
    try:
        return str(data.locate(None).path)
    except DataError:
        if not data.can_pull:
            return "none shipped; name a file with --data FILE"
        return f"not downloaded; `wildtool data pull {benchmark.name}`"


def _models() -> ListRows:
    from wildtool.models.baselines import BASELINE_DESCRIPTIONS as BASELINES
    from wildtool.models.resolve import NAME_EXAMPLES, PRESETS, installed_prefixes

    return [
        *((name, _configured(entry)) for name, entry in read_config(None).models.items()),
        *BASELINES.items(),
        ("replay:PATH[#MODEL]", "replies recorded in a run folder or a replies file"),
        ("hf/PATH", "weights on this machine, with their own chat template (extra [hf])"),
        ("inspect/PROVIDER/MODEL", "any model Inspect supports, not wire-exact (extra [inspect])"),
        ("NAME", "any model of an OpenAI-compatible endpoint (--base-url URL or OPENAI_BASE_URL)"),
        *((example, f"the same as {prefix}/NAME, without --base-url") for example, prefix in NAME_EXAMPLES),
        *((f"{prefix}/NAME", _preset(preset)) for prefix, preset in PRESETS.items()),
        *((f"{prefix}/NAME", _installed_provider(prefix)) for prefix in installed_prefixes()),
    ]


def _installed_provider(prefix: str) -> str:
    from wildtool.models.resolve import Preset, provider_of

    try:
        provider = provider_of(prefix)
    except UsageError as error:
        return str(error)
    return _preset(provider) if isinstance(provider, Preset) else "models of an installed package"


def _configured(entry: ModelEntry) -> str:
    """The settings of a model in `wildtool.toml`, and whether its key variable is set; never the key."""
    endpoint = entry.endpoint
    at = f" at {address_without_login(endpoint.base_url)}" if endpoint.base_url else ""
    key = ""
    if endpoint.api_key_env:
        key = f", key in {endpoint.api_key_env} ({_is_set(endpoint.api_key_env)})"
    elif endpoint.api_key_file:
        key = f", key in the file {endpoint.api_key_file}"
    headers = ""
    if endpoint.headers:
        headers = f", headers {', '.join(map(_header, endpoint.headers))}"
    price = ""
    if entry.price:
        price = f", {entry.price.input:g} USD in and {entry.price.output:g} USD out per million tokens"
    return f"{entry.model}{at}{key}{headers}{price} (wildtool.toml)"


def _header(header: Header) -> str:
    """The name of a header, and whether its variable is set; never its value."""
    variable = header.variable
    return header.name if variable is None else f"{header.name} from {variable} ({_is_set(variable)})"


def _is_set(variable: str) -> str:
    return "set" if os.environ.get(variable, "").strip() else "not set"


def _preset(preset: "Preset") -> str:
    """The address and protocol of a provider, and whether its key variable is set; never the key."""
    key = "no key" if preset.key_env is None else f"key in {preset.key_env} ({_is_set(preset.key_env)})"
    spoken = "" if preset.protocol == "chat completions" else f", {preset.protocol} API"
    return f"{preset.base_url}, {key}{spoken}"


def _print_card(text: str) -> None:
    """Prints Markdown: rendered within the width of a terminal, as it is for a file or another program."""
    if not sys.stdout.isatty():
        print_out(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(width=terminal_width(), no_color=True).print(Markdown(text, hyperlinks=False))


def _card(benchmark: "Benchmark") -> str:
    if benchmark.card is None:
        ways = [*_profiles(benchmark).items(), *benchmark.modes.items()]
        return escape_text("\n".join([benchmark.title, "", *(f"- {name}: {line}" for name, line in ways)]))
    try:
        return escape_text(benchmark.card.read_text("utf-8"))
    except OSError as error:
        raise DataError(f"{benchmark.card}: the card cannot be read ({error.strerror})") from error
