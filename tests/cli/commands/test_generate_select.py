"""Training records chosen for a model, as they are on the command line."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from training.procedures.student import Body, teaching
from training.procedures.training_files import call, message, row, wrote
from wildtool.cli import app

STATIONS = [f"Station {number}" for number in range(40)]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def type_(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool")


def lines(name: str | Path) -> list[Any]:
    return [json.loads(line) for line in Path(name).read_text("utf-8").splitlines()]


def counts(folder: str = "out") -> dict[tuple[str, str], float]:
    found = json.loads(Path(folder, "yield.json").read_text("utf-8"))
    return {(one["group"], one["name"]): one["numerator"] for one in found}


def record(station: str, said: str | None = None) -> dict[str, Any]:
    """A request for a station; `said` is the station that the record calls, if it is another."""
    turns = row(call(station=said or station), user=station)
    turns["conversations"] = turns["conversations"][:2]
    return turns


def good_and_bad() -> list[dict[str, Any]]:
    """Every other record calls the wrong station."""
    return [record(name, None if number % 2 else "nowhere") for number, name in enumerate(STATIONS)]


def request_of(body: Body) -> str:
    return next(one["content"] for one in body["messages"] if one["role"] == "user")


Knowledge = dict[str, dict[str, str]]
"""By model what it says for each request."""


def student(knowledge: Mapping[str, Mapping[str, str]]) -> Callable[[Body], dict[str, Any]]:
    """Says what it learned; as a rater it is sure of records that do what the user wants."""

    def answer(body: Body) -> dict[str, Any]:
        if "How sure are you" in body["messages"][0]["content"]:
            shown = json.loads(body["messages"][1]["content"])
            said = json.loads(shown["reply"]["calls"][0]["arguments"])["station"]
            sure = said == shown["conversation"][-1]["content"]
            return message(text=json.dumps({"score": 8 if sure else 2, "why": "because"}))
        known = knowledge.get(body["model"], {}).get(request_of(body))
        return message(call(station=known)) if known else message(text="I do not know.")

    return answer


def learned(*files: Path) -> dict[str, str]:
    """What training on files teaches."""
    rows = [one["conversations"] for file in files for one in lines(file)]
    return {turns[0]["value"]: json.loads(turns[1]["value"])["arguments"]["station"] for turns in rows}


POINT = '[[point]]\nname = "{0}"\nmodel = "{0}"\nbase_url = "{1}"\nsize = {2}\narm = "{3}"\n'


def curve(endpoint: str, points: list[tuple[str, int, str]]) -> dict[tuple[str, int], dict[str, str]]:
    """The learning curve over a test file by arm and size. Args: points: model, size and arm."""
    address = endpoint.removeprefix("--base-url ")
    told = "".join(POINT.format(model, address, size, arm) for model, size, arm in points)
    head = '[series]\nbenchmarks = [{name = "training", data = "test.jsonl"}]\n'
    Path("series.toml").write_text(head + told)
    ended = type_("run series.toml -o runs -q")
    assert ended.exit_code == 0, ended.output
    ended = type_("compare series.toml --curve data -o runs")
    assert ended.exit_code == 0, ended.output
    with Path("runs/curve.csv").open(newline="") as file:
        return {(row["arm"], int(row["size"])): row for row in csv.DictReader(file)}


@pytest.mark.long
def test_a_model_that_is_trained_on_what_it_selects_improves_and_beats_the_random_arm():
    wrote(Path("train.jsonl"), *good_and_bad())
    wrote(Path("test.jsonl"), *(record(name) for name in STATIONS))
    knowledge: Knowledge = {}
    with teaching(student(knowledge)) as (endpoint, _):
        rounds = f"generate select train.jsonl {endpoint} --per-set 16 --rounds 2 --without-seen -o sel"
        first = type_(f"{rounds} --model base")
        assert first.exit_code == 0
        assert "--round 2 --without-seen -o sel" in first.stderr
        knowledge["once"] = learned(Path("sel/round-1/kept.jsonl"))
        second = type_(f"{rounds} --model once --round 2")
        assert second.exit_code == 0
        kept = [Path(f"sel/round-{number}/kept.jsonl") for number in (1, 2)]
        control = [path.with_name("random.jsonl") for path in kept]
        knowledge["twice"], knowledge["chance"] = learned(*kept), learned(*control)
        sizes = [len(lines(kept[0])), sum(map(len, map(lines, kept)))]
        shown = curve(
            endpoint,
            [
                ("base", 0, "all"),
                ("once", sizes[0], "selected"),
                ("twice", sizes[1], "selected"),
                ("chance", sizes[1], "random"),
            ],
        )
        compared = type_("compare runs/chance runs/twice --json")
        assert compared.exit_code == 0, compared.output
    places = (("all", 0), ("selected", sizes[0]), ("selected", sizes[1]), ("random", sizes[1]))
    base, once, twice, chance = (float(shown[place]["score"]) for place in places)
    assert base == 0 < once < twice
    assert twice > chance > 0
    assert all(float(row["low"]) <= float(row["score"]) <= float(row["high"]) for row in shown.values())
    (found,) = json.loads(compared.stdout)["comparisons"]
    assert found["finding"] == "better"
    assert sum(map(len, map(lines, kept))) == sum(map(len, map(lines, control)))
    _check_traces(kept)


def _check_traces(kept: list[Path]) -> None:
    """Every kept and every refused record follows from its score, and no record is asked about twice."""
    asked: set[str] = set()
    for number, (file, model) in enumerate(zip(kept, ("base", "once"), strict=True), 1):
        rows = lines(file.with_name("audit.jsonl"))
        assert all(one["kept"] == (one["score"] >= 5) for one in rows)
        assert {(one["round"], one["model"]) for one in rows} == {(number, model)}
        assert all(json.loads(one["reply"])["score"] == one["score"] for one in rows)
        users = {good_and_bad()[one["row"] - 1]["conversations"][0]["value"] for one in rows if one["kept"]}
        assert {one["conversations"][0]["value"] for one in lines(file)} == users
        assert not asked & {one["record"] for one in rows}
        asked |= {one["record"] for one in rows}


def test_each_file_is_a_set_with_its_own_sample_histogram_and_control():
    wrote(Path("a.jsonl"), *good_and_bad())
    wrote(Path("b.jsonl"), *(record(name) for name in STATIONS[:3]))
    with teaching(student({})) as (endpoint, received):
        ended = type_(f"generate select a.jsonl b.jsonl --model m {endpoint} --per-set 10 -o out")
    assert ended.exit_code == 0
    assert len(received) == 13
    assert {body["temperature"] for body in received} == {0.0}
    found = counts()
    assert found["b", "kept"] == found["b", "score 8"] == 3
    assert found["a", "kept"] == found["a", "score 8"]
    assert found["a", "score 2"] == 10 - found["a", "kept"] > 0
    rows = lines("out/audit.jsonl")
    for name in "ab":
        mine = [one for one in rows if one["set"] == name]
        assert sum(one["random"] for one in mine) == sum(one["kept"] for one in mine)
    assert "messages" in lines("out/kept.jsonl")[0]


@pytest.mark.long
def test_records_of_one_file_are_written_as_they_are():
    more = [one | {"id": f"r{number}", "note": [number]} for number, one in enumerate(good_and_bad())]
    wrote(Path("a.jsonl"), *more)
    with teaching(student({})) as (endpoint, _):
        type_(f"generate select a.jsonl --model m {endpoint} -o out")
    assert lines("out/kept.jsonl") == more[1::2]


def test_a_reply_without_a_score_keeps_nothing_and_is_counted():
    wrote(Path("a.jsonl"), *good_and_bad()[:4])
    with teaching(lambda body: message(text="Between 6 and 8")) as (endpoint, _):
        ended = type_(f"generate select a.jsonl --model m {endpoint} -o out")
    assert ended.exit_code == 0
    assert "0 of 4 records; no reply had a score that could be read" in ended.stdout
    assert "4/4 items · 0.0 % usable" in ended.stderr
    assert counts()["a", "unreadable"] == 4
    assert lines("out/kept.jsonl") == lines("out/random.jsonl") == []
    assert {one["reason"] for one in lines("out/audit.jsonl")} == {"no score could be read"}


def test_a_hidden_reference_is_not_sent():
    wrote(Path("a.jsonl"), record("Husum", "nowhere"))
    with teaching(lambda body: message(text="9")) as (endpoint, received):
        type_(f"generate select a.jsonl --model m {endpoint} --reference hide -o out")
    assert "nowhere" not in json.dumps(received)
    assert [one["score"] for one in lines("out/audit.jsonl")] == [9.0]


@pytest.mark.long
def test_a_model_that_always_says_10_chooses_nothing_and_the_arms_share_is_told():
    wrote(Path("a.jsonl"), *good_and_bad()[:8])
    with teaching(lambda body: message(text="10")) as (endpoint, _):
        sure = type_(f"generate select a.jsonl --model m {endpoint} -o sure")
    with teaching(student({})) as (endpoint, _):
        half = type_(f"generate select a.jsonl --model m {endpoint} -o half")
    assert "8 of 8 records; all are kept, so nothing was chosen" in sure.stdout
    assert "8/8 items · 100.0 % usable" in sure.stderr
    kept, control = (lines(f"half/{name}.jsonl") for name in ("kept", "random"))
    same = sum(one in control for one in kept)
    assert 0 < same < len(kept)
    assert f"4 of 8 records; as many in random.jsonl, {same} of them the same" in half.stdout


@contextmanager
def wavering() -> Iterator[tuple[str, list[Body]]]:
    """Always right at Station 0, never at Station 1, every other time at Station 2."""
    tries: dict[str, int] = {}

    def answer(body: Body) -> dict[str, Any]:
        asked = request_of(body)
        tries[asked] = tries.get(asked, 0) + 1
        right = asked == "Station 0" or (asked == "Station 2" and tries[asked] % 2 == 0)
        return message(call(station=asked if right else "nowhere"))

    with teaching(answer) as found:
        yield found


def test_by_tries_keeps_what_is_right_sometimes():
    wrote(Path("a.jsonl"), *(record(name) for name in STATIONS[:3]))
    with wavering() as (endpoint, received):
        ended = type_(f"generate select a.jsonl --model m {endpoint} --by tries --tries 3 -o out")
    assert ended.exit_code == 0
    assert (len(received), {body["temperature"] for body in received}) == (9, {0.7})
    assert [one["conversations"][0]["value"] for one in lines("out/kept.jsonl")] == ["Station 2"]
    assert len(lines("out/random.jsonl")) == 1
    assert counts()["a", "right in 3 of 3"] == counts()["a", "right in 0 of 3"] == 1
    right = {one["row"]: [try_["right"] for try_ in one["tries"]] for one in lines("out/audit.jsonl")}
    assert right == {1: [True] * 3, 2: [False] * 3, 3: [False, True, False]}


def test_another_threshold_asks_nothing_again_and_a_stopped_selection_goes_on():
    wrote(Path("a.jsonl"), *good_and_bad())
    with teaching(student({})) as (endpoint, received):
        stopped = type_(f"generate select a.jsonl --model m {endpoint} --max-tokens-total 2000 -j 1 -o out")
        assert (stopped.exit_code, 0 < len(received) < 40) == (3, True)
        type_(f"generate select a.jsonl --model m {endpoint} -o out")
        type_(f"generate select a.jsonl --model m {endpoint} --threshold 2 -o out")
    assert len(received) == 40
    assert len(lines("out/kept.jsonl")) == 40


@pytest.mark.long
def test_the_same_seed_draws_the_same_records_and_a_smaller_sample_begins_a_larger_one():
    wrote(Path("a.jsonl"), *good_and_bad())
    drawn: list[list[str]] = []
    with teaching(student({})) as (endpoint, _):
        for number, words in enumerate(("--per-set 5", "--per-set 9", "--per-set 9 --seed 2")):
            type_(f"generate select a.jsonl --model m {endpoint} {words} -o out{number}")
            drawn.append([one["record"] for one in lines(f"out{number}/audit.jsonl")])
    assert drawn[0] == drawn[1][:5]
    assert drawn[1] != drawn[2]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("a.jsonl a.jsonl", "the same file is given twice"),
        ("a.jsonl --by tries --threshold 3", "--threshold is not for --by tries"),
        ("a.jsonl --tries 3", "--tries is not for --by rating"),
        ("a.jsonl --by tries --cache c", "leave it out"),
        ("a.jsonl --round 3 --rounds 2", "beyond --rounds 2"),
        ("a.jsonl --round 2 --rounds 2 --without-seen", "run that round first"),
        ("none.jsonl", "none.jsonl"),
    ],
)
def test_what_cannot_work_is_said_and_writes_nothing(words: str, said: str):
    wrote(Path("a.jsonl"), *good_and_bad())
    ended = type_(f"generate select {words} --model m --base-url http://127.0.0.1:1/v1 -o out")
    assert (ended.exit_code, said in ended.stderr, Path("out").exists()) == (2, True, False)
