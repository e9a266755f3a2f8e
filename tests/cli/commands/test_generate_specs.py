"""What each command of `generate` orders: the order, the folder, the roles with their temperatures, what is written."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from training.training_rows import call_row, text_row, write_rows
from wildtool.cli import app
from wildtool.training.procedures.pairs import PairRules, SideLengths
from wildtool.training.writers.options import WriteOptions
from wildtool_data.commands.generate import execute
from wildtool_data.commands.generate.execute import GenerationResult
from wildtool_data.make.core import maker as core_maker
from wildtool_data.make.core.plan import SessionGenerationSpec
from wildtool_data.make.core.prompts import SESSION_ROLES
from wildtool_data.make.items import output as items_output
from wildtool_data.make.items.maker import ItemGenerationSpec
from wildtool_data.make.items.plan import parse_shares
from wildtool_data.make.sessions import output as sessions_output
from wildtool_data.make.sessions.maker import SHARED_ROLES
from wildtool_data.make.tools import output as tools_output
from wildtool_data.make.tools.maker import ToolGenerationSpec
from wildtool_data.make.tools.script import API_ROLES
from wildtool_data.make.training import pairs, rationales, selection_output
from wildtool_data.make.training.pairs import PairSpec
from wildtool_data.make.training.rationales import RationaleSpec
from wildtool_data.make.training.selection import SelectionSpec

FILE = Path("t.jsonl")


@pytest.fixture
def order(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """What a command line orders; nothing is run."""
    monkeypatch.chdir(tmp_path)
    write_rows(FILE, [call_row("q")])
    write_rows(Path("u.jsonl"), [text_row("q")])
    seen = SimpleNamespace()

    def assign_models(
        options: Any, maker: Any, roles: Any, context: Any, voting: Any = (), temperatures: Any = None
    ) -> Any:
        seen.roles, seen.voting, seen.temperatures = list(roles), tuple(voting), temperatures
        seen.role_models = options.role_model
        return {}

    def run_generation(maker: Any, models: Any, folder: Path, options: Any, write: Any) -> int:
        seen.maker, seen.spec, seen.folder, seen.write = maker, maker.spec, folder, write
        return 7

    monkeypatch.setattr(execute, "assign_models", assign_models)
    monkeypatch.setattr(execute, "run_generation", run_generation)

    def typed(line: str) -> Any:
        ended = CliRunner().invoke(app, ["generate", *line.split()], prog_name="wildtool")
        assert (ended.exit_code, ended.output) == (7, "")
        return seen

    return typed


SESSIONS = SessionGenerationSpec(sessions=64)


@pytest.mark.parametrize(
    ("line", "spec"),
    [
        ("", SESSIONS),
        (
            "-n 3 --tasks 2 --seed s --lang zh --twins --tools u.jsonl --against t.jsonl --role-model judge=a"
            " --role-model judge=b --role-model checker=c",
            SessionGenerationSpec(
                sessions=3,
                tasks=2,
                seed="s",
                langs=("zh",),
                tools=Path("u.jsonl"),
                paired_languages=True,
                avoid_near=(FILE,),
                judges=2,
            ),
        ),
        (
            "--role-model checker=a --role-model checker=b --role-model checker=c",
            SessionGenerationSpec(sessions=64, checkers=3),
        ),
    ],
)
def test_orders_of_sessions(order: Any, line: str, spec: SessionGenerationSpec):
    seen = order(f"--model m -o out {line}")
    assert (seen.spec, seen.folder) == (spec, Path("out"))
    assert (seen.roles, seen.voting, seen.temperatures) == (list(SESSION_ROLES), tuple(SHARED_ROLES), None)


def generated(**more: Any) -> Any:
    fields = {"kept": (1, 2), "replaced": 0, "unreplaced_losses": (), "unfinished": 0, "attrition": tuple}
    return SimpleNamespace(**{**fields, **more})


def test_sessions_are_written_with_their_formats(order: Any, monkeypatch: pytest.MonkeyPatch):
    seen = order("--model m -o out --format raw,calls")

    def write(maker: Any, plan: Any, out: Path, formats: Any) -> Any:
        assert (maker, plan, out, tuple(formats)) == (seen.maker, "plan", Path("out"), ("raw", "calls"))
        return generated()

    monkeypatch.setattr(sessions_output, "write_session_set", write)
    monkeypatch.setattr(seen.maker.__class__, "replace_lost", lambda maker, generated: False)
    seen = order("--model m -o out --format raw,calls")
    result = seen.write("plan")
    command = sessions_output.sessions_run_command(Path("out"))
    assert (result.path, result.kept, result.next_command) == (Path("out/sessions.jsonl"), 2, command)


ALL = parse_shares(())


@pytest.mark.parametrize(
    ("line", "spec"),
    [
        ("", ItemGenerationSpec(items=60)),
        ("--judges 5", ItemGenerationSpec(items=60, judges=5, agree=5)),
        ("--judges 0", ItemGenerationSpec(items=60, judges=0, agree=0)),
        ("--judges 3 --agree 1", ItemGenerationSpec(items=60, agree=1)),
        (
            "-n 4 --kinds single=2,parallel --seed s --lang zh,en --tools u.jsonl",
            ItemGenerationSpec(
                items=4,
                kinds={"single": 2, "parallel": ALL["parallel"]},
                seed="s",
                langs=("zh", "en"),
                tools=Path("u.jsonl"),
            ),
        ),
    ],
)
def test_orders_of_items(order: Any, line: str, spec: ItemGenerationSpec):
    seen = order(f"acebench --model m -o out {line}")
    assert (seen.spec, seen.folder, seen.voting) == (spec, Path("out"), ())
    assert seen.roles == ["agent", *seen.maker.roles]


def test_judges_share_the_votes_on_items(order: Any):
    seen = order("acebench --model m -o out --role-model judge=a --role-model judge=b --role-model user=u")
    assert seen.role_models == ["user=u", "judge=a", "judge 2=b", "judge 3=a"]


def test_items_are_written_with_doubtful_ones_aside(order: Any, monkeypatch: pytest.MonkeyPatch):
    written: list[Any] = []
    for doubtful, aside in (((1, 2), ", 2 doubtful: out/doubtful.jsonl"), ((), "")):
        made = generated(doubtful=doubtful)
        monkeypatch.setattr(items_output, "items_from_record", lambda maker, plan, out, made=made: made)
        monkeypatch.setattr(items_output, "write_items", lambda found, out: written.append((found, out)))
        seen = order("acebench --model m -o out")
        monkeypatch.setattr(seen.maker.__class__, "replace_lost", lambda maker, generated: False)
        result = seen.write("plan")
        assert (written.pop(), result.path, result.summary_suffix) == (
            (made, Path("out")),
            Path("out/items"),
            aside,
        )


@pytest.mark.parametrize(
    ("line", "spec"),
    [
        ("", ToolGenerationSpec(100)),
        (
            "-n 3 --seed s --lang zh --tree u.jsonl --documents t.jsonl --documents u.jsonl",
            ToolGenerationSpec(3, "s", ("zh",), Path("u.jsonl"), (FILE, Path("u.jsonl"))),
        ),
    ],
)
def test_orders_of_tools(order: Any, monkeypatch: pytest.MonkeyPatch, line: str, spec: ToolGenerationSpec):
    from wildtool_data.make.tools.maker import ApiMaker

    resumed: list[Path] = []
    monkeypatch.setattr(ApiMaker, "__init__", lambda maker, spec: setattr(maker, "spec", spec))
    monkeypatch.setattr(ApiMaker, "resume_from", lambda maker, folder: resumed.append(folder))
    seen = order(f"tools --model m -o out {line}")
    assert (seen.spec, seen.folder, seen.roles, resumed) == (
        spec,
        Path("out"),
        list(API_ROLES),
        [Path("out/record")],
    )


def test_tools_that_are_missing_are_counted(order: Any, monkeypatch: pytest.MonkeyPatch):
    from wildtool_data.make.tools.maker import ApiMaker

    monkeypatch.setattr(ApiMaker, "__init__", lambda maker, spec: setattr(maker, "spec", spec))
    monkeypatch.setattr(ApiMaker, "resume_from", lambda maker, folder: None)
    made = SimpleNamespace(apis=[1, 2], unfinished=1, losses=(), attrition=tuple)
    monkeypatch.setattr(tools_output, "write_apis", lambda maker, plan, out: made)
    for number, aside in ((4, "; 1 fewer than wanted, after every attempt"), (3, "")):
        result = order(f"tools --model m -o out -n {number}").write("plan")
        assert result == GenerationResult(
            "tool",
            tools_output.tools_file(Path("out"), "en"),
            2,
            [],
            1,
            (),
            tools_output.generate_command(Path("out"), ("en",)),
            aside,
        )
    assert order("tools --model m -o out --lang en,zh").write("plan").path == Path("out")


@pytest.mark.parametrize(
    ("line", "spec", "temperatures", "rules"),
    [
        ("", PairSpec(file=FILE), {"agent": 0.0, "retry": 0.7}, PairRules()),
        (
            "--tries 1 --temperature 0.3 --chosen own --solved-only --keep-broken",
            PairSpec(file=FILE, tries=1),
            {"agent": 0.3},
            PairRules(own_chosen=True, solved_only=True, keep_broken=True),
        ),
        (
            "--turns all --critic c --retry feedback",
            PairSpec(file=FILE, turns="all", retry="feedback", critic=True),
            {"agent": 0.0, "retry": 0.7, "critic": 0.0},
            PairRules(),
        ),
    ],
)
def test_orders_of_pairs(
    order: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    line: str,
    spec: PairSpec,
    temperatures: dict[str, float],
    rules: PairRules,
):
    seen = order(f"pairs t.jsonl --model m -o out {line}")
    assert (seen.spec, seen.folder) == (spec, Path("out"))
    assert (seen.roles, seen.temperatures) == (list(temperatures), temperatures)
    assert seen.role_models == (["critic=c"] if spec.critic else None)
    summary = SimpleNamespace(pairs=3, solved=1, unfinished=2, metrics=(), lengths=SideLengths(1, 1))

    def write(tries: Any, folder: Path, given: PairRules, to: str, owners: Any) -> Any:
        assert (list(tries), folder, given, to, tuple(owners)) == (
            [("i", "d", "r")],
            Path("out"),
            rules,
            "sharegpt",
            (),
        )
        return summary

    recorded = [(SimpleNamespace(id="i", data="d"), "r")]
    monkeypatch.setattr(core_maker, "recorded_in", lambda folder, read, items: recorded)
    monkeypatch.setattr(pairs, "write_pairs", write)
    monkeypatch.setattr(pairs, "write_pairs_info", lambda folder, file, to: "name")
    plan: Any = SimpleNamespace(selection=SimpleNamespace(items=list))
    result = order(f"pairs t.jsonl --model m -o out {line}").write(plan)
    path = Path("out/pairs.jsonl")
    assert result == GenerationResult(
        "turn",
        path,
        3,
        (),
        2,
        (),
        "wildtool data lint out/pairs.jsonl",
        last_line="out/pairs.jsonl: 3 pairs, 2 of turns that no try solved",
    )
    assert capsys.readouterr().err == (
        "mean length: chosen 1, rejected 1 characters\n"
        "in LLaMA-Factory's settings: dataset_dir: out, dataset: name, stage: dpo\n"
    )
    order(f"pairs t.jsonl --model m -o out -q {line}").write(plan)
    summary.lengths = None
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("line", "spec", "folder", "temperature", "form"),
    [
        ("t.jsonl", SelectionSpec(files=(FILE,)), "out", 0.0, "same"),
        ("t.jsonl u.jsonl", SelectionSpec(files=(FILE, Path("u.jsonl"))), "out", 0.0, "openai"),
        (
            "t.jsonl --by tries --tries 5 --per-set 9 --seed s --to trl",
            SelectionSpec(files=(FILE,), by="tries", tries=5, per_set=9, seed="s"),
            "out",
            0.7,
            "trl",
        ),
        (
            "t.jsonl --threshold 7 --reference hide --temperature 0.4 --rounds 3 --round 2",
            SelectionSpec(files=(FILE,), threshold=7.0, reference="hide", round=2),
            "out/round-2",
            0.4,
            "same",
        ),
    ],
)
def test_orders_of_selections(
    order: Any,
    monkeypatch: pytest.MonkeyPatch,
    line: str,
    spec: SelectionSpec,
    folder: str,
    temperature: float,
    form: str,
    capsys: pytest.CaptureFixture[str],
):
    seen = order(f"select --model m -o out {line}")
    assert (seen.spec, seen.folder) == (spec, Path(folder))
    assert (seen.roles, seen.temperatures) == (["agent"], {"agent": temperature})

    def write(answered: Any, place: Path, given: Any, model: str, to: str, owners: Any) -> Any:
        assert (list(answered), place, given, model, to, tuple(owners)) == (
            [("d", "r")],
            Path(folder),
            spec,
            "M",
            form,
            (),
        )
        return SimpleNamespace(kept=2, shared=0, scored=5, asked=1200, unfinished=0, metrics=())

    monkeypatch.setattr(
        core_maker, "recorded_in", lambda place, read, items: [(SimpleNamespace(data="d"), "r")]
    )
    monkeypatch.setattr(selection_output, "write_selection", write)
    plan: Any = SimpleNamespace(
        selection=SimpleNamespace(items=list), models={"agent": SimpleNamespace(name="M")}
    )
    kept = Path(folder) / "kept.jsonl"
    assert order(f"select --model m -o out {line}").write(plan) == GenerationResult(
        "record",
        kept,
        2,
        (),
        0,
        (),
        f"wildtool data convert {kept} --to llamafactory -o {folder}/train",
        last_line=f"{kept}: 2 of 1,200 records; as many in random.jsonl",
    )
    said = capsys.readouterr().err
    assert (
        said.startswith("Round 2 of 3: train m on out/round-2/kept.jsonl") if spec.round > 1 else said == ""
    )
    order(f"select --model m -o out -q {line}").write(plan)
    assert capsys.readouterr().err == ""


def test_a_later_round_may_leave_out_what_earlier_ones_asked(order: Any):
    for number in (1, 2):
        folder = Path(f"out/round-{number}")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "audit.jsonl").touch()
    seen = order("select t.jsonl --model m -o out --rounds 3 --round 3 --without-seen")
    assert seen.spec.seen == (Path("out/round-1/audit.jsonl"), Path("out/round-2/audit.jsonl"))
    assert order("select t.jsonl --model m -o out --rounds 3 --without-seen").spec.seen == ()


@pytest.mark.parametrize(
    ("line", "spec", "temperatures", "form", "writing"),
    [
        (
            "",
            RationaleSpec(file=FILE, min_tokens=30, check=True),
            {"agent": 0.7, "check": 0.0},
            "sharegpt",
            WriteOptions(text_with_calls="think"),
        ),
        (
            "--min-tokens 5 --no-check --temperature 0.2 --to trl --text-with-calls tags",
            RationaleSpec(file=FILE, min_tokens=5, check=False),
            {"agent": 0.2},
            "trl",
            WriteOptions(text_with_calls="tags"),
        ),
    ],
)
def test_orders_of_rationales(
    order: Any,
    monkeypatch: pytest.MonkeyPatch,
    line: str,
    spec: RationaleSpec,
    temperatures: dict[str, float],
    form: str,
    writing: WriteOptions,
):
    seen = order(f"rationales t.jsonl --model m -o out {line}")
    assert (seen.spec, seen.folder) == (spec, Path("out"))
    assert (seen.roles, seen.temperatures) == (list(temperatures), temperatures)

    def write(answered: Any, folder: Path, to: str, given: WriteOptions, owners: Any) -> Any:
        assert (list(answered), folder, to, given, tuple(owners)) == (
            [("d", "r")],
            Path("out"),
            form,
            writing,
            (),
        )
        return SimpleNamespace(turns=1500, unfinished=2, metrics=(), records=1, asked=3)

    monkeypatch.setattr(
        core_maker, "recorded_in", lambda folder, read, items: [(SimpleNamespace(data="d"), "r")]
    )
    monkeypatch.setattr(rationales, "write_rationales", write)
    plan: Any = SimpleNamespace(selection=SimpleNamespace(items=list))
    path = Path("out") / rationales.REASONED_FILE
    assert order(f"rationales t.jsonl --model m -o out {line}").write(plan) == GenerationResult(
        "turn",
        path,
        1500,
        (),
        2,
        (),
        f"wildtool data lint {path}",
        last_line=f"{path}: 1 record with reasoning at 1,500 of 3 turns",
    )


def test_a_file_that_is_read_is_not_one_that_is_written(order: Any):
    for command in ("pairs", "rationales", "select"):
        for name in ("pairs.jsonl", "reasoned.jsonl", "kept.jsonl", "random.jsonl", "audit.jsonl"):
            Path(name).write_bytes(FILE.read_bytes())
            ended = CliRunner().invoke(
                app, ["generate", command, name, "--model", "m", "-o", "."], prog_name="wildtool"
            )
            assert (ended.exit_code, f"{name}: is read and would be replaced" in ended.stderr) == (2, True), (
                ended.stderr
            )
