"""TaskBench's original prompt: how its texts are read from the authors' program, filled, and pulled."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.taskbench.plan_build import NAMED_TOOLS, RESOURCE_TOOLS, SINGLE, TIMED, prompt_program
from wildtool.benchmarks.taskbench import TASKBENCH, originals
from wildtool.benchmarks.taskbench.data import Example, Library, TaskRecord, ToolPlan
from wildtool.benchmarks.taskbench.originals import PublishedPrompt, prompt_in_mode, pull_prompt, read_texts
from wildtool.errors import DataError

TEXTS: dict[str, Any] = {
    "heading": "TÖÖLS\n",
    "resource": "Plan {it}.",
    "temporal": "Plan it in time.",
    "between": " -",
    "example": (" ASKED ", " PLANNED "),
    "closing": " NOW {{user_request}}!",
}
PROMPT = PublishedPrompt(*TEXTS.values())


def write(path: Path, program: str) -> Path:
    path.write_text(program, "utf-8")
    return path


def test_the_texts_are_those_given_to_two_variables(tmp_path: Path) -> None:
    program = prompt_program(TEXTS)
    assert read_texts(write(tmp_path / "a.py", program)) == PROMPT
    other = 'other = "x"\n    other += "y"\n    table["prompt"] = "z"\n    prompt_text = "w"\n    '
    disturbed = program.replace("tool_string = ", f"{other}tool_string = ").replace(
        'if dependency_type == "resource":', f'{other}if dependency_type == "resource":'
    )
    assert disturbed.count('other += "y"') == 2
    assert read_texts(write(tmp_path / "b.py", disturbed)) == PROMPT


@pytest.mark.parametrize(
    "change",
    [
        ("def main", "def other"),
        ("async def inference", "async def other"),
        (f"prompt += {TEXTS['closing']!r}", "prompt += 3"),
        (f"prompt += {TEXTS['closing']!r}", "pass"),
        (f"tool_string = {TEXTS['heading']!r}", "pass"),
    ],
)
def test_a_program_that_puts_texts_together_otherwise_is_refused(
    tmp_path: Path, change: tuple[str, str]
) -> None:
    program = prompt_program(TEXTS)
    assert change[0] in program
    path = write(tmp_path / "inference.py", program.replace(*change))
    with pytest.raises(DataError) as error:
        read_texts(path)
    assert str(error.value) == (
        f"{path}: the prompt is not put together as expected; take taskbench/inference.py of microsoft/JARVIS at commit"
        f" {originals.COMMIT}"
    )


def test_a_program_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "inference.py"
    with pytest.raises(DataError) as error:
        read_texts(path)
    assert str(error.value).startswith(f"{path}: cannot be read (")
    path.write_bytes(b"\xff")
    with pytest.raises(DataError) as error:
        read_texts(path)
    assert str(error.value).startswith(f"{path}: cannot be read (")


def test_other_texts_than_the_pinned_ones_are_not_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path))
    (tmp_path / "taskbench").mkdir()
    path = write(tmp_path / "taskbench" / "inference.py", prompt_program(TEXTS))
    assert prompt_in_mode(TASKBENCH.in_mode("graph"), None) is None
    with pytest.raises(DataError) as error:
        prompt_in_mode(TASKBENCH, None)
    assert str(error.value) == (
        f"{path}: not the pinned texts; get the original prompt again with `wildtool data pull taskbench`, or run with"
        " --prompts own"
    )


def record(library: Library, gold: dict[str, Any], *examples: str) -> TaskRecord:
    label = ToolPlan(gold["task_steps"], gold["task_nodes"], gold["task_links"])
    return TaskRecord(
        "Do {{user_request}}.", "single", label, library, tuple(Example(e, label) for e in examples)
    )


def test_a_message_has_tools_goal_examples_and_request() -> None:
    resources, times = (
        Library("multimedia", tuple(RESOURCE_TOOLS), ()),
        Library("dailylifeapis", tuple(NAMED_TOOLS), ()),
    )
    tools = {
        library.domain: "".join(json.dumps(tool) + "\n" for tool in library.tools)
        for library in (resources, times)
    }
    plan = {key: SINGLE[key] for key in ("task_steps", "task_nodes")}
    asked = " NOW Do {{user_request}}.!"
    texts = {
        PROMPT.message(record(resources, SINGLE))[
            "content"
        ]: f"TÖÖLS\n{tools['multimedia']}Plan {{it}}.{asked}",
        PROMPT.message(record(resources, SINGLE, "A?", "B?"))["content"]: (
            f"TÖÖLS\n{tools['multimedia']}Plan {{it}}. - ASKED A? PLANNED {json.dumps(plan)}"
            f" ASKED B? PLANNED {json.dumps(plan)}{asked}"
        ),
        PROMPT.message(record(times, TIMED, "A?"))["content"]: (
            f"TÖÖLS\n{tools['dailylifeapis']}Plan it in time. - ASKED A? PLANNED {json.dumps(TIMED)}{asked}"
        ),
    }
    assert list(texts) == list(texts.values())
    assert PROMPT.message(record(resources, SINGLE))["role"] == "user"
    assert replace(PROMPT, closing="x").digest != PROMPT.digest == PublishedPrompt(*TEXTS.values()).digest


def test_a_pull_brings_the_program_and_the_requests_of_each_domain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WILDTOOL_DATA_DIR", str(tmp_path / "cache"))
    home, lines = tmp_path / "cache" / "taskbench", list[str]()

    def fetched(files: Any, *, folder: Path | None, mirror: str | None, report: Any) -> None:
        names = {str(path.relative_to(home)): (pin.path, pin.other_path) for path, pin in files.items()}
        report(f"{names} from {folder}, {mirror}")

    monkeypatch.setattr(originals, "fetch_all", fetched)
    pull_prompt(tmp_path, None, lines.append)
    assert lines == [
        f"{tmp_path} does not hold the original prompt (inference.py); `wildtool data pull taskbench` fetches it"
    ]
    lines.clear()
    pull_prompt(None, "M", lines.append)
    paths = {
        f"data_{domain}/user_requests.json": (
            f"taskbench/data_{domain}/user_requests.json",
            f"data_{domain}/user_requests.json",
        )
        for domain in ("huggingface", "multimedia", "dailylifeapis")
    }
    names = {"inference.py": ("taskbench/inference.py", "inference.py"), **paths}
    assert lines == [
        f"{names} from None, M",
        "the original prompt is read; `wildtool run … --prompts original` sends it",
    ]
