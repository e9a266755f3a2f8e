"""ACEBench's episodes: how a message is read, run and answered, and how an episode is scored."""

import builtins
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.acebench.sandbox_build import LOST, PHONE, TEXTS, edition, phone, record
from wildtool.benchmarks.acebench.episode.base import END_MARK
from wildtool.benchmarks.acebench.episode.end_state import compare_end_state, process_accuracy
from wildtool.benchmarks.acebench.episode.official import (
    OfficialAgentEpisode,
    OfficialMultiStepEpisode,
    OfficialMultiTurnEpisode,
    calls_to_run,
    decode_message,
    execute_step,
    execute_turn,
    starts_bracketed,
)

WIFI = {"status": True, "message": "BaseApi.turn_on_wifi.ok"}
UNKNOWN = "error: cannot access local variable 'func_call_result' where it is not associated with a value"

# Reading a message -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("[f(a='x', b=[1, {'c': 2}])]", ["f(a='x', b=[1, {'c': 2}])"]),
        (" [f(), g()]", ["f()", "g()"]),
        ("f()", ["f()"]),
        ("['f()']", ["f()"]),
        ("[f(1, *x)]", ["f()"]),
        ("[f(a=x, b=-1, c=1 + 2)]", ["f(a='x', b=-1, c=3)"]),
        ("[f(a=g(1))]", ["f(a='g(1)')"]),
        ("[f(a=g(b=1))]", ["f(a=g(b=1))"]),
        ("[a.b.f()]", ["a.b.f()"]),
        ("[5]", []),
        ('[{"name": "f"}]', []),
    ],
)
def test_a_message_is_one_expression_of_calls_each_written_again(text: str, calls: list[str]):
    assert decode_message(text) == calls


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "[]",
        "  [f()]",
        "\n[f()]",
        "[f()] ",
        "Sure! [f()]",
        "[f(), 5]",
        "[f()] [g()]",
        "[f(a={'b': 1})]",
        "[f(a={})]",
        "[f(**{})]",
        "[f(a=x.y)]",
        "[f(a='it's')]",
        "[f()]\x00",
        "\ud800",
    ],
)
def test_any_other_text_is_not_readable(text: str):
    assert decode_message(text) is None


@pytest.mark.parametrize(
    ("text", "calls"), [("[f()]", ["f()"]), ("f()", None), ("[f(\n)]", None), ("[no call", None), ("[5]", [])]
)
def test_a_multi_turn_reply_is_run_if_one_line_has_brackets(text: str, calls: list[str] | None):
    assert calls_to_run(text) == calls


@pytest.mark.parametrize(("text", "starts"), [("[f()] x", True), (" [f()]", False), ("[f(\n)]", False)])
def test_the_label_of_a_multi_step_reply_looks_at_the_start_of_its_first_line(text: str, starts: bool):
    assert starts_bracketed(text) is starts


# Running a message -----------------------------------------------------------------------------------


def step(text: str) -> list[Any] | str:
    return execute_step(edition(), phone(), decode_message(text)).message


def turn(text: str) -> list[Any] | str:
    return execute_turn(edition(), phone(), decode_message(text) or []).message


def test_a_multi_step_exception_is_the_result_of_its_call_and_later_calls_still_run():
    assert step("[delete_message(), turn_on_wifi()]") == [
        "error: MessageApi.delete_message() missing 1 required positional argument: 'message_id'",
        WIFI,
    ]


def test_a_multi_turn_exception_abandons_the_batch_and_is_delivered_letter_by_letter():
    box = phone(wifi=False)
    executed = execute_turn(
        edition(), box, ["turn_on_wifi()", "delete_message()", "delete_message(message_id=1)"]
    )
    assert (executed.message, executed.captured) == (list(TEXTS[LOST]), False)
    assert box.state("BaseApi")["wifi"] is True
    assert list(box.state("MessageApi")["inbox"]) == [1, 2]


def test_text_that_cannot_be_read_gets_a_plain_sentence_and_holds_no_state():
    executed = execute_step(edition(), phone(), None)
    assert (executed.message, executed.captured) == ("no questions", False)


@pytest.mark.parametrize(
    ("text", "results"),
    [
        ("[unknown()]", [UNKNOWN]),
        ("[turn_on_wifi(), unknown()]", [WIFI, WIFI]),
        ("[unknown(), turn_on_wifi()]", [UNKNOWN, WIFI]),
        ("[_by_time(tool='x', latest=True)]", [UNKNOWN]),
        ("[x.turn_on_wifi()]", ["error: name 'x' is not defined"]),
        ("[delete_message(message_id=g(a=1))]", ["error: name 'g' is not defined"]),
        ("[delete_message(message_id=1e999)]", ["error: name 'inf' is not defined"]),
        ("[delete_message(message_id=[1])]", ["error: unhashable type: 'list'"]),
        ("[5]", []),
    ],
)
def test_only_known_tools_run_and_only_with_literals(text: str, results: list[Any]):
    assert step(text) == results


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("get_all_message_times_with_ids()", {"1": "2024-02-01", "2": "2024-01-01"}),
        ("check_balance(user_name='Ann')", 50.0),
        ("get_products(merchant_name='Teahouse')", "[{'product': 'Tea', 'price': 25.0}]"),
    ],
)
def test_a_result_is_read_as_json_where_that_is_possible_and_is_text_otherwise(call: str, result: object):
    assert turn(f"[{call}]") == [result]


def test_results_are_written_after_the_last_call_of_the_message():
    box = phone("zh")
    calls = ["view_reminder_by_title(title='Shop')", "mark_as_notified(reminder_id=1)"]
    assert execute_turn(edition("zh"), box, calls).message[0]["reminder"]["notified"] is True


def test_a_result_that_json_lacks_is_text():
    assert "b'x'" in str(step("[add_reminder(title=b'x', description='', time=''), view_all_reminders()]"))


# Episodes --------------------------------------------------------------------------------------------


def play(episode: OfficialAgentEpisode, *replies: str | tuple[str, str]) -> list[tuple[str, str]]:
    """Tells the agent's replies, or a user's as ("user", text); gives sender and recipient of each message."""
    for reply in replies:
        request = episode.request()
        assert request is not None
        role, text = reply if isinstance(reply, tuple) else ("agent", reply)
        assert request.role == role
        episode.advance({"role": "assistant", "content": text})
    return [(spoken.sender, spoken.recipient) for spoken in episode.dialogue]


def test_every_multi_step_reply_is_run_and_recorded_whatever_it_says():
    episode = OfficialMultiStepEpisode(record(), edition())
    play(episode, "Which one?", "[turn_on_wifi()]")
    assert episode.process == ["Which one?", "[turn_on_wifi()]"]
    assert [spoken.message for spoken in episode.dialogue[2::2]] == ["no questions", [WIFI]]


def test_a_multi_step_agent_sees_results_but_never_its_own_messages():
    episode = OfficialMultiStepEpisode(record(question="Do it."), edition())
    play(episode, "[turn_on_wifi()]")
    request = episode.request()
    assert request is not None
    shown = request.messages[1]["content"]
    assert f"user:Do it.\nexecution result:{[WIFI]}" in shown
    assert "agent:" not in shown


def test_the_tools_are_shown_in_pythons_spelling():
    request = OfficialMultiStepEpisode(record(), edition()).request()
    assert request is not None
    assert "[{'name': 'turn_on_wifi', 'description': '', 'parameters': {}}]" in request.messages[1]["content"]


def test_a_multi_turn_episode_is_opened_by_the_simulated_user():
    episode = OfficialMultiTurnEpisode(record(question="You are Ann."), edition())
    request = episode.request()
    assert request is not None
    assert request.role == "user"
    assert "You are Ann." in request.messages[0]["content"]


def test_a_multi_turn_reply_goes_to_the_sandbox_or_to_the_user():
    episode = OfficialMultiTurnEpisode(record(), edition())
    spoken = play(episode, ("user", "Hi"), "Which?", ("user", "This."), "[turn_on_wifi()]", "Done.")
    assert spoken == [
        ("user", "agent"),
        ("agent", "user"),
        ("user", "agent"),
        ("agent", "execution"),
        ("execution", "agent"),
        ("agent", "user"),
    ]
    assert episode.process == ["[turn_on_wifi()]"]


def test_the_simulated_user_sees_its_own_words_as_assistant_and_the_agents_as_user():
    episode = OfficialMultiTurnEpisode(record(), edition())
    play(episode, ("user", "Hi"), "agent:Which?")
    request = episode.request()
    assert request is not None
    assert [(m["role"], m["content"]) for m in request.messages[2:]] == [
        ("assistant", "Hi"),
        ("user", "Which?"),
    ]


def test_a_multi_turn_agent_sees_the_whole_transcript():
    episode = OfficialMultiTurnEpisode(record(), edition())
    play(episode, ("user", "Hi"), "[turn_on_wifi()]")
    request = episode.request()
    assert request is not None
    assert f"user:Hi\nagent:[turn_on_wifi()]\nexecution:{[WIFI]}" in request.messages[1]["content"]


@pytest.mark.parametrize(("classes", "shown"), [(("Travel",), "travel agency"), (("BaseApi",), "this phone")])
def test_the_rules_of_the_scenario_follow_the_involved_classes(classes: tuple[str, ...], shown: str):
    episode = OfficialMultiTurnEpisode(record(classes=classes), edition())
    episode.advance({"content": "Hi"})
    request = episode.request()
    assert request is not None
    assert shown in request.messages[0]["content"]


def test_the_end_mark_is_ignored_in_the_first_two_messages_after_the_opening():
    episode = OfficialMultiTurnEpisode(record(), edition())
    play(episode, ("user", END_MARK), END_MARK, ("user", END_MARK))
    assert episode.request() is not None
    play(episode, END_MARK)
    assert episode.request() is None


def test_a_message_with_the_end_mark_is_not_run():
    episode = OfficialMultiStepEpisode(record(), edition())
    play(episode, "[turn_on_wifi()]", f"[login_device()] {END_MARK}")
    assert (episode.request(), episode.process) == (None, ["[turn_on_wifi()]"])


def test_the_user_can_end_an_episode():
    episode = OfficialMultiTurnEpisode(record(), edition())
    play(episode, ("user", "Hi"), "[turn_on_wifi()]", "Done.", ("user", f"Thanks, {END_MARK}"))
    assert episode.request() is None


def test_every_message_but_the_opening_costs_one_of_the_budget():
    episode = OfficialMultiTurnEpisode(record(), edition(), max_messages=3)
    play(episode, ("user", "Hi"), "[turn_on_wifi()]", "[turn_on_wifi()]")
    assert (episode.request(), len(episode.dialogue), episode.process) == (None, 4, ["[turn_on_wifi()]"])


def test_an_episode_without_a_run_message_has_no_end_state():
    step_walk, turn_walk = (
        OfficialMultiStepEpisode(record(), edition()),
        OfficialMultiTurnEpisode(record(), edition()),
    )
    play(step_walk, "Which one?")
    play(turn_walk, ("user", "Hi"), "[unknown()]")
    assert (step_walk.result(), turn_walk.result()) == ([], [])


def test_the_end_state_is_that_of_the_involved_classes_in_order():
    episode = OfficialMultiStepEpisode(record(classes=("FoodPlatform", "BaseApi")), edition())
    play(episode, "[turn_on_wifi()]")
    assert [list(entry) for entry in episode.result()] == [["FoodPlatform"], ["BaseApi"]]
    assert episode.result()[1] == {"BaseApi": {"wifi": True, "logged_in": True}}


@pytest.mark.parametrize("kind", [OfficialMultiStepEpisode, OfficialMultiTurnEpisode])
def test_gold_replies_and_a_cooperative_user_play_an_episode_without_a_model(kind: Any):
    episode = kind(record("[turn_on_wifi()]", "[login_device()]"), edition())
    while (request := episode.request()) is not None:
        assert request.gold is not None
        message = request.gold("serial")
        assert message["role"] == "assistant"
        episode.advance(message)
    assert episode.process == ["[turn_on_wifi()]", "[login_device()]"]
    assert episode.dialogue[0].message == "Turn on the wifi."


# Scores ----------------------------------------------------------------------------------------------

ON = {"BaseApi": {"wifi": True}}


@pytest.mark.parametrize(
    ("gold", "result", "error_type"),
    [
        ([ON], [ON], ""),
        (ON, [ON], ""),
        ([ON, ON], [ON], "wrong number of class"),
        ([ON], [{"BaseApi": {"wifi": False}}], "class attributes wrong"),
        ([ON], [{"BaseApi": {"wifi": True, "more": 1}}], "class attributes wrong"),
        ([{"A": {"x": 1, "y": 2}}], [{"A": {"x": 1}}], ""),
        ([{"A": {"x": {"k": 1}}}], [{"A": {"x": {"k": 1, "l": 2}}}], ""),
        ([{"A": {"x": {"k": 1}}}], [{"A": {"x": {}}}], "class attributes wrong"),
        ([{"A": {"x": {"k": 1}}}], [{"A": {"x": 5}}], "class attributes wrong"),
        ([{"Misspelt": {"wifi": False}}], [ON], ""),
    ],
)
def test_an_end_state_needs_every_gold_entry_of_the_attributes_it_has(
    gold: Any, result: Any, error_type: str
):
    found = compare_end_state(gold, result)
    assert (found.error_type, found.correct) == (error_type, not error_type)


def test_a_failure_before_a_class_without_counterpart_counts_twice():
    found = compare_end_state([ON, {"Misspelt": {}}], [{"BaseApi": {"wifi": False}}, {"A": {}}])
    assert len(found.errors) == 2


@pytest.mark.parametrize(
    ("milestones", "process", "score"),
    [
        (["a", "b "], ["a", "x", " b"], 1.0),
        (["a", "b"], ["b", "a"], 0.5),
        (["a", "b", "c"], ["a", "c"], 1 / 3),
        (["a", "b"], [], 0.0),
        ([["a", "b", "c"], ["b"]], ["a"], 0.333),
        ([["a", "b"], ["b"]], ["b"], 1.0),
        ([[]], [], 1.0),
        ([], [], 1.0),
    ],
)
def test_process_accuracy_is_the_share_of_milestones_reached_in_order(
    milestones: Any, process: list[str], score: float
):
    assert process_accuracy(milestones, process, end_to_end=False) == score


def test_a_right_end_state_makes_the_process_right():
    assert process_accuracy(["a"], [], end_to_end=True) == 1.0


# Hostile text ----------------------------------------------------------------------------------------

_WORDS = """turn_on_wifi delete_message message_id add_reminder title add_food_delivery_order items username 'Ann'
lambda if else None 1e999 nan 9**9**9 __import__('os') ().__class__ f'{1}' b'x' 1j \ud800 名"""
_PIECES = st.sampled_from([*"[](){}'\",=:*.-+~ \n\t\\\x00", *_WORDS.split(), END_MARK])
_TEXT = st.text() | st.lists(_PIECES, max_size=30).map("".join)
_NAMED = st.builds(
    "[{}({}={})]".format,
    st.sampled_from(
        ["delete_message", "add_reminder", "add_food_delivery_order", "search_messages", "modify_flight"]
    ),
    st.sampled_from(["message_id", "title", "username", "items", "keyword", "**x", "user_id"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=6,
    ).map(repr),
)


@given(st.lists(_TEXT | _NAMED, max_size=6))
def test_no_text_makes_an_episode_raise(texts: list[str]):
    everything = record(classes=(*PHONE, "Travel"))
    for episode in (
        OfficialMultiStepEpisode(everything, edition("zh")),
        OfficialMultiTurnEpisode(everything, edition("zh")),
    ):
        for text in texts:
            if episode.request() is not None:
                episode.advance({"content": text})
        result = episode.result()
        assert json.loads(json.dumps(result)) is not None
        assert not compare_end_state([{"BaseApi": {"no such attribute": True}}], result).correct
        assert 0 <= process_accuracy(["a"], episode.process, end_to_end=False) <= 1


@pytest.mark.parametrize("content", [None, 5, ["x"], {"text": "x"}])
def test_a_reply_without_text_is_an_empty_message(content: object):
    episode = OfficialMultiStepEpisode(record(), edition())
    episode.advance({"content": content})
    assert episode.process == [""]


@pytest.mark.parametrize(
    "call",
    [
        "turn_on_wifi(x=open({path!r}, 'w'))",
        "delete_message(message_id=open({path!r}, 'w') + 1)",
        "delete_message(message_id=__import__('pathlib').Path({path!r}).touch())",
        "delete_message(message_id=().__class__.__base__.__subclasses__())",
        "open({path!r}, 'w')",
        "(lambda: open({path!r}, 'w'))()",
        "delete_message(message_id=[open({path!r}, mode='w')])",
    ],
)
def test_nothing_of_a_message_is_evaluated(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "made"
    for name in ("eval", "exec", "open"):
        monkeypatch.setattr(builtins, name, lambda *_, **__: path.touch())
    text = f"[{call.format(path=str(path))}]"
    for episode in (
        OfficialMultiStepEpisode(record(), edition()),
        OfficialMultiTurnEpisode(record(), edition()),
    ):
        episode.advance({"content": text})
        if episode.request() is not None:
            episode.advance({"content": text})
    assert not path.exists()


@pytest.mark.parametrize(
    "text",
    [
        "[" * 10**6,
        "[\n" * 10**6,
        "[f(x=" + "(" * 5000,
        "[f(x=9**9**9**9)]",
        "[f(x='a'*10**10)]",
        "[f(x=" + "1+" * 7000 + "1)]",
        "[" + "f()" * 5000 + "]",
        "[" + "f" + ".f" * 50_000 + "()]",
    ],
)
def test_what_would_take_without_end_is_not_readable(text: str):
    assert step(text) == "no questions"


def test_a_long_word_where_a_tools_name_should_be_is_an_unknown_tool():
    assert step("[g()(x='" + "a" * 15_000 + "')]") == [UNKNOWN]


# Odd replies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("callee", ["发送", "é", "épée", "名"])
def test_a_tool_inside_a_text_behind_a_foreign_name_is_an_undefined_name(callee: str):
    calls = decode_message(f"[{callee}(x='turn_on_wifi()')]")
    assert calls is not None
    box = phone(wifi=False)
    assert execute_step(edition(), box, calls).message == [f"error: name '{callee}' is not defined"]
    executed = execute_turn(edition(), box, calls)
    assert (executed.message, executed.captured) == (list("lost"), False)
    assert box.state("BaseApi")["wifi"] is False


@pytest.mark.parametrize(
    ("value", "kind"), [("b'x'", "bytes"), ("2j", "complex"), ("[1, {'a': (b'x', 2j)}]", "bytes")]
)
@pytest.mark.parametrize("tidied", [False, True])
def test_what_json_cannot_hold_ends_the_original(value: str, kind: str, tidied: bool):
    episode = OfficialMultiStepEpisode(record(), edition())
    episode.advance({"content": f"[add_reminder(title='T', description={value}, time='now')]"})
    if tidied:
        episode.advance({"content": "[view_reminder_by_title(title='T')]"})
        episode.advance({"content": "[delete_reminder(reminder_id=2)]"})
    episode.advance({"content": END_MARK})
    assert episode.raised() == f"TypeError: Object of type {kind} is not JSON serializable"


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("str(object='x')", "x"),
        ("str(object=str(object=5))", "5"),
        ("dict(a=1, b=[2])", {"a": 1, "b": [2]}),
        ("round(number=2.567, ndigits=1)", 2.6),
        ("pow(base=2, exp=5)", 32),
    ],
)
def test_a_nested_call_of_a_built_in_function_is_its_value(written: str, stored: Any):
    episode = OfficialMultiStepEpisode(record(), edition())
    episode.advance({"content": f"[add_reminder(title={written}, description='d', time='now')]"})
    assert episode.result()[2]["ReminderApi"]["reminder_list"]["2"]["title"] == stored


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("open(file='/etc/passwd')", "name 'open' is not defined"),
        ("turn_on_wifi(x=1)", "name 'turn_on_wifi' is not defined"),
        ("str(object=eval(source='1'))", "name 'eval' is not defined"),
        ("float(x=1)", "float() takes no keyword arguments"),
        ("pow(base=2, exp=999999999)", "a number is too large"),
    ],
)
def test_a_nested_call_that_has_no_value_is_an_exception(written: str, said: str):
    episode = OfficialMultiStepEpisode(record(), edition())
    episode.advance({"content": f"[add_reminder(title={written}, description='d', time='now')]"})
    assert episode.dialogue[-1].message == [f"error: {said}"]
