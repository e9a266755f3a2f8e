"""The files around the code: workflows, hooks, citation, changelog, pins and tables of contents agree with each other."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
import release
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import wildtool

ROOT = Path(__file__).resolve().parents[1]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = [GITHUB / "ISSUE_TEMPLATE" / name for name in ("benchmark.yml", "bug.yml")]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PACKAGES = [
    tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    for path in sorted(ROOT.glob("packages/*/pyproject.toml"))
]
"""Our other packages."""


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def parsed(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def targets() -> set[str]:
    """What can be made, files like `.venv/.developed` included."""
    names = re.findall(r"^([\w/.$()]+):", text("Makefile"), re.MULTILINE)
    return {name.replace("$(VENV)", ".venv") for name in names}


def steps(workflow: Path) -> list[dict[str, Any]]:
    return [step for job in parsed(workflow)["jobs"].values() for step in job["steps"]]


def made(commands: list[str]) -> set[str]:
    return {found[1] for command in commands if (found := re.match(r"make (?:--silent )?(\S+)$", command))}


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_makes_targets_that_are_there(workflow: Path) -> None:
    commands = [step["run"] for step in steps(workflow) if "run" in step]
    assert made(commands)
    assert made(commands) <= targets()


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_only_read_and_names_the_major_version_of_each_action(workflow: Path) -> None:
    assert parsed(workflow)["permissions"] == {"contents": "read"}
    actions = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert actions
    assert [action for action in actions if not re.search(r"@(release/)?v\d+$", action)] == []


def test_only_publishing_has_more_rights_and_each_the_one_it_needs() -> None:
    jobs = {name: job for path in WORKFLOWS for name, job in parsed(path)["jobs"].items()}
    rights = {name: job["permissions"] for name, job in jobs.items() if "permissions" in job}
    assert rights == {
        "pypi": {"id-token": "write"},
        "github": {"contents": "write"},
        "publish": {"pages": "write", "id-token": "write"},
    }


def test_ci_tests_the_versions_and_systems_that_the_package_names() -> None:
    matrix = parsed(GITHUB / "workflows" / "ci.yml")["jobs"]["tests"]["strategy"]["matrix"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert matrix["python"] == named
    assert PROJECT["requires-python"] == f">={named[0]}"
    systems = [*matrix["os"], *(extra["os"] for extra in matrix["include"])]
    assert systems == ["ubuntu-latest", "macos-latest"]


def test_ci_and_the_gate_make_the_same_checks() -> None:
    lines = [line for line in text(".ci/run").splitlines() if not line.lstrip().startswith("#")]
    gate = {target for line in lines for target in re.findall(r"\bmake (\w+)", line)}
    ci = made([step.get("run", "") for step in steps(GITHUB / "workflows" / "ci.yml")])
    assert gate == {"test", "e2e", "floors", "parity", "lint", "types", "docs"}
    # The cases of the published evaluators are not in the repository.
    assert ci == gate - {"parity"} | {".venv/.developed"}
    assert ".ci/wheel" in text(".ci/run")


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.name)
def test_an_issue_form_asks_questions_with_ids_of_their_own(form: Path) -> None:
    content = parsed(form)
    assert content["name"]
    assert content["description"]
    questions = [part for part in content["body"] if part["type"] != "markdown"]
    ids = [question["id"] for question in questions]
    assert len(set(ids)) == len(ids) > 3
    assert all(question["attributes"]["label"] for question in questions)


def test_hooks_are_local_and_make_what_the_gate_makes() -> None:
    repos = parsed(ROOT / ".pre-commit-config.yaml")["repos"]
    assert [repo["repo"] for repo in repos] == ["local"]
    hooks = repos[0]["hooks"]
    assert {hook["language"] for hook in hooks} == {"system", "pygrep"}
    assert made([hook["entry"] for hook in hooks]) == {"lint", "types", "docs"}


def hook(name: str) -> dict[str, Any]:
    hooks = parsed(ROOT / ".pre-commit-config.yaml")["repos"][0]["hooks"]
    return next(hook for hook in hooks if hook["id"] == name)


@pytest.mark.parametrize(
    "key",
    [
        "sk-" + "a1" * 24,
        "sk-ant-api03-" + "x" * 40,
        "AKIA" + "Q" * 16,
        "AIza" + "x" * 35,
        "BEGIN RSA PRIVATE" + " KEY",
    ],
)
def test_the_hook_finds_keys(key: str) -> None:
    assert re.search(hook("keys")["entry"], f"key = '{key}'")


@pytest.mark.parametrize(
    "word", ["sk-test", "task-of-the-first-session-of-a-set-of-many-items", "hf_hub", "AIza"]
)
def test_the_hook_lets_words_pass(word: str) -> None:
    assert not re.search(hook("keys")["entry"], word)


def test_all_packages_have_one_version_and_ask_for_it() -> None:
    assert len(PACKAGES) == 3
    versions = {import_module(each["name"].replace("-", "_")).__version__ for each in PACKAGES}
    assert versions == {wildtool.__version__}
    ours = [
        wanted
        for project in (PROJECT, *PACKAGES)
        for line in (*project["dependencies"], *chain(*project.get("optional-dependencies", {}).values()))
        if (wanted := Requirement(line)).name.startswith("wildtool") and wanted.name != project["name"]
    ]
    assert len(ours) > 5
    assert {str(wanted.specifier) for wanted in ours} == {f"=={wildtool.__version__}"}
    assert {path.read_text("utf-8") for path in ROOT.glob("packages/*/LICENSE")} == {text("LICENSE")}


def test_changelog_citation_and_package_name_the_same_version() -> None:
    sections = re.findall(r"^## (.+)$", text("CHANGELOG.md"), re.MULTILINE)
    citation = parsed(ROOT / "CITATION.cff")
    assert sections[0] == "Unreleased"
    assert sections[1] == f"{wildtool.__version__} - {citation['date-released']}"
    assert citation["version"] == wildtool.__version__
    assert citation["license"] == PROJECT["license"]


def test_each_file_of_changelog_d_has_a_type_and_lines() -> None:
    """A file of an unknown type ends the command by its name."""
    draft = subprocess.run(
        [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "next"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for path in sorted((ROOT / "changelog.d").glob("*.md")):
        lines = path.read_text().splitlines()
        assert [line for line in lines if not line.startswith(("- ", "  "))] == [], path
        assert set(lines) <= set(draft.splitlines()), path


def test_the_citation_has_what_its_format_asks_for_and_the_papers() -> None:
    citation = parsed(ROOT / "CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert {"title", "message", "authors"} <= set(citation)
    titles = [paper["title"] for paper in citation["references"]]
    assert len(titles) == 3
    published = text("docs/published.md")
    assert [title for title in titles if title not in published] == []
    assert all(author["family-names"] for paper in citation["references"] for author in paper["authors"])


def extras_of_dev() -> set[str]:
    """The extras that the tests are run with."""
    (own,) = (line for line in PROJECT["optional-dependencies"]["dev"] if line.startswith("wildtool["))
    return Requirement(own).extras


def requirements(extras: Iterable[str]) -> list[Requirement]:
    """What the core, these extras and our other packages need, apart from ourselves."""
    lines = [*PROJECT["dependencies"], *(w for e in extras for w in PROJECT["optional-dependencies"][e])]
    for package in PACKAGES:
        lines += [*package["dependencies"], *chain(*package.get("optional-dependencies", {}).values())]
    return [wanted for wanted in map(Requirement, lines) if not wanted.name.startswith("wildtool")]


def pins(name: str) -> dict[str, Version]:
    """The versions of a file of pins by the names of packages."""
    lines = [line.split("==") for line in text(name).splitlines() if not line.startswith("#")]
    return {canonicalize_name(package): Version(version) for package, version in lines}


def test_everything_that_the_gate_installs_is_pinned() -> None:
    wanted = {
        canonicalize_name(line.name): line.specifier for line in requirements({"dev", *extras_of_dev()})
    }
    pinned = pins("constraints.txt")
    assert wanted.keys() - pinned.keys() == set()
    assert [name for name, allowed in wanted.items() if pinned[name] not in allowed] == []


def test_ci_installs_the_pinned_versions_by_their_digests() -> None:
    entries = re.findall(
        r"^([\w.-]+)==(\S+)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", text("locked.txt"), re.MULTILINE
    )
    locked = {canonicalize_name(name): Version(version) for name, version, _ in entries}
    assert len(entries) == len(re.findall(r"^\S", text("locked.txt"), re.MULTILINE)), (
        "a line without a digest"
    )
    assert {name: locked.get(name) for name in pins("constraints.txt")} == pins("constraints.txt"), (
        "make lock"
    )
    assert [path.name for path in WORKFLOWS if parsed(path).get("env") != {"LOCKED": "1"}] == []


def test_the_notes_of_a_release_have_what_breaks_first_and_at_most_60_lines() -> None:
    unreleased, newest = text("CHANGELOG.md").split("\n## ")[1:3]
    notes = newest if "Nothing yet." in unreleased else unreleased
    assert notes.count("\n") <= release.MOST_LINES
    assert re.findall(r"^### (.+)$", notes, re.MULTILINE)[:2] == ["What breaks", "Scores that move"]


@pytest.mark.parametrize(
    ("unreleased", "prepared"), [("### Scores that move\n- x\n", True), ("- x\n", False), ("", False)]
)
def test_notes_that_cannot_become_those_of_a_release_are_refused_before_anything_is_changed(
    tmp_path: Path, unreleased: str, prepared: bool
) -> None:
    copytree(ROOT / "scripts", tmp_path / "scripts")
    before = f"# Changelog\n\n## Unreleased\n\n{unreleased}\n" + "## 9.9.9 - 2026-01-01\n\n- y\n" * prepared
    (tmp_path / "CHANGELOG.md").write_text(before, encoding="utf-8")
    command = [sys.executable, tmp_path / "scripts" / "release.py", "9.9.9"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("CHANGELOG.md: ")
    assert (tmp_path / "CHANGELOG.md").read_text(encoding="utf-8") == before


def floor_extras() -> set[str]:
    (named,) = re.findall(r"^FLOOR_EXTRAS := (.+)$", text("Makefile"), re.MULTILINE)
    return set(named.split(","))


def test_the_lowest_versions_are_tested_of_the_core_and_of_each_extra_that_the_tests_use() -> None:
    # The documentation is not part of what users install.
    assert floor_extras() == extras_of_dev() - {"docs"}


def test_the_lowest_versions_that_are_tested_are_the_lowest_that_the_package_allows() -> None:
    allowed = {
        canonicalize_name(wanted.name): Version(bound.version)
        for wanted in requirements(floor_extras())
        for bound in wanted.specifier
        if bound.operator in (">=", "==")
    }
    assert len(allowed) == len({wanted.name for wanted in requirements(floor_extras())})
    tested = pins("floors.txt")
    assert {name: tested.get(name) for name in allowed} == allowed


def test_the_tests_with_the_lowest_versions_are_there() -> None:
    (listed,) = re.findall(r"^FLOOR_TESTS := ((?:.*\\\n)+.*)$", text("Makefile"), re.MULTILINE)
    words = listed.replace("\\\n", " ")
    paths = [
        place + path
        for place, names in re.findall(r"addprefix ([^,]+),([^)]+)", words)
        for path in names.split()
    ]
    paths += re.sub(r"\$\([^)]+\)", " ", words).split()
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_files_that_contributors_are_sent_to_are_there() -> None:
    named = re.findall(r"(?<![\w/])(?:src|tests|bench|docs|packages)/[\w./-]+", text("CONTRIBUTING.md"))
    assert len(named) > 8
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_page_is_in_the_table_of_contents() -> None:
    listed = set(re.findall(r"^- \[[^]]+]\((\S+\.md)\)", text("docs/README.md"), re.MULTILINE))
    assert {path.name for path in (ROOT / "docs").glob("*.md")} - listed == {"README.md"}
    assert [name for name in listed if not (ROOT / "docs" / name).exists()] == []


def test_every_page_has_words_by_which_the_search_of_the_site_finds_it() -> None:
    words = tomllib.loads(text("docs/search_words.toml"))["words"]
    assert {f"docs/{path.stem}" for path in (ROOT / "docs").glob("*.md")} - words.keys() == set()
    assert all(words.values())


def test_the_documentation_has_at_most_51_pages_in_four_groups() -> None:
    """Decisions and cards of benchmarks are not counted, this index and the notebook are.

    47 until 0.3: the questions and the page of an own domain are what readers searched for, judges and blame are new.
    """
    pages = [path for path in (ROOT / "docs").iterdir() if path.suffix in (".md", ".ipynb")]
    assert len(pages) <= 51, "merge pages that answer one question"
    groups = re.findall(r"^## (.+)$", text("docs/README.md"), re.MULTILINE)
    assert groups == ["Start", "How to", "Reference", "Why", "Pages that moved"]


def test_pages_that_moved_are_gone_and_lead_to_pages_that_are_there() -> None:
    table = text("docs/README.md").partition("\n| old page | now |\n|---|---|\n")[2]
    rows = re.findall(r"^\| ([\w-]+)\.md \| \[[^]]+]\(([\w-]+)\.md(?:#[\w-]+)?\) \|$", table, re.MULTILINE)
    assert len(rows) == len(table.splitlines()) > 0
    for old, new in rows:
        assert not (ROOT / "docs" / f"{old}.md").exists(), f"{old}.md is there, and said to have moved"
        assert (ROOT / "docs" / f"{new}.md").exists(), f"{old}.md leads to {new}.md, which is not there"


def test_documented_modules_are_there() -> None:
    named = re.findall(r"^- `(wildtool[.\w]*)`: ", text("docs/reference.md"), re.MULTILINE)
    assert len(named) > 10
    assert [name for name in named if find_spec(name) is None] == []


def test_the_picture_of_the_training_loop_shows_the_figures_of_its_table(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import training_loop_picture

    drawn = training_loop_picture.PICTURE.read_text(encoding="utf-8")
    assert drawn == training_loop_picture.drawing(), "run `python docs/training_loop_picture.py`"
