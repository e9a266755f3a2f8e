"""Which model a name stands for, at which address, with which key; and each refusal to the word."""

import re
from hashlib import sha256
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from models.options import model_options
from wildtool.cli.options.whitelist import model_effects
from wildtool.errors import UsageError
from wildtool.models import resolve
from wildtool.models.extras import import_for
from wildtool.models.headers import parse_headers
from wildtool.models.prompted import PromptedModel
from wildtool.models.providers.base import HttpModel
from wildtool.models.resolve import (
    PRESETS,
    ModelOptions,
    Preset,
    endpoint_note,
    folder_name,
    installed_prefixes,
    known_name,
    model_from_name,
    preset_of,
    provider_of,
    takes_format,
)
from wildtool.models.settings import EndpointOptions, Sampling

LOCAL = "http://127.0.0.1:8000/v1"
KEY = "sk-preset-0123456789"


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "AWS_REGION", "AZURE_OPENAI_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    for preset in PRESETS.values():
        monkeypatch.delenv(preset.key_env or "NO_SUCH", raising=False)


def refusal(name: str, options: ModelOptions | None = None) -> str:
    with pytest.raises(UsageError) as raised:
        model_from_name(name, options or ModelOptions())
    return str(raised.value)


def key_headers(model: Any) -> dict[str, str]:
    """The headers that carry a key."""
    headers: dict[str, str] = model._endpoint._headers
    return {header: value for header, value in headers.items() if KEY in value or "other" in value}


def reached(name: str, **given: Any) -> dict[str, Any]:
    """How the model of a name is called: its class, its settings, and its key with the header that carries it."""
    model = model_from_name(name, model_options(**given))
    assert isinstance(model, HttpModel)
    settings = {name: value for name, value in model.settings().items() if name != "extra_body"}
    return {"class": type(model).__name__, "name": model.name, **settings, "keys": key_headers(model)}


def test_the_table_of_presets():
    plain = {"protocol": "chat completions", "key_header": None, "url_env": None, "own_url_gets_key": False}
    openai = {"url_env": "OPENAI_BASE_URL", "own_url_gets_key": True}
    expected: dict[str, dict[str, Any]] = {
        "openai-chat": {"key_env": "OPENAI_API_KEY", **openai},
        "openai-responses": {"key_env": "OPENAI_API_KEY", "protocol": "responses", **openai},
        "anthropic": {"key_env": "ANTHROPIC_API_KEY", "protocol": "messages"},
        "gemini": {"key_env": "GEMINI_API_KEY", "protocol": "generateContent"},
        "azure": {"key_env": "AZURE_OPENAI_API_KEY", "key_header": "api-key", "own_url_gets_key": True},
        "bedrock": {"key_env": "AWS_BEARER_TOKEN_BEDROCK", "own_url_gets_key": True},
        "dashscope": {"key_env": "DASHSCOPE_API_KEY"},
        "ollama": {"key_env": None},
    }
    for prefix, fields in expected.items():
        preset = PRESETS[prefix]
        own = {name: getattr(preset, name) for name in (*plain, "key_env")}
        assert own == {**plain, **fields}, prefix
    assert [name for name, preset in PRESETS.items() if preset.key_env is None] == [
        "ollama",
        "vllm",
        "sglang",
        "llamacpp",
        "lmstudio",
    ]
    assert all(
        re.match(r"https?://", preset.base_url.replace("{", "https://")) for preset in PRESETS.values()
    )
    assert Preset("u") == Preset("u", None, "chat completions", None, None, False)


def test_addresses_are_filled_in_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    preset = Preset("https://{A_HOST}/{A_PART}/v1", url_env="A_URL")
    monkeypatch.setenv("A_HOST", " host/ ")
    for part in (None, " "):
        if part:
            monkeypatch.setenv("A_PART", part)
        with pytest.raises(UsageError) as raised:
            preset.url("--base-url")
        assert str(raised.value) == (
            "the endpoint https://{A_HOST}/{A_PART}/v1 needs A_PART; set it or give --base-url URL"
        )
    monkeypatch.setenv("A_PART", "part")
    assert preset.url("--base-url") == "https://host/part/v1"
    monkeypatch.setenv("A_URL", "https://own")
    assert preset.url("--base-url") == "https://own"
    assert Preset("https://plain/").url("--x") == "https://plain/"


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("gpt-4o", ("openai-chat", "gpt-4o")),
        ("o3", ("openai-chat", "o3")),
        ("o3x", None),
        ("openai/o3x", ("openai-chat", "o3x")),
        ("openai/gpt-oss-20b", None),
        ("openai/ ", None),
        ("gpt-oss-20b", None),
        ("openai/claude-x", ("openai-chat", "claude-x")),
        ("claude-x", ("anthropic", "claude-x")),
        ("my-claude-x", None),
    ],
)
def test_names_of_one_provider(name: str, known: tuple[str, str] | None):
    assert known_name(name) == known


@pytest.mark.parametrize(
    ("name", "given", "variables", "expected"),
    [
        (
            "m",
            {"base_url": LOCAL, "timeout_s": 5.0},
            {},
            {"class": "OpenAIModel", "name": "m", "base_url": LOCAL, "keys": {}},
        ),
        (
            "m",
            {"base_url": LOCAL, "display_name": "mine"},
            {"OPENAI_API_KEY": KEY},
            {
                "class": "OpenAIModel",
                "name": "mine",
                "base_url": LOCAL,
                "sent_as": "m",
                "keys": {"Authorization": f"Bearer {KEY}"},
            },
        ),
        (
            "m",
            {"base_url": LOCAL, "default_key": False},
            {"OPENAI_API_KEY": KEY},
            {"class": "OpenAIModel", "name": "m", "base_url": LOCAL, "keys": {}},
        ),
        (
            "gpt-4o",
            {},
            {"OPENAI_API_KEY": f" {KEY}\n"},
            {
                "class": "OpenAIModel",
                "name": "gpt-4o",
                "base_url": "https://api.openai.com/v1",
                "keys": {"Authorization": f"Bearer {KEY}"},
            },
        ),
        (
            "openai/gpt-4o",
            {},
            {"OPENAI_API_KEY": KEY},
            {
                "class": "OpenAIModel",
                "name": "openai/gpt-4o",
                "base_url": "https://api.openai.com/v1",
                "sent_as": "gpt-4o",
                "keys": {"Authorization": f"Bearer {KEY}"},
            },
        ),
        (
            "azure/d",
            {"base_url": LOCAL, "display_name": "mine"},
            {"AZURE_OPENAI_API_KEY": KEY},
            {
                "class": "OpenAIModel",
                "name": "mine",
                "base_url": LOCAL,
                "sent_as": "d",
                "keys": {"api-key": KEY},
            },
        ),
        (
            "azure/d",
            {"base_url": LOCAL},
            {},
            {"class": "OpenAIModel", "name": "azure/d", "base_url": LOCAL, "sent_as": "d", "keys": {}},
        ),
        (
            "groq/g",
            {"base_url": LOCAL},
            {"GROQ_API_KEY": KEY},
            {"class": "OpenAIModel", "name": "groq/g", "base_url": LOCAL, "sent_as": "g", "keys": {}},
        ),
        (
            "groq/g",
            {"api_key_env": "MINE"},
            {"GROQ_API_KEY": KEY, "MINE": "other-key"},
            {
                "class": "OpenAIModel",
                "name": "groq/g",
                "base_url": "https://api.groq.com/openai/v1",
                "sent_as": "g",
                "keys": {"Authorization": "Bearer other-key"},
            },
        ),
        (
            "groq/g",
            {"shared": EndpointOptions(base_url=LOCAL, api_key_env="MINE")},
            {"GROQ_API_KEY": KEY, "MINE": "other-key"},
            {
                "class": "OpenAIModel",
                "name": "groq/g",
                "base_url": "https://api.groq.com/openai/v1",
                "sent_as": "g",
                "keys": {"Authorization": f"Bearer {KEY}"},
            },
        ),
        (
            "m",
            {"base_url": LOCAL, "api": "completions"},
            {},
            {
                "class": "CompletionsModel",
                "name": "m",
                "base_url": LOCAL,
                "api": "completions",
                "max_tokens": 512,
                "keys": {},
            },
        ),
        (
            "m",
            {"base_url": LOCAL, "api": "embeddings"},
            {},
            {"class": "EmbeddingsModel", "name": "m", "base_url": LOCAL, "api": "embeddings", "keys": {}},
        ),
    ],
)
def test_a_name_is_reached_at_its_address_with_its_key(
    name: str,
    given: dict[str, Any],
    variables: dict[str, str],
    expected: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
):
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    assert reached(name, **given) == expected


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("--x", {}, "the name of a model is missing before --x"),
        (
            "groq/g",
            {"base_url_option": "--user-base-url"},
            "model 'groq/g' needs a key: set GROQ_API_KEY, or name its variable with --user-api-key-env",
        ),
        (
            "m",
            {"api": "completions", "format": "hermes"},
            "a model that continues a raw text is sent no tools; leave out --tool-format",
        ),
        (
            "hf/m",
            {"api": "embeddings"},
            "model 'hf/m' gives no embeddings here: that needs an endpoint with /embeddings, or leave it out for bm25",
        ),
        (
            "inspect/m",
            {"api": "completions"},
            "model 'inspect/m' cannot continue a raw text here: that needs an endpoint with /completions, or hf/PATH;"
            " choose another mode with --mode",
        ),
        (
            "anthropic/m",
            {"api": "embeddings", "base_url": LOCAL},
            "model 'anthropic/m' gives no embeddings here: that needs an endpoint with /embeddings, or leave it out for"
            " bm25",
        ),
        (
            "groq/",
            {},
            "model 'groq/' is a prefix alone; name the model too, such as groq/NAME",
        ),
        ("hf", {}, "model 'hf' is a prefix alone; name the model too, such as hf/NAME"),
        (
            "grok/x/y",
            {"base_url_option": "--judge-base-url"},
            "model 'grok/x/y' needs an endpoint: did you mean groq/x/y? Otherwise give one such as --judge-base-url"
            " http://127.0.0.1:8000/v1, set OPENAI_BASE_URL, or put a provider before the name, such as openrouter/ (see"
            " `wildtool list models`)",
        ),
        (
            "grok",
            {},
            "model 'grok' needs an endpoint: give one such as --base-url http://127.0.0.1:8000/v1, set OPENAI_BASE_URL,"
            " or put a provider before the name, such as openrouter/ (see `wildtool list models`)",
        ),
        (
            "openai/gpt-oss",
            {},
            "model 'openai/gpt-oss' needs an endpoint: give one such as --base-url http://127.0.0.1:8000/v1, set"
            " OPENAI_BASE_URL, or put a provider before the name, such as openrouter/ (see `wildtool list models`)",
        ),
        (
            "m",
            {"base_url": LOCAL, "extra_body": {"user": {"api_key": "x"}}},
            "the extra body holds 'api_key', but it is recorded, and keys are not; put the key into an environment"
            " variable and name that with --api-key-env",
        ),
        (
            "m",
            {"base_url": LOCAL, "api_key_env": "A", "api_key_file": Path("a")},
            "give the API key by --api-key-env or by --api-key-file, not both",
        ),
        (
            "m",
            {"base_url": LOCAL, "api_key_env": "sk-1"},
            "--api-key-env does not name an environment variable; if it is the key itself, put it into one and name that",
        ),
        (
            "m",
            {"base_url": LOCAL, "api_key_env": "NO_SUCH"},
            "the environment variable NO_SUCH holds no API key; set it or name another",
        ),
        (
            "m",
            {"base_url": LOCAL, "api_key_file": Path("no-such-file")},
            "the API key file no-such-file cannot be read (FileNotFoundError)",
        ),
        ("replay:no/such", {}, "no/such does not exist; replay: needs a run folder or a replies file"),
        ("replay:no#m", {}, "no does not exist; replay: needs a run folder or a replies file"),
        (f"replay:{__file__}#m", {}, "replay: works only in `wildtool run`"),
    ],
)
def test_a_name_that_gives_no_model_is_refused(name: str, given: dict[str, Any], message: str):
    assert refusal(name, model_options(**given)) == message


def test_an_empty_key_file_is_named(tmp_path: Path):
    (tmp_path / "key").write_text(" \n")
    options = model_options(base_url=LOCAL, api_key_file=tmp_path / "key")
    assert refusal("m", options) == f"the API key file {tmp_path}/key is empty"


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("http://ann:word@host/v1", False),
        ("http://host/v1/@x", True),
        ("http://host?a=@x", True),
        ("http://host/v1", True),
    ],
)
def test_the_default_key_goes_beside_no_other_credential(
    url: str, sent: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert bool(reached("m", base_url=url)["keys"]) is sent


def test_a_replayed_path_may_hold_a_mark(tmp_path: Path):
    (tmp_path / "a#b").touch()
    opened: list[tuple[Path, str | None]] = []

    def open_replies(path: Path, model: str | None) -> Any:
        opened.append((path, model))
        return lambda item, repeat: None

    path = str(tmp_path / "a#b")
    options = ModelOptions(open_replies=open_replies)
    models = [model_from_name(f"replay:{path}{end}", options) for end in ("", "#c")]
    assert opened == [(Path(path), None), (Path(path), "c")]
    assert [(model.name, model.settings()) for model in models] == [
        (f"replay:{path}", {"replies": path, "model": None}),
        (f"replay:{path}#c", {"replies": path, "model": "c"}),
    ]


def test_searches_go_to_the_address_of_the_environment_with_its_key(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WILDTOOL_SEARCH_URL", f" {LOCAL} ")
    for value, keys in ((f" {KEY}\n", {"Authorization": f"Bearer {KEY}"}), (" ", {})):
        monkeypatch.setenv("WILDTOOL_SEARCH_API_KEY", value)
        model = model_from_name("web/search", ModelOptions())
        assert (model.name, model.settings()) == ("web/search", {"endpoint": LOCAL})
        assert key_headers(model) == keys
    monkeypatch.delenv("WILDTOOL_SEARCH_URL")
    with pytest.raises(UsageError, match=r"^web search is not runnable here"):
        model_from_name("web/search", ModelOptions())


def test_baselines_have_the_seed_of_the_sampling_and_no_format():
    plain, seeded = (
        model_from_name("baseline/random", model_options(seed=seed, format="hermes")).settings()
        for seed in (None, 7)
    )
    assert (plain, seeded) == ({"seed": 0}, {"seed": 7})
    assert [takes_format(name) for name in ("baseline/gold", "replay:x", "hf/x", "gpt-4o")] == [
        False,
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("format_name", "format", "origin"),
    [("llama3-json", "llama3-json", "by option"), ("auto", "hermes", "auto")],
)
def test_a_model_with_a_format_is_prompted(format_name: str, format: str, origin: str):
    model = model_from_name("qwen2.5-7b", model_options(base_url=LOCAL, format=format_name))
    assert isinstance(model, PromptedModel)
    assert (model.format.name, model.name) == (format, "qwen2.5-7b")
    assert origin in str(model.settings())


def test_a_plain_name_says_where_it_is_sent():
    assert endpoint_note("gpt-4o", ModelOptions()) == (
        "gpt-4o is called at https://api.openai.com/v1 (the same as openai-chat/gpt-4o); for another endpoint give"
        " --base-url URL"
    )
    other = model_options(base_url_option="--user-base-url")
    assert endpoint_note("openai/o3", other) == (
        "openai/o3 is called as o3 at https://api.openai.com/v1 (the same as openai-chat/o3); for another endpoint give"
        " --user-base-url URL"
    )
    for name in ("m", "hf/gpt-4o", "groq/gpt-4o", "web/search", "baseline/x", "replay:gpt-4o", "inspect/a"):
        assert endpoint_note(name, ModelOptions()) is None


AGENT = model_options(
    base_url=LOCAL,
    api_key_env="A",
    timeout_s=5.0,
    temperature=0.5,
    max_tokens=9,
    seed=3,
    extra_body={"a": 1},
    display_name="d",
    format="hermes",
    api="embeddings",
)


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        (
            EndpointOptions(),
            {"shared": AGENT.endpoint, "default_key": True},
        ),
        (
            EndpointOptions(base_url="http://b"),
            {"base_url": "http://b", "default_key": False},
        ),
        (
            EndpointOptions(api_key_env="B"),
            {"api_key_env": "B", "shared": AGENT.endpoint, "default_key": True},
        ),
        (
            EndpointOptions(base_url="http://b", api_key_env="B"),
            {"base_url": "http://b", "api_key_env": "B", "default_key": False},
        ),
    ],
)
def test_a_model_of_another_role_shares_the_endpoint_unless_it_has_its_own(
    own: EndpointOptions, expected: dict[str, Any]
):
    options = AGENT.for_other_role(own, 0.1, 7)
    assert options == ModelOptions(
        endpoint=EndpointOptions(**{"base_url_option": "--user-base-url", "timeout_s": 5.0, **expected}),
        sampling=Sampling(temperature=0.1, max_tokens=7, seed=3),
    )
    assert AGENT.for_other_role(own, None).sampling == Sampling(seed=3)
    keyless = model_options(base_url=LOCAL, default_key=False)
    assert keyless.for_other_role(own, None).endpoint.default_key is False


@pytest.mark.parametrize(
    ("name", "start", "hashed"),
    [
        ("a/b", "a--b", False),
        (".hidden", "hidden-", True),
        ("a--b", "a--b-", True),
        ("a b", "a_b-", True),
        ("x" * 100, "x" * 100, False),
        ("x" * 101, "x" * 100 + "-", True),
        ("", "", True),
        ("..", "", True),
    ],
)
def test_the_folder_of_a_model(name: str, start: str, hashed: bool):
    assert folder_name(name) == start + (sha256(name.encode()).hexdigest()[:8] if hashed else "")


# Providers of packages ---------------------------------------------------------------------------------


def make_own(display_name: str, sent_as: str, options: ModelOptions) -> Any:
    return (display_name, sent_as, options)


OWN_PRESET = Preset("http://127.0.0.1:5/v1")


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[EntryPoint, ...]]:
    entries: dict[str, tuple[EntryPoint, ...]] = {}
    monkeypatch.setattr(resolve, "installed_entries", lambda group: entries)
    return entries


def entry(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, f"{__name__}:{value}", "wildtool.providers")


def test_a_package_can_offer_a_prefix(offered: dict[str, tuple[EntryPoint, ...]]):
    offered |= {
        "zeta": (entry("zeta", "make_own"),),
        "own": (entry("own", "OWN_PRESET"),),
        "groq": (entry("groq", "OWN_PRESET"),),
    }
    assert installed_prefixes() == ["own", "zeta"]
    assert (provider_of("zeta"), provider_of("own"), provider_of("no")) == (make_own, OWN_PRESET, None)
    assert (provider_of("groq"), provider_of("hf")) == (PRESETS["groq"], None)
    assert preset_of("zeta/a/b") == (make_own, "a/b")
    assert (preset_of("zeta/ "), preset_of("zeta"), preset_of("no/x")) == (None, None, None)
    options = model_options(display_name="d")
    assert model_from_name("zeta/x", options) == ("d", "x", options)
    assert model_from_name("zeta/x", ModelOptions()) == ("zeta/x", "x", ModelOptions())
    headed = model_options(api_key_env="A", headers=parse_headers(["X-Key=env:SECRET"]))
    effects = model_effects("zeta/x", headed, Path())
    assert [effect.partition(" to the provider")[0] for effect in effects] == ["send A", "send SECRET"]
    beside: Any = model_from_name("zeta/x", AGENT.for_other_role(EndpointOptions(), None))
    assert (beside[2].endpoint.base_url, beside[2].endpoint.api_key_env) == (None, None)
    assert reached("own/x")["base_url"] == "http://127.0.0.1:5/v1"
    assert refusal("zeta/x", model_options(api="completions")) == (
        "model 'zeta/x' cannot continue a raw text here: that needs an endpoint with /completions, or hf/PATH; choose"
        " another mode with --mode"
    )
    assert refusal("zeta/") == "model 'zeta/' is a prefix alone; name the model too, such as zeta/NAME"


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        (
            (entry("own", "KEY"),),
            f"its entry point {__name__}:KEY is str; name a Preset of wildtool.models.resolve, or a function that makes"
            " models",
        ),
        (
            (entry("own", "ModelOptions"),),
            f"its entry point {__name__}:ModelOptions is type; name a Preset of wildtool.models.resolve, or a function"
            " that makes models",
        ),
        (
            (entry("own", "make_own"), entry("own", "OWN_PRESET")),
            f"{__name__} offers that prefix too; uninstall one of them",
        ),
    ],
)
def test_a_prefix_that_cannot_be_used_is_refused(
    entries: tuple[EntryPoint, ...], problem: str, offered: dict[str, tuple[EntryPoint, ...]]
):
    offered["own"] = entries
    assert refusal("own/x") == f"provider 'own' of package {__name__} cannot be used: {problem}"


def test_an_extra_that_is_missing_is_named():
    assert import_for("m", "math", "x").pi > 3
    with pytest.raises(UsageError) as raised:
        import_for("hf/m", "no_such_library", "hf")
    assert str(raised.value) == (
        "model 'hf/m' needs the extra [hf]; install it with: pip install 'wildtool[hf]'"
    )
