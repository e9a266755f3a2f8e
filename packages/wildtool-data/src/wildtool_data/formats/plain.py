"""Any other benchmark's data, as far as they are JSON lines: whole records, and the rules of `data lint`."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from wildtool.benchmark import Benchmark
from wildtool.declared import lint
from wildtool.errors import DataError
from wildtool.findings import Finding, fault
from wildtool.json_codec import as_object, numbered_json_lines
from wildtool.temporary import temporary_folder
from wildtool.types import Source
from wildtool_data.formats.base import Facets, RawItem, ReviewFormat
from wildtool_data.make.core.files import json_line, write_whole_file


class PlainFormat(ReviewFormat):
    """Records of a benchmark about whose parts nothing is known."""

    file_name = "items.jsonl"

    def __init__(self, benchmark: Benchmark) -> None:
        self.name = benchmark.name
        self._benchmark = benchmark

    def read(self, path: Path) -> Iterator[RawItem]:
        if not path.is_file():
            raise DataError(f"{path}: only files of JSON lines of {self.name} can be reviewed")
        for number, record in numbered_json_lines(path):
            id_ = record.get("id", number)
            yield RawItem(str(id_), record, as_object(record.get("made_by")))

    def write(self, contents: Iterable[Any], out: Path) -> None:
        write_whole_file(out, map(json_line, contents))

    def check(self, content: Any) -> list[Finding]:
        with temporary_folder() as folder:
            source = self._source(content, Path(folder))
            try:
                findings = list(lint(self._benchmark, source))
            except DataError as error:
                findings = [fault("unreadable", str(error))]
            # Messages may name the temporary file.
            return [fault(each.rule, each.message.removeprefix(f"{source.path}: ")) for each in findings]

    def facets(self, content: Any) -> Facets:
        with temporary_folder() as folder:
            try:
                items = list(islice(self._benchmark.load(self._source(content, Path(folder))), 1))
            except DataError:
                items = []
        return Facets((("", ""),)) if not items else Facets(((items[0].split, ""),), lang=items[0].lang)

    def _source(self, content: Any, folder: Path) -> Source:
        path = folder / "item.jsonl"
        path.write_text(json_line(content), encoding="utf-8", errors="backslashreplace")
        return Source(self.name, path, "")
