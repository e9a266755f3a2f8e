"""Older names of verbs, options, keys and keywords still work, and each use is said once; other programs' words lead to
the verb that is meant."""

import json
import re
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from click import Context
from typer.testing import CliRunner, Result

import wildtool
from wildtool.api.words import option_of
from wildtool.cli import SECTIONS, app
from wildtool.cli.other_words import NOTES, NOTES_OF_RUN, OTHER_WORDS
from wildtool.errors import UsageError
from wildtool.older_names import GOES_WITH, OLDER_SETTINGS, OlderNameWarning
from wildtool.other_names import OTHER_NAMES
from wildtool.scale.job import options_as_json, options_from_json

EVERYDAY = 16
"""Verbs at most that `wildtool --help` lists, those of the setup left out."""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def type_(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool", env={"COLUMNS": "100"})


@cache
def help_of(verb: str) -> str:
    return type_(f"{verb} --help").stdout


def played(more: str, out: str = "run") -> Result:
    return type_(f"run wild-mini -m baseline/gold --limit 1 -q -o {out} {more}")


def identity(folder: str) -> dict[str, Any]:
    return json.loads(Path(folder, "run.json").read_text())["identity"]


# Verbs -----------------------------------------------------------------------------------------------


def test_every_verb_is_in_a_section_of_the_help():
    group: Any = typer.main.get_command(app)
    verbs = [name for names in SECTIONS.values() for name in names]
    assert sorted(verbs) == sorted(group.list_commands(Context(group)))
    *everyday, setup = SECTIONS
    assert (len(everyday), setup) == (4, "Setup")
    assert len(verbs) - len(SECTIONS[setup]) <= EVERYDAY
    shown = type_("--help").stdout
    assert all(f"\n{title}:\n" in shown for title in SECTIONS)


@pytest.mark.parametrize(
    ("line", "status", "now"),
    [
        ("submit --help", 0, "`wildtool board submit`"),
        ("submit verify none.zip", 1, "`wildtool board verify`"),
        ("launch slurm wild-mini -m m --workers 1", 2, "`wildtool worker`"),
        ("curve none.toml", 2, "`wildtool run SERIES`"),
        ("catalogue none", 2, "--curve tools`"),
    ],
)
def test_an_older_verb_works_and_says_the_one_of_today(line: str, status: int, now: str):
    ended = type_(line)
    assert ended.exit_code == status
    (said,) = [each for each in ended.stderr.splitlines() if f"goes with {GOES_WITH}" in each]
    assert now in said


def test_a_folder_of_submissions_is_still_a_word_of_the_board():
    Path("sent").mkdir()
    older, today = type_("board sent -o site"), type_("board build sent -o site")
    assert (older.exit_code, today.exit_code) == (2, 2)
    said, *rest = older.stderr.splitlines()
    assert "`wildtool board build FOLDER`" in said
    assert rest == today.stderr.splitlines()
    assert "No such command 'snt'" in type_("board snt").stderr


@pytest.mark.parametrize("word", sorted(OTHER_WORDS))
def test_the_word_of_another_program_names_the_verb(word: str):
    ended = type_(f"{word} x")
    assert (ended.exit_code, f"Did you mean `wildtool {OTHER_WORDS[word]}`?" in ended.stderr) == (2, True)
    assert type_(f"{OTHER_WORDS[word]} --help").exit_code == 0


# `--format` is an option of `run` by an older name.
@pytest.mark.parametrize("word", sorted({*map(option_of, OTHER_NAMES), *NOTES, *NOTES_OF_RUN} - {"--format"}))
def test_the_option_of_another_program_names_what_is_meant(word: str):
    ended = type_(f"run wild-mini {word} x")
    told = ended.stderr.splitlines()[-1].partition(f"No such option: {word}. ")[2]
    assert (ended.exit_code, told != "") == (2, True), ended.stderr
    # Every command that is named has every option that is named.
    for verb in re.findall(r"`wildtool (\w+)", told) or ["run"]:
        for option in re.findall(r"--[a-z-]+", told):
            assert f" {option} " in help_of(verb)


def test_keys_and_keywords_of_another_program_name_what_is_meant(tmp_path: Path):
    with pytest.raises(UsageError, match="unknown keyword 'api_base'; did you mean 'base_url'"):
        wildtool.run("wild-mini", model="baseline/gold", api_base="x")  # pyright: ignore[reportCallIssue]
    (tmp_path / "wildtool.toml").write_text("[run]\nnum_samples = 3\n")
    assert (
        "line 2: run.num_samples: unknown key; did you mean limit or sample?" in type_("run wild-mini").stderr
    )
    (tmp_path / "wildtool.toml").write_text("[models.m]\nmodel = 'm'\napi-base = 'x'\n")
    assert "models.m.api-base: unknown key; did you mean base_url?" in type_("run wild-mini").stderr


def test_help_and_version_are_words_too():
    assert type_("help").stdout == type_("--help").stdout
    assert type_("help compare").stdout == type_("compare --help").stdout
    assert type_("help data mix").stdout == type_("data mix --help").stdout
    assert type_("version").stdout == type_("--version").stdout
    ended = type_("curve .")
    assert (ended.exit_code, "wildtool compare . --curve tools" in " ".join(ended.stderr.split())) == (
        2,
        True,
    )


# Settings --------------------------------------------------------------------------------------------


def test_an_older_option_means_the_one_of_today():
    today, older = played("--among 12 --among-seed 3"), played("--catalogue 12 --catalogue-seed=3", "older")
    assert (today.exit_code, older.exit_code) == (0, 0), older.output
    assert identity("run") == identity("older")
    assert GOES_WITH not in today.stderr
    assert older.stderr.count("--catalogue is --among now") == 1
    assert older.stderr.count("--catalogue-seed is --among-seed now") == 1
    assert "--catalogue" not in type_("run --help").stdout
    assert "--among is given twice" in played("--among 12 --catalogue 13", "both").stderr


def test_an_older_key_means_the_one_of_today():
    Path("wildtool.toml").write_text('[run]\ncatalogue = "12"\n')
    ended = played("")
    assert (ended.exit_code, identity("run")["catalogue"]["size"]) == (0, 12)
    assert ended.stderr.count("run.catalogue is run.among now") == 1
    Path("wildtool.toml").write_text('[run]\ncatalogue_top_k = "few"\n')
    assert "wildtool.toml, line 2: run.catalogue_top_k: must be a whole number" in played("", "wrong").stderr
    Path("wildtool.toml").write_text('[run]\namong = "12"\ncatalogue = "13"\n')
    assert "line 3: run.catalogue: is the older name of among" in played("", "both").stderr


def test_an_older_key_needs_trust_as_the_one_of_today():
    messages: list[str] = []
    for name in ("among_tools", "catalogue_tools"):
        Path("wildtool.toml").write_text(f'[run]\namong = "12"\n{name} = "mcp:somewhere"\n')
        ended = played("", name)
        assert ended.exit_code == 2
        messages.append(next(line for line in ended.stderr.splitlines() if "somewhere" in line))
    assert messages[0] == messages[1]


def test_an_older_keyword_means_the_one_of_today():
    with pytest.warns(OlderNameWarning, match="catalogue= is among= now") as said:
        wildtool.run("wild-mini", model="baseline/gold", limit=1, quiet=True, out="run", catalogue=12)  # pyright: ignore[reportCallIssue]
    assert {each.filename for each in said if each.category is OlderNameWarning} == {__file__}
    assert identity("run")["catalogue"]["size"] == 12
    with warnings.catch_warnings(), pytest.raises(UsageError, match="give it once"):
        warnings.simplefilter("ignore")
        wildtool.run("wild-mini", model="baseline/gold", catalogue=12, among=13)  # pyright: ignore[reportCallIssue]


def test_jobs_of_shared_runs_keep_the_older_names():
    older = {"catalogue": "12", "catalogue_seed": 3}
    today = options_from_json(older)
    assert today == {"among": "12", "among_seed": 3}
    settings = wildtool.api.settings.Settings.of("wild-mini", ["baseline/gold"], today)
    assert older.items() <= options_as_json(settings).items()
    assert not OLDER_SETTINGS.values() & options_as_json(settings).keys()
