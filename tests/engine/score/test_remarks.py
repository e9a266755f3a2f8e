"""Signs of replies and remarks on runs as wholes: every count, every word."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.benchmark import Rules
from wildtool.engine.score.completeness import was_stopped
from wildtool.engine.score.explain import _formula, _words, metric_named  # pyright: ignore[reportPrivateUsage]
from wildtool.engine.score.judge import safe_judge
from wildtool.engine.score.reply_signs import (
    call_signs,
    first_tools,
    format_of_text,
    reply_signs,
    served_by,
    unit_signs,
)
from wildtool.engine.score.trust import (
    FailureKind,
    TrustRemark,
    VerdictTotals,
    early_remark,
    failure_example,
    failure_summary,
    token_limit,
    trust_remarks,
)
from wildtool.errors import UsageError
from wildtool.evidence import Evidence
from wildtool.stats.metrics import CORRECT_SQL, Rate
from wildtool.types import Item, Metric, Reply, Request, Transcript, Verdict

TOOLS: list[Any] = [{"function": {"name": name}} for name in ("f", "g", "h")]
CALL = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'


def reply(content: Any = "a", end: str | None = "stop", raw: str = "{}", **more: Any) -> Reply:
    usage = more.pop("usage", {})
    changes = more.pop("changes", ())
    return Reply({"content": content, **more}, raw, end, usage, changes=changes)


@pytest.mark.parametrize(
    ("made", "signs"),
    [
        (reply(), []),
        (reply(None), ["empty"]),
        (reply(" "), ["empty"]),
        (reply([1]), []),
        (reply([]), ["empty"]),
        (reply(None, tool_calls=[{"id": "1", "function": {"name": "f"}}]), []),
        (reply(None, tool_calls=[{}]), ["nameless calls"]),
        (reply("", "length"), ["cut off"]),
        (reply("", "content_filter"), ["filtered"]),
        (reply("a", "stop", refusal="no"), ["refused"]),
        (reply("a", "MALFORMED_FUNCTION_CALL"), ["malformed call"]),
        (reply("a", "abort"), ["unfinished"]),
        (reply("a", "pause_turn"), ["unfinished"]),
        (reply("", None), ["unknown end", "empty"]),
        (reply("", None, raw=""), ["empty"]),
        (reply(CALL), ["unread hermes"]),
        (reply(CALL, tool_calls=[{"id": "1", "function": {"name": "f"}}]), []),
        (reply("a", changes=("repair:own-observation",)), ["invented result"]),
    ],
)
def test_the_signs_of_a_reply(made: Reply, signs: list[str]):
    assert reply_signs(made, lambda: TOOLS) == signs


def test_tools_are_asked_for_only_where_a_text_may_hold_a_call():
    def broken() -> Any:
        raise AssertionError

    assert format_of_text("Plain words.", broken) is None
    assert format_of_text(CALL, lambda: ()) is None
    assert format_of_text("(see f)", lambda: TOOLS) is None
    assert format_of_text(f"{CALL}\n{CALL}", lambda: TOOLS) == "hermes"


def called(*names: str, **more: Any) -> Reply:
    calls = [
        {"id": f"c{number}", "function": {"name": name, "arguments": f'{{"n": {number}}}'}}
        for number, name in enumerate(names)
    ]
    return reply(None, "tool_calls", tool_calls=calls, **more)


def test_the_signs_of_a_unit_with_their_numbers():
    raw = json.dumps({"model": "m" * 150, "system_fingerprint": "p"})
    replies = [
        reply("", "length", usage={"completion_tokens": 7}),
        reply("", "length", usage={"completion_tokens": 7}),
        reply("a", "length"),
        called("h", "f", "g", raw=raw),
        called("f", "g", "f", raw=raw),
        reply("a", usage={"completion_tokens": 5}),
    ]
    common = {"cut off": 3, "cut at 7": 2, "replies": 6, "model " + "m" * 100: 2, "fingerprint p": 2}
    assert unit_signs(replies, lambda: TOOLS, wrong=False) == common
    assert unit_signs(replies, lambda: TOOLS, wrong=True) == {**common, "every tool": 1}
    texts = [reply("a"), reply("b")]
    assert unit_signs(texts, lambda: TOOLS, wrong=True) == {"replies": 2, "no call": 1}
    for given, tools, wrong in (
        (texts, [], True),
        (texts, TOOLS, False),
        ([reply("a", raw="")], TOOLS, True),
    ):
        assert "no call" not in unit_signs(given, lambda tools=tools: tools, wrong=wrong)
    assert "every tool" not in unit_signs([called("f", "g")], lambda: TOOLS[:2], wrong=True)


@pytest.mark.parametrize(
    ("raw", "signs"),
    [
        ('{"model": "a", "modelVersion": "b"}', ["model a", "model b"]),
        ('[{"model": "a"}, {"model": "b"}]', ["model a"]),
        (
            ' {"response": {"model": "a"}, "message": {"system_fingerprint": "b"}}',
            ["fingerprint b", "model a"],
        ),
        ('event: x\ndata: {"model": "a"}\n\ndata: {"model": "b"}\n', ["model a"]),
        ('{"model": "", "system_fingerprint": null}', []),
        ('{"other": "model"}', []),
        ('{"model": ', []),
        ("[]", []),
    ],
)
def test_what_answered(raw: str, signs: list[str]):
    assert [*served_by(raw)] == signs


class Saying(Rules):
    """Texts are texts; names before a `!` are calls."""

    def __init__(self, request: Any) -> None:
        self.request = request

    def episode(self, item: Item, unit: str) -> Any:
        assert (item, unit) == (ITEM, "u")
        return SimpleNamespace(request=lambda: self.request)

    def verdict(self, episode: Any, item: Item, unit: str) -> Any:
        raise NotImplementedError

    def said(self, reply: Any) -> Any:
        text = reply["content"]
        return [(name, None) for name in text[:-1].split()] if text.endswith("!") else [("message", text)]


def variant(request: Any, alterations: Any = (), own: Any = None) -> Any:
    rules = Saying(request)
    benchmark = SimpleNamespace(rules=lambda profile: Saying(own if own is not None else request))
    return SimpleNamespace(
        episode=lambda item, unit, profile: rules.episode(item, unit),
        benchmark=benchmark,
        alterations=alterations,
    )


ITEM = Item("i", ("u", "v"), None)


@pytest.mark.parametrize(
    ("gold", "said", "correct", "signs"),
    [
        ("f g!", "g f!", False, ("call due", "first call right")),
        ("f g!", "h f!", False, ("call due",)),
        ("f!", "text", True, ("call due", "first call right")),
        ("f!", "text", False, ("call due", "text for a call")),
        ("text", "f!", False, ("text due", "call for a text")),
        ("text", "f!", True, ("text due",)),
        ("text", "other", False, ("text due",)),
    ],
)
def test_the_signs_of_a_unit_by_what_is_due(gold: str, said: str, correct: bool, signs: tuple[str, ...]):
    request = Request([], gold=lambda style: {"content": gold})
    assert call_signs(variant(request), "p", ITEM, "u", {"content": said}, correct=correct) == signs


def test_where_nothing_is_due_there_is_no_sign():
    gold: Any = lambda style: {"content": "f!"}  # noqa: E731
    for request in (
        None,
        Request([]),
        Request([], role="user", gold=gold),
        Request([], gold=lambda style: {}),
    ):
        assert call_signs(variant(request), "p", ITEM, "u", {"content": "x"}, correct=False) == ()


def test_the_tools_of_an_items_first_request():
    bare, offering = Request([]), Request([], TOOLS)
    assert first_tools(variant(offering), "p", ITEM) == TOOLS
    assert first_tools(variant(bare, ["a"], offering), "p", ITEM) == TOOLS
    assert first_tools(variant(bare, (), offering), "p", ITEM) == ()
    assert first_tools(variant(None), "p", ITEM) == ()
    assert first_tools(variant(None, ["a"], offering), "p", ITEM) == ()
    assert first_tools(SimpleNamespace(), "p", ITEM) == ()  # pyright: ignore


# Remarks ---------------------------------------------------------------------------------------------------


WHOLE = Evidence(10)


def remarks(
    evidence: Evidence = WHOLE, failed: Any = (), retry: str = "again", **totals: Any
) -> list[TrustRemark]:
    return [*trust_remarks(evidence, VerdictTotals(**totals), failed, retry)]


KINDS = [
    FailureKind(kind, units, f"{kind}: x")
    for kind, units in (("a", 4), ("b", 3), ("c", 2), ("d", 1), ("e", 1))
]


@pytest.mark.parametrize(
    ("evidence", "failed", "absent", "words", "option"),
    [
        (Evidence(10, failed=2), KINDS[:1], 0, "2 of 10 units failed (a)", "again"),
        (Evidence(10, failed=2), KINDS[:2], 0, "2 of 10 units failed (a (4), b (3))", "again"),
        (
            Evidence(10, failed=2),
            KINDS,
            0,
            "2 of 10 units failed (a (4), b (3), c (2) and 2 more kinds)",
            "again",
        ),
        (Evidence(10, unplayed=2), (), 0, "2 of 10 units were not played", "again"),
        (
            Evidence(10, failed=1, unplayed=3),
            KINDS[:1],
            2,
            "2 of 8 units are without a verdict (1 failed: a; 1 not played)",
            "again",
        ),
        (
            Evidence(10, failed=2),
            [FailureKind("x", 1, "the context overflowed")],
            0,
            "2 of 10 units failed (x)",
            "serve the model with a longer context, or lower --max-tokens, then again",
        ),
    ],
)
def test_units_without_a_verdict(evidence: Evidence, failed: Any, absent: int, words: str, option: str):
    held = evidence.units - absent
    missing = evidence.missing - absent
    found = remarks(evidence, failed, absent=absent, correct=4)
    if absent:
        text = f"only {held} of {evidence.units} units are here; the numbers are of these"
        assert found.pop(0) == TrustRemark("absent", absent, evidence.units, text, "")
    shares = f"{400 / held:.1f} % correct, at most {100 * (4 + missing) / held:.1f} %"
    text = f"{words} and count as not right: {shares}"
    assert found == [TrustRemark("without a verdict", missing, held, text, option)]
    silent = remarks(evidence, failed, "", absent=absent, correct=4)[-1]
    assert (silent.option, str(silent)) == ("", silent.text)


def test_every_remark_on_replies_in_its_order():
    signs = {
        "replies": 40,
        "cut off": 9,
        "cut at 17": 2,
        "cut at 64": 1,
        "filtered": 1,
        "refused": 2,
        "malformed call": 3,
        "unfinished": 4,
        "unknown end": 5,
        "empty": 6,
        "nameless calls": 5,
        "invented result": 7,
        "every tool": 8,
        "unread hermes": 1,
        "unread react": 2,
        "no call": 3,
        "text due": 4,
        "call for a text": 3,
        **{f"model {name}": number for number, name in enumerate("abcde", 1)},
        "fingerprint x": 1,
        "fingerprint y": 1,
    }
    found = remarks(signs=signs, max_tokens=64, credited=2, answered=9, with_tokens=8)
    assert [(each.sign, each.count, each.of, str(each)) for each in found] == [
        (
            "context end",
            2,
            40,
            "2 of 40 replies cut off before --max-tokens, where the context ended: serve the model with a longer context",
        ),
        ("cut off", 7, 40, "7 of 40 replies cut off at a token limit: --max-tokens"),
        ("filtered", 1, 40, "1 of 40 replies filtered by the provider"),
        ("refused", 2, 40, "2 of 40 replies refused by the provider"),
        (
            "malformed call",
            3,
            40,
            "3 of 40 replies ended by a call that the provider could not read: --tool-format auto",
        ),
        ("unfinished", 4, 40, "4 of 40 replies not finished by the provider: run the same command again"),
        ("unknown end", 5, 40, "5 of 40 replies ended for no known reason, so some may be cut off"),
        ("empty", 6, 40, "6 of 40 replies empty: see them with `wildtool view`"),
        (
            "nameless calls",
            5,
            40,
            "5 of 40 replies with tool_calls that name no function: see them with `wildtool view`",
        ),
        ("invented result", 7, 40, "7 of 40 replies with results that the model invented"),
        (
            "every tool",
            8,
            40,
            "8 of 40 replies with calls of every offered tool: see them with `wildtool view`",
        ),
        (
            "unread calls",
            3,
            40,
            "3 of 40 replies have calls written as text that no format read; 2 units with them count as right:"
            " --tool-format react",
        ),
        ("call for a text", 3, 4, "3 of 4 units where a text was expected began with a call"),
        ("models", 5, 40, "5 models answered (e, d, c and 2 more)"),
        ("system fingerprints", 2, 40, "2 system fingerprints answered (x, y)"),
        ("prompt tokens", 8, 9, "prompt tokens are known for 8 of 9 units"),
    ]


def test_text_for_calls_is_remarked_on_beyond_half_of_the_units():
    signs = {"replies": 4, "call due": 1, "text for a call": 1, "no call": 1}
    assert [str(each) for each in remarks(signs=signs, calls=1)] == [
        "1 of 1 unit where a call was expected began without one; first call right in 0"
    ]
    assert (
        remarks(
            signs={"replies": 4, "call due": 2, "text for a call": 1, "text due": 2, "call for a text": 1}
        )
        == []
    )
    three = {"replies": 4, "model a": 1, "model b": 1, "model c": 1}
    assert [str(each) for each in remarks(signs=three)] == ["3 models answered (a, b, c)"]
    assert remarks(answered=5, with_tokens=0) == remarks(answered=5, with_tokens=5) == []
    assert remarks(signs={"replies": 2, "cut off": 1, "cut at 5": 1})[0].sign == "cut off"


@pytest.mark.parametrize(
    ("sign", "made", "settings", "remark"),
    [
        ("empty", reply(""), {}, "a reply was empty: see them with `wildtool view`"),
        ("filtered", reply(), {}, "a reply was filtered by the provider"),
        ("unread react", reply("Action: f"), {}, "writes Action as text: try --tool-format react"),
        ("unread ", reply("f()"), {}, "writes calls as text: try --tool-format auto"),
        ("unread x", reply([1]), {"format": "hermes"}, "writes calls as text that hermes did not read"),
        (
            "cut off",
            reply(usage={"completion_tokens": 4}),
            {"max_tokens": 5},
            "a reply was cut off before --max-tokens, where the context ended: serve the model with a longer context",
        ),
        ("cut off", reply(), {"max_tokens": 5}, "a reply was cut off at a token limit: --max-tokens"),
    ],
)
def test_the_remark_on_one_of_the_first_replies(sign: str, made: Reply, settings: Any, remark: str):
    assert early_remark(sign, made, settings) == remark


def test_totals_that_nobody_gives_are_zero():
    assert VerdictTotals() == VerdictTotals(
        absent=0,
        correct=0,
        signs={},
        calls=0,
        credited=0,
        answered=0,
        with_tokens=0,
        max_tokens=None,
        format="",
    )


def test_limits_and_examples():
    extra = {"max_tokens": "x", "max_completion_tokens": 2}
    assert token_limit({"extra_body": extra, "max_tokens": 3}) == 2
    assert token_limit({"extra_body": {"max_tokens": 1}, "max_tokens": 3}) == 1
    assert (failure_summary(KINDS[:3]), failure_summary([])) == ("a (4), b (3), c (2)", "")
    assert failure_example([FailureKind("a", 1, "a: words\nmore"), KINDS[1]]) == "words more"


# Judging and explaining ------------------------------------------------------------------------------------


def verdict(unit: str) -> Verdict:
    return Verdict("i", unit, "correct", 1.0, None, "", 1)


class Judge:
    name = "b"

    def __init__(self, *units: str, error: Exception | None = None) -> None:
        self.units, self.error = units, error

    def judge(self, item: Item, transcripts: Any, profile: str) -> list[Verdict]:
        if self.error:
            raise self.error
        return [verdict(unit) for unit in self.units]

    def judge_unit(self, item: Item, unit: str, transcript: Any, profile: str) -> Verdict:
        return self.judge(item, transcript, profile)[0]


def test_a_judge_that_fails_is_a_fault_of_every_unit():
    both = {unit: Transcript(()) for unit in "uv"}
    judged: Any = [safe_judge(judge, ITEM, both, "p") for judge in (Judge("u", "v"), Judge("u"))]  # pyright: ignore
    assert judged[0] == ([verdict("u"), verdict("v")], None)
    reason = "the judge of b failed: verdicts for ('u',) instead of ('u', 'v')"
    fault = [Verdict("i", unit, "unplayed", 0.0, "judge fault", reason, 0) for unit in "uv"]
    assert judged[1] == (fault, reason)
    raising: Any = Judge(error=KeyError("bug"))
    verdicts, words = safe_judge(raising, ITEM, both, "p", only="v")
    assert (words, [each.unit for each in verdicts]) == ("the judge of b failed: KeyError: 'bug'", ["v"])
    single: Any = Judge("v")
    assert safe_judge(single, ITEM, both, "p", only="v") == ([verdict("v")], None)
    stopping: Any = Judge(error=UsageError("no encoder"))
    with pytest.raises(UsageError, match="no encoder"):
        safe_judge(stopping, ITEM, both, "p")


def test_a_run_was_stopped_unless_its_last_invocation_ended_well():
    for status, stopped in (
        ("done", False),
        ("infra errors", False),
        ("judge faults", False),
        ("stopped", True),
    ):
        assert was_stopped({"sittings": [{"status": "done"}, {"status": status}]}) is stopped
    assert [was_stopped({"sittings": each}) for each in ([], [{}], ["x"])] == [False, True, False]


def test_a_number_is_found_by_its_name():
    metrics = [Metric("a", "x", 1, 1, 1), Metric("b", "x", 1, 1, 1), Metric("b", "y", 1, 1, 1)]
    assert metric_named(metrics, "y") is metrics[2]
    assert metric_named(metrics, "b: x") is metrics[1]
    with pytest.raises(UsageError, match=r"^several numbers are called 'x': a: x, b: x$"):
        metric_named(metrics, "x")
    with pytest.raises(UsageError, match=r"^unknown number 'z' \(known: a: x, b: x, b: y\)$"):
        metric_named(metrics, "z")


NUMBER = Metric("g", "n", 1, 1, 1)


@pytest.mark.parametrize(
    ("rate", "formula"),
    [
        (Rate("g", "n", "TRUE"), "correct units divided by all units"),
        (Rate("g", "n", "\"kind\" = 'a' AND TRUE"), "correct units divided by units with kind = 'a'"),
        (
            Rate("g", "n", "a IS NOT NULL", "CAST(NOT b AS INTEGER)"),
            "units with a is known that also have not b, divided by units with a is known",
        ),
        (Rate("g", "n", "TRUE", "COALESCE(b, 0)"), "sum of b over all units, divided by their number"),
        (
            Rate("g", "n", "a <> 1 OR b IN (2)", "c", "d"),
            "sum of c divided by sum of d, over units with a ≠ 1 or b in (2)",
        ),
    ],
)
def test_a_rate_in_words(rate: Rate, formula: str):
    assert rate.numerator == CORRECT_SQL or "correct" not in formula
    assert _formula(NUMBER, rate, {}, weighted=False) == formula
    assert _formula(NUMBER, rate, {}, weighted=True) == (
        f"{formula}; each unit weighted, so that the number estimates that of all items"
    )


def test_a_number_that_is_no_rate_has_the_formula_of_its_table():
    assert _formula(NUMBER, None, {"g": "by group", "g: n": "by name"}, weighted=True) == "by name"
    assert _formula(NUMBER, None, {"g": "by group"}, weighted=False) == "by group"
    assert _formula(NUMBER, None, {}, weighted=False) == (
        "computed by the benchmark from other numbers or from several units at once"
    )
    assert _words("COALESCE(a, TRUE) AND b IS NULL") == "(a or unknown) and b is unknown"
