"""Agent items: those of templates and of models play right, and no mistake in them passes."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from typer.testing import CliRunner

from generate.scripted import Scripted, Spoil, edit
from long import WHOLE
from wildtool.benchmark import accepts
from wildtool.benchmarks.acebench import ACEBENCH
from wildtool.benchmarks.acebench.data import AgentRecord, ItemData, read_items
from wildtool.cli import app
from wildtool.declared import lint
from wildtool.engine.plan import Plan
from wildtool.engine.run.runner import run_plan
from wildtool.episode import gold_replies
from wildtool.types import Item, Model, Source
from wildtool_data.make.agents.maker import (
    AgentMaker,
    GeneratedAgentItems,
    agent_items_from_record,
    write_generated,
)
from wildtool_data.make.agents.plan import AgentSpec
from wildtool_data.make.core.files import ITEMS_FOLDER, LOSSES_FILE, RECORD_FOLDER
from wildtool_data.make.core.maker import PROFILE

ITEMS = 4 if WHOLE else 2
"""Items of sets that are made to be compared."""
FINANCE = ("agent_finance_multi_step", "agent_finance_multi_turn")


def generate(out: Path, *words: object) -> tuple[int, str]:
    line = ["generate", "acebench", "-m", "procedural", "-o", out, *words]
    ran = CliRunner().invoke(app, [str(word) for word in line], prog_name="wildtool")
    return ran.exit_code, ran.output


def read(folder: Path) -> list[Item]:
    return list(read_items(folder / ITEMS_FOLDER))


def record_of(item: Item) -> AgentRecord:
    data: ItemData = item.data
    (record,) = data.records
    assert isinstance(record, AgentRecord)
    return record


def check_played(items: list[Item]) -> None:
    """Gold is right under each profile and in each mode, and no mistake passes."""
    for item in items:
        for mode in ("text", "fc"):
            for profile in ("official", "fixed"):
                rules = ACEBENCH.in_mode(mode).rules(profile)
                gold = gold_replies(rules.episode(item, "0"))
                assert gold is not None
                assert accepts(rules, item, "0", gold), (item.id, mode, profile)
        fixed = ACEBENCH.rules("fixed")
        mutants = list(fixed.mutants(item))
        assert mutants
        assert not [mutant.note for mutant in mutants if accepts(fixed, item, "0", mutant.replies)]


@pytest.mark.long
def test_items_of_templates_over_the_bank_play_right_in_both_languages(tmp_path: Path):
    status, output = generate(tmp_path / "set", "--kinds", ",".join(FINANCE), "-n", 12, "--lang", "en,zh")
    assert (status, "12 items, 0 lost" in output) == (0, True), output
    items = read(tmp_path / "set")
    assert {(item.split, item.lang) for item in items} == {
        (kind, lang) for kind in FINANCE for lang in ("en", "zh")
    }
    check_played(items)
    assert len({record_of(item).question for item in items}) == 12
    source = Source("set", tmp_path / "set" / ITEMS_FOLDER, "")
    assert not list(lint(ACEBENCH, source))


def test_the_same_seed_gives_the_same_items(tmp_path: Path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert generate(tmp_path / name, "--kinds", FINANCE[0], "-n", ITEMS, "--seed", seed)[0] == 0
    a, b, c = ([record_of(item).question for item in read(tmp_path / name)] for name in "abc")
    assert a == b != c


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--kinds", f"{FINANCE[0]},single"), "sets of their own"),
        (("--kinds", FINANCE[0], "--tools", "t.json"), "tools of their sandbox"),
        (("--kinds", FINANCE[0], "--hold-out-tools", "0.5"), "tools of their sandbox"),
        (("--kinds", FINANCE[0], "-n", 0), "at least one item"),
        (("--kinds", "single", "--sandbox", "folder"), "--sandbox is for agent items"),
        (("--kinds", f"{FINANCE[0]}=x"), "a share is a whole number"),
        (("--kinds", FINANCE[0], "--judges", "2"), "need a model"),
    ],
)
def test_what_means_nothing_for_agent_items_is_refused(words: tuple[str, ...], said: str, tmp_path: Path):
    status, output = generate(tmp_path / "set", *words)
    assert (status, said in output) == (2, True), output


def test_what_items_of_models_would_take_is_not_estimated_which_is_said_before_anything_is_written(
    tmp_path: Path,
):
    line = f"generate acebench -m agent --base-url http://127.0.0.1:9 --kinds {FINANCE[0]} --dry-run -o"
    ran = CliRunner().invoke(app, [*line.split(), str(tmp_path / "set")], prog_name="wildtool")
    assert (ran.exit_code, "cannot estimate agent items" in ran.output) == (2, True), ran.output
    assert not (tmp_path / "set").exists()


def test_several_judges_share_the_votes(tmp_path: Path):
    judges = "--role-model judge=a --role-model judge=b --judges 3"
    line = (
        f"generate acebench -m agent {judges} --base-url http://127.0.0.1:9 --kinds {FINANCE[0]} --dry-run -o"
    )
    ran = CliRunner().invoke(app, [*line.split(), str(tmp_path / "set")], prog_name="wildtool")
    assert (ran.exit_code, "cannot estimate agent items" in ran.output) == (2, True), ran.output


class Writer(Scripted):
    """Designs transfers at the bank."""

    def right(self, role: str, instruction: str, seen: dict[str, Any], draw: Random) -> Any:
        if role.startswith("judge"):
            return {"valid": True, "where": "", "reason": ""}
        accounts = {k: a for k, a in seen["state"]["Finance"]["accounts"].items() if not a["frozen"]}
        own, *others = draw.sample(sorted(accounts), 4)
        password = accounts[own]["password"]
        amounts = draw.sample(range(5, 60), seen["parts"])
        wishes = [f"send {amount} dollars to {others[0]}" for amount in amounts]
        return {
            "question": f"This is {own}, password {password}, about {seen['words']}: {', then '.join(wishes)}.",
            "config": {"Finance": {"balances": {own: 900}}},
            "before": [{"name": "login_account", "arguments": {"account_id": own, "password": password}}],
            "parts": [
                [
                    {
                        "name": "transfer",
                        "arguments": {"from_account": own, "to_account": others[0], "amount": amount},
                    }
                ]
                for amount in amounts
            ],
        }


def made(folder: Path, model: Model, **spec: Any) -> GeneratedAgentItems:
    """A set by models."""
    order = {"items": 4, "kinds": {FINANCE[0]: 1}, "seed": "1", "langs": ("en",), "judges": 2, "agree": 2}
    maker = AgentMaker(AgentSpec(**{**order, **spec}))
    plan = Plan(
        benchmark=maker,
        source=maker.source(),
        models=dict.fromkeys(["agent", *maker.roles], model),
        profile=PROFILE,
    )
    run_plan(plan, folder / RECORD_FOLDER, command=[])
    generated = agent_items_from_record(maker, plan, folder)
    write_generated(generated, folder)
    return generated


@pytest.mark.long
def test_items_of_models_are_played_and_kept_with_their_votes(tmp_path: Path):
    found = made(tmp_path, Writer())
    assert (len(found.kept), found.losses) == (4, ())
    check_played(read(tmp_path))
    assert all([vote["valid"] for vote in made_by["votes"]] == [True, True] for _, made_by in found.kept)


def change_call(change: dict[str, Any]) -> Spoil:
    def spoil(reply: dict[str, Any]) -> None:
        reply["parts"][0][0]["arguments"].update(change)

    return edit("writer", spoil)


SPOILED: dict[str, tuple[Spoil, str]] = {
    "a call that fails": (edit("writer", lambda reply: {**reply, "before": []}), "E4"),
    "a tool that is not there": (
        edit(
            "writer",
            lambda reply: {**reply, "parts": [[{"name": "steal", "arguments": {}}]] * len(reply["parts"])},
        ),
        "E4",
    ),
    "a value that nobody said": (change_call({"amount": 77.31}), "E3"),
    "a value that is only a part of one that was said": (change_call({"amount": 90}), "E3"),
    "an account that is not there": (
        edit("writer", lambda reply: {**reply, "config": {"Finance": {"balances": {"none": 5}}}}),
        "E1",
    ),
    "settings of another shape": (
        edit("writer", lambda reply: {**reply, "config": {"Finance": {"logged_in": 5}}}),
        "E1",
    ),
    "settings that are no object": (
        edit("writer", lambda reply: {**reply, "config": {"Finance": [900]}}),
        "E1",
    ),
    "calls that are no list": (
        edit("writer", lambda reply: {**reply, "before": reply["before"][0]}),
        "E2",
    ),
    "a part too few": (edit("writer", lambda reply: {**reply, "parts": []}), "E2"),
    "a setting that is none": (
        edit("writer", lambda reply: {**reply, "config": {"Finance": {"rates": {}}}}),
        "E1",
    ),
    "another language": (
        edit("writer", lambda reply: {**reply, "question": "请转账。" + reply["question"]}),
        "E3",
    ),
    "a lookup alone": (
        edit(
            "writer",
            lambda reply: {
                **reply,
                "parts": [[{"name": "find_accounts", "arguments": {"owner": "Nora Whitfield"}}]]
                * len(reply["parts"]),
            },
        ),
        "E4",
    ),
    "a judge who objects": (
        edit("judge", lambda reply: {"valid": False, "where": "answer", "reason": "not what was asked"}),
        "doubtful",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("name", SPOILED)
def test_what_is_wrong_with_an_item_of_a_model_is_never_kept(name: str, tmp_path: Path):
    spoil, reason = SPOILED[name]
    found = made(tmp_path, Writer(spoil), items=2)
    losses = [json.loads(line) for line in (tmp_path / LOSSES_FILE).read_text("utf-8").splitlines()]
    assert losses
    assert all(reason in loss["reason"] for loss in losses), losses
    assert not found.kept


def test_a_record_alone_gives_the_set_again(tmp_path: Path):
    first = made(tmp_path, Writer(), items=ITEMS)
    again = made(tmp_path, Writer(), items=ITEMS)
    assert [item.id for item, _ in again.kept] == [item.id for item, _ in first.kept]
