"""What commands that run in the process of the tests begin with."""

from collections.abc import Callable

import pytest

from wildtool.engine.benchmark_file import BY_NAME


@pytest.fixture
def no_benchmark_files(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A command begins without the benchmark files that others have read; gives what forgets them again."""

    def forget() -> None:
        for name in list(BY_NAME):
            monkeypatch.delitem(BY_NAME, name)

    forget()
    return forget
