"""Runs in stores, as others leave them there."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wildtool.scale.job import SharedJob
from wildtool.scale.store import FolderStore


def prepared_job(
    folder: Path, *, model: str, options: Mapping[str, Any], benchmark: str = "wild-mini"
) -> str:
    """The address of a store with a job for workers. Args: options: of the run, by name."""
    job = SharedJob(
        benchmark=benchmark, model=model, options=options, explicit=sorted(options), original_prompts=False,
        items=1, share_items=1, workers=1, controlled=False, sitting=1, run="planted",
    )  # fmt: skip
    folder.mkdir(parents=True)
    store = FolderStore(folder)
    job.write(store)
    return store.url
