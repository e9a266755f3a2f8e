"""Small ones in place of torch and transformers, with what local weights use of them: arithmetic by numpy, a tokenizer of
one token a character, and a model that goes on counting from its last token."""

import json
from types import SimpleNamespace
from typing import Any

import numpy as np


class Tensor(np.ndarray):
    """An array with the names that torch has for it."""

    device: Any = "here"  # pyright: ignore

    def float(self) -> Any:
        return self.astype(np.float32)

    def to(self, device: str) -> Any:
        assert device == "here"
        return self

    def clamp(self, min: Any) -> Any:
        return np.maximum(self, min).view(Tensor)

    def numel(self) -> int:
        return int(np.prod(self.shape))

    def element_size(self) -> int:
        return int(self.itemsize)


def tensor(values: Any, device: str) -> Any:
    assert device == "here"
    return np.array(values).view(Tensor)


class Source:
    """A source of numbers: the seed is all that they depend on."""

    def manual_seed(self, seed: int) -> "Source":
        self.seed = seed
        return self


class _NoGrad:
    entered = 0

    def __enter__(self) -> None:
        _NoGrad.entered += 1

    def __exit__(self, *raised: object) -> None: ...


def _pad(part: Any, sides: tuple[int, ...]) -> Any:
    last, after_last, left, right = sides
    return np.pad(part, ((0, 0), (0, 0), (left, right), (last, after_last))).view(Tensor)


def torch(available: bool = False) -> Any:
    """Its module. Args: available: whether there is a device of its own."""
    return SimpleNamespace(
        __version__="2.9",
        cuda=SimpleNamespace(is_available=lambda: available),
        tensor=tensor,
        stack=lambda parts: np.stack(parts).view(Tensor),
        cat=lambda parts: np.concatenate(parts).view(Tensor),
        log=lambda values: np.log(values).view(Tensor),
        float64=np.float64,
        Generator=Source,
        rand=lambda size, generator, dtype: (
            np.linspace(0, 0.9, size, dtype=dtype).view(Tensor) + generator.seed * 1e-3
        ),
        inference_mode=_NoGrad,
        nn=SimpleNamespace(functional=SimpleNamespace(pad=_pad)),
    )


class DynamicLayer:
    def __init__(self, keys: Any, values: Any) -> None:
        self.keys, self.values = keys, values


class OtherLayer(DynamicLayer):
    pass


class DynamicCache:
    """Keys and values of two layers, `[1, 1, tokens, 2]`."""

    kinds: tuple[type[DynamicLayer], ...] = (DynamicLayer, DynamicLayer)

    def __init__(self, config: Any) -> None:
        assert config is not None
        empty = np.zeros((1, 1, 0, 2)).view(Tensor)
        self.layers = [kind(empty, empty) for kind in self.kinds]

    def update(self, keys: Any, values: Any, number: int) -> None:
        layer = self.layers[number]
        if layer.keys.shape[2] == 0:
            layer.keys, layer.values = keys, values
        else:
            layer.keys = np.concatenate([layer.keys, keys], axis=2).view(Tensor)
            layer.values = np.concatenate([layer.values, values], axis=2).view(Tensor)


class Settings(SimpleNamespace):
    def update(self, **settings: Any) -> None:
        vars(self).update(settings)


class Model:
    """Goes on counting from the last token of each row; 9 ends a reply of its own."""

    device = "here"

    def __init__(self, longest: int | None = None, eos: Any = 9) -> None:
        text = SimpleNamespace() if longest is None else SimpleNamespace(max_position_embeddings=longest)
        self.config = SimpleNamespace(get_text_config=lambda: text)
        self.generation_config = Settings(eos_token_id=eos, do_sample=True, temperature=0.6)
        self.calls: list[dict[str, Any]] = []
        self.computed: list[list[int]] = []
        self.moves: list[Any] = []
        self.broken: Exception | None = None

    def eval(self) -> "Model":
        self.moves.append("eval")
        return self

    def to(self, device: str) -> "Model":
        self.moves.append(device)
        return self

    def generate(self, input_ids: Any, logits_processor: Any, stopping_criteria: Any, **more: Any) -> Any:
        if self.broken:
            raise self.broken
        (stop,) = stopping_criteria
        self.calls.append({"ids": input_ids.tolist(), "processors": logits_processor, **more})
        settings, rows = more["generation_config"], input_ids
        for _ in range(settings.max_new_tokens):
            rows = np.concatenate([rows, rows[:, -1:] + 1], axis=1).view(Tensor)
            ended = [
                any(end in row for end in settings.eos_token_id or ())
                for row in rows[:, input_ids.shape[1] :]
            ]
            if all(full or end for full, end in zip(stop(rows, None, more=1), ended, strict=True)):
                break
        return rows

    def __call__(self, input_ids: Any, past_key_values: Any, use_cache: bool, logits_to_keep: int) -> None:
        assert (use_cache, logits_to_keep) == (True, 1)
        (tokens,) = input_ids.tolist()
        self.computed.append(tokens)
        for number in range(2):
            keys = tensor([[[[token, number] for token in tokens]]], "here")
            past_key_values.update(keys, -keys, number)


class Tokenizer:
    """One token a character; a template shows what it was rendered with."""

    eos_token_id: int | None = 7
    pad_token_id: int | None = None
    template = "tools tool_calls"
    refusal: Exception | None = None

    def get_chat_template(self, tools: list[Any]) -> str:
        if not self.template:
            raise ValueError("it has no template\nat all")
        assert [tool["function"]["name"] for tool in tools] == ["f"]
        return self.template

    def apply_chat_template(self, messages: list[Any], **settings: Any) -> str:
        if self.refusal:
            raise self.refusal
        return json.dumps([messages, settings], ensure_ascii=False)

    def __call__(self, text: str, add_special_tokens: bool = True) -> dict[str, list[int]]:
        return {"input_ids": [*([1] if add_special_tokens else []), *map(ord, text)]}

    def decode(self, tokens: list[int], skip_special_tokens: bool, clean_up_tokenization_spaces: bool) -> str:
        assert (skip_special_tokens, clean_up_tokenization_spaces) == (False, False)
        return "".join(map(chr, tokens))


def transformers(tokenizer: Tokenizer, model: Model) -> tuple[Any, list[Any], Any]:
    """Its module, what was read by it, and its module of logging."""
    read: list[Any] = []

    def from_pretrained(made: Any) -> Any:
        def give(place: str, **settings: Any) -> Any:
            read.append((place, settings))
            return made

        return SimpleNamespace(from_pretrained=give)

    module = SimpleNamespace(
        __version__="5.0",
        AutoTokenizer=from_pretrained(tokenizer),
        AutoModelForCausalLM=from_pretrained(model),
        DynamicCache=DynamicCache,
    )
    quiet = SimpleNamespace(
        disable_progress_bar=lambda: read.append("no bars"),
        set_verbosity_error=lambda: read.append("errors only"),
    )
    return module, read, quiet


class Libraries:
    def __init__(self) -> None:
        self.tokenizer, self.model = Tokenizer(), Model()
        self.transformers, self.read, self.quiet = transformers(self.tokenizer, self.model)
        self.torch = torch()
