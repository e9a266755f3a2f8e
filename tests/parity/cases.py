"""How the recorded answers of the published evaluators are found, read and compared."""

import gzip
import hashlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def oracle_folder(benchmark: str) -> Path:
    """Where the cases of a benchmark lie, if they are there."""
    return Path(os.environ.get("WILDTOOL_ORACLE", ROOT.parent / "shared" / "oracle")) / benchmark


def present(folder: Path) -> Path:
    """The folder, where it is there; else the test is skipped."""
    if not folder.is_dir():
        pytest.skip(f"no folder {folder}; set WILDTOOL_ORACLE to the folder of oracle cases")
    return folder


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON lines of a case file, which may be packed; at least one, or a test would compare nothing."""
    line = ""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            yield json.loads(line)
    assert line, f"{path} holds no case"


def digest(value: Any) -> str:
    """The oracle's digest: sorted keys, compact separators, non-ASCII kept, first 16 hex digits of SHA-256."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def with_plain_ids(messages: Any) -> Any:
    """Messages with history call ids replaced by hist_1, hist_2, … in order of first appearance."""
    seen: dict[str, str] = {}

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(element) for key, element in value.items()}
        if isinstance(value, list | tuple):
            return [plain(element) for element in value]
        if isinstance(value, str) and re.fullmatch(r"toolu_bdrk_[A-Za-z0-9]{24}", value):
            return seen.setdefault(value, f"hist_{len(seen) + 1}")
        return value

    return plain(messages)


def without_set_order(check: str | None) -> str | None:
    """A check text with the names of missing and extra keys sorted: their order is Python's set order (Q45)."""
    if check is None or "keys mismatch" not in check:
        return check
    return re.sub(r"\[([^\]]*)\](?=[,)])", lambda m: f"[{', '.join(sorted(m[1].split(', ')))}]", check)
