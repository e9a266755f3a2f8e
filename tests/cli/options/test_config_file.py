"""`wildtool.toml`: models by name, defaults of options, and errors that name file, line and key."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from engine.echo_benchmark import EchoBenchmark
from models.options import model_options
from wildtool.cli import app
from wildtool.config.config_file import ModelEntry, read_config
from wildtool.config.named_models import ConfiguredModel, ModelCatalog
from wildtool.engine import registry
from wildtool.models.resolve import ModelOptions
from wildtool.models.settings import Rates
from wildtool.models.token_usage import FREE, Price

FILE = Path("wildtool.toml")


class Installed:
    dist = None
    module = value = "echo"

    def load(self) -> EchoBenchmark:
        return EchoBenchmark(items=3, with_user=1)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(registry, "_entries", lambda: {"echo": (Installed(),)})


def type_(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool")


def told(text: str, line: str = "run echo") -> str:
    """What is said of a file that is refused."""
    FILE.write_text(text)
    ended = type_(line)
    assert ended.exit_code == 2, ended.output
    return ended.output.strip()


def scope(run: str = "runs/echo/baseline--gold") -> Any:
    return json.loads(Path(run, "run.json").read_text())["scope"]


def test_any_option_of_run_can_stand_in_the_file():
    FILE.write_text(
        '[run]\nmodel = "baseline/gold"\nlimit = 2\nrepeats = 2\nconcurrency = 7\norder = "prefix"\n'
    )
    assert type_("run echo").exit_code == 0
    found = {name: scope()[name] for name in ("limit", "repeats", "concurrency", "in_order")}
    assert found == {"limit": 2, "repeats": 2, "concurrency": 7, "in_order": True}


def test_the_command_line_goes_before_the_file():
    FILE.write_text('[run]\nmodel = ["baseline/gold", "baseline/chat"]\nlimit = 2\n')
    assert type_("run echo --model baseline/gold --limit 1").exit_code == 0
    assert (scope()["limit"], [path.name for path in Path("runs/echo").iterdir()]) == (1, ["baseline--gold"])


def test_another_file_can_be_named():
    Path("mine.toml").write_text("[run]\nlimit = 1\n")
    assert type_("run echo --model baseline/gold --config mine.toml").exit_code == 0
    assert scope()["limit"] == 1


def test_a_named_file_that_is_missing_is_an_error():
    ended = type_("run echo --model baseline/gold --config other.toml")
    assert (ended.exit_code, "cannot read other.toml" in ended.output) == (2, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[run]\nlimit = 1\nconcurency = 2\n",
            "line 3: run.concurency: unknown key; did you mean concurrency?",
        ),
        ('[run]\nlimit = "two"\n', "line 2: run.limit: must be a whole number"),
        ("[run]\nlimit = true\n", "line 2: run.limit: must be a whole number"),
        ("[run]\nlimit = 0\n", "line 2: run.limit: 0 is not in the range x>=1."),
        ("[run]\norder = 'up'\n", "line 2: run.order: 'up' is not one of 'parallel', 'prefix'."),
        ("[run]\nquiet = 1\n", "line 2: run.quiet: must be true or false"),
        ("[run]\nconfig = 'x'\n", "line 2: run.config: unknown key"),
        ("[models.m]\ntemperature = 1\n", "line 1: models.m: needs `model`"),
        (
            '[models."m/1"]\nmodel = "x"\ntempreture = 1\n',
            "line 3: models.m/1.tempreture: unknown key; did you mean t",
        ),
        ('[models.m]\nmodel = "x"\nrpm = 0\n', "line 3: models.m.rpm: must be more than 0"),
        (
            '[models.m]\nmodel = "x"\nprices = {input = 1}\n',
            "models.m.prices.output: must be a number from 0",
        ),
        ("models.m.model = 3\n", "line 1: models.m.model: must be a text"),
        ("[model.m]\n", "line 1: model: unknown key; did you mean models?"),
        ("run = 3\n", "line 1: run: must be a table"),
        ('[run]\nhints = "a\\u0000b"\n', "line 2: run.hints: contains the character U+0000"),
        ('[run]\nmodel = ["replay:\\u0000"]\n', "line 2: run.model: contains the character U+0000"),
        ("[run\n", "not valid TOML: Expected ']' at the end of a table declaration (at line 1, column 5)"),
    ],
)
def test_a_mistake_is_named_by_file_line_and_key(text: str, message: str):
    assert f"{FILE}" in (said := told(text)) and message in said


@pytest.mark.parametrize(
    "text",
    [
        '[models.m]\nmodel = "x"\napi_key = "sk-secret-1"\n',
        '[models.m]\nmodel = "x"\napi_key_env = "sk-secret-1"\n',
        '[models.m]\nmodel = "x"\nbase_url = "https://me:sk-secret-1@host/v1"\n',
        '[models.m]\nmodel = "x"\n[models.m.extra_body]\nAuthorization = "sk-secret-1"\n',
        '[run]\nuser_api_key_env = "sk-secret-1"\n',
        '[run]\ntoken = "sk-secret-1"\n',
        '[run]\nmodel = ["x", "https://me:sk-secret-1@host/v1"]\n',
        '[models.m]\nmodel = "x"\nextra_body = {headers = [{api_key = "sk-secret-1"}]}\n',
    ],
)
def test_a_key_in_the_file_is_refused_with_advice_and_not_repeated(text: str):
    said = told(text)
    assert "api_key_env" in said
    assert "secret" not in said


def test_a_model_may_have_any_name():
    FILE.write_text('[models.token]\nmodel = "baseline/gold"\n')
    assert type_("run echo --model token").exit_code == 0


def entry_of(model: str, price: Price | None = None, **given: Any) -> ModelEntry:
    """A table of the file, by its keys."""
    rates = Rates(**{key: given.pop(key) for key in ("rpm", "tpm") if key in given})
    options = model_options(**given)
    sampling = {key: value for key, value in given.items() if hasattr(options.sampling, key)}
    return ModelEntry(model=model, endpoint=options.endpoint, sampling=sampling, rates=rates, price=price)


def find(
    entry: ModelEntry,
    options: ModelOptions | None = None,
    typed: tuple[str, ...] = (),
    rates: Rates | None = None,
) -> ConfiguredModel:
    directory = ModelCatalog({"mine": entry}, {"gpt": Price(input=1, output=2)})
    return directory.find("mine", options or ModelOptions(), typed, rates or Rates())


def test_a_model_has_the_name_that_the_user_gave_it_and_is_sent_the_endpoints():
    model = find(
        entry_of(model="gpt", base_url="http://h/v1", temperature=0.5, extra_body={"top_p": 1})
    ).model
    assert model.name == "mine"
    found = {name: model.settings()[name] for name in ("sent_as", "temperature", "extra_body", "base_url")}
    assert found == {
        "sent_as": "gpt",
        "temperature": 0.5,
        "extra_body": {"top_p": 1},
        "base_url": "http://h/v1",
    }


def test_what_is_typed_goes_before_the_models_table_and_that_before_run():
    entry = entry_of(model="gpt", base_url="http://h/v1", temperature=0.5, rpm=10)
    options = model_options(temperature=0.9)
    assert find(entry, options).model.settings()["temperature"] == 0.5
    assert find(entry, options, ("temperature",)).model.settings()["temperature"] == 0.9
    assert find(entry, options, (), Rates(rpm=5, tpm=6)).rates == Rates(rpm=10, tpm=6)
    assert find(entry, options, ("rpm",), Rates(rpm=5)).rates == Rates(rpm=5)


def authorization(named: ConfiguredModel) -> str | None:
    return named.model._endpoint._headers.get("Authorization")  # type: ignore[attr-defined]


def test_a_key_goes_only_to_the_address_that_it_was_named_with(monkeypatch: pytest.MonkeyPatch):
    for name in ("OPENAI_API_KEY", "RUNS_KEY", "MINE_KEY"):
        monkeypatch.setenv(name, f"sk-{name}")
    of_run = model_options(base_url="http://run/v1", api_key_env="RUNS_KEY")
    assert authorization(find(entry_of(model="gpt", base_url="http://h/v1"), of_run)) is None
    own = entry_of(model="gpt", base_url="http://h/v1", api_key_env="MINE_KEY")
    assert authorization(find(own, of_run)) == "Bearer sk-MINE_KEY"
    assert (
        authorization(find(own, model_options(base_url="http://typed/v1"), ("base_url",)))
        == "Bearer sk-OPENAI_API_KEY"
    )
    assert authorization(find(entry_of(model="gpt"), of_run)) == "Bearer sk-RUNS_KEY"


def test_a_price_is_that_of_the_table_else_of_the_name_that_the_endpoint_knows():
    at = "http://h/v1"
    own = Price(input=5, output=6)
    assert find(entry_of(model="gpt", base_url=at, price=own)).price == own
    assert find(entry_of(model="gpt", base_url=at)).price == Price(input=1, output=2)
    assert find(entry_of(model="other", base_url=at)).price is None
    assert find(entry_of(model="baseline/gold")).price == FREE


def test_a_limit_of_money_on_a_model_without_a_price_is_refused_before_any_call():
    said = told(
        '[models.m]\nmodel = "x"\nbase_url = "http://127.0.0.1:9/v1"\n',
        "run echo --model m --max-cost 1 --quiet",
    )
    assert "none is known for m" in said
    assert not Path("runs").exists()


def test_listing_models_tells_which_key_variables_are_set_and_never_a_key(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MINE_KEY", "sk-secret-1")
    FILE.write_text(
        '[models.m]\nmodel = "x"\nbase_url = "http://h/v1"\napi_key_env = "MINE_KEY"\n[models.n]\nmodel = "y"\n'
    )
    lines = [" ".join(line.split()) for line in type_("list models").output.splitlines()]
    assert "m x at http://h/v1, key in MINE_KEY (set) (wildtool.toml)" in lines
    assert "n y (wildtool.toml)" in lines
    assert "secret" not in "".join(lines)


def test_a_dry_run_tells_calls_tokens_and_cost_and_writes_nothing():
    FILE.write_text(
        '[models.m]\nmodel = "x"\nbase_url = "http://127.0.0.1:9/v1"\nprices = {input = 100, output = 200}\n'
    )
    ended = type_("run echo --model m --limit 2 --repeats 3 --dry-run --quiet")
    assert ended.exit_code == 0, ended.output
    lines = [line.split() for line in ended.output.splitlines()]
    # Two items of two units of two steps.
    assert ["calls", "24"] in lines
    assert any(line[:1] == ["cost"] and line[-2:] == ["USD", "(wildtool.toml)"] for line in lines)
    assert [path.name for path in Path().iterdir()] == ["wildtool.toml"]


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("--max-cost 1000", "--max-cost 1000: would not be reached (in all"),
        ("--max-cost 0.0001", "--max-cost 0.0001: would be reached (in all"),
        ("--max-tokens-total 1000000", "--max-tokens-total 1,000,000: would not be reached (in all"),
        ("--max-tokens-total 10", "--max-tokens-total 10: would be reached (in all"),
        ("--deadline 30s", "--deadline 30: would be reached (in all 60 – 60 s)"),
        ("--deadline 1h", "--deadline 3600: would not be reached (in all 60 – 60 s)"),
    ],
)
def test_a_dry_run_says_whether_a_limit_would_be_reached(limit: str, said: str):
    FILE.write_text(
        '[models.m]\nmodel = "x"\nbase_url = "http://127.0.0.1:9/v1"\nprices = {input = 100, output = 200}\n'
    )
    ended = type_(f"run echo --model m --limit 2 --repeats 3 --concurrency 2 --dry-run {limit}")
    assert said in ended.output
    assert "  time           60 s, if a call takes 5 s (--concurrency 2)" in ended.output.splitlines()


def test_a_dry_run_without_a_price_cannot_say_whether_it_costs_too_much():
    FILE.write_text('[models.m]\nmodel = "x"\nbase_url = "http://127.0.0.1:9/v1"\n')
    ended = type_("run echo --model m --dry-run --max-cost 5")
    assert "--max-cost 5: cannot tell in advance whether it would be reached" in ended.output


@pytest.mark.parametrize(
    ("rate", "time"), [("--rpm 4", "6 min"), ("--tpm 100000000", "60 s"), ("--rpm 600", "60 s")]
)
def test_the_time_of_a_dry_run_allows_for_the_rates(rate: str, time: str):
    FILE.write_text('[models.m]\nmodel = "x"\nbase_url = "http://127.0.0.1:9/v1"\n')
    ended = type_(f"run echo --model m --limit 2 --repeats 3 --concurrency 2 --dry-run {rate}")
    assert f"  time           {time}, if a call takes 5 s" in ended.output


def test_a_dry_run_of_a_baseline_takes_no_time_worth_telling():
    assert "time " not in type_("run echo --model baseline/gold --dry-run").output


def test_a_config_without_a_file_says_nothing():
    assert (read_config(None).run, read_config(None).models) == ({}, {})
