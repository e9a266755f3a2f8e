"""`wildtool audit RUN --blame` as it is typed: who is asked again, what it costs, what it refuses, what it writes."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import wildtool
from blame.echoes import BENCHMARK, FOLLOWING, Body, answering, echo
from long import WHOLE
from wildtool.cli import app

WILD_MINI = Path(wildtool.__file__).parent / "data" / "wild_mini.jsonl"
EPISODES = [
    "acebench",
    "--data",
    "finance",
    "--mode",
    "fc",
    "--split",
    "agent_finance_multi_turn",
    "-p",
    "fixed",
]


def typed(*words: object, status: int = 0) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == status, result.output
    return result.stdout if status == 0 else result.output


def blamed(*words: object, status: int = 0) -> dict[str, Any]:
    result = CliRunner().invoke(app, ["audit", *map(str, words), "--blame", "--json"])
    assert result.exit_code == status, result.output
    return json.loads(result.stdout)


def says(text: str) -> Callable[[Body], str]:
    """A model that repeats its user, and a user that says this."""
    return lambda body: text if body["model"] == "liar" else echo(body)


def run_with_user(out: Path, url: str, benchmark: str = BENCHMARK) -> Path:
    """A model that repeats whatever the user says, and a user that says the wrong word."""
    file = out.parent / "echoes.py"
    file.write_text(benchmark)
    typed("run", file, "-m", "echo", "--base-url", url, "--user-model", "liar", "-q", "-o", out)
    return out


@pytest.fixture
def lexical(tmp_path: Path) -> Path:
    typed("run", "wild-mini", "-n", 3, "-m", "baseline/lexical", "-p", "fixed", "-q", "-o", tmp_path / "run")
    return tmp_path / "run"


def test_a_user_that_says_the_wrong_thing_is_blamed(tmp_path: Path):
    with answering(says("wrong")) as (url, _):
        run = run_with_user(tmp_path / "run", url)
        result = blamed(run, "--base-url", url, "-k", 2)
    assert [(row["cause"], row["units"], row["share"]) for row in result["causes"]] == [("user", 4, 1.0)]
    assert (result["score"], result["judged"], result["failed"]) == (0.0, 4, 4)
    assert {row["party"]: row["score"] for row in result["scores"]}["user"] == 1.0
    assert [(row["turned"], row["said_before"]) for row in result["units"]] == [(None, None)] * 4, (
        "no call differs"
    )


def test_a_reply_that_the_endpoint_cut_is_the_endpoints_fault(tmp_path: Path):
    cut = {"message": {"role": "assistant", "content": "wr"}, "finish_reason": "length"}
    broken = [True]

    def answer(body: Body) -> str | dict[str, Any]:
        return (
            cut if broken[0] and body["model"] == "echo" else echo(body) if body["model"] == "echo" else "two"
        )

    with answering(answer) as (url, _):
        run = run_with_user(tmp_path / "run", url)
        broken[0] = False
        result = blamed(run, "--base-url", url, "-k", 1)
    causes = {row["item"]: row["cause"] for row in result["units"]}
    assert causes == {
        "two": "endpoint",
        "one": "endpoint and user",
        "three": "endpoint and user",
        "four": "endpoint and user",
    }
    assert [row["turned"] for row in result["units"] if row["item"] == "two"] == [1]


def test_the_same_command_asks_nothing_again_and_replies_are_reused_only_for_the_same_request(tmp_path: Path):
    with answering(says("wrong")) as (url, received):
        run = run_with_user(tmp_path / "run", url)
        before = len(received)
        first = blamed(run, "--base-url", url, "-k", 2)
        asked = len(received)
        assert blamed(run, "--base-url", url, "-k", 2) == first
        assert len(received) == asked
    # A control asks for the model's two replies and, as their words may differ, the user's second; a right user the
    # model's two; a right model the user's second. The user's first words are those of the record.
    assert all(len(body["messages"]) > 1 or body["model"] == "echo" for body in received[before:])


@pytest.mark.long
def test_an_estimate_is_at_least_what_is_asked_and_sends_and_writes_nothing(tmp_path: Path):
    with answering(says("wrong")) as (url, received):
        run = run_with_user(tmp_path / "run", url)
        before = len(received)
        text = typed("audit", run, "--blame", "--dry-run", "--base-url", url, "-k", 2)
        assert "cost unknown" in text
        total = blamed(run, "--dry-run", "--base-url", url, "-k", 2)["total"]
        assert len(received) == before
        assert not (run / "blame").exists()
        blamed(run, "--base-url", url, "-k", 2)
        calls = re.search(r"At most (\d+) calls", text)
        assert calls is not None
        assert 0 < len(received) - before <= int(calls[1]) == total["calls"]
        assert total["cost"] is None


def test_calls_that_fail_decide_nothing_and_the_same_command_goes_on(tmp_path: Path):
    down = [False]

    def answer(body: Body) -> str | dict[str, Any]:
        if down[0] and body["model"] == "echo" and "three" in echo(body):
            return {"message": {}, "finish_reason": "error"}
        return says("wrong")(body)

    with answering(answer) as (url, _):
        run = run_with_user(tmp_path / "run", url)
        down[0] = True
        first = blamed(run, "--base-url", url, "-k", 1, status=3)
        assert {row["item"]: row["cause"] for row in first["units"]}["three"] == "undecided"
        assert (first["undecided"], [row["units"] for row in first["causes"]]) == (1, [3])
        down[0] = False
        assert blamed(run, "--base-url", url, "-k", 1)["undecided"] == 0


def test_an_address_is_never_taken_from_the_record(tmp_path: Path):
    with answering(says("wrong")) as (url, received):
        run = run_with_user(tmp_path / "run", url)
        before = len(received)
        assert url in typed("audit", run, "--blame", "--base-url", "http://127.0.0.1:9/v1", status=2)
        typed("audit", run, "--blame", status=2)
    assert len(received) == before


@pytest.mark.long
def test_a_tools_model_at_its_own_address_is_given_in_the_config_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    with answering(echo) as (url, _), answering(echo) as (tools_url, _):
        own = ("--history", "own", "--tools-model", "tools", "--tools-base-url", tools_url)
        typed(
            "run",
            "wild-mini",
            "-n",
            1,
            "-m",
            "echo",
            "--base-url",
            url,
            *own,
            "-p",
            "fixed",
            "-q",
            "-o",
            "run",
        )
        assert "wildtool.toml" in typed("audit", "run", "--blame", "--base-url", url, status=2)
        Path("wildtool.toml").write_text(f'[models.tools]\nmodel = "tools"\nbase_url = "{tools_url}"\n')
        assert blamed("run", "--base-url", url, "-k", 1)["tried"]


@pytest.mark.long
def test_a_limit_of_money_needs_prices_and_ends_it_in_between(tmp_path: Path):
    prices = tmp_path / "prices.json"
    prices.write_text(
        json.dumps({"models": {name: {"input": 1e3, "output": 1e3} for name in ("echo", "liar")}})
    )
    with answering(says("wrong")) as (url, _):
        run = run_with_user(tmp_path / "run", url)
        assert "echo" in typed("audit", run, "--blame", "--max-cost", 1, "--base-url", url, status=2)
        words = ("--max-cost", 0.3, "--prices", prices, "--base-url", url, "-j", 1)
        result = blamed(run, *words, status=3)
    assert "--max-cost" in result["stopped"]
    assert result["undecided"] == 4


@pytest.mark.long
def test_of_a_recorded_history_the_model_is_all_that_can_be_right(lexical: Path):
    result = blamed(lexical)
    assert [row["cause"] for row in result["causes"]] == ["model, others not excluded"]
    assert set(result["cannot_replace"]) == {"gold", "tool", "history", "user"}
    assert all(result["cannot_replace"].values())


def test_a_unit_that_even_gold_answers_fail_is_not_called_the_models_fault(tmp_path: Path):
    wrong_gold = BENCHMARK.replace('"content": self.word', '"content": self.word.replace("four", "five")')
    with answering(says("wrong")) as (url, _):
        run = run_with_user(tmp_path / "run", url, wrong_gold)
        result = blamed(run, "--base-url", url, "-k", 1)
    causes = {row["item"]: row["cause"] for row in result["units"]}
    assert causes == {"one": "user", "two": "user", "three": "user", "four": "gold fails too"}


@pytest.mark.long
@pytest.mark.parametrize("format_", ["hermes", "auto"])
def test_a_model_is_asked_in_the_format_of_the_run(tmp_path: Path, format_: str):
    with answering(lambda body: "I cannot.") as (url, _):
        words = ("-n", 1, "-m", "m", "--base-url", url, "--tool-format", format_, "-p", "fixed", "-q")
        typed("run", "wild-mini", *words, "-o", tmp_path / "run")
        assert blamed(tmp_path / "run", "--base-url", url, "-k", 1)["tried"]


def test_of_a_run_without_a_wrong_unit_nothing_is_asked(tmp_path: Path):
    typed("run", "wild-mini", "-n", 1, "-m", "baseline/gold", "-p", "fixed", "-q", "-o", tmp_path / "run")
    assert "No unit of the run is wrong" in typed("audit", tmp_path / "run", "--blame")
    assert blamed(tmp_path / "run")["causes"] == []


@pytest.mark.long
def test_of_an_own_history_earlier_tasks_are_a_party(tmp_path: Path):
    words = [
        "-n",
        4 if WHOLE else 2,
        "-m",
        "baseline/lexical",
        "--history",
        "own",
        "-p",
        "fixed",
        "-q",
        "-o",
        tmp_path / "run",
    ]
    typed("run", "wild-mini", *words)
    result = blamed(tmp_path / "run", "-k", 1)
    assert "history" not in result["cannot_replace"]
    # A first task follows none.
    first = [row for row in result["units"] if row["unit"] == "0"]
    assert {row["cause"] for row in first} <= {"model, others not excluded"}


def test_a_unit_is_tried_with_the_units_that_it_follows_from_as_they_were_recorded(tmp_path: Path):
    file = tmp_path / "following.py"
    file.write_text(FOLLOWING)
    begins = ["right", "wrong"]
    with answering(lambda body: begins.pop() if echo(body) == "begin" else echo(body)) as (url, _):
        typed("run", file, "-m", "m", "--base-url", url, "-q", "-o", tmp_path / "run")
        result = blamed(tmp_path / "run", "--base-url", url, "-k", 1)
    assert {row["unit"]: row["cause"] for row in result["units"]} == {
        "first": "model, by chance",
        "second": "model, others not excluded",
    }


@pytest.mark.long
def test_live_lines_count_the_plays_of_tried_units_alone_and_each_run_has_its_own(tmp_path: Path):
    words = ("-n", 2, "-m", "baseline/first-tool", "--history", "own", "-p", "fixed", "-q")
    typed("run", "wild-mini", *words, "-o", tmp_path / "run")
    result = CliRunner().invoke(app, ["audit", str(tmp_path / "run"), "--blame", "-k", "2", "--json"])
    ended = re.findall(r"(control\S*.*): (\d+)/(\d+) plays · (\S+) % right", result.stderr)
    last = {label: (int(done), int(total), right) for label, done, total, right in ended}
    assert len(last) > 1
    assert all(done == total and right == "0.0" for done, total, right in last.values())
    assert sum(total for _, total, _ in last.values()) == 2 * json.loads(result.stdout)["tried"]


@pytest.mark.long
def test_a_sample_is_the_same_each_time_and_says_what_it_is_of(lexical: Path, tmp_path: Path):
    some = [blamed(lexical, "--sample", 3, "-o", tmp_path / name) for name in ("a", "b")]
    assert some[0] == some[1]
    every = blamed(lexical)
    assert (some[0]["tried"], some[0]["failed"]) == (3, every["tried"])
    units = {(row["item"], row["unit"]) for row in every["units"]}
    assert {(row["item"], row["unit"]) for row in some[0]["units"]} < units


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--expose", "search"), "search"),
        (("--history", "own", "--tools-model", "baseline/user"), None),
        (("--history", "none"), None),
        (("--noise", "names:slight"), None),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_played_again_is_refused_by_name(
    tmp_path: Path, words: tuple[str, ...], why: str | None
):
    run = tmp_path / "run"
    typed("run", "wild-mini", "-n", 2, "-m", "baseline/first-tool", *words, "-p", "fixed", "-q", "-o", run)
    if why is None:
        assert blamed(run, "-k", 1)["causes"]
    else:
        assert why in typed("audit", run, "--blame", status=2)


def test_a_run_with_another_role_is_refused_by_the_name_of_the_role(tmp_path: Path):
    file = tmp_path / "searching.py"
    retriever = '"retriever": Role("finds words", default="baseline/user"), '
    file.write_text(
        BENCHMARK.replace("roles = {", "roles = {" + retriever).replace('("user",)', '("user", "retriever")')
    )
    typed("run", file, "-m", "baseline/chat", "-q", "-o", tmp_path / "run")
    assert "the role retriever" in typed("audit", tmp_path / "run", "--blame", status=2)


def test_replies_without_requests_are_refused(lexical: Path, tmp_path: Path):
    replies = tmp_path / "replies.jsonl"
    replies.write_text(
        json.dumps({"item": "wild_mini_0", "model": "m", "tasks": [[{"content": "hi"}]]}) + "\n"
    )
    typed("score", "--data", "wild-mini", "--replies", replies, "-o", tmp_path / "imported")
    assert "imported" in typed("audit", tmp_path / "imported" / "m", "--blame", status=2)


def test_a_model_that_answers_by_place_is_refused(lexical: Path, tmp_path: Path):
    again = tmp_path / "again"
    typed("run", "wild-mini", "-n", 3, "-m", f"replay:{lexical}", "-p", "fixed", "-q", "-o", again)
    text = typed("audit", again, "--blame", status=2)
    assert "--model" in text


def test_another_model_may_be_asked_and_the_result_says_so(lexical: Path):
    result = blamed(lexical, "--model", "baseline/gold", "-k", 1)
    assert result["asked_again"] == {"agent": "baseline/gold"}
    assert result["models"] == {"agent": "baseline/lexical"}
    assert [row["cause"] for row in result["causes"]] == ["model, by chance"]


@pytest.mark.long
def test_table_and_page_say_that_another_user_was_asked(tmp_path: Path):
    with answering(says("wrong")) as (url, _):
        run = run_with_user(tmp_path / "run", url)
        text = typed("audit", run, "--blame", "--base-url", url, "--user-model", "stranger", "-k", 1)
    page = (run / "blame" / "blame.html").read_text()
    assert all("stranger" in said and "liar" in said for said in (text, page))


def test_options_of_other_audits_are_refused_beside_it_and_its_own_without_it(lexical: Path):
    assert "--strict" in typed("audit", lexical, "--blame", "--strict", status=2)
    assert "--blame" in typed("audit", "wild-mini", "--plays", 3, status=2)
    assert "--blame" in typed("audit", "wild-mini", "--base-url", "http://127.0.0.1:9", status=2)


@pytest.mark.long
def test_plays_of_another_record_are_not_continued(lexical: Path, tmp_path: Path):
    blamed(lexical, "-o", tmp_path / "plays")
    other = tmp_path / "other"
    typed("run", "wild-mini", "-n", 2, "-m", "baseline/lexical", "-p", "fixed", "-q", "-o", other)
    assert "another --out" in typed("audit", other, "--blame", "-o", tmp_path / "plays", status=2)


@pytest.mark.long
def test_reviewed_gold_answers_of_other_questions_say_nothing(tmp_path: Path):
    typed("run", *EPISODES, "-n", 2, "-m", "baseline/chat", "-q", "-o", tmp_path / "run")
    words = ("--reviewed", "finance", "-k", 1)
    assert "gold" not in blamed(tmp_path / "run", *words)["cannot_replace"]
    typed("run", "wild-mini", "-n", 2, "-m", "baseline/chat", "-p", "fixed", "-q", "-o", tmp_path / "mini")
    typed("audit", tmp_path / "mini", "--blame", "--reviewed", tmp_path / "none.jsonl", status=2)


@pytest.mark.long
def test_the_score_with_right_gold_rests_on_units_that_the_reviewed_data_ask_alike(
    lexical: Path, tmp_path: Path
):
    first, rest = WILD_MINI.read_text().split("\n", 1)
    item = json.loads(first)
    reviewed = tmp_path / "reviewed.jsonl"
    item["english_env_info"] += " Other words."
    reviewed.write_text(json.dumps(item) + "\n" + rest)
    result = blamed(lexical, "--reviewed", reviewed, "-k", 1)
    score = next(row for row in result["scores"] if row["party"] == "gold")
    assert 0 < result["unreviewed"] == result["tried"] - score["tried"]


@pytest.mark.long
def test_reviewed_gold_answers_say_nothing_of_a_unit_that_they_continue_where_its_record_ends(tmp_path: Path):
    altered = tmp_path / "altered.jsonl"
    altered.write_text(
        WILD_MINI.read_text().replace('"amount":42.18,"category"', '"amount":43.18,"category"')
    )
    common = ("-p", "fixed", "-n", 2, "-q")
    typed("run", "wild-mini", "-m", "baseline/gold", *common, "-o", tmp_path / "gold")
    typed(
        "run",
        "wild-mini",
        "-d",
        altered,
        "-m",
        f"replay:{tmp_path / 'gold'}",
        *common,
        "-o",
        tmp_path / "run",
    )
    result = blamed(tmp_path / "run", "--model", "baseline/gold", "--reviewed", "wild-mini", "-k", 1)
    assert (result["tried"], result["unreviewed"]) == (1, 1)
    assert "gold" not in {row["cause"] for row in result["units"]}


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "model", "cause"),
    [("timeout", "never-retries", "tool, recoverable"), ("permission", "gold", "tool")],
)
def test_a_failing_tool_is_named_and_whether_the_model_could_have_recovered(
    tmp_path: Path, kind: str, model: str, cause: str
):
    words = (
        "--failures",
        f"first-call,{kind}",
        "-m",
        f"baseline/{model}",
        "-n",
        4,
        "-q",
        "-o",
        tmp_path / "run",
    )
    typed("run", *EPISODES, *words)
    result = blamed(tmp_path / "run", "-k", 1)
    assert {row["cause"] for row in result["causes"]} == {cause}
    assert {row["party"]: row["score"] for row in result["scores"]}["tool"] == 1.0
    assert "baseline/user" in result["cannot_replace"]["user"]


def test_a_page_shows_both_trajectories_and_runs_nothing_that_a_model_said(tmp_path: Path):
    with answering(says("<script>alert(1)</script><img src=http://127.0.0.1/x onerror=alert(1)>")) as (
        url,
        _,
    ):
        run = run_with_user(tmp_path / "run", url)
        blamed(run, "--base-url", url, "-k", 1)
    page = (run / "blame" / "blame.html").read_text()
    assert "As it was recorded" in page
    assert "With the user right" in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    assert "<img src=http" not in page


@pytest.mark.long
def test_plays_do_not_count_as_runs(lexical: Path):
    blamed(lexical)
    result = json.loads(typed("show", lexical.parent, "--json"))
    assert len(result["runs"]) == 1
