"""What the pages of failures of a run ask for: each reader alone, nothing replaced unseen, nothing for strangers."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from review.failed_runs import draw, drawn, failed_run, say, wildtool
from review.server.served import Pages
from wildtool.report.server.access import AccessPolicy
from wildtool.report.server.address_token import AddressToken
from wildtool_review.bad_cases.reading import RunCases
from wildtool_review.server.app import review_application
from wildtool_review.server.cases import CasesApp, CaseService


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return failed_run(tmp_path)


@asynccontextmanager
async def reading(run: Path, reader: str = "ann", token: AddressToken | None = None) -> AsyncIterator[Pages]:
    cases = drawn(run)
    app = CasesApp(CaseService(RunCases(run, cases.profile), cases, reader))
    policy = AccessPolicy("127.0.0.1", remote=False, writes=True)
    async with TestClient(TestServer(review_application(app, policy, token=token))) as client:
        yield Pages(client)


async def answer(pages: Pages, what: str, **query: Any) -> Any:
    return await (await pages.get(what, **query)).json()


async def test_a_label_is_in_the_run_once_it_is_answered(run: Path):
    draw(run, "--sample", "2")
    async with reading(run) as pages:
        assert (await pages.post("label", case=1, labels=["lazy"], note=" why ", seen=0)).status == 200
        ((_, said),) = drawn(run).by_case.items()
        assert (said["ann"].labels, said["ann"].note) == (("lazy",), "why")
        assert (await answer(pages, "review"))["queues"] == {"unread": 1, "read": 1, "all": 2}


@pytest.mark.long
async def test_what_the_same_reader_said_elsewhere_is_not_replaced_unseen(run: Path):
    draw(run, "--sample", "1")
    async with reading(run) as pages:
        say(run, "ann", ("lazy",), note="in the terminal")
        refused = await pages.post("label", case=0, labels=[], note="", seen=0)
        told = await refused.json()
        assert refused.status == 409
        assert (told["said"], told["seen"]) == ({"labels": ["lazy"], "note": "in the terminal"}, 1)
        assert (await pages.post("label", case=0, labels=[], note="", seen=told["seen"])).status == 200
        assert [each.labels for each in drawn(run).readings] == [("lazy",), ()]


async def test_a_save_whose_answer_was_lost_is_saved_once(run: Path):
    draw(run, "--sample", "1")
    async with reading(run) as pages:
        for _ in range(2):
            sent = await pages.post("label", case=0, labels=["lazy"], note="", seen=0)
            assert sent.status == 200
    assert len(drawn(run).readings) == 1


async def test_what_others_said_is_in_no_answer_but_the_figures(run: Path):
    draw(run, "--sample", "2")
    say(run, "bob", ("wrong tool",), ("lazy",), note="a secret")
    async with reading(run) as pages:
        for what in ("review", "cases", "case"):
            text = await (await pages.get(what, case="0")).text()
            assert "bob" not in text and "a secret" not in text
        assert (await answer(pages, "case", case="0"))["said"] is None
        figures = await answer(pages, "figures")
        assert figures["readers"] == [["bob", 2]]
        assert {one["group"] for one in figures["metrics"]} == {"bad cases"}


@pytest.mark.long
async def test_cases_are_found_by_what_was_said_by_label_and_by_text(run: Path):
    wildtool("review", "start", str(run), "--failed", "--labels", "wildtoolbench")
    cases = drawn(run)
    keys, proposed = [*cases.proposals], [*cases.proposals.values()]
    name = next(names[0] for names in proposed if names)
    say(run, "ann", ())
    async with reading(run) as pages:

        async def found(**query: str) -> list[int]:
            return (await answer(pages, "cases", **query))["ids"]

        everything = list(range(len(keys)))
        assert await found() == everything
        assert await found(queue="read") == [0]
        assert await found(queue="unread") == everything[1:]
        assert await found(label="no label fits") == [0]
        assert await found(label=name) == [at for at in everything[1:] if name in proposed[at]]
        one = keys[-1]
        assert await found(text=f"{one.item}, unit {one.unit}".upper()) == [everything[-1]]


@pytest.mark.long
@pytest.mark.parametrize("filters", [{"queue": "unheard of"}, {"label": "unheard of"}, {"start": "first"}])
async def test_filters_that_these_cases_do_not_have_are_refused(run: Path, filters: dict[str, str]):
    draw(run, "--sample", "1")
    async with reading(run) as pages:
        assert (await pages.get("cases", **filters)).status == 422


@pytest.mark.long
async def test_a_case_has_the_reason_and_the_step_that_decided(run: Path):
    draw(run)
    async with reading(run) as pages:
        for number in range(len(drawn(run).proposals)):
            case = await answer(pages, "case", case=number)
            (verdict,) = [one for one in case["happened"]["verdicts"] if one[0] == drawn(run).profile]
            assert (verdict[1], verdict[4]) == ("wrong", case["reason"])
            assert case["reason"] in case["happened"]["steps"][case["decided"]][4]


@pytest.mark.long
@pytest.mark.parametrize(
    "body",
    [
        {"labels": ["unheard of"]},
        {"labels": None},
        {"labels": "lazy"},
        {"labels": ["lazy", 1]},
        {"case": 2},
        {"case": -1},
        {"case": "first"},
        {"note": None},
        {"seen": 1},
        {"seen": None},
    ],
)
async def test_a_label_that_cannot_be_of_these_cases_is_refused(run: Path, body: dict[str, Any]):
    draw(run, "--sample", "2")
    async with reading(run) as pages:
        sent = await pages.post("label", **{"case": 0, "labels": [], "note": "", "seen": 0, **body})
        assert sent.status in (409, 422)
    assert not drawn(run).readings


@pytest.mark.long
async def test_cases_that_were_drawn_again_are_not_labelled_as_the_old_ones(run: Path):
    draw(run, "--sample", "2")
    async with reading(run) as pages:
        (run / "labels.jsonl").unlink()
        draw(run, "--sample", "3")
        sent = await pages.post("label", case=0, labels=[], note="", seen=0)
        assert sent.status == 422 and "drawn meanwhile" in (await sent.json())["problem"]


async def test_other_sites_other_names_and_who_lacks_the_token_get_nothing(run: Path):
    draw(run, "--sample", "1")
    label = json.dumps({"case": 0, "labels": [], "note": "", "seen": 0})
    kind = {"Content-Type": "application/json"}
    async with reading(run) as pages:
        for headers in ({}, {"Origin": "https://evil.example"}, {"Origin": pages.origin, "Host": "evil"}):
            sent = await pages.client.post("/api/label", data=label, headers={**kind, **headers})
            assert sent.status == 403
        named = await pages.client.get("/api/cases", headers={"Host": "evil"})
        assert named.status == 403
        assert "script-src 'self'" in (await pages.client.get("/")).headers["Content-Security-Policy"]
    async with reading(run, token=AddressToken()) as pages:
        assert (await pages.get("cases")).status == 403
        assert (await pages.post("label", case=0, labels=[], note="", seen=0)).status == 403
    assert not drawn(run).readings
