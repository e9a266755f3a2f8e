"""A benchmark that lies in a Python file runs by its path, and its runs can be scored later."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import wildtool as wt
from e2e.command import COMMAND, Ended, verdicts
from e2e.command import wildtool as command
from wildtool.engine import benchmark_file
from wildtool.engine.registry import load_benchmark
from wildtool.errors import RecordError, UsageError

FILE = """
from pathlib import Path
from typing import NamedTuple
from wildtool.benchmark import Check, Mutant, SingleTurn
from wildtool.json_codec import read_json_lines
from wildtool.types import Item, Request

class Sum(NamedTuple):
    text: str
    result: str

class Sums(SingleTurn):
    name = "sums"
    title = "sums: one sum, answered by its result"
    data = Path(__file__).with_name("sums.jsonl")

    def load(self, source, *, split=None, lang=None):
        for where, record in read_json_lines(source.path):
            yield Item(record["id"], ("0",), Sum(record["text"], record["result"]))

    def request(self, item):
        gold = {"role": "assistant", "content": item.data.result}
        return Request([{"role": "user", "content": item.data.text}], gold=lambda style: gold)

    def check(self, item, reply, profile):
        return Check(reply.get("content") == item.data.result, "wrong sum", "compared with the sum")

    def mutants(self, item):
        yield Mutant("0", "sign", ({"role": "assistant", "content": "-" + item.data.result},), "other sign")
"""
DATA = '{"id": "a", "text": "1 + 1", "result": "2"}\n{"id": "b", "text": "2 + 2", "result": "4"}\n'


@pytest.fixture(autouse=True)
def _forget_files() -> Iterator[None]:
    yield
    benchmark_file.BY_NAME.clear()


def write(folder: Path, text: str = FILE, name: str = "calc.py") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "sums.jsonl").write_text(DATA, encoding="utf-8")
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def typed(*words: object, cwd: Path) -> Ended:
    return asyncio.run(command(*words, cwd=cwd))


def test_a_file_runs_by_its_path_and_its_run_is_scored_from_any_folder(tmp_path: Path) -> None:
    write(tmp_path / "mine")
    done = typed("run", "./calc.py", "-m", "baseline/gold", "--out", "run", "-q", cwd=tmp_path / "mine")
    assert done.status == 0, done.err
    for words in (("score", "mine/run"), ("show", "mine/run"), ("report", "mine/run", "-f", "md")):
        done = typed(*words, cwd=tmp_path)
        assert done.status == 0, done.err
    assert [row["outcome"] for row in verdicts(tmp_path / "mine" / "run")] == ["correct"] * 2


def test_the_path_is_no_part_of_the_identity(tmp_path: Path) -> None:
    first, second = write(tmp_path / "first"), write(tmp_path / "second")
    run = wt.run(first, model="baseline/gold", out=tmp_path / "run")
    document = json.loads((run.folder / "run.json").read_text("utf-8"))
    assert document["identity"]["benchmark"] == "sums"
    assert document["data"]["benchmark_file"] == str(first)
    first.unlink()
    done = typed("score", "run", cwd=tmp_path)
    assert done.status == 2
    assert "first/calc.py, which is not there; put it back" in done.err
    again = wt.run(second, model="baseline/gold", out=tmp_path / "run")
    assert again.result.counts.correct == 2
    assert typed("score", "run", cwd=tmp_path).status == 0


def test_verdicts_follow_the_file_as_it_is_now(tmp_path: Path) -> None:
    file = write(tmp_path)
    run = wt.run(file, model=lambda messages, tools: "7", out=tmp_path / "run")
    assert run.result.counts.correct == 0
    file.write_text(FILE.replace("reply.get", "not reply.get"), encoding="utf-8")
    assert wt.Run(run.folder).result.counts.correct == 2
    assert len(wt.load(file)) == 2


def test_two_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    right, wrong = write(tmp_path / "right"), write(tmp_path / "wrong", FILE.replace("== item", "!= item"))
    benches = [wt.load(right), wt.load(wrong)]
    runs = [wt.run(bench, model="baseline/gold", out=tmp_path / str(n)) for n, bench in enumerate(benches)]
    assert [run.result.counts.correct for run in runs] == [2, 0]
    assert [wt.Run(run.folder).result.counts.correct for run in runs] == [2, 0]


def test_all_commands_take_the_path(tmp_path: Path) -> None:
    write(tmp_path)
    for words in (("audit", "calc.py", "--all"), ("data", "lint", "calc.py"), ("data", "stats", "calc.py")):
        done = typed(*words, cwd=tmp_path)
        assert done.status == 0, (done.out, done.err)
    found = json.loads(typed("audit", "calc.py", "--json", cwd=tmp_path).out)
    assert {"sign", "empty reply", "other text"} == {kill["kind"] for kill in found[0]["kills"]}


def test_a_run_does_not_choose_what_is_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WILDTOOL_BENCHMARK_FILES", raising=False)
    marks = f"from pathlib import Path\nPath({str(tmp_path / 'executed')!r}).touch()\n"
    file = write(tmp_path / "mine", marks + FILE)
    assert typed("run", file, "-m", "baseline/gold", "--out", "run", "-q", cwd=tmp_path).status == 0
    (tmp_path / "executed").unlink()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "of somebody else"))
    for words in (
        ("show", "run"),
        ("score", "run"),
        ("show", "run", "--why", "accuracy"),
    ):
        done = typed(*words, cwd=tmp_path)
        assert done.status == 2, (words, done.out)
        assert f"if you trust it: wildtool list cards {file}" in " ".join(done.err.split())
    assert not (tmp_path / "executed").exists()
    assert typed("list", "cards", file, cwd=tmp_path).status == 0
    assert typed("score", "run", cwd=tmp_path).status == 0


def test_a_file_named_where_nothing_can_be_kept_is_known_to_this_process_and_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WILDTOOL_BENCHMARK_FILES", "")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "a file" / "below it"))
    (tmp_path / "a file").touch()
    run = wt.run(write(tmp_path / "mine"), model="baseline/gold", out=tmp_path / "run")
    assert wt.Run(run.folder).result.counts.correct == 2
    done = subprocess.run([COMMAND, "score", "run"], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_a_bundle_runs_no_file(tmp_path: Path) -> None:
    file = write(tmp_path / "mine")
    run = wt.run(file, model="baseline/gold", out=tmp_path / "run")
    for words in (("export", "run", "--format", "bundle", "--out", "b.zip"), ("score", "b.zip")):
        done = typed(*words, cwd=tmp_path)
    assert done.status == 2
    assert "of the file calc.py, which a bundle neither holds nor runs" in done.err
    assert wt.Run(run.folder).result.counts.correct == 2


def test_a_renamed_benchmark_is_not_taken_for_the_former_one(tmp_path: Path) -> None:
    file = write(tmp_path)
    run = wt.run(file, model="baseline/gold", out=tmp_path / "run")
    file.write_text(FILE.replace('"sums"', '"adding"'), encoding="utf-8")
    with pytest.raises(RecordError, match=r"a run of 'sums', but .*calc\.py now defines 'adding'"):
        wt.Run(run.folder)


def test_files_beside_it_can_be_imported_and_nothing_is_written_there(tmp_path: Path) -> None:
    file = write(tmp_path / "mine", "from wording_of_sums import SIGN\n" + FILE)
    (tmp_path / "mine" / "wording_of_sums.py").write_text("SIGN = '+'\n", encoding="utf-8")
    assert [item.id for item in wt.load(file)] == ["a", "b"]
    assert not [*(tmp_path / "mine").glob("__pycache__/calc*")]


HEAD = FILE.partition("class Sums")[0]
TWICE = FILE + "\nclass Others(Sums):\n    name = 'others'\n"
WRONG = {
    "no file": (None, "there is no such file; give a Python file that defines a benchmark"),
    "nothing": ("x = 1\n", "defines no benchmark; expected a class that inherits"),
    "only imported": ("from wildtool.benchmark import SingleTurn\n", "defines no benchmark"),
    "an error": ("x = 1\ny = z\n", r"calc\.py:2: running it fails: NameError: name 'z'"),
    "a wrong line": ("x = 1\ndef (:\n", r"calc\.py:2: running it fails: SyntaxError"),
    "an exit": ("raise SystemExit(0)\n", r"calc\.py:1: running it fails: SystemExit"),
    "two classes": (TWICE, "2 classes of benchmarks: Sums, Others; add an object"),
    "two objects": (TWICE + "A, B = Sums(), Others()\n", r"2 benchmarks: Sums\('sums'\), Others\('others'\); keep"),
    "half": (HEAD + "class Half(SingleTurn):\n    name = 'half'\n", "Half lacks check, load, request; write"),
    "arguments": (FILE + "    def __init__(self, n): self.n = n\n", "cannot be made without arguments"),
    "a name of ours": (FILE.replace('"sums"', '"wild-mini"'), "called 'wild-mini', as a benchmark of wildtool is"),
    "a suite": (FILE.replace('"sums"', '"all"'), "called 'all', as a benchmark of wildtool is"),
    "a path": (FILE.replace('"sums"', '"../sums"'), "a name has lower-case letters"),
    "no title": (FILE.replace("title =", "other ="), "its benchmark Sums lacks title"),
    "an old method": (FILE + "    def lint(self): pass\n", "defines `lint`, which has no effect"),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(("text", "problem"), WRONG.values(), ids=WRONG.keys())
def test_a_file_that_defines_no_usable_benchmark_is_refused(
    tmp_path: Path, text: str | None, problem: str
) -> None:
    file = tmp_path / "calc.py"
    if text is not None:
        write(tmp_path, text)
    with pytest.raises(UsageError, match=rf"calc\.py.*{problem}" if "calc" not in problem else problem):
        load_benchmark(str(file))


def test_an_object_decides_among_several_classes(tmp_path: Path) -> None:
    assert load_benchmark(str(write(tmp_path, TWICE + "MEANT = Others()\n"))).name == "others"
