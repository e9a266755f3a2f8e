"""`wildtool.toml`: what is read of each table, and the whole message about each fault, with its line."""

from pathlib import Path

import pytest

from wildtool.cli.options.config_file import Config, ModelEntry, read_config
from wildtool.errors import UsageError
from wildtool.models.settings import EndpointOptions, Rates
from wildtool.models.token_usage import Price

KEYS = (
    "api_key_env, api_key_file, base_url, batch, extra_body, format, headers, max_tokens, model, prices, rpm, stream,"
    " temperature, tpm"
)
ADVICE = "put it into an environment variable and name that with api_key_env"

WHOLE = """
[run]
limit = 5

[models.mine]
model = "openai-chat/gpt-4o"
base_url = "http://h/v1"
api_key_env = "MY_KEY"
api_key_file = "key.txt"
format = "auto"
temperature = 0
max_tokens = 9
extra_body = {top_p = 0.5}
stream = true
batch = false
rpm = 2
tpm = 0.5
prices = {input = 1, output = 2.5}

[models."other one"]
model = "m"
"""


def test_every_key_of_a_table_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(WHOLE, "utf-8")
    mine = ModelEntry(
        model="openai-chat/gpt-4o",
        endpoint=EndpointOptions(base_url="http://h/v1", api_key_env="MY_KEY", api_key_file=Path("key.txt")),
        sampling={"temperature": 0, "max_tokens": 9, "extra_body": {"top_p": 0.5}, "stream": True},
        format="auto",
        batch=False,
        rates=Rates(rpm=2, tpm=0.5),
        price=Price(input=1, output=2.5, origin=str(path)),
    )
    models = {"mine": mine, "other one": ModelEntry(model="m")}
    assert read_config(path) == Config(path, {"limit": 5}, models, WHOLE)


def test_without_a_file_nothing_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_config(None) == Config()
    Path("wildtool.toml").write_text("[run]\nlimit = 5\n", "utf-8")
    assert read_config(None) == Config(
        Path("wildtool.toml"), {"limit": 5}, {}, "[run]\nlimit = 5\n", is_named=False
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[model.m]", ", line 1: model: unknown key; did you mean models?"),
        ("[zebra]", ", line 1: zebra: unknown key; known keys: models, run"),
        ("run = 5", ", line 1: run: must be a table, such as [run]"),
        ("[models]\nm = 5", ", line 2: models.m: must be a table with at least `model`"),
        ('[models." "]\nmodel = "m"', ", line 1: models. : a model needs a name"),
        ("\n[models.m]\nrpm = 5", ', line 2: models.m: needs `model`, such as model = "openai-chat/gpt-4o"'),
        (
            '[models.m]\nmodel = " "',
            ', line 1: models.m: needs `model`, such as model = "openai-chat/gpt-4o"',
        ),
        (
            '[models.m]\nmodel = "x"\ntempreture = 1',
            ", line 3: models.m.tempreture: unknown key; did you mean temperature?",
        ),
        ("[models.m]\nzebra = 1", f", line 2: models.m.zebra: unknown key; known keys: {KEYS}"),
        ("[models.m]\nmodel = 5", ", line 2: models.m.model: must be a text"),
        ("[models.m]\nmax_tokens = 1.5", ", line 2: models.m.max_tokens: must be a whole number"),
        ("[models.m]\nmax_tokens = true", ", line 2: models.m.max_tokens: must be a whole number"),
        ('[models.m]\ntemperature = "1"', ", line 2: models.m.temperature: must be a number"),
        ("[models.m]\nstream = 1", ", line 2: models.m.stream: must be true or false"),
        ("[models.m]\nextra_body = 1", ", line 2: models.m.extra_body: must be a table"),
        ("[models.m]\nrpm = 0", ", line 2: models.m.rpm: must be more than 0"),
        ("[models.m]\ntpm = nan", ", line 2: models.m.tpm: must be more than 0"),
        ("models.m.rpm = 0", ", line 1: models.m.rpm: must be more than 0"),
        ('[models]\n"m" = {rpm = 0}', ": models.m.rpm: must be more than 0"),
        ('[models."m.n"] # x\n"rpm" = 0', ", line 2: models.m.n.rpm: must be more than 0"),
        (
            '[models.m]\nformat = "hermse"',
            ", line 2: models.m.format: unknown format 'hermse'; did you mean 'hermes'? (known: ",
        ),
        (
            '[models.m]\napi_key = "sk-1"',
            f", line 2: models.m.api_key: do not keep a key in a file that others may read; {ADVICE}",
        ),
        (
            '[models.m]\napi_key_env = "sk-1 2"',
            f", line 2: models.m.api_key_env: is not a variable name; if it is the key itself, {ADVICE}",
        ),
        (
            '[run]\nuser_api_key_env = "sk-1 2"',
            f", line 2: run.user_api_key_env: is not a variable name; if it is the key itself, {ADVICE}",
        ),
        (
            '[models.m]\nbase_url = "http://me:x@h/v1"',
            f", line 2: models.m.base_url: contains a login in an address; {ADVICE}",
        ),
        (
            "[models.m",
            ": not valid TOML: Expected ']' at the end of a table declaration (at end of document)",
        ),
    ],
)
def test_a_fault_is_named_with_line_and_key(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError) as caught:
        read_config(path)
    assert str(caught.value).partition("(known: ")[0] == f"{path}{message}".partition("(known: ")[0]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read_config(tmp_path / "none.toml")
    assert str(caught.value) == f"cannot read {tmp_path / 'none.toml'}: No such file or directory"


def test_a_model_may_have_any_name(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text('[models.api_key]\nmodel = "m"\n[models.token]\nmodel = "n"\n', "utf-8")
    assert {name: entry.model for name, entry in read_config(path).models.items()} == {
        "api_key": "m",
        "token": "n",
    }
