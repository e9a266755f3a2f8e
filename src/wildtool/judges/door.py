"""Audits of judges from Python."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack, cast

from wildtool.api.bench import Bench
from wildtool.api.door import door
from wildtool.api.records import Headers
from wildtool.api.results import Run
from wildtool.api.runs import run
from wildtool.api.values import header_texts
from wildtool.api.words import know
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark
from wildtool.judges.auditing import (
    DEFAULT_CASES,
    DEFAULT_TWIN_CASES,
    DEFAULT_TWINS,
    CaseChoice,
    JudgeAudit,
    audit_mode,
    check_typed,
    chosen_cases,
    default_folder,
    judge_settings,
    measurable_twins,
    read_audit,
    write_fitting,
)
from wildtool.judges.benchmark import NAME
from wildtool.judges.cases import JudgeCase
from wildtool.judges.models import JudgeFunction, is_typed, typed_judge
from wildtool.judges.reading import Scale
from wildtool.models.headers import parse_headers
from wildtool.models.resolve import folder_name
from wildtool.models.settings import EndpointOptions
from wildtool.types import Model

know(dict.fromkeys(("style", "prompt", "scale", "cases", "twins", "twin_cases"), (False, ())))
know({"reference": (True, ())})


class CaseKeywords(TypedDict, total=False):
    """Which items of the benchmark cases are made of, as for `wildtool.run`."""

    data: str | Path | None
    split: str | None
    lang: str | None
    profile: str | None


class JudgeKeywords(CaseKeywords, total=False):
    """Keywords of an audit beside its cases: how the judge is reached and limited, as for `wildtool.run`."""

    temperature: float | None
    max_tokens: int | None
    seed: int | None
    extra_body: Mapping[str, Any] | str | None
    base_url: str | None
    api_key_env: str | None
    header: Headers | None
    concurrency: int
    max_cost: float | None
    deadline: float | str | None
    timeout: float
    retries: int
    cache: str | Path | None
    config: str | Path | None
    quiet: bool


@door
def audit_judge(
    bench: Bench | str | Path,
    *,
    judge: str | JudgeFunction,
    style: str | None = None,
    prompt: str | None = None,
    reference: bool = False,
    scale: Scale | None = None,
    cases: int = DEFAULT_CASES,
    twins: Sequence[str] = DEFAULT_TWINS,
    twin_cases: int = DEFAULT_TWIN_CASES,
    cases_seed: int = 0,
    out: str | Path | None = None,
    **keywords: Unpack[JudgeKeywords],
) -> JudgeAudit:
    """Asks a judge about trajectories whose labels are known, or continues that, and says how often it is right.

    Args:
        bench: the benchmark that cases are made of.
        judge: the name of a model, a function of (messages, tools) or with `reference` of (messages, tools, reference),
            `FILE.py:FUNCTION`, or the address of an endpoint.
        style: how a model is asked, as `--style` of `wildtool audit`.
        prompt: the instruction of a model, in place of a style.
        scale: what scores mean; by default 1 to 10, of which 7 passes.
        out: the folder for cases and runs; by default below `runs`.
        keywords: as of `wildtool.run`; `data`, `split`, `lang` and `profile` choose the cases. With a `cache` nothing is
            asked twice, so that there is no noise floor.

    Raises:
        WildtoolError: one of the classes of `wildtool.errors`.
    """
    typed = is_typed(judge)
    if typed:
        check_typed({"style": style, "prompt": prompt, **keywords})
    mode = audit_mode(style, typed=typed, has_prompt=prompt is not None, reference=reference)
    settings = judge_settings(mode, prompt, scale)
    twins = measurable_twins(twins, keywords.get("cache"))
    choice = CaseChoice(cases=cases, twins=twins, twin_cases=twin_cases, seed=cases_seed)
    labelled = _cases(bench, choice, keywords)
    folder = Path(out) if out is not None else default_folder(labelled[0].benchmark, mode)
    write_fitting(folder / "set", labelled, mode, settings, folder / "runs")
    model = typed_judge(judge, _endpoint(keywords), shows_reference=reference) or judge
    # A model that a function became has a name of its own, also for its folder.
    name = judge if isinstance(model, str) else cast(Model, model).name
    rest: Any = {name: value for name, value in keywords.items() if name not in CaseKeywords.__annotations__}
    place = folder / "runs" / folder_name(str(name))
    play = cast(Callable[..., Run], run)  # the other keywords are those of `run`
    result = play(NAME, model=model, data=str(folder / "set"), mode=mode, out=place, **rest)
    return read_audit(result.folder)


def _cases(bench: Bench | str | Path, choice: CaseChoice, keywords: CaseKeywords) -> list[JudgeCase]:
    loaded = bench if isinstance(bench, Bench) else None
    benchmark = loaded.benchmark if loaded else load_benchmark(str(bench))
    split = keywords.get("split") or (loaded.split if loaded else None)
    lang = keywords.get("lang") or (loaded.lang if loaded else None)
    data = keywords.get("data")
    source = (
        loaded.source if loaded and data is None else data_of(benchmark).locate(data and str(data), split)
    )
    return chosen_cases(benchmark, source, choice, split=split, lang=lang, profile=keywords.get("profile"))


def _endpoint(keywords: JudgeKeywords) -> EndpointOptions:
    return EndpointOptions(
        api_key_env=keywords.get("api_key_env"),
        headers=parse_headers(header_texts(keywords.get("header"))),
        timeout_s=keywords.get("timeout", 600.0),
    )
