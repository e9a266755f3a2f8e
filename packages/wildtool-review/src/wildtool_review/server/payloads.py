"""What the pages of a review receive, as JSON. Nothing here writes, and nobody receives what blind review hides.

Values are sent as texts: a string as it is (`text`), anything else as JSON (`json`), since browsers cannot hold every
number that JSON can.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from wildtool.benchmarks.wildtoolbench.data import EDGE_KINDS, SUBTYPES, TASK_TYPES
from wildtool.errors import WildtoolError
from wildtool.json_codec import as_list, as_object, as_objects
from wildtool.sanitize import truncate_words
from wildtool.stats.intervals import wilson
from wildtool_data.formats.base import ItemPart
from wildtool_data.pointers import ABSENT, Change, content_digest, overlap, pointer_parts, value_at
from wildtool_review.figures import review_figures
from wildtool_review.history import (
    MODEL_SOURCE,
    REASON_CODES,
    ItemHistory,
    Pass,
    finding_row,
    model_of,
    net_changes,
)
from wildtool_review.log import CHANGING, Entry
from wildtool_review.project import OpenFindingsError, ReviewProject
from wildtool_review.proposed import proposed_changes
from wildtool_review.rounds import PUBLISHED_QUALITY, round_qualities, stop_rule
from wildtool_review.state import QUEUES, STAGES, Filter, ItemSummary, Queue

PAGE_SIZE = 200
"""Items of a queue in one answer."""
_NODE = re.compile(r"/[^/]*answer_list/\d+/(\d+)")
_SHOWN = (
    "idx",
    "action",
    "observation",
    "user_input",
    "dependency_list",
    "dependency_kinds",
    "alternatives",
)
"""Fields of a step that its parts show."""
_MOST_SAID = 120
"""Characters of the user's first words in a row of a queue."""
Payload = dict[str, Any]


def value_payload(value: Any) -> Payload:
    """A value as text or JSON; empty for one that does not exist."""
    if value is ABSENT:
        return {}
    if isinstance(value, str):
        return {"text": value}
    return {"json": json.dumps(value, ensure_ascii=False, indent=1)}


def problem_payload(error: WildtoolError) -> Payload:
    """What a page says of an error: the message, its text and values for other languages, and whether an item can be
    approved despite it."""
    despite = {"despite": True} if isinstance(error, OpenFindingsError) else {}
    return {
        "problem": str(error),
        "text": error.text,
        "values": [str(value) for value in error.values],
        **despite,
    }


def review_payload(project: ReviewProject, person: str, name: str, *, signed_in: bool) -> Payload:
    """What a page needs to know of the review as a whole."""
    items = project.state.items.values()
    return {
        "set": name,
        "who": person,
        "role": project.state.role(person),
        "signed_in": signed_in,
        "benchmark": project.format.name,
        "reviewers": project.state.reviewers,
        "total": len(items),
        "queues": {queue: len(project.state.queue(queue, person)) for queue in QUEUES},
        "stages": Counter(item.stage for item in items),
        "reasons": REASON_CODES,
        "task_types": TASK_TYPES,
        "edge_kinds": EDGE_KINDS,
        "subtypes": SUBTYPES,
        "filters": {
            "type": sorted({kind for item in items for kind, _ in item.strata if kind}),
            "subtype": sorted({subtype for item in items for _, subtype in item.strata if subtype}),
            "domain": sorted({item.domain for item in items if item.domain}),
            "rule": sorted({rule for item in items for rule in item.warnings or ()}),
            "stage": STAGES,
            "round": [round_.number for round_ in project.state.rounds],
            "assignee": sorted({name for round_ in project.state.rounds for name in round_.people})
            if _sees_all(project, person)
            else [],
        },
    }


def queue_payload(
    project: ReviewProject,
    person: str,
    queue: Queue,
    filter_: Filter,
    start: int,
    has_text: Callable[[str], bool] = lambda item: True,
) -> Payload:
    """A page of a queue.

    Args:
        start: position of its first item.
        has_text: whether an item has what was searched for.
    """
    items = [item for item in project.state.queue(queue, person, filter_) if has_text(item.id)]
    return {
        "total": len(items),
        "start": start,
        "ids": [item.id for item in items] if start == 0 else [],
        "items": [_row(project, item, person) for item in items[start : start + PAGE_SIZE]],
    }


def item_payload(
    project: ReviewProject,
    item: str,
    person: str,
    is_read_later: Callable[[Any], bool] = lambda content: False,
) -> Payload:
    """An item as a person sees it: their own copy in a blind review, the item itself otherwise.

    Args: is_read_later: whether a content is too long to be read for its graphs before the rules have read it.

    Raises UsageError if there is none of that id.
    """
    history = project.item(item)
    content, digest = history.seen_by(person)
    facets = project.format.facets(content)
    parts = project.format.parts(content)
    findings = history.findings(digest)
    checking = findings is None and is_read_later(content)
    problem = project.why_not(history, person)
    restorable = {past.digest for past in history.versions_for(person)} - {digest}
    return {
        "id": history.id,
        "seen": digest,
        "version": len(history.versions),
        "stage": project.state.items[item].stage,
        "domain": facets.domain,
        "lang": facets.lang,
        "confidence": facets.confidence,
        "own_copy": history.branch_of(person) is not None,
        "problem": problem,
        "decided": _decision_of(history, person),
        "withdrawable": history.can_withdraw(person),
        "review": _pass_payload(project, history, person),
        "tools": [_tool(content, part) for part in parts if part.kind == "tool" and part.task in (None, 0)],
        # An item that is one part as a whole is shown as its task.
        "shared": [
            _part(content, part) for part in parts if part.field and part.task is None and part.kind != "tool"
        ],
        "checking": checking,
        "tasks": _tasks(project, history, content, parts, person, with_graphs=not checking),
        "findings": None if findings is None else [finding_row(finding) for finding in findings],
        "stale": sorted(history.stale_for(person)),
        "twins": project.state.twins_of(item),
        "proposals": [_proposal(past) for past in history.proposals_for(person)],
        "history": [_entry(entry, restorable) for entry in _visible(project, history, person)],
        "conflict": _conflict(history) if project.state.may(person, "adjudicator") else None,
    }


def part_payload(project: ReviewProject, item: str, person: str, field: str) -> Payload:
    """One part of an item, with the digest of what it belongs to. Raises UsageError or DataError."""
    content, digest = project.item(item).seen_by(person)
    return {"seen": digest, **value_payload(value_at(content, field))}


def figures_payload(project: ReviewProject, person: str, bound: float | None = None) -> Payload:
    """Rounds, the stop rule and all figures."""
    rule = stop_rule(project.state, bound)
    people = [each.name for each in project.state.people.values() if each.active]
    return {
        "rounds": [asdict(quality) for quality in round_qualities(project.state)],
        "published": PUBLISHED_QUALITY,
        "stop": {**asdict(rule), "met": rule.met},
        "metrics": [asdict(metric) for metric in review_figures(project, bound)],
        "people": people if project.state.may(person, "owner") else [],
        # The error rate that no error in a round of a fifth still leaves possible.
        "zero_of": wilson(0.0, -(-rule.total // 5))[1] if rule.total else None,
    }


def proposal_of(history: ItemHistory) -> tuple[list[Change], int, str]:
    """For an adjudicator the edits of all copies, how many of the first of them go together, and a digest of them."""
    accepted, excluded = history.proposal()
    every = [*accepted, *excluded]
    rows = [
        [change.field, *(None if v is ABSENT else [v] for v in (change.before, change.after))]
        for change in every
    ]
    return every, len(accepted), content_digest(rows)


def _row(project: ReviewProject, item: ItemSummary, person: str) -> Payload:
    texts = project.format.user_texts(project.item(item.id).seen_by(person)[0])
    said = next((str(text) for text in texts if text), "")
    return {
        "id": item.id,
        "said": truncate_words(" ".join(said.split()), _MOST_SAID),
        "stage": item.stage,
        "strata": item.strata,
        "domain": item.domain,
        "confidence": item.confidence,
        "warnings": item.warnings,
        "errors": item.errors,
        "stale": len(item.stale),
        "conflicts": item.conflicts,
        "mine": item.waits_for(person),
        "round": item.open.round if item.open else 0,
    }


def _sees_all(project: ReviewProject, person: str) -> bool:
    return project.state.may(person, "adjudicator")


def _decision_of(history: ItemHistory, person: str) -> Payload | None:
    entry = history.open.decisions.get(person) if history.open else None
    if entry is None:
        return None
    return {"choice": entry.after, "reasons": entry.reason, "note": entry.note}


def _pass_payload(project: ReviewProject, history: ItemHistory, person: str) -> Payload | None:
    """The last review of the item; names of others only for those who may see them."""
    if not history.passes:
        return None
    last = history.passes[-1]
    base = history.decisions_for(person, sees_all=_sees_all(project, person))
    open_names = last.outcome is not None or last.complete or _sees_all(project, person)
    return {
        "round": last.round,
        "ended": last.outcome is not None,
        "outcome": last.outcome.after if last.outcome else None,
        "people": last.people if open_names else [name for name in last.people if name == person],
        "others": sum(name != person for name in last.people),
        "decisions": [
            {"who": name, "choice": entry.after, "reasons": entry.reason, "note": entry.note}
            for name, entry in sorted(base.items())
        ],
        "conflicts": last.conflicts(),
    }


def _visible(project: ReviewProject, history: ItemHistory, person: str) -> Iterator[Entry]:
    """What a person may see of an item's history: of a blind review that is open, only their own part."""
    last = history.open
    hidden: set[str] = set()
    if last is not None and not last.complete and (person in last.people or not _sees_all(project, person)):
        hidden = set(last.people) - {person}
    assigned = max((entry.n for entry in history.entries if entry.kind == "assign"), default=0)
    for entry in history.entries:
        is_hidden = entry.n > assigned and (entry.branch in hidden or entry.who in hidden)
        if entry.kind != "check" and not is_hidden:
            yield entry


def _entry(entry: Entry, restorable: Container[str]) -> Payload:
    text = entry.after if isinstance(entry.after, str) and entry.kind not in CHANGING else ""
    model = model_of(entry)
    row: Payload = {
        "n": entry.n,
        "when": entry.when,
        "who": f"{MODEL_SOURCE}{model}" if model else entry.who,
        "kind": entry.kind,
        "said": text,
        "reasons": entry.reason,
        "note": entry.note,
        "round": entry.round,
        "field": entry.field,
    }
    if entry.kind in (*CHANGING, "import") and entry.content in restorable:
        row["version"] = entry.content
    if entry.kind in CHANGING:
        row |= {"before": _flat(entry.before), "after": _flat(entry.after)}
    return row


def _proposal(entry: Entry) -> Payload:
    changes = proposed_changes(entry)
    rows = [{"field": c.field, "before": _flat(c.before), "after": _flat(c.after)} for c in changes]
    return {"proposal": entry.content, "model": model_of(entry), "note": entry.note, "changes": rows}


def _flat(value: Any) -> str:
    """A value as one text, for a diff; empty for none."""
    return next(iter(value_payload(value).values()), "")


def _part(content: Any, part: ItemPart) -> Payload:
    node = _NODE.match(part.field)
    names = pointer_parts(part.field)
    accepted: Payload = {}
    if part.kind == "argument":
        alternatives = value_at(content, f"{part.field.rpartition('/action/arguments/')[0]}/alternatives")
        if values := as_list(as_object(alternatives).get(names[-1])):
            accepted = {"accepted": [value_payload(value) for value in values]}
    return {
        **accepted,
        "field": part.field,
        "kind": part.kind,
        "name": names[-1] if names else "",
        "node": int(node[1]) if node else None,
        **value_payload(value_at(content, part.field)),
    }


def _tool(content: Any, part: ItemPart) -> Payload:
    content_of_part = value_at(content, part.field)
    function = as_object(content_of_part)
    function = as_object(function.get("function")) or function
    schema = as_object(function.get("parameters") or function.get("arguments"))
    required = as_list(schema.get("required"))
    parameters = [
        {
            "name": name,
            "type": str(as_object(inner).get("type", "")),
            "about": str(as_object(inner).get("description", "")),
            "values": [_flat(value) for value in as_list(as_object(inner).get("enum"))],
            "required": name in required,
        }
        for name, inner in as_object(schema.get("properties")).items()
    ]
    entry = {"name": str(function.get("name", "?")), "about": str(function.get("description", ""))}
    return {"field": part.field, **entry, "parameters": parameters, **value_payload(content_of_part)}


def _tasks(
    project: ReviewProject,
    history: ItemHistory,
    content: Any,
    parts: Sequence[ItemPart],
    person: str,
    *,
    with_graphs: bool,
) -> list[Payload]:
    graphs = project.format.graphs(content) if with_graphs else []
    stale = history.stale_for(person)
    tasks: list[Payload] = []
    for t in range(project.format.task_count(content)):
        own = [part for part in parts if part.task == t and not (part.kind == "tool" and t == 0)]
        graph = graphs[t] if t < len(graphs) else None
        tasks.append(
            {
                "stale": t in stale,
                "parts": [_part(content, part) for part in own],
                "extras": dict(_extras(content, own)),
                "graph": asdict(graph) if graph else None,
                "actions": next((part.field.rsplit("/", 2)[0] for part in own if part.kind == "edges"), ""),
                "candidates": _candidates(content, t),
            }
        )
    if all(part.field == "" for part in parts):
        tasks[0]["parts"] = [_part(content, ItemPart("", "other", 0))]
    return tasks


def _extras(content: Any, parts: Iterable[ItemPart]) -> Iterator[tuple[int, str]]:
    """What a step holds beside its parts, such as its plan or where values come from."""
    for part in parts:
        node = _NODE.match(part.field)
        if node is not None and part.kind == "edges":  # once for each step
            step = as_object(value_at(content, node[0]))
            rest = {name: value for name, value in step.items() if name not in _SHOWN}
            if rest:
                yield int(node[1]), json.dumps(rest, ensure_ascii=False, indent=1)


def _candidates(content: Any, t: int) -> list[Payload]:
    """Texts that were proposed for a task, with what their maker says about each."""
    every = as_list(as_object(as_object(content).get("made_by")).get("candidates"))
    proposed = as_list(every[t]) if t < len(every) else []
    rows: list[Mapping[str, Any]] = [
        {"text": row} if isinstance(row, str) else as_object(row) for row in proposed
    ]
    return [
        {
            "text": str(row.get("text", "")),
            "about": {k: _flat(v) for k, v in row.items() if k != "text"},
        }
        for row in rows
    ]


def _conflict(history: ItemHistory) -> Payload | None:
    last = history.open
    if last is None or not last.conflicts():
        return None
    every, together, digest = proposal_of(history)
    authors = _authors(last)
    return {
        "reasons": last.conflicts(),
        "seen": history.digest,
        "proposal": digest,
        "changes": [
            {
                "field": change.field,
                "before": _flat(change.before),
                "after": _flat(change.after),
                "who": authors.get((change.field, _flat(change.after)), []),
                "together": k < together,
                "excludes": [
                    i for i, other in enumerate(every) if i != k and overlap(change.field, other.field)
                ],
            }
            for k, change in enumerate(every)
        ],
    }


def _authors(last: Pass) -> dict[tuple[str, str], list[str]]:
    names: dict[tuple[str, str], list[str]] = {}
    for name, branch in last.branches.items():
        for change in net_changes(branch.entries):
            names.setdefault((change.field, _flat(change.after)), []).append(name)
    return names


def gold_steps(content: Any, field: str) -> list[dict[str, Any]]:
    """The gold steps of a task. Args: field: pointer to their list."""
    return as_objects(value_at(content, field))
