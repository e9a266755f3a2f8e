"""The trajectories page in a browser: found, opened, read by keyboard and on a phone; hostile sessions stay text."""

import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlencode

import pytest

from alter.agent.agent_play import CODEX, PLAIN_STEP, Played
from alter.agent.agent_play import play as play_agent
from e2e.tabs import lent
from report.report_build import ATTACK, Scripted, hostile, play, type_
from wildtool.report import links
from wildtool.report.model import read_runs
from wildtool.report.pages.trajectory_page import trajectory_writer
from wildtool.report.site.site import Site
from wildtool.types import Address, Message

if TYPE_CHECKING:
    from playwright.sync_api import Page

PHONE = {"width": 390, "height": 844}
SCREEN = {"width": 1440, "height": 900}
UNITS = "#trajectories .trajectory-list li a"
PANE = "#trajectories .trajectory"
STATUS = "#trajectories p[role=status]"


@pytest.fixture
def page(tab: "Page", request: pytest.FixtureRequest) -> Iterator["Page"]:
    """A page that must complain of nothing and load nothing but files of the disk."""
    complaints: list[str] = []
    hear: dict[str, Callable[[Any], None]] = {
        "console": lambda said: complaints.append(said.text),
        "pageerror": lambda error: complaints.append(str(error)),
        "dialog": lambda dialog: complaints.append(dialog.message),
        "request": lambda asked: None if asked.url.startswith("file:") else complaints.append(asked.url),
    }
    with lent(tab, getattr(request, "param", SCREEN), hear) as opened:
        yield opened
    assert complaints == []


on_phone = pytest.mark.parametrize("page", [PHONE], indirect=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("site")
    half = Scripted("half", right=lambda address: address.unit in "01")
    folders = [play(place / "gold", "baseline/gold"), play(place / "lexical", "baseline/lexical")]
    return _site(place / "site", [*folders, play(place / "half", half)])


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("attacked")
    return _site(place / "site", [run.folder for run in hostile(place / "runs")])


def _hostile_agent(address: Address, reply: Message, before: Sequence[str]) -> Mapping[str, Any]:
    """An agent whose every text is an attack, and that alters every call."""
    calls = [
        {"id": id_, "name": ATTACK, "fate": "altered", "arguments": ATTACK, "result": ATTACK}
        for id_ in before
    ]
    prompt = {"chars": len(ATTACK), "text": ATTACK}
    return {**PLAIN_STEP, "prompt": prompt, "calls": calls, "end": {"kind": "limit", "detail": ATTACK}}


@pytest.fixture(scope="module")
def agents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hostile agent and its bare model."""
    place = tmp_path_factory.mktemp("agents")
    agent = play_agent(place / "agent", Played(around=_hostile_agent), CODEX, limit=2)
    return _site(place / "site", [play_agent(place / "bare", Played(around=None), limit=2), agent])


def _site(out: Path, folders: list[Path]) -> Path:
    site = Site(out, title="report")
    with trajectory_writer(site, read_runs(folders)):
        pass
    return site.finish(out)


def visit(page: "Page", path: Path, **query: str) -> None:
    page.goto("about:blank")
    page.goto(f"{path.as_uri()}#{urlencode(query)}")
    page.locator(UNITS).first.wait_for(state="attached")
    if "item" in query:
        page.locator(f"{PANE} h2").wait_for()


def found(page: "Page") -> str:
    return page.locator(STATUS).inner_text()


# An agent --------------------------------------------------------------------------------------------


def test_what_an_agent_did_is_folded_beside_each_step_and_call(page: "Page", agents: Path) -> None:
    visit(page, agents, run="1", item="wild_mini_0", unit="0")
    assert page.locator(f"{PANE} .call .aside summary", has_text="altered").count() > 0
    prompt = page.locator(f"{PANE} .aside summary", has_text="the agent's own prompt").first
    assert page.locator(f"{PANE} .aside pre").count() == 0
    prompt.click()
    assert page.locator(f"{PANE} .aside pre").first.inner_text() == ATTACK


def test_the_unit_of_the_bare_model_opens_beside_that_of_its_agent(page: "Page", agents: Path) -> None:
    visit(page, agents, run="1", item="wild_mini_0", unit="0")
    page.get_by_role("link", name="beside the bare model").click()
    page.locator(f"{PANE} .accounts.two").wait_for()
    left, right = page.locator(f"{PANE} .accounts > div").all()
    assert left.locator(".aside").count() > 0 and right.locator(".aside").count() == 0
    assert left.locator(".step").count() == right.locator(".step").count()
    assert "beside=0" in page.url


# The list --------------------------------------------------------------------------------------------


def test_all_units_of_all_runs_are_listed_page_by_page(page: "Page", site: Path) -> None:
    visit(page, site)
    assert found(page) == "48 of 48 units"
    assert page.locator(UNITS).count() == 48


@pytest.mark.long
@pytest.mark.parametrize(
    ("query", "units"),
    [
        ({"run": "0"}, "16 of 16 units"),
        ({"run": "2", "outcome": "wrong"}, "8 of 16 units"),
        ({"run": "0", "group": "position", "value": "1"}, "4 of 16 units"),
        ({"run": "2", "error": "Refusal", "outcome": "correct"}, "No matches"),
        ({"run": "0", "text": "wild_mini_0"}, "4 of 16 units"),
        ({"run": "0", "text": "MISREAD the slip"}, "1 of 16 units"),
    ],
)
def test_an_address_filters_the_list(page: "Page", site: Path, query: dict[str, str], units: str) -> None:
    page.goto(f"{site.as_uri()}#{urlencode(query)}")
    page.locator(STATUS, has_text=units).wait_for()
    assert found(page) == units


@pytest.mark.parametrize(
    ("query", "units"),
    [
        (links.units_of_number(2, ("accuracy", "task")), "8 of 16 units"),
        (links.units_of_number(0, ("accuracy", "task")), "16 of 16 units"),
        (links.units_of_number(2, ("position", "1")), "4 of 16 units"),
        (links.units_of_number(2, ("coverage", "unplayed")), "16 of 16 units"),
        (links.units_of_cell(2, ("accuracy", "task"), ("position", "3")), "4 of 16 units"),
        (links.units_that_differ(2, 0), "8 of 16 units"),
        (links.units_that_differ(2, 0, "lost"), "8 of 16 units"),
        (links.units_that_differ(2, 0, "gained"), "No matches"),
    ],
)
def test_the_link_of_a_number_lists_the_units_behind_it(
    page: "Page", site: Path, query: str, units: str
) -> None:
    page.goto("about:blank")
    page.goto(f"{site.as_uri()}#{query}")
    page.locator(STATUS, has_text=units).wait_for()


def test_a_tool_is_found_where_it_was_called_or_due(page: "Page", site: Path) -> None:
    visit(page, site, run="2", outcome="wrong")
    page.locator("input[name=tool]").fill("prepare_to_answer")
    assert found(page) == "8 of 16 units"
    page.locator("input[name=tool]").fill("no_such_tool")
    assert found(page) == "No matches"


def test_what_is_chosen_stands_in_the_address(page: "Page", site: Path) -> None:
    visit(page, site, run="2")
    page.locator("select[name=outcome]").select_option("wrong")
    assert "outcome=wrong" in page.url


# One unit --------------------------------------------------------------------------------------------


def test_a_unit_has_an_address_of_its_own(page: "Page", site: Path) -> None:
    visit(page, site, run="1", item="wild_mini_1", unit="2", repeat="0")
    assert page.locator(f"{PANE} h2").inner_text().endswith("wild_mini_1 · unit 2")


def test_a_right_unit_shows_every_gold_call_done_at_a_step(page: "Page", site: Path) -> None:
    visit(page, site, run="0", item="wild_mini_0", unit="0")
    assert page.locator(f"{PANE} .gold li.done").count() == page.locator(f"{PANE} .gold li").count() > 1
    assert page.locator(f"{PANE} .gold-graph g.done .sign").first.text_content() == "✓"
    assert page.locator(f"{PANE} .step .note.done").count() == page.locator(f"{PANE} .step").count()


def test_all_profiles_have_their_verdict_and_their_rule(page: "Page", site: Path) -> None:
    visit(page, site, run="2", item="wild_mini_0", unit="2")
    cells = page.locator(f"{PANE} .verdicts tbody th").all_inner_texts()
    assert cells == ["official", "fixed", "paper"]
    assert page.locator(f"{PANE} .verdicts tbody .mark").all_inner_texts() == ["✗"] * 3


def test_a_wrong_argument_is_marked_to_the_character(page: "Page", site: Path) -> None:
    visit(page, site)
    parts = page.evaluate("wildtool.texts.differ('2024-05-17 10:00', '2024-05-11 10:00')")
    assert parts == [
        [["2024-05-1", True], ["7", False], [" 10:00", True]],
        [["2024-05-1", True], ["1", False], [" 10:00", True]],
    ]


def test_a_layer_of_the_graph_stands_below_all_it_needs(page: "Page", site: Path) -> None:
    visit(page, site)
    diamond = "[['a','',[]],['b','',[0]],['c','',[0]],['d','',[1,2]]]"
    assert page.evaluate(f"wildtool.graph.layers({diamond})") == [[0], [1, 2], [3]]


def test_a_graph_with_a_cycle_is_drawn_all_the_same(page: "Page", site: Path) -> None:
    visit(page, site)
    drawn = "wildtool.graph.of([['a','',[1]],['b','',[0]],['c','',[9]]], []).querySelectorAll('g').length"
    assert page.evaluate(drawn) == 3


def test_arguments_are_spread_over_lines_with_every_sign_kept(page: "Page", site: Path) -> None:
    visit(page, site)
    spread = page.evaluate("""wildtool.texts.pretty('{"a": 1.0, "b": [], "c": {"d": "x, {y}"}}')""")
    assert spread == '{\n  "a": 1.0,\n  "b": [],\n  "c": {\n    "d": "x, {y}"\n  }\n}'


def test_two_runs_stand_side_by_side(page: "Page", site: Path) -> None:
    visit(page, site, run="0", item="wild_mini_0", unit="2", beside="2")
    assert page.locator(f"{PANE} .account").count() == 2


def test_keys_lead_from_unit_to_unit_and_back_to_the_list(page: "Page", site: Path) -> None:
    visit(page, site, run="2", outcome="wrong")
    page.keyboard.press("j")
    page.locator(f"{PANE} h2").wait_for()
    first = page.locator(f"{PANE} h2").inner_text()
    page.keyboard.press("j")
    page.wait_for_function("first => document.querySelector('.trajectory h2').innerText !== first", arg=first)
    page.keyboard.press("k")
    page.wait_for_function("first => document.querySelector('.trajectory h2').innerText === first", arg=first)
    page.keyboard.press("u")
    page.locator(PANE).wait_for(state="hidden")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "text"


def test_a_single_file_holds_the_page_and_its_data(page: "Page", tmp_path: Path) -> None:
    site = Site(tmp_path / "parts", title="report", single=True)
    with trajectory_writer(site, read_runs([play(tmp_path / "gold", "baseline/gold")])):
        pass
    path = site.finish(tmp_path / "report.html")
    visit(page, path, run="0", item="wild_mini_0", unit="1")
    assert page.locator(f"{PANE} .gold li.done").count() > 0


@on_phone
def test_list_and_unit_fit_a_phone(page: "Page", site: Path) -> None:
    for query in ({}, {"run": "0", "item": "wild_mini_0", "unit": "0"}):
        visit(page, site, **query)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


# What was sent and what came --------------------------------------------------------------------------

SECRET = "sk-0123456789abcdef0123456789"


class ChatServer(BaseHTTPRequestHandler):
    """Answers each chat completion with a text, its first with a failure; keeps what was asked."""

    asked: ClassVar[list[Any]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(body)
        answer = {
            "choices": [
                {
                    "message": {"role": "assistant", "content": "I’d rather <b>not</b>."},
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 1234, "completion_tokens": 56},
        }
        status, text = (500, b"{}") if len(self.asked) == 1 else (200, json.dumps(answer).encode())
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None: ...


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[Any]]]:
    """A report of a run at an endpoint that was given a key, and the bodies that the endpoint was sent."""
    place = tmp_path_factory.mktemp("asked")
    ChatServer.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), ChatServer)
    Thread(target=server.serve_forever, daemon=True).start()
    base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    words = ["run", "wild-mini", "-m", "it's", "--base-url", base_url, "--limit", "1", "--concurrency", "1"]
    words += [
        "--temperature",
        "0.5",
        "--seed",
        "7",
        "--extra-body",
        '{"top_p": 0.9}',
        "-q",
        "-o",
        str(place / "run"),
    ]
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(1) as thread:
        patch.setenv("OPENAI_API_KEY", SECRET)
        # A browser may have an event loop in this one.
        thread.submit(type_, *words).result()
    server.shutdown()
    yield _site(place / "site", [place / "run"]), ChatServer.asked


def copied(page: "Page", button: str) -> str:
    """What a button copies."""
    keep = "{ writeText: async (text) => { window.copied = text; } }"
    page.evaluate(f"Object.defineProperty(navigator, 'clipboard', {{ value: {keep}, configurable: true }})")
    page.get_by_role("button", name=button, exact=True).first.click()
    page.wait_for_function("window.copied")
    text: str = page.evaluate("window.copied")
    page.evaluate("delete window.copied")
    return text


def test_a_request_is_copied_as_it_was_sent_and_as_a_command_without_a_key(
    page: "Page", asked: tuple[Path, list[Any]]
) -> None:
    site, bodies = asked
    visit(page, site, run="0", item="wild_mini_0", unit="1")
    page.locator(f"{PANE} .call-texts summary").first.click()
    request = json.loads(copied(page, "Copy request as JSON"))
    (sent,) = [body for body in bodies if body["messages"] == request["messages"]]
    assert sent["tools"] == request["tools"]
    head, _, rest = copied(page, "Copy request as curl").partition("\n")
    assert json.loads(rest.removesuffix("\nEND\n")) == sent
    words = shlex.split(head)
    assert words[0] == "curl" and words[1].endswith("/v1/chat/completions")
    assert "Authorization: Bearer $API_KEY" in words and "<<END" in words
    assert json.loads(copied(page, "Copy reply"))["usage"]["completion_tokens"] == 56
    assert not any(SECRET.encode() in path.read_bytes() for path in site.parent.rglob("*") if path.is_file())


def test_a_unit_says_what_it_took_and_how_often_it_was_tried(
    page: "Page", asked: tuple[Path, list[Any]]
) -> None:
    site, _ = asked
    visit(page, site, run="0", item="wild_mini_0", unit="1")
    assert "1,234 + 56 tokens" in page.locator(f"{PANE} .call-texts").first.inner_text()
    texts = [
        (visit(page, site, run="0", item="wild_mini_0", unit=unit), page.locator(PANE).inner_text())[1]
        for unit in "0123"
    ]
    assert sum("2 attempts" in text for text in texts) == 1


def test_a_copied_link_opens_the_same_unit_in_the_same_list(page: "Page", site: Path) -> None:
    visit(page, site, run="2", outcome="wrong", item="wild_mini_1", unit="2", beside="0")
    link = copied(page, "Copy link")
    page.goto("about:blank")
    page.goto(link)
    page.locator(f"{PANE} .accounts.two").wait_for()
    assert page.locator(f"{PANE} h2").inner_text().endswith("wild_mini_1 · unit 2")
    assert found(page) == "8 of 16 units"


def test_a_run_without_an_endpoint_says_why_there_is_no_command(page: "Page", site: Path) -> None:
    visit(page, site, run="1", item="wild_mini_0", unit="0")
    page.locator(f"{PANE} .call-texts summary").first.click()
    page.get_by_text("No curl command: this model is not called over HTTP").first.wait_for()
    assert json.loads(copied(page, "Copy request as JSON"))["messages"]


def test_gold_is_shown_argument_by_argument_beside_what_came(page: "Page", site: Path) -> None:
    visit(page, site, run="1", item="wild_mini_1", unit="0")
    wrong = page.locator(f"{PANE} .gold li.wrong .arguments tr.wrong")
    assert wrong.count() > 0
    assert "found" in wrong.first.inner_text()


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"run": "9"}, "run “9”"),
        ({"run": "0", "number": "no such number"}, "number “no such number”"),
        ({"run": "0", "outcome": "odd"}, "outcome “odd”"),
        ({"run": "0", "item": "gone"}, "item “gone”"),
        ({"run": "0", "beside": "9"}, "beside “9”"),
    ],
)
def test_what_an_address_names_in_vain_is_said(
    page: "Page", site: Path, query: dict[str, str], named: str
) -> None:
    page.goto("about:blank")
    page.goto(f"{site.as_uri()}#{urlencode(query)}")
    page.locator(STATUS, has_text=named).wait_for()


# Hostile sessions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "page",
    [pytest.param(PHONE, id="phone"), pytest.param(SCREEN, id="screen", marks=pytest.mark.long)],
    indirect=True,
)
def test_a_hostile_session_shows_as_text(page: "Page", attacked: Path) -> None:
    for run in ("0", "1"):
        for unit in "0123":
            visit(page, attacked, run=run, item=f"s {ATTACK}", unit=unit)
            for summary in page.locator(f"{PANE} summary").all():
                summary.click()
            assert ATTACK in page.locator(PANE).inner_text()
    assert page.evaluate("window.hacked") is None
    assert page.locator("#trajectories img, #trajectories script").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_long_text_is_cut_until_all_is_asked_for(page: "Page", attacked: Path) -> None:
    visit(page, attacked, run="0", item=f"s {ATTACK}", unit="1")
    reply = page.locator(f"{PANE} .reply")
    assert len(reply.inner_text()) < 10_000
    reply.get_by_role("button").click()
    assert len(reply.text_content() or "") > 1_000_000


def test_signs_that_change_direction_become_their_escapes(page: "Page", attacked: Path) -> None:
    visit(page, attacked, run="0", item=f"s {ATTACK}", unit="1")
    text = page.locator(PANE).text_content() or ""
    assert "\\u202e" in text
    assert "\u202e" not in text


def test_runs_of_two_tables_stand_under_the_names_of_the_tables(page: "Page", tmp_path: Path) -> None:
    folder = play(tmp_path / "gold", "baseline/gold")
    site = Site(tmp_path / "site", title="report")
    with trajectory_writer(site, [*read_runs([folder]), *read_runs([folder], "fixed")]):
        pass
    visit(page, site.finish(tmp_path / "site"))
    groups = page.locator("select[name=run] optgroup").evaluate_all("all => all.map(each => each.label)")
    assert groups == ["wild-mini, profile official", "wild-mini, played official, judged fixed"]
    page.locator("select[name=run]").select_option(index=2)
    assert "run=1" in page.url
