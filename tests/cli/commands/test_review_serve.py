"""`wildtool review SET` as a command: what it refuses, who gets in by TLS, and how it stops."""

import asyncio
import http.client
import json
import shutil
import signal
import ssl
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from typer.main import get_command
from typer.testing import CliRunner, Result

from e2e.command import COMMAND
from review.made_sets import tiny_records
from wildtool.cli import app
from wildtool.report.commands import view
from wildtool.report.server import serving as serving_module
from wildtool_review.sets import open_review

SECRET = "Tell me about number 0."
CERTIFICATE = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost "
    "-addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout key.pem -out cert.pem"
)


def write_set(folder: Path, number: int = 2) -> Path:
    path = folder / "set.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in tiny_records(number)))
    return path


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a certificate that signs itself, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl, which makes certificates")
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(CERTIFICATE.split(), cwd=folder, check=True, capture_output=True)
    return folder


# Refusals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--host 0.0.0.0", "can be reached by other machines. People sign in there"),
        ("--host ::", "can be reached by other machines"),
        ("--max-cost 1", "name a model, too"),
        ("--model gpt-4o --max-cost nan", "--max-cost is nan"),
        ("--host 192.0.2.1 --as me", "can be reached by other machines"),
        ("--host no-such-host.invalid", "no such host"),
        ("--tls-cert cert.pem", "--tls-cert and --tls-key belong together"),
        ("--tls-key key.pem", "--tls-cert and --tls-key belong together"),
        ("--host 0.0.0.0 --tls-cert no.pem --tls-key no.pem", "--tls-cert no.pem: cannot be used"),
        ("--tls-cert set.jsonl --tls-key set.jsonl", "--tls-cert set.jsonl: cannot be used"),
        ("--behind-proxy http://review.example.org", "--behind-proxy http://review.example.org: expected"),
        ("--behind-proxy https://review.example.org/path", "without a path"),
    ],
)
def test_what_would_let_others_in_unprotected_is_refused_before_the_set_is_read(
    options: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    write_set(tmp_path)
    ended = CliRunner().invoke(app, ["review", "set.jsonl", "--port", "0", *options.split()])
    assert ended.exit_code == 2
    assert said in ended.stderr
    assert not list(tmp_path.glob("*.sqlite"))


def test_who_reviews_is_a_person_of_the_review_and_nobody_where_people_sign_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, certificate: Path
):
    monkeypatch.chdir(tmp_path)
    write_set(tmp_path)
    for line in ("start set.jsonl", "people add set.jsonl ann"):
        assert CliRunner().invoke(app, ["review", *line.split()]).exit_code == 0
    tls = f"--tls-cert {certificate / 'cert.pem'} --tls-key {certificate / 'key.pem'}"
    for options, said in (
        ("--as anm", "did you mean 'ann'"),
        (f"--as ann {tls}", "--as is for one person without sign-in"),
        (f"--no-token {tls}", "--no-token is for one person without sign-in"),
    ):
        ended = CliRunner().invoke(app, ["review", "set.jsonl", "--port", "0", *options.split()])
        assert (ended.exit_code, said in ended.stderr) == (2, True), ended.stderr


def test_an_empty_set_and_a_misspelt_command_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    write_set(tmp_path, 0)
    for line, said in (
        ("set.jsonl --port 0", "set.jsonl: there is nothing to review in it"),
        ("sttart set.jsonl", "No such command 'sttart'"),
    ):
        ended = CliRunner().invoke(app, ["review", *line.split()])
        assert (ended.exit_code, said in ended.stderr) == (2, True), ended.stderr
    assert not list(tmp_path.glob("*.sqlite"))


def test_a_port_in_use_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with serving(monkeypatch, str(write_set(tmp_path)), "--no-check") as server:
        port = str(urlsplit(server.address).port)
        ended = CliRunner().invoke(app, ["review", str(tmp_path / "set.jsonl"), "--port", port])
    assert (ended.exit_code, "--port 0 picks a free one" in ended.stderr) == (2, True)


# Signing in -------------------------------------------------------------------------------------------------


@dataclass
class Server:
    """A running command, asked just as it is written here."""

    address: str
    ended: "Future[Result]"
    trust: ssl.SSLContext | None = None

    def ask(
        self, path: str, body: Any = None, *, host: str = "", **headers: str
    ) -> tuple[int, http.client.HTTPMessage, str]:
        """Status, headers and text of the answer; a body is posted, with the page's own origin if none is named."""
        where = urlsplit(self.address)
        assert where.hostname and where.port
        connection = (
            http.client.HTTPSConnection(where.hostname, where.port, context=self.trust)
            if self.trust
            else http.client.HTTPConnection(where.hostname, where.port)
        )
        sent = {
            "Host": host or where.netloc,
            **{name.replace("_", "-"): text for name, text in headers.items()},
        }
        if body is not None:
            sent = {"Origin": self.address.rstrip("/"), "Content-Type": "application/json", **sent}
        connection.request("POST" if body is not None else "GET", path, body and json.dumps(body), sent)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, answer.headers, text


@contextmanager
def serving(
    patch: pytest.MonkeyPatch, *words: str, trust: ssl.SSLContext | None = None, captured: bool = True
) -> Iterator[Server]:
    """`wildtool review WORDS` in a thread, until the end of the block instead of SIGTERM.

    Args: captured: whether nothing else prints meanwhile, so that what it says can be had.
    """
    stop, address, ended = threading.Event(), Future[str](), Future["Result"]()

    async def wait() -> None:
        await asyncio.to_thread(stop.wait)

    def run() -> None:
        line = [
            "review",
            *words,
            "--port",
            "0",
            "--open",
            *([] if "--tls-cert" in words or "--behind-proxy" in words else ["--no-token"]),
        ]
        if captured:
            ended.set_result(CliRunner().invoke(app, line))
        else:
            get_command(app).main(line, "wildtool", standalone_mode=False)
        if not address.done():
            address.set_exception(AssertionError(ended.result().output if captured else line))

    patch.setattr(serving_module, "wait_for_sigterm", wait)
    patch.setattr(view, "open_in_browser", address.set_result)
    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield Server(address.result(60), ended, trust)
    finally:
        stop.set()
        thread.join()


@pytest.fixture(scope="module")
def team(certificate: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    """A review by TLS in which ann has a token."""
    data = write_set(tmp_path_factory.mktemp("team"))
    token = ""
    for line in (["start", str(data)], ["people", "add", str(data), "ann"]):
        token = CliRunner().invoke(app, ["review", *line]).stdout.strip()
    trust = ssl.create_default_context(cafile=certificate / "cert.pem")
    tls = ("--tls-cert", str(certificate / "cert.pem"), "--tls-key", str(certificate / "key.pem"))
    with (
        pytest.MonkeyPatch.context() as patch,
        serving(patch, str(data), "--host", "localhost", *tls, trust=trust, captured=False) as server,
    ):
        yield server, token


READS = ("/api/review", "/api/checks", "/api/queue?queue=all", "/api/item?id=s0", "/api/figures")


def test_people_sign_in_by_tls_with_a_cookie_that_only_their_browser_has(team: tuple[Server, str]):
    server, token = team
    assert server.address.startswith("https://localhost:")
    status, headers, _ = server.ask("/api/sign-in", {"token": token})
    cookie, *flags = [part.strip() for part in str(headers["Set-Cookie"]).split(";")]
    assert status == 200
    assert cookie.startswith("__Host-")
    assert {"Secure", "HttpOnly", "SameSite=Strict", "Path=/"} <= set(flags)
    assert not any(flag.lower().startswith("domain") for flag in flags)
    for path in READS:
        assert server.ask(path, Cookie=cookie)[0] == 200
    assert json.loads(server.ask("/api/review", Cookie=cookie)[2])["who"] == "ann"
    assert server.ask("/api/remark", {"id": "s0", "note": "mine"}, Cookie=cookie)[0] == 200
    assert server.ask("/api/sign-out", {}, Cookie=cookie)[0] == 200
    assert server.ask("/api/review", Cookie=cookie)[0] == 401


def test_without_a_token_there_is_only_the_empty_page(team: tuple[Server, str]):
    server, token = team
    assert server.ask("/")[0] == 200
    for path in READS:
        status, _, text = server.ask(path)
        assert (status, SECRET in text) == (401, False)
    for wrong in ("", "wtr_wrong", token[:-1], token.upper()):
        status, headers, _ = server.ask("/api/sign-in", {"token": wrong})
        assert (status, headers["Set-Cookie"]) == (401, None)
    assert server.ask("/api/remark", {"id": "s0", "note": "planted"})[0] == 401


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "http://localhost",
        "https://localhost.evil.example",
        "https://localhost:1",
    ],
)
def test_another_origin_gets_nothing_even_with_the_cookie(team: tuple[Server, str], origin: str):
    server, token = team
    _, headers, _ = server.ask("/api/sign-in", {"token": token})
    cookie = str(headers["Set-Cookie"]).split(";")[0]
    for path, body in (("/api/item?id=s0", None), ("/api/remark", {"id": "s0", "note": "planted"})):
        status, _, text = server.ask(path, body, Cookie=cookie, Origin=origin)
        assert (status, SECRET in text) == (403, False)
    assert server.ask("/api/item?id=s0", Cookie=cookie, Sec_Fetch_Site="cross-site")[0] == 403


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "localhost@evil.example", "[x]"])
def test_under_another_name_it_answers_nothing(team: tuple[Server, str], host: str):
    server, token = team
    _, headers, _ = server.ask("/api/sign-in", {"token": token})
    cookie = str(headers["Set-Cookie"]).split(";")[0]
    for path in ("/", "/review.js", *READS):
        status, headers, text = server.ask(path, Cookie=cookie, host=host)
        assert (status, text) == (403, "This server has another name. Use the address that it printed.\n")
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_without_encryption_the_port_of_a_team_answers_nothing(team: tuple[Server, str]):
    server, _ = team
    plain = Server(server.address.replace("https", "http"), server.ended)
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        plain.ask("/")


def test_who_starts_it_alone_is_the_owner_and_is_told_how_to_stop_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with serving(monkeypatch, str(write_set(tmp_path))) as server:
        shown = json.loads(server.ask("/api/review")[2])
        assert (shown["who"], shown["role"], shown["signed_in"]) == ("owner", "owner", False)
    ended = server.ended.result()
    assert ended.exit_code == 0
    assert f"set.review.sqlite: {server.address}" in ended.stdout
    assert ended.stderr == "Ctrl-C stops it.\n"


def test_a_team_without_people_is_told_to_add_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    origin = "https://review.example.org"
    with serving(monkeypatch, str(write_set(tmp_path)), "--behind-proxy", f"{origin}/") as server:
        pass
    assert server.address == f"{origin}/"
    assert (
        "nobody can sign in yet: add people with `wildtool review people add`" in server.ended.result().stderr
    )


# Rules over a new set ---------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_new_set_of_many_items_says_that_its_rules_run_and_when_they_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    data = write_set(tmp_path, 200)
    with serving(monkeypatch, str(data)) as server:
        while json.loads(server.ask("/api/checks")[2])["running"]:
            pass
    said = server.ended.result().stderr
    assert "The rules run over 200 items; you can review meanwhile." in said
    assert "The rules have run over all 200 items." in said
    assert open_review(str(data)).state.queue("unchecked") == []


def test_rules_do_not_run_if_they_are_not_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    data = write_set(tmp_path)
    with serving(monkeypatch, str(data), "--no-check") as server:
        assert json.loads(server.ask("/api/item?id=s0")[2])["findings"] is None
    assert len(open_review(str(data)).state.queue("unchecked")) == 2


@pytest.mark.long
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_stopped_or_killed_while_rules_run_it_loses_nothing_and_repeats_nothing(
    tmp_path: Path, sent: signal.Signals, status: int
):
    data = write_set(tmp_path, 100)
    words = [COMMAND, "review", str(data), "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert "http://" in process.stdout.readline()
        process.send_signal(sent)
        _, said = process.communicate()
    assert (process.returncode, "Traceback" in said) == (status, False), said
    again = open_review(str(data))
    assert len(again.state.items) == 100
    list(again.check_items())
    checked = [entry.item for entry in again.store.read() if entry.kind == "check"]
    assert sorted(checked) == sorted(again.state.items)
    assert again.verify("set") == 200
