"""A benchmark that shows a model its own reply again carries along what the model's adapter keeps in it."""

from typing import Any

import pytest

from benchmarks.acebench.sandbox_build import PHONE, edition, record
from wildtool.benchmarks.acebench.episode.fixed import FixedMultiStepEpisode
from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.types import PROVIDER_CONTENT, Message, Request

SIGNED = {"anthropic": [{"type": "thinking", "thinking": "Hm.", "signature": "EqQB"}]}
PROFILES = ("official", "fixed", "paper")


def repeated(request: Request | None) -> list[Any]:
    assert request is not None
    return [message[PROVIDER_CONTENT] for message in request.messages if PROVIDER_CONTENT in message]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("calls", [True, False], ids=["calls", "a question"])
def test_wildtoolbench_carries_it_from_step_to_step(profile: str, calls: bool):
    shown = 0
    for item in WILD_MINI.load(WILD_MINI.data.locate(None)):
        for unit in item.units:
            episode = WILD_MINI.rules(profile).episode(item, unit)
            request = episode.request()
            assert request is not None and request.gold is not None
            reply: Message = request.gold("parallel")
            if bool(reply.get("tool_calls")) is calls:
                episode.advance({**reply, PROVIDER_CONTENT: SIGNED})
                if not episode.done:
                    assert repeated(episode.request()) == [SIGNED]
                    shown += 1
    assert shown


def test_acebench_carries_it_beside_native_calls():
    episode = FixedMultiStepEpisode(record(classes=PHONE), edition(), native=True)
    function = {"name": "turn_on_wifi", "arguments": "{}"}
    episode.advance(
        {
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": function}],
            PROVIDER_CONTENT: SIGNED,
        }
    )
    assert repeated(episode.request()) == [SIGNED]
