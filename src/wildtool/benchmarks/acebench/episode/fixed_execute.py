"""Makes the calls of an agent's message in the sandbox under the fixed rules: what goes wrong is an answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from wildtool.benchmarks.acebench.data import AgentRecord
from wildtool.benchmarks.acebench.episode.fixed_messages import AgentCall
from wildtool.benchmarks.acebench.prompts.texts import prompt_texts
from wildtool.benchmarks.acebench.sandbox import TOOL_ERRORS, Sandbox, as_json
from wildtool.benchmarks.acebench.sandbox.edition import Edition

CallOutcome = Literal["ok", "failed", "raised", "unknown tool", "unreadable"]
MAX_EXCEPTION_TEXT = 300
"""Characters of an exception's text that the agent sees."""
_FAILURES = (
    *(f"Travel.reserve_flight.{case}" for case in ("bad_payment", "cash_short", "bank_short")),
    *(f"Travel.modify_flight.{case}" for case in ("no_reservation", "no_current_flight", "flight_invalid")),
    *(f"Travel.modify_flight.{case}" for case in ("cabin_short", "bag_short")),
    *(
        f"Travel.cancel_reservation.{case}"
        for case in ("bad_user", "bad_reservation", "no_flight", "departed")
    ),
)
"""Sentences that are failures; elsewhere the value has a status."""


@dataclass(frozen=True, slots=True)
class ExecutedCall:
    """One call and what became of it."""

    name: str
    arguments: Mapping[str, Any]
    outcome: CallOutcome
    answer: Any
    """What the agent sees, as JSON."""
    message: int
    """Which message of the dialogue made it, from 0."""


def execute_call(
    record: AgentRecord, edition: Edition, sandbox: Sandbox, call: AgentCall, message: int
) -> ExecutedCall:
    """Makes one call; only offered tools exist, and what goes wrong is an answer."""
    texts = prompt_texts(edition.lang)

    def ran(outcome: CallOutcome, answer: Any) -> ExecutedCall:
        return ExecutedCall(call.name, call.arguments, outcome, answer, message)

    if call.fault:
        return ran("unreadable", texts["unreadable"].format(reason=call.fault))
    offered = [name for name in offered_tool_names(record) if sandbox.tools(name)]
    if call.name not in offered:
        return ran("unknown tool", texts["unknown"].format(name=call.name[:80], tools=", ".join(offered)))
    try:
        answer = as_json(sandbox.call(call.name, call.arguments))
    except TOOL_ERRORS as error:
        reason = f"{type(error).__name__}: {error}"[:MAX_EXCEPTION_TEXT]
        return ran("raised", texts["raised"].format(name=call.name, reason=reason))
    return ran("failed" if reports_failure(edition, answer) else "ok", answer)


def offered_tool_names(record: AgentRecord) -> list[str]:
    """Names of the tools that the record offers."""
    return [str(function["name"]) for function in record.functions]


def reports_failure(edition: Edition, answer: Any) -> bool:
    """Whether a tool's value says that it did not do what it was asked."""
    if isinstance(answer, dict):
        status = cast(dict[str, Any], answer).get("status")
        return status is False or status == "error"
    if isinstance(answer, str):
        return any(str(edition.texts[case]) in answer for case in _FAILURES if case in edition.texts)
    return False
