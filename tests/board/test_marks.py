"""What a mark says: which submissions are recomputed, which have a rank, and in which table."""

import json
import shutil
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from board.board_page import Page, built, command
from board.small_official import two_official_sessions
from board.test_board import Counted
from board.test_submissions import repacked, rewritten
from report.report_build import play

TWO_LANGUAGES = (0, 16)
"""Sessions in English and in Chinese."""


@pytest.fixture
def official(tmp_path: Path) -> Iterator[Path]:
    with two_official_sessions(tmp_path) as data:
        yield data


def often(name: str = "often", *, raw: bool = True) -> Counted:
    return Counted(name, right=lambda address: address.unit != "1", raw=raw)


def sent(folder: Path, run: Path, *words: object) -> Path:
    """The submission of a run in a folder."""
    status, output = command("board", "submit", run, "-o", folder, *words)
    assert status == 0, output
    return folder / f"{run.name}.bundle.zip"


def edited(bundle: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    """Changes rows of a record, as somebody who knows the format; the passport is named like the bundle."""

    def change(members: dict[str, bytes]) -> None:
        def row(value: dict[str, Any]) -> dict[str, Any]:
            if value.get("row") == "step":
                edit(value)
            return value

        members["record-0001.jsonl"] = rewritten(members["record-0001.jsonl"].splitlines(), row)

    seal(bundle, change)


def seal(bundle: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    passport = bundle.with_name(bundle.name.replace(".bundle.zip", ".passport.json"))
    beside = bundle.with_name("run.passport.json")
    if passport != beside:
        shutil.copy(passport, beside)
    repacked(bundle, change)
    claims = json.loads(beside.read_text("utf-8"))
    claims["bundle"]["sha256"] = sha256(bundle.read_bytes()).hexdigest()
    passport.write_text(json.dumps(claims), "utf-8")


def test_one_reply_that_is_not_its_raw_answer_marks_the_whole_entry(official: Path, tmp_path: Path):
    """The gamer's way: every reply is marked as changed on the way, which once kept all of them from being compared."""
    bundle = sent(tmp_path / "sent", play(tmp_path / "run", often()))
    assert built(tmp_path / "sent")[0].entries["run"].mark == "recomputed"

    def mark(row: dict[str, Any]) -> None:
        row["changes"] = ["repair:quotes"]
        if (row["item"], row["unit"], row["step"]) == ("wild_mini_0", "1", 0):
            row["message"] = {"role": "assistant", "content": "Here is another text than the raw one."}

    edited(bundle, mark)
    entry = built(tmp_path / "sent")[0].entries["run"]
    assert (entry.rank, entry.mark.startswith("as submitted")) == ("", True)
    assert "wild_mini_0/1 step 0" in entry.mark


def test_a_better_message_beside_the_old_raw_answer_is_refused(official: Path, tmp_path: Path):
    """The gamer's way: the judge reads messages."""
    bundle = sent(tmp_path / "sent", play(tmp_path / "run", often()))

    def improve(row: dict[str, Any]) -> None:
        if (row["item"], row["unit"], row["step"]) == ("wild_mini_0", "1", 0):
            row["message"] = {"role": "assistant", "content": "Here you are."}

    edited(bundle, improve)
    status, output = command("board", "verify", bundle)
    assert status == 1
    assert "not as the raw answer says: wild_mini_0/1 step 0" in output


@pytest.mark.long
def test_an_agents_reply_is_the_submitters_word_where_it_is_not_its_models_raw_answer(
    official: Path, tmp_path: Path
):
    """An agent renames tools, and ends turns by texts of its own."""
    bundle = sent(tmp_path / "sent", play(tmp_path / "run", often()))

    def by_an_agent(row: dict[str, Any]) -> None:
        if (row["item"], row["unit"], row["step"]) == ("wild_mini_0", "1", 0):
            end = {"kind": "answer", "said": "what its model said"}
            row["message"] = {"role": "assistant", "content": "Here you are.", "harness": {"end": end}}

    edited(bundle, by_an_agent)
    entry = built(tmp_path / "sent")[0].entries["run"]
    assert (entry.rank, entry.mark.startswith("as submitted")) == ("", True)
    assert "wild_mini_0/1 step 0" in entry.mark


@pytest.mark.long
def test_replies_to_other_requests_than_the_benchmark_makes_are_as_submitted(official: Path, tmp_path: Path):
    """So is a run whose `run.json` no longer says that the model was helped."""
    bundle = sent(tmp_path / "sent", play(tmp_path / "run", often()))
    edited(bundle, lambda row: row.update(request="0" * 32))
    entry = built(tmp_path / "sent")[0].entries["run"]
    assert entry.mark.startswith("as submitted") and entry.rank == ""


def test_a_bundle_without_raw_replies_has_no_rank_whatever_its_score(official: Path, tmp_path: Path):
    always = Counted("gold renamed", right=lambda address: True, raw=False)
    sent(tmp_path / "sent", play(tmp_path / "gold", always))
    sent(tmp_path / "sent", play(tmp_path / "honest", often()))
    page, _ = built(tmp_path / "sent")
    assert page.entries["gold"].mark.startswith("as submitted")
    assert {name: entry.rank for name, entry in page.entries.items()} == {"gold": "", "honest": "1"}
    assert page.entries["gold"].score == 1.0


def test_own_data_are_never_ranked_whatever_their_name_says(official: Path, tmp_path: Path):
    own = tmp_path / "own" / "wild-mini"
    own.parent.mkdir()
    own.write_text(official.read_text("utf-8").splitlines(keepends=True)[0], "utf-8")
    easy = play(tmp_path / "easy", Counted("easy", right=lambda address: True), data=str(own))
    sent(tmp_path / "sent", easy, "--data", own)
    status, output = command("board", "build", tmp_path / "sent", "-o", tmp_path / "site", "--data", own)
    assert status == 0, output
    entry = Page(tmp_path / "site" / "index.html").entries["easy"]
    assert (entry.rank, entry.score, entry.mark) == ("", 1.0, "recomputed")
    assert "own data" in entry.table


@pytest.mark.long
def test_a_part_of_the_official_data_stands_in_a_table_apart(tmp_path: Path):
    with two_official_sessions(tmp_path, *TWO_LANGUAGES):
        sent(tmp_path / "sent", play(tmp_path / "whole", often()))
        sent(tmp_path / "sent", play(tmp_path / "english", often("english"), lang="en"))
        page, _ = built(tmp_path / "sent")
    whole, part = page.entries["whole"], page.entries["english"]
    assert (whole.rank, part.rank) == ("1", "1")
    assert whole.table != part.table
    assert "part of the data: 1 of 2 items, language en" in part.table


@pytest.mark.long
def test_entries_of_equal_names_are_told_apart_by_the_digests_of_their_bundles(
    official: Path, tmp_path: Path
):
    bundles = [sent(tmp_path / "sent" / each, play(tmp_path / each / "run", often())) for each in "ab"]
    _, lines = built(tmp_path / "sent")
    text = (tmp_path / "sent" / "site" / "index.html").read_text("utf-8")
    digests = [sha256(bundle.read_bytes()).hexdigest()[:12] for bundle in bundles]
    assert lines == [] and "wildtool-bundle" not in text
    assert all(f"often ({digest}/run)" in text for digest in digests)


@pytest.mark.long
def test_the_same_file_twice_is_one_submission(official: Path, tmp_path: Path):
    bundle = sent(tmp_path / "sent", play(tmp_path / "run", often()))
    shutil.copytree(tmp_path / "sent", tmp_path / "sent" / "again")
    page, lines = built(tmp_path / "sent")
    assert len(page.entries) == 1
    assert len(lines) == 1 and f"the same file as {bundle.name}" in lines[0]


def test_answers_that_another_model_gave_too_are_said(official: Path, tmp_path: Path):
    """The gamer's way: the leader's bundle under a new name."""
    leader = sent(tmp_path / "sent", play(tmp_path / "leader", often("leader")))
    for name in (leader.name, "leader.passport.json"):
        shutil.copy(tmp_path / "sent" / name, tmp_path / "sent" / name.replace("leader", "thief"))

    def rename(members: dict[str, bytes]) -> None:
        run = json.loads(members["run.json"])
        run["identity"]["models"]["agent"]["name"] = "thief"
        members["run.json"] = json.dumps(run).encode()

    seal(tmp_path / "sent" / "thief.bundle.zip", rename)
    page, lines = built(tmp_path / "sent")
    assert lines == []
    assert "raw answers were also submitted as leader" in page.entries["thief"].mark


@pytest.mark.long
def test_the_model_that_raw_answers_name_is_said_where_it_is_another(official: Path, tmp_path: Path):
    bundle = sent(tmp_path / "sent", play(tmp_path / "run", often()))

    def name(row: dict[str, Any]) -> None:
        row["raw"] = json.dumps({**json.loads(row["raw"]), "model": "a-stronger-model"})

    edited(bundle, name)
    entry = built(tmp_path / "sent")[0].entries["run"]
    assert entry.mark.startswith("recomputed") and "a-stronger-model" in entry.mark


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "is_refused"),
    [
        (lambda run: run.update(sittings=[]), False),
        (lambda run: run["identity"].update(sample={"size": 2, "seed": 0, "order": "best"}), True),
        (lambda run: run["identity"].update(split="../../etc/passwd"), True),
        (lambda run: run["identity"].update(profile="none such"), True),
        (lambda run: run["scope"].update(repeats=10**12), True),
        (lambda run: run["scope"].update(limit=-1), True),
        (lambda run: run["scope"].update(limit=1 << 70), True),
    ],
)
def test_a_bundle_that_no_command_wrote_is_one_named_line(
    change: Callable[[Any], None], is_refused: bool, official: Path, tmp_path: Path
):
    bundle = sent(tmp_path / "sent", play(tmp_path / "odd", often("odd")))
    sent(tmp_path / "sent", play(tmp_path / "good", often("good")))

    def edit(members: dict[str, bytes]) -> None:
        run = json.loads(members["run.json"])
        change(run)
        members["run.json"] = json.dumps(run).encode()

    seal(bundle, edit)
    page, lines = built(tmp_path / "sent")
    assert "good" in page.entries
    assert ("odd" not in page.entries, len(lines)) == (is_refused, int(is_refused))
    assert all("odd.bundle.zip: refused: " in line for line in lines)
    assert command("board", "verify", bundle)[0] == int(is_refused)


@pytest.mark.long
def test_what_has_no_rank_changes_no_rank_and_no_cost(official: Path, tmp_path: Path):
    for name, units in {"best": "0123", "middle": "01", "worst": ""}.items():
        model = Counted(name, right=lambda address, units=units: address.unit in units)
        sent(tmp_path / "sent", play(tmp_path / name, model))
    before = built(tmp_path / "sent")[0].entries
    for number in range(3):
        sent(tmp_path / "sent", play(tmp_path / f"junk{number}", often(f"junk{number}", raw=False)))
    after = built(tmp_path / "sent")[0].entries
    assert {name: after[name] for name in before} == before
    assert all(not after[f"junk{number}"].rank for number in range(3))
