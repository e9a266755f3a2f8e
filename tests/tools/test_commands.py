"""`wildtool tools`, in this process: what its commands find, write, print and refuse."""

import json
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner, Result

from tools.choice_play import requests_file, tools
from tools.test_lint import GOOD
from wildtool.cli import app


def run(line: str, columns: int = 120) -> Result:
    return CliRunner().invoke(app, shlex.split(line), prog_name="wildtool", env={"COLUMNS": str(columns)})


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.json").write_text(json.dumps(tools(tides=GOOD, ferries="")))
    (tmp_path / "other.json").write_text(
        json.dumps(tools(tides=GOOD, ferries="Finds ferries between two islands"))
    )
    requests_file(tmp_path, [{"request": "Tides?", "tool": "tides"}, {"request": "Hi", "tool": None}])


def test_findings_are_printed_and_an_error_is_the_status():
    result = run("tools lint tools.json")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "2 tools of tools.json",
        "",
        "tool",
        "──────────────────────────────────────────────────────────────────────────────────────",
        "ferries  error  no description  say what the tool does, and when it is the one to take",
        "",
        (
            "1 of 2 tools have a finding. These are read from names and texts alone; wildtool tools try measures"
            " what they go with."
        ),
    ]
    assert run("tools lint tools.json", 50).stdout.splitlines()[4:7] == [
        "ferries  error  no description  say what the tool",
        "                                does, and when it",
        "                                is the one to take",
    ]
    sound = run("tools lint other.json")
    assert sound.exit_code == 0
    assert sound.stdout.splitlines() == [
        (
            "0 of 2 tools have a finding. These are read from names and texts alone; wildtool tools try measures"
            " what they go with."
        ),
    ]
    listed = run("tools lint tools.json --json")
    finding = {
        "where": "ferries",
        "rule": "no description",
        "message": "say what the tool does, and when it is the one to take",
        "level": "error",
    }
    shown = json.loads(listed.stdout)
    assert listed.exit_code == 1
    assert shown.pop("order").startswith("errors first")
    assert shown == {
        "tools": 2,
        "counts": [{"rule": "no description", "level": "error", "findings": 1, "tools": 1}],
        "worst": [{**finding, "tools": 1, "others": []}],
        "findings": [finding],
        "notes": [],
        "left_out": 0,
        "all": None,
    }


REFUSED = {
    "lint tools.json --mcp-env HOME": "--mcp-env is for a server that a command starts, such as mcp:'npx -y my-server'",
    "lint none.json": "none.json: there is no such file; give tools: a file, an address, or mcp: and a command",
    "try tools.json other.json --requests mine.jsonl": (
        "give one file or server of tools; two versions of one: wildtool tools compare OLD NEW"
    ),
    "try tools.json": (
        "tools.json: give --requests FILE; names and descriptions alone are checked by wildtool tools lint"
    ),
    "try none.json --requests mine.jsonl -m baseline/chat": (
        "none.json: there is no such file; --requests needs tools"
    ),
    "try none": "none: there is no such file or folder; give tools, or the folder of a run",
    "try tools.json -m baseline/chat": "--model needs --requests",
    "try tools.json --rpm 0": "--rpm is 0; it must be a number above 0",
    "compare tools.json none.json --requests mine.jsonl": (
        "none.json: there is no such file; --requests needs tools"
    ),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_meant_is_refused(words: str):
    refused = run(f"tools {words}")
    assert refused.exit_code == 2
    assert " ".join(refused.stderr.split()) == f"wildtool: {REFUSED[words]}"


OLDER_WORDS = {
    "catalogue tools.json": "tools lint tools.json",
    "catalogue other.json --json": "tools lint other.json --json",
    "catalogue other.json --requests mine.jsonl -m baseline/chat -q -o": (
        "tools try other.json --requests mine.jsonl -m baseline/chat -q -o"
    ),
    "catalogue --ab tools.json other.json --requests mine.jsonl -m baseline/chat -q -o": (
        "tools compare tools.json other.json --requests mine.jsonl -m baseline/chat -q -o"
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("older", OLDER_WORDS)
def test_the_older_verb_does_the_same_and_no_overview_lists_it(older: str):
    places = [" old", " new"] if older.endswith("-o") else ["", ""]
    before, after = run(older + places[0]), run(OLDER_WORDS[older] + places[1])
    assert (before.exit_code, before.stdout) == (after.exit_code, after.stdout)
    assert "catalogue" not in run("--help").stdout


def test_requests_without_a_model_are_written_for_a_run(tmp_path: Path):
    dry = run("tools try tools.json --requests mine.jsonl -o out --dry-run")
    assert (dry.exit_code, dry.stdout) == (0, "")
    assert dry.stderr.splitlines() == [
        "out/tools.json: would be written, for wildtool run own-tools --data out/tools.json -o out/runs/tools -m NAME"
    ]
    assert not (tmp_path / "out").exists()
    unnamed = run("tools try tools.json --requests mine.jsonl --dry-run")
    assert unnamed.stderr == dry.stderr.replace("out/", "runs/catalogue/")
    written = run("tools try tools.json --requests mine.jsonl -o out")
    assert (written.exit_code, written.stderr) == (
        0,
        "out/tools.json: written. wildtool run own-tools --data out/tools.json -o out/runs/tools -m NAME\n",
    )
    content = json.loads((tmp_path / "out" / "tools.json").read_text("utf-8"))
    assert content == {
        "wildtool": "own-tools",
        "catalogue": 1,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "tides",
                    "description": "Lists the tides of a harbour for one day, with height in metres",
                    "parameters": {"type": "object"},
                },
            },
            {
                "type": "function",
                "function": {"name": "ferries", "description": "", "parameters": {"type": "object"}},
            },
        ],
        "requests": [
            {
                "item": "mine-1",
                "unit": "request",
                "source": "own",
                "lang": "en",
                "messages": [{"role": "user", "content": "Tides?"}],
                "accepted": ["tides"],
            },
            {
                "item": "mine-2",
                "unit": "request",
                "source": "own",
                "lang": "en",
                "messages": [{"role": "user", "content": "Hi"}],
                "accepted": [],
            },
        ],
    }
    again = run("tools try tools.json --requests mine.jsonl -o out")
    assert again.exit_code == 0
    other = run("tools try other.json --requests mine.jsonl -o out")
    assert (other.exit_code, other.stderr) == (
        2,
        (
            "wildtool: out/tools.json: has other tools or requests, which runs elsewhere may need; name"
            " another folder with --out, or add --force to replace it\n"
        ),
    )
    forced = run("tools try other.json --requests mine.jsonl -o out --force")
    assert forced.exit_code == 0
    (tmp_path / "out" / "runs" / "tools").mkdir(parents=True)
    used = run("tools try tools.json --requests mine.jsonl -o out --force")
    assert (used.exit_code, used.stderr) == (
        2,
        "wildtool: out/tools.json: earlier runs had other tools or requests; name another folder with --out\n",
    )
    pair = run("tools compare tools.json other.json --requests mine.jsonl -o pair")
    assert (pair.exit_code, pair.stderr) == (
        0,
        (
            "pair/old.json: written. wildtool run own-tools --data pair/old.json -o pair/runs/old -m"
            " NAME\npair/new.json: written. wildtool run own-tools --data pair/new.json -o pair/runs/new -m NAME\n"
        ),
    )
    assert sorted(path.name for path in (tmp_path / "pair").iterdir()) == ["new.json", "old.json"]


@pytest.mark.long
def test_a_model_is_asked_and_the_report_printed(tmp_path: Path):
    asked = run("tools try other.json --requests mine.jsonl -m baseline/chat -o out --quiet")
    assert asked.exit_code == 0, asked.stderr
    assert asked.stdout.splitlines() == [
        "baseline/chat: 2 tools, 2 requests, 50.0 % right [5.5, 94.5].",
        "Confusions",
        "",
        "needed     called  times  right without it  to blame",
        "────────────────────────────────────────────────────",
        "tides   (no tool)    1/1               0/1     tides",
        "",
        "tides / (no tool): Say in tides for which requests it is the one to take, in the users' words.",
        "Tools, those to improve first",
        "",
        "tool     right         95 %  requests  drew others'  blamed  findings",
        "─────────────────────────────────────────────────────────────────────",
        "tides    0.0 %  [0.0, 79.3]         1             0       1",
        "ferries      –                      0             0       0",
        "",
        (
            "To blame: after a wrong call the same request is put once more without that tool. If the right"
            " tool is called then, the"
        ),
        "text of the wrong one draws; if not, the text of the right one is not recognised.",
    ]
    assert asked.stderr.splitlines()[-1] == "What to change first: out/pages/index.html"
    shown = run("tools try out/runs/tools")
    assert (shown.exit_code, shown.stdout) == (0, asked.stdout)
    listed = run("tools try out/runs/tools --json")
    assert [each["model"] for each in json.loads(listed.stdout)["runs"]] == ["baseline/chat"]
    pair = run("tools compare tools.json other.json --requests mine.jsonl -m baseline/chat -o pair -q")
    assert pair.exit_code == 0
    assert pair.stdout.splitlines() == [
        "baseline/chat: 1 tool differs between the two versions.",
        "New against old",
        "",
        "              requests     old     new  difference              95 %      p  gained  lost",
        "─────────────────────────────────────────────────────────────────────────────────────────",
        "all requests         2  50.0 %  50.0 %        +0.0  [-100.0, +100.0]  1.000       0     0",
        "",
        "The same requests to both versions; intervals are clustered by item, p is of the exact paired test.",
    ]
    assert sorted(path.name for path in (tmp_path / "pair" / "pages").glob("*.html")) == [
        "index.html",
        "run-1.html",
        "run-2.html",
    ]
    dry = run("tools try other.json --requests mine.jsonl -m baseline/chat -o dry --dry-run")
    assert dry.exit_code == 0
    assert not (tmp_path / "dry").exists()


@pytest.mark.parametrize(("status", "is_shown"), [(0, True), (3, True), (1, False), (2, False), (130, False)])
def test_a_report_is_shown_of_what_was_answered(status: int, is_shown: bool, monkeypatch: pytest.MonkeyPatch):
    shown: list[Path] = []
    asked: list[object] = []

    def execute_runs(runs: object, its_options: object, *, tables: bool) -> int:
        asked.append(tables)
        return status

    def report(folders: list[list[Path]], its: object, pages: Path) -> int:
        shown.extend((*folders[0], pages))
        return 0

    monkeypatch.setattr("wildtool.cli.commands.run.execute_runs", execute_runs)
    monkeypatch.setattr("wildtool.tools.commands.play.report", report)
    ended = run("tools try other.json --requests mine.jsonl -m baseline/chat -o out -q")
    assert (ended.exit_code, asked) == (status, [False])
    # The folder of the run, then that of the pages.
    assert shown == ([Path("out/runs/tools/baseline--chat"), Path("out/pages")] if is_shown else [])


def test_pages_of_somebody_else_are_not_overwritten(tmp_path: Path):
    line = "tools try other.json --requests mine.jsonl -m baseline/chat -q -o"
    assert run(f"{line} out").exit_code == 0
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "index.html").write_text("mine")
    (tmp_path / "own" / "pages").mkdir(parents=True)
    (tmp_path / "own" / "pages" / "index.html").write_text("mine")
    assert run(f"{line} own").exit_code == 2
    assert [path.name for path in (tmp_path / "own").iterdir()] == ["pages"], "nothing was begun"
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "tools.json").write_text("mine")
    written = "tools try other.json --requests mine.jsonl -o data"
    assert (run(written).exit_code, (tmp_path / "data" / "tools.json").read_text()) == (2, "mine")
    assert run(f"{written} --force").exit_code == 0
    refused = run("tools try out/runs/tools -o mine")
    assert (refused.exit_code, (tmp_path / "mine" / "index.html").read_text()) == (2, "mine")
    assert run("tools try out/runs/tools -o mine --force").exit_code == 0


@pytest.mark.parametrize("words", ["--ab wild-mini other", "--ab wild-mini own-tools", "own-tools other"])
def test_runs_of_own_tools_and_of_sizes_are_not_shown_together(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("wild-mini", "own-tools", "other"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr("wildtool.engine.score.results.run_folders", lambda path: [path])  # pyright: ignore
    monkeypatch.setattr(
        "wildtool.engine.record.run_folder.read_run",
        lambda folder: {"identity": {"benchmark": folder.name}},  # pyright: ignore
    )
    refused = run(f"catalogue {words}")
    assert (refused.exit_code, refused.stderr.splitlines()[-1]) == (
        2,
        "wildtool: give runs of own-tools alone, as `wildtool tools try TOOLS --requests FILE` makes them",
    )


def test_files_of_sizes_are_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        "wildtool.report.charts.render.render_chart",
        lambda chart: SimpleNamespace(svg=b"<svg/>"),  # pyright: ignore
    )
    assert run("run wild-mini -m baseline/chat --limit 1 --among 12 -o runs -q").exit_code == 0
    for name in ("sizes.csv", "sizes.svg"):
        out = tmp_path / name.replace(".", "-")
        out.mkdir()
        (out / name).write_text("mine")
        assert run(f"catalogue runs -o {out.name}").exit_code == 2
        assert [(path.name, path.read_text()) for path in out.iterdir()] == [(name, "mine")]
        assert run(f"catalogue runs -o {out.name} --force").exit_code == 0
        assert sorted(path.name for path in out.iterdir()) == ["sizes.csv", "sizes.svg"]
