"""Local weights with small libraries in place of torch and transformers: what they are given, and what comes of it."""

import asyncio
import hashlib
import os
import sys
from collections.abc import Callable
from typing import Any

import pytest

from models.asking import HELLO, TOOL
from models.local import plain_libraries as plain
from models.local.plain_libraries import Libraries
from models.options import model_options
from wildtool.errors import CallError
from wildtool.models.local import hf
from wildtool.models.local.chat_template import ChatTemplate
from wildtool.models.local.hf import Completion, HfModel, hf_model, prompt_seed
from wildtool.models.local.prefixes import Prefixes
from wildtool.models.prompted import PromptedModel
from wildtool.models.resolve import model_from_name
from wildtool.models.settings import Sampling
from wildtool.types import Reply, Request

# Weights -----------------------------------------------------------------------------------------------


def local(**given: Any) -> HfModel:
    return HfModel("hf/m", "m", Sampling(**given))


def of_tokens(monkeypatch: pytest.MonkeyPatch, *prompts: list[int]) -> list[Request]:
    """Requests with these prompts."""
    by_text = {str(number): prompt for number, prompt in enumerate(prompts)}

    def prompt(self: Any, request: Request, calls_to_text: Any = None) -> Any:
        return by_text[request.messages[0]["content"]], {"change": None}

    monkeypatch.setattr(ChatTemplate, "prompt", prompt)
    return [Request([{"role": "user", "content": text}]) for text in by_text]


def reply(text: str, prompt: int, spent: int, reason: str) -> Reply:
    usage = {"prompt_tokens": prompt, "completion_tokens": spent, "total_tokens": prompt + spent}
    return Reply({"role": "assistant", "content": text}, text, reason, usage, changes=("change",))


async def asked(model: HfModel, requests: list[Request]) -> list[Any]:
    try:
        replies = await asyncio.gather(*map(model.complete, requests), return_exceptions=True)
    finally:
        await model.close()
    return [
        Reply(**{**fields_of(each), "latency_s": 0.0}) if isinstance(each, Reply) else each
        for each in replies
    ]


def fields_of(made: Reply) -> dict[str, Any]:
    return {name: getattr(made, name) for name in Reply.__slots__}


async def test_rows_stop_at_their_rooms(library: Libraries, monkeypatch: pytest.MonkeyPatch):
    model = plain.Model(longest=6, eos=[50, None])
    library.transformers, _, _ = plain.transformers(library.tokenizer, model)
    monkeypatch.setitem(sys.modules, "transformers", library.transformers)
    library.tokenizer.eos_token_id = None
    requests = of_tokens(monkeypatch, [1] * 5, [2] * 4, [3] * 6, [4] * 7)
    first, second, third, fourth = await asked(local(max_tokens=10, extra_body={"prefix_mb": 0}), requests)
    assert (first.raw, second.raw) == ("\x02", "\x03\x04")
    assert first.finish_reason == second.finish_reason == "length"
    for error, tokens in ((third, 6), (fourth, 7)):
        assert isinstance(error, CallError)
        assert (error.kind, error.final) == ("prompt too long", True)
        assert str(error) == f"the request has {tokens} tokens; the model takes 6 with its reply"
    settings = model.calls[0]["generation_config"]
    assert (settings.eos_token_id, settings.max_new_tokens, settings.pad_token_id) == ([50], 2, 0)
    (only,) = await asked(local(extra_body={"prefix_mb": 0}), requests[2:3])
    assert only.kind == "prompt too long"


async def test_no_token_ends_a_reply_where_none_is_known(library: Libraries, monkeypatch: pytest.MonkeyPatch):
    model = plain.Model(eos=None)
    library.transformers, _, _ = plain.transformers(library.tokenizer, model)
    monkeypatch.setitem(sys.modules, "transformers", library.transformers)
    library.tokenizer.eos_token_id = None
    (made,) = await asked(local(max_tokens=2), of_tokens(monkeypatch, [4]))
    assert (made.raw, made.finish_reason) == ("\x05\x06", "length")
    assert model.calls[0]["generation_config"].eos_token_id is None


async def test_batches_have_their_size_and_their_error(library: Libraries, monkeypatch: pytest.MonkeyPatch):
    requests = of_tokens(monkeypatch, [1], [2], [3])
    await asked(local(max_tokens=1, extra_body={"batch_size": 2}), requests)
    assert [len(each["ids"]) for each in library.model.calls] == [2, 1]
    library.model.broken = RuntimeError("out of memory\nat length")
    for error in await asked(local(max_tokens=1, extra_body={"batch_size": 2}), requests[:2]):
        assert isinstance(error, CallError)
        assert (error.kind, error.final) == ("generation failed", False)
        assert str(error) == "the weights could not answer 2 requests at once: out of memory"


async def test_a_request_that_comes_while_a_batch_waits_joins_it(
    library: Libraries, monkeypatch: pytest.MonkeyPatch
):
    first, second = of_tokens(monkeypatch, [1], [2])
    model = local(max_tokens=1)
    early = asyncio.ensure_future(model.complete(first))
    await asyncio.sleep(0)
    await asyncio.gather(early, model.complete(second))
    await model.close()
    assert [len(each["ids"]) for each in library.model.calls] == [2]


async def test_weights_that_cannot_be_loaded_are_named(library: Libraries, monkeypatch: pytest.MonkeyPatch):
    def broken(place: str, **settings: Any) -> Any:
        raise OSError(" no such weights\nmore")

    monkeypatch.setattr(library.transformers.AutoModelForCausalLM, "from_pretrained", broken)
    (error,) = await asked(local(), of_tokens(monkeypatch, [1]))
    assert isinstance(error, CallError)
    assert (error.kind, error.final) == ("unloadable model", True)
    assert str(error) == "the weights of 'm' cannot be loaded: no such weights"


async def test_a_caller_that_leaves_is_left_out(library: Libraries, monkeypatch: pytest.MonkeyPatch):
    requests = of_tokens(monkeypatch, [1], [2])
    model = local(max_tokens=1)
    gone, stays = (asyncio.ensure_future(model.complete(request)) for request in requests)
    await asyncio.sleep(0)
    gone.cancel()
    assert (await stays).raw == "\x03"
    assert [each["ids"] for each in library.model.calls] == [[[2]]]
    assert (await model.complete(requests[0])).raw == "\x02"
    late = asyncio.ensure_future(model.complete(requests[0]))
    await asyncio.sleep(0)
    await model.close()
    with pytest.raises(asyncio.CancelledError):
        await late


async def test_weights_are_spread_where_that_is_asked_for(
    library: Libraries, monkeypatch: pytest.MonkeyPatch
):
    await asked(
        local(max_tokens=1, extra_body={"device": "auto", "dtype": "float16"}), of_tokens(monkeypatch, [1])
    )
    assert library.model.moves == ["eval"]
    assert library.read[-1] == ("m", {"dtype": "float16", "device_map": "auto"})


def test_noise_is_that_of_each_rows_seed(library: Libraries):
    sampler: Any = hf._GumbelSampler  # pyright: ignore[reportPrivateUsage]
    scores = plain.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]], "here")
    drawn = sampler(library.torch, 2.0, [1, 50])(None, scores)
    expected = [
        [0.5 - 1.9326, 1.0 + 0.2282, 1.5 + 2.2619],
        [0.5 - 1.0972, 1.0 + 0.3665, 1.5 + 2.9702],
    ]
    assert drawn.tolist() == [pytest.approx(row, abs=1e-3) for row in expected]


def test_the_seed_of_a_prompt_is_its_own():
    one = prompt_seed(1, [2, 3])
    assert (
        one
        == prompt_seed(1, (2, 3))
        == int.from_bytes(hashlib.sha256(b"1/" + bytes([2, *[0] * 7, 3, *[0] * 7])).digest()[:8], "big") // 2
    )
    assert len({one, prompt_seed(2, [2, 3]), prompt_seed(1, [3, 2])}) == 3
    assert hf._cut_at_end([1, 2, 3, 2], {2}) == Completion([1], True)  # pyright: ignore[reportPrivateUsage]
    assert hf._cut_at_end([1], set()) == Completion([1], False)  # pyright: ignore[reportPrivateUsage]


def test_threads_that_wait_leave_the_cores_to_another_process(
    library: Libraries, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    for before, after in ((None, "PASSIVE"), ("ACTIVE", "ACTIVE")):
        if before:
            monkeypatch.setenv("OMP_WAIT_POLICY", before)
        local()
        assert os.environ["OMP_WAIT_POLICY"] == after


HERMES = "<tool_call>{{ tool_calls tools"


@pytest.mark.parametrize(
    ("template", "wanted", "path", "made"),
    [
        (HERMES, None, "m", ("HfModel", "hermes", hf.BY_TEMPLATE)),
        (HERMES, "auto", "m", ("HfModel", "hermes", hf.BY_TEMPLATE)),
        (HERMES, "hermes", "m", ("HfModel", "hermes", "by option")),
        (HERMES, "react", "m", ("PromptedModel", "react", "by option")),
        ("nothing", "auto", "qwen2.5-7b", ("PromptedModel", "hermes", "auto")),
        ("nothing", None, "qwen2.5-7b", ("PromptedModel", "hermes", "auto")),
        ("nothing", "hermes", "m", ("PromptedModel", "hermes", "by option")),
    ],
)
def test_the_template_shows_the_tools_where_it_writes_the_wanted_format(
    library: Libraries, template: str, wanted: str | None, path: str, made: tuple[str, str, str]
):
    library.tokenizer.template = template
    model = hf_model("hf/x", path, wanted, Sampling())
    assert isinstance(model, HfModel | PromptedModel)
    settings = model.settings()
    assert (type(model).__name__, settings["format"], settings["format_chosen"]) == made


async def test_repairs_that_the_template_asks_for_do_not_count(
    library: Libraries, monkeypatch: pytest.MonkeyPatch
):
    library.tokenizer.template = HERMES
    model: Any = hf_model("hf/x", "m", None, Sampling(max_tokens=1))
    text = "<tool_call>\n{'name': 'f', 'arguments': {'a': True}}\n</tool_call>"

    async def write(prompt: list[int], seed: int) -> Completion:
        return Completion([*map(ord, text)], False)

    monkeypatch.setattr(model._generator, "reply", write)
    counted = await model.complete(Request([HELLO], [TOOL]))
    assert any(change.startswith("repair:") for change in counted.changes)
    repairs = {change.removeprefix("repair:") for change in counted.changes}
    vars(model.template)["expected_repairs"] = repairs
    assert (await model.complete(Request([HELLO], [TOOL]))).changes == ()


def test_names_lead_to_local_weights(library: Libraries):
    completing = model_from_name("hf/m", model_options(api="completions", display_name="mine"))
    assert isinstance(completing, HfModel)
    assert (completing.name, completing.settings()["api"], completing.settings()["path"]) == (
        "mine",
        "completions",
        "m",
    )
    library.tokenizer.template = HERMES
    named = model_from_name("hf/m", model_options())
    assert (named.name, named.settings()["format"]) == ("hf/m", "hermes")


# Prefixes ----------------------------------------------------------------------------------------------


LAYER = 2 * 2 * 2 * 8
"""Bytes of one token in both layers, keys and values."""


def rows(cache: Any) -> list[Any]:
    """The first number of each token of each row in the first layer."""
    return cache.layers[0].keys[:, 0, :, 0].tolist()


def test_prompts_of_a_batch_are_padded_on_the_left(library: Libraries):
    prefixes = Prefixes(library.model, 1000 * LAYER)
    assert rows(prefixes.batch_cache([[1, 2, 9], [3, 4, 5, 6, 9], [7, 9]])) == [
        [0, 0, 1, 2],
        [3, 4, 5, 6],
        [0, 0, 0, 7],
    ]


def test_the_oldest_makes_room(library: Libraries):
    prefixes: Any = Prefixes(library.model, 40 * LAYER)
    turns = [[number] * 20 for number in range(3)]
    for turn in turns:
        prefixes.batch_cache([[*turn, 99]])
    assert [prefix.tokens for prefix in prefixes._kept] == turns[1:]
    assert [prefix.size for prefix in prefixes._kept] == [20 * LAYER] * 2
    prefixes.batch_cache([[*turns[1], 5, 99]])
    assert [prefix.tokens for prefix in prefixes._kept] == [[*turns[1], 5]]


def test_only_caches_that_can_be_cut_fit(library: Libraries, monkeypatch: pytest.MonkeyPatch):
    assert not Prefixes(library.model, 0).fit
    assert Prefixes(library.model, 1).fit
    monkeypatch.setattr(plain.DynamicCache, "kinds", (plain.DynamicLayer, plain.OtherLayer))
    assert not Prefixes(library.model, 1).fit


async def test_prompts_of_a_batch_share_what_was_computed(
    library: Libraries, monkeypatch: pytest.MonkeyPatch
):
    requests = of_tokens(monkeypatch, [1, 2, 3], [4, 5])
    await asked(local(max_tokens=1), requests)
    assert rows(library.model.calls[0]["past_key_values"]) == [[1, 2], [0, 4]]
    requests = of_tokens(monkeypatch, [1, 2, 3], [4])
    await asked(local(max_tokens=1), requests)
    assert "past_key_values" not in library.model.calls[1]
    sizes: list[int] = []
    kept: Callable[..., Any] = hf.Prefixes

    def noted(model: Any, most_bytes: int) -> Any:
        sizes.append(most_bytes)
        return kept(model, most_bytes)

    monkeypatch.setattr(hf, "Prefixes", noted)
    for extra in ({}, {"prefix_mb": 3}):
        await asked(local(max_tokens=1, extra_body=extra), requests)
    assert sizes == [1024 << 20, 3 << 20]
