"""A second report in the same folder: it writes what changed, and holds what a first one in an empty folder would."""

import json
import shutil
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from long import WHOLE
from report.report_build import Scripted, play, type_, undrawn
from wildtool.engine.record.case_labels import (
    CaseKey,
    CaseReading,
    LabelledCases,
    add_readings,
    start_labels,
)
from wildtool.report.run_stamps import installed_code_digest

NAMES = ("chat", "gold", "half", "lexical")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("played")
    for name in NAMES:
        half = Scripted("half", right=lambda address: address.unit in "02")
        play(place / name, half if name == "half" else f"baseline/{name}", limit=2)
    return place


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache folder of this test, and charts that are not drawn; outside `make long` reports have no pages of tables,
    which are made each time."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("wildtool.report.pages.metrics.render_chart", undrawn)
    if not WHOLE:
        monkeypatch.setattr("wildtool.report.build.views_of", lambda board: ())
        for page in ("add_side_by_side", "add_dataset"):
            monkeypatch.setattr(f"wildtool.report.build.{page}", lambda *_: None)


def report(runs: Path, *names: str, out: str = "site") -> Path:
    """A report of some runs, in a folder beside theirs."""
    site = runs.with_name(out)
    type_("report", *[str(runs / name) for name in names], "-o", str(site))
    return site


def shards(site: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (site / "data").glob("t*.js")}


def same_as_fresh(site: Path, runs: Path, *names: str) -> bool:
    """Whether a report holds what one in an empty folder does."""
    return holds(site, shards(report(runs, *names, out="fresh")))


def holds(site: Path, fresh: Mapping[str, bytes]) -> bool:
    return {name: shards(site)[name] for name in fresh} == fresh


@pytest.fixture(scope="module")
def fresh(played: Path) -> Callable[..., Mapping[str, bytes]]:
    """What a report in an empty folder holds of runs as they were played; each is made once."""
    return cache(lambda *names: shards(report(played, *names, out="-".join(names))))


def files(site: Path) -> dict[str, tuple[int, int]]:
    """What tells a file from one that was written again."""
    found = {path.name: path.stat() for path in (site / "data").glob("t[nrwx]-*.js")}
    return {name: (status.st_ino, status.st_mtime_ns) for name, status in found.items()}


def runs_with(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    """The numbers of the runs that have a file which was written again or is new."""
    return {name.split("-")[1].removesuffix(".js") for name in after if before.get(name) != after[name]}


@pytest.fixture
def runs(played: Path, tmp_path: Path) -> Path:
    return shutil.copytree(played, tmp_path / "runs")


def test_a_run_that_is_added_is_all_that_is_written(runs: Path, fresh: Callable[..., Mapping[str, bytes]]):
    before = files(report(runs, "chat", "half"))
    site = report(runs, "chat", "half", "lexical")
    assert runs_with(before, files(site)) == {"2"}
    assert holds(site, fresh("chat", "half", "lexical"))


def test_nothing_is_written_again_where_nothing_changed(runs: Path):
    before = files(report(runs, "chat", "gold"))
    assert files(report(runs, "chat", "gold")) == before


def test_runs_that_change_places_are_taken_over_under_their_new_numbers(
    runs: Path, fresh: Callable[..., Mapping[str, bytes]]
):
    report(runs, "chat", "gold", "half", "lexical")
    for names in (("chat", "lexical", "half", "gold"), ("chat", "half", "lexical"), ("lexical", "chat")):
        assert holds(report(runs, *names), fresh(*names))
        assert not [path for path in (runs.with_name("site") / "data").iterdir() if path.suffix != ".js"]


def another_reply(folder: Path) -> None:
    (record,) = folder.glob("record-*.jsonl")
    rows = [json.loads(line) for line in record.read_text("utf-8").splitlines()]
    for row in rows:
        row.pop("crc32", None)
        row.pop("synced", None)
    next(row for row in rows if row["row"] == "step")["message"]["content"] = "Something else."
    record.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def a_label(folder: Path) -> None:
    case = CaseKey("wild_mini_1", 0, "1")
    start_labels(folder, LabelledCases("official", 1, "0", {"odd": "not seen before"}, {case: ()}))
    add_readings(folder, [CaseReading("ann", case, ("odd",))])


def scores_under_other_rules(folder: Path) -> None:
    type_("score", str(folder), "--profile", "fixed")


@pytest.mark.parametrize(
    "change",
    [
        another_reply,
        pytest.param(a_label, marks=pytest.mark.long),
        pytest.param(scores_under_other_rules, marks=pytest.mark.long),
    ],
)
def test_a_run_whose_files_changed_is_written_again(runs: Path, change: Callable[[Path], None]):
    before = files(report(runs, "gold", "half", "lexical"))
    change(runs / "half")
    site = report(runs, "gold", "half", "lexical")
    assert runs_with(before, files(site)) == {"1"}
    assert same_as_fresh(site, runs, "gold", "half", "lexical")


@pytest.mark.parametrize(
    "content",
    [
        None,
        "cut",
        pytest.param(b"", marks=pytest.mark.long),
        pytest.param(b'wildtool.put("tr-1-0",[]);\n', marks=pytest.mark.long),
    ],
)
def test_a_file_of_the_report_that_is_not_as_it_was_is_written_again(runs: Path, content: Any):
    site = report(runs, "gold", "half")
    shard = site / "data" / "tr-1-0.js"
    whole = shard.read_bytes()
    shard.unlink()
    if content is not None:
        shard.write_bytes(whole[: len(whole) // 2] if content == "cut" else content)
    report(runs, "gold", "half")
    assert shard.read_bytes() == whole


def test_another_profile_takes_nothing_over(runs: Path):
    before = files(report(runs, "gold", "half"))
    type_(
        "report",
        str(runs / "gold"),
        str(runs / "half"),
        "--profile",
        "fixed",
        "-o",
        str(runs.with_name("site")),
    )
    assert runs_with(before, files(runs.with_name("site"))) == {"0", "1"}


@pytest.mark.parametrize("name", [pytest.param("judge.py", marks=pytest.mark.long), "words.txt"])
def test_other_code_or_another_file_beside_it_takes_nothing_over(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    code = tmp_path / "code"
    code.mkdir()
    monkeypatch.setattr("wildtool.__file__", str(code / "__init__.py"))
    installed_code_digest.cache_clear()
    before = files(report(runs, "gold", "half"))
    (code / name).write_text("another")
    installed_code_digest.cache_clear()
    assert runs_with(before, files(report(runs, "gold", "half"))) == {"0", "1"}
    installed_code_digest.cache_clear()


def test_a_report_that_came_from_elsewhere_gives_nothing(runs: Path, monkeypatch: pytest.MonkeyPatch):
    before = files(report(runs, "gold", "half"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(runs.with_name("of another user")))
    assert runs_with(before, files(report(runs, "gold", "half"))) == {"0", "1"}


class Killed(BaseException):
    """The end of a process in the middle of what it writes."""


@pytest.mark.parametrize("writes", [1, 6, *(pytest.param(at, marks=pytest.mark.long) for at in (3, 9))])
def test_a_report_that_is_killed_leaves_nothing_wrong(
    runs: Path, fresh: Callable[..., Mapping[str, bytes]], monkeypatch: pytest.MonkeyPatch, writes: int
):
    report(runs, "chat", "gold", "half")
    left = writes

    def killed(target: Path, content: bytes) -> None:
        nonlocal left
        left -= 1
        target.write_bytes(content if left else content[: len(content) // 2])
        if not left:
            raise Killed

    names = ("chat", "lexical", "half", "gold")
    with monkeypatch.context() as patch, pytest.raises(Killed):
        for place in ("shards", "kept_shards"):
            patch.setattr(f"wildtool.report.site.{place}.write_file", killed)
        report(runs, *names)
    assert holds(report(runs, *names), fresh(*names))
