"""Thirty calls as people write them. `test_types.py` lets pyright read them, strictly; nothing runs them."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import wildtool as wt
from wildtool.errors import UsageError, WildtoolError
from wildtool.types import Message, Reply, Request, Tool, Verdict


def answer(messages: list[Message], tools: list[Tool]) -> Message:
    return {"content": "I do not know.", "finish_reason": "stop"}


async def slowly(messages: list[Message], tools: list[Tool]) -> str:
    return "I do not know."


class Scripted:
    name = "scripted"

    def settings(self) -> dict[str, Any]:
        return {}

    async def complete(self, request: Request) -> Reply:
        return Reply({"role": "assistant", "content": "yes"})

    async def close(self) -> None: ...


# 1 to 10: one model, with the keywords that people use
first: wt.Run = wt.run("wild-mini", model=answer, sample=8)
second: wt.Run = wt.run("wild-mini", model="gpt-4o", temperature=0, limit=20)
third: wt.Run = wt.run(Path("calqa.py"), model=Scripted(), out=Path("runs/calqa"))
fourth: wt.Run = wt.run("bfcl", model="qwen3", base_url="http://127.0.0.1:8000/v1", tool_format="auto")
fifth: wt.Run = wt.run("acebench", model="claude-sonnet-4-5", user_model="gpt-4o", lang="en")
sixth: wt.Run = wt.run("wild-mini", model=slowly, noise="names:slight", profile="fixed", quiet=True)
seventh: wt.Run = wt.run("wild-mini", model="gpt-4o", max_cost=5, deadline="1h30m", retries=2, timeout=60)
eighth: wt.Run = wt.run("wild-mini", model="gpt-4o", header={"X-Team": "evals"}, extra_body={"top_p": 0.9})
ninth: wt.Run = wt.run("wild-mini", model="gpt-4o", ids=["wild_mini_3"], repeats=4, seed=1, config="w.toml")
tenth: wt.Run = wt.run("wild-mini", model="gpt-4o", sampling="original", prompts="original", cache="replies")

# 11 to 16: records for the rest
eleventh: wt.Run = wt.run(
    "wild-mini", model="gpt-4o", items=wt.Items(split="travel", sample=8, sample_seed=2)
)
twelfth: wt.Run = wt.run("wild-mini", model="gpt-4o", limits=wt.Limits(rpm=60, batch=True, order="parallel"))
roles = wt.Roles(user_model="gpt-4o", user_temperature=0.2, user_header=["X-Team=evals"])
thirteenth: wt.Run = wt.run("acebench", model="gpt-4o", roles=roles)
altered = wt.Alterations(among=50, among_kinds="near", history="own", failures="first-call")
fourteenth: wt.Run = wt.run("wild-mini", model="gpt-4o", alterations=altered)
endpoint = wt.Endpoint(base_url="http://127.0.0.1:8000/v1", api_key_env="KEY", api_key_file=Path("key"))
fifteenth: wt.Run = wt.run("wild-mini", model="m", endpoint=endpoint, sampling=wt.Sampling(stream=True))
sixteenth: wt.Run = wt.run("wild-mini", model="m", output=wt.Output(out="runs/tide", force=True))

# 17 and 18: several models, and a loop
several: list[wt.Run] = wt.run("wild-mini", model=[answer, "gpt-4o", Scripted()], sample=8)


async def both() -> tuple[wt.Run, list[wt.Run]]:
    return await wt.arun("wild-mini", model=slowly), await wt.arun("wild-mini", model=[slowly, answer])


awaited = asyncio.run(both())

# 19 to 24: what comes out
headline = first.scores.headline
value: float | None = None if headline is None else headline.value
named: float | None = first.scores["accuracy: task"].value
table: str = first.scores.table()
rows: list[dict[str, Any]] = first.verdicts().rows()
judged_again: wt.Run = first.judged("fixed")

# 25 to 27: comparisons, a folder, trust
findings: Sequence[str] = wt.compare(first, "runs/other", metric="item", only_played=True).findings
opened: wt.Run = wt.Run("runs/wild-mini/gpt-4o", profile="fixed")
request = wt.trust("wildtool.toml")

# 28 to 30: items and single replies
bench: wt.Bench = wt.load("wild-mini", lang="zh")
item: wt.BenchItem = bench["wild_mini_3"]
verdict: Verdict = wt.judge(item=item, unit=2, replies=[{"content": "Which room?"}], profile="fixed")
call = {"name": "book", "arguments": {"day": "2026-05-01"}}
try:
    check: wt.CallCheck = wt.check_call(tool={"name": "book", "parameters": {}}, gold=call, call=call)
except UsageError as error:
    print(error)
except WildtoolError:
    raise
