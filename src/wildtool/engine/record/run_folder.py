"""The folder of a run: `run.json`, which says what a reader needs to repeat it, and a lock for its one
writer.

`run.json` separates `identity`, the settings that requests follow from and that must stay the same when a
run is resumed, from `scope`, which may change. `sittings` lists each start of the command on this folder. Keys
never come here: models name their settings without them, and a login inside a URL is cut out.
"""

import fcntl
import json
import os
import platform
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, cast

from wildtool import __version__, json_codec
from wildtool.engine.record.addresses import ADDRESS_PARTS, address_difference, moved_roles
from wildtool.engine.record.format import Closing, find_segments, holds_steps
from wildtool.errors import RecordError, StorageError
from wildtool.models.secrets import comparable
from wildtool.models.settings import URL_CREDENTIALS, without_trailing_slash
from wildtool.outputs import check_run_files, is_disk_full
from wildtool.redact import redacted
from wildtool.secret_places import recordable_words
from wildtool.types import Source

RUN_FORMAT = 1
_QUERY = re.compile(r"(://[^?#\s]*)[?#]\S+")
"""A query or fragment of an address, either of which may hold a key."""
_ABSENT = object()
_KINDS: Mapping[str, Any] = {
    "kind": str,
    "identity": dict,
    "identity.benchmark": str,
    "identity.data_sha256": str,
    "identity.split": (str, NoneType),
    "identity.lang": (str, NoneType),
    "identity.mode": (str, NoneType),
    "identity.profile": (str, NoneType),
    "identity.models.agent.name": str,
    "scope.limit": (int, NoneType),
    "scope.ids": list,
    "scope.repeats": int,
    "data.name": str,
    "data.path": str,
    "sittings": list,
}
"""What readers of `run.json` rely on, by dotted name, with its types."""


class RunFolder(Closing):
    """A run folder locked by this process. A context manager that releases it."""

    def __init__(
        self,
        path: Path,
        *,
        kind: str,
        identity: Mapping[str, Any],
        scope: Mapping[str, Any],
        source: Source,
        command: Sequence[str],
        headers: Mapping[str, Sequence[str]] | None = None,
        benchmark_file: Path | None = None,
    ) -> None:
        """Creates the folder, or continues the run in it, and notes this invocation in `run.json`.

        Args:
            kind: `played`, or `imported` where the replies come from a result file.
            identity: settings that must agree with those of the run in the folder.
            scope: settings that may change.
            command: the command line as the user typed it.
            headers: names of the user's headers, by the roles whose requests have them.
            benchmark_file: the Python file that defines the benchmark; None for one of a package.

        Raises RecordError if another process holds the folder, if a setting differs of a run in which anything is
        recorded, or if it is no run folder.
        """
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            check_run_files(path)
            self._lock = _acquire_lock(path)
        except OSError as error:
            kind_of = StorageError if is_disk_full(error) else RecordError
            raise kind_of(f"{path}: cannot be used as a run folder ({error.strerror})") from error
        try:
            run_json = self._checked(kind, identity)
            addresses = moved_roles(run_json["identity"]["models"], identity["models"])
            sitting = {
                "command": recordable_command(command),
                **({"headers": {role: list(names) for role, names in headers.items()}} if headers else {}),
                **({"addresses": addresses} if addresses else {}),
                "wildtool": __version__,
                "started": _now(),
                "ended": None,
                "status": "running",
            }
            run_json["scope"] = dict(scope)
            run_json["data"] = {
                "name": source.name,
                "path": str(source.path.resolve()),
                "sha256": source.sha256,
                **({"benchmark_file": str(benchmark_file)} if benchmark_file else {}),
            }
            run_json["versions"] = _versions()
            run_json["sittings"].append(sitting)
            self._run = run_json
            self._write()
        except BaseException:
            self.close()
            raise

    def finish(self, status: str, *, spent: Mapping[str, Any] | None = None) -> None:
        """Notes how this invocation ended, and the usage of its calls."""
        ended: dict[str, Any] = {"ended": _now(), "status": status}
        self._run["sittings"][-1] |= ended if spent is None else ended | {"spent": dict(spent)}
        self._write()

    def close(self) -> None:
        os.close(self._lock)

    def _checked(self, kind: str, identity: Mapping[str, Any]) -> dict[str, Any]:
        """What `run.json` says, or would say of a new run."""
        if not (self.path / "run.json").exists():
            if find_segments(self.path):
                raise RecordError(
                    f"{self.path}: contains a record but no run.json, so it cannot be resumed; use another --out"
                )
            return {"format": RUN_FORMAT, "kind": kind, "identity": dict(identity), "sittings": []}
        run_json = read_run(self.path)
        if run_json["kind"] != kind:
            raise RecordError(
                f"{self.path}: holds a run that was {run_json['kind']}, not {kind}; use another --out"
            )
        # Compared as they would be read back: without keys, and so that a tuple equals a list.
        before, now = (
            json_codec.loads(redacted(json_codec.dumps(its))) for its in (run_json["identity"], identity)
        )
        _reconcile(before, now)
        run_json["identity"] = before
        # A batch is at the address where it was begun.
        moved = {} if (self.path / "batches.jsonl").exists() else moved_roles(before["models"], now["models"])
        now["models"] = {
            role: _at_first_address(before["models"][role], model) if role in moved else model
            for role, model in now["models"].items()
        }
        differences = [_difference_text(*difference) for difference in setting_diffs(before, now)]
        if differences and self._holds_nothing():
            run_json["identity"] = dict(identity)
        elif differences:
            raise RecordError(
                f"{self.path}: the settings differ: {', '.join(differences)}; use another --out or the same settings"
            )
        return run_json

    def _holds_nothing(self) -> bool:
        """Whether no call of the run was ever answered, so that other settings can take its place: an endpoint that
        refused every call leaves such a folder, and what it asks for changes the settings."""
        segments = find_segments(self.path)
        known = {"run.json", "lock", *(segment.path.name for segment in segments)}
        if any(path.name not in known for path in self.path.iterdir()):
            return False
        # Without any record file the record may be somewhere else, or lost.
        return bool(segments) and not any(holds_steps(segment) for segment in segments)

    def _write(self) -> None:
        path, new = self.path / "run.json", self.path / "run.json.new"
        try:
            with new.open("wb") as file:
                # A command word may hold undecodable bytes, which Python shows as surrogates; see json_codec.dumps.
                text = json.dumps(self._run, indent=2, ensure_ascii=False)
                file.write(redacted(text.encode("utf-8", "backslashreplace")))
                file.flush()
                os.fsync(file.fileno())
            new.replace(path)
        except OSError as error:
            with suppress(OSError):
                new.unlink(missing_ok=True)
            if not is_disk_full(error):
                raise RecordError(
                    f"{path}: could not be written ({error.strerror}); make the folder writable, or use another --out"
                ) from error
            raise StorageError(
                f"{path}: could not be written ({error.strerror}); the record is intact. "
                "Make room, then run the same command again to continue."
            ) from error


def is_locked(path: Path) -> bool:
    """Whether a process is writing to a run folder.

    Looking takes the lock for a moment, in which a run that starts would be refused: ask only where `run.json` says
    that an invocation has not ended, and not again before it changes.
    """
    try:
        lock = os.open(path / "lock", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        # A copy of a run, or one that others may not read: a process that writes to it would have a lock we can see.
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        # A file system without locks.
        return False
    finally:
        os.close(lock)
    return False


def read_run(path: Path) -> dict[str, Any]:
    """What `run.json` in a run folder says. Raises RecordError where it is missing or damaged."""
    file = path / "run.json"
    check_run_files(path)
    try:
        with file.open("rb") as stream:
            run = json_codec.loads_within(
                stream.read(json_codec.REPLY_LIMITS.bytes + 1), json_codec.REPLY_LIMITS
            )
        if run["format"] > RUN_FORMAT:
            raise RecordError(
                f"{file}: format {run['format']} was written by a newer wildtool; update wildtool"
            )
        # Runs of before there were modes do not tell theirs; it was the only one.
        run["identity"].setdefault("mode", None)
        for key, kind in _KINDS.items():
            value = run
            for name in key.split("."):
                value = value[name]
            if not isinstance(value, kind):
                raise TypeError(f"{key} has the wrong type")
        for name in ("prompts", "edition"):
            if not isinstance(run["identity"].get(name, ""), str):
                raise TypeError(f"identity.{name} has the wrong type")
        if not isinstance(run["data"].get("benchmark_file", ""), str):
            raise TypeError("data.benchmark_file has the wrong type")
        for role, model in run["identity"]["models"].items():
            if not isinstance(model["name"], str):
                raise TypeError(f"identity.models.{role}.name has the wrong type")
        _check_scope(run)
        _check_sittings(run["sittings"])
        return run
    except OSError as error:
        raise RecordError(f"{path}: not a run folder, run.json cannot be read ({error.strerror})") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordError(f"{file}: damaged ({error}); restore it from a copy") from error


def _check_scope(run: Mapping[str, Any]) -> None:
    """Raises ValueError, KeyError or TypeError for a selection of items that no command can have made."""
    scope, sample = run["scope"], run["identity"].get("sample")
    for name in ("limit", "repeats"):
        if scope[name] is not None and not 0 < scope[name] <= sys.maxsize:
            raise ValueError(f"scope.{name} is {scope[name]}")
    if not all(isinstance(id_, str) for id_ in scope["ids"]):
        raise TypeError("scope.ids has the wrong type")
    tries = scope.get("tries", {})
    if not isinstance(tries, dict) or not all(
        isinstance(each, int) and each > 0 for each in cast(dict[str, Any], tries).values()
    ):
        raise TypeError("scope.tries has the wrong type")
    if sample:
        if sample.keys() != {"size", "seed"} or not all(isinstance(each, int) for each in sample.values()):
            raise TypeError("identity.sample has other fields than size and seed")
        if not 0 < sample["size"] <= sys.maxsize:
            raise ValueError(f"identity.sample.size is {sample['size']}")
        if not isinstance(scope["sampled_from"], int):
            raise TypeError("scope.sampled_from has the wrong type")


_SITTING: Mapping[str, Any] = {
    "command": list,
    "headers": dict,
    "addresses": dict,
    "wildtool": str,
    "started": str,
    "ended": (str, NoneType),
    "status": str,
    "spent": (dict, NoneType),
}
"""Fields that a start of the command may have, with their types."""


def _check_sittings(sittings: Sequence[Any]) -> None:
    """Raises TypeError where a start of the command is not described as one."""
    for number, sitting in enumerate(sittings):
        if not isinstance(sitting, dict):
            raise TypeError(f"sittings[{number}] has the wrong type")
        for name, value in cast(dict[str, Any], sitting).items():
            if not isinstance(value, _SITTING.get(name, object)):
                raise TypeError(f"sittings[{number}].{name} has the wrong type")


def strip_credentials(value: Any) -> Any:
    """A JSON value whose texts have no login, query or fragment in any address: each may hold a key."""
    if isinstance(value, str):
        return _QUERY.sub(r"\1?…", URL_CREDENTIALS.sub("://", value))
    if isinstance(value, dict):
        return {key: strip_credentials(inner) for key, inner in cast(dict[str, Any], value).items()}
    if isinstance(value, list):
        return [strip_credentials(inner) for inner in cast(list[Any], value)]
    return value


def recordable_command(command: Sequence[str]) -> list[str]:
    """The words of a command line of wildtool without keys, wherever in them these are, and as `strip_credentials`."""
    return strip_credentials(recordable_words(command))


_LONGEST_SETTING = 300
"""Characters of a setting that messages show."""


def setting_diffs(old: Any, new: Any, name: str = "") -> Iterator[tuple[str, str, str]]:
    """Each setting that differs, by dotted name, with its old and its new value as JSON."""
    if isinstance(old, dict) and isinstance(new, dict):
        before, after = cast(dict[str, Any], old), cast(dict[str, Any], new)
        for key in sorted(before.keys() | after.keys()):
            inner = f"{name}.{key}" if name else key
            yield from setting_diffs(before.get(key, _ABSENT), after.get(key, _ABSENT), inner)
    elif old is _ABSENT or new is _ABSENT or json_codec.dumps(old) != json_codec.dumps(new):
        yield name, _setting_text(old), _setting_text(new)


def _reconcile(before: dict[str, Any], now: dict[str, Any]) -> None:
    """Completes two identities by what only one of them can tell, which is no difference between them."""
    if before["mode"] is None:
        before["mode"] = now.get("mode")
    # A role that only some items ask comes and goes with the selection.
    before["models"] = now["models"] | before["models"]
    now["models"] = before["models"] | now["models"]
    for role, model in before["models"].items():
        _fill_in_address(model.setdefault("settings", {}), now["models"][role].setdefault("settings", {}))


def _fill_in_address(before: dict[str, Any], now: dict[str, Any]) -> None:
    """What is secret in an address is compared where it can be: not with a run of an earlier version, or of another
    machine or user, whose key is another."""
    name, address = "address_digest", str(before.get("base_url") or "")
    # Earlier versions kept a slash at the end, also in what they took the digest of.
    if has_slash := without_trailing_slash(address) != address:
        before["base_url"] = without_trailing_slash(address)
    if name in now and (has_slash or not comparable(before.get(name), now[name])):
        before[name] = now[name]
    elif name in before and name not in now and before.get("base_url") == now.get("base_url"):
        now[name] = before[name]


def _at_first_address(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """A model as it would be described at the address of its first replies."""
    first = {name: value for name, value in before["settings"].items() if name in ADDRESS_PARTS}
    rest = {name: value for name, value in now["settings"].items() if name not in ADDRESS_PARTS}
    return {**now, "settings": {**rest, **first}}


def _difference_text(name: str, old: str, new: str) -> str:
    """A setting that differs, in words; of an address also why it cannot be one of the same server."""
    reason = address_difference(old.strip('"'), new.strip('"')) if name.endswith(".base_url") else ""
    return f"{name} was {old} in this run and is now {new}" + (f" ({reason})" if reason else "")


def _setting_text(value: Any) -> str:
    text = "not set" if value is _ABSENT else json_codec.dumps(value).decode()
    return text if len(text) <= _LONGEST_SETTING else f"{text[:_LONGEST_SETTING]}…"


def _acquire_lock(path: Path) -> int:
    """Locks the folder until the process ends. The lock is the kernel's, so a killed process leaves none
    behind."""
    file = path / "lock"
    lock = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(lock, 0)
        os.write(lock, f"process {os.getpid()} on {platform.node()} since {_now()}".encode())
    except BlockingIOError:
        holder = os.read(lock, 500).decode(errors="replace")
        os.close(lock)
        raise RecordError(
            f"{path}: another wildtool is writing to this run folder ({holder}); wait for it or stop it, "
            "or use another --out"
        ) from None
    except BaseException:
        os.close(lock)
        raise
    return lock


def _versions() -> dict[str, str]:
    versions = {"wildtool": __version__, "python": platform.python_version(), "platform": platform.platform()}
    return versions | {name: _version(name) for name in ("aiohttp", "orjson", "duckdb")}


@cache
def _version(package: str) -> str:
    """The version of a package, which is read once: its whole description is, which takes as long as a small run."""
    from importlib.metadata import version  # reading a run needs no versions

    return version(package)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
