"""Audits of judges: the set that a judge is asked about, and what its run says."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from wildtool.api.words import option_of
from wildtool.benchmark import Benchmark
from wildtool.draws import seeded_draw
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.score.results import open_results
from wildtool.engine.score.verdict_table import relation
from wildtool.errors import UsageError, match_name
from wildtool.json_codec import as_object, dumps
from wildtool.judges.benchmark import NAME, SETTINGS_FILE, files_of_set, read_settings
from wildtool.judges.cases import JudgeCase
from wildtool.judges.figures import (
    HEADLINE_TIERS,
    NOISE,
    RATES,
    JudgeFigures,
    JudgeRow,
    figures_of,
    judge_rows,
    weighed_kinds,
)
from wildtool.judges.reading import Scale
from wildtool.judges.styles import (
    CHECKER_STYLE,
    OWN,
    PAIRWISE,
    PASS_FAIL,
    TYPED,
    WITH_REFERENCE,
    JudgeSettings,
    fitting,
    style_names,
    style_of,
)
from wildtool.outputs import make_folder, write_file
from wildtool.stats.judged import CorrectedRate, corrected_difference
from wildtool.stats.tests import AccuracyDifference, ItemPair, difference, flip_test, holm
from wildtool.types import Source

DEFAULT_CASES, DEFAULT_TWIN_CASES = 400, 100
DEFAULT_TWINS = ("repeat", "injection")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseChoice:
    """Which cases a judge is asked about."""

    cases: int = DEFAULT_CASES
    """Half of them right, half wrong, before twins."""
    twins: Sequence[str] = DEFAULT_TWINS
    """Changes that must not matter."""
    twin_cases: int = DEFAULT_TWIN_CASES
    """Cases that get each kind of twin."""
    tiers: Sequence[str] = ("meaning",)
    seed: int = 0

    def __post_init__(self) -> None:
        """Raises UsageError."""
        for option, count, least in (("--cases", self.cases, 8), ("--twin-cases", self.twin_cases, 2)):
            if count < least:
                raise UsageError(f"{option} is {count}; it takes {least} or more")


def measurable_twins(twins: Sequence[str], cache: object) -> Sequence[str]:
    """The twins that tell something: with a cache the same request gets the same reply, so there is no noise floor."""
    return twins if cache is None else [name for name in twins if name != NOISE]


def chosen_cases(
    benchmark: Benchmark,
    source: Source,
    choice: CaseChoice,
    *,
    split: str | None = None,
    lang: str | None = None,
    profile: str | None = None,
    report: Callable[[str], None] = lambda text: None,
) -> list[JudgeCase]:
    """Cases of a benchmark whose labels are known. Raises UsageError or DataError naming what the benchmark lacks.

    Args: report: takes what is left out, and why.
    """
    from wildtool.judges.make import audit_cases

    quarter = max(1, choice.cases // 4)
    cases = audit_cases(
        benchmark,
        source,
        split=split,
        lang=lang,
        profile=profile,
        gold=quarter,
        near_misses=quarter,
        wrong=max(1, choice.cases - 2 * quarter),
        tiers=choice.tiers,  # pyright: ignore[reportArgumentType] - checked there
        twins=choice.twins,
        seed=choice.seed,
        report=report,
    )
    return _with_few_twins(cases, choice)


def _with_few_twins(cases: Sequence[JudgeCase], choice: CaseChoice) -> list[JudgeCase]:
    """The cases with the twins of some of them, of as many right as wrong ones."""
    drawn: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for case in cases:
        if case.bias and case.twin_of not in drawn[case.bias, case.right]:
            drawn[case.bias, case.right].append(case.twin_of)
    bases: set[tuple[str, str]] = set()
    for (bias, right), its in drawn.items():
        seeded_draw(f"{choice.seed}|{bias}|{right}").shuffle(its)
        bases |= {(bias, case) for case in its[: max(1, choice.twin_cases // 2)]}
    return [case for case in cases if not case.bias or (case.bias, case.twin_of) in bases]


FOR_MODELS = ("style", "prompt", "temperature", "max_tokens", "seed", "extra_body", "base_url")


def check_typed(settings: Mapping[str, Any]) -> None:
    """Raises UsageError for what a function or an endpoint is given and only a model can be asked with."""
    for name in FOR_MODELS:
        if settings.get(name) is not None:
            raise UsageError(
                f"{option_of(name)} is for a model; a function or an endpoint judges in its own way"
            )


def judge_settings(mode: str, prompt: str | None, scale: Scale | None) -> JudgeSettings:
    """What a judge is asked with in a mode. Raises UsageError for an empty prompt and a scale that is not its own."""
    if prompt is not None and not prompt.strip():
        raise UsageError("the prompt is empty; write what the judge has to do, and how it answers")
    if scale is not None and mode.removesuffix(WITH_REFERENCE) not in (OWN, TYPED):
        raise UsageError(
            "--scale and --threshold are for a judge that scores by its own prompt (--prompt FILE), a function or an "
            "endpoint; --style score asks for 1 to 10, of which 7 passes"
        )
    return JudgeSettings(prompt=prompt or "", scale=scale or Scale())


def audit_mode(style: str | None, *, typed: bool, has_prompt: bool, reference: bool) -> str:
    """The mode of an audit. Raises UsageError for a style beside a prompt, an unknown one, and a reference that it never
    shows."""
    if style is not None and has_prompt:
        raise UsageError("give --style or --prompt, not both")
    if typed or has_prompt:
        name = TYPED if typed else OWN
    else:
        names = [each for each in dict.fromkeys((*style_names(), CHECKER_STYLE)) if each not in (OWN, TYPED)]
        name = match_name("style", style or PASS_FAIL, names)
    always = style_of(name)[0].shows_reference
    if reference and always is False:
        raise UsageError(f"--reference means nothing for the style {name}; leave it out")
    return f"{name}{WITH_REFERENCE}" if reference and always is None else name


def default_folder(benchmark: str, mode: str) -> Path:
    """Where the cases of a benchmark and the runs over them are kept unless the user names a folder."""
    return Path("runs", NAME, f"{benchmark}-{mode}")


def write_fitting(
    folder: Path, cases: Sequence[JudgeCase], mode: str, settings: JudgeSettings, runs: Path
) -> Mapping[str, int]:
    """Writes the cases that a judge can be asked about. Gives why how many others are left out.

    Args:
        runs: the folder of runs over the set; where there are some, the set has to stay as it is.

    Raises UsageError where no case fits, or where earlier runs had other cases or another prompt.
    """
    fit, left_out = fitting(cases, mode)
    if not fit:
        reasons = "; ".join(f"{count:,}: each {reason}" for reason, count in left_out.items())
        raise UsageError(
            f"none of {len(cases):,} cases can be judged in this style ({reasons}); choose another --style"
        )
    files = files_of_set(folder, fit, settings)
    differing = [path for path, text in files.items() if path.exists() and path.read_bytes() != text]
    if differing and runs.exists():
        raise UsageError(
            f"{differing[0]}: earlier runs there had other cases, another prompt or another scale; name another "
            "folder with --out"
        )
    make_folder(folder)
    for path, text in files.items():
        if not path.exists() or path in differing:
            write_file(path, text)
    return left_out


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAudit:
    """A run of a judge over cases whose labels are known."""

    folder: Path
    judge: str
    mode: str
    settings: JudgeSettings
    rows: Sequence[JudgeRow]
    figures: JudgeFigures
    usd_per_call: float | None
    """None where the price is not known. A case takes several calls where two orders are tried, or one is asked again."""
    digests: Mapping[str, str]
    """Of the prompt, of the judge's settings, and of the cases with them."""

    def corrected(self, passed: int, units: int) -> Mapping[str, CorrectedRate]:
        """The rates of right units behind a score that this judge gave elsewhere, by what the wrong units there are like.

        Args:
            passed: units that it passed.
            units: all of them; one of which nothing could be read is not passed.
        """
        if not 0 <= passed <= units or not units:
            raise UsageError(
                f"passed={passed} of units={units}: give units above 0, and at most as many that passed"
            )
        return self.figures.corrected(passed, units)

    def difference(self, only_first: int, only_second: int, units: int) -> CorrectedRate:
        """The difference (second minus first) of the rates of two models that this judge scored on the same units.

        Args: only_first, only_second: units that it passed of one model only.
        """
        if self.figures.rates is None:
            return CorrectedRate(None, -1.0, 1.0)
        return corrected_difference(only_first, only_second, units, *self.figures.rates)

    def reaches(self, **required: float) -> bool:
        """Whether the lower ends of `tp` and `tn` are at least as large as required, by a judge that does not guess.

        One that passes nothing, as one of which nothing can be read, has a perfect tn.
        """
        lows = [(self.figures.lower(name), bound) for name, bound in required.items()]
        return all(low is not None and low >= bound and self.figures.tells_apart for low, bound in lows)


def read_audit(folder: Path) -> JudgeAudit:
    """What a run of `judge-audit` says. Raises UsageError for another run, DataError, RecordError."""
    described = read_run(folder)
    identity = described["identity"]
    if identity["benchmark"] != NAME:
        raise UsageError(
            f"{folder}: a run of {identity['benchmark']}, and no audit of a judge (wildtool audit BENCH --judge NAME)"
        )
    with open_results(folder) as (result, table):
        rows = judge_rows(relation([table]))
    settings = read_settings(Path(described["data"]["path"]) / SETTINGS_FILE)
    figures = figures_of(rows, compares=identity["mode"] == PAIRWISE)
    return JudgeAudit(
        folder=folder,
        judge=result.model,
        mode=identity["mode"],
        settings=settings,
        rows=rows,
        figures=figures,
        usd_per_call=_usd_per_call(described),
        digests={
            "prompt": prompt_digest(identity["mode"], settings),
            "judge": _digest(dumps(identity["models"]["agent"])),
            "cases": identity["data_sha256"],
        },
    )


def _usd_per_call(described: Mapping[str, Any]) -> float | None:
    if described["identity"]["mode"].removesuffix(WITH_REFERENCE) == TYPED:
        return None
    spent = [as_object(sitting.get("spent")) for sitting in described["sittings"]]
    spent = [each for each in spent if each.get("calls")]
    calls = sum(each["calls"] for each in spent)
    if not calls or any(each.get("usd") is None for each in spent):
        return None
    return sum(each["usd"] for each in spent) / calls


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


_BLANK = JudgeCase(
    benchmark="", item="", unit="", lang="", tier="gold", kind="gold", right=True, tools=[], start=1,
    messages=[{"role": "user", "content": ""}, {"role": "assistant", "content": ""}],
    reference=[{"role": "assistant", "content": ""}],
)  # fmt: skip


def prompt_digest(mode: str, settings: JudgeSettings) -> str:
    """SHA-256 of what a judge is asked about a case without words."""
    style, with_reference = style_of(mode)
    return _digest(dumps(style.ask(_BLANK, with_reference, settings)))


RowPair = tuple[JudgeRow, JudgeRow]
"""One case as two judges judged it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeGap:
    """How much more often the second of two judges is right, on the same cases."""

    name: str
    kinds: int
    cases: int
    difference: AccuracyDifference
    p: float
    corrected_p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeComparison:
    """Two judges on the same cases."""

    first: JudgeAudit
    second: JudgeAudit
    gaps: Sequence[JudgeGap]
    """Right cases and wrong ones, each as the mean over kinds; then each kind."""
    missing: int
    """Cases without an answer of either, which are left out."""


def compare_audits(first: JudgeAudit, second: JudgeAudit) -> JudgeComparison:
    """Two judges paired on their cases. Raises UsageError where these are not the same."""
    ours, theirs = (_own_rows(audit) for audit in (first, second))
    if ours.keys() != theirs.keys():
        common = len(ours.keys() & theirs.keys())
        raise UsageError(
            f"{first.folder} and {second.folder} judged other cases: {common:,} of {len(ours):,} and "
            f"{len(theirs):,} are the same; audit both with the same benchmark, --cases and --cases-seed, and in styles "
            "that take the same cases"
        )
    if first.figures.compares != second.figures.compares:
        raise UsageError(
            "a judge of pairs and one of single turns answer different questions; compare judges of one sort"
        )
    pairs = [(ours[key], theirs[key]) for key in ours if ours[key].tier in HEADLINE_TIERS]
    judged = [pair for pair in pairs if pair[0].judged and pair[1].judged]
    sides = {
        name: [pair for pair in judged if pair[0].right == (RATES[name] == "tp")]
        for name in first.figures.sides
    }
    by_kind: dict[str, list[RowPair]] = defaultdict(list)
    for pair in sorted(judged, key=lambda pair: (not pair[0].right, pair[0].kind)):
        by_kind[f"{'right' if pair[0].right else 'wrong'}: {pair[0].kind}"].append(pair)
    gaps = [*_gaps(sides), *_gaps(by_kind)]
    return JudgeComparison(first=first, second=second, gaps=gaps, missing=len(pairs) - len(judged))


def _gaps(groups: Mapping[str, Sequence[RowPair]]) -> Iterator[JudgeGap]:
    """The gap of each group that has pairs, corrected for how many of them are tested."""
    tested = {name: pairs for name, pairs in groups.items() if pairs}
    weighted = [_weighted(pairs) for pairs in tested.values()]
    tests = [flip_test(its)[0] for its in weighted]
    for (name, pairs), its, p, corrected_p in zip(tested.items(), weighted, tests, holm(tests), strict=True):
        gap = difference(its)
        if gap is not None:
            kinds = len({row.kind for row, _ in pairs})
            yield JudgeGap(
                name=name, kinds=kinds, cases=len(pairs), difference=gap, p=p, corrected_p=corrected_p
            )


def _own_rows(audit: JudgeAudit) -> dict[tuple[str, str, int], JudgeRow]:
    """The judgements of cases that are no twins."""
    return {(row.item, row.unit, row.repeat): row for row in audit.rows if not row.bias}


def _weighted(pairs: Sequence[RowPair]) -> list[ItemPair]:
    """Differences by item, in which all kinds weigh the same."""
    weighed = weighed_kinds(first for first, _ in pairs)
    counts = Counter(weighed[first.kind] for first, _ in pairs)
    sums: dict[str, tuple[Fraction, Fraction]] = {}
    for first, second in pairs:
        weight = Fraction(len(pairs), len(counts) * counts[weighed[first.kind]])
        gap, units = sums.get(first.item, (Fraction(0), Fraction(0)))
        sums[first.item] = gap + weight * (second.agrees - first.agrees), units + weight
    return [ItemPair(*each) for each in sums.values()]
