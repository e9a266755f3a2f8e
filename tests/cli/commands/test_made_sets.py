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
from wildtool.errors import UsageError
from wildtool.sets.commands.generate import execute
from wildtool.sets.commands.generate.execute import (
    GenerationResult,
    response_formats,
    role_models,
    set_result,
    vote_counts,
)
from wildtool.sets.commands.generate.items import _share_votes  # pyright: ignore[reportPrivateUsage]
from wildtool.sets.commands.generate.options import ResponseFormat, parse_languages
from wildtool.sets.commands.generate.pairs import print_lengths
from wildtool.sets.commands.generate.select import (
    _arms_note,  # pyright: ignore[reportPrivateUsage]
    _train_command,  # pyright: ignore[reportPrivateUsage]
    print_next_round,
)
from wildtool.sets.commands.generate.sessions import _held_sessions  # pyright: ignore[reportPrivateUsage]
from wildtool.sets.commands.review.logs import _entry_line  # pyright: ignore[reportPrivateUsage]
from wildtool.sets.commands.review.regenerate import _folder  # pyright: ignore[reportPrivateUsage]
from wildtool.sets.commands.review.start import _print_overview  # pyright: ignore[reportPrivateUsage]
from wildtool.sets.make.core.plan import SessionGenerationSpec
from wildtool.sets.make.procedural.parts import set_settings
from wildtool.sets.prepare.procedures.pairs import SideLengths
from wildtool.types import Metric


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
                "--role-model, --against and --format need a model; procedural uses none",
            )
            for option in ("--role-model a=b", "--against good.jsonl", "--format raw")
        ),
        (
            "generate --model m --on local:2 -o x",
            "--on needs --model procedural; models are asked by this process, with as many --concurrency as they bear",
        ),
        (
            "generate --model m --hold-out-tools 0.5 -o x",
            "--hold-out-tools needs --model procedural; give models a file of tools for each set",
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
        ("review import talk.jsonl", "say what the files hold: --from openai|inspect|otel"),
        ("review import talk.jsonl --from x", "unknown source 'x' (known: openai, inspect, otel)"),
        ("review import talk.jsonl --from openai", "give the file to write: --out drafts.jsonl"),
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
    assert printed("review import talk.jsonl --from openai -o d.jsonl") == (
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


def test_models_of_roles_and_their_votes():
    roles, voting = ("agent", "judge", "checker"), ("judge", "checker")
    assert role_models(None, roles) == {}
    assert role_models(["agent=a", "judge=b", "judge=c=d", "judge=e"], roles, voting) == {
        "agent": "a",
        "judge": "b",
        "judge 2": "c=d",
        "judge 3": "e",
    }
    options: Any = SimpleNamespace(role_model=["judge=b", "judge=c", "agent=x"])
    assert vote_counts(options, roles, voting) == {"judge": 2, "checker": 1}
    for texts, problem in (
        (["x=a"], "--role-model 'x=a': give ROLE=NAME; roles are: agent, judge, checker"),
        (["agent"], "--role-model 'agent': give ROLE=NAME; roles are: agent, judge, checker"),
        (["agent= "], "--role-model 'agent= ': give ROLE=NAME; roles are: agent, judge, checker"),
        (
            ["agent=a", "agent=b"],
            "--role-model 'agent=b': agent is a already; several models can be: judge, checker",
        ),
    ):
        with pytest.raises(UsageError) as refused:
            role_models(texts, roles, voting)
        assert str(refused.value) == problem
    with pytest.raises(UsageError, match=r"agent is a already$"):
        role_models(["agent=a", "agent=b"], roles)


def test_what_a_servers_reply_is_held_to(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(execute, "reply_schemas", lambda prompts: {"planner": {"p": 1}, "result": {"r": 1}})
    benchmark: Any = SimpleNamespace(prompts=None, templates={"tool": "result"})
    assert response_formats(benchmark, None) == {}
    plain = {"type": "json_object"}
    assert response_formats(benchmark, ResponseFormat.json_object) == dict.fromkeys(
        ("planner", "result", "tool"), plain
    )

    def schema(name: str, fields: dict[str, int]) -> dict[str, Any]:
        return {"type": "json_schema", "json_schema": {"name": name, "schema": fields}}

    assert response_formats(benchmark, ResponseFormat.json_schema) == {
        "planner": schema("planner", {"p": 1}),
        "result": schema("result", {"r": 1}),
        "tool": schema("result", {"r": 1}),
    }


def test_languages_votes_and_shares():
    assert parse_languages(None) == ("en",)
    assert parse_languages(["zh,en", "zh"]) == ("zh", "en")
    roles = ["agent", "writer", "judge", "judge 2", "judge 3"]
    assert _share_votes(["judge=a", "writer=w", "judge=b"], roles) == [
        "writer=w",
        "judge=a",
        "judge 2=b",
        "judge 3=a",
    ]
    assert _share_votes(["writer=w"], roles) == ["writer=w"]
    assert [
        _held_sessions(*given) for given in ((2, 0.01), (2, 0.99), (10, 0.25), (9, 0.5), (9, 0.01), (9, 0.99))
    ] == [1, 1, 2, 4, 1, 8]
    for sessions, share in ((10, 0.0), (10, 1.0), (1, 0.5)):
        with pytest.raises(UsageError, match="--hold-out-tools"):
            _held_sessions(sessions, share)


def test_what_came_of_a_set():
    maker: Any = SimpleNamespace(name="items", replace_lost=lambda generated: True)
    generated: Any = SimpleNamespace(
        replaced=2,
        kept=(1, 2, 3),
        unreplaced_losses=[{"reason": "r"}],
        unfinished=4,
        attrition=lambda: [METRIC],
    )
    assert set_result(maker, generated, Path("p"), "next", ", aside") == GenerationResult(
        "item",
        Path("p"),
        3,
        [{"reason": "r"}],
        4,
        [METRIC],
        "next",
        ", 2 in place of lost ones, aside",
        more_to_play=True,
    )
    generated.replaced, maker.replace_lost = 0, lambda generated: False
    plain = set_result(maker, generated, Path("p"), "next")
    assert (plain.summary_suffix, plain.more_to_play) == ("", False)


METRIC = Metric("g", "P1 rule", 0.5, 1, 2)


@pytest.mark.parametrize(
    ("fields", "limit", "exit_status", "status", "out", "err"),
    [
        ({}, None, 0, 0, "g\n\nP1 rule  50.0 %  1/2\n\np: 3 items, 0 lost\n", "RULES\nNext: next\n"),
        ({"metrics": ()}, None, 0, 0, "p: 3 items, 0 lost\n", "Next: next\n"),
        ({"metrics": (), "kept": 0}, None, 0, 1, "p: 0 items, 0 lost\n", ""),
        ({"metrics": (), "kept": 0, "last_line": "last"}, None, 0, 0, "last\n", ""),
        (
            {"kept": 0, "unfinished": 1},
            None,
            0,
            1,
            "",
            "1 item is unfinished; run the same command again to continue.\n",
        ),
        (
            {"metrics": (), "losses": [{"reason": "r", "detail": "d"}], "summary_suffix": ", x", "kept": 1},
            None,
            0,
            0,
            "p: 1 item, 1 lost, x\n",
            "why items were lost: f/losses.jsonl; first: r: d\nNext: next\n",
        ),
        (
            {"metrics": (), "unfinished": 2},
            "the limit",
            3,
            3,
            "p: 3 items, 0 lost\n",
            "stopped: the limit\n2 items are unfinished; run the same command again to continue.\n",
        ),
        ({"quiet": True}, None, 0, 0, "p: 3 items, 0 lost\n", ""),
    ],
)
def test_the_result_of_a_generation(
    fields: dict[str, Any],
    limit: str | None,
    exit_status: int,
    status: int,
    out: str,
    err: str,
    capsys: pytest.CaptureFixture[str],
):
    quiet = fields.pop("quiet", False)
    defaults: dict[str, Any] = {
        "kept": 3,
        "losses": [],
        "unfinished": 0,
        "metrics": (METRIC,),
        "next_command": "next",
    }
    product = GenerationResult("item", Path("p"), **{**defaults, **fields})
    outcomes = SimpleNamespace(infra_error=0)
    run: Any = SimpleNamespace(limit=limit, exit_status=exit_status, counts=outcomes, verdicts=None)
    ended = execute._print_result(run, product, Path("f"), quiet)  # pyright: ignore[reportPrivateUsage]
    shown = capsys.readouterr()
    rules = "Rules: P of decisions, T of results, A and C of texts; docs/generate.md says what each requires."
    assert (ended, shown.out, shown.err) == (status, out, err.replace("RULES", rules))


def test_failed_calls_are_why_things_are_unfinished(monkeypatch: pytest.MonkeyPatch):
    note = execute._failure_note  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(execute, "failures_in", lambda verdicts: ["some"])
    monkeypatch.setattr(execute, "describe_failures", lambda failed: f"{failed}")
    for errors, verdicts, text in (
        (1, Path("v"), " since calls failed by ['some']"),
        (0, Path("v"), ""),
        (1, None, ""),
    ):
        run: Any = SimpleNamespace(counts=SimpleNamespace(infra_error=errors), verdicts=verdicts)
        assert note(run) == text


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


def test_a_line_of_a_log():
    def line(**more: Any) -> str:
        fields = {
            "n": 12,
            "when": "W",
            "who": "ann",
            "kind": "edit",
            "item": "i",
            "field": "/f",
            "after": "x",
        }
        entry: Any = SimpleNamespace(**{**fields, "reason": (), "note": "", **more})
        return _entry_line(entry)

    assert line() == "    12  W  ann  edit  i  /f"
    for kind in ("decision", "settle", "resolve"):
        assert (
            line(kind=kind, field="", reason=("r1", "r2"), note="N.")
            == f"    12  W  ann  {kind}  i  x  r1 r2  N."
        )
    assert line(kind="decision", after={"a": 1}) == "    12  W  ann  decision  i  /f"


def test_the_folder_of_tasks_made_again():
    for store, folder in (
        ("a/b.review.sqlite", "a/b.regenerated"),
        ("a/b.sqlite", "a/b.regenerated"),
        ("postgresql://u:p@h/db", "db.regenerated"),
        ("postgresql://h", "review.regenerated"),
    ):
        assert _folder(store, "i") == Path(folder, "de7d1b721a1e")
    assert _folder("a", "j").name == "189f40034be7"


def test_queues_of_a_review_name_their_first_items(capsys: pytest.CaptureFixture[str]):
    def items(count: int) -> list[Any]:
        return [SimpleNamespace(id=f"i{k}", stage="draft" if k else "approved") for k in range(count)]

    queues = {"warnings": items(4), "conflicts": items(3), "stale": []}
    state = SimpleNamespace(items={one.id: one for one in items(5)}, queue=queues.__getitem__)
    _print_overview(SimpleNamespace(state=state), "n", 2)  # pyright: ignore[reportArgumentType]
    assert capsys.readouterr().out == (
        "n: 5 items, 2 new\n1 approved, 4 draft\n"
        "4 with findings of rules: items i0, i1, i2, …\n3 in conflict: items i0, i1, i2\n"
    )
