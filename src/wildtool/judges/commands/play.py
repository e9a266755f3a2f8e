"""Asks judges about cases whose labels are known, and shows what that says of them."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.api.settings import Settings
from wildtool.cli.command import worst_status
from wildtool.cli.options.asking import AskOptions
from wildtool.cli.options.run import settings_values
from wildtool.config.config_file import read_config
from wildtool.errors import UsageError
from wildtool.judges.commands.options import JudgeOptions
from wildtool.models.headers import parse_headers
from wildtool.models.settings import EndpointOptions
from wildtool.outputs import check_folder
from wildtool.temporary import temporary_folder
from wildtool.terminal import print_err

if TYPE_CHECKING:
    from wildtool.benchmark import Benchmark
    from wildtool.judges.auditing import CaseChoice, JudgeAudit
    from wildtool.judges.reading import Scale
    from wildtool.judges.styles import JudgeSettings
    from wildtool.types import Model, Source


def audit_judges(
    benchmark: "Benchmark",
    source: "Source",
    its: JudgeOptions,
    asked: AskOptions,
    explicit: Collection[str],
    *,
    split: str | None,
    lang: str | None,
    profile: str | None,
    out: Path | None,
    force: bool,
    as_json: bool,
    every: bool,
) -> int:
    """Asks judges about cases of a benchmark, or only estimates what that costs. Gives the exit status."""
    from wildtool.judges.auditing import chosen_cases, default_folder, read_audit, write_fitting

    asked.check_limits()
    required, score = read_requirements(its.require), read_passed(its.passed)
    mode = _mode(its, asked)
    settings = _settings(its, mode)
    models = _typed_models(its, asked, mode)
    place = out or default_folder(benchmark.name, mode)
    cases = chosen_cases(
        benchmark, source, _choice(its), split=split, lang=lang, profile=profile, report=print_err
    )
    with temporary_folder() if asked.dry_run else nullcontext(place) as folder:
        folder = Path(folder)
        check_folder(folder, _is_audit, force=force or asked.dry_run)
        left_out = write_fitting(folder / "set", cases, mode, settings, folder / "runs")
        for reason, count in left_out.items():
            print_err(f"{count:,} of {len(cases):,} cases are left out: each {reason}")
        names = [model.name for model in models] or list(its.judge or ())
        run_settings = Settings.of("judge-audit", names, _values(its, asked, folder / "set", mode), explicit)
        from wildtool.api.plans import plan
        from wildtool.cli.commands.run import execute_runs

        ready = {model.name: model for model in models}
        runs = plan(
            run_settings,
            read_config(None).models,
            report=None if its.quiet else print_err,
            parent=folder / "runs",
            models=ready,
        )
        status = execute_runs(runs, run_settings, tables=False)
        if asked.dry_run or status not in (0, 3):
            return status
        audits = [read_audit(run.folder) for run in runs]
        return worst_status([status, show_audits(audits, required, score, as_json=as_json, every=every)])


def _is_audit(folder: Path) -> bool:
    from wildtool.judges.benchmark import SETTINGS_FILE

    return (folder / "set" / SETTINGS_FILE).is_file()


def show_audits(
    audits: "Sequence[JudgeAudit]",
    required: Mapping[str, float],
    score: tuple[int, int] | None,
    *,
    as_json: bool,
    every: bool,
) -> int:
    """Prints audits, and how judges differ where there are several. Gives 1 where one does not reach what is required."""
    from wildtool.judges.auditing import compare_audits
    from wildtool.judges.commands import output

    comparisons = [compare_audits(audits[0], other) for other in audits[1:]]
    if as_json:
        output.print_json(audits, comparisons, required, score)
    else:
        for audit in audits:
            output.print_audit(audit, score, every=every)
        for comparison in comparisons:
            output.print_comparison(comparison)
        for audit in audits:
            output.print_requirements(audit, required)
    return 0 if all(audit.reaches(**required) for audit in audits) else 1


def compare_judges(paths: Sequence[Path], *, as_json: bool) -> int:
    """Compares the judges of several runs with the first one's, on the same cases."""
    from wildtool.engine.score.results import run_folders
    from wildtool.judges.auditing import compare_audits, read_audit
    from wildtool.judges.commands import output

    folders = [folder for path in paths for folder in run_folders(path)]
    if len(folders) < 2:
        raise UsageError(
            "--judges compares the runs of at least two judges, as `wildtool audit BENCH --judge NAME` makes them"
        )
    audits = [read_audit(folder) for folder in folders]
    comparisons = [compare_audits(audits[0], other) for other in audits[1:]]
    if as_json:
        output.print_json((), comparisons, {}, None)
    else:
        for comparison in comparisons:
            output.print_comparison(comparison)
    return 0


def _values(its: JudgeOptions, asked: AskOptions, data: Path, mode: str) -> dict[str, Any]:
    values = {name: value for name, value in settings_values(its).items() if name != "judge"}
    return {**values, **settings_values(asked), "data": str(data), "mode": mode}


def _typed_models(its: JudgeOptions, asked: AskOptions, mode: str) -> "list[Model]":
    """The judges that are no language models; empty where all are. Raises UsageError for some of each."""
    from wildtool.judges.models import typed_judge
    from wildtool.judges.styles import TYPED, WITH_REFERENCE

    if mode.removesuffix(WITH_REFERENCE) != TYPED:
        return []
    endpoint = EndpointOptions(
        api_key_env=asked.api_key_env,
        headers=parse_headers(asked.header),
        timeout_s=asked.timeout,
        sends=not asked.dry_run,
    )
    typed = [typed_judge(name, endpoint, shows_reference=its.reference) for name in its.judge or ()]
    return [model for model in typed if model is not None]


def _mode(its: JudgeOptions, asked: AskOptions) -> str:
    """The mode of the audit. Raises UsageError for options that exclude each other."""
    from wildtool.judges.auditing import audit_mode, check_typed
    from wildtool.judges.models import is_typed

    typed = [is_typed(judge) for judge in its.judge or ()]
    if any(typed):
        if not all(typed):
            raise UsageError("functions and endpoints are asked in another way than models; audit them alone")
        check_typed({**asdict(its), **asdict(asked)})
    return audit_mode(its.style, typed=any(typed), has_prompt=its.prompt is not None, reference=its.reference)


def _settings(its: JudgeOptions, mode: str) -> "JudgeSettings":
    from wildtool.data.files import read_text
    from wildtool.judges.auditing import judge_settings

    prompt = None if its.prompt is None else read_text(its.prompt).strip()
    if prompt == "":
        raise UsageError(f"{its.prompt}: is empty; write what the judge has to do, and how it answers")
    return judge_settings(mode, prompt, _scale(its))


def _scale(its: JudgeOptions) -> "Scale | None":
    from wildtool.judges.reading import Scale

    if its.scale is None and its.threshold is None:
        return None
    usual = Scale()
    lowest, highest = usual.lowest, usual.highest
    if its.scale is not None:
        try:
            lowest, highest = map(float, its.scale.split("-"))
        except ValueError:
            raise UsageError(f"--scale is {its.scale!r}; it takes LOW-HIGH, such as 1-5") from None
    return Scale(lowest, highest, usual.threshold if its.threshold is None else its.threshold)


def _choice(its: JudgeOptions) -> "CaseChoice":
    from wildtool.judges.auditing import (
        DEFAULT_CASES,
        DEFAULT_TWIN_CASES,
        DEFAULT_TWINS,
        CaseChoice,
        measurable_twins,
    )
    from wildtool.judges.twins import BIASES

    names = ",".join(DEFAULT_TWINS) if its.twins is None else its.twins
    biases = {"all": list(BIASES), "none": []}.get(names, [name.strip() for name in names.split(",")])
    twins = measurable_twins(biases, its.cache)
    if len(twins) < len(biases):
        print_err(
            "The noise floor is not measured: with --cache the same request gets the same reply. Leave --cache out "
            "for it."
        )
    return CaseChoice(
        cases=its.cases or DEFAULT_CASES,
        twins=twins,
        twin_cases=its.twin_cases or DEFAULT_TWIN_CASES,
        seed=its.cases_seed,
    )


def read_requirements(text: str | None) -> dict[str, float]:
    """What a judge has to reach, by `tp` and `tn`. Raises UsageError."""
    required: dict[str, float] = {}
    for part in () if text is None else text.split(","):
        name, _, value = part.strip().partition(":")
        try:
            share = float(value)
        except ValueError:
            share = -1.0
        if name not in ("tp", "tn") or name in required or not 0 < share <= 1:
            raise UsageError(
                f"--require {part.strip()!r}: it takes tp:X and tn:X, each once, with shares up to 1, such as "
                "tp:0.9,tn:0.9"
            )
        required[name] = share
    return required


def read_passed(text: str | None) -> tuple[int, int] | None:
    """Units that a judge passed elsewhere, and all of them. Raises UsageError."""
    if text is None:
        return None
    passed, _, units = text.partition("/")
    if not (
        passed.strip().isdecimal()
        and units.strip().isdecimal()
        and 0 <= int(passed) <= int(units)
        and int(units)
    ):
        raise UsageError(f"--passed is {text!r}; it takes passed units and all units, such as 360/500")
    return int(passed), int(units)
