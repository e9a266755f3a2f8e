"""Workers as tasks of a real Slurm of one node, which the test starts and ends: the script is submitted as it is written.

Skipped where Slurm cannot be started: it takes root and Debian's packages `slurm-wlm` and `munge`.
"""

import asyncio
import os
import platform
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from e2e.command import COMMAND, end, until, verdicts, wildtool
from e2e.forks import end_with_parent
from e2e.test_workers import calm_run, shared
from faults.server import FaultServer

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "squeue", "scancel")
TRIES = 100
"""Looks for a daemon that starts, a tenth of a second each."""
TASKS = 4
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0
SlurmdParameters=config_overrides
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES State=UP OverSubscribe=FORCE:4
"""


def slurm_says(*words: str) -> str:
    """What a command of Slurm prints."""
    return subprocess.run(words, check=False, capture_output=True, text=True, timeout=60).stdout


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens at."""
    with ExitStack() as sockets:
        opened = [sockets.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in opened]


async def comes_up(words: Sequence[str], text: str) -> bool:
    """Whether a command prints a text sooner or later."""
    for _ in range(TRIES):
        if text in slurm_says(*words):
            return True
        await asyncio.sleep(0.1)
    return False


def logs(folder: Path, job: str) -> list[str]:
    """What each task of a job wrote."""
    return [file.read_text() for file in sorted(folder.glob(f"wildtool-{job}_*.log"))]


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A Slurm of one node with four places."""
    if missing := [program for program in PROGRAMS if shutil.which(program) is None]:
        pytest.skip(f"no Slurm ({', '.join(missing)} missing): apt-get install slurm-wlm munge")
    if os.geteuid():
        pytest.skip("Slurm's daemons start jobs of others, so they need root")
    folder, host = tmp_path / "slurm", platform.node().split(".")[0]
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    configuration = CONFIGURATION.format(folder=folder, host=host, ports=free_ports(2))
    (folder / "slurm.conf").write_text(configuration)
    (folder / "munge.key").write_bytes(os.urandom(128))
    (folder / "munge.key").chmod(0o600)
    monkeypatch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
    munge = [
        f"--{name}-file={folder}/munge.{ending}"
        for name, ending in (("key", "key"), ("pid", "pid"), ("log", "log"), ("seed", "seed"))
    ]
    daemons: list[subprocess.Popen[bytes]] = []
    try:
        for words in (
            ["munged", "--foreground", "--force", f"--socket={folder}/munge.socket", *munge],
            ["slurmctld", "-D"],
            ["slurmd", "-D", "-N", host],
        ):
            output = (folder / f"{words[0]}.out").open("wb")
            daemons.append(
                subprocess.Popen(words, stdout=output, stderr=subprocess.STDOUT, preexec_fn=end_with_parent)
            )
            output.close()
        if not asyncio.run(comes_up(["sinfo", "--noheader", "-o", "%T"], "idle")):
            logs = "".join(file.read_text(errors="replace")[-500:] for file in folder.glob("*.out"))
            pytest.skip(f"Slurm does not start here: {logs}")
        yield
        slurm_says("scancel", "--signal=KILL", "--user=root")
    finally:
        for daemon in reversed(daemons):
            end(daemon)


async def test_an_array_job_with_a_requeued_task_gives_the_verdicts_of_one_process(
    tmp_path: Path, slurm: None
):
    url = (tmp_path / "run").as_uri()
    async with FaultServer("ok") as server:
        calm = await calm_run(server, tmp_path)
        server.delay_s = 0.5
        steps, server.received = server.received, 0
        path = f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}"
        words = ["worker", "slurm", *shared(server, url)[1:-2], "--workers", TASKS]
        launched = await wildtool(*words, cwd=tmp_path, PATH=path)
        assert launched.status == 0, launched.err
        number = re.search(r"Submitted batch job (\d+)", launched.out)
        job = number[1] if number else ""
        assert job, launched.out
        await until(lambda: server.received >= steps // 4)
        running = slurm_says("squeue", "--noheader", "--array", "--states=RUNNING", "-o", "%i").split()
        assert running, slurm_says("squeue")
        slurm_says("scontrol", "requeue", running[0])
        await until(lambda: "Restarts=1" in slurm_says("scontrol", "show", "job", running[0]))
        await until(lambda: "BeginTime" in slurm_says("squeue", "--noheader", "-o", "%r"))
        # It need not wait for two minutes, but in the second of its end Slurm would refuse to start it.
        slurm_says("scontrol", "update", f"JobId={running[0]}", "StartTime=now+2")
        await until(lambda: not slurm_says("squeue", "--noheader"))
        assert [log.count("this worker played") for log in logs(tmp_path, job)] == TASKS * [1]
        # What the requeued task had in flight is asked again, and nothing else.
        assert steps <= server.received <= steps + 2 * len(running)
        score = await wildtool("score", url, cwd=tmp_path, WILDTOOL_CACHE_DIR=str(tmp_path / "copies"))
        assert score.status == 0, score.err
    (copy,) = {file.parent for file in (tmp_path / "copies").rglob("verdicts-*.parquet")}
    assert verdicts(copy) == calm
