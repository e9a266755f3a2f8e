"""verifiers (`verifiers.v1`): a taskset of units, and a harness that plays them through the framework's endpoint."""

# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUntypedBaseClass=false, reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportUntypedFunctionDecorator=false

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

import aiohttp
import verifiers.v1 as vf
from pydantic import Field
from verifiers.v1.runtimes import ProgramResult

from wildtool.errors import UsageError
from wildtool_train.bridges.episode import RewardedEpisode, units_of
from wildtool_train.core import OnFault, UnitEnvironment
from wildtool_train.rewards import VERDICT_ALONE, Components, lowest, weighted
from wildtool_train.sources import ItemUnits

__all__ = ["WildHarness", "WildTaskset"]

SOURCE = ("benchmark", "data", "mode", "split", "lang", "seed", "evaluation")
NO_LIMIT = aiohttp.ClientTimeout(total=None)
"""How long an episode may take is the framework's affair."""


class UnitConfig(vf.TaskConfig):
    """How a unit is played: `--env.taskset.task.*`."""

    weights: dict[str, float] = Field(default_factory=lambda: dict(VERDICT_ALONE))
    """Of components, in the reward."""


class WildConfig(vf.TasksetConfig):
    """Which units are played and how: `--env.taskset.*`. Without a benchmark, the procedural stream."""

    task: UnitConfig = UnitConfig()
    benchmark: str | None = None
    data: str | None = None
    mode: str | None = None
    split: str | None = None
    lang: str | None = None
    seed: str = "1"
    evaluation: bool = False
    profile: str | None = None
    on_fault: OnFault = "end"
    judged: list[str] = Field(default_factory=list)


class UnitData(vf.TaskData):
    """A unit's name, as `id`, and the arguments of `units_of` and `UnitEnvironment` to open it by."""

    source: dict[str, Any]
    settings: dict[str, Any]


class UnitTask(vf.Task[UnitData, vf.State, UnitConfig]):
    """A unit; its reward is the weighted components."""

    @property
    def key(self) -> str:
        return self.data.id

    @vf.reward
    async def episode_reward(self, trace: vf.Trace) -> float:
        """The weighted components; 0 for an episode that the framework ended early."""
        return weighted(trace.info["steps"], self.config.weights) if trace.info.get("done") else 0.0

    @vf.metric
    async def components(self, trace: vf.Trace) -> Mapping[str, float]:
        """Each component's lowest value, and by turn (`turn_0/name`) each value."""
        steps: list[Components] = trace.info.get("steps", [])
        turns = {f"turn_{n}/{name}": value for n, step in enumerate(steps) for name, value in step.items()}
        return {**lowest(steps), **turns}

    async def validate(self, runtime: Any) -> bool:
        """Whether gold is right."""
        environment = UnitEnvironment(units_of(**self.data.source), **self.data.settings)
        environment.open(self.data.id)
        components: Mapping[str, float] = {}
        while (gold := environment.gold()) is not None:
            components = environment.step(gold).components
        return components.get("verdict") == 1


class WildTaskset(vf.Taskset[UnitTask, WildConfig]):
    """Units in the order of their draws. Their prompts are placeholders: the environment shows the messages."""

    def __init__(self, config: WildConfig) -> None:
        super().__init__(config)
        if config.system_prompt is not None:
            raise UsageError("a unit is shown with its benchmark's own prompts: leave out system_prompt")
        self._source = {name: getattr(config, name) for name in SOURCE}
        self._settings = {name: getattr(config, name) for name in ("profile", "on_fault", "judged")}
        self._units = units_of(**self._source)
        RewardedEpisode(UnitEnvironment(self._units, **self._settings), config.task.weights)
        self.INFINITE = not isinstance(self._units, ItemUnits)

    def load(self) -> Iterator[UnitTask]:
        numbers = range(len(self._units.names)) if isinstance(self._units, ItemUnits) else count()
        for number in numbers:
            id_ = self._units.draw(number)
            data = UnitData(id=id_, name=id_, prompt=id_, source=self._source, settings=self._settings)
            yield UnitTask(data, self.config.task)


class WildHarness(vf.Harness[vf.HarnessConfig]):
    """Plays a unit in this process. `trace.info` keeps what each message was worth (`steps`) and why (`reasons`)."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: Any,
        trace: Any,
        runtime: Any,
        endpoint: str,
        secret: str,
        mcp_urls: Mapping[str, str],
        data: UnitData,
    ) -> ProgramResult:
        environment = UnitEnvironment(units_of(**data.source), **data.settings)
        environment.open(data.id)
        trace.info |= {"unit": data.id, "steps": [], "reasons": [], "done": False}
        headers = {"Authorization": f"Bearer {secret}"}
        async with aiohttp.ClientSession(headers=headers, timeout=NO_LIMIT) as session:
            while not environment.is_over:
                observation = environment.shown()
                body: dict[str, Any] = {"model": ctx.model, "messages": observation.messages}
                if observation.tools:
                    body["tools"] = observation.tools
                async with session.post(
                    f"{endpoint}/chat/completions", json=body, allow_redirects=False
                ) as response:
                    if response.status >= 300:
                        place = response.headers.get("Location")
                        words = f"redirects to {place}, which is not followed" if place else ""
                        return ProgramResult(1, "", words or await response.text())
                    message = (await response.json())["choices"][0]["message"]
                transition = environment.step(message)
                trace.info["steps"].append(dict(transition.components))
                trace.info["reasons"].append(transition.reason)
                trace.info["done"] = transition.done
        return ProgramResult(0, "", "")
