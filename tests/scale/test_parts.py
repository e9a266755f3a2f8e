"""Work in parts: what workers make together is what one makes, and what was made once is not made again."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from e2e.command import wildtool
from wildtool.errors import DataError, RecordError, UsageError
from wildtool.scale.claims import Claims, held_key, worker_key
from wildtool.scale.control import Launcher
from wildtool.scale.copies import url_digest
from wildtool.scale.job import SharedJob
from wildtool.scale.local import LocalLauncher
from wildtool.scale.parts import PartsJob, made_parts, part_key, work_on_parts
from wildtool.scale.store import FolderStore
from wildtool.sets.make.core.plan import SessionGenerationSpec
from wildtool.sets.make.procedural.parts import SetMaker, part_lines, set_settings
from wildtool.sets.make.procedural.sessions import ProceduralSet

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


def test_two_workers_make_all_parts_in_order_and_leave_nothing_behind(tmp_path: Path):
    with made_parts(job(), tmp_path / "made", lambda: LocalLauncher(2), force=False) as parts:
        assert list(map(records, parts)) == expected()
    assert list(tmp_path.iterdir()) == []


async def test_the_part_of_a_dead_worker_is_made_by_the_next_one_of_its_machine(tmp_path: Path):
    folder, cache = tmp_path / "made.parts", tmp_path / "cache"
    store = FolderStore(folder)
    store.put("job.json", job().as_bytes())
    place = job().place(store)
    place.put(held_key(0, 1), b'{"worker": "dead"}')
    place.put(worker_key("dead"), b"{}")
    spool = cache / "spool" / url_digest(store.url) / "dead"
    (spool / "shares").mkdir(parents=True)
    (spool / "lock").touch()
    worker = await wildtool("worker", "--run", store.url, cwd=tmp_path, WILDTOOL_CACHE_DIR=str(cache))
    assert worker.status == 0, worker.err
    assert "this worker made 4 parts" in worker.err
    assert [records(place.get(part_key(number)) or b"") for number in range(4)] == expected()


def test_a_later_start_makes_what_is_missing_and_nothing_else(tmp_path: Path):
    target, folder = tmp_path / "made", tmp_path / "made.parts"
    with (
        pytest.raises(KeyboardInterrupt),
        made_parts(job(), target, lambda: LocalLauncher(1), force=False) as parts,
    ):
        next(parts)
        raise KeyboardInterrupt
    (first,) = folder.glob(f"*/{part_key(0)}")
    made_at = first.stat().st_mtime_ns
    with made_parts(job(), target, lambda: LocalLauncher(1), force=False) as parts:
        assert list(map(records, parts)) == expected()
        assert first.stat().st_mtime_ns == made_at
    assert not folder.exists()


def test_parts_of_other_sessions_are_neither_used_nor_thrown_away(tmp_path: Path):
    target = tmp_path / "made"
    FolderStore(tmp_path / "made.parts").put("job.json", job(SessionGenerationSpec(7, seed="2")).as_bytes())
    with (
        pytest.raises(UsageError, match="with other options"),
        made_parts(job(), target, NoLauncher, force=False),
    ):
        pass
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
    with (
        pytest.raises(UsageError, match="holds other files"),
        made_parts(job(), tmp_path / "made", NoLauncher, force=False),
    ):
        pass
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
