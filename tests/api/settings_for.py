"""Settings as the tests need them."""

from collections.abc import Collection, Sequence
from typing import Any

from wildtool.api.settings import Settings


def settings_for(
    *, models: Sequence[str] = ("m",), benchmark: str = "b", explicit: Collection[str] = (), **values: Any
) -> Settings:
    """The settings of these values by name; all others have their defaults."""
    return Settings.of(benchmark, models, values, explicit)
