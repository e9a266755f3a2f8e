"""What a model thought before its calls is in each later request of the unit, whatever lies between."""

import runpy
from pathlib import Path
from typing import Any

import pytest

import wildtool as wt
from models.peers import Body, Peer
from wildtool.tool_formats import CALL_FORMATS, ToolCall
from wildtool.types import Message

BENCH = runpy.run_path(str(Path(__file__).parents[2] / "bench" / "reasoning.py"))


@pytest.mark.long
@pytest.mark.parametrize("dialect", BENCH["DIALECTS"])
@pytest.mark.parametrize("alteration", BENCH["ALTERATIONS"])
async def test_it_goes_back_under_each_key_and_alteration(alteration: str, dialect: str):
    options = {"limit": 12, **BENCH["ALTERATIONS"][alteration]}
    carried, steps = await BENCH["carried"]("wild-mini", dialect, options)
    assert carried == steps > 40


@pytest.mark.long
@pytest.mark.parametrize("dialect", ["reasoning_opaque", "signed calls", "provider's own"])
async def test_it_goes_back_after_a_verdict_too(dialect: str):
    options = {"limit": 3, "history": "own", "profile": "fixed"}
    carried, steps = await BENCH["carried"]("wild-mini", dialect, options, first_wrong=True)
    assert carried == steps > 5


@pytest.mark.long
@pytest.mark.parametrize("dialect", ["reasoning", "thinking_blocks", "provider's own"])
async def test_it_goes_back_in_sessions_over_an_account_book(dialect: str):
    carried, steps = await BENCH["carried"]("ledger", dialect, {"limit": 2, "failures": "first-call"})
    assert carried == steps > 10


async def test_it_goes_back_where_calls_are_written_as_text(tmp_path: Path):
    calls = CALL_FORMATS["hermes"].write_calls([ToolCall("no_tool_of_this_name", {})])
    shown: list[list[Message]] = []

    def said(body: Body, digest: str) -> Message:
        shown.append(body["messages"])
        return {"role": "assistant", "content": calls, "reasoning": "hm"}

    async with Peer("chat", said) as peer:
        options: dict[str, Any] = {"base_url": peer.base_url, "tool_format": "hermes", "limit": 1}
        await wt.arun("ledger", model="m", out=tmp_path / "run", quiet=True, **options)
    own = [message for messages in shown for message in messages if calls in (message["content"] or "")]
    assert own and all(message["reasoning"] == "hm" for message in own)
