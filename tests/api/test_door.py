"""Whatever goes wrong at the door of Python is an error of `wildtool.errors`, with words of Python."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import wildtool as wt
from wildtool import errors
from wildtool.api.settings import FIELDS
from wildtool.api.words import in_python, option_of, words_of_the_caller
from wildtool.errors import NoSuchPlaceError, UsageError, WildtoolError
from wildtool.written import COMMAND

TOOL = {"name": "book", "parameters": {"type": "object", "properties": {"day": {"type": "string"}}}}
CALL = {"name": "book", "arguments": {"day": "2026-05-01"}}
anything: Any = wt


def silent(messages: Any, tools: Any) -> str:
    return "x"


def run(**keywords: Any) -> Any:
    return anything.run("wild-mini", **{"model": silent, **keywords})


WRONG: dict[str, Callable[[], Any]] = {
    "no model": lambda: anything.run("wild-mini"),
    "a position": lambda: anything.run("wild-mini", silent),
    "an unknown benchmark": lambda: anything.run("wildmini", model=silent),
    "a sample of one": lambda: run(sample=1),
    "two ways to choose": lambda: run(sample=4, ids=["wild_mini_1"]),
    "data that are not here": lambda: run(data="nofile"),
    "official data that are not here": lambda: anything.load("wildtoolbench"),
    "no key": lambda: run(model="gpt-4o"),
    "no endpoint": lambda: run(model="some-model"),
    "several models in a text": lambda: run(model="a,b"),
    "prompts that nobody wrote": lambda: run(prompts="original"),
    "a sampling that nobody knows": lambda: run(sampling="original"),
    "a deadline in words": lambda: run(deadline="soon"),
    "headers without a sign": lambda: run(header=["X-Team"]),
    "a body that is no JSON": lambda: run(extra_body="{"),
    "batches one by one": lambda: run(limits=wt.Limits(order="prefix", batch=True)),
    "a catalogue that is too small": lambda: run(alterations=wt.Alterations(among=3)),
    "a user where none is": lambda: run(user_model="u"),
    "an option of commands": lambda: run(on="local:2"),
    "a file in place of a folder": lambda: run(out=Path(__file__)),
    "an item that is none": lambda: anything.judge(item=5, replies=["x"], unit=0),
    "no unit": lambda: anything.judge(item=wt.load("wild-mini")[0], replies=["x"]),
    "one reply": lambda: anything.judge(item=wt.load("wild-mini")[0], replies="x", unit=0),
    "positions of judge": lambda: anything.judge(wt.load("wild-mini")[0], ["x"]),
    "positions of check_call": lambda: anything.check_call(TOOL, CALL, CALL),
    "a call in place of a tool": lambda: anything.check_call(tool=CALL, gold=CALL, call=CALL),
    "a name under another key": lambda: anything.check_call(
        tool=TOOL, gold=CALL, call={"tool": "book", "arguments": {}}
    ),
    "one run to compare": lambda: anything.compare("runs/none"),
    "no run": lambda: anything.Run("runs/none"),
    "a number for a folder": lambda: anything.Run(5),
    "a place behind the end": lambda: wt.load("wild-mini")[99],
    "an unknown item": lambda: wt.load("wild-mini")["x"],
    "a limit that nothing keeps": lambda: wt.Limits(timeout=-1),
    "trust in nothing": lambda: anything.trust("none.toml"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_errors_are_of_wildtool_and_name_no_option(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(WildtoolError) as caught:
        WRONG[wrong]()
    assert any(type(caught.value) is each for each in vars(errors).values())
    outside_commands = re.sub(r"`wildtool [^`]*`", "", str(caught.value))
    known = {option_of(name) for name in FIELDS} | {"--model", "-m", "--only-played", "--anyway"}
    assert not known & set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", outside_commands))


@pytest.mark.parametrize("name", FIELDS)
def test_a_message_names_the_field_in_python_and_the_option_in_a_command(name: str) -> None:
    text = f"{option_of(name)} is wrong; leave {option_of(name)} out"
    value = "True" if FIELDS[name].type is bool else ""
    assert in_python(text) == f"{name}={value} is wrong; leave {name}={value} out"
    before = COMMAND.set("run")
    try:
        with pytest.raises(UsageError) as caught, words_of_the_caller():
            raise UsageError(text)
    finally:
        COMMAND.reset(before)
    assert str(caught.value) == text


def test_values_after_an_option_become_values_of_the_keyword() -> None:
    for text, words in {
        "name a file with --data FILE when": "name a file with data=FILE when",
        "add --limit 3.": "add limit=3.",
        "use --prompts own for": 'use prompts="own" for',
        "leave --prompts out": "leave prompts= out",
        "or use `--data wild-mini`": 'or use `data="wild-mini"`',
        "`wildtool score --data x`": "`wildtool score --data x`",
        "give --base-url http://127.0.0.1:8000/v1, or": 'give base_url="http://127.0.0.1:8000/v1", or',
        "no option --of-ours": "no option --of-ours",
        "--limit x: give a number": "limit= x: give a number",
        "no file /tmp/--limit 3": "no file /tmp/--limit 3",
    }.items():
        assert in_python(text) == words


@given(
    st.text(st.characters(exclude_characters="'\"`\n"), max_size=40),
    st.sampled_from([*FIELDS]),
    st.text("a1 -/."),
)
def test_what_is_quoted_in_a_message_stays_as_it_was_given(before: str, name: str, after: str) -> None:
    own = f"{before} {option_of(name)} {after}"
    assert (
        in_python(f"unknown profile '{own}' of --data x.jsonl")
        == f"unknown profile '{own}' of data=\"x.jsonl\""
    )


def test_a_place_behind_the_end_ends_a_loop_as_python_expects() -> None:
    bench = wt.load("wild-mini")
    with pytest.raises(NoSuchPlaceError) as caught:
        bench[len(bench)]
    assert isinstance(caught.value, IndexError)


@pytest.mark.parametrize(
    ("tool", "is_taken"),
    [
        (TOOL, True),
        ({"name": "book", "parameters": {}}, True),
        ({"name": "book", "arguments": {"day": {"type": "string"}}}, True),
        ({"name": "book", "arguments": {"day": "2026-05-01"}}, False),
        ({"name": "book", "parameters": {"day": "2026-05-01"}}, False),
        ({"function": {"name": "book", "arguments": '{"day": "2026-05-01"}'}}, False),
        ({"type": "tool_use", "id": "1", "name": "book", "input": {"day": "2026-05-01"}}, False),
        ({"functionCall": {"name": "book", "args": {"day": "2026-05-01"}}}, False),
    ],
)
def test_a_tool_has_parameters_and_a_call_has_arguments(tool: dict[str, Any], is_taken: bool) -> None:
    if is_taken:
        assert wt.check_call(tool=tool, gold=CALL, call=CALL)
        return
    with pytest.raises(UsageError, match="is a call"):
        wt.check_call(tool=tool, gold=CALL, call=CALL)


def test_printed_scores_fit_a_screen_whatever_a_benchmark_counts(tmp_path: Path) -> None:
    run = wt.run("wild-mini", model=silent, limit=2, out=tmp_path / "run")
    lines = str(run.scores).split("\n")
    assert len(lines) <= 24
    assert max(map(len, lines)) < 80
    assert len(run.scores.table().split("\n")) >= len(run.scores)
