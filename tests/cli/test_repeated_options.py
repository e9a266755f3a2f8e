"""No option of any verb loses a value to its second use: it takes several, or says that it takes one."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.core import TyperGroup
from typer.testing import CliRunner

from wildtool.cli import OLDER_OPTIONS, Commands, app


def verbs() -> Iterator[tuple[tuple[str, ...], Any]]:
    """Each verb and sub-verb with its command."""

    def below(group: Any, *words: str) -> Iterator[tuple[tuple[str, ...], Any]]:
        commands: Commands = group.commands
        for name in commands.declarations:
            command = commands[name]
            if isinstance(command, TyperGroup):
                yield from below(command, *words, name)
            else:
                yield (*words, name), command

    yield from below(typer.main.get_command(app))


OPTIONS = [
    pytest.param(words, param, id=" ".join((*words, max(param.opts, key=len))))
    for words, command in verbs()
    for param in command.params
    if param.param_type_name == "option" and not param.is_flag and not param.multiple
]


def test_there_are_options_of_many_verbs_to_look_at():
    assert len({tuple(param.values[0]) for param in OPTIONS}) > 30 and len(OPTIONS) > 300  # type: ignore[arg-type]


@pytest.mark.parametrize(("words", "param"), OPTIONS)
@pytest.mark.long
def test_a_second_value_is_refused_by_name(words: tuple[str, ...], param: Any):
    option = max(param.opts, key=len)
    again = [option, *["b"] * param.nargs] if param.nargs > 1 else [f"{option}=b"]
    typed = [*words, option, *["a"] * param.nargs, *again]
    ended = CliRunner().invoke(app, typed, prog_name="wildtool")
    assert ended.exit_code == 2
    assert f"{OLDER_OPTIONS.get(option, option)} is given twice; it takes one value" in ended.output


@pytest.mark.parametrize(
    "words", [["run", "bfcl", "--split", "a", "--split", "b"], ["show", "x", "-p", "a", "-p", "b"]]
)
def test_a_split_or_profile_that_is_named_twice_is_refused(words: list[str]):
    ended = CliRunner().invoke(app, words, prog_name="wildtool")
    assert ended.exit_code == 2
    assert "is given twice; it takes one value" in ended.output


def test_a_flag_may_be_repeated_and_options_of_several_values_too():
    words = ["run", "wild-mini", "--model", "baseline/gold", "--dry-run", "--quiet", "--quiet"]
    assert CliRunner().invoke(app, words, prog_name="wildtool").exit_code == 0
    words = ["run", "wild-mini", "--model", "baseline/gold", "--model", "baseline/chat", "--dry-run", "--ids",
             "wild_mini_0", "--ids", "wild_mini_1"]  # fmt: skip
    assert CliRunner().invoke(app, words, prog_name="wildtool").exit_code == 0
