"""OpenEnv: units behind a server; each connection to its socket `/ws` plays its own episodes."""

# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUntypedBaseClass=false, reportUnknownArgumentType=false, reportUnknownParameterType=false

from collections.abc import Mapping
from itertools import count
from typing import Any

from fastapi import FastAPI
from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app

from wildtool.errors import UsageError
from wildtool.report.server.access import AccessPolicy
from wildtool_train.bridges.asgi_guard import AccessGuard
from wildtool_train.bridges.episode import RewardedEpisode
from wildtool_train.core import Observation as CoreObservation
from wildtool_train.core import UnitEnvironment
from wildtool_train.rewards import Combine
from wildtool_train.sources import Units


class PolicyMessage(Action):
    """What the policy says."""

    message: dict[str, Any]
    """An assistant message in OpenAI's shape: `content`, `tool_calls`."""


class Shown(Observation):
    """What the policy sees next, and what its last message was worth. `reward` is sent once, at the end."""

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] | None
    """The tools on offer; None where they are as before."""
    replaces: bool
    """Whether `messages` replaces all that was shown."""
    components: dict[str, float]
    reason: str = ""


class EpisodeState(State):
    """The open episode. `reset(saved=…)` continues it in any connection."""

    unit: str | None = None
    saved: str | None = None


class WildEnvironment(Environment[PolicyMessage, Shown, EpisodeState]):
    """Plays units for one connection."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, episode: RewardedEpisode, seeds: "count[int]") -> None:
        super().__init__()
        self._episode, self._seeds = episode, seeds
        self._id: str | None = None

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        unit: str | None = None,
        saved: str | None = None,
        **unknown: Any,
    ) -> Shown:
        """Opens the unit of that name, or the seed's, or the server's next one; or continues a saved episode.

        Raises UsageError for a word that it does not take.
        """
        if unknown:
            raise UsageError(f"reset takes seed, unit, saved; not {', '.join(sorted(unknown))}")
        self._id = episode_id
        if saved is not None:
            return self._answer(self._episode.environment.restore(saved))
        if unit is None:
            unit = self._episode.environment.units.draw(next(self._seeds) if seed is None else seed)
        return self._answer(self._episode.environment.open(unit))

    def step(self, action: PolicyMessage, timeout_s: float | None = None, **kwargs: Any) -> Shown:
        """Takes the policy's message."""
        transition = self._episode.environment.step(action.message)
        answer = self._answer(transition.observation)
        answer.components, answer.reason = dict(transition.components), transition.reason
        answer.done, answer.reward = transition.done, self._episode.reward
        return answer

    @property
    def state(self) -> EpisodeState:
        environment = self._episode.environment
        if not environment.is_open:
            return EpisodeState()
        steps, saved = len(environment.steps), environment.save()
        return EpisodeState(episode_id=self._id, step_count=steps, unit=environment.name, saved=saved)

    def _answer(self, observation: CoreObservation) -> Shown:
        messages, tools = observation.messages, observation.tools
        return Shown(messages=messages, tools=tools, replaces=observation.replaces, components={})


def create_app(
    units: Units,
    *,
    reward: Mapping[str, float] | Combine | None = None,
    max_concurrent_envs: int = 64,
    host: str = "127.0.0.1",
    remote: bool = False,
    **settings: Any,
) -> FastAPI:
    """An application to serve, by `uvicorn` for example. It answers requests that name this machine as their host, and
    none of other sites' pages.

    Args:
        reward: weights of components or a function of them; by default the verdict alone.
        max_concurrent_envs: connections at once.
        host: the name or address by which the trainer reaches it.
        remote: whether other machines may connect, by any address of this one.
        settings: of `UnitEnvironment`, such as `profile` and `on_fault`.
    """
    seeds = count()

    def environment() -> WildEnvironment:
        return WildEnvironment(RewardedEpisode(UnitEnvironment(units, **settings), reward), seeds)

    environment()  # Settings that are wrong are refused here, not at the first connection.
    app = create_fastapi_app(environment, PolicyMessage, Shown, max_concurrent_envs=max_concurrent_envs)
    app.add_middleware(AccessGuard, policy=AccessPolicy(host, remote=remote, writes=True, programs=True))
    return app
