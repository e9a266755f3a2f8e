"""What `wildtool generate` and `wildtool review` say, word by word: what cannot work, what was made, who reviews what."""

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from training.training_rows import call_row, text_row, write_rows
from wildtool.cli import app
from wildtool.training.procedures.pairs import SideLengths
from wildtool_data.commands.generate.pairs import print_lengths
from wildtool_data.commands.generate.select import (
    _arms_note,  # pyright: ignore[reportPrivateUsage]
    _train_command,  # pyright: ignore[reportPrivateUsage]
    print_next_round,
)
from wildtool_data.make.core.plan import SessionGenerationSpec
from wildtool_data.make.procedural.parts import set_settings


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [call_row(f"w{k}") if k % 3 else text_row(f"w{k}") for k in range(6)]
    write_rows(Path("good.jsonl"), rows)
    user = {"role": "user", "content": "q"}
    write_rows(Path("talk.jsonl"), [{"messages": [user, {"role": "assistant", "content": "r"}]}])


def printed(line: str) -> tuple[int, str, str]:
    ended = CliRunner().invoke(app, line.split(), prog_name="wildtool")
    return ended.exit_code, ended.stdout, ended.stderr


SELECT = "generate select good.jsonl --model baseline/chat"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("generate", "no model is named: give --model NAME, or --model procedural for templates"),
        ("generate --model procedural", "give a file: --out made.jsonl"),
        ("generate --model m", "give a folder: --out set"),
        (
            "generate --model procedural --dry-run -o x",
            "--dry-run and --cache need a model; procedural calls none",
        ),
        (
            "generate --model procedural --cache c -o x",
            "--dry-run and --cache need a model; procedural calls none",
        ),
        *(
            (
                f"generate --model procedural {option} -o x",
                f"{option.split()[0]} needs a model; procedural uses none",
            )
            for option in (
                "--role-model a=b",
                "--against good.jsonl",
                "--format raw",
                "--examples e.jsonl",
                "--clarify some",
            )
        ),
        (
            "generate --model m --on local:2 -o x",
            "--on needs --model procedural; models are asked by this process, with as many --concurrency as they bear",
        ),
        (
            "generate --model m --hold-out-tools 0.5 -o x",
            "--hold-out-tools splits your own tools here: add --tools FILE; sessions with --model procedural also take "
            "the built-in ones",
        ),
        ("generate --model m --format foo -o x", "unknown format 'foo' (known: raw, streamlined, calls)"),
        ("generate --model m --rpm 0 -o x", "--rpm is 0; it must be a number above 0"),
        ("generate --model procedural --lang fr -o x", "unknown language 'fr' (known: en, zh)"),
        (
            "generate --model procedural --hold-out-tools 1 -o x.jsonl",
            "--hold-out-tools 1: give a share between 0 and 1, such as 0.25",
        ),
        ("generate acebench --model m", "give a folder: --out set"),
        (
            "generate acebench --model m --judges 3 --agree 4 -o x",
            "--agree 4 must be 1 to 3, the number of votes",
        ),
        (
            "generate acebench --model m --judges 0 --agree 1 -o x",
            "--agree 1 must be 0 to 0, the number of votes",
        ),
        (
            "generate acebench --model m --judges 3 --agree 0 -o x",
            "--agree 0 must be 1 to 3, the number of votes",
        ),
        (
            "generate acebench --model m --from good.jsonl --tools t.json -o x",
            "--from uses the tools of the sessions; leave --tools out",
        ),
        *(
            (
                f"generate acebench --model procedural {option} -o x",
                "--role-model, --judges and --agree need a model; procedural uses none",
            )
            for option in ("--judges 3", "--agree 1", "--role-model a=b")
        ),
        ("generate tools --model m", "give a folder: --out toolbox"),
        (
            "generate tools --model procedural -o x",
            "templates cannot describe tools; name a model with --model. Sessions can be generated without one, over the"
            " built-in tools or your own",
        ),
        (
            "generate pairs good.jsonl --model procedural -o x",
            "templates cannot reply to training data; name a model with --model",
        ),
        ("generate pairs good.jsonl --model m", "give a folder: --out FOLDER"),
        (
            "generate pairs good.jsonl --model m --turns all -o x",
            "--turns all judges texts too; name a model for that with --critic NAME",
        ),
        (
            "generate pairs good.jsonl --model m --role-model x=y -o x",
            "--role-model 'x=y': give ROLE=NAME; roles are: agent, retry",
        ),
        (f"{SELECT} --by tries --threshold 3 -o x", "--threshold is not for --by tries; leave it out"),
        (f"{SELECT} --by tries --reference hide -o x", "--reference is not for --by tries; leave it out"),
        (f"{SELECT} --tries 3 -o x", "--tries is not for --by rating; leave it out"),
        (
            f"{SELECT} --by tries --cache c -o x",
            "--cache gives each request one reply, and tries are to differ; leave it out",
        ),
        (f"{SELECT} --round 2 -o x", "--round 2 is beyond --rounds 1"),
        (f"{SELECT} --without-seen -o x", "--without-seen is for --rounds 2 or more"),
        (
            "generate select good.jsonl ./good.jsonl --model baseline/chat -o x",
            "the same file is given twice; each file is a set, so give each once",
        ),
        (
            f"{SELECT} --rounds 2 --round 2 --without-seen -o x",
            "--without-seen needs x/round-1/audit.jsonl, which an earlier round writes; run that round first",
        ),
        (
            "review import talk.jsonl --to sessions -o x",
            "say what the files hold: --from openai|inspect|otel",
        ),
        ("review import talk.jsonl --from x", "unknown source 'x' (known: openai, inspect, otel)"),
        ("review import talk.jsonl --from openai", "give the file to write: --out cases.yaml"),
        ("review agree good.jsonl", "name the recorded runs: --runs FOLDER"),
        ("review export good.jsonl", "give the folder to write: --out release"),
        (
            "review serve good.jsonl --max-cost 3",
            "--max-cost limits what --model may spend; name a model, too",
        ),
        (
            "review serve good.jsonl --model m --max-cost inf",
            "--max-cost is inf; it must be a number from 0",
        ),
        (
            "review regenerate good.jsonl --model procedural",
            "tasks are made again by models; procedural is none",
        ),
        *(
            (
                f"review regenerate good.jsonl --model m --call 0 {more}".strip(),
                "--call is for one call: give --item ID and --from N with it, and no --keep-texts",
            )
            for more in (
                "",
                "--item a",
                "--from 1",
                "--item a --item b --from 1",
                "--item a --from 1 --keep-texts",
            )
        ),
    ],
)
def test_what_cannot_work_is_said(line: str, problem: str):
    assert printed(line) == (2, "", f"wildtool: {problem}\n")
    assert sorted(path.name for path in Path().iterdir()) == ["good.jsonl", "talk.jsonl"]


def test_a_file_in_which_no_user_says_anything_gives_no_draft():
    Path("silent.jsonl").write_text('{"messages": [{"role": "assistant", "content": "Hi"}]}\n')
    status, _, said = printed("review import silent.jsonl --from openai -o d.jsonl")
    assert (status, "nothing is written" in said) == (2, True)
    assert not Path("d.jsonl").exists()


def test_sets_made_from_templates():
    hold = "generate --model procedural --hold-out-tools 0.5"
    assert printed(f"{hold} --sessions 4 -o x.jsonl") == (
        0,
        "x.jsonl: 2 sessions, 20 tools\nx.held-out.jsonl: 2 sessions, 20 tools\n",
        "",
    )
    for _ in range(2):
        assert printed("generate --model procedural --sessions 1 -o y.jsonl") == (
            0,
            "y.jsonl: 1 session\n",
            "",
        )
    again = "y.jsonl is there already; name another file, or add --force to replace it"
    assert printed("generate --model procedural --sessions 2 -o y.jsonl") == (2, "", f"wildtool: {again}\n")
    assert printed("generate --model procedural --sessions 2 -o y.jsonl --force")[0] == 0
    items = "generate acebench --model procedural --items 1 -o it"
    run = "Run them: wildtool run acebench --data it/items --model NAME\n"
    for _ in range(2):
        assert printed(items) == (0, "it/items: 1 item, 0 lost\n", run)
    again = "it already exists; name another folder, remove it, or add --force to write into it"
    assert printed(f"{items} --seed 2") == (2, "", f"wildtool: {again}\n")
    assert printed(f"{items} --force")[0] == 0
    city = {"type": "string", "description": "The city."}
    parameters = {"type": "object", "properties": {"city": city}, "required": ["city"]}
    function = {"name": "go", "description": "Goes there.", "parameters": parameters}
    Path("one.json").write_text(json.dumps([{"type": "function", "function": function}]))
    why = "tools: no tool of these allows an item of the kind list"
    assert printed(f"{items[:-2]}no --tools one.json --kinds list") == (
        1,
        "no/items: 0 items, 1 lost\n",
        f"why items were lost: no/losses.jsonl; the first: {why}\n",
    )
    assert printed("review import talk.jsonl --from openai --to sessions -o d.jsonl") == (
        0,
        "d.jsonl: 1 draft, 0 left out\n  missing date: 1\nwildtool review d.jsonl\n",
        "",
    )


def test_parts_that_workers_make_become_one_file(monkeypatch: pytest.MonkeyPatch):
    asked: list[Any] = []

    @contextmanager
    def shared_parts(*given: Any, force: bool) -> Iterator[Iterator[bytes]]:
        asked.append((*given, force))
        yield map(gzip.compress, [b'{"id": 1}\n{"id": 2}\n1', b'{"id": 3}\n2'])

    monkeypatch.setattr("wildtool.scale.commands.shared_parts", shared_parts)
    line = "generate --model procedural --sessions 3 --seed s --on local:4 -o x.jsonl"
    status, out, err = printed(line)
    assert (status, out) == (0, "x.jsonl: 3 sessions\n")
    assert err.startswith("3 of 3 sessions have easier tasks than planned: ")
    assert Path("x.jsonl").read_bytes() == b'{"id": 1}\n{"id": 2}\n{"id": 3}\n'
    assert printed(f"{line} --force")[0] == 0
    settings = set_settings(SessionGenerationSpec(3, seed="s"), None)
    parts = "procedural", settings, 1, Path("x.jsonl"), "local:4"
    assert asked == [(*parts, False), (*parts, True)]


def test_pairs_and_selections_of_a_model():
    status, out, err = printed("generate pairs good.jsonl --model baseline/chat -o p")
    assert (status, out.splitlines()[-1]) == (0, "p/pairs.jsonl: 4 pairs, 4 of turns that no try solved")
    assert out.splitlines()[0] == "turns"
    assert err.splitlines()[-1] == "Next: wildtool data lint p/pairs.jsonl"
    assert err.splitlines()[-2].startswith("mean length: chosen 25, rejected ")
    assert printed("generate pairs good.jsonl --model baseline/chat -q -o q") == (
        0,
        "q/pairs.jsonl: 4 pairs, 4 of turns that no try solved\n",
        "",
    )
    status, out, err = printed("generate pairs good.jsonl --model baseline/chat --to llamafactory -o l")
    (name,) = json.loads(Path("l/dataset_info.json").read_text())
    assert f"in LLaMA-Factory's settings: dataset_dir: l, dataset: {name}, stage: dpo" in err.splitlines()
    assert status == 0
    none = "s/kept.jsonl: 0 of 6 records; there is nothing to draw for random.jsonl either"
    status, out, err = printed(f"{SELECT} --by tries -o s")
    assert (status, out.splitlines()[-1], "Next:" in err) == (0, none, False)
    status, out, err = printed(f"{SELECT} --by tries --rounds 2 -o r")
    assert status == 0
    assert err.splitlines()[-3:] == [
        "Round 1 of 2: train baseline/chat on r/round-1/kept.jsonl, and a second time on",
        "r/round-1/random.jsonl with equal settings: only the difference of both shows that selecting helped.",
        "Then: wildtool generate select good.jsonl --model TRAINED --rounds 2 --round 2 -o r",
    ]


# Parts -----------------------------------------------------------------------------------------------


def test_what_the_random_arm_has():
    def arms(**more: Any) -> str:
        fields = {"kept": 2, "shared": 0, "scored": 4, "asked": 4, "unfinished": 0}
        selection: Any = SimpleNamespace(**{**fields, **more})
        return _arms_note(selection)

    assert arms() == "as many in random.jsonl"
    assert arms(shared=1) == "as many in random.jsonl, 1 of them the same"
    assert arms(scored=0) == "no reply had a score that could be read: audit.jsonl has the replies"
    assert arms(scored=0, unfinished=1) == "as many in random.jsonl"
    assert arms(kept=4) == "all are kept, so nothing was chosen, and random.jsonl has the same"
    assert (
        arms(kept=0) == arms(kept=0, asked=0, scored=0) == "there is nothing to draw for random.jsonl either"
    )
    assert _train_command(Path("a b/kept.jsonl")) == (
        "wildtool data convert 'a b/kept.jsonl' --to llamafactory -o 'a b/train'"
    )


def test_the_next_round_and_the_lengths_of_pairs(capsys: pytest.CaptureFixture[str]):
    files, folder = [Path("a b"), Path("c")], Path("out/round-1")
    print_next_round(files, "m", Path("out"), folder, 2, 1, True)
    head = "train m on out/round-1/kept.jsonl, and a second time on\n"
    tail = "out/round-1/random.jsonl with equal settings: only the difference of both shows that selecting helped.\n"
    then = (
        "Then: wildtool generate select 'a b' c --model TRAINED --rounds 2 --round 2 --without-seen -o out\n"
    )
    assert capsys.readouterr().err == f"Round 1 of 2: {head}{tail}{then}"
    print_next_round(files, "m", Path("out"), folder, 2, 2, False)
    assert capsys.readouterr().err == f"Round 2 of 2: {head}{tail}"
    print_lengths(SideLengths(10.4, 15.0))
    print_lengths(SideLengths(10.0, 15.6))
    assert capsys.readouterr().err == (
        "mean length: chosen 10, rejected 15 characters\n"
        "mean length: chosen 10, rejected 16 characters; preference training may learn the length instead\n"
    )
