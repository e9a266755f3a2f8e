"""What a reward is worth: no gold is refused, each mistake is noticed by its component, and no trick is paid."""

import json
import shlex
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from long import WHOLE
from wildtool.benchmarks.wildtoolbench.fixed.episode import FixedEpisode
from wildtool.cli import app
from wildtool_train.attacks import GOLD, POLICIES, attack
from wildtool_train.audit import ComponentAudit, audit_reward
from wildtool_train.commands import BOUND
from wildtool_train.copying import COPYING
from wildtool_train.sources import ItemUnits, ProceduralUnits, benchmark_units


@cache
def few(name: str, data: str | None = None, mode: str | None = None, every: int = 4) -> ItemUnits:
    units = benchmark_units(name, data, mode=mode, evaluation=True)
    return ItemUnits(units.benchmark, units.items[::every])


def stream() -> ItemUnits:
    endless = ProceduralUnits("3", langs=("en", "zh"))
    return ItemUnits(endless.benchmark, [endless.find(f"0-{place}/0")[0] for place in range(8)])


def test_fixed_refuses_no_gold_and_each_mistake_is_noticed_by_a_component_that_it_is_about():
    audit = audit_reward(few("wild-mini", every=4 if WHOLE else 8), "fixed")
    names = {each.component for each in audit.components}
    assert names == {"format", "refusal", "name", "order", "redundancy", "arguments", "verdict"}
    for each in audit.components:
        assert each.gold and each.mistakes > 20
        assert (each.refused, each.missed) == (0, 0)
        assert each.elsewhere <= 1, "an order of calls may show in the values of the second"
    assert not audit.missed_kinds


@pytest.mark.long
def test_what_official_does_not_notice_is_named():
    audit = audit_reward(few("wild-mini"), "official")
    missed = {each.component: each.missed for each in audit.components}
    assert missed["refusal"] > 0 and missed["verdict"] == sum(audit.missed_kinds.values()) > 0
    assert audit.missed_kinds["call in text instead of answer"] == 32


def component(**numbers: int) -> ComponentAudit:
    plain = {"gold": 6, "refused": 0, "mistakes": 1900, "elsewhere": 4, "missed": 0, **numbers}
    return ComponentAudit(component="name" if plain["gold"] else "order", **plain)


SOURCES = {
    "wild-mini": lambda: few("wild-mini"),
    "stream": stream,
    "acebench": lambda: few("acebench", "finance", "fc", every=32),
    "acebench as text": lambda: few("acebench", "finance", "text", every=32),
}


@pytest.mark.long
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("profile", ["fixed", "official"])
def test_policies_without_the_ability_earn_nothing_but_where_any_text_is_right(source: str, profile: str):
    gold, *scores = [each for each in attack(SOURCES[source](), profile) if not each.copies]
    assert gold.policy == GOLD and gold.reward == 1 and len(scores) == len(POLICIES) >= 30
    for score in scores:
        assert score.without_free <= BOUND, score
        assert score.reward <= gold.free_units / gold.units + BOUND, score
    talking = {score.policy: score.reward for score in scores}["refuse"]
    assert talking == gold.free_units / gold.units


@pytest.mark.long
def test_the_suite_notices_a_reward_that_looks_at_no_argument(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(FixedEpisode, "_differences", lambda *_: [])
    scores = {score.policy: score for score in attack(few("wild-mini"), "fixed")}
    assert scores["likeliest tool, guessed values"].without_free > BOUND


def run(line: str) -> Result:
    return CliRunner().invoke(app, shlex.split(line), prog_name="wildtool", env={"COLUMNS": "80"})


@pytest.mark.long
def test_the_command_shows_all_and_its_status_says_whether_the_reward_is_sound(tmp_path: Path):
    made = tmp_path / "made.jsonl"
    assert run(f"generate --model procedural -n 2 -o {made}").exit_code == 0
    line = f"audit wildtoolbench --data {made} --reward --strict"
    sound = run(f"{line} --profile fixed")
    assert sound.exit_code == 0, sound.output
    assert "gold refused" in sound.output and "without the ability" in sound.output
    assert all(len(text) <= 80 for text in sound.output.splitlines())
    assert run(f"{line} --profile official").exit_code == 1
    (entry,) = json.loads(run(f"{line} --profile fixed --json").output)
    assert entry["profile"] == "fixed" and len(entry["attacks"]) == 1 + len(POLICIES) + len(COPYING)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--profile strict", "strict"),
        ("--hints gold -o hints.jsonl", "--reward audits and --hints writes a file: give one of them"),
    ],
)
def test_a_mistake_in_the_command_is_named(words: str, message: str):
    result = run(f"audit wild-mini --reward {words}")
    assert result.exit_code == 2 and message in result.stderr and "internal" not in result.stderr


def test_a_unit_without_a_right_answer_is_refused_gold_and_no_attack():
    (item,) = few("wild-mini").items[:1]
    unanswerable = replace(item.data.tasks[0], nodes=item.data.tasks[0].nodes[:-1])
    session = replace(item.data, tasks=(unanswerable, *item.data.tasks[1:]))
    audit = audit_reward(ItemUnits(few("wild-mini").benchmark, [replace(item, data=session)]), "fixed")
    assert {each.component: each.refused for each in audit.components}["verdict"] == 1
    assert audit.attacks[0].units == len(item.units) - 1
