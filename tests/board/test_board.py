"""A board of four submissions: what is printed, what its page says, and the passports."""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from board.small_official import two_official_sessions
from golden_files import same_as_golden
from report.page_texts import page_text
from report.report_build import Scripted, play
from wildtool.board import build
from wildtool.board.build import BoardTable, _asked_again, _table  # pyright: ignore[reportPrivateUsage]
from wildtool.board.passport import passport
from wildtool.board.wording import counted_are, id_list
from wildtool.cli import app
from wildtool.engine.score.results import load_result
from wildtool.types import Reply, Request

NUMBERS = count()
"""Endpoints give each answer an id of its own."""


@dataclass
class Counted(Scripted):
    """A model whose endpoint reports tokens, and what it said as an answer of an OpenAI server."""

    tokens: int = 10
    raw: bool = True

    async def complete(self, request: Request) -> Reply:
        reply = await super().complete(request)
        usage = {"prompt_tokens": self.tokens, "completion_tokens": 1}
        choice = {"message": reply.message, "finish_reason": "stop"}
        raw = json.dumps({"id": next(NUMBERS), "choices": [choice], "usage": usage}) if self.raw else ""
        return Reply(reply.message, raw=raw, usage=usage, finish_reason="stop")


MODELS = {
    "never": Counted("never", tokens=20),
    "half": Counted("half", right=lambda address: address.unit in "02", raw=False),
    "often": Counted("often", right=lambda address: address.unit != "1", tokens=30),
    "same": Counted("same", right=lambda address: address.unit != "1", tokens=30),
}


def typed(*words: object) -> tuple[int, str]:
    ended = CliRunner().invoke(app, list(map(str, words)), prog_name="wildtool")
    return ended.exit_code, " ".join(ended.output.split())


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with runs on two sessions, and their submissions; the keeper of the board has asked again for three."""
    place = tmp_path_factory.mktemp("board")
    with two_official_sessions(place):
        for name, model in {**MODELS, "again": Counted("half", raw=False)}.items():
            play(place / "runs" / name, model)
            out = place / ("kept" if name == "again" else "sent")
            status, output = typed("board", "submit", place / "runs" / name, "-o", out)
            assert status == 0, output
        shutil.copy(place / "kept" / "again.bundle.zip", place / "sent" / "half.again.bundle.zip")
        shutil.copy(place / "sent" / "half.bundle.zip", place / "sent" / "often.again.bundle.zip")
        (place / "sent" / "never.again.bundle.zip").write_text("no bundle", "utf-8")
        yield place


@pytest.mark.long
def test_a_submission_that_holds_is_said_with_its_number_and_what_was_not_compared(place: Path):
    names = ("half", "often", "again")
    bundles = [place / "sent" / f"{name}.bundle.zip" for name in names]
    status, output = typed("board", "verify", *bundles)
    assert status == 1
    assert output == (
        "half.bundle.zip: marked as submitted: 17 of 17 replies are without a raw answer "
        "often.bundle.zip: endpoint: calls, and the finish reason 'stop' (defect 7) "
        "again.bundle.zip: refused: there is no such file "
        "half.bundle.zip: as submitted: 8 units, task 50.0 %; official data, 2 of 2 items, language en "
        "often.bundle.zip: recomputed: 8 units, task 75.0 %; official data, 2 of 2 items, language en"
    )


@pytest.mark.long
def test_a_passport_says_what_numbers_rest_on(place: Path):
    claims = passport(load_result(place / "runs" / "often", None))
    claims["numbers"] = [json.dumps(row) for row in claims["numbers"]]
    for name in ("wildtool", "evidence", "settings"):
        assert claims.pop(name)
    for name in ("sha256", "made_by"):
        assert claims["rules"].pop(name)
    same_as_golden("board/passport.json", claims)


def test_a_board_ranks_what_holds_and_names_what_does_not(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    tables: list[BoardTable] = []
    monkeypatch.setattr(build, "_table", lambda *words: tables.append(_table(*words)) or tables[-1])
    sent = Path(shutil.copytree(place / "sent", tmp_path / "sent"))
    claims = json.loads((sent / "same.passport.json").read_text("utf-8"))
    claims["numbers"][0]["value"] = 0.5
    (sent / "same.passport.json").write_text(json.dumps(claims), "utf-8")
    (sent / "bad.bundle.zip").write_text("no bundle", "utf-8")
    (sent / "bad.passport.json").write_text("{}", "utf-8")
    status, output = typed("board", "build", sent, "-o", tmp_path / "site")
    output = re.sub(r"\b[0-9a-f]{64}\b", "DIGEST", output.replace(str(tmp_path), ""))
    assert (status, output) == (
        1,
        "/sent/bad.bundle.zip: refused: bad.bundle.zip: its SHA-256 is DIGEST, and the passport says None; "
        "/sent/bad.bundle.zip: not a bundle, or damaged (File is not a zip file); get it again; make it again by "
        "`wildtool board submit RUN`, or take it out of the folder "
        "/sent/same.bundle.zip: refused: accuracy, task: the passport says 0.5, the replies give 0.75; make it again by "
        "`wildtool board submit RUN`, or take it out of the folder "
        "/site/index.html",
    )
    page = page_text((tmp_path / "site" / "index.html").read_text("utf-8"))
    same_as_golden("board/index.txt", re.sub(r"\d{4}-\d\d-\d\d", "DAY", page))
    names = sorted(path.name for path in (tmp_path / "site" / "files").iterdir())
    assert names == [
        f"wild-mini-profile-official-language-en-{n}-{name}.passport.json"
        for n, name in enumerate(("often", "never", "half"))
    ]
    assert json.loads((tmp_path / "site" / "files" / names[0]).read_text("utf-8"))["model"] == "often"
    (table,) = tables
    rows = [(e.label, e.cost, e.score, e.interval, e.on_front, e.replies, e.passport) for e in table.entries]
    assert [(*row[:3], row[3] and [round(end, 3) for end in row[3]], *row[4:]) for row in rows] == [
        ("often", 73.625, 0.75, [0.409, 0.929], True, 19, f"files/{names[0]}"),
        ("never", 26.25, 0.0, [0.0, 0.658], True, 10, f"files/{names[1]}"),
        ("half", 23.375, 0.5, [0.215, 0.785], False, 0, f"files/{names[2]}"),
    ]
    assert (table.cost_unit, [len(e.date) for e in table.entries]) == ("tokens per unit", [10] * 3)


def test_ids_are_counted_and_the_first_are_named():
    assert [counted_are(count, "unit") for count in (0, 1, 2, 2000)] == [
        "0 units are",
        "1 unit is",
        "2 units are",
        "2,000 units are",
    ]
    assert counted_are(2, "reply", "replies") == "2 replies are"
    ids = [f"i{n}" for n in range(51)]
    assert id_list(ids[:2] + ids[:1]) == "i0, i1"
    assert id_list(ids[:50]) == ", ".join(ids[:50])
    assert id_list(ids) == ", ".join(ids[:50]) + " and 1 more"


@pytest.mark.parametrize(
    ("difference", "p", "text"),
    [
        (-0.5, 0.049, "asked again by the keeper, who got less: 8 units, -50.0 points, p = 0.049"),
        (-0.5, 0.05, "asked again by the keeper: 8 units, -50.0 points, p = 0.05"),
        (0.25, 0.001, "asked again by the keeper: 8 units, +25.0 points, p = 0.001"),
    ],
)
def test_a_keeper_who_got_less_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, difference: float, p: float, text: str
):
    (tmp_path / "a.again.bundle.zip").write_text("")
    run: Any = SimpleNamespace(
        result=SimpleNamespace(model="m", data_sha256="d", profile="official"), scores=None
    )
    monkeypatch.setattr("wildtool.board.build.unpack_bundle", lambda place: place)
    monkeypatch.setattr("wildtool.board.build.read_runs", lambda places, profile, keep: [run])
    pairs = {(0, 1): SimpleNamespace(units=8, difference=difference, p=p)}
    monkeypatch.setattr("wildtool.board.build.compare_all_pairs", lambda scores: pairs)
    verification: Any = SimpleNamespace(bundle=tmp_path / "a.bundle.zip")
    assert _asked_again(verification, run) == text
    pairs.clear()
    assert _asked_again(verification, run) == "the keeper's run shares no unit"
    verification.bundle = tmp_path / "b.bundle.zip"
    assert _asked_again(verification, run) == ""


def test_a_submission_is_judged_by_the_profile_that_it_names(place: Path, tmp_path: Path):
    prepared = typed("board", "submit", place / "runs" / "half", "-o", tmp_path, "--profile", "fixed")
    assert prepared == (
        0,
        "half.bundle.zip: marked as submitted: 17 of 17 replies are without a raw answer "
        "half.bundle.zip: as submitted: 8 units, task 50.0 %; official data, 2 of 2 items, language en "
        f"{tmp_path}/half.bundle.zip "
        f"{tmp_path}/half.passport.json",
    )
    assert json.loads((tmp_path / "half.passport.json").read_text("utf-8"))["rules"]["profile"] == "fixed"
