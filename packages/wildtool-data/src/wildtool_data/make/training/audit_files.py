"""The files of a procedure: what was kept, and an audit file with every reply and decision."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from wildtool.outputs import atomic_replace
from wildtool.training.record import AssistantTurn, spaced_json
from wildtool_data.make.core.files import json_line

AUDIT_FILE = "audit.jsonl"


class LineWriter:
    """Writes the lines of several files that appear together, whole or not at all."""

    def __init__(self, files: Mapping[str, Any], benchmark_data: Sequence[str]) -> None:
        self._files = files
        self.mark: Mapping[str, Any] = {"benchmark_data": [*benchmark_data]} if benchmark_data else {}
        """What each line says where data of a benchmark are used."""

    def write(self, name: str, row: Mapping[str, Any]) -> None:
        """Adds a line to a file."""
        self._files[name].write(json_line(row))

    def write_marked(self, name: str, row: Mapping[str, Any]) -> None:
        """Adds a line to a file, with the mark of a benchmark's data."""
        self.write(name, {**row, **self.mark})


@contextmanager
def line_writer(folder: Path, *names: str, benchmark_data: Sequence[str] = ()) -> Generator[LineWriter]:
    """Opens files of a folder for writing; they replace others of their names at the end.

    Args: benchmark_data: names of benchmarks whose data are used, written into each line.

    Raises StorageError if the disk is full, UsageError if nothing may be written there.
    """
    with ExitStack() as stack:
        opened: dict[str, Any] = {}
        for name in names:
            new = stack.enter_context(atomic_replace(folder / name))
            opened[name] = stack.enter_context(new.open("w", encoding="utf-8", errors="backslashreplace"))
        yield LineWriter(opened, benchmark_data)


def reply_as_turn(reply: AssistantTurn) -> dict[str, str]:
    """A reply in ShareGPT's shape, for audit files; text beside calls comes first."""
    if not reply.calls:
        return {"from": "gpt", "value": reply.text or ""}
    calls = [{"name": call.name, "arguments": call.arguments} for call in reply.calls]
    turn = {"from": "function_call", "value": spaced_json(calls[0] if len(calls) == 1 else calls)}
    return {**turn, "text": reply.text} if reply.text else turn
