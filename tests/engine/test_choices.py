"""Plans, benchmarks by name and data, and suites: every refusal to the word, and what is chosen."""

import logging
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from engine.echo_benchmark import ECHO, EchoBenchmark
from wildtool.benchmark import SingleTurn
from wildtool.engine import plan as plans
from wildtool.engine import registry
from wildtool.errors import DataError, WildtoolError
from wildtool.types import Item, Source


def refusal(action: Callable[[], object]) -> str:
    with pytest.raises(WildtoolError) as raised:
        action()
    return str(raised.value)


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Source:
    monkeypatch.setattr(plans, "digest_now", lambda benchmark, source, split: source.sha256)
    path = tmp_path / "items"
    path.write_text("a p en\nb q en\nc p zh\nd p en\n")
    return Source("mine", path, "0")


# Benchmarks by name -----------------------------------------------------------------------------------------


class Bare(SingleTurn):
    def load(self, source: Source, **selection: Any) -> Iterator[Item]:
        yield from ()

    request = check = load  # type: ignore[assignment]


BARE = Bare()
ODD = 5


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[EntryPoint, ...]]:
    entries: dict[str, tuple[EntryPoint, ...]] = {}
    monkeypatch.setattr(registry, "_entries", lambda: entries)
    monkeypatch.setattr(registry, "_OURS", {"ours": f"{__name__}:ECHO"})
    monkeypatch.setattr(registry, "BY_NAME", {})
    monkeypatch.setattr(registry, "_reported", set())
    return entries


def entry(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, f"{__name__}:{value}", registry.ENTRY_POINT_GROUP)


def test_benchmarks_that_can_be_used_are_given_and_others_reported_once(
    offered: dict[str, tuple[EntryPoint, ...]], caplog: pytest.LogCaptureFixture
):
    offered |= {
        "zebra": (entry("zebra", "ODD"),),
        "echo": (entry("echo", "ECHO"),),
        "ours": (entry("ours", "BARE"),),
    }
    with caplog.at_level(logging.WARNING, "wildtool"):
        for _ in range(2):
            assert registry.usable_benchmarks() == [ECHO, ECHO]
    assert [record.getMessage() for record in caplog.records] == [
        f"benchmark 'zebra' of package {__name__} cannot be used: its entry point {__name__}:ODD is int; inherit from"
        " wildtool.benchmark.Benchmark, which gives what it lacks; it is passed over",
        f"benchmark 'ours' of package {__name__} cannot be used: wildtool has a benchmark of that name; the package must"
        " choose another; it is passed over",
    ]
    assert registry.benchmark_names() == ["echo", "ours", "zebra"]
    assert [registry.names_benchmark(name) for name in ("echo", "x.py", "x")] == [True, True, False]
    assert refusal(lambda: registry.load_benchmark("ech")) == (
        "unknown benchmark 'ech'; did you mean 'echo'? (known: echo, ours, zebra)"
    )
    assert registry.load_benchmark("echo", "loud").mode == "loud"
    assert (
        refusal(lambda: registry.load_benchmark("ours", "x"))
        == "unknown mode 'x' of echo (known: plain, loud)"
    )


def test_prompts_and_sampling_of_an_original():
    assert (
        refusal(lambda: registry.choose_prompts(ECHO, "mine", None))
        == "--prompts is 'mine'; it takes own or original"
    )
    assert registry.choose_prompts(ECHO, "own", None) is registry.choose_prompts(ECHO, None, None) is ECHO
    assert refusal(lambda: registry.choose_prompts(ECHO, "original", None)) == (
        "echo has no prompts of an original to fetch; leave --prompts out"
    )
    assert refusal(lambda: registry.original_sampling(ECHO)) == (
        "how the original of echo samples is not known here; leave --sampling out"
    )
    variant = registry.as_recorded(ECHO, {"profile": "strict", "prompts": "d"})
    assert (variant.benchmark, variant.alterations, registry.prompts_of(ECHO)) == (ECHO, (), "")


class Worded(EchoBenchmark):
    """Sends the original's prompts where they were pulled."""

    original_sampling = {"temperature": 0.5}  # noqa: RUF012
    pulled: Any = None
    prompts_note = "n"

    def __init__(self, prompts: str = "", mode: str = "plain") -> None:
        super().__init__(mode=mode)
        self.prompts = prompts

    def in_original_prompts(self, split: str | None) -> Any:
        if self.pulled == "damaged":
            raise DataError("damaged")
        return self.pulled


def test_the_originals_prompts_are_sent_where_they_were_pulled():
    worded, original = Worded(), Worded("digest")
    choose = registry.choose_prompts
    assert choose(worded, None, None) is choose(worded, "own", None) is worded
    assert refusal(lambda: choose(worded, "original", None)) == (
        "no original prompts of echo: there are some for mode plain of the official data, once `wildtool data pull echo`"
        " has fetched them; otherwise leave out --prompts"
    )
    assert refusal(lambda: choose(Worded(mode="loud"), "original", "s")).startswith(
        "no original prompts of echo in mode loud for split s: there are some for mode plain of"
    )
    assert refusal(lambda: choose(original, "own", None)) == (
        "echo is only put in the original's words; leave --prompts out. A run in wildtool's words, as earlier versions"
        " made it, can be scored but not continued"
    )
    worded.pulled = original
    assert choose(worded, None, None) is choose(worded, "original", None) is original
    assert registry.original_sampling(worded) == {"temperature": 0.5}
    recorded = [
        registry.as_recorded(worded, {"prompts": digest}).benchmark for digest in ("digest", "other", "")
    ]
    assert recorded == [original, worded, worded]
    worded.pulled = "damaged"
    assert registry.as_recorded(worded, {"prompts": "digest"}).benchmark is worded
