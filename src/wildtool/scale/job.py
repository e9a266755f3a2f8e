"""What a store says of a run to its workers: the options of the command, and how it is divided."""

import json
import os
import platform
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from pathlib import Path
from typing import Any, cast, get_origin

from wildtool.api.plans import plan
from wildtool.api.records import choices, kinds
from wildtool.api.settings import FIELDS, Settings
from wildtool.config.whitelist import as_file_names, executed_files, option_effects
from wildtool.engine.plan import Plan
from wildtool.engine.record.run_folder import strip_credentials
from wildtool.errors import DataError, RecordError, UsageError
from wildtool.json_codec import as_object, checked
from wildtool.older_names import OLDER_SETTINGS
from wildtool.redact import redacted
from wildtool.scale.copies import cache_folder_of_runs
from wildtool.scale.store import JOB_KEY, ObjectStore
from wildtool.secret_places import register_foreign
from wildtool.trust_request import TrustRequest, trust_digest

JOB_FORMAT = 2
SHARD_ITEMS = 64
"""Items times repeats of a shard at most."""
SHARDS_PER_WORKER = 16
"""Shards that each worker should find at least, so that none waits long for the last one."""
_KINDS: Mapping[str, type] = {
    **dict.fromkeys(("benchmark", "model"), str),
    **dict.fromkeys(("items", "share_items", "workers", "sitting"), int),
    "options": dict,
}
"""Types of what every job says."""
_RENAMED = {"tool_format": "format_", **{name: older for older, name in OLDER_SETTINGS.items()}}
"""Settings that a job calls otherwise; among those that were typed, without the `_`."""
_LEFT_OUT = {"out", "on", "force", "quiet", "dry_run", "prompts", "server"}
"""Options that a worker does not take over. A store chooses no command that is executed: servers are named by those who
start workers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedJob:
    """How a run is divided, and the options of its command."""

    benchmark: str
    model: str
    options: Mapping[str, Any]
    """Options of `wildtool run` by name, as JSON."""
    explicit: Collection[str]
    """Names of those that were typed, and not taken from a config file."""
    original_prompts: bool
    """Whether models are sent the original's prompts."""
    items: int
    """Items times repeats."""
    share_items: int
    """Those of a shard; the last one may have fewer."""
    workers: int
    """Workers that are expected. Without a controller each has one of so many equal parts of all limits."""
    controlled: bool
    """Whether a controller divides the limits."""
    sitting: int
    """Number of this start of the command, from 1."""
    run: str = ""
    """Drawn at the first start, so that copies of an earlier run at the same address are not taken for this one's."""
    spent: Mapping[str, float] = field(default_factory=dict[str, float])
    """What earlier starts spent, by kind; empty where nothing is limited."""

    @property
    def shards(self) -> int:
        return -(-self.items // self.share_items)

    def write(self, store: ObjectStore) -> None:
        """Raises UsageError where an option holds a key, which must not reach the store."""
        content = {each.name: getattr(self, each.name) for each in fields(self)}
        for value in self.options.values():
            register_foreign(*map(str, cast(list[Any], value) if isinstance(value, list) else [value]))
        data = json.dumps({"format": JOB_FORMAT, **content}, indent=1, sort_keys=True).encode()
        if redacted(data) != data or strip_credentials(self.options) != self.options:
            raise UsageError(
                "workers read the options of this run from its store, and one of them holds a login or a key (or an "
                "address with a query); name a key by --api-key-env, and put addresses with a login into wildtool.toml"
            )
        store.put(JOB_KEY, data)

    @classmethod
    def read(cls, store: ObjectStore) -> "SharedJob":
        """Raises RecordError where there is none, or a newer wildtool wrote it."""
        data = store.get(JOB_KEY)
        if data is None:
            raise RecordError(
                f"{store.url}: there is no run of several workers; start one with `wildtool run … --out`, or prepare it "
                "with `wildtool worker slurm`"
            )
        try:
            content = as_object(json.loads(data))
            version = checked(content.pop("format", None), int, "field format")
            if version > JOB_FORMAT:
                raise RecordError(f"{store.url}/{JOB_KEY}: written by a newer wildtool; update wildtool")
            if version < JOB_FORMAT:
                raise RecordError(
                    f"{store.url}/{JOB_KEY}: written by an older wildtool, whose workers divide a run in another way; "
                    "use another --out"
                )
            for name, kind in _KINDS.items():
                checked(content.get(name), kind, f"field {name}")
            return cls(**content)
        except (ValueError, TypeError, DataError) as error:
            raise RecordError(f"{store.url}/{JOB_KEY}: damaged ({error}); start the run again") from error

    def trust_request(self, url: str) -> TrustRequest:
        """What a worker of this job would do, and the hash by which it is trusted, the same for each start of the run.

        Args:
            url: address of the store.
        """
        benchmark, model = self.benchmark, self.model
        content = {
            "benchmark": benchmark,
            "model": model,
            "options": self.options,
            "explicit": sorted(self.explicit),
            "original_prompts": self.original_prompts,
        }
        options = {OLDER_SETTINGS.get(name, name): value for name, value in self.options.items()}
        values = as_file_names({**options, "benchmark": benchmark, "model": [model]})
        digest = trust_digest(
            json.dumps(content, sort_keys=True).encode(), executed_files(benchmark, (), Path())
        )
        return TrustRequest(
            name=f"the job at {url}",
            effects=tuple(option_effects(values, values.keys(), (), Path())),
            digest=digest,
            advice="The command that started the run trusts its own workers, and writes the hash into "
            "their command.",
        )

    def plan(self, server: str | None = None) -> tuple[Plan, Settings]:
        """The run as a worker plans it. Raises UsageError or DataError where this machine lacks something.

        Args:
            server: command of the worker's own server.
        """
        values: dict[str, Any] = {**options_from_json(self.options), "quiet": True, "server": server}
        values["prompts"] = "original" if self.original_prompts else "own"
        if server is None and "{port}" in (values.get("base_url") or ""):
            raise UsageError("each worker of this run starts its own server: give --server 'COMMAND {port}'")
        settings = Settings.of(self.benchmark, [self.model], values, explicit_from_json(self.explicit))
        return plan(settings)[0].plan, settings


def shard_size(items: int, workers: int) -> int:
    """Items of a shard: fewer than usual where each worker would get only a few shards."""
    return max(1, min(SHARD_ITEMS, items // (SHARDS_PER_WORKER * workers)))


def options_as_json(settings: Settings) -> dict[str, Any]:
    """The settings that workers take over, by the names of options, without those that are not set."""
    values: dict[str, Any] = {}
    for name, value in settings.values().items():
        if name not in _LEFT_OUT and value is not None:
            values[_RENAMED.get(name, name)] = str(value) if isinstance(value, Path | Enum) else value
    return values


def options_from_json(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same as values of settings. Raises UsageError for an unknown one, DataError for a value of another type."""
    names = {_RENAMED.get(name, name): name for name in FIELDS}
    if unknown := values.keys() - names.keys():
        raise UsageError(
            f"the run has the option {min(unknown)!r}, which this version of wildtool does not know"
        )
    return {
        names[name]: _typed(value, FIELDS[names[name]].type, f"the job of this run, option {name!r}")
        for name, value in values.items()
    }


def explicit_as_json(settings: Settings) -> list[str]:
    """The names of the settings that somebody gave, as a job has them."""
    return sorted(_RENAMED.get(name, name).rstrip("_") for name in settings.explicit)


def explicit_from_json(names: Collection[str]) -> set[str]:
    """The same as names of settings."""
    own = {name.rstrip("_"): setting for setting, name in _RENAMED.items()}
    return {own.get(name, name) for name in names}


def _typed(value: Any, hint: Any, where: str) -> Any:
    """A value of JSON, which has the type that a command line gives it. None, the default, is never written."""
    types, words = kinds(hint), choices(hint)
    if any(get_origin(kind) is Sequence for kind in types):
        return [checked(each, str, where) for each in checked(value, list, where)]
    if words and checked(value, str, where) not in words:
        raise DataError(f"{where}: expected {' or '.join(words)}, found {value!r}")
    if words or str in types:
        return checked(value, str, where)
    if float in types:
        return value if type(value) is int else checked(value, float, where)
    return checked(value, types[0], where)


def machine_name() -> str:
    """What all processes of this machine have in common and no other machine: they see each other's locks."""
    file = cache_folder_of_runs() / "machine"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x") as new:
            new.write(os.urandom(4).hex())
    except FileExistsError:
        pass
    name = re.sub(r"[^A-Za-z0-9-]", "-", platform.node())[:40].strip("-") or "host"
    return f"{name}.{file.read_text()[:8]}"


def worker_name() -> str:
    """A name that no other worker has."""
    return f"{machine_name()}.{os.getpid()}-{os.urandom(2).hex()}"
