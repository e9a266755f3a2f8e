"""Units with failing tools from the first request to the trace: what each party is shown and says."""

from collections.abc import Iterator, Sequence
from typing import Any

from golden_files import same_as_golden
from wildtool.alter.failures.schedule import FailureSchedule
from wildtool.alter.failures.unit import ALWAYS, NEVER, FailingUnit
from wildtool.episode import PROVIDER_CONTENT
from wildtool.trace import Trace, TraceStep
from wildtool.types import Message, Request, ResultsInText, Tool

TOOLS: list[Tool] = [
    {"type": "function", "function": {"name": name, "description": text}}
    for name, text in (
        ("get_weather", "Gets the weather."),
        ("get_count", "Gets a number."),
        ("get_photo", "Gets a photo."),
        ("book_seat", "Books it."),
    )
]
RESULTS: dict[str, Any] = {
    "get_photo": [{"type": "image"}],
    "get_weather": '{"degrees": 14.2, "sky": "grey"}',
    "get_count": "7",
    "book_seat": '["booked", 30]',
}
CARRIED = {PROVIDER_CONTENT: ["r"]}
RYE, DOVER = '{"city": "Rye"}', '{"city": "Dover"}'


def called(*calls: tuple[str | None, Any, Any], **more: Any) -> Message:
    """A reply with calls: id, name, arguments."""
    listed = [
        {**({} if id_ is None else {"id": id_}), "type": "function", "function": {"name": name, "arguments": arguments}}
        for id_, name, arguments in calls
    ]  # fmt: skip
    return {"role": "assistant", "content": None, "tool_calls": listed, **more}


def says(text: str) -> Message:
    return {"role": "assistant", "content": text}


WEATHER, COUNT, SEAT = ("a", "get_weather", RYE), ("b", "get_count", ""), ("c", "book_seat", "{}")
PLAYS: dict[str, tuple[str, list[Message]]] = {
    "tried again with others and without ids": (
        "first-call,timeout",
        [
            called((None, "get_weather", RYE), COUNT, content="I look.", reasoning_content="Hm.", **CARRIED),
            called(WEATHER, ("", "get_count", "{}"), content="Again."),
            says("Rye has 14.2 degrees, and 7."),
        ],
    ),
    "said before and after": (
        "twice-then-well,rate-limit",
        [called(WEATHER), says("The tool failed."), called(WEATHER), says("Rye has 14.2 degrees.")],
    ),
    "an empty result is brought by an equal call": (
        "first-call,empty",
        [
            called(WEATHER, SEAT),
            called(("d", "get_weather", DOVER), ("e", "get_weather", RYE), reasoning_content="Once more."),
            called(WEATHER),
            says("Rye has 14.2 degrees."),
        ],
    ),
    "what cannot be cut is whole": (
        "twice-then-well,partial",
        [called(COUNT, WEATHER), called(COUNT, WEATHER), called(WEATHER), says("7")],
    ),
    "damaged twice": ("twice-then-well,stale", [called(WEATHER), called(WEATHER), called(WEATHER), says("14")]),
    "another shape stays": ("first-call,schema-changed", [called(WEATHER), called(WEATHER), says("grey")]),
    "written twice": ("first-call,wrong-type", [called(SEAT), called(SEAT), says("Booked.")]),
    "a photo is no text": ("first-call,empty", [called(("p", "get_photo", "{}"), WEATHER), says("grey")]),
    "another shape is not asked for again": (
        "first-call,schema-changed",
        [called(WEATHER), called(("d", "get_weather", DOVER)), says("grey")],
    ),
    "a refused tool is asked for something else": (
        "first-call,permission",
        [called(WEATHER), called(("d", "get_weather", DOVER)), says("I may not.")],
    ),
    "always but every fourth time": ("flaky:1,timeout", [*[called(WEATHER)] * 6, says("grey")]),
    "one tool refused": (
        "first-call,permission",
        [called(SEAT), called(SEAT, WEATHER, content="x", **CARRIED), says("I may not book a seat.")],
    ),
    "down": ("down", [called(WEATHER)] * 13),
    "at a rate": ("flaky:0.6,timeout,empty", [called(WEATHER)] * 6),
    "nothing that fails": (
        "first-call,timeout",
        [
            called(("a", "get_weather", "{")),
            called(("a", "unknown", "{}")),
            called(("a", ["get_weather"], "{}")),
            {"role": "assistant", "content": None, "tool_calls": "text"},
            says(" "),
            says("The tool failed."),
        ],
    ),
}  # fmt: skip


def lines(schedule: str, replies: Sequence[Message]) -> Iterator[str]:
    """What is shown to the model, with three gold answers; what it says; what the benchmark reads; what is left of it."""

    def own_gold(style: str) -> Message:
        return says(f"gold {style}")

    unit, own = (
        FailingUnit(FailureSchedule.parse(schedule), "1 item 0", "en"),
        [{"role": "user", "content": "?"}],
    )
    steps, before, seen = [TraceStep("user", (), says("?"))], 0, 0
    waiting = list(replies)
    while waiting:
        exchange = unit.exchange(Request(own, TOOLS, gold=own_gold))
        request, reply, read = next(exchange), says(""), None
        while read is None and waiting:
            yield from (f"  shown {_text(message)}" for message in request.messages[before:])
            before = len(request.messages)
            assert request.gold is not None
            answers = {style: request.gold(style) for style in ("parallel", ALWAYS, NEVER)}
            yield from (
                f"    {style}: {_text(answer)}"
                for style, answer in answers.items()
                if answer != own_gold("parallel")
            )
            reply = waiting.pop(0)
            yield f"  said {_text(reply)}"
            try:
                request = exchange.send(reply)
            except StopIteration as end:
                read = end.value
        if read is not None:
            yield f"  read {_text(read) if read is not reply else 'as it is'}"
            steps.append(TraceStep("agent", own[seen:], read))
            calls = read.get("tool_calls") or ()
            results = [
                {"role": "tool", "tool_call_id": call.get("id"), "content": RESULTS[call["function"]["name"]]}
                for call in (calls if isinstance(calls, list) else ())
                if call["function"]["name"] in [*RESULTS]
            ]
            own, seen = [*own, read, *results], len(own) + 1
            before += 1
    yield f"  {unit.fields(ended=False)} {unit.fields(ended=True)}"
    for step in unit.traced(Trace("0", TOOLS, tuple(steps), ())).steps:
        yield f"  {step.role} {step.note!r} said {_text(step.reply)}"
        yield from (f"    after {_text(message)}" for message in step.seen)


def _text(message: Message) -> str:
    """A message in a line: its text, its calls by their ids, and what else it has."""
    listed: Any = message.get("tool_calls")
    calls = (
        [f"{call.get('id')}={call['function']['name']}({call['function']['arguments']})" for call in listed]
        if isinstance(listed, list)
        else [str(listed)]
    )
    rest = {
        name: value
        for name, value in message.items()
        if name not in ("role", "content", "tool_calls") and value
    }
    parts = [
        message.get("role"),
        message.get("content"),
        *(calls if listed else ()),
        *([rest] if rest else ()),
    ]
    return " ".join(map(str, parts))


def test_units_with_failing_tools_go_like_this() -> None:
    plays = (
        f"{name}: {play[0]}\n" + "".join(f"{line}\n" for line in lines(*play)) for name, play in PLAYS.items()
    )
    same_as_golden("alter/failures.txt", "".join(plays))


def test_results_in_a_text_are_left_as_they_are() -> None:
    unit = FailingUnit(FailureSchedule.parse("down"), "1 item 0", "zh")
    request = Request([says("x")], in_text=ResultsInText(["y"], lambda tools, results: []))
    exchange = unit.exchange(request)
    assert next(exchange) is request
    reply = called(WEATHER)
    try:
        exchange.send(reply)
    except StopIteration as end:
        assert end.value is reply
    assert unit.fields(ended=True) == {"failures": 0, "failure_end": "not reached", "failure_reported": None}


def test_a_user_of_chinese_is_told_in_chinese() -> None:
    unit = FailingUnit(FailureSchedule.parse("down"), "1 item 0", "zh")
    exchange = unit.exchange(Request([says("x")], TOOLS, gold=says))
    next(exchange)
    request = exchange.send(called(WEATHER))
    assert request.gold is not None
    assert request.gold(NEVER) == says("抱歉，工具调用失败，没有得到结果，我没能完成。请稍后再试。")
