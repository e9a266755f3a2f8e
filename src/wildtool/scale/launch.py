"""What starts workers on a cluster: the script of a Slurm array job, the manifest of a Kubernetes job."""

import json
import re
import shlex
from collections.abc import Sequence

from wildtool.scale.local import STOP_S, worker_words

RETRIES_OF_INDEX = 20
"""How often a pod is started again, evictions not counted."""


def slurm_script(
    url: str,
    workers: int,
    lines: Sequence[str] = (),
    server: str | None = None,
    trust: str | None = None,
) -> str:
    """A script for `sbatch`: one task for each worker, queued again where its node fails.

    Args:
        server: command of a server for each worker.
        lines: more options of `sbatch`, such as `--partition=cpu`.
        trust: hash of the job, which the worker is to trust.
    """
    options = [
        "--job-name=wildtool",
        f"--array=0-{workers - 1}",
        "--requeue",
        "--open-mode=append",
        "--output=wildtool-%A_%a.log",
        # Time to send what is recorded and to give shards up before the job ends.
        f"--signal=B:TERM@{STOP_S:.0f}",
        *lines,
    ]
    directives = "".join(f"#SBATCH {option}\n" for option in options)
    return f"#!/bin/bash\n{directives}exec wildtool {shlex.join(worker_words(url, server, trust))}\n"


def kubernetes_manifest(
    url: str,
    workers: int,
    *,
    name: str,
    image: str,
    secrets: Sequence[str] = (),
    server: str | None = None,
    trust: str | None = None,
) -> str:
    """An Indexed Job, as JSON: one index for each worker, started again where its pod fails.

    Args:
        server: command of a server for each worker.
        image: holds wildtool and the data.
        secrets: whose entries become environment variables: keys of models, credentials of the store.
        trust: hash of the job, which the worker is to trust.
    """
    container = {
        "name": "worker",
        "image": image,
        "command": ["wildtool", *worker_words(url, server, trust)],
        "envFrom": [{"secretRef": {"name": secret}} for secret in secrets],
    }
    # Evictions are nobody's fault; wrong usage, and a limit that is reached, are not mended by another try.
    evicted = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    final = {
        "action": "FailIndex",
        "onExitCodes": {"containerName": "worker", "operator": "In", "values": [2, 3]},
    }
    manifest = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": job_name(name)},
        "spec": {
            "completionMode": "Indexed",
            "completions": workers,
            "parallelism": workers,
            "backoffLimitPerIndex": RETRIES_OF_INDEX,
            "podFailurePolicy": {"rules": [evicted, final]},
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "terminationGracePeriodSeconds": int(STOP_S) + 30,
                    "containers": [container],
                }
            },
        },
    }
    return json.dumps(manifest, indent=2) + "\n"


def job_name(model: str) -> str:
    """A name that Kubernetes takes."""
    return ("wildtool-" + re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-"))[:52].strip("-")
