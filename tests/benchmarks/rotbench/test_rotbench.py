"""RoTBench: its files as items, the corrected rules by example, its numbers, and the command over a folder."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from benchmarks.rotbench.reply_build import calling
from benchmarks.text_server import serving
from wildtool.benchmark import Check
from wildtool.benchmarks.rotbench import ROTBENCH
from wildtool.benchmarks.rotbench.data import RotRecord, parse_record
from wildtool.benchmarks.rotbench.judge import PROFILES, RoTRules
from wildtool.benchmarks.rotbench.summary import MEASURES
from wildtool.cli import app
from wildtool.declared import describe, lint
from wildtool.errors import DataError
from wildtool.types import Item, Reply, Transcript


def tool(name: str, *parameters: str, required: tuple[str, ...] = ()) -> dict[str, Any]:
    properties = {parameter: {"type": "string", "description": "x"} for parameter in parameters}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "description": "x", "parameters": schema}


TOOLS = (
    tool("opening_hours", "place", "day", required=("place",)),
    tool("random_joke"),
    tool("ask_to_user", "question", required=("question",)),
    tool("finish", "answer", required=("answer",)),
)
HOURS = calling("opening_hours", place="library", day="None")


def record(
    *answers: str, tools: tuple[dict[str, Any], ...] = TOOLS, id: str = "Turn 1: Open?"
) -> dict[str, Any]:
    return {
        "id": id,
        "scenario": "PL",
        "conversations": [
            {"from": "system", "value": f"Use tools:\n{json.dumps(list(tools))}\n\nLet's Begin!"},
            {"from": "user", "value": "Is it open?\nBegin!\n"},
            {"from": "assistant", "value": list(answers or [HOURS])},
        ],
    }


def parsed(*answers: str, tools: tuple[dict[str, Any], ...] = TOOLS) -> RotRecord:
    return parse_record(record(*answers, tools=tools), "clean", 1, "test")


def check(text: str | None, wanted: RotRecord, profile: str = "fixed") -> Check:
    return RoTRules(*PROFILES[profile]).check(text, wanted)


def levels(text: str, wanted: RotRecord) -> list[Any]:
    """What toleap and fixed say."""
    return [check(text, wanted, profile).fields["level"] for profile in ("toleap", "fixed")]


# Corrected faults ------------------------------------------------------------------------------------


def test_an_empty_input_is_an_input_q1():
    assert levels(calling("random_joke"), parsed(calling("random_joke"))) == [0, 3]


def test_words_for_the_user_are_not_compared_but_must_be_there_q2():
    wanted = parsed(calling("ask_to_user", question="Which library?"))
    assert levels(calling("ask_to_user", question="Which one do you mean?"), wanted) == [3, 3]
    assert levels(calling("ask_to_user", question=" "), wanted) == [3, 2]


def test_a_tool_that_noise_called_finish_is_compared_q3():
    tools = (tool("finish", "place"), tool("a", "question"), tool("b", "answer"))
    wanted = parsed(calling("finish", place="library"), tools=tools)
    assert levels(calling("finish", place="zoo"), wanted) == [3, 2]


def test_finish_means_the_renamed_tool_unless_another_is_called_so_q4():
    renamed = (tool("x", "place"), tool("ask_to_user", "question"), tool("f1nish", "answer"))
    taken = (tool("finish", "place"), tool("ask_to_user", "question"), tool("f1nish", "answer"))
    text = calling("finish", answer="done")
    assert levels(text, parsed(calling("f1nish", answer="It is open."), tools=renamed)) == [3, 3]
    assert levels(text, parsed(calling("f1nish", answer="It is open."), tools=taken)) == [3, 0]


def test_braces_in_a_text_end_nothing_q5():
    text = calling("opening_hours", place="lib {", day="x")
    assert levels(text, parsed(text)) == [0, 3]


def test_a_mention_of_action_in_the_thought_is_no_call_q6():
    assert levels(f"Thought: my next Action: look.\n{HOURS}", parsed()) == [0, 3]


def test_an_optional_parameter_with_its_documented_default_does_no_harm_q7():
    limited = tool("opening_hours", "place", "limit", required=("place",))
    limited["parameters"]["properties"]["limit"]["description"] = "Most results (default: 10)."
    wanted = parsed(calling("opening_hours", place="library"), tools=(limited, *TOOLS[1:]))
    assert levels(calling("opening_hours", place="library", limit="10"), wanted) == [1, 3]
    assert levels(calling("opening_hours", place="library", limit=10), wanted) == [1, 3]
    assert levels(calling("opening_hours", place="library", limit="11"), wanted) == [1, 1]


def test_a_number_is_what_it_is_written_as_q8():
    wanted = parsed(calling("opening_hours", place="5", day="None"))
    assert levels(calling("opening_hours", place=5, day="x"), wanted) == [2, 3]
    assert levels(calling("opening_hours", place=6, day="x"), wanted) == [2, 2]


def test_a_parameter_whose_value_does_not_matter_may_be_left_out_unless_required_q10():
    assert levels(calling("opening_hours", place="library"), parsed()) == [1, 3]
    wanted = parsed(calling("opening_hours", place="None", day="Monday"))
    assert levels(calling("opening_hours", day="Monday"), wanted) == [1, 1]


def test_a_value_counts_under_the_name_that_the_tool_declares_q11():
    tools = (tool("run", "code:", required=("code:",)), tool("ask", "q"), tool("finish", "answer"))
    wanted = parsed(calling("run", code="1 + 1"), tools=tools)
    assert levels(calling("run", **{"code:": "1 + 1"}), wanted) == [1, 3]
    assert levels(calling("run", **{"code:": "1 + 2"}), wanted) == [1, 1]


def test_the_authors_drop_parameters_of_any_value_for_the_answers_that_follow_q12():
    answers = (
        calling("opening_hours", place="museum", day="None"),
        calling("opening_hours", place="zoo", day="None"),
    )
    reply = calling("opening_hours", place="zoo", day="today")
    assert check(reply, parsed(*answers), "original").fields["level"] == 2
    assert levels(reply, parsed(*answers)) == [3, 3]


@pytest.mark.parametrize(
    ("between", "level"), [(" ", 3), ("\n", 3), (":", 3), ("\u00a0", 3), ("", 0), ("  ", 3), ("::", 0)]
)
def test_the_authors_skip_one_character_after_the_mark_whatever_it_is_q13(between: str, level: int):
    reply = f'Action: opening_hours\nAction Input:{between}{{"place": "library", "day": "x"}}'
    assert check(reply, parsed(), "original").fields["level"] == level
    assert levels(reply, parsed()) == [3, 3]


def test_one_more_parameter_is_wrong():
    assert levels(calling("opening_hours", place="library", day="x", hour="9"), parsed()) == [1, 1]


# Published rules where no recorded case decides --------------------------------------------------------


def test_a_reply_on_which_the_original_raises_is_wrong_and_says_so():
    found = check("", parsed(), "original")
    assert (found.correct, found.error, found.fields["reference_error"]) == (
        False,
        "Parsing Error",
        "IndexError",
    )


PIECES = [*'{}[]":,\\\n 1', "Action:", "Action Input:", "finish", "opening_hours", "place", "NaN", "null"]
EXTREMES = ["9" * 5000, "[" * 9000, "\ud800", HOURS[:-1]]
PARTS = st.just([1, {"type": "text", "text": HOURS}])
CONTENTS = st.lists(st.sampled_from([*PIECES, *EXTREMES])).map("".join) | st.text() | st.none() | PARTS


@given(CONTENTS)
def test_no_reply_makes_the_judge_raise(content: Any):
    item = Item("first-000", ("clean",), {"clean": parsed()}, split="first")
    for profile in ROTBENCH.profiles:
        (verdict,) = ROTBENCH.judge(
            item, {"clean": Transcript((Reply({"role": "assistant", "content": content}),))}, profile
        )
        assert verdict.outcome in ("correct", "wrong")


# Files -----------------------------------------------------------------------------------------------


def write(folder: Path, **files: list[dict[str, Any]]) -> Path:
    (folder / "First_Turn").mkdir(parents=True)
    for name, records in files.items():
        (folder / "First_Turn" / f"{name}.json.gz").write_bytes(gzip.compress(json.dumps(records).encode()))
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    one, two = record(), record(calling("random_joke"), id="Turn 1: A joke?")
    pair = [one, two, one, two]
    return write(tmp_path / "data", clean=[one, two], slight=pair, medium=pair, heavy=pair, union=[one, two])


def load(data: Path, split: str | None = None) -> list[Any]:
    return list(ROTBENCH.load(ROTBENCH.data.locate(str(data), split), split=split))


def test_a_record_and_its_noisy_variants_are_one_item(data: Path):
    items = load(data)
    assert [item.id for item in items] == ["first-000", "first-001"]
    assert items[0].units == (
        "clean",
        "slight-tools",
        "slight-parameters",
        "medium-tools",
        "medium-parameters",
        "heavy-tools",
        "heavy-parameters",
        "union",
    )


def test_a_split_is_one_environment(data: Path):
    assert [item.units for item in load(data, "heavy")] == [("heavy-tools", "heavy-parameters")] * 2


def test_one_file_is_enough(data: Path):
    assert [item.units for item in load(data / "First_Turn" / "clean.json.gz")] == [("clean",)] * 2


def test_a_file_is_the_same_data_compressed_or_not(data: Path, tmp_path: Path):
    plain = tmp_path / "clean.json"
    plain.write_bytes(gzip.decompress((data / "First_Turn" / "clean.json.gz").read_bytes()))
    packed = ROTBENCH.data.locate(str(data / "First_Turn" / "clean.json.gz"))
    assert packed.sha256 == ROTBENCH.data.locate(str(plain)).sha256


@pytest.mark.parametrize(
    ("split", "words"),
    [("loud", "unknown split 'loud'"), ("third", "Third_Turn"), ("third-clean", "Third_Turn/clean.json")],
)
def test_what_is_not_there_is_named(data: Path, split: str, words: str):
    with pytest.raises(DataError, match=words):
        load(data, split)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scenario": 3}, "record 0 .*field scenario: expected a text"),
        ({"conversations": []}, "expected a system turn"),
        ({"conversations": [*record()["conversations"][:2], {"value": ["Action: x"]}]}, "answer 0"),
    ],
)
def test_a_damaged_record_is_named(tmp_path: Path, change: dict[str, Any], words: str):
    folder = write(tmp_path / "data", clean=[record() | change])
    with pytest.raises(DataError, match=words):
        load(folder, "clean")


def test_lint_names_answers_that_the_tools_do_not_admit(tmp_path: Path):
    folder = write(tmp_path / "data", clean=[record(calling("opening_hours", hour="9"), calling("close"))])
    rules = [
        finding.rule
        for finding in lint(ROTBENCH, ROTBENCH.data.locate(str(folder / "First_Turn" / "clean.json.gz")))
    ]
    assert rules == ["unknown parameter", "unknown tool"]


# Numbers ---------------------------------------------------------------------------------------------


def wildtool(*words: object) -> str:
    ended = CliRunner().invoke(app, [*map(str, words)], prog_name="wildtool")
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def test_the_command_gives_every_measure_by_environment(data: Path, tmp_path: Path):
    wildtool(
        "run", "rotbench", "--data", data, "--model", "baseline/gold", "--out", tmp_path / "run", "--quiet"
    )
    shown = json.loads(wildtool("show", tmp_path / "run", "--all", "--json"))
    metrics = {(m["group"], m["name"]): m for m in shown["runs"][0]["metrics"]}
    for measure in MEASURES:
        assert metrics[measure, "slight"]["numerator"] == 2, "the joke's empty input is refused (Q1)"
        assert metrics[measure, "mean of environments"]["value"] == 0.5
    wildtool("score", tmp_path / "run", "--profile", "fixed")


def main_numbers(run: Path) -> set[tuple[str, str]]:
    """Group and name of each number that a table of models shows."""
    shown = json.loads(wildtool("show", run, "--all", "--json"))
    return {(m["group"], m["name"]) for m in shown["runs"][0]["metrics"] if m["headline"]}


def test_models_are_shown_by_their_means_and_by_the_first_measure_of_each_environment(
    data: Path, tmp_path: Path
):
    run = tmp_path / "run"
    wildtool("run", "rotbench", "--data", data, "--model", "baseline/gold", "--out", run, "--quiet")
    means = {(measure, "mean of environments") for measure in MEASURES}
    first = next(iter(MEASURES))
    environments = {(first, name) for name in ("clean", "slight", "medium", "heavy", "union")}
    assert main_numbers(run) == means | environments


def test_models_run_on_one_environment_are_shown_by_all_measures(data: Path, tmp_path: Path):
    run = ("run", "rotbench", "--data", data, "--split", "heavy", "--model", "baseline/gold")
    wildtool(*run, "--out", tmp_path / "run", "--quiet")
    assert main_numbers(tmp_path / "run") == {(measure, "heavy") for measure in MEASURES}


def test_one_environment_has_no_mean(data: Path, tmp_path: Path):
    run = ("run", "rotbench", "--data", data, "--split", "heavy", "--model", "baseline/gold")
    wildtool(*run, "--out", tmp_path / "run", "--quiet")
    shown = json.loads(wildtool("show", tmp_path / "run", "--all", "--json"))
    tables = {m["name"] for m in shown["runs"][0]["metrics"] if m["group"] in MEASURES}
    assert tables == {"heavy"}


def test_both_modes_send_the_texts_of_the_data(data: Path):
    item = load(data)[0]
    chat = ROTBENCH.rules("toleap").episode(item, "clean").request()
    raw = ROTBENCH.in_mode("completion").rules("toleap").episode(item, "clean").request()
    assert chat is not None and raw is not None
    assert [message["role"] for message in chat.messages] == ["system", "user"]
    assert raw.messages[0]["content"] == "".join(message["content"] for message in chat.messages)


def test_a_completion_run_sends_the_raw_text_and_scores_what_follows(data: Path, tmp_path: Path):
    run = (
        "run",
        "rotbench",
        "--data",
        data,
        "--split",
        "clean",
        "--model",
        "m",
        "--out",
        tmp_path / "run",
        "-q",
    )
    with serving(HOURS) as (url, received):
        wildtool(*run, "--mode", "completion", "--base-url", url, "--limit", 1, "--sampling", "original")
    ((path, body),) = received
    assert (body["temperature"], body["max_tokens"]) == (0, 512)
    assert path == "/v1/completions"
    assert body["prompt"].endswith("Let's Begin!Is it open?\nBegin!\n")
    shown = json.loads(wildtool("show", tmp_path / "run", "--json"))
    assert shown["runs"][0]["metrics"][0]["value"] == 1.0


def test_published_figures_are_numbers_of_the_summary():
    names = {
        (measure, name) for measure in MEASURES for name in ("clean", "slight", "medium", "heavy", "union")
    }
    assert {key for row in ROTBENCH.published() for key in row.values} == {
        *names,
        *ROTBENCH.headline.values(),
    }
    assert {row.profile for row in ROTBENCH.published()} == {"toleap"}


def test_a_trace_shows_the_call_that_the_text_makes():
    item = Item("first-000", ("clean",), {"clean": parsed()}, split="first")
    reply = Reply({"role": "assistant", "content": calling("opening_hours", place="zoo", day="None")})
    trace = ROTBENCH.rules("toleap").trace(item, "clean", Transcript((reply,)))
    assert [(call.name, call.status) for call in trace.gold] == [("opening_hours", "wrong")]
    assert [(d.where, d.expected, d.found) for d in trace.differences] == [
        ("opening_hours.place", "library", "zoo")
    ]


def test_data_are_described_by_environment(data: Path):
    described = {(m.group, m.name): m.value for m in describe(ROTBENCH, ROTBENCH.data.locate(str(data)))}
    assert described["records", "first, heavy"] == 4
    assert described["tools offered", "first, clean"] == 8
    assert described["no accepted answer with parameters", "first, slight"] == 2
    assert described["scenario", "PL"] == 16
