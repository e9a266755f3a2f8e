"""Local weights with small libraries in place of torch and transformers: what they are given, and what comes of it."""

import asyncio
import hashlib
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from models.asking import HELLO, TOOL, call
from models.local import plain_libraries as plain
from models.local.plain_libraries import Libraries
from models.options import model_options
from wildtool.errors import CallError, UsageError
from wildtool.models.local import hf
from wildtool.models.local.chat_template import ChatTemplate
from wildtool.models.local.hf import Completion, HfModel, hf_model, prompt_seed
from wildtool.models.local.prefixes import FEWEST_TOKENS, Prefixes
from wildtool.models.prompted import PromptedModel
from wildtool.models.resolve import model_from_name
from wildtool.models.settings import Sampling
from wildtool.tool_formats import CALL_FORMATS
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


async def test_a_batch_is_padded_written_and_cut_at_its_ends(
    library: Libraries, monkeypatch: pytest.MonkeyPatch
):
    requests = of_tokens(monkeypatch, [4], [20, 21, 5], [30, 40])
    replies = await asked(local(max_tokens=3, extra_body={"prefix_mb": 0}), requests)
    assert replies == [
        reply("\x05\x06", 1, 3, "stop"),
        reply("\x06", 3, 2, "stop"),
        reply(")*+", 2, 3, "length"),
    ]
    (written,) = library.model.calls
    settings = written.pop("generation_config")
    assert {**written, "attention_mask": written["attention_mask"].tolist()} == {
        "ids": [[7, 7, 4], [20, 21, 5], [7, 30, 40]],
        "attention_mask": [[0, 0, 1], [1, 1, 1], [0, 1, 1]],
        "processors": [],
    }
    assert vars(settings) == {
        "eos_token_id": [7, 9],
        "do_sample": False,
        "temperature": None,
        "num_beams": 1,
        "top_p": None,
        "top_k": None,
        "max_length": None,
        "max_new_tokens": 3,
        "pad_token_id": 7,
    }
    assert library.model.generation_config.do_sample is True
    assert library.model.moves == ["cpu", "eval"]
    assert library.read == [("m", {}), "no bars", "errors only", ("m", {"dtype": "auto"})]


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


async def test_a_caller_that_leaves_while_it_is_answered_ends_its_row_alone(
    library: Libraries, monkeypatch: pytest.MonkeyPatch
):
    began, goes_on, widths = threading.Event(), threading.Event(), list[int]()
    generate = library.model.generate

    def held(**settings: Any) -> Any:
        began.set()
        goes_on.wait()
        rows = generate(**settings)
        widths.append(rows.shape[1])
        return rows

    monkeypatch.setattr(library.model, "generate", held)
    requests = of_tokens(monkeypatch, [20], [5], [30])
    model = local(max_tokens=50, extra_body={"batch_size": 2})
    gone, stays, alone = (asyncio.ensure_future(model.complete(request)) for request in requests)
    for leaving in (gone, alone):
        await asyncio.to_thread(began.wait)
        began.clear()
        leaving.cancel()
        await asyncio.sleep(0)
        goes_on.set()
        if leaving is gone:
            assert (await stays).raw == "\x06"
            goes_on.clear()
    await model.close()
    # One token for the prompt, then two until the end token, and one until it is seen that nobody waits.
    assert widths == [3, 2]
    assert gone.cancelled() and alone.cancelled()


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


def test_the_settings_of_local_weights(library: Libraries):
    digest = hashlib.sha256(b"tools tool_calls").hexdigest()[:16]
    defaults = {
        "path": "m",
        "library": "transformers 5.0, torch 2.9",
        "device": "cpu",
        "dtype": "auto",
        "batch_size": 8,
        "chat_template": digest,
        "temperature": None,
        "max_tokens": 4096,
        "extra_body": {},
    }
    assert local().settings() == defaults
    library.torch.cuda.is_available = lambda: True
    extra = {"batch_size": 2, "prefix_mb": 3, "chat_template_kwargs": {"a": 1}}
    full = local(temperature=0.5, max_tokens=5, seed=6, extra_body=extra)
    assert full.settings() == {
        **defaults,
        "device": "cuda",
        "batch_size": 2,
        "temperature": 0.5,
        "max_tokens": 5,
        "seed": 6,
        "extra_body": extra,
    }
    history = Request([HELLO, {"role": "assistant", "content": "", "tool_calls": [call("a", "f", {})]}])
    full.template.text = "shows no calls"
    assert "calls-as-text" not in full.prompt(history)[1]
    with_format = full.with_format(CALL_FORMATS["hermes"], "template")
    assert with_format is full
    assert "calls-as-text" in full.prompt(history)[1]
    own = {"tools": "chat template", "format": "hermes", "format_chosen": "template"}
    assert {name: full.settings()[name] for name in own} == own
    completing = HfModel("hf/m", "m", Sampling(), completion=True)
    assert (completing.settings()["api"], completing.settings()["chat_template"]) == (
        "completions",
        hashlib.sha256(b"").hexdigest()[:16],
    )


@pytest.mark.parametrize(
    ("extra", "problem"),
    [
        (
            {"top_k": 1},
            "the extra body of hf/ models has batch_size, chat_template_kwargs, device, dtype, prefix_mb; it has no"
            " 'top_k'",
        ),
        ({"batch_size": "1"}, "batch_size in the extra body must be of type int"),
        ({"batch_size": True}, "batch_size in the extra body must be of type int"),
        ({"chat_template_kwargs": []}, "chat_template_kwargs in the extra body must be of type dict"),
        ({"device": 1}, "device in the extra body must be of type str"),
        ({"dtype": 1}, "dtype in the extra body must be of type str"),
        ({"batch_size": 0}, "batch_size in the extra body must be at least 1"),
        ({"prefix_mb": -1}, "prefix_mb in the extra body must be at least 0"),
    ],
)
def test_a_setting_of_local_weights_that_cannot_work_is_named(library: Libraries, extra: Any, problem: str):
    with pytest.raises(UsageError) as raised:
        local(extra_body=extra)
    assert str(raised.value) == problem
    assert local(extra_body={"batch_size": 1, "prefix_mb": 0}).settings()["batch_size"] == 1


HERMES = "<tool_call>{{ tool_calls tools"
CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'


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


async def test_calls_are_read_from_replies_to_requests_with_tools(
    library: Libraries, monkeypatch: pytest.MonkeyPatch
):
    library.tokenizer.template = HERMES
    model: Any = hf_model("hf/x", "m", None, Sampling(max_tokens=1))

    async def write(prompt: list[int], seed: int) -> Completion:
        return Completion([*map(ord, CALL)], True)

    monkeypatch.setattr(model._generator, "reply", write)
    monkeypatch.setattr(time, "perf_counter", iter(range(0, 100, 5)).__next__)
    read = await model.complete(Request([HELLO], [TOOL]))
    assert read.finish_reason == "tool_calls"
    assert [entry["function"] for entry in read.message["tool_calls"]] == [
        {"name": "f", "arguments": '{"a":1}'}
    ]
    assert (read.raw, read.usage["completion_tokens"]) == (CALL, len(CALL) + 1)
    plain_reply = await model.complete(Request([HELLO]))
    assert (plain_reply.message, plain_reply.finish_reason) == (
        {"role": "assistant", "content": CALL},
        "stop",
    )
    history = [HELLO, {"role": "assistant", "content": "", "tool_calls": [call("a", "f", "{}")]}]
    assert "tool_calls" in (await model.complete(Request(history))).message
    assert read.latency_s == 5


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


def test_what_was_computed_of_a_prompt_is_used_for_the_next_turn(library: Libraries):
    prefixes = Prefixes(library.model, 1000 * LAYER)
    assert prefixes.fit
    long = [*range(20)]
    assert rows(prefixes.batch_cache([[*long, 99]])) == [long]
    longer = [*long, 50, 51]
    assert rows(prefixes.batch_cache([[*longer, 99]])) == [longer]
    assert library.model.computed == [long, [50, 51]]
    assert (prefixes.computed, prefixes.reused) == (22, 20)
    other = [*range(15), 70]
    assert rows(prefixes.batch_cache([[*other, 99]])) == [other]
    assert library.model.computed[-1] == other
    branch = [*range(16), 80]
    assert rows(prefixes.batch_cache([[*branch, 99], [5, 6, 99]])) == [branch, [0] * 15 + [5, 6]]
    assert FEWEST_TOKENS == 16
    assert [80] in library.model.computed
    before = len(library.model.computed)
    prefixes.batch_cache([[*longer, 1]])
    assert len(library.model.computed) == before
    values = prefixes.batch_cache([[*longer, 1]]).layers[1]
    assert (values.keys[0, 0, :, 1].tolist(), values.values[0, 0, :, 0].tolist()) == (
        [1] * 22,
        [-token for token in longer],
    )


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
