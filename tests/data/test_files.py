"""JSON files and lines: what cannot be read is refused in words, whatever decodes it."""

from pathlib import Path

import pytest

from wildtool.data.files import (
    read_json,
)
from wildtool.errors import DataError


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 100_000 + "]" * 100_000, "{", ""])
def test_a_file_that_is_no_json_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "data.json"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError, match=r"data\.json: not JSON"):
        read_json(path)
