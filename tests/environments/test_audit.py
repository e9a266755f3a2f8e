"""What a reward is worth: no gold is refused, each mistake is noticed by its component, and no trick is paid."""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from wildtool.benchmark import Check, Mutant, Rules, StepCheck
from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.benchmarks.wildtoolbench.fixed.episode import FixedEpisode
from wildtool.cli import app
from wildtool.data.data_set import data_of
from wildtool.environments import audit as audit_module
from wildtool.environments import commands
from wildtool.environments.attacks import GOLD, POLICIES, AttackScore, attack
from wildtool.environments.audit import ComponentAudit, RewardAudit, audit_reward
from wildtool.environments.commands import BOUND
from wildtool.environments.copying import COPYING
from wildtool.environments.sources import ItemUnits, ProceduralUnits, benchmark_units
from wildtool.types import Item, Message, Request


@cache
def few(name: str, data: str | None = None, mode: str | None = None, every: int = 4) -> ItemUnits:
    units = benchmark_units(name, data, mode=mode, evaluation=True)
    return ItemUnits(units.benchmark, units.items[::every])


def stream() -> ItemUnits:
    endless = ProceduralUnits("3", langs=("en", "zh"))
    return ItemUnits(endless.benchmark, [endless.find(f"0-{place}/0")[0] for place in range(8)])


def test_fixed_refuses_no_gold_and_each_mistake_is_noticed_by_a_component_that_it_is_about():
    audit = audit_reward(few("wild-mini"), "fixed")
    names = {each.component for each in audit.components}
    assert names == {"format", "refusal", "name", "order", "redundancy", "arguments", "verdict"}
    for each in audit.components:
        assert each.gold and each.mistakes > 20
        assert (each.refused, each.missed) == (0, 0)
        assert each.elsewhere <= 1, "an order of calls may show in the values of the second"
    assert not audit.missed_kinds


def test_what_official_does_not_notice_is_named():
    audit = audit_reward(few("wild-mini"), "official")
    missed = {each.component: each.missed for each in audit.components}
    assert missed["refusal"] > 0 and missed["verdict"] == sum(audit.missed_kinds.values()) > 0
    assert audit.missed_kinds["call in text instead of answer"] == 32


AUDITED: dict[str, dict[str, tuple[int, ...]]] = {
    "fixed": {
        "format": (6, 0, 44, 0, 0),
        "refusal": (5, 0, 24, 0, 0),
        "name": (6, 0, 19, 0, 0),
        "order": (6, 0, 10, 0, 0),
        "redundancy": (6, 0, 13, 0, 0),
        "arguments": (6, 0, 128, 0, 0),
        "verdict": (4, 0, 242, 0, 0),
    },
    "official": {
        "format": (6, 0, 44, 0, 5),
        "refusal": (5, 0, 24, 0, 10),
        "name": (6, 0, 19, 4, 1),
        "order": (6, 0, 10, 0, 0),
        "redundancy": (6, 0, 13, 0, 0),
        "arguments": (6, 0, 128, 0, 0),
        "verdict": (4, 0, 242, 0, 16),
    },
}
"""Of one session: gold messages, those refused, mistakes, those noticed elsewhere, those missed."""
MISSED = {
    "empty answer": 4,
    "call in text instead of answer": 4,
    "call in text after answer": 4,
    "empty question": 1,
    "call in text instead of question": 1,
    "call in text after question": 1,
    "question called as a tool": 1,
}


@pytest.mark.parametrize("profile", AUDITED)
def test_an_audit_counts_gold_and_mistakes_of_each_component(profile: str, monkeypatch: pytest.MonkeyPatch):
    attacked: list[tuple[ItemUnits, str]] = []
    score = AttackScore(policy="x", reward=0.0, without_free=0.0, free_units=0, units=4)
    monkeypatch.setattr(audit_module, "attack", lambda units, name: attacked.append((units, name)) or [score])
    units = ItemUnits(few("wild-mini").benchmark, few("wild-mini").items[:1])
    assert audit_reward(units, profile) == RewardAudit(
        profile=profile,
        components=tuple(
            ComponentAudit(
                component=name,
                gold=gold,
                refused=refused,
                mistakes=mistakes,
                elsewhere=elsewhere,
                missed=missed,
            )
            for name, (gold, refused, mistakes, elsewhere, missed) in AUDITED[profile].items()
        ),
        missed_kinds=MISSED if profile == "official" else {},
        attacks=(score,),
    )
    assert attacked == [(units, profile)]


class Scripted:
    """An episode of these requests, some of another role or without gold."""

    def __init__(self, *requests: Request) -> None:
        self.requests, self.taken = [*requests], list[Message]()

    @property
    def done(self) -> bool:
        return not self.requests

    def request(self) -> Request | None:
        return self.requests[0] if self.requests else None

    def advance(self, reply: Message) -> None:
        del self.requests[0]
        self.taken.append(reply)


class ScriptedRules(Rules):
    """A reply is right where it is what was asked for; a unit without gold has none."""

    def episode(self, item: Item, unit: str) -> Any:
        golds = [(role, None if gold is None else partial(_content, gold)) for role, gold in item.data[unit]]
        return Scripted(*(Request([], (), role=role, gold=gold) for role, gold in golds))

    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        return Check([reply["content"] for reply in episode.taken] == [gold for _, gold in item.data[unit]])

    def step(self, episode: Any, item: Item, unit: str) -> StepCheck:
        taken = episode.taken
        right = taken[-1]["content"] == item.data[unit][len(taken) - 1][1]
        return StepCheck({"name": float(right), "order": float(len(taken))})

    def mutants(self, item: Item) -> Iterator[Mutant]:
        for kind, texts in (("wrong name", "xbc"), ("swapped steps", "abcd"), ("odd", "axc")):
            yield Mutant("whole", kind, tuple({"content": text} for text in texts), "")


def _content(text: str, style: str = "") -> Message:
    return {"content": text}


def test_other_roles_units_without_gold_and_what_comes_after_the_end_are_not_audited(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(audit_module, "attack", lambda units, name: [])
    data = {"whole": [("agent", "a"), ("user", "b"), ("agent", "c")], "bare": [("agent", None)]}
    item = Item("i", ("whole", "bare"), data)
    units: Any = SimpleNamespace(
        benchmark=SimpleNamespace(rules=lambda profile: ScriptedRules()), items=[item]
    )
    whole = {"elsewhere": 0, "missed": 0, "refused": 0}
    assert audit_reward(units, "p") == RewardAudit(
        profile="p",
        components=(
            ComponentAudit(component="name", **{**whole, "gold": 2, "mistakes": 1}),
            ComponentAudit(
                component="order", **{**whole, "gold": 2, "mistakes": 1, "missed": 1, "refused": 1}
            ),
            ComponentAudit(component="verdict", **{**whole, "gold": 1, "mistakes": 3, "missed": 1}),
        ),
        missed_kinds={"swapped steps": 1},
        attacks=(),
    )


def shown_audit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *audits: RewardAudit, **how: bool
) -> tuple[bool, str]:
    """What the command says of audits, by profile, and what it prints."""
    by_profile = {audit.profile: audit for audit in audits}
    monkeypatch.setattr(commands, "audit_reward", lambda units, profile: by_profile[profile])
    monkeypatch.setenv("COLUMNS", "100")
    options = {"split": None, "lang": None, "as_json": False, "every": False, **how}
    source = data_of(WILD_MINI).locate(None)
    profiles = [audit.profile for audit in audits]
    is_sound = commands.audit_rewards(WILD_MINI, source, profiles, **options)  # pyright: ignore
    return is_sound, capsys.readouterr().out


def component(**numbers: int) -> ComponentAudit:
    plain = {"gold": 6, "refused": 0, "mistakes": 1900, "elsewhere": 4, "missed": 0, **numbers}
    return ComponentAudit(component="name" if plain["gold"] else "order", **plain)


def earned(policy: str, reward: float, without_free: float) -> AttackScore:
    return AttackScore(policy=policy, reward=reward, without_free=without_free, free_units=3, units=10)


ATTACKS = (
    earned("gold", 1, 1),
    earned("a", 0.25, 0),
    earned("b", 0.125, 0.02),
    earned("c", 0.5, 0),
    earned("d", 0.01, 0),
    earned("e", 0, 0),
    earned("f", 0.02, 0),
)


def audit_of(
    *components: ComponentAudit,
    profile: str = "fixed",
    missed_kinds: Mapping[str, int] | None = None,
    attacks: tuple[AttackScore, ...] = ATTACKS,
) -> RewardAudit:
    return RewardAudit(
        profile=profile, components=components, missed_kinds=missed_kinds or {}, attacks=attacks
    )


def test_the_command_prints_components_and_the_best_policies(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    audit = audit_of(component(), component(gold=0, mistakes=0, elsewhere=0))
    is_sound, text = shown_audit(monkeypatch, capsys, audit)
    assert is_sound
    assert text.splitlines() == [
        "reward, profile fixed",
        "",
        "component  gold refused  mistakes missed  noticed by another",
        "────────────────────────────────────────────────────────────",
        "name             0 of 6       0 of 1,900          4 of 1,900",
        "order                 –                –                   –",
        "",
        "mean reward of 6 policies without the ability, 10 units, profile fixed",
        "",
        "                       the 7 units that",
        "policy  all units  no text alone solves",
        "───────────────────────────────────────",
        "gold        1.000                 1.000",
        "b           0.125                 0.020",
        "c           0.500                 0.000",
        "a           0.250                 0.000",
        "f           0.020                 0.000",
        "d           0.010                 0.000",
        "",
        "1 more policies get no more: --all",
    ]
    whole = json.dumps([asdict(audit)] * 2, indent=1)
    assert shown_audit(monkeypatch, capsys, audit, audit, as_json=True) == (True, f"{whole}\n")
    is_sound, text = shown_audit(monkeypatch, capsys, audit, every=True)
    assert is_sound
    assert text.splitlines() == [
        "reward, profile fixed",
        "",
        "component  gold refused  mistakes missed  noticed by another",
        "────────────────────────────────────────────────────────────",
        "name             0 of 6       0 of 1,900          4 of 1,900",
        "order                 –                –                   –",
        "",
        "mean reward of 6 policies without the ability, 10 units, profile fixed",
        "",
        "                       the 7 units that",
        "policy  all units  no text alone solves",
        "───────────────────────────────────────",
        "gold        1.000                 1.000",
        "b           0.125                 0.020",
        "c           0.500                 0.000",
        "a           0.250                 0.000",
        "f           0.020                 0.000",
        "d           0.010                 0.000",
        "e           0.000                 0.000",
        "",
    ]


def test_the_command_names_what_is_not_sound(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    refused = audit_of(component(refused=1))
    missed = audit_of(component(missed=1), missed_kinds={"wrong name": 2, "wrong type": 1}, attacks=())
    rewarded = audit_of(component(), attacks=(*ATTACKS, earned("g", 0.125, 0.021), earned("h", 0.125, 0.5)))
    for audit in (refused, missed, rewarded):
        assert shown_audit(monkeypatch, capsys, audit)[0] is False
    sound = audit_of(component(), profile="official", attacks=())
    assert shown_audit(monkeypatch, capsys, sound, rewarded)[0] is False
    text = shown_audit(monkeypatch, capsys, rewarded)[1]
    assert text.splitlines() == [
        "reward, profile fixed",
        "",
        "component  gold refused  mistakes missed  noticed by another",
        "────────────────────────────────────────────────────────────",
        "name             0 of 6       0 of 1,900          4 of 1,900",
        "",
        "mean reward of 8 policies without the ability, 10 units, profile fixed",
        "",
        "                       the 7 units that",
        "policy  all units  no text alone solves",
        "───────────────────────────────────────",
        "gold        1.000                 1.000",
        "h           0.125                 0.500",
        "g           0.125                 0.021",
        "b           0.125                 0.020",
        "c           0.500                 0.000",
        "a           0.250                 0.000",
        "",
        "3 more policies get no more: --all",
        "fixed rewards g, h by more than 0.02",
    ]
    text = shown_audit(monkeypatch, capsys, sound, missed)[1]
    assert text.splitlines() == [
        "reward, profile official",
        "",
        "component  gold refused  mistakes missed  noticed by another",
        "────────────────────────────────────────────────────────────",
        "name             0 of 6       0 of 1,900          4 of 1,900",
        "",
        "No unit has a right answer under this profile, so no policy was played.",
        "reward, profile fixed",
        "",
        "component  gold refused  mistakes missed  noticed by another",
        "────────────────────────────────────────────────────────────",
        "name             0 of 6       1 of 1,900          4 of 1,900",
        "",
        "fixed judges right although there is a mistake: wrong name 2, wrong type 1",
        "No unit has a right answer under this profile, so no policy was played.",
    ]
    as_json = json.loads(shown_audit(monkeypatch, capsys, sound, rewarded, as_json=True)[1])
    assert as_json == [json.loads(json.dumps(asdict(each))) for each in (sound, rewarded)]


SOURCES = {
    "wild-mini": lambda: few("wild-mini"),
    "stream": stream,
    "acebench": lambda: few("acebench", "finance", "fc", every=32),
    "acebench as text": lambda: few("acebench", "finance", "text", every=32),
}


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


def test_the_suite_notices_a_reward_that_looks_at_no_argument(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(FixedEpisode, "_differences", lambda *_: [])
    scores = {score.policy: score for score in attack(few("wild-mini"), "fixed")}
    assert scores["likeliest tool, guessed values"].without_free > BOUND


def run(line: str) -> Result:
    return CliRunner().invoke(app, shlex.split(line), prog_name="wildtool", env={"COLUMNS": "80"})


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
