"""Every remedy that a line names is executed as printed, and a number moves or an error goes away."""

import ast
import json
import re
import runpy
import shlex
import subprocess
import threading
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from typer.testing import CliRunner

import wildtool
from check.faulty_endpoint import Endpoint, faults
from e2e.command import COMMAND
from faults.server import Call
from wildtool.advice import REFUSED_FOR_GOOD, Advice
from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.check.defects import DEFECTS, Defect
from wildtool.cli import app
from wildtool.episode import gold_replies
from wildtool.models.prompted import message_as_text, plain_chat
from wildtool.tool_formats import CALL_FORMATS

ROOT = Path(wildtool.__file__).parent
SERVER: Mapping[str, Any] = runpy.run_path(str(ROOT.parents[1] / "docs" / "first_hour.py"))
completion = SERVER["completion"]
HERMES = CALL_FORMATS["hermes"]
Message = dict[str, Any]
Answer = Callable[[int, Message], tuple[int, Message]]
LIMIT = 2
"""Items that each scene runs: 8 units."""


@cache
def gold_answers() -> Mapping[str, Message]:
    """The gold answers by what is asked, natively and in the format hermes."""
    key, rules = SERVER["_key"], WILD_MINI.rules("official")
    answers: dict[str, Message] = {}
    for item in list(WILD_MINI.load(cast(Any, WILD_MINI.data).locate(None)))[:LIMIT]:
        for unit in item.units:
            episode = rules.episode(item, unit)
            for reply in gold_replies(rules.episode(item, unit), "parallel") or ():
                request = episode.request()
                assert request is not None
                answers[key(request.messages)] = reply
                answers[key(plain_chat(request, HERMES)[0])] = message_as_text(reply, HERMES)
                episode.advance(reply)
    return answers


def sound(number: int, gold: Message) -> tuple[int, Message]:
    return completion(gold)


def unread(number: int, gold: Message) -> tuple[int, Message]:
    """As a server without a parser answers."""
    return completion(message_as_text(gold, HERMES))


def refusing(
    status: int, words: str, when: Callable[[int, Message], bool] = lambda number, gold: True
) -> Answer:
    return lambda number, gold: (
        (status, {"error": {"message": words}}) if when(number, gold) else completion(gold)
    )


@dataclass(frozen=True)
class Shown:
    """What a command printed, its lines joined, and how it ended."""

    status: int
    text: str

    @property
    def correct(self) -> int:
        """Correct units in the table."""
        (count,) = re.findall(r"accuracy: task [^/]*?(\d+)/\d+", self.text)
        return int(count)

    def __str__(self) -> str:
        return f"exit status {self.status}: {self.text}"


@dataclass
class Place:
    """A folder with a scripted server, and the commands that were given in it."""

    address: str = ""
    answer: Answer = sound
    options: str = ""
    """Of the last run."""
    runs: int = 0
    refuses: Callable[[Sequence[Message]], str] = lambda messages: ""
    """With which words a history is refused; empty for one that is taken."""

    def reply(self, number: int, gold: Message, messages: Sequence[Message]) -> tuple[int, Message]:
        words = self.refuses(messages)
        return (400, {"error": {"message": words}}) if words else self.answer(number, gold)

    def give(self, line: str) -> Shown:
        ended = CliRunner().invoke(app, shlex.split(line)[1:])
        return Shown(ended.exit_code, " ".join(ended.output.split()))

    def run(self, options: str = "", *, out: str = "r", model: str = "m") -> Shown:
        self.options = options
        where = f"-m {model} --base-url {self.address} -o {out}"
        return self.give(f"wildtool run wild-mini {where} --limit {LIMIT} --retries 0 -j 1 {options}")

    def run_again(self) -> Shown:
        return self.run(self.options)

    def run_elsewhere(self, options: str) -> Shown:
        self.runs += 1
        return self.run(options, out=f"other-{self.runs}")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("SCENE_KEY", "sk-of-a-scene")
    scene = Place()
    scripted = SERVER["serving"](
        lambda number, gold, messages: scene.reply(number, gold, messages), gold_answers()
    )
    with scripted as address:
        scene.address = address
        yield scene


Scene = Callable[[Place], None]
SCENES: dict[Advice, Scene] = {}


def scene(remedy: Advice) -> Callable[[Scene], Scene]:
    def kept(play: Scene) -> Scene:
        SCENES[remedy] = play
        return play

    return kept


def printed(remedy: Advice, shown: Shown, **words: str) -> str:
    """The remedy as a command printed it."""
    text = remedy.format(**words).replace("RUN", "r")
    assert text in shown.text
    return text


def command_in(text: str) -> str:
    """The command that a text names between backticks."""
    return re.findall(r"`(wildtool [^`]+)`", text)[0]


def options_in(text: str) -> str:
    """The options that a text names, with their values."""
    return " ".join(re.findall(r"--(?:tool-format) \S+", text))


@pytest.mark.long
@pytest.mark.parametrize("remedy", Advice, ids=lambda remedy: remedy.name.lower())
def test_a_remedy_helps_where_it_is_named(remedy: Advice, place: Place):
    assert remedy in SCENES, f"{remedy.name} has no scene that names it, executes it and sees it help"
    SCENES[remedy](place)


@scene(Advice.SAME_COMMAND)
def failed_calls_are_asked_for_again(place: Place) -> None:
    place.answer = refusing(503, "gone", lambda number, gold: number > 12)
    before = place.run()
    printed(Advice.SAME_COMMAND, before)
    place.answer = sound
    after = place.run_again()
    assert (before.status, after.status) == (3, 0)
    assert before.correct < after.correct == 8


@scene(Advice.READ_AGAIN)
def calls_in_texts_are_read_in_the_record(place: Place) -> None:
    place.answer = unread
    before = place.run()
    text = printed(Advice.READ_AGAIN, before, format="hermes")
    # The first remedy, in the line while the run goes on and in that below the table.
    assert before.text.count(text) == 2, before
    assert before.text.index(text) < before.text.index("run with --tool-format")
    after = place.give(command_in(text))
    assert "have calls written as text" not in after.text
    (right, of) = re.findall(r"read as hermes, (\d+) of (\d+) units begin with the right call", after.text)[0]
    assert int(right) == int(of) > 0


@scene(Advice.RUN_IN_FORMAT)
def a_run_in_the_format_that_is_named_is_right(place: Place) -> None:
    place.answer = unread
    before = place.run()
    text = printed(Advice.RUN_IN_FORMAT, before, format="hermes")
    assert before.correct < place.run_elsewhere(options_in(text)).correct == 8
    # What a score in a format names for units that nobody finished is the same.
    again = place.give("wildtool score r --tool-format hermes")
    assert printed(Advice.RUN_IN_FORMAT, again, format="hermes") == text


def silent(number: int, gold: Message) -> tuple[int, Message]:
    """A model that calls nothing unless it is asked in text."""
    content = gold.get("content") or "I shall think about it."
    return completion({"content": content} if gold.get("tool_calls") else gold)


@scene(Advice.RUN_IN_AUTO_FORMAT)
def a_model_that_never_calls_is_asked_in_text(place: Place) -> None:
    place.answer = silent
    before = place.run()
    text = printed(Advice.RUN_IN_AUTO_FORMAT, before)
    after = place.run_elsewhere(options_in(text))
    assert "hermes, the commonest" in after.text
    assert before.correct < after.correct == 8


@scene(Advice.READING_SERVER)
def a_server_that_reads_calls_helps(place: Place) -> None:
    place.answer = silent
    before = place.run()
    printed(Advice.READING_SERVER, before)
    place.answer = sound
    assert before.correct < place.run_elsewhere("").correct == 8


@scene(Advice.MORE_TOKENS)
def a_higher_limit_cuts_no_reply(place: Place) -> None:
    place.answer = lambda number, gold: SERVER["cut"](gold)
    before = place.run("--max-tokens 16")
    text = printed(Advice.MORE_TOKENS, before)
    assert before.text.count(text) == 2
    place.answer = sound
    assert before.correct < place.run_elsewhere("--max-tokens 400").correct == 8


@scene(Advice.LONGER_CONTEXT)
def requests_that_were_too_long_are_asked_again(place: Place) -> None:
    place.answer = refusing(400, "This model's maximum context length is 20 tokens.", lambda n, gold: n > 12)
    before = place.run()
    text = printed(Advice.LONGER_CONTEXT, before)
    assert f"{text}, then {Advice.SAME_COMMAND}" in before.text
    place.answer = sound
    after = place.run_again()
    assert before.correct < after.correct == 8


@scene(Advice.FEWER_TOKENS)
def a_lower_limit_leaves_room_for_the_prompt(place: Place) -> None:
    place.answer = refusing(
        400, "maximum context length is 20 tokens, 400 of them reserved", lambda n, gold: n > 12
    )
    before = place.run("--max-tokens 400")
    printed(Advice.FEWER_TOKENS, before)
    place.answer = sound  # as an endpoint that reserves less
    assert before.correct < place.run_elsewhere("--max-tokens 100").correct == 8


@scene(Advice.LONGER_CONTEXT_RUN)
def replies_that_the_context_cut_are_whole_in_a_new_run(place: Place) -> None:
    # 40 tokens are counted of each reply, less than the limit.
    place.answer = lambda number, gold: SERVER["cut"](gold)
    before = place.run("--max-tokens 400")
    printed(Advice.LONGER_CONTEXT_RUN, before)
    place.answer = sound
    assert before.correct < place.run_elsewhere("--max-tokens 400").correct == 8


@scene(Advice.VIEW)
def the_run_is_on_the_page(place: Place) -> None:
    place.answer = lambda number, gold: completion({"content": ""})
    text = printed(Advice.VIEW, place.run())
    words = [COMMAND, *shlex.split(command_in(text))[1:], "--port", "0", "--no-token"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            (address,) = re.findall(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())
            with urllib.request.urlopen(f"{address}runs.json") as page:
                assert json.load(page)["runs"]
        finally:
            process.terminate()


@scene(Advice.CHECK)
def the_check_quotes_such_replies(place: Place) -> None:
    def without_ids(number: int, gold: Message) -> tuple[int, Message]:
        calls = [{"type": "function", "function": call["function"]} for call in gold.get("tool_calls") or ()]
        return completion({**gold, "tool_calls": calls} if calls else gold)

    place.answer = without_ids
    printed(Advice.CHECK, place.run())
    with checked_endpoint("6 no ids") as address:
        shown = place.give(f"wildtool check -m m --base-url {address} --quick")
    assert "defect 6" in shown.text.lower() or re.search(r"\b6\b.*ids? ", shown.text), shown


@scene(Advice.TEST)
def the_check_finds_what_nearly_all_units_fail_by(place: Place) -> None:
    def encoded_twice(number: int, gold: Message) -> tuple[int, Message]:
        return completion(SERVER["with_arguments"](gold, json.dumps))

    place.answer = encoded_twice
    printed(Advice.TEST, place.run("--repeats 2"))  # of few units nothing is concluded
    with checked_endpoint(next(name for name, fault in faults().items() if fault.number == 31)) as address:
        shown = place.give(f"wildtool check -m m --base-url {address} --quick")
    assert "encoded twice" in shown.text, shown
    place.answer = sound
    assert place.run_elsewhere("").correct == 8


@contextmanager
def checked_endpoint(fault: str) -> Iterator[str]:
    """The address of an endpoint with one of the planted defects."""
    behaviour = Endpoint(faults()[fault])

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            return

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.wfile.write(behaviour(cast(Call, SimpleNamespace(body=body))).payload or b"")
            self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


@scene(Advice.RIGHT_KEY)
def the_right_key_is_accepted(place: Place) -> None:
    place.answer = refusing(401, "no")
    before = place.run("--api-key-env SCENE_KEY")
    printed(Advice.RIGHT_KEY, before)
    place.answer = sound
    assert (before.status, place.run_again().correct) == (2, 8)


@scene(Advice.RIGHT_NAME)
def the_right_name_goes_on_in_the_same_folder(place: Place) -> None:
    place.answer = refusing(404, "no such model")
    before = place.run(model="wrong")
    printed(Advice.RIGHT_NAME, before)
    place.answer = sound
    assert (before.status, place.run(model="right").correct) == (2, 8)


@scene(Advice.RIGHT_ADDRESS)
def the_right_address_goes_on_in_the_same_folder(place: Place) -> None:
    right, place.address = place.address, place.address.replace("http://", "https://")
    before = place.run()
    printed(Advice.RIGHT_ADDRESS, before)
    place.address = right
    assert (before.status, place.run().correct) == (2, 8)


@scene(Advice.WITHOUT_NATIVE_CALLS)
def a_request_without_tools_is_taken_in_the_same_folder(place: Place) -> None:
    place.answer = refusing(400, "odd request")
    before = place.run()
    text = printed(Advice.WITHOUT_NATIVE_CALLS, before)
    place.answer = sound
    after = place.run(options_in(text))
    assert (before.status, after.correct) == (2, 8)


@scene(Advice.SERVER_PARSER)
def a_server_without_a_parser_takes_tools_in_the_prompt(place: Place) -> None:
    place.answer = refusing(400, '"auto" tool choice requires --enable-auto-tool-choice')
    before = place.run()
    text = printed(Advice.SERVER_PARSER, before)
    place.answer = sound
    assert (before.status, place.run(options_in(text)).correct) == (2, 8)


@scene(Advice.RESULTS_AS_TEXT)
def a_server_that_takes_no_results_takes_them_as_text(place: Place) -> None:
    def refused(messages: Sequence[Message]) -> str:
        return "unsupported role tool" if any(message["role"] == "tool" for message in messages) else ""

    place.refuses = refused
    before = place.run()
    text = printed(Advice.RESULTS_AS_TEXT, before)
    assert (before.status, place.run_elsewhere(options_in(text)).correct) == (3, 8)


def wanting_reasoning(messages: Sequence[Message]) -> str:
    """As a thinking mode for which an empty reasoning is none."""
    replies = [message for message in messages if message["role"] == "assistant"]
    return "" if all(reply.get("reasoning_content") for reply in replies) else "Missing `reasoning_content`"


@scene(Advice.NO_THINKING)
def without_its_thinking_mode_the_model_answers(place: Place) -> None:
    place.refuses = wanting_reasoning
    before = place.run()
    printed(Advice.NO_THINKING, before)
    assert Advice.SAME_COMMAND not in before.text and Advice.RESULTS_AS_TEXT not in before.text
    place.refuses = lambda messages: ""
    assert (before.status, place.run_again().correct) == (3, 8)


@scene(Advice.SIMPLER_TOOLS)
def tools_without_a_grammar_are_taken_in_the_prompt(place: Place) -> None:
    place.answer = refusing(400, "Failed to initialize samplers: failed to parse grammar")
    before = place.run()
    text = printed(Advice.SIMPLER_TOOLS, before)
    place.answer = sound
    assert (before.status, place.run(options_in(text)).correct) == (2, 8)


@scene(Advice.UNREAD_OUTPUT)
def calls_that_a_server_cannot_read_are_read_here(place: Place) -> None:
    place.answer = refusing(500, "Failed to parse input at pos 395: <|tool_call_start|>[f(a=1)]")
    before = place.run()
    text = printed(Advice.UNREAD_OUTPUT, before)
    place.answer = sound
    assert (before.status, place.run(options_in(text)).correct) == (3, 8)


def final(number: int, gold: Message) -> tuple[int, Message]:
    """As an endpoint that takes no long history."""
    if number > 12:
        return 400, {"error": {"message": "this model answers no later turn"}}
    return completion(gold)


def test_a_refusal_that_would_come_again_is_not_to_be_tried_again(place: Place):
    place.answer = final
    before = place.run()
    assert before.status == 3 and REFUSED_FOR_GOOD in before.text
    assert Advice.SAME_COMMAND not in before.text and "to retry only" not in before.text
    # And it would: the same command is answered the same.
    after = place.run_again()
    assert (after.status, after.correct) == (3, before.correct) and REFUSED_FOR_GOOD in after.text


def test_of_several_failures_those_are_told_that_would_come_again(place: Place):
    place.answer = lambda number, gold: (503, {}) if number % 5 == 0 else final(number, gold)
    before = place.run()
    assert f"of them: {REFUSED_FOR_GOOD}" in before.text and "to retry only the others" in before.text


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        ('"auto" tool choice requires --enable-auto-tool-choice', Advice.SERVER_PARSER),
        ("This model's maximum context length is 20 tokens.", Advice.LONGER_CONTEXT),
        ("Missing `reasoning_content`", Advice.NO_THINKING),
    ],
)
def test_a_refusal_that_names_its_own_remedy_is_given_no_second_one(place: Place, words: str, remedy: Advice):
    """Both would name the same option, or the second would contradict the first."""
    place.answer = refusing(400, words)
    shown = place.run()
    refusal = shown.text.partition("every call was refused")[2]
    assert shown.status == 2 and refusal.count(remedy) == 1
    assert Advice.WITHOUT_NATIVE_CALLS not in refusal


def test_failed_calls_of_imported_replies_are_not_to_be_repeated(place: Place):
    item = next(iter(WILD_MINI.load(cast(Any, WILD_MINI.data).locate(None))))
    rows = {"session": item.id, "model": "m", "tasks": [[{"role": "assistant", "content": "No."}]]}
    Path("replies.jsonl").write_text(json.dumps(rows))
    shown = place.give("wildtool score --data wild-mini --replies replies.jsonl")
    assert shown.status == 0 and "same command" not in shown.text and "--out" not in shown.text


HOMES = (
    "engine/score/trust.py",
    "engine/call/client.py",
    "engine/run/refused_results.py",
    "models/http/hints.py",
    "models/providers/openai_chat.py",
    "cli/output/run_result.py",
)
"""Modules whose texts go below tables, into live lines, and into refusals of endpoints."""
NAMES_OPTION = re.compile(r"\b(?:add|try|use|lower|raise|run with|higher)\b[^.;]*--[a-z]")


@pytest.mark.parametrize("module", HOMES)
def test_what_lines_advise_has_a_scene(module: str):
    """A text that tells to add an option stands in `Advice`, which the scenes above go through."""
    tree = ast.parse((ROOT / module).read_text("utf-8"))
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    known = ("--prices", "--api-key-env")  # costs and keys have tests of their own
    told = [
        text for text in texts if NAMES_OPTION.search(text) and not any(option in text for option in known)
    ]
    assert told == []


OPTIONS_OF_SERVERS = {
    "--tool-call-parser",
    "--enable-auto-tool-choice",
    "--jinja",
    "--reasoning-parser",
    "--reasoning-format",
    "--chat-template",
    "--chat-template-file",
}


@pytest.mark.long
@pytest.mark.parametrize("defect", DEFECTS.values(), ids=lambda defect: str(defect.kind))
def test_an_option_that_the_check_advises_is_one_of_run_or_of_a_server(defect: Defect):
    named = set(re.findall(r"--[a-z][a-z-]+", defect.remedy))
    help_text = CliRunner().invoke(app, ["run", "--help"], env={"COLUMNS": "200"}).output
    assert all(f"{option} " in help_text for option in named - OPTIONS_OF_SERVERS)


STREAMED = {
    name: fault
    for name, fault in faults().items()
    if "until then run without --stream" in DEFECTS[fault.number].remedy
}


@pytest.mark.long
@pytest.mark.parametrize("name", STREAMED)
def test_without_a_stream_the_reply_is_whole_where_the_check_advises_it(name: str):
    asked = {
        "role": "user",
        "content": 'Call set_lamp with arguments {"room": "den"} and stop without arguments.',
    }
    functions = [{"type": "function", "function": {"name": name}} for name in ("set_lamp", "stop")]
    body = {"messages": [asked], "tools": functions}
    answers = [
        Endpoint(fault)(cast(Call, SimpleNamespace(body=body))).payload for fault in (STREAMED[name], None)
    ]
    assert answers[0] == answers[1]
