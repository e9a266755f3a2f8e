"""Code, commands, queries, patterns and formulas: recognised by shape or use, compared letter by letter."""

import time

import pytest

from wildtool.toolcall.text.equivalence import differing_rule

BY_SHAPE = [
    "rm -rf build/A",
    "git checkout Main",
    "cat Notes.txt",
    "echo $HOME > Out.txt",
    "docker run -p 80:80 App",
    "SELECT Name FROM Users",
    "select * from Users where Age > 3",
    "DELETE FROM Logs WHERE id = 7",
    "^[A-Z]+$",
    r"\bFoo\b",
    "(Cat|Dog)s?",
    "print('A')",
    "x = Foo(a)",
    "def F(x): return x",
    "console.log('A');",
    "name == 'Ann'",
    "if X > 1:\n  y()",
    "=SUM(A1:B2)",
    "(A + b) * c",
    '{"a": "B"}',
    '["A", "b"]',
    "<b>Hi</b>",
    "C:\\Temp\\a",
    "src/Main.java",
]
BY_USE = [
    ("colou?R", "x: Regular expression to search for."),
    ("A - b", "equation: The equation to solve."),
    ("pwD", "cmd: Command line to run on the server."),
    ("git push origin Main", "command: The shell command."),
    ("import OS", "code: The Python code to run."),
    ("my docs/Notes.txt", "file_path: Path of the file."),
    ("not Done", "filter: Boolean expression to evaluate."),
    ("ps aux | grep Web", "command: What to run."),
]
PROSE = [
    ("weather in Paris", "query: Search text."),
    ("business casual", "code: Dress code of the evening."),
    ("data scientist", "path: Career path the user asks about."),
    ("polka dots", "pattern: Pattern of the fabric."),
    ("a thriller about a heist", "script: Film script."),
    ("find cheap hotels in Rome", "command: What the assistant is told to do."),
    ("select a hotel from the list", "query: Search text."),
    ("public transport", ""),
    ("import duties", "topic: Topic of the news."),
    ("return ticket", "kind: Kind of ticket."),
    ("see you at 5 - as agreed", "body: Body of the mail."),
    ("python for beginners", "course: Course the user wants."),
    ("shut down the old server", "task: Task for the server team."),
    ("cheap flights to Rome (one way)", "query: Search text."),
]


@pytest.mark.parametrize(("gold", "use"), [*((text, "") for text in BY_SHAPE), *BY_USE])
def test_the_case_of_code_counts_and_blanks_around_it_do_not(gold, use):
    assert differing_rule(gold, gold.swapcase(), use) is not None
    assert differing_rule(gold, f" \t{gold}\r\n", use) is None


@pytest.mark.parametrize("gold", [text for text in BY_SHAPE if len(text) > 5])
def test_no_sign_of_code_may_be_missing(gold):
    for place in range(len(gold)):
        if not gold[place].isspace():
            assert differing_rule(gold, gold[:place] + gold[place + 1 :]), gold[:place]


@pytest.mark.parametrize(("gold", "use"), PROSE)
def test_prose_stays_prose_under_any_name(gold, use):
    assert differing_rule(gold, gold.capitalize() + ".", use) is None


def test_line_ends_of_code_do_not_count_and_its_lines_do():
    assert differing_rule("a = 1\nb = 2", "a = 1\r\nb = 2\r\n") is None
    assert differing_rule("a = 1\nb = 2", "a = 1 b = 2") is not None


def test_json_in_a_text_compares_by_value_and_a_formula_without_blanks():
    assert differing_rule('{"a": 1, "b": [2]}', '{"b":[2],"a":1}') is None
    assert differing_rule('{"a": 1}', '{"a": "1"}') is not None
    assert differing_rule('{"a": 1}', '{"a": true}') is not None
    assert differing_rule("(a + b) * c", "(a+b)*c") is None


@pytest.mark.parametrize(
    "text", ["a-" * 2_400, "(a+" * 1_600, "x " * 2_400 + "=", "a(" * 2_400, "[a" * 2_400, "ab|" * 1_600 + "("]
)
def test_recognition_takes_time_in_proportion(text):
    start = time.process_time()
    differing_rule(text, text + "b")
    assert time.process_time() - start < 1
