"""Texts of strangers reach the terminal as text."""

import pytest

from wildtool.terminal import (
    ellipsize,
    escape_text,
    print_err,
    print_out,
    print_rows,
    single_line,
    terminal_width,
)


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x9b31mred", "\\x9b31mred"),
        ("over\rwritten", "over\\rwritten"),
        ("bell\x07", "bell\\x07"),
        ("abc\u202edef", "abc\\u202edef"),
        ("\ud800", "\\ud800"),
    ],
)
def test_characters_that_act_on_a_terminal_are_shown_as_escapes(hostile: str, shown: str):
    assert escape_text(hostile) == shown


def test_other_scripts_and_symbols_stay_as_they_are():
    assert escape_text("天气 été 👩‍💻 ±5 %") == "天气 été 👩‍💻 ±5 %"


def test_a_cell_has_one_line_and_an_end():
    assert single_line("a\nb\tc") == "a b c"
    assert single_line("x" * 500, 10) == "x" * 9 + "…"


def test_the_middle_of_a_long_text_is_left_out():
    assert ellipsize("abcdefghijkl", 7) == "ab…ijkl"
    assert ellipsize("short\x1b", 20) == "short\\x1b"


def test_whatever_is_printed_is_plain(capsys: pytest.CaptureFixture[str]):
    print_out("\x1b[2J")
    print_err("\x1b]0;title\x07")
    out, err = capsys.readouterr()
    assert (out, err) == ("\\x1b[2J\n", "\\x1b]0;title\\x07\n")


def test_a_remark_wraps_at_the_width_of_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "30")
    remark = "More tables: --all, or --group with one of: accuracy, turns"
    print_err(remark)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    print_err(remark)
    whole, *wrapped = capsys.readouterr().err.splitlines()
    assert whole == remark == " ".join(wrapped) and max(map(len, wrapped)) <= 30


def test_a_text_in_printed_csv_has_one_line_and_is_no_formula(capsys: pytest.CaptureFixture[str]):
    print_rows(["model", "value"], [["=HYPERLINK(1)", -0.5], ["a\nb\x1b", None]])
    assert capsys.readouterr().out == "model,value\n'=HYPERLINK(1),-0.5\na b\\x1b,\n"


def test_without_a_terminal_a_table_may_take_a_hundred_columns(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("os.get_terminal_size", lambda *_: (_ for _ in ()).throw(OSError()))
    assert terminal_width() == 100
    monkeypatch.setenv("COLUMNS", "60")
    assert terminal_width() == 60
