"""Exports in which results travel: Every Eval Ever, the Hub's results of models, agent trajectories, and passports."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from atif import Trajectory
from huggingface_hub._eval_results import parse_eval_result_entries
from typer.testing import CliRunner

from check.faulty_endpoint import Endpoint, Made, faults
from e2e.command import wildtool
from export.export_build import ODD, failing, play, written
from faults.server import Answer, Call, FaultServer, http
from wildtool.cli import app
from wildtool.engine.plan import ItemSample
from wildtool.engine.score.results import load_result
from wildtool.errors import UsageError
from wildtool.shapes import Reading, read_record
from wildtool.shapes.record_files import records_of
from wildtool.shapes.records import FoundConversation

SCHEMAS = Path(__file__).parents[3] / "shared" / "data" / "interop" / "eee"
needs_schemas = pytest.mark.skipif(not SCHEMAS.is_dir(), reason="Every Eval Ever's schemas are not at hand")
TEXT = {"type": "string"}
COUNT = {"type": "integer", "minimum": 0}


def an_object(required: str, **properties: Any) -> dict[str, Any]:
    closed = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**closed, "required": required.split()}


ATIF_STEP = an_object(
    "step_id source message",
    step_id={"type": "integer", "minimum": 1},
    source={"enum": ["system", "user", "agent"]},
    message=TEXT,
    timestamp=TEXT,
    reasoning_content=TEXT,
    is_copied_context={"type": "boolean"},
    tool_calls={
        "type": "array",
        "items": an_object(
            "tool_call_id function_name arguments",
            tool_call_id=TEXT,
            function_name=TEXT,
            arguments={"type": "object"},
            extra={"type": "object"},
        ),
    },
    observation=an_object(
        "results", results={"type": "array", "items": an_object("", source_call_id=TEXT, content=TEXT)}
    ),
    metrics=an_object(
        "", prompt_tokens=COUNT, completion_tokens=COUNT, cached_tokens=COUNT, extra={"type": "object"}
    ),
)
ATIF = an_object(
    "schema_version session_id agent steps",
    schema_version={"const": "ATIF-v1.7"},
    session_id=TEXT,
    agent=an_object(
        "name version", name=TEXT, version=TEXT, model_name=TEXT, tool_definitions={"type": "array"}
    ),
    steps={"type": "array", "items": ATIF_STEP},
    notes=TEXT,
    final_metrics=an_object(
        "",
        total_prompt_tokens=COUNT,
        total_completion_tokens=COUNT,
        total_cached_tokens=COUNT,
        total_steps=COUNT,
    ),
    extra={"type": "object"},
)
"""The format's tables as a schema, in the part that is used."""


def odd() -> Any:
    """Answers one odd reply after the other."""
    replies = iter(ODD * 3)
    return lambda request: next(replies)


def check_trajectory(document: dict[str, Any]) -> None:
    jsonschema.validate(document, ATIF)
    assert [step["step_id"] for step in document["steps"]] == list(range(1, len(document["steps"]) + 1))
    for step in document["steps"]:
        if step["source"] != "agent":
            assert not step.keys() & {"tool_calls", "metrics", "reasoning_content"}
        ids = {call["tool_call_id"] for call in step.get("tool_calls", ())}
        answered = {
            result.get("source_call_id") for result in step.get("observation", {"results": []})["results"]
        }
        assert answered - {None} <= ids


def trajectories(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(folder.glob("0*.json"))]


@pytest.mark.long
@needs_schemas
@pytest.mark.parametrize("answer", [None, failing, "odd"], ids=["gold", "failing", "odd"])
def test_records_of_every_eval_ever_pass_their_schemas(tmp_path: Path, answer: Any):
    folder = play(tmp_path / "run", *([] if answer is None else [odd() if answer == "odd" else answer]))
    (record,) = written("eee", folder, tmp_path).rglob("*.json")
    numbers = json.loads(record.read_text())
    jsonschema.validate(numbers, json.loads((SCHEMAS / "eval.schema.json").read_text()))
    samples = record.with_name(f"{record.stem}_samples.jsonl")
    details = numbers["detailed_evaluation_results"]
    assert details["checksum"] == sha256(samples.read_bytes()).hexdigest()
    assert details["file_path"].endswith(samples.relative_to(record.parents[4]).as_posix())
    validator = jsonschema.Draft7Validator(
        json.loads((SCHEMAS / "instance_level_eval.schema.json").read_text())
    )
    rows = [json.loads(line) for line in samples.read_text().splitlines()]
    assert len(rows) == details["total_rows"] == load_result(folder).counts.units
    for row in rows:
        assert not list(validator.iter_errors(row))
        assert row["evaluation_id"] == numbers["evaluation_id"]


def test_the_numbers_and_verdicts_are_those_of_the_run(tmp_path: Path):
    folder = play(tmp_path / "run")
    result = load_result(folder)
    (record,) = written("eee", folder, tmp_path).rglob("*.json")
    scores = {
        each["evaluation_result_id"]: each["score_details"]
        for each in json.loads(record.read_text())["evaluation_results"]
    }
    first = next(metric for metric in result.metrics if metric.headline)
    details = scores[f"{first.group}/{first.name}"]
    assert details["score"] == first.value
    assert details["uncertainty"]["confidence_interval"]["lower"] == first.low
    rows = record.with_name(f"{record.stem}_samples.jsonl").read_text().splitlines()
    assert sum(json.loads(row)["evaluation"]["is_correct"] for row in rows) == result.counts.correct


@pytest.mark.long
@pytest.mark.parametrize("answer", [None, "odd"], ids=["gold", "odd"])
def test_trajectories_have_the_shape_of_their_format(tmp_path: Path, answer: Any):
    folder = play(tmp_path / "run", *([] if answer is None else [odd()]))
    documents = trajectories(written("atif", folder, tmp_path))
    assert len(documents) == 4
    for document in documents:
        check_trajectory(document)


def test_results_belong_to_the_calls_and_history_is_marked_as_copied(tmp_path: Path):
    documents = trajectories(written("atif", play(tmp_path / "run"), tmp_path))
    steps = [step for document in documents for step in document["steps"]]
    results = [r for step in steps for r in step.get("observation", {"results": []})["results"]]
    assert results and all("source_call_id" in result for result in results)
    assert any(step.get("is_copied_context") for step in steps)
    assert all(
        ("metrics" in step) != ("is_copied_context" in step) for step in steps if step["source"] == "agent"
    )


def test_arguments_that_are_no_object_are_kept_beside_the_call_and_counted(tmp_path: Path):
    call = {"id": "c", "function": {"name": "f", "arguments": "[1"}}
    folder = play(tmp_path / "run", lambda request: {"content": None, "tool_calls": [call]})
    document = trajectories(written("atif", folder, tmp_path))[0]
    (own,) = [
        call
        for step in document["steps"]
        for call in step.get("tool_calls", ())
        if call["tool_call_id"] == "c"
    ]
    assert own["arguments"] == {} and own["extra"] == {"arguments": "[1"}
    assert document["notes"].startswith("1 calls")


def test_trajectories_of_an_earlier_export_do_not_stay(tmp_path: Path):
    target = written("atif", play(tmp_path / "run"), tmp_path)
    before = len(trajectories(target))
    assert len(trajectories(written("atif", play(tmp_path / "run"), tmp_path))) == before
    written("atif", play(tmp_path / "run"), tmp_path, only="wrong")
    assert not trajectories(target)


def read_back(document: Any) -> list[FoundConversation]:
    reading = Reading("trajectory.json")
    return [read_record(record, place) for place, record in records_of([(reading, document)], reading)]


def told(messages: list[Any]) -> list[Any]:
    """What messages say, whichever way their JSON is written."""
    return [
        (
            message["role"],
            message["content"] or "",
            message.get("tool_call_id"),
            [
                (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
                for call in message.get("tool_calls") or ()
            ],
        )
        for message in messages
    ]


def test_what_is_exported_as_trajectories_is_read_back(tmp_path: Path):
    folder = play(tmp_path / "run")
    documents = trajectories(written("atif", folder, tmp_path))
    found = [each for document in documents for each in read_back(document)]
    rows = [json.loads(line) for line in written("openai", folder, tmp_path).read_text().splitlines()]
    assert [told(each.messages) for each in found] == [told(row["messages"]) for row in rows]
    assert all([tool["function"]["name"] for tool in each.tools] for each in found)


def test_arguments_that_are_no_object_are_read_back(tmp_path: Path):
    call = {"id": "c", "function": {"name": "f", "arguments": "[1"}}
    folder = play(tmp_path / "run", lambda request: {"content": None, "tool_calls": [call]})
    (found,) = read_back(trajectories(written("atif", folder, tmp_path))[0])
    calls = [call for message in found.messages for call in message.get("tool_calls", ())]
    assert [call["function"]["arguments"] for call in calls if call["id"] == "c"] == ["[1"]


@pytest.mark.long
def test_trajectories_pass_the_models_of_the_package_atif(tmp_path: Path):
    documents = trajectories(written("atif", play(tmp_path / "run", odd()), tmp_path))
    assert len(documents) == 4
    for document in documents:
        Trajectory.model_validate(document)


def test_results_for_the_hub_have_the_headline_in_percent_with_its_interval(tmp_path: Path):
    folder = play(tmp_path / "run", ids=())
    target = written("hf-results", folder, tmp_path, hub_dataset="me/wild:all")
    (entry,) = yaml.safe_load(target.read_text())
    assert entry["dataset"] == {"id": "me/wild", "task_id": "all"} and entry["value"] == 100.0
    assert "95 % interval" in entry["notes"] and load_result(folder).data_sha256 in entry["notes"]
    (parsed,) = parse_eval_result_entries([entry])
    assert parsed.value == 100.0 and parsed.task_id == "all"


@pytest.mark.parametrize("name", [None, "wild", "/wild", "me/"])
def test_results_for_the_hub_need_the_name_of_a_dataset(tmp_path: Path, name: str | None):
    with pytest.raises(UsageError, match="--hub-dataset OWNER/NAME"):
        written("hf-results", play(tmp_path / "run"), tmp_path, hub_dataset=name)


def test_results_for_the_hub_need_all_verdicts(tmp_path: Path):
    with pytest.raises(UsageError, match="4 of 4 units have no verdict"):
        written("hf-results", play(tmp_path / "run", failing), tmp_path, hub_dataset="me/wild")


@pytest.mark.long
@pytest.mark.parametrize(
    ("settings", "words"),
    [({"limit": 2, "ids": ()}, "--limit 2"), ({"sample": ItemSample(8, 1), "ids": ()}, "sample")],
)
def test_results_for_the_hub_are_of_the_whole_benchmark(tmp_path: Path, settings: dict[str, Any], words: str):
    folder = play(tmp_path / "run", **settings)
    with pytest.raises(UsageError, match=f"{words}.*no mark"):
        written("hf-results", folder, tmp_path, hub_dataset="me/wild")


def broken(call: Call) -> Answer:
    name = call.body["tools"][0]["function"]["name"]
    made = Made(finish="tool_calls", tokens=5, prompt=9, calls=[{"id": "c", "name": name, "arguments": "{}"}])
    endpoint = Endpoint(faults()["10 object"])
    endpoint.fault.change(made, call.body)
    return Answer(http(200, json.dumps(endpoint.completion(made)).encode()))


async def test_a_passport_says_what_replies_show_of_the_endpoint(tmp_path: Path):
    server = FaultServer("ok")
    server.behave = broken
    async with server:
        words = ("run", "wild-mini", "-m", "m", "--base-url", server.base_url, "--limit", "1", "-o", "run")
        await wildtool(*words, cwd=tmp_path)
    await wildtool("export", "run", "--to", "csv", "-o", "run.csv", cwd=tmp_path)
    passport = json.loads((tmp_path / "run.csv.passport.json").read_text())
    (finding,) = passport["endpoint"]["findings"]
    assert finding["defect"] == 10 and finding["replies"] == passport["endpoint"]["replies"] > 0
    assert passport["settings"]["models"]["agent"]["settings"]["base_url"] == server.base_url


def test_a_passport_names_data_rules_and_every_number_with_its_interval(tmp_path: Path):
    folder = play(tmp_path / "run")
    result = load_result(folder)
    passport = json.loads(written("passport", folder, tmp_path).read_text())
    assert passport["data"]["sha256"] == result.data_sha256 and len(passport["rules"]["sha256"]) == 64
    assert [(n["name"], n["value"], n["low"]) for n in passport["numbers"]] == [
        (metric.name, metric.value, metric.low) for metric in result.metrics
    ]


@pytest.mark.long
def test_a_passport_is_written_beside_each_table_and_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    play(tmp_path / "run")
    monkeypatch.chdir(tmp_path)

    def exported(form: str) -> tuple[int, list[str]]:
        ended = CliRunner().invoke(
            app, ["export", "run", "--to", form, "-o", f"{form}/t"], prog_name="wildtool"
        )
        return ended.exit_code, ended.stdout.splitlines()

    for form, place in {
        "csv": "t.passport.json",
        "parquet": "t.passport.json",
        "hf-card": "t/passport.json",
        "eee": "t/passport.json",
    }.items():
        Path(form).mkdir()
        assert exported(form) == (0, [f"{form}/t", f"{form}/{place}"])
        assert Path(form, place).is_file()
    assert exported("csv") == (0, ["csv/t", "csv/t.passport.json"])


@pytest.mark.long
def test_no_reply_breaks_a_passport(tmp_path: Path):
    passport = json.loads(written("passport", play(tmp_path / "run", odd()), tmp_path).read_text())
    assert passport["evidence"]["units"] == 4
