"""Bridges to frameworks that need not be installed: against stand-ins with as much of them as a bridge takes."""

import asyncio
import inspect
import json
import sys
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from environments.bridges.sources import SETTINGS, SOURCES
from environments.bridges.token_policy import Characters
from wildtool.errors import UsageError
from wildtool_train.bridges.asgi_guard import AccessGuard
from wildtool_train.core import UnitEnvironment

UNITS = SOURCES["wild-mini"]
CLARIFY, CHAT = "wild_mini_0/2", "wild_mini_2/0"
TOKENS = Characters()


class Record:
    """A record of a framework: its fields by name, defaults from the class."""

    def __init__(self, *values: Any, **fields: Any) -> None:
        self.values = values
        for name in (name for each in type(self).__mro__ for name in inspect.get_annotations(each)):
            default = getattr(type(self), name, None)
            setattr(self, name, default() if callable(default) else default)
        for name, value in fields.items():
            setattr(self, name, value)

    def __class_getitem__(cls, parameters: Any) -> Any:
        return cls


def module(name: str, **entries: Any) -> ModuleType:
    made = ModuleType(name)
    made.__dict__.update(entries)
    return made


def imported(monkeypatch: pytest.MonkeyPatch, bridge: str, *modules: ModuleType) -> Any:
    """A bridge that was loaded with these modules in place of a framework's."""
    name = f"wildtool_train.bridges.{bridge}"
    for each in modules:
        monkeypatch.setitem(sys.modules, each.__name__, each)
    monkeypatch.delitem(sys.modules, name, raising=False)
    import_module(name)
    return sys.modules.pop(name)


# verl --------------------------------------------------------------------------------------------------


class AgentLoop:
    """verl's base, with its settings as they are given."""

    tokenizer = TOKENS
    apply_chat_template_kwargs: Any = {}  # noqa: RUF012

    def __init__(self, server: Any, *, prompt: int = 100_000, room: int = 100_000) -> None:
        self.server_manager = server
        self.rollout_config = SimpleNamespace(prompt_length=prompt, response_length=room)


class Server:
    """A rollout server that writes texts in turn."""

    def __init__(self, *texts: str, logprobs: Any = None) -> None:
        self.texts, self.logprobs, self.asked = [*texts], logprobs, list[Any]()

    async def generate(self, **request: Any) -> Any:
        self.asked.append(request)
        ids = TOKENS(self.texts.pop(0))["input_ids"]
        probabilities = self.logprobs.pop(0) if self.logprobs else None
        return SimpleNamespace(token_ids=ids, log_probs=probabilities and [probabilities] * len(ids))


@pytest.fixture
def verl(monkeypatch: pytest.MonkeyPatch) -> Any:
    names = ("verl", "verl.experimental", "verl.experimental.agent_loop")
    classes = {"AgentLoopBase": AgentLoop, "AgentLoopMetrics": Record, "AgentLoopOutput": SimpleNamespace}
    loop = module("verl.experimental.agent_loop.agent_loop", **classes)
    return imported(monkeypatch, "verl", *map(module, names), loop)


def test_rows_of_verl_name_units(verl: Any):
    first, second = verl.verl_rows(UNITS, 2, 5)
    name = UNITS.draw(5)
    assert first == {
        "data_source": "wildtool",
        "agent_name": "wildtool",
        "prompt": [{"role": "user", "content": name}],
        "reward_model": {"style": "rule", "ground_truth": ""},
        "extra_info": {"index": 5, "unit": name},
    }
    assert second["extra_info"] == {"index": 6, "unit": UNITS.draw(6)}
    assert [row["extra_info"]["index"] for row in verl.verl_rows(UNITS, 1)] == [0]


async def test_limits_of_verl_cut_or_refuse(verl: Any):
    settings: dict[str, Any] = {"units": SETTINGS["wild-mini"], "tool_format": "hermes"}
    loop = verl.UnitAgentLoop(Server("Rest.\0"), **settings, room=3)
    output = await loop.run({}, extra_info={"unit": CHAT})
    assert (TOKENS.decode(output.response_ids), output.response_mask) == ("Res", [1] * 3)
    assert (output.response_logprobs, output.reward_score) == (None, 0.0)
    length = len(output.prompt_ids)
    fitting = verl.UnitAgentLoop(Server("Rest.\0", logprobs=[-1.0]), **settings, prompt=length, room=6)
    output = await fitting.run({}, extra_info={"unit": CHAT})
    assert (output.reward_score, output.response_logprobs) == (1.0, [-1.0] * 6)
    with pytest.raises(UsageError) as caught:
        await verl.UnitAgentLoop(Server(), **settings, prompt=length - 1).run({}, extra_info={"unit": CHAT})
    assert str(caught.value) == (
        f"the prompt of {CHAT} has {length} tokens: rollout.prompt_length is {length - 1}"
    )
    with pytest.raises(UsageError, match="no profile 'strict'"):
        verl.UnitAgentLoop(Server(), **settings, environment={"profile": "strict"})


# OpenEnv -----------------------------------------------------------------------------------------------


@pytest.fixture
def openenv(monkeypatch: pytest.MonkeyPatch) -> Any:
    def create(environment: Any, action: Any, observation: Any, *, max_concurrent_envs: int) -> Any:
        guards: list[Any] = []
        return SimpleNamespace(
            environment=environment,
            classes=(action, observation),
            most=max_concurrent_envs,
            guards=guards,
            add_middleware=lambda kind, **settings: guards.append(kind(None, **settings)),
        )

    class Observation(Record):
        reward: Any = None
        done: Any = False

    class State(Record):
        episode_id: Any = None
        step_count: Any = 0

    server = module(
        "openenv.core.env_server",
        Action=Record,
        Environment=Record,
        Observation=Observation,
        State=State,
        create_fastapi_app=create,
    )
    names = ("openenv", "openenv.core")
    return imported(monkeypatch, "openenv", *map(module, names), server, module("fastapi", FastAPI=object))


def test_a_connection_of_openenv_plays_its_own_episodes(openenv: Any):
    app = openenv.create_app(UNITS, reward={"verdict": 0.5}, max_concurrent_envs=3, profile="fixed")
    assert (app.most, app.classes) == (3, (openenv.PolicyMessage, openenv.Shown))
    assert openenv.create_app(UNITS).most == 64
    assert [type(guard) for guard in app.guards] == [AccessGuard]
    first, second = app.environment(), app.environment()
    assert vars(first.state) == vars(openenv.EpisodeState())
    mirror = UnitEnvironment(UNITS)
    opening = mirror.open(CLARIFY)
    shown = first.reset(unit=CLARIFY, episode_id="mine", seed=3)
    assert (shown.messages, shown.tools, shown.replaces) == (opening.messages, opening.tools, True)
    assert (shown.components, shown.reason, shown.reward, shown.done) == ({}, "", None, False)
    question = SimpleNamespace(message={"content": "Which?"})
    step, seen = mirror.step(question.message), first.step(question)
    assert (seen.messages, seen.tools, seen.replaces) == (step.observation.messages, None, False)
    assert (seen.components, seen.reason, seen.reward, seen.done) == ({"refusal": 1.0}, "", None, False)
    state = first.state
    assert (state.episode_id, state.step_count, state.unit) == ("mine", 1, CLARIFY)
    assert state.saved == mirror.save()
    assert second.reset(saved=state.saved, unit=CHAT).messages == mirror.shown().messages
    assert (second.state.episode_id, second.state.unit) == (None, CLARIFY)
    last = second.step(SimpleNamespace(message={"content": ""}))
    assert (last.reward, last.done, last.components["verdict"]) == (0.0, True, 0.0)
    assert last.reason == mirror.step({"content": ""}).reason
    assert first.reset(seed=5) and first.state.unit == UNITS.draw(5)
    assert first.reset() and first.state.unit == UNITS.draw(0)
    assert second.reset() and second.state.unit == UNITS.draw(1)
    with pytest.raises(UsageError, match=r"^reset takes seed, unit, saved; not task, x$"):
        first.reset(x=1, task=2)
    with pytest.raises(UsageError, match="no profile 'strict'"):
        openenv.create_app(UNITS, profile="strict")


# verifiers ---------------------------------------------------------------------------------------------


@pytest.fixture
def verifiers(monkeypatch: pytest.MonkeyPatch) -> Any:
    class Taskset(Record):
        def __init__(self, config: Any) -> None:
            self.config = config

    class Task(Record):
        def __init__(self, data: Any, config: Any) -> None:
            self.data, self.config = data, config

    class TasksetConfig(Record):
        system_prompt: Any = None

    kinds = dict.fromkeys(("TaskConfig", "TaskData", "State", "Harness", "HarnessConfig", "Trace"), Record)
    decorators: dict[str, Any] = dict.fromkeys(("reward", "metric"), lambda function: function)  # pyright: ignore
    classes = {"Taskset": Taskset, "Task": Task, "TasksetConfig": TasksetConfig}
    v1 = module("verifiers.v1", **kinds, **decorators, **classes)
    runtimes = module("verifiers.v1.runtimes", ProgramResult=lambda *words: words)
    pydantic = module("pydantic", Field=lambda *, default_factory: default_factory)
    package = module("verifiers", v1=v1)
    return imported(monkeypatch, "verifiers", package, v1, runtimes, pydantic)


def taskset(verifiers: Any, **settings: Any) -> Any:
    config = verifiers.WildConfig(**{"benchmark": "wild-mini", "evaluation": True, **settings})
    return verifiers.WildTaskset(config)


async def test_a_taskset_of_verifiers_has_the_units_in_the_order_of_their_draws(verifiers: Any):
    mini = taskset(verifiers, judged=["official"])
    tasks = [*mini.load()]
    assert (mini.INFINITE, len(tasks)) == (False, 128)
    assert [task.key for task in tasks[:3]] == [UNITS.draw(number) for number in range(3)]
    source = {
        "benchmark": "wild-mini",
        "data": None,
        "mode": None,
        "split": None,
        "lang": None,
        "seed": "1",
        "evaluation": True,
    }
    data = tasks[0].data
    assert (data.id, data.name, data.prompt) == (UNITS.draw(0),) * 3
    assert (data.source, data.settings) == (
        source,
        {"profile": None, "on_fault": "end", "judged": ["official"]},
    )
    assert await tasks[0].validate(None)
    stream = verifiers.WildTaskset(verifiers.WildConfig(seed="9"))
    assert stream.INFINITE
    endless = stream.load()
    assert [next(endless).key for _ in range(5)] == ["0-0/0", "0-0/1", "0-0/2", "0-0/3", "0-1/0"]
    with pytest.raises(
        UsageError, match=r"^a unit is shown with its benchmark's own prompts: leave out system_prompt$"
    ):
        taskset(verifiers, system_prompt="x")
    with pytest.raises(UsageError, match="no component 'verdit'"):
        taskset(verifiers, task=SimpleNamespace(weights={"verdit": 1.0}))


async def test_the_reward_of_verifiers_is_that_of_a_whole_episode(verifiers: Any):
    task = next(taskset(verifiers, task=SimpleNamespace(weights={"verdict": 0.5, "name": 0.25})).load())
    steps = [{"name": 1.0}, {"name": 0.0, "verdict": 1.0}]
    trace = SimpleNamespace(info={"steps": steps, "done": True})
    assert await task.episode_reward(trace) == 0.5
    assert await task.components(trace) == {
        "name": 0.0,
        "verdict": 1.0,
        "turn_0/name": 1.0,
        "turn_1/name": 0.0,
        "turn_1/verdict": 1.0,
    }
    assert await task.episode_reward(SimpleNamespace(info={"steps": steps, "done": False})) == 0.0
    assert await task.episode_reward(SimpleNamespace(info={})) == 0.0
    assert await task.components(SimpleNamespace(info={})) == {}
    plain = next(taskset(verifiers, task=SimpleNamespace(weights={"verdict": 1.0})).load())
    assert await plain.episode_reward(trace) == 1.0


async def test_the_harness_of_verifiers_plays_through_the_endpoint(verifiers: Any):
    task = next(task for task in taskset(verifiers).load() if task.key == CHAT)
    asked: list[Any] = []
    answers: Iterator[Any] = iter(["All fine."])

    async def complete(request: web.Request) -> web.Response:
        asked.append((request.headers["Authorization"], await request.json()))
        try:
            message = {"role": "assistant", "content": next(answers)}
        except StopIteration:
            return web.Response(status=500, text="busy")
        return web.json_response({"choices": [{"message": message}]})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", complete)
    async with TestServer(app) as server:
        trace = SimpleNamespace(info={"kept": 1})
        words = (
            SimpleNamespace(model="m"),
            trace,
            None,
            str(server.make_url("/v1")),
            "secret",
            {},
            task.data,
        )
        assert await verifiers.WildHarness().launch(*words) == (0, "", "")
        ends = {"refusal": 1.0, "verdict": 1.0}
        assert trace.info == {"kept": 1, "unit": CHAT, "steps": [ends], "reasons": [""], "done": True}
        assert await verifiers.WildHarness().launch(*words) == (1, "", "busy")
        assert trace.info["done"] is False
    opening = UnitEnvironment(UNITS).open(CHAT)
    body = {"model": "m", "messages": opening.messages, "tools": opening.tools}
    assert asked == [("Bearer secret", json.loads(json.dumps(body)))] * 2


# TRL's evaluation --------------------------------------------------------------------------------------


@pytest.fixture
def evaluation(monkeypatch: pytest.MonkeyPatch) -> Any:
    return imported(monkeypatch, "trl_evaluation", module("transformers", TrainerCallback=object))


class Rows(list[list[int]]):
    """As much of a tensor as is taken."""

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), len(self[0])

    def __getitem__(self, key: Any) -> Any:
        return Rows(row[key[1]] for row in self) if isinstance(key, tuple) else super().__getitem__(key)

    def tolist(self) -> list[list[int]]:
        return [*self]


class Padding(Characters):
    """Pads to the longest on a side."""

    padding_side, pad_token_id = "right", 7

    def __call__(self, text: Any, **settings: Any) -> Any:
        if isinstance(text, str):
            return super().__call__(text)
        assert settings == {"add_special_tokens": False, "padding": True, "return_tensors": "pt"}
        assert self.padding_side == "left"
        width = max(map(len, text))
        rows = Rows(
            [7] * (width - len(each)) + super(Padding, self).__call__(each)["input_ids"] for each in text
        )

        class Batch(dict[str, Any]):
            def to(self, device: str) -> "Batch":
                assert device == "cpu"
                return self

        return Batch(input_ids=rows)


class Model:
    device = "cpu"

    def __init__(self, *texts: str) -> None:
        self.texts, self.training, self.settings = [*texts], True, list[Any]()

    def eval(self) -> None:
        self.training = False

    def train(self, mode: bool) -> None:
        self.training = mode

    def generate(self, *, input_ids: Rows, **settings: Any) -> Rows:
        assert not self.training
        self.settings.append((len(input_ids), settings))
        if not self.texts:
            raise ValueError("out of memory")
        return Rows(row + TOKENS(self.texts.pop(0))["input_ids"] for row in input_ids)


async def test_requests_that_were_given_up_are_not_answered(evaluation: Any):
    model = Model("Hi\0")
    policy = evaluation.ModelPolicy(model, Padding(), max_new_tokens=4, tool_format="hermes")
    messages = [{"role": "user", "content": "a"}]
    for _ in range(2):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(policy(messages, []), 0)
    policy._answer()
    assert model.settings == []
    assert (await policy(messages, []))["usage"] == {"completion_tokens": 3}


def test_the_trainers_log_gets_the_figures_of_each_step_once(
    evaluation: Any, monkeypatch: pytest.MonkeyPatch
):
    asked: list[Any] = []

    class Evaluator:
        def __init__(self, policy: Any, **options: Any) -> None:
            self.evaluations: dict[int, Any] = {}
            asked.append((policy, options))

        def begin(self, step: int) -> None:
            asked.append(("begin", step))

        def __call__(self, step: int, *, always: bool = False) -> Any:
            asked.append((step, always))
            if step == 3:
                return None
            figures = {"components": {"name": 0.5}, "accuracy": 0.25, "failed": 1}
            self.evaluations[step] = SimpleNamespace(**figures, complete=step != 7)
            return self.evaluations[step]

    monkeypatch.setattr(evaluation, "evaluate", Evaluator)
    monkeypatch.setattr(evaluation, "ModelPolicy", lambda *words, **options: (words, options))
    held_out = evaluation.HeldOutEvaluation("wild-mini", max_new_tokens=4, every=5, out="x")
    state = SimpleNamespace(global_step=0, is_world_process_zero=True, log_history=[])
    held_out.on_step_end(None, state, None)
    assert asked == []
    held_out.on_train_begin(None, state, None, model="model", processing_class="tokenizer", more=1)
    policy = ("model", "tokenizer"), {"max_new_tokens": 4, "tool_format": None, "template": None}
    assert asked == [(policy, {"bench": "wild-mini", "every": 5, "out": "x"}), ("begin", 0), (0, False)]
    asked.clear()
    for step in (0, 3, 7, 7):
        state.global_step = step
        held_out.on_step_end(None, state, None)
    held_out.on_train_end(None, state, None)
    assert asked == [(3, False), (7, False), (7, False), (7, True)]
    assert [entry["step"] for entry in state.log_history] == [0, 7, 7, 7]
    assert state.log_history[0] == {
        "step": 0,
        "held_out/accuracy": 0.25,
        "held_out/failed": 1,
        "held_out/name": 0.5,
    }
    asked.clear()
    other = evaluation.HeldOutEvaluation("wild-mini", max_new_tokens=4, every=5, out="x")
    state.is_world_process_zero = False
    other.on_train_begin(None, state, None, model="model", processing_class="tokenizer")
    assert len(asked) == 1


async def test_an_agent_loop_plays_a_unit_with_the_rollout_server(verl: Any):
    server = Server("Which?\0", "All.\0", logprobs=[-1.0, -2.0])
    settings: dict[str, Any] = {"units": SETTINGS["wild-mini"], "tool_format": "hermes"}
    loop = verl.UnitAgentLoop(server, **settings, weights={"refusal": 1.0, "progress": 0.5})
    output = await loop.run({"top_p": 1}, extra_info={"unit": CLARIFY}, more=1)
    mirror = UnitEnvironment(UNITS)
    opening = mirror.open(CLARIFY).messages
    (shown,) = mirror.step({"content": "Which?"}).observation.messages
    prompt = "".join(f"{message['content'] or ''}\0" for message in opening)
    tail = f"{shown['content']}\0"
    assert TOKENS.decode(output.prompt_ids) == prompt
    assert TOKENS.decode(output.response_ids) == f"Which?\0{tail}All.\0"
    assert output.response_mask == [1] * 7 + [0] * len(tail) + [1] * 5
    assert output.response_logprobs == [-1.0] * 7 + [0.0] * len(tail) + [-2.0] * 5
    assert (output.reward_score, output.num_turns) == (0.0, len(opening) + 3)
    assert output.extra_fields == {"turn_scores": [1.0, 0.0], "tool_rewards": []}
    assert [request["prompt_ids"] for request in server.asked] == [
        TOKENS(prompt)["input_ids"],
        TOKENS(f"{prompt}Which?\0{tail}")["input_ids"],
    ]
    assert len({request["request_id"] for request in server.asked}) == 1
    assert server.asked[0]["sampling_params"] == {"top_p": 1}
    assert len(server.asked[0]["request_id"]) == 32


async def test_a_models_policy_answers_requests_of_one_time_together(evaluation: Any):
    model, tokenizer = Model("Hi\0.", "Wait", "One\0"), Padding()
    policy = evaluation.ModelPolicy(model, tokenizer, max_new_tokens=4, tool_format="hermes")
    asked = [[{"role": "user", "content": text}] for text in ("a", "bcd")]
    first, second = await asyncio.gather(*(policy(messages, []) for messages in asked))
    assert first == {
        "choices": [{"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}],
        "usage": {"completion_tokens": 3},
    }
    assert second == {
        "choices": [{"message": {"role": "assistant", "content": "Wait"}, "finish_reason": "length"}],
        "usage": {"completion_tokens": 4},
    }
    third = await policy(asked[0], [])
    assert third["choices"][0]["message"]["content"] == "One"
    settings = {"do_sample": False, "max_new_tokens": 4, "eos_token_id": 0, "pad_token_id": 7}
    assert model.settings == [(2, settings), (1, settings)]
    assert (model.training, tokenizer.padding_side) == (True, "right")
    with pytest.raises(ValueError, match="out of memory"):
        await policy(asked[0], [])
    assert (model.training, tokenizer.padding_side) == (True, "right")
