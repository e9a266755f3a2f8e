"""What came of all planned things: what is kept, what is lost and whether it was replaced, and the table of it."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from wildtool.errors import UsageError
from wildtool.sets.make.core.collect import GeneratedSet, attrition_table
from wildtool.sets.make.core.dedup import Deduplicator
from wildtool.sets.make.core.files import json_line, write_attrition, write_sessions, write_whole_file
from wildtool.sets.make.core.plan import Lang
from wildtool.sets.make.core.roles import AttemptFailedError, ScriptResult
from wildtool.types import Item, Metric


@dataclass(frozen=True, slots=True)
class Plan:
    index: int
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    plan: Plan


@dataclass(frozen=True, slots=True)
class Words(GeneratedSet[str]):
    noun: ClassVar[str] = "words"
    key: ClassVar[str] = "word"
    roles: ClassVar[tuple[str, ...]] = ("user", "judge")


class AsideWords(Words):
    @property
    def aside(self) -> dict[str, int]:
        return {"doubtful": 2, "odd": 1}


def planned(index: int, value: str | None, turn: int = 0, **counters: int) -> tuple[Item, ScriptResult[str]]:
    name = f"{index}.{turn}" if turn else str(index)
    item = Item(name, ("word",), Job(Plan(index, turn)))
    return item, ScriptResult(
        value, "" if value else "user A1", "" if value else f"no word {name}", counters=counters
    )


def keep(item: Item, value: str, result: ScriptResult[str]) -> str:
    if value == "same":
        raise AttemptFailedError("near duplicate", "'same' is there")
    return f"{item.id} {value}"


def collected(*results: Any) -> Words:
    return Words.collect(results, lambda item: {"word": item.id}, keep)


def test_what_is_kept_is_in_order_of_its_plans_and_each_loss_says_whether_it_was_replaced():
    made = collected(
        planned(0, None, user=1),
        planned(2, "c", user=2),
        planned(1, "same"),
        planned(3, None),
        planned(0, "a", 1),
        planned(3, None, 1),
        planned(3, None, 2),
    )
    assert made == Words(
        kept=("0.1 a", "2 c"),
        losses=(
            {"word": "0", "reason": "user A1", "detail": "no word 0", "replaced": True},
            {"word": "1", "reason": "near duplicate", "detail": "'same' is there", "replaced": False},
            {"word": "3", "reason": "user A1", "detail": "no word 3", "replaced": False},
            {"word": "3.1", "reason": "user A1", "detail": "no word 3.1", "replaced": False},
            {"word": "3.2", "reason": "user A1", "detail": "no word 3.2", "replaced": False},
        ),
        unfinished=0,
        counters={"user": 3},
        missing=(1, 3),
        turns=(1, 0),
    )
    assert made.replaced == 1
    assert [loss["word"] for loss in made.unreplaced_losses] == ["1", "3.2"]
    assert made.aside == {}
    assert made.attrition() == [
        Metric("words", "kept", 2 / 7, 2, 7),
        Metric("words", "in place of lost ones", None, 1, 0, kind="count"),
        Metric("words lost", "user A1", 4 / 7, 4, 7),
        Metric("words lost", "near duplicate", 1 / 7, 1, 7),
    ]


def test_replaced_things_stand_behind_what_is_set_aside():
    loss = {"word": "0", "reason": "r", "detail": "", "replaced": False}
    table = AsideWords(("a",), (loss, {**loss, "reason": "s"}), turns=(0,)).attrition()
    names = ["kept", "doubtful", "odd", "in place of lost ones", "r", "s"]
    assert [metric.name for metric in table] == names


def test_nothing_is_missing_while_anything_is_unfinished():
    item, _ = planned(1, "b")
    made = collected(planned(0, None), (item, None), planned(2, "c"))
    assert (made.kept, made.unfinished, made.missing) == (("2 c",), 1, ())
    assert made.attrition()[0] == Metric("words", "kept", 1 / 3, 1, 3)
    assert collected().attrition() == [Metric("words", "kept", None, 0, 0)]


def test_what_a_role_was_refused_is_counted_among_its_replies():
    counters = {
        "user asked": 4,
        "user refused A5": 1,
        "user warned A4": 2,
        "judge refused J1": 3,
        "other asked": 1,
        "other refused X": 1,
        "requests": 9,
    }
    assert attrition_table("words", 3, ["b", "a", "b"], 2, counters, ("user", "judge"), {"doubtful": 1}) == [
        Metric("words", "kept", 3 / 9, 3, 9),
        Metric("words", "doubtful", 1 / 9, 1, 9),
        Metric("words lost", "b", 2 / 9, 2, 9),
        Metric("words lost", "a", 1 / 9, 1, 9),
        Metric("replies", "user refused A5", 1 / 4, 1, 4),
        Metric("replies", "user warned A4", 2 / 4, 2, 4),
    ]


def test_texts_are_compared_within_a_language():
    texts = Deduplicator()
    said: list[tuple[Lang, str]] = [
        ("en", "Book a  room"),
        ("zh", "book a room"),
        ("en", "BOOK A ROOM"),
        ("en", "Sell it"),
    ]
    assert [texts.accepts(lang, text) for lang, text in said] == [True, True, False, True]


def test_files_of_a_set_appear_whole(tmp_path: Path):
    write_attrition(tmp_path, [{"word": "ä\ud800", "reason": "x"}], [Metric("words", "kept", 0.5, 1, 2)])
    assert (tmp_path / "losses.jsonl").read_bytes() == '{"word": "ä\\ud800", "reason": "x"}\n'.encode()
    written = (tmp_path / "yield.json").read_text()
    assert written == json.dumps([asdict(Metric("words", "kept", 0.5, 1, 2))], indent=1) + "\n"
    (tmp_path / "b").mkdir()
    with pytest.raises(UsageError, match=r"b: is a folder"):
        write_whole_file(tmp_path / "b", [])
    (tmp_path / "b").rmdir()
    file = tmp_path / "a.txt"
    file.write_text("old")

    def broken():
        yield "new"
        raise ValueError

    with pytest.raises(ValueError):
        write_whole_file(file, broken())
    assert (file.read_text(), sorted(path.name for path in tmp_path.iterdir())) == (
        "old",
        ["a.txt", "losses.jsonl", "yield.json"],
    )
    write_whole_file(file, ["one\n", "two\n"])
    assert file.read_text() == "one\ntwo\n"
    assert json_line(["ä", 1]) == '["ä", 1]\n'


def test_sessions_are_counted_and_replace_others_only_by_force(tmp_path: Path):
    file = tmp_path / "s.jsonl"
    assert write_sessions([{"id": "ä"}, {"id": 2}], file) == 2
    assert file.read_text("utf-8") == '{"id": "ä"}\n{"id": 2}\n'
    with pytest.raises(UsageError):
        write_sessions([{}], file)
    assert write_sessions([{}], file, force=True) == 1
    assert file.read_text() == "{}\n"
