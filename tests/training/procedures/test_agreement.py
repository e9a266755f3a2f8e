"""What the rules say of a reply, word by word; supervised turns, pairs of tries, names of records, official data."""

import json
import logging
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from training.procedures.training_files import call, message, row, wrote
from training.record_forms import call as made
from training.record_forms import calls, tool
from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.data.data_set import data_of
from wildtool.errors import DataError, UsageError
from wildtool.sets.prepare.procedures import official
from wildtool.sets.prepare.procedures.agreement import Agreement, agreement
from wildtool.sets.prepare.procedures.judging import JudgedReply, judged_material, judgement_of
from wildtool.sets.prepare.procedures.official import check_not_official, official_owner
from wildtool.sets.prepare.procedures.pairs import (
    NoPair,
    PairRules,
    SideLengths,
    TrainingPair,
    Try,
    judged_try,
    pair_of,
    reply_turn,
    side_lengths_of,
)
from wildtool.sets.prepare.procedures.playing import TRAINING
from wildtool.sets.prepare.procedures.records import named_records, training_source
from wildtool.sets.prepare.procedures.supervised import SupervisedTurn, shown_messages, supervised_turns
from wildtool.sets.prepare.record import (
    AssistantTurn,
    ObservedResult,
    ResultTurn,
    TrainingCall,
    TrainingRecord,
    UserTurn,
)
from wildtool.types import Reply, Source

Q, R = UserTurn("q"), AssistantTurn("r")
HUSUM, KIEL = call(station="Husum"), call(station="Kiel")
TOOLS = (tool("level", "station", station={"type": "string"}, day={"type": "integer"}), tool("tide"))


def gold(*entries: TrainingCall, text: str | None = None) -> SupervisedTurn:
    turn = AssistantTurn(text, entries)
    return SupervisedTurn(TrainingRecord(turns=(Q, turn), tools=TOOLS), 1, turn)


def level(station: str, number: int = 1, **more: Any) -> TrainingCall:
    return made("level", number, station=station, **more)


@pytest.mark.parametrize(
    ("reply", "turn", "right", "error", "reason"),
    [
        (message(HUSUM), gold(level("Husum")), True, None, "the calls of the record"),
        (message(KIEL, HUSUM), gold(level("Husum"), level("Kiel")), True, None, "the calls of the record"),
        (message(text="a"), gold(text="r"), True, None, "a text, no call"),
        (message(text=" \u200b"), gold(text="r"), False, "blank reply", "no text"),
        (
            message(HUSUM, call("tide")),
            gold(text="r"),
            False,
            "call not due",
            "level is called; text was expected",
        ),
        (
            message(text="a"),
            gold(level("Husum"), made("tide")),
            False,
            "no call",
            "expected a call of level, tide",
        ),
        (message(), gold(level("Husum")), False, "blank reply", "expected a call of level"),
        (
            message(HUSUM, HUSUM),
            gold(level("Husum")),
            False,
            "other number of calls",
            "expected level, found level ×2",
        ),
        (
            message(HUSUM, call("tide")),
            gold(level("Husum"), level("Kiel")),
            False,
            "other tools",
            "expected level ×2, found level, tide",
        ),
        (
            message(call("tide")),
            gold(level("Husum")),
            False,
            "other tools",
            "expected level, found tide",
        ),
        (
            message(HUSUM, HUSUM),
            gold(level("Husum"), level("Husum"), level("Kiel")),
            False,
            "other number of calls",
            "expected level ×3, found level ×2",
        ),
        (
            message(HUSUM),
            gold(TrainingCall("level", "x", "c")),
            False,
            "other arguments",
            "level: the record's arguments are no object, which no call can repeat",
        ),
        (message(call("other", a=1)), gold(made("other", a=1)), True, None, "the calls of the record"),
    ],
)
def test_what_the_rules_say_of_a_reply(
    reply: dict[str, Any], turn: SupervisedTurn, right: bool, error: str | None, reason: str
):
    assert agreement(reply, turn) == Agreement(right, error, reason)


def test_the_fault_of_a_call_that_no_other_repeats_is_named():
    found = agreement(message(HUSUM, KIEL), gold(level("Kiel"), level("Sylt")))
    alone = agreement(message(HUSUM), gold(level("Sylt")))
    assert (found.right, found.error, found.reason) == (False, "other arguments", alone.reason)
    assert alone.reason.startswith("level: ") and "Sylt" in alone.reason and "Husum" in alone.reason
    both = agreement(message(HUSUM, call("tide")), gold(level("Husum"), made("tide", x=1)))
    assert both.reason == agreement(message(call("tide")), gold(made("tide", x=1))).reason
    assert agreement(message(call(station="Husum", day=3)), gold(level("Husum", day=3.0))).right


def test_arguments_that_cannot_be_read_are_a_fault_of_their_own():
    broken = {"tool_calls": [{"function": {"name": "level", "arguments": "{"}}]}
    found = agreement(broken, gold(text="r"))
    assert (found.right, found.error, bool(found.reason)) == (False, "unreadable call", True)


# Supervised turns ------------------------------------------------------------------------------------

TALK = TrainingRecord(
    turns=(
        UserTurn("q", {"k": 1}),
        calls(level("Husum"), text="t", extras={"k": 2}),
        ResultTurn((ObservedResult("5", {"k": 3}),)),
        AssistantTurn("r", learned=False),
        Q,
        AssistantTurn(None),
    ),
    system="S",
    tools=TOOLS,
)


def test_turns_that_a_model_learns():
    every = [SupervisedTurn(TALK, 1, TALK.turns[1]), SupervisedTurn(TALK, 5, TALK.turns[5])]  # pyright: ignore[reportArgumentType]
    assert supervised_turns(TALK) == every
    assert supervised_turns(TALK, "first") == supervised_turns(TALK, "calls") == every[:1]
    pair = TrainingRecord(kind="preference", turns=(Q,), chosen=R, rejected=AssistantTurn("s"))
    assert supervised_turns(pair) == supervised_turns(pair, "first") == [SupervisedTurn(pair, 1, R)]
    assert supervised_turns(pair, "calls") == supervised_turns(replace(pair, chosen=None)) == []
    assert supervised_turns(TrainingRecord(kind="tools", turns=())) == []


def test_what_a_model_is_shown_has_no_further_keys():
    _, last = supervised_turns(TALK)
    function = {"name": "level", "arguments": '{"station": "Husum"}'}
    assert last.messages == [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "q"},
        {
            "role": "assistant",
            "content": "t",
            "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "5"},
        {"role": "assistant", "content": "r"},
        {"role": "user", "content": "q"},
    ]
    assert (last.tools, last.prompt) == (TOOLS, TALK.turns[:5])
    assert last.gold_message == {"role": "assistant", "content": ""}
    assert shown_messages("", [Q]) == [{"role": "user", "content": "q"}]
    assert supervised_turns(TALK)[0].gold_message["content"] == "t"


# Pairs -----------------------------------------------------------------------------------------------

TURN = gold(text="r")
RIGHT, WRONG = Try(AssistantTurn("ok"), True), Try(AssistantTurn("no"), False, "e")
BROKEN = Try(AssistantTurn("cut"), False, "e", broken="cut off")


@pytest.mark.parametrize(
    ("tries", "rules", "outcome"),
    [
        ([], {}, NoPair.not_judged),
        ([RIGHT, WRONG], {}, NoPair.right_at_once),
        ([BROKEN], {}, NoPair.broken),
        ([BROKEN, RIGHT], {}, NoPair.broken),
        ([Try(AssistantTurn(" r "), False)], {}, NoPair.equal),
        ([Try(AssistantTurn("\u200b"), False)], {}, NoPair.blank),
        ([Try(AssistantTurn(None), False)], {}, NoPair.blank),
        ([WRONG], {"solved_only": True}, NoPair.never_solved),
        ([WRONG], {}, TrainingPair(TURN, TURN.gold, WRONG.reply, 1, False)),
        ([WRONG, RIGHT], {"solved_only": True}, TrainingPair(TURN, TURN.gold, WRONG.reply, 2, True)),
        ([WRONG, RIGHT], {"own_chosen": True}, TrainingPair(TURN, RIGHT.reply, WRONG.reply, 2, True)),
        ([WRONG], {"own_chosen": True}, TrainingPair(TURN, TURN.gold, WRONG.reply, 1, False)),
        ([BROKEN, WRONG], {}, TrainingPair(TURN, TURN.gold, WRONG.reply, 2, False)),
        ([BROKEN, WRONG], {"keep_broken": True}, TrainingPair(TURN, TURN.gold, BROKEN.reply, 2, False)),
    ],
)
def test_the_pair_of_a_turn(tries: list[Try], rules: dict[str, bool], outcome: TrainingPair | NoPair):
    assert pair_of(TURN, tries, PairRules(**rules)) == outcome
    if not rules:
        assert pair_of(TURN, tries) == outcome


def test_what_a_pair_is_written_as():
    worse = calls(made("f", 1, '{"a": 1}', a=1), text="xyz")
    pair = TrainingPair(gold(text="r"), AssistantTurn("better"), worse, 3, True)
    assert pair.meta == {"turn": 1, "tries": 3, "solved": True}
    assert pair.lengths == (6, 1 + 8 + 3)
    assert pair.record == TrainingRecord(
        kind="preference", turns=(Q,), chosen=AssistantTurn("better"), rejected=worse, tools=TOOLS
    )
    assert TrainingPair(gold(text="r"), AssistantTurn(None), worse, 1, False).lengths[0] == 0


def test_lengths_of_both_sides():
    assert side_lengths_of([]) is None
    assert side_lengths_of([(10, 20), (20, 25)]) == SideLengths(15.0, 22.5)
    assert [
        SideLengths(*sides).biased for sides in ((10, 15), (15, 10), (10, 15.1), (15.1, 10), (0, 0), (0, 1))
    ] == [False, False, True, True, False, True]


def test_replies_become_turns():
    def entry(**more: Any) -> dict[str, Any]:
        return {"function": {"name": "f", "arguments": "{}", **more}}

    assert reply_turn({"content": "a"}) == AssistantTurn("a")
    assert reply_turn({"content": ""}) == AssistantTurn("")
    assert reply_turn({"content": None}) == AssistantTurn(None)
    message = {
        "content": "",
        "tool_calls": [
            {**entry(), "id": "x"},
            entry(arguments="{"),
            entry(name=5),
            entry(arguments={}),
            {**entry(), "id": ""},
            {**entry(arguments='{"a": 1}'), "id": 5},
        ],
    }
    assert reply_turn(message) == calls(
        made("f", "x"), TrainingCall("f", "{", "call_2"), made("f", "call_3"), made("f", "call_4", a=1)
    )


def test_a_reply_is_judged_and_broken_ones_are_marked():
    turn = gold(level("Husum"))
    assert judged_try(Reply(message(HUSUM)), turn) == Try(
        calls(made("level", "r0", station="Husum")), True, None, "the calls of the record"
    )
    cut = judged_try(Reply(message(text="a"), finish_reason="length"), turn)
    assert cut == Try(AssistantTurn("a"), False, "no call", "expected a call of level", "cut off")
    bad = {"content": None, "tool_calls": [{"function": {"name": "level", "arguments": "{"}}]}
    assert judged_try(Reply(bad), turn).broken == "unreadable call"
    assert judged_try(Reply(bad, finish_reason="length"), turn).broken == "cut off"


# Records ---------------------------------------------------------------------------------------------


def test_records_have_names_and_other_rows_are_reported_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    file = wrote(
        tmp_path / "a.jsonl", row(HUSUM, id="x"), "{", row(HUSUM), {"conversations": []}, row(HUSUM, id="x")
    )
    with caplog.at_level(logging.WARNING, "wildtool"):
        for _ in range(2):
            assert [(name, record.row) for name, record in named_records(file)] == [
                ("x", 1),
                ("row 3", 3),
                ("x (row 5)", 5),
            ]
    (entry,) = caplog.messages
    assert entry.startswith(
        f"{file}: rows left out since they are no records: 2; the first: row 2: unreadable-line: no JSON"
    )
    caplog.clear()
    list(named_records(wrote(tmp_path / "b.jsonl", row(HUSUM))))
    assert caplog.messages == []


def test_a_file_without_records_is_refused(tmp_path: Path):
    file = wrote(tmp_path / "a.jsonl", {"messages": []}, {"messages": []})
    with pytest.raises(DataError) as refused:
        list(named_records(file))
    assert str(refused.value) == f"{file}: no row is a training record (row 1: no-user: no user turn)"


def test_a_training_file_is_a_source(tmp_path: Path):
    from hashlib import sha256

    file = wrote(tmp_path / "a.jsonl", row(HUSUM))
    digest = sha256(file.read_bytes()).hexdigest()
    assert training_source(file) == Source(str(file), file, digest)
    with pytest.raises(DataError) as refused:
        training_source(tmp_path / "none")
    assert (
        str(refused.value)
        == f"cannot read {tmp_path / 'none'}: No such file or directory; name a training file"
    )


def test_a_benchmarks_own_data_are_known_by_place_and_bytes(tmp_path: Path):
    shipped = data_of(WILD_MINI).locate(None).path
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(shipped.read_bytes())
    other = tmp_path / "other.jsonl"
    other.write_bytes(b"x" * shipped.stat().st_size)
    assert official_owner(shipped) == official_owner(copy) == "wild-mini"
    assert official_owner(other) is official_owner(tmp_path / "none") is None
    assert check_not_official([other], allow=False) == ()
    assert check_not_official([other, copy, shipped], allow=True) == ("wild-mini",)
    with pytest.raises(UsageError) as refused:
        check_not_official([copy], allow=False)
    assert str(refused.value) == (
        "wild-mini is a benchmark: scores on it would mean nothing afterwards; --allow-benchmark-data uses it and writes"
        " that into every output"
    )


def test_nothing_empty_is_a_benchmarks_own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Packages of official data hold empty files, and whoever opened a pipe, which has no bytes, would wait for ever."""
    (tmp_path / "official").mkdir()
    (tmp_path / "official" / "__init__.py").touch()
    monkeypatch.setattr(official, "official_folder", lambda name: tmp_path / "official")
    monkeypatch.setattr(official, "file_sha256", lambda path: pytest.fail(f"{path} is opened"))
    (tmp_path / "empty").touch()
    os.mkfifo(tmp_path / "pipe")
    assert [official_owner(tmp_path / name) for name in ("empty", "pipe")] == [None, None]


# Playing ---------------------------------------------------------------------------------------------


def test_items_of_a_file_and_what_is_asked_of_a_judge(tmp_path: Path):
    text = row(HUSUM, id="t")
    call_alone = {**row(HUSUM, KIEL, id="c"), "conversations": row(HUSUM, KIEL)["conversations"][:2]}
    unlearned = {**row(HUSUM), "conversations": []}
    source = data_of(TRAINING).locate(str(wrote(tmp_path / "a.jsonl", text, call_alone, unlearned)))
    items = list(TRAINING.load(source))
    assert [(item.id, item.units, item.roles) for item in items] == [("t", ("1", "3"), ()), ("c", ("1",), ())]
    judged = list(TRAINING.in_mode("judged").load(source))
    assert [(item.id, item.roles) for item in judged] == [("t", ("judge",)), ("c", ())]
    assert list(TRAINING.load(source, split="x")) == list(TRAINING.load(source, lang="x")) == []
    assert list(TRAINING.load(source, split=items[0].split, lang=items[0].lang)) == items
    assert [TRAINING.fields(item, unit) for item in items for unit in item.units] == [
        {"turn": "call", "gold_calls": "1", "place": 1},
        {"turn": "text", "gold_calls": "0", "place": 3},
        {"turn": "call", "gold_calls": "several", "place": 1},
    ]
    with pytest.raises(DataError, match=r"^name a training file: --data FILE$"):
        data_of(TRAINING).locate(None)
    with pytest.raises(DataError, match=r"^name a training file: --data FILE$"):
        data_of(TRAINING).locate("training")


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


@pytest.mark.parametrize(
    ("text", "judgement"),
    [
        ('{"right": true, "why": "Same."}', (True, "Same.")),
        ('{"right": false}', (False, "")),
        ('{"right": false, "why": 5} {"right": false, "why": "b"}', (False, "")),
        ('{"right": true} {"right": false}', None),
        ('{"right": 1}', None),
        ('{"right": true}</think>', None),
        ('{"right": true}</think>{"right": false}', (False, "")),
        ("", None),
    ],
)
def test_what_can_be_read_of_a_judge(text: str, judgement: tuple[bool, str] | None):
    assert judgement_of(said(text)) == judgement


def test_a_judge_is_given_the_conversation_and_asked_again():
    record = TrainingRecord(turns=(Q, AssistantTurn("é")), tools=(TOOLS[1],), system="S")
    turn = supervised_turns(record)[0]
    material = {
        "tools": [TOOLS[1]["function"]],
        "conversation": [{"role": "system", "content": "S"}, {"role": "user", "content": "q"}],
        "reply": "a",
        "reference": "é",
    }
    assert judged_material(turn, "a") == json.dumps(material, ensure_ascii=False)
    judged = JudgedReply(turn)
    first = judged.request()
    assert first is not None and first.gold is not None
    assert (first.messages, first.tools, first.role) == (material["conversation"], (TOOLS[1],), "agent")
    assert first.gold("") == {"role": "assistant", "content": "é"}
    judged.advance(said("a"))
    second = judged.request()
    assert second is not None and second.gold is not None
    assert (second.role, list(second.tools), [part["role"] for part in second.messages]) == (
        "judge",
        [],
        ["system", "user"],
    )
    assert second.messages[1]["content"] == judged_material(turn, "a")
    assert judgement_of(second.gold("")) == (True, "As the reference.")
    judged.advance(said("Hm."))
    third = judged.request()
    assert third is not None
    assert third.messages[2:] == [
        said("Hm."),
        {
            "role": "user",
            "content": 'Write only the JSON object: {"right": true or false, "why": one sentence}',
        },
    ]
    judged.advance(said("No."))
    assert (judged.done, judged.request(), judged.judgement, len(judged.judgements)) == (True, None, None, 2)
    judged.advance(said("late"))
    assert len(judged.judgements) == 2
