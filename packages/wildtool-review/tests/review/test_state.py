"""Whatever people do, in whatever order: the log alone gives the live state back."""

from collections.abc import Sequence
from hashlib import sha256

import pytest
from hypothesis import given, settings

from review.made_sets import decide, edit, project, recheck, tiny_records
from review.steps import STEPS, Step, step
from wildtool.errors import RecordError
from wildtool_review.log import verified
from wildtool_review.project import ReviewProject
from wildtool_review.state import STATE_VERSION, Filter, State, fold


@settings(max_examples=15)
@given(STEPS)
def test_the_log_alone_gives_the_live_state_back(
    tmp_path_factory: pytest.TempPathFactory, steps: Sequence[Step]
):
    review = project(tmp_path_factory.mktemp("review"), tiny_records(3), people="ann bob")
    for one in steps:
        review = step(review, *one)
    entries = list(verified(review.store.lines(), "store", last=review.store.head()[1]))
    again = fold(review.format, entries)
    assert again.dump() == review.state.dump()
    loaded = State.load(review.format, review.state.dump())
    assert loaded is not None and loaded.dump() == again.dump()


def test_queues_are_filtered_by_what_people_look_for(tmp_path_factory: pytest.TempPathFactory):
    review = project(tmp_path_factory.mktemp("review"), tiny_records(4), people="ann bob")
    list(review.check_items())
    review.open_round("owner", ["ann", "bob"], share=0.5)
    edit(review, "ann", review.state.rounds[0].items[0], "")
    drawn = {item.id for item in review.state.queue("mine", "ann")}
    assert drawn == {item.id for item in review.state.queue("open")} == set(review.state.rounds[0].items)
    assert review.state.queue("mine", "judge") == []
    partial = [item.id for item in review.state.queue("all", filter_=Filter(subtype="Partial Information"))]
    assert partial == ["s0", "s2"]
    assert {item.id for item in review.state.queue("all", filter_=Filter(round=1, assignee="bob"))} == drawn
    assert review.state.queue("all", filter_=Filter(type="Single-Tool")) == []


def test_a_flipped_byte_in_the_kept_state_changes_nothing_and_is_named(
    tmp_path_factory: pytest.TempPathFactory,
):
    review = project(tmp_path_factory.mktemp("review"))
    decide(review, "owner", "s0")
    live = review.state.dump()
    for place in (0, 70, live.index(b'"approved"') + 3, len(live) - 1):
        flipped = bytearray(live)
        flipped[place] ^= 1
        review.store.save_snapshot(review.state.n, bytes(flipped))
        again = ReviewProject.open(review.store)
        assert again.state.dump() == live
        with pytest.raises(RecordError, match="did not follow from the log"):
            again.verify("set")
        assert ReviewProject.open(review.store).verify("set") == review.state.n


def test_a_kept_state_of_another_log_is_not_used(tmp_path_factory: pytest.TempPathFactory):
    review, other = (project(tmp_path_factory.mktemp("review")) for _ in range(2))
    decide(other, "owner", "s0")
    edit(review, "owner", "s0", "Mine.")
    recheck(review, "owner", "s0")
    live = review.state.dump()
    review.store.save_snapshot(other.state.n, other.state.dump())
    assert ReviewProject.open(review.store).state.dump() == live
    # Nor one of a log that is as long.
    longer = project(tmp_path_factory.mktemp("review"), tiny_records(review.state.n))
    review.store.save_snapshot(longer.state.n, longer.state.dump())
    again = ReviewProject.open(review.store)
    assert again.state.dump() == live
    assert (again.follow_log("set"), again.follow_log("set")) == (True, False)


def test_a_snapshot_of_another_version_is_not_used(tmp_path_factory: pytest.TempPathFactory):
    review = project(tmp_path_factory.mktemp("review"))
    dumped = review.state.dump()
    old = dumped.partition(b"\n")[2].replace(f'"version":{STATE_VERSION}'.encode(), b'"version":0', 1)
    assert State.load(review.format, sha256(old).hexdigest().encode() + b"\n" + old) is None
    assert State.load(review.format, dumped[:-1]) is None


def test_a_snapshot_of_an_older_wildtool_is_replaced_without_a_word(tmp_path_factory: pytest.TempPathFactory):
    review = project(tmp_path_factory.mktemp("review"))
    review.store.save_snapshot(review.state.n, review.state.dump().partition(b"\n")[2])
    assert ReviewProject.open(review.store).verify("set") == review.state.n
