"""verl's agent loop plays units as the core does, against a rollout server of ours."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.benchmark import judge_unit
from wildtool.errors import UsageError

transformers: Any = pytest.importorskip("transformers", reason="verl is not installed")
pytest.importorskip("verl.experimental.agent_loop.agent_loop", reason="verl is not installed")
bridge: Any = pytest.importorskip("wildtool_train.bridges.verl")
omegaconf: Any = pytest.importorskip("omegaconf")
hydra: Any = pytest.importorskip("hydra.utils")

from verl.experimental.agent_loop.agent_loop import DictConfigWrap  # noqa: E402 # pyright: ignore
from verl.workers.rollout.replica import TokenOutput  # noqa: E402 # pyright: ignore

from environments.bridges.page import PAGE  # noqa: E402
from environments.bridges.sources import EPISODES, SETTINGS, SOURCES  # noqa: E402
from environments.bridges.token_policy import scripted  # noqa: E402
from models.local.tiny import make_model  # noqa: E402

UNITS = SOURCES["wild-mini"]
MINI = {"units": SETTINGS["wild-mini"]}


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return transformers.AutoTokenizer.from_pretrained(make_model(tmp_path_factory.mktemp("tiny")))


class Server:
    """A rollout server that says what a scripted policy says in the loop that asks."""

    def __init__(self, policy: Any) -> None:
        self.policy, self.loop = policy, None

    async def generate(
        self, *, request_id: str, prompt_ids: list[int], sampling_params: dict[str, Any]
    ) -> Any:
        ids, logprobs = self.policy(None, [SimpleNamespace(episode=self.loop._episode)])
        return TokenOutput(token_ids=ids[0], log_probs=logprobs[0])


def agent_loop(tokenizer: Any, server: Server, room: int = 100_000, **settings: Any) -> Any:
    """As verl's worker makes one, from an entry of its configuration file."""
    rollout = {"prompt_length": 50_000, "response_length": room}
    config = omegaconf.OmegaConf.create({"actor_rollout_ref": {"rollout": rollout}})
    server.loop = hydra.instantiate(
        config=omegaconf.OmegaConf.create(settings),
        trainer_config=DictConfigWrap(config=config),
        server_manager=server,
        tokenizer=tokenizer,
        processor=None,
        dataset_cls=None,
        data_config=DictConfigWrap(config=omegaconf.OmegaConf.create({})),
    )
    return server.loop


TARGET = {"_target_": "wildtool_train.bridges.verl.UnitAgentLoop", "name": "wildtool"}


@pytest.mark.parametrize("source", SOURCES)
async def test_random_episodes_have_the_judges_verdict_as_reward(source: str, tokenizer: Any):
    units, server, verdicts = SOURCES[source], Server(scripted(tokenizer)), list[bool]()
    loop = agent_loop(tokenizer, server, **TARGET, units=SETTINGS[source])
    for row in bridge.verl_rows(units, EPISODES):
        output = await loop.run({}, raw_prompt=row["prompt"], **row)
        environment = loop._episode.environment
        assert environment.name == row["extra_info"]["unit"]
        unit = units.find(environment.name)
        verdict = judge_unit(units.benchmark, *unit, environment.transcript(), environment.profile)
        verdicts.append(verdict.outcome == "correct")
        assert output.reward_score == verdicts[-1]
        assert len(output.response_ids) == len(output.response_mask) == len(output.response_logprobs)
        assert output.response_mask[-1] == 1
        assert len(output.extra_fields["turn_scores"]) == len(loop._episode.environment.steps)
        assert output.as_dict()["rm_scores"][-1] == verdicts[-1]
    assert {*verdicts} == {True, False}


async def test_limits_cut_or_refuse(tokenizer: Any):
    server = Server(scripted(tokenizer, gold=True))
    loop = agent_loop(tokenizer, server, room=8, **TARGET, **MINI, weights={"format": 1.0})
    outputs = [await loop.run({}, **row) for row in bridge.verl_rows(UNITS, 20)]
    assert {len(output.response_ids) for output in outputs} == {8}
    assert {output.reward_score for output in outputs} == {0}
    loop.rollout_config.prompt_length = 10
    with pytest.raises(UsageError, match=r"rollout\.prompt_length is 10"):
        await loop.run({}, **next(bridge.verl_rows(UNITS, 1)))


async def test_the_page_is_a_configuration(tokenizer: Any, tmp_path: Path):
    text = PAGE.read_text(encoding="utf-8").partition("```yaml\n")[2].partition("```")[0]
    (entry,) = omegaconf.OmegaConf.create(text)
    loop = agent_loop(tokenizer, Server(scripted(tokenizer, gold=True)), **entry)
    output = await loop.run({}, extra_info={"unit": "0-0/0"})
    assert output.reward_score == 1
