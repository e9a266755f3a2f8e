"""BFCL's memory: three kinds of it, earlier conversations that fill it, and answers looked for in the last reply."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from e2e.command import wildtool
from wildtool.alter.noise.noise import Noise
from wildtool.alter.variant import Variant
from wildtool.benchmark import settled_item
from wildtool.benchmarks.bfcl import BFCL_BENCHMARK
from wildtool.benchmarks.bfcl.agentic import (
    NO_LAST_MESSAGE,
    NOT_FOUND,
    answer_message,
    has_answer,
    has_answer_strictly,
)
from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES, GROUPS, SCORED
from wildtool.benchmarks.bfcl.simulated import MEMORIES, SimulatedApis
from wildtool.benchmarks.bfcl.summary import LEADERBOARDS, leaderboard_metrics
from wildtool.data.data_set import data_of
from wildtool.errors import DataError, InfraError
from wildtool.types import Item, Message, Metric, Reply, Request, Transcript

QUESTIONS = [("What is my name?", ["Ann"]), ("Which size?", ["38", "thirty eight"])]
EARLIER = [["I am Ann.", "Bye."], ["My size is 38."]]


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def data_folder(folder: Path) -> Path:
    names = [f"memory_{number}-customer-{number}" for number in range(2)]
    entries = [
        {"id": name, "question": [[user(text)]], "involved_classes": ["MemoryAPI"], "scenario": "customer"}
        for name, (text, _) in zip(names, QUESTIONS, strict=True)
    ]
    truths = [{"id": name, "ground_truth": truth} for name, (_, truth) in zip(names, QUESTIONS, strict=True)]
    earlier = [{"question": [[user(text)] for text in texts], "scenario": "customer"} for texts in EARLIER]
    tool = {
        "name": "core_memory_add",
        "description": "",
        "parameters": {"type": "dict", "properties": {}, "required": []},
    }
    files = {
        "question/BFCL_v4_memory.json": entries,
        "possible_answer/BFCL_v4_memory.json": truths,
        "memory_prereq_conversation/memory_customer.json": earlier,
        **{f"multi_turn_func_doc/{name}.json": [tool] for name in MEMORIES.values()},
    }
    for name, lines in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return folder


@pytest.fixture
def shop(tmp_path: Path) -> Item:
    """The scenario with a memory of keys."""
    return load(tmp_path, "memory_kv")


def load(place: Path, split: str) -> Item:
    (item,) = BFCL_BENCHMARK.load(data_of(BFCL_BENCHMARK).locate(str(data_folder(place)), split), split=split)
    return item


def call(name: str, **arguments: Any) -> Message:
    made = {"id": "1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return {"role": "assistant", "content": None, "tool_calls": [made]}


TEXT = {"role": "assistant", "content": "Noted."}
KEEP_NAME = call("core_memory_add", key="name", value="Ann")
KEEP_SIZE = call("core_memory_add", key="size", value="38")


class Player:
    """Answers each unit by its script; keeps what it was shown."""

    def __init__(self, **scripts: list[Message]) -> None:
        self.seen: list[tuple[str, Request]] = []
        self._scripts = {unit.replace("__", "-"): list(script) for unit, script in scripts.items()}

    async def __call__(self, unit: str, request: Request) -> Reply:
        self.seen.append((unit, request))
        if not self._scripts[unit]:
            raise InfraError("timeout", "no answer", attempts=1)
        return Reply(self._scripts[unit].pop(0))

    def system_messages(self) -> list[str]:
        return [request.messages[0]["content"] for _, request in self.seen]


def scripts(item: Item) -> dict[str, list[Message]]:
    first = [KEEP_NAME, TEXT, TEXT, KEEP_SIZE, TEXT, call("core_memory_clear"), answer_message("Ann")]
    return dict(zip(item.units, (first, [answer_message("38")]), strict=True))


def played(item: Item, benchmark: Any = BFCL_BENCHMARK, **changed: list[Message]) -> Player:
    player = Player(**{**scripts(item), **changed})
    asyncio.run(benchmark.play(item, player, "official"))
    return player


def test_a_scenario_is_an_item_and_its_questions_are_units(shop: Item) -> None:
    assert (shop.id, shop.split) == ("memory_kv:customer", "memory_kv")
    assert shop.units == ("memory_kv_0-customer-0", "memory_kv_1-customer-1")


def test_conversations_come_first_and_each_question_begins_with_what_they_left(shop: Item) -> None:
    player = played(shop)
    shown = player.system_messages()
    assert "There is no content" in shown[0] and "'answer'" not in shown[0]
    assert '"name": "Ann"' in shown[3] and "My size" in player.seen[3][1].messages[1]["content"]
    for text in (shown[5], shown[-1]):
        assert '"name": "Ann"' in text and '"size": "38"' in text and "'answer'" in text
    assert [unit for unit, _ in player.seen] == [shop.units[0]] * 7 + [shop.units[1]]
    golds = [request.gold("") if request.gold else None for _, request in player.seen]
    assert golds[5:] == [answer_message("Ann")] * 2 + [answer_message("38")]
    assert not any("answer" in str(gold) for gold in golds[:5])


def test_what_a_question_does_to_the_memory_is_not_seen_by_another(shop: Item) -> None:
    assert "core_memory_clear" in str(scripts(shop)[shop.units[0]])
    assert '"size"' in played(shop).system_messages()[-1]


def transcripts(item: Item, **changed: list[Message]) -> dict[str, Transcript]:
    said = {**scripts(item), **changed}
    return {unit: Transcript(tuple(map(Reply, replies))) for unit, replies in said.items()}


def test_a_record_is_judged_from_its_replies_alone(shop: Item) -> None:
    verdicts = BFCL_BENCHMARK.judge(shop, transcripts(shop), "official")
    assert [(one.outcome, one.fields["decoded_calls"]) for one in verdicts] == [
        ("correct", 1),
        ("correct", 0),
    ]
    settled = settled_item(BFCL_BENCHMARK.rules("official"), shop, transcripts(shop))
    assert settled.data.memory == {"core_memory": {"name": "Ann", "size": "38"}, "archival_memory": {}}
    request = BFCL_BENCHMARK.rules("official").episode(settled, shop.units[1]).request()
    assert request is not None and request.messages == played(shop).seen[-1][1].messages


def test_questions_wait_for_conversations_that_did_not_end(shop: Item) -> None:
    short = {shop.units[0]: scripts(shop)[shop.units[0]][:2]}
    verdicts = BFCL_BENCHMARK.judge(
        shop, transcripts(shop, **short) | {shop.units[1]: Transcript(())}, "official"
    )
    assert [one.outcome for one in verdicts] == ["unplayed", "unplayed"]
    assert {unit for unit, _ in played(shop, **short).seen} == {shop.units[0]}


def test_noise_in_tools_reaches_conversations_and_questions_alike(tmp_path: Path) -> None:
    item, benchmark = (
        load(tmp_path, "memory_kv"),
        Variant(BFCL_BENCHMARK, (Noise.parse("names:medium"),)),
    )
    asked: list[str] = []
    recorded: dict[str, list[Reply]] = {}

    class Renamed(Player):
        async def __call__(self, unit: str, request: Request) -> Reply:
            name = request.tools[0]["function"]["name"]
            asked.append(name)
            reply = await super().__call__(unit, request)
            text = json.dumps(reply.message).replace("core_memory_add", name)
            recorded.setdefault(unit, []).append(Reply(json.loads(text)))
            return recorded[unit][-1]

    player = Renamed(**scripts(item))
    asyncio.run(benchmark.play(item, player, "official"))
    assert set(asked) != {"core_memory_add"} and len(set(asked)) == 1
    assert '"size": "38"' in player.system_messages()[-1]
    record = {unit: Transcript(tuple(replies)) for unit, replies in recorded.items()}
    verdicts = benchmark.judge(item, record, "official")
    assert [(one.outcome, one.fields["decoded_calls"]) for one in verdicts] == [
        ("correct", 1),
        ("correct", 0),
    ]
    memory = benchmark.settled(item, record, "official").data.memory
    assert memory["core_memory"] == {"name": "Ann", "size": "38"}


@pytest.mark.parametrize(
    ("last", "error"),
    [
        (answer_message("Ben"), NOT_FOUND),
        ({"role": "assistant", "content": ""}, NO_LAST_MESSAGE),
        ({"role": "assistant", "content": None}, NO_LAST_MESSAGE),
        ({"role": "assistant", "content": "You are ANN."}, None),
        ({"role": "assistant", "content": "Anna"}, NOT_FOUND),
    ],
)
def test_an_answer_is_looked_for_in_the_last_reply(shop: Item, last: Message, error: str | None) -> None:
    changed = {shop.units[0]: [*scripts(shop)[shop.units[0]][:-1], last]}
    assert BFCL_BENCHMARK.judge(shop, transcripts(shop, **changed), "official")[0].error == error


def test_a_question_that_is_never_answered_has_no_last_message(shop: Item) -> None:
    endless = {shop.units[1]: [call("core_memory_list_keys")] * 21}
    assert BFCL_BENCHMARK.judge(shop, transcripts(shop, **endless), "official")[1].error == NO_LAST_MESSAGE


@pytest.mark.parametrize(
    ("reply", "answers", "official", "fixed"),
    [
        ("{'answer': 'I do not know', 'context': 'perhaps 38'}", ["38"], True, False),
        ("{'answer': '38', 'context': 'said'}", ["38"], True, True),
        ('{"answer": 38, "context": "said"}', ["38"], True, True),
        ("It is 1.5 km", ["15"], True, False),
        ("It is 1,234.50", ["1234.50"], True, True),
        ("C++ it is", ["C++"], False, True),
        ("{broken 38", ["38"], True, True),
        ("{'answer': 'I don't know', 'context': 'perhaps 38'}", ["38"], True, False),
        ("{'Context': 'it's 38', 'Answer': 'unknown'}", ["38"], True, False),
        ("{“answer”: “unknown”, “context”: “38", ["38"], True, False),
        ("**Answer**: unknown\n**Context**: 38", ["38"], True, False),
        ("{'answer': 'it's 38', 'context': ''}", ["38"], True, True),
        ("-38", ["38"], True, False),
        ("minus 38 degrees", ["38"], True, False),
        ("−$38", ["38"], True, False),
        ("It was **38**.", ["38"], True, True),
        ("38.0", ["38"], False, True),
        ("38–40", ["38"], True, False),
        ("2.38.1", ["38"], False, False),
        ("at 12:38", ["38"], True, False),
        ("007", ["7"], False, False),
        ("parisian", ["paris"], False, False),
        ('{"answer": "caf\\u00e9", "context": "38"}', ["café"], False, True),
        ('It is {"answer": "caf\\u00e9", "context": "38"}', ["café"], False, True),
    ],
)
def test_fixed_reads_the_answer_alone_and_keeps_the_signs_of_numbers(
    reply: str, answers: list[str], official: bool, fixed: bool
) -> None:
    assert has_answer(reply, answers) is official
    assert has_answer_strictly(reply, answers) is fixed


def memory(category: str) -> SimulatedApis:
    return SimulatedApis([next(owner for owner, name in MEMORIES.items() if name == category)], {})


@pytest.mark.parametrize(
    ("category", "calls", "result"),
    [
        ("memory_kv", ["core_memory_add('a b', 'x')"], "snake_case"),
        ("memory_kv", ["core_memory_add('a', 'x')", "core_memory_retrieve('a')"], '{"value": "x"}'),
        ("memory_kv", ["core_memory_key_search('a')"], "Error during execution: division by zero"),
        (
            "memory_kv",
            [
                "core_memory_add('home_name', 'x')",
                "core_memory_add('city', 'y')",
                "core_memory_key_search('Name', k=1)",
            ],
            '{"ranked_results": [[2.05',
        ),
        ("memory_vector", ["core_memory_add('one')", "core_memory_add('two')"], '{"id": 1}'),
        (
            "memory_vector",
            ["core_memory_add('a')", "core_memory_clear()", "core_memory_add('b')"],
            '{"id": 0}',
        ),
        ("memory_vector", ["archival_memory_update(3, 'x')"], "ID 3 not present in store."),
        ("memory_rec_sum", ["memory_update('aXa')", "memory_replace('a', 'b')", "memory_retrieve()"], "bXb"),
    ],
)
def test_memories_are_those_of_the_original(category: str, calls: list[str], result: str) -> None:
    assert result in memory(category).execute(calls)[-1]


def test_texts_are_found_by_their_words_best_first() -> None:
    kept = memory("memory_vector")
    kept.execute([f"archival_memory_add({text!r})" for text in ("red shoes of Ann", "a blue hat", "shoes")])
    (text,) = kept.execute(["archival_memory_retrieve('shoes, please: shoes', top_k=2)"])
    found = json.loads(text)["result"]
    assert [one["id"] for one in found] == [2, 0]
    assert found[0]["similarity_score"] > found[1]["similarity_score"]


@pytest.mark.parametrize("category", MEMORIES.values())
def test_the_next_conversation_begins_with_what_the_last_one_left(category: str) -> None:
    kept = memory(category)
    tool, value = (
        ("memory_update", "('38')") if category == "memory_rec_sum" else ("core_memory_add", "('38')")
    )
    kept.execute([f"{tool}('size', '38')" if category == "memory_kv" else f"{tool}{value}"])
    state, shown = kept.memory()
    assert "38" in shown
    (owner,) = (owner for owner, name in MEMORIES.items() if name == category)
    later = SimulatedApis([owner], {owner: json.loads(json.dumps(state))})
    assert later.memory() == (json.loads(json.dumps(state)), shown)


VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=12)
    | st.lists(st.text(max_size=3), max_size=2)
)


@given(
    st.recursive(
        VALUES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2)
    )
)
def test_no_reply_makes_the_search_for_an_answer_raise(reply: Any) -> None:
    for rule in (has_answer, has_answer_strictly):
        assert rule(reply, ["38", "a+("]) in (True, False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"possible_answer/BFCL_v4_memory.json": '{"ground_truth": []}'}, "expected texts, at least one"),
        (
            {"question/BFCL_v4_memory.json": '{"id": "memory_0", "question": [[]], "scenario": "../x"}'},
            "one word",
        ),
        (
            {"memory_prereq_conversation/memory_customer.json": '{"question": [[{"role": "user"}]]}'},
            r"question\[0\]\[0\]",
        ),
    ],
)
def test_broken_files_are_named(tmp_path: Path, change: Mapping[str, str], message: str) -> None:
    folder = data_folder(tmp_path)
    for name, text in change.items():
        (folder / name).write_text(text, "utf-8")
    with pytest.raises(DataError, match=message):
        list(BFCL_BENCHMARK.load(data_of(BFCL_BENCHMARK).locate(str(folder), "memory_kv"), split="memory_kv"))


def test_a_missing_conversation_is_named(tmp_path: Path) -> None:
    folder = data_folder(tmp_path)
    (folder / "memory_prereq_conversation" / "memory_customer.json").unlink()
    with pytest.raises(DataError, match=r"memory_customer\.json is missing"):
        data_of(BFCL_BENCHMARK).locate(str(folder), "memory")


def test_without_web_search_memory_has_all_of_the_agentic_weight() -> None:
    rates = [
        Metric("category", name, 0.5 if name.startswith("memory") else 1.0, size / 2, size)
        for name in SCORED
        for size in [BFCL_CATEGORIES[name].size]
    ]
    overall, *_ = leaderboard_metrics(LEADERBOARDS["v4"], "v4", rates)
    assert overall.name == "overall (v4) without web search" and "WILDTOOL_SEARCH_URL" in overall.note
    assert overall.value == pytest.approx(0.6 + 0.4 * 0.5) and overall.headline
    searched = [Metric("category", name, 0.0, 0, 100) for name in GROUPS["web_search"]]
    overall, *_ = leaderboard_metrics(LEADERBOARDS["v4"], "v4", rates + searched)
    assert (overall.name, overall.note) == ("overall (v4)", "")
    assert overall.value == pytest.approx(0.6 + 0.4 * 0.25)


@pytest.mark.long
def test_a_run_shows_memory_and_says_that_web_search_is_left_out(tmp_path: Path) -> None:
    data_folder(tmp_path / "data")
    chosen = ("--data", "data", "--split", "memory", "--model", "baseline/gold", "--quiet", "--out", "run")
    ended = asyncio.run(wildtool("run", "bfcl", *chosen, cwd=tmp_path))
    assert ended.status == 0, ended.err
    shown = asyncio.run(wildtool("show", "run", cwd=tmp_path))
    assert "agentic without web search" in shown.out and "6/6" in shown.out, shown.out
    again = asyncio.run(wildtool("run", "bfcl", *chosen, cwd=tmp_path))
    assert again.status == 0, again.err
