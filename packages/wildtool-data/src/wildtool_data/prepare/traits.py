"""Benchmarks beside each other: what their data ask for, as their gold answers do it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise

from wildtool.benchmark import JUDGE, NATIVE, Benchmark, Rules, SessionRules
from wildtool.data.data_set import data_of
from wildtool.episode import COOPERATIVE, GOLD_STYLE, MAX_GOLD_REPLIES
from wildtool.errors import DataError
from wildtool.json_codec import as_object
from wildtool.stats.describe import mean_metric, share_metric
from wildtool.types import Item, Metric, Source, Tool
from wildtool_data.prepare.tool_domains import written_name

HIDING = "subtype"
"""The column by which data say how the request of a unit hides what it wants; they need not have it."""
SAYS_EVERYTHING = "First Turn"
"""Its value where the request says everything."""
TEXT, ONE, PARALLEL, SEQUENTIAL, MIXED = "no call", "one call", "parallel", "sequential", "mixed"
SHAPES = (TEXT, ONE, PARALLEL, SEQUENTIAL, MIXED)
COMPARED = (
    "items",
    "units",
    "tools",
    "tools per unit",
    "user turns",
    "several user turns",
    "calls per unit with calls",
    "arguments per call",
    *SHAPES,
    "transitions",
    "contextual",
    "hidden information",
)
"""Numbers of the comparison, in order."""


@dataclass(slots=True)
class FileTraits:
    """What the items of a benchmark add up to."""

    benchmark: str
    items: int = 0
    tools: dict[str, Tool] = field(default_factory=dict[str, Tool])
    tools_shown: list[int] = field(default_factory=list[int])
    """By unit the tools that its first request shows."""
    turns: list[int] = field(default_factory=list[int])
    """By conversation the different texts of its user: an item is one where its units go on from each other or its data
    say what the user says; otherwise each unit is one."""
    shapes: Counter[str] = field(default_factory=Counter[str])
    """Units by how their gold answers call."""
    calls: list[int] = field(default_factory=list[int])
    """By unit with calls their number."""
    arguments: list[int] = field(default_factory=list[int])
    """By gold call its arguments."""
    units: int = 0
    neighbours: list[bool] = field(default_factory=list[bool])
    """By pair of neighbouring units of a session, whether they are of different kinds."""
    contextual: list[bool] = field(default_factory=list[bool])
    """By unit of a session, whether it goes on from earlier ones."""
    hiding: list[bool] = field(default_factory=list[bool])
    """By unit that says so, whether its request leaves something out."""
    without_gold: int = 0
    """Units whose gold answers cannot be played to the end; their calls are not counted."""
    needs: tuple[str, ...] = ()
    """Other models that playing or judging takes."""

    def metrics(self) -> list[Metric]:
        """The numbers of `COMPARED`, each with what it is counted from; without a value where the data do not say it."""
        # Where gold answers write their calls into texts, nothing is known of these.
        shown = self.shapes.total() if self.calls else 0
        several = sum(turns > 1 for turns in self.turns)
        return [
            Metric("comparison", "items", None, self.items, 0, kind="count"),
            Metric("comparison", "units", None, self.units, 0, kind="count"),
            Metric("comparison", "tools", None, len(self.tools), 0, kind="count"),
            mean_metric("comparison", "tools per unit", self.tools_shown if self.tools else ()),
            mean_metric("comparison", "user turns", self.turns),
            share_metric("comparison", "several user turns", several, len(self.turns)),
            mean_metric("comparison", "calls per unit with calls", self.calls),
            mean_metric("comparison", "arguments per call", self.arguments),
            *(share_metric("comparison", name, self.shapes[name] if shown else 0, shown) for name in SHAPES),
            share_metric("comparison", "transitions", sum(self.neighbours), len(self.neighbours)),
            share_metric("comparison", "contextual", sum(self.contextual), len(self.contextual)),
            share_metric("comparison", "hidden information", sum(self.hiding), len(self.hiding)),
        ]


def traits_of(benchmark: Benchmark, source: Source) -> FileTraits:
    """The traits of a benchmark's data, from its gold answers. Raises DataError."""
    native = benchmark.in_mode(NATIVE) if NATIVE in benchmark.modes else benchmark
    rules = native.rules(next(iter(native.profiles)))
    traits = FileTraits(benchmark.name, needs=tuple(role for role in benchmark.roles if role != JUDGE))
    for split in data_of(benchmark).whole(source.path):
        for item in native.load(source, split=split):
            _add(traits, native, rules, item)
    return traits


def tools_of(benchmark: Benchmark, source: Source) -> Iterator[Tool]:
    """The tools that the first request of each unit shows; none of a benchmark that writes them into its texts, and none
    of items that cannot be read."""
    native = benchmark.in_mode(NATIVE) if NATIVE in benchmark.modes else benchmark
    rules = native.rules(next(iter(native.profiles)))
    for split in data_of(benchmark).whole(source.path):
        with suppress(DataError):  # the description itself says what cannot be read
            for item in native.load(source, split=split):
                for unit in item.units:
                    request = rules.episode(item, unit).request()
                    yield from () if request is None else request.tools


def _add(traits: FileTraits, benchmark: Benchmark, rules: Rules, item: Item) -> None:
    session = rules.session(item) if isinstance(rules, SessionRules) else None
    played = {unit: _play(rules, item, unit) for unit in item.units}
    traits.items += 1
    traits.units += len(played)
    for unit, its in played.items():
        traits.tools.update((written_name(tool), tool) for tool in its.tools)
        traits.tools_shown.append(len(its.tools))
        hides = benchmark.fields(item, unit).get(HIDING)
        if hides is not None:
            traits.hiding.append(hides != SAYS_EVERYTHING)
        if session is not None:
            traits.contextual.append(bool(session.history(unit)))
        _add_calls(traits, its)
    traits.turns += _turns(list(played.values()), data_of(benchmark).user_texts(item), session is not None)
    if session is not None:
        kinds = [its.kind for its in played.values() if its.steps is not None]
        traits.neighbours += [a != b for a, b in pairwise(kinds)]


def _add_calls(traits: FileTraits, played: "_Played") -> None:
    if played.steps is None:
        traits.without_gold += 1
        return
    traits.shapes[played.shape] += 1
    if any(played.steps):
        traits.calls.append(sum(map(len, played.steps)))
    traits.arguments += [count for step in played.steps for count in step]


def _turns(played: "Sequence[_Played]", said: Sequence[str] | None, is_session: bool) -> list[int]:
    """The user's texts in each conversation of an item."""
    if said is not None:
        return [len(set(said))]
    heard = [set(its.user_texts) for its in played]
    return [len(set[str]().union(*heard))] if is_session else [len(each) for each in heard]


@dataclass(frozen=True, slots=True)
class _Played:
    """A unit played by its gold answers."""

    tools: Sequence[Tool]
    user_texts: Sequence[str]
    steps: Sequence[Sequence[int]] | None
    """By gold reply the number of arguments of each of its calls; None where the gold answers do not reach the end."""
    asked: bool
    """Whether a reply without calls was followed by another one: a question to the user."""

    @property
    def shape(self) -> str:
        calling = [len(step) for step in self.steps or () if step]
        if sum(calling) < 2:
            return ONE if calling else TEXT
        if len(calling) == 1:
            return PARALLEL
        return SEQUENTIAL if max(calling) == 1 else MIXED

    @property
    def kind(self) -> str:
        """What the unit asks for, as WildToolBench tells kinds of tasks apart: one call, several, a question, a text."""
        if self.asked:
            return "question"
        return self.shape if self.shape in (TEXT, ONE) else "several calls"


def _play(rules: Rules, item: Item, unit: str) -> _Played:
    episode = rules.episode(item, unit)
    first = episode.request()
    tools = () if first is None else first.tools
    texts: dict[str, None] = {}
    steps: list[list[int]] = []
    for _ in range(MAX_GOLD_REPLIES):
        request = episode.request()
        if request is None:
            asked = any(not step for step in steps[:-1])
            return _Played(tools, tuple(texts), steps, asked)
        agent = request.role == "agent"
        if agent:
            texts.update(dict.fromkeys(_said_by_user(request.messages)))
        if request.gold is None:
            break
        reply = request.gold(GOLD_STYLE if agent else COOPERATIVE)
        if agent:
            # What is said beside calls has no object of arguments.
            said = [arguments for _, arguments in rules.said(reply)]
            steps.append([len(as_object(each)) for each in said if isinstance(each, Mapping)])
        episode.advance(reply)
    return _Played(tools, tuple(texts), None, asked=False)


def _said_by_user(messages: Sequence[dict[str, object]]) -> Iterator[str]:
    for message in messages:
        content = message.get("content")
        if message.get("role") == "user" and isinstance(content, str):
            yield content
