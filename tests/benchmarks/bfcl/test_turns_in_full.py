"""Multi-turn entries in full: decisions with their reasons, mistakes of the audit, gold in both styles, and which rules
judge which entry."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.bfcl.bfcl_build import JAVA, JAVASCRIPT, RING
from benchmarks.bfcl.test_memory import KEEP_NAME, load, user
from benchmarks.bfcl.test_multi_turn import DOCUMENTS, ENTRY, TEXT, native, played, record
from wildtool.benchmark import Check
from wildtool.benchmarks.bfcl import BFCL_BENCHMARK
from wildtool.benchmarks.bfcl.agentic import answer_message
from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES
from wildtool.benchmarks.bfcl.data import parse_multi_turn
from wildtool.benchmarks.bfcl.gold import NO_CALL
from wildtool.benchmarks.bfcl.multi_turn import (
    FORCE_TERMINATED,
    MultiTurnRules,
    NativeMultiTurn,
    PromptMultiTurn,
    check_turns,
    multi_turn_faults,
)
from wildtool.benchmarks.bfcl.originals import original_texts
from wildtool.benchmarks.bfcl.prompt_forms import PROMPT_FORMS
from wildtool.benchmarks.bfcl.records import BfclEntry
from wildtool.types import Item, Message

MADE, SORTED = ["touch('new')", "ls()"], ["sort(file_name='notes.txt')"]
LISTING = '{"current_directory_content": ["notes.txt", "kept.txt", "box", "bag", "new"]}'
RIGHT = Check(True, reason="the state is right after every turn, and all expected results were seen")


def other_state(turn: int) -> Check:
    return Check(
        False,
        "multi_turn:instance_state_mismatch",
        f"turn {turn}: other state of GorillaFileSystem: root",
        detail={"turn": turn, "class": "GorillaFileSystem", "attributes": ["root"]},
    )


def no_call(turn: int, call: str) -> Check:
    reason = f"turn {turn}: no call; expected {call}"
    return Check(False, "multi_turn:empty_turn_model_response", reason, detail={"turn": turn})


@pytest.mark.parametrize(
    ("turns", "official", "fixed"),
    [
        ([[MADE], [], [SORTED]], RIGHT, RIGHT),
        ([[MADE[:1], MADE[1:]], [], [SORTED]], RIGHT, RIGHT),
        ([[MADE], [SORTED], [["ls()"]]], RIGHT, RIGHT),
        ([[MADE]], *[Check(False, "multi_turn:force_terminated", "stopped: 1 turns, expected 3")] * 2),
        ([[], [], [SORTED]], *[no_call(0, "touch('new')")] * 2),
        ([[MADE], [], []], *[no_call(2, SORTED[0])] * 2),
        ([[["touch('old')", "ls()"]], [], []], *[other_state(0)] * 2),
        ([[MADE], [["touch('more')"]], [SORTED]], other_state(2), other_state(1)),
        (
            [[MADE[:1]], [], [SORTED]],
            *[
                Check(
                    False,
                    "multi_turn:execution_response_mismatch",
                    f"turn 0: 1 expected results are missing, such as {LISTING}",
                    detail={"turn": 0, "missing": [LISTING]},
                )
            ]
            * 2,
        ),
    ],
)
def test_a_decision_names_the_turn_and_what_is_wrong(turns: Any, official: Check, fixed: Check) -> None:
    assert check_turns(record(), turns) == official
    assert check_turns(record(), turns, strict=True) == fixed


def test_expected_calls_that_fail_are_named() -> None:
    answer = {"ground_truth": [["cat('x')", "ls()"], ["nope()"], []]}
    own = parse_multi_turn(ENTRY, answer, BFCL_CATEGORIES["multi_turn_base"], DOCUMENTS, "here")
    assert list(multi_turn_faults(own)) == [
        ("expected call fails", "cat('x'): {\"error\": \"cat: 'x': No such file or directory\"}"),
        ("expected call fails", "nope(): Error during execution: name 'nope' is not defined"),
    ]


# Mistakes --------------------------------------------------------------------------------------------


def shown(reply: Message) -> str:
    if reply.get("tool_calls"):
        return " ".join(
            f"{made['function']['name']}{made['function']['arguments']}" for made in reply["tool_calls"]
        )
    return "-" if reply["content"] == NO_CALL else reply["content"]


def test_each_mistake_is_in_one_turn() -> None:
    own = Item("x", ("0",), record())
    rules = MultiTurnRules(native=False)
    made, ordered = "[touch(file_name='new'), ls()]", "[sort(file_name='notes.txt')]"
    tag = '<tool_call>{"name": "ls", "arguments": {}}</tool_call>'
    assert [
        (m.unit, m.kind, m.note, rules.explain(own, m), " ".join(map(shown, m.replies)))
        for m in rules.mutants(own)
    ] == [
        ("0", "turn without calls", "turn 0: no call", "M3", f"- - {ordered} -"),
        ("0", "call left out", "turn 0: touch", "M3", f"[ls()] - - {ordered} -"),
        (
            "0",
            "call renamed",
            "turn 0: touch_v2 for touch",
            "M3",
            f"[touch_v2(file_name='new'), ls()] - - {ordered} -",
        ),
        (
            "0",
            "required argument left out",
            "turn 0: touch: file_name",
            "M3",
            f"[touch(), ls()] - - {ordered} -",
        ),
        ("0", "call left out", "turn 0: ls", "M3", f"[touch(file_name='new')] - - {ordered} -"),
        (
            "0",
            "call renamed",
            "turn 0: ls_v2 for ls",
            "M3",
            f"[touch(file_name='new'), ls_v2()] - - {ordered} -",
        ),
        (
            "0",
            "unknown argument",
            "turn 0: ls: zz_unknown",
            "M3",
            f"[touch(file_name='new'), ls(zz_unknown=1)] - - {ordered} -",
        ),
        ("0", "turn without calls", "turn 2: no call", "M3", f"{made} - - -"),
        (
            "0",
            "call renamed",
            "turn 2: sort_v2 for sort",
            "M3",
            f"{made} - - [sort_v2(file_name='notes.txt')] -",
        ),
        ("0", "required argument left out", "turn 2: sort: file_name", "M3", f"{made} - - [sort()] -"),
        ("0", "call in JSON in a tag at the end", "ls", "M7", f"{made} - - {ordered} {tag}"),
    ]
    mutants = list(MultiTurnRules(native=True).mutants(own))
    assert (len(mutants), " ".join(map(shown, mutants[3].replies))) == (
        11,
        'touch{} ls{} - - sort{"file_name": "notes.txt"} -',
    )


def test_gold_that_is_refused_has_no_mistakes() -> None:
    answer = {"ground_truth": [["cat('kept.txt', 'more')"], [], []]}
    own = parse_multi_turn(ENTRY, answer, BFCL_CATEGORIES["multi_turn_base"], DOCUMENTS, "here")
    assert list(MultiTurnRules(native=True).mutants(Item("x", ("0",), own))) == []


# Episodes --------------------------------------------------------------------------------------------


def gold(episode: Any, style: str) -> str:
    request = episode.request()
    assert request is not None and request.gold is not None
    return shown(request.gold(style))


def test_gold_is_given_at_once_or_call_by_call() -> None:
    episode = PromptMultiTurn(record())
    assert (gold(episode, "parallel"), gold(episode, "serial")) == (
        "[touch(file_name='new'), ls()]",
        "[touch(file_name='new')]",
    )
    played(episode, {"role": "assistant", "content": "[touch(file_name='new')]"})
    assert (gold(episode, "parallel"), gold(episode, "serial")) == ("-", "[ls()]")
    played(episode, {"role": "assistant", "content": "[ls()]"})
    assert (gold(episode, "parallel"), gold(episode, "serial")) == ("-", "-")


def test_a_reply_keeps_what_its_provider_wants_back_and_results_their_ids() -> None:
    reply = native(("ls", "{}"), ("cat", '{"file_name": "kept.txt"}'))
    reply = {**reply, "content": "Wait.", "reasoning_content": "Hm."}
    reply["tool_calls"][1].pop("id")
    episode = played(NativeMultiTurn(record()), reply)
    request = episode.request()
    assert request is not None and list(request.messages)[1:] == [
        reply,
        {"role": "tool", "tool_call_id": "id 0", "content": LISTING.replace(', "new"', "")},
        {"role": "tool", "tool_call_id": None, "content": '{"file_content": "one two"}'},
    ]
    assert (episode.calls, episode.turns, episode.endings) == (
        2,
        [[["ls()", "cat(file_name='kept.txt')"]]],
        [],
    )
    silent = played(PromptMultiTurn(record()), {"role": "assistant", "content": None})
    request = silent.request()
    assert request is not None and request.messages[2] == {"role": "assistant", "content": ""}
    assert (silent.endings, silent.done, silent.stopped) == (
        [{"role": "assistant", "content": None}],
        False,
        False,
    )
    assert played(silent, TEXT, TEXT).done and silent.request() is None


# Which rules -----------------------------------------------------------------------------------------


def test_facts_are_those_of_several_turns_alone(tmp_path: Path) -> None:
    rules = BFCL_BENCHMARK.rules("official")
    turns, memory = Item("x", ("0",), record()), load(tmp_path, "memory_kv")
    assert rules.facts(rules.episode(turns, "0"), turns, "0") == record().instances().facts() != {}
    assert rules.facts(rules.episode(memory, memory.units[0]), memory, memory.units[0]) == {}
    assert (list(rules.leading(memory)), list(rules.leading(turns))) == ([memory.units[0]], [])


def test_a_dialogue_that_ended_early_is_refused_with_its_calls() -> None:
    rules, turns = BFCL_BENCHMARK.rules("official"), Item("x", ("0",), record())
    assert rules.verdict(rules.episode(turns, "0"), turns, "0") == Check(
        False, FORCE_TERMINATED, "stopped: 1 turns, expected 3", fields={"decoded_calls": 0}
    )


def test_a_memory_is_shown_in_a_system_message_before_the_first_turn(tmp_path: Path) -> None:
    item = load(tmp_path, "memory_kv")
    episode: Any = BFCL_BENCHMARK.rules("official").episode(item, item.units[0])
    text = original_texts().memory("customer", episode._apis.memory()[1], unified=False)
    assert episode.request().messages == [{"role": "system", "content": text}, user("I am Ann.")]
    assert (episode.calls, episode.final, episode.memory, episode.done) == (0, None, None, False)
    episode.advance(KEEP_NAME)
    assert episode.calls == 0, "calls before the question do not count"
    for reply in (TEXT, TEXT, TEXT):
        episode.advance(reply)
    request = episode.request()
    text = original_texts().memory("customer", episode._apis.memory()[1], unified=False)
    assert request.messages == [
        {"role": "system", "content": f"{text}\n\n{original_texts().answer_form}"},
        user("What is my name?"),
    ]
    assert request.gold("parallel")["content"] == "{'answer': 'Ann', 'context': 'It was said.'}"
    assert episode.memory == {"core_memory": {"name": "Ann"}, "archival_memory": {}}
    for name in ("Ann", "Bo"):
        episode.advance(answer_message(name))
    assert (episode.done, episode.final) == (True, answer_message("Ann"))


def entry(category: str, functions: list[Any], *answers: Any) -> BfclEntry:
    return BfclEntry(BFCL_CATEGORIES[category], (user("Please."),), tuple(functions), answers)


def test_fixed_reads_each_form_of_prompts() -> None:
    rules: Any = BFCL_BENCHMARK.in_mode("prompt").rules("fixed")
    own = entry("simple_python", [RING], {"ring": {"name": ["Ann"]}})
    for name, form in PROMPT_FORMS.items():
        calls = [("ring", {"name": "Ann"})]
        item = Item("x", (name,), own)
        episode = rules.episode(item, name)
        episode.request()
        episode.advance(form.message(calls))
        assert rules.verdict(episode, item, name).correct, name
        bare = rules.forms[name].check(
            own, {"role": "assistant", "content": form.message(calls)["content"].replace("TOOLCALL", "x")}
        )
        assert bare.correct == (not form.tagged), name
    positional = rules.forms["python/tag/json/plaintext/classic"]
    assert positional.check(
        own, {"role": "assistant", "content": "<TOOLCALL>[ring('Ann')]</TOOLCALL>"}
    ).correct


def test_fixed_looks_into_fences_only_where_any_call_is_right() -> None:
    rules: Any = BFCL_BENCHMARK.in_mode("prompt").rules("fixed")
    fenced = {"role": "assistant", "content": "Here:\n```python\n[ring(name='Ann')]\n```"}
    assert rules.single.check(entry("live_relevance", [RING]), fenced).correct
    assert not rules.single.check(entry("simple_python", [RING], {"ring": {"name": ["Ann"]}}), fenced).correct


def test_hints_about_the_language_are_given_twice_in_format_sensitivity() -> None:
    rules: Any = BFCL_BENCHMARK.in_mode("prompt").rules("official")
    form = "python/no-tag/json/plaintext/classic"
    own = entry("simple_python", [RING], {"ring": {"name": ["Ann"]}})
    once, twice = (
        each.form.request(own).messages[0]["content"] for each in (rules.single, rules.forms[form])
    )
    hint = once[once.index("Does ring.") + len("Does ring.") : once.index('",', once.index("Does ring."))]
    assert hint and hint * 2 in twice and hint * 2 not in once
    for category, functions in (("simple_java", [JAVA]), ("simple_javascript", [JAVASCRIPT])):
        text = rules.single.form.request(entry(category, functions)).messages[0]["content"]
        assert ("Java" in text) and ("JavaScript" in text) == (category == "simple_javascript")


def test_a_choice_of_the_lenient_rules_is_kept_from_the_strict_ones(tmp_path: Path) -> None:
    item = load(tmp_path, "memory_kv")
    official, fixed = (BFCL_BENCHMARK.rules(profile) for profile in ("official", "fixed"))
    episode: Any = official.episode(item, item.units[1])
    episode.final = {"role": "assistant", "content": "{'answer': 'I do not know', 'context': '38'}"}
    assert official.verdict(episode, item, item.units[1]) == Check(
        True, reason="the last reply has an accepted answer", fields={"decoded_calls": 0}
    )
    refused = fixed.verdict(episode, item, item.units[1])
    assert (refused.correct, refused.error, refused.reason) == (
        False,
        "agentic:answer_not_found",
        "expected '38 or thirty eight', found \"{'answer': 'I do not know', 'context': '38'}\"",
    )
