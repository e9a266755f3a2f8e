"""An endpoint at which the models of a file's tests answer: its `PLAYERS`, whose calls a gate can hold back."""

from collections.abc import Iterator
from typing import Any

import pytest

from cli.commands.players_endpoint import Gate, served


@pytest.fixture
def asked() -> list[dict[str, Any]]:
    """The bodies of all requests."""
    return []


@pytest.fixture
def gate(request: pytest.FixtureRequest) -> Gate:
    """Closed, it lets `LET_THROUGH` calls of the file through."""
    return Gate(request.module.LET_THROUGH)


@pytest.fixture
def url(request: pytest.FixtureRequest, asked: list[dict[str, Any]], gate: Gate) -> Iterator[str]:
    with served(request.module.PLAYERS(), asked, gate) as address:
        yield address
