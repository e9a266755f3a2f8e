"""The verbs that make sessions and refresh their values, as they are typed."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from wildtool.benchmarks.wildtoolbench.data import WILD_MINI_FILE
from wildtool.cli import app
from wildtool.scale.local import LocalLauncher


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def type_(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool")


def test_sessions_are_written_and_counted():
    ended = type_("generate --model procedural --sessions 3 --lang en,zh --out made.jsonl")
    assert (ended.exit_code, ended.stdout) == (0, "made.jsonl: 3 sessions\n")
    lines = Path("made.jsonl").read_text("utf-8").splitlines()
    assert [key for line in lines for key in json.loads(line) if key.endswith("_tasks")] == [
        "english_tasks",
        "chinese_tasks",
        "english_tasks",
    ]


@pytest.mark.long
def test_workers_write_the_sessions_of_one_process():
    for name, more in (("one", ""), ("two", " --on local:2")):
        ended = type_(
            f"generate --model procedural --sessions 4 --hold-out-tools 0.5 --out {name}.jsonl{more}"
        )
        assert ended.exit_code == 0, ended.stderr
    for kind in ("", ".held-out"):
        assert Path(f"one{kind}.jsonl").read_bytes() == Path(f"two{kind}.jsonl").read_bytes()
    assert {path.name for path in Path().iterdir() if path.name.startswith("two")} == {
        "two.jsonl",
        "two.held-out.jsonl",
    }


@pytest.mark.long
def test_after_an_end_in_the_second_file_the_same_command_continues(monkeypatch: pytest.MonkeyPatch):
    line = "generate --model procedural --sessions 4 --hold-out-tools 0.5 --on local:1 --out made.jsonl"
    begun: list[Path] = []

    def killed(self: LocalLauncher, url: str) -> None:
        begun.append(Path(url))
        if len(begun) == 2:
            raise KeyboardInterrupt
        start(self, url)

    start = LocalLauncher.start
    with monkeypatch.context() as patch:
        patch.setattr(LocalLauncher, "start", killed)
        assert type_(line).exit_code == 130
    assert [path.name for path in begun] == ["made.jsonl.parts", "made.held-out.jsonl.parts"]
    ended = type_(line)
    assert ended.exit_code == 0, ended.stderr
    assert {path.name for path in Path().iterdir()} == {"made.jsonl", "made.held-out.jsonl"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("generate --out x", "no model is named"),
        ("generate --model gpt --out x", "model 'gpt' needs an endpoint"),
        ("generate --model gpt", "give a folder: --out set"),
        ("generate --model gpt --role-model cook=a --out x", "roles are: user, planner, tool"),
        ("generate --model gpt --base-url http://127.0.0.1:1 --tools no.json --out x", "cannot read no.json"),
        ("generate --model gpt --base-url http://127.0.0.1:1 --rpm 0 --out x", "--rpm is 0"),
        (
            "generate --model gpt --format html --out x",
            "unknown format 'html' (known: raw, streamlined, calls)",
        ),
        (
            "generate --model procedural --role-model judge=a --out x",
            "--role-model needs a model; procedural uses none",
        ),
        ("generate --model procedural", "--out made.jsonl"),
        ("generate --model procedural --lang fr --out x", "unknown language 'fr'"),
        ("generate --model procedural --sessions 0 --out x", "at least one session"),
        ("generate --model procedural --tools no.json --out x", "cannot read no.json"),
        ("generate --model procedural --hold-out-tools 25 --out x", "a share between 0 and 1"),
        ("generate --model procedural --hold-out-tools 0.5 --sessions 1 --out x", "at least --sessions 2"),
        (
            "generate --model gpt --base-url http://127.0.0.1:1 --on local:2 --out x",
            "--on needs --model procedural",
        ),
        ("generate --model procedural --on mars:2 --out x", "expected local:N"),
        (
            "generate --model gpt --hold-out-tools 0.5 --out x",
            "--hold-out-tools splits your own tools here: add --tools FILE",
        ),
        ("data refresh wild-mini", "--out fresh.jsonl"),
    ],
)
def test_what_cannot_work_is_said_and_writes_nothing(line: str, said: str):
    ended = type_(line)
    assert ended.exit_code == 2
    assert said in ended.stderr
    assert not Path("x").exists()


def test_reasons_are_whole_and_of_many_the_first_are_said():
    many = {f"/a{k}": {"get": {"parameters": [{"$ref": f"#/gone/{k}/" + "x" * 300}]}} for k in range(30)}
    city = {"name": "city", "in": "query", "required": True, "schema": {"type": "string"}}
    many["/b"] = {"get": {"summary": "Find a place", "parameters": [city, {**city, "name": "day"}]}}
    Path("api.json").write_text(json.dumps({"openapi": "3.0.0", "paths": many}))
    ended = type_("generate --model procedural --tools api.json --sessions 1 --out x.jsonl")
    assert ended.exit_code == 0
    said = [line for line in ended.stderr.splitlines() if "left out" in line]
    assert len(said) == 20 and all(line.endswith("which is not in the file") for line in said)
    assert "… and 10 more like these" in ended.stderr.splitlines()


@pytest.mark.long
def test_a_set_is_refreshed():
    ended = type_("data refresh wild-mini --seed 3 --out fresh.jsonl")
    assert (ended.exit_code, ended.stdout) == (0, "fresh.jsonl: 32 sessions, 0 left out\n")
    assert Path("fresh.jsonl").read_bytes() != WILD_MINI_FILE.read_bytes()
    assert type_("data lint fresh.jsonl").exit_code == 0


def unclear() -> None:
    """Writes a file whose one session names something of no known role."""
    text = WILD_MINI_FILE.read_text("utf-8").splitlines()[3]
    record = json.loads(text)
    record["english_tools"][1]["function"]["parameters"]["properties"]["gizmo"] = {
        "type": "string",
        "description": "?",
    }
    record["english_answer_list"][1][1]["action"]["arguments"]["gizmo"] = "Bergamot"
    Path("unclear.jsonl").write_text(json.dumps(record) + "\n", "utf-8")


def test_an_unclear_session_is_refused_by_name():
    unclear()
    ended = type_("data refresh unclear.jsonl --out fresh.jsonl")
    assert ended.exit_code == 2
    assert "unclear.jsonl:1: wild_mini_3: list_devices.gizmo: 'Bergamot': its role is unclear" in ended.stderr
    assert not Path("fresh.jsonl").exists()


def test_an_unclear_session_can_be_left_out():
    unclear()
    ended = type_("data refresh unclear.jsonl --skip-unclear --out fresh.jsonl")
    assert (ended.exit_code, ended.stdout) == (0, "fresh.jsonl: 0 sessions, 1 left out\n")
    assert "left out wild_mini_3: list_devices.gizmo" in ended.stderr


def tool_names(file: str) -> set[str]:
    records = map(json.loads, Path(file).read_text("utf-8").splitlines())
    return {
        tool["function"]["name"]
        for record in records
        for key, tools in record.items()
        if key.endswith("_tools")
        for tool in tools
    }


def test_held_out_tools_are_in_the_second_file_alone():
    ended = type_(
        "generate --model procedural --sessions 16 --hold-out-tools 0.25 --lang en,zh --out made.jsonl"
    )
    assert ended.stdout == "made.jsonl: 12 sessions, 30 tools\nmade.held-out.jsonl: 4 sessions, 10 tools\n"
    assert not tool_names("made.jsonl") & tool_names("made.held-out.jsonl")
    linted = type_("data lint made.held-out.jsonl")
    assert linted.exit_code == 0, linted.output


def test_no_file_is_written_where_the_second_one_exists():
    Path("made.held-out.jsonl").write_text("mine", "utf-8")
    ended = type_("generate --model procedural --sessions 4 --hold-out-tools 0.25 --out made.jsonl")
    assert (ended.exit_code, Path("made.jsonl").exists()) == (2, False)


def test_of_one_set_of_tools_single_ones_are_held_out():
    tools = [
        {
            "type": "function",
            "function": {
                "name": f"find_{noun}",
                "description": f"Finds a {noun}.",
                "parameters": {
                    "type": "object",
                    "properties": {"city": {"type": "string", "description": "The city."}},
                    "required": ["city"],
                },
            },
        }
        for noun in ("hotel", "museum", "dentist", "garage", "school", "market", "station", "bakery")
    ]
    Path("tools.json").write_text(json.dumps(tools), "utf-8")
    ended = type_(
        "generate --model procedural --tools tools.json -n 4 --hold-out-tools 0.25 --out made.jsonl"
    )
    assert ended.exit_code == 0, ended.output
    held = tool_names("made.held-out.jsonl")
    assert len(held) == 2
    assert tool_names("made.jsonl") == {tool["function"]["name"] for tool in tools} - held
