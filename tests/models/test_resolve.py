"""A name and options lead to the model that answers, and to a folder that is safe to write."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.options import model_options
from wildtool.errors import UsageError
from wildtool.models.providers.openai_chat import OpenAIModel
from wildtool.models.replay import ReplayModel
from wildtool.models.resolve import ModelOptions, endpoint_note, folder_name, model_from_name

LOCAL = "http://127.0.0.1:8000/v1"


@pytest.fixture(autouse=True)
def no_settings_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def authorization(model: object) -> str | None:
    assert isinstance(model, OpenAIModel)
    return model._endpoint._headers.get("Authorization")  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("name", ["gpt-4o", "Qwen/Qwen2.5-7B", "qwen:7b", "a/b:free"])
def test_any_other_name_is_asked_at_the_endpoint(name: str):
    model = model_from_name(name, model_options(base_url=LOCAL))
    assert isinstance(model, OpenAIModel) and model.name == name


def test_without_an_endpoint_the_option_to_give_is_named():
    with pytest.raises(UsageError, match=r"--base-url http://127\.0\.0\.1:8000/v1"):
        model_from_name("qwen3", ModelOptions())


def test_the_environment_may_give_the_endpoint(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert model_from_name("m", ModelOptions()).settings()["base_url"] == "http://127.0.0.1:9/v1"


def test_the_option_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert model_from_name("m", model_options(base_url=LOCAL)).settings()["base_url"] == LOCAL


def test_settings_say_how_it_was_asked():
    options = model_options(base_url=LOCAL, temperature=0.0, max_tokens=9, seed=1, extra_body={"top_p": 0.5})
    expected = {
        "base_url": LOCAL,
        "temperature": 0.0,
        "max_tokens": 9,
        "seed": 1,
        "extra_body": {"top_p": 0.5},
    }
    assert model_from_name("m", options).settings() == expected


def test_no_key_is_needed():
    assert authorization(model_from_name("m", model_options(base_url=LOCAL))) is None


def test_the_key_comes_from_the_named_variable(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "other")
    monkeypatch.setenv("MY_KEY", "mine\n")
    assert (
        authorization(model_from_name("m", model_options(base_url=LOCAL, api_key_env="MY_KEY")))
        == "Bearer mine"
    )


def test_the_default_variable_is_used_if_set(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "default")
    assert authorization(model_from_name("m", model_options(base_url=LOCAL))) == "Bearer default"


def test_the_default_key_is_not_sent_beside_a_password_in_the_url(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "default")
    options = model_options(base_url="http://ann:word@127.0.0.1:8000/v1")
    assert authorization(model_from_name("m", options)) == "Basic YW5uOndvcmQ="


def test_a_named_variable_that_is_not_set_stops_before_the_first_call():
    with pytest.raises(UsageError, match="MISSING_KEY"):
        model_from_name("m", model_options(base_url=LOCAL, api_key_env="MISSING_KEY"))


def test_the_key_may_stand_in_a_file(tmp_path: Path):
    file = tmp_path / "key"
    file.write_text("in-file\n")
    assert (
        authorization(model_from_name("m", model_options(base_url=LOCAL, api_key_file=file)))
        == "Bearer in-file"
    )


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", None])
def test_a_key_file_without_a_key_is_a_usage_error(tmp_path: Path, content: bytes | None):
    file = tmp_path / "key"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UsageError, match="key"):
        model_from_name("m", model_options(base_url=LOCAL, api_key_file=file))


def test_a_key_that_no_header_can_hold_is_refused_without_showing_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_KEY", "sk-geheim\r\nX: y")
    with pytest.raises(UsageError) as caught:
        model_from_name("m", model_options(base_url=LOCAL, api_key_env="MY_KEY"))
    assert "geheim" not in str(caught.value)


def test_replay_opens_the_path_and_selects_the_model(tmp_path: Path):
    file = tmp_path / "replies.jsonl"
    file.touch()
    opened: list[tuple[Path, str | None]] = []

    def open_replies(path: Path, model: str | None):
        opened.append((path, model))
        return lambda item, repeat: None

    options = model_options(open_replies=open_replies)
    models = [model_from_name(f"replay:{file}{end}", options) for end in ("", "#strong_model")]
    assert opened == [(file, None), (file, "strong_model")]
    assert all(isinstance(model, ReplayModel) for model in models)


def test_a_replay_path_that_is_missing_is_named(tmp_path: Path):
    with pytest.raises(UsageError, match="nothing-here"):
        model_from_name(f"replay:{tmp_path}/nothing-here#m", ModelOptions())


@pytest.mark.parametrize(
    ("name", "folder"), [("gpt-4o", "gpt-4o"), ("Qwen/Qwen2.5-7B", "Qwen--Qwen2.5-7B"), ("a_b", "a_b")]
)
def test_ordinary_names_stay_readable_folders(name: str, folder: str):
    assert folder_name(name) == folder


@pytest.mark.parametrize(
    "name", ["..", ".", "", "/", "../../etc", "a b", "模型", "qwen:7b", "x" * 500, "\0", "\ud800"]
)
def test_a_folder_never_leaves_its_parent(name: str, tmp_path: Path):
    folder = tmp_path / folder_name(name)
    folder.mkdir()
    assert folder.parent == tmp_path and folder.name[0] != "." and len(folder.name) <= 120


@given(st.lists(st.text("ab/-_.:", max_size=5), unique=True, max_size=40))
def test_different_names_get_different_folders(names: list[str]):
    assert len({folder_name(name) for name in names}) == len(names)


def test_settings_can_be_recorded_as_json():
    options = model_options(base_url=LOCAL, extra_body={"stop": ["x"]})
    assert json.loads(json.dumps(model_from_name("m", options).settings()))["extra_body"] == {"stop": ["x"]}


@pytest.mark.parametrize(
    ("name", "address", "sent_as"),
    [
        ("gpt-4o", "https://api.openai.com/v1", "gpt-4o"),
        ("gpt-4.1-mini-2025-04-14", "https://api.openai.com/v1", "gpt-4.1-mini-2025-04-14"),
        ("ft:gpt-4o-mini:me::x", "https://api.openai.com/v1", "ft:gpt-4o-mini:me::x"),
        ("chatgpt-4o-latest", "https://api.openai.com/v1", "chatgpt-4o-latest"),
        ("o3", "https://api.openai.com/v1", "o3"),
        ("o4-mini", "https://api.openai.com/v1", "o4-mini"),
        ("openai/gpt-4o", "https://api.openai.com/v1", "gpt-4o"),
        ("openai/some-new-model", "https://api.openai.com/v1", "some-new-model"),
        ("claude-sonnet-4-5", "https://api.anthropic.com/v1", "claude-sonnet-4-5"),
        ("gemini-2.5-pro", "https://generativelanguage.googleapis.com/v1beta", "gemini-2.5-pro"),
    ],
)
def test_a_name_that_only_one_provider_gives_finds_its_endpoint_which_is_said(
    name: str, address: str, sent_as: str, monkeypatch: pytest.MonkeyPatch
):
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(variable, "a-key-of-mine")
    settings = model_from_name(name, ModelOptions()).settings()
    assert (settings["base_url"], settings.get("sent_as", name)) == (address, sent_as)
    said = endpoint_note(name, ModelOptions())
    assert said is not None
    assert address in said
    assert "a-key-of-mine" not in said


@pytest.mark.parametrize("name", ["gpt-4o", "openai/gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro", "o3"])
@pytest.mark.parametrize("by", ["option", "environment"])
def test_where_an_address_is_given_any_name_is_a_plain_one(
    name: str, by: str, monkeypatch: pytest.MonkeyPatch
):
    if by == "environment":
        monkeypatch.setenv("OPENAI_BASE_URL", LOCAL)
    options = model_options(base_url=LOCAL if by == "option" else None)
    model = model_from_name(name, options)
    assert isinstance(model, OpenAIModel)
    assert (model.settings()["base_url"], model.settings().get("sent_as", name)) == (LOCAL, name)
    assert endpoint_note(name, options) is None


@pytest.mark.parametrize(
    "name", ["gpt-oss-20b", "openai/gpt-oss-120b", "gpt2", "o", "openai/", "qwen3", "oracle-1"]
)
def test_weights_that_anybody_may_serve_need_an_endpoint(name: str):
    with pytest.raises(UsageError, match="needs an endpoint"):
        model_from_name(name, ModelOptions())


def test_an_option_is_not_taken_for_a_models_name():
    with pytest.raises(UsageError, match="name of a model is missing before --base-url"):
        model_from_name("--base-url", ModelOptions())


def test_the_key_that_is_missing_is_named():
    with pytest.raises(UsageError, match="ANTHROPIC_API_KEY"):
        model_from_name("claude-sonnet-4-5", ModelOptions())
