"""`wildtool review SET` in a browser: a whole review by three people, and what the pages do with hostile texts."""

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from aiohttp import web

from report.report_build import ATTACK
from review.made_sets import TEXT, decide, edit, mini_records, project, recheck, tiny_records
from review.planted import UNSEEN, planted_records
from wildtool.report.server.access import AccessPolicy
from wildtool_data.formats.base import RawItem
from wildtool_data.formats.cases import CASE_FILES
from wildtool_data.pointers import Change
from wildtool_review.project import ReviewProject
from wildtool_review.proposed import propose
from wildtool_review.release import write_release
from wildtool_review.server.app import ReviewApp, review_application
from wildtool_review.server.operations import RecordedRuns
from wildtool_review.server.pages import PageServer
from wildtool_review.server.regeneration import Regeneration
from wildtool_review.server.sign_in import SignIn
from wildtool_review.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PHONE = {"width": 390, "height": 844}
SCREEN = {"width": 1280, "height": 900}


@contextmanager
def serving(
    review: ReviewProject,
    alone: str = "",
    rules_from: threading.Event | None = None,
    runs: RecordedRuns | None = None,
    regeneration: Regeneration | None = None,
    latency: float = 0.0,
) -> Iterator[str]:
    """The address of a server of a review, in a thread with its own event loop.

    Args:
        rules_from: the rules run over new items from this event on; None if they do not.
        latency: seconds that each answer takes.
    """
    app = ReviewApp(
        review, "set", SignIn(alone), runs, (lambda now: None) if rules_from else None, regeneration
    )

    async def work(action: Callable[[], Any]) -> Any:
        await asyncio.get_running_loop().run_in_executor(None, (rules_from or threading.Event()).wait)
        return await app.work(action)

    if app.checks:
        app.checks._work = work  # pyright: ignore[reportPrivateUsage]
    with serving_pages(app, latency) as address:
        yield address


@contextmanager
def serving_pages(app: PageServer, latency: float = 0.0) -> Iterator[str]:
    """The address of a server of pages. Args: as of `serving`."""
    loop, address = asyncio.new_event_loop(), ""
    application = review_application(app, AccessPolicy("127.0.0.1", remote=False, writes=True))
    if latency:
        application.on_response_prepare.append(lambda request, response: asyncio.sleep(latency))
    runner = web.AppRunner(application)

    async def start() -> str:
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{runner.addresses[0][1]}/"

    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        address = asyncio.run_coroutine_threadsafe(start(), loop).result(10)
        yield address
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


@dataclass
class Person:
    """Somebody at a page that must complain of nothing, and ask nobody but the server."""

    page: "Page"
    address: str
    complaints: list[str] = field(default_factory=list[str])
    requests: list[str] = field(default_factory=list[str])

    def sign_in(self, token: str) -> None:
        self.page.goto(self.address)
        self.page.get_by_label("Personal token").fill(token)
        self.page.keyboard.press("Enter")
        self.page.locator("article.queue").wait_for()

    def goto(self, place: str, article: str) -> None:
        self.page.evaluate("place => { location.hash = place }", place)
        self.page.locator(f"main[data-shown='#{place}'] article.{article}").wait_for()

    def at(self, item: str) -> None:
        self.page.locator("article.item h1", has_text=item).wait_for()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def rows(self) -> list[str]:
        """The ids of the items that the queue shows."""
        return self.page.locator(".row").evaluate_all("rows => rows.map((row) => row.dataset.id)")

    def decide(self, reason: str = "") -> None:
        """Approves, or rejects for a reason, and has the answer."""
        if reason:
            self.press("r")
            self.page.locator(f".reasons input[value='{reason}']").check()
        with self.page.expect_response("**/api/decide") as said:
            self.press("r" if reason else "a")
        assert said.value.ok, said.value.text()

    def fits(self) -> bool:
        """Whether nothing has to be scrolled sideways."""
        return self.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@contextmanager
def people(browser: "Browser", address: str, *names: str, size: Any = SCREEN) -> Iterator[list[Person]]:
    contexts = [browser.new_context(viewport=size, locale="en") for _ in names]
    found: list[Person] = []
    for context in contexts:
        person = Person(context.new_page(), address)
        person.page.on("console", lambda said, to=person: to.complaints.append(said.text))
        person.page.on("pageerror", lambda error, to=person: to.complaints.append(str(error)))
        person.page.on("request", lambda asked, to=person: to.requests.append(asked.url))
        found.append(person)
    yield found
    for context, person in zip(contexts, found, strict=True):
        context.close()
        assert person.complaints == []
        assert [url for url in person.requests if not url.startswith(address)] == []


FIXED = "Tell me about number 11."


def test_two_reviewers_and_an_adjudicator_take_a_set_to_a_release(browser: "Browser", tmp_path: Path):
    review = project(tmp_path, planted_records(), people="ann bob")
    tokens = [review.add_person("owner", name, "reviewer") for name in ("ann", "bob")]
    tokens.append(review.add_person("owner", "eve", "owner"))
    assert len(UNSEEN) == 12
    for _ in review.check_items():
        pass
    assert not review.state.queue("warnings")  # the rules see none of the faults
    faults = {f"s{k}": code for k, code in enumerate(UNSEEN)}
    with serving(review) as address, people(browser, address, "ann", "bob", "eve") as everyone:
        ann, bob, eve = everyone
        for person, token in zip(everyone, tokens, strict=True):
            person.sign_in(token)

        # Round 1 draws everything; ann sees all faults and corrects the last, bob misses two and suspects a good item.
        eve.goto("figures=", "figures")
        open_round(eve, "1", "1")
        for person, missed, suspected in ((ann, "s11", ""), (bob, "s10 s11", "s12")):
            person.page.reload()
            person.page.locator("article.queue .row").nth(14).wait_for()
            mine = person.rows()
            assert len(mine) == 15
            person.press("j", "Enter")
            for item in mine:
                person.at(item)
                if person is ann and item == "s11":
                    rewrite(ann, FIXED)
                    with ann.page.expect_response("**/api/recheck"):
                        ann.press("s")
                reason = (
                    "unfaithful"
                    if item == suspected
                    else ""
                    if item in missed.split()
                    else faults.get(item, "")
                )
                person.decide(reason)  # the next item comes by itself

        # Eve ends what they disagree on: she rejects s10, takes ann's edit of s11, and approves s12.
        eve.goto("queue=conflicts", "queue")
        assert eve.rows() == ["s10", "s11", "s12"]
        eve.press("j", "Enter")
        for item in ("s10", "s11", "s12"):
            eve.at(item)
            if item == "s11":
                assert (
                    eve.page.locator(".change ins").first.is_visible()
                    or eve.page.locator(".change del").first.is_visible()
                )
                assert eve.page.locator(".change .tick input").is_checked()
            if item == "s10":
                eve.press("r")
                eve.page.locator(".conflict .reasons input[value='unfaithful']").check()
            with eve.page.expect_response("**/api/resolve") as said:
                eve.press("r" if item == "s10" else "a")
            assert said.value.ok, said.value.text()
            eve.press("n")

        # By hand: twelve of fifteen items had a fault. Both rejected 10 and approved 3, each alone rejected one more:
        # agreement 13/15, by chance (11·11 + 4·4)/225, so kappa is (195 - 137)/(225 - 137) = 58/88.
        eve.goto("figures=", "figures")
        assert rates(eve) == {"1": 0.2}
        assert metric(eve, "same verdict") == "86.7 %"
        assert metric(eve, "Cohen's kappa, verdict") == "0.659"
        assert eve.page.locator("section.stop").get_attribute("data-met") == "false"
        assert "errors in the last round: 12" in eve.page.locator("section.stop").inner_text()
        eve.page.get_by_role("button", name="Close round 1").click()
        eve.page.get_by_role("button", name="Close round 1").wait_for(state="detached")

        # Round 2 draws what is left, four items; both approve all of them, so the review may stop.
        clean = {"s11", "s12", "s13", "s14"}
        open_round(eve, "1", "2")
        for person in (ann, bob):
            person.page.goto(address)
            person.page.locator("article.queue .row").nth(3).wait_for()
            mine = person.rows()
            person.press("j", "Enter")
            for item in mine:
                person.at(item)
                person.decide()
        eve.page.reload()
        eve.page.locator("article.figures").wait_for()
        assert rates(eve) == {"1": 0.2, "2": 1.0}
        assert eve.page.locator("section.stop").get_attribute("data-met") == "true"
        assert len(eve.page.locator("circle.published").all()) == 5

    released = project(tmp_path, [])
    manifest = write_release(released, tmp_path / "release")
    assert manifest["items"] == 4
    lines = (tmp_path / "release" / "sessions.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["id"] for line in lines] == sorted(clean)
    assert json.loads(lines[0])["english_tasks"][0] == FIXED


def open_round(eve: Person, share: str, seed: str) -> None:
    form = eve.page.locator("form.roundform")
    for name in ("ann", "bob"):
        form.get_by_label(name, exact=True).check()
    form.get_by_label("share").fill(share)
    form.get_by_label("seed").fill(seed)
    with eve.page.expect_response("**/api/open-round") as said:
        form.get_by_role("button", name="Open").click()
    assert said.value.ok, said.value.text()


def rewrite(person: Person, text: str) -> None:
    """Edits the first text by keyboard."""
    person.page.locator(f"[data-field='{TEXT}']").focus()
    person.press("e")
    person.page.locator("textarea").fill(text)
    with person.page.expect_response("**/api/edit") as said:
        person.press("Control+Enter")
    assert said.value.ok, said.value.text()
    person.page.locator(f"[data-field='{TEXT}'] .said", has_text=text).wait_for()


def rates(person: Person) -> dict[str, float]:
    """The quality of each round in the chart."""
    points = person.page.locator("circle.ours").all()
    return {
        str(one.get_attribute("data-round")): float(one.get_attribute("data-rate") or "nan") for one in points
    }


def metric(person: Person, name: str) -> str:
    return person.page.locator(f'tr[data-metric="{name}"] .value').inner_text()


def hostile_record() -> dict[str, Any]:
    """A session whose every text attacks the page, is long, or runs from right to left."""
    (record,) = mini_records(1)
    attack = f"{ATTACK} \u202e </script><script>window.hacked=1</script>"
    (tool,) = record["english_tools"][:1]
    tool["function"] |= {"name": f"<img src=x onerror=window.hacked=1>{'n' * 300}", "description": attack}
    record |= {
        "domain": attack,
        "english_env_info": attack,
        "english_tools": [tool, *record["english_tools"][1:]],
    }
    record["english_tasks"][0] = attack + "x" * 5000
    record["english_tasks"][1] = "مرحبا، كم الساعة الآن؟ 👩‍👩‍👧‍👦 你好"
    first = record["english_answer_list"][0]
    first[0]["action"] = {"name": attack, "arguments": {attack: attack}}
    first[0]["observation"] = attack
    first[-1]["observation"] = attack
    record["english_task_types"][2] = attack
    record["made_by"] = {"candidates": [[attack, {"text": attack, attack: attack}]]}
    return record


def test_hostile_texts_are_texts_on_a_phone_and_everything_fits(browser: "Browser", tmp_path: Path):
    hostile, attack = hostile_record(), "<b>x</b>"
    review = project(tmp_path, [{**hostile, "id": f"{ATTACK}{'i' * 200}"}, *tiny_records(2)])
    for _ in review.check_items():
        pass
    review.remark("owner", review.state.queue("all")[0].id, attack)
    with serving(review, alone="owner") as address, people(browser, address, "owner", size=PHONE) as (me,):
        me.page.goto(f"{address}#queue=all")
        me.page.locator("article.queue .row").first.wait_for()
        assert me.fits()
        me.press("j", "Enter")
        me.page.locator("article.item .task").first.wait_for()
        me.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert me.fits()
        assert me.page.locator("main img, main script, main b:has-text('x')").count() == 0
        assert me.page.locator("[data-field='/english_tasks/1'] .said").get_attribute("dir") == "auto"
        shown = "[...document.querySelectorAll('[aria-label], [title]')].map(n => `${n.ariaLabel} ${n.title}`).join()"
        assert "\u202e" not in me.page.locator("main").inner_text() + me.page.evaluate(shown)
        me.press("h")
        assert me.page.locator("#history .note", has_text=attack).count() == 1
        me.page.locator(f"[data-field='{TEXT}']").focus()
        me.press("Enter")
        assert me.page.locator("textarea").input_value().startswith(hostile["english_tasks"][0][:40])
        me.press("Escape", "?")
        assert me.page.get_by_role("dialog").is_visible() and me.fits()
        me.press("Escape")
        me.page.get_by_role("button", name="中文").click()
        me.page.locator("summary", has_text="工具").wait_for()
        me.goto("figures=", "figures")
        assert me.page.locator("h1").inner_text() == "统计"
        assert me.fits()
        assert me.page.evaluate("window.hacked") is None


def test_a_graph_and_json_are_edited_and_another_saver_s_text_is_kept(browser: "Browser", tmp_path: Path):
    review = project(tmp_path, mini_records(1))
    with serving(review, alone="owner") as address, people(browser, address, "one", "two") as (one, two):
        for person in (one, two):
            person.page.goto(f"{address}#queue=all&item=wild_mini_0")
            person.at("wild_mini_0")

        # An edge by keyboard: step 2 no longer needs step 0, so a value comes from nowhere and later tasks are stale.
        edge = one.page.locator("[data-edge='0-2']").first
        edge.focus()
        with one.page.expect_response("**/api/edge"):
            one.press("Space")
        one.page.locator(".notice", has_text="2, 3, 4").wait_for()
        assert edge.get_attribute("aria-checked") == "false"
        assert one.page.locator("aside .findings li").count() > 0
        one.page.locator("[data-need='0-2']").first.click()
        one.page.locator("[data-need='0-2'][aria-pressed=true]").first.wait_for()

        # Why step 2 needs step 0, and another amount that is as right.
        kinds = one.page.locator("details.kinds").first
        kinds.locator("summary").click()
        with one.page.expect_response("**/api/edge"):
            kinds.locator("[data-kind='0-2']").select_option("control")
        one.page.locator("summary", has_text="Kinds of dependencies (1 set)").wait_for()
        one.page.get_by_role("button", name="Accept another value").nth(1).click()
        one.page.get_by_role("dialog").locator("textarea").fill("44.5")
        with one.page.expect_response("**/api/alternative") as said:
            one.page.get_by_role("dialog").get_by_role("button", name="Save").click()
        assert said.value.ok, said.value.text()
        one.page.locator(".alternative", has_text="44.5").wait_for()

        # JSON that is wrong is named and not sent.
        amount = "/english_answer_list/0/1/action/arguments/amount"
        one.page.locator(f"[data-field='{amount}']").focus()
        one.press("e")
        one.page.locator("textarea").fill("42,")
        one.press("Control+Enter")
        assert one.page.locator(".editor .finding").inner_text().startswith("Not JSON")
        one.page.locator("textarea").fill("43.0")
        with one.page.expect_response("**/api/edit"):
            one.press("Control+Enter")
        one.page.locator(f"[data-field='{amount}']", has_text="43.0").wait_for()

        # The other page still shows the item as it was.
        rewrite(one, "Saved first")
        two.page.locator(f"[data-field='{TEXT}']").focus()
        two.press("e")
        two.page.locator("textarea").fill("Saved second")
        two.press("Control+Enter")
        shown = two.page.get_by_role("dialog")
        shown.get_by_role("button", name="Take what is saved").wait_for()
        assert "Saved first" in shown.inner_text() and "Saved second" in shown.inner_text()
        assert project(tmp_path, []).item("wild_mini_0").content["english_tasks"][0] == "Saved first"
        shown.get_by_role("button", name="Edit it further").click()
        assert two.page.locator("textarea").input_value() == "Saved second"
        with two.page.expect_response("**/api/edit") as said:
            two.press("Control+Enter")
        assert said.value.ok
        # A browser tells of an answer that is no success by itself.
        assert [text for text in two.complaints if "409" not in text] == []
        two.complaints.clear()


LATENCY = 0.15
LAST = "/english_tasks/1"


def written(path: Path, item: str) -> list[tuple[str, Any]]:
    """What the log has of an item, without checks: kind and what it is now."""
    entries = project(path, []).store.history(item)
    return [(entry.kind, entry.after) for entry in entries if entry.kind not in ("import", "check")]


def begin_text(person: Person, text: str, field: str = LAST) -> None:
    """Types a text, and does not save it."""
    from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

    for patience_ms in (5_000, 5_000, 30_000):
        person.page.locator(f"[data-field='{field}']").focus()
        person.press("e")
        try:
            person.page.locator(f"[data-field='{field}'] textarea").fill(text, timeout=patience_ms)
            return
        except PlaywrightTimeoutError:
            # On a busy machine the answer to an earlier save may close an editor in which nothing is typed yet.
            continue
    raise AssertionError(f"no editor of {field} stays open")


def typed(person: Person, field: str = LAST) -> str:
    return person.page.locator(f"[data-field='{field}'] textarea").input_value()


def test_a_typed_text_is_kept_wherever_somebody_goes(browser: "Browser", tmp_path: Path):
    review = project(tmp_path, tiny_records(3))
    with serving(review, alone="owner") as address, people(browser, address, "me") as (me,):
        me.page.goto(f"{address}#queue=all&item=s0")
        me.at("s0")
        dialog = me.page.get_by_role("dialog")

        # Next asks; as a draft it is there when the item is shown again, also after the language and a reload.
        begin_text(me, "Typed, not saved.")
        me.page.locator("#remark").fill("A remark.")
        me.page.get_by_role("link", name="Next").click()
        dialog.get_by_role("button", name="Keep as a draft").click()
        me.at("s1")
        me.goto("queue=all", "queue")
        assert me.page.locator(".row[data-id='s0']").locator(".chip", has_text="not saved").count() == 1
        assert me.page.locator(".chip", has_text="not saved").count() == 1
        me.goto("queue=all&item=s0", "item")
        assert typed(me) == "Typed, not saved."
        me.page.locator("#language").click()
        me.page.locator("summary", has_text="工具").wait_for()
        assert typed(me) == "Typed, not saved."
        me.page.locator("#language").click()
        me.page.locator("summary", has_text="Tools").wait_for()
        me.page.once("dialog", lambda asked: asked.accept())
        me.page.reload()
        me.at("s0")
        assert typed(me) == "Typed, not saved."
        assert me.page.locator("#remark").input_value() == "A remark."
        assert written(tmp_path, "s0") == []

        # Another save beside it leaves it open.
        me.page.locator("[data-field='/english_turn_subtypes/0']").focus()
        me.press("e")
        me.page.locator("[data-field='/english_turn_subtypes/0'] select").select_option(
            "Long-Range Dependency"
        )
        with me.page.expect_response("**/api/edit"):
            me.press("Control+Enter")
        me.page.locator("#status", has_text="Saved").wait_for()
        assert typed(me) == "Typed, not saved."
        assert me.page.locator("#remark").input_value() == "A remark."

        # The queue asks, too, and saves if told.
        me.page.get_by_role("link", name="Queue").click()
        with me.page.expect_response("**/api/edit"):
            dialog.get_by_role("button", name="Save").click()
        me.page.locator("article.queue").wait_for()
        assert written(tmp_path, "s0")[-1] == ("edit", "Typed, not saved.")

        # Approving saves what is typed first.
        me.goto("queue=all&item=s1", "item")
        begin_text(me, "Typed, then approved.")
        me.page.locator("#remark").fill("With a remark.")
        me.page.get_by_label("Go to the next item after a decision").uncheck()
        with me.page.expect_response("**/api/decide") as said:
            me.page.locator("[data-decide=approve]").click()
        assert said.value.ok, said.value.text()
        me.page.locator(".chip.good", has_text="approved").first.wait_for()
        kinds = [kind for kind, _ in written(tmp_path, "s1")]
        assert kinds == ["edit", "decision", "settle"]
        assert project(tmp_path, []).item("s1").content["english_tasks"][1] == "Typed, then approved."
        assert me.page.locator("#remark").input_value() == ""

        # Without the server nothing is lost; cancelled by mistake it is offered again.
        me.goto("queue=all&item=s2", "item")
        begin_text(me, "Typed offline.")
        me.page.context.set_offline(True)
        me.press("Control+Enter")
        me.page.locator("#problem", has_text="does not answer").wait_for()
        assert typed(me) == "Typed offline."
        me.page.context.set_offline(False)
        me.press("Escape")
        me.page.locator("#status").get_by_role("button", name="Undo").click()
        assert typed(me) == "Typed offline."
        me.page.locator(f"[data-field='{LAST}'] textarea").focus()
        with me.page.expect_response("**/api/edit"):
            me.press("Control+Enter")
        me.page.locator(f"[data-field='{LAST}'] .said", has_text="Typed offline.").wait_for()
        me.complaints.clear()


def reloaded(person: Person, item: str) -> None:
    """Loads the page again, also if it asks because of what is typed."""
    person.page.once("dialog", lambda asked: asked.accept())
    person.page.reload()
    person.at(item)


FOCUSED = "() => [document.activeElement.tagName, document.activeElement.value, document.activeElement.selectionStart]"


@pytest.mark.long
def test_a_draft_of_json_is_edited_further_after_a_reload(browser: "Browser", tmp_path: Path):
    review = project(tmp_path, mini_records(1))
    with serving(review, alone="owner") as address, people(browser, address, "me") as (me,):
        me.page.goto(f"{address}#queue=all&item=wild_mini_0")
        me.at("wild_mini_0")

        # Typed in place: open again, with the caret where it was, though it is no JSON yet.
        me.page.locator(".tool summary").first.click()
        field = me.page.locator(".tool .part").first.get_attribute("data-field")
        assert field
        begin_text(me, '{"half": ', field)
        me.press("ArrowLeft", "ArrowLeft")
        reloaded(me, "wild_mini_0")
        me.page.wait_for_function("document.activeElement.tagName === 'TEXTAREA'")
        assert me.page.evaluate(FOCUSED) == ["TEXTAREA", '{"half": ', 7]
        me.press("Escape")

        # Typed in a dialog: it is there again, is typed further, and is saved.
        edit = me.page.get_by_role("button", name="Edit the arguments as JSON").first
        edit.click()
        area = me.page.locator("#dialog textarea")
        area.fill('{"a": ')
        reloaded(me, "wild_mini_0")
        area.wait_for()
        me.page.wait_for_function("document.activeElement.tagName === 'TEXTAREA'")
        assert me.page.evaluate(FOCUSED) == ["TEXTAREA", '{"a": ', 6]
        assert me.page.locator("#kept").is_hidden()
        me.page.keyboard.type('"1"}')
        with me.page.expect_response("**/api/edit"):
            me.press("Control+Enter")
        me.page.locator("#status", has_text="Saved").wait_for()
        assert [after for kind, after in written(tmp_path, "wild_mini_0") if kind == "edit"] == [{"a": "1"}]

        # Closed before the reload, it is listed above the item, and is edited from there.
        me.page.get_by_role("button", name="Edit the arguments as JSON").first.click()
        area.fill('{"a": "12"')
        me.page.locator("#dialog").evaluate("dialog => dialog.close()")
        reloaded(me, "wild_mini_0")
        assert me.page.locator("#dialog").is_hidden()
        me.page.locator("#kept").get_by_role("button", name="Edit").click()
        assert area.input_value() == '{"a": "12"'
        me.press("End")
        me.page.keyboard.type("}")
        with me.page.expect_response("**/api/edit"):
            me.press("Control+Enter")
        me.page.locator("#status", has_text="Saved").wait_for()
        assert me.page.locator("#kept").is_hidden()
        assert [after for kind, after in written(tmp_path, "wild_mini_0") if kind == "edit"][-1] == {
            "a": "12"
        }


def test_an_own_case_is_edited_further_after_a_reload_and_approved(browser: "Browser", tmp_path: Path):
    review = ReviewProject.create(SqliteStore(tmp_path / "set.review.sqlite"), CASE_FILES)
    review.import_items([RawItem("hi", {"id": "hi", "input": "Hi", "expect": "none", "tools": []})])
    list(review.check_items())
    with serving(review, alone="owner") as address, people(browser, address, "me") as (me,):
        me.page.goto(f"{address}#queue=all&item=hi")
        me.at("hi")
        begin_text(me, '{"id": "hi", "input": "Hello", "expect": "none"', "")
        reloaded(me, "hi")
        me.page.wait_for_function("document.activeElement.tagName === 'TEXTAREA'")
        me.page.keyboard.type("}")
        with me.page.expect_response("**/api/edit"):
            me.press("Control+Enter")
        me.page.locator("#status", has_text="Saved").wait_for()
        me.decide()
    done = ReviewProject.open(SqliteStore(tmp_path / "set.review.sqlite"))
    assert done.item("hi").content == {"id": "hi", "input": "Hello", "expect": "none"}
    assert done.state.items["hi"].stage == "approved"


def test_own_saves_are_queued_and_undone(browser: "Browser", tmp_path: Path):
    review = project(tmp_path, mini_records(1))
    with (
        serving(review, alone="owner", latency=LATENCY) as address,
        people(browser, address, "me") as (me,),
    ):
        me.page.goto(f"{address}#queue=all&item=wild_mini_0")
        me.at("wild_mini_0")
        needs = [me.page.locator(f"[data-need='{edge}']").first for edge in ("0-1", "0-2", "1-2")]
        before = [need.get_attribute("aria-pressed") for need in needs]

        # Three clicks of one person before the first is answered, and a text that is typed meanwhile.
        me.page.evaluate(
            "for (const e of ['0-1', '0-2', '1-2']) document.querySelector(`[data-need='${e}']`).click()"
        )
        begin_text(me, "Typed meanwh", "/english_tasks/1")
        me.page.locator("#status", has_text="Saved").wait_for()
        me.page.keyboard.type("ile.")
        pressed = "false" if before[2] == "true" else "true"
        me.page.locator(f"#task-0 [data-need='1-2'][aria-pressed={pressed}]").wait_for()
        assert typed(me, "/english_tasks/1") == "Typed meanwhile."
        after = [need.get_attribute("aria-pressed") for need in needs]
        assert [a != b for a, b in zip(after, before, strict=True)] == [True, True, True]
        assert me.page.get_by_role("dialog").count() == 0
        me.press("Escape")

        # Each is undone by itself.
        for _ in range(3):
            with me.page.expect_response("**/api/restore") as said:
                me.press("u")
            assert said.value.ok, said.value.text()
            me.page.locator("#status", has_text="Undone").wait_for()
        me.page.locator("#undo").wait_for(state="detached")
        assert [need.get_attribute("aria-pressed") for need in needs] == before
        assert project(tmp_path, []).item("wild_mini_0").content == mini_records(1)[0]

        # Two clicks on the same cross remove one call.
        calls = me.page.locator("#task-0 .call").count()
        me.page.evaluate("const x = document.querySelector('#task-0 .call .remove'); x.click(); x.click()")
        me.page.locator("#status", has_text="repeat it").wait_for()
        assert me.page.locator("#task-0 .call").count() == calls - 1

        # Any earlier version can be restored.
        me.press("h")
        me.page.locator("#history li").last.get_by_role("button", name="Restore this version").click()
        me.page.locator("#task-0 .call").nth(calls - 1).wait_for()
        assert project(tmp_path, []).item("wild_mini_0").content == mini_records(1)[0]


def test_of_edits_that_exclude_each_other_only_one_can_be_selected(browser: "Browser", tmp_path: Path):
    review = project(tmp_path, tiny_records(1), people="ann bob")
    review.open_round("owner", ["ann", "bob"], share=1)
    for who in ("ann", "bob"):
        edit(review, who, "s0", f"As {who} says.")
        decide(review, who, "s0")
    with serving(review, alone="judge") as address, people(browser, address, "judge") as (me,):
        me.page.goto(f"{address}#queue=all&item=s0")
        me.at("s0")
        ann, bob = me.page.locator(".conflict .change .tick input").all()
        assert (ann.is_checked(), bob.is_checked()) == (True, False)
        bob.check()
        assert (ann.is_checked(), bob.is_checked()) == (False, True)
        with me.page.expect_response("**/api/resolve") as said:
            me.press("a")
        assert said.value.ok, said.value.text()
    assert project(tmp_path, []).item("s0").content["english_tasks"][0] == "As bob says."


ENGLISH = """() => {
  const data = ['.said, pre, code, bdi, textarea, .argument .name, .about, .small small, .chip, .what, svg text',
    '.tool small, .field > small, .fold > summary, kbd, .brand, #language'].join(', ');
  const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const within = node.parentElement;
    const text = node.data.replace(/JSON|Ctrl|Enter|Esc/g, '');
    if (/[A-Za-z]{3,}/.test(text) && !within.closest(data) && within.checkVisibility()) found.push(node.data.trim());
  }
  for (const one of document.querySelectorAll("body [aria-label], body [placeholder], #theme")) {
    const name = one.getAttribute("aria-label") || one.placeholder;
    if (/^[ -~]*[A-Za-z]{3,}[ -~]*$/.test(name)) found.push(name);
  }
  return [...new Set(found)];
}"""
"""Texts of the page in Latin letters that are no data."""
SMALL = """() => [...document.querySelectorAll('a[href], button, summary, select, input, textarea')].filter((one) => {
  if (!one.checkVisibility() || one.closest('.skip')) return false;
  const { width, height } = (one.closest('label, .row') || one).getBoundingClientRect();
  return width < 24 || height < 23.9;
}).map((one) => `${one.tagName}.${one.className} ${one.textContent.slice(0, 40)}`)"""
"""What can be clicked and is smaller than 24 pixels."""


def test_in_chinese_nothing_is_left_in_english_and_all_targets_are_large(browser: "Browser", tmp_path: Path):
    records = mini_records(4)
    records[0]["made_by"] = {"candidates": [[records[0]["english_tasks"][0], "x" * 5000]]}
    review = project(tmp_path, records, people="ann bob")
    list(review.check_items())
    edit(review, "owner", "wild_mini_0", "查", "/english_answer_list/0/0/action/name")
    review.open_round("owner", ["ann", "bob"], share=0.5)
    for item in review.state.rounds[0].items:
        for who in ("ann", "bob"):
            edit(review, who, item, f"{who} 说", TEXT)
            decide(review, who, item)
    rows = [
        {"model": "m", "task": 0, "before": True, "after": False, "note": "", "proposal": {"changes": [{}]}}
    ]
    with (
        serving(review, alone="owner", runs=lambda *_: rows) as address,
        people(browser, address, "owner") as (me,),
    ):
        me.page.goto(f"{address}#queue=all")
        me.page.locator("article.queue .row").first.wait_for()
        me.page.get_by_role("button", name="中文").click()
        me.page.locator(".tab", has_text="全部").wait_for()
        for place in (
            "queue=conflicts",
            "figures=",
            *(f"queue=all&item={item}" for item in review.state.items),
        ):
            me.goto(place, place.split("=")[0] if "item" not in place else "item")
            me.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            for pen in me.page.locator(".part .pen").all()[:1]:
                pen.click()
            assert me.page.evaluate(ENGLISH) == [], place
            assert me.page.evaluate(SMALL) == [], place
        me.press("Escape", "?")
        assert me.page.evaluate(ENGLISH) == []


def test_the_graph_shows_steps_at_their_true_depth(browser: "Browser", tmp_path: Path):
    def step(k: int, *needs: int) -> dict[str, Any]:
        action = {"name": "look", "arguments": {"n": k}}
        return {"idx": k, "action": action, "observation": {"n": k}, "dependency_list": list(needs)}

    records = tiny_records(1)
    # Four calls beside each other, two after some of them, and the answer.
    steps = [step(0), step(1), step(2), step(3), step(4, 0), step(5, 4, 1)]
    last = {**records[0]["english_answer_list"][0][0], "idx": 6, "dependency_list": [0, 1, 2, 3, 4, 5]}
    records[0]["english_answer_list"][0] = [*steps, last]
    with (
        serving(project(tmp_path, records), alone="owner") as address,
        people(browser, address, "owner") as (me,),
    ):
        me.page.goto(f"{address}#queue=all&item=s0")
        me.at("s0")
        nodes = me.page.locator("svg.graph .node")
        assert [one.get_attribute("data-depth") for one in nodes.all()] == ["0", "0", "0", "0", "1", "2", "3"]
        heights = [float(one.locator("rect").get_attribute("y") or "nan") for one in nodes.all()]
        assert max(heights[:4]) < heights[4] < heights[5] < heights[6]
        assert max(heights[:4]) - min(heights[:4]) < heights[5] - heights[4]


def test_a_decision_goes_on_to_the_next_item_and_can_be_undone_from_there(browser: "Browser", tmp_path: Path):
    review = project(tmp_path, tiny_records(3))
    with serving(review, alone="owner") as address, people(browser, address, "me") as (me,):
        me.page.goto(f"{address}#queue=all&item=s0")
        me.at("s0")
        me.page.locator("[data-decide=approve]").click()
        me.at("s1")
        with me.page.expect_response("**/api/withdraw") as said:
            me.press("u")
        assert said.value.ok, said.value.text()
        me.at("s0")
        assert me.page.locator(".chip.good", has_text="approved").count() == 0
        assert project(tmp_path, []).state.items["s0"].stage != "approved"


def test_what_a_release_would_refuse_is_approved_by_a_second_click(browser: "Browser", tmp_path: Path):
    review = project(tmp_path, tiny_records(1))
    edit(review, "owner", "s0", [9], "/english_answer_list/0/0/dependency_list")
    recheck(review, "owner", "s0")
    with serving(review, alone="owner") as address, people(browser, address, "me") as (me,):
        me.page.goto(f"{address}#queue=all&item=s0")
        me.at("s0")
        me.page.locator("[data-decide=approve]").click()
        anyway = me.page.locator("#status").get_by_role("button", name="Approve anyway")
        anyway.wait_for()
        with me.page.expect_response("**/api/decide") as said:
            anyway.click()
        assert said.value.ok, said.value.text()
        me.page.locator(".chip.good", has_text="approved").first.wait_for()
        me.complaints.clear()


def test_the_queue_says_which_items_are_unchecked_and_how_far_the_rules_are(
    browser: "Browser", tmp_path: Path
):
    review, rules_from = project(tmp_path, tiny_records(3)), threading.Event()
    try:
        with serving(review, "owner", rules_from) as address, people(browser, address, "me") as (me,):
            me.page.goto(f"{address}#queue=all")
            me.page.get_by_text("The rules run: 0 of 3 items are checked.").wait_for()
            assert me.page.locator(".row.unchecked .chip", has_text="unchecked").count() == 3
            me.press("j")
            rules_from.set()
            me.page.locator("#checks").wait_for(state="hidden")
            me.page.locator(".row.unchecked").first.wait_for(state="detached")
            me.page.locator(".tab[data-queue=unchecked] small", has_text="0").wait_for()
            assert me.rows() == ["s0", "s1", "s2"]
            assert me.page.evaluate("document.activeElement.closest('.row').dataset.id") == "s0"

            # What the server refuses is said in the language of the page.
            me.page.get_by_role("button", name="中文").click()
            me.page.locator(".tab", has_text="全部").wait_for()
            with me.page.expect_console_message(lambda message: "422" in message.text):
                me.page.evaluate("location.hash = 'queue=all&item=nope'")
            me.page.locator("#problem", has_text="此审核中没有 nope 这一项").wait_for()
            assert len(me.complaints) == 1
            me.complaints.clear()
    finally:
        rules_from.set()


def test_beside_recorded_runs_the_next_item_is_asked_for_while_one_is_read(
    browser: "Browser", tmp_path: Path
):
    review, judged = project(tmp_path, tiny_records(3)), list[str]()

    def runs(item: str, first: Any, shown: Any) -> Any:
        judged.append(item)
        return [{"model": "m", "task": 0, "before": True, "after": True, "note": ""}]

    with serving(review, "owner", runs=runs) as address, people(browser, address, "me") as (me,):
        with me.page.expect_response("**/api/item?id=s1"):
            me.page.goto(f"{address}#queue=all&item=s0")
        me.at("s0")
        with me.page.expect_response("**/api/item?id=s2"):
            me.press("n")
        me.at("s1")
    assert judged == ["s0", "s1", "s1", "s2"]


def test_proposals_of_models_are_compared_and_merged_by_part(browser: "Browser", tmp_path: Path):
    records = tiny_records(1)
    records[0]["made_by"] = {"candidates": [[records[0]["english_tasks"][0], "Tell me all about number 0."]]}
    review = project(tmp_path, records)
    content, seen = review.item("s0").seen_by("owner")
    for model, texts in (("gpt", ["A?", "B?"]), (ATTACK, ["C?", f"D? {ATTACK}"])):
        changes = [
            Change(f"/english_tasks/{t}", content["english_tasks"][t], text) for t, text in enumerate(texts)
        ]
        propose(review, "owner", "s0", seen, changes, model, ATTACK)
    with serving(review, alone="owner") as address, people(browser, address, "owner", size=PHONE) as (me,):
        me.page.goto(f"{address}#queue=all&item=s0")
        me.at("s0")
        assert me.fits()
        first, second = me.page.locator(".proposal .change").all()
        first.locator(".option").nth(1).click()
        second.locator(".option").nth(2).click()
        with me.page.expect_response("**/api/proposal") as said:
            me.page.get_by_role("button", name="Take the selected parts").click()
        assert said.value.ok, said.value.text()
        me.page.locator(f"[data-field='{TEXT}'] .said", has_text="A?").wait_for()
        assert me.page.locator(".proposal").count() == 0
        me.page.locator(".candidates summary").first.click()
        me.page.locator(".candidate").nth(1).get_by_role("button", name="Choose").click()
        me.page.locator(f"[data-field='{TEXT}'] .said", has_text="Tell me all").wait_for()
        assert me.page.locator(".candidate").nth(1).locator(".chip", has_text="chosen").count() == 1
        assert me.page.evaluate("window.hacked") is None
    assert project(tmp_path, []).item("s0").content["english_tasks"][1].startswith("D?")


PROPOSING = """
import sys
from wildtool_data.formats.base import RawItem
from wildtool_data.formats.cases import CASE_FILES
from wildtool_data.pointers import Change
from wildtool_review.proposed import propose
from wildtool_review.sets import open_review
review = open_review(sys.argv[1])
found = review.item("s0")
text = found.content["english_tasks"][1]
change = Change("/english_tasks/1", text, "Made again: " + " ".join(sys.argv[2:]))
assert propose(review, "owner", "s0", found.digest, [change], "gpt")
review.close()
"""
"""Says what it was asked for, in place of a model."""


@pytest.mark.long
def test_stale_tasks_and_the_result_of_a_call_are_made_again_by_buttons(browser: "Browser", tmp_path: Path):
    records = tiny_records(1)
    looked = {"idx": 0, "action": {"name": "look", "arguments": {}}, "observation": {"at": 1}}
    records[0]["english_answer_list"][1].insert(0, {**looked, "dependency_list": []})
    review = project(tmp_path, records)
    made = Regeneration("gpt", [sys.executable, "-c", PROPOSING, str(tmp_path / "set.review.sqlite")], "")
    with (
        serving(review, alone="owner", regeneration=made) as address,
        people(browser, address, "owner") as (me,),
    ):
        me.page.goto(f"{address}#queue=all&item=s0")
        me.at("s0")
        rewrite(me, "Edited?")
        form = me.page.locator("details.remake[open]")
        form.get_by_label("keep the user's requests").check()
        form.get_by_role("button", name="Make again").click()
        me.page.locator(".making", has_text="gpt makes parts").wait_for()
        proposal = me.page.locator(".proposal")
        proposal.wait_for()
        assert "Made again: --item=s0 --as=owner --from=2 --keep-texts" in proposal.inner_text()
        with me.page.expect_response("**/api/proposal") as said:
            me.page.get_by_role("button", name="Accept").first.click()
        assert said.value.ok, said.value.text()
        me.page.locator("[data-field='/english_tasks/1'] .said", has_text="Made again").wait_for()
        assert me.page.locator(".notice.warning").count() == 0
        me.page.get_by_role("button", name="Make this result again with gpt").click()
        proposal.wait_for()
        assert "Made again: --item=s0 --as=owner --from=2 --call=0" in proposal.inner_text()


def test_what_one_saved_in_another_tab_is_not_called_somebody_else_s(browser: "Browser", tmp_path: Path):
    review = project(tmp_path, tiny_records(1))
    with serving(review, alone="owner") as address, people(browser, address, "me") as (me,):
        other = Person(me.page.context.new_page(), address)
        for tab in (me, other):
            tab.page.goto(f"{address}#queue=all&item=s0")
            tab.at("s0")
        begin_text(other, "Said in the other tab.")
        with other.page.expect_response("**/api/edit"):
            other.press("Control+Enter")
        begin_text(me, "Typed here.")
        me.press("Control+Enter")
        dialog = me.page.get_by_role("dialog")
        dialog.locator("h3", has_text="Typed here").wait_for()
        assert "another tab" in dialog.inner_text() and "omebody" not in dialog.inner_text()
        assert "Said in the other tab." in dialog.inner_text() and "Typed here." in dialog.inner_text()
        with me.page.expect_response("**/api/edit"):
            dialog.get_by_role("button", name="Save what was typed here").click()
        me.page.locator("#status", has_text="Saved").wait_for()
        afters = [after for kind, after in written(tmp_path, "s0") if kind == "edit"]
        assert afters == ["Said in the other tab.", "Typed here."]
        # The browser notes the refusal that led to the question.
        assert len(me.complaints) == 1 and "409" in me.complaints.pop()


def test_a_long_item_is_shown_and_saved_while_the_rules_still_read_it(browser: "Browser", tmp_path: Path):
    long = tiny_records(1)[0]
    long["english_answer_list"][1][0]["observation"] = "It is one of many numbers. " * 12_000
    review, rules_from = project(tmp_path, [long]), threading.Event()
    try:
        with serving(review, "owner", rules_from) as address, people(browser, address, "me") as (me,):
            me.page.goto(f"{address}#queue=all&item=s0")
            me.at("s0")
            still = me.page.get_by_text("The rules still read this long item")
            still.wait_for(state="attached")
            begin_text(me, "And about which other number?")
            with me.page.expect_response("**/api/edit") as said:
                me.press("Control+Enter")
            assert said.value.ok, "a save does not wait for the rules"
            still.wait_for(state="attached")
            rules_from.set()
            still.wait_for(state="detached")
            assert [after for kind, after in written(tmp_path, "s0") if kind == "edit"] == [
                "And about which other number?"
            ]
    finally:
        rules_from.set()


def test_a_draft_of_json_is_open_again_when_somebody_comes_back_to_its_item(
    browser: "Browser", tmp_path: Path
):
    review = project(tmp_path, mini_records(2))
    with serving(review, alone="owner") as address, people(browser, address, "me") as (me,):
        me.page.goto(f"{address}#queue=all&item=wild_mini_0")
        me.at("wild_mini_0")
        me.page.locator(".tool summary").first.click()
        field = me.page.locator(".tool .part").first.get_attribute("data-field")
        assert field
        begin_text(me, '{"half": ', field)
        me.page.evaluate("location.hash = 'queue=all&item=wild_mini_1'")
        me.page.get_by_role("button", name="Keep as a draft").click()
        me.at("wild_mini_1")
        me.goto("queue=all&item=wild_mini_0", "item")
        assert typed(me, field) == '{"half": '
        me.press("Escape")
