"""One odd reply at each door: over the wire, from a function, in `score --replies`, `wildtool.judge` and
`wildtool.check_call`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import wildtool as wt
from e2e.command import verdicts
from models.peers import Body, Peer
from wildtool.cli import app
from wildtool.types import Message

ITEM, UNIT = wt.load("wild-mini")["wild_mini_3"], "2"
Change = Callable[[Message], Message]


def in_each_call(change: Change) -> Change:
    def changed(reply: Message) -> Message:
        return {**reply, "tool_calls": [change(call) for call in reply["tool_calls"]]}

    return changed


def arguments(write: Callable[[str], Any]) -> Change:
    def changed(call: Message) -> Message:
        function = call["function"]
        return {**call, "function": {**function, "arguments": write(function["arguments"])}}

    return in_each_call(changed)


def in_reasoning(reply: Message) -> Message:
    function = reply["tool_calls"][0]["function"]
    call = {"name": function["name"], "arguments": json.loads(function["arguments"])}
    text = f"<tool_call>\n{json.dumps(call)}\n</tool_call>"
    return {"role": "assistant", "content": None, "reasoning": text}


def in_the_text_too(reply: Message) -> Message:
    return {**reply, "content": in_reasoning(reply)["reasoning"]}


def retired(reply: Message) -> Message:
    return {"role": "assistant", "content": None, "function_call": reply["tool_calls"][0]["function"]}


def with_the_first_call_again(reply: Message) -> Message:
    return {**reply, "tool_calls": [*reply["tool_calls"], {**reply["tool_calls"][0], "id": "again"}]}


def under_args(call: Message) -> Message:
    function = call["function"]
    return {"id": call["id"], "name": function["name"], "args": json.loads(function["arguments"])}


ODDITIES: dict[str, tuple[Change, str | None, bool]] = {
    "sound": (lambda reply: reply, None, True),
    "objects": (arguments(json.loads), "arguments as objects", True),
    "encoded twice": (arguments(json.dumps), "arguments encoded twice", False),
    "no id": (in_each_call(lambda call: {**call, "id": None}), "calls without id", True),
    "a call twice": (with_the_first_call_again, "same call twice", False),
    "in the reasoning": (in_reasoning, "calls in reasoning", False),
    "function_call": (retired, "retired function_call", False),
    "in the text, too": (in_the_text_too, "call in text, too", True),
    "under args": (in_each_call(under_args), "nameless calls", True),
}
"""How a reply is changed, the sign of it over the wire, and whether a reader of shapes finds the right calls in it."""


def reply_to(messages: list[Message], change: Change) -> Message:
    last = max(place for place, message in enumerate(messages) if message["role"] == "user")
    step = sum(message["role"] == "assistant" for message in messages[last:])
    gold = ITEM.gold[UNIT]
    reply = gold[step] if step < len(gold) else {"role": "assistant", "content": "Done."}
    return change(reply) if reply.get("tool_calls") else dict(reply)


async def row_of(model: Any, folder: Path, **options: Any) -> dict[str, Any]:
    run = await wt.arun("wild-mini", model=model, ids="wild_mini_3", out=folder, quiet=True, **options)
    return next(row for row in run.verdicts().rows() if row["unit"] == UNIT)


def row_of_replies(replies: list[Message], folder: Path, profile: str) -> dict[str, Any]:
    """The unit's row where its replies stand in a file, beside the gold of the others."""
    tasks = [replies if unit == UNIT else list(ITEM.gold[unit]) for unit in ITEM.units]
    file = folder.with_suffix(".jsonl")
    file.write_text(json.dumps({"session": ITEM.id, "model": "m", "tasks": tasks}))
    words = [
        "score",
        "--data",
        "wild-mini",
        "--replies",
        str(file),
        "--profile",
        profile,
        "--out",
        str(folder),
    ]
    ended = CliRunner().invoke(app, words)
    assert ended.exit_code == 0, ended.output
    (table,) = folder.rglob("verdicts-*.parquet")
    return next(row for row in verdicts(table.parent, profile) if row["unit"] == UNIT)


def test_one_error_in_nearly_all_calls_of_a_file_is_told(tmp_path: Path):
    twice, _, _ = ODDITIES["encoded twice"]
    with (tmp_path / "replies.jsonl").open("w") as file:
        for item in list(wt.load("wild-mini"))[:6]:
            tasks = [
                [twice(reply) if reply.get("tool_calls") else reply for reply in item.gold[unit]]
                for unit in item.units
            ]
            file.write(json.dumps({"session": item.id, "model": "m", "tasks": tasks}) + "\n")
    ended = CliRunner().invoke(app, ["score", "--data", "wild-mini", "--replies", str(file.name)])
    said = " ".join(ended.output.split())
    assert "units that needed a call have one error" in said
    assert "wildtool check" not in said  # no endpoint is known


@pytest.mark.long
@pytest.mark.parametrize("profile", ["official", "fixed"])
@pytest.mark.parametrize("oddity", ODDITIES)
async def test_doors_judge_an_odd_reply_alike_or_say_what_the_endpoint_made_of_it(
    oddity: str, profile: str, tmp_path: Path
):
    change, sign, _ = ODDITIES[oddity]

    def answer(body: Body, digest: str) -> Message:
        return reply_to(body["messages"], change)

    def function(messages: list[Message], tools: Any) -> Message:
        return reply_to(messages, change)

    async with Peer("chat", answer) as peer:
        wire = await row_of("m", tmp_path / "wire", base_url=peer.base_url, profile=profile, retries=0)
    own = await row_of(function, tmp_path / "function", profile=profile)
    replies = [change(reply) if reply.get("tool_calls") else reply for reply in ITEM.gold[UNIT]]
    judged = wt.judge(item=ITEM, unit=UNIT, replies=replies, profile=profile)
    scored = row_of_replies(replies, tmp_path / "scored", profile)
    assert (own["outcome"], own["error"]) == (judged.outcome, judged.error)
    assert (scored["outcome"], scored["error"]) == (judged.outcome, judged.error)
    assert (sign in json.loads(own["signs"])) == (sign in json.loads(scored["signs"]))
    if sign is None:
        assert wire["outcome"] == judged.outcome == "correct"
    else:
        assert json.loads(wire["signs"])[sign] == 1
    if sign in json.loads(own["signs"]):
        assert (wire["outcome"], wire["error"]) == (own["outcome"], own["error"])


@pytest.mark.long
@pytest.mark.parametrize("oddity", ["objects", "encoded twice", "no id", "under args", "function_call"])
def test_a_single_call_is_read_or_refused_as_in_a_reply(oddity: str):
    change, _, is_read = ODDITIES[oddity]
    gold = next(reply for reply in ITEM.gold[UNIT] if reply.get("tool_calls"))
    call = gold["tool_calls"][0]
    changed = change({**gold, "tool_calls": [call]})
    entry = changed.get("function_call") or changed["tool_calls"][0]
    _, tools = ITEM.request(UNIT)
    tool = next(each for each in tools if each["function"]["name"] == call["function"]["name"])
    assert bool(wt.check_call(tool=tool, gold=call, call=entry)) is (is_read or oddity == "function_call")
