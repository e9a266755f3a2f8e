"""Options of `wildtool audit --judge`: the judge, how it is asked, about which cases, and what it has to reach."""

from pathlib import Path

from wildtool.cli.command import declared, opt
from wildtool.cli.help import MODEL, MORE, OUTPUT, SAMPLING, SELECTION
from wildtool.cli.options import completion
from wildtool.cli.options import shared as options


@declared
class JudgeOptions:
    """The judge and its cases."""

    judge: list[str] | None = opt(
        "NAME|FILE|URL",
        "Audit a judge instead: a model as for `run`, a function as FILE.py:FUNCTION, or an endpoint; repeatable "
        "(docs/judges.md).",
        complete=completion.models,
        panel=MODEL,
    )
    style: str | None = opt(
        "NAME",
        "How a model is asked: pass-fail, score, rubric, pairwise, training (as `run training --judge` asks) or "
        "checker (as `generate` asks). Default: pass-fail.",
        panel=MODEL,
    )
    prompt: Path | None = opt(
        "FILE",
        "Your own instruction to the judge; the case follows it as JSON.",
        panel=MODEL,
        not_with="--style",
    )
    reference: bool = opt("Show the judge the right turn, too.", panel=MODEL)
    threshold: float | None = opt("X", "Smallest score that passes (default: 7).", panel=MODEL)
    scale: str | None = opt("LOW-HIGH", "Scores that there are (default: 1-10).", panel=MODEL)
    cases: int | None = opt("N", "Cases, half of them right (default: 400).", min=8, panel=SELECTION)
    twins: str | None = opt(
        "KIND,…",
        "Changes that must not matter: repeat, injection, length, name, language, format, all or none (default: "
        "repeat,injection).",
        panel=SELECTION,
    )
    twin_cases: int | None = opt(
        "N", "Cases that get each kind of twin (default: 100).", min=2, panel=SELECTION
    )
    cases_seed: int = opt("N", "Seed of the choice of cases.", default=0, panel=SELECTION)
    require: str | None = opt(
        "tp:X,tn:X",
        "Exit status 1 unless the lower ends of the judge's rates reach this: of right cases that pass, of wrong "
        "ones that do not.",
        panel=OUTPUT,
    )
    passed: str | None = opt(
        "N/UNITS",
        "A score that this judge gave elsewhere, such as 360/500: what rate of right units is behind it?",
        panel=OUTPUT,
    )
    seed: int | None = opt("N", "Sampling seed.", panel=SAMPLING)
    extra_body: str | None = options.EXTRA_BODY_OPTION
    retries: int = options.RETRIES_OPTION
    cache: Path | None = options.CACHE_OPTION
    quiet: bool = options.QUIET_OPTION
    trust: str | None = options.TRUST_OPTION
    no_check: bool = opt("Do not look at the first 20 replies.", panel=MORE)
