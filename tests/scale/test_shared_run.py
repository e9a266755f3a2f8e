"""A run that workers share, in this process: what the command prints, what its store holds, and how it ends."""

import json
import re
import shlex
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import wildtool
from wildtool.children import Child
from wildtool.cli import app
from wildtool.errors import RecordError
from wildtool.scale import commands, control, copies
from wildtool.scale.claims import Claims, done_key
from wildtool.scale.job import SharedJob
from wildtool.scale.store import FolderStore


def run(line: str) -> Result:
    return CliRunner().invoke(app, shlex.split(line), prog_name="wildtool", env={"COLUMNS": "100"})


def worker_of(url: str) -> str:
    """The command of a worker that trusts the job at an address."""
    job = SharedJob.read(FolderStore(Path(url.removeprefix("file://"))))
    return f"worker --run {url} --trust {job.trust_request(url).digest}"


class InProcess:
    """In place of processes: each worker works until nothing is left, one after the other."""

    log: list[Any] = []  # noqa: RUF012
    act: Callable[[FolderStore], Any] = staticmethod(commands.work)

    def __init__(self, count: int, server: str | None) -> None:
        self.count, self.statuses = count, list[int]()
        self.say: Any = print
        self.log.append((count, server))

    def start(self, url: str) -> None:
        for _ in range(self.count):
            self.log.append(type(self).act(FolderStore(Path(url.removeprefix("file://")))))

    def poll(self) -> bool:
        return False

    def stop(self) -> None:
        self.log.append("stop")


@pytest.fixture(autouse=True)
def launcher(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[type[InProcess]]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WILDTOOL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(commands, "LocalLauncher", InProcess)
    monkeypatch.setattr(InProcess, "log", [])
    before = signal.getsignal(signal.SIGTERM)
    yield InProcess
    signal.signal(signal.SIGTERM, before)


SAVED = "All replies are saved in run; run the same command again to continue."
RUN = "run wild-mini -m baseline/lexical --limit 5 --out run --on local:2"


def keys(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_workers_play_all_shards_and_the_command_shows_the_numbers(tmp_path: Path):
    done = run(f"{RUN} --quiet")
    assert done.exit_code == 0, done.output
    alone = run("run wild-mini -m baseline/lexical --limit 5 --out alone --quiet")
    assert done.stdout == alone.stdout
    assert done.stderr == alone.stderr
    left = ("run", "latency_s")
    shared, single = (
        [{**row, **dict.fromkeys(left)} for row in wildtool.Run(tmp_path / name).verdicts().rows()]
        for name in ("run", "alone")
    )
    assert shared == single
    assert [
        each if isinstance(each, str | tuple) else (each.items, each.left, each.limit)
        for each in InProcess.log
    ] == [
        (2, None),
        (5, 0, None),
        (0, 0, None),
        "stop",
    ]
    store = tmp_path / "run" / "store"
    job = SharedJob.read(FolderStore(store))
    assert (job.items, job.share_items, job.workers, job.controlled, job.sitting, job.spent) == (
        5,
        1,
        2,
        True,
        1,
        {},
    )
    assert job.explicit == ["benchmark", "limit", "model", "on", "out", "quiet"]
    assert job.options["limit"] == 5
    assert [key for key in keys(store) if not key.startswith(("worker/", "control/worker/"))] == [
        "control/share/00000/0000000.0001.ended.0000",
        "control/share/00000/0000000.0001.held",
        "job.json",
        *(f"record/{shard:07d}/0001-0001.jsonl" for shard in range(5)),
        "run.json",
        *sorted(key for shard in range(5) for key in (done_key(shard), f"share/00000/{shard:07d}.0001.held")),
    ]
    reports = [json.loads(path.read_bytes()) for path in (store / "worker").iterdir()]
    assert sorted(
        (each["ended"], each["items"], each["shares"], each["said"], each["sitting"]) for each in reports
    ) == [
        (True, 0, [], "", 1),
        (True, 5, [], "", 1),
    ]
    assert {name for each in reports for name in each} == {
        "ended",
        "sitting",
        "items",
        "calls",
        "tokens",
        "cost",
        "shares",
        "said",
    }
    assert keys(tmp_path / "cache") == ["machine"]


@pytest.mark.long
def test_a_run_that_is_done_is_read_again_and_nothing_is_played(tmp_path: Path):
    first = run(f"{RUN} --quiet")
    again = run(f"{RUN} --quiet")
    assert (again.exit_code, again.stdout) == (0, first.stdout)
    assert [each.items for each in InProcess.log if not isinstance(each, str | tuple)] == [5, 0, 0, 0]
    job = SharedJob.read(FolderStore(tmp_path / "run" / "store"))
    assert job.sitting == 2
    other = run(RUN.replace("--limit 5", "--limit 6"))
    assert other.exit_code == 2
    assert " ".join(other.stderr.split()) == (
        "wildtool: run: limit was 5 in this run and is now 6; its workers divided the items by it, so use another --out"
        " or the same selection"
    )


@pytest.mark.long
def test_the_line_counts_shards_and_the_end_says_what_is_missing(
    tmp_path: Path, launcher: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(launcher, "act", staticmethod(lambda store: None))
    nothing = run(RUN)
    assert nothing.exit_code == 3
    ended = [
        "baseline/lexical: 0 of 5 shards done, 0 held · 0 workers",
        "run: not finished; run the same command to continue.",
    ]
    assert [without_time(line) for line in nothing.stderr.splitlines()] == ended
    assert nothing.stdout == ""
    played = run(RUN.replace("local:2", "local:1"))
    assert played.exit_code == 3
    assert [without_time(line) for line in played.stderr.splitlines()] == ended


def without_time(line: str) -> str:
    """A piped line of progress without its time."""
    return re.sub(r"^\d\d:\d\d:\d\d ", "", line)


@pytest.mark.parametrize(
    ("error", "status", "words", "ended"),
    [
        (RecordError("no worker can"), 2, "wildtool: no worker can", "stopped: RecordError"),
        (KeyboardInterrupt(), 130, f"Interrupted. {SAVED} interrupted", "interrupted"),
        (None, 3, "run: not finished; run the same command to continue.", "infra errors"),
    ],
)
def test_what_ends_a_run_is_recorded_and_its_workers_are_stopped(
    tmp_path: Path,
    launcher: Any,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException | None,
    status: int,
    words: str,
    ended: str,
):
    def act(store: FolderStore) -> None:
        if error is not None:
            raise error

    monkeypatch.setattr(launcher, "act", staticmethod(act))
    done = run(f"{RUN} --quiet")
    assert (done.exit_code, " ".join(done.stderr.split())) == (status, words)
    assert InProcess.log[-1] == "stop"
    for folder in ("run", "run/store"):
        (sitting,) = json.loads((tmp_path / folder / "run.json").read_bytes())["sittings"]
        assert sitting["status"] == ended


def test_a_run_of_one_process_is_not_shared_nor_are_batches(tmp_path: Path):
    assert run("run wild-mini -m baseline/gold --limit 1 --out run --quiet").exit_code == 0
    shared = run("run wild-mini -m baseline/gold --limit 1 --out run --on local:1")
    assert (shared.exit_code, shared.stderr) == (
        2,
        "wildtool: run: holds a run of one process; continue it without --on, or use another --out\n",
    )


@pytest.mark.long
def test_a_heartbeat_that_is_late_does_not_follow_the_last_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The store is slow while the worker has nothing to do: its first report is under way when it ends."""
    run(f"{RUN} --quiet")
    beat, started = Claims.beat, threading.Event()

    def slow(self: Claims, report: dict[str, Any]) -> None:
        if report and not report["ended"] and self.worker in reported and not started.is_set():
            started.set()
            ended.wait(0.2)
        reported.add(self.worker)
        beat(self, report)

    reported, ended = set[str](), threading.Event()
    store = FolderStore(tmp_path / "run" / "store")
    shutil.rmtree(tmp_path / "run" / "store" / "worker")
    monkeypatch.setattr(Claims, "beat", slow)
    assert commands.work(store) is not None
    assert started.is_set()
    (entry,) = store.entries("worker/")
    assert store.get_json(entry.key)["ended"] is True


# Clusters ---------------------------------------------------------------------------------------------


def test_a_slurm_script_is_printed_for_a_prepared_run(tmp_path: Path):
    url = (tmp_path / "shared").as_uri()
    launched = run(
        f"worker slurm wild-mini -m baseline/lexical --limit 3 -o {url} --workers 2 --sbatch=--mem=1G --print"
    )
    assert launched.exit_code == 0, launched.stderr
    assert launched.stdout.splitlines()[-2:] == ["#SBATCH --mem=1G", f"exec wildtool {worker_of(url)}"]
    job = SharedJob.read(FolderStore(tmp_path / "shared"))
    assert (job.items, job.workers, job.controlled, job.sitting) == (3, 2, False, 1)
    (sitting,) = json.loads((tmp_path / "shared" / "run.json").read_bytes())["sittings"]
    assert sitting["status"] == "done"
    helped = run(f"worker --run {url}")
    assert (helped.exit_code, helped.stdout) == (0, "")
    assert (
        " ".join(helped.stderr.split()).replace(url, "URL") == "URL: this worker played 3 items with 23 calls"
    )
    again = run(f"worker --run {url}")
    assert (
        " ".join(again.stderr.split()).replace(url, "URL") == "URL: this worker played 0 items with 0 calls"
    )
    relaunched = run(f"worker slurm wild-mini -m baseline/lexical --limit 3 -o {url} --workers 2 --print")
    assert relaunched.exit_code == 0
    assert SharedJob.read(FolderStore(tmp_path / "shared")).sitting == 2


def test_a_kubernetes_manifest_is_printed_for_a_prepared_run(tmp_path: Path):
    url = (tmp_path / "shared").as_uri()
    words = f"worker kubernetes wild-mini -m baseline/lexical --limit 3 -o {url} --workers 2"
    launched = run(f"{words} --image i --secret a --secret b --print")
    manifest = json.loads(launched.stdout)
    assert manifest["metadata"]["name"] == "wildtool-baseline-lexical"
    (container,) = manifest["spec"]["template"]["spec"]["containers"]
    assert container == {
        "name": "worker",
        "image": "i",
        "command": ["wildtool", *worker_of(url).split()],
        "envFrom": [{"secretRef": {"name": "a"}}, {"secretRef": {"name": "b"}}],
    }


def test_what_a_cluster_cannot_share_is_refused(tmp_path: Path):
    url = (tmp_path / "shared").as_uri()
    texts = []
    for words in (
        "-m baseline/gold -o run",
        f"-m baseline/gold -m baseline/chat -o {url}",
        f"-m baseline/gold -o {url} --on local:2",
        f"-m baseline/gold -o {url} --dry-run",
        f"-m baseline/gold -o {url} --rpm 0",
    ):
        refused = run(f"worker slurm wild-mini {words} --workers 2 --print")
        texts.append((refused.exit_code, " ".join(refused.stderr.split())))
    assert texts == [
        (
            2,
            "wildtool: --out must be an address that all workers reach, such as s3://bucket/run or file:///shared/run",
        ),
        (2, "wildtool: workers on a cluster take one model, and neither --on nor --dry-run"),
        (2, "wildtool: workers on a cluster take one model, and neither --on nor --dry-run"),
        (2, "wildtool: workers on a cluster take one model, and neither --on nor --dry-run"),
        (2, "wildtool: --rpm is 0; it must be a number above 0"),
    ]
    assert not (tmp_path / "shared").exists()


def test_a_script_is_submitted_and_what_refuses_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    url = (tmp_path / "shared").as_uri()
    submitted: list[Any] = []
    scripts = iter(["cat > {0}", None, "exit 7", "true"])

    def submit(command: list[str], **options: Any) -> Child:
        submitted.append(command)
        if (script := next(scripts)) is None:
            raise FileNotFoundError
        return Child(["sh", "-c", script.format(tmp_path / "submitted")], **options)

    monkeypatch.setattr(commands, "Child", submit)
    line = f"worker slurm wild-mini -m baseline/gold --limit 1 -o {url} --workers 1"
    results = [run(line) for _ in range(3)]
    assert [(each.exit_code, " ".join(each.stderr.split())) for each in results] == [
        (0, ""),
        (2, "wildtool: there is no sbatch here; use --print, and submit it where there is"),
        (2, "wildtool: sbatch refused it (exit status 7); its words are above"),
    ]
    assert submitted[0] == ["sbatch"]
    assert (tmp_path / "submitted").read_text().endswith(f"exec wildtool {worker_of(url)}\n")
    kubernetes = line.replace("slurm", "kubernetes") + " --image i"
    assert run(kubernetes).exit_code == 0
    assert submitted[-1] == ["kubectl", "create", "-f", "-"]


def test_a_worker_with_other_data_says_so(tmp_path: Path):
    url = (tmp_path / "shared").as_uri()
    run(f"worker slurm wild-mini -m baseline/gold --limit 3 -o {url} --workers 2 --print")
    store = FolderStore(tmp_path / "shared")
    content = store.get_json("job.json")
    store.put("job.json", json.dumps({**content, "items": 1_000}).encode())
    refused = run(f"worker --run {url}")
    assert refused.exit_code == 2
    assert " ".join(refused.stderr.split()).endswith(
        "the options of this run select 3 items here and 1,000 where it was started; use the same version of wildtool"
        " and the same data"
    )
    store.put("job.json", json.dumps(content).encode())
    (tmp_path / "shared" / "run.json").unlink()
    refused = run(f"worker --run {url}")
    assert " ".join(refused.stderr.split()) == (
        f"wildtool: {url}: has no run.json; start the run again with its first command"
    )


# Who controls a run ------------------------------------------------------------------------------------


def prepared(tmp_path: Path) -> copies.SharedPlace:
    url = (tmp_path / "shared").as_uri()
    run(f"worker slurm wild-mini -m baseline/gold --limit 3 -o {url} --workers 2 --print")
    return copies.place_of(url)


def test_a_launch_waits_for_workers_of_an_earlier_start(tmp_path: Path):
    place = prepared(tmp_path)
    Claims(place.store, "w1", 1, 1).beat({"ended": False})
    Claims(place.store, "w2", 1, 1).beat({"ended": True})
    refused = run(
        f"worker slurm wild-mini -m baseline/gold --limit 3 -o {place.store.url} --workers 2 --print"
    )
    assert refused.exit_code == 2
    assert " ".join(refused.stderr.split()) == (
        f"wildtool: {place.store.url}: 1 workers of an earlier start still work; let them end, or cancel their job. A"
        " killed worker counts as ended 90 s after its last sign of life"
    )


def test_of_two_controllers_the_second_is_refused(tmp_path: Path):
    place = prepared(tmp_path)
    Claims(place.store.below("control"), "elsewhere.1", 1, 1).beat({})
    held = Claims(place.store.below("control"), "elsewhere.1", 1, 1)
    held.beat({})
    assert held.claim() is not None
    refused = run(f"run wild-mini -m baseline/gold --limit 3 --out {place.store.url} --on local:1")
    assert refused.exit_code == 2
    assert " ".join(refused.stderr.split()) == (
        f"wildtool: {place.store.url}: another wildtool controls this run; wait for it, or help it with `wildtool worker"
        f" --run {place.store.url}`. If it is dead, this is known 90 s after its last sign of life"
    )
    # A controller of this machine that locks nothing is dead.
    name = control.machine_name()
    held.leave(held_claim(held), for_anybody=True)
    ours = Claims(place.store.below("control"), f"{name}.9-x", 1, 1)
    ours.beat({})
    assert ours.claim() is not None
    assert (
        run(f"run wild-mini -m baseline/gold --limit 3 --out {place.store.url} --on local:1 -q").exit_code
        == 0
    )


def held_claim(claims: Claims) -> Any:
    (claim,) = claims._own  # pyright: ignore[reportPrivateUsage]
    return claim
