"""What settings mean to the engine: endpoints, sampling, limits, the items of a plan, alterations."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.alter.history.settings import HistorySetting, Unrecorded
from wildtool.alter.injection.settings import InjectionSetting
from wildtool.api.settings import Alterations, Limits, Roles, Settings, unfit
from wildtool.api.values import header_texts, parse_duration, parse_json_object, split_values
from wildtool.config.named_models import RoleOptions
from wildtool.errors import UsageError
from wildtool.models.headers import parse_headers
from wildtool.models.settings import EndpointOptions, Rates, Sampling

if TYPE_CHECKING:
    from wildtool.alter.base import Alteration
    from wildtool.benchmark import Benchmark
    from wildtool.engine.call.budget import SpendingLimits
    from wildtool.models.replay import LoggedReplies
    from wildtool.models.resolve import ModelOptions

_OF_A_ROLE = ("base_url", "api_key_env", "header", "temperature", "max_tokens", "rpm", "tpm", "top_k")
"""Settings of another role by what follows its name, where they exist."""


def rates_of(limits: Limits) -> Rates:
    """The rate limits of an endpoint without its own."""
    return Rates(rpm=limits.rpm, tpm=limits.tpm)


def spending_limits(limits: Limits) -> "SpendingLimits":
    """The limits of all runs together. Raises UsageError for a deadline that is no duration."""
    from wildtool.engine.call.budget import SpendingLimits

    return SpendingLimits(
        max_cost=limits.max_cost,
        max_tokens_total=limits.max_tokens_total,
        deadline_s=None if limits.deadline is None else parse_duration(limits.deadline),
    )


def role_options(roles: Roles, role: str) -> RoleOptions:
    """What is set for the model in another role: `user`, `tools`, `judge`, `retriever`, or `among` for what ranks the
    tools among others."""
    its = {name: getattr(roles, f"{role}_{name}", None) for name in _OF_A_ROLE}
    return RoleOptions(
        model=getattr(roles, f"{role}_model" if role in ("user", "tools") else role, None),
        endpoint=EndpointOptions(
            base_url=its["base_url"],
            api_key_env=its["api_key_env"],
            headers=parse_headers(header_texts(its["header"]), f"--{role}-header"),
        ),
        temperature=its["temperature"],
        max_tokens=its["max_tokens"],
        rates=Rates(rpm=its["rpm"], tpm=its["tpm"]),
        top_k=its["top_k"],
    )


def model_options(
    settings: Settings,
    open_replies: "Callable[[Path, str | None], LoggedReplies]",
    *,
    completion: bool = False,
) -> "ModelOptions":
    """What is set for each tested model.

    Args:
        open_replies: opens what `replay:` names.
        completion: whether it continues raw texts.
    """
    from wildtool.models.resolve import ModelOptions

    endpoint, sampling = settings.endpoint, settings.sampling
    base_url, key_file = endpoint.base_url, endpoint.api_key_file
    if settings.workers.server and base_url:
        # Which port it is differs between workers, but they are one run: models learn it by `use_port`.
        base_url = base_url.replace("{port}", "0")
    return ModelOptions(
        endpoint=EndpointOptions(
            base_url=base_url,
            api_key_env=endpoint.api_key_env,
            api_key_file=None if key_file is None else Path(key_file),
            headers=parse_headers(header_texts(endpoint.header)),
            timeout_s=settings.limits.timeout,
            sends=not settings.workers.dry_run,
        ),
        sampling=Sampling(
            temperature=sampling.temperature,
            max_tokens=sampling.max_tokens,
            seed=sampling.seed,
            extra_body=parse_json_object(sampling.extra_body, "--extra-body"),
            stream=sampling.stream,
        ),
        format=sampling.tool_format,
        api="completions" if completion else "chat",
        open_replies=open_replies,
    )


def plan_settings(settings: Settings) -> dict[str, Any]:
    """The settings that a plan takes over unchanged."""
    from wildtool.engine.sampling import ItemSample  # help needs no benchmark

    items, sampling, limits = settings.items, settings.sampling, settings.limits
    return {
        "seed": sampling.seed,
        "split": items.split,
        "lang": items.lang,
        "limit": items.limit,
        "repeats": sampling.repeats,
        "concurrency": limits.concurrency,
        "ids": split_values(items.ids),
        "sample": None if items.sample is None else ItemSample(items.sample, items.sample_seed),
        "timeout_s": limits.timeout,
        "max_attempts": limits.retries + 1,
        "in_order": limits.order == "prefix",
    }


def check_fit(settings: Settings, benchmark: "Benchmark") -> None:
    """Raises UsageError for settings that mean nothing for a benchmark."""
    from wildtool.toolcall.retrieval import BM25  # help needs no search

    for name, value in settings.values().items():
        if value is not None and (fault := unfit(name, benchmark)):
            raise UsageError(fault)
    roles = settings.roles
    embedding = {
        "base-url": roles.retriever_base_url,
        "api-key-env": roles.retriever_api_key_env,
        "header": roles.retriever_header,
    }
    alone = [name for name, value in embedding.items() if value is not None]
    if alone and roles.retriever in (None, BM25):
        raise UsageError(f"--retriever-{alone[0]} needs --retriever with the name of an embedding model")


def alterations_of(its: Alterations, roles: Roles) -> "tuple[Alteration, ...]":
    """What is to lie between the benchmark and the models, the one next to the benchmark first.

    Raises UsageError, and DataError for a file that breaks its format.
    """
    alterations: list[Alteration] = []
    # Most runs have none, and each takes a while to load.
    if its.history not in (None, HistorySetting.gold):
        alterations.append(_history(HistorySetting(its.history), roles))
    if its.among is not None:
        alterations.append(_distractors(its))
    if its.failures is not None:
        from wildtool.alter.failures.failures import Failures
        from wildtool.alter.failures.schedule import FailureSchedule

        alterations.append(Failures(FailureSchedule.parse(its.failures), its.failures_seed))
    if its.noise is not None:
        from wildtool.alter.noise.noise import Noise

        alterations += filter(None, [Noise.parse(its.noise, its.noise_seed)])
    if its.inject is not None:
        from wildtool.alter.injection.injection import Injection

        alterations.append(Injection(InjectionSetting(its.inject), its.inject_seed))
    if its.hints is not None or its.rationale is not None:
        from wildtool.alter.hints.hints import Hints

        alterations.append(Hints.given(_text(its.hints), _text(its.rationale)))
    if its.expose is not None:
        alterations += filter(None, [_exposure(its.expose, its.among_retriever)])
    return tuple(alterations)


def _history(setting: HistorySetting, roles: Roles) -> "Alteration":
    simulates = roles.tools_model is not None
    if setting is HistorySetting.own:
        from wildtool.alter.history.history import OwnHistory

        return OwnHistory(Unrecorded.simulate if simulates else Unrecorded.refuse)
    if simulates:
        raise UsageError(
            f"--tools-model plays tools with --history own; with --history {setting} leave it out"
        )
    from wildtool.alter.history.left_out import LeftOutHistory

    return LeftOutHistory(setting)


def _exposure(text: str, retriever: str | None) -> "Alteration | None":
    from wildtool.alter.expose.exposure import exposure_of

    exposure = exposure_of(text)
    if exposure is not None and exposure.finds_tools and retriever is not None:
        raise UsageError(
            f"--among-retriever {retriever} and --expose {exposure} both find tools; leave out one of the two"
        )
    return exposure


def _text(value: "str | Path | None") -> str | None:
    return None if value is None else str(value)


def _distractors(its: Alterations) -> "Alteration":
    from wildtool.alter.distractors.distractors import Distractors
    from wildtool.tools.sources.named import tool_sources

    retriever = its.among_retriever or ""
    names = [] if its.among_tools is None else [str(its.among_tools)]
    sources = tool_sources(names, its.mcp_env, header_texts(its.mcp_header))
    tools = sources[0].first_of_each_name() if sources else ()
    if retriever and "names" in (its.noise or ""):
        raise UsageError(
            "--among-retriever goes by the names of tools, which --noise names changes; leave out one of the two"
        )
    return Distractors.parse(
        str(its.among),
        its.among_kinds,
        seed=its.among_seed,
        retriever=retriever,
        top_k=its.among_top_k,
        tools=tools,
    )


def tool_counts_of(its: Alterations) -> list[int]:
    """The numbers of tools, each of which is a run. Raises UsageError."""
    if its.among is None:
        return []
    from wildtool.alter.distractors.distractors import among_sizes

    return among_sizes(str(its.among))
