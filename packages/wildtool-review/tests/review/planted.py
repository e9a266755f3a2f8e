"""Twelve sessions with one fault each that no rule sees, by reason code, and sound ones of the same making."""

from typing import Any

from review.made_sets import answer
from wildtool_review.history import REASON_CODES

RULES_SEE = {"value", "schema", "duplicate"}
"""Codes of faults that are found without people: by rules, and repeated items where sets are made."""
UNSEEN = tuple(code for code in REASON_CODES if code not in RULES_SEE)
LOOK_UP: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Looks a number up.",
        "parameters": {
            "type": "object",
            "properties": {"n": {"type": "integer", "description": "The number."}},
            "required": ["n"],
        },
    },
}


def sound(k: int, number: int | None = None) -> dict[str, Any]:
    """A session that looks number `number` up (`k` by default), then talks about it."""
    number = k if number is None else number
    return {
        "id": f"s{k}",
        "english_env_info": "2024-05-05 14:29:52 Sunday",
        "english_tools": [LOOK_UP],
        "english_tasks": [f"Tell me about number {number}.", "What is a good way to remember it?"],
        "english_answer_list": [
            [call(0, number), last(1, f"Number {number} is {_fact(number)}.")],
            [answer("Say it aloud.")],
        ],
        "english_task_types": ["Single-Tool", "Chat"],
        "english_turn_subtypes": ["Coreferential Reference"],
    }


def call(i: int, number: int, *needs: int) -> dict[str, Any]:
    action = {"name": "look_up", "arguments": {"n": number}}
    result = {"n": number, "fact": _fact(number)}
    return {"idx": i, "action": action, "observation": result, "dependency_list": list(needs)}


def last(i: int, text: str, kind: str = "tool") -> dict[str, Any]:
    action = {"name": "prepare_to_answer", "arguments": {"answer_type": kind}}
    return {"idx": i, "action": action, "observation": text, "dependency_list": list(range(i))}


def _fact(number: int) -> str:
    return "odd" if number % 2 else "even"


def faulty(k: int, code: str) -> dict[str, Any]:
    """The session with the fault of a reason code."""
    record = sound(k)
    texts, gold, types = (record[f"english_{name}"] for name in ("tasks", "answer_list", "task_types"))
    match code:
        case "unnatural":
            texts[0] = f"It is hereby requested of thee that number {k} be told about to me."
        case "type":
            # It asks for a look-up, but gold just chats.
            gold[0], types[0] = [last(0, f"Number {k} is a fine number.", "chat")], "Chat"
        case "subtype":
            texts[1] = f"What is a good way to remember the number {k}, which was just looked up?"
        case "tool-misfit":
            texts[0] = f"What will the weather be like in {k} days?"
        case "call":
            texts[0] = f"Tell me about number {k} and about number {k + 50}."
        case "order":
            texts[0] = f"Tell me about number {k}; only when you know it, tell me about number {k + 50}."
            gold[0] = [call(0, k), call(1, k + 50), last(2, "One is odd, one is even, or so.")]
            types[0] = "Parallel Multi-Tool"
        case "ask":
            # No number was given: it should have asked for one.
            texts[0], types[0] = "Tell me about a number.", "Chat"
            gold[0] = [last(0, "It is odd.", "chat")]
        case "no-ask":
            missing = {"tool_name": "look_up", "missing_required_parameters": ["n"]}
            asked: dict[str, Any] = {
                "idx": 0,
                "action": {"name": "ask_user_for_required_parameters", "arguments": missing},
                "observation": "Which number do you mean?",
                "user_input": f"Number {k}, as I said.",
                "dependency_list": [],
            }
            gold[0], types[0] = [asked, call(1, k, 0), last(2, "Thank you, it is odd.")], "Clarify"
        case "end":
            gold[0][1]["observation"] = "I have looked it up and shall tell you another time."
        case "observation":
            gold[0][0]["observation"] = {"n": k + 1, "fact": "a fruit"}
        case "unfaithful":
            gold[0][1]["observation"] = f"Number {k} is {_fact(k + 1)}."
        case "privacy":
            texts[0] = f"I am Jo Doe of 12 Elm Street, born in May. {texts[0]}"
        case _:
            raise AssertionError(f"no fault is planted for {code}")
    return record


def planted_records() -> list[dict[str, Any]]:
    """A session for each code of `UNSEEN`, and three sound ones."""
    return [*(faulty(k, code) for k, code in enumerate(UNSEEN)), *(sound(k) for k in range(12, 15))]
