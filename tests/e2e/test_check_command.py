"""`wildtool check` as users type it: screen, JSON, page, exit statuses."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from check.faulty_endpoint import HISTORIES, Endpoint, Fault, faults, http_error
from e2e.command import HURRIED, Ended, wildtool
from faults.server import Answer, FaultServer

KEY = "sk-check-77ab10cd"


async def checked(tmp_path: Path, behave: Any, *words: str, **environment: str) -> Ended:
    server = FaultServer("ok")
    server.behave = behave
    async with server:
        address = ("--base-url", server.base_url, "--api-key-env", "PEER_KEY")
        known = {"PEER_KEY": KEY, "COLUMNS": "80", **environment}
        return await wildtool("check", "-m", "m", *address, *words, cwd=tmp_path, **known)


async def test_a_sound_endpoint_ends_with_status_0_within_80_columns(tmp_path: Path):
    ended = await checked(tmp_path, Endpoint(), "--quick")
    assert ended.status == 0, ended.err
    assert "Fit in 39 of 39 classes." in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


async def test_a_log_says_for_how_long_no_answer_came(tmp_path: Path):
    ended = await checked(tmp_path, lambda call: Answer(None), "--quick", "--timeout", "40", **HURRIED)
    # The clock runs faster than the machine writes, so which seconds the lines name differs.
    waited = [
        int(seconds) for seconds in re.findall(r"m: asked, no answer for (\d+) s$", ended.err, re.MULTILINE)
    ]
    assert ended.status != 0 and waited and waited == sorted(waited), ended.err
    assert "\r" not in ended.err


async def test_a_defect_ends_with_status_1_and_is_shown_with_bytes_cause_and_remedy(tmp_path: Path):
    ended = await checked(tmp_path, Endpoint(faults()["13 empty"]), "--quick", "--markdown", "check.md")
    assert ended.status == 1, ended.err
    for text in ("13. arguments are empty in the stream", "received:\n    data: {", "remedy:", "vLLM #55082"):
        assert text in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    page = (tmp_path / "check.md").read_text()
    assert "## 13. arguments are empty in the stream" in page and "data: {" in page


async def test_json_has_every_class_with_what_was_sent_and_received(tmp_path: Path):
    ended = await checked(tmp_path, Endpoint(faults()["17 refused"]), "--quick", "--json")
    report = json.loads(ended.out)
    assert ended.status == 1 and report["fit"] is False
    assert [defect["number"] for defect in report["defects"]] == list(range(40))
    (finding,) = report["defects"][17]["findings"]
    assert "HTTP 500" in finding["received"] and "tool_call_id" in finding["sent"]


async def test_the_verdict_names_what_was_not_tested_and_require_all_fails_on_it(tmp_path: Path):
    # Cut to one call in each reply, with the tokens of one: nothing about parallel calls can be seen.
    def single(made: Any, body: Any) -> None:
        del made.calls[1:]
        made.tokens = 9

    endpoint = Endpoint(Fault(0, change=single))
    ended = await checked(tmp_path, endpoint, "--quick", "--json")
    report = json.loads(ended.out)
    untested = [each["number"] for each in report["defects"] if each["status"] == "not tested"]
    assert (ended.status, report["classes"], report["not_tested"]) == (0, 39, untested)
    assert {2, 3, 4, 14, 16} <= {*untested}
    assert all(report["defects"][number]["why"] for number in untested)
    numbers = ", ".join(map(str, untested))
    verdict = f"Fit in {39 - len(untested)} of 39 classes, {len(untested)} not tested: {numbers}."
    ended = await checked(tmp_path, endpoint, "--quick", "--require-all", "--markdown", "check.md")
    assert ended.status == 1 and verdict in " ".join(ended.out.split())
    assert f"**{verdict}**" in (tmp_path / "check.md").read_text()


async def test_an_endpoint_that_refuses_every_second_step_is_not_fit_and_the_screen_names_it(tmp_path: Path):
    fault = Fault(0, refuse=HISTORIES["last tool"])
    ended = await checked(tmp_path, Endpoint(fault), "--quick")
    text = " ".join(ended.out.split())
    assert ended.status == 1, ended.out
    assert "33. a history that the protocol allows is refused: a tool result as the last message" in text
    assert "HTTP 400: last must not be tool" in text and "Not fit: 1 defect found" in text


async def test_a_key_that_the_server_repeats_is_hidden(tmp_path: Path):
    def repeats_key(made: Any, body: Any) -> None:
        for call in made.calls:
            call["arguments"] = json.dumps({"room": KEY})[:-1]

    ended = await checked(tmp_path, Endpoint(Fault(11, change=repeats_key)), "--quick", "--json")
    assert ended.status == 1 and KEY not in ended.out + ended.err and "[key]" in ended.out


def _silent(made: Any, body: Any) -> None:
    made.calls, made.content, made.finish = [], "I cannot do that.", "stop"


async def test_a_model_that_never_calls_is_not_tested_and_not_fit(tmp_path: Path):
    ended = await checked(tmp_path, Endpoint(Fault(0, change=_silent)), "--quick", "--json")
    report = json.loads(ended.out)
    statuses = {defect["number"]: defect["status"] for defect in report["defects"]}
    # Demanded calls that do not come are the endpoint's fault; all that needs a call stays open.
    assert statuses[18] == "defect" and statuses[10] == statuses[13] == statuses[16] == "not tested"
    assert ended.status == 1


async def test_a_model_that_never_calls_and_no_defect_end_with_status_2(tmp_path: Path):
    def silent(made: Any, body: Any) -> None:
        made.calls, made.content = [], "I cannot do that."
        made.finish = "length" if "tool_choice" in body else "stop"

    ended = await checked(tmp_path, Endpoint(Fault(0, change=silent)), "--quick")
    assert ended.status == 2, ended.out
    assert "the model made no tool call" in " ".join(ended.out.split())


async def test_calls_that_come_only_on_demand_are_checked(tmp_path: Path):
    def shy(made: Any, body: Any) -> None:
        if "tool_choice" not in body:
            _silent(made, body)

    ended = await checked(tmp_path, Endpoint(Fault(0, change=shy)), "--quick", "--json")
    report = json.loads(ended.out)
    assert ended.status == 0 and report["calls_demanded"] is True


@pytest.mark.parametrize("status", [401, 404])
async def test_an_endpoint_that_refuses_everything_ends_with_status_3(tmp_path: Path, status: int):
    ended = await checked(tmp_path, Endpoint(Fault(0, refuse=lambda body: http_error(status, "no"))))
    assert ended.status == 3 and f"HTTP {status}" in ended.err


async def test_nobody_at_the_address_ends_with_status_3(tmp_path: Path):
    ended = await wildtool("check", "-m", "m", "--base-url", "http://127.0.0.1:1/v1", cwd=tmp_path)
    assert ended.status == 3 and "127.0.0.1:1" in ended.err


async def test_a_model_of_another_protocol_is_named_with_what_to_do(tmp_path: Path):
    ended = await wildtool("check", "-m", "baseline/gold", cwd=tmp_path)
    assert ended.status == 2 and "list models --check" in ended.err


async def test_an_endpoint_that_never_answered_is_not_said_to_have_stopped(tmp_path: Path):
    async with FaultServer("ok") as server:
        gone = server.base_url
    ended = await wildtool("check", "-m", "m", "--base-url", gone, cwd=tmp_path)
    assert ended.status == 3
    assert "no longer answers" not in ended.err and "no answer" in ended.err, ended.err
