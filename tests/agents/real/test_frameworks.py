"""The examples of docs/agents.md, as they are written there, each with its framework.

WILDTOOL_FRAMEWORKS names the folder of the environments that `make agents` makes. There are several, since frameworks
want different versions of the same packages.
"""

import json
import os
import re
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import long
from agents.real import odd_tools

FOLDER = os.environ.get("WILDTOOL_FRAMEWORKS", "")
PAGE = Path(__file__).parents[3] / "docs" / "agents.md"
MODULES = {
    "openai-agents": "agents.tool_context",
    "pydantic-ai": "pydantic_ai",
    "langchain": "langchain",
    "adk": "google.adk",
    "smolagents": "smolagents",
    "strands": "strands",
}
"""By form of tools a module that is there with the framework."""
PLAY = """
import json, sys
import wildtool
from example import my_agent
data, model, history, limit, out = json.loads(sys.argv[1])
if model is None:
    from odd_tools import model
run = wildtool.run(
    data, model=model, agent=my_agent, history=history, limit=limit, out=out, quiet=True,
    limits=wildtool.Limits(retries=0), **({"profile": "fixed"} if data == "wild-mini" else {}),
)
print(json.dumps([[row["item"], row["unit"], row["outcome"], row["reason"]] for row in run.verdicts().rows()]))
"""
REWRITTEN: Mapping[str, set[str]] = {
    "langchain": {"nested", "references"},
    "strands": {*odd_tools.CALLS} - {"nothing"},
}
"""Cases whose schemas a framework changes: LangChain drops the title and writes references out; Strands describes each
property that has no description, and adds `required`."""
NOT_EXECUTED: Mapping[str, set[str]] = {
    "smolagents": {"text-for-number", "missing", "extra", "fraction", "null"},
    "strands": {"dot", "long", "chinese"},
}
"""Cases whose calls a framework answers itself: smolagents checks arguments by its own types, Strands names of tools."""
PUT_INTO_AN_OBJECT: Mapping[str, set[str]] = {
    "adk": {case for case, (_, _, result) in odd_tools.CALLS.items() if not result.startswith("{")}
    | {"nothing"},
}
"""Cases whose results the model is shown in another form: ADK's are objects, `{"result": …}` for any other text, and have
a space after each colon."""
each_framework = pytest.mark.parametrize("form", MODULES)


@cache
def python_with(form: str) -> str:
    """The Python of an environment that has a framework. Skips where none has."""
    for python in sorted(Path(FOLDER).absolute().glob("*/bin/python")) if FOLDER else ():
        found = subprocess.run([python, "-c", f"import {MODULES[form]}"], capture_output=True, check=False)
        if found.returncode == 0:
            return str(python)
    return pytest.skip(f"no environment of WILDTOOL_FRAMEWORKS has {form}: `make agents`")


def example(form: str, folder: Path) -> str:
    """Writes the page's example; the Python to play it with."""
    python = python_with(form)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (block,) = [each for each in blocks if f'session.tools("{form}")' in each]
    (folder / "example.py").write_text(block, encoding="utf-8")
    return python


def play(
    python: str, folder: Path, data: str, model: str | None, history: str, limit: int
) -> list[list[str]]:
    """Item, unit, outcome and reason of each unit."""
    given = json.dumps([data, model, history, limit, str(folder / "run")])
    played = subprocess.run(
        [python, "-c", PLAY, given], cwd=folder, capture_output=True, text=True, check=False,
        env={"PATH": "", "HOME": str(folder), "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
    )  # fmt: skip
    assert played.returncode == 0, played.stderr[-3000:]
    return json.loads(played.stdout.splitlines()[-1])


def recorded(folder: Path) -> list[tuple[str, Mapping[str, Any]]]:
    """What the agent did around each reply, by item."""
    lines = (folder / "run" / "record-0001.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [(row["item"], row["message"]["harness"]) for row in rows if row["row"] == "step"]


@each_framework
@pytest.mark.parametrize("history", ["own", "gold"])
def test_gold_goes_through_the_example_to_the_letter(form: str, history: str, tmp_path: Path) -> None:
    verdicts = play(
        example(form, tmp_path),
        tmp_path,
        "wild-mini",
        "baseline/gold",
        history,
        32 if history == "own" else long.a_fiftieth_of(200),
    )
    assert [each for each in verdicts if each[2] != "correct"] == []
    calls = [call for _, harness in recorded(tmp_path) for call in harness.get("calls", ())]
    assert {call["fate"] for call in calls} == {"as said"}


@each_framework
def test_what_a_framework_changes_is_what_is_known_of_it(form: str, tmp_path: Path) -> None:
    python = example(form, tmp_path)
    (tmp_path / "cases.json").write_text(
        json.dumps({"cases": odd_tools.cases()}, ensure_ascii=False), "utf-8"
    )
    (tmp_path / "odd_tools.py").write_text(Path(str(odd_tools.__file__)).read_text("utf-8"), "utf-8")
    play(python, tmp_path, str(tmp_path / "cases.json"), None, "gold", len(odd_tools.CALLS))
    steps = recorded(tmp_path)
    rewritten = {item for item, harness in steps if harness.get("tools", {}).get("changed_schemas")}
    calls = [(item, call) for item, harness in steps for call in harness.get("calls", ())]
    not_executed = {
        item for item, call in calls if call["fate"] in ("answered by the agent", "never arrived")
    }
    shown = {item for item, call in calls if "result" in call} - not_executed
    assert {item for item, _ in calls} == {*odd_tools.CALLS}
    assert {call["fate"] for item, call in calls if item not in not_executed} == {"as said"}
    assert rewritten == REWRITTEN.get(form, set())
    assert not_executed == NOT_EXECUTED.get(form, set())
    assert shown == PUT_INTO_AN_OBJECT.get(form, set())
