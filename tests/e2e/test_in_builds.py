"""What other repositories use as it is: the action for GitHub, the job for GitLab, hooks of pre-commit, the image."""

import os
import re
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.forks import in_shells

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
Ended = subprocess.CompletedProcess[str]


def in_bash(script: str, place: Path, **variables: str) -> Ended:
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=place,
        env=in_shells({**os.environ, **variables}),
        capture_output=True,
        text=True,
        check=False,
    )


# The action ------------------------------------------------------------------------------------------


class Workflow:
    """The steps of the action, as a runner runs them: those that are shell, until one fails."""

    def __init__(self, place: Path, **given: str) -> None:
        self.inputs = {name: str(its.get("default", "")) for name, its in ACTION["inputs"].items()} | given
        self.outputs: dict[str, dict[str, str]] = {}
        self.ended: list[Ended] = []
        for step in ACTION["runs"]["steps"]:
            if "run" in step and self.holds(step.get("if", "")):
                self.ended.append(self.run(step, place))
                if self.ended[-1].returncode:
                    break

    def holds(self, condition: str) -> bool:
        """Conditions here are alternatives of `inputs.NAME != ''`."""
        return not condition or any(
            self.inputs[name] for name in re.findall(r"inputs\.([\w-]+) != ''", condition)
        )

    def run(self, step: Mapping[str, Any], place: Path) -> Ended:
        output = place / "output"
        output.write_text("")
        variables = {name: self.value(text) for name, text in step["env"].items()}
        ended = in_bash(step["run"], place, GITHUB_OUTPUT=str(output), **variables)
        lines = (line.partition("=") for line in output.read_text().splitlines())
        self.outputs[step.get("id", "")] = {name: value for name, _, value in lines}
        return ended

    def value(self, text: str) -> str:
        known = {f"inputs.{name}": value for name, value in self.inputs.items()} | {
            "github.action_path": str(ROOT)
        }
        return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda found: known[found[1]], text)


def test_the_action_runs_own_cases_and_its_gate(tmp_path: Path) -> None:
    assert in_bash("wildtool new cases shop/cases.yaml", tmp_path).returncode == 0
    asked = {
        "data": "shop/cases.yaml",
        "gate-options": "--at-least 0.9 --update-baseline",
        "against": "shop.json",
    }
    first = Workflow(tmp_path, model="baseline/gold", **asked)
    assert [one.returncode for one in first.ended] == [0, 0, 0], first.ended[-1].stderr
    assert first.outputs["run"] == {"run": "runs/new", "status": "0"}
    assert (tmp_path / "shop.json").exists()
    assert (tmp_path / "wildtool-gate.xml").exists()
    worse = Workflow(tmp_path, model="baseline/chat", out="runs/worse", **asked)
    assert worse.ended[-1].returncode == 1
    assert worse.outputs["gate"] == {"status": "1"}


def test_the_action_takes_no_word_of_an_input_for_a_command(tmp_path: Path) -> None:
    hostile = "baseline/gold'; touch owned; echo '$(touch owned)"
    Workflow(
        tmp_path,
        model=hostile,
        **{"run-options": "--limit 1 `touch owned`", "gate-options": "$(touch owned)"},
    )
    assert not (tmp_path / "owned").exists()
    scripts = [step["run"] for step in ACTION["runs"]["steps"] if "run" in step]
    assert not any("${{" in script for script in scripts)


def test_options_of_the_action_may_have_quoted_words(tmp_path: Path) -> None:
    options = "--limit 1 --extra-body '{\"top_p\": 0.9}' --dry-run"
    done = Workflow(tmp_path, model="m", **{"run-options": f"{options} --base-url http://127.0.0.1:1/v1"})
    assert [one.returncode for one in done.ended] == [0, 0], done.ended[-1].stderr


@pytest.mark.parametrize("name", ["run-options", "gate-options"])
def test_options_with_an_open_quote_fail_instead_of_being_left_out(tmp_path: Path, name: str) -> None:
    done = Workflow(tmp_path, model="baseline/gold", **{"run-options": "--limit 1", name: "--limit 1 'a"})
    assert done.ended[-1].returncode != 0
    assert "quote" in done.ended[-1].stderr


def test_every_input_of_the_action_is_used_and_says_what_it_is() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    for name, its in ACTION["inputs"].items():
        assert f"inputs.{name}" in text.partition("\nruns:")[2], name
        assert its["description"]


# GitLab, pre-commit, the image -----------------------------------------------------------------------


@pytest.mark.parametrize(("model", "status"), [("baseline/gold", 0), ("baseline/chat", 1)])
def test_the_job_for_gitlab_runs_and_fails_by_its_gate(tmp_path: Path, model: str, status: int) -> None:
    spec, job = yaml.safe_load_all((ROOT / "templates" / "tool-use.yml").read_text(encoding="utf-8"))
    given = {name: str((its or {}).get("default", "")) for name, its in spec["spec"]["inputs"].items()}
    given |= {"model": model, "run-options": "--limit 2", "gate-options": "--at-least 0.9"}

    def value(text: str) -> str:
        return re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", lambda found: given[found[1]], text)

    variables = {name: value(text) for name, text in job["tool-use"]["variables"].items()}
    done = in_bash("\n".join(job["tool-use"]["script"]), tmp_path, **variables)
    assert done.returncode == status, done.stderr
    assert (tmp_path / job["tool-use"]["artifacts"]["reports"]["junit"]).exists()


@pytest.mark.parametrize("number", [0, 1])
def test_a_hook_checks_each_of_its_files(tmp_path: Path, number: int) -> None:
    hook = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))[number]
    assert (
        in_bash(
            "wildtool new cases good/cases.yaml && wildtool new cases bad/cases.yaml", tmp_path
        ).returncode
        == 0
    )
    name = "tools.json" if "tools" in hook["id"] else "cases.yaml"
    assert re.search(hook["files"], f"shop/{name}")
    assert not re.search(hook["files"], "shop/run.json")

    def checked(*places: str) -> int:
        return in_bash(
            shlex.join([*shlex.split(hook["entry"]), *(f"{p}/{name}" for p in places)]), tmp_path
        ).returncode

    assert checked("good", "bad") == 0
    (tmp_path / "bad" / name).write_text("[{")
    assert checked("bad", "good") == 1


def test_the_image_is_built_from_files_that_are_there_and_runs_without_rights() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    users = [line.split()[1] for line in lines if line.startswith("USER ")]
    assert users == ["wildtool"]
    assert all(line.split()[1].endswith("-slim") for line in lines if line.startswith("FROM "))
    taken = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert [name for name in taken if not (ROOT / name).exists()] == []
