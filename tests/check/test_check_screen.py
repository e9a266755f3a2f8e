"""What `wildtool check` prints, and how it ends."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from check.faulty_endpoint import faults, http_error
from check.test_answers import AGREEMENT, raw, report_of
from check.test_planted_defects import InProcess
from faults.server import Answer, Call, FaultServer
from wildtool.check import command
from wildtool.check.ledger import DefectFinding
from wildtool.check.probes import probes
from wildtool.check.sender import Sender
from wildtool.errors import InfraError, UsageError
from wildtool.models.settings import EndpointOptions


class Model(InProcess):
    closed = 0

    async def close(self) -> None:
        Model.closed += 1


@pytest.fixture
def endpoints(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Models by address; the first is that of the check."""
    by_address: dict[str, Any] = {"": Model()}

    def sender(name: str, endpoint: EndpointOptions, concurrency: int) -> Any:
        url = endpoint.base_url
        asked.append((name, url, endpoint.api_key_env, concurrency, endpoint.timeout_s))
        address = url or (name if name in by_address else "")
        return Sender(
            name, by_address[address], concurrency=concurrency
        ), address if "//" in address else "http://m"

    asked: list[Any] = []
    by_address["asked"] = asked
    monkeypatch.setattr(command, "_sender", sender)
    monkeypatch.setattr(Model, "closed", 0)
    monkeypatch.setenv("COLUMNS", "100")
    return by_address


def check(**options: Any) -> int:
    plain: dict[str, Any] = {
        **dict.fromkeys(("base_url", "api_key_env", "header", "markdown")),
        **dict.fromkeys(("against", "against_api_key_env", "against_header")),
        "model": "m",
        "quick": True,
        "concurrency": 4,
        "timeout": 120.0,
        "json": False,
    }
    return command.check(**{**plain, **options})


def without_time(text: str) -> str:
    """The text up to the seconds that it took."""
    return text.rpartition(" requests in ")[0]


def test_a_sound_endpoint_is_fit(endpoints: Any, capsys: pytest.CaptureFixture[str]):
    assert check() == 0
    text = without_time(capsys.readouterr().out)
    assert text.splitlines() == [
        "m at http://m",
        "",
        "#   defect                                                               result",
        "───────────────────────────────────────────────────────────────────────────────",
        "1   the stream drops a call without arguments                               fit",
        "2   after a call without arguments the stream drops arguments               fit",
        "3   the second of two calls is broken in the stream                         fit",
        "4   all calls of a stream have the same index                               fit",
        "5   `index` is missing in the deltas of calls                               fit",
        "6   call ids are missing or equal                                           fit",
        "7   the finish reason denies the calls                                      fit",
        "8   `finish_reason` is `tool_calls` and no call comes                       fit",
        "9   text beside a call is dropped in one form                               fit",
        "10  `arguments` is not a JSON text                                          fit",
        "11  arguments end with a brace too many or too few                          fit",
        "12  values change their type in the stream                                  fit",
        "13  arguments are empty in the stream                                       fit",
        "14  a call without arguments swallows the calls after it                    fit",
        "15  malformed JSON for optional integers                                    fit",
        "16  parallel calls are lost                                                 fit",
        "17  a malformed call in the history breaks the next request                 fit",
        "18  `tool_choice` is ignored                                                fit",
        "19  a reply cut by the token limit passes as a complete call                fit",
        "20  calls come as plain text                                                fit",
        "21  reasoning leaks into the text, or a call in it is made                  fit",
        "22  parts of tool schemas are refused or dropped                            fit",
        "23  names with dots, dashes or 65 characters are refused or changed         fit",
        "24  text that is not ASCII is broken                                        fit",
        "25  results in the history are refused or mixed up                          fit",
        "26  system prompt or tools vanish from the second turn on                   fit",
        "27  usage is missing, zero or counted twice                                 fit",
        "28  replies depend on other requests                                        fit",
        "29  an error comes with HTTP 200                                            fit",
        "30  long arguments are cut or refused                                not tested",
        "",
        "",
        "Not tested: 30: the model did not make the call that was requested.",
        "Fit: none of the 29 defects that could be tested was found. 97",
    ]
    assert endpoints["asked"] == [("m", None, None, 4, 120.0)]
    assert Model.closed == 1


def test_a_defect_is_shown_and_is_the_status(
    endpoints: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    endpoints[""] = Model(faults()["17 refused"])
    page = tmp_path / "check.md"
    assert check(markdown=page) == 1
    text = without_time(capsys.readouterr().out).partition("17. ")[2].partition("Not tested: ")
    shown = [line for line in text[0].splitlines() if not line.startswith("  ")]
    assert shown == [
        "a malformed call in the history breaks the next request: a history with a malformed call is",
        "refused (1 whole reply, probe 'history, malformed call')",
        "",
    ]
    assert page.read_text("utf-8").startswith(
        "<!-- written by wildtool check -->\n# Check of ``m`` at ``http://m``\n\n**Not fit: 1 defect found.**"
    )


def test_everything_is_json(endpoints: Any, capsys: pytest.CaptureFixture[str]):
    assert check(json=True) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["fit"], content["quick"], content["requests"]) == (True, True, len(endpoints[""].bodies))


def test_another_endpoint_is_compared(endpoints: Any, capsys: pytest.CaptureFixture[str]):
    endpoints["http://peer/v1"] = endpoints["peer"] = Model()
    status = check(against="http://peer/v1", against_api_key_env="KEY")
    text = without_time(capsys.readouterr().out).splitlines()[-8:]
    assert (status, text) == (
        2,
        [
            "Not tested: 30: the model did not make the call that was requested.",
            "Compared with http://peer/v1",
            "",
            "the same  answers  95 % interval  when repeated",
            "───────────────────────────────────────────────",
            "",
            "Not compared with http://peer/v1: neither called a tool in any of 32 requests.",
            "Fit: none of the 29 defects that could be tested was found. 193",
        ],
    )
    assert endpoints["asked"][1] == ("m", "http://peer/v1", "KEY", 4, 120.0)
    assert Model.closed == 2
    assert len(endpoints["peer"].bodies) == 32
    check(against="peer")
    assert endpoints["asked"][3] == ("peer", None, None, 4, 120.0)


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({}, 0),
        ({"statuses": {10: "not tested"}}, 2),
        ({"statuses": {3: "defect"}}, 1),
        ({"agreement": {**AGREEMENT, "same": True}}, 0),
        ({"agreement": {**AGREEMENT, "same": False}}, 1),
        ({"agreement": {**AGREEMENT, "same": None}}, 2),
        ({"statuses": {3: "defect"}, "agreement": {**AGREEMENT, "same": None}}, 1),
    ],
)
def test_the_status_says_what_was_found(
    endpoints: Any, monkeypatch: pytest.MonkeyPatch, fields: Any, status: int
):
    async def checked(*words: Any, **options: Any) -> Any:
        return report_of(**fields)

    monkeypatch.setattr("wildtool.check.report.check_endpoint", checked)
    assert check() == status


def test_findings_and_agreement_are_printed(
    endpoints: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    findings = [
        DefectFinding(7, "odd", [raw(True, raw=b"data: x " * 30)]),
        DefectFinding(12, "late", [raw(raw=b"y"), raw(True)]),
    ]
    made = report_of(
        statuses={7: "defect", 12: "defect"},
        findings=findings,
        remarks=["A remark."],
        agreement={**AGREEMENT, "same": True},
    )

    async def checked(*words: Any, **options: Any) -> Any:
        return made

    monkeypatch.setattr("wildtool.check.report.check_endpoint", checked)
    assert check() == 1
    text = capsys.readouterr().out
    assert text.splitlines() == [
        "m`x` at http://m",
        "",
        "#   defect                                                               result",
        "───────────────────────────────────────────────────────────────────────────────",
        "1   the stream drops a call without arguments                        not tested",
        "2   after a call without arguments the stream drops arguments        not tested",
        "3   the second of two calls is broken in the stream                  not tested",
        "4   all calls of a stream have the same index                        not tested",
        "5   `index` is missing in the deltas of calls                        not tested",
        "6   call ids are missing or equal                                    not tested",
        "7   the finish reason denies the calls                                   defect",
        "8   `finish_reason` is `tool_calls` and no call comes                not tested",
        "9   text beside a call is dropped in one form                        not tested",
        "10  `arguments` is not a JSON text                                          fit",
        "11  arguments end with a brace too many or too few                   not tested",
        "12  values change their type in the stream                               defect",
        "13  arguments are empty in the stream                                not tested",
        "14  a call without arguments swallows the calls after it             not tested",
        "15  malformed JSON for optional integers                             not tested",
        "16  parallel calls are lost                                          not tested",
        "17  a malformed call in the history breaks the next request          not tested",
        "18  `tool_choice` is ignored                                         not tested",
        "19  a reply cut by the token limit passes as a complete call         not tested",
        "20  calls come as plain text                                         not tested",
        "21  reasoning leaks into the text, or a call in it is made           not tested",
        "22  parts of tool schemas are refused or dropped                     not tested",
        "23  names with dots, dashes or 65 characters are refused or changed  not tested",
        "24  text that is not ASCII is broken                                 not tested",
        "25  results in the history are refused or mixed up                   not tested",
        "26  system prompt or tools vanish from the second turn on            not tested",
        "27  usage is missing, zero or counted twice                          not tested",
        "28  replies depend on other requests                                 not tested",
        "29  an error comes with HTTP 200                                            fit",
        "30  long arguments are cut or refused                                not tested",
        "",
        "",
        "7. the finish reason denies the calls: odd (1 streamed reply, probe 'p')",
        "  sent:",
        '    {"stream":true}',
        "  received:",
        "    data: x data: x data: x data: x data: x data: x data: x data: x data: x data: x data: x data: x",
        "    data: x data: x data: x data: x data: x data: x data: x data: x data: x data: x data: x data: x",
        "    data: x data: x data: x data: x data: x data: x",
        "  in a run: agents that read it stop before they call; wildtool reads the calls",
        "  cause: the server maps the model's stop token",
        "  remedy: update the server or gateway",
        "  seen in: mlx-vlm #1014, LiteLLM #12481, SGLang #2877",
        "",
        "12. values change their type in the stream: late (2 streamed and whole replies, probe 'p')",
        "  sent:",
        '    {"stream":false}',
        "  received:",
        "    y",
        "  in a run: argument types count as wrong",
        "  cause: the stream parser of models that write calls as XML",
        "  remedy: update the server; until then run without --stream",
        "  seen in: SGLang #35564 (GLM)",
        "",
        "Not tested: 1, 5, 6, 11, 13, 15, 23, 24, 28, 30: the model did not make the call that was requested.",
        "Not tested: 2, 3, 4, 14, 16: no complete reply had several calls.",
        "Not tested: 8: no reply named its finish reason.",
        "Not tested: 9: no reply had text beside a call.",
        "Not tested: 17: the same history with sound JSON was not answered either.",
        "Not tested: 18, 27: no reply was complete.",
        "Not tested: 19: no reply was cut.",
        "Not tested: 20: no reply had a call.",
        "Not tested: 21: the model showed no reasoning.",
        "Not tested: 22: no request with a plain tool was answered.",
        "Not tested: 25: the history in order was not answered rightly.",
        "Not tested: 26: no two turns were answered with prompt tokens that can be compared.",
        "A remark.",
        "Compared with peer",
        "",
        "the same  answers   95 % interval  when repeated",
        "────────────────────────────────────────────────",
        "names      3 of 4  25.0 to 90.0 %         4 of 4",
        "",
        "Same *here*.",
        "Not fit: 2 defects found. 7 requests in 1 s.",
    ]


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_is_shown_on_a_terminal_alone_and_cleared(
    endpoints: Any, monkeypatch: pytest.MonkeyPatch, is_terminal: bool
):
    shown: list[str] = []
    monkeypatch.setattr("wildtool.cli.terminal.print_step", shown.append)
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal)
    assert check() == 0
    count = 1 + len(probes(quick=True, load=8))
    steps = [*(f"{number} of {count} probes" for number in range(2, count + 1)), ""]
    assert shown == (steps if is_terminal else [])


async def test_the_address_is_asked_with_its_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PEER_KEY", "sk-check-1")
    keys: list[str] = []

    def refuse(call: Call) -> Answer:
        keys.append(call.authorization)
        return http_error(401, "no")

    async with FaultServer("ok") as server:
        server.behave = refuse
        with pytest.raises(InfraError) as lost:
            await asyncio.to_thread(check, base_url=server.base_url, api_key_env="PEER_KEY")
    assert keys == ["Bearer sk-check-1"] * 6
    assert str(lost.value) == f"m: {server.base_url}/chat/completions: HTTP 401: no"


def test_the_address_of_a_known_name_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-check-1")
    asked: list[Any] = []

    async def checked(sender: Sender, endpoint: str, **options: Any) -> Any:
        asked.append((sender.name, endpoint, options["quick"], options["load"]))
        return report_of()

    monkeypatch.setattr("wildtool.check.report.check_endpoint", checked)
    assert (check(model="gpt-4.1"), check(base_url="http://a/v1", quick=False)) == (0, 0)
    assert asked == [("gpt-4.1", "https://api.openai.com/v1", True, 8), ("m", "http://a/v1", False, 32)]
    assert capsys.readouterr().err == (
        "gpt-4.1 is called at https://api.openai.com/v1 (the same as openai-chat/gpt-4.1); for another endpoint give "
        "--base-url URL\n"
    )


def test_a_page_that_wildtool_did_not_make_is_kept_and_nothing_is_sent(
    endpoints: dict[str, Any], tmp_path: Path
):
    page = tmp_path / "check.md"
    page.write_text("mine")
    with pytest.raises(UsageError, match="is there already, and wildtool did not make it"):
        check(markdown=page)
    assert (page.read_text(), endpoints["asked"]) == ("mine", [])
