"""Seal-Tools' requests, episodes with a retriever, its mistakes for the audit and why gold answers are refused."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.number_lines import number_lines
from benchmarks.sealtools.sealtools_build import BOAT, NAMES, TIDE, parsed, record, tool, write_data
from parity.judging import judge_metrics
from wildtool.benchmark import Check
from wildtool.benchmarks.sealtools import SEALTOOLS
from wildtool.benchmarks.sealtools.rules import found_tools, read_found
from wildtool.types import Item, Message, Reply, Transcript

RETRIEVING = SEALTOOLS.in_mode("retrieval")
WORD = {"api": "sayHello", "parameters": {"words": "Olá"}, "responses": ["API_call_1"]}


def item_of(*calls: dict[str, Any]) -> Item:
    return Item("dev-easy-0", ("0",), parsed(*calls), split="dev")


def written(content: Any) -> Message:
    return {"role": "assistant", "content": content if isinstance(content, str) else json.dumps(content)}


@pytest.fixture
def items(tmp_path: Path) -> list[Item]:
    return list(RETRIEVING.load(RETRIEVING.data.locate(str(write_data(tmp_path / "data"))), split="dev"))


# Requests --------------------------------------------------------------------------------------------


def test_a_request_is_the_prompt_with_the_gold_list_in_two_styles() -> None:
    episode = SEALTOOLS.rules("toleap").episode(item_of(WORD), "0")
    request = episode.request()
    assert request is not None and request.gold is not None
    assert (request.messages, request.role) == ([{"role": "user", "content": parsed(WORD).prompt}], "agent")
    assert request.gold("literal") == written(repr([WORD]))
    assert request.gold("parallel") == written(json.dumps([WORD], ensure_ascii=False))


def test_a_retriever_is_asked_before_the_model(items: list[Item]) -> None:
    episode = RETRIEVING.rules("toleap").episode(items[0], "0")
    query = episode.request()
    assert query is not None and query.gold is not None
    assert (query.messages, query.role) == (
        [{"role": "user", "content": "Get the tide of Vigo."}],
        "retriever",
    )
    assert query.gold("") == found_tools([*NAMES]) == written('["getTide", "bookBoat", "sayHello"]')
    assert not episode.done
    episode.advance(found_tools(["feedGulls", "none", "getTide"]))
    request = episode.request()
    assert request is not None and request.gold is not None
    shown = items[0].data.prompt.replace(
        str([tool(name) for name in NAMES]), str([tool("feedGulls"), tool("getTide")])
    )
    assert (request.messages, request.role) == ([{"role": "user", "content": shown}], "agent")
    assert request.gold("parallel") == written([TIDE])
    assert not episode.done
    episode.advance(written("first"))
    episode.advance(written("second"))
    assert (episode.done, episode.request(), episode.reply) == (True, None, written("first"))  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ('["a", 5, "b", "a", null]', ["a", "b"]),
        ("[]", []),
        ('"a"', []),
        ("words", []),
        (None, []),
        ("[" * 100_000, []),
    ],
)
def test_names_of_tools_are_read_from_a_list(content: Any, names: list[str]) -> None:
    assert read_found({"role": "assistant", "content": content}) == names


def test_found_names_are_written_as_they_are() -> None:
    assert found_tools(["Olá"]) == {"role": "assistant", "content": '["Olá"]'}


# Decisions -------------------------------------------------------------------------------------------


def check(item: Item, *replies: Message, unfinished: bool = False) -> Check:
    rules = RETRIEVING.rules("fixed")
    episode = rules.episode(item, "0")
    for reply in replies:
        episode.advance(reply)
    return rules.unfinished(episode, item, "0") if unfinished else rules.verdict(episode, item, "0")


def test_a_decision_says_what_was_retrieved(items: list[Item]) -> None:
    names = ["feedGulls", "getTide", "countGulls"]
    found = check(items[1], found_tools(names), written([TIDE]))
    assert (found.correct, found.error, found.reason, found.steps) == (
        False,
        "missing_call",
        "a gold call is missing",
        1,
    )
    own = {name: found.fields[name] for name in ("ok_api", "gold_api", "retrieved", "recalled", "recallable")}
    assert own == {"ok_api": 1, "gold_api": 2, "retrieved": 3, "recalled": 1, "recallable": 2}
    assert found.detail == {"calls": [TIDE], "retrieved": names}
    assert check(items[0], found_tools([]), written([TIDE])).fields["recalled"] == 0


def test_a_record_that_ends_early_has_what_is_known_of_it(items: list[Item]) -> None:
    known_of_gold = {"parsed": 0, "gold_api": 2, "gold_param": 3}
    assert check(items[1], unfinished=True) == Check(False, fields=known_of_gold, steps=0)
    recall = {"retrieved": 1, "recalled": 1, "recallable": 2}
    begun = check(items[1], found_tools(["bookBoat"]), unfinished=True)
    assert begun == Check(False, fields={**known_of_gold, **recall}, steps=0)
    plain = SEALTOOLS.rules("fixed")
    whole = plain.unfinished(plain.episode(items[1], "0"), items[1], "0")
    assert whole == Check(False, fields=known_of_gold, steps=0)


def test_recall_is_reported_of_all_records_and_each_cut(tmp_path: Path) -> None:
    source = RETRIEVING.data.locate(str(write_data(tmp_path / "data")))
    names = (["getTide"], ["getTide", "sayHello"], [], ["bookBoat", "getTide"], ["getTide"], ["bookBoat"])
    items = list(RETRIEVING.load(source))
    transcripts = {
        item.id: Transcript((Reply(found_tools(own)), Reply(written("none"))))
        for item, own in zip(items, names, strict=True)
    }
    metrics = judge_metrics(RETRIEVING, items, transcripts, "fixed", tmp_path)
    recall = [metric for metric in metrics.values() if metric.group.startswith("retrieval")]
    assert number_lines(recall) == [
        "retrieval: recall@2: all records 6/9*, dev 2/3, test_in_domain 2/3, test_out_domain 2/3, test 4/6,"
        " easy 2/3, difficult 4/6, single 2/3, multiple 0/0, nested 4/6",
        "retrieval: all APIs found: all records 3/6, dev 1/2, test_in_domain 1/2, test_out_domain 1/2, test 2/4,"
        " easy 2/3, difficult 1/3, single 2/3, multiple 0/0, nested 1/3",
    ]


@pytest.mark.parametrize(
    ("reply", "calls"),
    [
        (
            written([TIDE, {"api": 5, "arguments": {"a": 1}}, {"x": 1}]),
            [("getTide", TIDE["parameters"]), ("5", {"a": 1})],
        ),
        (written(["getTide"]), []),
        (written("words"), [("message", "words")]),
        ({"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}, [("f", {})]),
    ],
)  # fmt: skip
def test_the_calls_that_a_reply_makes_are_shown(reply: Message, calls: list[Any]) -> None:
    assert list(RETRIEVING.rules("fixed").said(reply)) == calls
    if calls:
        assert list(SEALTOOLS.rules("fixed").said(reply)) == calls


# The audit -------------------------------------------------------------------------------------------


def mistakes(item: Item) -> list[tuple[str, Any, str]]:
    """Kind, calls or text, and note of each mutant."""
    rows: list[tuple[str, Any, str]] = []
    for mutant in SEALTOOLS.rules("fixed").mutants(item):
        (reply,) = mutant.replies
        assert (mutant.unit, {**reply, "content": ""}) == ("0", {"role": "assistant", "content": ""})
        rows.append((mutant.kind, reply["content"], mutant.note))
    return rows


def text_of(*calls: dict[str, Any]) -> str:
    return json.dumps([*calls], ensure_ascii=False)


def test_each_mistake_is_in_the_last_call() -> None:
    def with_parameters(**parameters: Any) -> str:
        return text_of(TIDE, {**last, "parameters": parameters})

    last = {"api": "sayHello", "parameters": {"words": "Olá", "times": ["1"]}, "responses": ["API_call_1"]}
    assert mistakes(item_of(TIDE, last)) == [
        ("other API", text_of(TIDE, {**last, "api": "bookBoat"}), "bookBoat in place of sayHello"),
        ("unknown API", text_of(TIDE, {**last, "api": "sayHelloX"}), "sayHelloX in place of sayHello"),
        ("repeated call", text_of(TIDE, last, last), "sayHello"),
        ("missing call", text_of(TIDE), "sayHello"),
        ("extra parameter", with_parameters(words="Olá", times=["1"], no_such="1"), "no_such"),
        ("missing parameter", with_parameters(times=["1"]), "words"),
        ("renamed parameter", with_parameters(times=["1"], words_x="Olá"), "words"),
        ("other value", with_parameters(times=["1"], words="not Olá"), "words"),
        ("only words", "None of the listed tools can do this.", "no list"),
        ("cut off", text_of(TIDE, last)[:-1], "the last bracket is missing"),
    ]


def test_the_calls_before_a_missing_one_are_written_as_they_are() -> None:
    assert mistakes(item_of(WORD, TIDE))[3] == ("missing call", text_of(WORD), "getTide")


def test_what_a_call_does_not_have_cannot_be_wrong() -> None:
    plain = [{"api": name, "parameters": {}, "responses": []} for name in NAMES]
    assert [kind for kind, _, _ in mistakes(item_of(*plain))] == [
        "unknown API",
        "repeated call",
        "missing call",
        "extra parameter",
        "only words",
        "cut off",
    ]
    assert [kind for kind, _, _ in mistakes(item_of(plain[0]))] == [
        "other API",
        "unknown API",
        "repeated call",
        "extra parameter",
        "only words",
        "cut off",
    ]
    listed = {**TIDE, "parameters": {"harbour": ["a"]}}
    assert mistakes(item_of(listed))[6][1] == text_of({**listed, "parameters": {"harbour": ["a", "x"]}})


def test_a_record_whose_gold_is_refused_has_no_mistakes() -> None:
    refused = item_of({**TIDE, "parameters": {"harbour": "it's"}})
    assert [*SEALTOOLS.rules("toleap").mutants(refused)] == []
    assert len(mistakes(refused)) == 9


def test_mistakes_follow_the_tools_that_a_retriever_finds() -> None:
    for mutant in RETRIEVING.rules("fixed").mutants(item_of(TIDE)):
        assert (len(mutant.replies), mutant.replies[0]) == (2, found_tools([*NAMES]))


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        ([TIDE, BOAT, TIDE], "Q1: gold calls one API twice, and both are compared with the first call"),
        (
            [{**TIDE, "parameters": {"harbour": "it's"}}],
            "Q4: an apostrophe in a value becomes a double quote, or another sign of Python's breaks the JSON",
        ),
        *(
            (
                [{**TIDE, "parameters": {"harbour": value}}],
                "Q4: every single quote becomes a double one, and True, False and None are not JSON",
            )
            for value in (True, False, None, "a\\b")
        ),
        ([{**BOAT, "parameters": {"harbour": "a [ b"}, "responses": []}], "Q5: a bracket in a value"),
    ],
)
def test_a_refused_gold_answer_is_explained(calls: list[Any], reason: str) -> None:
    assert SEALTOOLS.rules("toleap").explain_gold(item_of(*calls), "0") == reason


def test_a_gold_answer_in_json_has_no_apostrophe() -> None:
    own = replace(parsed(TIDE), gold_text=json.dumps([TIDE]))
    assert (
        SEALTOOLS.rules("toleap")
        .explain_gold(Item("x", ("0",), own), "0")
        .startswith("Q4: every single quote")
    )


def test_the_record_has_the_query_and_tools_of_its_prompt() -> None:
    own = parsed(TIDE)
    assert (own.query, own.candidates(), own.shape) == ("Get the tide of Vigo.", [*NAMES], "single")
    assert own.tools() == [tool(name) for name in NAMES]
    assert own.prompt_with(["x"]) == record()["conversations"][0]["value"].replace(
        str([tool(name) for name in NAMES]), "['x']"
    )
