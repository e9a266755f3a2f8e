"""Writes a bundle: one zip file with everything needed to score a run again. Its format: engine/record/bundle.py.

It contains `run.json`, the complete lines of the record, the existing verdicts, and what people said about failures.
The data are identified by their SHA-256 and included only on request, because their licence may not allow passing them
on. Equal runs give equal bytes: members are sorted and have no time. Local paths are removed, and nothing is written
that contains the value of a key in the environment.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from wildtool import __version__
from wildtool.engine.record.bundle import BUNDLE_FORMAT, BUNDLE_VERSION, MANIFEST, MAX_BUNDLE_BYTES, RUN_NAME
from wildtool.engine.record.format import LABELS_FILE, find_segments, open_segment, whole_length
from wildtool.engine.record.run_folder import read_run, recordable_command, strip_credentials
from wildtool.engine.score.score import prepare_judging
from wildtool.errors import UsageError
from wildtool.export import ExportRequest
from wildtool.export.files import portable_value
from wildtool.export.tables import verdict_tables
from wildtool.models.resolve import folder_name
from wildtool.outputs import atomic_replace

_BLOCK = 1 << 20
_KEY = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_SHORTEST_KEY = 8
"""Characters of a key; shorter values (`none`, `EMPTY`) are no keys."""

Blocks = Callable[[], Iterator[bytes]]
"""Reads a member block by block; may be called again."""


def export(request: ExportRequest, target: Path) -> None:
    """Writes the bundle. Raises UsageError if it would contain a key of the environment or is too large."""
    run_json = read_run(request.folder)
    with verdict_tables(request) as tables:
        members = {path.name: _file(path) for path in tables}
        members |= dict(_record(request.folder))
        place, data = _data(request) if request.with_data else (None, {})
        members |= data
        members["run.json"] = _text(_shareable(run_json, place))
        labels = request.folder / LABELS_FILE
        if labels.is_file():
            members[LABELS_FILE] = _file(labels)
        version = BUNDLE_VERSION if LABELS_FILE in members else 1
        name = request.folder.resolve().name
        name = name if RUN_NAME.fullmatch(name) else folder_name(name)
        head = {"format": BUNDLE_FORMAT, "version": version, "run": name, "wildtool": __version__}
        origin = {"name": data_name(run_json), "sha256": run_json["identity"]["data_sha256"], "member": place}
        _write(target, members, {**head, "data": origin})


def data_name(run_json: Mapping[str, Any]) -> str:
    """Name of the data of a run, without their folder."""
    name: str = run_json["data"]["name"]
    return Path(name).name or name


def _write(target: Path, members: Mapping[str, Blocks], head: Mapping[str, Any]) -> None:
    digests: dict[str, Any] = {}
    with atomic_replace(target) as new, ZipFile(new, "w") as archive:
        for name in sorted(members):
            digests[name] = _add(archive, name, members[name])
        if sum(entry["size"] for entry in digests.values()) > MAX_BUNDLE_BYTES:
            raise UsageError(
                f"{target}: the run is larger than a bundle may be ({MAX_BUNDLE_BYTES >> 30} GiB)"
            )
        _add(archive, MANIFEST, _text({**head, "members": digests}))


def _add(archive: ZipFile, name: str, blocks: Blocks) -> dict[str, Any]:
    """Adds a member; its size and digest."""
    info = ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.compress_type = ZIP_DEFLATED
    info.create_system, info.external_attr = 3, 0o100644 << 16
    size, digest = 0, sha256()
    with archive.open(info, "w", force_zip64=True) as member:
        for block in _without_keys(name, blocks()):
            size += len(block)
            digest.update(block)
            member.write(block)
    return {"size": size, "sha256": digest.hexdigest()}


def _without_keys(name: str, blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The blocks, unchanged. Raises UsageError if they contain the value of a key in the environment."""
    keys = {
        variable: value.encode(errors="surrogateescape")
        for variable, value in os.environ.items()
        if _KEY.search(variable) and len(value) >= _SHORTEST_KEY
    }
    longest = max(map(len, keys.values()), default=_SHORTEST_KEY)
    end = b""
    for block in blocks:
        text = end + block
        for variable, value in keys.items():
            if value in text:
                raise UsageError(
                    f"{name} holds the value of the environment variable {variable}, so it is not bundled; take it out, "
                    "or unset the variable if its value is no secret"
                )
        end = text[1 - longest :]
        yield block


def _record(folder: Path) -> Iterator[tuple[str, Blocks]]:
    """The segments, uncompressed and without incomplete lines."""
    for segment in find_segments(folder):

        def blocks(segment: Any = segment) -> Iterator[bytes]:
            with open_segment(segment) as file:
                end = whole_length(file)
                file.seek(0)
                yield from _read(file, end)

        yield f"record-{segment.number:04d}.jsonl", blocks


def _data(request: ExportRequest) -> tuple[str, dict[str, Blocks]]:
    """Path of the data in the bundle, and their files."""
    source = prepare_judging(request.folder, profile=request.profile, data=request.data).selection.source
    place = f"data/{folder_name(source.path.resolve().name)}"
    if source.path.is_file():
        return place, {place: _file(source.path)}
    files = sorted(path for path in source.path.rglob("*") if path.is_file() and not path.is_symlink())
    inner = {path: path.relative_to(source.path).as_posix() for path in files}
    public = {path: name for path, name in inner.items() if not re.search(r"(^|/)\.", name)}
    return place, {f"{place}/{name}": _file(path) for path, name in public.items()}


def _file(path: Path) -> Blocks:
    def blocks() -> Iterator[bytes]:
        with path.open("rb") as file:
            yield from _read(file, path.stat().st_size)

    return blocks


def _read(file: IO[bytes], size: int) -> Iterator[bytes]:
    while size and (block := file.read(min(_BLOCK, size))):
        size -= len(block)
        yield block


def _text(value: Any) -> Blocks:
    return lambda: iter(
        [json.dumps(portable_value(value), indent=2, ensure_ascii=False, sort_keys=True).encode()]
    )


def _shareable(run_json: Mapping[str, Any], place: str | None) -> dict[str, Any]:
    """`run.json` without local paths, and without logins or queries of addresses."""
    name = data_name(run_json)
    data = {**run_json["data"], "name": name, "path": place or name}
    if "benchmark_file" in data:
        data["benchmark_file"] = Path(data["benchmark_file"]).name
    sittings = [
        {
            **sitting,
            "command": [
                Path(w).name if Path(w).is_absolute() else w for w in recordable_command(sitting["command"])
            ],
        }
        for sitting in run_json["sittings"]
    ]
    return strip_credentials({**run_json, "data": data, "sittings": sittings})
