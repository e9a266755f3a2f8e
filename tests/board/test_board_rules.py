"""The rules of boards and passports one by one: costs, claimed numbers, what was left out, replies that were changed."""

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.board import build, passport, verify
from wildtool.board.build import BoardEntry, BoardTable
from wildtool.board.passport import endpoint_findings, rules_digest, write_beside
from wildtool.board.verify import bundle_digest, passport_of
from wildtool.engine.record.reader import LoggedFailure, LoggedReply
from wildtool.errors import RecordError
from wildtool.types import Reply

# pyright: reportPrivateUsage=false


# Costs and places -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spent", "dollars"),
    [
        ([], None),
        ([{"usd": 0.5}], 500.0),
        ([{"usd": 0.5}, {"usd": 1}], 1500.0),
        ([{"usd": 0.0}], 0.0),
        ([{"usd": 0.5}, {"usd": None}], None),
        ([{"usd": 0.5}, {}], None),
        ([{"usd": 0.5}, None], None),
        ([{"usd": "1"}], None),
        ([{"usd": -0.5}], None),
        ([{"usd": float("nan")}], None),
        ([{"usd": 1e308}], None),
    ],
)
def test_a_run_cost_what_all_its_starts_say(spent: list[Any], dollars: float | None):
    run: Any = SimpleNamespace(about={"sittings": [{"spent": each} for each in spent]})
    assert build._dollars(run) == dollars


@pytest.mark.parametrize(
    ("prompt", "completion", "tokens"), [(3, 4, 7.0), (0, 0, 0.0), (None, 4, None), (3, None, None)]
)
def test_tokens_of_a_run_are_known_where_both_kinds_are(
    prompt: int | None, completion: int | None, tokens: float | None
):
    run: Any = SimpleNamespace(spent=SimpleNamespace(prompt_tokens=prompt, completion_tokens=completion))
    assert build._tokens(run) == tokens


def test_costs_are_those_of_a_unit():
    def run(units: int) -> Any:
        return SimpleNamespace(result=SimpleNamespace(evidence=SimpleNamespace(units=units)))

    assert [build._per_unit(run(4), total) for total in (None, 6.0, 0.0)] == [None, 1.5, 0.0]
    assert build._per_unit(run(0), 6.0) is None


def entry(label: str, date: str, **values: Any) -> BoardEntry:
    row: Any = None
    rest: dict[str, Any] = {"cost": None, "score": None, "interval": None, "on_front": False, "again": ""}
    rest |= {"endpoint": [], "replies": 0, "remarks": [], "passport": "", "eligible": True}
    rest |= {"mark": "recomputed", "doubts": [], "coverage": ""}
    return BoardEntry(label=label, row=row, date=date, **{**rest, **values})


def test_the_history_of_a_board_begins_with_the_newest():
    entries = [
        entry(*each) for each in (("b", "2026-01-02"), ("a", "2026-01-02"), ("c", "2026-02-01"), ("d", ""))
    ]
    table: Any = None
    board = BoardTable(title="t", table=table, entries=entries, cost_unit="u", points=[])
    assert [each.label for each in board.history] == ["c", "b", "a", "d"]


def run_of(model: str = "m", data: str = "d") -> Any:
    result = SimpleNamespace(model=model, data_sha256=data, profile="official")
    return SimpleNamespace(result=result, scores=f"scores of {model}")


def test_a_keeper_who_asked_something_else_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    asked: list[Any] = []
    answers: list[Any] = [
        run_of("other"),
        run_of(data="others"),
        RecordError(f"{tmp_path}/x: damaged"),
        run_of(),
    ]

    def read(places: list[Path], profile: str, *, keep: bool) -> list[Any]:
        asked.append((places, profile, keep))
        if isinstance(answer := answers.pop(0), Exception):
            raise answer
        return [answer]

    monkeypatch.setattr(build, "unpack_bundle", lambda place: place.with_suffix(".unpacked"))
    monkeypatch.setattr(build, "read_runs", read)
    pair = SimpleNamespace(units=8, difference=-0.5, p=0.0123)
    compared: list[Any] = []
    monkeypatch.setattr(build, "compare_all_pairs", lambda scores: compared.append(scores) or {(0, 1): pair})
    (tmp_path / "a.again.bundle.zip").touch()
    verification: Any = SimpleNamespace(bundle=tmp_path / "a.bundle.zip")
    assert [build._asked_again(verification, run_of()) for _ in range(4)] == [
        "the keeper's run is of another model or other data (other)",
        "the keeper's run is of another model or other data (m)",
        "the keeper's run cannot be read (x: damaged)",
        "asked again by the keeper, who got less: 8 units, -50.0 points, p = 0.012",
    ]
    assert asked == [([tmp_path / "a.again.bundle.unpacked"], "official", False)] * 4
    assert compared == [["scores of m", "scores of m"]]


# What a passport claims --------------------------------------------------------------------------------


@dataclass
class Metric:
    name: str
    value: float | None
    kind: str = "rate"
    group: str = "all"


def differences(claims: Any, *metrics: Metric) -> list[str]:
    result: Any = SimpleNamespace(metrics=metrics)
    return list(verify._different_numbers(claims, result))


@pytest.mark.parametrize(
    ("claim", "value", "kind", "agrees"),
    [
        (0.5, 0.5, "rate", True),
        (0.5, 0.5 + 5e-10, "rate", True),
        (0.5, 0.5 + 5e-9, "rate", False),
        (1.0, 1.00005, "mean", True),
        (1.0, 1.001, "mean", False),
        (1.0, 1.00005, "rate", False),
        (None, None, "rate", True),
        (None, 0.5, "rate", False),
        (0.5, None, "rate", False),
        ("0.5", 0.5, "rate", False),
        (0, 0.0, "rate", True),
    ],
)
def test_a_claimed_number_is_the_recomputed_one(claim: Any, value: float | None, kind: str, agrees: bool):
    claims = {"numbers": [{"group": "all", "name": "x", "value": claim}]}
    problem = f"all, x: the passport says {claim}, the replies give {value}"
    assert differences(claims, Metric("x", value, kind)) == ([] if agrees else [problem])


def test_each_number_must_be_claimed_and_those_of_other_groups_do_not_count():
    claims = {"numbers": [{"group": "other", "name": "x", "value": 1.0}, "y", {"name": "z"}]}
    assert differences(claims, Metric("x", 1.0), Metric("y", None)) == [
        "all, x: the passport says nothing, the replies give 1.0",
        "all, y: the passport says nothing, the replies give None",
    ]
    assert differences({"other": 1}, Metric("x", 1.0)) != []
    assert differences({}, Metric("x", 1.0)) == [], "that there is no passport is said already"


def test_verdicts_that_differ_from_those_of_the_bundle_are_named():
    before = {
        ("a", "0", 0): "correct",
        ("a", "1", 0): "wrong",
        ("a", "1", 1): "wrong",
        ("b", "0", 0): "wrong",
    }
    now = {
        ("a", "0", 0): "correct",
        ("a", "1", 0): "correct",
        ("a", "1", 1): "correct",
        ("c", "0", 0): "wrong",
    }
    assert list(verify._different_verdicts(before, now)) == [
        "3 units are judged otherwise than the bundle says: a/1, b/0"
    ]
    assert list(verify._different_verdicts({}, now)) == list(verify._different_verdicts(now, now)) == []


# A submission as files --------------------------------------------------------------------------------


def test_a_passport_lies_beside_its_bundle(tmp_path: Path):
    bundle = tmp_path / "run.bundle.zip"
    bundle.write_bytes(b"bundle")
    digest = sha256(b"bundle").hexdigest()
    place = tmp_path / "run.passport.json"
    assert (passport_of(bundle), bundle_digest(bundle)) == (place, digest)
    assert passport_of(tmp_path / "other.zip") == tmp_path / "other.zip.passport.json"
    assert verify._claims(bundle) == (
        {},
        ["run.passport.json: there is no passport beside the bundle; make both by `wildtool submit prepare`"],
    )
    for content, claims, problems in (
        ({"bundle": {"sha256": digest}}, {"bundle": {"sha256": digest}}, []),
        ([], {}, [f"run.bundle.zip: its SHA-256 is {digest}, and the passport says None"]),
        ({}, {}, [f"run.bundle.zip: its SHA-256 is {digest}, and the passport says None"]),
        (
            {"bundle": 1},
            {"bundle": 1},
            [f"run.bundle.zip: its SHA-256 is {digest}, and the passport says None"],
        ),
    ):
        place.write_text(json.dumps(content))
        assert verify._claims(bundle) == (claims, problems)
    for text in ("{", "\udcff"):
        place.write_bytes(text.encode("utf-8", "surrogateescape"))
        claims, (problem,) = verify._claims(bundle)
        assert claims == {}
        assert problem.startswith("run.passport.json: no passport (")
    place.unlink()
    place.mkdir()
    assert verify._claims(bundle)[1] == [
        f"run.passport.json: no passport ([Errno 21] Is a directory: '{place}')"
    ]


def test_rules_are_the_files_of_their_benchmark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    result: Any = SimpleNamespace(benchmark_file="digest", benchmark="b", mode="m")
    assert rules_digest(result) == "digest"
    (tmp_path / "inner").mkdir()
    for name in ("__init__.py", "b.py", "inner/a.py"):
        (tmp_path / name).write_text(name)
    (tmp_path / "data.json").write_text("x")
    result.benchmark_file = ""
    asked: list[Any] = []
    monkeypatch.setattr(passport, "load_benchmark", lambda *words: asked.append(words))

    def digest(*names: str) -> str:
        return sha256(b"".join(sha256(name.encode()).digest() for name in names)).hexdigest()

    monkeypatch.setattr(passport, "getfile", lambda kind: str(tmp_path / "b.py"))
    assert rules_digest(result) == digest("b.py")
    monkeypatch.setattr(passport, "getfile", lambda kind: str(tmp_path / "__init__.py"))
    assert rules_digest(result) == digest("__init__.py", "b.py", "inner/a.py")
    assert asked == [("b", "m")] * 2


def test_a_passport_is_written_beside_a_table_or_into_its_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(passport, "load_result", lambda folder, profile, data: (folder, profile, data))
    monkeypatch.setattr(passport, "passport", lambda result: {"of": list(map(str, result)), "é": 1.0})
    request: Any = SimpleNamespace(folder="run", profile="p", data="d")
    text = '{\n "of": [\n  "run",\n  "p",\n  "d"\n ],\n "é": 1.0\n}\n'
    for target, place in (
        (tmp_path, tmp_path / "passport.json"),
        (tmp_path / "t.csv", tmp_path / "t.csv.passport.json"),
    ):
        assert write_beside(request, target) == place
        assert place.read_text("utf-8") == text


# Replies ----------------------------------------------------------------------------------------------


def logged(raw: str, message: Any = None, role: str = "agent", changes: Any = ()) -> LoggedReply:
    reply = Reply(message or {"role": "assistant", "content": "hi"}, raw=raw, changes=changes)
    return LoggedReply(role, "hash", reply)


def raw(content: str | None, finish: str = "stop", calls: Any = None) -> str:
    message = {"role": "assistant", "content": content, **({"tool_calls": calls} if calls else {})}
    return json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": finish}]})


def call(arguments: str) -> list[Any]:
    return [{"id": "1", "type": "function", "function": {"name": "f", "arguments": arguments}}]


def reading(monkeypatch: pytest.MonkeyPatch, *steps: Any) -> list[Any]:
    """Each reply is a step of one unit; gives what readers were asked for."""
    opened: list[Any] = []

    class Reader:
        def __init__(self, folder: Path, check_all: bool = False) -> None:
            opened.append(check_all)

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *error: object) -> None:
            opened.append("closed")

        def jobs(self) -> list[Any]:
            return [("i", 0)]

        def log(self, item: str, repeat: int) -> Any:
            assert (item, repeat) == ("i", 0)
            return {"u": dict(enumerate(steps))}

    monkeypatch.setattr(passport, "LogReader", Reader)
    return opened


FAILURE = LoggedFailure("agent", "hash", "timeout", "late", 1)


def test_what_replies_show_of_the_endpoint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    odd = raw("x", "stop", call("{}"))
    reading(
        monkeypatch,
        logged(raw("hi")),
        logged(odd),
        logged(odd),
        logged(odd, role="user"),
        logged("in another protocol"),
        logged(""),
        FAILURE,
    )
    name = passport.DEFECTS[7].name
    problem = "calls, and the finish reason 'stop'"
    assert endpoint_findings(tmp_path) == {
        "replies": 3,
        "findings": [{"defect": 7, "name": name, "problem": problem, "replies": 2}],
    }
