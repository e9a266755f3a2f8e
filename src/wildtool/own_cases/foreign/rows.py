"""Rows of MLflow, ragas and LangSmith: a request, or messages, beside the calls or the messages that are right."""

from collections.abc import Mapping
from typing import Any

from wildtool.json_codec import as_object
from wildtool.own_cases.foreign.literal import TEXT_KEYS, NoGoldError, read_foreign_calls, read_history
from wildtool.shapes.reading import of_json
from wildtool.types import Message


def mlflow_case(record: Mapping[str, Any]) -> dict[str, Any]:
    """A row of MLflow. Raises NoGoldError where its expectations name no calls."""
    expectations = as_object(record.get("expectations"))
    if "expected_tool_calls" not in expectations:
        raise NoGoldError("its expectations have no expected_tool_calls; the rest is judged by a model")
    left_out = ", ".join(key for key in expectations if key != "expected_tool_calls")
    return {
        **_request(record["inputs"]),
        "expect": read_foreign_calls(of_json(expectations["expected_tool_calls"])),
        **({"note": f"left out: {left_out}"} if left_out else {}),
    }


def ragas_case(record: Mapping[str, Any]) -> dict[str, Any]:
    """A sample of ragas, whose recorded replies are left out. Raises NoGoldError."""
    if record["reference_tool_calls"] is None:
        raise NoGoldError("its reference_tool_calls are null")
    calls = read_foreign_calls(of_json(record["reference_tool_calls"]))
    asked = of_json(record["user_input"])
    if isinstance(asked, str):
        return {"input": asked, "expect": calls}
    messages = read_history(asked)
    first = next((at for at, each in enumerate(messages) if each.get("tool_calls")), len(messages))
    if any(message.get("role") == "user" for message in messages[first:]):
        raise NoGoldError(
            "its reference_tool_calls are of several turns, and do not say which call is of which"
        )
    return {"messages": _up_to_user(messages[:first]), "expect": calls}


def langsmith_case(record: Mapping[str, Any]) -> dict[str, Any]:
    """An example of LangSmith: the calls of its output messages, with their recorded results. Raises NoGoldError."""
    outputs = record.get("reference_outputs", record.get("outputs"))
    said = as_object(outputs).get("messages", outputs)
    if not isinstance(said, list) or not said:
        raise NoGoldError("its outputs hold no messages, so no calls")
    messages = read_history(said)
    # An agent's output repeats what it was asked.
    answered = messages[len(_up_to_user(messages)) :]
    if not any(message.get("role") == "assistant" for message in answered):
        raise NoGoldError("its outputs hold no message of the assistant")
    results = {
        each.get("tool_call_id"): each.get("content") for each in answered if each.get("role") == "tool"
    }
    expect: list[dict[str, Any]] = []
    for entry in (call for message in answered for call in message.get("tool_calls") or ()):
        (call,) = read_foreign_calls([entry])
        expect.append({**call, **({"returns": results[entry["id"]]} if entry.get("id") in results else {})})
    return {**_request(record["inputs"]), "expect": expect}


def _up_to_user(messages: list[Message]) -> list[Message]:
    """The messages up to the last one of the user."""
    last = max((at for at, each in enumerate(messages) if each.get("role") == "user"), default=-1)
    return messages[: last + 1]


def _request(inputs: Any) -> dict[str, Any]:
    """What `inputs` asks: a text, messages, or one of the keys of a request. Raises NoGoldError."""
    held = as_object(inputs)
    if isinstance(inputs, list) or isinstance(held.get("messages"), list):
        return {"messages": read_history(inputs if isinstance(inputs, list) else held["messages"])}
    texts = [inputs] if isinstance(inputs, str) else [held[key] for key in TEXT_KEYS if key in held]
    texts = texts or list(held.values())
    if len(texts) != 1 or not isinstance(texts[0], str) or not texts[0]:
        raise NoGoldError(f"what is asked is not clear from its inputs: {', '.join(held) or 'empty'}")
    return {"input": texts[0]}
