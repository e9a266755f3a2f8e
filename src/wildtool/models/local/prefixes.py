"""Keys and values of the latest prompts, so that the next turn of a session computes only what is new in its prompt."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

FEWEST_TOKENS = 16
"""Shorter beginnings, such as the marks of the first message, are not worth keeping apart."""


@dataclass(frozen=True, slots=True)
class _Prefix:
    tokens: list[int]
    layers: list[tuple[Any, Any]]
    """Keys and values of each layer, `[1, heads, tokens, size]`."""
    size: int
    """Bytes."""


class Prefixes:
    """What a model computed for the latest prompts. Only for models whose cache holds every token of every layer."""

    def __init__(self, model: Any, most_bytes: int) -> None:
        """Args: most_bytes: that what is kept may take; the oldest makes room. 0 to keep and use nothing."""
        self._torch, self._library = import_module("torch"), import_module("transformers")
        self._model, self._most_bytes = model, most_bytes
        self._kept: list[_Prefix] = []
        """The latest one last."""
        self.computed = self.reused = 0
        """Tokens of prompts, without the last one of each."""
        kinds = {type(layer).__name__ for layer in getattr(self._cache(), "layers", ())}
        self.fit = kinds == {"DynamicLayer"} and most_bytes > 0
        """False for models with sliding windows or states, too, whose cache cannot be cut."""

    def batch_cache(self, prompts: Sequence[list[int]]) -> Any:
        """A cache of all tokens but the last of each prompt, padded on the left to the longest."""
        torch, rows = self._torch, [self._layers(prompt[:-1]) for prompt in prompts]
        width, cache = max(map(len, prompts)) - 1, self._cache()
        for number in range(len(rows[0])):
            padded = [
                [torch.nn.functional.pad(part, (0, 0, width - part.shape[2], 0)) for part in row[number]]
                for row in rows
            ]
            keys, values = (torch.cat(parts) for parts in zip(*padded, strict=True))
            cache.update(keys, values, number)
        return cache

    def _cache(self) -> Any:
        return self._library.DynamicCache(config=self._model.config)

    def _layers(self, tokens: list[int]) -> list[tuple[Any, Any]]:
        """Keys and values of tokens; computed from the end of the longest beginning that is kept."""
        common, start = max(
            ((_common(tokens, prefix.tokens), number) for number, prefix in enumerate(self._kept)),
            default=(0, -1),
        )
        cache = self._cache()
        if common := common if common >= FEWEST_TOKENS else 0:
            for number, (keys, values) in enumerate(self._kept[start].layers):
                cache.update(keys[:, :, :common], values[:, :, :common], number)
        if common < len(tokens):
            ids = self._torch.tensor([tokens[common:]], device=self._model.device)
            with self._torch.inference_mode():
                self._model(input_ids=ids, past_key_values=cache, use_cache=True, logits_to_keep=1)
        self.reused += common
        self.computed += len(tokens) - common
        layers = [(layer.keys, layer.values) for layer in cache.layers]
        self._keep(tokens, layers)
        return layers

    def _keep(self, tokens: list[int], layers: list[tuple[Any, Any]]) -> None:
        size = sum(part.numel() * part.element_size() for layer in layers for part in layer)
        # What it continues is not needed any more.
        self._kept = [prefix for prefix in self._kept if prefix.tokens != tokens[: len(prefix.tokens)]]
        self._kept.append(_Prefix(tokens, layers, size))
        while sum(prefix.size for prefix in self._kept) > self._most_bytes:
            del self._kept[0]


def _common(first: Sequence[int], second: Sequence[int]) -> int:
    """Tokens with which both begin."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(first), len(second)))
