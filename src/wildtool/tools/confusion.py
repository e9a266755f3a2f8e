"""What tools of a catalogue are taken for each other, whose description is to blame, and what findings go with it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

from wildtool.alter.distractors.pool import tool_text
from wildtool.benchmarks.own_tools import (
    DRAWN,
    NEEDLESS,
    NO_CALL,
    NO_TOOL,
    UNKNOWN,
    UNRECOGNISED,
    read_choices,
)
from wildtool.data.files import file_sha256
from wildtool.engine.compare.leaderboard import trust_line
from wildtool.engine.compare.pairs import UnitKey
from wildtool.engine.compare.runs import ComparedRun, load_compared_run
from wildtool.engine.record.run_folder import read_run
from wildtool.engine.score.results import ScoreResult, open_results
from wildtool.engine.score.verdict_table import relation
from wildtool.episode import written_text
from wildtool.errors import DataError
from wildtool.findings import Finding
from wildtool.json_codec import as_object
from wildtool.shapes import tool_name
from wildtool.stats.intervals import clustered_rate
from wildtool.toolcall.retrieval import search_words
from wildtool.tools.lint import lint_tools
from wildtool.types import Tool

MOST_EXAMPLES = 3
FEWEST_ON_A_SIDE = 3
"""Tools with a finding, and without it, from which its effect is given."""
ShareRange = tuple[float, float, float]
"""A share with its 95 % interval."""


@dataclass(frozen=True, slots=True)
class ChosenTool:
    """One request, as it was answered once."""

    key: UnitKey
    text: str
    """What the user says last."""
    source: str
    expected: str
    pick: str
    error: str | None
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReport:
    """How one tool fares."""

    name: str
    description: str
    right: ShareRange | None
    """Of the requests that need it; None where there are none."""
    requests: int
    samples: int
    """Of these requests."""
    drew: int
    """Requests for another tool, or for none, with which it was called."""
    blamed: int
    """Wrong choices of which its description is the likelier cause."""
    findings: Sequence[Finding]


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """Requests for one tool with which another was called."""

    expected: str
    pick: str
    count: int
    of: int
    """Requests for the first."""
    drawn: int
    """Of them those in which the right tool was called once the other was left out."""
    examples: Sequence[str]
    only_expected: Sequence[str]
    """Words that the texts of only one of the two have."""
    only_pick: Sequence[str]

    @property
    def blamed(self) -> str:
        """The tool whose description is the likelier cause; empty where neither is."""
        if self.pick == UNKNOWN:
            return ""
        if NO_TOOL in (self.expected, self.pick):
            return self.expected if self.pick == NO_TOOL else self.pick
        if 2 * self.drawn == self.count:
            return ""
        return self.pick if 2 * self.drawn > self.count else self.expected

    @property
    def advice(self) -> str:
        """What to do first, in one sentence."""
        mine = ", ".join(self.only_expected[:5]) or "no word that the other lacks"
        if self.pick == UNKNOWN:
            return "The model makes up names: look at its replies and its tool format before any description."
        if self.pick == NO_TOOL:
            return f"Say in {self.expected} for which requests it is the one to take, in the users' words."
        if self.expected == NO_TOOL:
            return f"Say in {self.pick} what it is not for."
        if self.blamed == self.pick:
            return f"Narrow {self.pick}: without it the model finds {self.expected}. Say when to take which."
        if self.blamed == self.expected:
            text = f"Rewrite {self.expected}: even without {self.pick} the model does not find it."
            return f"{text} Only its text has: {mine}."
        return f"Say in both when to take which. Only {self.expected} has: {mine}."


@dataclass(frozen=True, slots=True)
class RuleEffect:
    """What goes with one finding of the lint: tools that have it beside those that have not."""

    rule: str
    tools: int
    with_it: ShareRange | None
    without: ShareRange | None
    difference: ShareRange | None
    """In the share of requests that are right, the tools being the clusters; None where too few tools have it, or lack
    it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceReport:
    """What one run over a catalogue shows."""

    run: ComparedRun
    tools: Sequence[ToolReport]
    confusions: Sequence[Confusion]
    effects: Sequence[RuleEffect]
    right: ShareRange
    choices: Sequence[ChosenTool]
    definitions: Mapping[str, Tool]

    @property
    def result(self) -> ScoreResult:
        return self.run.result

    @property
    def requests(self) -> int:
        return len({each.key for each in self.choices})

    @property
    def counted(self) -> str:
        """What the numbers count: requests, or their samples where there are more."""
        return "samples" if len(self.choices) > self.requests else "requests"

    @property
    def trust(self) -> str:
        """What came between the model and these numbers, such as calls in text that nothing read; empty for nothing."""
        return trust_line(self.run.label, self.result)

    @property
    def without_verdict(self) -> int:
        return sum(each.outcome not in ("correct", "wrong") for each in self.choices)


def choice_report(folder: Path) -> ChoiceReport:
    """What a run of `own-tools` shows. Raises DataError where its data are gone or were changed, RecordError."""
    description = read_run(folder)
    path, sha256 = Path(description["data"]["path"]), description["identity"]["data_sha256"]
    tools, requests = read_choices(path)
    if (digest := file_sha256(path)) != sha256:
        raise DataError(
            f"{path}: these are not the tools and requests of the run {folder} (SHA-256 {digest} instead of {sha256}); "
            "put that file back, or run again into another folder"
        )
    texts = {(row["item"], row["unit"]): _last_words(row["messages"]) for row in requests}
    with open_results(folder) as (result, table):
        columns = "item, unit, source, expected, called, error, outcome, repeat"
        rows = relation([table]).project(columns).order("item, unit, repeat").fetchall()
        run = load_compared_run(result.run, result, description["identity"], relation([table]), "unit")
    choices = [
        ChosenTool((item, unit), texts[item, unit], source, expected, pick or NO_TOOL, error, outcome)
        for item, unit, source, expected, pick, error, outcome, _ in rows
    ]
    right = _rate_by_item(choices)
    assert right is not None, "a run has units, played or not"
    definitions = {tool_name(tool): tool for tool in tools}
    findings = lint_tools(tools)
    return ChoiceReport(
        run=run,
        tools=_tool_reports(choices, definitions, findings),
        confusions=_confusions(choices, definitions),
        effects=rule_effects(choices, definitions, findings),
        right=right,
        choices=choices,
        definitions=definitions,
    )


def _last_words(messages: Sequence[Any]) -> str:
    """The last words of the user; empty where only others speak."""
    messages_of_user = (each for each in map(as_object, reversed(messages)) if each.get("role") == "user")
    return written_text(next(messages_of_user, dict[str, Any]())) or ""


def _rate_by_item(choices: Iterable[ChosenTool]) -> ShareRange | None:
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for each in choices:
        sums[each.key[0]][0] += each.outcome == "correct"
        sums[each.key[0]][1] += 1
    return clustered_rate([(right, count) for right, count in sums.values()])


def _blamed(choice: ChosenTool) -> str:
    """The tool whose description is the likelier cause of a wrong choice; empty for none."""
    if choice.error in (DRAWN, NEEDLESS):
        return choice.pick
    return choice.expected if choice.error in (UNRECOGNISED, NO_CALL) else ""


def _tool_reports(
    choices: Sequence[ChosenTool], definitions: Mapping[str, Tool], findings: Sequence[Finding]
) -> list[ToolReport]:
    drew = Counter(each.pick for each in choices if each.outcome == "wrong")
    blamed = Counter(map(_blamed, choices))
    by_tool: dict[str, list[ChosenTool]] = defaultdict(list)
    for each in choices:
        by_tool[each.expected].append(each)
    faults: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        faults[finding.where].append(finding)
    reports: list[ToolReport] = []
    for name, tool in definitions.items():
        own = by_tool[name]
        text = as_object(tool.get("function")).get("description")
        report = ToolReport(
            name=name,
            description=text if isinstance(text, str) else "",
            right=_rate_by_item(own),
            requests=len({each.key for each in own}),
            samples=len(own),
            drew=drew[name],
            blamed=blamed[name],
            findings=faults[name],
        )
        reports.append(report)
    return sorted(reports, key=lambda each: (-each.blamed, each.right[0] if each.right else 2.0))


def _confusions(choices: Sequence[ChosenTool], definitions: Mapping[str, Tool]) -> list[Confusion]:
    """The pairs that were confused, the most frequent first."""
    pairs: dict[tuple[str, str], list[ChosenTool]] = defaultdict(list)
    for each in choices:
        if each.outcome == "wrong" and each.expected != each.pick:
            pairs[each.expected, each.pick].append(each)
    requests = Counter(each.expected for each in choices)
    words = {name: set(_telling_words(tool)) for name, tool in definitions.items()}
    confusions: list[Confusion] = []
    for (expected, pick), wrong in pairs.items():
        mine, theirs = words.get(expected, set[str]()), words.get(pick, set[str]())
        confusion = Confusion(
            expected=expected,
            pick=pick,
            count=len(wrong),
            of=requests[expected],
            drawn=sum(each.error == DRAWN for each in wrong),
            examples=list(dict.fromkeys(each.text for each in wrong))[:MOST_EXAMPLES],
            only_expected=sorted(mine - theirs),
            only_pick=sorted(theirs - mine),
        )
        confusions.append(confusion)
    return sorted(confusions, key=lambda each: (-each.count, each.expected, each.pick))


def _telling_words(tool: Tool) -> Iterator[str]:
    """The words of name and description, without short ones such as `for` and `the`."""
    return (word for word in search_words(tool_text(tool)) if len(word) > 3 or not word.isascii())


def rule_effects(
    choices: Sequence[ChosenTool], definitions: Mapping[str, Tool], findings: Sequence[Finding]
) -> list[RuleEffect]:
    """By rule of the lint, how often requests for tools with that finding are right, and for the others."""
    sums: dict[str, list[float]] = {name: [0.0, 0.0] for name in definitions}
    for each in choices:
        if each.expected in sums:
            sums[each.expected][0] += each.outcome == "correct"
            sums[each.expected][1] += 1
    effects: list[RuleEffect] = []
    tools_with: dict[str, set[str]] = defaultdict(set)
    for finding in findings:
        if finding.where in sums:
            tools_with[finding.rule].add(finding.where)
    for rule, having in tools_with.items():
        groups = [
            [(right, count) for name, (right, count) in sums.items() if count and (name in having) == has]
            for has in (True, False)
        ]
        with_it, without = (clustered_rate(group) for group in groups)
        enough = min(map(len, groups)) >= FEWEST_ON_A_SIDE
        gap = _difference(with_it, without) if with_it and without and enough else None
        effects.append(RuleEffect(rule, len(having), with_it, without, gap))
    return effects


def _difference(a: ShareRange, b: ShareRange) -> ShareRange:
    """The difference of two independent shares, its interval from theirs (Newcombe's method)."""
    value = a[0] - b[0]
    low = value - sqrt((a[0] - a[1]) ** 2 + (b[2] - b[0]) ** 2)
    return value, low, value + sqrt((a[2] - a[0]) ** 2 + (b[0] - b[1]) ** 2)
