"""What a run is to do, checked before the first call."""

from dataclasses import replace
from errno import ENOSPC
from typing import Any
from unittest.mock import Mock

import pytest

from engine.echo_benchmark import EchoBenchmark, ScriptedModel, plan_of
from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.data.data_set import data_of
from wildtool.engine.plan import Selection
from wildtool.engine.sampling import ItemSample
from wildtool.errors import DataError, UsageError
from wildtool.types import Item


def ids(**settings: Any) -> list[str]:
    return [item.id for item in plan_of(EchoBenchmark(items=5), **settings).selection.items()]


def test_limit_takes_the_first_items():
    assert ids(limit=2) == ["i0", "i1"]


def test_ids_take_those_items_in_the_order_of_the_data():
    assert ids(ids=("i4", "i1")) == ["i1", "i4"]


def test_jobs_are_items_times_repeats():
    assert len(list(plan_of(EchoBenchmark(items=5), limit=3, repeats=2).read().jobs())) == 6


def test_the_roles_to_be_played_are_those_that_selected_items_ask():
    benchmark = EchoBenchmark(items=3, with_user=2)
    roles = [plan_of(benchmark, limit=limit).selection.read().roles for limit in (1, 2, 3)]
    assert [tuple(found) for found in roles] == [(), ("user",), ("user",)]


def test_a_role_without_a_model_is_named_before_the_first_call():
    with pytest.raises(UsageError, match="'user'"):
        plan_of(EchoBenchmark(with_user=1)).read()


@pytest.mark.parametrize("limit", [None, 1])
def test_an_unknown_id_is_named(limit: int | None):
    with pytest.raises(UsageError, match="unknown ids in official: i7; ids there look like i0, i1"):
        plan_of(ids=("i1", "i7"), limit=limit).read()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"limit": 0}, "limit is 0"),
        ({"repeats": 0}, "repeats is 0"),
        ({"concurrency": 0}, "concurrency is 0"),
        ({"concurrency": 4_097}, "at most 4,096"),
        ({"max_attempts": 0}, "max attempts is 0"),
        ({"timeout_s": 0.0}, "timeout is 0 s"),
        ({"timeout_s": float("nan")}, "timeout is nan s"),
        ({"timeout_s": float("inf")}, "timeout is inf s"),
        ({"profile": "nice"}, r"unknown profile 'nice' of echo \(known: official, strict\)"),
        ({"models": {"user": ScriptedModel()}}, "no model for the role agent"),
        ({"benchmark": EchoBenchmark(items=0)}, "nothing to run: .* is empty"),
    ],
)
def test_a_setting_that_cannot_work_is_named(settings: dict[str, Any], told: str):
    with pytest.raises(UsageError, match=told):
        plan_of(**settings).read()


def test_an_id_that_occurs_twice_is_named():
    class Twice(EchoBenchmark):
        def load(self, source: Any, **selection: Any) -> Any:
            yield from [Item("same", ("0",), {"steps": 1})] * 2

    with pytest.raises(DataError, match="'same' occurs twice"):
        plan_of(Twice()).read()


class Split(EchoBenchmark):
    """Items of two splits and two languages in turn."""

    def load(self, source: Any, *, split: str | None = None, lang: str | None = None) -> Any:
        for number, item in enumerate(super().load(source)):
            own = replace(item, split="ab"[number % 2], lang=("en", "zh")[number // 2 % 2])
            if split in (None, own.split) and lang in (None, own.lang):
                yield own


def test_a_sample_is_of_the_items_of_a_split_and_language():
    for choice, ids_of in (
        ({"split": "b"}, ["i1", "i3", "i5", "i7"]),
        ({"lang": "zh"}, ["i2", "i3", "i6", "i7"]),
        ({"split": "a", "lang": "en"}, ["i0", "i4"]),
    ):
        plan = plan_of(Split(items=8), sample=ItemSample(4), **choice)
        drawn = plan.selection.drawn
        assert drawn is not None
        assert ([*drawn.weights], drawn.of) == (ids_of, len(ids_of))
        assert [item.id for item in plan.selection.items()] == [item.id for item in plan.read()] == ids_of


@pytest.mark.parametrize(
    ("selection", "told"),
    [
        ({"split": "c"}, "no item of official is selected; its splits are: a, b"),
        ({"lang": "fr"}, "no item of official is selected; its languages are: en, zh"),
        (
            {"split": "c", "lang": "fr"},
            "no item of official is selected; its splits are: none; its languages are: en, zh",
        ),
    ],
)
def test_where_nothing_is_selected_the_choices_are_named(selection: dict[str, Any], told: str):
    with pytest.raises(UsageError) as raised:
        plan_of(Split(items=4), **selection).read()
    assert str(raised.value) == f"nothing to run: {told}"


def test_units_are_counted_with_their_repeats():
    source = data_of(WILD_MINI).locate(None)
    once, thrice = (Selection(benchmark=WILD_MINI, source=source, limit=2, repeats=n).read() for n in (1, 3))
    assert (once.units, thrice.units) == (8, 24)


def no_room(*_: Any, **__: Any) -> int:
    raise OSError(ENOSPC, "No space left on device")


@pytest.mark.parametrize("fails_at", ["the file", "each item"])
def test_items_that_no_disk_has_room_for_stay_in_memory(monkeypatch: pytest.MonkeyPatch, fails_at: str):
    file = no_room if fails_at == "the file" else lambda **_: Mock(write=no_room)
    monkeypatch.setattr("wildtool.engine.plan.TemporaryFile", file)
    selection = Selection(benchmark=WILD_MINI, source=data_of(WILD_MINI).locate(None), limit=3)
    assert [item.id for item in selection.read()] == [item.id for item in selection.items()]


def test_each_user_of_an_item_gets_one_of_its_own():
    items = Selection(benchmark=WILD_MINI, source=data_of(WILD_MINI).locate(None), limit=1).read()
    (first,), (second,) = items, items
    assert (first.id, first.units) == (second.id, second.units)
    assert first is not second
