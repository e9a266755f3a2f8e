"""Tells the form of a record by its own keys, and reads those that are known."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wildtool.json_codec import as_list, as_object
from wildtool.own_cases.foreign.adk import adk_cases, adk_old_case, with_match_type
from wildtool.own_cases.foreign.agentv import agentv_cases
from wildtool.own_cases.foreign.home_made import CALLS_KEYS, deepeval_case, home_made_case
from wildtool.own_cases.foreign.literal import TEXT_KEYS, ForeignCase, NoGoldError
from wildtool.own_cases.foreign.promptfoo import promptfoo_cases
from wildtool.own_cases.foreign.rows import langsmith_case, mlflow_case, ragas_case
from wildtool.own_cases.foreign.tau2 import tau2_case
from wildtool.own_cases.foreign.turns import turns_case
from wildtool.own_cases.foreign.webmcp import mcpjam_cases, webmcp_case
from wildtool.own_cases.form import JUDGED_KEYS

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


def foreign_cases(form: str, value: Mapping[str, Any], config: Any = None) -> list[ForeignCase]:
    """The cases of a record, as our form writes them; a refusal for each that cannot be judged by rule.

    Args:
        config: what `test_config.json` beside a file of ADK holds.
    """
    if form in _REFUSED:
        return [NoGoldError(_REFUSED[form])]
    try:
        cases: Sequence[ForeignCase] = (
            _OF_FILE[form](value) if form in _OF_FILE else [_OF_RECORD[form](value)]
        )
        if form not in ADK_FORMS:
            return [*cases]
        return [with_match_type(case, config) if isinstance(case, dict) else case for case in cases]
    except NoGoldError as error:
        return [error]


def _first(held: Mapping[str, Any], key: str) -> dict[str, Any]:
    return as_object(next(iter(as_list(held.get(key))), None))


def _has(*alternatives: str) -> Callable[[Mapping[str, Any]], bool]:
    """Tells a record that has all the keys of an alternative, which are separated by blanks."""
    return lambda held: any({*keys.split()} <= {*held} for keys in alternatives)


def _is_own(held: Mapping[str, Any]) -> bool:
    judged = any(key in held for key in JUDGED_KEYS) and ("input" in held or "messages" in held)
    cases = "cases" in held and not _first(held, "cases").get("inputs")
    turns = any("input" in as_object(turn) for turn in as_list(held.get("turns")))
    return judged or cases or turns or bool(held and {*held} <= {"defaults", "reviewers"})


def _is_deepeval(held: Mapping[str, Any]) -> bool:
    calls = map(as_object, as_list(held.get("expected_tools")))
    has_parameters = any("input_parameters" in call or "inputParameters" in call for call in calls)
    named = _has("expected_tools expected_output", "tools_called")
    return "input" in held and (has_parameters or named(held))


def _is_home_made(held: Mapping[str, Any]) -> bool:
    return any(key in held for key in CALLS_KEYS) and any(key in held for key in (*TEXT_KEYS, "messages"))


_TELLS: tuple[tuple[str, Callable[[Mapping[str, Any]], bool]], ...] = (
    (
        "ADK evalset",
        lambda held: (
            isinstance(held.get("eval_cases"), list) or ("eval_id" in held and "conversation" in held)
        ),
    ),
    ("skill evals", _has("skill_name evals", "query should_trigger")),
    (OWN, _is_own),
    ("a pydantic-evals file", _has("cases")),
    ("tau2 tasks", _has("user_scenario evaluation_criteria", "instruction actions")),
    ("turns", lambda held: "user" in _first(held, "turns") or "conversation_group_id" in held),
    ("webmcp evals", _has("messages expectedCall")),
    (
        "MCPJam tests",
        lambda held: "isNegativeTest" in held or any(key in _first(held, "tests") for key in CALLS_KEYS),
    ),
    ("promptfoo", _has("tests prompts", "tests providers", "vars assert")),
    ("an agentv eval", lambda held: bool(_first(held, "tests"))),
    ("an MLflow row", _has("inputs expectations")),
    ("a LangSmith example", _has("inputs outputs", "inputs reference_outputs")),
    ("a ragas sample", _has("user_input reference_tool_calls")),
    ("ADK test", _has("query expected_tool_use")),
    ("deepeval", _is_deepeval),
    ("home-made", _is_home_made),
    ("an evaluation row of Azure", _has("query response tool_calls")),
    (CONVERSATION, _has("messages", "conversations", "query tools answers")),
)
"""Each form with what tells it, the surest first."""
