"""A blame that is killed while it asks: the same command goes on, and asks nothing again that was answered."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

from blame.echoes import BENCHMARK, Body, answering, echo
from report.report_build import type_

LAST = 15
"""Requests after which the process is killed."""


def test_what_was_answered_before_a_kill_is_not_asked_again(tmp_path: Path):
    process: list[subprocess.Popen[bytes]] = []

    def answer(body: Body) -> str:
        if process and len(received) == LAST:
            os.kill(process[0].pid, signal.SIGKILL)
        return "wrong" if body["model"] == "liar" else echo(body)

    file, run = tmp_path / "echoes.py", tmp_path / "run"
    file.write_text(BENCHMARK)
    with answering(answer) as (url, received):
        type_("run", str(file), "-m", "echo", "--base-url", url, "--user-model", "liar", "-q", "-o", str(run))
        received.clear()
        words = ("audit", str(run), "--blame", "--base-url", url, "-j", "1", "-k", "2")
        blame = [sys.executable, "-m", "wildtool", *words]
        process.append(subprocess.Popen(blame, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        assert process[0].wait() == -signal.SIGKILL
        before = len(received)
        process.clear()
        type_(*words)
        resumed = len(received) - before
        received.clear()
        type_(*words, "-o", str(tmp_path / "whole"))
    # At most the call in flight is asked again.
    assert len(received) <= before + resumed <= len(received) + 1
    assert Counter(body["model"] for body in received).keys() == {"echo", "liar"}
