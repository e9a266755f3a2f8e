"""The score of a run on tools that were in training, on similar ones, and on those that training never had."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from wildtool.benchmark import NATIVE, Rules
from wildtool.engine.score.results import open_results
from wildtool.engine.score.score import prepare_judging
from wildtool.engine.score.verdict_table import relation
from wildtool.episode import COOPERATIVE, GOLD_STYLE, MAX_GOLD_REPLIES
from wildtool.json_codec import as_object
from wildtool.shapes import tool_name
from wildtool.stats.intervals import clustered_rate
from wildtool.training.record import TrainingRecord
from wildtool.training.tokens import SHORTEST_CONTAINED, compare_tokens, word_tokens
from wildtool.types import Item, Metric, Tool
from wildtool_data.prepare.overlap.benchmark import ToolSignature, tool_signature

SEEN, NEAR, UNSEEN = "seen in training", "near one in training", "unseen in training"
NO_CALL, UNKNOWN = "no call expected", "tools not defined natively"
CLASSES = (SEEN, NEAR, UNSEEN, NO_CALL, UNKNOWN)
"""A unit is of the last of the first three that any tool of its gold calls has."""


@dataclass(slots=True)
class TrainedTools:
    """The tools that training files define."""

    signatures: set[ToolSignature] = field(default_factory=set[ToolSignature])
    _names: set[frozenset[str]] = field(default_factory=set[frozenset[str]])
    """The words of each name."""
    _descriptions: dict[tuple[str, ...], None] = field(default_factory=dict[tuple[str, ...], None])
    _known: dict[ToolSignature, str] = field(default_factory=dict[ToolSignature, str])

    def add(self, record: TrainingRecord) -> None:
        """Adds the tools of a record."""
        for function in record.functions:
            self.signatures.add(tool_signature(function["name"], function.get("parameters")))
            self._names.add(_words(function["name"]))
            description = tuple(word_tokens(str(function.get("description") or "")))
            if len(description) >= SHORTEST_CONTAINED:
                self._descriptions[description] = None

    def class_of(self, tool: Tool) -> str:
        """Seen: the same name with the same parameters. Near: the same words in the name in any order, or a description
        that has as much in common with one of training as a near copy has (`compare_tokens`). Else unseen."""
        function = as_object(tool.get("function")) or tool
        signature = tool_signature(str(function.get("name")), function.get("parameters"))
        if signature in self.signatures:
            return SEEN
        if signature not in self._known:
            near = _words(signature[0]) in self._names or self._describes(
                str(function.get("description") or "")
            )
            self._known[signature] = NEAR if near else UNSEEN
        return self._known[signature]

    def _describes(self, description: str) -> bool:
        words = tuple(word_tokens(description))
        return len(words) >= SHORTEST_CONTAINED and any(
            compare_tokens(words, other).flag in ("exact", "near", "long") for other in self._descriptions
        )


def _words(name: str) -> frozenset[str]:
    spaced = "".join(f" {sign}" if sign.isupper() else sign for sign in name)
    return frozenset(word_tokens(spaced.replace("_", " ")))


def scores_by_tools(folder: Path, trained: TrainedTools, profile: str | None = None) -> list[Metric]:
    """The share of correct units of a run by class of their tools, clustered by item.

    Args:
        profile: the rules to judge by; None for those of the run.

    Raises UsageError, DataError or RecordError as `open_results`.
    """
    classes = dict(_classes(folder, trained, profile))
    with open_results(folder, profile) as (result, table):
        rows = relation([table]).project("item, unit, correct, outcome").fetchall()
        label = f"{result.run}: {result.model} ({result.benchmark}, {result.profile_label})"
    clusters: Mapping[str, dict[str, list[int]]] = {name: defaultdict(lambda: [0, 0]) for name in CLASSES}
    for item, unit, correct, outcome in rows:
        if outcome != "unplayed":
            counts = clusters[classes[item, unit]][item]
            counts[0] += bool(correct)
            counts[1] += 1
    return [_metric(label, name, clusters[name].values()) for name in CLASSES if clusters[name]]


def _metric(group: str, name: str, counts: Iterable[list[int]]) -> Metric:
    pairs = [(right, of) for right, of in counts]
    rate = clustered_rate(pairs)
    assert rate is not None
    value, low, high = rate
    return Metric(group, name, value, sum(right for right, _ in pairs), sum(of for _, of in pairs), low, high)


def _classes(
    folder: Path, trained: TrainedTools, profile: str | None
) -> Iterator[tuple[tuple[str, str], str]]:
    """Item and unit of a run, with the class of the tools that gold calls there."""
    run = prepare_judging(folder, profile=profile)
    benchmark = run.variant.benchmark
    benchmark = benchmark.in_mode(NATIVE) if NATIVE in benchmark.modes else benchmark
    rules = benchmark.rules(run.run_info.profile)
    selection = replace(run.selection, benchmark=benchmark)
    for item, repeat in selection.jobs():
        for unit in item.units if not repeat else ():
            yield (item.id, unit), _class_of_unit(rules, item, unit, trained)


def _class_of_unit(rules: Rules, item: Item, unit: str, trained: TrainedTools) -> str:
    found: set[str] = set()
    episode = rules.episode(item, unit)
    for _ in range(MAX_GOLD_REPLIES):
        request = episode.request()
        if request is None or request.gold is None:
            break
        reply = request.gold(GOLD_STYLE if request.role == "agent" else COOPERATIVE)
        if request.role == "agent":
            tools = {tool_name(tool): tool for tool in request.tools}
            for name, arguments in rules.said(reply):
                if isinstance(arguments, Mapping):
                    found.add(trained.class_of(tools[name]) if name in tools else UNKNOWN)
        episode.advance(reply)
    return next((name for name in (UNKNOWN, UNSEEN, NEAR, SEEN) if name in found), NO_CALL)
