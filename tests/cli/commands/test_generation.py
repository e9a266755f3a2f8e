"""How `generate` asks models: which for which role, how often it goes on, how it ends."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.cli import CommandGroup
from wildtool.errors import UsageError
from wildtool.sets.commands.generate import GENERATE, execute
from wildtool.sets.commands.generate.execute import GenerationResult, assign_models, run_generation
from wildtool.sets.commands.generate.options import GenerateOptions, ResponseFormat
from wildtool.sets.commands.review import REVIEW, start
from wildtool.sets.commands.review.regenerate import _print_refused  # pyright: ignore[reportPrivateUsage]


def options(**more: Any) -> GenerateOptions:
    plain = {"role_model": None, "config": None, "prices": None, "response_format": None, "cache": None}
    return GenerateOptions(
        **{**plain, "model": "m", "quiet": False, "force": False, "dry_run": False, **more}
    )


# Models ----------------------------------------------------------------------------------------------


@pytest.fixture
def catalog(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What was asked for of each model that was found."""
    found: list[tuple[Any, ...]] = []

    class Catalog:
        def __init__(self, models: object, prices: object) -> None:
            assert (models, prices) == ("models", "prices of None")

        def find(self, name: str, model_options: Any, explicit: frozenset[str], rates: object) -> Any:
            sampling = model_options.sampling
            found.append((name, sampling.temperature, sampling.response_format, sorted(explicit), rates))
            return SimpleNamespace(
                model=SimpleNamespace(name=name),
                endpoint_note=f"note of {name}" if name != "m" else "",
                headers=(),
                headers_of_command=False,
            )

    monkeypatch.setattr(execute, "ModelCatalog", Catalog)
    monkeypatch.setattr(execute, "read_config", lambda path: SimpleNamespace(models="models"))
    monkeypatch.setattr(execute, "read_prices", lambda path: f"prices of {path}")
    monkeypatch.setattr(execute, "replay_source", lambda benchmark, source: "replay")
    monkeypatch.setattr(execute, "explicit_options", lambda context: {"model"})
    return found


BENCHMARK: Any = SimpleNamespace(source=lambda: "source", prompts=None, templates={})
CONTEXT: Any = None


def test_one_model_can_have_several_roles(catalog: list[Any], capsys: pytest.CaptureFixture[str]):
    models = assign_models(options(temperature=0.5), BENCHMARK, ["agent", "judge", "tool"], CONTEXT)
    assert list(models) == ["agent", "judge", "tool"]
    assert models["agent"] is models["judge"] is models["tool"]
    assert [(name, temperature, form, explicit) for name, temperature, form, explicit, _ in catalog] == [
        ("m", 0.5, None, ["model"])
    ]
    assert capsys.readouterr().err == ""


def test_roles_have_models_and_temperatures_of_their_own(
    catalog: list[Any], capsys: pytest.CaptureFixture[str]
):
    given = options(temperature=0.5, role_model=["judge=a", "judge=b", "tool=a"])
    temperatures = {"agent": 0.0, "judge": None}
    models = assign_models(
        given, BENCHMARK, ["agent", "judge", "tool", "user"], CONTEXT, ["judge"], temperatures
    )
    assert {role: model.model.name for role, model in models.items()} == {
        "agent": "m",
        "judge": "a",
        "tool": "a",
        "user": "m",
        "judge 2": "b",
    }
    assert models["judge"] is models["tool"] and models["agent"] is not models["user"]
    assert [(name, temperature, explicit) for name, temperature, _, explicit, _ in catalog] == [
        ("m", 0.0, ["model", "temperature"]),
        ("a", 0.5, ["model"]),
        ("m", 0.5, ["model"]),
        ("b", 0.5, ["model"]),
    ]
    assert capsys.readouterr().err == "note of a\nnote of b\n"
    assign_models(options(quiet=True, model="a"), BENCHMARK, ["agent"], CONTEXT)
    assert capsys.readouterr().err == ""


def test_a_role_whose_reply_is_json_has_a_model_of_its_own(
    catalog: list[Any], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(execute, "reply_schemas", lambda prompts: {"judge": {"j": 1}, "plan": {"p": 1}})
    roles = ["agent", "judge", "judge 2", "plan", "user"]
    models = assign_models(options(response_format=ResponseFormat.json_object), BENCHMARK, roles, CONTEXT)
    held = {"type": "json_object"}
    assert [form for _, _, form, _, _ in catalog] == [None, held, held]
    assert models["agent"] is models["user"] and models["judge"] is models["judge 2"]
    assert models["judge"] is not models["plan"]


# Runs ------------------------------------------------------------------------------------------------


class Cache:
    closed = 0

    def close(self) -> None:
        Cache.closed += 1


def product(**more: Any) -> GenerationResult:
    fields: dict[str, Any] = {"kept": 1, "losses": [], "unfinished": 0, "metrics": (), "next_command": "n"}
    return GenerationResult("item", Path("p"), **{**fields, **more})


@pytest.fixture
def generation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Runs a generation whose runs end as given; gives the exit status and what was run."""
    runs: list[tuple[Any, Path, dict[str, Any]]] = []

    def run(
        results: list[dict[str, Any]], products: list[GenerationResult], given: GenerateOptions | None = None
    ) -> Any:
        runs.clear()
        ended = iter(results)
        made = iter(products)

        def run_plan(plan: Any, folder: Path, **more: Any) -> Any:
            runs.append((plan, folder, more))
            plain = {"interrupted": False, "limit": None, "exit_status": 0, "verdicts": None}
            return SimpleNamespace(**{**plain, "counts": SimpleNamespace(infra_error=0), **next(ended)})

        monkeypatch.setattr(execute, "run_plan", run_plan)
        asked = given or options(quiet=True)
        sitting = SimpleNamespace(cache=Cache())
        monkeypatch.setattr(GenerateOptions, "invocation", lambda self: sitting)
        maker: Any = SimpleNamespace(source=lambda: "source", profiles={"first": "", "other": ""})
        model = SimpleNamespace(model=SimpleNamespace(name="m"), price=None, rates="rates", headers=())
        priced = SimpleNamespace(model=SimpleNamespace(name="p"), price="price", rates=None, headers=())
        models: Any = {"agent": model, "judge": priced}
        return run_generation(maker, models, tmp_path / "f", asked, lambda plan: next(made)), runs

    monkeypatch.setattr(sys, "argv", ["w", "generate"])
    return run


def test_a_set_is_generated_until_nothing_is_left_to_play(
    generation: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    closed = Cache.closed
    status, runs = generation([{}, {}], [product(more_to_play=True), product()])
    assert (status, len(runs), Cache.closed - closed) == (0, 2, 1)
    assert capsys.readouterr().out == "p: 1 item, 0 lost\n"
    plan, folder, more = runs[0]
    assert (folder, more["command"]) == (tmp_path / "f" / "record", ["wildtool", "generate"])
    assert (plan.source, plan.profile, plan.concurrency) == ("source", "first", options().concurrency)
    assert {role: model.name for role, model in plan.models.items()} == {"agent": "m", "judge": "p"}
    assert (plan.rates, plan.prices) == ({"agent": "rates", "judge": None}, {"judge": "price"})
    assert plan.timeout_s == options().timeout


@pytest.mark.parametrize(
    ("result", "status", "err"),
    [
        ({"limit": "a limit"}, 0, "stopped: a limit\n"),
        ({"exit_status": 3}, 3, ""),
    ],
)
def test_a_run_that_ends_early_is_not_continued(
    generation: Any, capsys: pytest.CaptureFixture[str], result: dict[str, Any], status: int, err: str
):
    ended, runs = generation([result], [product(more_to_play=True)])
    assert (ended, len(runs), capsys.readouterr().err) == (status, 1, err)


def test_an_interrupted_run_says_how_to_continue(
    generation: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    closed = Cache.closed
    status, _ = generation([{"interrupted": True, "exit_status": 130}], [])
    assert (status, Cache.closed - closed) == (130, 1)
    assert capsys.readouterr().err == (
        f"Interrupted. All replies are saved in {tmp_path / 'f'}; run the same command again to continue.\n"
    )


def test_a_folder_of_others_is_refused_unless_nothing_is_written(
    generation: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "thesis.txt").touch()
    with pytest.raises(UsageError, match=r"thesis\.txt"):
        generation([{}], [product()])
    monkeypatch.setattr(execute, "estimate_generation", lambda maker: None)
    with pytest.raises(UsageError) as refused:
        generation([], [], options(dry_run=True))
    assert str(refused.value) == "--dry-run cannot estimate this; set a limit with --max-cost instead"
    estimate = SimpleNamespace(basis="B", upper_end="U", roles={"agent": "demand"})
    monkeypatch.setattr(execute, "estimate_generation", lambda maker: estimate)
    monkeypatch.setattr(execute, "print_usage", lambda plan, role, demand: print(role, demand))
    status, runs = generation([], [], options(dry_run=True))
    assert (status, runs) == (0, [])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Nothing is sent or written. Tokens are ")
    assert lines[1:] == ["Estimated from a trial: B. Upper end: U.", "agent (m)", "agent demand"]


def test_a_limit_of_cost_needs_the_price_of_every_model(generation: Any):
    with pytest.raises(UsageError) as refused:
        generation([], [], options(max_cost=1.0))
    assert str(refused.value).startswith("--max-cost needs prices, and none is known for m. Give USD")


# Reviews ---------------------------------------------------------------------------------------------


def test_verdicts_that_changed_with_an_item_are_printed(capsys: pytest.CaptureFixture[str]):
    flip = SimpleNamespace(
        unit="0",
        model="m",
        before=SimpleNamespace(state="wrong"),
        after=SimpleNamespace(state="correct", reason="why"),
    )
    looked: list[str] = []

    def of_item(item: str) -> Any:
        looked.append(item)
        return SimpleNamespace(flips=[flip])

    items = {
        name: SimpleNamespace(id=name, version=version) for name, version in (("a", 1), ("b", 2), ("c", 3))
    }
    project: Any = SimpleNamespace(state=SimpleNamespace(items=items), item=lambda name: f"item {name}")
    rejudge: Any = SimpleNamespace(of_item=of_item, runs=SimpleNamespace(runs=[1, 2, 3], models={"m", "n"}))
    start._print_flips(project, rejudge)  # pyright: ignore[reportPrivateUsage]
    assert looked == ["item b", "item c"]
    assert capsys.readouterr().out == (
        "3 recorded runs of 2 models\nb, unit 0, m: wrong -> correct (why)\nc, unit 0, m: wrong -> correct (why)\n"
    )


def test_checking_many_items_is_announced(capsys: pytest.CaptureFixture[str]):
    checked: list[int] = []

    def check_items() -> Any:
        for number in range(3):
            checked.append(number)
            yield number

    for count, said in ((199, ""), (200, "checking 200 items; you can interrupt this and continue later\n")):
        project: Any = SimpleNamespace(
            state=SimpleNamespace(queue=lambda name, count=count: range(count)), check_items=check_items
        )
        start._check_new(project)  # pyright: ignore[reportPrivateUsage]
        assert capsys.readouterr().err == said
    assert checked == [0, 1, 2] * 2


def test_sessions_that_are_not_made_again_are_named(capsys: pytest.CaptureFixture[str]):
    _print_refused([SimpleNamespace(item="i", reason="r" * 400)])  # pyright: ignore[reportArgumentType]
    (line,) = capsys.readouterr().err.splitlines()
    assert "i: rrr" in line and len(line) < 340


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("", "serve"),
        ("log", "log"),
        ("log x", "log"),
        ("set.jsonl", "serve"),
        ("gone", "serve"),
        ("gone x", "gone"),
        ("set.jsonl x", "serve"),
        ("gone --port 1", "serve"),
        ("--port 1", "serve"),
        ("-h x", "serve"),
    ],
)
def test_a_line_of_a_review_without_a_command_serves_its_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, line: str, command: str
):
    monkeypatch.chdir(tmp_path)
    Path("set.jsonl").touch()
    seen: list[list[str]] = []
    monkeypatch.setattr(CommandGroup, "parse_args", lambda self, context, args: seen.append(args) or [])
    args = line.split()
    for completes in (False, True):
        REVIEW.parse_args(SimpleNamespace(resilient_parsing=completes), args)
    assert seen == [args if args and command == args[0] else ["serve", *args], args]


def test_a_line_of_a_generation_without_a_command_makes_sessions(monkeypatch: pytest.MonkeyPatch):
    seen: list[list[str]] = []
    monkeypatch.setattr(CommandGroup, "parse_args", lambda self, context, args: seen.append(args) or [])
    for completes in (False, True):
        for args in (["x"], ["-n", "3"], []):
            GENERATE.parse_args(SimpleNamespace(resilient_parsing=completes), args)
    first = ["x"], ["wildtoolbench", "-n", "3"]
    assert seen == [*first, ["wildtoolbench"], *first, []]
