"""The collector of cycles looks less often for a while, and as before afterwards."""

import gc

import pytest

from wildtool.engine.gc_tuning import GC_THRESHOLD, relaxed_gc


def test_the_collector_looks_as_often_as_before_when_it_is_over():
    before = gc.get_threshold()
    with pytest.raises(ValueError), relaxed_gc():
        assert gc.get_threshold()[0] == GC_THRESHOLD
        raise ValueError
    assert gc.get_threshold() == before
