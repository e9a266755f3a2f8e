"""Scripts that search for the functions that they call."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from alter.expose.code.scripts import with_sandbox
from alter.expose.code.test_code import OneAnswer, check_gold, judged, played
from alter.expose.search.search_play import TOOLS, call, catalogue, tool
from wildtool.alter.base import benchmark_exchange
from wildtool.alter.expose.code.exposure import CodeExposure
from wildtool.alter.expose.code.tool import run_code_message
from wildtool.alter.expose.exposure import exposure_of
from wildtool.alter.expose.outcomes import ExposedUnit
from wildtool.alter.kinds import recorded_alterations
from wildtool.alter.variant import Variant
from wildtool.api.bench import load
from wildtool.engine.registry import load_benchmark
from wildtool.errors import UsageError
from wildtool.json_codec import as_objects
from wildtool.shapes import tool_name
from wildtool.types import Item, Message, Request, Tool, Transcript

with_sandbox()


def code(text: str) -> CodeExposure:
    exposure = exposure_of(text)
    assert isinstance(exposure, CodeExposure)
    return exposure


class Script:
    """One unit whose scripts search, beside a benchmark that is played by hand and answers each call with its name."""

    def __init__(
        self, text: str = "code:search", tools: Sequence[Tool] = TOOLS, answers: bool = True
    ) -> None:
        item = Item("item", ("0",), None)
        its = code(text)
        single = OneAnswer().rules("official")
        self.unit = its.unit(item, "0") if answers else its.unit_after(item, "0", single, {})
        self.tools = tools
        self.messages: list[Message] = [{"role": "user", "content": "When is high tide?"}]
        self.asked: list[Request] = []
        """What the model was sent."""
        self.sandbox: list[tuple[Sequence[Message], Message]] = []
        """What the sandbox was asked, with its answers."""

    def request(self, *scripts: str, gold: Sequence[Any] = ()) -> list[Any]:
        """The calls that the benchmark reads of one request, whose model writes these scripts, then a text.

        Args:
            gold: calls of the right answer.
        """
        left = list(scripts)
        right: Message = {"role": "assistant", "content": None, "tool_calls": list(gold)}
        exchange = benchmark_exchange(
            [self.unit], Request(self.messages, self.tools, gold=lambda style: right)
        )
        try:
            request = next(exchange)
            while True:
                request = exchange.send(self._reply(request, left))
        except StopIteration as end:
            read: Message = end.value
        made = as_objects(read.get("tool_calls"))
        answers = [{"role": "tool", "tool_call_id": each["id"], "content": tool_name(each)} for each in made]
        self.messages = [*self.messages, read, *answers]
        return [(tool_name(each), json.loads(each["function"]["arguments"])) for each in made]

    def _reply(self, request: Request, left: list[str]) -> Message:
        if request.role == "sandbox":
            assert request.gold is not None
            answer = request.gold("")
            self.sandbox.append((request.messages, answer))
            return answer
        self.asked.append(request)
        if not left:
            return {"role": "assistant", "content": "Done."}
        return run_code_message(left.pop(0), f"run_{len(self.asked)}")

    def outcome(self) -> ExposedUnit:
        return ExposedUnit.read(self.unit.fields(ended=True))

    def printed(self) -> str:
        """What the model read of its last script."""
        return self.asked[-1].messages[-1]["content"]


@pytest.mark.long
@pytest.mark.parametrize("setting", ["search=perfect", "search=perfect,calls=call_tool", "search=bm25,k=20"])
@pytest.mark.parametrize(("name", "profile", "count"), [("wild-mini", "fixed", 3), ("ledger", "ledger", 2)])
def test_gold_behind_a_search_in_scripts_is_judged_like_gold(
    setting: str, name: str, profile: str, count: int
):
    variant = Variant(load_benchmark(name), (code(f"code:{setting}"),))
    for item in [loaded.item for loaded in load(name)][:count]:
        for unit in item.units:
            check_gold(variant, item, unit, profile)


def test_gold_searches_among_more_tools():
    variant = Variant(load_benchmark("wild-mini"), (catalogue(50), code("code:search=perfect")))
    item = next(iter(load("wild-mini"))).item
    said, _ = played(variant, item, item.units[0], "fixed")
    verdict = judged(variant, item, item.units[0], said, "fixed")
    assert verdict.outcome == "correct" and ExposedUnit.read(verdict.fields).searches


FIND_AND_CALL = """
found = search_tools(query='coast')
print(call_tool(name=found[0]['name'], arguments={'port': 'Oslo'}))
"""


def test_a_script_searches_and_calls_what_it_found():
    script = Script("code:search,calls=call_tool")
    assert script.request(FIND_AND_CALL) == [("get_tides", {"port": "Oslo"})]
    assert script.request() == []
    assert script.printed() == "get_tides"
    (computed,) = script.outcome().computed
    assert (computed.request, computed.tool) == (0, "get_tides")
    assert script.outcome().searches == script.outcome().scripts == 1


def test_a_found_function_can_be_called_in_the_same_script():
    script = Script("code:search")
    assert script.request("search_tools(query='coast')\nprint(get_tides(port='Oslo'))") == [
        ("get_tides", {"port": "Oslo"})
    ]
    script.request()
    assert script.printed() == "get_tides"


def test_what_is_found_is_shown_as_the_function_that_it_is():
    script = Script("code:search", [tool("get.tides", "Tides of a coast", port="Where"), *TOOLS[1:]])
    script.request("print(search_tools(query='coast')[0]['definition'])", "get_tides(port='Oslo')")
    assert script.printed().startswith("def get_tides(")
    assert script.printed() in script.asked[-1].tools[0]["function"]["description"]
    assert "get_tides" not in script.asked[0].tools[0]["function"]["description"]


def test_a_search_and_a_call_are_never_one_reply():
    script = Script("code:search")
    text = (
        "a = mix_paint(shade='red')\nb = search_tools(query='sails')\nprint(a, [each['name'] for each in b])"
    )
    assert script.request("search_tools(query='paint')", text) == [("mix_paint", {"shade": "red"})]
    assert script.request() == []
    assert script.printed() == "mix_paint ['sail']"


def test_searches_that_use_no_result_of_one_another_are_one_reply():
    script = Script("code:search")
    script.request("a = search_tools(query='paint')\nb = search_tools(query='coast')\nprint(len(a + b))")
    assert script.printed() == "2" and len(script.sandbox) == 2


def test_calls_go_together_by_the_answer_of_the_benchmark():
    text = """
search_tools(query='paint')
search_tools(query='coast')
a = mix_paint(shade='red')
b = get_tides(port='Oslo')
"""
    both = [call("mix_paint", shade="red"), call("get_tides", "d", port="Oslo"), call("sail", "e")]
    assert len(Script().request(text, gold=both)) == 2
    assert len(Script().request(text, gold=both[:1])) == 1


def test_a_benchmark_that_answers_no_calls_reads_all_of_them_at_once():
    text = """
print([each['name'] for each in search_tools(query='paint')])
mix_paint(shade='red')
print([each['name'] for each in search_tools(query='coast')])
get_tides(port='Oslo')
"""
    script = Script(answers=False)
    assert script.request(text) == [("mix_paint", {"shade": "red"}), ("get_tides", {"port": "Oslo"})]
    assert script.outcome().found == ("mix_paint", "get_tides")


def test_faults_have_the_number_of_the_benchmarks_request():
    script = Script()
    script.request("search_tools(query='coast')", "get_tides(port='Oslo')")
    script.request("sail()", "search_tools(query='sails')", "no_such_name", "search_tools(query=7)")
    assert sorted((fault.request, fault.kind) for fault in script.outcome().faults) == [
        (1, "guessed"),
        (1, "script error"),
        (1, "search failed"),
    ]


def test_a_session_that_is_gone_is_made_again():
    from wildtool.alter.expose.code.sandbox import ScriptSandbox

    script = Script()
    script.request(
        "try:\n    sail()\nexcept NameError:\n    pass",
        "a = search_tools(query='sails')",
        "print(len(a))\nb = search_tools(query='coast')\nprint(get_tides(port=a[0]['name']))",
    )
    script.request()
    for messages, answer in script.sandbox:
        sandbox = ScriptSandbox()
        try:
            assert sandbox.answer(messages) == answer
        finally:
            sandbox.close()


def test_a_trace_has_each_search_with_the_script_that_made_it():
    variant = Variant(load_benchmark("wild-mini"), (code("code:search=perfect"),))
    item = next(iter(load("wild-mini"))).item
    said, _ = played(variant, item, item.units[0], "fixed")
    trace = variant.trace(item, item.units[0], Transcript(tuple(said)), "fixed")
    searched, called = trace.steps[:2]
    assert searched.note and "search_tools" in searched.asides[0].text
    assert not called.note and "search_tools" not in called.asides[0].text


@pytest.mark.parametrize(
    "text",
    [
        "code:search",
        "code:search,k=3",
        "code:short,type_check,search=openai",
        "code:search=regex,calls=call_tool",
    ],
)
def test_settings_are_read_as_they_are_written(text: str):
    assert str(code(text)) == text
    assert recorded_alterations(dict(code(text).identity())) == (code(text),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("code:search=own", "in the middle of its script"),
        ("code:search,history=hidden", "history=hidden needs calls=call_tool"),
        ("code:k=3", "k=3"),
        ("code:search,search=bm25", "name it once"),
        ("code:search=", "what finds tools"),
        ("code:search=k=3", "what finds tools"),
        ("code:search=bm25,k=0", "k=0"),
        ("code:search=bm52", "bm25"),
        ("code:type_check,type_check", "type_check twice"),
        ("code:", "no setting"),
        ("direct:names", "has no settings"),
    ],
)
def test_what_means_nothing_is_refused_by_name(text: str, words: str):
    with pytest.raises(UsageError, match=words):
        exposure_of(text)
