"""T-Eval's files: where they come from, their records as items, and what is wrong with them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from wildtool.benchmark import Benchmark, Finding
from wildtool.benchmarks.teval.reading import FINISH_ACTION, read_answer_object, read_plan_steps
from wildtool.data.data_set import DataSet, deferred
from wildtool.data.files import read_json, source_of_files
from wildtool.data.pinned import ReportProgress, install, official_folder
from wildtool.errors import DataError, unknown_name
from wildtool.json_codec import as_object, json_type
from wildtool.types import FieldValue, Item, Message, Source

Ability = Literal["instruct", "plan", "reason", "retrieve", "understand", "rru", "review"]
Form = Literal["json", "str"]


@dataclass(frozen=True, slots=True)
class TestSet:
    """One of the eight files."""

    ability: Ability
    """What is tested; `rru` is reason, retrieve and understand in one answer."""
    form: Form
    """In which form the answer is asked for; of `instruct` each record says it."""


SETS: Mapping[str, TestSet] = {
    "instruct": TestSet("instruct", "json"),
    "plan_json": TestSet("plan", "json"),
    "plan_str": TestSet("plan", "str"),
    "reason_str": TestSet("reason", "str"),
    "retrieve_str": TestSet("retrieve", "str"),
    "understand_str": TestSet("understand", "str"),
    "rru_json": TestSet("rru", "json"),
    "review_str": TestSet("review", "str"),
}
"""By name, which is the split."""
_FILE = re.compile(
    rf"(?:syn_)?({'|'.join(SETS)}|reason_retrieve_understand_json)(_v\d+)?(_subset)?(_zh)?\.json(?:\.gz)?"
)
VERSION_2, VERSION_1, PART = "official", "official-v1", "official-part"
"""Names of the pulled data: all eight files of version 2, some of version 1 among them, or not all files."""
_HOW_TO_GET = (
    "version 2, which ToLeaP uses, is in the Hugging Face data set lovesnowbest/T-Eval: bring its files ("
    "instruct_v2.json,"
    " plan_json_v2.json and so on) with `wildtool data pull teval --from FOLDER`, or name a file or folder with --data"
)


@dataclass(frozen=True, slots=True, eq=False)
class TevalRecord:
    """One record."""

    set: str
    messages: tuple[Message, ...]
    gold: Any
    """As written: an object, a list of steps, or JSON text."""
    form: str
    """In which form the answer is read: `json`, `str`, or `string` in `instruct`."""
    template: Mapping[str, str]
    """Of `instruct`: names of the keys, or the literal text around the three parts."""
    names: tuple[str, ...]
    """Of `plan_str`: the APIs that a line may name."""

    @property
    def test(self) -> TestSet:
        return SETS[self.set]


def set_files(place: Path, lang: str = "en") -> dict[str, Path]:
    """The file of each test set in a folder, in a language: of several the newest version, and whole ones first."""
    best: dict[str, tuple[Any, Path]] = {}
    for path in sorted(place.iterdir()) if place.is_dir() else ():
        name, rank, its_lang = _described(path)
        if name and its_lang == lang and (name not in best or rank > best[name][0]):
            best[name] = rank, path
    return {name: best[name][1] for name in SETS if name in best}


def _described(path: Path) -> tuple[str, tuple[bool, str, bool], str]:
    """Set, rank among files of the same set, and language of a file, by its name; no set where it is none."""
    match = _FILE.fullmatch(path.name)
    if match is None:
        return "", (False, "", False), "en"
    name = "rru_json" if match[1].startswith("reason_retrieve") else match[1]
    return name, (not match[3], match[2] or "", path.suffix != ".gz"), "zh" if match[4] else "en"


def _files(place: Path, split: str | None, lang: str | None) -> list[tuple[str, str, Path]]:
    """Language, set and path of each file that is read; where both are there and none is named, the English ones."""
    if split is not None and split not in SETS:
        raise DataError(unknown_name("split", split, SETS, of="teval"))
    if place.is_file():
        name, _, its = _described(place)
        if not name:
            sets = ", ".join(SETS)
            raise DataError(
                f"{place}: which set is it? Name the file after one of {sets}, such as plan_json.json"
            )
        files = [(its, name, place)]
    else:
        files = [(code, name, path) for code in ("en", "zh") for name, path in set_files(place, code).items()]
    codes = (lang,) if lang else ("en",) if any(code == "en" for code, _, _ in files) else ("zh",)
    return [file for file in files if file[0] in codes and split in (None, file[1])]


def data_files(place: Path, lang: str) -> list[Path]:
    """The files of a language in a folder, or the one file."""
    return [path for _, _, path in _files(place, None, lang)]


def load(
    benchmark: Benchmark, source: Source, *, split: str | None = None, lang: str | None = None
) -> Iterator[Item]:
    """The records of a file or folder, set by set. Raises DataError naming file, key and field."""
    for _, _, path in _files(source.path, split, lang):
        yield from read_file(path)


def fields(benchmark: Benchmark, item: Item, unit: str) -> Mapping[str, FieldValue]:
    """Ability and form of a record."""
    return {"ability": item.data.test.ability, "form": item.data.form}


def read_file(path: Path) -> Iterator[Item]:
    """The records of one file, whose name says its set and language. Raises DataError naming key and field."""
    name, _, lang = _described(path)
    document = read_json(path)
    if not isinstance(document, dict):
        raise DataError(f"{path}: expected an object of records, found {json_type(document)}")
    prefix = name if lang == "en" else f"{lang}/{name}"
    for key, fields in cast(dict[str, Any], document).items():
        record = _record(name, fields, f"{path}: record {key!r}")
        yield Item(f"{prefix}/{key}", ("0",), record, name, lang)


def _record(name: str, fields: Any, where: str) -> TevalRecord:
    test = SETS[name]
    if not isinstance(fields, dict):
        raise DataError(f"{where}: expected an object, found {json_type(fields)}")
    record = cast(dict[str, Any], fields)

    def part(field: str, kind: type, expected: str, of: Any = record) -> Any:
        value = cast(dict[str, Any], of).get(field) if isinstance(of, dict) else None
        if not isinstance(value, kind):
            raise DataError(f"{where}: field {field}: expected {expected}, found {json_type(value)}")
        return value

    prompt = part("origin_prompt", list, "a list of messages")
    for message in prompt:
        part("role", str, "a text in each message of origin_prompt", message)
        part("content", str, "a text in each message of origin_prompt", message)
    form = str(as_object(record.get("meta_data")).get("response_format") or test.form)
    template: dict[str, str] = {}
    if test.ability == "instruct":
        gold = part("ground_truth", dict, "an object")
        part("action", str, "a text in ground_truth", gold)
        part("args", dict, "an object in ground_truth", gold)
        given = part("template", dict, "an object")
        template = {
            key: part(key, str, "a text in template", given) for key in TEMPLATE_KEYS[form == "string"]
        }
    gold = record.get("ground_truth")
    if test.ability == "plan":
        part("ground_truth", list, "a list of steps")
    elif test.ability == "review":
        part("answer", str, "a letter in ground_truth", gold)
    elif not isinstance(gold, dict | str):
        raise DataError(
            f"{where}: field ground_truth: expected an object or JSON text, found {json_type(gold)}"
        )
    names: list[str] = []
    if name == "plan_str":
        names = part("API_list", list, "a list of names in meta", record.get("meta"))
    return TevalRecord(name, tuple(map(_message, prompt)), gold, form, template, tuple(map(str, names)))


TEMPLATE_KEYS: Mapping[bool, tuple[str, ...]] = {
    False: ("thought", "action", "args"),
    True: ("thought_start", "thought_end", "action_start", "action_end", "args_start", "args_end"),
}
"""Fields of a template, by whether the answer is a text with parts in it."""


def _message(message: Mapping[str, str]) -> Message:
    # What a function returned answers no native call, which providers refuse, so it comes from the user.
    role = "user" if message["role"] == "function" else message["role"]
    return {"role": role, "content": message["content"]}


# Checks of records ------------------------------------------------------------------------------------

_SIGNS = re.compile(r"[()\[\]{}*+?|^$.\\]")
"""Signs that mean something else in a pattern."""


def lint_source_files(source: Source) -> Iterator[Finding]:
    """Findings of a file or folder, file by file; a file that cannot be read is one finding."""
    for lang in ("en", "zh"):
        for path in data_files(source.path, lang):
            try:
                for item in read_file(path):
                    faults = _faults(item.data)
                    yield from (Finding(f"{path}: {item.id}", rule, message) for rule, message in faults)
            except DataError as error:
                yield Finding(str(path), "unreadable", str(error))


def _faults(record: TevalRecord) -> Iterator[tuple[str, str]]:
    match record.test.ability:
        case "plan":
            yield from _plan_faults(record)
        case "instruct":
            signs = sorted(set(_SIGNS.findall("".join(record.template.values()))))
            if record.form == "string" and signs:
                yield "template", f"has {' '.join(signs)}, which the published rules take as a pattern (Q6)"
        case "review":
            if record.gold["answer"] not in ("A", "B", "C", "D", "E"):
                yield "answer", f"{record.gold['answer']!r}; expected a letter from A to E"
        case _:
            gold = read_answer_object(record.gold) or {}
            missing = [name for name in ("thought", "name", "args") if name not in gold]
            if missing:
                yield (
                    "ground_truth",
                    f"no {', '.join(missing)}; expected an object with thought, name and args",
                )


def _plan_faults(record: TevalRecord) -> Iterator[tuple[str, str]]:
    steps = read_plan_steps(record.gold)
    if not steps:
        yield "ground_truth", "no steps with id, name and args"
        return
    if [step.id for step in steps] != list(range(len(steps))):
        yield "ids", f"{[step.id for step in steps]}; expected 0, 1, 2 and so on"
    if steps[-1].name != FINISH_ACTION:
        yield "last step", f"{steps[-1].name}; expected {FINISH_ACTION}"
    unknown = [step.name for step in steps[:-1] if record.names and step.name not in record.names]
    if unknown:
        yield "unknown API", f"{', '.join(unknown)}: not in API_list, so no line can name it"
    if len({(step.name, step.args) for step in steps}) < len(steps):
        yield "repeated step", "steps with the same name and arguments are matched in any order (Q3)"


class TevalData(DataSet):
    """Version 1 of plan and review, which is public, or version 2 from a folder of the user's."""

    def pull(self, *, file: Path | None, mirror: str | None, report: ReportProgress) -> Path:
        folder = official_folder(self.name)
        newer = [path for path in set_files(file).values() if "_v2" in path.name] if file is not None else []
        for path in newer:
            list(read_file(path))  # says what is wrong with it
            install(folder / path.name, path.read_bytes())
            report(f"{folder / path.name}: copied; its digest is not known, so it is not verified")
        if not newer:
            super().pull(file=file, mirror=mirror, report=report)
        missing = [name for name in SETS if name not in set_files(folder)]
        if missing:
            report(f"missing: {', '.join(missing)}; {_HOW_TO_GET}")
        return folder

    def locate(self, data: str | None, split: str | None = None) -> Source:
        official = data in (None, VERSION_2, VERSION_1, PART)
        place = official_folder(self.name) if official else Path(data or "")
        if not official and not place.exists():
            raise DataError(
                f"no file or folder {data!r}; --data takes official, a folder of T-Eval's files or one of them"
            )
        paths = [path for _, _, path in _files(place, split, None)]
        if not paths:
            raise DataError(
                f"no file of {split or 'T-Eval'} in {place}; `wildtool data pull teval` fetches version 1 of plan and"
                f" review; {_HOW_TO_GET}"
            )
        count = len(SETS) if split is None else 1
        if not official:
            name = str(data)
        elif any("_v1" in path.name for path in paths):
            name = VERSION_1
        else:
            name = VERSION_2 if len(paths) == count else PART
        # A run in another language reads other files, and must notice too that they have changed.
        every = {path for lang in ("en", "zh") for _, _, path in _files(place, split, lang)}
        return source_of_files(name, place, every)


DATA = TevalData(
    name="teval",
    repository="open-compass/T-Eval",
    commit="bab869616dee4cb55a2a04390efb93c008b70896",
    home="data",
    files={
        "plan_json_v1.json": "78cde6472751b940a17ab1771959949cc27294053f4eecbc794c9717a065d544",
        "plan_str_v1.json": "9287e55dcce15f1854eeeaf4fe24c6ee0b002962c3386c15fef2cfc93c47bb9a",
        "review_str_v1.json": "02b9cd220c6d79067df4e6d56b80fe932ea48fd7c63f55870ab0850bff311e8a",
    },
    licence="Apache-2.0",
    copies="one with T-Eval's files, such as instruct_v2.json",
    lint=lint_source_files,
    read_results=deferred("wildtool.benchmarks.teval.results:read_results"),
)
