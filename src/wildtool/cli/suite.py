"""`wildtool run toleap` and `wildtool run all`: several benchmarks in one command, and what they come to together."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from wildtool.api.plans import NamedRun
from wildtool.api.settings import Settings
from wildtool.api.words import option_of
from wildtool.engine.compare.leaderboard import INCOMPLETE, parts_line, trust_line
from wildtool.engine.registry import load_benchmark
from wildtool.engine.score.formatting import (
    ENDS_HEAD,
    first_names,
    format_range,
    format_rate_ends,
    format_share,
)
from wildtool.engine.score.results import ScoreResult, load_result
from wildtool.engine.suite import (
    DOCUMENT,
    OVERALL_CAVEAT,
    overalls,
    suite_document,
    suite_headline,
    suite_members,
    suite_profile,
    toleap_table_size,
)
from wildtool.errors import DataError, RecordError, UsageError
from wildtool.outputs import check_file, write_file
from wildtool.sanitize import single_line
from wildtool.terminal import print_err, print_wrapped
from wildtool.terminal.tables import print_grid

OF_ONE_BENCHMARK = (
    "data",
    "mode",
    "split",
    "ids",
    "profile",
    "prompts",
    "noise",
    "inject",
    "history",
    "among",
    "expose",
    "hints",
    "rationale",
    "tools_model",
    "failures",
    "retriever",
    "retriever_top_k",
    "retriever_base_url",
    "retriever_api_key_env",
    "retriever_header",
    "judge",
    "judge_base_url",
    "judge_api_key_env",
    "judge_header",
    "judge_max_tokens",
)
"""Options that mean another thing in each benchmark, or nothing."""
_OF_THE_USER = (
    "user_model",
    "user_base_url",
    "user_api_key_env",
    "user_header",
    "user_temperature",
    "user_max_tokens",
    "user_rpm",
    "user_tpm",
)
"""Options of the simulated user, which only some benchmarks have."""


_NAMED = 3
"""Missing parts of a headline that are named."""


class Suite:
    """The runs of one command over several benchmarks."""

    def __init__(self, settings: Settings) -> None:
        """Args: settings: their benchmark is the suite's name. Raises UsageError for one that a suite cannot have."""
        name = settings.benchmark
        self._name, self._settings = name, settings
        self._left_out: dict[str, str] = {}
        """Benchmarks that cannot be run, with the reason."""
        self._runs: list[NamedRun] = []
        self._parent = Path("runs", name) if settings.output.out is None else Path(settings.output.out)
        self._document = self._parent / DOCUMENT
        check_file(self._document, force=settings.output.force)
        refused = [option for option in OF_ONE_BENCHMARK if option in settings.explicit]
        if refused:
            raise UsageError(
                f"{option_of(refused[0])} belongs to one benchmark; leave it out, or run one of {name} alone"
            )

    def plan(self, plan_runs: Callable[[Settings, Path], Sequence[NamedRun]]) -> list[NamedRun]:
        """The runs of all benchmarks whose data are at hand. Raises UsageError, or DataError where there are none.

        Args:
            plan_runs: gives the runs of one benchmark, by its settings and the folder above them.
        """
        for name in suite_members(self._name):
            benchmark = load_benchmark(name)
            of_one = replace(self._settings, benchmark=name)
            of_one = of_one.changed(profile=suite_profile(self._name, benchmark.profiles))
            if "user" not in benchmark.roles:
                of_one = of_one.changed(**dict.fromkeys(_OF_THE_USER))
            try:
                runs = plan_runs(of_one, self._parent / name)
            except DataError as error:
                self._left_out[name] = str(error)
                continue
            self._runs += [run._replace(label=f"{name}: {run.label}") for run in runs]
        if not self._runs:
            raise DataError("; ".join(self._left_out.values()))
        for name, reason in self._left_out.items():
            print_err(f"{name} is left out: {reason}")
        return self._runs

    def finish(self, status: int) -> int:
        """Prints what the numbers come to and writes them all into one document. Gives the exit status."""
        results: list[ScoreResult] = []
        for run in self._runs:
            try:
                results.append(load_result(run.folder, run.plan.profile))
            except RecordError:
                continue  # it was never begun, or its failure was told
        if not results:
            return status
        document = suite_document(self._name, results, self._left_out)
        write_file(self._document, json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n")
        _print_overalls(self._name, results)
        if not self._settings.output.quiet:
            print_err(f"Every number of every benchmark: {self._document}")
        return status


def _print_overalls(name: str, results: Sequence[ScoreResult]) -> None:
    """The models side by side: each benchmark's headline, and what they come to."""
    numbers = {
        (result.benchmark, result.model): (result, metric)
        for result in results
        if (metric := suite_headline(result, name)) is not None
    }
    without = _without_headline(results, name)
    if not any(metric.value is not None for _, metric in numbers.values()):
        if any(result.lacks for result in results):
            print_wrapped(f"{name}: {without}")
        return  # otherwise nothing was answered, which the message above says
    means = overalls(results, name)
    several = len(means) > 1
    rows: dict[str, dict[str, tuple[str, str]]] = {}
    """By label and model a number with its interval."""
    for (benchmark, model), (result, metric) in numbers.items():
        turned = " (less is better)" if metric.better == "less" else ""
        counted = "" if benchmark in means[0].benchmarks else ", not in the mean"
        between = "\n" if several else " "  # beside a number above its interval
        label = f"{benchmark}:{between}{metric.group}, {metric.name}{turned}{counted}"
        mark = "" if result.evidence.complete else INCOMPLETE
        cells = format_share(metric.value) + mark, format_rate_ends(metric)
        rows.setdefault(label, {})[model] = cells
    for overall in means:
        if overall.mean is not None and len(overall.benchmarks) > 1:
            value, low, high = overall.mean
            label = f"mean of {len(overall.benchmarks)} benchmarks"
            rows.setdefault(label, {})[overall.model] = format_share(value), format_range(low, high)
        if overall.toleap is not None:
            metrics = f"{overall.toleap.metrics} of {toleap_table_size()} metrics"
            samples = f"{overall.toleap.samples:,}"
            counts = "" if several else f" ({metrics}, by {samples} samples)"
            cells = format_share(overall.toleap.value), f"{metrics}, n = {samples}" if several else ""
            rows.setdefault(f"ToLeaP's overall{counts}", {})[overall.model] = cells
        if overall.mean_rank is not None and len(overall.benchmarks) > 1:
            rows.setdefault("mean rank", {})[overall.model] = f"{overall.mean_rank:.2f}", ""
    if several:
        models = [overall.model for overall in means]
        table = [
            [label, *("\n".join(filter(None, cells.get(model, ("–", "")))) for model in models)]
            for label, cells in rows.items()
        ]
        print_grid(f"{name}: models side by side", ["", *models], table)
    else:
        (model,) = (overall.model for overall in means)
        table = [[label, *cells[model]] for label, cells in rows.items()]
        print_grid(f"{name}: {model}", ["", "headline", ENDS_HEAD], table)
    if line := parts_line(results):
        print_wrapped(line)
    if without:
        print_wrapped(without)
    for result in results:
        label = f"{result.benchmark}, {result.model}" if several else result.benchmark
        if line := trust_line(label, result):
            print_wrapped(line)
    print_wrapped(f"{OVERALL_CAVEAT}\n")


def _without_headline(results: Sequence[ScoreResult], suite: str) -> str:
    """Which benchmarks have no number here, and why; empty for none."""
    without = {result.benchmark: result for result in results if suite_headline(result, suite) is None}
    few = [f"{name} ({_named(result.lacks)})" for name, result in without.items() if result.lacks]
    others = [name for name, result in without.items() if not result.lacks]
    reasons: list[str] = []
    if few:
        reasons.append(
            f"No headline, since it averages parts that these items leave out: {', '.join(few)}. Take more items with "
            "--sample."
        )
    if others:
        reasons.append(f"No headline, since these runs lack numbers that it is made of: {', '.join(others)}.")
    return " ".join(reasons)


def _named(parts: Sequence[str]) -> str:
    return first_names(list(map(single_line, parts)), _NAMED)
