"""Plans, benchmarks by name and data, and suites: every refusal to the word, and what is chosen."""

from collections.abc import Callable
from typing import Any

import pytest

from engine.echo_benchmark import ECHO, EchoBenchmark
from wildtool.engine import registry
from wildtool.errors import DataError, WildtoolError


def refusal(action: Callable[[], object]) -> str:
    with pytest.raises(WildtoolError) as raised:
        action()
    return str(raised.value)


# Benchmarks by name -----------------------------------------------------------------------------------------


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
