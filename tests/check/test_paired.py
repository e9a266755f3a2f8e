"""`wildtool check --against`: two endpoints on the same requests."""

import json
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from check.faulty_endpoint import Endpoint, Made
from e2e.command import Ended, wildtool
from e2e.test_check_command import KEY
from faults.server import Answer, Call, FaultServer, http
from wildtool.check.answers import RawAnswer
from wildtool.check.paired import AnswerPair, agreement_of, compare_endpoints
from wildtool.check.probe import Probe
from wildtool.check.run_requests import paired_probes
from wildtool.check.sender import Sender
from wildtool.stats.beta import exact_rate


def answer(*calls: tuple[str, str], failure: str = "") -> RawAnswer:
    functions = [{"id": "c", "function": {"name": name, "arguments": text}} for name, text in calls]
    return RawAnswer(probe="p", sent={}, failure=failure, message={"tool_calls": functions}, finish="stop")


LAMP = answer(("set_lamp", '{"level": 1, "room": "den"}'))
TEXT = answer()


def agreement(*triples: tuple[RawAnswer, RawAnswer, RawAnswer]) -> dict[str, Any]:
    """Args: triples: answers of the first endpoint, of the first one again, of the second one."""
    pairs = [AnswerPair(ours, theirs) for ours, _, theirs in triples]
    return agreement_of(pairs, [AnswerPair(ours, again) for ours, again, _ in triples], "http://peer/v1")


@given(st.integers(0, 40).flatmap(lambda size: st.tuples(st.integers(0, size), st.just(size))))
def test_the_exact_interval_is_that_of_clopper_and_pearson(rate: tuple[int, int]):
    right, size = rate
    low, high = exact_rate(right, size)
    if not size:
        assert (low, high) == (0.0, 1.0)
        return
    interval = binomtest(right, size).proportion_ci(method="exact")
    assert low == pytest.approx(interval.low, abs=1e-9) and high == pytest.approx(interval.high, abs=1e-9)


def test_arguments_in_another_order_or_spelling_are_the_same_call():
    same = answer(("set_lamp", '{"room":"den","level":1}'))
    assert AnswerPair(LAMP, same).alike == (True, True, True)
    assert AnswerPair(LAMP, answer(("set_lamp", "{}"))).alike == (True, True, False)
    assert AnswerPair(LAMP, answer(("ping", "{}"))).alike == (True, False, None)
    assert AnswerPair(LAMP, TEXT).alike == (False, None, None)
    assert AnswerPair(TEXT, TEXT).alike == (True, None, None)


def shares(*counts: tuple[int, int]) -> list[dict[str, Any]]:
    """Args: counts: same and compared, of calling, of tools and of arguments."""
    names = ("whether to call", "names", "arguments")
    return [
        {"of": name, "same": same, "compared": compared, "low": low, "high": high}
        for name, (same, compared) in zip(names, counts, strict=True)
        for low, high in [exact_rate(same, compared)]
    ]


def test_endpoints_that_decide_alike_are_the_same_within_a_margin():
    result = agreement(*[(LAMP, LAMP, LAMP)] * 60)
    assert result == {
        "with": "http://peer/v1",
        "requests": 60,
        "not_compared": 0,
        "agreement": shares((60, 60), (60, 60), (60, 60)),
        "with_itself": shares((60, 60), (60, 60), (60, 60)),
        "calls_only_here": 0,
        "calls_only_there": 0,
        "p_calls": 1.0,
        "p_beyond_repeats": 1.0,
        # The exact interval of 60 of 60 begins at 0.025^(1/60).
        "points": round(100 * (1 - 0.025 ** (1 / 60)), 1),
        "same": True,
        "verdict": "Same within ±6.0 points, in how many of 60 requests get a call (95 %).",
    }


DEN, BED = answer(("set_lamp", '{"room": "den"}')), answer(("set_lamp", '{"room": "bed"}'))
PING = answer(("ping", "{}"))


def test_shares_are_of_the_requests_in_which_there_was_something_to_compare():
    result = agreement((DEN, DEN, BED), (DEN, PING, DEN), (DEN, TEXT, TEXT), (TEXT, TEXT, TEXT))
    assert result["agreement"] == shares((3, 4), (2, 2), (1, 2))
    assert result["with_itself"] == shares((3, 4), (1, 2), (1, 1))


def test_a_request_that_failed_anywhere_is_not_compared():
    failed = answer(failure="HTTP 500")
    triples = (LAMP, LAMP, failed), (LAMP, failed, LAMP), (failed, LAMP, LAMP)
    result = agreement((LAMP, LAMP, LAMP), *triples, (LAMP, TEXT, LAMP))
    assert (result["requests"], result["not_compared"]) == (2, 3)
    assert agreement(*triples) == {
        "with": "http://peer/v1",
        "requests": 0,
        "not_compared": 3,
        "same": None,
        "verdict": "Not compared with http://peer/v1: no request was answered by both.",
    }


def test_endpoints_that_never_call_are_not_called_the_same():
    # What the first endpoint does the second time is no call of either.
    result = agreement(*[(TEXT, TEXT, TEXT)] * 127, (TEXT, LAMP, TEXT))
    assert result == {
        "with": "http://peer/v1",
        "requests": 128,
        "not_compared": 0,
        "same": None,
        "verdict": "Not compared with http://peer/v1: neither called a tool in any of 128 requests.",
    }
    assert agreement(*[(TEXT, TEXT, TEXT)] * 60, (LAMP, LAMP, LAMP))["same"] is True
    assert agreement(*[(TEXT, TEXT, TEXT)] * 60, (TEXT, TEXT, LAMP))["same"] is True


class Repeating:
    """What sends to an endpoint that always answers the same, a probe's repeats in turn."""

    def __init__(self, *answers: RawAnswer) -> None:
        self.answers, self.requests = answers, list[tuple[str, int, bool]]()

    async def run(self, probe: Probe, *, forced: bool) -> list[RawAnswer]:
        self.requests.append((probe.name, probe.repeats, forced))
        return [*self.answers]


async def test_each_request_goes_twice_to_the_first_endpoint_and_once_to_the_second():
    ours, theirs, shown = Repeating(DEN, TEXT), Repeating(BED), list[tuple[int, int]]()
    result = await compare_endpoints(
        cast(Sender, ours),
        cast(Sender, theirs),
        "http://peer/v1",
        quick=True,
        show=lambda *n: shown.append(n),
    )
    assert result == agreement(*[(DEN, TEXT, BED)] * 32)
    names = [probe.name for probe in await paired_probes(32)]
    assert ours.requests == [(name, 2, False) for name in names]
    assert theirs.requests == [(name, 1, False) for name in names]
    assert shown == [(number, 32) for number in range(1, 33)]


class Deciding:
    """An endpoint that calls the first tool on each request of the benchmark, unless it has a word in it."""

    def __init__(self, unless: str = "\0") -> None:
        self.unless = unless
        self.keys: set[str] = set()
        self.requests = 0
        self._sound = Endpoint()

    def __call__(self, call: Call) -> Answer:
        self.keys.add(call.authorization)
        self.requests += 1
        text = json.dumps(call.body["messages"][-1])
        if call.body["messages"][0]["content"].startswith("Current Date") and self.unless not in text:
            name = call.body["tools"][0]["function"]["name"]
            made = Made(
                finish="tool_calls", tokens=5, prompt=9, calls=[{"id": "c", "name": name, "arguments": "{}"}]
            )
            return Answer(http(200, json.dumps(self._sound.completion(made)).encode()))
        return self._sound(call)


async def compared(tmp_path: Path, other: Deciding, *words: str) -> Ended:
    here, there = FaultServer("ok"), FaultServer("ok")
    here.behave, there.behave = Deciding(), other
    async with here, there:
        address = ("--base-url", here.base_url, "--against", there.base_url, "--api-key-env", "PEER_KEY")
        return await wildtool(
            "check", "-m", "m", *address, "--quick", *words, cwd=tmp_path, PEER_KEY=KEY, COLUMNS="80"
        )


async def test_equal_endpoints_are_the_same_within_a_margin(tmp_path: Path):
    other = Deciding()
    ended = await compared(tmp_path, other)
    assert ended.status == 0, ended.out
    assert "Same within ±10.9 points" in " ".join(ended.out.split())
    assert max(map(len, ended.out.splitlines())) <= 80
    assert other.requests == 32 and other.keys == {""}, (
        "a key goes only to the address that it was named with"
    )


async def test_an_endpoint_that_calls_less_often_ends_with_status_1(tmp_path: Path):
    ended = await compared(tmp_path, Deciding(unless="the "), "--json", "--markdown", "check.md")
    agreement = json.loads(ended.out)["agreement"]
    assert ended.status == 1 and agreement["calls_only_here"] > 6 and not agreement["calls_only_there"]
    assert "| whether to call |" in (tmp_path / "check.md").read_text()


async def test_a_model_to_compare_with_may_have_its_own_key(tmp_path: Path):
    other = Deciding()
    await compared(tmp_path, other, "--against-api-key-env", "PEER_KEY")
    assert other.keys == {f"Bearer {KEY}"}
