"""What recorded runs say about an item, as JSON for its page."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from wildtool_data.pointers import ABSENT
from wildtool_review.replies.proposals import Proposal, item_proposals
from wildtool_review.replies.rejudge import AnswerState, Rejudge, UnitAnswer

_VERDICTS: Mapping[AnswerState, bool | None] = {"correct": True, "wrong": False}


def rows_of(rejudge: Rejudge) -> Callable[[str, Any, Any], list[dict[str, Any]]]:
    """Gives, for an item's id, its first content and the one that is shown, a row for each proposal, then one for each
    answer, those that the edits flip first.

    A row is `{model, task, before, after, note}`: the verdicts are true, false, or null where there is none. A
    proposal's also has `proposal`, with the edit under `changes`.
    """

    def rows(item: str, first: Any, current: Any) -> list[dict[str, Any]]:
        answers = rejudge.compare(item, first, current).answers
        rows_of_item = [_proposal_row(answer) for answer in item_proposals(rejudge, item, current, first)]
        for answer in sorted(answers, key=lambda answer: not answer.flipped):
            model = answer.model if not answer.repeat else f"{answer.model}, sample {answer.repeat + 1}"
            rows_of_item.append(
                {
                    "model": model,
                    "task": _task(answer.unit),
                    "before": _VERDICTS.get(answer.before.state),
                    "after": _VERDICTS.get(answer.after.state),
                    "note": _note(answer.before, answer.after),
                }
            )
        return rows_of_item

    return rows


def _task(unit: str) -> int | None:
    """The number of a task from 0; None where units have other names."""
    return int(unit) if unit.isdecimal() else None


def _note(before: UnitAnswer, after: UnitAnswer) -> str:
    state = "" if after.state in _VERDICTS else f"{after.state}: "
    return f"{state}{after.reason}" if before != after or after.state != "correct" else ""


def _proposal_row(proposal: Proposal) -> dict[str, Any]:
    return {
        "model": f"{len(proposal.models)} of {proposal.answered} models",
        "task": _task(proposal.unit),
        "before": None,
        "after": None,
        "note": proposal.sentence,
        "proposal": proposal_json(proposal),
    }


def proposal_json(proposal: Proposal) -> dict[str, Any]:
    """A proposal as JSON; a change of a part that did not exist has no `before`, one that removes it no `after`."""
    edits = {
        name: [{key: v for key, v in asdict(change).items() if v is not ABSENT} for change in changes]
        for name, changes in (("changes", proposal.changes), ("beside", proposal.beside))
    }
    return {**asdict(proposal), "models": list(proposal.models), **edits}
