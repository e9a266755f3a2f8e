"""The numbers of a run as a whole, where runs are found, and which verdicts are used, made again and kept."""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from hashlib import md5
from pathlib import Path
from shutil import copytree
from types import SimpleNamespace
from typing import Any

import pytest

from engine.echo_benchmark import PATIENT, EchoBenchmark, ScriptedModel, plan_of
from engine.score.test_table_stamp import without_stamp
from wildtool.engine.record.bundle import BUNDLE_SUFFIX
from wildtool.engine.run.runner import run_plan
from wildtool.engine.score import results, table_stamp
from wildtool.engine.score.completeness import PlannedSize
from wildtool.engine.score.results import (
    ScoreResult,
    _call_starts,  # pyright: ignore[reportPrivateUsage]
    _of_replies,  # pyright: ignore[reportPrivateUsage]
    _part,  # pyright: ignore[reportPrivateUsage]
    _total_signs,  # pyright: ignore[reportPrivateUsage]
    failures_in,
    folders_below,
    load_result,
    open_results,
    run_folders,
)
from wildtool.engine.score.trust import FailureKind, TrustRemark
from wildtool.engine.score.verdict_table import OutcomeCounts
from wildtool.errors import CallError, RecordError
from wildtool.evidence import Evidence
from wildtool.tool_formats import CALL_FORMATS
from wildtool.types import Metric, Reply, Request

DOWN = CallError("http 500", "down")
BLOCKED = CallError("blocked prompt", "no", final=True)
CALL = {"id": "c", "function": {"name": "add", "arguments": "{}"}}
OTHER_CALL = {"id": "d", "function": {"name": "add", "arguments": '{"n": 1}'}}
WRITTEN = '<tool_call>{"name": "add", "arguments": {}}</tool_call>'


def reply(content: Any = "right", model: str = "m-1", finish: str = "stop", **more: Any) -> Reply:
    message = {"content": content, **more.pop("message", {})}
    return Reply(message, raw=json.dumps({"model": model}), finish_reason=finish, **more)


ANSWERS: Mapping[tuple[str, int], Any] = {
    ("I0/0", 0): reply(usage={"prompt_tokens": 10}),
    ("I0/0", 1): reply(usage={"prompt_tokens": 10}),
    ("I0/1", 0): reply(None, "m-2", message={"tool_calls": [CALL, OTHER_CALL]}, changes=("merged-messages",)),
    ("I0/1", 1): reply(WRITTEN, "m-2", "length", usage={"prompt_tokens": 1, "completion_tokens": 4}),
    ("I1/0", 0): DOWN,
    ("I1/1", 0): reply(),
    ("I1/1", 1): BLOCKED,
    ("I2/0", 0): DOWN,
    ("I2/1", 0): reply(),
    ("I2/1", 1): reply(),
}


def answer(request: Request) -> Any:
    unit = request.messages[0]["content"].partition(":")[0].upper()
    return ANSWERS[unit, len(request.messages) // 2]


def play(out: Path, answer: Any = answer, items: int = 2, **settings: Any) -> Path:
    plan = plan_of(EchoBenchmark(items, mode="loud"), ScriptedModel(answer), **settings)
    run_plan(plan, out, command=[], policy=PATIENT)
    return out


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play(tmp_path_factory.mktemp("played") / "run")


@pytest.fixture
def run(played: Path, tmp_path: Path) -> Path:
    """A run of two items: one unit is right, one wrong, two failed."""
    return copytree(played, tmp_path / "run")


def edit(run: Path, **fields: Any) -> None:
    """Changes fields of run.json, those of objects one by one."""
    described = json.loads((run / "run.json").read_text())
    for name, value in fields.items():
        described[name] = described[name] | value if isinstance(value, dict) else value
    (run / "run.json").write_text(json.dumps(described))


REMARKS = (
    TrustRemark(
        "without a verdict",
        3,
        6,
        "3 of 6 units failed (http 500 (2), blocked prompt (1)) and count as not right: 33.3 % correct, at most 83.3 %",
        "run the same command again",
    ),
    TrustRemark("cut off", 1, 7, "1 of 7 replies cut off at a token limit", "--max-tokens"),
    TrustRemark(
        "unread calls",
        1,
        7,
        "1 of 7 replies have calls written as text that no format read",
        "--tool-format hermes",
    ),
    TrustRemark("models", 2, 7, "2 models answered (m-1, m-2)", ""),
    TrustRemark("prompt tokens", 2, 4, "prompt tokens are known for 2 of 4 units", ""),
)


def test_the_numbers_of_a_run_are_these(tmp_path: Path):
    run = play(tmp_path / "run", items=3, limit=3)
    described = json.loads((run / "run.json").read_text())
    agent = described["identity"]["models"]["agent"]
    edit(run, identity={"prompts": "p", "models": {"user": {"name": "u"}, "agent": agent}})
    numbers = load_result(run)
    assert numbers == ScoreResult(
        run="run",
        model="scripted",
        benchmark="echo",
        profile="official",
        played="official",
        data="official",
        data_sha256="092c79e8f80e559e404bcf660c48f3522b67aba9ff1484b0367e1a4ddef7431d",
        split=None,
        mode="loud",
        prompts="p",
        part="",
        roles={"user": "u"},
        items=3,
        items_md5=md5(b"en/i0\nen/i1\nen/i2").hexdigest(),
        counts=OutcomeCounts(correct=2, wrong=1, infra_error=3),
        planned=6,
        planned_items=3,
        incomplete=False,
        failed=(
            FailureKind("http 500", 2, "http 500: down"),
            FailureKind("blocked prompt", 1, "blocked prompt: no"),
        ),
        evidence=Evidence(6, failed=3, cut_off=1, unread=1),
        trust=REMARKS,
        metrics=(
            Metric("all", "accuracy", 2 / 6, 2, 6),
            Metric("changed on the way", "merged-messages", None, 1, 7.0, kind="count"),
        ),
        folder=run,
    )
    assert failures_in(run / "verdicts-official.parquet") == numbers.failed


def test_a_run_without_a_reply_has_counts_without_values(tmp_path: Path):
    metrics = load_result(play(tmp_path, lambda request: DOWN)).metrics
    assert metrics == (Metric("all", "accuracy", None, 0, 4),)
    rate = Metric("g", "r", 0.0, 0, 6, low=0.0, high=0.5)
    count = Metric("g", "c", None, 3, 0, low=0.1, high=0.2, kind="count")
    assert _of_replies(OutcomeCounts(infra_error=1, unplayed=1), (rate, count)) == (
        replace(rate, value=None, low=None, high=None),
        count,
    )
    for counts in (OutcomeCounts(correct=1), OutcomeCounts(wrong=1)):
        assert _of_replies(counts, (rate, count)) == (rate, count)


def test_the_benchmarks_numbers_come_first_then_those_of_every_run(
    run: Path, monkeypatch: pytest.MonkeyPatch
):
    def named(group: str, name: str, **more: Any) -> Metric:
        return Metric(group, name, 0.5, 1, 2, **more)

    altered: Any = SimpleNamespace(metrics=lambda rows: [named("noise", "kept")])
    own = [named("all", "first"), named("all", "main")]
    monkeypatch.setattr(EchoBenchmark, "summarize", lambda *given: own)
    monkeypatch.setattr(EchoBenchmark, "headline", {"official": ("all", "main"), "strict": ("all", "no")})
    monkeypatch.setattr(results, "recorded_alterations", lambda identity: (altered,))
    monkeypatch.setattr(results, "_call_starts", lambda rows, signs: [named("calls", "began")])
    common = (named("calls", "began"), named("noise", "kept"))
    numbers = load_result(run).metrics
    assert numbers[:4] == (named("all", "main", headline=True), own[0], *common)
    assert [(metric.group, metric.name) for metric in numbers[4:]] == [
        ("changed on the way", "merged-messages")
    ]
    assert load_result(run, "strict").metrics[:4] == (*own, *common)
    own.append(named("calls", "own"))
    assert load_result(run, "strict").metrics[:4] == (*own, named("noise", "kept"))


def test_remarks_know_the_format_and_the_limit_that_a_model_was_asked_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ScriptedModel, "settings", lambda model: {"format": "glm", "max_tokens": 5})
    remarks = [str(remark) for remark in load_result(play(tmp_path)).trust]
    assert remarks[1:] == [
        "1 of 5 replies cut off before --max-tokens, where the context ended: serve the model with a longer context",
        "1 of 5 replies have calls written as text that glm did not read: see them with `wildtool view`",
        "2 models answered (m-1, m-2)",
        "prompt tokens are known for 2 of 3 units",
    ]


def test_a_run_with_repeats_has_rates_of_them(tmp_path: Path):
    repeated = load_result(play(tmp_path, lambda request: "right", repeats=2))
    numbers = [(metric.group, metric.name, metric.value) for metric in repeated.metrics[1:]]
    assert numbers == [("repeats", f"pass{sign}{k}", 1.0) for sign in "@^" for k in (1, 2)]


def test_a_run_with_a_call_is_not_said_to_have_none(tmp_path: Path):
    def called(request: Request) -> Reply:
        return reply("a", message={"tool_calls": [CALL]} if "/1:" in request.messages[0]["content"] else {})

    assert load_result(play(tmp_path / "called", called)).trust == ()
    (remark,) = load_result(play(tmp_path / "silent", lambda request: reply("a"))).trust
    assert remark.sign == "no call"


def test_signs_are_summed_over_the_rows_that_have_them():
    cells = {'{"replies":2,"empty":1}': 3, '{"replies":1}': 4, '{"cut":"longer than a table cell may be"}': 1}
    assert _total_signs(cells) == {"replies": 10, "empty": 3, "cut": 0}
    assert _total_signs(None) == {}


def test_calls_where_they_are_due_are_rates_of_these_units():
    import duckdb

    signs = [("call due", "first call right"), ("call due",), ("call due", "text for a call"), ("text due",)]
    cells = ", ".join(f"('i{n}', '{json.dumps(dict.fromkeys(each, 1))}')" for n, each in enumerate(signs))
    with duckdb.connect() as database:
        rows = database.sql(
            "SELECT *, 0 AS repeat, 'wrong' AS outcome, 0 AS cut_off, 0 AS unread_calls, false AS correct,"
            f" 'u' AS unit, 'all' AS split FROM (VALUES {cells}) AS v(item, signs)"
        )
        metrics = _call_starts(rows, {"call due": 3})
        assert [(m.group, m.name, m.numerator, m.denominator, m.better) for m in metrics] == [
            ("calls", "called where a call was expected", 2, 3, "more"),
            ("calls", "first call right where a call was expected", 1, 3, "more"),
            ("calls", "text where a call was expected", 1, 3, "less"),
        ]
        assert _call_starts(rows, {"text due": 1}) == []


@pytest.mark.parametrize(
    ("scope", "sample", "items", "weighted", "part"),
    [
        ({"limit": None, "ids": []}, None, 3, False, ""),
        ({"limit": 3, "ids": []}, None, 2, False, ""),
        ({"limit": 3, "ids": []}, None, 3, False, "--limit 3"),
        ({"limit": 3, "ids": ["a"]}, None, 1, False, "--ids of 1"),
        ({"sampled_from": 3000}, {"seed": 7}, 2000, False, "sample of 2,000 of 3,000 items (seed 7)"),
        ({"sampled_from": 3}, {"seed": 7}, 2, True, "sample of 2 of 3 items (seed 7, rates weighted)"),
        ({"sampled_from": 3, "limit": 3}, {"seed": 7}, 3, True, ""),
    ],
)
def test_what_limits_a_run_is_said_as_its_part(
    scope: Any, sample: Any, items: int, weighted: bool, part: str
):
    run_json = {"kind": "played", "scope": scope, "identity": {"sample": sample} if sample else {}}
    assert _part(run_json, PlannedSize(items, 9), weighted=weighted) == part


def test_labels_and_status_follow_from_the_numbers(run: Path):
    whole = replace(load_result(run), counts=OutcomeCounts(correct=1))
    assert (whole.profile_label, whole.sampled, whole.altered, whole.disturbances) == (
        "profile official",
        False,
        {},
        (),
    )
    labels = [
        ("official", "hermes", "profile official, replies read again as hermes"),
        (None, "", "profile official"),
        ("strict", "", "played strict, judged official"),
        ("strict", "hermes", "played strict, judged official, replies read again as hermes"),
    ]
    for played, read_as, label in labels:
        assert replace(whole, played=played, read_as=read_as).profile_label == label
    loud: Any = SimpleNamespace(kind="noise", label="loud", described="in capitals")
    altered = replace(whole, alterations=(loud,), part="sample of 2")
    assert (altered.sampled, altered.altered, altered.disturbances) == (
        True,
        {"noise": "loud"},
        ("in capitals",),
    )
    failed = OutcomeCounts(infra_error=1)
    statuses = [replace(whole, counts=failed), replace(whole, counts=failed, faults=("i0: no",)), whole]
    assert [each.exit_status for each in statuses] == [3, 1, 0]


# Which verdicts -----------------------------------------------------------------------------------------------------


def inode(run: Path, profile: str = "official") -> int:
    return (run / f"verdicts-{profile}.parquet").stat().st_ino


def test_verdicts_are_made_again_and_kept_as_asked(run: Path, monkeypatch: pytest.MonkeyPatch):
    first, numbers = inode(run), load_result(run)
    assert (inode(run), numbers.kept) == (first, True)
    assert load_result(run, again=True) == numbers
    second = inode(run)
    assert second != first
    with open_results(run, again=True, keep=False) as (result, table):
        assert result == replace(numbers, kept=False)
        assert (table.is_file(), table.parent == run) == (True, False)
    assert (inode(run), table.exists()) == (second, False)
    with open_results(run, "strict", keep=False) as (result, table):
        assert (result.counts.wrong, result.profile, result.played) == (2, "strict", "official")
        assert table.name == "verdicts-strict.parquet"
    assert [path.name for path in run.glob("verdicts-*")] == ["verdicts-official.parquet"]
    with monkeypatch.context() as patch:
        patch.setattr("os.access", lambda path, mode: path != run)
        assert load_result(run, "strict").kept is False
        # What is there already is used.
        assert load_result(run).kept is True
    assert load_result(run, "strict").kept is True
    assert load_result(run, data="official", again=True) == numbers
    with pytest.raises(RecordError, match="the data of this run are not where they were"):
        load_result(run, data="missing", again=True)


def test_replies_read_in_another_format_are_judged_for_this_once(run: Path):
    before = inode(run)
    read = load_result(run, format=CALL_FORMATS["hermes"])
    assert (read.read_as, read.kept, inode(run)) == ("hermes", False, before)
    assert read.trust[0].option == "run it with --tool-format hermes"
    assert read.evidence.unread == 0


def test_a_damaged_table_is_named_and_of_no_use_without_the_data(run: Path):
    table, numbers = run / "verdicts-official.parquet", load_result(run)
    whole = table.read_bytes()
    table.write_bytes(whole[:100] + b"?" + whole[101:])
    reason = "it does not have the SHA-256 that it was written with"
    remark = f"{table}: damaged ({reason}), so its verdicts were made again"
    assert load_result(run) == replace(numbers, remarks=(remark,))
    assert load_result(run) == numbers
    table.write_bytes(whole[:100] + b"?" + whole[101:])
    edit(run, data={"name": "missing", "path": "missing"})
    with pytest.raises(RecordError, match="the data of this run are not where they were"):
        load_result(run)


def test_a_table_that_cannot_be_read_is_made_again(run: Path, monkeypatch: pytest.MonkeyPatch):
    numbers, before = load_result(run), inode(run)
    refused = iter([PermissionError(13, "Permission denied")])

    def read_once_made(table: Path) -> Any:
        for error in refused:
            raise error
        return table_stamp.read_stamp(table)

    monkeypatch.setattr(results, "read_stamp", read_once_made)
    assert load_result(run) == numbers
    assert inode(run) != before


def test_a_table_of_fewer_columns_is_used_only_without_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as patch:
        patch.setattr(table_stamp, "_COLUMNS", 1)
        run = play(tmp_path)
    before = inode(run)
    described = (run / "run.json").read_text()
    edit(run, data={"name": "missing", "path": "missing"})
    old = load_result(run)
    assert (inode(run), old.folder, old.counts.correct, old.remarks) == (before, run, 1, ())
    (run / "run.json").write_text(described)
    assert load_result(run).counts == old.counts
    assert inode(run) != before


@pytest.mark.parametrize(
    ("profile", "newer", "used"),
    [
        ("official", "record-0001.jsonl", False),
        ("official", "run.json", True),
        ("strict", "run.json", False),
        ("strict", "", True),
    ],
)
def test_a_table_without_a_stamp_is_used_where_nothing_it_is_of_is_newer(
    run: Path, profile: str, newer: str, used: bool
):
    load_result(run, profile)
    table = run / f"verdicts-{profile}.parquet"
    without_stamp(table)
    edit(run, data={"name": "missing", "path": "missing"})
    for path in run.iterdir():
        os.utime(path, ns=(2000, 2001 if path.name == newer else 2000))
    if used:
        result = load_result(run, profile)
        problem = "made by an earlier version, and without the data of the run nothing can tell that it fits"
        assert (result.folder, result.profile, result.remarks) == (run, profile, (f"{table}: {problem}",))
    else:
        with pytest.raises(RecordError, match="the data of this run are not where they were"):
            load_result(run, profile)


# Where runs are -----------------------------------------------------------------------------------------------------


def make_run(folder: Path, benchmark: str = "wildtoolbench") -> Path:
    folder.mkdir(parents=True)
    models = {"agent": {"name": "m"}}
    described: Any = {
        "format": 1,
        "kind": "played",
        "identity": {
            **dict.fromkeys(("split", "lang", "mode", "profile")),
            "benchmark": benchmark,
            "data_sha256": "0",
            "models": models,
        },
        "scope": {"limit": None, "ids": [], "repeats": 1},
        "data": {"name": "d", "path": "d"},
        "sittings": [],
    }
    (folder / "run.json").write_text(json.dumps(described))
    return folder


def test_runs_and_bundles_are_found_at_any_depth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    root = tmp_path / "root"
    runs = [make_run(root / "a" / "x"), make_run(root / "b")]
    make_run(root / "b" / "inside")
    (root / f"z{BUNDLE_SUFFIX}").touch()
    (root / "a" / "notes.txt").touch()
    monkeypatch.setattr(results, "unpack_bundle", lambda path: tmp_path / "unpacked" / path.name)
    unpacked = tmp_path / "unpacked" / f"z{BUNDLE_SUFFIX}"
    assert run_folders(root) == [*runs, unpacked]
    assert run_folders(root / f"z{BUNDLE_SUFFIX}") == [unpacked]
    assert folders_below(root) == runs
    assert run_folders(root / "b") == [root / "b"]
    # Three entries of the root, and two of its folder a.
    monkeypatch.setattr(results, "MAX_ENTRIES", 5)
    assert run_folders(root) == [*runs, unpacked]
    monkeypatch.setattr(results, "MAX_ENTRIES", 4)
    with pytest.raises(RecordError) as raised:
        run_folders(root)
    problem = "the search for runs stopped after 4 files and folders"
    assert str(raised.value) == f"{root}: {problem}; name a folder nearer to the runs"
    assert folders_below(root) == runs


def test_records_of_how_data_were_made_are_left_out_where_there_are_runs(tmp_path: Path):
    of_set = tmp_path / "set"
    made, beside = make_run(of_set / "made", "generation"), make_run(of_set / "run")
    (of_set / "yield.json").write_text("{}")
    run = make_run(tmp_path / "run")
    assert run_folders(tmp_path) == [run, beside]
    (beside / "run.json").write_text("damaged")
    assert run_folders(of_set) == [beside]
    (beside / "run.json").unlink()
    assert run_folders(tmp_path) == [run]
    assert run_folders(of_set) == [made]
    (of_set / "yield.json").unlink()
    assert run_folders(tmp_path) == [run, made]


@pytest.mark.parametrize(("name", "problem"), [("", "holds no run"), ("x", "there is no such folder")])
def test_where_there_is_no_run_that_is_said(tmp_path: Path, name: str, problem: str):
    with pytest.raises(RecordError) as raised:
        run_folders(tmp_path / name)
    advice = "give the folder of a run, one above several, or a bundle"
    assert str(raised.value) == f"{tmp_path / name}: {problem}; {advice}"
