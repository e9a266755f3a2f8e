"""Environments: the verdict is the judge's, the components fit it, and nothing is shared or lost."""

import json
import random
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from environments.random_policy import ODD, call, reply
from long import a_fiftieth_of
from wildtool.benchmark import STEP_COMPONENTS, judge_unit
from wildtool.errors import DataError, UsageError
from wildtool.types import Request
from wildtool_train.core import MOST_ANSWERED, MOST_MESSAGES, Observation, Transition, UnitEnvironment
from wildtool_train.sources import ItemUnits, ProceduralUnits, benchmark_units

SETS = {"wild-mini": None, "acebench": "finance"}


@cache
def units(name: str, mode: str | None = None) -> ItemUnits:
    return benchmark_units(name, SETS.get(name), mode=mode, evaluation=True)


def play(environment: UnitEnvironment, name: str, draw: random.Random) -> list[Transition]:
    steps: list[Transition] = []
    tools = environment.open(name).tools or []
    while not environment.is_over:
        steps.append(environment.step(reply(environment, tools, draw)))
        tools = steps[-1].observation.tools or tools
    return steps


def play_gold(environment: UnitEnvironment) -> Transition:
    """The last step of an open unit, played rightly."""
    while True:
        gold = environment.gold()
        assert gold is not None
        if (step := environment.step(gold)).done:
            return step


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "mode", "profile"),
    [
        ("wild-mini", None, "fixed"),
        ("wild-mini", None, "official"),
        ("wild-mini", None, "paper"),
        ("acebench", "fc", "fixed"),
        ("acebench", "text", "official"),
    ],
)
@given(seed=st.integers(0, 10**9))
def test_the_verdict_is_the_judges_and_the_components_fit_it(
    name: str, mode: str | None, profile: str, seed: int
):
    draw = random.Random(seed)
    environment = UnitEnvironment(units(name, mode), profile, on_fault="walk")
    unit = environment.units.draw(seed)
    steps = play(environment, unit, draw)
    item, part = environment.units.find(unit)
    verdict = judge_unit(environment.units.benchmark, item, part, environment.transcript(), profile)
    assert (verdict.outcome == "correct") == steps[-1].components["verdict"]
    ends = {"verdict", "progress"}
    for step in steps:
        assert step.components.keys() <= STEP_COMPONENTS.keys() | ends
        assert all(0 <= value <= 1 for value in step.components.values())
        assert bool(step.components.keys() & ends) == step.done
    if name == "wild-mini" and profile != "paper":
        parts = [value for step in steps for key, value in step.components.items() if key != "verdict"]
        assert (min(parts, default=0) == 1) == (verdict.outcome == "correct")
        # The first fault decides: who ends there gives the same verdict.
        ended = UnitEnvironment(units(name, mode), profile)
        ended.open(unit)
        last = next(
            step
            for recorded in environment.transcript().replies
            if (step := ended.step(recorded.message)).done
        )
        assert last.components["verdict"] == steps[-1].components["verdict"]
        assert last.components.get("progress") == steps[-1].components.get("progress")


@pytest.mark.long
@pytest.mark.parametrize("on_fault", ["end", "answer", "walk"])
@pytest.mark.parametrize(("name", "mode"), [("wild-mini", None), ("acebench", "fc"), ("acebench", "text")])
@given(seed=st.integers(0, 10**9))
@settings(max_examples=a_fiftieth_of(500))
def test_a_restored_episode_shows_all_and_goes_on_alike(
    name: str, mode: str | None, on_fault: Any, seed: int
):
    draw = random.Random(seed)
    environment = UnitEnvironment(units(name, mode), on_fault=on_fault)
    seen: list[Any] = environment.reset(seed).messages
    tools = environment.restore(environment.save()).tools or []
    while not environment.is_over:
        other = UnitEnvironment(units(name, mode), on_fault=on_fault)
        again = other.restore(environment.save())
        assert again.replaces and again.messages == seen
        message = reply(environment, tools, draw)
        first, second = environment.step(message), other.step(message)
        assert first == second
        if first.observation.replaces:
            seen = list(first.observation.messages)
        else:
            shown = other.restore(environment.save()).messages
            assert first.done or shown == [*seen, shown[len(seen)], *first.observation.messages]
            assert first.done or shown[len(seen)]["role"] == "assistant"
            seen = shown


def test_what_a_caller_changes_no_other_episode_sees():
    environment = UnitEnvironment(units("wild-mini"))
    opening = environment.open("wild_mini_2/3")
    before = json.dumps([opening.messages, opening.tools])
    for message in opening.messages:
        message["content"] = "changed"
        for entry in message.get("tool_calls", ()):
            entry["function"]["arguments"] = {}
    for tool in opening.tools or []:
        tool["function"].clear()
    again = UnitEnvironment(units("wild-mini")).open("wild_mini_2/3")
    assert json.dumps([again.messages, again.tools]) == before
    gold = environment.gold()
    assert gold is not None
    step = environment.step(gold)
    gold.clear()
    assert environment.transcript().replies[0].message != {} and step.components


def one_call_unit(environment: UnitEnvironment) -> str:
    """A unit whose gold begins with a call."""
    for name in units("wild-mini").names:
        environment.open(name)
        gold = environment.gold()
        if gold and gold.get("tool_calls"):
            return name
    raise AssertionError("none")


def test_a_wrong_call_is_answered_with_an_error_that_tells_nothing_and_may_be_tried_again():
    environment = UnitEnvironment(units("wild-mini"), on_fault="answer", judged=["official"])
    name = one_call_unit(environment)
    opening = environment.open(name)
    gold = environment.gold()
    assert gold is not None
    tool = gold["tool_calls"][0]["function"]["name"]
    for number in range(MOST_ANSWERED):
        wrong = environment.step(call(tool, '{"unheard_of": 1}'))
        assert not wrong.done and wrong.components["arguments"] == 0 and "verdict" not in wrong.components
        assert wrong.observation.messages == [
            {
                "role": "tool",
                "content": '{"error":"no answer is recorded for this call"}',
                "tool_call_id": "c",
            }
        ]
        assert len(environment.restore(environment.save()).messages) == len(opening.messages) + 2 * (
            number + 1
        )
    last = play_gold(environment)
    assert last.components["verdict"] == last.components["official"] == 0, "a mistake that is mended is one"
    assert last.components["progress"] == 1
    environment.open(name)
    for _ in range(MOST_ANSWERED):
        assert not environment.step(call(tool, "not JSON")).done
    assert environment.step(call(tool, "not JSON")).done


def test_under_official_the_walk_goes_on_only_where_that_is_asked_for():
    golds = {}
    for on_fault in ("end", "walk"):
        environment = UnitEnvironment(units("wild-mini"), "official", on_fault=on_fault)  # pyright: ignore[reportArgumentType]
        environment.open(one_call_unit(environment))
        gold = environment.gold()
        assert gold is not None
        gold["tool_calls"] = [
            {**entry, "function": {**entry["function"], "arguments": '{"unheard_of": 1}'}}
            for entry in gold["tool_calls"]
        ]
        golds[on_fault] = environment.step(gold)
    assert golds["end"].done and not golds["end"].observation.messages
    assert not golds["walk"].done and golds["walk"].observation.messages


def test_another_profile_has_a_verdict_only_where_its_own_walk_is_over():
    environment = UnitEnvironment(units("wild-mini"), judged=["official"])
    environment.open(one_call_unit(environment))
    gold = environment.gold()
    assert gold is not None
    wrong = gold["tool_calls"][0]["function"]
    wrong["arguments"] = '{"unheard_of": 1}'
    step = environment.step(gold)
    assert step.done and step.components["verdict"] == 0 and "official" not in step.components


def test_gold_is_right_in_every_unit_of_every_source():
    for source in (units("wild-mini"), units("acebench", "fc"), ProceduralUnits("7", langs=("en", "zh"))):
        for number in range(40):
            environment = UnitEnvironment(source)
            environment.reset(number)
            assert play_gold(environment).components["verdict"] == 1


def test_seeds_in_order_give_every_unit_once_and_then_in_another_order():
    source = units("wild-mini")
    count = len(source.names)
    rounds = [[source.draw(number) for number in range(at, at + count)] for at in (0, count)]
    assert [sorted(names) for names in rounds] == [sorted(source.names)] * 2 and rounds[0] != rounds[1]
    assert source.draw("a text") == source.draw("a text") in source.names


def test_the_stream_is_a_function_of_seed_and_name():
    first, second = ProceduralUnits("5"), ProceduralUnits("5")
    (item, _), (same, _) = first.find("70000-3/1"), second.find("70000-3/1")
    assert [task.text for task in item.data.tasks] == [task.text for task in same.data.tasks]
    other, _ = ProceduralUnits("6").find("70000-3/1")
    assert [task.text for task in item.data.tasks] != [task.text for task in other.data.tasks]
    assert [first.draw(number) for number in (0, 3, 4, 256)] == ["0-0/0", "0-0/3", "0-1/0", "1-0/0"]


@pytest.mark.parametrize("name", ["0-0", "x/0", "0-64/0", "0-0/4", "-1-0/0", "٣-0/0x"])
def test_a_unit_that_the_stream_has_not_is_named(name: str):
    with pytest.raises(DataError, match="no unit"):
        ProceduralUnits("5").find(name)


def test_a_benchmarks_own_data_are_for_evaluation_alone(tmp_path: Any):
    with pytest.raises(UsageError, match="evaluation=True"):
        benchmark_units("wild-mini")
    copied = tmp_path / "mine.jsonl"
    shipped = units("wild-mini").benchmark.data
    copied.write_bytes(shipped.shipped.read_bytes())  # pyright: ignore
    with pytest.raises(UsageError, match=r"mine\.jsonl holds data of a benchmark"):
        benchmark_units("wildtoolbench", copied)


def test_misuse_is_told_in_words():
    environment = UnitEnvironment(units("wild-mini"))
    with pytest.raises(UsageError, match="no episode is open"):
        environment.step({"content": "x"})
    with pytest.raises(DataError, match=r"no unit 'a/b'; there are 128, such as 'wild_mini_0/0'"):
        environment.open("a/b")
    environment.open("wild_mini_0/0")
    environment.step({"content": ""})
    with pytest.raises(UsageError, match="the episode of wild_mini_0/0 is over"):
        environment.step({"content": "x"})
    with pytest.raises(UsageError, match="has no profile 'strict'; it has official, fixed, paper"):
        UnitEnvironment(units("wild-mini"), "strict")
    for text in ("", "[]", '{"unit": "wild_mini_0/0"}'):
        with pytest.raises(DataError, match="no saved episode"):
            environment.restore(text)
    with pytest.raises(DataError, match="saved with profile='fixed'"):
        UnitEnvironment(units("wild-mini"), "official").restore(environment.save())


def test_a_role_without_a_player_is_named(monkeypatch: pytest.MonkeyPatch):
    environment = UnitEnvironment(
        units("acebench", "fc"), players={"user": lambda request: {"content": "Hello."}}
    )
    asked = [name for name in units("acebench", "fc").names if "multi_turn" in name]
    assert environment.open(asked[0]).messages[-1]["content"] == "Hello."


def test_an_observation_is_what_a_request_adds_or_all_of_it_where_it_was_rewritten():
    environment: Any = UnitEnvironment(units("wild-mini"))
    first, own, result = ({"role": role, "content": role} for role in ("user", "assistant", "tool"))
    before, tool = [first, own], {"function": {"name": "f"}}
    for now, tools, replaces, expected in (
        ([first, own, result], [], False, Observation([result], None)),
        ([first, own, own, result, own], [tool], False, Observation([result, own], [tool])),
        ([first, own, result], [], True, Observation([first, own, result], [], True)),
        ([first, own], [tool], False, Observation([first, own], [tool], True)),
        ([result, own, result], [], False, Observation([result, own, result], [], True)),
        ([first], [], False, Observation([first], [], True)),
    ):
        state = SimpleNamespace(messages=before, tools=[], answered=[])
        assert environment._observation(state, Request(now, tools), replaces=replaces) == expected
        assert (state.messages, state.tools) == (now, tools)
    state = SimpleNamespace()
    assert environment._observation(state, None, replaces=True) == Observation([], None, True)
    assert environment._observation(state, None) == Observation([], None, False)


def test_a_policy_that_never_ends_is_ended():
    environment = UnitEnvironment(units("acebench", "fc"))
    environment.open(next(name for name in units("acebench", "fc").names if "multi_step" in name))
    steps = (environment.step({"content": "still thinking"}) for _ in range(MOST_MESSAGES))
    assert next(step for step in steps if step.done).components["verdict"] == 0


@pytest.mark.parametrize("odd", ODD)
def test_no_message_raises(odd: dict[str, Any]):
    for profile in ("official", "fixed", "paper"):
        environment = UnitEnvironment(units("wild-mini"), profile, judged=["official", "fixed", "paper"])
        for name in units("wild-mini").names[:16]:
            environment.open(name)
            assert isinstance(environment.step(odd).observation, Observation)


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"content": nested(600)}, "cannot be written as JSON: .* deep"),
        ({"content": nested(20_000)}, "cannot be written as JSON: .* deep"),
        ({"content": b"x"}, "cannot be written as JSON"),
        (None, "is NoneType; expected an assistant message"),
        ([], "is list; expected an assistant message"),
    ],
)
def test_what_is_no_json_object_is_refused_and_changes_nothing(message: Any, words: str):
    environment = UnitEnvironment(units("wild-mini"))
    environment.open("wild_mini_0/0")
    before = environment.save()
    with pytest.raises(UsageError, match=words):
        environment.step(message)
    assert environment.save() == before and not environment.is_over


def test_steps_hold_what_every_message_was_worth():
    environment = UnitEnvironment(units("wild-mini"))
    for name in units("wild-mini").names[:12]:
        environment.open(name)
        transitions = []
        while (gold := environment.gold()) is not None:
            transitions.append(environment.step(gold).components)
        assert environment.steps == transitions and transitions[-1]["verdict"] == 1
