"""`wildtool audit RUN --blame`: whose fault the failed units of a run were."""

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wildtool.cli.command import Declaration, declared, opt
from wildtool.cli.help import LIMITS, MODEL, MORE
from wildtool.cli.options import completion
from wildtool.cli.options import shared as options
from wildtool.cli.options.asking import AskOptions
from wildtool.cli.options.run import settings_values
from wildtool.errors import UsageError
from wildtool.terminal import print_err, print_wrapped

if TYPE_CHECKING:
    from wildtool.blame.asked_again import MakeModels
    from wildtool.blame.cost import TrialCost
    from wildtool.blame.of_run import Prepared
    from wildtool.blame.report import BlameReport
    from wildtool.engine.call.client import Invocation
    from wildtool.engine.score.score import JudgingJob


_NEEDED = {"needs": "--blame"}


def _of_blame(shared: Declaration) -> Any:
    """An option of other verbs that here belongs to --blame."""
    return replace(shared, rules=_NEEDED)


@declared
class BlameOptions:
    """Whose fault it was: what is tried, and who is asked again."""

    blame: bool = opt(
        "Say whose fault the failed units of a run were: play them again with one party right (docs/audit.md)."
    )
    plays: int | None = opt(
        "-k N", "With --blame: plays of each trial (default: 5).", min=1, needs="--blame", panel=LIMITS
    )
    sample: int | None = opt("N", "With --blame: try N of the failed units only.", min=1, needs="--blame")
    reviewed: str | None = opt(
        "NAME|FILE", "With --blame: the run's data with gold answers that were reviewed.", needs="--blame"
    )
    model: str | None = opt(
        "-m NAME",
        "With --blame: model to ask in place of the run's own.",
        complete=completion.models,
        needs="--blame",
        panel=MODEL,
    )
    user_model: str | None = opt(
        "NAME",
        "With --blame: model to ask in place of the run's user.",
        complete=completion.models,
        needs="--blame",
        panel=MODEL,
    )
    user_base_url: str | None = _of_blame(options.USER_BASE_URL_OPTION)
    user_api_key_env: str | None = opt(
        "VARIABLE", "Environment variable that holds the user model's key.", needs="--blame", panel=MORE
    )


def blame(
    run: str,
    its: BlameOptions,
    asked: AskOptions,
    *,
    out: Path | None,
    data: str | None,
    profile: str | None,
    as_json: bool,
    force: bool,
) -> int:
    """Says whose fault the failed units of a run were. Gives the exit status.

    Args:
        run: the folder of the run, or its bundle.
        out: the folder for the plays and the page; None for one inside the run's.
        data: where the run's data are now; None for where it found them.
    """
    from wildtool.blame.blaming import result_folder
    from wildtool.blame.of_run import PLAYS, BlameSettings, prepare_blame
    from wildtool.blame.progress import live_line
    from wildtool.blame.run_blame import PAGE, play_blame

    asked.check_limits()
    folder = _run_folder(run)
    settings = BlameSettings(
        out=out or result_folder(Path(run)),
        plays=its.plays or PLAYS,
        sample=its.sample,
        data=data,
        reviewed=its.reviewed,
        profile=profile,
        concurrency=asked.concurrency,
        force=force,
        command=["wildtool", *sys.argv[1:]],
        watch=live_line,
    )
    prepared = prepare_blame(folder, settings, lambda job: _models(job, its, asked))
    for model in prepared.trials.make_models().values():
        if model.endpoint_note:
            print_err(model.endpoint_note)
    _print_costs(prepared, asked, as_json=as_json)
    if asked.dry_run:
        return 0
    report = play_blame(folder, prepared, settings, _invocation(prepared, asked))
    if as_json:
        print(json.dumps(report.as_json(), indent=1))
    else:
        _print_report(report)
    page = settings.out / PAGE
    print_err(
        f"Unit by unit: {page}"
        if page.exists()
        else "No page of the units: pip install 'wildtool[report]', and the same command writes one"
    )
    return 3 if report.undecided else 0


def _run_folder(run: str) -> Path:
    from wildtool.engine.score.results import run_folders

    folders = run_folders(options.local_run(Path(run)))
    if len(folders) > 1:
        raise UsageError(f"{run}: holds {len(folders)} runs, and --blame takes one; name its folder")
    return folders[0]


def _models(job: "JudgingJob", its: BlameOptions, asked: AskOptions) -> "MakeModels":
    from wildtool.blame.asked_again import NamedModels, named_models
    from wildtool.config.config_file import read_config

    values = settings_values(asked) | {
        "user_base_url": its.user_base_url,
        "user_api_key_env": its.user_api_key_env,
        "dry_run": asked.dry_run or None,
    }
    choice = NamedModels(model=its.model, user_model=its.user_model, values=values)
    return named_models(job.run_info.benchmark, job.run_json["identity"], choice, read_config(None).models)


def _invocation(prepared: "Prepared", asked: AskOptions) -> "Invocation":
    """The limits of all trials together. Raises UsageError where a price is needed and unknown."""
    from wildtool.api.meaning import spending_limits
    from wildtool.config.named_models import check_prices
    from wildtool.engine.call.budget import Budget
    from wildtool.engine.call.client import Invocation

    models = prepared.trials.make_models().values()
    check_prices({each.model.name: each.price for each in models}, asked.max_cost)
    return Invocation(Budget(spending_limits(asked.limits)))


def _print_costs(prepared: "Prepared", asked: AskOptions, *, as_json: bool) -> None:
    """What it takes at most: a table where nothing else is wanted, else a line."""
    from wildtool.blame.cost import total_of, trial_costs
    from wildtool.engine.score.formatting import counted
    from wildtool.terminal.tables import print_grid

    costs = trial_costs(prepared.trials, prepared.tried)
    total = total_of(costs)
    line = (
        f"At most {counted(total.calls, 'call')}, about {total.prompt_tokens + total.reply_tokens:,.0f} tokens, "
        f"{_usd(total)}, if plays are as long as the recorded ones and every unit needs every trial."
    )
    if not asked.dry_run:
        print_err(line)
        return
    if as_json:
        print(json.dumps({"trials": [asdict(each) for each in costs], "total": asdict(total)}, indent=1))
        return
    rows = [
        [
            each.trial,
            f"{each.units:,}",
            f"{each.calls:,}",
            f"{each.prompt_tokens:,.0f}",
            f"{each.reply_tokens:,.0f}",
            _usd(each),
        ]
        for each in costs
    ]
    print_grid(
        "what each trial takes at most",
        ["trial", "units", "calls", "prompt tokens", "reply tokens", "cost"],
        rows,
    )
    print_wrapped(f"Nothing is sent or written. {line}")


def _usd(cost: "TrialCost") -> str:
    return "cost unknown" if cost.cost is None else f"{cost.cost:,.2f} USD"


def _print_report(report: "BlameReport") -> None:
    from wildtool.blame.report import remarks
    from wildtool.engine.score.formatting import counted, format_range, format_share
    from wildtool.terminal.tables import print_grid

    rows = [
        [row.cause, f"{row.units:,}", format_share(row.share), format_range(row.low, row.high)]
        for row in report.causes
    ]
    if rows:
        title = f"causes of {counted(report.tried - report.undecided, 'failed unit')}"
        print_grid(title, ["cause", "units", "share", "95 % interval"], rows)
    elif not report.tried:
        print_wrapped(f"No unit of the run is wrong: {report.judged:,} of {report.judged:,} are right.")
    scores = [
        [row.party, format_share(row.score), format_range(row.low, row.high), f"{row.tried:,}"]
        for row in report.scores
    ]
    if scores:
        title = f"score if it had been right (as it was: {format_share(report.score)} of {report.judged:,})"
        print_grid(title, ["right", "score", "95 % interval", "failed units tried"], scores)
    for text in remarks(report):
        print_wrapped(text)
