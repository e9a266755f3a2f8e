"""What `wildtool audit` prints of audits that are made by hand, text by text."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.commands.test_audit import Entry
from wildtool.alter.hints.hint_files import Hint
from wildtool.benchmark import Benchmark
from wildtool.cli import app
from wildtool.cli.commands import audit
from wildtool.engine import registry
from wildtool.engine.score.audit import Audit, Ceiling, KillRate, Survivors, WrongGold
from wildtool.engine.score.verdict_table import OutcomeCounts
from wildtool.types import Item, Metric

COUNTS = OutcomeCounts(correct=3, wrong=1)


def rate(group: str, name: str, right: int, units: int, *, headline: bool = False) -> Metric:
    return Metric(group, name, right / units if units else None, right, units, headline=headline)


def ceiling(style: str, *metrics: Metric) -> Ceiling:
    return Ceiling(style=style, counts=COUNTS, metrics=metrics)


def audited(
    profile: str,
    *ceilings: Ceiling,
    wrong_gold: tuple[WrongGold, ...] = (),
    kills: tuple[KillRate, ...] = (),
    survivors: tuple[Survivors, ...] = (),
) -> Audit:
    return Audit(
        profile=profile,
        mode="plain",
        ceilings=ceilings,
        wrong_gold=wrong_gold,
        kills=kills,
        survivors=survivors,
        faults=(),
    )


def wrong(item: str, unit: str = "0", *, error: str | None = None, why: str = "") -> WrongGold:
    return WrongGold(item=item, unit=unit, style="serial", error=error, reason=f"rule of {item}", why=why)


def printed(capsys: pytest.CaptureFixture[str], *audits: Audit, every: bool = False) -> str:
    audit._print(audits, every=every)
    out, err = capsys.readouterr()
    assert err == ""
    return out


@pytest.fixture(autouse=True)
def _width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


NUMBERS = (
    rate("all", "accuracy", 3, 4, headline=True),
    rate("split", "accuracy", 1, 2),
    rate("other split", "accuracy", 2, 2),
    rate("split", "turns", 1, 2),
    rate("empty", "accuracy", 0, 0, headline=True),
    Metric("all", "length", 2.5, 10, 4, kind="mean", headline=True),
)


ONE = audited(
    "strict",
    ceiling("serial", *NUMBERS),
    kills=(
        KillRate(kind="wrong digit", killed=1, mutants=3),
        KillRate(kind="silence", killed=1200, mutants=1200),
    ),
    survivors=(
        Survivors(why="", count=2, item="i\n1", unit="u\x1b", kind="wrong digit", note="3 -> 4"),
        Survivors(why="S1 any digit counts", count=1, item="i2", unit="1", kind="digit", note="3\n-> 5"),
    ),
)


def test_one_profile_shows_main_numbers_where_gold_falls_short_and_what_passes(
    capsys: pytest.CaptureFixture[str],
):
    assert (
        printed(capsys, ONE)
        == """\
gold ceiling

                        strict
                        serial
──────────────────────────────
all: accuracy      75.0 %  3/4
split: accuracy    50.0 %  1/2

corrupted gold answers caught (kill rate)

mistake                     strict
──────────────────────────────────
all kinds      99.8 %  1,201/1,203
wrong digit            33.3 %  1/3

Always caught: 1 kind of mistakes; list them with --all.
strict misses 2: no explanation; for example wrong digit in i 1, unit u\\x1b: 3 -> 4
strict misses 1: S1 any digit counts; for example digit in i2, unit 1: 3 -> 5
"""
    )


def test_all_numbers_and_kinds_are_shown_if_asked(capsys: pytest.CaptureFixture[str]):
    tables = printed(capsys, ONE, every=True).partition("strict misses")[0]
    assert (
        tables
        == """\
gold ceiling

                               strict
                               serial
─────────────────────────────────────
all: accuracy             75.0 %  3/4
split: accuracy           50.0 %  1/2
other split: accuracy    100.0 %  2/2
split: turns              50.0 %  1/2

corrupted gold answers caught (kill rate)

mistake                      strict
───────────────────────────────────
all kinds       99.8 %  1,201/1,203
wrong digit             33.3 %  1/3
silence        100.0 %  1,200/1,200

"""
    )


TWO = (
    audited(
        "strict",
        ceiling("serial", rate("all", "accuracy", 3, 4, headline=True)),
        ceiling("parallel", rate("all", "accuracy", 4, 4, headline=True)),
        kills=(
            KillRate(kind="wrong digit", killed=1, mutants=3),
            KillRate(kind="silence", killed=2, mutants=2),
        ),
    ),
    audited(
        "lax",
        ceiling("serial", rate("all", "accuracy", 2, 4, headline=True), rate("part", "accuracy", 1, 3)),
        kills=(
            KillRate(kind="wrong digit", killed=3, mutants=3),
            KillRate(kind="silence", killed=1, mutants=1),
            KillRate(kind="noise", killed=0, mutants=2),
        ),
    ),
)


def test_profiles_and_styles_stand_side_by_side(capsys: pytest.CaptureFixture[str]):
    assert (
        printed(capsys, *TWO)
        == """\
gold ceiling

                       strict    strict     lax
                       serial  parallel  serial
───────────────────────────────────────────────
all: accuracy   n = 4  75.0 %   100.0 %  50.0 %
part: accuracy  n = 3                    33.3 %

corrupted gold answers caught (kill rate)

mistake                  strict          lax
────────────────────────────────────────────
all kinds           60.0 %  3/5  66.7 %  4/6
wrong digit  n = 3       33.3 %      100.0 %
noise                             0.0 %  0/2

Always caught: 1 kind of mistakes; list them with --all.
"""
    )


def test_without_main_numbers_all_are_shown_and_mistakes_may_be_none(capsys: pytest.CaptureFixture[str]):
    one = audited("strict", ceiling("serial", rate("a", "b", 1, 1), rate("a", "c", 1, 2)))
    assert (
        printed(capsys, one)
        == """\
gold ceiling

              strict
              serial
────────────────────
a: b    100.0 %  1/1
a: c     50.0 %  1/2

corrupted gold answers caught (kill rate)

mistake      strict
───────────────────
all kinds

"""
    )


def test_gold_answers_of_one_fault_share_a_line_from_the_sixth_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "500")
    few = [wrong(f"i{k}", why="S2 words") for k in range(5)]
    many = [wrong(f"j{k}", error="format", why="S3 blanks") for k in range(6)]
    # The same unit in another style counts once; without a known fault each has its own reason.
    own = [wrong("k0"), wrong("k0"), wrong("k0", "1", error="late")]
    one = audited("strict", wrong_gold=(*few, *many, *own))
    audit._print_wrong_gold([one, audited("lax", wrong_gold=(wrong("i0", why="S2 words"),))])
    assert capsys.readouterr().out.splitlines() == [
        *(f"strict: gold answer of i{k} unit 0 is scored not correct: S2 words" for k in range(5)),
        "strict: 6 gold answers, the first of j0 unit 0, are scored format: S3 blanks",
        "strict: gold answer of k0 unit 0 is scored not correct: rule of k0",
        "strict: gold answer of k0 unit 1 is scored late: rule of k0",
        "lax: gold answer of i0 unit 0 is scored not correct: S2 words",
    ]
    monkeypatch.setattr(audit, "MAX_GOLD_LINES", 3)
    for count, more in ((3, []), (4, ["… and 1 more; --json lists all"])):
        audit._print_wrong_gold([audited("strict", wrong_gold=tuple(map(wrong, "abcd"[:count])))])
        assert capsys.readouterr().out.splitlines()[3:] == more


# Hints -------------------------------------------------------------------------------------------------

HINTS = {
    "i0": [
        Hint("i0", "0", 0, "the digit is\n3", turn=1),
        Hint("i0", "0", 1, "it changed", "state"),
        Hint("i0", "1", 0, "a word"),
    ],
    "i1": [],
}
LINES = """\
{"item":"i0","unit":"0","turn":1,"step":0,"text":"the digit is\\n3","kind":"clue","by":"gold"}
{"item":"i0","unit":"0","step":1,"text":"it changed","kind":"state","by":"gold"}
{"item":"i0","unit":"1","step":0,"text":"a word","kind":"clue","by":"gold"}
"""


@pytest.fixture
def rules_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The profiles that hints were made under; in a folder of the test's own, with hints for one of two items."""
    asked: list[str] = []

    def hints(benchmark: Benchmark, item: Item, profile: str) -> list[Hint]:
        assert benchmark.name == "sums"
        asked.append(profile)
        return HINTS[item.id]

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_entries", lambda: {"sums": (Entry("3", "4"),)})
    monkeypatch.setattr("wildtool.alter.hints.gold_hints.gold_hints", hints)
    return asked


def written(line: str) -> tuple[int, str, str]:
    ended = CliRunner().invoke(app, f"audit sums --hints gold {line}".split(), prog_name="wildtool")
    return ended.exit_code, ended.stdout, ended.stderr


def test_hints_are_written_and_counted(rules_asked: list[str]):
    next_step = (
        "Next: `wildtool run sums --hints h` beside a run without, then `wildtool compare`; with `--hints shuffled:h`"
        " as the control.\n"
    )
    assert written("-o h") == (0, "h: 3 hints (clue 2, state 1) for 2 of 4 units\n", next_step)
    assert Path("h").read_text("utf-8") == LINES
    assert rules_asked == ["strict", "strict"]
    status, out, err = written("-o h --force --profile lax --json")
    assert rules_asked[2:] == ["lax", "lax"]
    counts = {"hints": 3, "kinds": {"clue": 2, "state": 1}, "units_with_hints": 2, "units": 4}
    assert (status, out, err) == (0, json.dumps({"out": "h", **counts}, indent=1) + "\n", "")


def test_hints_that_cannot_be_written_are_refused(rules_asked: list[str], monkeypatch: pytest.MonkeyPatch):
    Path("mine").write_text("mine", "utf-8")
    assert written("") == (2, "", "wildtool: name the file for the hints: --out hints.jsonl\n")
    status, out, err = written("-o h --profile nope")
    assert (status, out, err.startswith("wildtool: unknown profile 'nope'")) == (2, "", True)
    status, out, err = written("-o mine")
    assert (status, out, "--force" in err, rules_asked) == (2, "", True, [])
    monkeypatch.setitem(HINTS, "i0", [])
    nothing = (
        "wildtool: sums: in mode plain (of plain) no gold answer needs a fact of an earlier turn, so there is nothing to"
        " hint at\n"
    )
    assert written("-o h") == (2, "", nothing)
    assert [path.name for path in Path().iterdir()] == ["mine"]
