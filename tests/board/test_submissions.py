"""`wildtool board submit`, `verify`: a submission is complete, judged again, and claims only what its replies give."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from contextlib import chdir
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
import yaml
from typer.testing import CliRunner, Result

from wildtool.cli import app
from wildtool.engine.record.format import seal_line


def command(*words: str, cwd: Path) -> Result:
    with chdir(cwd):
        return CliRunner().invoke(app, words, prog_name="wildtool", env={"COLUMNS": "100"})


def submit(*words: str, cwd: Path) -> Result:
    return command("board", *words, cwd=cwd)


@pytest.fixture(scope="module")
def submission(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a submission of a model that is often wrong, and its run."""
    place = tmp_path_factory.mktemp("submission")
    command("run", "wild-mini", "-m", "baseline/lexical", "-o", "run", "-q", cwd=place)
    ended = submit("submit", "run", "-o", "sent", cwd=place)
    assert ended.exit_code == 0, ended.stderr
    assert ended.stdout.splitlines()[1:] == ["sent/run.bundle.zip", "sent/run.passport.json"]
    return place


@pytest.fixture
def sent(submission: Path, tmp_path: Path) -> Path:
    """A copy of the submission."""
    return Path(shutil.copytree(submission / "sent", tmp_path / "sent")) / "run.bundle.zip"


def verified(bundle: Path) -> Result:
    return submit("verify", str(bundle), cwd=bundle.parent)


def flip_byte(file: Path, place: float) -> None:
    content = bytearray(file.read_bytes())
    content[int(place * len(content))] ^= 1
    file.write_bytes(content)


def repacked(bundle: Path, change: Callable[[dict[str, bytes]], None], *, honest: bool = True) -> None:
    """Changes members of a bundle as somebody would who knows its format.

    Args: honest: whether the manifest and the passport get the new digests.
    """
    with ZipFile(bundle) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    if honest:
        manifest = json.loads(members.pop("manifest.json"))
        manifest["members"] = {
            name: {"size": len(text), "sha256": sha256(text).hexdigest()} for name, text in members.items()
        }
        members["manifest.json"] = json.dumps(manifest).encode()
    with ZipFile(bundle, "w", ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    if honest:
        passport = bundle.with_name("run.passport.json")
        claims = json.loads(passport.read_text())
        claims["bundle"]["sha256"] = sha256(bundle.read_bytes()).hexdigest()
        passport.write_text(json.dumps(claims))


def rewritten(lines: Iterable[bytes], edit: Callable[[dict[str, Any]], dict[str, Any]]) -> bytes:
    """A record with edited rows, each with the right checksum."""
    rows = [
        edit({k: v for k, v in json.loads(line).items() if k not in ("synced", "crc32")}) for line in lines
    ]
    return b"".join(seal_line(json.dumps(row).encode(), 0) for row in rows)


def test_a_submission_holds(sent: Path):
    ended = verified(sent)
    assert ended.exit_code == 0 and "as submitted: 128 units" in ended.stdout
    assert "197 of 197 replies are without a raw answer" in ended.stderr


@pytest.mark.parametrize("place", [0.1, 0.5, 0.999])
def test_a_changed_byte_is_noticed_wherever_it_is(sent: Path, place: float):
    flip_byte(sent, place)
    ended = verified(sent)
    assert ended.exit_code == 1 and "its SHA-256 is" in ended.stderr


@pytest.mark.parametrize("member", ["record-0001.jsonl", "run.json", "verdicts-official.parquet"])
def test_the_member_with_a_changed_byte_is_named(sent: Path, member: str):
    def flip(members: dict[str, bytes]) -> None:
        middle = len(members[member]) // 2
        members[member] = (
            members[member][:middle] + bytes([members[member][middle] ^ 1]) + members[member][middle + 1 :]
        )

    repacked(sent, flip, honest=False)
    ended = verified(sent)
    assert ended.exit_code == 1 and f"{member} does not have the SHA-256" in ended.stderr


def test_a_changed_byte_of_the_record_is_found_by_the_record_even_if_all_digests_are_made_again(
    sent: Path,
):
    def flip(members: dict[str, bytes]) -> None:
        text = members["record-0001.jsonl"]
        at = text.index(b"wild_mini_3") + 400
        members["record-0001.jsonl"] = text[:at] + b"~" + text[at + 1 :]

    repacked(sent, flip)
    ended = verified(sent)
    assert ended.exit_code == 1 and "record-0001.jsonl" in ended.stderr


def test_a_run_of_chosen_items_is_refused_with_the_ids_of_the_others(submission: Path):
    words = (
        "run",
        "wild-mini",
        "-m",
        "baseline/gold",
        "--ids",
        "wild_mini_0,wild_mini_2",
        "-o",
        "part",
        "-q",
    )
    command(*words, cwd=submission)
    ended = submit("submit", "part", "-o", "part-sent", cwd=submission)
    assert (
        ended.exit_code == 1 and "30 items are left out of the run: wild_mini_1, wild_mini_3" in ended.stderr
    )
    assert not list((submission / "part-sent").iterdir())


def test_worst_units_taken_out_of_the_record_are_refused_with_their_ids(sent: Path):
    """The gamer's way: the lines of wrong units are gone, and every digest is right."""

    def drop(members: dict[str, bytes]) -> None:
        lines = members["record-0001.jsonl"].splitlines(keepends=True)
        kept = [
            line
            for line in lines
            if (row := json.loads(line)).get("unit") != "2" or row["item"] != "wild_mini_5"
        ]
        assert len(kept) < len(lines)
        members["record-0001.jsonl"] = b"".join(kept)

    repacked(sent, drop)
    ended = verified(sent)
    assert ended.exit_code == 1 and "1 unit is not played: wild_mini_5/2" in ended.stderr


def test_items_taken_out_of_the_scope_too_are_refused_with_their_ids(sent: Path):
    def drop(members: dict[str, bytes]) -> None:
        lines = members["record-0001.jsonl"].splitlines(keepends=True)
        members["record-0001.jsonl"] = b"".join(line for line in lines if b'"wild_mini_5"' not in line)
        run = json.loads(members["run.json"])
        run["scope"]["ids"] = [f"wild_mini_{n}" for n in range(32) if n != 5]
        members["run.json"] = json.dumps(run).encode()

    repacked(sent, drop)
    ended = verified(sent)
    assert ended.exit_code == 1 and "1 item is left out of the run: wild_mini_5" in ended.stderr


def test_a_better_number_in_the_passport_is_refused(sent: Path):
    passport = sent.with_name("run.passport.json")
    claims = json.loads(passport.read_text())
    claims["numbers"][0]["value"] += 0.01
    passport.write_text(json.dumps(claims))
    ended = verified(sent)
    assert ended.exit_code == 1 and "accuracy, task: the passport says" in ended.stderr


@pytest.mark.long
@pytest.mark.parametrize("content", [None, "{", '{"bundle": 7, "numbers": [7], "rules": []}'])
def test_a_passport_that_is_missing_or_none_is_refused(sent: Path, content: str | None):
    passport = sent.with_name("run.passport.json")
    if content is None:
        passport.unlink()
    else:
        passport.write_text(content)
    ended = verified(sent)
    assert ended.exit_code == 1 and "passport" in ended.stderr


def test_other_data_are_refused(sent: Path):
    def other(members: dict[str, bytes]) -> None:
        members["run.json"] = members["run.json"].replace(b'"data_sha256": "', b'"data_sha256": "0')

    repacked(sent, other)
    ended = verified(sent)
    assert ended.exit_code == 1 and "these are not the data of the run" in ended.stderr


@pytest.fixture
def gone(sent: Path) -> Path:
    """A bundle that is not there, but its passport is."""
    sent.unlink()
    return sent


def test_a_bundle_that_is_not_there_is_refused_in_words(gone: Path):
    for bundle in (gone, gone.with_name("other.bundle.zip")):
        ended = verified(bundle)
        assert (ended.exit_code, ended.stderr) == (1, f"{bundle.name}: refused: there is no such file\n")


@pytest.mark.long
def test_a_folder_stands_for_the_submissions_in_it(sent: Path):
    alone, with_folder = verified(sent), verified(sent.parent)
    assert with_folder.exit_code == 0 and with_folder.stdout == alone.stdout
    empty = sent.parent / "empty"
    empty.mkdir()
    refused = verified(empty)
    assert (refused.exit_code, "holds no submission" in refused.stderr) == (2, True)


def test_no_bundle_is_refused_and_no_error(tmp_path: Path):
    (tmp_path / "x.bundle.zip").write_text("PK nothing")
    ended = verified(tmp_path / "x.bundle.zip")
    assert ended.exit_code == 1 and "not a bundle, or damaged" in ended.stderr


@pytest.mark.long
def test_all_repeats_count(tmp_path: Path):
    words = ("run", "wild-mini", "-m", "baseline/chat", "--repeats", "2", "-o", "run", "-q")
    command(*words, cwd=tmp_path)
    assert submit("submit", "run", "-o", "sent", cwd=tmp_path).exit_code == 0

    def drop(members: dict[str, bytes]) -> None:
        rows = [json.loads(line) for line in members["record-0001.jsonl"].splitlines()]
        second = [row.get("repeat") == 1 and row.get("item") == "wild_mini_7" for row in rows]
        assert any(second)
        lines = members["record-0001.jsonl"].splitlines(keepends=True)
        members["record-0001.jsonl"] = b"".join(
            line for line, gone in zip(lines, second, strict=True) if not gone
        )

    repacked(tmp_path / "sent" / "run.bundle.zip", drop)
    ended = verified(tmp_path / "sent" / "run.bundle.zip")
    assert ended.exit_code == 1 and "4 units are not played: wild_mini_7/0 (repeat 1)" in ended.stderr


def test_the_workflow_of_the_docs_verifies_what_a_pull_request_changes(tmp_path: Path):
    page = (Path(__file__).parents[2] / "docs" / "board.md").read_text()
    job = yaml.safe_load(page[page.index("```yaml") + 7 :].partition("```")[0])["jobs"]["verify"]
    script = job["steps"][-1]["run"]
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "wildtool").write_text('#!/bin/sh\nprintf "%s|" "$@" >> "$SAID"\n')
    (commands / "wildtool").chmod(0o755)
    said = tmp_path / "said"
    environment = {
        **os.environ,
        "PATH": f"{commands}:{os.environ['PATH']}",
        "SAID": str(said),
        "BASE": "HEAD~1",
    }

    def git(*words: str) -> None:
        own = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        subprocess.run(["git", *own, *words], cwd=tmp_path, check=True, capture_output=True)

    def status_with(name: str) -> int:
        (tmp_path / "submissions" / name).write_text("x")
        git("add", "submissions")
        git("commit", "-m", "x")
        return subprocess.run(["bash", "-ec", script], cwd=tmp_path, env=environment, check=False).returncode

    git("init")
    git("commit", "--allow-empty", "-m", "x")
    (tmp_path / "submissions").mkdir()
    assert status_with("a b.bundle.zip") == 0
    assert said.read_text() == "board|verify|submissions/a b.bundle.zip|"
    assert status_with("c.again.bundle.zip") == 1
