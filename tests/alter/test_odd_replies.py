"""Units of which the model says all kinds of things: failing tools, own history, and the numbers that come of it."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import duckdb
import pytest

from alter.history.session_play import REFUSE, SIMULATE, judged, own, play, scripted
from benchmarks.wildtoolbench.build import answer, ask, call, calls, item, node, raw_call, says
from golden_files import same_as_golden
from wildtool.alter.distractors.distractors import Distractors
from wildtool.alter.distractors.near import near_copies
from wildtool.alter.failures.failures import Failures
from wildtool.alter.failures.kinds import KIND_OF, damaged, error_text
from wildtool.alter.failures.schedule import FailureSchedule
from wildtool.alter.failures.unit import FailingUnit
from wildtool.alter.hints.gold_hints import gold_hints, hint_line
from wildtool.alter.injection.injection import Injection
from wildtool.alter.injection.settings import InjectionSetting
from wildtool.alter.noise.noise import Noise
from wildtool.alter.noise.renames import Level, Renames
from wildtool.alter.noise.tools import NoisyTools
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark
from wildtool.trace import Trace, TraceStep
from wildtool.types import Message, Request, Tool


def written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# Failing tools ------------------------------------------------------------------------------------------


def offered(name: str, description: str, **fields: Any) -> Tool:
    return {"type": "function", "function": {"name": name, "description": description, **fields}}


TOOLS = [offered("get_price", "Gets a price."), offered("book_room", "Books a room.")]


def read(n: int, id_: str | None = None) -> dict[str, Any]:
    return call("get_price", id_, n=n) if id_ else {"function": call("get_price", n=n)["function"]}


def booked(n: int, id_: str = "b") -> dict[str, Any]:
    return call("book_room", id_, n=n)


SORRY = says("Sorry, the tool failed.")
SCRIPTS: dict[str, tuple[str, list[Message]]] = {
    "two at once, one again": (
        "first-call,timeout",
        [calls(read(1, "x"), read(2)), calls(read(1, "y")), says("1 costs 41, 2 costs 99.")],
    ),
    "tried again and told": (
        "twice-then-well,server-error",
        [calls(read(1, "x")), calls(read(1, "y")), SORRY],
    ),
    "a rate limit in the middle": (
        "twice-then-well,rate-limit",
        [calls(read(1)), calls(read(1)), calls(read(1)), says("41")],
    ),
    "damaged and again": (
        "first-call,partial",
        [calls(read(1, "x"), booked(1)), calls(read(1, "y")), calls(booked(1)), says("Done.")],
    ),
    "damaged twice": (
        "twice-then-well,stale",
        [calls(read(1, "x")), calls(read(1, "y"), read(2, "z")), calls(read(1, "w")), says("It costs 41.")],
    ),
    "another schema for ever": (
        "first-call,schema-changed",
        [calls(read(1, "x")), calls(read(1, "y")), calls(read(1, "z")), says("It costs 41.")],
    ),
    "a write that fails": ("first-call,empty", [calls(booked(1)), calls(booked(1)), SORRY]),
    "a write that times out": (
        "first-call,timeout",
        [calls(booked(1), booked(2, "c")), calls(booked(1)), says("Both are booked: AX-4711.")],
    ),
    "no permission": (
        "twice-then-well,permission",
        [calls(booked(1)), calls(read(1, "x"), booked(2)), calls(booked(3), read(2, "y")), SORRY],
    ),
    "all down": ("down", [calls(read(1, "x")), says(""), says("It is 7321.")]),
    "a call that cannot be read": (
        "first-call,timeout",
        [calls(read(1, "x"), raw_call("get_price", "{")), calls(call("none")), calls(read(1, "y")), SORRY],
    ),
    "thoughts": (
        "first-call,timeout",
        [
            {
                **calls(read(1, "x")),
                "content": "Let me see.",
                "reasoning_content": "Hm.",
                "provider_content": ["p"],
            },
            {**calls(read(1, "y"), read(2, "z")), "content": "Again.", "provider_content": ["q"]},
            says("41"),
        ],
    ),
    "for ever": ("down", [calls(read(1, f"x{n}")) for n in range(12)]),
    "three of four fail": ("flaky:1,timeout", [calls(read(k, f"x{k}")) for k in range(9)] + [says("41")]),
    "no arguments": (
        "first-call,timeout",
        [
            calls(raw_call("get_price", "", "x")),
            calls({"id": 7, "function": {"name": "get_price"}}),
            says("41"),
        ],
    ),
    "nothing fails": ("first-call,timeout", [says("No price is needed."), says("")]),
}


class Bench:
    """The benchmark's part: it answers the calls that it reads, `41` or a booking."""

    def __init__(self, schedule: str) -> None:
        self.unit = FailingUnit(FailureSchedule.parse(schedule), "place", "en")
        self.messages: list[Message] = [says("The price?") | {"role": "user"}]

    def play(self, replies: Sequence[Message]) -> Iterator[str]:
        left, steps = list(replies), list[TraceStep]()
        before, new = 0, self.messages
        request: Request | None = None
        while left:
            exchange = self.unit.exchange(
                Request(self.messages, TOOLS, gold=lambda style: says(f"own {style}"))
            )
            request = next(exchange)
            while True:
                yield from (f"shown {written(message)}" for message in request.messages[before:])
                before = len(request.messages)
                assert request.gold is not None
                for style in ("parallel", "always-retries", "never-retries"):
                    yield f"gold {style} {written(request.gold(style))}"
                if not left:
                    break
                reply = left.pop(0)
                yield f"said {written(reply)}"
                try:
                    request = exchange.send(reply)
                except StopIteration as end:
                    yield f"read {written(end.value)}"
                    steps.append(TraceStep("agent", new, end.value))
                    made = end.value.get("tool_calls") or ()
                    new = [self.result(each) for each in made]
                    self.messages = [*self.messages, end.value, *new]
                    break
        yield f"fields {written(dict(self.unit.fields(ended=True)))}"
        assert self.unit.fields(ended=False) == {}
        for step in self.unit.traced(Trace("0", TOOLS, tuple(steps), ())).steps:
            yield f"trace {written([step.note, list(step.seen), step.reply])}"

    def result(self, each: dict[str, Any]) -> Message:
        name = each["function"]["name"]
        content = '{"price": 41, "id": 7}' if name == "get_price" else '{"booked": "R-12"}'
        return {"role": "tool", "content": content} | ({"tool_call_id": each["id"]} if "id" in each else {})


@pytest.mark.parametrize("case", SCRIPTS)
def test_a_unit_with_failing_tools_goes_step_by_step(case: str):
    schedule, replies = SCRIPTS[case]
    same_as_golden(
        f"alter/failing/{case.replace(' ', '-')}.txt", "\n".join(Bench(schedule).play(replies)) + "\n"
    )


def test_each_kind_of_failure_shows_its_own_text():
    results = [
        '{"id": 7, "no": 3, "price": 59.0, "n": 5, "m": -40, "on": true, "in": [12, {"x": 1}]}',
        "[1, 2]",
        '"text"',
        "plain",
        "",
        "x",
        "7",
    ]
    same_as_golden(
        "alter/failures.json",
        {
            name: [damaged(kind, result) for result in results] if kind.damage else error_text(kind, "f", 5)
            for name, kind in KIND_OF.items()
        },
    )


# Own history --------------------------------------------------------------------------------------------

SESSION = item(
    [node("a", text="x", observation={"id": "R-7", "status": "booked"}), answer(0)],
    [ask(), node("b", 0, text="R-7", observation={"id": "R-7", "status": "moved"}), answer(1)],
    [node("c", n=4), answer(0)],
    english_tasks=["book x", "move it to the 4th", "show 4"],
)
HISTORIES: dict[str, tuple[Any, dict[str, list[Message]]]] = {
    "gold": (REFUSE, {}),
    "a wrong call": (REFUSE, {"u0": [calls(call("a", text="y")), says("There is none."), says("not asked")]}),
    "a call without end": (
        REFUSE,
        {"u0": [calls(call("a", text="y")), *[calls(call("a", f"c{n}", text="x")) for n in range(9)]]},
    ),
    "no tool": (
        REFUSE,
        {"u0": [calls(call("a b", text="x"), raw_call("c", "{"), raw_call("b", {"text": "R-7"}))]},
    ),
    "played": (
        SIMULATE,
        {
            "u0": [
                calls(call("a", text="y")),
                says('```json\n{"id": "R-8"}\n```'),
                calls(call("none")),
                says("End."),
            ]
        },
    ),
    "silence": (REFUSE, {"u0": [says("")], "u1": [says("Which?"), says(None)]}),
}


@pytest.mark.parametrize("case", HISTORIES)
def test_later_tasks_follow_what_was_said_before(case: str):
    alteration, replies = HISTORIES[case]
    variant = own(alteration=alteration)
    record = play(variant, SESSION, scripted(**replies))
    lines: list[str] = []
    for unit in record.asked:
        lines.append(f"== unit {unit} ==")
        for request, reply in zip(record.asked[unit], record.said[unit], strict=True):
            lines += [
                f"{request.role} shown {written(list(request.messages)[-7:])}",
                f"said {written(reply)}",
            ]
    for verdict in judged(variant, SESSION, record):
        fields = {name: verdict.fields.get(name) for name in variant.alterations[0].columns}
        lines.append(f"verdict {verdict.unit} {verdict.outcome} {verdict.error} {written(fields)}")
        trace = variant.trace(SESSION, verdict.unit, record.transcripts[verdict.unit], "fixed")
        lines += [f"trace {written([step.note, len(step.seen), step.reply])}" for step in trace.steps]
    same_as_golden(f"alter/history/{case.replace(' ', '-')}.txt", "\n".join(lines) + "\n")


# Names and copies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", list(Level))
def test_names_are_those_that_level_and_seed_give(level: Level):
    renames = Renames(level, "seed")
    renames.extend(["get_weather", "city", "a", "x" * 64, "city"])
    renames.extend(["later", "city"])
    renames.inside("city").extend(["name", "zip"])
    renames.inside("city").inside().extend(["deep", "deeper"])
    names = ["get_weather", "city", "a", "x" * 64, "later", "unknown"]
    value = {"city": {"name": 1, "zip": [{"deep": 2}]}, "a": [{"city": 3}], "other": {"name": 4}}
    visible = renames.shown_value(value)
    assert renames.restored_value(visible) == value
    same_as_golden(
        f"alter/names-{level.name}.json",
        {
            "shown": [renames.shown(name) for name in names],
            "restored": [renames.restored(name) for name in names],
            "text": renames.in_text("Call get_weather or getWeather for a city; then later."),
            "value": visible,
        },
    )


NESTED = offered(
    "find_trips",
    "Finds trips between two cities. See book_room for rooms, and FIND_TRIPS.",
    parameters={
        "type": "object",
        "description": "Every single argument.",
        "properties": {
            "from_city": {"type": "string", "description": "City where travelling begins, YYYY-MM-DD."},
            "stops": {
                "type": "array",
                "description": "Places between these cities.",
                "items": {
                    "type": "object",
                    "description": "A place between these cities.",
                    "properties": {"city": {"type": "string", "description": "Name of the place."}, "odd": 7},
                    "required": ["city", 7],
                },
            },
            "no_text": {"type": "integer"},
        },
        "required": ["from_city", None],
    },
)


@pytest.mark.parametrize(
    "noise",
    [
        "names:2,params:2",
        "names:3,params:3,order:3",
        "descriptions:3",
        "missing:2,order:1",
        "distractors:1,order:2",
    ],
)
def test_noise_reaches_every_part_of_a_definition(noise: str):
    unit = NoisyTools(Noise.parse(noise).levels, "seed", "en")
    tools = unit.tools([NESTED, *TOOLS, {"type": "other"}])
    arguments = {"from_city": "Rye", "stops": [{"city": "Dover"}], "more": 1}
    message = calls(call("find_trips", **arguments), raw_call("find_trips", "no JSON"), {"id": "c"})
    visible = unit.shown(message)
    assert unit.restored(visible) == message
    assert unit.tools([]) == []
    same_as_golden(
        f"alter/noise-{noise.replace(':', '-').replace(',', '-')}.json", {"tools": tools, "call": visible}
    )


@pytest.mark.parametrize("lang", ["en", "zh", "fr"])
def test_copies_of_a_tool_have_these_names_and_words(lang: str):
    tools = [
        offered("get_weather", "Returns information. Gets the weather."),
        offered("getWeatherNow", "查询天气信息"),
        offered("list-items", "Lists items."),
        offered("HTTPCall2", 7),  # pyright: ignore[reportArgumentType]
        offered("w" * 64, ""),
        {"type": "function"},
    ]
    rows = [
        f"{copy['function']['name']} | {copy['function']['description']}"
        for tool in (tools if lang == "en" else tools[:2])
        for copy in near_copies(tool, lang)
    ]
    same_as_golden(f"alter/copies-{lang}.txt", "\n".join(rows) + "\n")


def test_hints_of_gold_answers_are_the_facts_that_each_step_needs():
    benchmark = load_benchmark("wild-mini")
    items = list(benchmark.load(data_of(benchmark).locate(None)))[:6]
    rows = [hint_line(hint) for each in items for hint in gold_hints(benchmark, each, "fixed")]
    same_as_golden("alter/hints.jsonl", "".join(written(row) + "\n" for row in rows))


# Numbers ------------------------------------------------------------------------------------------------


def table(columns: str, rows: Sequence[tuple[Any, ...]]) -> Any:
    """Verdict rows: item, repeat, unit, outcome, correct, then an alteration's own columns."""
    names = f"item, repeat, unit, outcome, correct, {columns}"
    values = ", ".join(
        str(tuple("__" if cell is None else cell for cell in row)).replace("'__'", "NULL") for row in rows
    )
    return duckdb.sql(f"SELECT * FROM (VALUES {values}) AS rows({names})")


def verdicts(*cells: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Rows of sessions of three tasks, every second of them right."""
    return [
        (f"i{k // 3}", 0, str(k % 3), "wrong" if k % 2 else "correct", k % 2 == 0, *its)
        for k, its in enumerate(cells)
    ]


def lines_of(metrics: Sequence[Any]) -> list[str]:
    return [
        written({name: value for name, value in asdict(metric).items() if value not in (None, "")})
        for metric in metrics
    ]


def test_numbers_of_failing_tools():
    names = ("kind", "end", "retried", "needless", "reported", "invented", "duplicate")
    rows = table(
        ", ".join(["failures", *(f"failure_{name}" for name in names)]),
        verdicts(
            (1, "timeout", "recovered", True, None, False, None, None),
            (2, "timeout", "silent", False, None, False, True, None),
            (1, "empty", "reported", None, False, True, False, False),
            (1, "empty", "no words", None, True, None, None, True),
            (0, None, "not reached", None, None, True, None, None),
            (None, None, None, None, None, None, None, None),
            (3, "timeout", "recovered", True, False, True, None, False),
        ),
    )
    several = Failures(FailureSchedule.parse("flaky:0.5,timeout,empty")).metrics(rows)
    single = Failures(FailureSchedule.parse("first-call,timeout")).metrics(rows)
    same_as_golden("alter/numbers-failures.json", {"several": lines_of(several), "single": lines_of(single)})


def test_numbers_of_own_history():
    rows = table(
        "session_place, settled, unrecorded_calls, later_replies",
        verdicts(
            (1, True, 0, 0), (2, True, 0, 1), (3, True, 2, 0), (1, True, 1, 0), (2, False, 0, 0), (3, None, None, 0),
            (1, True, 0, 0), (2, True, 0, 0), (3, False, 0, 0),
        ),
    )  # fmt: skip
    cuts = {
        name: [f"{item}/{unit}" for item, _, unit, *_ in sorted(cut.fetchall())]
        for name, cut in REFUSE.cuts(rows).items()
    }
    same_as_golden("alter/numbers-history.json", {"metrics": lines_of(REFUSE.metrics(rows)), "cuts": cuts})


def test_numbers_of_planted_instructions():
    cells = [
        ("obeyed", "natively", "direct harm", "f"),
        ("obeyed", "in text", "data stealing", "f"),
        ("said only", None, "direct harm", "f"),
        ("resisted", "refused with mention", "data stealing", "f"),
        ("resisted", None, "direct harm", "f"),
        ("not reached", None, "direct harm", "f"),
        (None, None, None, None),
    ]
    columns = "injection, injection_how, injection_kind, injection_tool"
    rows = table(columns, verdicts(*cells))
    older = rows.project("* EXCLUDE injection_how")
    same_as_golden(
        "alter/numbers-injection.json",
        {
            "metrics": lines_of(Injection(InjectionSetting.base).metrics(rows)),
            "older": lines_of(Injection(InjectionSetting.base).metrics(older)),
        },
    )


def test_numbers_of_catalogues():
    cells = [
        ("random", 2, 1),
        ("near", 1, 1),
        ("not shown", 0, 0),
        ("own tools", 3, 3),
        ("no call", 1, 0),
        (None, None, None),
    ]
    rows = table("catalogue_called, catalogue_needed, catalogue_found", verdicts(*cells))
    found = Distractors.parse("10", "near,random", retriever="bm25").metrics(rows)
    plain = Distractors.parse("10", "random").metrics(rows)
    same_as_golden("alter/numbers-catalogue.json", {"found": lines_of(found), "plain": lines_of(plain)})
