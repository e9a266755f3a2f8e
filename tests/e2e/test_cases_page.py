"""`wildtool review RUN` in a browser: failures are read by keys, and nothing that a reader says is lost."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from e2e.test_review_page import ENGLISH, PHONE, SMALL, Person, people, serving_pages
from report.report_build import ATTACK
from review.failed_runs import draw, drawn, failed_run
from review.made_sets import mini_records
from wildtool.json_codec import dumps
from wildtool_review.bad_cases.reading import RunCases
from wildtool_review.server.cases import CasesApp, CaseService

if TYPE_CHECKING:
    from playwright.sync_api import Browser


WITHOUT_DATA = """for (const one of document.querySelectorAll(
  '.why, .message, .note, .gold li b, .difference small, .verdicts tbody')) one.hidden = true"""
"""Hides what the run says, in its own words."""


@contextmanager
def reading(run: Path, reader: str = "ann") -> Iterator[str]:
    cases = drawn(run)
    service = CaseService(RunCases(run, cases.profile), cases, reader)
    with serving_pages(CasesApp(service)) as address:
        yield address


def open_case(reader: Person, number: int) -> None:
    reader.page.goto(f"{reader.address}#queue=all&case={number}")
    at_case(reader, number)


def at_case(reader: Person, number: int) -> None:
    reader.page.locator(f"main[data-shown*='case={number}'] article.item").wait_for()


def save(reader: Person, *keys: str) -> int:
    """Types keys, and the status of the answer to a save."""
    with reader.page.expect_response("**/api/label") as said:
        reader.press(*keys, "s")
    return said.value.status


def pressed(reader: Person) -> list[str]:
    """The labels that are chosen."""
    chosen = reader.page.locator("[data-label][aria-pressed=true]")
    return chosen.evaluate_all("all => all.map((one) => one.dataset.label)")


def test_cases_are_labelled_by_the_keys_of_the_terminal_and_saved_at_once(browser: "Browser", tmp_path: Path):
    run = failed_run(tmp_path)
    draw(run, "--sample", "3")
    with reading(run) as address, people(browser, address, "ann") as (ann,):
        ann.page.goto(address)
        ann.page.locator(".row").first.wait_for()
        assert ann.page.locator(".row").count() == 3
        ann.press("n")
        at_case(ann, 0)
        ann.press("t")
        ann.page.keyboard.type("1s")
        ann.press("Enter")
        assert save(ann, "1", "2", "1") == 200
        at_case(ann, 1)
        assert [(each.labels, each.note) for each in drawn(run).readings] == [(("wrong tool",), "1s")]
        ann.press("n")
        at_case(ann, 2)
        assert save(ann) == 200
        at_case(ann, 1)  # the one that is not read yet
        assert save(ann, "1") == 200
        ann.page.locator(".none", has_text="You have read all cases").wait_for()
        ann.goto("figures=", "figures")
        assert ann.page.locator("tr[data-metric='no label fits'] .value").inner_text() == "33.3 %"


def test_two_tabs_of_a_reader_lose_nothing(browser: "Browser", tmp_path: Path):
    run = failed_run(tmp_path)
    draw(run, "--sample", "2")
    with reading(run) as address, people(browser, address, "one", "other") as (one, other):
        for tab in (one, other):
            open_case(tab, 0)
        assert save(one, "1") == 200
        other.page.on(
            "console", lambda said: other.complaints.clear()
        )  # the browser complains of the refusal
        assert save(other, "2") == 409
        dialog = other.page.get_by_role("dialog")
        assert "lazy" in dialog.inner_text()
        with other.page.expect_response("**/api/label") as said:
            dialog.get_by_role("button", name="Save mine").click()
        assert said.value.ok
        at_case(other, 1)
        assert [each.labels for each in drawn(run).readings] == [("lazy",), ("wrong tool",)]


def test_what_is_chosen_and_typed_stays_while_the_server_is_away(browser: "Browser", tmp_path: Path):
    run = failed_run(tmp_path)
    draw(run, "--sample", "2")
    with reading(run) as address, people(browser, address, "ann") as (ann,):
        open_case(ann, 0)
        ann.page.route("**/api/label", lambda route: route.abort())
        ann.page.get_by_label("Note").fill("mine")
        ann.page.get_by_label("Note").press("Enter")
        ann.press("2", "s")
        ann.page.locator("#problem", has_text="does not answer").wait_for()
        ann.page.unroute("**/api/label")
        ann.complaints.clear()  # what the browser says of the failed request
        ann.goto("queue=all", "queue")
        assert ann.page.locator(".row[data-case='0'] .chip", has_text="not saved").count() == 1
        ann.page.reload()
        open_case(ann, 0)
        assert (pressed(ann), ann.page.get_by_label("Note").input_value()) == (["wrong tool"], "mine")
        assert save(ann) == 200
        at_case(ann, 1)
        ann.goto("queue=all", "queue")
        assert ann.page.locator(".chip", has_text="not saved").count() == 0
        assert [(each.labels, each.note) for each in drawn(run).readings] == [(("wrong tool",), "mine")]


def test_hostile_texts_are_texts_on_a_phone_and_everything_fits(browser: "Browser", tmp_path: Path):
    (record,) = mini_records(1)
    attack = f"{ATTACK} \u202e مرحبا"
    record["id"] = f"{ATTACK}{'i' * 200}"
    record["english_tasks"] = [f"{attack} {task} {'x' * 5000}" for task in record["english_tasks"]]
    record["english_tools"][0]["function"] |= {"name": "n" * 300, "description": attack}
    (tmp_path / "set.jsonl").write_bytes(dumps(record))
    run = failed_run(tmp_path, "wildtoolbench", "--data", str(tmp_path / "set.jsonl"))
    (tmp_path / "labels.txt").write_text(f"{attack}: {attack}\n{'l' * 300}: x\n", encoding="utf-8")
    draw(run)
    with (
        reading(run, f"{ATTACK} \u202e") as address,
        people(browser, address, "me", size=PHONE) as (me,),
    ):
        me.page.goto(f"{address}#queue=all")
        me.page.locator(".row").first.wait_for()
        assert me.fits()
        for number in range(len(drawn(run).proposals)):
            open_case(me, number)
            me.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            assert me.fits()
            assert me.page.locator("main img, main script").count() == 0
            assert "\u202e" not in me.page.locator("body").inner_text()
        assert save(me, "1", "2") == 200
        me.goto("figures=", "figures")
        assert me.fits()
        assert me.page.evaluate("window.hacked") is None


def test_in_chinese_nothing_is_left_in_english_and_all_targets_are_large(browser: "Browser", tmp_path: Path):
    run = failed_run(tmp_path)
    draw(run)
    with reading(run) as address, people(browser, address, "ann") as (ann,):
        ann.page.goto(f"{address}#queue=all")
        ann.page.locator(".row").first.wait_for()
        ann.page.locator("#language").click()
        ann.page.locator(".tab", has_text="未读").wait_for()
        for place, article in (("queue=all", "queue"), ("queue=all&case=0", "item"), ("figures=", "figures")):
            ann.goto(place, article)
            ann.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            assert ann.page.evaluate(SMALL) == [], place
            ann.page.evaluate(WITHOUT_DATA)
            assert ann.page.evaluate(ENGLISH) == [], place


def test_without_scripts_a_page_says_so(browser: "Browser", tmp_path: Path):
    run = failed_run(tmp_path)
    draw(run, "--sample", "1")
    with reading(run) as address:
        context = browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(address)
        assert "needs scripts" in page.locator("main").inner_text()
        context.close()
