"""What is handed to Slurm and Kubernetes."""

import json
import shlex
import subprocess
from typing import Any

import pytest

from wildtool.scale.launch import kubernetes_manifest, slurm_script


def test_a_slurm_script_is_valid_shell_and_starts_one_worker_per_task():
    script = slurm_script("s3://bucket/a b", 4, ["--partition=cpu"])
    assert subprocess.run(["bash", "-n"], input=script, text=True).returncode == 0
    lines = script.splitlines()
    assert lines[0] == "#!/bin/bash"
    assert {"#SBATCH --array=0-3", "#SBATCH --requeue", "#SBATCH --partition=cpu"} <= set(lines)
    assert shlex.split(lines[-1]) == ["exec", "wildtool", "worker", "--run", "s3://bucket/a b"]


def test_a_kubernetes_manifest_is_an_indexed_job_whose_evicted_pods_cost_no_try():
    manifest = json.loads(
        kubernetes_manifest("s3://b/r", 3, name="org/GPT_4o.", image="me/wildtool:1", secrets=["keys"])
    )
    assert (manifest["apiVersion"], manifest["kind"]) == ("batch/v1", "Job")
    assert manifest["metadata"]["name"] == "wildtool-org-gpt-4o"
    spec = manifest["spec"]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 3, 3)
    assert spec["podFailurePolicy"]["rules"][0]["action"] == "Ignore"
    assert "backoffLimitPerIndex" in spec and "backoffLimit" not in spec
    pod = spec["template"]["spec"]
    assert pod["restartPolicy"] == "Never"
    assert pod["containers"][0]["command"] == ["wildtool", "worker", "--run", "s3://b/r"]
    assert pod["containers"][0]["envFrom"] == [{"secretRef": {"name": "keys"}}]


def manifest_with(secrets: list[str]) -> dict[str, Any]:
    return json.loads(kubernetes_manifest("s3://b/r", 3, name="m", image="me/wildtool:1", secrets=secrets))


@pytest.mark.parametrize("version", ["1.29", "1.33", "1.37"])
@pytest.mark.parametrize("secrets", [[], ["keys", "store"]])
def test_a_kubernetes_manifest_passes_the_published_schema_of_jobs(version: str, secrets: list[str]):
    schemas: Any = pytest.importorskip("kubernetes_validate", reason="pip install kubernetes-validate")
    schemas.validate(manifest_with(secrets), version, strict=True)
    misspelt = manifest_with(secrets)
    misspelt["spec"]["completionmode"] = misspelt["spec"].pop("completionMode")
    with pytest.raises(schemas.ValidationError, match="completionmode"):
        schemas.validate(misspelt, version, strict=True)
