"""The audit of profiles, over a benchmark small enough to see through."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from engine.echo_benchmark import EchoBenchmark
from wildtool.benchmark import Benchmark, Check, Mutant, Rules
from wildtool.cli import app
from wildtool.data.data_set import DataSet, data_of
from wildtool.engine import registry
from wildtool.engine.score.audit import (
    Audit,
    Ceiling,
    KillRate,
    Survivors,
    WrongGold,
    audit_profile,
    gold_transcript,
)
from wildtool.engine.score.verdict_table import OutcomeCounts
from wildtool.errors import UsageError
from wildtool.types import Item, Message, Metric, Request, Source

SOURCE = Source("sums", Path("sums"), "0" * 64)


class SumEpisode:
    """Asks once; `bad` items have a gold answer that no profile accepts."""

    def __init__(self, item: Item) -> None:
        self.item = item
        self.said: str | None = None

    @property
    def done(self) -> bool:
        return self.said is not None

    def request(self) -> Request | None:
        return Request([], gold=lambda style: {"content": self.item.data}) if self.said is None else None

    def advance(self, reply: Message) -> None:
        self.said = str(reply.get("content"))


class SumRules(Rules):
    """Three is right. `strict` says so, `lax` takes any digit for it, `broken` raises."""

    def __init__(self, profile: str) -> None:
        self._profile = profile

    def episode(self, item: Item, unit: str) -> SumEpisode:
        return SumEpisode(item)

    def verdict(self, episode: SumEpisode, item: Item, unit: str) -> Check:
        if self._profile == "broken":
            raise ZeroDivisionError
        right = episode.said == "3" or (self._profile == "lax" and str(episode.said).isdigit())
        return Check(right, None, f"{episode.said} is not 3")

    def mutants(self, item: Item) -> Iterable[Mutant]:
        for said, kind in (("4", "wrong digit"), ("5", "wrong digit"), ("x", "no digit")):
            yield Mutant("1", kind, ({"content": said},), f"3 -> {said}\x1b[2J")
        yield Mutant("0", "silence", (), "says nothing")

    def explain(self, item: Item, mutant: Mutant) -> str:
        if self._profile != "lax":
            return ""
        return f"S3 {mutant.replies[0]['content']} for 33" if item.data == "33" else "S1 any digit counts"

    def explain_gold(self, item: Item, unit: str) -> str:
        return "S2 words are no digits" if item.data == "two" else ""


class Ungolden(SumRules):
    def episode(self, item: Item, unit: str) -> Any:
        return SimpleNamespace(request=lambda: Request([]))


@dataclass(frozen=True, kw_only=True)
class SumsData(DataSet):
    def locate(self, data: str | None, split: str | None = None) -> Source:
        return SOURCE


class Sums(Benchmark):
    """Items of two units with these gold answers."""

    name = title = "sums"
    profiles: Mapping[str, str] = {"strict": "", "lax": "", "broken": ""}
    modes: Mapping[str, str] = {"plain": ""}
    gold_styles = ("parallel", "serial")

    def __init__(self, *gold: str) -> None:
        self.gold = gold

    data = SumsData(name="sums")

    def load(self, source: Source, *, split: str | None = None, lang: str | None = None) -> Iterator[Item]:
        yield from (Item(f"i{n}", ("0", "1"), gold) for n, gold in enumerate(self.gold))

    def rules(self, profile: str) -> SumRules:
        return SumRules(profile)

    def summarize(self, verdicts: Any, profile: str) -> list[Metric]:
        totals = "count(*) FILTER (correct), count(*), min(model || ' of ' || run), max(repeat)"
        ((right, units, player, repeat),) = verdicts.aggregate(totals).fetchall()
        note = f"{player}, {repeat}, {profile}"
        return [Metric("all", "accuracy", right / units, right, units, headline=True, note=note)]


class Entry:
    """Installs `sums` with these gold answers."""

    value, module, dist = "sums:SUMS", "sums", None

    def __init__(self, *gold: str) -> None:
        self._gold = gold

    def load(self) -> Sums:
        return Sums(*self._gold)


def audited(profile: str, *gold: str) -> Audit:
    return audit_profile(Sums(*gold), SOURCE, profile)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes `sums` a benchmark that can be named, and lists it as the only one."""
    monkeypatch.setattr(registry, "_entries", lambda: {"sums": (Entry("3"),)})


def shown(line: str) -> tuple[int, str]:
    ended = CliRunner().invoke(app, line.split())
    return ended.exit_code, ended.output


def test_an_audit_has_every_ceiling_wrong_gold_and_mistake():
    def survivors(why: str, count: int, item: str, kind: str = "wrong digit", said: str = "4") -> Survivors:
        return Survivors(why=why, count=count, item=item, unit="1", kind=kind, note=f"3 -> {said}\x1b[2J")

    styles = ("parallel", "serial")
    ceilings = [
        Ceiling(
            style=style,
            counts=OutcomeCounts(correct=6, wrong=2),
            metrics=(
                Metric("all", "accuracy", 0.75, 6, 8, headline=True, note=f"gold, {style} of gold, 0, lax"),
            ),
        )
        for style in styles
    ]
    why = "S2 words are no digits"
    wrong_gold = [
        WrongGold(item="i1", unit=unit, style=style, error=None, reason="two is not 3", why=why)
        for style in styles
        for unit in ("0", "1")
    ]
    assert audited("lax", "33", "two", "3", "3") == Audit(
        profile="lax",
        mode="plain",
        ceilings=tuple(ceilings),
        wrong_gold=tuple(wrong_gold),
        kills=(
            KillRate(kind="wrong digit", killed=0, mutants=8),
            KillRate(kind="no digit", killed=4, mutants=4),
            KillRate(kind="silence", killed=4, mutants=4),
        ),
        survivors=(
            survivors("S1 any digit counts", 6, "i1"),
            survivors("S3 4 for 33", 1, "i0"),
            survivors("S3 5 for 33", 1, "i0", said="5"),
        ),
        faults=(),
    )


@pytest.mark.parametrize(
    ("profile", "gold", "sound"), [("strict", "3", True), ("strict", "three", False), ("lax", "3", False)]
)
def test_a_profile_is_sound_if_all_gold_is_correct_and_every_mistake_wrong(
    profile: str, gold: str, sound: bool
):
    assert audited(profile, gold).passed is sound


def test_a_judge_that_fails_notices_nothing_and_is_reported():
    found = audited("broken", "3")
    assert [kills.killed for kills in found.kills] == [0, 0, 0]
    # Of both styles and of four mistakes.
    assert found.faults == ("i0: the judge of sums failed: ZeroDivisionError: ",) * 6
    assert [(each.why, each.count) for each in found.survivors] == [("", 4)]
    assert not found.passed


def test_an_item_without_gold_is_named():
    sums = Sums("3")
    sums.rules = lambda profile: Ungolden(profile)
    with pytest.raises(UsageError, match=r"^sums knows no gold answer for item 'i0', unit '1'$"):
        gold_transcript(sums, Item("i0", ("0", "1"), None), "1", "strict", "serial")


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("audit sums --profile strict --strict", 0),
        ("audit sums --profile lax --strict", 1),
        ("audit sums --profile lax", 0),
        ("audit sums --profile broken", 1),
    ],
)
def test_strict_turns_an_unsound_profile_into_status_1(line: str, status: int):
    assert shown(line)[0] == status


def test_the_ceiling_is_measured_in_the_styles_of_the_benchmark(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Sums, "gold_styles", ("serial",))
    assert [ceiling.style for ceiling in audited("strict", "3").ceilings] == ["serial"]


def test_roles_besides_the_agent_answer_cooperatively():
    echo: Any = EchoBenchmark(items=1, units=1, steps=1, with_user=1)
    (item,) = echo.load(data_of(echo).locate(None))
    replies = gold_transcript(echo, item, "0", "official", "parallel").replies
    assert [reply.message["content"] for reply in replies] == ["cooperative 0", "right"]


@pytest.mark.usefixtures("installed")
def test_the_known_fault_behind_wrong_gold_is_told_instead_of_the_rule(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(registry, "_entries", lambda: {"sums": (Entry("two"),)})
    out = shown("audit sums --profile strict")[1]
    assert "strict: gold answer of i0 unit 1 is scored not correct: S2 words are no digits" in out


@pytest.mark.usefixtures("installed")
def test_wrong_gold_is_told_once_whatever_its_styles(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(registry, "_entries", lambda: {"sums": (Entry("three"),)})
    out = shown("audit sums --profile strict")[1]
    assert out.count("strict: gold answer of i0 unit 1 is scored not correct: three is not 3") == 1


def test_of_much_wrong_gold_the_first_two_hundred_are_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(registry, "_entries", lambda: {"sums": (Entry(*["three"] * 110),)})
    out = shown("audit sums --profile strict")[1]
    assert out.count("strict: gold answer of") == 200
    assert "and 20 more; --json lists all" in out


def test_a_mode_is_audited_and_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Sums, "modes", {"plain": "", "loud": ""})
    monkeypatch.setattr(registry, "_entries", lambda: {"sums": (Entry("3"),)})
    (found,) = json.loads(shown("audit sums --profile strict --mode loud --json")[1])
    assert found["mode"] == "loud"
    assert shown("audit sums --mode sung")[0] == 2


@pytest.mark.usefixtures("installed")
def test_the_tables_show_ceilings_kills_and_why_mistakes_pass():
    out = shown("audit sums --profile lax")[1]
    for text in ("all: accuracy", "n = 2", "wrong digit", "0.0 %  0/2", "lax misses 2: S1 any digit counts"):
        assert text in out
    assert "\x1b" not in out


@pytest.mark.usefixtures("installed")
def test_the_audit_as_json_holds_every_number():
    (found,) = json.loads(shown("audit sums --profile strict --json")[1])
    assert (found["profile"], found["ceilings"][0]["counts"]["correct"]) == ("strict", 2)
    assert found["kills"][0] == {"kind": "wrong digit", "killed": 2, "mutants": 2}


@pytest.mark.usefixtures("installed")
def test_what_is_audited_and_of_which_part_is_passed_on(monkeypatch: pytest.MonkeyPatch):
    passed: list[Any] = []

    def audit_profile(benchmark: Benchmark, source: Source, profile: str, **part: str | None) -> Audit:
        passed.append((benchmark.name, source, profile, part))
        return audited("strict", "3")

    monkeypatch.setattr("wildtool.engine.score.audit.audit_profile", audit_profile)
    assert shown("audit sums --split s --lang en --json")[0] == 0
    part = {"split": "s", "lang": "en"}
    assert passed == [("sums", SOURCE, profile, part) for profile in ("strict", "lax", "broken")]


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("line", "is_sound", "status"),
    [("", False, 0), (" --strict", True, 0), (" --strict", False, 1), (" --profile lax", True, 0)],
)
def test_an_audit_of_rewards_is_asked_for_the_same(
    line: str, is_sound: bool, status: int, monkeypatch: pytest.MonkeyPatch
):
    passed: list[Any] = []

    def audit_rewards(benchmark: Benchmark, source: Source, profiles: list[str], **more: object) -> bool:
        passed.append((benchmark.name, source, profiles, more))
        return is_sound

    monkeypatch.setattr("wildtool_train.commands.audit_rewards", audit_rewards)
    assert shown(f"audit sums --reward --split s --lang en --json{line}") == (status, "")
    more = {"split": "s", "lang": "en", "as_json": True, "every": False}
    profiles = ["lax"] if "lax" in line else ["strict", "lax", "broken"]
    assert passed == [("sums", SOURCE, profiles, more)]
    assert shown("audit sums --reward --all")[0] == 0
    assert passed[1][3] == {"split": None, "lang": None, "as_json": False, "every": True}


@pytest.mark.usefixtures("installed")
def test_an_audit_of_rewards_writes_no_hints(tmp_path: Path):
    status, out = shown(f"audit sums --reward --hints gold -o {tmp_path / 'h'}")
    assert (status, out) == (
        2,
        "wildtool: --reward audits and --hints writes a file: give one of them\n",
    )


@pytest.mark.usefixtures("installed")
def test_how_often_the_judge_failed_is_said_with_the_first_reason(monkeypatch: pytest.MonkeyPatch):
    failed = replace(audited("strict", "3"), faults=("i0: no", "i1: no"))
    monkeypatch.setattr("wildtool.engine.score.audit.audit_profile", lambda *_, **__: failed)
    ended = CliRunner().invoke(app, ["audit", "sums", "--profile", "strict"])
    assert (ended.exit_code, ended.stderr) == (1, "internal error: scoring failed 2 times. i0: no\n")
