"""Seal-Tools: its files as items, the corrected rules by example, retrieval, and the command over a folder."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from benchmarks.sealtools.sealtools_build import BOAT, TIDE, parsed, record, tool, write_data
from benchmarks.text_server import serving
from wildtool.benchmarks.sealtools import SEALTOOLS
from wildtool.benchmarks.sealtools.data import SealRecord, parse_record
from wildtool.benchmarks.sealtools.judge import SCORERS, Counts
from wildtool.cli import app
from wildtool.declared import describe, lint
from wildtool.errors import DataError
from wildtool.types import Item, Reply, Transcript


def counted(calls: Any, wanted: SealRecord, profile: str = "fixed") -> Counts:
    return SCORERS[profile].counts(calls if isinstance(calls, str) else json.dumps(calls), wanted)[0]


def right(calls: Any, wanted: SealRecord) -> list[bool]:
    """Whether toleap and fixed find exactly the gold calls."""
    text = calls if isinstance(calls, str) else json.dumps(calls)
    return [SCORERS[profile].check(text, wanted).correct for profile in ("toleap", "fixed")]


# Corrected faults ------------------------------------------------------------------------------------


def test_values_are_compared_by_what_the_prompt_says_their_parameter_is_for():
    gold = {**TIDE, "parameters": {"harbour": "colou?r"}}
    reply = [{**gold, "parameters": {"harbour": "Colou?r"}}]
    plain = parsed(gold)
    pattern = parse_record(
        json.loads(json.dumps(record(gold)).replace("which", "regular expression of its name")), "test"
    )
    assert [counted(reply, wanted).ok_param for wanted in (plain, pattern)] == [1, 0]


def test_a_gold_call_counts_once_q1():
    assert [counted([TIDE, TIDE], parsed(), profile).ok_api for profile in ("toleap", "fixed")] == [2, 1]


def test_two_gold_calls_of_one_api_are_both_compared_q1():
    later = {**TIDE, "parameters": {"harbour": "Porto", "hour": "9"}}
    assert right([TIDE, later], parsed(TIDE, later)) == [False, True]
    assert right([later, TIDE], parsed(TIDE, later)) == [False, True]


def test_parameters_are_read_under_one_name_q2():
    both = {**TIDE, "arguments": TIDE["parameters"]}
    assert [counted([both], parsed(), profile).ok_param for profile in ("toleap", "fixed")] == [4, 2]


@given(
    st.lists(
        st.sampled_from(
            [
                "[{}]", '{{"calls": {}}}', '{{"note": "[x", "answer": {}}}', '{{"n": 2, "o": {{"api_list": {}}}}}',
                "```json\n{}\n```", "The calls are: {}", "{} That is all.", "api_calls = {}",
            ]
        ),
        max_size=3,
    )
)  # fmt: skip
def test_what_toleap_accepts_as_exactly_gold_is_accepted_in_any_wrap_q13(wraps: list[str]):
    text = json.dumps([TIDE, BOAT])
    for wrap in wraps:
        text = wrap.format(text)
    toleap, fixed = right(text, parsed(TIDE, BOAT))
    assert fixed or not toleap
    wrong = text.replace("Vigo", "Porto")
    assert right(wrong, parsed(TIDE, BOAT)) == [False, False]


def test_one_call_in_an_object_is_a_list_of_one_q13():
    assert right({"call": TIDE}, parsed()) == [False, True]


def test_the_skeleton_of_the_prompt_is_no_answer_q3():
    skeleton = '[{"api": "", "parameters": {"": ""}, "responses": ["API_call_0"]}]'
    assert right(f"{skeleton}\n{json.dumps([TIDE])}", parsed()) == [False, True]


def test_a_thought_is_no_answer_q3():
    assert right(f"<think>{json.dumps([BOAT])}</think>{json.dumps([TIDE])}", parsed()) == [False, True]


@pytest.mark.parametrize("value", ["Don't wait", "a [ b", "a ] b", 'say "x"', "it's [open"])
def test_signs_inside_of_texts_are_kept_q4_q5(value: str):
    call = {**TIDE, "parameters": {"harbour": value}}
    assert right([call], parsed(call))[1]
    assert right(repr([call]), parsed(call))[1], "as a Python literal"


def test_a_list_needs_no_order_of_keys_and_no_brackets_q6():
    turned = dict(reversed(list(TIDE.items())))
    assert right([turned], parsed()) == [False, True]
    assert right(json.dumps(TIDE), parsed()) == [False, True]
    assert right(f"{json.dumps(TIDE)}\n{json.dumps(BOAT)}", parsed(TIDE, BOAT)) == [False, True]


def test_results_may_be_left_out_q7():
    call = {key: TIDE[key] for key in ("api", "parameters")}
    assert right([call], parsed()) == [False, True]


def test_an_entry_that_is_no_call_is_an_error_and_ends_nothing_q8():
    for profile in ("toleap", "fixed"):
        found = counted([TIDE, "api finished", 7], parsed(), profile)
        assert (found.ok_api, found.missing_api) == (1, 2)
    assert SCORERS["toleap"].check(json.dumps([TIDE, 7]), parsed()).fields["reference_error"] == "TypeError"


def test_a_line_break_stays_q10():
    call = {**TIDE, "parameters": {"harbour": "a\nb"}}
    assert counted("[{'api': 'getTide', 'parameters': {'harbour': 'a\\nb'}}]", parsed(call)).ok_param == 1


def test_results_may_be_numbered_otherwise_q12():
    calls = [{**TIDE, "responses": ["API_call_5"]}, {**BOAT, "parameters": {"level": "API_call_5"}}]
    assert right(calls, parsed(TIDE, BOAT)) == [False, True]
    other = [TIDE, {**BOAT, "parameters": {"level": "API_call_9"}}]
    assert right(other, parsed(TIDE, BOAT)) == [False, False]


@pytest.mark.parametrize(
    ("gold", "given", "same"),
    [
        ("7", 7, True),
        ("37.50", 37.5, True),
        ("7", "8", False),
        (True, "true", True),
        (["a", "b"], ["a", "b"], True),
        (["a", "b"], ["b"], False),
        ("Vigo", "vigo ", True),
        ("Vigo", None, False),
    ],
)
def test_values_are_compared_by_meaning(gold: Any, given: Any, same: bool):
    wanted = parsed({**TIDE, "parameters": {"x": gold}})
    assert counted([{**TIDE, "parameters": {"x": given}}], wanted).ok_param == int(same)


def test_a_list_that_is_cut_off_is_no_list():
    assert counted(json.dumps([TIDE, BOAT])[:-1], parsed(TIDE, BOAT)).parsed == 0


PIECES = [*"{}[]\":,'\n 1", '"api"', '[{"api"', "getTide", "parameters", "response", "null"]
EXTREMES = ["9" * 5000, "[" * 3000, "\ud800", json.dumps([TIDE])[:-1]]
CONTENTS = st.lists(st.sampled_from([*PIECES, *EXTREMES])).map("".join) | st.text() | st.none()


@given(CONTENTS)
def test_no_reply_makes_the_judge_raise(content: Any):
    item = Item("dev-easy-0", ("0",), parsed(), split="dev")
    for profile in SEALTOOLS.profiles:
        for mode in SEALTOOLS.modes:
            reply = Reply({"role": "assistant", "content": content})
            (verdict,) = SEALTOOLS.in_mode(mode).judge(item, {"0": Transcript((reply, reply))}, profile)
            assert verdict.outcome in ("correct", "wrong")


# Files and numbers -----------------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path / "data")


def wildtool(*words: object, status: int = 0) -> str:
    ended = CliRunner().invoke(app, [*map(str, words)], prog_name="wildtool")
    assert ended.exit_code == status, ended.output
    return ended.stdout + ended.stderr


def metrics(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    shown = json.loads(wildtool("show", folder, "--all", "--json"))
    return {(metric["group"], metric["name"]): metric for metric in shown["runs"][0]["metrics"]}


def test_the_command_gives_the_seven_numbers_of_each_split(data: Path, tmp_path: Path):
    wildtool("run", "sealtools", "--data", data, "--model", "baseline/gold", "--out", tmp_path / "run", "-q")
    found = metrics(tmp_path / "run")
    assert {found[split, "parameter F1 (F1_param)"]["value"] for split in ("dev", "test", "nested")} == {1.0}
    assert found["single", "API recall (R_api)"]["denominator"] == 3
    assert found["mean of splits", "parameter F1 (F1_param)"]["value"] == 1.0


def test_retrieval_shows_what_was_found_and_reports_recall(data: Path, tmp_path: Path):
    run = tmp_path / "run"
    words = ("--data", data, "--model", "baseline/gold", "--out", run)
    said = wildtool("run", "sealtools", "--retriever", "bm25", "--retriever-top-k", 1, *words)
    assert "the 1 best of 5 tools are found by bm25" in said
    recall = metrics(run)["retrieval: recall@1", "all records"]
    assert 0 < recall["numerator"] < recall["denominator"] == 9
    (data / "tool.jsonl").write_text("{}", "utf-8")
    wildtool("run", "sealtools", "--retriever", "bm25", "--retriever-top-k", 2, *words, status=2)


def test_an_embedding_model_finds_tools_and_resuming_asks_it_nothing_again(data: Path, tmp_path: Path):
    with serving(json.dumps([TIDE])) as (url, received):
        run = ("run", "sealtools", "--data", data, "--split", "dev", "--model", "m", "--base-url", url)
        more = ("--retriever", "e", "--retriever-top-k", 2, "--out", tmp_path / "run", "-q")
        wildtool(*run, *more)
        paths = [path for path, _ in received]
        wildtool(*run, *more)
    assert sorted(paths) == ["/v1/chat/completions"] * 2 + ["/v1/embeddings"] * 3
    assert len(received) == len(paths)
    assert metrics(tmp_path / "run")["retrieval: recall@2", "all records"]["denominator"] == 3


def test_what_is_retrieved_is_sent_in_its_order(data: Path):
    benchmark = SEALTOOLS.in_mode("retrieval")
    source = benchmark.data.locate(str(data), "dev")
    item = next(iter(benchmark.load(source, split="dev")))
    episode = benchmark.rules("toleap").episode(item, "0")
    query = episode.request()
    assert query is not None and (query.role, query.messages[0]["content"]) == (
        "retriever",
        "Get the tide of Vigo.",
    )
    episode.advance({"content": '["feedGulls", "getTide", "unknown", "feedGulls"]'})
    request = episode.request()
    assert (
        request is not None
        and f"api_list = {[tool('feedGulls'), tool('getTide')]}\n" in request.messages[0]["content"]
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("rotbench", "--retriever", "bm25"), "no pool of tools"),
        (("sealtools", "--retriever-top-k", "3"), "works only with --mode retrieval"),
        (
            ("sealtools", "--retriever", "bm25", "--retriever-base-url", "http://127.0.0.1:1"),
            "embedding model",
        ),
        (("sealtools", "--retriever", "anthropic/x"), "gives no embeddings"),
    ],
)
def test_a_retriever_that_cannot_be_used_is_refused(
    words: tuple[str, ...], said: str, data: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    assert said in wildtool("run", *words, "--data", data, "--model", "baseline/gold", status=2)


def test_the_pool_belongs_to_the_data_only_where_it_is_used(data: Path):
    plain, with_pool = (
        SEALTOOLS.in_mode(mode).data.locate(str(data)).sha256 for mode in ("chat", "retrieval")
    )
    assert plain != with_pool


def test_the_same_files_are_the_same_data_in_another_folder(data: Path, tmp_path: Path):
    checkout = tmp_path / "checkout" / "Seal-Tools_Dataset"
    checkout.parent.mkdir()
    before = SEALTOOLS.data.locate(str(data)).sha256
    data.rename(checkout)
    assert SEALTOOLS.data.locate(str(checkout.parent)).sha256 == before


def test_one_file_of_records_finds_the_pool_above_it(data: Path):
    benchmark = SEALTOOLS.in_mode("retrieval")
    source = benchmark.data.locate(str(data / "dataset_for_finetune" / "dev.json.gz"))
    assert len(benchmark.data.documents(source)) == 5
    assert [item.roles for item in benchmark.load(source)] == [("retriever",)] * 2


@pytest.mark.parametrize(
    ("file", "split", "words"),
    [
        ("", "deev", "did you mean 'dev'"),
        ("nowhere", None, "no file or folder"),
        ("tool.jsonl", None, "not JSON"),
    ],
)
def test_what_is_not_there_is_named(data: Path, file: str, split: str | None, words: str):
    with pytest.raises(DataError, match=words):
        list(SEALTOOLS.load(SEALTOOLS.data.locate(str(data / file), split), split=split))


def test_lint_names_gold_that_the_offered_tools_do_not_admit(tmp_path: Path):
    closed = {**BOAT, "api": "closeBoat", "parameters": {"level": "API_call_7"}}
    path = tmp_path / "dev.json"
    path.write_text(json.dumps([record(TIDE, closed)]), "utf-8")
    found = [finding.rule for finding in lint(SEALTOOLS, SEALTOOLS.data.locate(str(path)))]
    assert found == ["tool not offered", "unknown parameter", "unknown result"]


def test_a_trace_shows_the_calls_of_the_list_and_not_what_was_retrieved(data: Path):
    benchmark = SEALTOOLS.in_mode("retrieval")
    item = list(benchmark.load(benchmark.data.locate(str(data), "dev"), split="dev"))[1]
    found, answer = ({"content": json.dumps(said)} for said in (["getTide"], [TIDE]))
    trace = benchmark.rules("toleap").trace(item, "0", Transcript((Reply(found), Reply(answer))))
    assert [(call.name, call.status) for call in trace.gold] == [("getTide", "done"), ("bookBoat", "missed")]
    assert [step.role for step in trace.steps] == ["retriever", "agent"]


def test_data_are_described_by_split(data: Path):
    described = {(m.group, m.name): m.value for m in describe(SEALTOOLS, SEALTOOLS.data.locate(str(data)))}
    assert (described["gold calls", "dev"], described["gold parameters", "dev"]) == (3, 5)
    assert (described["kind", "nested"], described["difficulty", "easy"]) == (3, 3)
