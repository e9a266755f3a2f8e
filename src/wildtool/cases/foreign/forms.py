"""Tells the form of a record by its own keys, and reads those that are known."""

from collections.abc import Callable, Mapping
from typing import Any

from wildtool.cases.foreign.adk import adk_cases, adk_old_case
from wildtool.cases.foreign.agentv import agentv_cases
from wildtool.cases.foreign.home_made import CALLS_KEYS, deepeval_case, home_made_case
from wildtool.cases.foreign.literal import TEXT_KEYS, ForeignCase, NoGoldError
from wildtool.cases.foreign.promptfoo import promptfoo_cases
from wildtool.cases.foreign.rows import langsmith_case, mlflow_case, ragas_case
from wildtool.cases.foreign.tau2 import tau2_case
from wildtool.cases.foreign.turns import turns_case
from wildtool.cases.foreign.webmcp import mcpjam_cases, webmcp_case
from wildtool.cases.form import JUDGED_KEYS
from wildtool.json_codec import as_list, as_object

OWN, CONVERSATION = "own", "conversation"
ADK_FORMS = ("ADK evalset", "ADK test")
_REFUSED: Mapping[str, str] = {
    "skill evals": "they are judged by a model and name no calls",
    "an evaluation row of Azure": "it holds a reply for a model to judge, and no gold",
    "a pydantic-evals file": "its evaluators are classes of Python",
}
"""Forms that are known by their keys and not read, and why."""
_OF_RECORD: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "deepeval": deepeval_case,
    "ADK test": adk_old_case,
    "home-made": home_made_case,
    "tau2 tasks": tau2_case,
    "an MLflow row": mlflow_case,
    "a LangSmith example": langsmith_case,
    "a ragas sample": ragas_case,
    "webmcp evals": webmcp_case,
    "turns": turns_case,
}
"""Forms in which a record is a case."""
_OF_FILE: Mapping[str, Callable[[Mapping[str, Any]], list[ForeignCase]]] = {
    "promptfoo": promptfoo_cases,
    "ADK evalset": adk_cases,
    "an agentv eval": agentv_cases,
    "MCPJam tests": mcpjam_cases,
}
"""Forms in which a record may be several."""


def record_form(value: Any) -> str:
    """The form of a record, or of a whole file; empty where nothing tells it."""
    held = as_object(value)
    return next((name for name, tells in _TELLS if tells(held)), "") if held else ""


def is_foreign(form: str) -> bool:
    """Whether a form is that of another program."""
    return form in _OF_RECORD or form in _OF_FILE or form in _REFUSED


def foreign_cases(form: str, value: Mapping[str, Any]) -> list[ForeignCase]:
    """The cases of a record, as our form writes them; a refusal for each that cannot be judged by rule."""
    if form in _REFUSED:
        return [NoGoldError(_REFUSED[form])]
    try:
        return _OF_FILE[form](value) if form in _OF_FILE else [_OF_RECORD[form](value)]
    except NoGoldError as error:
        return [error]


def _first(held: Mapping[str, Any], key: str) -> dict[str, Any]:
    return as_object(next(iter(as_list(held.get(key))), None))


_TELLS: tuple[tuple[str, Callable[[Mapping[str, Any]], bool]], ...] = (
    (
        "ADK evalset",
        lambda held: isinstance(held.get("eval_cases"), list) or {"eval_id", "conversation"} <= {*held},
    ),
    (
        "skill evals",
        lambda held: {"skill_name", "evals"} <= {*held} or {"query", "should_trigger"} <= {*held},
    ),
    (
        OWN,
        lambda held: (
            ("cases" in held and not _first(held, "cases").get("inputs"))
            or {*held} == {"defaults"}
            or (any(key in held for key in JUDGED_KEYS) and any(key in held for key in ("input", "messages")))
            or any(key in as_object(turn) for turn in as_list(held.get("turns")) for key in ("input",))
        ),
    ),
    ("a pydantic-evals file", lambda held: "cases" in held),
    (
        "tau2 tasks",
        lambda held: (
            {"user_scenario", "evaluation_criteria"} <= {*held} or {"instruction", "actions"} <= {*held}
        ),
    ),
    ("turns", lambda held: "user" in _first(held, "turns") or "conversation_group_id" in held),
    ("webmcp evals", lambda held: {"messages", "expectedCall"} <= {*held}),
    (
        "MCPJam tests",
        lambda held: "isNegativeTest" in held or any(key in _first(held, "tests") for key in CALLS_KEYS),
    ),
    (
        "promptfoo",
        lambda held: (
            ("tests" in held and ("prompts" in held or "providers" in held)) or {"vars", "assert"} <= {*held}
        ),
    ),
    ("an agentv eval", lambda held: bool(_first(held, "tests"))),
    ("an MLflow row", lambda held: {"inputs", "expectations"} <= {*held}),
    (
        "a LangSmith example",
        lambda held: "inputs" in held and ("outputs" in held or "reference_outputs" in held),
    ),
    ("a ragas sample", lambda held: {"user_input", "reference_tool_calls"} <= {*held}),
    ("ADK test", lambda held: {"query", "expected_tool_use"} <= {*held}),
    (
        "deepeval",
        lambda held: (
            (
                "input" in held
                and isinstance(held.get("expected_tools"), list)
                and any(
                    "input_parameters" in as_object(call) or "inputParameters" in as_object(call)
                    for call in held["expected_tools"]
                )
            )
            or {"input", "expected_tools", "expected_output"} <= {*held}
            or {"input", "tools_called"} <= {*held}
        ),
    ),
    (
        "home-made",
        lambda held: (
            any(key in held for key in CALLS_KEYS)
            and (any(key in held for key in TEXT_KEYS) or "messages" in held)
        ),
    ),
    ("an evaluation row of Azure", lambda held: {"query", "response", "tool_calls"} <= {*held}),
    (
        CONVERSATION,
        lambda held: (
            "messages" in held or "conversations" in held or {"query", "tools", "answers"} <= {*held}
        ),
    ),
)
"""Each form with what tells it, the surest first."""
