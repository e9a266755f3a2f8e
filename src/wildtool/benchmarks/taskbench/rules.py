"""What a profile of TaskBench makes of a reply, and mistakes in the gold plan that it must catch."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from wildtool.benchmark import Benchmark, Check, Mutant, Rules, accepts
from wildtool.benchmarks.taskbench import PARTS
from wildtool.benchmarks.taskbench.data import Library, TaskRecord
from wildtool.benchmarks.taskbench.fixed import read_plan_anywhere, score_fixed
from wildtool.benchmarks.taskbench.original import score_original
from wildtool.benchmarks.taskbench.scores import PlanScores, ScoreReply
from wildtool.benchmarks.taskbench.toleap import score_toleap
from wildtool.episode import SingleReply, written_text
from wildtool.json_codec import as_list, as_object
from wildtool.toolcall.set_scores import Overlap
from wildtool.trace import GoldCall, GoldDifference, Trace, find_differences
from wildtool.types import FieldValue, Item, Message, Request, Transcript

if TYPE_CHECKING:
    from wildtool.benchmarks.taskbench.originals import PublishedPrompt

# What a model is sent ---------------------------------------------------------------------------------

_RESOURCE_SCHEMA = """{"task_steps": ["what is done in one step", ...], \
"task_nodes": [{"task": "name of a tool", "arguments": ["text", "name of a file", "<node-j>", ...]}, ...]}"""
_TEMPORAL_SCHEMA = """{"task_steps": ["Step n: Call NAME with NAME_OF_ARGUMENT: 'VALUE'", ...], \
"task_nodes": [{"task": "name of a tool", "arguments": [{"name": "name of an argument", "value": "its value"}, ...]}, \
...], "task_links": [{"source": "name of a tool", "target": "name of the tool after it"}, ...]}"""
_RESOURCE_RULES = (
    "An argument is a piece of the user's own text, the name of a file that the user mentions, or <node-j> for the output"
    " of node j, where the first node has j = 0.",
    "Each argument must be of a type that its tool takes as input.",
)
_TEMPORAL_RULES = (
    "An argument has a name that its tool defines and a value from the user's request.",
    "A link says that its source is called before its target; the links must agree with the order of the steps.",
)


def request(item: Item, message: Callable[[TaskRecord], Message]) -> Request:
    """One user message."""
    record: TaskRecord = item.data
    gold: Message = {"role": "assistant", "content": record.gold.as_json()}
    return Request([message(record)], gold=lambda style: gold)


def own_message(record: TaskRecord, *, graph: bool) -> Message:
    """The message in our wording. Args: graph: whether it also lists which tool can come after which."""
    return {"role": "user", "content": prompt_text(record, graph=graph)}


def prompt_text(record: TaskRecord, *, graph: bool) -> str:
    """Tools one a line, links if wanted, goal with its schema, requirements, the request."""
    library = record.library
    schema, own = (
        (_TEMPORAL_SCHEMA, _TEMPORAL_RULES) if library.temporal else (_RESOURCE_SCHEMA, _RESOURCE_RULES)
    )
    rules = (
        "Use only tools of the list, by their exact names.",
        "Write as many steps as nodes, in the same order; steps and arguments must say the same.",
        *own,
    )
    parts = [
        "# Tools",
        *(json.dumps(tool, ensure_ascii=False) for tool in library.tools),
        *(_links(library) if graph else ()),
        "# Goal",
        "Plan how the tools fulfil the user's request. Answer in strict JSON of this form:",
        schema,
        "# Requirements",
        *(f"{number}. {rule}" for number, rule in enumerate(rules, 1)),
        *(f"# Example\n{each.request}\n{each.plan.as_json()}" for each in record.examples),
        "# Request",
        record.request,
        "Now answer with the JSON alone.",
    ]
    return "\n".join(parts)


def _links(library: Library) -> list[str]:
    after: dict[str, list[str]] = {}
    for source, target in library.links:
        after.setdefault(source, []).append(target)
    lines = (f"{source} -> {', '.join(targets)}" for source, targets in after.items())
    return ["# Links: which tools can take the output of, or follow, which", *lines]


_WRONG = {
    "node": "wrong tools",
    "edge": "wrong links",
    "name": "wrong argument names",
    "value": "wrong values",
}
UNREADABLE_PLAN = "unreadable plan"
PLAN_ERRORS = (UNREADABLE_PLAN, *_WRONG.values())
_Q1 = "Q1: F1 is 0 where label and reply are both empty: a plan of one tool has no pair of links"
_BACKSLASH = "section 4.2: the clean-up deletes backslashes, and with them what JSON escapes"
_Q4 = "Q4: sets hide how often a tool or an argument occurs"
_OUTSIDE = "names outside the library count neither way"


@dataclass(frozen=True, slots=True)
class Scoring:
    """How a profile scores a reply, and which known faults it has."""

    score: ScoreReply
    hides_repeats: bool = True
    """Whether tools and arguments are sets (Q4)."""
    deletes_backslashes: bool = False
    """Whether its clean-up may damage what JSON escapes."""
    refuses_empty: bool = False
    """Whether a part that label and reply both lack counts 0 (Q1), and an argument that is no text is wrong (Q6)."""


@dataclass(frozen=True, slots=True)
class TaskBenchRules(Rules):
    """One profile."""

    scoring: Scoring
    make_request: Callable[[Item], Request]

    def episode(self, item: Item, unit: str) -> SingleReply:
        return SingleReply(lambda: self.make_request(item))

    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        scores = self._score(item, episode.reply or {})
        overlaps = (scores.node, scores.edge, scores.name, scores.value)
        rates = [*map(scores.f1, overlaps)]
        wrong = [part for part, rate in zip(PARTS, rates, strict=True) if rate < 1]
        if scores.fault:
            error, reason = UNREADABLE_PLAN, scores.fault
        elif wrong:
            error, reason = _WRONG[wrong[0]], _reason(scores, wrong[0])
        else:
            error, reason = None, "tools, links and arguments are those of the label"
        return Check(error is None, error, reason, rates[-1], _columns(scores, overlaps, rates))

    def _score(self, item: Item, reply: Message) -> PlanScores:
        record = item.data
        assert isinstance(record, TaskRecord)
        try:
            return self.scoring.score(written_text(reply) or "", record.gold, record.library)
        except RecursionError:
            return PlanScores(fault="nested too deeply", counts=(False, False, False))

    def trace(self, item: Item, unit: str, transcript: Transcript) -> Trace:
        plain = Rules.trace(self, item, unit, transcript)
        return trace_plan(plain, item.data, plain.steps[-1].note if plain.steps else "")

    def mutants(self, item: Item) -> Iterator[Mutant]:
        """The gold plan with one mistake; none where the rules refuse the gold plan itself."""
        record: TaskRecord = item.data
        gold = {"role": "assistant", "content": record.gold.as_json()}
        if not accepts(self, item, "0", [gold]):
            return
        yield Mutant("0", "empty reply", ({**gold, "content": ""},), "no text")
        for kind, mutate in _MUTATIONS.items() if record.gold.nodes else ():
            plan = deepcopy(json.loads(record.gold.as_json()))
            note = mutate(plan, record)
            if note:
                text = json.dumps(plan, ensure_ascii=False)
                yield Mutant("0", kind, ({**gold, "content": text},), note)

    def explain(self, item: Item, mutant: Mutant) -> str:
        if mutant.kind in ("node repeated", "argument left out") and self.scoring.hides_repeats:
            return _Q4
        return _OUTSIDE if mutant.kind in ("tool renamed", "tool left out") else ""

    def explain_gold(self, item: Item, unit: str) -> str:
        record: TaskRecord = item.data
        scores = self._score(item, {"content": record.gold.as_json()})
        if self.scoring.deletes_backslashes and "\\" in record.gold.as_json():
            return _BACKSLASH
        if scores.fault:
            return scores.fault
        if not self.scoring.refuses_empty:
            return ""
        is_empty = any(not getattr(scores, part).gold for part in PARTS)
        return _Q1 if is_empty else "Q6: a number or list as an argument never matches"


def _reason(scores: PlanScores, part: str) -> str:
    overlap = getattr(scores, part)
    return f"{overlap.hits} of {overlap.gold} are right, {overlap.predicted} were given"


def _columns(
    scores: PlanScores, overlaps: Sequence[Overlap], rates: Sequence[float]
) -> Mapping[str, FieldValue]:
    columns: dict[str, FieldValue] = {
        "rouge_1": scores.rouge_1,
        "rouge_2": scores.rouge_2,
        "similarity": scores.similarity,
        "reference_error": scores.raised or None,
    }
    columns.update(zip(COUNTED, scores.counts, strict=True))
    for (f1, hits, sizes), overlap, rate in zip(_PART_COLUMNS, overlaps, rates, strict=True):
        columns[f1], columns[hits], columns[sizes] = rate, overlap.hits, overlap.predicted + overlap.gold
    return columns


_PART_COLUMNS = [(f"{part}_f1", f"{part}_hits", f"{part}_sizes") for part in PARTS]
COUNTED = ("counts_steps", "counts_arguments", "counts_nodes")
"""Columns that say what the original counts a sample for."""


SCORINGS: Mapping[str, Scoring] = {
    "toleap": Scoring(score_toleap, refuses_empty=True),
    "original": Scoring(score_original, deletes_backslashes=True),
    "fixed": Scoring(score_fixed, hides_repeats=False),
}


def rules(benchmark: Benchmark, profile: str) -> TaskBenchRules:
    """The rules of a profile in the mode of the benchmark, with the original's texts where the benchmark has them."""
    originals: PublishedPrompt | None = getattr(benchmark, "originals", None)
    own = partial(own_message, graph=benchmark.mode == "graph")
    message = own if originals is None else originals.message
    return TaskBenchRules(SCORINGS[profile], partial(request, message=message))


# Mistakes --------------------------------------------------------------------------------------------


def _drop_tool(plan: dict[str, Any], record: TaskRecord) -> str | None:
    return f"without {plan['task_nodes'].pop().get('task')}"


def _rename_tool(plan: dict[str, Any], record: TaskRecord) -> str | None:
    node = plan["task_nodes"][0]
    tasks = [each.get("task") for each in plan["task_nodes"]]
    other = next((name for name in record.library.places if name not in tasks), "Another Tool")
    note = f"{other} for {node.get('task')}"
    node["task"] = other
    return note


def _repeat_node(plan: dict[str, Any], record: TaskRecord) -> str | None:
    plan["task_nodes"].append(deepcopy(plan["task_nodes"][-1]))
    return f"{plan['task_nodes'][-1].get('task')} twice"


def _drop_links(plan: dict[str, Any], record: TaskRecord) -> str | None:
    if not (record.library.temporal and plan["task_links"]):
        return None
    plan["task_links"] = []
    return "no links"


def _turn_link(plan: dict[str, Any], record: TaskRecord) -> str | None:
    link = as_object(plan["task_links"][0]) if record.library.temporal and plan["task_links"] else {}
    source, target = link.get("source"), link.get("target")
    link.update(source=target, target=source)
    return f"{target} before {source}" if source != target else None


def _arguments(plan: dict[str, Any]) -> list[Any] | None:
    """The arguments of the first node that has any."""
    return next((values for node in plan["task_nodes"] if (values := as_list(node.get("arguments")))), None)


def _drop_argument(plan: dict[str, Any], record: TaskRecord) -> str | None:
    arguments = _arguments(plan)
    return f"without {json.dumps(arguments.pop(), ensure_ascii=False)}" if arguments else None


def _rename_argument(plan: dict[str, Any], record: TaskRecord) -> str | None:
    arguments = _arguments(plan)
    if not arguments or not isinstance(arguments[0], dict):
        return None
    argument = cast(dict[str, Any], arguments[0])
    argument["name"] = f"{argument.get('name')}_v2"
    return argument["name"]


def _change_value(plan: dict[str, Any], record: TaskRecord) -> str | None:
    arguments = _arguments(plan)
    if not arguments:
        return None
    if isinstance(arguments[0], dict):
        arguments[0]["value"] = "zzyzx quuxly"
    else:
        arguments[0] = "zzyzx quuxly"
    return "zzyzx quuxly"


_MUTATIONS: Mapping[str, Callable[[dict[str, Any], TaskRecord], str | None]] = {
    "tool left out": _drop_tool,
    "tool renamed": _rename_tool,
    "node repeated": _repeat_node,
    "links left out": _drop_links,
    "link turned round": _turn_link,
    "argument left out": _drop_argument,
    "argument renamed": _rename_argument,
    "value changed": _change_value,
}


# A plan beside its label, for showing -----------------------------------------------------------------


def trace_plan(plain: Trace, record: TaskRecord, reason: str) -> Trace:
    """The trace of texts with the nodes of the label as gold calls, each beside the node of the reply with its tool.

    Args:
        plain: the texts alone.
        reason: the rule that decided, in words.
    """
    text = written_text(plain.steps[-1].reply) if plain.steps else None
    plan = read_plan_anywhere(text or "")
    free = [as_object(node) for node in as_list(plan and plan.nodes)]
    calls: list[GoldCall] = []
    differences: list[GoldDifference] = []
    for place, node in enumerate(record.gold.nodes):
        arguments, deps = node.get("arguments"), _sources(record, place)
        name = str(node.get("task"))
        match = next((each for each in free if str(each.get("task")) == name), None)
        if match is None:
            calls.append(GoldCall(name, arguments, deps, "missed"))
            continue
        free.remove(match)
        different = find_differences(arguments, match.get("arguments"), name, reason)
        calls.append(GoldCall(name, arguments, deps, "wrong" if different else "done"))
        differences += different
    fulfilled = tuple(place for place, call in enumerate(calls) if call.status == "done")
    steps = tuple(replace(step, fulfilled=fulfilled) for step in plain.steps)
    return replace(plain, steps=steps, gold=tuple(calls), differences=tuple(differences))


def _sources(record: TaskRecord, place: int) -> tuple[int, ...]:
    """Places of the nodes that a node of the label comes after, by the names in its links."""
    names = [node.get("task") for node in record.gold.nodes]
    ends = [as_object(link) for link in record.gold.links]
    sources = [end.get("source") for end in ends if end.get("target") == names[place]]
    return tuple(at for at, name in enumerate(names[:place]) if name in sources)
