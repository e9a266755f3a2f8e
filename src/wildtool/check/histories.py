"""Requests of `wildtool check` with a history of calls and results, as runs send them at every second step."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wildtool.check.probe import PADDING, TEXT, WHOLE, Probe, tool, user
from wildtool.types import Message

WEATHER = tool("get_weather", {"city": TEXT})
OSLO, ROME = '{"city": "Oslo"}', '{"city": "Rome"}'
COLD, WARM = "4", "31"
"""What the tool gave for Oslo and for Rome."""
USER_SAYS = "history, in the user's words"
"""The probe in which the user says what a result says in the others."""
SHORT = "history, one call"
"""The probe that all other histories of two turns differ from in one thing."""
TWO_CALLS = "history, two calls"
ASKING = (SHORT, "history, null content", "history, text beside a call", TWO_CALLS)
"""Probes that ask for what a result says."""
ENDING = ("history, ends in a result", "history, ends in two results", "history, two steps")
"""Probes whose last message is a result."""
LONG_RESULTS = {SHORT: "history, long earlier result", ENDING[0]: "history, ends in a long result"}
"""By probe the one that differs from it in the length of a result."""
QUESTION = "How many degrees has it in Oslo? Answer with the number only."
_CITIES = ("Oslo", "Rome")


def weather_calls(arguments: Sequence[str], first: int = 0) -> list[dict[str, Any]]:
    """One call for each city, with ids of nine letters and digits, which every tokenizer takes.

    Args: first: number of the first city.
    """
    return [
        {
            "id": f"call{number}{_CITIES[number].lower()}"[:9],
            "type": "function",
            "function": {"name": "get_weather", "arguments": text},
        }
        for number, text in enumerate(arguments, first)
    ]


def step(calls: Sequence[Mapping[str, Any]], results: Sequence[str], content: str | None) -> list[Message]:
    """A reply with calls, and their results.

    Args: content: the text beside the calls; None is sent as null.
    """
    return [
        {"role": "assistant", "content": content, "tool_calls": list(calls)},
        *(
            {"role": "tool", "tool_call_id": call["id"], "content": text}
            for call, text in zip(calls, results, strict=True)
        ),
    ]


def call_history(arguments: Sequence[str], results: Sequence[str], *, swapped: bool = False) -> list[Message]:
    """Two turns: a question, calls with their results, and a question about the first one."""
    reply, *answers = step(weather_calls(arguments), results, "")
    return [_both_asked(len(arguments)), reply, *(reversed(answers) if swapped else answers), user(QUESTION)]


def _both_asked(count: int) -> Message:
    return user(f"How many degrees has it in {' and in '.join(_CITIES[:count])}?")


def answered_history(*results: str, content: str | None = "") -> list[Message]:
    """Two turns with a text of the assistant between, as sessions have them: none of its texts has a result in it.

    Args: results: of the first city, or of both.
    """
    calls = weather_calls((OSLO, ROME)[: len(results)])
    return [
        _both_asked(len(results)),
        *step(calls, results, content),
        {"role": "assistant", "content": "I have looked it up."},
        user(QUESTION),
    ]


def histories() -> Iterator[Probe]:
    """All requests with a history of calls."""
    long = json.dumps({"city": "Oslo " + "x" * 8000})
    for name, messages in {
        "history": call_history([OSLO, ROME], [COLD, WARM]),
        "history, results swapped": call_history([OSLO, ROME], [COLD, WARM], swapped=True),
        "history, empty result": call_history([OSLO], [""]),
        "history, JSON result": call_history([OSLO], ['{"degrees": 4, "wind": [1, 2]}']),
        "history, malformed call": call_history(['{"city": "Oslo"'], ["error: the arguments are not JSON"]),
        "history, long call": call_history([long], [COLD]),
    }.items():
        yield Probe(name=name, messages=messages, tools=[WEATHER], forms=[WHOLE])
    for name, messages in _as_runs_have_them().items():
        yield Probe(name=name, messages=messages, tools=[WEATHER], forms=[WHOLE], repeats=1)


def _as_runs_have_them() -> Mapping[str, list[Message]]:
    """By name, histories that differ from each other in one thing that endpoints refuse."""
    oslo, rome = weather_calls([OSLO]), weather_calls([ROME], 1)
    oslo_asked, both_asked = [_both_asked(1)], [_both_asked(2)]
    system: Message = {"role": "system", "content": "Be brief."}
    ends, ends_in_two, two_steps = ENDING
    return {
        SHORT: answered_history(COLD),
        "history, null content": answered_history(COLD, content=None),
        "history, text beside a call": answered_history(COLD, content="I look it up."),
        TWO_CALLS: answered_history(COLD, WARM),
        "history, system message between": [*answered_history(COLD)[:-1], system, user(QUESTION)],
        LONG_RESULTS[SHORT]: answered_history(f"{COLD} {PADDING}"),
        ends: [*oslo_asked, *step(oslo, [COLD], "")],
        ends_in_two: [*both_asked, *step([*oslo, *rome], [COLD, WARM], None)],
        two_steps: [*both_asked, *step(oslo, [COLD], ""), *step(rome, [WARM], "")],
        LONG_RESULTS[ends]: [*oslo_asked, *step(oslo, [f"{COLD} {PADDING}"], "")],
        USER_SAYS: [
            user("It has 4 degrees in Oslo and 31 in Rome."),
            {"role": "assistant", "content": "I have noted it."},
            user(QUESTION),
        ],
    }
