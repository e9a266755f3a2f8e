"""A run whose tools fail, by the installed command."""

import json
import signal
from pathlib import Path
from typing import Any

from alter.altered_play import played
from e2e.command import recorded, start, verdicts, wildtool
from faults.server import Answer, Call, FaultServer, request_digest
from wildtool.alter.failures.failures import Failures
from wildtool.alter.failures.schedule import FailureSchedule
from wildtool.alter.variant import Variant
from wildtool.data.data_set import data_of
from wildtool.engine.registry import load_benchmark


async def test_a_killed_run_with_failing_tools_ends_as_an_undisturbed_one(tmp_path: Path):
    failures, limit = "flaky:0.7", 6
    benchmark = load_benchmark("wild-mini")
    variant = Variant(benchmark, (Failures(FailureSchedule.parse(failures)),))
    items = list(benchmark.load(data_of(benchmark).locate(None)))[:limit]
    answers = {
        request_digest(request.messages): reply
        for item in items
        for unit in item.units
        for request, reply in played(variant, item, unit, "official")
    }
    (tmp_path / "gold.json").write_text(json.dumps(answers))
    async with FaultServer(f"gold:{tmp_path / 'gold.json'}", delay_s=0.01) as server:

        def words(out: str) -> list[object]:
            own = ["run", "wild-mini", "--model", "m", "--base-url", server.base_url, "--limit", limit]
            return [*own, "--failures", failures, "--out", tmp_path / out, "--concurrency", 2, "--quiet"]

        assert (await wildtool(*words("calm"), cwd=tmp_path)).status == 0
        gold = server.behave
        for moment in (3, 20, 40):
            server.received = 0
            process = await start(*words("torn"), cwd=tmp_path)

            def behave(call: Call, process: Any = process, moment: int = moment) -> Answer:
                if server.received == moment:
                    process.send_signal(signal.SIGKILL)
                return gold(call)

            server.behave = behave
            await process.communicate()
            assert process.returncode == -signal.SIGKILL, "it was over before the request to be killed at"
        server.behave = gold
        assert (await wildtool(*words("torn"), cwd=tmp_path)).status == 0
    assert len(set(recorded(tmp_path / "torn"))) == len(recorded(tmp_path / "torn")) == len(answers)
    assert verdicts(tmp_path / "torn") == verdicts(tmp_path / "calm")
    assert {row["outcome"] for row in verdicts(tmp_path / "torn")} == {"correct"}
