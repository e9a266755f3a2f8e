"""Streams training files past the benchmarks, and writes the rows that stay."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from wildtool.json_codec import dumps
from wildtool.outputs import atomic_replace, check_file, check_not_input
from wildtool.steps import with_steps
from wildtool.training.reading import DETECT, rows_with_records
from wildtool.training.record import RejectedRow
from wildtool_data.prepare.overlap.search import FLAGS, WORST_PAIRS, OverlapSearch


@dataclass(slots=True)
class OverlapResult:
    """What was found in all files."""

    search: OverlapSearch
    rows: int = 0
    unreadable: int = 0
    removed: int = 0
    written: int = 0
    left: int = 0
    """Rows with a flag that were not removed."""

    def as_json(self) -> dict[str, Any]:
        """Every number, and the pairs that the search kept."""
        counts = {name: getattr(self, name) for name in ("rows", "unreadable", "removed", "written", "left")}
        return {**counts, "benchmarks": [_as_json(result) for result in self.search.results]}


def _as_json(result: Any) -> dict[str, Any]:
    pairs = [asdict(pair) for pair in result.pairs()]
    return {
        "benchmark": result.benchmark,
        "items": result.items,
        "texts": result.texts,
        "texts_too_short": result.short,
        "items_touched": {flag: sorted(i for i, f in result.touched.items() if f == flag) for flag in FLAGS},
        "rows": {flag: result.rows[flag] for flag in FLAGS},
        "tools": result.tools,
        "seen_tools": sorted(result.seen_tools),
        "worst": pairs[:WORST_PAIRS],
        "pairs": pairs,
    }


def write_clean(
    files: Sequence[Path],
    search: OverlapSearch,
    flags: Iterable[str],
    out: Path | None,
    *,
    data_set: str = DETECT,
    force: bool = False,
    complain: Callable[[str], None] = lambda text: None,
) -> OverlapResult:
    """Compares every row with the benchmarks; where `out` is given, the rows without one of the flags are written to it.

    Args:
        data_set: the layout of the files, a name of `DATA_SETS`; `auto` looks at their keys.
        complain: called with each row that cannot be read.

    Raises:
        DataError: a file cannot be opened, or holds no row.
        UsageError: `out` holds something else, or is one of the files.
    """
    result, leave_out = OverlapResult(search), frozenset(flags)
    with ExitStack() as stack:
        target: IO[bytes] | None = None
        if out is not None:
            check_not_input(out, files)
            check_file(out, force=force)
            target = stack.enter_context(stack.enter_context(atomic_replace(out)).open("wb"))
        for path in files:
            rows = rows_with_records(path, data_set)
            for row, record in with_steps(f"comparing {path}", rows, lambda pair: pair[0].number):
                result.rows += 1
                if isinstance(record, RejectedRow):
                    result.unreadable += 1
                    complain(f"{path}:{row.number}: {record.reason}: {record.detail}")
                    continue
                flag = search.look(record)
                if flag in leave_out:
                    result.removed += 1
                    continue
                result.left += flag != "clean"
                if target is not None:
                    target.write(dumps(row.value) + b"\n")
                    result.written += 1
    return result
