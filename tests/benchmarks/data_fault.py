"""The message of a `DataError`, for tests of what is said of broken data."""

from collections.abc import Callable

import pytest

from wildtool.errors import DataError


def fault_of(call: Callable[[], object]) -> str:
    with pytest.raises(DataError) as error:
        call()
    return str(error.value)
