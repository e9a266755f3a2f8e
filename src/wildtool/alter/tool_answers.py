"""What a tool says where the record holds no answer: an error in the shape of its results, or a model's guess."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from wildtool.episode import written_text
from wildtool.json_codec import as_object, as_objects
from wildtool.shapes import tool_name
from wildtool.tool_formats.lenient_json import strict_value_or
from wildtool.types import Message, Request, Role, Tool

TOOLS_PLAYER = "tools"
"""The role of the model that plays tools."""
TOOLS_PLAYER_ROLE = Role("plays the tools whose answers are not recorded", default="baseline/user")
NO_RESULT = "no result for these arguments"
_TEXTS = ("message", "error", "detail", "reason", "msg")
"""Keys under which results of tools say something in words, the usual ones first."""
_SUCCESS = ("success", "ok")
_EXAMPLES = 3
"""Results that a model which plays a tool is shown at most."""
_PROMPT = {
    "en": "You play the tool {name} of a software system. Answer the call with what the tool would return: one JSON "
    "value or text in the form of its other results, and nothing else. Where the call cannot succeed, return an error in "
    "that form. Do not explain, and invent no names or ids of things that the other results contradict.",
    "zh": "你扮演软件系统中的工具 {name}。请给出该工具对这次调用的返回值:一个 JSON 值或文本,格式与它的其他返回结果一致,"
    "不要输出其他内容。如果调用无法成功,请以同样的格式返回错误。不要解释,也不要编造与其他结果矛盾的名称或编号。",
}


def tool_error(results: Iterable[Any], message: str, code: int = 400) -> Any:
    """An error as a tool would return it, as JSON or text.

    Args:
        results: what it returned elsewhere, as JSON, the nearest first; its form follows the first. None is needed.
        message: the error in words.
        code: the number of the error in the manner of HTTP, for tools whose results have one.
    """
    example = next(iter(results), None)
    if isinstance(example, str):
        return f"Error: {message}"
    form = as_object(example)
    error: dict[str, Any] = {key: False for key in _SUCCESS if isinstance(form.get(key), bool)}
    for key in ("status", "code", "status_code"):
        if key in form:
            error[key] = code if isinstance(form[key], int) else "error"
    error[next((key for key in _TEXTS if isinstance(form.get(key), str)), "error")] = message
    return error


def result_text(result: Any) -> str:
    """A tool's result as the content of a message: a text as it is, anything else as JSON."""
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)


def simulated_call(
    tools: Sequence[Tool], call: Mapping[str, Any], results: Iterable[Any], lang: str, fallback: str
) -> Request:
    """What a model in the role `tools` is asked, to answer one call.

    Args:
        call: in OpenAI's shape, with name and arguments.
        results: what the tool returned elsewhere, as JSON, the nearest first.
        lang: `zh` for a prompt in Chinese.
        fallback: what `baseline/user` answers.
    """
    function = as_object(call.get("function"))
    name = str(function.get("name"))
    tool = next((tool for tool in tools if tool_name(tool) == name), None)
    examples = [result for result, _ in zip(results, range(_EXAMPLES), strict=False)]
    system = _PROMPT["zh" if lang == "zh" else "en"].format(name=name)
    # Arguments are the model's own words, so they stay in a value of JSON.
    asked = {"tool": tool, "other results": examples, "call": function}
    messages: list[Message] = [
        {"role": "system", "content": system},
        {"role": "user", "content": json.dumps(asked, ensure_ascii=False)},
    ]
    return Request(messages, role=TOOLS_PLAYER, gold=lambda _: {"role": "assistant", "content": fallback})


def simulated_result(reply: Message, fallback: str) -> str:
    """What the role `tools` answered, as the content of a message; the fallback where it said nothing.

    A fence around JSON is taken off.
    """
    text = (written_text(reply) or "").strip()
    if text.startswith("```") and text.endswith("```"):
        inner = text[3:-3].removeprefix("json").strip()
        text = inner if strict_value_or(inner, None) is not None else text
    return text or fallback


def named_calls(reply: Message) -> list[dict[str, Any]]:
    """The calls of a reply that name a tool, in OpenAI's shape. Never raises."""
    calls = as_objects(reply.get("tool_calls"))
    return [call for call in calls if isinstance(as_object(call.get("function")).get("name"), str)]
