"""What a plan takes from the command line, from a model's table and from an earlier run, setting by setting."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from engine.echo_benchmark import ScriptedModel
from models.options import model_options
from wildtool.benchmark import JUDGED, RETRIEVAL
from wildtool.cli import plans
from wildtool.cli.options.config_file import ModelEntry
from wildtool.cli.options.run import RunOptions
from wildtool.cli.plans import ConfiguredModel, ModelCatalog
from wildtool.engine import registry
from wildtool.engine.record import run_folder
from wildtool.errors import RecordError, UsageError
from wildtool.models.settings import EndpointOptions, Rates, Sampling
from wildtool.models.token_usage import FREE, Price
from wildtool.tool_formats.detect import BY_OPTION

RUN_URL, OWN_URL, KEY_FILE = "http://run/v1", "http://own/v1", Path("key")
TESTED = EndpointOptions(base_url="http://tested/v1")
OF_THE_RUN = model_options(
    base_url=RUN_URL, api_key_env="RUN", shared=TESTED, temperature=0.5, seed=1, format="hermes"
)


def endpoint(**fields: Any) -> EndpointOptions:
    return EndpointOptions(**fields)


@pytest.mark.parametrize(
    ("own", "explicit", "merged"),
    [
        # base_url, api_key_env, api_key_file, shared, default_key
        (endpoint(), [], (RUN_URL, "RUN", None, TESTED, True)),
        (endpoint(base_url=OWN_URL), [], (OWN_URL, None, None, None, False)),
        (endpoint(base_url=OWN_URL, api_key_env="OWN"), [], (OWN_URL, "OWN", None, None, False)),
        (endpoint(base_url=OWN_URL), ["api_key_env"], (OWN_URL, "RUN", None, None, False)),
        (endpoint(base_url=OWN_URL, api_key_file=KEY_FILE), [], (OWN_URL, None, KEY_FILE, None, False)),
        (
            endpoint(base_url=OWN_URL, api_key_file=KEY_FILE),
            ["api_key_file"],
            (OWN_URL, "RUN", None, None, False),
        ),
        (endpoint(api_key_env="OWN"), [], (RUN_URL, "OWN", None, TESTED, True)),
        (endpoint(api_key_file=KEY_FILE), [], (RUN_URL, None, KEY_FILE, TESTED, True)),
        (endpoint(api_key_env="OWN"), ["api_key_env"], (RUN_URL, "RUN", None, TESTED, True)),
        (endpoint(base_url=OWN_URL, api_key_env="OWN"), ["base_url"], (RUN_URL, None, None, TESTED, True)),
        (endpoint(base_url=OWN_URL), ["base_url", "api_key_env"], (RUN_URL, "RUN", None, TESTED, True)),
    ],
)
def test_a_key_goes_to_the_address_that_it_was_named_with(
    own: EndpointOptions, explicit: list[str], merged: tuple[Any, ...]
):
    entry = ModelEntry(model="m", endpoint=own)
    options = entry.merged("mine", OF_THE_RUN, explicit)
    names = ("base_url", "api_key_env", "api_key_file", "shared", "default_key")
    assert options == replace(
        OF_THE_RUN,
        endpoint=replace(OF_THE_RUN.endpoint, **dict(zip(names, merged, strict=True))),
        display_name="mine",
    )


def test_a_model_of_a_provider_has_the_providers_address_and_key():
    options = ModelEntry(model="ollama/m").merged("mine", OF_THE_RUN, [])
    assert options.endpoint == endpoint(base_url=None, api_key_env=None, shared=None, default_key=True)


@pytest.mark.parametrize(
    ("explicit", "sampling", "tool_format"),
    [
        ([], Sampling(temperature=1.0, max_tokens=7, seed=1), "mistral"),
        (["temperature"], Sampling(temperature=0.5, max_tokens=7, seed=1), "mistral"),
        (["max_tokens", "format"], Sampling(temperature=1.0, seed=1), "hermes"),
    ],
)
def test_the_command_line_comes_first_then_the_models_table(
    explicit: list[str], sampling: Sampling, tool_format: str
):
    entry = ModelEntry(model="m", sampling={"temperature": 1.0, "max_tokens": 7}, format="mistral")
    options = entry.merged("mine", OF_THE_RUN, explicit)
    assert (options.sampling, options.format) == (sampling, tool_format)
    plain = ModelEntry(model="m").merged("mine", OF_THE_RUN, explicit)
    assert (plain.sampling, plain.format) == (OF_THE_RUN.sampling, "hermes")


@pytest.mark.parametrize(
    ("explicit", "rates"),
    [
        ([], Rates(rpm=1, tpm=20)),
        (["rpm"], Rates(rpm=10, tpm=20)),
        (["tpm"], Rates(rpm=1, tpm=20)),
    ],
)
def test_rates_are_the_models_own_unless_they_are_typed(explicit: list[str], rates: Rates):
    catalog = ModelCatalog({"mine": ModelEntry(model="m", rates=Rates(rpm=1))}, {})
    configured = catalog.find("mine", model_options(base_url=RUN_URL), explicit, Rates(rpm=10, tpm=20))
    assert configured.rates == rates
    other = ModelCatalog({"mine": ModelEntry(model="m", rates=Rates(tpm=2))}, {})
    configured = other.find("mine", model_options(base_url=RUN_URL), explicit, Rates(rpm=10, tpm=20))
    assert configured.rates == Rates(rpm=10, tpm=20 if "tpm" in explicit else 2)


OWN_PRICE, LISTED = Price(input=1, output=2), Price(input=3, output=4)


@pytest.mark.parametrize(
    ("entry", "listed", "price"),
    [
        (ModelEntry(model="m", price=OWN_PRICE), ["m", "mine"], OWN_PRICE),
        (ModelEntry(model="m"), ["m"], LISTED),
        (ModelEntry(model="m"), ["mine"], LISTED),
        (ModelEntry(model="openai-chat/m"), ["m"], LISTED),
        (ModelEntry(model="openai-chat/m"), ["openai-chat/m"], LISTED),
        (ModelEntry(model="m"), [], None),
        (ModelEntry(model="baseline/gold", price=OWN_PRICE), ["mine"], FREE),
    ],
)
def test_a_price_is_the_models_own_or_that_of_one_of_its_names(
    entry: ModelEntry, listed: list[str], price: Price | None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key")
    catalog = ModelCatalog({"mine": replace(entry, batch=True)}, dict.fromkeys(listed, LISTED))
    configured = catalog.find("mine", model_options(base_url=RUN_URL), (), Rates())
    assert (configured.price, configured.batch, configured.endpoint_note) == (price, True, None)


def test_the_endpoint_that_a_name_alone_chose_is_noted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    catalog = ModelCatalog({"mine": ModelEntry(model="gpt-4o")}, {})
    note = (
        "gpt-4o is called at https://api.openai.com/v1 (the same as openai-chat/gpt-4o); for another endpoint give"
        " --base-url URL"
    )
    for name in ("mine", "gpt-4o"):
        assert catalog.find(name, model_options(), (), Rates()).endpoint_note == note
        assert catalog.find(name, model_options(base_url=RUN_URL), (), Rates()).endpoint_note is None


def test_a_model_that_exists_already_is_free():
    model = ScriptedModel()
    catalog = ModelCatalog({"mine": ModelEntry(model="m")}, {"mine": LISTED}, {"mine": model})
    rates = Rates(rpm=3)
    assert catalog.find("mine", model_options(), (), rates) == ConfiguredModel(model, rates, FREE)


# Batches -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "explicit", "agent", "user", "batched", "notes"),
    [
        (False, [], None, None, set[str](), []),
        (False, [], True, True, {"agent", "user"}, []),
        (False, [], False, True, {"user"}, []),
        (True, [], None, True, {"user"}, ["scripted has no batch API and is called directly"]),
        (True, [], False, None, set[str](), []),
        (True, [], True, None, {"agent"}, []),
        (True, ["batch"], False, None, {"agent"}, []),
        (True, ["batch"], None, None, {"agent"}, []),
    ],
)
def test_the_command_line_decides_about_batches_before_the_models_table(
    asked: bool,
    explicit: list[str],
    agent: bool | None,
    user: bool | None,
    batched: set[str],
    notes: list[str],
):
    models = {
        role: ConfiguredModel(ScriptedModel(), Rates(), FREE, batch)
        for role, batch in (("agent", agent), ("user", user))
    }
    assert plans._batched_roles(models, RunOptions(model=["m"], batch=asked), {*explicit}) == (
        batched,
        notes,
    )


# The original's settings -------------------------------------------------------------------------------


def with_sampling(
    parameters: dict[str, Any], explicit: list[str] | None = None, **options: Any
) -> RunOptions:
    benchmark: Any = SimpleNamespace(name="b", original_sampling=parameters)
    original: Any = SimpleNamespace(value="original")
    run_options = RunOptions(model=["m"], **{"sampling": original, **options})
    changed = plans._with_sampling(benchmark, run_options, {*(explicit or ())})
    return replace(changed, sampling=None)


def test_the_originals_sampling_becomes_options():
    plain = RunOptions(model=["m"])
    assert with_sampling({"temperature": 0.0, "max_tokens": 9, "attempts": 3, "top_p": 0.5}) == replace(
        plain, temperature=0.0, max_tokens=9, retries=2, extra_body='{"top_p": 0.5}'
    )
    assert with_sampling({"attempts": 1}) == replace(plain, retries=0)
    assert with_sampling({"top_p": 0.5}, extra_body='{"a": 1}').extra_body == '{"a": 1, "top_p": 0.5}'
    assert with_sampling({"temperature": 0.5}, user_model="u") == replace(
        plain, temperature=0.5, user_model="u", user_temperature=0.5
    )
    assert with_sampling({"max_tokens": 1000}, user_model="u") == replace(
        plain, max_tokens=1000, user_model="u", user_max_tokens=1000
    )
    assert with_sampling({"temperature": 0.5}, sampling=None) == plain


@pytest.mark.parametrize(
    ("explicit", "options", "fault"),
    [
        (["max_tokens", "model"], {}, "--sampling original sets --max-tokens; leave one of the two out"),
        (["temperature", "retries"], {}, "--sampling original sets --retries; leave one of the two out"),
        (
            ["user_temperature"],
            {"user_model": "u"},
            "--sampling original sets --user-temperature; leave one of the two out",
        ),
        (
            [],
            {"extra_body": '{"top_p": 1, "seed": 1}'},
            "--sampling original sets seed, and --extra-body does too",
        ),
    ],
)
def test_what_the_originals_sampling_sets_is_set_by_nothing_else(
    explicit: list[str], options: dict[str, Any], fault: str
):
    with pytest.raises(UsageError) as error:
        with_sampling({"temperature": 0.0, "top_p": 0.5, "seed": 3}, explicit, **options)
    assert str(error.value) == fault


# Folders -----------------------------------------------------------------------------------------------


def test_a_run_that_continues_keeps_the_prompts_it_was_begun_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def read_run(folder: Path) -> Any:
        if folder.name == "damaged":
            raise RecordError("damaged")
        return {"identity": {"prompts": "digest"} if folder.name == "original" else {}}

    monkeypatch.setattr(run_folder, "read_run", read_run)
    for name in ("own", "original", "damaged"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").touch()

    def prompts(*names: str) -> str | None:
        return plans._resumed_prompts([tmp_path / name for name in names])

    assert [prompts(), prompts("new"), prompts("damaged")] == [None, None, None]
    assert [prompts("new", "own", "original"), prompts("damaged", "original", "own")] == ["own", "original"]


@pytest.mark.parametrize(
    ("mode", "alterations", "folder"),
    [
        ("fc", [], "runs/b"),
        ("text", [], "runs/b-text"),
        ("fc", [["catalogue", "10"], [], ["noise"]], "runs/b-catalogue-10-noise"),
        ("text", [["noise"]], "runs/b-text-noise"),
    ],
)
def test_other_modes_and_alterations_have_folders_of_their_own(
    mode: str, alterations: list[list[str]], folder: str
):
    benchmark: Any = SimpleNamespace(name="b", mode=mode, modes={"fc": "", "text": ""})
    altered: Any = [SimpleNamespace(folder_parts=parts) for parts in alterations]
    assert plans._default_parent(benchmark, altered) == Path(folder)


class Named:
    """A benchmark of three modes."""

    name = "b"
    modes = dict.fromkeys(("fc", RETRIEVAL, JUDGED), "")
    profiles: ClassVar[dict[str, str]] = {}

    def __init__(self, mode: str) -> None:
        self.mode = mode

    def in_mode(self, mode: str) -> "Named":
        return Named(mode)


def planned_runs(
    monkeypatch: pytest.MonkeyPatch, *models: str, parent: Path | None = None, **options: Any
) -> list[tuple[str, str, str]]:
    """Label, folder and mode of each run that is planned."""

    def build(benchmark: Any, alterations: Any, run_options: RunOptions, *more: Any) -> dict[str, Any]:
        assert more == ({"seed"}, {}, {})
        return dict.fromkeys(run_options.model_names, benchmark.mode)

    monkeypatch.setattr(plans, "_build_plans", build)
    monkeypatch.setattr(plans, "_with_prompts", lambda benchmark, run_options, folders: benchmark)
    monkeypatch.setattr(registry, "load_benchmark", lambda name, mode: Named(mode or "fc"))
    runs = plans.plan_runs("b", RunOptions(model=[*models], **options), {"seed"}, {}, parent)
    return [(run.label, str(run.folder), str(run.plan)) for run in runs]


@pytest.mark.parametrize(
    ("models", "options", "runs"),
    [
        (["m"], {}, [("m", "runs/b/m", "fc")]),
        (["m"], {"out": Path("o")}, [("m", "o", "fc")]),
        (["m"], {"parent": Path("p")}, [("m", "p/m", "fc")]),
        (["m"], {"parent": Path("p"), "out": Path("o")}, [("m", "p/m", "fc")]),
        (["m", "a/n", "m"], {"out": Path("o")}, [("m", "o/m", "fc"), ("a/n", "o/a--n", "fc")]),
        (["m"], {"retriever": "bm25"}, [("m", f"runs/b-{RETRIEVAL}/m", RETRIEVAL)]),
        (["m"], {"retriever": "bm25", "mode": "fc"}, [("m", "runs/b/m", "fc")]),
        (["m"], {"judge": "j"}, [("m", f"runs/b-{JUDGED}/m", JUDGED)]),
        (["m"], {"judge": "j", "mode": "fc"}, [("m", "runs/b/m", "fc")]),
        (["m"], {"mode": JUDGED}, [("m", f"runs/b-{JUDGED}/m", JUDGED)]),
        (
            ["m"],
            {"catalogue": "10,50", "out": Path("o")},
            [("m, 10 tools", "o/catalogue-10/m", "fc"), ("m, 50 tools", "o/catalogue-50/m", "fc")],
        ),
        (
            ["m"],
            {"catalogue": "10,50", "parent": Path("p"), "out": Path("o")},
            [("m, 10 tools", "p/catalogue-10/m", "fc"), ("m, 50 tools", "p/catalogue-50/m", "fc")],
        ),
        (
            ["m", "n"],
            {"catalogue": "10,50"},
            [
                (f"{model}, {size} tools", f"runs/b-catalogue-{size}/{model}", "fc")
                for size in (10, 50)
                for model in ("m", "n")
            ],
        ),
        (["m"], {"catalogue": "10", "out": Path("o")}, [("m", "o", "fc")]),
    ],
)
def test_each_model_and_size_has_a_run_in_a_folder_of_its_own(
    models: list[str],
    options: dict[str, Any],
    runs: list[tuple[str, str, str]],
    monkeypatch: pytest.MonkeyPatch,
):
    assert planned_runs(monkeypatch, *models, **options) == runs


Settings = dict[str, Any]


@pytest.mark.parametrize(
    ("settings", "lines"),
    [
        ({"a": {}, "b": {}}, []),
        (
            {
                "a": {"format": "hermes", "format_chosen": BY_OPTION},
                "b": {},
                "c": {"format": "qwen", "format_chosen": BY_OPTION, "tools": "template"},
            },
            [
                "a is sent tools as text, and calls are read in the format hermes",
                "b makes calls itself and ignores --tool-format",
                "c is sent tools by its chat template, and calls are read in the format qwen",
            ],
        ),
    ],
)
def test_how_models_are_sent_tools_is_told_where_not_all_call_natively(
    settings: dict[str, Settings], lines: list[str], capsys: pytest.CaptureFixture[str]
):
    def planned(its: Settings) -> Any:
        agent = SimpleNamespace(settings=lambda: its)
        return SimpleNamespace(models={"agent": agent})

    plans._print_formats({name: planned(its) for name, its in settings.items()})
    assert capsys.readouterr().err.splitlines() == lines
