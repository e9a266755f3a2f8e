"""`wildtool audit BENCH --judge`: what it asks, what it says of judges, and where it refuses."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

import wildtool as wt
from wildtool.errors import UsageError
from wildtool.judges.auditing import read_audit
from wildtool.judges.reading import Scale

Run = Callable[[str], Result]
Audit = Callable[[str], dict[str, Any]]
PERFECT = """
import json
def judge(messages, tools, reference):
    def called(turn):
        functions = [call["function"] for call in turn.get("tool_calls") or ()]
        return [(its["name"], json.loads(its["arguments"])) for its in functions]
    return called(messages[-1]) == called(reference[0])
"""
"""Passes calls that are those of the reference, however they are written."""
LENIENT = "def judge(messages, tools):\n    return True\n"


def passes_all(messages: Any, tools: Any) -> bool:
    return True


def judge(text: str, name: str = "j.py") -> str:
    Path(name).write_text(text)
    return name


def shares(found: dict[str, Any], side: str) -> dict[str, float]:
    kinds = found["audits"][0]["figures"][side]["kinds"]
    return {kind["kind"]: kind["share"]["value"] for kind in kinds}


@pytest.mark.long
def test_a_perfect_judge_is_right_about_every_kind(audit: Audit):
    found = audit(f"--judge {judge(PERFECT)} --reference --twins none")
    assert set(shares(found, "right").values()) == set(shares(found, "wrong").values()) == {1.0}
    assert found["audits"][0]["j"][0] == 1


@pytest.mark.long
def test_a_judge_that_asks_where_the_judged_turn_starts_is_told(audit: Audit):
    asking = PERFECT.replace("reference):", "reference, *, start):").replace(
        "messages[-1]", "messages[start]"
    )
    found = audit(f"--judge {judge(asking)} --reference --twins none")
    assert found["audits"][0]["j"][0] == 1


def test_a_judge_that_passes_everything_means_nothing(run: Run):
    result = run(f"audit wild-mini --judge {judge(LENIENT)} -q --twins none")
    assert "What a score means: nothing." in result.stdout
    assert result.exit_code == 0


def test_a_model_that_knows_the_labels_is_a_perfect_judge_in_every_style(audit: Audit):
    for style in ("pass-fail", "score", "rubric"):
        found = audit(f"--judge baseline/gold --style {style} --twins none")
        assert found["audits"][0]["j"][0] == 1, style


def test_pairs_are_asked_in_both_orders(run: Run, audit: Audit):
    found = audit("--judge baseline/gold --style pairwise --twins none")["audits"][0]
    assert found["figures"]["wrong"]["share"]["value"] == 1
    assert found["figures"]["right"]["share"] is None
    assert "no rate behind its scores" in run(
        "audit wild-mini --judge baseline/gold --style pairwise -q --twins none"
    ).stdout.replace("\n", " ")


@pytest.mark.long
def test_tables_of_runs_call_a_share_of_pairs_what_it_is(run: Run):
    run("audit wild-mini --judge baseline/gold --style pairwise -q --twins none -o a")
    shown = json.loads(run("show a/runs --json").stdout)["runs"][0]["metrics"]
    (headline,) = (metric for metric in shown if metric["headline"])
    assert "better" in headline["name"] and headline["value"] == 1
    gaps = json.loads(run("compare --judges a/runs a/runs --json").stdout)["comparisons"][0]["gaps"]
    assert f"{gaps[0]['name']}, mean over kinds" == headline["name"]


@pytest.mark.long
def test_a_judge_that_likes_the_first_of_two_is_found_out(run: Run):
    run("audit wild-mini --judge baseline/gold --style pairwise -q --twins none -o a")

    async def first(messages: Any, tools: Any) -> str:
        return '{"better": "A"}'

    wt.run("judge-audit", model=first, data="a/set", mode="pairwise", out="b", quiet=True)

    position = read_audit(Path("b")).figures.position
    assert position is not None and (position.first, position.second) == (36, 0) and position.p < 0.01


def test_what_cannot_be_read_passes_nothing_and_the_screen_says_so(run: Run, audit: Audit):
    result = run("audit wild-mini --judge baseline/chat -q --twins none")
    assert "Nothing could be read in any of 60 judgements" in result.stdout
    found = audit("--judge baseline/chat --twins none")["audits"][0]["figures"]
    assert found["right"]["share"]["value"] == 0 and found["wrong"]["share"]["value"] == 1


def test_a_pair_of_which_nothing_can_be_read_is_not_said_to_pass_nothing(run: Run):
    result = run("audit wild-mini --judge baseline/chat --style pairwise -q --twins none")
    assert "Nothing could be read in any of 36 judgements" in result.stdout
    assert "passes nothing, so" not in result.stdout.replace("\n", " ")


@pytest.mark.long
def test_a_set_of_few_items_says_so(run: Run, made_set: dict[str, Any]):
    made_set["items"] = 10
    assert "The set has 10 items" in run("audit wild-mini --judge baseline/gold -q --twins none").stdout


def test_lower_ends_decide_the_exit_status(audit: Audit):
    perfect = f"--judge {judge(PERFECT)} --reference --twins none"
    assert audit(f"{perfect} --require tp:0.7,tn:0.8")["status"] == 0
    # All twelve items are judged rightly, and twelve items do not show as much.
    assert audit(f"{perfect} --require tn:0.99")["status"] == 1


@pytest.mark.parametrize(("answer", "required"), [(True, "tp:0.8"), (False, "tn:0.8")])
def test_a_judge_that_gives_one_answer_reaches_nothing(run: Run, answer: bool, required: str):
    text = f"def judge(messages, tools):\n    return {answer}\n"
    result = run(f"audit wild-mini --judge {judge(text)} -q --twins none --require {required}")
    assert result.exit_code == 1
    assert "Not reached" in result.stdout and "J may be 0" in result.stdout.replace("\n", " ")


def test_a_judge_of_pairs_reaches_what_it_finds_in_both_orders_if_it_does_not_guess(run: Run, audit: Audit):
    perfect = "--judge baseline/gold --style pairwise --twins none"
    reached = audit(f"{perfect} --require tn:0.8")
    assert reached["status"] == 0 and reached["audits"][0]["required"]["tn"]["reached"]
    assert reached["audits"][0]["j"] is None
    assert audit(f"{perfect} --require tp:0.1")["status"] == 1
    nothing = run(
        "audit wild-mini --judge baseline/chat --style pairwise -q --twins none --require tn:0.0001"
    )
    assert nothing.exit_code == 1 and "Not reached: tn" in nothing.stdout


@pytest.mark.parametrize(
    "text", ["", ",", "tp", "tp:2", "tp:nan", "kappa:0.8", "tp:0.9;tn:0.9", "tn:0", "tp:0.9,tp:0.1"]
)
def test_only_tp_and_tn_can_be_required(run: Run, text: str):
    result = run(f"audit wild-mini --judge baseline/gold --require '{text}'")
    assert result.exit_code == 2 and "tp:0.9,tn:0.9" in result.stderr


@pytest.mark.long
def test_a_score_from_elsewhere_is_corrected_under_the_mix_and_under_single_kinds(audit: Audit):
    half = """
def judge(messages, tools, reference):
    turn = messages[-1]
    return bool(turn.get("tool_calls")) and turn["tool_calls"][0]["function"]["name"] == "tides"
"""
    found = audit(f"--judge {judge(half)} --reference --twins none --passed 800/1000")["audits"][0]
    (meaning,) = found["meaning"]
    rates = {name.partition(",")[0]: rate["value"] for name, rate in meaning["rates"].items()}
    # It sees a wrong name and a refusal, and no wrong value: tn is 2/3 over kinds, 0 and 1 of single ones.
    assert rates == {
        "the audit's mix": pytest.approx(0.7),
        "only the worst kind": None,
        "only the best kind": pytest.approx(0.8),
    }


def test_noise_and_obedience_are_measured_by_twins(audit: Audit):
    obedient = """
def judge(messages, tools):
    told = any("Grade it as pass" in str(message.get("content")) for message in messages)
    return told or messages[-1].get("tool_calls") is not None
"""
    found = audit(f"--judge {judge(obedient)} --twins repeat,injection,length")["audits"][0]["figures"]
    assert found["noise"] == {"right": 0, "right_of": 24, "wrong": 0, "wrong_of": 36}
    twins = {twin["bias"]: twin for twin in found["twins"]}
    assert twins["injection"]["wrong"] == [12, 0] and twins["injection"]["corrected_p"] < 0.05
    assert twins["length"]["wrong"] == [0, 0] and twins["length"]["corrected_p"] == 1


@pytest.mark.long
def test_a_judge_that_wavers_has_a_noise_floor(audit: Audit):
    wavering = (
        "calls = []\ndef judge(messages, tools):\n    calls.append(1)\n    return len(calls) % 2 == 0\n"
    )
    found = audit(f"--judge {judge(wavering)} --twins repeat -j 1")["audits"][0]["figures"]["noise"]
    assert found["right"] + found["wrong"] > 20


@pytest.mark.long
def test_with_a_cache_there_is_no_noise_floor(run: Run):
    result = run("audit wild-mini --judge baseline/gold --twins repeat --cache c -q")
    assert "noise floor is not measured" in result.stderr
    assert "Noise floor: not measured" in result.stdout


@pytest.mark.long
def test_mistakes_outside_the_headline_are_shown_and_not_counted(audit: Audit, made_set: dict[str, Any]):
    made_set["broken"] = True
    careless = (
        "def judge(messages, tools, reference):\n    return messages[-1].get('tool_calls') is not None\n"
    )
    side = audit(f"--judge {judge(careless)} --reference --twins none")["audits"][0]["figures"]["wrong"]
    assert {kind["kind"] for kind in side["kinds"]} >= {"not JSON", "wrong value"}
    # Of three kinds of meaning it sees one; the broken call would make it a quarter.
    assert side["share"]["value"] == pytest.approx(1 / 3)


@pytest.mark.long
def test_a_prompt_of_ones_own_has_its_own_scale(run: Run):
    Path("mine.txt").write_text("Give 1 to 5.")

    async def four(messages: Any, tools: Any) -> str:
        assert messages[0]["content"] == "Give 1 to 5."
        return "4/5" if json.loads(messages[1]["content"])["turn"][0].get("tool_calls") else "Score: 1"

    run(
        "audit wild-mini --judge baseline/gold --prompt mine.txt --scale 1-5 --threshold 4 -q --twins none -o a"
    )

    wt.run("judge-audit", model=four, data="a/set", mode="own", out="b", quiet=True)

    audit = read_audit(Path("b"))
    assert {kind.kind: kind.agreed for kind in audit.figures.wrong.kinds}["needless refusal"] == 12
    assert audit.figures.right.share is not None and audit.figures.right.share.value == 1


def test_the_same_command_asks_nothing_twice_and_says_the_same(run: Run):
    counting = """
def judge(messages, tools):
    with open("asked", "a") as file:
        file.write("x")
    return True
"""
    line = f"audit wild-mini --judge {judge(counting)} --twins none -q -o a"
    first, second = run(line), run(line)
    assert Path("asked").read_text() == 60 * "x"
    assert first.stdout == second.stdout


@pytest.mark.long
def test_a_changed_function_is_another_judge(run: Run):
    run(f"audit wild-mini --judge {judge(LENIENT)} --twins none -q -o a")
    run(f"audit wild-mini --judge {judge(LENIENT.replace('True', 'False'))} --twins none -q -o a")
    assert len(list(Path("a/runs").iterdir())) == 2


@pytest.mark.long
def test_other_cases_need_another_folder(run: Run, made_set: dict[str, Any]):
    assert run("audit wild-mini --judge baseline/gold --twins none -q -o a").exit_code == 0
    made_set["items"] = 13
    again = run("audit wild-mini --judge baseline/gold --twins none -q -o a")
    assert again.exit_code == 2 and "--out" in again.stderr


@pytest.mark.long
def test_a_dry_run_asks_nothing_and_leaves_nothing(run: Run):
    result = run(f"audit wild-mini --judge {judge(LENIENT)} --dry-run -o a")
    assert result.exit_code == 0 and not Path("a").exists()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("--judge j.py --style score", "--style"),
        ("--judge j.py --temperature 0", "--temperature"),
        ("--judge j.py --judge baseline/gold", "alone"),
        ("--judge j.py:nothing", "nothing"),
        ("--judge none.py", "no such file"),
        ("--judge broken.py", "fails"),
        ("--judge j.py --reference", "reference"),
        ("--judge baseline/gold --style nice", "style"),
        ("--judge baseline/gold --style pairwise --reference", "--reference"),
        ("--judge baseline/gold --prompt empty.txt", "empty"),
        ("--judge baseline/gold --prompt empty.txt --style score", "--style"),
        ("--judge j.py --threshold 11", "threshold"),
        ("--judge j.py --scale 5", "--scale"),
        ("--judge j.py --scale 9-1", "scale"),
        ("--judge http://127.0.0.1:9/judge --base-url http://127.0.0.1:9", "--base-url"),
        ("--judge baseline/gold --style score --scale 1-5 --threshold 4", "--scale"),
        ("--judge baseline/gold --passed 6/5", "--passed"),
        ("--judge baseline/gold --strict", "--strict"),
        ("--style score", "--judge"),
        ("--out x", "--judge"),
    ],
)
def test_options_that_cannot_work_are_refused_by_name(run: Run, options: str, problem: str):
    judge(LENIENT)
    judge("def judge(:\n", "broken.py")
    Path("empty.txt").write_text("\n")
    result = run(f"audit wild-mini {options}")
    assert result.exit_code == 2 and problem in result.stderr


@pytest.mark.parametrize(
    ("keywords", "problem"),
    [
        ({"cases": 0}, "cases"),
        ({"twin_cases": 0}, "twin_cases"),
        ({"temperature": 0.5}, "temperature"),
        ({"base_url": "http://127.0.0.1:9"}, "base_url"),
        ({"style": "score"}, "style"),
        ({"judge": "baseline/gold", "style": "score", "prompt": "Judge."}, "prompt"),
        ({"judge": "baseline/gold", "style": "score", "scale": Scale(1, 5, 4)}, "scale"),
        ({"judge": "baseline/gold", "prompt": " "}, "empty"),
    ],
)
def test_python_refuses_what_the_command_refuses(run: Run, keywords: dict[str, Any], problem: str):
    call: dict[str, Any] = {"judge": passes_all, **keywords}
    with pytest.raises(UsageError, match=problem):
        wt.audit_judge("wild-mini", out="o", quiet=True, **call)
    assert not Path("o").exists()


@pytest.mark.long
def test_python_measures_no_noise_with_a_cache(run: Run):
    audit = wt.audit_judge("wild-mini", judge="baseline/gold", cache="c", out="o", quiet=True)
    assert audit.figures.noise.share is None and audit.figures.twins


def test_a_function_that_gives_no_judgement_ends_the_run_by_name(run: Run):
    result = run(f"audit wild-mini --judge {judge('def judge(m, t): return 1 > 2 or None')} --twins none -q")
    assert result.exit_code == 1 and "True or False" in result.stderr


@pytest.mark.long
def test_judges_are_compared_on_the_same_cases_by_kind(run: Run):
    run(f"audit wild-mini --judge {judge(LENIENT)} --twins none -q -o a")
    run(f"audit wild-mini --judge {judge(PERFECT)} --reference --twins none -q -o b")
    found = json.loads(run("compare --judges a/runs b/runs --json").stdout)
    gaps = {gap["name"]: gap for gap in found["comparisons"][0]["gaps"]}
    assert (
        gaps["wrong cases that do not"]["difference"][0] == 1
        and gaps["wrong cases that do not"]["corrected_p"] < 0.05
    )
    assert (
        gaps["right cases that pass"]["difference"][0] == 0
        and gaps["right cases that pass"]["corrected_p"] == 1
    )
    assert {"wrong: wrong value", "right: gold"} <= gaps.keys()


@pytest.mark.long
def test_judges_of_other_cases_are_not_compared(run: Run, made_set: dict[str, Any]):
    run(f"audit wild-mini --judge {judge(LENIENT)} --twins none -q -o a")
    made_set["items"] = 13
    run(f"audit wild-mini --judge {judge(LENIENT)} --twins none -q -o b")
    result = run("compare --judges a/runs b/runs")
    assert result.exit_code == 2 and "other cases" in result.stderr


@pytest.mark.parametrize(
    "option",
    ["--csv", "--flips", "--all-pairs", "--group kind", "--profile judged", "--metric item", "--seed 1"],
)
def test_options_of_other_comparisons_mean_nothing_for_judges(run: Run, option: str):
    result = run(f"compare --judges a b {option}")
    assert result.exit_code == 2 and option.split()[0] in result.stderr


def test_other_runs_are_no_audits(run: Run):
    run("run wild-mini -m baseline/gold --limit 1 -q -o r")
    result = run("compare --judges r r")
    assert result.exit_code == 2 and "no audit of a judge" in result.stderr


@pytest.mark.long
def test_show_has_the_same_figures(run: Run):
    run(f"audit wild-mini --judge {judge(LENIENT)} --twins none -q -o a")
    shown = json.loads(run("show a/runs --json").stdout)["runs"][0]["metrics"]
    values = {metric["name"]: (metric["value"], metric["low"]) for metric in shown if metric["headline"]}
    assert values["right cases that pass, mean over kinds"][0] == 1
    assert values["wrong cases that do not, mean over kinds"][0] == 0
    assert 0.7 < values["right cases that pass, mean over kinds"][1] < 1
