"""A benchmark that is altered between the model and its episodes: what noise in tools and planted instructions share."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Protocol

from wildtool.benchmark import Benchmark, Check, Mutant, Rules
from wildtool.trace import Trace
from wildtool.types import Episode, Item, Tool, Transcript


class AlteredEpisode(Episode, Protocol):
    """An episode between a model and the benchmark's own."""

    inner: Episode
    """The benchmark's own."""


class AlteredRules(Rules):
    """The rules of a benchmark over altered episodes; a subclass says how they are altered."""

    def __init__(self, inner: Rules) -> None:
        self._inner = inner
        self.gold_style = inner.gold_style

    @abstractmethod
    def altered(self, episode: Episode, item: Item, unit: str) -> AlteredEpisode:
        """An episode of the benchmark as the model sees it."""

    def episode(self, item: Item, unit: str) -> AlteredEpisode:
        return self.altered(self._inner.episode(item, unit), item, unit)

    def recorded_episode(self, item: Item, unit: str, transcript: Transcript | None) -> AlteredEpisode:
        return self.altered(self._inner.recorded_episode(item, unit, transcript), item, unit)

    def leading(self, item: Item) -> Sequence[str]:
        return self._inner.leading(item)

    def after(self, item: Item, episodes: Mapping[str, Any]) -> Item | None:
        return self._inner.after(item, {unit: episode.inner for unit, episode in episodes.items()})

    def verdict(self, episode: Any, item: Item, unit: str) -> Check:
        return self._inner.verdict(episode.inner, item, unit)

    def unfinished(self, episode: Any, item: Item, unit: str) -> Check:
        return self._inner.unfinished(episode.inner, item, unit)

    def mutants(self, item: Item) -> Iterable[Mutant]:
        return self._inner.mutants(item)

    def explain(self, item: Item, mutant: Mutant) -> str:
        return self._inner.explain(item, mutant)

    def explain_gold(self, item: Item, unit: str) -> str:
        return self._inner.explain_gold(item, unit)

    def facts(self, episode: Any, item: Item, unit: str) -> Mapping[str, Any]:
        return self._inner.facts(episode.inner, item, unit)

    def trace(self, item: Item, unit: str, transcript: Transcript) -> Trace:
        return self._inner.trace(item, unit, transcript)

    def as_judged(self, item: Item, unit: str, transcript: Transcript) -> tuple[Rules, Transcript]:
        return self._inner.as_judged(item, unit, transcript)

    def __getattr__(self, name: str) -> Any:
        """Anything else that the rules of a benchmark have; they know nothing of being altered."""
        return getattr(self._inner, name)


@cache
def altered_class(alteration: type[Benchmark], of: type[Benchmark]) -> type[Benchmark]:
    """The class of a benchmark with methods of `alteration` before its own."""
    return type(of.__name__, (alteration, of), {"__module__": of.__module__, "mode": of.mode})


def bilingual_tool(record: Mapping[str, Any], lang: str) -> Tool:
    """A tool that we wrote, in one language.

    Args:
        record: name, description by language, `parameters` (each with type, descriptions and perhaps `enum`), `required`.
        lang: `zh`; any other gives English.
    """
    lang = "zh" if lang == "zh" else "en"

    def parameter(about: Mapping[str, Any]) -> dict[str, Any]:
        choices = {"enum": about["enum"]} if "enum" in about else {}
        return {"type": about["type"], "description": about[lang], **choices}

    return {
        "type": "function",
        "function": {
            "name": record["name"],
            "description": record[lang],
            "parameters": {
                "type": "object",
                "properties": {name: parameter(about) for name, about in record["parameters"].items()},
                "required": record["required"],
            },
        },
    }
