"""Who plays the roles besides the agent: a model that the user named, the record that the agent repeats, or a default."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wildtool.cli.named import Directory, Named
from wildtool.errors import UsageError

if TYPE_CHECKING:
    from wildtool.engine.rates import Rates
    from wildtool.models.resolve import ModelOptions
    from wildtool.types import Benchmark, Model


@dataclass(frozen=True, slots=True, kw_only=True)
class UserOptions:
    """What was said about the model of the role `user`."""

    model: str | None
    base_url: str | None
    api_key_env: str | None
    temperature: float | None
    rpm: float | None = None
    tpm: float | None = None

    def check(self, benchmark: "Benchmark") -> None:
        """Raises UsageError where they cannot be meant."""
        about = {
            "--user-base-url": self.base_url,
            "--user-api-key-env": self.api_key_env,
            "--user-temperature": self.temperature,
            "--user-rpm": self.rpm,
            "--user-tpm": self.tpm,
        }
        alone = [option for option, value in about.items() if value is not None]
        if self.model is None and alone:
            raise UsageError(f"{alone[0]} needs --user-model")
        if self.model is not None and not self.model.strip():
            raise UsageError("--user-model is empty; give a name, or leave it out")
        if self.model is not None and "user" not in benchmark.roles:
            raise UsageError(f"{benchmark.name} has no simulated user; leave out --user-model")


def other_models(
    benchmark: "Benchmark",
    asked: Iterable[str],
    agent: "Model",
    settings: "ModelOptions",
    user: UserOptions,
    directory: Directory | None = None,
    rates: "Rates | None" = None,
) -> "tuple[dict[str, Named], list[str]]":
    """A model for each role that is asked besides the agent, and what to tell the user about it.

    Args:
        agent: the model under test; one that repeats a record repeats the other roles too.
        settings, rates: of the agent.
        directory: what names mean; without a config file where it is None.
    """
    from wildtool.engine.prices import FREE
    from wildtool.engine.rates import Rates
    from wildtool.models.replay import ReplayModel

    known = directory or Directory({}, {})
    others = settings.for_another(
        base_url=user.base_url, api_key_env=user.api_key_env, temperature=user.temperature
    )
    typed = [name for name in ("base_url", "api_key_env", "temperature") if getattr(user, name) is not None]
    allowed = rates or Rates()
    own = Rates(rpm=user.rpm or allowed.rpm, tpm=user.tpm or allowed.tpm)
    named: Mapping[str, str] = {} if user.model is None else {"user": user.model}
    models: dict[str, Named] = {}
    remarks: list[str] = []
    for role in asked:
        if role in named:
            models[role] = known.find(named[role], others, typed, own)
            continue
        if isinstance(agent, ReplayModel):
            models[role] = Named(agent, Rates(), FREE)
        else:
            models[role] = known.find(benchmark.roles[role].default, others, typed, own)
        advice = "; for a model give --user-model NAME" if role == "user" else ""
        remarks.append(f"{role} is played by {models[role].model.name}{advice}")
    remarks += [
        f"no selected item needs a {role}; {named[role]} is not called" for role in named.keys() - models
    ]
    return models, remarks
