"""Files of cases as benchmarks: what a model is sent, what is recorded and shown, and what needs trust."""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import wildtool as wt
from wildtool.benchmark import SessionRules, accepts
from wildtool.data.data_set import data_of
from wildtool.declared import lint
from wildtool.engine import benchmark_file
from wildtool.engine.registry import cases_in, load_benchmark
from wildtool.episode import gold_replies
from wildtool.errors import DataError, RecordError, UsageError
from wildtool.own_cases.listing import trust_request_of_cases
from wildtool.own_cases.tool_sources import StartedSource, listing_of
from wildtool.types import Item

TOOLS = files("wildtool.data").joinpath("new_cases", "tools.json").read_text("utf-8")
CASES = """
defaults: {tools: tools.json}
cases:
- {input: Where is A-1?, expect: {get_order: {order_id: A-1}}, tags: [orders, p0]}
- {input: Refund A-2., expect: {refund_order: {order_id: A-2, reason: late}}, tags: refunds, must: true}
- {input: Thanks!, expect: none}
""".replace("input: Where is A-1?", "input: 'Where is A-1?'")


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("WILDTOOL_TRUST", raising=False)
    (tmp_path / "tools.json").write_text(TOOLS, encoding="utf-8")
    yield
    benchmark_file.BY_NAME.clear()


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    return path


def items(path: Path | str) -> list[Item]:
    benchmark = load_benchmark(str(path))
    return list(benchmark.load(data_of(benchmark).locate(None)))


def call(name: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "type": "function", "function": function}],
    }


def answers(messages: Sequence[Any], tools: Sequence[Any]) -> Any:
    """A model that looks up the order that the last message names, and answers any other in text."""
    order = re.search(r"A-\d", messages[-1]["content"])
    return call("get_order", order_id=order[0]) if order else "You are welcome."


def numbers(run: Any) -> dict[str, tuple[float, float]]:
    return {f"{m.group}: {m.name}": (m.numerator, m.denominator) for m in run.scores if m.group != "cost"}


def test_a_run_names_the_file_and_counts_all_turns_then_tags_tools_and_mistakes():
    write("shop.cases.yaml", CASES)
    run = wt.run("shop.cases.yaml", model=answers, out="out")
    assert run.result.benchmark == "shop"
    found = numbers(run)
    assert next(iter(found)) == "overall: right"
    assert found["overall: right"] == (2, 3)
    assert found["overall: right where it must be"] == (0, 1)
    assert (found["by tag: orders"], found["by tag: refunds"]) == ((1, 1), (0, 1))
    assert found["called when expected: refund_order"] == (0, 1)
    assert found["expected when called: get_order"] == (1, 2)
    assert found["called instead: get_order for refund_order"] == (1, 1)
    assert found["errors: other tool"] == (1, 1)


def test_a_run_can_be_scored_by_its_record_alone_while_its_cases_are_the_same():
    write("shop.cases.yaml", CASES)
    first = numbers(wt.run("shop.cases.yaml", model=answers, out="out"))
    benchmark_file.BY_NAME.clear()
    forget_verdicts()
    assert numbers(wt.Run("out")) == first
    write("shop.cases.yaml", CASES.replace("A-2", "A-3"))
    forget_verdicts()
    with pytest.raises(RecordError, match="not the data of the run"):
        wt.Run("out")


def forget_verdicts() -> None:
    for table in Path("out").rglob("*.parquet"):
        table.unlink()


def test_edited_tools_and_prompts_are_other_data():
    path = write("shop.cases.yaml", CASES.replace("defaults: {", "defaults: {system: '@prompt.txt', "))
    write("prompt.txt", "You are the shop.")
    data = data_of(load_benchmark(str(path)))
    first = data.locate(None).sha256
    write("prompt.txt", "You are a shop.")
    second = data.locate(None).sha256
    write("tools.json", TOOLS.replace("Look up", "Find"))
    assert len({first, second, data.locate(None).sha256}) == 3


def test_gold_answers_are_right_and_each_audited_mistake_in_them_is_wrong():
    write("own.yaml", TWENTY)
    rules = load_benchmark("own.yaml").rules("fixed")
    found = items("own.yaml")
    units = [(item, unit) for item in found for unit in item.units]
    golds = [gold_replies(rules.episode(item, unit)) for item, unit in units]
    assert [
        accepts(rules, item, unit, gold or ()) for (item, unit), gold in zip(units, golds, strict=True)
    ] == [True] * 20
    mutants = [(item, mutant) for item in found for mutant in rules.mutants(item)]
    assert len(mutants) > 100
    let_pass = [m.note for item, m in mutants if accepts(rules, item, m.unit, m.replies)]
    assert not let_pass


TWENTY = """
defaults:
  tools:
  - name: get_order
    parameters: {type: object, properties: {order_id: {type: string}}, required: [order_id]}
  - name: refund_order
    parameters:
      type: object
      properties:
        order_id: {type: string}
        amount_cents: {type: integer, description: "amount in cents; whole order if omitted"}
        reason: {type: string, enum: [damaged, late, wrong_item, other]}
      required: [order_id, reason]
  - name: search_products
    parameters:
      type: object
      properties:
        query: {type: string, description: search words}
        max_price: {type: integer, description: highest price in euros}
        limit: {type: integer, description: "results, default 10"}
      required: [query]
  - name: set_address
    parameters:
      type: object
      properties: {order_id: {type: string}, street: {type: string}, city: {type: string}, postcode: {type: string}}
      required: [order_id, street, city, postcode]
  - name: track_parcel
    parameters: {type: object, properties: {tracking_code: {type: string}}, required: [tracking_code]}
  - name: open_ticket
    parameters:
      type: object
      properties: {subject: {type: string}, priority: {type: string, enum: [low, normal, high]}}
      required: [subject, priority]
cases:
- {input: Where is my order A-1001, expect: {get_order: {order_id: A-1001}}}
- {input: Can you check A-1002 and A-1003, expect: [{get_order: {order_id: A-1002}}, {get_order: {order_id: A-1003}}]}
- {input: The vase in A-1004 arrived broken, expect: {refund_order: {order_id: A-1004, reason: damaged}}}
- {input: Please refund 12.50, expect: {refund_order: {order_id: A-1005, amount_cents: 1250, reason: late}}}
- {input: A blue one instead of the red one, expect: {refund_order: {order_id: A-1006, reason: wrong_item}}}
- {input: Running shoes under 80 euros, expect: {search_products: {query: running shoes, max_price: 80}}}
- {input: Show me three desk lamps., expect: {search_products: {query: desk lamps, limit: 3}}}
- input: Ship A-1007 to Hauptstr. 5, 10115 Berlin instead.
  expect: {set_address: {order_id: A-1007, street: Hauptstr. 5, city: Berlin, postcode: 10115}}
- {input: My tracking code is DHL99812, expect: {track_parcel: {tracking_code: DHL99812}}}
- {input: I need a person now, expect: {open_ticket: {subject: {$contains: charged twice}, priority: high}}}
- {input: Hi there!, expect: none}
- {input: "Thanks, that is all.", expect: none}
- {input: I want a refund., expect: none}
- {input: "What is your return policy?", expect: none}
- input: Track UPS1 and UPS2 and UPS3.
  expect:
  - track_parcel: {tracking_code: UPS1}
  - track_parcel: {tracking_code: UPS2}
  - track_parcel: {tracking_code: UPS3}
- {input: The first five, expect: {search_products: {query: waterproof jackets, max_price: 150, limit: 5}}}
- {input: Is A-1008 on its way, expect: {get_order: {order_id: A-1008}}}
- {input: A newsletter typo, expect: {open_ticket: {subject: newsletter typo, priority: low}}}
- {input: I changed my mind, expect: {refund_order: {order_id: A-1009, reason: other}}}
- input: A-1010 should go to 12 Rue Cler, 75007 Paris.
  expect: {set_address: {order_id: A-1010, street: 12 Rue Cler, city: Paris, postcode: 75007}}
"""


STEPS = """
defaults: {tools: tools.json}
cases:
- id: late
  input: Is A-1 late? Then refund it.
  order: listed
  says: refunded
  expect:
  - get_order: {order_id: A-1}
    as: order
    returns: {late: true, code: R-9}
  - refund_order: {order_id: A-1, reason: late}
    returns: {done: true}
"""


def played(path: str, *replies: dict[str, Any]) -> tuple[Any, list[Any]]:
    """The verdict on replies to the first turn of a file, and the messages that each was shown."""
    (item,) = items(path)
    benchmark = load_benchmark(path)
    episode = benchmark.rules("fixed").episode(item, "1")
    shown: list[Any] = []
    for reply in replies:
        request = episode.request()
        assert request is not None, "the turn has ended"
        shown.append(list(request.messages))
        episode.advance(reply)
    assert episode.done
    return benchmark.rules("fixed").verdict(episode, item, "1"), shown


def test_a_recorded_result_is_shown_and_the_model_is_asked_again():
    write("steps.yaml", STEPS)
    refund = call("refund_order", order_id="A-1", reason="late")
    text = {"role": "assistant", "content": "I have refunded it."}
    check, shown = played("steps.yaml", call("get_order", order_id="A-1"), refund, text)
    assert check.correct
    assert shown[2][-1]["content"] == '{"done": true}'
    assert shown[1][-1] == {"role": "tool", "tool_call_id": "c", "content": '{"late": true, "code": "R-9"}'}


def test_a_call_with_another_value_gets_no_invented_result():
    write("steps.yaml", STEPS)
    check, _ = played("steps.yaml", call("get_order", order_id="A-2"))
    assert check.error == "other arguments"
    assert "result of get_order is not recorded" in check.reason


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ({"role": "assistant", "content": " "}, "blank reply"),
        ({"role": "assistant", "content": None}, "blank reply"),
        ({"role": "assistant", "content": "\u200b\u00ad"}, "blank reply"),
        (
            {"role": "assistant", "tool_calls": [{"function": {"name": "get_order", "arguments": "{"}}]},
            "unreadable call",
        ),
        ({"role": "assistant", "content": "Bye."}, None),
    ],
)
def test_a_reply_that_cannot_be_read_is_no_silence(reply: dict[str, Any], error: str | None):
    write("one.yaml", "defaults: {tools: tools.json}\ncases:\n- {input: Bye, expect: none}\n")
    assert played("one.yaml", reply)[0].error == error


def test_a_conversation_is_judged_turn_by_turn_after_its_own_recorded_history():
    tools = json.loads(TOOLS)
    messages = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "Where is A-1?"},
        call("get_order", order_id="A-1"),
        {"role": "tool", "tool_call_id": "c", "content": "late"},
        {"role": "assistant", "content": "It is late."},
        {"role": "user", "content": "Thanks"},
        {"role": "assistant", "content": "You are welcome."},
    ]
    row = {"messages": messages, "tools": tools, "tags": ["orders"]}
    other = {"messages": messages[:3], "tools": tools}
    write("chats.jsonl", f"{json.dumps(row)}\n{json.dumps(other)}\n")
    run = wt.run("chats.jsonl", model=answers, out="out")
    found = numbers(run)
    assert run.result.benchmark == "chats"
    assert found["overall: right"] == (4, 4)
    assert found["by tag: orders"] == (3, 3)
    assert cases_in(Path("chats.jsonl")) is None, "lint and stats still read it as training data"


def test_a_recorded_call_that_is_written_as_text_is_no_gold_without_a_call():
    reply = {"role": "assistant", "content": '<tool_call>{"name": "get_order", "arguments": {}}</tool_call>'}
    row = {"messages": [{"role": "user", "content": "Where is A-1?"}, reply], "tools": json.loads(TOOLS)}
    write("chats.jsonl", f"{json.dumps(row)}\n")
    with pytest.raises(DataError, match=r"chats\.jsonl:1 .*written as text"):
        wt.run("chats.jsonl", model=answers, out="out")


def test_a_folder_runs_all_its_cases_under_one_name():
    Path("own").mkdir()
    write("own/tools.json", TOOLS)
    write("own/a.cases.yaml", CASES)
    write("own/b.jsonl", '{"defaults": {"tools": "tools.json"}}\n{"id": "x", "input": "Bye", "expect": []}\n')
    assert len(items("own")) == 4
    assert {item.id.partition(":")[0] for item in items("own")} == {"a.cases", "b"}
    assert load_benchmark("own").name == "own"


def test_a_file_named_like_a_benchmark_gets_a_name_of_its_own():
    write("bfcl.yaml", CASES)
    assert load_benchmark("bfcl.yaml").name == "bfcl-cases"
    assert load_benchmark("bfcl").name == "bfcl"


def test_a_file_with_faults_is_not_run():
    write("bad.yaml", CASES.replace("expect:", "expects:", 1))
    with pytest.raises(DataError, match=r"bad\.yaml:4 expects: .*did you mean 'expect'"):
        items("bad.yaml")


def test_lint_names_file_line_and_field():
    path = write("bad.cases.yaml", CASES.replace("get_order", "get_ordr", 1))
    benchmark = cases_in(path)
    assert benchmark is not None
    (finding,) = lint(benchmark, data_of(benchmark).locate(None))
    assert (finding.where, finding.level) == ("bad.cases.yaml:4", "error")
    assert finding.rule == "expect.get_ordr" and "did you mean 'get_order'" in finding.message


PYTHON = f"""
import json, pathlib
pathlib.Path("started").touch()
TOOLS = json.loads({TOOLS!r})
"""


def with_source(source: str) -> Path:
    return write("own.yaml", CASES.replace("tools: tools.json", f"tools: {source}"))


def test_what_a_case_file_executes_needs_trust_even_if_the_file_was_named():
    write("shop_tools.py", PYTHON)
    path = with_source("{python: shop_tools.py}")
    with pytest.raises(UsageError, match=r"execute the Python file shop_tools\.py"):
        wt.run(str(path), model=answers, out="out")
    assert not Path("started").exists()


def test_reading_and_checking_start_nothing():
    write("shop_tools.py", PYTHON)
    path = with_source("{python: shop_tools.py}")
    benchmark = cases_in(path)
    assert benchmark is not None
    assert not [*lint(benchmark, data_of(benchmark).locate(None))]
    with pytest.raises(DataError, match="not listed yet"):
        items(path)
    assert not Path("started").exists()


def test_listed_tools_are_frozen_with_the_run_until_what_lists_them_changes(monkeypatch: pytest.MonkeyPatch):
    write("shop_tools.py", PYTHON)
    path = with_source("{python: shop_tools.py}")
    source = StartedSource("python", "shop_tools.py")
    monkeypatch.setenv("WILDTOOL_TRUST", trust_request_of_cases(path, [source]).digest)
    run = wt.run(str(path), model=answers, out="out")
    assert numbers(run)["overall: right"] == (2, 3)
    Path("started").unlink()
    monkeypatch.setenv("WILDTOOL_TRUST", "")
    wt.run(str(path), model=answers, out="again")
    assert not Path("started").exists()
    first = data_of(load_benchmark(str(path))).locate(None).sha256
    listing_of(path).write_text(
        listing_of(path).read_text("utf-8").replace("Look up", "Find"), encoding="utf-8"
    )
    assert data_of(load_benchmark(str(path))).locate(None).sha256 != first
    write("shop_tools.py", f"{PYTHON}\n# edited")
    with pytest.raises(UsageError, match="execute the Python file"):
        wt.run(str(path), model=answers, out="third")


def test_what_of_an_api_description_is_not_offered_is_said_by_lint_and_by_a_run(
    caplog: pytest.LogCaptureFixture,
):
    order = {"name": "order_id", "in": "path", "required": True, "schema": {"type": "string"}}
    body = {"type": "object", "properties": {"order_id": {"type": "integer"}, "note": {"type": "string"}}}
    operation = {
        "operationId": "get_order",
        "parameters": [order],
        "requestBody": {"content": {"application/json": {"schema": body}}},
    }
    paths = {"/orders/{order_id}": {"post": operation}, "/more": {"$ref": "more.yaml#/x"}}
    write("api.json", json.dumps({"openapi": "3.1.0", "paths": paths}))
    text = (
        "defaults: {tools: {openapi: api.json}}\ncases: [{input: Hi, expect: {get_order: {order_id: A-1}}}]\n"
    )
    path = write("own.yaml", text)
    benchmark = cases_in(path)
    assert benchmark is not None
    findings = [each.message for each in lint(benchmark, data_of(benchmark).locate(None))]
    wt.run(str(path), model=answers, out="out")
    for messages in (findings, caplog.messages):
        assert len(messages) == 2
        assert "second 'order_id'" in messages[0] and "/more: left out" in messages[1]


def test_of_two_tools_of_a_name_a_case_file_says_which_is_left_out():
    write("tools.json", json.dumps([*json.loads(TOOLS), *json.loads(TOOLS)]))
    benchmark = cases_in(write("own.yaml", CASES))
    assert benchmark is not None
    warned = [*lint(benchmark, data_of(benchmark).locate(None))]
    assert any("2 tools are called 'get_order'" in each.message for each in warned)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("{mcp: {command: npx, args: [-y, shop], env: {TOKEN: x}}}", "'env' is not read here"),
        ("{mcp: {mcpServers: {shop: {command: npx}}}}", "'mcpServers' is not read here"),
        ("{python: none.py}", "none.py: there is no such file"),
    ],
)
def test_what_of_a_source_is_not_read_is_named_before_it_is_started(source: str, reason: str):
    benchmark = cases_in(with_source(source))
    assert benchmark is not None
    (finding, *_) = lint(benchmark, data_of(benchmark).locate(None))
    assert reason in finding.message


def test_functions_in_place_of_definitions_are_named(monkeypatch: pytest.MonkeyPatch):
    write("shop_tools.py", "def get_order(id): ...\nTOOLS = [get_order]\n")
    path = with_source("{python: shop_tools.py}")
    request = trust_request_of_cases(path, [StartedSource("python", "shop_tools.py")])
    monkeypatch.setenv("WILDTOOL_TRUST", request.digest)
    with pytest.raises(DataError, match=r"TOOLS holds <function get_order .*expected definitions"):
        wt.run(str(path), model=answers, out="out")


SERVER = f"""
import json, sys
tools = [
    {{"name": t["function"]["name"], "inputSchema": t["function"]["parameters"]}} for t in json.loads({TOOLS!r})
]
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        results = {{"initialize": {{"protocolVersion": "2025-06-18", "capabilities": {{}}, "serverInfo": {{}}}}}}
        result = results.get(message["method"], {{"tools": tools}})
        print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], "result": result}}), flush=True)
"""


def test_tools_of_an_mcp_server_are_listed_once_it_is_trusted(monkeypatch: pytest.MonkeyPatch):
    write("server.py", SERVER)
    command = f"{sys.executable} server.py"
    path = with_source(f"{{mcp: {command}, only: [get_order, refund_order]}}")
    with pytest.raises(UsageError, match=re.escape(f"start `{command}`")) as error:
        wt.run(str(path), model=answers, out="out")
    digest = re.findall(r"[0-9a-f]{64}", str(error.value))[0]
    monkeypatch.setenv("WILDTOOL_TRUST", digest)
    assert numbers(wt.run(str(path), model=answers, out="out"))["overall: right"] == (2, 3)
    assert [len(item.data.units["1"].tools) for item in items(path)] == [2, 2, 2]


def test_repeated_tries_of_a_case_make_one_cluster_and_pass_by_their_share():
    text = (
        "defaults: {tools: tools.json}\ncases:\n- {input: Thanks, expect: none, repeat: 4, at_least: 0.5}\n"
    )
    write("again.yaml", text)
    tries: list[int] = []

    def flaky(messages: Sequence[Any], tools: Sequence[Any]) -> Any:
        tries.append(1)
        return "Bye." if len(tries) % 2 else call("get_order", order_id="A-1")

    found = numbers(wt.run("again.yaml", model=flaky, out="out"))
    assert found["overall: right"] == (2, 4)
    assert found["overall: cases that pass"] == (1, 1)


SESSION = """
defaults: {tools: tools.json}
cases:
- id: late
  turns:
  - input: Where is A-1?
    expect: {get_order: {order_id: A-1}, returns: {status: late, code: R-9}}
    answer: It is late.
  - input: Refund it.
    expect: {refund_order: {order_id: A-1, reason: late}}
"""


def test_under_own_history_a_later_turn_follows_what_the_model_itself_said():
    write("shop.cases.yaml", SESSION)
    seen: list[list[str]] = []

    def model(messages: Sequence[Any], tools: Sequence[Any]) -> Any:
        seen.append([str(message["content"]) for message in messages])
        text = messages[-1]["content"]
        if text == "Refund it.":
            return call("refund_order", order_id="A-1", reason="late")
        return call("get_order", order_id="A-1") if text == "Where is A-1?" else "Late, sorry."

    run = wt.run("shop.cases.yaml", model=model, out="out", history="own")
    assert numbers(run)["overall: right"] == (2, 2)
    assert "Late, sorry." in seen[-1] and "It is late." not in seen[-1]


def test_gold_answers_under_own_history_see_the_recorded_history():
    write("shop.cases.yaml", SESSION)
    (item,) = items("shop.cases.yaml")
    rules = load_benchmark("shop.cases.yaml").rules("fixed")
    assert isinstance(rules, SessionRules)
    session = rules.session(item)
    assert session is not None
    own = session.own_run("1", gold_replies(rules.episode(item, "1")) or [])
    assert own == list(item.data.units["2"].messages[session.history("2")["1"]])
    assert (session.missing("2", []), session.missing("2", own)) == (["refund_order.reason"], [])
    assert session.result("2", "get_order", '{"order_id": "A-1"}') == '{"status": "late", "code": "R-9"}'
    assert session.result("2", "get_order", '{"order_id": "A-2"}') is None
