"""Texts of strangers reach the terminal as text."""

import pytest

from wildtool.cli.terminal import (
    CappedMessages,
    ellipsize,
    escape_text,
    format_duration,
    format_reason,
    print_err,
    print_out,
    print_rows,
    print_step,
    print_wrapped,
    single_line,
    supports_bold,
    terminal_width,
    wrap_text,
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


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (89, "89 s"),
        (90, "1.5 min"),
        (120, "2 min"),
        (594, "9.9 min"),
        (600, "10 min"),
        (5399, "90 min"),
        (5400, "1.5 h"),
        (36_000, "10 h"),
        (90_000, "25 h"),
    ],
)
def test_a_time_is_said_roughly(seconds: float, words: str):
    assert format_duration(seconds) == words


def test_lines_wrap_at_spaces_keep_their_lead_and_no_long_word_is_broken():
    assert wrap_text("one two three", 7) == ["one two", "three"]
    assert wrap_text("  one two three", 9) == ["  one two", "  three"]
    assert wrap_text("  one two three", 8, "- ") == ["  one", "  - two", "  - three"]
    assert wrap_text("a-very-long-word b", 5) == ["a-very-long-word", "b"]
    assert wrap_text("天气 天气", 5) == ["天气", "天气"]
    assert wrap_text("", 5) == [""]


def test_a_command_in_backticks_is_not_wrapped_where_it_fits(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "20")
    print_wrapped("Run it with `wildtool run`, or `wildtool show runs now`.\nSecond.")
    assert capsys.readouterr().out == "Run it with\n`wildtool run`, or\n`wildtool show runs\nnow`.\nSecond.\n"


def test_of_many_remarks_the_first_are_printed_and_the_others_counted(capsys: pytest.CaptureFixture[str]):
    for count, closing in ((2, ""), (3, "… and 1 more like these\n")):
        remarks = CappedMessages(2)
        for number in range(count):
            remarks(f"a\nb {number}")
        remarks.close()
        assert capsys.readouterr().err == f"a b 0\na b 1\n{closing}"


def test_a_step_takes_the_line_of_the_last_one(capsys: pytest.CaptureFixture[str]):
    print_step("x" * 71)
    print_step("")
    assert capsys.readouterr().err == f"\r\x1b[K{'x' * 69}…\r\x1b[K"


def test_bold_is_for_terminals_that_can_print_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert not supports_bold()
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert supports_bold() is True
    monkeypatch.setenv("NO_COLOR", "1")
    assert not supports_bold()
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not supports_bold()


def test_without_a_terminal_a_table_may_take_a_hundred_columns(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("os.get_terminal_size", lambda *_: (_ for _ in ()).throw(OSError()))
    assert terminal_width() == 100
    monkeypatch.setenv("COLUMNS", "60")
    assert terminal_width() == 60


def test_a_reason_is_whole_unless_it_is_extreme():
    assert format_reason("a\n" * 400) == "a " * 400
    assert len(format_reason("word " * 400)) < 1_100
