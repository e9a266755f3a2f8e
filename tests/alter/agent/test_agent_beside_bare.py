"""An agent's run beside that of its bare model: compare, the line about a run that goes on, pages of trajectories."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from alter.agent.agent_play import CODEX, OWN, PLAIN_STEP, Played, as_said, play
from report.report_build import ATTACK
from wildtool.alter.agent.agent import AgentAlteration
from wildtool.cli import app
from wildtool.engine.run.progress import ProgressObserver
from wildtool.engine.score.number_units import UnitsOfNumbers
from wildtool.report.model import read_runs
from wildtool.report.pages.trajectory_data import run_shards, set_shards
from wildtool.report.pages.trajectory_page import trajectory_writer
from wildtool.report.site.site import Site
from wildtool.types import Address, Message, Verdict

MISSING = "wildtool run wild-mini --model m --profile fixed --limit 4 --history own"
"""The command of the run that a comparison lacks."""


def altering(address: Address, reply: Message, before: Any) -> dict[str, Any]:
    """An agent that alters every call of the second session, and takes half a second a step."""
    record = dict(as_said(address, reply, before))
    if address.item == "wild_mini_1":
        record["calls"] = [{**call, "fate": "altered", "arguments": {"n": 1}} for call in record["calls"]]
    return record


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("beside")
    play(out / "bare", Played(around=None), OWN)
    play(out / "bare-gold", Played(around=None))
    play(
        out / "agent",
        Played(around=altering, wrong=lambda a: a.item == "wild_mini_1" and a.step == 1),
        OWN,
        CODEX,
    )
    play(out / "other", Played(), OWN, AgentAlteration("other", {}))
    return out


def compared(*words: str) -> dict[str, Any]:
    done = CliRunner().invoke(app, ["compare", *words, "--json"], prog_name="wildtool")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def said(*words: str) -> str:
    done = CliRunner().invoke(app, ["compare", *words], prog_name="wildtool")
    return " ".join(done.output.split())


def test_units_that_the_agent_touched_are_compared_apart(runs: Path):
    (pair,) = compared(str(runs / "bare"), str(runs / "agent"))["comparisons"]
    cuts = {part["name"]: part for part in pair["cuts"]["agent"]}
    touched = cuts["calls altered or answered by the agent"]
    rest = cuts["no call altered or answered by the agent"]
    assert touched["units"] + rest["units"] == pair["whole"]["units"] == 16
    assert touched["units"] > 0 and touched["accuracy"]["value"] < rest["accuracy"]["value"]
    assert {f"position {place}" for place in range(1, 5)} < cuts.keys() and "Clarify" in cuts
    assert pair["whole"]["lost"] == touched["lost"] + rest["lost"] > 0


def test_what_units_took_is_compared_with_intervals_and_the_exact_test(runs: Path):
    (pair,) = compared(str(runs / "bare"), str(runs / "other"))["comparisons"]
    amounts = {each["name"]: each for each in pair["amounts"]}
    assert amounts["calls"]["difference"] == 0 and amounts["calls"]["p"] == 1
    seconds = amounts["seconds in all"]
    assert seconds["difference"] == pytest.approx(0.5 * amounts["steps"]["value"])
    assert 0 < seconds["low"] <= seconds["difference"] <= seconds["high"]
    assert seconds["p"] == 2 / 2**4  # four items, all one way
    assert amounts["seconds of the model"]["difference"] == 0


@pytest.mark.long
def test_tools_that_only_one_of_them_called_are_named(runs: Path):
    (pair,) = compared(str(runs / "bare"), str(runs / "agent"))["comparisons"]
    tools = pair["tools"]
    assert tools["only_baseline"] and not tools["only_run"]
    uncalled = next(
        each for each in pair["amounts"] if each["name"] == "offered tools never called, per item"
    )
    assert uncalled["difference"] * 4 == sum(tools["only_baseline"].values())


@pytest.mark.long
def test_what_the_agent_did_itself_is_named_beside_what_its_model_did(runs: Path):
    bare, agent = compared(str(runs / "bare"), str(runs / "agent"))["runs"]
    assert "facts" not in bare
    assert "17,000" in agent["facts"]["agent"]["its prompt"]


@pytest.mark.long
def test_an_agent_is_compared_under_one_history_for_which_the_missing_run_is_named(runs: Path):
    text = said(str(runs / "bare-gold"), str(runs / "agent"))
    assert "differ in history: gold history and own" in text
    assert MISSING in text


@pytest.mark.long
def test_a_run_of_the_bare_model_is_named_where_it_is_missing(runs: Path):
    assert MISSING in said(str(runs / "agent"))
    assert MISSING in said(str(runs / "agent"), str(runs / "other"))
    assert "wildtool run" not in said(str(runs / "bare"), str(runs / "agent"))


@pytest.mark.long
def test_the_command_of_the_missing_run_sets_what_this_one_set(tmp_path: Path):
    sampling = {"temperature": 0.5, "stream": True, "extra_body": {"top_p": 0.9}}
    text = said(str(play(tmp_path / "run", Played(sampling=sampling), OWN, CODEX, limit=1)))
    for words in ("--temperature 0.5", "--stream", """--extra-body '{"top_p":0.9}'"""):
        assert words in text.replace('": ', '":')


def test_what_a_unit_without_a_verdict_took_and_called_is_compared_with_nothing(tmp_path: Path):
    fails = Played(around=as_said, fails=lambda a: "cut off" * (a.item != "wild_mini_0" and a.unit > "0"))
    play(tmp_path / "agent", fails, OWN, CODEX)
    play(tmp_path / "bare", Played(around=None), OWN)
    _, agent = (report := compared(str(tmp_path / "bare"), str(tmp_path / "agent")))["runs"]
    (pair,) = report["comparisons"]
    amounts = {each["name"]: each for each in pair["amounts"]}
    assert amounts["calls"]["units"] == 4 + 3
    uncalled = amounts["offered tools never called, per item"]
    assert (uncalled["units"], uncalled["difference"]) == (1, 0)
    assert not pair["tools"]["only_baseline"]
    assert "7 of 16" in str(agent["facts"]["agent"])


@pytest.mark.long
def test_two_bare_runs_are_compared_as_before(runs: Path):
    (pair,) = compared(str(runs / "bare"), str(runs / "bare-gold"))["comparisons"]
    assert pair["amounts"] == [] and pair["tools"] is None


def test_the_line_of_a_run_adds_up_what_became_of_calls():
    observer = ProgressObserver("m", lambda: 0.0, tally=CODEX.tally)
    observer.started(3)
    counts = {"calls_as_said": 4, "calls_altered": 2, "calls_never_arrived": 1, "turn_end": "answer"}
    observer.item_done("a", 0, [Verdict("a", "0", "correct", 1.0, None, "", 1, counts)])
    observer.item_done("b", 0, [Verdict("b", "0", "correct", 1.0, None, "", 1, {"turn_end": "limit"})])
    missing = Verdict("c", "0", "infra_error", 0.0, None, "tools missing: two of nine", 0)
    assert "units without all tools" not in observer.text(None)
    observer.item_done("c", 0, [missing])
    line = observer.text(None)
    assert "calls not as said: 3" in line and "turns not answered: 1" in line
    assert "units without all tools: 1" in line


# Pages ---------------------------------------------------------------------------------------------------


def first_steps(folder: Path) -> list[Any]:
    """The asides of each step of the first unit that makes calls: title, text, number of the call, whether after it."""
    shards = dict(
        [*set_shards(0, folder, "fixed"), *run_shards(0, folder, "fixed", folder, UnitsOfNumbers())]
    )
    units = [unit for name, its in shards.items() if name.startswith("tr-") for unit in its]
    unit = next(unit for unit in units if any(step[2][2] for step in unit["steps"][:-1]))
    return [step[5] if len(step) > 5 else [] for step in unit["steps"]]


@pytest.mark.long
def test_a_step_shows_what_became_of_each_call_and_how_the_turn_ended(runs: Path):
    *with_calls, last = first_steps(runs / "other")
    assert all(["executed as said", "", 0, False] in asides for asides in with_calls)
    assert ["end of the turn: answer", "", None, True] in last
    assert first_steps(runs / "bare") == [[]] * (len(with_calls) + 1)


def test_texts_of_a_hostile_agent_stay_texts(tmp_path: Path):
    def around(address: Address, reply: Message, before: Any) -> dict[str, Any]:
        calls = [
            {"id": id_, "name": ATTACK, "fate": ATTACK, "arguments": ATTACK, "result": ATTACK}
            for id_ in before
        ]
        tools = {"offered": 1, "own": [ATTACK * 40], "renamed": {ATTACK: ATTACK}}
        end = {"kind": ATTACK, "said": ATTACK, "detail": ATTACK}
        prompt = {"chars": 9, "text": ATTACK + "\ud800"}
        return {
            **PLAIN_STEP,
            "prompt": prompt,
            "tools": tools,
            "calls": calls,
            "end": end,
            "lost": {ATTACK: 1},
        }

    folder = play(tmp_path / "run", Played(around=around), AgentAlteration(ATTACK, {"version": ATTACK}))
    asides = [aside for asides in first_steps(folder) for aside in asides]
    assert any(title == ATTACK for title, *_ in asides)
    assert all(len(title) <= 300 for title, *_ in asides)
    site = Site(tmp_path / "site", title="report")
    with trajectory_writer(site, read_runs([folder])):
        pass
    site.finish(tmp_path / "site")
    for path in (tmp_path / "site").rglob("*"):
        if path.suffix in (".html", ".js"):
            assert ATTACK not in path.read_text("utf-8")


@pytest.mark.long
def test_a_unit_of_an_agent_is_shown_beside_that_of_its_bare_model(runs: Path, tmp_path: Path):
    site = Site(tmp_path / "site", title="report")
    names = ("bare-gold", "agent", "bare")
    with trajectory_writer(site, read_runs([runs / name for name in names])):
        pass
    site.finish(tmp_path / "site")
    (path,) = (tmp_path / "site").rglob("t.js")
    text = path.read_text("utf-8")
    rows = json.loads(text[text.index(",") + 1 : text.rindex(")")])["runs"]
    assert [row.get("plain") for row in rows] == [None, 2, None]
    assert rows[1]["set"] == rows[2]["set"] != rows[0]["set"]
