"""Whatever people do, in whatever order: the log alone gives the live state back."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings

from review.made_sets import edit, project, tiny_records
from review.steps import STEPS, Step, step
from wildtool.errors import RecordError
from wildtool.review.log import verified
from wildtool.review.project import ReviewProject
from wildtool.review.state import STATE_VERSION, Filter, State, fold


@settings(max_examples=30)
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
    partial = [item.id for item in review.state.queue("all", wanted=Filter(subtype="Partial Information"))]
    assert partial == ["s0", "s2"]
    assert {item.id for item in review.state.queue("all", wanted=Filter(round=1, assignee="bob"))} == drawn
    assert review.state.queue("all", wanted=Filter(type="Single-Tool")) == []
    assert [item.id for item in review.state.queue("all", wanted=Filter(text="S3"))] == ["s3"]


def test_a_snapshot_that_does_not_follow_from_the_log_is_found_and_replaced(
    tmp_path_factory: pytest.TempPathFactory,
):
    review = project(tmp_path_factory.mktemp("review"))
    wrong = review.state.dump().replace(b'"generated"', b'"approved"')
    review.store.save_snapshot(review.state.n, wrong)
    again = ReviewProject.open(review.store)
    assert again.state.items["s0"].stage == "approved"
    with pytest.raises(RecordError, match="did not follow from the log"):
        again.verify("set")
    assert ReviewProject.open(review.store).verify("set") == review.state.n


def test_a_snapshot_of_another_version_is_not_used(tmp_path_factory: pytest.TempPathFactory):
    review = project(tmp_path_factory.mktemp("review"))
    dumped = review.state.dump()
    assert (
        State.load(review.format, dumped.replace(f'"version":{STATE_VERSION}'.encode(), b'"version":0', 1))
        is None
    )
    assert State.load(review.format, dumped[:-1]) is None
