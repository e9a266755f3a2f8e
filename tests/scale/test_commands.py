"""`wildtool worker` and the places of `--on`: what is started with which settings, what is printed, and how each ends."""

import asyncio
import signal
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wildtool.cli.options.run import RunOptions
from wildtool.errors import UsageError
from wildtool.scale import commands, ray_cluster
from wildtool.scale.local import PARENT_VARIABLE
from wildtool.scale.ray_cluster import RayPlace
from wildtool.scale.store import FolderStore
from wildtool.scale.worker import WorkerResult


@pytest.fixture
def launchers(monkeypatch: pytest.MonkeyPatch) -> None:
    def local(count: int, server: str | None) -> tuple[Any, ...]:
        return "local", count, server

    def ray(place: RayPlace, server: str | None, *, quiet: bool) -> tuple[Any, ...]:
        return "ray", place.address, place.workers, server, quiet

    monkeypatch.setattr(commands, "LocalLauncher", local)
    monkeypatch.setattr(ray_cluster, "RayLauncher", ray)


@pytest.mark.usefixtures("launchers")
@pytest.mark.parametrize(
    ("options", "launcher"),
    [
        ({}, ("local", 1, None)),
        ({"on": "local:1024", "server": "serve"}, ("local", 1024, "serve")),
        ({"on": "local:2", "out": Path("run")}, ("local", 2, None)),
        ({"on": "ray", "out": Path("s3:/b/r")}, ("ray", None, None, None, False)),
        (
            {"on": "ray://h:1,workers=3", "out": Path("s3:/b/r"), "server": "serve", "quiet": True},
            ("ray", "ray://h:1", 3, "serve", True),
        ),
    ],
)
def test_workers_are_started_where_a_run_says(options: dict[str, Any], launcher: tuple[Any, ...]):
    assert commands.launcher_of(RunOptions(model=["m"], **options))() == launcher


@pytest.mark.usefixtures("launchers")
@pytest.mark.parametrize("out", [None, Path("run")])
def test_ray_needs_an_address_of_a_store(out: Path | None):
    with pytest.raises(UsageError) as refusal:
        commands.launcher_of(RunOptions(model=["m"], on="ray,workers=2", out=out))
    assert str(refusal.value) == (
        "--on ray needs an --out that all nodes reach, such as s3://bucket/run or file:///shared/run"
    )


@pytest.mark.usefixtures("launchers")
@pytest.mark.parametrize("where", ["local:0", "local:1025", "local", "local:x", "locals:2", "cloud:2"])
def test_workers_at_a_place_that_is_not_known_are_refused(where: str):
    with pytest.raises(UsageError) as refusal:
        commands.launcher_at(where, quiet=False)
    assert str(refusal.value) == (
        f"--on is {where!r}; expected local:N with N from 1 to 1,024, such as local:4, or ray"
    )


@pytest.mark.usefixtures("launchers")
def test_parts_are_made_by_the_workers_of_a_place(monkeypatch: pytest.MonkeyPatch):
    def noted(job: Any, target: Path, launcher: Callable[[], Any], *, force: bool) -> tuple[Any, ...]:
        return job.kind, job.settings, job.parts, target, launcher(), force

    monkeypatch.setattr(commands, "made_parts", noted)
    for where, force, launcher in (
        ("local:3", True, ("local", 3, None)),
        ("ray", False, ("ray", None, None, None, False)),
    ):
        parts: Any = commands.shared_parts("k", {"seed": 1}, 4, Path("x"), where, force=force)
        assert parts == ("k", {"seed": 1}, 4, Path("x"), launcher, force)


# A worker -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "status", "lines"),
    [
        (None, 130, []),
        (WorkerResult(1_234, 5_678, 0, None), 0, ["this worker played 1,234 items with 5,678 calls"]),
        (WorkerResult(1, 2, 1, None), 3, ["this worker played 1 items with 2 calls"]),
        (
            WorkerResult(1, 2, 0, "enough"),
            3,
            ["this worker played 1 items with 2 calls", "stopped: enough"],
        ),
    ],
)
def test_a_worker_says_what_it_played_unless_a_command_started_it(
    result: WorkerResult | None,
    status: int,
    lines: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setenv("COLUMNS", "1000")
    asked: list[Any] = []

    def work(store: FolderStore, server: str | None) -> WorkerResult | None:
        asked.append((store.url, server))
        return result

    monkeypatch.setattr(commands, "work", work)
    url = tmp_path.as_uri()
    monkeypatch.delenv(PARENT_VARIABLE, raising=False)
    assert commands.worker(Path(url), "serve {port}") == status
    assert capsys.readouterr().err == "".join(f"{url}: {line}\n" for line in lines)
    monkeypatch.setenv(PARENT_VARIABLE, "1")
    assert commands.worker(Path(url), None) == status
    assert capsys.readouterr().err == ""
    assert asked == [(url, "serve {port}"), (url, None)]


def test_a_worker_of_parts_says_how_many_it_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("COLUMNS", "1000")
    job = commands.PartsJob(kind="k", settings={}, parts=2)
    url = tmp_path.as_uri()
    FolderStore(tmp_path).put("job.json", job.as_bytes())

    def work_on_parts(store: FolderStore, parts: commands.PartsJob) -> int:
        assert (store.url, parts) == (url, job)
        return 7

    monkeypatch.setattr(commands, "work_on_parts", work_on_parts)
    monkeypatch.delenv(PARENT_VARIABLE, raising=False)
    assert commands.worker(Path(url), None) == 0
    assert capsys.readouterr().err == f"{url}: this worker made 7 parts\n"
    monkeypatch.setenv(PARENT_VARIABLE, "1")
    assert commands.worker(Path(url), None) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("base_url", ["http://127.0.0.1:{port}/v1", None])
def test_a_server_of_a_worker_is_waited_for_and_its_models_learn_the_port(
    base_url: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    acts: list[Any] = []

    @contextmanager
    def server(command: str, url: str, log: Path, key_variable: str | None) -> Any:
        acts.append((command, url, log, key_variable))
        yield SimpleNamespace(port=4321, wait=lambda: acts.append("wait"))
        acts.append("end")

    class Called:
        def use_port(self, port: int) -> None:
            acts.append(("port", port))

    called = Called()
    monkeypatch.setenv("COLUMNS", "1000")
    monkeypatch.setattr(commands, "ModelServer", server)
    monkeypatch.setattr(commands, "cache_folder_of_runs", lambda: tmp_path)
    monkeypatch.setattr(commands, "endpoint_model", lambda model: called if model == "called" else None)
    plan: Any = SimpleNamespace(models={"agent": "called", "user": "other"})
    options = RunOptions(model=["m"], base_url=base_url, api_key_env="OWN_KEY")
    log = tmp_path / "servers" / "w1.log"
    with commands._own_server("serve {port}", "w1", options, plan) as own:  # pyright: ignore[reportPrivateUsage]
        assert own is not None and own.port == 4321
        acts.append("work")
    assert acts == [("serve {port}", base_url or "", log, "OWN_KEY"), "wait", ("port", 4321), "work", "end"]
    assert capsys.readouterr().err == f"server of a worker at port 4321; its log: {log}\n"
    acts.clear()
    with commands._own_server(None, "w1", options, plan) as own:  # pyright: ignore[reportPrivateUsage]
        assert own is None
    assert acts == []


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_work_of_a_worker(sent: signal.Signals):
    ended: list[str] = []

    class Player:
        async def work(self) -> None:
            try:
                asyncio.get_running_loop().call_soon(signal.raise_signal, sent)
                await asyncio.Event().wait()
            finally:
                ended.append("gave up its shares")

    player: Any = Player()
    assert asyncio.run(commands._until_stopped(player)) is None  # pyright: ignore[reportPrivateUsage]
    assert ended == ["gave up its shares"]
