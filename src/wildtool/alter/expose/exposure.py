"""What `--expose` takes, and what its alterations share: how the model under test reaches the tools of the benchmark.

`direct` is a run without any of them: the tools are sent with each request. Each other exposure is a package beside this
module, with a subclass of `Exposure` in the table below.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pkgutil import resolve_name
from typing import Any, ClassVar, Self

from wildtool.alter.base import Alteration, mode_of, tools_of_item
from wildtool.alter.expose.outcomes import EXPOSURE_COLUMNS
from wildtool.benchmark import Benchmark
from wildtool.errors import RecordError, UsageError, unknown_name
from wildtool.json_codec import as_object
from wildtool.types import Item

DIRECT, SEARCH = "direct", "search"
"""Each request has all tools; the model searches for those that it needs."""
_CLASSES = {
    SEARCH: "wildtool.alter.expose.search.exposure:SearchExposure",
    "code": "wildtool.alter.expose.code.exposure:CodeExposure",
}
"""By name the class of an exposure, which is loaded for runs that have it."""
EXPOSURES = (DIRECT, *_CLASSES)


class Exposure(Alteration):
    """The tools reached in another way than by calls of the model itself."""

    kind: ClassVar[str] = "exposure"
    caveat: ClassVar[str] = "the tools were exposed in another way"
    without: ClassVar[str] = DIRECT
    is_the_question: ClassVar[bool] = True
    keeps_tools: ClassVar[bool] = False
    name: ClassVar[str]
    """What `--expose` and `run.json` call it."""

    @classmethod
    @abstractmethod
    def parse(cls, words: Sequence[str]) -> Self:
        """Reads what `--expose` has after the name. Raises UsageError."""

    @property
    @abstractmethod
    def words(self) -> Sequence[str]:
        """What `parse` reads: its settings, without those that are as by default."""

    @property
    def finds_tools(self) -> bool:
        """Whether the model searches for its tools."""
        return False

    def settings(self) -> Mapping[str, Any]:
        """What `run.json` holds beside name and words, for a reader; nothing is read back from it."""
        return {}

    @classmethod
    def recorded(cls, identity: Mapping[str, Any]) -> "Exposure":
        its = as_object(identity["expose"])
        try:
            exposure = exposure_of(":".join(filter(None, [str(its["name"]), ",".join(its["words"])])))
            if exposure is None:
                raise ValueError(f"{DIRECT} is no alteration")
        except (TypeError, KeyError, ValueError, UsageError) as error:
            raise RecordError(
                f"run.json: identity.expose is damaged ({error}); restore it from a copy"
            ) from error
        return exposure

    def __str__(self) -> str:
        return ":".join(filter(None, [self.name, ",".join(self.words)]))

    def identity(self) -> Mapping[str, Any]:
        return {"expose": {"name": self.name, "words": list(self.words), **self.settings()}}

    @property
    def label(self) -> str:
        return str(self)

    @property
    def folder_parts(self) -> Sequence[str]:
        return [self.name, *(word.replace("=", "-").replace("/", "-") for word in self.words)]

    @property
    def options(self) -> Sequence[str]:
        return ["--expose", str(self)]

    @property
    def columns(self) -> Mapping[str, str]:
        return EXPOSURE_COLUMNS

    def check(self, benchmark: Benchmark, items: Iterable[Item], profile: str) -> str:
        """Raises UsageError where no request sends tools natively."""
        rules = benchmark.rules(profile)
        if any(tools_of_item(rules, item) for item in items):
            return ""
        raise UsageError(
            f"--expose {self.name} takes native tools, and {benchmark.name} sends none in mode {mode_of(benchmark)}; "
            "choose another mode, or leave --expose out"
        )


def exposure_of(text: str) -> Exposure | None:
    """Reads `--expose NAME[:WORD,…]`; None for `direct`. Raises UsageError."""
    name, colon, words = text.partition(":")
    if name not in EXPOSURES:
        raise UsageError(unknown_name("exposure", name, EXPOSURES, of="--expose"))
    if colon and name == DIRECT:
        raise UsageError(f"--expose {text}: {name} has no settings; write {name}")
    if colon and not words:
        raise UsageError(f"--expose {text}: no setting follows the colon; write {name}, or name one")
    if name == DIRECT:
        return None
    exposure: type[Exposure] = resolve_name(_CLASSES[name])
    return exposure.parse([word.strip() for word in words.split(",")] if words else [])
