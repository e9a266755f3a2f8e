"""Cases for judges: labels that hold, one mutant for each item and kind, twins that differ in nothing else."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from judges.blind import blind_informedness
from judges.made_cases import TOOLS, calling
from judges.sets import benchmark_of, cases_of, ledger, wild
from long import WHOLE
from wildtool.benchmark import Check, GoldForReaders, Mutant, Rules, SingleTurn
from wildtool.data.data_set import data_of
from wildtool.episode import SingleReply
from wildtool.errors import DataError, UsageError
from wildtool.judges.cases import JudgeCase, lines_of_cases, read_cases
from wildtool.judges.make import audit_cases
from wildtool.judges.tiers import TIER_OF_KIND, UNASKED
from wildtool.judges.twins import BIASES
from wildtool.types import Item, Message, Request, Source

DATA = Path(__file__).parents[2] / "shared" / "data"
OTHERS = {
    "acebench": "acebench",
    "apibank": "apibank",
    "glaive": "glaive/synthetic_sharegpt.json",
    "injecagent": "injecagent",
    "rotbench": "rotbench",
    "sealtools": "sealtools",
    "taskbench": "taskbench/synthetic_dailylifeapis.jsonl",
    "teval": "teval",
}
"""Benchmarks whose data lie beside the recorded cases."""
BY_CONSTRUCTION = {
    "false figure in the words",
    "invented result",
    "needless refusal",
    "planted instruction followed",
    "planted instruction ignored",
    "refusal where due",
    "tool called that is not offered",
    "vague answer",
}
"""Kinds of words, and of tools that were taken away: no rules see them."""
NO_READER_MOST = 0.05
"""How well a judge may do that reads nothing."""
MOST_OF = {"teval": 0.1}
"""Where it may do better: most wrong plans of T-Eval lack a step or a value, and so its digits."""


def given_data(cases: Path, name: str) -> Path:
    """The data of another's benchmark. Args: cases: the folder of recorded cases of one of them."""
    return cases.parents[1] / "data" / OTHERS[name]


# Labels ----------------------------------------------------------------------------------------------


@cache
def items_of(name: str) -> Mapping[str, Item]:
    """The items of a set of our own by id."""
    benchmark = benchmark_of(name)
    return {item.id: item for item in benchmark.load(data_of(benchmark).locate(None, None))}


def ends_right(case: JudgeCase) -> bool:
    """What the executable judge says: the judged replies, after gold ones and before gold ones."""
    benchmark = benchmark_of(case.benchmark)
    rules = benchmark.rules("fixed" if "fixed" in benchmark.profiles else "ledger")
    item = items_of(case.benchmark)[case.item]
    episode = rules.episode(item, case.unit)
    own = iter(message for message in case.messages[case.start :] if message["role"] == "assistant")
    while (request := episode.request()) is not None:
        is_judged = len(request.messages) >= case.start
        reply = next(own, None) if is_judged else None
        assert request.gold is not None
        episode.advance(reply or request.gold("parallel"))
    return rules.verdict(episode, item, case.unit).correct


@pytest.mark.parametrize("made", [wild, pytest.param(ledger, marks=pytest.mark.long)])
def test_the_executable_judge_agrees_with_every_label_that_it_can_see(made: Any):
    for case in made():
        if case.kind not in BY_CONSTRUCTION:
            assert ends_right(case) == case.right, case.id


@pytest.mark.parametrize("made", [wild, ledger])
def test_there_is_one_case_for_each_item_and_kind(made: Any):
    counted = Counter((case.item, case.kind) for case in made() if case.tier != "gold")
    assert set(counted.values()) == {1}


def test_no_gold_answer_is_asked_about_twice():
    gold = [(case.item, case.unit, case.start) for case in wild() if case.tier == "gold"]
    assert len(gold) == len(set(gold)) == 50


def test_kinds_come_in_like_numbers_and_languages_as_they_are():
    counted = Counter(case.kind for case in wild() if not case.right)
    assert len(counted) > 20
    assert max(counted.values()) <= 6
    assert {case.lang for case in wild()} == {"en", "zh"}


@pytest.mark.long
def test_the_same_seed_gives_the_same_bytes_and_another_others():
    how: Mapping[str, Any] = {"gold": 4, "near_misses": 4, "wrong": 8}
    source = data_of(benchmark_of("wild-mini")).locate(None, None)
    first, again, other = (audit_cases(benchmark_of("wild-mini"), source, **how, seed=s) for s in (1, 1, 2))
    assert lines_of_cases(first) == lines_of_cases(again) != lines_of_cases(other)


def test_the_bytes_are_the_same_in_another_process():
    made = (
        "from judges.sets import cases_of; from wildtool.judges.cases import lines_of_cases; import sys;"
        "sys.stdout.buffer.write(lines_of_cases(cases_of('wild-mini', gold=10, near_misses=10, wrong=60, "
        "twins=('injection',))))"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONHASHSEED": "7"}
    other = subprocess.run([sys.executable, "-c", made], env=environment, capture_output=True, check=True)
    here = cases_of("wild-mini", gold=10, near_misses=10, wrong=60, twins=("injection",))
    assert other.stdout == lines_of_cases(here)


def test_cases_are_read_as_they_were_written(tmp_path: Path):
    (tmp_path / "cases.jsonl").write_bytes(lines_of_cases(wild()))
    assert [case.id for case in read_cases(tmp_path / "cases.jsonl")] == [case.id for case in wild()]


def test_a_recorded_world_is_cut_behind_one_reply_and_an_executed_one_goes_on():
    assert {len(case.messages) - case.start for case in wild()} == {1}
    assert all(
        {"assistant", "tool", "user"} <= {m["role"] for m in case.messages[case.start :]} for case in ledger()
    )


def test_nothing_shows_how_a_case_was_made():
    written = lines_of_cases([replace(case, note="") for case in (*wild(), *ledger())]).decode()
    assert not [
        mark for mark in ("zzyzx", "quuxly", "zz_unknown", "77.70", "Somebody Else", "_v2") if mark in written
    ]
    ids = [call["id"] for case in wild() for m in case.messages for call in m.get("tool_calls") or ()]
    assert {id_.rstrip("0123456789") for id_ in ids} == {"call_"}


def test_ledger_sessions_whose_gold_leaves_a_question_open_are_left_out():
    benchmark = benchmark_of("ledger")
    items = {item.id: item for item in benchmark.load(data_of(benchmark).locate(None, None))}
    for case in ledger():
        turns = items[case.item].data.turns
        assert not [turn for turn in turns if turn.kind == "chat" and "?" in turn.text]


# Tiers -----------------------------------------------------------------------------------------------


def kinds_of(name: str, data: Path | None = None, most: int = 10_000) -> set[str]:
    benchmark = benchmark_of(name)
    rules = benchmark.rules("fixed" if "fixed" in benchmark.profiles else next(iter(benchmark.profiles)))
    taken: Counter[str] = Counter()
    kinds = set[str]()
    for item in benchmark.load(data_of(benchmark).locate(data and str(data), None)):
        taken[item.split] += 1
        if taken[item.split] <= most:
            kinds |= {mutant.kind for mutant in rules.mutants(item)}
    return kinds


def assert_known(kinds: Iterable[str]) -> None:
    assert not [kind for kind in kinds if kind not in TIER_OF_KIND and kind not in UNASKED]


@pytest.mark.parametrize("name", ["wild-mini", "ledger"])
def test_every_kind_of_mistake_of_our_own_sets_has_a_tier(name: str):
    assert_known(kinds_of(name, most=20))


@pytest.mark.long
@pytest.mark.parametrize("name", OTHERS)
def test_every_kind_of_mistake_of_others_benchmarks_has_a_tier(name: str, cases: Path):
    assert_known(kinds_of(name, given_data(cases, name), most=60))


@pytest.mark.long
@pytest.mark.parametrize("tier", ["contract", "wire", "wrong only if"])
def test_other_tiers_are_made_when_they_are_asked_for(tier: str):
    made = wild(tiers=(tier,), wrong=20, gold=10, near_misses=10)
    assert {case.tier for case in made if not case.right} == {tier}
    assert all(TIER_OF_KIND[case.kind] == tier for case in made if not case.right)


def names_called(messages: Iterable[Message]) -> list[str]:
    return [call["function"]["name"] for message in messages for call in message.get("tool_calls") or ()]


@pytest.mark.long
def test_a_repeated_call_is_wrong_only_where_it_changes_something():
    made = wild(tiers=("wrong only if",), wrong=40, gold=10, near_misses=10)
    repeated = [case for case in made if case.kind == "extra call"]
    assert repeated
    for case in repeated:
        called, gold = (Counter(names_called(turn)) for turn in (case.messages[case.start :], case.reference))
        (added,) = called - gold
        assert not added.startswith(("get_", "list_", "search_", "find_")), case.id


# Judges that read nothing ----------------------------------------------------------------------------


def mean_informedness(sets: Iterable[Iterable[JudgeCase]]) -> Mapping[str, float]:
    found = [blind_informedness([*cases]) for cases in sets]
    return {name: sum(each[name] for each in found) / len(found) for name in found[0]}


def test_a_judge_that_reads_nothing_learns_nothing_from_wild_mini():
    sets = (wild(gold=100, near_misses=100, wrong=200, seed=seed) for seed in range(3 if WHOLE else 2))
    assert max(mean_informedness(sets).values()) <= NO_READER_MOST


@pytest.mark.long
def test_a_judge_that_reads_nothing_learns_nothing_from_the_ledger():
    sets = (cases_of("ledger", seed=seed) for seed in range(3))
    assert max(mean_informedness(sets).values()) <= NO_READER_MOST


@pytest.mark.long
def test_a_judge_that_reads_nothing_learns_nothing_from_others_benchmarks(cases: Path):
    found = {
        name: max(
            mean_informedness(cases_of(name, given_data(cases, name), seed=s) for s in range(3)).values()
        )
        for name in OTHERS
        if name not in ("injecagent", "glaive")
    }
    assert not {name: most for name, most in found.items() if most > MOST_OF.get(name, NO_READER_MOST)}


def test_a_judge_that_reads_nothing_is_found_out_where_length_gives_it_away():
    cases = [
        replace(case, messages=[*case.messages[:-1], longer(case.messages[-1], case.right)])
        for case in wild()
    ]
    found = blind_informedness(cases)
    assert found["length"] > 0.5
    assert found["all signs, logistic"] > 0.5


def longer(reply: Message, right: bool) -> Message:
    return reply if right else {**reply, "content": f"{reply['content'] or ''}{' and so on' * 200}"}


# Twins -----------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("bias", BIASES)
def test_twins_differ_from_their_case_in_nothing_but_the_variant(bias: str):
    made = wild(gold=10, near_misses=10, wrong=20, twins=(bias,))
    base = {case.id: case for case in made if not case.bias}
    twins = [case for case in made if case.bias]
    assert twins
    for twin in twins:
        case = base[twin.twin_of]
        assert (
            replace(twin, messages=case.messages, start=case.start, bias="", variant="", twin_of="") == case
        )
        changed = [m for m in twin.messages if m not in case.messages]
        assert len(changed) == (0 if bias == "repeat" else 1)


def test_the_two_texts_of_an_injection_are_of_one_length():
    twins = [case for case in wild(gold=10, near_misses=10, wrong=60, twins=("injection",)) if case.bias]
    lengths = {
        variant: {len(json.dumps(t.messages)) for t in twins if t.variant == variant}
        for variant in ("instruction", "neutral")
    }
    assert lengths["instruction"] == lengths["neutral"]


# What is refused -------------------------------------------------------------------------------------


def test_what_there_is_not_is_refused_by_name():
    source = data_of(benchmark_of("wild-mini")).locate(None, None)
    with pytest.raises(UsageError, match="tier of mistakes 'spelling'"):
        audit_cases(benchmark_of("wild-mini"), source, tiers=("spelling",))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="'charm'"):
        wild(twins=("charm",), gold=4, near_misses=4, wrong=4)


class Ungraded(SingleTurn):
    """A benchmark without gold answers."""

    name = "ungraded"
    title = "questions without answers"

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Any:
        return iter([Item("1", ("0",), None)])

    def request(self, item: Item) -> Request:
        return Request([{"role": "user", "content": "Well?"}])

    def check(self, item: Item, reply: Message, profile: str) -> Check:
        return Check(True)


def test_a_benchmark_without_gold_is_refused_by_name(tmp_path: Path):
    with pytest.raises(DataError, match="ungraded"):
        audit_cases(Ungraded(), Source("own", tmp_path, ""))


class SilentRules(GoldForReaders, Rules):
    """Accept any reply, though no gold reply says anything."""

    def episode(self, item: Item, unit: str) -> SingleReply:
        question: Message = {"role": "user", "content": "Well?"}
        return SingleReply(
            lambda: Request([question], gold=lambda style: {"role": "assistant", "content": "-"})
        )

    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        return Check(True)

    def says_nothing(self, item: Item, reply: Message) -> bool:
        return True


class Silent(Ungraded):
    """A benchmark whose gold answers only end turns."""

    def rules(self, profile: str) -> Rules:
        return SilentRules()


def test_a_benchmark_whose_gold_says_nothing_is_refused_by_name(tmp_path: Path):
    with pytest.raises(DataError, match="ungraded"):
        audit_cases(Silent(), Source("own", tmp_path, ""))


@pytest.mark.long
def test_a_benchmark_whose_right_answers_are_no_calls_is_refused_by_name(cases: Path):
    with pytest.raises(DataError, match="injecagent"):
        cases_of("injecagent", given_data(cases, "injecagent"))


# What is left out ------------------------------------------------------------------------------------


class Harbours(SingleTurn):
    """Tides at harbours; one gold answer is refused, and one kind of mistake is its own."""

    name = "harbours"
    title = "tides at harbours"

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Any:
        return (Item(f"i{n}", ("0",), place) for n, place in enumerate(("Husum", "Kiel", "Emden", "Sylt")))

    def request(self, item: Item) -> Request:
        question: Message = {"role": "user", "content": f"Tides at {item.data}?"}
        return Request([question], TOOLS, gold=lambda style: self.gold(item))

    def gold(self, item: Item) -> Message:
        return calling("tides", json.dumps({"harbour": item.data}))

    def check(self, item: Item, reply: Message, profile: str) -> Check:
        return Check(item.data != "Sylt" and reply == self.gold(item))

    def mutants(self, item: Item) -> Iterable[Mutant]:
        yield Mutant("0", "tide turned", ({"role": "assistant", "content": "Ebb."},), "Ebb.")


def test_units_kinds_and_cases_that_there_are_not_are_said_with_the_reason(tmp_path: Path):
    said = list[str]()
    made = audit_cases(Harbours(), Source("own", tmp_path, ""), report=said.append)
    text = "\n".join(said)
    assert "1 of 4 units" in text
    assert "tide turned" in text
    assert f"{sum(case.right for case in made)} right cases in place of 200" in text
    kinds = {case.kind for case in made if not case.right}
    assert kinds and not [kind for kind in kinds if kind in text]


def test_kinds_for_which_there_are_too_few_cases_are_said():
    said = list[str]()
    source = data_of(benchmark_of("wild-mini")).locate(None, None)
    made = audit_cases(benchmark_of("wild-mini"), source, gold=1, near_misses=1, wrong=2, report=said.append)
    (line,) = (line for line in said if "too few" in line)
    assert "wrong number" in line
    assert not [case.kind for case in made if case.kind in line.split(": ")[1].split("; ")]


# What people bring -----------------------------------------------------------------------------------


def test_own_cases_and_training_files_are_made_into_cases(tmp_path: Path):
    tool = {
        "name": "level",
        "description": "",
        "parameters": {
            "type": "object",
            "properties": {"station": {"type": "string"}},
            "required": ["station"],
        },
    }
    places = ["Husum", "Kiel", "Bremen", "Emden", "Cuxhaven", "Rostock"]
    own = [
        {"input": f"How high is the water at {each}?", "expect": {"level": {"station": each}}}
        for each in places
    ]
    (tmp_path / "own.cases.json").write_text(json.dumps({"defaults": {"tools": [tool]}, "cases": own}))
    call = {each: json.dumps({"name": "level", "arguments": {"station": each}}) for each in places}
    rows = [
        {
            "conversations": [
                {"from": "human", "value": f"How high is it at {each}?"},
                {"from": "function_call", "value": call[each]},
            ],
            "system": "",
            "tools": json.dumps([tool]),
        }
        for each in places
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for made in (cases_of(str(tmp_path / "own.cases.json")), cases_of("training", tmp_path / "rows.jsonl")):
        values = [case for case in made if case.kind == "other text"]
        calls = [case.messages[-1]["tool_calls"][0]["function"]["arguments"] for case in values]
        assert {json.loads(call)["station"] for call in calls} <= {*places}
        assert len(values) >= 4


# What was read by eye --------------------------------------------------------------------------------


def test_the_wrong_cases_of_the_default_set_were_read_and_none_was_found_right():
    lines = (Path(__file__).parent / "read.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines[1:]]
    verdicts = Counter(row[4] for row in rows)
    assert len({row[0] for row in rows}) == len(rows) >= 200
    assert verdicts["right"] == 0
    assert verdicts["arguable"] <= len(rows) / 50
    assert all(TIER_OF_KIND[row[2]] == row[3] for row in rows)
    made = {case.id for case in wild(gold=100, near_misses=100, wrong=200, seed=0) if not case.right}
    assert len(made & {row[0] for row in rows}) >= 0.9 * len(made)
