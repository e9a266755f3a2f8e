"""The checker of generated sessions as a judge: `wildtool audit BENCH --judge NAME --style checker` audits it."""

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from wildtool.episode import written_text
from wildtool.findings import fault
from wildtool.json_codec import as_object, as_objects
from wildtool.judges.cases import JudgeCase
from wildtool.judges.reading import TurnJudgement
from wildtool.judges.styles import JudgeSettings, JudgeStyle
from wildtool.toolcall.arguments import ArgumentsError, read_arguments
from wildtool.types import Message
from wildtool_data.make.core import prompts
from wildtool_data.make.core.parsing import RefusedReplyError, read_object, reply_text
from wildtool_data.make.core.roles import MAX_ROLE_TRIES


def _ask(case: JudgeCase, with_reference: bool, settings: JudgeSettings) -> list[Message]:
    lang: Literal["en", "zh"] = "zh" if case.lang.startswith("zh") else "en"
    situation = {
        "tools": [tool.get("function", tool) for tool in case.tools],
        "now": "",
        "conversation": list(_conversation(case.messages[: case.start])),
        "decision": {"plan": "", "calls": _calls(case.messages[case.start])},
    }
    return prompts.role_opening("checker", lang, ["decision"], situation)


def _conversation(messages: Iterable[Message]) -> Iterator[dict[str, Any]]:
    """What was said and done, as the roles of a session see it."""
    calls: list[dict[str, Any]] = []
    results: list[Any] = []
    for message in messages:
        if message.get("role") == "tool":
            results.append(message.get("content"))
            continue
        if calls:
            yield {"calls": calls, "results": results}
            calls, results = [], []
        text = written_text(message)
        if text:
            yield {str(message.get("role")): text}
        calls = _calls(message)
    if calls:
        yield {"calls": calls, "results": results}


def _calls(message: Message) -> list[dict[str, Any]]:
    functions = [as_object(call.get("function")) for call in as_objects(message.get("tool_calls"))]
    return [{"name": its.get("name"), "arguments": _arguments(its.get("arguments"))} for its in functions]


def _arguments(text: Any) -> Any:
    try:
        return read_arguments(text, empty_ok=True)
    except ArgumentsError:
        return text


def _unfit(case: JudgeCase) -> str:
    turn = case.messages[case.start :]
    is_step = len(turn) == 1 and turn[0].get("tool_calls")
    return "" if is_step else "is no single step of calls, which is what a checker of sessions is shown"


def _read(message: Message, settings: JudgeSettings) -> TurnJudgement | None:
    try:
        accepted = read_object(reply_text(message), "K1").get("accepted")
    except RefusedReplyError:
        return None
    return TurnJudgement(accepted) if isinstance(accepted, bool) else None


def _again(message: Message) -> list[Message]:
    return prompts.retry_messages(
        reply_text(message), [fault("K1", "`accepted` must be true or false.")], "en"
    )


CHECKER_AS_JUDGE = JudgeStyle(
    about="as the checker of `generate wildtoolbench` is asked about calls",
    ask=_ask,
    read=_read,
    answer=lambda right: '{"accepted": true}' if right else '{"accepted": false, "reason": "", "quote": ""}',
    shows_reference=False,
    unfit=_unfit,
    again=_again,
    most_asked=MAX_ROLE_TRIES,
)
