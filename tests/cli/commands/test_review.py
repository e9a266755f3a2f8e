"""`wildtool review`: from a made set to a release that runs, on the command line."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from golden_files import same_as_golden
from review.made_sets import decide, mini_records, tiny_records
from wildtool.cli import app
from wildtool_review import sets
from wildtool_review.sets import open_review


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def type_(line: str, status: int = 0) -> Result:
    ended = CliRunner().invoke(app, line.split(), prog_name="wildtool")
    assert ended.exit_code == status, ended.output
    return ended


def write_set(number: int = 4) -> None:
    Path("set.jsonl").write_text("".join(json.dumps(record) + "\n" for record in tiny_records(number)))


def test_a_review_from_set_to_release_that_runs():
    Path("set.jsonl").write_text("".join(json.dumps(record) + "\n" for record in mini_records(2)))
    assert "set.review.sqlite: 2 items, 2 new" in type_("review start set.jsonl").stdout
    type_("review people add set.jsonl ann")
    type_("review people add set.jsonl bob")
    assert (
        "round 1: 2 of 2 items, for ann and bob"
        in type_("review round set.jsonl --people ann,bob --share 1").stdout
    )
    review = open_review("set.jsonl")
    for item in list(review.state.items):
        decide(review, "ann", item)
        decide(review, "bob", item)
    review.close()
    assert "round 1 is closed" in type_("review round set.jsonl --close 1").stdout
    released = type_("review export set.jsonl -o release").stdout
    assert "release: 2 approved items of 2" in released
    assert "wildtool run wildtoolbench --data release/sessions.jsonl" in released
    type_("run wildtoolbench --data release/sessions.jsonl --model baseline/gold --quiet")
    metrics = json.loads(type_("review stats set.jsonl --json").stdout)
    values = {(one["group"], one["name"]): one for one in metrics}
    assert values["quality by round", "1"]["value"] == 1.0
    assert values["stop rule", "may stop"]["numerator"] == 1
    assert "same verdict" in type_("review stats set.jsonl").stdout


@pytest.mark.long
def test_the_ten_commands_of_the_page_lead_to_a_release():
    page = (Path(__file__).parents[3] / "docs" / "review.md").read_text("utf-8")
    commands = page.split("```")[1].strip().splitlines()
    assert len(commands) == 10
    for command in commands:
        if " --close " in command:
            review = open_review("set.jsonl")
            for item in review.state.rounds[0].items:
                decide(review, "ann", item)
                decide(review, "bob", item)
            review.close()
        type_(command.removeprefix("wildtool "))


def test_a_set_is_read_again_only_when_it_changed(monkeypatch: pytest.MonkeyPatch):
    write_set(2)
    type_("review start set.jsonl")
    assert "2 items, 0 new" in type_("review start set.jsonl").stdout
    write_set(3)
    assert "3 items, 1 new" in type_("review start set.jsonl").stdout
    monkeypatch.delattr(sets, "find_reviewed")
    for spelling in ("set.jsonl", "./set.jsonl", Path("set.jsonl").resolve()):
        assert "3 items, 0 new" in type_(f"review start {spelling}").stdout


def test_two_people_review_by_files_alone():
    write_set()
    type_("review start set.jsonl")
    type_("review log set.jsonl -o start.jsonl")
    type_("review merge set.jsonl start.jsonl --store bob.review.sqlite")
    for store, who, choice in (("set", "ann", "approve"), ("bob", "bob", "reject")):
        review = open_review(f"{store}.review.sqlite")
        decide(review, who, "s0", choice, *(["privacy"] if choice == "reject" else []))
        review.close()
    type_("review log bob.review.sqlite -o bob.jsonl")
    assert "2 contradictions" in type_("review merge set.jsonl bob.jsonl").stdout
    assert "1 in conflict: items s0" in type_("review start set.jsonl").stdout


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("review nowhere.jsonl", "no such file"),
        ("review stats set.jsonl", "start it with `wildtool review start set.jsonl`"),
        ("review export set.jsonl", "give the folder"),
        ("review merge nowhere.jsonl x.jsonl", "no such file"),
    ],
)
def test_what_cannot_work_says_what_to_do(line: str, said: str):
    write_set(1)
    ended = CliRunner().invoke(app, line.split(), prog_name="wildtool")
    assert ended.exit_code in (2, 3)
    assert said in ended.stderr
    assert not list(Path().glob("*.sqlite"))


def test_a_database_that_does_not_answer_is_named():
    pytest.importorskip("psycopg", reason="an extra")
    ended = type_("review stats set.jsonl --store postgresql://127.0.0.1:1/x", status=3)
    assert "postgresql://127.0.0.1/x: cannot be used" in ended.stderr


def test_any_json_lines_that_data_lint_reads_can_be_reviewed():
    record = {"id": "a", "instruction": "x"}
    Path("plain.jsonl").write_text(json.dumps(record) + "\n")
    assert "1 items, 1 new" in type_("review start plain.jsonl --benchmark taskbench").stdout
    review = open_review("plain.jsonl")
    assert review.state.items["a"].warnings == ("unreadable",)


def test_hostile_texts_stay_one_line_in_the_terminal():
    records = tiny_records(1)
    records[0]["id"] = "s\x1b[2J\n\u202eevil"
    Path("set.jsonl").write_text(json.dumps(records[0]) + "\n")
    type_("review start set.jsonl")
    review = open_review("set.jsonl")
    review.remark("me", records[0]["id"], "a\nb\x1b]0;title\x07")
    review.close()
    shown = type_("review log set.jsonl").stdout
    assert len(shown.splitlines()) == 3
    assert "\x1b" not in shown and "\u202e" not in shown


ACTS = """\
review start set.jsonl --no-check
review start set.jsonl
review people list set.jsonl
review people add set.jsonl ann
review people add set.jsonl bob --role adjudicator
review people add set.jsonl cid --role reviewr
review people add set.jsonl owner
review people list set.jsonl
review people revoke set.jsonl ann
review people list set.jsonl
review people revoke set.jsonl zed
review people add set.jsonl ann
review round set.jsonl
review round set.jsonl --people ann,bob --share 0.5
review round set.jsonl --people ann --people bob --share 0.3 --seed 2 --reviewers 1
review round set.jsonl --close 1
DECIDE
review start set.jsonl
review log set.jsonl
review log set.jsonl --verify
review log set.jsonl --verify --last 00
review log set.jsonl -o whole.jsonl
review log set.jsonl -o log.jsonl
review log set.jsonl -o log.jsonl
review merge set.jsonl log.jsonl
review merge set.jsonl log.jsonl log.jsonl --store other.sqlite
review log set.jsonl -o log.jsonl --force --anonymous
CHANGE
review merge set.jsonl log.jsonl
review export set.jsonl -o release
review agree set.jsonl
review stats set.jsonl --max-error 0.1
review serve set.jsonl --as nobody
review serve set.jsonl --as ann --behind-proxy https://x.org
review regenerate set.jsonl
review regenerate set.jsonl --model procedural
review regenerate set.jsonl --model m --call 0 --from 1
review regenerate set.jsonl --model m --call 0 --item a --item b --from 1
review regenerate set.jsonl --model m --call 0 --item a
review regenerate set.jsonl --model m --call 0 --item a --from 1 --keep-texts
review regenerate set.jsonl --model m --call 0 --item s0 --from 2
review regenerate set.jsonl --model m --item s0 --from 2
review merge set.jsonl whole.jsonl --store new.review.sqlite
review merge new.review.sqlite whole.jsonl
review merge none.review.sqlite whole.jsonl
review log new.review.sqlite -o same.jsonl
review start set.jsonl --store new.review.sqlite
"""


def test_each_act_of_a_review_prints_these_lines(monkeypatch: pytest.MonkeyPatch):
    """Tokens, times and digests, which differ each time, are left out."""
    monkeypatch.setenv("COLUMNS", "200")
    records = tiny_records(6)
    for record in records[:5]:
        record["english_tasks"][1] = " "
    Path("set.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    shown: list[str] = []
    for line in ACTS.splitlines():
        if line == "DECIDE":
            with open_review("set.jsonl") as review:
                for item in review.state.rounds[0].items:
                    decide(review, "ann", item)
                    decide(review, "bob", item, "reject", "privacy")
                review.remark("ann", "s0", "a remark", "/english_tasks/0")
            continue
        if line == "CHANGE":
            text = Path("log.jsonl").read_text("utf-8").replace("number 0", "number 1")
            Path("log.jsonl").write_text(text, "utf-8")
            continue
        ended = CliRunner().invoke(app, line.split(), prog_name="wildtool")
        text = re.sub(r"wtr_[\w-]{43}", "TOKEN", ended.stdout + ended.stderr)
        text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", text)
        text = re.sub(r"\b[0-9a-f]{64}\b", "DIGEST", text)
        shown += [f"$ {line} -> {ended.exit_code}", *text.splitlines()]
    same_as_golden("review/commands.txt", "".join(f"{line}\n" for line in shown))
    assert Path("same.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()
