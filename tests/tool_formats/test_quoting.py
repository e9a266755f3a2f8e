"""Where a text makes a call, only mentions it, or refuses it: `X` stands for the call."""

import pytest

from wildtool.tool_formats.quoting import is_made, is_marked_call, is_refused, sentences

TEXTS = [
    ("X", True, True, False),
    ("I say: X", True, True, False),
    ("I say X", False, True, False),
    ("- X", True, True, False),
    ("1. X", True, True, False),
    ("* **X**", True, True, False),
    ("`X`", True, False, False),
    ("(`X`)", False, False, False),
    ("'X'", False, False, False),
    ('say "X".', False, False, False),
    ("x = X", True, True, False),
    ("return X", True, True, False),
    ("print(X)", False, True, False),
    ("now calling: X", True, True, False),
    ("> X", False, True, False),
    ("Fine. X", True, True, False),
    ("Fine.  X Then more.", True, True, False),
    ("X. Then", True, True, False),
    ("X, then", False, True, False),
    ("X then", False, True, False),
    ("X and 5", False, True, False),
    ("X\n", True, True, False),
    ("X!", True, True, False),
    ("X;", True, True, False),
    ("```\nX\n```", True, True, False),
    ("<a>X</a>", True, True, False),
    ("<a>\nX</a> more", False, True, False),
    ("[X]", False, True, False),
    ("执行X", True, True, False),
    ("好的。X", True, True, False),
    ("I do not X.", False, False, True),
    ("I do not: X", True, True, False),
    ("I refuse. X", True, True, False),
    ("I refuse to call it.\nX", True, True, False),
    ("I refuse to do it:\nX", False, False, True),
    ("Ok:\nX\nI did not run it.", False, False, True),
    ("X. I will not run it.", False, False, True),
    ("X\n\nI do not have more data.", True, True, False),
    ("X\nNot called.", False, False, True),
    ("不执行：X", False, False, True),
    ("没有问题：X", True, True, False),
    ("X，我没有执行", False, False, True),
    ("`X` was left out.", False, False, True),
    ("Never mind. X", True, True, False),
    ("说：「X」", False, False, False),
    ("a" * 500 + "\nX", True, True, False),
    ("not run, " + "a" * 400 + ": X", True, True, True),
    ("...\nX", True, True, False),
    ("Well…X", True, True, False),
    ("1) X", True, True, False),
    ("foo: X", True, True, False),
    ("  X  ", True, True, False),
    ("X`", False, True, False),
    ("*X*", True, True, False),
    ("<a>X</a></b> then", True, True, False),
    ("<a>X</a> then", False, True, False),
    ("I do not run it. But now: X", True, True, False),
    ("X\nDone. I did not run it.", True, True, False),
]
"""Text; whether a call there is made, is one behind a mark, is refused."""


@pytest.mark.parametrize(("text", "made", "marked", "refused"), TEXTS)
def test_a_call_at_this_place_is_made_or_marked_or_refused(
    text: str, made: bool, marked: bool, refused: bool
) -> None:
    start = text.rindex("X")
    assert is_made(text, start, start + 1) is made
    assert is_marked_call(text, start, text[start + 1 :]) is marked
    assert is_refused(text[:start], text[start + 1 :]) is refused


def test_sentences_end_with_their_marks_and_lines() -> None:
    assert sentences("One. Two!\n\nThree 1.5？四。五") == ["One.", " Two!", "Three 1.5？", "四。", "五"]
