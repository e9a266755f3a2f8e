"""TaskBench as ToLeaP scores it: six scores of each sample, whose means over a domain are its table."""

import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, cast

from wildtool.benchmarks.taskbench.data import Library, ToolPlan
from wildtool.benchmarks.taskbench.scores import PlanScores, media_type
from wildtool.json_codec import as_object
from wildtool.toolcall.set_scores import set_overlap
from wildtool.toolcall.text.rouge_n import rouge_1_2, rouge_words

NO_JSON = "no JSON could be read"
_STEP_KEYS = ("description", "step_description", "step_name", "step")
_NAME_KEYS = ("task", "name", "task_name", "task_node_name", "node_name", "task_node", "tool")
_DECODER = json.JSONDecoder()


def read_plan(text: str) -> ToolPlan | None:
    """The plan in a reply; an empty one where its JSON is no object (Q8), None where there is no JSON.

    The evaluator takes the stretch from the first bracket to the one that closes it, and decodes that. Where a value of
    JSON begins at that bracket, it ends with the same one.
    """
    brackets = [at for at in map(text.find, "{[") if at >= 0]
    if not brackets:
        return None
    try:
        value: Any = _DECODER.raw_decode(text, min(brackets))[0]
    except (ValueError, RecursionError):
        return None
    plan = cast(dict[str, Any], value) if isinstance(value, dict) else {}
    return ToolPlan(*(plan.get(name, []) for name in ("task_steps", "task_nodes", "task_links")))


def score_toleap(text: str, gold: ToolPlan, library: Library) -> PlanScores:
    """The six scores of a reply; all 0 where the evaluator raises, which would end its run (Q9)."""
    plan = read_plan(text)
    if plan is None:
        return PlanScores(fault=NO_JSON)
    try:
        steps, gold_steps = steps_text(plan.steps), "\n".join(gold.steps)
        words, gold_words = (rouge_words(text, stem=True) for text in (steps, gold_steps))
        names = node_names(plan.nodes)
        gold_names = [str(node["task"]) for node in gold.nodes if "task" in node]
        expected, predicted = _labelled(gold.nodes), _predicted(plan.nodes)
    except (TypeError, KeyError, AttributeError) as error:
        raised = type(error).__name__
        return PlanScores(fault=f"the published evaluator raises {raised}: {error}", raised=raised)
    pairs = (
        (link_pairs(plan.links), link_pairs(gold.links))
        if library.temporal
        else (name_pairs(names), name_pairs(gold_names))
    )
    return PlanScores(
        *rouge_1_2(words, gold_words),
        set_overlap(names, gold_names),
        set_overlap(*pairs),
        set_overlap(predicted[0], expected[0]),
        set_overlap(predicted[1], expected[1]),
    )


def steps_text(steps: Any) -> str:
    """All steps, one a line. Raises TypeError where one has no text, and KeyError where they are an object."""
    if as_object(steps):
        raise KeyError(0)  # the first of them is asked for by its place
    return "\n".join(map(_step_text, steps))


def _step_text(step: Any) -> Any:
    if isinstance(step, str):
        return step
    if isinstance(step, list):
        parts = cast(list[Any], step)
        return "\n".join(parts) if all(isinstance(part, str) for part in parts) else str(parts)
    if isinstance(step, dict):
        fields = cast(dict[str, Any], step)
        return next((fields[key] for key in _STEP_KEYS if key in fields), str(fields))
    return str(step) if isinstance(step, int) else step


def node_names(nodes: Any) -> list[str]:
    """Names of the nodes that are objects and have one. Raises TypeError where the nodes are no list."""
    names = [node_name(cast(dict[str, Any], node)) for node in nodes if isinstance(node, dict)]
    return [str(name) for name in names if name]


def node_name(node: Mapping[str, Any]) -> Any:
    """What a node calls its tool, under any of the names that ToLeaP takes for it (Q7); empty where it does not."""
    for key in _NAME_KEYS:
        if key in node:
            return node[key]
    return ""


def name_pairs(names: list[str]) -> list[str]:
    """Each name with the one after it, which is what counts for links where arguments have no names (Q2)."""
    return [f"{first} - {second}" for first, second in pairwise(names)]


def link_pairs(links: Any) -> list[str]:
    """The source of each link with the target of the one after it (Q3); none where one of these is no text."""
    try:
        return [first["source"] + " - " + second["target"] for first, second in pairwise(links)]
    except (TypeError, KeyError):
        return []


# Arguments as texts, of each its name, and its name with its value ---------------------------------------

Arguments = tuple[list[str], list[str]]


def _predicted(nodes: Any) -> Arguments:
    names, values = list[str](), list[str]()
    for node in nodes:
        if not isinstance(node, dict):
            continue
        fields = cast(dict[str, Any], node)
        arguments: Any = fields.get("arguments", [])
        tool = node_name(fields)
        for argument in () if arguments is None else arguments:
            name, value = _predicted_argument(tool, argument)
            names.append(name)
            values.append(value)
    return names, values


def _predicted_argument(tool: Any, argument: Any) -> tuple[str, str]:
    if isinstance(argument, str):
        return _labelled_value(tool, _type(argument), argument)
    if isinstance(argument, dict):
        fields = cast(dict[str, Any], argument)
        return _labelled_value(tool, fields.get("name", "PRED ERROR"), fields.get("value", "PRED ERROR"))
    if isinstance(argument, list):
        texts = [
            _labelled_value(tool, _type(str(element)), str(element)) for element in cast(list[Any], argument)
        ]
        return (texts[-1][0], "\n".join(value for _, value in texts)) if texts else ("", "")
    return f"{tool} - PRED ERROR", f"{tool} - PRED ERROR"


def _labelled(nodes: Any) -> Arguments:
    names, values = list[str](), list[str]()
    for node in nodes:
        for argument in node.get("arguments", []):
            name, value = _labelled_argument(node.get("task", ""), argument)
            names.append(name)
            values.append(value)
    return names, values


def _labelled_argument(tool: Any, argument: Any) -> tuple[str, str]:
    """Raises AttributeError where an argument is null."""
    if isinstance(argument, str):
        return _labelled_value(tool, _type(argument), argument)
    if isinstance(argument, list | int | float):
        return _labelled_value(tool, "list" if isinstance(argument, list) else "number", cast(Any, argument))
    return _labelled_value(tool, argument.get("name", "LABEL ERROR"), argument.get("value", "LABEL ERROR"))


def _labelled_value(tool: Any, name: Any, value: Any) -> tuple[str, str]:
    of_tool = f"{tool} - {name}"
    # The tool is twice in the second text.
    return of_tool, f"{tool} - {of_tool}: {value}"


def _type(text: str) -> str:
    return media_type(text.strip("'")) if "." in text else "text"
