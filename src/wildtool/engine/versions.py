"""Versions of a benchmark's data and evaluator, and what `official` means in a run.

`official` is a name that moves: as a profile and as data it stands for the newest version, and an older one is called
`official-VERSION`. What lies in a run folder is named as it was when the run began, which `run.json` says (`edition`, the
newest version at that time); what is shown and typed has today's names. So a run keeps its verdicts, its tables and its
data when a newer version comes. A run without an edition began when there was one version, the oldest that is known.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wildtool.benchmark import Benchmark, evaluators_of, versions_of
from wildtool.data.data_set import OFFICIAL, version_name
from wildtool.engine.record.run_folder import read_run
from wildtool.errors import RecordError
from wildtool.types import Source


@dataclass(frozen=True, slots=True)
class RunNames:
    """Names of profiles and data in a run, and what they are called today."""

    versions: tuple[str, ...]
    """Of the benchmark, the newest first; empty where it has no versions, and no name ever moves."""
    edition: str
    """The newest version when the run began; empty where the benchmark had none."""

    def now(self, name: str) -> str:
        """What a name of the run is called today."""
        if not self.versions:
            return name
        if name == OFFICIAL:
            return version_name(self.versions, self.edition or self.versions[-1])
        return OFFICIAL if name == f"{OFFICIAL}-{self.versions[0]}" else name

    def then(self, name: str) -> str:
        """What a name of today is called in the run."""
        if not self.versions:
            return name
        if name == self.now(OFFICIAL):
            return OFFICIAL
        newest = f"{OFFICIAL}-{self.versions[0]}"
        return newest if name == OFFICIAL else name

    def source(self, source: Source) -> Source:
        """Data as the run names them."""
        return replace(source, name=self.then(source.name))

    @property
    def identity(self) -> dict[str, Any]:
        """What the identity of the run says of it: nothing of a run of before there were versions."""
        return {"edition": self.edition} if self.edition else {}

    def version_of(self, data: str) -> str:
        """The version of data that are called so in the run; empty for data of no version, such as a user's own."""
        return next((v for v in self.versions if version_name(self.versions, v) == self.now(data)), "")


def names_today(benchmark: Benchmark) -> RunNames:
    """The names of a run that begins now."""
    versions = versions_of(benchmark)
    return RunNames(versions, next(iter(versions), ""))


def names_of(benchmark: Benchmark, identity: Mapping[str, Any]) -> RunNames:
    """The names of a run. Args: identity: from its `run.json`."""
    return RunNames(versions_of(benchmark), identity.get("edition", ""))


def default_profile(benchmark: Benchmark, data: str | None, names: RunNames | None = None) -> str:
    """The rules that data are judged by where nobody names any: those of the evaluator of their version, else the first
    profile.

    Args:
        data: their name of today; None for the benchmark's default.
        names: of the run; None for today's.
    """
    today = names_today(benchmark)
    version = today.version_of(data or OFFICIAL)
    evaluators = evaluators_of(benchmark).items() if version else ()
    own = (name for name, evaluator in evaluators if evaluator.version == version)
    return next(own, (names or today).now(next(iter(benchmark.profiles))))


def in_todays_names(identity: Mapping[str, Any], names: RunNames) -> dict[str, Any]:
    """An identity with its profile by today's name. Args: names: of its run."""
    profile = identity["profile"]
    return {**identity, "profile": None if profile is None else names.now(profile)}


def played_profile(benchmark: Benchmark, identity: Mapping[str, Any]) -> str | None:
    """The profile that a run was run under, by today's name; None if unknown."""
    profile = identity.get("profile")
    return None if profile is None else names_of(benchmark, identity).now(profile)


def other_version(benchmark: Benchmark, run_json: Mapping[str, Any], source: Source) -> str:
    """What keeps data from being those of a run because of their versions, and what to do; empty for nothing.

    Args:
        source: what the run would go on with, be scored with, or be replayed over.
    """
    if run_json["identity"]["data_sha256"] == source.sha256:
        return ""
    names = names_of(benchmark, run_json["identity"])
    was = names.version_of(run_json["data"]["name"])
    now = names_today(benchmark).version_of(source.name)
    if not was or not now or was == now:
        return ""
    return (
        f"the run has the data of version {was}, and these are version {now}: add --data "
        f"{version_name(names.versions, was)} (`wildtool data pull {benchmark.name} --version {was}` gets them)"
    )


def check_continues(benchmark: Benchmark, folder: Path, source: Source) -> None:
    """Raises RecordError where a folder holds a run over another version of the data."""
    if not versions_of(benchmark) or not (folder / "run.json").is_file():
        return
    problem = other_version(benchmark, read_run(folder), source)
    if problem:
        raise RecordError(f"{folder}: {problem}; or use another --out")
