"""What the pages of a review ask for and do: each operation reads its request, and answers with what to show.

A request to save names the version that its person saw (`seen`). If it is not the current one, nothing is written, and
the answer has what is there now (`wildtool_review.project.EditConflict`).
"""

import json
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any, cast

from wildtool.benchmarks.wildtoolbench.data import VIRTUAL
from wildtool.errors import DataError, StorageError, UsageError, unknown_name
from wildtool.json_codec import as_list, as_object, as_objects, check_limits
from wildtool_data.pointers import ABSENT, Change, pointer_parts, value_at
from wildtool_review.history import EditConflict, finding_row
from wildtool_review.project import ReviewProject
from wildtool_review.proposed import accept_proposal, discard_proposal, merge_proposals
from wildtool_review.restore import restore_version
from wildtool_review.server.bodies import BODY_LIMITS, number_field, text_field, texts_field
from wildtool_review.server.checks import RuleChecks
from wildtool_review.server.payloads import (
    Payload,
    figures_payload,
    gold_steps,
    item_payload,
    part_payload,
    problem_payload,
    proposal_of,
    queue_payload,
    review_payload,
    value_payload,
)
from wildtool_review.server.regeneration import Regeneration
from wildtool_review.server.search import ItemTexts
from wildtool_review.server.steps import (
    with_alternative,
    with_edge,
    with_step,
    without_alternative,
    without_step,
)
from wildtool_review.state import QUEUES, Filter

RecordedRuns = Callable[[str, Any, Any], Any]
"""Gives, for an item's id, its first content and the one that is shown, what recorded runs say about it: a JSON list of
`{model, task, before, after, note}` with the verdicts (true, false or null) before and after the edits. A row may have a
`proposal` with `changes`, each `{field, before, after}`, which a person can accept as an edit."""
Operation = Callable[["ReviewService", str, Payload], Any]


class ReviewService:
    """A review as its pages use it. For one thread."""

    def __init__(
        self,
        project: ReviewProject,
        name: str,
        *,
        signs_in: bool = False,
        runs: RecordedRuns | None = None,
        checks: RuleChecks | None = None,
        regeneration: Regeneration | None = None,
    ) -> None:
        """Args:
        name: of the review, for its heading.
        signs_in: whether people sign in, and so can sign out.
        runs: what recorded runs say about an item; None if none were given.
        checks: what runs the rules over new items; None if nothing does.
        regeneration: what makes tasks again; None if no model was named.
        """
        self.project = project
        self.name = name
        self.texts = ItemTexts(project)
        self.key = next((entry.digest for entry in project.store.read()), "")
        """Tells this review from others of the same name, for drafts that browsers keep."""
        self.signs_in = signs_in
        self.runs = runs
        self.checks = checks
        self.regeneration = regeneration

    def item(self, item: str, person: str) -> Payload:
        """An item for its page, checked at once if its turn has not come, with what recorded runs say about it."""
        if self.checks:
            with suppress(StorageError):  # people can read on a full disk
                self.project.check_item(item)
        payload = item_payload(self.project, item, person, self.project.is_checked_later)
        history = self.project.item(item)
        if self.checks and payload["checking"]:
            self.checks.check_later(item, payload["seen"])
        if self.checks and payload["findings"] is not None:
            near = self.checks.similar.findings(item, history.seen_by(person)[0])
            payload["findings"] += [finding_row(finding) for finding in near]
            for candidate in (candidate for task in payload["tasks"] for candidate in task["candidates"]):
                text = candidate["text"]
                if text.strip() and (message := self.checks.similar.near(item, text)):
                    candidate["about"]["similar"] = message
        if self.runs is not None:
            payload["runs"] = self.runs(item, history.versions[0].content, history.seen_by(person)[0])
        if self.regeneration and self.may_spend(person):
            payload["regeneration"] = {
                "model": self.regeneration.model,
                **asdict(self.regeneration.state(item, person)),
            }
        return payload

    def may_spend(self, person: str) -> bool:
        """Whether a person may have tasks made again, which costs money: of a team only an owner."""
        return not self.signs_in or self.project.state.may(person, "owner")

    def conflict(self, error: EditConflict, person: str, body: Payload) -> Payload:
        """The answer to a person whose version is no longer the current one: what is there now."""
        field = body.get("field")
        now: Payload = {}
        with suppress(DataError):
            now = value_payload(value_at(error.content, field)) if isinstance(field, str) else {}
        own = self.project.item(error.item).changed_only_by(person, error.seen)
        return {**problem_payload(error), "now": now, "own": own, "item": self.item(error.item, person)}


def _review(review: ReviewService, person: str, body: Payload) -> Any:
    payload = review_payload(review.project, person, review.name, signed_in=review.signs_in)
    return {**payload, "key": review.key}


def _checks(review: ReviewService, person: str, body: Payload) -> Any:
    return asdict(review.checks.progress()) if review.checks else {}


def _queue(review: ReviewService, person: str, body: Payload) -> Any:
    queue: Any = body.get("queue", "all")
    if queue not in QUEUES:
        raise UsageError(unknown_name("queue", str(queue), QUEUES))
    texts = {
        name: str(body.get(name, "")) for name in ("type", "subtype", "domain", "rule", "stage", "assignee")
    }
    filter_ = Filter(
        **texts, round=number_field(body, "round", 0), max_confidence=_share(body, "max_confidence", 1.0)
    )
    if filter_.assignee and not review.project.state.may(person, "adjudicator"):
        raise UsageError("only adjudicators see who reviews what")
    start, text = max(0, number_field(body, "start", 0)), str(body.get("text", ""))
    only_undecided = body.get("undecided") == "1"

    def searched(item: str) -> bool:
        if only_undecided and not review.project.state.items[item].is_undecided(person):
            return False
        return not text or review.texts.has(item, person, text)

    return queue_payload(review.project, person, queue, filter_, start, searched)


def _item(review: ReviewService, person: str, body: Payload) -> Any:
    return review.item(text_field(body, "id"), person)


def _part(review: ReviewService, person: str, body: Payload) -> Any:
    return part_payload(review.project, text_field(body, "id"), person, text_field(body, "field"))


def _regeneration(review: ReviewService, person: str, body: Payload) -> Any:
    """Whether tasks of an item are being made again for this person, and what went wrong."""
    regeneration = review.regeneration
    return (
        asdict(regeneration.state(text_field(body, "id"), person))
        if regeneration
        else {"running": False, "problem": ""}
    )


def _regenerate(review: ReviewService, person: str, body: Payload) -> Any:
    """Starts to make tasks of an item again: `first` is the first one from 0, else the first stale one; with `call`
    only the result of that call of it."""
    if review.regeneration is None:
        raise UsageError("no model is named here; start the review with --model")
    if not review.may_spend(person):
        raise UsageError("only an owner has tasks made again here, since that costs money")
    item = text_field(body, "id")
    _content(review, item, person, text_field(body, "seen"))
    history = review.project.item(item)
    review.project.check_may_work(history, person)
    copy = person if history.branch_of(person) is not None else ""
    own = (entry for entry in history.entries if entry.kind == "propose" and entry.branch == copy)
    earlier = sum(entry.version == body["seen"] for entry in own)
    first = number_field(body, "first", 0) if "first" in body else None
    call = number_field(body, "call", 0) if "call" in body else None
    keep_texts = body.get("keep_texts") is True
    review.regeneration.start(item, person, first, keep_texts=keep_texts, call=call, earlier=earlier)
    return review.item(item, person)


def _figures(review: ReviewService, person: str, body: Payload) -> Any:
    bound = _share(body, "max_error", 0.0)
    return figures_payload(review.project, person, bound or None)


def _edit(review: ReviewService, person: str, body: Payload) -> Any:
    item, base, field = (text_field(body, name) for name in ("id", "seen", "field"))
    change = _change(review, item, person, base, field, _value(body))
    review.project.edit(person, item, base, [change], note=_note(body))
    return review.item(item, person)


def _choose(review: ReviewService, person: str, body: Payload) -> Any:
    item, base, field = (text_field(body, name) for name in ("id", "seen", "field"))
    candidate = body.get("candidate")
    if candidate is not None and type(candidate) is not int:
        raise UsageError("candidate: expected its position, or null for a merged text")
    change = _change(review, item, person, base, field, text_field(body, "text"))
    review.project.choose(person, item, base, change, candidate, _note(body))
    return review.item(item, person)


def _steps(review: ReviewService, person: str, body: Payload) -> Any:
    """Adds an empty call before a step (`add` names its tool), or removes a step."""
    item, base, field = (text_field(body, name) for name in ("id", "seen", "field"))
    content = _content(review, item, person, base)
    steps, index = gold_steps(content, field), number_field(body, "index", -1)
    steps_after = (
        with_step(steps, index, text_field(body, "add")) if "add" in body else without_step(steps, index)
    )
    review.project.edit(
        person, item, base, [Change(field, value_at(content, field), steps_after)], note=_note(body)
    )
    return review.item(item, person)


def _edge(review: ReviewService, person: str, body: Payload) -> Any:
    """Sets or removes a dependency: `field` is the pointer of the step that needs step `source`, `kind` says why."""
    item, base, field = (text_field(body, name) for name in ("id", "seen", "field"))
    content = _content(review, item, person, base)
    step = as_object(value_at(content, field))
    nodes = with_edge(
        step,
        number_field(body, "source", -1),
        needed=body.get("needed") is True,
        kind=str(body.get("kind", "")),
    )
    changes = [
        Change(f"{field}/{name}", step.get(name, ABSENT), nodes.get(name, ABSENT))
        for name in ("dependency_list", "dependency_kinds")
    ]
    review.project.edit(person, item, base, changes, note=_note(body))
    return review.item(item, person)


def _alternative(review: ReviewService, person: str, body: Payload) -> Any:
    """Accepts another value for an argument (its pointer is `field`), or with `index` no longer accepts one."""
    item, base, field = (text_field(body, name) for name in ("id", "seen", "field"))
    step, _, argument = field.partition("/action/arguments/")
    place = f"{step}/alternatives"
    content = _content(review, item, person, base)
    before = value_at(content, place)
    called_name = as_object(as_object(value_at(content, step)).get("action")).get("name")
    if not argument or "/" in argument or called_name in VIRTUAL:
        raise UsageError("only arguments of calls have alternatives")
    name = pointer_parts(field)[-1]
    accepted = (
        without_alternative(before, name, number_field(body, "index", -1))
        if "index" in body
        else with_alternative(before, name, _value({**body, "remove": False}))
    )
    review.project.edit(person, item, base, [Change(place, before, accepted)], note=_note(body))
    return review.item(item, person)


def _accept(review: ReviewService, person: str, body: Payload) -> Any:
    """Makes the edit that recorded runs propose.

    Args: body: `index` is the place of its row among those shown; `beside` accepts what they do beside gold.
    """
    item, base = text_field(body, "id"), text_field(body, "seen")
    content = _content(review, item, person, base)
    first = review.project.item(item).versions[0].content
    rows = as_list(review.runs(item, first, content)) if review.runs else []
    index = number_field(body, "index", 0)
    proposal = as_object(as_object(rows[index]).get("proposal")) if 0 <= index < len(rows) else {}
    changes = [
        Change(str(row.get("field")), row.get("before", ABSENT), row.get("after", ABSENT))
        for row in as_objects(proposal.get("beside" if body.get("beside") is True else "changes"))
    ]
    if not changes:
        raise UsageError("no edit is proposed there")
    review.project.edit(person, item, base, changes, note=_note(body))
    return review.item(item, person)


def _take_proposal(review: ReviewService, person: str, body: Payload) -> Any:
    """Accepts or discards what a model proposes; `take` says which. With `choices` parts of several are taken."""
    item, base = text_field(body, "id"), text_field(body, "seen")
    if choices := as_object(body.get("choices")):
        picked = {field: str(name) for field, name in choices.items()}
        merge_proposals(review.project, person, item, base, picked, _note(body))
        return review.item(item, person)
    proposal = text_field(body, "proposal")
    act = accept_proposal if body.get("take") is True else discard_proposal
    act(review.project, person, item, base, proposal, _note(body))
    return review.item(item, person)


def _restore(review: ReviewService, person: str, body: Payload) -> Any:
    """Makes an earlier version the current one; `version` is the digest of its content."""
    item, base, version = (text_field(body, name) for name in ("id", "seen", "version"))
    restore_version(review.project, person, item, base, version, _note(body))
    return review.item(item, person)


def _decide(review: ReviewService, person: str, body: Payload) -> Any:
    """Decides on an item. Args: body: with `despite` an item is approved despite findings."""
    item = text_field(body, "id")
    choice = cast(Any, text_field(body, "choice"))
    seen, reasons, note = text_field(body, "seen"), texts_field(body, "reasons", []), _note(body)
    despite = body.get("despite") is True
    review.project.decide(person, item, seen, choice, reasons, note, despite_findings=despite)
    return review.item(item, person)


def _withdraw(review: ReviewService, person: str, body: Payload) -> Any:
    item = text_field(body, "id")
    review.project.withdraw(person, item, text_field(body, "seen"), _note(body))
    return review.item(item, person)


def _resolve(review: ReviewService, person: str, body: Payload) -> Any:
    item = text_field(body, "id")
    history = review.project.item(item)
    every, _, digest = proposal_of(history)
    if digest != body.get("proposal"):
        raise EditConflict(item, text_field(body, "seen"), history.digest, history.content)
    picked = [k for k in as_list(body.get("take")) if type(k) is int and 0 <= k < len(every)]
    # An adjudicator decides what applies, also where the item has changed since the copy was made.
    changes = [
        Change(change.field, value_at(history.content, change.field), change.after)
        for change in (every[k] for k in dict.fromkeys(picked))
    ]
    choice = cast(Any, text_field(body, "choice"))
    reasons = texts_field(body, "reasons", [])
    seen, note, despite = text_field(body, "seen"), _note(body), body.get("despite") is True
    review.project.resolve(person, item, seen, choice, changes, reasons, note, despite_findings=despite)
    return review.item(item, person)


def _recheck(review: ReviewService, person: str, body: Payload) -> Any:
    item = text_field(body, "id")
    tasks = [task for task in as_list(body.get("tasks")) if type(task) is int]
    review.project.recheck(person, item, text_field(body, "seen"), tasks, _note(body))
    return review.item(item, person)


def _remark(review: ReviewService, person: str, body: Payload) -> Any:
    review.project.remark(person, text_field(body, "id"), _note(body), str(body.get("field", "")))
    return review.item(text_field(body, "id"), person)


def _open_round(review: ReviewService, person: str, body: Payload) -> Any:
    share = _share(body, "share", 0.2)
    seed = str(body.get("seed") or "1")
    reviewers = number_field(body, "reviewers", review.project.state.reviewers)
    review.project.open_round(
        person, texts_field(body, "people"), seed=seed, share=share, reviewers=reviewers
    )
    return figures_payload(review.project, person)


def _close_round(review: ReviewService, person: str, body: Payload) -> Any:
    review.project.close_round(person, number_field(body, "round", 0), _note(body))
    return figures_payload(review.project, person)


READS: Mapping[str, Operation] = {
    "review": _review,
    "checks": _checks,
    "queue": _queue,
    "item": _item,
    "part": _part,
    "regeneration": _regeneration,
    "figures": _figures,
}
"""What GET answers, by the last part of the address."""
WRITES: Mapping[str, Operation] = {
    "edit": _edit,
    "choose": _choose,
    "steps": _steps,
    "edge": _edge,
    "alternative": _alternative,
    "accept": _accept,
    "proposal": _take_proposal,
    "regenerate": _regenerate,
    "restore": _restore,
    "decide": _decide,
    "withdraw": _withdraw,
    "resolve": _resolve,
    "recheck": _recheck,
    "remark": _remark,
    "open-round": _open_round,
    "close-round": _close_round,
}
"""What POST does."""


def _content(review: ReviewService, item: str, person: str, base: str) -> Any:
    """What a person sees of an item. Raises EditConflict if it is not what they saw."""
    content, digest = review.project.item(item).seen_by(person)
    if digest != base:
        raise EditConflict(item, base, digest, content)
    return content


def _change(review: ReviewService, item: str, person: str, base: str, field: str, value: Any) -> Change:
    return Change(field, value_at(_content(review, item, person, base), field), value)


def _value(body: Payload) -> Any:
    """The new value: `text` as it is, `json` parsed, or `remove`. Raises UsageError naming the place of a mistake."""
    if body.get("remove") is True:
        return ABSENT
    if isinstance(body.get("text"), str):
        return body["text"]
    text = text_field(body, "json")
    try:
        check_limits(text.encode("utf-8", "backslashreplace"), BODY_LIMITS)
        return json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise UsageError("Not JSON: {0}", error) from error


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _no_number(digits)


def _note(body: Payload) -> str:
    return str(body.get("note", ""))


def _share(body: Payload, name: str, default: float) -> float:
    with suppress(ValueError, TypeError):
        value = float(default if body.get(name) in (None, "") else body[name])
        if 0 <= value <= 1:
            return value
    raise UsageError("{0}: expected a number from 0 to 1", name)
