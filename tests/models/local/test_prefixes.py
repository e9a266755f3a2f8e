"""What a model computed for a prompt is used again for the next turn, and changes nothing in what it says."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

ABSENT = "the extra [hf] is not installed"
transformers: Any = pytest.importorskip("transformers", reason=ABSENT)

from models.asking import TOOL  # noqa: E402
from models.local.test_hf import local  # noqa: E402
from models.local.tiny import make_model  # noqa: E402
from wildtool.models.local.prefixes import Prefixes  # noqa: E402
from wildtool.types import Address, Reply, Request  # noqa: E402


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("tiny"))


def session(word: str, turns: int) -> list[Request]:
    """The requests of a session, each with the turns before it."""
    messages: list[dict[str, Any]] = []
    requests: list[Request] = []
    for number in range(turns):
        messages.append({"role": "user", "content": f"{word} {number} " * 9})
        requests.append(Request(tuple(messages), [TOOL], address=Address(word, 0, str(number), 0)))
        messages.append({"role": "assistant", "content": "Fine."})
    return requests


async def replies(path: Path, requests: list[Request], **options: Any) -> tuple[list[str], Any]:
    """What one model says to requests in turn, and what it keeps of prompts."""
    model = local(path, **options)
    try:
        texts = [(await model.complete(request)).raw for request in requests]
        return texts, model._generator._prefixes  # pyright: ignore[reportPrivateUsage]
    finally:
        await model.close()


@pytest.mark.parametrize("temperature", [None, 1.0])
async def test_a_session_says_what_each_of_its_turns_says_alone(path: Path, temperature: float | None):
    requests = session("Oslo", 4)
    together, prefixes = await replies(path, requests, temperature=temperature, seed=3)
    alone = [(await replies(path, [request], temperature=temperature, seed=3))[0][0] for request in requests]
    assert together == alone
    assert prefixes.reused > prefixes.computed > 0


async def test_turns_of_several_sessions_in_one_batch_say_what_each_says_alone(path: Path):
    columns = [session(word, 3) for word in ("Oslo", "Rome", "weather")]
    model = local(path)
    turns: list[tuple[Reply, ...]] = []
    try:
        for turn in zip(*columns, strict=True):
            turns.append(tuple(await asyncio.gather(*map(model.complete, turn))))
    finally:
        await model.close()
    for number, column in enumerate(columns):
        alone, _ = await replies(path, column)
        assert [turn[number].raw for turn in turns] == alone


def test_a_later_turn_computes_only_what_is_new(path: Path):
    model = transformers.AutoModelForCausalLM.from_pretrained(path).eval()
    prefixes = Prefixes(model, 1 << 30)
    first = [*range(5, 45)]
    prefixes.batch_cache([first])
    assert (prefixes.computed, prefixes.reused) == (39, 0)
    prefixes.batch_cache([[*first, 60, 61]])
    assert (prefixes.computed, prefixes.reused) == (41, 39)
    prefixes.batch_cache([[*first[:20], 90, 91, 92]])
    assert (prefixes.computed, prefixes.reused) == (43, 59)
    prefixes.batch_cache([[*first[:8], 90, 91, 92]])
    assert (prefixes.computed, prefixes.reused) == (53, 59)


def test_a_model_with_a_sliding_window_keeps_nothing(path: Path):
    config = transformers.AutoConfig.from_pretrained(path)
    config.update({"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 0})
    config.layer_types = ["sliding_attention"] * config.num_hidden_layers
    assert not Prefixes(transformers.AutoModelForCausalLM.from_config(config), 1 << 30).fit


async def test_without_memory_for_it_nothing_is_kept_and_the_same_is_said(path: Path):
    requests = session("Rome", 3)
    without, prefixes = await replies(path, requests, extra_body={"prefix_mb": 0})
    assert without == (await replies(path, requests))[0]
    assert not prefixes.fit and prefixes.computed == 0


def test_threads_that_wait_leave_the_cores_to_another_process(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    local(path)
    assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    local(path)
    assert os.environ["OMP_WAIT_POLICY"] == "ACTIVE"
