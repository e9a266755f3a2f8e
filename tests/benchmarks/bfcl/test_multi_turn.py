"""Multi-turn entries: how turns continue and end, what the model is shown, and what is compared after each turn."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.bfcl.simulated_build import TREE
from wildtool.benchmark import accepts
from wildtool.benchmarks.bfcl.categories import BFCL_CATEGORIES
from wildtool.benchmarks.bfcl.data import parse_multi_turn
from wildtool.benchmarks.bfcl.fixed import FixedMultiTurnRules
from wildtool.benchmarks.bfcl.multi_turn import (
    EMPTY_TURN,
    FORCE_TERMINATED,
    MAX_STEPS,
    RESPONSE_MISMATCH,
    STATE_MISMATCH,
    UNREAD_CALL,
    UNREAD_MISTAKE,
    MultiTurnEpisode,
    MultiTurnRules,
    NativeMultiTurn,
    PromptMultiTurn,
    check_turns,
    plain_call,
)
from wildtool.benchmarks.bfcl.originals import original_texts
from wildtool.benchmarks.bfcl.records import MultiTurnRecord
from wildtool.episode import gold_replies
from wildtool.errors import DataError
from wildtool.types import Item, Message

TEXT: Message = {"role": "assistant", "content": "Done."}


def document(name: str, *parameters: str) -> dict[str, Any]:
    properties = {parameter: {"type": "string", "description": ""} for parameter in parameters}
    return {
        "name": name,
        "description": f"{name}s.",
        "parameters": {"type": "dict", "properties": properties, "required": list(parameters)},
    }


DOCUMENTS = {
    "GorillaFileSystem": [
        document("ls"),
        document("cat", "file_name"),
        document("touch", "file_name"),
        document("sort", "file_name"),
    ]
}
ENTRY: dict[str, Any] = {
    "question": [
        [{"role": "user", "content": "Make a file."}],
        [{"role": "user", "content": "Sort the notes."}],
        [],
    ],
    "initial_config": {"GorillaFileSystem": TREE},
    "involved_classes": ["GorillaFileSystem"],
    "missed_function": {"2": ["sort"]},
}
ANSWER = {"ground_truth": [["touch('new')", "ls()"], [], ["sort(file_name='notes.txt')"]]}


def record(category: str = "multi_turn_miss_func", **changes: Any) -> MultiTurnRecord:
    return parse_multi_turn({**ENTRY, **changes}, ANSWER, BFCL_CATEGORIES[category], DOCUMENTS, "here:1")


def native(*calls: tuple[str, str]) -> Message:
    made = [
        {"id": f"id {number}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(calls)
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def played(episode: MultiTurnEpisode, *replies: Message) -> MultiTurnEpisode:
    for reply in replies:
        episode.advance(reply)
    return episode


def messages(episode: MultiTurnEpisode) -> list[Message]:
    request = episode.request()
    assert request is not None
    return list(request.messages)


def tools(episode: MultiTurnEpisode) -> list[str]:
    request = episode.request()
    assert request is not None
    return [tool["function"]["name"] for tool in request.tools]


def test_a_turn_goes_on_until_a_reply_has_no_calls() -> None:
    episode = played(
        NativeMultiTurn(record()), native(("touch", '{"file_name": "new"}')), native(("ls", "{}"))
    )
    assert len(episode.turns) == 1
    episode.advance(TEXT)
    assert episode.turns == [[["touch(file_name='new')"], ["ls()"]], []]
    assert messages(episode)[-2:] == [TEXT, {"role": "user", "content": "Sort the notes."}]


def test_results_of_native_calls_are_messages_with_their_ids() -> None:
    calls = native(("touch", '{"file_name": "new"}'), ("cat", '{"file_name": "kept.txt"}'))
    assert messages(played(NativeMultiTurn(record()), calls))[1:] == [
        calls,
        {"role": "tool", "tool_call_id": "id 0", "content": "None"},
        {"role": "tool", "tool_call_id": "id 1", "content": '{"file_content": "one two"}'},
    ]


@pytest.mark.parametrize("episode_type", [NativeMultiTurn, PromptMultiTurn])
def test_a_request_holds_what_was_said_in_its_order(episode_type: type[MultiTurnEpisode]) -> None:
    first = [{"role": "user", "content": "One."}, {"role": "user", "content": "Two."}]
    asked = record(question=[first, *ENTRY["question"][1:]])
    replies = [{"role": "assistant", "content": text} for text in ("Three.", "Four.")]
    said = messages(played(episode_type(asked), *replies))
    texts = [message["content"] for message in said if message["role"] != "system"]
    assert texts[:5] == ["One.", "Two.", "Three.", "Sort the notes.", "Four."]
    assert [message["role"] for message in said[1:]].count("system") == 0


def test_results_of_written_calls_are_one_message_of_the_user() -> None:
    said = {"role": "assistant", "content": "[touch(file_name='new')]"}
    assert messages(played(PromptMultiTurn(record()), said))[2:] == [
        said,
        {
            "role": "user",
            "content": "[{'role': 'tool', 'name': \"touch(file_name='new')\", 'content': 'None'}]",
        },
    ]


@pytest.mark.parametrize("reply", [native(("ls", "{")), native(), TEXT, {"content": None}])
def test_a_reply_that_cannot_be_read_as_calls_ends_the_turn(reply: Message) -> None:
    assert played(NativeMultiTurn(record()), reply).turns == [[], []]


def test_withheld_native_tools_come_with_their_turn() -> None:
    episode = NativeMultiTurn(record())
    assert tools(episode) == ["ls", "cat", "touch"]
    played(episode, TEXT)
    assert tools(episode) == ["ls", "cat", "touch"]
    played(episode, TEXT)
    assert tools(episode) == ["ls", "cat", "touch", "sort"]
    assert messages(episode)[-1] == {"role": "user", "content": original_texts().notice}


def test_withheld_functions_of_a_prompt_stand_in_the_users_message() -> None:
    episode = played(PromptMultiTurn(record()), TEXT, TEXT)
    system, *_, last = messages(episode)
    assert '"sort"' not in system["content"]
    assert '"touch"' in system["content"]
    assert last["content"] == original_texts().written_notice([DOCUMENTS["GorillaFileSystem"][-1]])
    assert "'sort'" in last["content"]


def test_the_entry_stops_after_one_step_more_than_a_turn_may_have() -> None:
    episode = played(NativeMultiTurn(record()), *[native(("ls", "{}"))] * MAX_STEPS)
    assert not episode.done
    episode.advance(native(("ls", "{}")))
    assert episode.done
    assert check_turns(record(), episode.turns).error == FORCE_TERMINATED


def test_a_stop_in_the_last_turn_is_judged_by_what_was_done() -> None:
    first = native(("touch", '{"file_name": "new"}'), ("ls", "{}"))
    sorting = native(("sort", '{"file_name": "notes.txt"}'))
    episode = played(NativeMultiTurn(record()), first, TEXT, TEXT, *[sorting] * (MAX_STEPS + 1))
    assert episode.done
    assert check_turns(record(), episode.turns).correct


RIGHT = ([["touch(file_name='new')", "ls()"]], [], [["sort(file_name='notes.txt')"]])


@pytest.mark.parametrize(
    ("turns", "error"),
    [
        (RIGHT, None),
        (([["touch(file_name='new')"], ["ls()"], ["cat(file_name='notes.txt')"]], *RIGHT[1:]), None),
        ((RIGHT[0], [["ls()"], ["wc(file_name='notes.txt')"]], RIGHT[2]), None),
        (([], *RIGHT[1:]), EMPTY_TURN),
        (([["ls()"]], *RIGHT[1:]), STATE_MISMATCH),
        (([["touch(file_name='new')"]], *RIGHT[1:]), RESPONSE_MISMATCH),
        ((RIGHT[0], [["touch(file_name='other')"]], RIGHT[2]), STATE_MISMATCH),
        ((RIGHT[0], RIGHT[2], RIGHT[1]), EMPTY_TURN),
        ((RIGHT[0], RIGHT[2], [["ls()"]]), None),
        (RIGHT[:2], FORCE_TERMINATED),
        ((*RIGHT, []), FORCE_TERMINATED),
    ],
)
def test_state_and_results_are_compared_after_each_turn(turns: Any, error: str | None) -> None:
    assert check_turns(record(), turns).error == error


def fixed(is_native: bool = True) -> FixedMultiTurnRules:
    return FixedMultiTurnRules(is_native)


def test_fixed_compares_states_after_turns_in_which_nothing_could_be_done() -> None:
    item = Item("one", ("0",), record())
    touch, ls = native(("touch", '{"file_name": "new"}')), native(("ls", "{}"))
    guess, undo = native(("touch", '{"file_name": "x"}')), native(("rm", '{"file_name": "x"}'))
    sort = native(("sort", '{"file_name": "notes.txt"}'))
    replies = [touch, ls, TEXT, guess, TEXT, undo, sort, TEXT]
    assert accepts(MultiTurnRules(True), item, "0", replies)
    assert not accepts(fixed(), item, "0", replies)
    assert accepts(fixed(), item, "0", [touch, ls, TEXT, ls, TEXT, sort, TEXT]), "to look is no mistake"


def test_fixed_gives_values_without_names_their_names() -> None:
    item = Item("one", ("0",), record())
    replies = [
        {"content": text} for text in ("[touch('new'), ls()]", "Done.", "?", "[sort('notes.txt')]", "Done.")
    ]
    assert not accepts(MultiTurnRules(False), item, "0", replies)
    assert accepts(fixed(False), item, "0", replies)


def test_fixed_refuses_an_entry_that_was_stopped_in_its_last_turn() -> None:
    item, first = Item("one", ("0",), record()), native(("touch", '{"file_name": "new"}'), ("ls", "{}"))
    replies = [first, TEXT, TEXT, *[native(("sort", '{"file_name": "notes.txt"}'))] * (MAX_STEPS + 1)]
    assert accepts(MultiTurnRules(True), item, "0", replies)
    assert not accepts(fixed(), item, "0", replies)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('<tool_call>{"name": "ls", "arguments": {}}</tool_call>', UNREAD_CALL),
        ("I will look.\n\nls()", UNREAD_CALL),
        ("Nothing can be sorted without sort().", None),
    ],
)
def test_a_call_that_ends_a_turn_as_text_is_named_under_fixed(text: str, error: str | None) -> None:
    item = Item("one", ("0",), record())
    first = native(("touch", '{"file_name": "new"}'), ("ls", "{}"))
    replies = [first, TEXT, {**TEXT, "content": text}, native(("sort", '{"file_name": "notes.txt"}')), TEXT]
    assert accepts(MultiTurnRules(True), item, "0", replies)
    episode = played(NativeMultiTurn(record()), *replies)
    check = fixed().check(item.data, episode)
    assert (check.correct, check.error) == (error is None, error)


def test_an_earlier_fault_is_named_before_a_call_as_text() -> None:
    call = {**TEXT, "content": '<tool_call>{"name": "ls", "arguments": {}}</tool_call>'}
    check = fixed().check(record(), played(NativeMultiTurn(record()), TEXT, call, TEXT))
    assert check.error == EMPTY_TURN


def test_fixed_compares_the_forces_of_the_brakes_and_ignores_readings() -> None:
    documents = {"VehicleControlAPI": [document("pressBrakePedal", "pedalPosition")]}
    entry = {
        **ENTRY,
        "initial_config": {"VehicleControlAPI": {}},
        "involved_classes": ["VehicleControlAPI"],
        "missed_function": {},
    }
    press, speed = "pressBrakePedal(pedalPosition=1)", "get_current_speed()"
    answer = {"ground_truth": [[press, speed], [], [speed]]}
    car = parse_multi_turn(entry, answer, BFCL_CATEGORIES["multi_turn_base"], documents, "here")
    weaker = [[[press.replace("1", "0.9"), speed]], [], [[speed]]]
    results = [check_turns(car, weaker, strict=strict).error for strict in (False, True)]
    assert results == [RESPONSE_MISMATCH, STATE_MISMATCH]
    looked_twice = [[[press, speed]], [[speed]], [[speed]]]
    assert check_turns(car, [[[speed, press]], [], [[speed]]], strict=True).correct
    assert check_turns(car, looked_twice, strict=True).correct


@pytest.mark.parametrize("style", ["parallel", "serial"])
@pytest.mark.parametrize("is_native", [True, False])
def test_gold_replies_are_right(style: str, is_native: bool) -> None:
    item, rules = Item("one", ("0",), record()), MultiTurnRules(is_native)
    replies = gold_replies(rules.episode(item, "0"), style)
    assert replies is not None
    assert len(replies) == (5 if style == "parallel" else 6)
    assert accepts(rules, item, "0", replies)


def test_most_mistakes_are_noticed() -> None:
    item, rules = Item("one", ("0",), record()), MultiTurnRules(True)
    mistakes = [*rules.mutants(item)]
    assert [f"{mutant.kind}, {mutant.note}" for mutant in mistakes] == [
        "turn without calls, turn 0: no call",
        "call left out, turn 0: touch",
        "call renamed, turn 0: touch_v2 for touch",
        "required argument left out, turn 0: touch: file_name",
        "call left out, turn 0: ls",
        "call renamed, turn 0: ls_v2 for ls",
        "unknown argument, turn 0: ls: zz_unknown",
        "turn without calls, turn 2: no call",
        "call renamed, turn 2: sort_v2 for sort",
        "required argument left out, turn 2: sort: file_name",
        f"{UNREAD_MISTAKE}, ls",
    ]
    accepted = [mutant.kind for mutant in mistakes if accepts(rules, item, "0", mutant.replies)]
    assert accepted == [UNREAD_MISTAKE]
    assert not [one.kind for one in fixed().mutants(item) if accepts(fixed(), item, "0", one.replies)]


def test_arguments_by_position_get_their_names() -> None:
    parameters = {"mv": ("source", "destination")}
    assert plain_call("mv('a', destination='b')", parameters) == ("mv", {"source": "a", "destination": "b"})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"involved_classes": ["Teapot"]}, "here:1: involved class 'Teapot'"),
        ({"question": [[{"role": "user"}]]}, r"here:1: question\[0\]\[0\]: field content"),
        ({"question": []}, "here:1: 0 turns, but the answers are for 3"),
        ({"missed_function": {"9": ["sort"]}}, "'9' is no turn from 0 to 2"),
        ({"initial_config": {"GorillaFileSystem": []}}, "initial_config.GorillaFileSystem"),
        ({"missed_function": {"2": ["fly"]}}, "'fly' is no tool of the involved classes"),
    ],
)
def test_broken_entries_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        record(**changes)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
CALLS = st.lists(
    JSON
    | st.fixed_dictionaries(
        {
            "id": JSON,
            "function": JSON | st.fixed_dictionaries({"name": JSON | st.just("ls"), "arguments": JSON}),
        }
    )
)
REPLIES = st.fixed_dictionaries({}, optional={"content": JSON, "tool_calls": JSON | CALLS})


@given(st.lists(REPLIES, max_size=6), st.booleans())
@example([{"content": {"": {}}}], True)
def test_replies_that_do_not_do_what_was_asked_are_wrong_in_any_shape(
    replies: list[Message], is_native: bool
) -> None:
    rules, item = MultiTurnRules(is_native), Item("one", ("0",), record())
    episode: Any = rules.episode(item, "0")
    for reply in replies:
        episode.request()
        episode.advance(reply)
    assert len(episode.turns) <= len(item.data.turns)
    check = rules.verdict(episode, item, "0")
    # Nothing here makes the file that the first turn asks for.
    assert (check.correct, check.error) in {
        (False, EMPTY_TURN),
        (False, STATE_MISMATCH),
        (False, FORCE_TERMINATED),
    }
    assert check.fields["decoded_calls"] == sum(len(step) for turn in episode.turns for step in turn)


def test_the_facts_of_an_episode_are_the_plain_values_of_its_classes_now():
    rules = MultiTurnRules(native=True)
    item = Item("a", ("0",), record(), roles=("agent",))
    episode = rules.episode(item, "0")
    before = dict(rules.facts(episode, item, "0"))
    episode.advance(native(("cd", '{"folder": "box"}')))
    after = rules.facts(episode, item, "0")
    assert {name: value for name, value in after.items() if before[name] != value} == {
        "GorillaFileSystem current_working_directory": f"{before['GorillaFileSystem current_working_directory']}/box"
    }
