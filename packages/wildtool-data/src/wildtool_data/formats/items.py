"""Items of single calls and dialogues in ACEBench's two files, and the doubtful ones of `generate items`."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, cast

from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.data import categories_in, folder_languages, is_agent, read_record
from wildtool.benchmarks.acebench.data_lines import JsonLine, find_file, read_lines
from wildtool.benchmarks.acebench.lint.rules import ANSWER_FIELDS, RECORD_RULES
from wildtool.errors import DataError
from wildtool.findings import Finding, fault
from wildtool.json_codec import as_list, as_object, as_objects, read_json_lines
from wildtool_data.formats.base import Facets, ItemPart, RawItem, ReviewFormat, confidence_of
from wildtool_data.make.core.files import (
    DOUBTFUL_FILE,
    ITEMS_FOLDER,
    PROVENANCE_FILE,
    json_line,
    write_whole_file,
)
from wildtool_data.pointers import nearest, pointer

_FIELD_PART = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_NUMBERS = re.compile(r"(.*?)_(\d+)(?:_(\d+))?")


class ItemFormat(ReviewFormat):
    """Items: `{lang, category, records: [{question, answer}], made_by}`, a record for each turn of a dialogue."""

    name = ACEBENCH.name
    file_name = ITEMS_FOLDER

    def read(self, path: Path) -> Iterator[RawItem]:
        """Reads a folder of the two files, the folder that `generate items` makes, or a file of doubtful items."""
        if path.is_file():
            yield from _doubtful(path)
            return
        folder = path / ITEMS_FOLDER
        provenance = _provenance(path / PROVENANCE_FILE if folder.is_dir() else path.parent / PROVENANCE_FILE)
        if folder.is_dir() or not (path / DOUBTFUL_FILE).exists():
            yield from _from_folder(folder if folder.is_dir() else path, provenance)
        if (path / DOUBTFUL_FILE).exists():
            yield from _doubtful(path / DOUBTFUL_FILE)

    def write(self, contents: Iterable[Any], out: Path) -> None:
        files: dict[Path, list[tuple[tuple[int, int], Any]]] = {}
        for item in map(as_object, contents):
            name = f"data_{item['category']}.json"
            for record in as_objects(item.get("records")):
                order = _order(str(as_object(record.get("question")).get("id")))
                for part, place in (
                    ("question", out / item["lang"]),
                    ("answer", out / item["lang"] / "possible_answer"),
                ):
                    files.setdefault(place / name, []).append((order, record.get(part)))
        for path, rows in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            # Readers expect ascending numbers.
            write_whole_file(path, (json_line(row) for _, row in sorted(rows, key=lambda pair: pair[0])))

    def check(self, content: Any) -> list[Finding]:
        item = as_object(content)
        findings: list[Finding] = []
        for t, record in enumerate(as_objects(item.get("records"))):
            place = pointer("records", t)
            question, answer = (
                JsonLine(Path(part), t, as_object(record.get(part))) for part in ("question", "answer")
            )
            try:
                read = read_record(question, answer, str(item.get("category")), str(item.get("lang")))
                issues = list(RECORD_RULES.findings(read))
            except (DataError, RecursionError) as error:
                findings.append(fault("format", str(error).split("): ", 1)[-1] or "nested too deeply", place))
                continue
            for issue in issues:
                parts = [index or name for index, name in _FIELD_PART.findall(issue.field)]
                part = "answer" if issue.field.startswith(ANSWER_FIELDS) else "question"
                field = nearest(content, place + pointer(part, *parts))
                findings.append(fault(issue.rule, issue.message, field))
        return findings or ([] if as_list(item.get("records")) else [fault("format", "has no records")])

    def facets(self, content: Any) -> Facets:
        item = as_object(content)
        sure, judged = confidence_of(item.get("made_by"))
        category = str(item.get("category", ""))
        strata = tuple((category, "") for _ in as_list(item.get("records")))
        return Facets(strata, lang=str(item.get("lang", "")), confidence=sure, judged=judged)

    def parts(self, content: Any) -> list[ItemPart]:
        parts: list[ItemPart] = []
        for t, record in enumerate(as_objects(as_object(content).get("records"))):
            question, place = as_object(record.get("question")), pointer("records", t)
            parts.append(ItemPart(f"{place}/question/question", "user text", t))
            parts += (
                ItemPart(f"{place}/question/{name}", "date", t)
                for name in ("time", "profile")
                if name in question
            )
            tools = range(len(as_list(question.get("function"))))
            parts += (ItemPart(f"{place}/question/function/{k}", "tool", t) for k in tools)
            gold = as_object(record.get("answer")).get("ground_truth")
            kind = "alternatives" if isinstance(gold, list) else "call"
            parts.append(ItemPart(f"{place}/answer/ground_truth", kind, t))
            for name, arguments in cast(Mapping[str, Any], gold).items() if isinstance(gold, dict) else ():
                answer = f"{place}/answer/ground_truth" + pointer(name)
                parts += (
                    ItemPart(answer + pointer(argument), "argument", t) for argument in as_object(arguments)
                )
        return parts

    def task_count(self, content: Any) -> int:
        return len(as_list(as_object(content).get("records"))) or 1

    def first_stale_task(self, content: Any, field: str) -> int:
        """The questions of later turns repeat what was said before."""
        _, key, index, *_ = [*field.split("/"), "", "", ""]
        if key == "records":
            return int(index) + 1 if index.isdigit() else 0
        return self.task_count(content)

    def user_texts(self, content: Any) -> Sequence[str]:
        records = as_objects(as_object(content).get("records"))
        return [str(as_object(record.get("question")).get("question", "")) for record in records]


def _order(id_: str) -> tuple[int, int]:
    match = _NUMBERS.fullmatch(id_)
    return (int(match[2]), int(match[3] or 0)) if match else (0, 0)


def _from_folder(folder: Path, provenance: Mapping[str, Any]) -> Iterator[RawItem]:
    for lang in folder_languages(folder):
        for category in categories_in(folder, lang):
            if is_agent(category):
                raise DataError(f"{folder / lang}: {category}: episodes in the sandbox cannot be reviewed")
            questions = list(read_lines(find_file(folder / lang, category)))
            answers = list(read_lines(find_file(folder / lang / "possible_answer", category)))
            if [line.value("id") for line in questions] != [line.value("id") for line in answers]:
                raise DataError(f"{folder / lang}: {category}: questions and answers have different ids")
            rows = [
                (read_record(question, answer, category, lang).dialogue, question, answer)
                for question, answer in zip(questions, answers, strict=True)
            ]
            for number, turns in groupby(rows, key=lambda row: row[0]):
                records = [{"question": dict(q.fields), "answer": dict(a.fields)} for _, q, a in turns]
                made_by = provenance.get(records[0]["question"]["id"], {})
                yield _item(lang, category, records, f"{lang}/{category}_{number}", made_by)


def _doubtful(path: Path) -> Iterator[RawItem]:
    for where, row in read_json_lines(path, "doubtful item"):
        made_by, records = as_object(row.get("made_by")), as_objects(row.get("records"))
        ids = [as_object(record.get("question")).get("id") for record in records]
        match = _NUMBERS.fullmatch(ids[0]) if ids and isinstance(ids[0], str) else None
        if match is None:
            raise DataError(f"{where}: expected records with ids, as `generate items` writes them")
        lang = str(made_by.get("lang", "en"))
        yield _item(lang, match[1], records, f"{lang}/{match[1]}_{match[2]}", made_by)


def _item(lang: str, category: str, records: list[Any], id_: str, made_by: Mapping[str, Any]) -> RawItem:
    content = {"lang": lang, "category": category, "records": records}
    return RawItem(id_, {**content, "made_by": dict(made_by)} if made_by else content, made_by)


def _provenance(path: Path) -> dict[str, Any]:
    rows = read_json_lines(path, "provenance") if path.exists() else ()
    return {str(id_): row for _, row in rows for id_ in as_list(row.get("ids"))}


ITEMS = ItemFormat()
