"""Links to folders are followed, once each, and never round in a circle."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from wildtool.cli import app
from wildtool.data.files import as_named, files_under
from wildtool.engine.score.results import run_folders


def written(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    return path


def test_files_behind_links_are_found_once_under_the_name_of_the_link(tmp_path: Path):
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    plain = written(inside / "a" / "one.json")
    written(outside / "deep" / "two.json")
    (inside / "link").symlink_to(outside)
    (inside / "other-link").symlink_to(outside)
    (inside / "to-a").symlink_to(inside / "a")
    (outside / "deep" / "circle").symlink_to(outside)
    (inside / "circle").symlink_to(inside)
    assert files_under(inside) == [plain, inside / "link" / "deep" / "two.json"]
    assert files_under(inside / "link") == [inside / "link" / "deep" / "two.json"]
    assert files_under(plain) == [plain]


def test_a_link_keeps_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    written(tmp_path / "store" / "one.json")
    (tmp_path / "result_en").symlink_to(tmp_path / "store")
    monkeypatch.chdir(tmp_path)
    assert as_named(Path("result_en/../result_en/one.json")) == tmp_path / "result_en" / "one.json"


def test_a_run_behind_a_link_is_shown_and_one_beside_its_link_only_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    words = ["run", "wild-mini", "--limit", "1", "--quiet", "--model", "baseline/gold", "--out", "disk/run"]
    assert CliRunner().invoke(app, words, prog_name="wildtool").exit_code == 0
    Path("runs").mkdir()
    Path("runs/mine").symlink_to(tmp_path / "disk" / "run")
    Path("disk/latest").symlink_to(tmp_path / "disk" / "run")
    assert run_folders(Path("runs")) == [Path("runs/mine")]
    assert run_folders(Path("disk")) == [Path("disk/run")]
