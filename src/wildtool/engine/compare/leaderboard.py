"""Groups comparable results into tables; their titles and caveats."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import file_digest
from pathlib import Path

from wildtool.alter.base import Alteration
from wildtool.alter.kinds import ALTERATION_KINDS
from wildtool.benchmark import OriginalPrompts
from wildtool.data.data_set import data_of
from wildtool.engine.benchmark_file import BY_NAME
from wildtool.engine.record.bundle import bundle_origin
from wildtool.engine.registry import load_benchmark
from wildtool.engine.score.formatting import counted
from wildtool.engine.score.results import ScoreResult
from wildtool.errors import DataError
from wildtool.evidence import Evidence
from wildtool.sanitize import basename_only, ellipsize, single_line
from wildtool.types import Metric, Source

_DIGITS = 12
"""Hex digits of a bundle's digest that tell it from others."""
_LONGEST = 60
"""Characters of a name in a title or at the head of a row."""


def table_titles(results: Sequence[ScoreResult]) -> list[str]:
    """The title of the table of each result. Results with equal titles can be compared: their data, their requests apart
    from the model, and their rules are the same."""
    labels = [(benchmark_and_data(result), played_and_judged(result)) for result in results]
    versions = Counter(
        names
        for names, _ in dict.fromkeys(
            (names, result.data_sha256) for names, result in zip(labels, results, strict=True)
        )
    )
    return [
        # Files of one name are distinguished by their digests.
        f"{benchmark}{f' {result.data_sha256[:8]}' if versions[benchmark, how] > 1 else ''}, {how}"
        for (benchmark, how), result in zip(labels, results, strict=True)
    ]


def benchmark_and_data(result: ScoreResult) -> str:
    """The benchmark, and the data where they are not its default."""
    if result.data_sha256 == _default_data(result.benchmark, result.split, result.mode):
        return result.benchmark
    return f"{result.benchmark} (data {ellipsize(basename_only(result.data), _LONGEST)})"


def played_and_judged(result: ScoreResult) -> str:
    """How the numbers came about: the sample, the mode where it is not the first, what was disturbed, who played beside
    the agent, the rules."""
    mode = [] if result.mode is None else [f"mode {single_line(result.mode, _LONGEST)}"]
    role_models = [
        f"{single_line(role, _LONGEST)} {ellipsize(name, _LONGEST)}"
        for role, name in sorted(result.roles.items())
    ]
    prompts = ["the original's prompts"] if result.prompts else []
    sample = [result.part] if result.sampled else []
    return ", ".join([*sample, *mode, *prompts, *result.disturbances, *role_models, result.profile_label])


def mode_name(result: ScoreResult) -> str:
    """The mode of a run by its name, the first one, too."""
    return result.mode or load_benchmark(result.benchmark).mode


def run_labels(results: Sequence[ScoreResult]) -> list[str]:
    """Names of the models, with the run's where several runs of a table are of one model."""
    models = [basename_only(result.model) for result in results]
    several = {
        model: _disambiguate([result for result, its in zip(results, models, strict=True) if its == model])
        for model, runs in Counter(models).items()
        if runs > 1
    }
    return [
        ellipsize(model, _LONGEST)
        + (f" ({ellipsize(next(several[model]), _LONGEST)})" if model in several else "")
        for model in models
    ]


def _disambiguate(results: Sequence[ScoreResult]) -> Iterator[str]:
    """What tells runs apart: what was disturbed, or their names with the folders above them as far as it takes."""
    disturbed = [result.alterations for result in results]
    if len({result.disturbances for result in results}) == len(results):
        return iter(disturbance_labels(disturbed))
    names = [result.run for result in results]
    places = [_place_of(result.folder) for result in results]
    for depth in range(2, max(map(len, places)) + 1):
        if len(set(names)) == len(names):
            break
        names = ["/".join(place[-depth:]) for place in places]
    return iter(names)


def _place_of(folder: Path) -> tuple[str, ...]:
    """The parts of a run's folder. Of a bundle the folder is a temporary one, so it is named by its digest."""
    bundle = bundle_origin(folder)
    if bundle == folder:
        return folder.parts
    with bundle.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()[:_DIGITS], folder.name


def disturbance_labels(disturbed: Sequence[Sequence[Alteration]]) -> list[str]:
    """What was disturbed in each of several runs, in short where it was nothing but the tools."""
    kinds = {each.kind for alterations in disturbed for each in alterations}
    if kinds <= {"noise"}:
        return [next((each.label for each in alterations), "no noise") for alterations in disturbed]
    every = [each for alterations in disturbed for each in alterations]
    without = {each.kind: f"no {each.kind}" if each.without == "none" else each.without for each in every}
    labels = [{each.kind: each.described for each in alterations} for alterations in disturbed]
    return [
        ", ".join(
            label.get(kind, without[kind])
            for kind in ALTERATION_KINDS
            if kind in label or (kind in kinds and kind != "noise")
        )
        for label in labels
    ]


INCOMPLETE = " (incomplete)"
"""Mark after the name of a run while any of its units has no verdict."""


def marked_labels(results: Sequence[ScoreResult]) -> list[str]:
    """Names of the models, as `run_labels`, with a mark where anything is missing."""
    return [
        label + ("" if result.evidence.complete else INCOMPLETE)
        for label, result in zip(run_labels(results), results, strict=True)
    ]


EVIDENCE_COLUMNS = ("units", "failed", "unplayed", "cut_off", "unread")
"""Columns of a table of numbers that say what each rests on."""


def evidence_cells(evidence: Evidence | None) -> list[int | None]:
    """The cells of `EVIDENCE_COLUMNS`; empty for a number that nothing is known of, as one of a paper."""
    return [None if evidence is None else getattr(evidence, name) for name in EVIDENCE_COLUMNS]


def headline(result: ScoreResult) -> Metric | None:
    """The number that models are ranked by: the first that belongs in a table of models."""
    return next((metric for metric in result.metrics if metric.headline), None)


def items_caveat(results: Sequence[ScoreResult]) -> str:
    """A caveat if the results of a table are of different items; empty otherwise.

    A run without any item has other remarks, and says nothing of the items of the others.
    """
    if len({result.items_md5 for result in results if result.items}) < 2:
        return ""
    each = "; ".join(
        f"{label}: {counted(result.items, 'item')}"
        for label, result in zip(run_labels(results), results, strict=True)
        if result.items
    )
    return f"These runs cover different items and are not comparable. {each}"


def prompts_caveat(result: ScoreResult) -> str:
    """A caveat about numbers that were made with the original's prompts; empty for others."""
    if not result.prompts:
        return ""
    owner = load_benchmark(result.benchmark, result.mode)
    note = owner.prompts_note if isinstance(owner, OriginalPrompts) else ""
    return f"The original's prompts: {note}." if note else ""


def notes_of(metrics: Iterable[Metric]) -> list[str]:
    """The notes of some numbers, each once, with the names of its numbers."""
    noted: dict[str, dict[str, dict[str, None]]] = {}
    for metric in metrics:
        if metric.note:
            noted.setdefault(metric.note, {}).setdefault(metric.group, {})[metric.name] = None
    return [
        "; ".join(f"{group}, {', '.join(names)}" for group, names in groups.items()) + f": {note}"
        for note, groups in noted.items()
    ]


def trust_line(label: str, result: ScoreResult) -> str:
    """What came between a model and its numbers, each thing with the option that corrects it; empty if nothing did."""
    remarks = " · ".join(map(str, result.named_trust))
    return f"{label}: {remarks}" if remarks else ""


def parts_line(results: Iterable[ScoreResult]) -> str:
    """Which benchmarks were played in part, and in which; empty if none was."""
    parts = dict.fromkeys(f"{result.benchmark}, {result.part}" for result in results if result.part)
    return f"Not all items: {'; '.join(parts)}." if parts else ""


def _default_data(benchmark: str, split: str | None, mode: str | None) -> str | None:
    """Digest of a benchmark's default data; None if they are not at hand."""
    # A file can change while this process runs, and another file can be called like it.
    if benchmark in BY_NAME:
        return _default_digest(benchmark, split, mode)
    return _kept_digest(benchmark, split, mode)


def _default_digest(benchmark: str, split: str | None, mode: str | None) -> str | None:
    location = located_data(benchmark, None, split, mode)
    return location and location.sha256


_kept_digest = cache(_default_digest)


def located_data(
    benchmark: str, data: str | None, split: str | None, mode: str | None = None
) -> Source | None:
    """The data of that name of a benchmark in a mode, or its default data for None; None if they are not at hand."""
    try:
        return data_of(load_benchmark(benchmark, mode)).locate(data, split)
    except DataError:
        return None
