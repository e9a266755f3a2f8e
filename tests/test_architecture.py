"""The page about the architecture says what the code is."""

import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from long import WHOLE
from source_files import read, source_files, source_name
from wildtool.shapes.keys import VENDOR_KEYS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


@pytest.fixture
def drawing(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What draws the picture."""
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs"), *sys.path])
    import architecture_picture

    return architecture_picture


def imported_by(path: Path) -> set[tuple[str, ...]]:
    """Modules of wildtool that a file imports, as the picture names them, of what all tests read once."""
    names = (tuple(name.split(".")) for name in read(path).imported)
    ours = {name for name in names if name[0].startswith("wildtool") and not name[-1].startswith("_")}
    return {name[1:] if name[0] == "wildtool" else name for name in ours} - {()}


def test_the_picture_is_drawn_from_todays_imports(drawing: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(drawing, "imports", imported_by)
    drawn = drawing.PICTURE.read_text(encoding="utf-8")
    assert drawn == drawing.picture(), "run `python docs/architecture_picture.py`"


def test_the_picture_reads_the_imports_that_tests_read(drawing: Any):
    for path in source_files() if WHOLE else source_files()[::40]:
        assert set(drawing.imports(path)) == imported_by(path), path


@pytest.mark.parametrize("place", sorted(set(re.findall(r"`((?:src|packages|tests|docs)/[\w./-]+)`", PAGE))))
def test_places_that_the_page_names_are_there(place: str):
    assert (ROOT / place).exists()


OWNERS = ("shapes/", "models/", "benchmarks/", "agents/wires/")
"""Who may name vendors' keys: readers of shapes, the APIs of models, what agents ask, and a benchmark's own evaluator."""
ELSEWHERE = {
    "agents/native/strands.py": "tools as the framework Strands has them",
    "agents/tool_server.py": "the tool door, which speaks MCP",
    "own_cases/form.py": "names what people write in place of a key",
    "wildtool_train/bridges/responses.py": "writes a rollout for NeMo Gym as items of a Responses request",
    "reply_ends.py": "a stop reason of Anthropic, recorded with a reply",
    "wildtool_data/prepare/recipe/base_template.py": "the name of a chat template in a tokenizer's file",
}
"""Other places that name them, each with its reason. Whoever needs another one reads the shape in `shapes`."""


def test_keys_of_vendors_are_named_in_one_place():
    places: dict[str, set[str]] = defaultdict(set)
    for path in source_files():
        name = source_name(path)
        if not name.startswith(OWNERS):
            for text in read(path).texts:
                places[name] |= VENDOR_KEYS.intersection(re.findall(r"[\w-]+", text))
    assert {name: keys for name, keys in places.items() if keys and name not in ELSEWHERE} == {}
    assert [name for name in ELSEWHERE if not places[name]] == [], (
        "take out of the list what names none any more"
    )
