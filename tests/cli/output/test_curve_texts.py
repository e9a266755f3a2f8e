"""What `wildtool run SERIES` says of endpoints that do not answer."""

from typing import Any

import pytest

from wildtool.cli import series as command


@pytest.fixture(autouse=True)
def _width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


# Endpoints -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("http://h/v1", ("h", 80)),
        ("https://h/v1", ("h", 443)),
        ("http://h:8000/v1", ("h", 8000)),
        ("nonsense", ("", 80)),
    ],
)
def test_an_endpoint_is_asked_to_accept_a_connection(
    address: str, place: tuple[str, int], monkeypatch: pytest.MonkeyPatch
):
    asked: list[Any] = []

    class Connection:
        def __enter__(self) -> None: ...

        def __exit__(self, *error: object) -> None: ...

    def connect(place: tuple[str, int], timeout: float) -> Connection:
        asked.append((place, timeout))
        return Connection()

    monkeypatch.setattr("socket.create_connection", connect)
    assert command._refusal(address) == ""
    assert asked == [(place, 3.0)]

    def refuse(place: tuple[str, int], timeout: float) -> Connection:
        raise errors.pop()

    errors = [OSError("odd"), ConnectionRefusedError(111, "Connection refused")]
    monkeypatch.setattr("socket.create_connection", refuse)
    assert [command._refusal(address) for _ in range(2)] == ["Connection refused", "odd"]
