"""Endpoints that differ from chat completions in address and headers alone: Azure's two addresses, Bedrock's."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from e2e.command import contents, lines, recorded, verdicts, wildtool
from e2e.test_protocols import from_script, rehearsed
from faults.server import Answer, http
from models.peers import Peer
from wildtool.types import Message

KEY = "sk-form-77ab01e2"


@dataclass(frozen=True)
class Form:
    """How one endpoint is named, where its requests arrive, and what carries the key."""

    model: str
    base_url: str | None
    """`{}` is the peer; None: the environment says it."""
    variable: str
    path: str
    header: str


FORMS = {
    "azure": Form("azure/gpt-x", None, "AZURE_OPENAI_API_KEY", "/openai/v1/chat/completions", "api-key: "),
    "azure-deployment": Form(
        "azure/gpt-x",
        "{}/openai/deployments/gpt-x?api-version=2024-10-21",
        "AZURE_OPENAI_API_KEY",
        "/openai/deployments/gpt-x/chat/completions?api-version=2024-10-21",
        "api-key: ",
    ),
    "bedrock": Form(
        "bedrock/gpt-x",
        "{}/openai/v1",
        "AWS_BEARER_TOKEN_BEDROCK",
        "/openai/v1/chat/completions",
        "Authorization: Bearer ",
    ),
}


class At(Peer):
    """A peer of chat completions at another address, which refuses what arrives elsewhere or without the key."""

    def __init__(self, form: Form, said: dict[str, Message]) -> None:
        super().__init__("chat", from_script(said))
        self.form = form

    def answer(self, head: bytes, body: bytes) -> Answer:
        if f"\r\n{self.form.header}{KEY}".encode() not in head:
            return Answer(http(401, json.dumps(self.protocol.error(401, "no key")).encode()))
        found = f"POST {self.form.path} ".encode()
        return super().answer(head.replace(found, b"POST /v1/chat/completions "), body)


@pytest.fixture(scope="module")
def said() -> dict[str, Message]:
    return rehearsed("chat")


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
async def test_gold_replies_reach_all_and_a_broken_run_goes_on(
    form: Form, said: dict[str, Message], tmp_path: Path
):
    folder = tmp_path / "run"
    async with At(form, said) as peer:
        host = peer.base_url.removesuffix("/v1")
        given = [] if form.base_url is None else ["--base-url", form.base_url.format(host)]
        words: list[Any] = [
            "run",
            "wild-mini",
            "--model",
            form.model,
            *given,
            "--out",
            folder,
            "--retries",
            0,
        ]
        environment = {form.variable: KEY, "AZURE_OPENAI_ENDPOINT": host}
        ended = await wildtool(*words, cwd=tmp_path, **environment)
        assert ended.status == 0, ended.err
        steps, rows = len(recorded(folder)), verdicts(folder)
        assert {row["outcome"] for row in rows} == {"correct"} and peer.mistakes == []
        if "?" in form.path:
            # The key for digests of such addresses: in the tests' own folder, never in the developer's.
            assert (Path(os.environ["XDG_DATA_HOME"]) / "wildtool" / "digest.key").is_file()

        record = folder / "record-0001.jsonl"
        whole = record.read_bytes().splitlines(keepends=True)
        record.write_bytes(b"".join(whole[: len(whole) // 2]))
        left = steps - (lines(folder) - 1)
        peer.digests.clear()
        assert (await wildtool(*words, cwd=tmp_path, **environment)).status == 0
    assert len(peer.digests) == left > 0 and verdicts(folder) == rows
    assert not any(KEY.encode() in data for data in contents(tmp_path).values())


async def test_a_key_of_another_cloud_is_not_sent(said: dict[str, Message], tmp_path: Path):
    async with At(FORMS["bedrock"], said) as peer:
        words = (
            "run",
            "wild-mini",
            "--model",
            "bedrock/gpt-x",
            "--base-url",
            f"{peer.base_url}",
            "--limit",
            1,
        )
        ended = await wildtool(*words, "--retries", 0, cwd=tmp_path, AZURE_OPENAI_API_KEY=KEY)
    assert ended.status == 2 and "no key was sent" in ended.err
