"""Modes, and roles besides the agent: named, told, played by default or from a record, and kept apart in tables."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from engine.echo_benchmark import EchoBenchmark, EchoData, ScriptedModel
from models.options import model_options
from wildtool.cli import app
from wildtool.config.named_models import ModelCatalog, OtherRoles, RoleOptions, assign_other_roles
from wildtool.engine import registry
from wildtool.engine.record.reader import LoggedReply, LogReader
from wildtool.models.providers.openai_chat import OpenAIModel
from wildtool.models.replay import ReplayModel
from wildtool.models.resolve import ModelOptions
from wildtool.models.settings import EndpointOptions, Rates
from wildtool.types import Model

RUN = Path("runs/echo/baseline--gold")
PLAYED = "user is played by baseline/user; for a model give --user-model NAME"


class Entry:
    """Three items; the last one asks the role `user`."""

    dist = None
    module = value = "echo"

    def load(self) -> EchoBenchmark:
        return EchoBenchmark(items=3, with_user=1)


@pytest.fixture(autouse=True)
def _echo_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(registry, "_entries", lambda: {"echo": (Entry(),)})


def type_(line: str) -> Result:
    return CliRunner().invoke(app, line.split(), prog_name="wildtool")


def play(more: str = "") -> Result:
    return type_(f"run echo --model baseline/gold {more}")


def identity(run: Path = RUN) -> Any:
    return json.loads((run / "run.json").read_text())["identity"]


def said_by_user(run: Path = RUN) -> list[Any]:
    with LogReader(run) as reader:
        log = reader.log("i2", 0)
    steps = [step for unit in log.values() for step in unit.values()]
    return [step.reply.message for step in steps if isinstance(step, LoggedReply) and step.role == "user"]


def models(agent: Any, user: RoleOptions, settings: ModelOptions) -> dict[str, Model]:
    echo: Any = EchoBenchmark()
    others = OtherRoles(agent, settings, ModelCatalog({}, {}), Rates())
    found = assign_other_roles(echo, ("user",), others, lambda role: user, {}, {})[0]
    return {role: named.model for role, named in found.items()}


def user_options(**options: Any) -> RoleOptions:
    own = {name: options.pop(name) for name in ("model", "temperature") if name in options}
    return RoleOptions(**own, endpoint=EndpointOptions(**options))


def test_a_role_without_a_named_model_is_played_by_its_default_and_told():
    ended = play("--seed 3")
    assert (ended.exit_code, ended.stderr.count(PLAYED)) == (0, 1)
    assert identity()["models"]["user"] == {"name": "baseline/user", "settings": {"seed": 3}}
    assert said_by_user() == [{"content": "cooperative 3"}] * 2


def test_a_role_that_no_selected_item_asks_has_no_model():
    ended = play("--limit 1")
    assert "is played by" not in ended.stderr
    assert list(identity()["models"]) == ["agent"]


def test_a_user_model_that_no_selected_item_asks_is_told_and_not_asked():
    ended = play("--limit 1 --user-model baseline/user")
    assert "no selected item needs a user; baseline/user is not called" in ended.stderr
    assert list(identity()["models"]) == ["agent"]


def test_a_role_may_join_when_more_is_selected():
    play("--limit 1")
    assert play().exit_code == 0
    assert identity()["models"]["user"]["name"] == "baseline/user"
    assert play("--limit 1").exit_code == 0


def test_a_run_goes_on_only_with_the_same_user():
    play()
    ended = play("--user-model m --user-base-url http://127.0.0.1:9/v1")
    assert ended.exit_code == 2
    assert 'models.user.name was "baseline/user" in this run and is now "m"' in ended.stderr


def test_a_run_goes_on_only_in_the_same_mode():
    play()
    ended = play(f"--mode loud --out {RUN}")
    assert ended.exit_code == 2
    assert 'mode was "plain" in this run and is now "loud"' in ended.stderr


def test_a_run_of_before_there_were_modes_goes_on():
    play()
    about = json.loads((RUN / "run.json").read_text())
    del about["identity"]["mode"]
    (RUN / "run.json").write_text(json.dumps(about))
    assert type_("show runs").exit_code == 0
    assert play().exit_code == 0
    assert identity()["mode"] == "plain"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--user-base-url http://127.0.0.1:9/v1", "--user-base-url needs --user-model"),
        ("--user-api-key-env MINE", "--user-api-key-env needs --user-model"),
        ("--user-temperature 0", "--user-temperature needs --user-model"),
        ("--user-model=", "--user-model is empty"),
        ("--user-model m", "such as --user-base-url http"),
        ("--mode sung", "known: plain, loud"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(options: str, said: str):
    ended = play(options)
    assert ended.exit_code == 2
    assert said in ended.stderr
    assert not RUN.exists()


def test_a_user_model_for_a_benchmark_without_a_user_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(EchoBenchmark, "roles", {})
    ended = play("--user-model baseline/user")
    assert ended.exit_code == 2
    assert "echo has no simulated user" in ended.stderr


def test_an_endpoint_of_its_own_gets_no_key_but_one_named_for_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "default")
    monkeypatch.setenv("AGENTS", "agents")
    monkeypatch.setenv("USERS", "users")
    settings = model_options(base_url="http://127.0.0.1:8/v1", api_key_env="AGENTS")
    elsewhere = "http://127.0.0.1:9/v1"
    sent = {
        key: header(models(ScriptedModel(), user_options(model="m", **options), settings)["user"])
        for key, options in {
            "shared": {},
            "elsewhere": {"base_url": elsewhere},
            "elsewhere, named": {"base_url": elsewhere, "api_key_env": "USERS"},
            "shared, named": {"api_key_env": "USERS"},
        }.items()
    }
    assert sent == {
        "shared": "Bearer agents", "elsewhere": None, "elsewhere, named": "Bearer users", "shared, named": "Bearer users",
    }  # fmt: skip


def header(model: object) -> str | None:
    assert isinstance(model, OpenAIModel)
    return model._endpoint._headers.get("Authorization")  # pyright: ignore[reportPrivateUsage]


def test_what_shapes_the_agents_replies_is_not_sent_to_the_user():
    settings = model_options(
        base_url="http://127.0.0.1:8/v1", temperature=1.0, max_tokens=9, seed=2, extra_body={"top_p": 0.5}
    )
    user = models(ScriptedModel(), user_options(model="m", temperature=0.5), settings)["user"]
    assert user.settings() == {
        "base_url": "http://127.0.0.1:8/v1", "temperature": 0.5, "seed": 2, "extra_body": {},
    }  # fmt: skip


def test_a_recorded_agent_repeats_the_other_roles_too():
    replayed = ReplayModel("replay:x", lambda item, repeat: None)
    assert models(replayed, user_options(), ModelOptions())["user"] is replayed


def test_a_named_user_wins_over_the_recorded_one():
    replayed = ReplayModel("replay:x", lambda item, repeat: None)
    found = models(replayed, user_options(model="baseline/user"), ModelOptions())
    assert found["user"].name == "baseline/user"


def test_a_recorded_run_replays_without_its_user_model():
    play("--seed 3")
    ended = type_(f"run echo --model replay:{RUN} --out again")
    assert ended.exit_code == 0
    assert said_by_user(Path("again")) == [{"content": "cooperative 3"}] * 2


def test_a_run_of_another_mode_does_not_answer_as_a_model():
    play(f"--mode loud --out {RUN}")
    ended = type_(f"run echo --model replay:{RUN} --out again")
    assert ended.exit_code == 2
    assert "add --mode loud" in ended.stderr
    assert type_(f"run echo --model replay:{RUN} --out again --mode loud").exit_code == 0


def test_runs_stand_apart_by_mode_and_by_user_and_the_titles_say_so():
    play()
    play("--mode loud")
    assert Path("runs/echo-loud/baseline--gold/run.json").exists()
    titles = [line for line in type_("show runs").stdout.splitlines() if "profile official" in line]
    assert "echo, user baseline/user, profile official" in titles
    assert "echo, mode loud, user baseline/user, profile official" in titles


def test_json_tells_mode_and_other_players():
    play(f"--mode loud --out {RUN}")
    (run,) = json.loads(type_("show runs --json").stdout)["runs"]
    assert (run["mode"], run["roles"]) == ("loud", {"user": "baseline/user"})


def test_a_run_is_judged_in_the_mode_it_was_played_in(monkeypatch: pytest.MonkeyPatch):
    play(f"--mode loud --out {RUN}")
    judged: list[str] = []
    judge = EchoBenchmark.judge

    def watching(self: EchoBenchmark, *given: Any) -> Any:
        judged.append(self.mode)
        return judge(self, *given)

    monkeypatch.setattr(EchoBenchmark, "judge", watching)
    assert type_(f"score {RUN}").exit_code == 0
    assert set(judged) == {"loud"}


def test_replies_are_judged_in_the_mode_that_is_named():
    Path("replies.jsonl").write_text('{"item": "i0", "model": "m", "tasks": [[{"content": "right"}]]}\n')
    ended = type_("score --benchmark echo --data x --replies replies.jsonl --mode loud --out kept")
    assert "mode loud" in ended.stdout
    assert identity(Path("kept/m"))["mode"] == "loud"


def test_the_mode_of_a_run_is_not_to_be_named_again():
    play()
    ended = type_("score runs --mode loud")
    assert ended.exit_code == 2
    assert "--mode" in ended.stderr


def test_the_split_takes_part_in_finding_the_data(monkeypatch: pytest.MonkeyPatch):
    asked: list[str | None] = []
    locate = EchoData.locate

    def watching(self: EchoData, data: str | None, split: str | None = None) -> Any:
        asked.append(split)
        return locate(self, data, split)

    monkeypatch.setattr(EchoData, "locate", watching)
    for line in ("run echo --model baseline/gold --split all", f"score {RUN}", "audit echo --split all"):
        asked.clear()
        assert type_(line).exit_code == 0
        assert set(asked) == {"all"}, line


def test_modes_are_listed():
    out = " ".join(type_("list modes").stdout.split())
    assert "echo plain as it stands" in out
    assert "echo loud in capitals" in out
    assert "baseline/user" in type_("list models").stdout
