"""What an exposure keeps of a unit is read back as it was written, and what it never wrote is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wildtool.alter.expose.outcomes import (
    EXPOSURE_COLUMNS,
    FAULT_KINDS,
    ComputedCall,
    ExposedUnit,
    ExposureFault,
)
from wildtool.errors import RecordError

NAMES = st.text(max_size=20)
PLACES = st.integers(0, 1_000)
UNITS = st.builds(
    ExposedUnit,
    searches=st.none() | PLACES,
    found=st.none() | st.lists(NAMES, max_size=4).map(tuple),
    scripts=st.none() | PLACES,
    faults=st.lists(st.builds(ExposureFault, PLACES, st.sampled_from(FAULT_KINDS)), max_size=3).map(tuple),
    computed=st.lists(st.builds(ComputedCall, PLACES, NAMES), max_size=3).map(tuple),
    cut=NAMES,
)


@given(UNITS)
def test_a_unit_is_read_back_as_it_was_written(unit):
    cells = unit.cells()
    assert set(cells) == set(EXPOSURE_COLUMNS)
    assert ExposedUnit.read(cells) == unit


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("exposure_faults", '[[0, "bad luck"]]'),
        ("exposure_faults", '[["refused"]]'),
        ("exposure_found", "calculator"),
        ("exposure_computed", "{}"),
        ("exposure_searches", "3"),
        ("exposure_scripts", True),
    ],
)
def test_a_cell_that_no_exposure_writes_is_refused_by_its_column(column, value):
    with pytest.raises(RecordError, match=column):
        ExposedUnit.read({**ExposedUnit().cells(), column: value})
