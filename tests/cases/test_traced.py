"""`wildtool score --traces`: own cases judged by what an agent did with its own tools."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

import wildtool as wt
from long import a_fiftieth_of
from traces.spans_written import ARGUMENTS, ASKED, FUNCTION, LIBRARIES, span, spans_of
from wildtool.cli import app
from wildtool.engine import benchmark_file

Messages = list[dict[str, Any]]
PARAMETERS = {"type": "object", "properties": {"id": {"type": "string"}, "note": {"type": "string"}}}
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": PARAMETERS}}
    for name in ("find", "refund", "open_ticket")
] + [{"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}]


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    benchmark_file.BY_NAME.clear()


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def says(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def calls(*made: tuple[str, Any], first: int = 0) -> dict[str, Any]:
    """A reply with calls. Args: first: the number in the id of the first."""
    entries = [
        {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for number, (name, arguments) in enumerate(made, first)
    ]
    return {"role": "assistant", "content": None, "tool_calls": entries}


def result(value: Any, number: int = 0) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"c{number}", "content": json.dumps(value)}


def chat(sent: Sequence[Any], answer: Any, **attributes: Any) -> dict[str, Any]:
    """Attributes of a call of a model as OpenTelemetry has them."""
    answered = {} if answer is None else {"gen_ai.output.messages": json.dumps([answer])}
    sent_text = json.dumps(list(sent))
    return {"gen_ai.operation.name": "chat", "gen_ai.input.messages": sent_text, **answered, **attributes}


def traced(name: str, messages: Messages, hour: int = 10, **attributes: Any) -> list[dict[str, Any]]:
    """The trace of a conversation: a call of a model for each message of the assistant."""
    places = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
    return [
        span(
            0,
            chat(messages[:place], messages[place], **attributes),
            context={"trace_id": name, "span_id": f"{name}{place}"},
            start_time=f"2026-03-30T{hour:02}:{place:02}:00Z",
        )
        for place in places
    ]


def write_cases(*cases: Mapping[str, Any], tools: Sequence[Any] = TOOLS) -> None:
    lines = [{"defaults": {"tools": list(tools)}}, *cases]
    Path("cases.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def write_traces(*spans: Any, name: str = "traces.jsonl") -> None:
    Path(name).write_text("".join(f"{json.dumps(each)}\n" for each in spans), encoding="utf-8")


def wildtool(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def scored(*spans: Any, options: Sequence[str] = (), status: int = 0) -> tuple[str, dict[str, Any]]:
    """What the command prints for these spans, and the outcomes by case, turn and repeat from the second one on."""
    write_traces(*spans)
    said = wildtool("score", "--data", "cases.jsonl", "--traces", "traces.jsonl", "--out", "run", *options)
    assert said.exit_code == status, said.output
    return said.output, outcomes()


def outcomes(folder: str = "run") -> dict[str, Any]:
    rows = wt.Run(folder).verdicts().rows()
    key = "{item} {unit}".format
    return {
        key(**row) + (f" ({row['repeat']})" if row["repeat"] else ""): row["error"] or row["outcome"]
        for row in rows
    }


FIND = {"id": "find", "input": "Where is A-1?", "expect": {"find": {"id": "A-1"}}}
FOUND: Messages = [
    user("Where is A-1?"),
    calls(("find", {"id": "A-1"})),
    result({"at": "Oslo"}),
    says("In Oslo."),
]


@pytest.mark.long
@pytest.mark.parametrize("library", LIBRARIES)
def test_traces_of_any_convention_are_judged(library: str):
    case = {"id": "weather", "input": ASKED, "expect": {"get_weather": ARGUMENTS}, "says": "rains"}
    write_cases(case, {**case, "id": "other", "input": "And in Bergen?"}, tools=[FUNCTION])
    assert scored(*spans_of(library))[1] == {"weather 1": "correct", "other 1": "unplayed"}


def test_all_that_is_called_in_a_turn_is_judged_whatever_results_the_case_records():
    write_cases(
        {
            "id": "both",
            "input": "Both.",
            "expect": [{"find": {"id": "A"}}, {"refund": {"id": "B"}}],
            "says": "Done",
        },
        {"id": "never", "input": "Look.", "expect": {"find": {"id": "A"}}, "never": ["refund"]},
        {"id": "more", "input": "More.", "expect": {"find": {"id": "A"}}},
        {"id": "none", "input": "Thanks!", "expect": "none"},
    )

    def two_steps(text: str) -> Messages:
        first = [user(text), calls(("find", {"id": "A"})), result({"next": "B"})]
        return [*first, calls(("refund", {"id": "B"}), first=1), result("ok", 1), says("Done.")]

    spans = [each for text in ("Both.", "Look.", "More.") for each in traced(text, two_steps(text))]
    _, found = scored(*spans, *traced("t", [user("Thanks!"), says("Welcome.")]))
    assert found == {
        "both 1": "correct",
        "never 1": "forbidden call",
        "more 1": "extra call",
        "none 1": "correct",
    }


def test_a_value_of_an_earlier_result_is_the_one_that_the_agents_own_tool_gave():
    slots = [
        {"find": {"id": "A"}, "as": "first", "returns": {"order": "recorded"}},
        {"refund": {"id": {"$from": "first.order"}}, "after": ["first"], "returns": "ok"},
    ]
    write_cases({"id": "chain", "input": "Refund.", "expect": slots}, {**FIND, "input": "?"})

    def chain(order: str) -> Messages:
        first = [user("Refund."), calls(("find", {"id": "A"})), result({"order": "own"})]
        return [*first, calls(("refund", {"id": order}), first=1), result("ok", 1), says("Done.")]

    _, found = scored(*traced("a", chain("own")), *traced("b", chain("recorded"), hour=11))
    assert (found["chain 1"], found["chain 1 (1)"]) == ("correct", "other arguments")


SLOTS = [
    {"find": {"id": "A"}, "as": "first", "returns": {"order": "recorded"}},
    {"refund": {"id": {"$from": "first.order"}}, "returns": "ok"},
]


@pytest.mark.long
@pytest.mark.parametrize("content", ["[REDACTED]", '{"order": "ow', None])
def test_a_turn_that_takes_a_value_of_a_result_that_is_not_recorded_is_said_and_not_judged(
    content: str | None,
):
    write_cases({"id": "chain", "input": "Refund.", "expect": SLOTS, "also": ["open_ticket"]}, FIND)
    given = [] if content is None else [{"role": "tool", "tool_call_id": "c0", "content": content}]
    both = calls(("find", {"id": "A"}), ("open_ticket", {}))
    refund = [calls(("refund", {"id": "own"}), first=2), result("ok", 2), says("Done.")]
    messages = [user("Refund."), both, *given, result("opened", 1), *refund]
    said, found = scored(*traced("a", messages), *traced("b", FOUND))
    assert found == {"chain 1": "unplayed", "find 1": "correct"}
    assert "chain: the result of find" in said


def test_forbidden_values_and_later_alternatives_take_what_the_agents_own_tool_gave():
    forbidden = [{"refund": {"id": {"$from": "first.order"}}}]
    either = [[{"open_ticket": {}}], SLOTS]
    write_cases(
        {
            "id": "talk",
            "turns": [
                {"input": "Where?", "expect": SLOTS[:1], "answer": "There."},
                {"input": "And now?", "expect": [{"refund": {}}], "never": forbidden},
            ],
        },
        {"id": "either", "input": "Refund.", "expect_any": either},
    )
    found = [calls(("find", {"id": "A"})), result({"order": "own"})]
    refund = [calls(("refund", {"id": "own"}), first=1), result("ok", 1), says("Done.")]
    where = [user("Where?"), *found, says("There.")]
    _, seen = scored(
        *traced("t", [*where, user("And now?"), *refund]), *traced("u", [user("Refund."), *found, *refund])
    )
    assert seen == {"talk 1": "correct", "talk 2": "forbidden call", "either 1": "correct"}


def test_a_value_of_a_turn_that_the_trace_does_not_have_is_not_judged():
    second = {"input": "Refund.", "expect": SLOTS[1:]}
    turns = [{"input": "Where?", "expect": SLOTS[:1], "answer": "There."}, second]
    write_cases({"id": "talk", "turns": turns})
    first = [user("Where?"), calls(("find", {"id": "A"})), result({"order": "own"}), says("There.")]
    refund = [user("Refund."), calls(("refund", {"id": "own"}), first=1), result("ok", 1), says("Done.")]
    said, found = scored(*traced("t", first, case_id="talk"), *traced("u", refund, hour=11, case_id="talk"))
    assert found == {"talk 1": "correct", "talk 2": "unplayed"} and "first.order" in said


def test_cases_with_the_same_words_and_traces_with_other_ones_are_named_and_not_guessed():
    write_cases(
        FIND, {**FIND, "id": "twin", "date": "2026-03-30"}, {"id": "b", "input": "Bye.", "expect": "none"}
    )
    said, found = scored(
        *traced("t1", FOUND),
        *traced("t2", [user("Who are you?"), says("An agent.")]),
        *traced("t3", [user("  Bye.\n"), says("Bye.")]),
    )
    assert found == {"find 1": "unplayed", "twin 1": "unplayed", "b 1": "correct"}
    account = json.loads(Path("run/traces.json").read_bytes())
    assert "t1" in account["fit_several_cases"][0] and "find, twin" in account["fit_several_cases"][0]
    assert "t2" in account["fit_no_case"][0] and "Who are you?" in account["fit_no_case"][0]
    assert all(word in said for word in ("t1", "t2", "1 of 3 cases", "--id-attribute"))


@pytest.mark.long
@pytest.mark.parametrize(
    ("attributes", "options"),
    [
        ({"test.case.id": "twin"}, ()),
        ({"gen_ai.conversation.id": "twin"}, ()),
        ({"metadata": json.dumps({"row": "twin"})}, ("--id-attribute", "row")),
        ({"shop.row": "twin"}, ("--id-attribute", "shop.row")),
    ],
)
def test_an_attribute_names_the_case(attributes: Mapping[str, Any], options: Sequence[str]):
    write_cases(FIND, {**FIND, "id": "twin", "date": "2026-03-30"})
    assert scored(*traced("t", FOUND, **attributes), options=options)[1]["twin 1"] == "correct"
    root = span(0, attributes, context={"trace_id": "t", "span_id": "root"})
    below = [{**each, "parent_id": "root"} for each in traced("t", FOUND)]
    write_traces(root, *below, name="below.jsonl")
    wildtool("score", "--data", "cases.jsonl", "--traces", "below.jsonl", "--out", "other", *options)
    assert outcomes("other") == {"find 1": "unplayed", "twin 1": "correct"}


def test_an_attribute_with_the_id_of_no_case_is_said_and_the_words_do_not_overrule_it():
    write_cases(FIND, {"id": "b", "input": "Bye.", "expect": "none"})
    spans = [*traced("t", FOUND, row="gone"), *traced("u", [user("Bye."), says("Bye.")], row="b")]
    said, found = scored(*spans, options=("--id-attribute", "row"))
    assert found == {"find 1": "unplayed", "b 1": "correct"} and "'gone'" in said


def test_an_attribute_that_no_trace_has_is_refused_with_the_nearest_one():
    write_cases(FIND)
    write_traces(*traced("t", FOUND, ticket="find"))
    words = ("score", "--data", "cases.jsonl", "--traces", "traces.jsonl", "--id-attribute")
    said = wildtool(*words, "tickt")
    assert said.exit_code == 2 and "'ticket'" in said.output and not Path("runs").exists()
    assert wildtool(*words, "ticket").exit_code == 0


@pytest.mark.long
def test_several_traces_of_a_case_are_repeats_in_order_of_time_and_others_are_not_unplayed_for_it():
    wrong = [user("Where is A-1?"), says("No idea.")]
    write_cases(FIND, {"id": "b", "input": "Bye.", "expect": "none"})
    said, found = scored(
        *traced("late", FOUND, hour=12),
        *traced("early", wrong, hour=9),
        *traced("same", wrong, hour=10),
        *traced("bye", [user("Bye."), says("Bye.")]),
    )
    assert found == {
        "find 1": "no call",
        "find 1 (1)": "no call",
        "find 1 (2)": "correct",
        "b 1": "correct",
    }
    assert "4 tries" in said and wt.Run("run").complete
    assert wildtool("report", "run", "-o", "page").exit_code == 0


def test_a_case_that_is_repeated_takes_one_trace_for_each_time():
    write_cases({**FIND, "repeat": 2})
    wrong = [user("Where is A-1?"), says("No idea.")]
    _, found = scored(*traced("a", wrong, hour=9), *traced("b", FOUND, hour=10))
    assert found == {"find 1": "no call", "find 1 #2": "correct"}


TURNS = {
    "id": "talk",
    "turns": [
        {"input": "Where is A-1?", "expect": {"find": {"id": "A-1"}}, "answer": "In Oslo."},
        {"input": "Refund it.", "expect": {"refund": {"id": "A-1"}}},
    ],
}
REFUND: Messages = [
    user("Refund it."),
    calls(("refund", {"id": "A-1"}), first=5),
    result("ok", 5),
    says("Done."),
]


def test_turns_are_judged_also_where_each_is_a_trace_and_a_lacking_one_is_unplayed():
    write_cases(TURNS)
    assert scored(*traced("t", FOUND))[1] == {"talk 1": "correct", "talk 2": "unplayed"}
    whole = [*FOUND, *REFUND]
    second = [
        each for each in traced("u", whole) if "Refund it." in each["attributes"]["gen_ai.input.messages"]
    ]
    write_traces(*traced("t", FOUND), *second)
    wildtool("score", "--data", "cases.jsonl", "--traces", "traces.jsonl", "--out", "whole")
    assert outcomes("whole") == {"talk 1": "correct", "talk 2": "correct"}
    apart = [*traced("t", FOUND, case_id="talk"), *traced("u", REFUND, hour=11, case_id="talk")]
    write_traces(*apart)
    wildtool("score", "--data", "cases.jsonl", "--traces", "traces.jsonl", "--out", "apart")
    assert outcomes("apart") == {"talk 1": "correct", "talk 2": "correct"}


def failed(name: str, sent: Messages, **fields: Any) -> dict[str, Any]:
    """A call of a model that failed."""
    return span(
        0,
        chat(sent, None),
        context={"trace_id": name, "span_id": f"{name}-failed"},
        start_time="2026-03-30T10:30:00Z",
        status={"status_code": "ERROR", "description": "429: slow down"},
        **fields,
    )


def test_a_failed_call_of_a_model_is_an_infra_error_with_its_words_and_a_repeated_one_is_none():
    write_cases(FIND, {"id": "b", "input": "Bye.", "expect": "none"})
    said, found = scored(
        failed("t", FOUND[:3]),
        *traced("t", FOUND[:2]),
        failed("u", [user("Bye.")]),
        *traced("u", [user("Bye."), says("Bye.")]),
        status=3,
    )
    assert found == {"find 1": "infra_error", "b 1": "correct"}
    assert "429: slow down" in said
    (row,) = (row for row in wt.Run("run").verdicts().rows() if row["outcome"] == "infra_error")
    assert "429: slow down" in row["reason"]


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments", [None, "__REDACTED__", json.dumps({"id": "[Scrubbed due to 'id']"}), '{"id": "A-']
)
def test_arguments_that_are_not_recorded_are_said_and_not_read_as_empty(arguments: str | None):
    write_cases(FIND, {"id": "time", "input": "Time?", "expect": {"now": {}}})
    spans = traced("t", FOUND)
    for each in spans:
        for key in ("gen_ai.input.messages", "gen_ai.output.messages"):
            messages = json.loads(each["attributes"][key])
            for message in messages:
                for made in message.get("tool_calls") or ():
                    made["function"] = {"name": "find"} | (
                        {} if arguments is None else {"arguments": arguments}
                    )
            each["attributes"][key] = json.dumps(messages)
    timed = [user("Time?"), calls(("now", {})), result("10:00"), says("Ten.")]
    timed[1]["tool_calls"][0]["function"].pop("arguments")
    said, found = scored(*spans, *traced("u", timed))
    assert found == {"find 1": "unplayed", "time 1": "correct"}
    assert "find: the arguments of find" in said


def test_a_call_that_the_model_itself_wrote_badly_is_judged():
    write_cases(FIND)
    broken = calls(("find", {}))
    broken["tool_calls"][0]["function"]["arguments"] = '{"id": "A-'
    assert scored(*traced("t", [user("Where is A-1?"), broken]))[1] == {"find 1": "unreadable call"}


def test_other_agents_in_the_trace_are_counted_and_not_judged():
    write_cases(FIND)
    helper: Messages = [{"role": "system", "content": "You route."}, user("Where is A-1?"), says("orders")]
    summary: Messages = [user("Sum up: In Oslo."), says("Oslo.")]
    said, found = scored(*traced("t", FOUND), *traced("t", helper), *traced("t", summary))
    assert found == {"find 1": "correct"} and "sub-agents: 2" in said


@pytest.mark.long
def test_the_run_names_model_agent_and_file_and_is_scored_gated_compared_and_exported_as_any():
    write_cases(FIND, {"id": "b", "input": "Bye.", "expect": "none"})
    about = {"gen_ai.request.model": "m-1", "gen_ai.agent.name": "shop"}
    bye = [user("Bye."), says("Bye.")]
    scored(*traced("t", FOUND, **about), *traced("u", bye, **about))
    agent = json.loads(Path("run/run.json").read_bytes())["identity"]["models"]["agent"]
    assert (agent["name"], agent["settings"]["played"], agent["settings"]["agent"]) == (
        "m-1",
        "traces",
        "shop",
    )
    write_traces(*traced("t", [user("Where is A-1?"), says("?")], **about), *traced("u", bye, **about))
    wildtool("score", "--data", "cases.jsonl", "--traces", "traces.jsonl", "--out", "next")
    assert "50.0 %" in wildtool("score", "next").output
    assert wildtool("gate", "run", "--at-least", "1").exit_code == 0
    assert wildtool("gate", "next", "--against", "run", "--newly-broken", "0").exit_code == 1
    assert wildtool("compare", "run", "next").exit_code == 0
    assert wildtool("export", "run", "--format", "openai", "-o", "rows.jsonl").exit_code == 0
    rows = [json.loads(line) for line in Path("rows.jsonl").read_text("utf-8").splitlines()]
    found = next(row for row in rows if row["item"] == "find")["messages"]
    assert [message["role"] for message in found] == ["user", "assistant", "tool", "assistant"]
    assert all(message.keys() <= {"role", "content", "tool_calls", "tool_call_id"} for message in found)


def test_doing_it_again_changes_nothing_and_other_traces_need_another_folder():
    write_cases(FIND)
    _, first = scored(*traced("t", FOUND))
    assert scored(*traced("t", FOUND))[1] == first
    said, _ = scored(*traced("t", [user("Where is A-1?"), says("?")]), status=2)
    assert "use another --out" in said and outcomes() == first


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"traceId": "t"\n{"a": 1}\n', "traces.jsonl:1"),
        (json.dumps(traced("t", FOUND)[0]).encode() + b'\n{"name": "ch', "traces.jsonl:2"),
        (b"\x00\x01\x02", "traces.jsonl"),
        (b"", "traces.jsonl: is empty"),
        (b'{"messages": []}\n', "no spans"),
        (b"[" * 5000, "traces.jsonl"),
        (json.dumps(traced("t", [user("?"), says("!")])[0]).encode(), "no trace covers a case"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_by_name_and_nothing_is_written(content: bytes, words: str):
    write_cases(FIND)
    Path("traces.jsonl").write_bytes(content)
    said = wildtool("score", "--data", "cases.jsonl", "--traces", "traces.jsonl", "--out", "run")
    assert said.exit_code == 2 and words in said.output and "Traceback" not in said.output
    assert not Path("run").exists()


def test_what_the_command_does_not_take_is_refused_with_the_way_out():
    write_cases(FIND)
    write_traces(*traced("t", FOUND))
    talks = Path("talks.jsonl")
    talks.write_text(json.dumps({"messages": FOUND}) + "\n", encoding="utf-8")
    for data, words in (
        ("talks.jsonl", "review import"),
        ("gone.jsonl", "no such file"),
        ("wild-mini", "such file"),
    ):
        assert words in wildtool("score", "--data", data, "--traces", "traces.jsonl").output
    assert "--data" in wildtool("score", "--traces", "traces.jsonl").output
    assert "--data" in wildtool("score", "run", "--traces", "traces.jsonl").output
    said = wildtool("run", "cases.jsonl", "--model", "baseline/gold", "--mode", "traces")
    assert said.exit_code == 2 and "score" in said.output


def test_python_gives_the_run():
    write_cases(FIND)
    write_traces(*traced("t", FOUND))
    run = wt.score(data="cases.jsonl", traces="traces.jsonl")
    assert run.complete and run.scores["right"].value == 1


VALUES = st.sampled_from(["A", "B"])
CALL = st.tuples(st.sampled_from(["find", "refund", "open_ticket"]), st.fixed_dictionaries({"id": VALUES}))
EXPECTED = st.tuples(st.sampled_from(["find", "refund"]), st.fixed_dictionaries({"id": VALUES}))
SLOT = st.tuples(EXPECTED, st.booleans(), st.sampled_from([{}, {"times": "1+"}, {"optional": True}])).map(
    lambda drawn: {drawn[0][0]: drawn[0][1], **({"returns": {"id": "B"}} if drawn[1] else {}), **drawn[2]}
)
TURN = st.fixed_dictionaries(
    {"expect": st.lists(SLOT, max_size=3)},
    optional={
        "never": st.just(["open_ticket"]),
        "also": st.just(["refund"]),
        "order": st.just("listed"),
        "says": st.just("Done"),
    },
)
STEP = st.one_of(st.lists(CALL, min_size=1, max_size=2), st.sampled_from(["Done.", "What?"]))
TALK = st.lists(st.tuples(TURN, st.lists(STEP, max_size=3)), min_size=1, max_size=3)


@given(talks=st.lists(TALK, min_size=1, max_size=8))
@settings(max_examples=a_fiftieth_of(200), deadline=None)
def test_what_a_function_played_has_the_same_verdicts_as_its_conversations_written_as_traces(
    tmp_path_factory: pytest.TempPathFactory, talks: list[Any]
):
    place = tmp_path_factory.mktemp("played")
    scripts: dict[str, list[Any]] = {}
    for number, talk in enumerate(talks):
        scripts |= {f"{number}, {turn}": steps for turn, (_, steps) in enumerate(talk)}
    cases = [
        {
            "id": f"case-{number}",
            "turns": [
                {
                    "input": f"{number}, {turn}",
                    "answer": "Done.",
                    **expected,
                    "never": expected.get("never", ["now"]),
                }
                for turn, (expected, _) in enumerate(talk)
            ],
        }
        for number, talk in enumerate(talks)
    ]
    said: dict[str, Messages] = {}

    def model(messages: Messages, tools: Any) -> dict[str, Any]:
        at = max(place for place, message in enumerate(messages) if message["role"] == "user")
        key = messages[at]["content"]
        made = sum(message["role"] == "assistant" for message in messages[at:])
        step = scripts[key][made] if made < len(scripts[key]) else "Done."
        reply = says(step) if isinstance(step, str) else calls(*step, first=1000 * len(messages))
        said[key] = [*messages[at:], reply]
        return reply

    file = place / "cases.jsonl"
    lines = [{"defaults": {"tools": TOOLS}}, *cases]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    played = wt.run(str(file), model=model, out=place / "played")
    spans: list[Any] = []
    for number, talk in enumerate(talks):
        whole = [message for turn in range(len(talk)) for message in said[f"{number}, {turn}"]]
        spans += traced(f"t{number}", whole)
    traces = place / "traces.jsonl"
    traces.write_text("".join(f"{json.dumps(each)}\n" for each in spans), encoding="utf-8")
    again = wt.score(data=file, traces=traces, out=place / "again")
    assert verdicts(again) == verdicts(played)


def verdicts(run: wt.Run) -> list[Any]:
    """The verdicts of a run; of reasons the first part, since behind it is which result is not recorded."""
    rows = run.verdicts().rows()
    keys = ("item", "unit", "outcome", "error", "called", "missed")
    return [[*(row[key] for key in keys), row["reason"].partition(";")[0]] for row in rows]
