"""What an agent did elsewhere as a run, from Python: what `wildtool score --traces` does."""

from collections.abc import Sequence
from pathlib import Path

from wildtool.api.bench import Bench
from wildtool.api.door import door
from wildtool.api.results import Run
from wildtool.engine.registry import import_traces


@door
def score(
    *,
    data: Bench | str | Path,
    traces: str | Path | Sequence[str | Path],
    out: str | Path | None = None,
    id_attribute: str | None = None,
    profile: str | None = None,
    force: bool = False,
) -> Run:
    """Judges what an agent did, from its traces, by own cases.

    Args:
        data: own cases: a file or folder of them, or what `cases` gives.
        traces: files of traces, in any form that `docs/traces.md` names.
        out: the folder of the run; None for one below `runs`, whose name follows from cases and traces.
        id_attribute: the attribute whose values are ids of cases; None for those that are usual.
        profile: rules to judge by; None for the usual ones.
        force: whether to write into a folder that wildtool did not make.

    Returns:
        A `Run`. What became of each conversation is in `traces.json` in its folder.

    Raises UsageError where the data hold no own cases, DataError for files that cannot be read and where no trace covers
    a case.
    """
    place = data.source.path if isinstance(data, Bench) else Path(data)
    files = [traces] if isinstance(traces, str | Path) else traces
    imported = import_traces(
        place,
        [Path(file) for file in files],
        None if out is None else Path(out),
        id_attribute=id_attribute,
        command=["wildtool.score"],
        force=force,
    )
    return Run(imported.folder, profile)
