"""Work in parts: what workers make together is what one makes, and what was made once is not made again."""

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from typer.testing import CliRunner

from wildtool.cli import app
from wildtool.errors import DataError, RecordError, UsageError
from wildtool.scale import parts as module
from wildtool.scale.claims import Claims, done_key, ended_key, held_key, worker_key
from wildtool.scale.control import Launcher
from wildtool.scale.copies import url_digest
from wildtool.scale.job import SharedJob
from wildtool.scale.local import LocalLauncher
from wildtool.scale.parts import PartsJob, made_parts, part_key, work_on_parts
from wildtool.scale.store import FolderStore
from wildtool_data.make.core.plan import SessionGenerationSpec
from wildtool_data.make.procedural.parts import SetMaker, part_lines, set_settings
from wildtool_data.make.procedural.sessions import ProceduralSet

SPEC = SessionGenerationSpec(7, langs=("en", "zh"))
SMALL = 2
"""Sessions of a part."""


def job(spec: SessionGenerationSpec = SPEC) -> PartsJob:
    return PartsJob(
        kind="procedural", settings=set_settings(spec, None, SMALL), parts=-(-spec.sessions // SMALL)
    )


class NoLauncher(Launcher):
    """Starts nobody."""

    count = 0

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.say = print

    def start(self, url: str) -> None: ...

    def poll(self) -> bool:
        return False

    def stop(self) -> None: ...


def tool(name: str) -> dict[str, Any]:
    city = {"type": "string", "description": "The city."}
    parameters = {"type": "object", "properties": {"city": city}, "required": ["city"]}
    return {
        "type": "function",
        "function": {"name": name, "description": "Finds it.", "parameters": parameters},
    }


def records(part: bytes) -> list[dict[str, Any]]:
    *lines, _ = part_lines(part)
    return [json.loads(line) for line in lines]


def expected() -> list[list[dict[str, Any]]]:
    alone = ProceduralSet(SPEC, print, part_sessions=SMALL)
    return [[record for record, _ in alone.part(number)] for number in range(alone.parts)]


def test_a_part_is_the_same_whichever_was_made_before():
    backwards = ProceduralSet(SPEC, print, part_sessions=SMALL)
    made = {number: [record for record, _ in backwards.part(number)] for number in (3, 0, 2, 1)}
    assert [made[number] for number in range(4)] == expected()
    assert [len(part) for part in expected()] == [2, 2, 2, 1]


@pytest.mark.long
def test_two_workers_make_all_parts_in_order_and_leave_nothing_behind(tmp_path: Path):
    with made_parts(job(), tmp_path / "made", lambda: LocalLauncher(2), force=False) as parts:
        assert list(map(records, parts)) == expected()
    assert list(tmp_path.iterdir()) == []


def test_parts_of_other_sessions_are_neither_used_nor_thrown_away(tmp_path: Path):
    target = tmp_path / "made"
    FolderStore(tmp_path / "made.parts").put("job.json", job(SessionGenerationSpec(7, seed="2")).as_bytes())
    with pytest.raises(UsageError) as caught, made_parts(job(), target, NoLauncher, force=False):
        pass
    assert str(caught.value) == (
        f"{target}.parts: holds parts that were made with other options, tools or another version; repeat these, name"
        " another --out, or add --force to remove what is there"
    )
    with made_parts(job(), target, NoLauncher, force=True):
        assert FolderStore(tmp_path / "made.parts").get("job.json") == job().as_bytes()


class Once(NoLauncher):
    """Does something in place of workers."""

    def __init__(self, act: Callable[[FolderStore], object]) -> None:
        super().__init__()
        self._act = act

    def start(self, url: str) -> None:
        self._act(FolderStore(Path(unquote(urlsplit(url).path))))


def test_a_helper_that_outlives_its_job_adds_nothing_to_another_one(tmp_path: Path):
    other = job(SessionGenerationSpec(7, seed="2"))

    def help_both(store: FolderStore) -> None:
        Claims(other.place(store), "helper", other.parts, 1).claim()
        other.place(store).create(part_key(0), b"of the other job")
        work_on_parts(store, job())

    with made_parts(job(), tmp_path / "made", lambda: Once(help_both), force=False) as parts:
        assert list(map(records, parts)) == expected()


def test_a_helper_makes_nothing_once_its_job_has_ended(tmp_path: Path):
    folder = tmp_path / "made.parts"
    store = FolderStore(folder)
    store.put("job.json", job().as_bytes())
    late = SetMaker.part

    def part(self: SetMaker, number: int) -> bytes:
        shutil.rmtree(folder)
        return late(self, number)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SetMaker, "part", part)
        assert work_on_parts(store, job()) == 0
    assert not folder.exists()


def test_files_that_are_no_parts_are_not_removed_unless_that_is_said(tmp_path: Path):
    notes = tmp_path / "made.parts" / "notes.txt"
    notes.parent.mkdir()
    notes.write_text("mine")
    with pytest.raises(UsageError) as caught, made_parts(job(), tmp_path / "made", NoLauncher, force=False):
        pass
    assert str(caught.value) == (
        f"{tmp_path}/made.parts: holds other files, and parts are to be there; move them away, name another --out, or"
        " add --force to remove what is there"
    )
    assert notes.read_text() == "mine"
    with made_parts(job(), tmp_path / "made", NoLauncher, force=True):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_helper_with_other_tools_makes_no_parts(tmp_path: Path):
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([tool(name) for name in ("find_hotel", "find_museum", "find_dentist")]))
    settings = set_settings(SessionGenerationSpec(1, tools=tools), None, SMALL)
    assert SetMaker(settings).part(0)
    tools.write_text(json.dumps([tool(name) for name in ("find_hotel", "find_museum", "find_garage")]))
    with pytest.raises(UsageError, match="put the same file here"):
        SetMaker(settings)


def test_of_two_that_make_one_file_the_second_is_refused(tmp_path: Path):
    with (
        made_parts(job(), tmp_path / "made", NoLauncher, force=False),
        pytest.raises(UsageError, match="another wildtool"),
        made_parts(job(), tmp_path / "made", NoLauncher, force=False),
    ):
        pass


def test_a_damaged_job_is_named_and_one_of_a_run_is_left_to_runs(tmp_path: Path):
    store = FolderStore(tmp_path)
    whole = {"kind": "procedural", "settings": {}, "parts": 1}
    damaged = [json.dumps(whole | {name: []}) for name in ("kind", "parts")]
    for content in (
        '{"kind": "procedural", "parts"',
        '["kind"]',
        json.dumps({**whole, "settings": []}),
        *damaged,
    ):
        store.put("job.json", content.encode())
        with pytest.raises(RecordError, match=r"job\.json: damaged .*remove this folder"):
            PartsJob.read(store)
    store.put("job.json", b'{"format": 2, "benchmark"')
    assert PartsJob.read(store) is None
    with pytest.raises(UsageError, match="does not know"):
        PartsJob(kind="shell", settings={}, parts=1).maker()


@pytest.mark.parametrize(
    "content", ["[]", "3", '{"format"', '{"format": 2}', '{"format": 2, "benchmark": 1}']
)
def test_a_damaged_job_of_a_run_is_named(tmp_path: Path, content: str):
    store = FolderStore(tmp_path)
    store.put("job.json", content.encode())
    with pytest.raises(RecordError, match=r"job\.json: damaged .*start the run again"):
        SharedJob.read(store)


@pytest.mark.parametrize("name", ["version", "sessions", "langs", "part_sessions", "part", "tools"])
def test_damaged_settings_of_parts_are_named(name: str):
    settings = {**set_settings(SPEC, None, SMALL), name: {}}
    with pytest.raises(DataError, match=rf"damaged, so remove their folder.*: field {name}: .*expected"):
        PartsJob(kind="procedural", settings=settings, parts=1).maker()


# Parts that take no time ------------------------------------------------------------------------------


class Maker:
    """Makes parts that say their number; what a test names happens at one of them."""

    acts: dict[int, Callable[[], object]] = {}  # noqa: RUF012

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings

    def part(self, number: int) -> bytes:
        self.acts.get(number, int)()
        return f"{self.settings['name']} {number}".encode()


PARTS = PartsJob(kind="quick", settings={"name": "part"}, parts=3)


@pytest.fixture
def acts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[int, Callable[[], object]]:
    monkeypatch.setenv("WILDTOOL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setitem(module._EXTRAS, "quick", "data")  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(module, "own_offer", lambda group, kind, extra, what: {"quick": Maker}[kind])
    monkeypatch.setattr(module, "leave_at_sigterm", lambda: None)
    monkeypatch.setattr(module, "worker_name", lambda: "me")
    monkeypatch.setattr(module, "_POLL_S", 0.0)
    monkeypatch.setattr(Maker, "acts", {})
    return Maker.acts


@pytest.fixture
def store(tmp_path: Path, acts: object) -> FolderStore:
    store = FolderStore(tmp_path / "made.parts")
    store.put("job.json", PARTS.as_bytes())
    return store


def keys(store: FolderStore) -> list[str]:
    place = PARTS.place(store)
    return [entry.key for folder in place.folders() for entry in place.entries(f"{folder}/")]


def spools(tmp_path: Path) -> list[str]:
    return [path.name for path in (tmp_path / "cache" / "spool").glob("*/*")]


@pytest.mark.parametrize("parent", ["", "1"])
def test_the_part_of_a_dead_worker_is_made_by_the_next_one_of_its_machine(
    store: FolderStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parent: str
):
    monkeypatch.setenv("WILDTOOL_WORKER_PARENT", parent)
    place = PARTS.place(store)
    place.put(held_key(0, 1), b'{"worker": "dead"}')
    place.put(worker_key("dead"), b"{}")
    spool = tmp_path / "cache" / "spool" / url_digest(store.url) / "dead"
    (spool / "shares").mkdir(parents=True)
    (spool / "lock").touch()
    worker = CliRunner().invoke(app, ["worker", "--run", store.url])
    words = "" if parent else f"{store.url}: this worker made 3 parts\n"
    assert (worker.exit_code, worker.stdout, worker.stderr) == (0, "", words)
    assert [place.get(part_key(number)) for number in range(3)] == [b"part 0", b"part 1", b"part 2"]


def test_a_later_start_makes_what_is_missing_and_nothing_else(
    store: FolderStore, acts: dict[int, Callable[[], object]], tmp_path: Path
):
    def interrupt() -> None:
        raise KeyboardInterrupt

    def parts() -> AbstractContextManager[Iterator[bytes]]:
        work = partial(work_on_parts, job=PARTS)
        return made_parts(PARTS, tmp_path / "made", lambda: Once(work), force=False)

    numbers: list[int] = []
    acts |= {0: lambda: numbers.append(0), 1: interrupt, 2: lambda: numbers.append(2)}
    with pytest.raises(KeyboardInterrupt), parts():
        pass
    acts[1] = lambda: numbers.append(1)
    with parts() as made:
        assert list(made) == [b"part 0", b"part 1", b"part 2"]
    assert (numbers, (tmp_path / "made.parts").exists()) == ([0, 1, 2], False)


def test_a_job_is_told_from_another_by_what_it_says(store: FolderStore, tmp_path: Path):
    assert PARTS.as_bytes() == (
        b'{\n "kind": "quick",\n "parts": 3,\n "settings": {\n  "name": "part"\n }\n}'
    )
    assert PARTS.place(store).url == f"{store.url}/faeb394c71de4666"
    assert PARTS.is_in(store)
    assert not job().is_in(store)
    assert PartsJob.read(store) == PARTS
    (tmp_path / "made.parts" / "job.json").unlink()
    assert not PARTS.is_in(store)
    assert PartsJob.read(store) is None


def test_a_part_that_cannot_be_made_is_left_to_others(
    store: FolderStore, acts: dict[int, Callable[[], object]], tmp_path: Path
):
    def fail() -> None:
        raise KeyboardInterrupt

    acts[1] = fail
    with pytest.raises(KeyboardInterrupt):
        work_on_parts(store, PARTS)
    assert [key for key in keys(store) if key.startswith("share/")] == [
        held_key(0, 1),
        done_key(0),
        ended_key(1, 1, 0),
        held_key(1, 1),
    ]
    assert spools(tmp_path) == []


def test_a_worker_waits_for_parts_that_others_make(
    store: FolderStore, acts: dict[int, Callable[[], object]], monkeypatch: pytest.MonkeyPatch
):
    place = PARTS.place(store)
    other = Claims(place, "other", 3, 1)
    other.beat({})
    claims = [claim for claim in (other.claim(), other.claim(), other.claim()) if claim]
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            other.leave(claims.pop(), for_anybody=True)
        if len(waits) == 3:
            for claim in claims:
                other.finish(claim)

    monkeypatch.setattr(module, "time", SimpleNamespace(sleep=sleep, monotonic=time.monotonic))
    monkeypatch.setattr(module, "_POLL_S", 7.0)
    assert work_on_parts(store, PARTS) == 1
    assert waits == [7.0] * 3


class Slow(NoLauncher):
    """Something happens at each look; works as long as there is anything left."""

    def __init__(self, *looks: Callable[[], object]) -> None:
        super().__init__()
        self.looks, self.log = [*looks], list[str]()

    def poll(self) -> bool:
        self.log.append("poll")
        if self.looks:
            self.looks.pop(0)()
        return bool(self.looks)

    def stop(self) -> None:
        self.log.append("stop")


def test_workers_that_end_before_all_is_made_are_named(tmp_path: Path, acts: dict[int, Callable[[], object]]):
    store = FolderStore(tmp_path / "made.parts")
    last = Slow(lambda: PARTS.place(store).put(part_key(0), b"in the last moment"))
    with (
        pytest.raises(RecordError) as caught,
        made_parts(PARTS, tmp_path / "made", lambda: last, force=False) as parts,
    ):
        assert next(parts) == b"in the last moment"
        next(parts)
    assert str(caught.value) == (
        f"{tmp_path}/made: workers ended before all parts were made; run the same command again to continue"
    )
    assert last.log == ["poll", "poll", "stop"]
    assert PARTS.is_in(store), "what was made stays"


def test_what_a_killed_process_was_removing_is_removed(tmp_path: Path, acts: object):
    (tmp_path / ".made.parts.removed").mkdir()
    (tmp_path / ".made.parts.removed" / "x").touch()
    with made_parts(PARTS, tmp_path / "made", NoLauncher, force=False):
        pass
    assert list(tmp_path.iterdir()) == []
