"""A rule of another package reaches lint, generators and reviews, through the installed command."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.command import Ended, wildtool
from e2e.test_plugin import install

RULES = '''
from wildtool.findings import rule


@rule("no-thanks", benchmark="wildtoolbench")
def no_thanks(record):
    """Users do not thank in advance."""
    for k, text in enumerate(record["english_tasks"]):
        if "please" in text.casefold():
            yield f"/english_tasks/{k}", "leave out the please"


@rule("short", benchmark="wildtoolbench", level="warning")
def short(record):
    if len(record["english_tasks"]) < 3:
        yield "fewer than three tasks"
'''
ENTRIES = ("no-thanks = house_rules:no_thanks", "short = house_rules:short")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder in which a package with two rules is installed."""
    folder = tmp_path / "site"
    folder.mkdir()
    install(folder, "house_rules", RULES, *ENTRIES, group="wildtool.rules")
    return folder


def rows(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


async def with_rules(site: Path, *words: object) -> Ended:
    return await wildtool(*words, cwd=site.parent, PYTHONPATH=str(site))


async def test_a_rule_of_a_package_holds_in_lint_generators_and_reviews(site: Path, tmp_path: Path):
    made = ("generate", "--model", "procedural", "--sessions", 8, "--tasks", 2)
    plain = await wildtool(*made, "-o", "plain.jsonl", cwd=tmp_path)
    assert plain.status == 0, plain.err
    polite = [
        (record["id"], k)
        for record in rows(tmp_path / "plain.jsonl")
        for k, text in enumerate(record["english_tasks"])
        if "please" in text.casefold()
    ]
    assert polite

    linted = await with_rules(site, "data", "lint", "plain.jsonl")
    own = [line for line in linted.out.splitlines() if ": no-thanks: " in line]
    assert own == [
        f"plain.jsonl: {id_} /english_tasks/{k}: no-thanks: leave out the please" for id_, k in polite
    ]
    assert linted.out.count(": short: fewer than three tasks") == 8
    assert linted.status == 1

    done = await with_rules(site, *made, "-o", "clean.jsonl")
    assert done.status == 0, done.err
    assert "please" not in json.dumps([r["english_tasks"] for r in rows(tmp_path / "clean.jsonl")]).casefold()

    started = await with_rules(site, "review", "start", "plain.jsonl")
    assert started.status == 0, started.err
    log = await with_rules(site, "review", "log", "plain.jsonl", "-o", "log.jsonl")
    assert log.status == 0, log.err
    checks = [row for row in rows(tmp_path / "log.jsonl") if row["kind"] == "check"]
    shown = {
        (row["item"], finding["field"])
        for row in checks
        for finding in row["after"]
        if finding["rule"] == "no-thanks"
    }
    assert shown == {(id_, f"/english_tasks/{k}") for id_, k in polite}


async def test_a_rule_that_cannot_be_loaded_stops_what_would_go_without_it(tmp_path: Path):
    site = tmp_path / "site"
    site.mkdir()
    install(site, "house_rules", "", "gone = house_rules:gone", group="wildtool.rules")
    found = await with_rules(site, "data", "lint", "wild-mini")
    assert found.status == 2
    assert "rule 'gone' of package house_rules cannot be used" in found.err


async def test_a_rule_that_is_installed_later_looks_at_what_was_checked_before(site: Path, tmp_path: Path):
    made = ("generate", "--model", "procedural", "--sessions", 2, "--tasks", 2, "-o", "plain.jsonl")
    assert (await wildtool(*made, cwd=tmp_path)).status == 0
    assert (await wildtool("review", "start", "plain.jsonl", cwd=tmp_path)).status == 0

    async def checks() -> list[list[str]]:
        """Names of the rules in each check, in the order of the log."""
        found = await with_rules(site, "review", "log", "plain.jsonl", "-o", "log.jsonl", "--force")
        assert found.status == 0, found.err
        entries = [row for row in rows(tmp_path / "log.jsonl") if row["kind"] == "check"]
        return [[one["rule"] for one in row["after"] if one["rule"] == "short"] for row in entries]

    assert await checks() == [[], []]
    for _ in range(2):  # once is enough
        assert (await with_rules(site, "review", "start", "plain.jsonl")).status == 0
        assert await checks() == [[], [], ["short"], ["short"]]
