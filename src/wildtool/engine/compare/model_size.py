"""How large models are, by their names or a file, for scores by size."""

import csv
import re
from collections.abc import Mapping
from pathlib import Path

from wildtool.errors import UsageError

_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?b|\d{2,}m)(?![a-z])", re.IGNORECASE)
"""A name with 1m states how long its context may be, not a million parameters."""
_EXPERTS = re.compile(r"(?<![\w.])(\d+x\d+(?:\.\d+)?b|\d+(?:\.\d+)?b-\d+e(?![a-z]))", re.IGNORECASE)
"""The size of a mixture such as 8x7b is not their product, and 17b of 17b-16e are the active ones only."""
_PER_BILLION = {"b": 1.0, "m": 0.001}
SIZE_FILE_COLUMNS = ("model", "size")


def size_in_name(model: str) -> float | None:
    """Billions of parameters that a name states, such as 7 of `qwen2.5-7b-instruct` and 0.5 of `smol-500m`; of a mixture
    such as `30B-A3B` all of them. None where it states none, several, or a mixture by its experts (`8x7b`, `17b-16e`)."""
    if _EXPERTS.search(model):
        return None
    found = {float(size[:-1]) * _PER_BILLION[size[-1].casefold()] for size in _SIZE.findall(model)}
    return found.pop() if len(found) == 1 else None


def family(model: str) -> str:
    """What a name says beside its size: equal for models of one family."""
    return _SIZE.sub("…", model)


def read_sizes(path: Path) -> Mapping[str, float]:
    """Billions of parameters by model, from a CSV file with the columns `model` and `size`, such as `gpt-x,7` or
    `gpt-x,500m`. Raises UsageError that names file, line and field."""
    try:
        rows = csv.DictReader(path.read_text("utf-8-sig").splitlines())
        missing = [name for name in SIZE_FILE_COLUMNS if name not in (rows.fieldnames or ())]
        if missing:
            raise UsageError(
                f"{path}: has no column {missing[0]}; its first line is {','.join(SIZE_FILE_COLUMNS)}"
            )
        sizes: dict[str, float] = {}
        for row in rows:
            model, size = str(row["model"]), _size(str(row["size"]))
            if size is None:
                raise UsageError(
                    f"{path}:{rows.line_num}: size: {row['size']!r} is none; give billions, such as 7 or 500m"
                )
            if sizes.setdefault(model, size) != size:
                raise UsageError(f"{path}:{rows.line_num}: model: {model} has another size above")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path}: cannot be read as CSV ({error})") from None
    return sizes


def _size(text: str) -> float | None:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([bm]?)", text.strip(), re.IGNORECASE)
    if match is None:
        return None
    size = float(match[1]) * _PER_BILLION[match[2].casefold() or "b"]
    return size or None
