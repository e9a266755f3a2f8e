"""What is unpacked of a bundle, whole, and each way in which a file is no bundle, with what is said of it."""

import errno
import json
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from wildtool.engine.record import bundle as bundle_module
from wildtool.engine.record.bundle import unpack_bundle
from wildtool.errors import RecordError, StorageError

RUN = json.dumps({"data": {"name": "set.jsonl", "path": "data/set.jsonl"}, "seed": 1}).encode()
MEMBERS = {
    "run.json": RUN,
    "record-0001.jsonl": b'{"row": 1}\n',
    "verdicts-fixed.parquet": b"PAR1",
    "data/set.jsonl": b"{}\n",
}


def manifest_of(members: dict[str, bytes], /, **changes: Any) -> dict[str, Any]:
    digests = {
        name: {"size": len(text), "sha256": sha256(text).hexdigest()} for name, text in members.items()
    }
    manifest = {"format": "wildtool bundle", "version": 1, "run": "demo", "members": digests}
    return {name: value for name, value in (manifest | changes).items() if value is not None}


def write(path: Path, members: dict[str, bytes], manifest: Any) -> Path:
    with ZipFile(path, "w") as archive:
        if manifest is not None:
            archive.writestr(
                "manifest.json", manifest if isinstance(manifest, bytes) else json.dumps(manifest)
            )
        for name, text in members.items():
            archive.writestr(name, text)
    return path


@pytest.mark.parametrize(
    ("error", "kind", "why"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), StorageError, "No space left on device"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), StorageError, "Disk quota exceeded"),
        (OSError(errno.EACCES, "Permission denied"), RecordError, "Permission denied"),
        (OSError("odd"), RecordError, "odd"),
    ],
)
def test_a_disk_that_takes_no_bundle_is_named(
    error: OSError, kind: type[Exception], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fails(kind: str) -> None:
        raise error

    path = write(tmp_path / "b.zip", MEMBERS, manifest_of(MEMBERS))
    monkeypatch.setattr(bundle_module, "folder_until_exit", fails)
    with pytest.raises(RecordError) as caught:
        unpack_bundle(path)
    assert (type(caught.value), str(caught.value)) == (kind, f"{path}: cannot be unpacked ({why})")
