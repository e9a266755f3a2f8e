"""Answers as they arrive, and what a report and a ledger make of them."""

import json
from typing import Any

import pytest

from wildtool.check import report
from wildtool.check.answers import RawAnswer, ReceivedCall, read_raw_answer
from wildtool.check.ledger import DefectFinding, Ledger
from wildtool.check.report import CheckReport, agreement_rows, received_text, sent_text
from wildtool.check.wire_rules import check_wire


def wire(body: Any, **sent: Any) -> RawAnswer:
    return read_raw_answer("p", sent, json.dumps(body).encode())


def stream(*chunks: Any) -> RawAnswer:
    lines = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    return read_raw_answer("p", {"stream": True}, f"{lines}data: [DONE]\n\n".encode())


def completion(message: Any, finish: Any = "stop", **more: Any) -> Any:
    return {"choices": [{"message": message, "finish_reason": finish}], **more}


def call(arguments: Any = "{}", name: Any = "f", **entries: Any) -> Any:
    return {"id": "c", "function": {"name": name, "arguments": arguments}, **entries}


def test_an_answer_is_read_with_its_finish_and_usage():
    message = {"content": "Hi", "tool_calls": [call('{"b": 1, "a": 2}')]}
    answer = wire(
        completion(
            message,
            usage={"prompt_tokens": 3, "x": True, "z": "7", "prompt_tokens_details": {"cached_tokens": 2}},
        )
    )
    assert (answer.message, answer.finish, answer.failure, answer.error_inside) == (
        message,
        "stop",
        "",
        False,
    )
    assert [answer.tokens(kind) for kind in ("prompt_tokens", "x", "y", "z")] == [3, None, None, None]
    assert answer.cached_tokens == 2
    assert answer.calls == [ReceivedCall("f", "c", '{"b": 1, "a": 2}')]
    assert answer.keys == ('f {"a":2,"b":1}',)
    assert (answer.streamed, answer.complete, answer.refused, answer.probe) == (False, True, False, "p")
    assert wire(completion({}, 7)).finish is None
    assert wire(completion({}, "length")).complete is False
    for usage in ({}, {"prompt_tokens_details": {"cached_tokens": None}}):
        assert wire(completion({}, usage=usage)).cached_tokens == 0


@pytest.mark.parametrize(
    ("arguments", "values", "key"),
    [
        ('{"a": 1}', {"a": 1}, 'f {"a":1}'),
        (" ", {}, "f {}"),
        ("{", None, "f {"),
        (None, None, "f None"),
        ({"a": 1}, {"a": 1}, 'f {"a":1}'),
    ],
)
def test_arguments_are_read_whatever_they_are(arguments: Any, values: Any, key: str):
    received = ReceivedCall("f", None, arguments)
    assert (received.values, received.key) == (values, key)


def test_what_holds_no_message_is_a_failure():
    texts = [wire(body) for body in ({}, {"choices": []}, {"choices": [{}]}, completion("x"))]
    assert {(each.failure, each.error_inside, each.refused) for each in texts} == {
        ("the answer holds no message", False, False)
    }
    inside = wire({"error": {"message": "busy"}})
    assert (inside.failure, inside.error_inside, inside.refused, inside.complete) == (
        "busy",
        True,
        True,
        False,
    )
    in_choice = wire({"choices": [{"error": {"message": "broke"}, "message": {}}]})
    assert (in_choice.failure, in_choice.error_inside) == ("broke", True)
    broken = read_raw_answer("p", {}, b"{")
    assert broken.failure
    assert (broken.error_inside, broken.raw) == (False, b"{")
    refusals = [RawAnswer(probe="p", sent={}, failure="x", status=status) for status in (400, 429, 500, None)]
    assert [each.refused for each in refusals] == [True, False, True, False]


def test_pieces_of_calls_are_kept_as_they_came():
    first, second = {"index": 0, **call("")}, {"index": 0, "function": {"arguments": "{}"}}
    answer = stream(
        {"choices": [{"delta": {"tool_calls": [first]}}]},
        {"choices": [{"delta": {"tool_calls": [second]}, "finish_reason": "tool_calls"}]},
    )
    assert answer.deltas == [first, second]
    assert (answer.streamed, answer.finish, answer.keys) == (True, "tool_calls", ("f {}",))


def test_texts_are_read_from_parts_and_reasoning_from_any_of_its_names():
    parts = [{"type": "text", "text": "a"}, {"text": 7}, {"text": "b"}]
    assert wire(completion({"content": parts})).text == "ab"
    assert wire(completion({"content": None})).text == ""
    assert wire(completion({"reasoning": "", "reasoning_content": "hm"})).reasoning == "hm"
    assert wire(completion({"reasoning": 7})).reasoning == ""


# Rules on single answers ------------------------------------------------------------------------------


def said(*answers: RawAnswer) -> tuple[list[tuple[int, str]], list[int], list[str]]:
    """Findings, what else was tested, and remarks."""
    ledger = Ledger()
    check_wire(answers, ledger)
    statuses = ledger.statuses()
    fit = [number for number, status in statuses.items() if status == "fit"]
    return [(each.number, each.problem) for each in ledger.findings], fit, ledger.remarks


SOUND = {"prompt_tokens": 5, "completion_tokens": 2}
CALLED = {"tool_calls": [call()]}


def test_a_sound_answer_passes_what_it_could_show():
    assert said(wire(completion(CALLED, "tool_calls", usage=SOUND))) == (
        [],
        [6, 7, 8, 10, 11, 20, 27, 29],
        [],
    )
    assert said(wire(completion({"content": "Hi"}, usage=SOUND))) == ([], [27, 29], [])
    assert said(wire(completion({"content": "Hi"}, "length", usage=SOUND))) == ([], [27, 29], [])


@pytest.mark.parametrize(
    ("text", "counts", "problem"),
    [
        ("Hi", (5, 0), "usage of 5 prompt and 0 completion tokens"),
        ("", (5, 0), None),
        ("Hi", (5, 2, 7), None),
        ("Hi", (5, 2, 6), "total tokens are not those of prompt and completion"),
        ("Hi", (5, 2, 8, 1), "total tokens are not those of prompt and completion"),
        ("Hi", (5, 2, 9, 1), None),
        ("Hi", (5, 2, 7, 5), None),
        ("Hi", (5, 2, 7, 6), "more cached tokens than prompt tokens"),
    ],
)
def test_usage_that_cannot_be_is_named(text: str, counts: tuple[int, ...], problem: str | None):
    kinds = ("prompt_tokens", "completion_tokens", "total_tokens")
    usage: dict[str, Any] = dict(zip(kinds, counts, strict=False))
    if len(counts) > 3:
        usage["prompt_tokens_details"] = {"cached_tokens": counts[3]}
    findings = [] if problem is None else [(27, problem)]
    assert said(wire(completion({"content": text}, usage=usage)))[0] == findings


def test_each_rule_names_what_it_saw():
    two = {"tool_calls": [call(), call(name="g")]}
    answers = [
        wire(completion(CALLED, "stop", usage=SOUND)),
        wire(completion({}, "tool_calls", usage=SOUND)),
        wire(completion(CALLED, None, usage=SOUND)),
        wire(completion(two, "tool_calls", usage=SOUND)),
        wire(completion({"tool_calls": [call(None)]}, "tool_calls", usage=SOUND)),
        wire(completion({"tool_calls": [call("")]}, "tool_calls", usage=SOUND)),
        wire(completion({"tool_calls": [call({"a": 1})]}, "tool_calls", usage=SOUND)),
        wire(completion({"tool_calls": [call("[1]")]}, "tool_calls", usage=SOUND)),
        wire(completion({"tool_calls": [call('{"a": 1')]}, "tool_calls", usage=SOUND)),
        wire(completion({"tool_calls": [call('{"a" 1}')]}, "tool_calls", usage=SOUND)),
        wire(completion({"tool_calls": [call(id=None)]}, "tool_calls", usage=SOUND)),
        wire(completion({"tool_calls": [call(id=7)]}, "tool_calls", usage=SOUND)),
        wire(completion({"content": "<think>hm"}, usage=SOUND)),
        wire(completion({"content": '<tool_call>{"name": "f"}'}, usage=SOUND)),
        wire(completion({"content": "Hi"})),
        wire(completion({"content": "Hi"}, usage={"prompt_tokens": 0, "completion_tokens": 1})),
        wire({"error": {"message": "x" * 200}}),
        stream({"choices": [{"delta": {"tool_calls": [call()]}, "finish_reason": "tool_calls"}]}),
        stream(
            {"choices": [{"delta": {"tool_calls": [{"index": 0, **call("")}]}}]},
            {
                "choices": [
                    {"delta": {"tool_calls": [{"index": 0, **call(id="d")}]}, "finish_reason": "tool_calls"}
                ]
            },
        ),
    ]
    value = [said(answer)[0] + [("remark", each) for each in said(answer)[2]] for answer in answers]
    assert value == [
        [(7, "calls, and the finish reason 'stop'")],
        [(8, "the finish reason `tool_calls`, and no call")],
        [(7, "calls, and the finish reason None")],
        [(6, "two calls with one id")],
        [(10, "`arguments` is null or missing")],
        [(10, "`arguments` is an empty text")],
        [(10, "`arguments` is an object")],
        [],
        [(11, "the JSON of a call is right after its end is corrected")],
        [(11, "the arguments are not JSON")],
        [(6, "a call without an id")],
        [(6, "a call without an id")],
        [(21, "<think> in the text")],
        [],
        [(27, "no usage")],
        [(27, "usage of 0 prompt and 1 completion tokens")],
        [
            (
                29,
                f"HTTP 200 with the error '{'x' * 120}'",
            )
        ],
        [(5, "a delta of a call without `index`")],
        [(4, "several calls with one `index`"), (10, "`arguments` is an empty text")],
    ]


# Ledger, report ---------------------------------------------------------------------------------------


def raw(streamed: bool = False, **fields: Any) -> RawAnswer:
    return RawAnswer(probe="p", sent={"stream": streamed}, **fields)


def test_a_ledger_keeps_each_answer_of_a_finding_once():
    ledger, whole, streamed = Ledger(), raw(), raw(True)
    ledger.judge(7, "late", [whole], [streamed])
    ledger.judge(7, "late", [whole, streamed], [])
    ledger.judge(3, "good", [], [whole])
    ledger.judge(4, "nothing", [], [])
    ledger.add(2, "early", streamed)
    ledger.passed(7, 9)
    ledger.remark("a")
    ledger.remark("a")
    assert ledger.findings == [
        DefectFinding(2, "early", [streamed]),
        DefectFinding(7, "late", [whole, streamed]),
    ]
    assert [each.forms for each in ledger.findings] == ["streamed", "streamed and whole"]
    assert DefectFinding(1, "x", [whole]).forms == "whole"
    assert (ledger.has(7), ledger.has(3), ledger.remarks) == (True, False, ["a"])
    statuses = ledger.statuses()
    assert [statuses[number] for number in (2, 3, 4, 7, 9)] == [
        "defect",
        "fit",
        "not tested",
        "defect",
        "fit",
    ]
    assert len(statuses) == 31


def report_of(**fields: Any) -> CheckReport:
    statuses: Any = (
        dict.fromkeys(range(31), "not tested") | {10: "fit", 29: "fit"} | fields.pop("statuses", {})
    )
    plain: dict[str, Any] = {
        "model": "m`x`",
        "endpoint": "http://m",
        "requests": 7,
        "seconds": 1.26,
        "quick": True,
        "demanded": False,
        "findings": [],
        "remarks": [],
        "dropped": [],
    }
    return CheckReport(**{**plain, "statuses": statuses, **fields})


@pytest.mark.parametrize(
    ("statuses", "fit", "verdict"),
    [
        ({}, True, "Fit: none of the 2 defects that could be tested was found."),
        (
            {10: "not tested"},
            None,
            "Not tested: the model made no tool call, not even where tool_choice demanded one.",
        ),
        ({3: "defect"}, False, "Not fit: 1 defect found."),
        ({0: "defect", 3: "defect", 10: "not tested"}, False, "Not fit: 2 defects found."),
    ],
)
def test_a_verdict_is_by_what_was_found_and_tested(statuses: Any, fit: bool | None, verdict: str):
    made = report_of(statuses=statuses)
    assert (made.fit, made.verdict) == (fit, verdict)
    assert (made.count("fit"), made.count("defect")) == (
        1 + (10 not in statuses),
        sum(s == "defect" for n, s in statuses.items() if n),
    )


AGREEMENT: dict[str, Any] = {
    "with": "peer",
    "verdict": "Same *here*.",
    "agreement": [{"of": "names", "same": 3, "compared": 4, "low": 0.25, "high": 0.9}],
    "with_itself": [{"of": "names", "same": 4, "compared": 4, "low": 0.5, "high": 1.0}],
}


def test_a_report_is_a_page(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(report, "__version__", "9")
    answer = raw(True, raw=b"data: {\xff\n")
    other = raw(failure="HTTP 500: no")
    findings = [DefectFinding(7, "odd `x`", [answer, other]), DefectFinding(30, "long", [other])]
    page = report_of(
        statuses={7: "defect", 30: "defect"}, findings=findings, remarks=["a *b*"], agreement=AGREEMENT
    ).as_markdown()
    lines = [line for line in page.split("\n") if not line.startswith(("- ", "| 1", "| 2"))]
    assert lines == [
        "<!-- written by wildtool check -->",
        "# Check of ``m'x'`` at ``http://m``",
        "",
        "**Not fit: 2 defects found.** 7 requests in 1 s, wildtool 9.",
        "",
        "| # | defect | result |",
        "|---|---|---|",
        "| 0 | streamed and whole replies differ | not tested: the model did not make the call that was requested |",
        "| 3 | the second of two calls is broken in the stream | not tested: no complete reply had several"
        " calls |",
        "| 4 | all calls of a stream have the same index | not tested: no complete reply had several calls |",
        "| 5 | `index` is missing in the deltas of calls | not tested:"
        " the model did not make the call that was requested |",
        "| 6 | call ids are missing or equal | not tested: the model did not make the call that was requested |",
        "| 7 | the finish reason denies the calls | defect |",
        "| 8 | `finish_reason` is `tool_calls` and no call comes | not tested: no reply named its finish reason |",
        "| 9 | text beside a call is dropped in one form | not tested: no reply had text beside a call |",
        "| 30 | long arguments are cut or refused | defect |",
        "",
        "## 7. the finish reason denies the calls",
        "",
        "``odd 'x'``, in 2 streamed and whole replies.",
        "",
        "",
        "Sent:",
        "",
        "````json",
        '{"stream":true}',
        "````",
        "",
        "Received:",
        "",
        "````",
        "data: {\\xff",
        "````",
        "",
        "## 30. long arguments are cut or refused",
        "",
        "``long``, in 1 whole replies.",
        "",
        "",
        "Sent:",
        "",
        "````json",
        '{"stream":false}',
        "````",
        "",
        "Received:",
        "",
        "````",
        "HTTP 500: no",
        "````",
        "",
        "Remark: a *b*",
        "",
        "## Agreement",
        "",
        "Same *here*.",
        "",
        "| | same | 95 % interval | same when repeated |",
        "|---|---|---|---|",
        "| names | 3 of 4 | 25.0 to 90.0 % | 4 of 4 |",
        "",
    ]
    assert page.endswith("|\n")


def test_a_report_is_json(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(report, "__version__", "9")
    made = report_of(
        statuses={7: "defect"},
        findings=[DefectFinding(7, "odd", [raw(raw=b"x"), raw(True)])],
        dropped=["seed"],
        remarks=["r"],
    )
    content = made.as_json()
    defects = content.pop("defects")
    assert content == {
        "model": "m`x`",
        "endpoint": "http://m",
        "wildtool": "9",
        "requests": 7,
        "seconds": 1.3,
        "quick": True,
        "calls_demanded": False,
        "fields_left_out": ["seed"],
        "fit": False,
        "verdict": "Not fit: 1 defect found.",
        "remarks": ["r"],
    }
    assert [(each["number"], each["status"]) for each in defects] == [*made.statuses.items()]
    assert defects[7]["findings"] == [
        {
            "problem": "odd",
            "replies": 2,
            "forms": "streamed and whole",
            "probe": "p",
            "sent": '{"stream":false}',
            "received": "x",
        }
    ]
    assert [*defects[7]] == [
        "number",
        "name",
        "status",
        "probes",
        "effect",
        "cause",
        "remedy",
        "software",
        "findings",
    ]
    assert (defects[5]["findings"], defects[5]["why"]) == (
        [],
        "the model did not make the call that was requested",
    )
    assert report_of(agreement=AGREEMENT).as_json()["agreement"] == AGREEMENT
    assert agreement_rows(AGREEMENT) == [("names", "3 of 4", "25.0 to 90.0 %", "4 of 4")]
    assert agreement_rows({}) == []


def test_what_was_sent_and_received_is_bounded():
    answer = RawAnswer(probe="p", sent={"a": "x" * 30}, raw=b" \xe4" + b"y" * 30)
    assert sent_text(answer) == '{"a":"' + "x" * 30 + '"}'
    assert sent_text(answer, 38) == sent_text(answer)
    value = (
        sent_text(answer, 10),
        received_text(answer, 9),
        received_text(raw(failure="no")),
        received_text(answer, 34),
    )
    assert value == ('{"a": […] xxx"}', "\\xe4 […] yyyyy", "no", "\\xe4yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy")
