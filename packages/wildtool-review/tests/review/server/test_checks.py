"""The rules run over new items while the pages are open."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from review.made_sets import edit, project, tiny_records
from review.server.served import Pages
from wildtool.errors import StorageError
from wildtool.findings import Finding, fault
from wildtool.report.server.access import AccessPolicy
from wildtool_review import project as project_module
from wildtool_review.project import ReviewProject
from wildtool_review.server import checks as checks_module
from wildtool_review.server.app import ReviewApp, review_application
from wildtool_review.server.checks import ChecksProgress, is_long
from wildtool_review.server.sign_in import SignIn


class Gate:
    """Lets as many portions through as a test wants."""

    def __init__(self, work: Callable[[Callable[[], Any]], Any]) -> None:
        self._work = work
        self._left = asyncio.Semaphore(0)
        self._done = asyncio.Semaphore(0)

    async def work(self, action: Callable[[], Any]) -> Any:
        await self._left.acquire()
        done = await self._work(action)
        self._done.release()
        return done

    async def let(self, portions: int) -> None:
        for _ in range(portions):
            self._left.release()
            await self._done.acquire()


@asynccontextmanager
async def checked_while_open(
    review: ReviewProject, seen: list[ChecksProgress]
) -> AsyncIterator[tuple[Pages, Gate]]:
    """A server that checks one item when its gate lets it."""
    app = ReviewApp(review, "set", SignIn("owner"), on_progress=seen.append)
    assert app.checks
    gate = Gate(app.work)
    app.checks._work = gate.work  # pyright: ignore[reportPrivateUsage]
    made = review_application(app, AccessPolicy("127.0.0.1", remote=False, writes=True))
    async with TestClient(TestServer(made)) as client:
        yield Pages(client), gate


@pytest.fixture(autouse=True)
def _one_item_a_portion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ReviewProject.check_some, "__defaults__", (0.0,))


async def json_of(pages: Pages, what: str, **query: Any) -> Any:
    return await (await pages.get(what, **query)).json()


async def checked_in_queue(pages: Pages) -> list[str]:
    rows = (await json_of(pages, "queue", queue="all"))["items"]
    return [row["id"] for row in rows if row["warnings"] is not None]


def checks_in(review: ReviewProject) -> list[str]:
    return [entry.item for entry in review.store.read() if entry.kind == "check"]


async def test_pages_answer_while_items_are_unchecked_and_say_how_far_the_rules_are(tmp_path: Path):
    seen: list[ChecksProgress] = []
    review = project(tmp_path, tiny_records(3))
    async with checked_while_open(review, seen) as (pages, gate):
        assert await checked_in_queue(pages) == []
        assert (await json_of(pages, "review"))["queues"]["unchecked"] == 3
        await gate.let(1)
        assert await checked_in_queue(pages) == ["s0"]
        now = await json_of(pages, "checks")
        assert now == {"checked": 1, "total": 3, "running": True, "problem": ""}
        await gate.let(3)
        assert await checked_in_queue(pages) == ["s0", "s1", "s2"]
        assert (await json_of(pages, "checks"))["running"] is False
    assert [one.checked for one in seen] == [1, 2, 3]


async def test_an_item_that_is_opened_or_saved_is_checked_at_once_and_only_once(tmp_path: Path):
    review = project(tmp_path, tiny_records(3))
    async with checked_while_open(review, []) as (pages, gate):
        assert (await pages.item("s2"))["findings"] is not None
        assert (await (await pages.edit("s1", "/english_tasks/0", text="New?")).json())[
            "findings"
        ] is not None
        assert (await pages.item("s2"))["findings"] is not None
        await gate.let(2)
        assert (await json_of(pages, "checks"))["running"] is False
    # s1 was opened, so its first version was checked, then saved.
    assert checks_in(project(tmp_path, [])) == ["s2", "s1", "s1", "s0"]


async def test_rules_that_were_stopped_go_on_and_repeat_nothing(tmp_path: Path):
    async with checked_while_open(project(tmp_path, tiny_records(4)), []) as (_, gate):
        await gate.let(2)
    again = project(tmp_path, [])
    assert [item.id for item in again.state.queue("unchecked")] == ["s2", "s3"]
    async with checked_while_open(again, []) as (_, gate):
        await gate.let(3)
    assert checks_in(project(tmp_path, [])) == ["s0", "s1", "s2", "s3"]


async def test_a_full_disk_keeps_the_rules_waiting_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    seen: list[ChecksProgress] = []
    review = project(tmp_path, tiny_records(2))

    def full(*_: Any) -> Any:
        raise StorageError("the disk is full")

    async with checked_while_open(review, seen) as (pages, gate):
        monkeypatch.setattr(review.store, "append", full)
        await gate.let(1)
        now = await json_of(pages, "checks")
        assert (now["running"], now["problem"]) == (True, "the disk is full")
        item = await pages.item("s0")
        assert (item["findings"], item["tasks"][0]["parts"][0]["text"]) == (None, "Tell me about number 0.")
        answer = await pages.edit("s0", "/english_tasks/0", text="New?")
        assert answer.status == 507
    assert [one.problem for one in seen] == ["the disk is full"]


async def test_rules_go_on_by_themselves_once_the_store_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(checks_module, "STORE_RETRY_S", 0)
    seen: list[ChecksProgress] = []
    review = project(tmp_path, tiny_records(2))
    read, away = review.store.read, iter([True, True])

    def unreachable(after: int = 0) -> Any:
        if next(away, False):
            raise StorageError("the database is away")
        return read(after)

    async with checked_while_open(review, seen) as (_, gate):
        monkeypatch.setattr(review.store, "read", unreachable)
        await gate.let(4)
    assert [(one.problem, one.checked) for one in seen] == [("the database is away", 0), ("", 1), ("", 2)]
    assert checks_in(project(tmp_path, [])) == ["s0", "s1"]


async def test_without_the_rules_nothing_is_checked(tmp_path: Path):
    review = project(tmp_path, tiny_records(1))
    app = ReviewApp(review, "set", SignIn("owner"))
    made = review_application(app, AccessPolicy("127.0.0.1", remote=False, writes=True))
    async with TestClient(TestServer(made)) as client:
        pages = Pages(client)
        assert await json_of(pages, "checks") == {}
        assert (await pages.item("s0"))["findings"] is None


def test_a_rule_that_fails_is_a_finding_and_keeps_nobody_from_mending_the_item(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    review = project(tmp_path, tiny_records(2))

    def fails(content: Any) -> Any:
        if content["id"] == "s0":
            raise ZeroDivisionError("odd")
        return []

    monkeypatch.setattr(review.format, "check", fails)
    assert list(review.check_items()) == ["s0", "s1"]
    (found,) = review.item("s0").findings() or []
    assert (found.rule, found.message) == ("rules", "the rules fail on this item (ZeroDivisionError: odd)")
    edit(review, "owner", "s0", "Mended?")
    assert review.item("s0").content["english_tasks"][0] == "Mended?"


def test_who_writes_first_keeps_what_two_processes_check(tmp_path: Path):
    review, other = project(tmp_path, tiny_records(2)), project(tmp_path, [])
    check = review.format.check

    def meanwhile(content: Any) -> Any:
        monkeypatch.undo()
        edit(other, "owner", "s0", "Meanwhile?")
        return check(content)

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(review.format, "check", meanwhile)
        review.check_some(10.0)
    assert review.item("s0").content["english_tasks"][0] == "Meanwhile?"
    assert [item.id for item in review.state.queue("unchecked")] == ["s1"]
    assert list(review.check_items()) == ["s1"]


def test_one_portion_takes_as_many_items_as_its_time_allows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    review = project(tmp_path, tiny_records(5))
    clock = iter(range(100))
    monkeypatch.setattr(project_module, "monotonic", lambda: next(clock))
    assert review.check_some(3) == ["s0", "s1", "s2"]
    assert review.check_some(1) == ["s3"]


LONG = "one number is twenty-one, " * 12_000


@pytest.mark.long
async def test_a_long_text_is_saved_while_nobody_waits_for_its_findings(tmp_path: Path):
    review, may_read, findings_in = project(tmp_path), Event(), project_module.ReviewProject.findings_in

    def waits(content: Any) -> Any:
        if is_long(content):
            may_read.wait(60)
        return findings_in(review, content)

    review.findings_in = waits
    app = ReviewApp(review, "set", SignIn("owner"), on_progress=lambda now: None)
    made = review_application(app, AccessPolicy("127.0.0.1", remote=False, writes=True))
    async with TestClient(TestServer(made)) as client:
        pages = Pages(client)
        saved = await (await pages.edit("s1", "/english_tasks/1", text=LONG)).json()
        assert (saved["checking"], saved["findings"]) == (True, None)
        assert (await pages.item("s0"))["findings"] is not None
        refused = await pages.post("decide", id="s1", seen=saved["seen"], choice="approve")
        assert (refused.status, "still read" in (await refused.json())["problem"]) == (422, True)
        may_read.set()
        item = saved
        while item["checking"]:
            item = await pages.item("s1")
        assert item["seen"] == saved["seen"] and item["findings"] is not None


@asynccontextmanager
async def checked_by_themselves(
    review: ReviewProject, seen: list[ChecksProgress]
) -> AsyncIterator[Callable[[Callable[[], bool]], Any]]:
    """A server whose rules run freely; gives what waits until something is so in the thread that has the store."""
    app = ReviewApp(review, "set", SignIn("owner"), on_progress=seen.append)
    made = review_application(app, AccessPolicy("127.0.0.1", remote=False, writes=True))
    async with TestClient(TestServer(made)):

        async def until(is_so: Callable[[], bool]) -> None:
            while not await app.work(is_so):
                pass

        yield until


@pytest.mark.long
async def test_a_new_rule_of_a_package_reads_long_items_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    review = project(tmp_path)
    edit(review, "owner", "s1", LONG)
    assert list(review.check_items())

    def custom(name: str, content: Any) -> list[Finding]:
        return [fault("no-numbers", "has a number")] if is_long(content) else []

    monkeypatch.setattr(project_module, "rules_identity", lambda name: [["no-numbers", "1"]])
    monkeypatch.setattr(project_module, "custom_findings", custom)
    again = project(tmp_path, [])
    async with checked_by_themselves(again, []) as until:
        await until(lambda: "no-numbers" in [found.rule for found in again.item("s1").findings() or ()])


async def test_a_long_item_is_read_again_once_the_store_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(checks_module, "STORE_RETRY_S", 0)
    seen: list[ChecksProgress] = []
    records = tiny_records(2)
    records[1]["english_tasks"][0] = LONG
    review = project(tmp_path, records)
    keep, away = ReviewProject.keep_check, iter([True])

    def unreachable(*args: Any) -> Any:
        if next(away, False):
            raise StorageError("the database is away")
        return keep(*args)

    monkeypatch.setattr(ReviewProject, "keep_check", unreachable)
    async with checked_by_themselves(review, seen) as until:
        await until(lambda: all(item.warnings is not None for item in review.state.items.values()))
        await until(lambda: not seen[-1].running)
    assert "the database is away" in [one.problem for one in seen]
    assert seen[-1].problem == ""
