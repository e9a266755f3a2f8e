"""TRL's trainer plays units as the core does, and trains on what it wrote."""

from pathlib import Path
from typing import Any

import pytest

import wildtool
from environments.bridges.page import blocks
from environments.bridges.sources import EPISODES, SOURCES
from wildtool.benchmark import judge_unit
from wildtool.errors import UsageError
from wildtool_train.bridges.trl import UnitRollouts, UnitTools, unit_reward
from wildtool_train.core import UnitEnvironment
from wildtool_train.sources import benchmark_units

transformers: Any = pytest.importorskip("transformers", reason="the extra [trl] is not installed")
pytest.importorskip("torch", reason="the extra [trl] is not installed")

from environments.bridges.token_policy import scripted  # noqa: E402
from models.local.tiny import TEMPLATE, make_model  # noqa: E402
from wildtool_train.bridges import tokens  # noqa: E402

UNITS = SOURCES["wild-mini"]


class Trainer:
    """What a rollout function asks of a trainer."""

    def __init__(self, tokenizer: Any) -> None:
        self.processing_class = tokenizer


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def tokenizer(path: Path) -> Any:
    return transformers.AutoTokenizer.from_pretrained(path)


@pytest.mark.parametrize("source", SOURCES)
def test_random_episodes_have_the_judges_verdict_as_reward(
    source: str, tokenizer: Any, monkeypatch: pytest.MonkeyPatch
):
    units = SOURCES[source]
    played: list[tokens.TokenEpisode] = []
    begin = tokens.TokenEpisode.__init__

    def record(self: tokens.TokenEpisode, *words: Any, **settings: Any) -> None:
        begin(self, *words, **settings)
        played.append(self)

    monkeypatch.setattr(tokens.TokenEpisode, "__init__", record)
    rollouts = UnitRollouts(units, generate=scripted(tokenizer))
    prompts = [row["prompt"] for row in rollouts.rows(EPISODES)]
    output = rollouts(prompts, Trainer(tokenizer))
    verdicts: list[bool] = []
    for number, episode in enumerate(played):
        environment = episode.episode.environment
        assert environment.name == prompts[number]
        unit = units.find(environment.name)
        verdict = judge_unit(units.benchmark, *unit, environment.transcript(), environment.profile)
        verdicts.append(verdict.outcome == "correct")
        assert output["reward"][number] == verdicts[-1]
        lengths = {len(output[key][number]) for key in ("completion_ids", "logprobs", "env_mask")}
        assert len(lengths) == 1 and output["env_mask"][number][-1] == 1
        assert all((mask == 1) == (p == -1.0) for mask, p in zip(episode.mask, episode.logprobs, strict=True))
    assert {*verdicts} == {True, False} and len(verdicts) == EPISODES
    assert unit_reward(prompts, **output) == output["reward"]


def test_the_tokens_are_those_of_the_whole_conversation(tokenizer: Any):
    """What a template writes for the whole conversation, message by message, is what the policy continued."""
    contexts: list[tuple[str, str]] = []
    policy = scripted(tokenizer, gold=True)

    def generate(trainer: Any, episodes: Any) -> Any:
        for episode in episodes:
            shown = episode.episode.environment.shown()
            whole = tokens.rendered(tokenizer, shown.messages, shown.tools or [], ask=True)
            contexts.append((tokenizer.decode(episode.context), whole))
        return policy(trainer, episodes)

    output = UnitRollouts(UNITS, generate=generate)(UNITS.names, Trainer(tokenizer))
    assert set(output["reward"]) == {1.0}
    # The tiny template has other spaces in and around calls than the policy writes.
    assert all("".join(ours.split()) == "".join(whole.split()) for ours, whole in contexts)
    assert len(contexts) > 300


def test_an_episode_that_is_too_long_is_cut_and_earns_nothing(tokenizer: Any):
    rollouts = UnitRollouts(UNITS, max_tokens=5, generate=scripted(tokenizer, gold=True))
    output = rollouts(UNITS.names, Trainer(tokenizer))
    assert all(len(steps) == 1 for steps in output["components"])
    fits = [float(len(ids) <= 5) for ids in output["completion_ids"]]
    assert output["reward"] == fits and 0.0 in fits


def test_what_tokens_cannot_carry_is_refused(tokenizer: Any):
    text_mode = benchmark_units("acebench", "finance", mode="text", evaluation=True)
    steps = [name for name in text_mode.names if "multi_step" in name][:1]
    with pytest.raises(UsageError, match="take another mode"):
        UnitRollouts(text_mode, generate=scripted(tokenizer, gold=True))(steps, Trainer(tokenizer))
    with pytest.raises(UsageError, match="no format of calls 'mine'"):
        UnitRollouts(UNITS, tool_format="mine")(UNITS.names[:1], Trainer(tokenizer))


def test_the_generic_tool_carries_what_needs_no_last_message():
    tools = UnitTools(UNITS)
    mirror = UnitEnvironment(UNITS)
    for name in UNITS.names:
        tools.reset(unit=name)
        mirror.open(name)
        has_question = False
        while not mirror.is_over:
            gold = mirror.gold("serial")
            assert gold is not None
            step = mirror.step(gold)
            has_question |= not gold.get("tool_calls") and not step.done
            for call in gold.get("tool_calls") or ():
                if not has_question:
                    answer = tools.call_tool(call["function"]["name"], call["function"]["arguments"])
                    assert answer == step.observation.messages[-1]["content"]
        assert tools.get_reward() == (0.0 if has_question else 1.0)
    tools.reset(unit=UNITS.names[0])
    assert "no answer" in tools.call_tool("unheard_of", "{}") and tools.get_reward() == 0
    assert "too late" in tools.call_tool("unheard_of", "{}")


def test_the_generic_tool_is_one_to_trl():
    schemas: Any = pytest.importorskip("transformers.utils.chat_template_utils")
    public = [name for name in vars(UnitTools) if not name.startswith("_")]
    assert public == ["reset", "call_tool", "get_reward"]
    schema = schemas.get_json_schema(UnitTools.call_tool)["function"]
    assert schema["parameters"]["required"] == ["name", "arguments"]


def test_the_page_trains(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("trl", reason="the extra [trl] is not installed")
    monkeypatch.chdir(tmp_path)
    code, _, factory = blocks("TRL")
    assert TEMPLATE
    names: dict[str, Any] = {}
    exec(code.replace("Qwen/Qwen3-0.6B", str(path)).replace("max_steps=200", "max_steps=2"), names)
    history = names["trainer"].state.log_history
    assert any("rewards/unit_reward/mean" in entry for entry in history)
    exec(factory, names)
    assert callable(names["environment_factory"]().call_tool)


def test_the_page_evaluates_while_it_trains(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("trl", reason="the extra [trl] is not installed")
    monkeypatch.chdir(tmp_path)
    code, callback, _ = blocks("TRL")
    names: dict[str, Any] = {}
    code = code.replace("Qwen/Qwen3-0.6B", str(path)).replace("max_steps=200", "max_steps=2")
    training = code.replace(
        "trainer.train()", callback.replace("max_new_tokens=64", "max_new_tokens=8, limit=2")
    )
    exec(f"{training}\ntrainer.train()", names)
    logged = [entry for entry in names["trainer"].state.log_history if "held_out/accuracy" in entry]
    assert [entry["step"] for entry in logged] == [0, 2]
    assert all(0 <= entry["held_out/accuracy"] <= 1 and not entry["held_out/failed"] for entry in logged)
    assert (tmp_path / "evaluations" / "series.toml").exists()


def test_a_batch_of_the_model_is_what_it_writes_alone(path: Path, tokenizer: Any, tmp_path: Path):
    from wildtool_train import evaluate
    from wildtool_train.bridges.trl_evaluation import ModelPolicy

    model = transformers.AutoModelForCausalLM.from_pretrained(path)
    sizes: list[int] = []
    whole = model.generate

    def counting(**batch: Any) -> Any:
        sizes.append(len(batch["input_ids"]))
        return whole(**batch)

    model.generate = counting
    policy = ModelPolicy(model.train(), tokenizer, max_new_tokens=6)
    folders = {number: tmp_path / str(number) for number in (1, 16)}
    for number, out in folders.items():
        evaluation = evaluate(policy, "wild-mini", every=1, out=out, limit=2, concurrency=number)(0)
        assert evaluation is not None and evaluation.complete and evaluation.tokens
    alone, together = (wildtool.Run(out / "step-000000").verdicts().rows() for out in folders.values())
    timing = ("run", "latency_s")
    assert [{**row, **dict.fromkeys(timing)} for row in alone] == [
        {**row, **dict.fromkeys(timing)} for row in together
    ]
    assert set(sizes[: sizes.index(max(sizes))]) == {1} and max(sizes) > 1
    assert model.training
