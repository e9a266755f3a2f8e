"""Weights in the process itself: their own template, batches, chance, calls read back. With a model made on the spot."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from models.asking import HELLO, TOOL, asked_and_answered, call
from models.options import model_options
from wildtool.benchmarks.wildtoolbench import WILD_MINI
from wildtool.errors import CallError, UsageError
from wildtool.models.local.hf import HfModel
from wildtool.models.prompted import PromptedModel
from wildtool.models.resolve import ModelOptions, model_from_name
from wildtool.types import Address, Reply, Request, Transcript

ABSENT = "the extra [hf] is not installed"
pytest.importorskip("transformers", reason=ABSENT)

from models.local.tiny import TEMPLATE, make_model  # noqa: E402
from wildtool.models.local.hf import Completion  # noqa: E402

PROMPTS = [[{"role": "user", "content": "Oslo " * number}] for number in range(6)]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("tiny"))


def local(path: Path, **options: Any) -> HfModel:
    model = model_from_name(f"hf/{path}", model_options(**{"max_tokens": 16, **options}))
    assert isinstance(model, HfModel)
    return model


async def answers(path: Path, at_once: bool = True, repeat: int = 0, **options: Any) -> list[str]:
    """What a fresh model says to each prompt."""
    model = local(path, **options)
    requests = [Request(prompt, [TOOL], address=Address("i", repeat, "0", 0)) for prompt in PROMPTS]
    try:
        if at_once:
            return [reply.raw for reply in await asyncio.gather(*map(model.complete, requests))]
        return [(await model.complete(request)).raw for request in requests]
    finally:
        await model.close()


@pytest.mark.parametrize("temperature", [None, 0.0])
async def test_without_a_temperature_the_likeliest_tokens_are_taken(path: Path, temperature: float | None):
    first, second = [await answers(path, temperature=temperature, seed=seed) for seed in (1, 2)]
    assert first == second and len(set(first)) > 1


async def test_a_seed_decides_what_chance_gives(path: Path):
    one, same, other = [await answers(path, temperature=1.0, seed=seed) for seed in (1, 1, 2)]
    assert one == same != other


async def test_repeats_differ_under_one_seed(path: Path):
    assert await answers(path, temperature=1.0, seed=1) != await answers(
        path, temperature=1.0, seed=1, repeat=1
    )


@pytest.mark.parametrize("temperature", [None, 1.0])
async def test_a_batch_says_what_each_would_alone(path: Path, temperature: float | None):
    together = await answers(path, temperature=temperature, seed=5)
    assert together == await answers(path, at_once=False, temperature=temperature, seed=5)


async def test_a_reply_at_its_limit_says_so_and_usage_counts_its_tokens(path: Path):
    model = local(path, max_tokens=1)
    requests = [Request(prompt, [TOOL]) for prompt in PROMPTS]
    replies = [await model.complete(request) for request in requests]
    await model.close()
    assert {reply.finish_reason for reply in replies if reply.raw} == {"length"}
    asked = [len(model.template.prompt(request)[0]) for request in requests]
    assert [reply.usage for reply in replies] == [
        {"prompt_tokens": prompt, "completion_tokens": 1, "total_tokens": prompt + 1} for prompt in asked
    ]


async def test_a_prompt_beyond_the_models_length_is_refused_and_its_batch_answered(path: Path):
    model = local(path)
    long = Request([{"role": "user", "content": "q" * 40_000}])
    results = await asyncio.gather(
        model.complete(long), model.complete(Request([HELLO])), return_exceptions=True
    )
    await model.close()
    assert isinstance(results[0], CallError) and results[0].final and results[0].kind == "prompt too long"
    assert isinstance(results[1], Reply)


async def test_who_is_cancelled_leaves_the_others_their_answers(path: Path):
    alone = (await answers(path))[5]
    model = local(path)
    first = asyncio.create_task(model.complete(Request(PROMPTS[4], [TOOL])))
    second = asyncio.create_task(model.complete(Request(PROMPTS[5], [TOOL])))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).raw == alone
    assert (await model.complete(Request(PROMPTS[5], [TOOL]))).raw == alone
    await model.close()


class GoldModel:
    """Says the gold answers with the tokens of the model behind, whose weights are not asked."""

    def __init__(self, model: HfModel) -> None:
        self.name, self.inner = model.name, model
        self.said: dict[tuple[int, ...], list[int]] = {}
        model._generator.reply = self._reply  # type: ignore[method-assign]  # pyright: ignore

    async def _reply(self, prompt: list[int], seed: int) -> Completion:
        return Completion(self.said[tuple(prompt)], True)

    async def complete(self, request: Request) -> Reply:
        from wildtool.json_codec import loads
        from wildtool.tool_formats import CALL_FORMATS, ToolCall

        assert request.gold is not None
        gold = request.gold("parallel")
        calls = [
            ToolCall(one["function"]["name"], loads(one["function"]["arguments"]))
            for one in gold.get("tool_calls") or []
        ]
        text = CALL_FORMATS["hermes"].write(gold.get("content") or "", calls)
        tokenizer = self.inner.template._tokenizer  # pyright: ignore[reportPrivateUsage]
        prompt = tuple(self.inner.template.prompt(request)[0])
        self.said[prompt] = tokenizer(text, add_special_tokens=False)["input_ids"]
        return await self.inner.complete(request)


async def test_gold_answers_in_the_models_own_tokens_are_all_correct(path: Path):
    gold = GoldModel(local(path))
    replies: dict[str, list[Reply]] = {}

    async def ask(unit: str, request: Request) -> Reply:
        reply = await gold.complete(request)
        replies.setdefault(unit, []).append(reply)
        return reply

    for item in WILD_MINI.load(WILD_MINI.data.locate(None)):
        replies.clear()
        await WILD_MINI.play(item, ask, "official")
        transcripts = {unit: Transcript(tuple(said)) for unit, said in replies.items()}
        outcomes = [verdict.outcome for verdict in WILD_MINI.judge(item, transcripts, "official")]
        assert outcomes == ["correct"] * len(item.units)


async def test_the_template_shows_tools_calls_and_results(path: Path):
    model = local(path)
    messages = asked_and_answered(call("c", "f", '{"a": "中"}'))
    tokens, changes = model.template.prompt(Request(messages, [TOOL]))
    text = model.template.decode(tokens)
    assert "城市" in text and '"arguments": {"a": "中"}' in text and "r0 (f)" in text
    assert text.endswith("<|im_start|>assistant\n")
    assert {"arguments-as-object", "tool-name-added"} <= changes.keys()


async def test_what_the_template_refuses_is_final_and_says_why(tmp_path: Path):
    refusing = "{% if messages[0].role == 'system' %}{{ raise_exception('no system, please') }}{% endif %}"
    model = local(make_model(tmp_path, refusing + TEMPLATE))
    with pytest.raises(CallError, match="no system, please") as failure:
        await model.complete(Request([{"role": "system", "content": "s"}]))
    assert failure.value.final


def test_how_tools_are_told_follows_from_template_name_and_option(path: Path, tmp_path: Path):
    own = local(path, format="hermes").settings()
    assert (own["tools"], own["format"], own["format_chosen"]) == ("chat template", "hermes", "by option")
    assert local(path).settings()["format_chosen"] == "by template"
    other = model_from_name(f"hf/{path}", model_options(format="pythonic"))
    assert isinstance(other, PromptedModel) and other.settings()["format"] == "pythonic"
    plain = make_model(tmp_path / "toolace", "{{ messages[0].content }}")
    by_name = model_from_name(f"hf/{plain}", ModelOptions())
    assert isinstance(by_name, PromptedModel) and by_name.settings()["format_chosen"] == "auto"


def test_a_template_of_no_known_format_asks_for_one(tmp_path: Path):
    plain = make_model(tmp_path / "some", "{{ messages[0].content }}")
    with pytest.raises(UsageError, match="--tool-format"):
        model_from_name(f"hf/{plain}", ModelOptions())


def test_a_path_without_a_model_is_named(tmp_path: Path):
    with pytest.raises(UsageError, match="nothing-here"):
        model_from_name(f"hf/{tmp_path}/nothing-here", ModelOptions())


@pytest.mark.parametrize(
    "extra", [{"batch_size": 0}, {"batch_size": "8"}, {"batch_size": True}, {"top_p": 1}]
)
def test_settings_that_cannot_be_are_refused(path: Path, extra: dict[str, Any]):
    with pytest.raises(UsageError, match="extra body"):
        local(path, extra_body=extra)


async def test_weights_that_cannot_be_loaded_are_a_final_error(path: Path, tmp_path: Path):
    folder = make_model(tmp_path)
    (folder / "model.safetensors").unlink()
    model = local(folder)
    with pytest.raises(CallError, match="cannot be loaded") as failure:
        await model.complete(Request([HELLO]))
    await model.close()
    assert failure.value.final


PARALLEL = asked_and_answered(call("a", "f", '{"x":1}'), call("b", "g", "{}"), content="Both:")
ROLES = "{%- for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}"
REFUSING = (
    "{{ tools }}" + ROLES + "{%- if message.tool_calls %}{%- if message.tool_calls | length != 1 %}"
    '{{- raise_exception("This model only supports single tool-calls at once!") }}{%- endif %}'
    "<tool_call>{{ message.tool_calls[0].function.name }}</tool_call>{%- endif %}{% endfor %}"
)


def shown(path: Path, request: Request) -> tuple[str, list[str]]:
    """What the weights of a template are asked, and what was changed for it."""
    model = local(path)
    tokens, changes = model.prompt(request)
    return model.template.decode(tokens), list(changes)


def test_parallel_calls_are_split_where_the_template_takes_one(tmp_path: Path):
    text, changes = shown(make_model(tmp_path, REFUSING), Request(PARALLEL, [TOOL]))
    assert text.index("<tool_call>f</tool_call>") < text.index("r0") < text.index("<tool_call>g</tool_call>")
    assert "parallel-calls-split" in changes


async def test_calls_that_a_template_would_leave_out_stand_in_the_text(tmp_path: Path):
    template = "{{ tools }}<tool_call></tool_call>" + ROLES + "{% endfor %}"
    path = make_model(tmp_path, template)
    text, _ = shown(path, Request(PARALLEL, [TOOL]))
    assert (
        '<tool_call>\n{"name":"f","arguments":{"x":1}}\n</tool_call>' in text
        and "Both:" in text
        and "r1" in text
    )
    model = local(path, max_tokens=1)
    reply = await model.complete(Request(PARALLEL, [TOOL]))
    await model.close()
    assert "calls-as-text" in reply.changes


def test_tools_are_shown_to_a_template_that_has_another_name_for_them(tmp_path: Path):
    template = "{{ xml_tools }}<tool_call>{{ '' if tool_calls else '' }}" + ROLES + "{% endfor %}"
    text, _ = shown(make_model(tmp_path, template), Request([HELLO], [TOOL]))
    assert "Does." in text


async def test_a_completion_continues_the_text_without_a_template(path: Path):
    model = local(path, api="completions")
    try:
        tokens, changes = model.prompt(Request([{"role": "user", "content": "Oslo"}]))
        reply = await model.complete(Request([{"role": "user", "content": "Oslo"}]))
    finally:
        await model.close()
    assert (model.template.decode(tokens).endswith("Oslo"), changes) == (True, {})
    assert isinstance(reply.message["content"], str)
    assert model.settings()["api"] == "completions"
