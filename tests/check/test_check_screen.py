"""What `wildtool check` prints, and how it ends."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from check.faulty_endpoint import faults, http_error
from check.test_planted_defects import InProcess
from faults.server import Answer, Call, FaultServer
from wildtool.check import commands
from wildtool.check.defects import DEFECTS
from wildtool.check.report import CheckReport
from wildtool.check.sender import Sender
from wildtool.errors import InfraError, UsageError
from wildtool.models.settings import EndpointOptions


def report_of(**fields: Any) -> CheckReport:
    statuses: Any = dict.fromkeys(DEFECTS, "not tested") | {10: "fit", 29: "fit"} | fields.pop("statuses", {})
    plain: dict[str, Any] = {
        "model": "m`x`",
        "endpoint": "http://m",
        "requests": 7,
        "seconds": 1.26,
        "quick": True,
        "demanded": False,
        "findings": [],
        "remarks": [],
        "dropped": [],
    }
    return CheckReport(**{**plain, "statuses": statuses, **fields})


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
    monkeypatch.setattr(commands, "_sender", sender)
    monkeypatch.setattr(Model, "closed", 0)
    monkeypatch.setenv("COLUMNS", "100")
    return by_address


def check(**options: Any) -> int:
    plain: dict[str, Any] = {
        **dict.fromkeys(("agent", "base_url", "api_key_env", "header", "markdown")),
        **dict.fromkeys(("against", "against_api_key_env", "against_header")),
        "model": "m",
        "quick": True,
        "concurrency": 4,
        "timeout": 120.0,
        "json": False,
        "require_all": False,
    }
    return commands.check(**{**plain, **options})


@pytest.mark.parametrize("is_terminal", [True, False])
def test_the_line_of_progress_is_a_terminals_alone_and_cleared(
    endpoints: Any, monkeypatch: pytest.MonkeyPatch, is_terminal: bool
):
    shown: list[str] = []
    monkeypatch.setattr("wildtool.terminal.print_step", shown.append)
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal)
    assert check() == 0
    numbers = [re.fullmatch(r"m: (\d+) of (\d+) probes", text) for text in shown[:-1]]
    counts = [(int(each[1]), int(each[2])) for each in numbers if each]
    if is_terminal:
        assert [number for number, _ in counts] == list(range(2, len(shown) + 1))
        assert (counts[-1], shown[-1]) == ((len(shown), len(shown)), "")
    else:
        assert shown == []


@pytest.mark.parametrize(("untested", "status"), [([], 0), ([9], 1)])
def test_a_class_that_is_required_and_not_tested_ends_with_status_1(
    endpoints: Any, monkeypatch: pytest.MonkeyPatch, untested: list[int], status: int
):
    async def checked(*words: Any, **options: Any) -> Any:
        return report_of(statuses=dict.fromkeys(DEFECTS, "fit") | dict.fromkeys(untested, "not tested"))

    monkeypatch.setattr("wildtool.check.report.check_endpoint", checked)
    assert check() == 0
    assert check(require_all=True) == status


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


def test_a_defect_is_shown_and_is_the_status(
    endpoints: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    endpoints[""] = Model(faults()["17 refused"])
    page = tmp_path / "check.md"
    assert check(markdown=page) == 1
    assert "17. a malformed call in the history breaks the next request" in capsys.readouterr().out
    assert "**Not fit: 1 defect found.**" in page.read_text("utf-8")
