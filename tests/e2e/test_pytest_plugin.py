"""The pytest plugin: cases as tests, in a pytest of their own."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import junitparser
import pytest

from e2e.command import Ended, ended, start

PYTEST = Path(sys.executable).with_name("pytest")
TOOLS = files("wildtool.data").joinpath("new_cases", "tools.json").read_text("utf-8")
CASES = """
defaults: {tools: tools.json}
cases:
- id: ask
  input: Where is A-1?
  expect: {get_order: {order_id: A-1}}
  tags: [orders, skip]
- id: thanks
  input: Thanks!
  expect: none
  tags: small
- id: refund
  input: Refund A-2.
  expect: {refund_order: {order_id: A-2, reason: late}}
- id: broken
  input: Be gone.
  expect: none
"""
MODEL = """
import json, pathlib, re

def model(messages, tools):
    text = messages[-1]["content"]
    with pathlib.Path(__file__).with_name("calls.log").open("a") as log:
        log.write(f"{text}\\n")
    if "gone" in text:
        raise ConnectionError("the agent is not there")
    order = re.search(r"A-\\d", text)
    if order is None:
        return "You are welcome."
    function = {"name": "get_order", "arguments": json.dumps({"order_id": order[0]})}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]}

def pytest_wildtool_model(config):
    return model
"""


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("PYTEST_", "WILDTOOL_TRUST"))]:
        monkeypatch.delenv(name)
    Path("tools.json").write_text(TOOLS, "utf-8")
    Path("shop.cases.yaml").write_text(CASES, "utf-8")
    Path("conftest.py").write_text(MODEL, "utf-8")
    Path("pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n", "utf-8")
    yield


async def started(*words: str) -> Ended:
    return await ended(await start(*words, cwd=Path.cwd(), program=PYTEST))


def run_pytest(*words: str) -> tuple[int, str, dict[str, int]]:
    """Exit status, output, and how many tests had which outcome."""
    done = asyncio.run(started("-p", "no:cacheprovider", *words))
    last = done.out.strip().splitlines()[-1]
    counts = {word.rstrip("s"): int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", last)}
    return done.status, done.out, counts


def calls() -> list[str]:
    log = Path("calls.log")
    return sorted(log.read_text("utf-8").split("\n")[:-1]) if log.exists() else []


def test_cases_are_skipped_until_a_model_may_be_called_and_other_tests_run():
    Path("test_own.py").write_text("def test_own(): pass\n")
    status, _, counts = run_pytest()
    assert (status, counts.get("passed"), counts.get("skipped")) == (0, 1, 4)
    assert calls() == []


def test_a_case_is_a_test_and_a_failed_call_is_an_error_and_no_failure():
    status, text, counts = run_pytest("--wildtool-live", "--junitxml=out.xml")
    assert status == 1
    assert (counts.get("passed"), counts.get("failed"), counts.get("error")) == (2, 1, 1)
    assert "other tool: get_order is called; expected refund_order" in text
    suites = junitparser.JUnitXml.fromfile("out.xml")
    (suite,) = list(suites)
    results = {case.name: [type(each).__name__ for each in case.result] for case in suite}
    assert results == {"ask": [], "thanks": [], "refund": ["Failure"], "broken": ["Error"]}


@pytest.mark.parametrize("words", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_each_selected_case_is_asked_once(words: tuple[str, ...]):
    status, _, _ = run_pytest("--wildtool-live", "-k", "not broken and not refund", *words)
    assert status == 0
    assert calls() == ["Thanks!", "Where is A-1?"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("-m", "orders or small"), ["ask", "thanks"]),
        (("-k", "skip"), ["ask"]),
        (("shop.cases.yaml::refund",), ["refund"]),
    ],
    ids=["mark", "keyword", "name"],
)
def test_tags_are_marks_and_keywords(words: tuple[str, ...], found: list[str]):
    _, text, _ = run_pytest("-q", "--collect-only", *words)
    assert re.findall(r"shop\.cases\.yaml::(\w+)", text) == found
    assert calls() == []


@pytest.mark.parametrize("words", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_the_session_ends_with_the_rows_of_all_cases_whichever_worker_ran_them(words: tuple[str, ...]):
    status, text, _ = run_pytest("--wildtool-live", "--wildtool-at-least", "0.6", *words)
    assert status == 1, "a case is wrong"
    rows = dict(re.findall(r"^(\w+) +(.* right \[.*\], \d+/\d+)$", text, re.MULTILINE))
    assert rows.keys() == {"overall", "orders", "skip", "small"}
    assert rows["overall"].startswith("66.7 %") and rows["overall"].endswith("2/3")
    assert "1 try without a verdict" in text
    assert "--wildtool-at-least" not in text, "the share is reached"


FLAKY = """
defaults: {tools: tools.json}
cases:
- {id: thanks, input: Thanks, expect: none, repeat: 2, at_least: 0.5, tags: small}
- {id: again, input: Thank you, expect: none, tags: other}
"""
FLAKY_MODEL = """
def pytest_wildtool_model(config):
    asked = []
    def model(messages, tools):
        asked.append(messages[-1]["content"])
        return "" if asked.count("Thanks") == 1 and asked[-1] == "Thanks" else "You are welcome."
    return model
"""


@pytest.mark.parametrize(
    "words", [(), pytest.param(("-n", "2"), marks=pytest.mark.long)], ids=["alone", "xdist"]
)
@pytest.mark.parametrize(
    ("asked", "named"),
    [
        (["0.6", "other:1"], []),
        (["0.7", "small:0.5", "small:0.6"], ["0.7", "small:0.6"]),
        (["smal:0.5"], ["smal:0.5"]),
    ],
    ids=["reached", "missed", "unknown tag"],
)
@pytest.mark.parametrize("is_setting", [True, False], ids=["setting", "option"])
def test_a_share_that_is_not_reached_ends_the_session_with_1_and_is_named(
    words: tuple[str, ...], asked: list[str], named: list[str], is_setting: bool
):
    Path("shop.cases.yaml").write_text(FLAKY, "utf-8")
    Path("conftest.py").write_text(FLAKY_MODEL, "utf-8")
    if is_setting:
        lines = "".join(f"\n    {each}" for each in asked)
        Path("pytest.ini").write_text(f"[pytest]\nwildtool_at_least ={lines}\n", "utf-8")
    else:
        words = (*words, *(f"--wildtool-at-least={each}" for each in asked))
    status, text, counts = run_pytest("--wildtool-live", *words)
    assert (status, counts.get("passed")) == (1 if named else 0, 2)
    name = "wildtool_at_least" if is_setting else "--wildtool-at-least"
    assert re.findall(rf"^{name} (\S+): ", text, re.MULTILINE) == named


def test_a_share_is_not_asked_of_a_session_that_runs_no_case_unless_its_command_asks():
    Path("pytest.ini").write_text("[pytest]\nwildtool_at_least = 1\n", "utf-8")
    Path("test_own.py").write_text("def test_own(): pass\n")
    assert run_pytest()[0] == 0
    assert run_pytest("--wildtool-live", "test_own.py")[0] == 0
    status, text, _ = run_pytest("--wildtool-live", "test_own.py", "--wildtool-at-least", "1")
    assert status == 1 and "no case was run" in text
    done = asyncio.run(started("--wildtool-at-least", "1"))
    assert done.status == pytest.ExitCode.USAGE_ERROR and "needs --wildtool-live" in done.err


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("-k", "thanks"), 0),
        (("-m", "small"), 0),
        (("shop.cases.yaml::thanks",), 0),
        (("-k", "thanks", "--wildtool-at-least", "orders:0.5"), 1),
        ((), 1),
    ],
    ids=["keyword", "mark", "name", "option", "all"],
)
def test_settings_ask_no_share_of_a_tag_whose_cases_are_not_selected(words: tuple[str, ...], status: int):
    Path("shop.cases.yaml").write_text(FLAKY, "utf-8")
    Path("pytest.ini").write_text("[pytest]\nwildtool_at_least = orders:0.5\n", "utf-8")
    found, text, _ = run_pytest("--wildtool-live", *words)
    assert (found, "unknown tag 'orders'" in text) == (status, status == 1)


def test_a_mistake_in_a_file_ends_the_session_with_its_line():
    Path("shop.cases.yaml").write_text(CASES.replace("expect: none", "expects: none", 1), "utf-8")
    status, text, _ = run_pytest("--wildtool-live")
    assert status == 2
    assert re.search(r"shop\.cases\.yaml:10 expects: .*did you mean 'expect'", text)


def test_nothing_that_a_file_names_is_executed_without_trust():
    Path("shop_tools.py").write_text(
        f"import json, pathlib\npathlib.Path('started').touch()\nTOOLS = json.loads({json.dumps(TOOLS)})\n"
    )
    Path("shop.cases.yaml").write_text(CASES.replace("tools: tools.json", "tools: {python: shop_tools.py}"))
    status, text, counts = run_pytest("--wildtool-live")
    assert (status, counts.get("error")) == (1, 4)
    assert "execute the Python file shop_tools.py" in text
    assert not Path("started").exists() and calls() == []


def test_without_a_case_file_nothing_of_wildtool_is_loaded_but_the_plugin():
    Path("shop.cases.yaml").unlink()
    Path("test_own.py").write_text(
        "import sys\n\ndef test_own():\n"
        "    assert 'wildtool.own_cases.pytest_plugin' in sys.modules\n"
        "    slow = ('wildtool.own_cases.case', 'wildtool.api', 'wildtool.data', 'duckdb')\n"
        "    assert not [name for name in sys.modules if name.startswith(slow)]\n"
    )
    # A new process: what others fork from has loaded all of wildtool.
    done = subprocess.run([PYTEST, "test_own.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
