"""`wildtool score`: scores recorded replies again, offline and under any profile."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wildtool.cli.command import opt, worst_status
from wildtool.cli.options import completion
from wildtool.cli.options import shared as options
from wildtool.errors import UsageError
from wildtool.temporary import temporary_folder

if TYPE_CHECKING:
    from wildtool.engine.plan import SelectedItems


def score(
    runs: list[Path] | None = options.RUNS_ARGUMENT,
    profile: str | None = options.PROFILE_OPTION,
    data: str | None = options.DATA_OPTION,
    replies: Path | None = opt(
        "PATH", "Score a replies file instead of runs, or result files of the original tool."
    ),
    traces: list[Path] | None = opt(
        "FILE", "Judge what an agent did, from its traces, by the own cases of --data; repeatable."
    ),
    id_attribute: str | None = opt("NAME", "Attribute of the traces that has the id of their case."),
    benchmark: str | None = options.DATA_BENCHMARK_OPTION,
    out: Path | None = opt(
        "-o FOLDER", "Keep the replies as runs here, one per model; or the run of the traces."
    ),
    mode: str | None = options.MODE_OPTION,
    lang: str | None = options.LANG_OPTION,
    split: str | None = options.SPLIT_OPTION,
    format_: str | None = opt(
        "--tool-format NAME",
        "Read recorded replies again in this tool format, or in the one they are in (auto); saves no scores.",
        complete=completion.tool_formats,
    ),
    sort: str = options.SORT_OPTION,
    force: bool = options.FORCE_OPTION,
) -> int:
    """Score recorded replies again, without calling a model.

    \b
    Examples:
      wildtool score runs/wild-mini --profile fixed
      wildtool score runs/wild-mini --tool-format hermes
      wildtool score --data wild-mini --replies replies.jsonl
      wildtool score --data wild-mini --replies replies.jsonl --tool-format auto
      wildtool score --data cases.yaml --traces traces.jsonl

    A replies file has one JSON object per line: {"session": id, "model": name, "tasks": [[reply, …], …]}, with the
    assistant messages of each task in order. A model that sends no further message counts as silent.
    """
    if traces or id_attribute:
        if not traces or runs or replies or benchmark or mode or lang or split or format_ or sort != "rank":
            raise UsageError(
                "--traces takes --data with own cases, --id-attribute, --profile, --out and --force, and nothing else"
            )
        return _score_traces(traces, data, out, profile, id_attribute, force=force)
    if replies is None:
        if benchmark or out or mode or lang or split or force:
            raise UsageError(
                "--benchmark, --out, --mode, --lang, --split and --force need --replies; a run has its own"
            )
        if not runs:
            raise UsageError(
                "nothing to score: give run folders, or --data FILE --replies FILE, or --data CASES --traces FILE"
            )
        return _score_runs(runs, profile, data, format_, sort=sort)
    if runs:
        raise UsageError("give run folders or --replies, not both")
    from wildtool.data.data_set import data_of
    from wildtool.engine.registry import cases_in, detect_benchmark, in_mode
    from wildtool.terminal import print_err

    cases = None if benchmark is not None or data is None else cases_in(Path(data))
    owner = in_mode(cases or detect_benchmark(benchmark, data), mode)

    def judged(place: Path) -> int:
        from wildtool.engine.plan import Selection
        from wildtool.engine.replies import import_replies

        source = data_of(owner).locate(data, split)
        items = Selection(benchmark=owner, source=source, split=split, lang=lang).read()
        runs = import_replies(
            owner,
            source,
            replies,
            place,
            split=split,
            lang=lang,
            items=items,
            command=sys.argv,
            force=force,
            report=print_err,
        )
        again = None if out is not None else _command_of(replies, profile, data, benchmark, mode, lang, split)
        return _score_runs(runs, profile, items, format_, again, sort=sort)

    if out is not None:
        return judged(out)
    with temporary_folder() as place:
        return judged(Path(place))


def _score_traces(
    traces: list[Path],
    data: str | None,
    out: Path | None,
    profile: str | None,
    id_attribute: str | None,
    *,
    force: bool,
) -> int:
    """Judges what an agent did by own cases."""
    if data is None:
        raise UsageError("--traces needs the own cases by which they are judged: --data CASES")
    from wildtool.cli.output.results import find_results
    from wildtool.engine.registry import import_traces
    from wildtool.terminal import print_wrapped
    from wildtool.terminal.tables import print_overview

    imported = import_traces(
        Path(data), traces, out, id_attribute=id_attribute, command=sys.argv, force=force
    )
    results, status = find_results([imported.folder], profile, again=True)
    print_overview(results)
    for line in imported.lines():
        print_wrapped(line)
    return worst_status([status, *(result.exit_status for result in results)])


def _command_of(
    replies: Path,
    profile: str | None,
    data: str | None,
    benchmark: str | None,
    mode: str | None,
    lang: str | None,
    split: str | None,
) -> str:
    """The command that scores a replies file in the same way, without a tool format."""
    given = {
        "--profile": profile,
        "--benchmark": benchmark,
        "--data": data,
        "--mode": mode,
        "--lang": lang,
        "--split": split,
        "--replies": str(replies),
    }
    words = (word for option, value in given.items() if value is not None for word in (option, value))
    return shlex.join(["wildtool", "score", *words])


def _score_runs(
    runs: list[Path],
    profile: str | None,
    data: "str | SelectedItems | None",
    format: str | None = None,
    score_command: str | None = None,
    *,
    sort: str = "rank",
) -> int:
    from wildtool.cli.output.ranked import rank_results
    from wildtool.cli.output.results import find_results
    from wildtool.terminal.tables import print_overview
    from wildtool.tool_formats.detect import AUTO, named_format

    if format not in (None, AUTO):
        named_format(format)  # refused once, not for each run
    results, status = find_results(
        runs, profile, data=data, again=True, tool_format=format, score_command=score_command
    )
    results, ranked = rank_results(results, sort)
    print_overview(results, ranked)
    return worst_status([status, *(result.exit_status for result in results)])
